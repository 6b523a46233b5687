"""Sentences of any text, as offsets into it.

A *sentence* here is what ends with a full stop, question mark, exclamation mark or ellipsis, or
with its line. The rules are those of English; texts in other scripts are split at 。！？ as well.
"""

import re
from functools import lru_cache

from portrayal.reference.shipped import toml_beside

_EMOJI = r"\U0001F300-\U0001FAFF\u2600-\u27BF"
# A set of characters stands first, as the engine then runs to the next of them.
_BREAK = re.compile(
    rf"[.!?…。！？\n•▪●‣{_EMOJI}]"
    r"(?:(?<=[.!?…])(?<![.!?…]{2})[.!?…]*+(?:[^\S\n][.…])*+[\"'”’»)\]*_]*+(?=\s|\Z)"
    r"|(?<=[。！？])(?<![。！？]{2})[。！？]*+[」』”’）]*+"
    r"|(?<=\n)|(?<=\s[•▪●‣])(?=\s)"
    rf"|(?<=[{_EMOJI}])(?:[^\S\n]?[{_EMOJI}\uFE0F\u200D])*+)"
)
_AHEAD = re.compile(r"[^\S\n]*+([\"'“‘«(\[*_#>—–-]*+)([\w'’-]*+)")
_WORDS = re.compile(r"\w")
_TRAIL = re.compile(rf"(?:[^\S\n]?[{_EMOJI}\uFE0F\u200D])*+")
_LAST = re.compile(r"[\w.&'’-]+$")
_DOTTED = re.compile(r"(?:[A-Za-z]\.)+[A-Za-z]")
_MARKER = re.compile(r"[\s>*_#(-]*(?:\d{1,3}|[A-Za-z]|[ivxIVX]{1,4})")
_SAYS = re.compile(
    r"\s*(?:[A-Z][\w.'’-]*\s+){1,4}(?:said|says|asked|asks|added|adds|replied|wrote|writes|told"
    r"|explained|shouted|cried|whispered|answered|exclaimed|tweeted|recalled|continued|thought)\b"
)


_LONGEST = 14
"""Characters before a full stop that may hold an abbreviation."""
_HOURS = frozenset(("a.m", "p.m", "am", "pm"))
_NEVER_LAST, _BEFORE_NUMBER, _MAYBE_LAST, _AFTER_HOURS, _STARTERS = (
    frozenset(toml_beside(__file__, "sentences.toml")[name].split())
    for name in ("never_last", "before_number", "maybe_last", "after_hours", "starters")
)
_ABBREVIATIONS = _NEVER_LAST | _BEFORE_NUMBER | _MAYBE_LAST
_RETURN = "<return>"


def with_line_breaks(text: str) -> str:
    """Return a text of the same length with `<return>`, as some published texts have it, a break.

    >>> with_line_breaks("One.<return>Two.").split()
    ['One.', 'Two.']
    """
    # As long as before, so that offsets stay those of the text
    return text.replace(_RETURN, "\n" + " " * (len(_RETURN) - 1))


@lru_cache(maxsize=8192)
def sentences(text: str) -> list[tuple[int, int]]:
    """Split a text into sentences.

    Parameters
    ----------
    text
        Any string.

    Returns
    -------
    list of (int, int)
        Offsets `(start, end)` of each sentence: `text[start:end]` neither starts nor ends with
        white space. Spans are in order, do not overlap, and cover everything but white space. Each
        holds a letter or digit, unless the text has none: marks and emoji that stand alone belong
        to the sentence before them.

    Notes
    -----
    A line ends a sentence unless the next line goes on in lower case, as hard-wrapped text does; a
    list item is a sentence. Sentences inside a quotation are sentences of their own, and "he said"
    belongs to the one that it follows. Full stops of titles ("Dr."), initials, abbreviations,
    decimals and list numbers ("1. ") end nothing. The time taken is linear in the text's length.

    Examples
    --------
    >>> sentences("Dr. Lee paid 3.50. She left!")
    [(0, 18), (19, 28)]
    """
    spans: list[tuple[int, int]] = []
    start = 0
    for match in _BREAK.finditer(text):
        mark_start, end = match.span()
        mark = text[mark_start]
        if mark == "\n":
            cut = mark_start if (not text[end : end + 1].islower()) else -1
        elif mark in ".!?…":
            cut = _trail(text, end) if _ends(text, start, mark_start, end) else -1
        elif mark in "。！？":
            cut = end
        elif mark in "•▪●‣":
            cut = mark_start
        else:
            # Whether a word that often opens a sentence stands at `at`, capitalised
            ahead = _AHEAD.match(text, end)
            word = ahead[2] if ahead else ""
            cut = end if (word[:1].isupper() and word.lower() in _STARTERS) else -1
        if cut > start:
            _add(spans, text, start, cut)
            start = cut
    _add(spans, text, start, len(text))
    return spans


def _add(spans: list[tuple[int, int]], text: str, start: int, end: int) -> None:
    """Add `text[start:end]` without outer white space; marks alone join the sentence before."""
    piece = text[start:end]
    stripped = piece.strip()
    if not stripped:
        return
    start += len(piece) - len(piece.lstrip())
    end = start + len(stripped)
    if spans and (not _has_word(stripped) or not _has_word(text, *spans[-1])):
        spans[-1] = (spans[-1][0], end)
    else:
        spans.append((start, end))


def _has_word(text: str, start: int = 0, end: int | None = None) -> bool:
    """Whether a letter or digit stands in this part of the text."""
    return _WORDS.search(text, start, len(text) if end is None else end) is not None


def _trail(text: str, offset: int) -> int:
    """Offset behind the emoji that follow offset `offset`, which belong to the sentence before."""
    emoji = _TRAIL.match(text, offset)
    return emoji.end() if emoji else offset


def _ends(text: str, start: int, mark_start: int, end: int) -> bool:
    """Whether the marks `text[at:end]` end the sentence that starts at `start`."""
    if text[mark_start:end] == "." and text[end + 1 : end + 2].isupper():
        before = text[
            text.rfind(" ", max(start, mark_start - _LONGEST), mark_start) + 1 : mark_start
        ]
        if len(before) > 1 and before.isalpha() and before.lower() not in _ABBREVIATIONS:
            return True
    ahead = _AHEAD.match(text, _trail(text, end))
    word = ahead[2] if ahead else ""
    # A small letter goes on with the sentence, but for names such as "iPhone"
    if word[:1].islower():
        return any(letter.isupper() for letter in word[1:3]) and text[mark_start] != "…"
    if end - mark_start > 1 and text[end - 1] in "\"'”’" and _SAYS.match(text, end):
        return False
    if not word or text[mark_start] != "." or text[mark_start + 1 : mark_start + 2] in (".", "…"):
        return True
    # A full stop: behind an abbreviation, an hour or an initial the next word decides
    last = _LAST.search(text[max(start, mark_start - _LONGEST) : mark_start])
    before = last[0].lstrip("'’-&").lower() if last else ""
    line = text.rfind("\n", start, mark_start)
    item = (line >= 0 or not start) and _MARKER.fullmatch(text, line + 1, mark_start) is not None
    short = before in _MAYBE_LAST or (len(before) == 1 and before.isalpha())
    if before in _NEVER_LAST or (before in _BEFORE_NUMBER and word[0].isdigit()):
        ended = False
    elif before in _HOURS:
        ended = word.lower() not in _AFTER_HOURS
    elif item:  # nothing but the number of a list item stands on its line
        ended = False
    elif short or _DOTTED.fullmatch(before):
        ended = word.lower() in _STARTERS
    else:
        ended = True
    return ended
