"""The words of refusals: what a model says of itself and of the request when it does not write.

Each part pairs a pattern with pieces of text, one of which stands in whatever the pattern matches:
the pieces are looked for first, as that is quick, and the pattern is then tried around them alone.
Patterns expect lower case and straight apostrophes; every repetition in them is bounded.
"""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

_BEFORE, _AFTER = 110, 160  # characters around a piece in which its pattern may match


@dataclass(frozen=True, slots=True)
class Part:
    """One way of refusing: a pattern, and pieces of which each match holds one."""

    pieces: tuple[str, ...]
    pattern: re.Pattern[str]

    def says(self, opening: str) -> bool:
        """Whether a lower-cased opening refuses in this way."""
        for piece in self.pieces:
            at = opening.find(piece)
            while at >= 0:
                if self.pattern.search(opening, max(at - _BEFORE, 0), at + _AFTER):
                    return True
                at = opening.find(piece, at + 1)
        return False


_FILE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def _parts(kind: str) -> tuple[Part, ...]:
    """The parts of one kind in `refusal_words.toml`."""
    return tuple(
        Part(tuple(part["pieces"].split("|")), re.compile(_filled(part["pattern"]), re.VERBOSE))
        for part in _FILE[kind]
    )


def _filled(pattern: str) -> str:
    """The pattern with its fragments."""
    for name, fragment in _FILE["fragments"].items():
        pattern = pattern.replace(f"@{name}@", fragment)
    return pattern


ENGLISH, (BRIEF,) = _parts("english"), _parts("brief")
ASCII_LANGUAGES, OTHER_LANGUAGES = _parts("ascii_languages"), _parts("other_languages")
_PERSONS = re.compile(_FILE["story"]["persons"], re.VERBOSE)
_PAST = re.compile(_FILE["story"]["past"])


def says_no(opening: str) -> bool:
    """Whether an opening, in lower case with straight apostrophes, says no in any way known."""
    head = opening[:_HEAD]
    if _is_spoken(opening) or _has_any(head, _IMPERSONAL):
        for part in ENGLISH:
            if part.says(opening):
                return True
    if not head.isascii():
        return any(part.says(head) for part in ASCII_LANGUAGES + OTHER_LANGUAGES)
    return _has_any(head, _ASCII_PIECES) and any(part.says(head) for part in ASCII_LANGUAGES)


def says_no_briefly(opening: str) -> bool:
    """Whether a short answer that speaks of no one and of no past says no, or asks back, at all.

    Looser than `says_no`: without third persons there is hardly a story, a review or a letter.
    """
    if not (len(opening) < _SHORT or _is_spoken(opening)) or not BRIEF.says(opening):
        return False
    return not _PERSONS.search(opening) and len(_PAST.findall(opening)) < _PAST_WORDS


_SHORT, _PAST_WORDS = 120, 3
_HEAD = 160  # characters in which a refusal without an "I", or in another language, has begun
_IMPERSONAL = ("unable", "request", "sorry", "not within", "we ca")
_ASCII_PIECES = tuple(piece for part in ASCII_LANGUAGES for piece in part.pieces)


def _is_spoken(opening: str) -> bool:
    """Whether someone says "I": nearly every refusal does, and most stories do not."""
    return (
        " i " in opening
        or " i'" in opening
        or "\ni" in opening
        or opening.lstrip('*>_"“ \n#')[:2] in ("i ", "i'")
    )


def _has_any(text: str, pieces: tuple[str, ...]) -> bool:
    for piece in pieces:  # noqa: SIM110 (a generator would take twice the time)
        if piece in text:
            return True
    return False
