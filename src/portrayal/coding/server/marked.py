"""Marked: a text as pieces for the page, with its people marked and nothing in it taking effect."""

import re
import unicodedata
from collections.abc import Iterator, Sequence

from portrayal.coding.project import Person

Piece = tuple[str, str]
"""A piece of text and its mark: "", "subject", "object", or "sign" for a character made visible."""

SIGNS = {
    "\u202a": "LRE",
    "\u202b": "RLE",
    "\u202c": "PDF",
    "\u202d": "LRO",
    "\u202e": "RLO",
    "\u2066": "LRI",
    "\u2067": "RLI",
    "\u2068": "FSI",
    "\u2069": "PDI",
}
"""Characters that turn the direction of what follows, and their names in Unicode."""
_SIGN = re.compile(f"([{''.join(SIGNS)}])")


def pieces(text: str, people: Sequence[Person] = ()) -> list[Piece]:
    """Return a text as pieces that hold all of it in order.

    Characters that turn the direction of a line are replaced by their names, and control characters
    by U+FFFD: a reader sees that they are there, and they do nothing.
    """
    found: list[Piece] = []
    at = 0
    for start, end, slot in _spans(text, people):
        found += _inert(text[at:start], "")
        found += _inert(text[start:end], slot)
        at = end
    found += _inert(text[at:], "")
    return found


def inert(text: str) -> str:
    """Return a label on one line, with every character that does something made visible."""
    return " ".join("".join(part for part, _ in _inert(text, "")).split())


def _inert(text: str, mark: str) -> Iterator[Piece]:
    for part in _SIGN.split(text):
        if part in SIGNS:
            yield SIGNS[part], "sign"
        elif part:
            yield _printable(part), mark


def _printable(text: str) -> str:
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    if lines.isprintable():
        return lines
    return "".join(
        c if c in "\n\t" or unicodedata.category(c) not in ("Cc", "Cs") else "\ufffd" for c in lines
    )


def _spans(text: str, people: Sequence[Person]) -> list[tuple[int, int, str]]:
    """Marks in order, none overlapping; a name is looked up where no span was kept."""
    found: list[tuple[int, int, str]] = []
    for person in people:
        spans = list(person.spans)
        if not spans and person.name:
            pattern = rf"(?<!\w){re.escape(person.name)}(?!\w)"
            spans = [match.span() for match in re.finditer(pattern, text)]
        found += [(start, end, person.slot) for start, end in spans]
    kept: list[tuple[int, int, str]] = []
    for start, end, slot in sorted(found):
        if 0 <= start < end <= len(text) and (not kept or start >= kept[-1][1]):
            kept.append((start, end, slot if slot in ("subject", "object") else "subject"))
    return kept
