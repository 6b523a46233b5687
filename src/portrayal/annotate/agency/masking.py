"""Masking: gendered words, names of people and group words give way to neutral ones.

A classifier trained on sentences of people reads genders and names in them. Masked sentences tell
it as little of either as word lists can take out; what they leave (verb forms after "they", names
of places, customs) is listed in docs/agency-classifiers.md.
"""

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from portrayal.annotate.word_match import any_of
from portrayal.reference.formats import read_shipped
from portrayal.reference.shipped import toml_beside

_NAME, _GROUP, _TITLE = "[NAME]", "[GROUP]", "[TITLE]"
_LEAST_BEARERS = 300
_LETTER = r"[^\W\d_]"
_CAPITAL = r"(?=[A-ZÀ-ÖØ-Þ])(?![^\W\d_]*[a-z]'t\b)" + _LETTER + "+"
_JOIN = r"(?: |-|(?<=\b[A-Z])\. ?|(?<=\b(?:Mr|Ms|Mx|Dr))\. |(?<=\bMrs)\. |(?<=\bProf)\. )"
_PART = re.compile(rf"{_LETTER}+")
_REPEATED = re.compile(r"\[(NAME|GROUP)\](?:[ -]\[\1\])+")
_BEFORE_START = re.compile(r"(?:^|[.!?:;\n][\"”’')\]]*|[\"“‘(])\s*$")
_CALLED = re.compile(r"[,.!?;:'’)]|\s*$")
_AFTER_TITLE = re.compile(r"\[TITLE\]\.? $")


def mask(text: str, names: Iterable[str] = ()) -> str:
    """Return a sentence with gendered words, names and group words replaced.

    Parameters
    ----------
    text
        A sentence or a few.
    names
        Names of people the text is about, given or full; masked wherever they stand capitalised.

    Returns
    -------
    The sentence with "they", "their", "person", … for gendered words, "[NAME]" for a given name
    and the capitalised words after it, "[GROUP]" for races, nationalities, "male" and "female",
    "[TITLE]" for "Mr" and the like. Masking twice is masking once, with the same names.
    """
    words, given_names = _words(), _given(names)

    def replaced(match: re.Match[str]) -> str:
        run = match[0]
        if match["run"] is None:
            # Masks stay, so that masking twice is masking once
            if run[0] == "[":
                return run
            if match["colour"]:
                return _GROUP
            return "they" if run == "s/he" else words.neutral.get(run, _GROUP)
        parts: list[str] = []
        last = 0
        for part, kind in _kinds(text, match, given_names):
            # What opened a sentence still does
            neutral = kind if kind[:1] in ("", "[") or part[0].islower() else kind.capitalize()
            parts += run[last : part.start()], neutral or part[0]
            last = part.end()
        return "".join([*parts, run[last:]])

    masked = words.pattern.sub(replaced, text)
    return _REPEATED.sub(r"[\1]", masked) if "]" in masked else masked


def name_spans(
    text: str,
    names: Iterable[str] = (),
    *,
    usual: Collection[str] = frozenset(),
    tables: bool = True,
) -> list[tuple[int, int]]:
    """Return where a text names people by what `mask` takes for a name, titles apart.

    Parameters
    ----------
    text
        A text of any length.
    names
        Names of people it speaks of, given or full. One that is a word too ("Will", "Hope") counts
        inside a sentence, and at its start before a comma, a full stop or an apostrophe.
    usual
        Words in lower case that are names only where `names` has them, such as "friday".
    tables
        Whether other given names count too, those of the 2020 Census.

    Returns
    -------
    list of (start, end)
        In order; the parts of one name are one span.

    >>> [text[a:b] for text in ["Dear Ms. Ann Lee, will Hope come?"] for a, b in name_spans(text)]
    ['Ann Lee', 'Hope']
    """
    words, given_names = _words(), _given(names)
    spans: list[tuple[int, int]] = []
    for match in words.capitals.finditer(text):
        kinds = [(part, kind) for part, kind in _kinds(text, match, given_names) if kind == _NAME]
        for part in (part for part, _ in kinds):
            start, end = match.start() + part.start(), match.start() + part.end()
            key = _plain(part[0])
            if key not in given_names and (not tables or key in usual):
                continue
            opens = not part.start() and _BEFORE_START.search(text, 0, start)
            is_single = len(part[0]) == len(match[0])
            # "Will you?" opens a sentence with a word; "Will," calls somebody
            if opens and is_single and is_ambiguous_name(key) and not _CALLED.match(text, end):
                continue
            if spans and not text[spans[-1][1] : start].strip(" -.'’"):
                spans[-1] = (spans[-1][0], end)
            else:
                spans.append((start, end))
    return spans


def is_ambiguous_name(name: str) -> bool:
    """Whether a given name is a word, a month or a place as well.

    >>> is_ambiguous_name("Hope"), is_ambiguous_name("Aisha")
    (True, False)
    """
    words, key = _words(), _plain(name)
    return key in words.word_names or key in words.month_names or key in words.seldom


def _given(names: Iterable[str]) -> frozenset[str]:
    """The parts of names that begin with a capital, in lower case."""
    return frozenset(
        _plain(part)
        for name in ((names,) if isinstance(names, str) else names)
        for part in _PART.findall(name)
        if part[0].isupper()
    )


def _kinds(
    text: str, match: re.Match[str], given_names: frozenset[str]
) -> Iterator[tuple[re.Match[str], str]]:
    """Yield each word of a run of capitalised words with what it is.

    That is a name, a title, a group, a gendered word ("they"), or nothing of these ("").
    What follows a name or a title in the run is a name too.
    """
    words = _words()
    in_name = bool(_AFTER_TITLE.search(text, max(0, match.start() - 9), match.start()))
    parts = list(_PART.finditer(match[0]))
    for index, part in enumerate(parts):
        key, more = _plain(part[0]), index + 1 < len(parts)
        if key in words.neutral and key not in given_names:
            in_name = False
            yield part, words.neutral[key]
        elif key in words.titles and (more or key in ("mr", "mrs", "ms", "mx")):
            in_name = True
            yield part, _TITLE
        elif (
            in_name
            or key in given_names
            or key in words.names
            or (more and (key in words.word_names or key in words.month_names))
            # A word that is a name too says a name unless it opens a sentence
            or (
                key in words.word_names
                and (index > 0 or not _BEFORE_START.search(text, 0, match.start()))
            )
        ):
            in_name = True
            yield part, _NAME
        else:
            in_name = key in words.neutral_titles
            is_group = key in words.groups or key in words.capital_groups
            yield part, _GROUP if is_group else ""


@dataclass(frozen=True, slots=True)
class _Words:
    """The lists of masking.toml, ready to be searched.

    Attributes
    ----------
    neutral
        Gendered word to what stands in its place, and that word to itself.
    names, word_names, month_names, seldom
        Given names that are seldom anything else, that are words or months too, and that are mostly
        something else.
    capitals, pattern
        Runs of capitalised words; these, and all else that may be masked.
    """

    neutral: dict[str, str]
    titles: frozenset[str]
    neutral_titles: frozenset[str]
    groups: frozenset[str]
    capital_groups: frozenset[str]
    names: frozenset[str]
    word_names: frozenset[str]
    month_names: frozenset[str]
    seldom: frozenset[str]
    capitals: re.Pattern[str]
    pattern: re.Pattern[str]


@cache
def _words() -> _Words:
    read = toml_beside(__file__, "masking.toml")
    neutral = {word: to for to, word_list in read["words"].items() for word in word_list.split()}
    groups = frozenset(read["groups"]["any"].split())
    capital_groups = frozenset(read["groups"]["capital"].split())
    people = frozenset(read["groups"]["people"].split())
    people |= {word for word, to in neutral.items() if to in people} | groups
    names = {
        list_name: frozenset(read["names"][list_name].split())
        for list_name in ("words", "months", "seldom")
    }
    # First names of the 2020 Census with enough bearers
    table = read_shipped("census_2020_first_names.parquet")
    pairs = zip(table.names, table.counts.tolist(), strict=True)
    name_words = frozenset(_plain(name) for name, count in pairs if count >= _LEAST_BEARERS)
    name_words -= names["words"] | names["months"] | names["seldom"]
    titles = frozenset(read["titles"]["gendered"].split())
    put = frozenset(read["words"])
    # What stands in place of a word stays when it is masked again
    neutral |= {word: word for word in sorted(put - set(neutral))}
    run = rf"{_CAPITAL}(?:{_JOIN}{_CAPITAL})*"
    # Match masks, runs of capitalised words, and listed words in lower case
    lower = {*neutral, *groups}
    alternatives, coloured, before = (
        any_of(words) for words in ({*lower, "s/he"}, capital_groups, people)
    )
    return _Words(
        neutral=neutral,
        titles=titles,
        neutral_titles=frozenset(read["titles"]["neutral"].split()),
        groups=groups,
        capital_groups=capital_groups,
        # What the lists mask otherwise is no name, whoever bears it
        names=name_words - set(neutral) - groups - capital_groups - titles,
        word_names=names["words"] - put,
        month_names=names["months"] - put,
        seldom=names["seldom"],
        capitals=re.compile(rf"\b{run}"),
        pattern=re.compile(
            rf"\b(?:(?P<run>{run})"
            rf"|{alternatives}\b|(?P<colour>{coloured})(?=[ -]{before}\b))"
            r"|\[(?:NAME|GROUP|TITLE)\]"
        ),
    )


def _plain(word: str) -> str:
    """Return a word in lower case without accents."""
    if word.isascii():
        return word.lower()
    parts = unicodedata.normalize("NFKD", word)
    return "".join(part for part in parts if not unicodedata.combining(part)).lower()
