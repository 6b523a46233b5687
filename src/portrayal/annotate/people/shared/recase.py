"""Texts whose letters say nothing of names: all capitals, all lower case, scripts without case.

Which words are names is then decided by the words around them ("a student named maria", "dr. lee",
"maria smiled") and by the list of first names, of which only the number of bearers is read, and
these words are given their capitals. A word in a script that has no capitals (Arabic, Hebrew,
Chinese, Japanese, Korean) within an English text is taken for a name where it stands like one. Any
other text is left as it is.
"""

import re
from collections.abc import Callable

from portrayal.annotate.people.shared import words as en
from portrayal.annotate.people.shared.scan import QUOTES, Tokens, scan
from portrayal.annotate.people.shared.words import word_lists, word_set

_LISTS = word_lists("shared")

_NOT_ENDINGS = ("ly", "ed", "ing", "s")
# After these a sentence may start; after a comma none does
_ENDS = en.CLAUSE_MARKS - {",", ";", ":"}
_ACTS = (en.VERBS_AFTER_NAME | en.SAYING | en.LIVING) - word_set("s")
_NEVER_FLAT = (
    en.NEVER_NAMES
    | en.PERSON_NOUNS
    | en.PLURAL_PEOPLE
    | frozenset(en.PLURALS)
    | en.SENTENCE_STARTERS
    | _ACTS
) | (en.COMMON_TITLES | en.ABBREVIATIONS | en.NAMED_THINGS | en.PLACE_HEADS | en.PLACE_TAILS)
# Hebrew, Arabic and Syriac, kana, Chinese characters, Hangul
_UNCASED = re.compile("[\u05d0-\u05ea\u0620-\u074f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
_LABEL = re.compile(
    r"^(?P<before>[ \t>*\-\[\](){}\d:.,–—]*)(?P<name>[^\W\d_][^\W\d_.'’ \-]{0,30}?)"
    r"(?=[ \t]*(?:\([^()\n]*\))?[ \t]*(?P<mark>:|\n[ \t]*[^\s]))",
    re.MULTILINE,
)
_SPEAK = 2
"""Lines that words in capitals, or small names, open at least where they are those of speakers."""

MARK = "Xx"
"""Letters of a name that are put before a word without one."""

MOST_UNCASED = 0.25
"""Share of words in scripts without capitals up to which a text is read as English."""

_LEAST = 3
"""Letters of a name that the list of first names alone can tell."""


def is_flat(text: str) -> bool:
    """Whether all letters of `text` with two cases are capitals, or all are small."""
    return text.isupper() or text.islower()


def recase(text: str) -> str:
    """A flat text in lower case, with capitals where names and sentences start; as long as `text`.

    Offsets therefore stay the same. See `is_flat`.
    """
    # Lower case first, so that one set of rules reads both kinds of text
    low = _same_length(text, str.lower)
    tokens = scan(low)
    # Function words that open sentences get a capital; on other words it would mislead
    openings = {
        i
        for i, word in enumerate(tokens.low)
        if word in en.FUNCTION_WORDS and (i == 0 or tokens.low[i - 1] in _ENDS)
    }
    letters = list(low)
    for i in sorted(_names(tokens) | openings):
        start = tokens.starts[i]
        letters[start] = _same_length(letters[start], str.upper)
    return "".join(letters)


def capital_speakers(text: str) -> str:
    """The text, as long, with names in place of "JULES:", of "JULES" on a line, and of "jules:"."""
    if "\n" not in text:
        return text
    labels = [
        match
        for match in _LABEL.finditer(text)
        if (match["name"].isupper() and len(match["name"]) > 1)
        or (match["name"].islower() and match["mark"] == ":")
    ]
    # One known name among the labels says that they are speakers, not headings
    has_name = any(en.bearers(match["name"].lower().split()[0]) for match in labels)
    letters = list(text)
    for match in labels if has_name and len(labels) >= _SPEAK else ():
        # Capitals of "ß" are two letters: such names stay, as offsets must not move
        title_case = match["name"].title()
        if len(title_case) == len(match["name"]):
            letters[match.start("name") : match.end("name")] = title_case
    return "".join(letters)


def mark_uncased(text: str, tokens: Tokens) -> list[int]:
    """Put `MARK` before words in scripts without capitals, so that they may be names; their places.

    Nothing is marked where such words are not few: the text is not in English then.
    """
    places = (
        [] if text.isascii() else [i for i, word in enumerate(tokens.words) if _UNCASED.match(word)]
    )
    # In a text of another language nearly every word would become a name
    few = len(places) <= MOST_UNCASED * len(tokens.words)
    for i in places if few else ():
        tokens.words[i] = MARK + tokens.words[i]
    return places if few else []


def _same_length(text: str, change: Callable[[str], str]) -> str:
    """The text in another case, but for letters that would become two."""
    changed = change(text)
    if len(changed) == len(text):
        return changed
    # Letter by letter, so that one odd letter does not keep the whole text as it is
    return "".join(new if len(new := change(letter)) == 1 else letter for letter in text)


def _names(tokens: Tokens) -> set[int]:
    """Positions of words and titles that belong to names."""
    low = tokens.low
    worth: dict[str, int] = {}
    for i, word in enumerate(low):
        if _may_be(word):
            worth[word] = worth.get(word, 0) + name_cues(low, i)
    names = {
        word
        for word, cues in worth.items()
        # The fewer people bear a word as a name, the more must speak for it
        if cues >= (0 if _is_plain(word) else 2 if en.bearers(word) else 4)
    }
    name_places = {
        i for i, word in enumerate(low) if word in names and not _after_determiner(low, i)
    }
    for i, word in enumerate(low):
        # "dr." and "dr" stand before a name alike
        behind = i + 1 + (low[i + 1 : i + 2] == ["."])
        if word not in en.COMMON_TITLES or behind >= len(low):
            continue
        if behind in name_places or (word in en.ABBREVIATIONS and _may_be(low[behind])):
            name_places |= {i, behind}
    # Positions of words behind names and titles that may be surnames, and of their like
    further: set[int] = set()
    surnames: set[str] = set()
    for i in sorted(name_places):
        word, after = (*low[i + 1 : i + 3], ".", ".")[:2]
        if not _may_be(word) or low[i] in en.ABBREVIATIONS:
            continue
        if en.bearers(word):
            further.add(i + 1)
        # A surname is no first name, so only its place behind one tells it
        elif (after in _ACTS or after in en.CLAUSE_MARKS) and not word.endswith(_NOT_ENDINGS):
            surnames.add(word)
    called = {i for i, word in enumerate(low) if word in surnames and not _after_determiner(low, i)}
    return name_places | further | called


def _may_be(word: str) -> bool:
    """Whether the word may be a name at all."""
    return word[0].isalpha() and len(word) > 1 and word not in _NEVER_FLAT


def _is_plain(word: str) -> bool:
    """Whether a word is a frequent first name, and a name more often than a word."""
    usual = _may_be(word) and word not in en.NAMES_OR_WORDS and len(word) >= _LEAST
    return usual and en.bearers(word) >= en.FREQUENT


def _after_determiner(low: list[str], i: int) -> bool:
    """Whether what stands before makes the word no name: "the rose", "her grace"."""
    before = low[i - 1] if i else "."
    return before in _LISTS.articles or (
        before in _LISTS.possessives and low[i] in en.NAMES_OR_WORDS
    )


def name_cues(low: list[str], i: int) -> int:
    """How much the words around one mention say that it is a name."""
    before = low[i - 1] if i else "."
    earlier = low[i - 2] if i > 1 else "."
    after = low[i + 1] if i + 1 < len(low) else "."
    if _after_determiner(low, i):
        return -2
    value = 0
    # What introduces a name says most: "a student named maria"
    if before in en.NAMING and earlier in en.PERSON_NOUNS:
        value += 4
    elif before in en.PERSON_NOUNS and (after in en.CLAUSE_MARKS or after in _ACTS):
        value += 2 if before in en.KIN else 1
    elif (before == "," and earlier in en.PERSON_NOUNS and after in en.CLAUSE_MARKS) or (
        before == "and" and _is_plain(earlier)
    ):
        value += 2
    if after == "," and low[i + 2 : i + 3] and low[i + 2] in en.APPOSITION:
        value += 2 if before in en.CLAUSE_OPENERS else 0
    elif after == "and" and low[i + 2 : i + 3] and _is_plain(low[i + 2]):
        value += 2
    if after in _ACTS - en.COPULAS or after.endswith("ed"):
        value += 2 if before in _ENDS or before in QUOTES or before in en.SAYING else 1
    if before in en.SAYING and after in en.CLAUSE_MARKS:
        value += 1
    return value
