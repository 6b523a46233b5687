"""Names hidden: one word in place of each name of a person, and of what requests differ in.

Whoever is asked about Aisha writes "Aisha" and whoever is asked about Connor does not, so that a
name is no finding, nor are its letters and syllables. One word stands for every name.
"""

import re
from collections.abc import Collection, Iterable, Sequence

from portrayal.annotate.agency.masking import is_ambiguous_name, name_spans
from portrayal.annotate.people.any_text.everyone import find_everyone
from portrayal.annotate.people.shared.words import FUNCTION_WORDS, NEVER_NAMES
from portrayal.annotate.word_match import TOKEN, fold
from portrayal.reference.locales import Locale, load_locale

Spans = Sequence[tuple[int, int]]
"""Where something stands in a text: start and end in characters, in order."""
PLACEHOLDER = "Name"
"""Stands in a scored text for each name: a word that no list holds."""
_MOST_WORDS = 20
"""Words in which requests of one block may differ, a side, to be the same request."""


def hidden_spans(
    text: str, locale: str, names: Iterable[str] = (), words: Collection[str] = frozenset()
) -> Spans:
    """Return where a text has names of people or any of some words; neighbours are one span.

    Parameters
    ----------
    text
        A text of any length.
    locale
        Whose people are found in it (`portrayal.reference.load_locale`); in another language than
        English only `names` are.
    names
        Names that are known: of who asks, or whom it is about.
    words
        Further words, as `fold` writes them, hidden in any case; their genitives too.

    >>> text = "Hi Aisha! I hope your wife’s plan works, says Hope Lee."
    >>> [text[a:b] for a, b in hidden_spans(text, "en-US", words={"wife"})]
    ['Aisha', 'wife', 'Hope Lee']
    """
    country = load_locale(locale)
    english = country.language == "en"
    spans = name_spans(text, names, usual=NEVER_NAMES, tables=english)
    # Who is named once in a text ("Hi Rose!") is named wherever a sentence begins with the name.
    spoken = [text[start:end] for start, end in spans]
    ambiguous = [name for name in (*spoken, *names) if is_ambiguous_name(name)]
    people = _people(text, country) if ambiguous or _may_name_others(text, spans) else {}
    if ambiguous or people:
        usual_names = [*names, *ambiguous, *people.values()]
        spans = [*name_spans(text, usual_names, usual=NEVER_NAMES, tables=english), *people]
    if words:
        spans += [word.span() for word in TOKEN.finditer(text) if fold(word[0]) in words]
    joined: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if joined and (start < joined[-1][1] or text[joined[-1][1] : start] in (" ", "-")):
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


_INSIDE = re.compile(r"(?<=[a-z,] )[A-Z][^\W\d_]+")
_THIRD_PERSON = re.compile(r"\b(?:she|he|her|him|his)\b", re.IGNORECASE)


def _may_name_others(text: str, spans: Spans) -> bool:
    """Whether a text may name people whom no table names, who are dear to find."""
    if _THIRD_PERSON.search(text):
        return True
    starts = {start for start, _ in spans}
    return any(
        word.start() not in starts and word[0].casefold() not in NEVER_NAMES
        for word in _INSIDE.finditer(text)
    )


def _people(text: str, locale: Locale) -> dict[tuple[int, int], str]:
    """Where a text names the people that are found in it, titles apart, with their names."""
    if locale.language != "en":
        return {}
    name_of: dict[tuple[int, int], str] = {}
    for person in find_everyone(text):
        parts = TOKEN.findall(person.name or "")
        spans = [span for span in person.spans if span.kind == "name"]
        # Whose name stands in the genitive alone is hardly spoken of: "Alzheimer's disease".
        if all(text[span.end : span.end + 2] in ("'s", "’s") for span in spans):
            continue
        for span in spans:
            words = TOKEN.finditer(text, span.start, span.end)
            own_words = [word.span() for word in words if word[0] in parts]
            if own_words:
                name_of[own_words[0][0], own_words[-1][1]] = person.name or ""
    return name_of


def hidden(text: str, spans: Spans, placeholder: str = PLACEHOLDER) -> str:
    """Return a text with one word in place of each span.

    >>> hidden("Hi Ann Lee!", [(3, 10)])
    'Hi Name!'
    """
    if not spans:
        return text
    pieces: list[str] = []
    end = 0
    for start, stop in spans:
        pieces += text[end:start], placeholder
        end = stop
    return "".join((*pieces, text[end:]))


def asked_apart(
    requests: Sequence[str], locale: str, idle: Collection[str] = ()
) -> tuple[frozenset[str], frozenset[str]]:
    """Return what tells the requests of one block from one another: names, and other words.

    Parameters
    ----------
    requests
        What each side was asked.
    locale
        Whose people are found in them.
    idle
        Words that are left where they are, beside articles, pronouns and the like.

    Returns
    -------
    names, words
        Names as written; and the words, as `fold` writes them, that some of the requests have and
        others have not. No words where a side has more than 20 of them, as other requests have.

    >>> requests = ["I'm Will, my wife is ill.", "I'm Jane, my son is ill."]
    >>> names, words = asked_apart(requests, "en-US")
    >>> sorted(names), sorted(words)
    (['Jane', 'Will'], ['jane', 'son', 'wife'])
    """
    written = [dict.fromkeys(TOKEN.findall(request)) for request in requests]
    sides = [{word: fold(word) for word in words} for words in written]
    # What every request says tells none of them apart
    common = frozenset.intersection(*(frozenset(side.values()) for side in sides))
    usual = common.union(idle, FUNCTION_WORDS)
    telling = [
        {word: key for word, key in side.items() if key not in usual and len(key) > 1}
        for side in sides
    ]
    # Requests that differ so much are other requests; only their names are hidden
    if any(len(side) > _MOST_WORDS for side in telling):
        country = load_locale(locale)
        names_of_requests = [_people(request, country).values() for request in requests]
        return frozenset().union(*names_of_requests), frozenset()
    names = {word for side in telling for word in side if word[0].isupper()}
    inside = {word for request in requests for word in _INSIDE.findall(request)}
    names |= {word for word in inside if fold(word) not in common}
    # "Hope" and "May" are hidden where they stand as names alone.
    words = {
        key
        for side in telling
        for word, key in side.items()
        if not (word[0].isupper() and is_ambiguous_name(word))
    }
    return frozenset(names), frozenset(words)
