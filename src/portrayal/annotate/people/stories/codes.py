"""Everything that speaks for or against a choice of genders, numbered, and its weights by name.

A *code* is one observation of a story under one choice of genders: a link of a pronoun, a character
with or without evidence, a use of "they". Its weight is the sum of those of its *features*, which
are named; the weights of features are learned (`scripts/train_people.py`) and shipped as integers.
"""

from collections.abc import Mapping
from itertools import product

from portrayal.annotate.people.shared.singular import THEY_LINKS
from portrayal.annotate.people.stories.context import AHEAD_CODES, JOIN_CODES
from portrayal.annotate.people.stories.links import CASES, N_LINKS, link_features

HINTS = ("unhinted", "likely", "certain", "against")
"""What gendered nouns and titles say of a character's gender."""

TONE_AT = N_LINKS
"""Codes of a link that fits the roles ("she taught him") and of one that goes against them."""

TOLD_AT = TONE_AT + 2
_TOLD = tuple(product(("0", "1", "2", "3+"), HINTS, ("nameless", "named")))
"""A character with a gender: pronouns it has, hint, and whether it has a name."""

UNTOLD_AT = TOLD_AT + len(_TOLD)
_UNTOLD = tuple(product(HINTS, ("nameless", "named"), ("of two", "sole")))
"""A character without a gender."""

ALIKE_AT = UNTOLD_AT + len(_UNTOLD)
_ALIKE = ("alike with roles", "alike pair", "alike nameless")
"""Both have the same gender."""

SINGLY_AT = ALIKE_AT + len(_ALIKE)
_SINGLY = (
    *(f"singly {named} {sole}" for named in ("nameless", "named") for sole in ("of two", "sole")),
    *(f"singly {number}" for number in ("1", "2", "3+")),
    "singly hinted",
    "singly left over",
    "singly pair",
)
"""A character that "they" stands for."""

THEY_AT = SINGLY_AT + len(_SINGLY)

JOIN_AT = THEY_AT + len(THEY_LINKS)
"""Codes of a pronoun that opens a clause, and of one before a sentence's subject; see `context`."""

AHEAD_AT = JOIN_AT + len(JOIN_CODES)
STRANGER_AT = AHEAD_AT + len(AHEAD_CODES)
"""Codes of a pronoun left to the stranger who was mentioned last, by case."""

N_CODES = STRANGER_AT + len(CASES)


def told_code(links: int, hint: int, named: bool) -> int:
    """Code of a character with a gender; `hint` is a place in `HINTS`."""
    return TOLD_AT + (links if links < 3 else 3) * 8 + hint * 2 + named


def untold_code(hint: int, named: bool, sole: bool) -> int:
    """Code of a character without a gender."""
    return UNTOLD_AT + hint * 4 + named * 2 + sole


def singly_codes(
    links: int, left: int, *, hinted: bool, named: bool, sole: bool, paired: bool
) -> list[int]:
    """Codes of a character that `links` uses of "they" stand for and `left` others do not."""
    codes = [SINGLY_AT + named * 2 + sole, SINGLY_AT + 3 + min(links, 3)]
    codes += [SINGLY_AT + 7] * hinted + [SINGLY_AT + 8] * min(left, 3) + [SINGLY_AT + 9] * paired
    return codes


def features_of(code: int) -> tuple[str, ...]:
    """Names of the features whose weights add up to that of `code`."""
    if code < TONE_AT:
        return link_features(code)
    if code < TOLD_AT:
        return (("role fits", "role against")[code - TONE_AT],)
    if code < UNTOLD_AT:
        links, hint, named = _TOLD[code - TOLD_AT]
        return f"told {links} {hint}", f"told {links} {named}"
    if code < ALIKE_AT:
        hint, named, sole = _UNTOLD[code - UNTOLD_AT]
        return f"untold {hint}", f"untold {named} {sole}"
    if code < THEY_AT:
        return ((*_ALIKE, *_SINGLY)[code - ALIKE_AT],)
    return _they_features(code - THEY_AT) if code < JOIN_AT else _context_features(code)


def _context_features(code: int) -> tuple[str, ...]:
    """Features of what stands around a pronoun."""
    if code < AHEAD_AT:
        case, join, whom = JOIN_CODES[code - JOIN_AT]
        return (f"join {case} {join} {whom}",)
    if code < STRANGER_AT:
        lead, same = AHEAD_CODES[code - AHEAD_AT]
        return (f"ahead {lead} {same}",)
    return (f"nobody newest {CASES[code - STRANGER_AT]}",)


def _they_features(link: int) -> tuple[str, ...]:
    """Features of a use of "they"."""
    where, rival, use, together, sole = THEY_LINKS[link]
    names = (f"they {where} {rival}", f"they {use} {sole}", f"they {use} {rival}")
    return (*names, "they together") if together else names


FEATURES = tuple(dict.fromkeys(name for code in range(N_CODES) for name in features_of(code)))
"""Names of all features, in a fixed order."""


def code_weights(weights: Mapping[str, int]) -> tuple[int, ...]:
    """Weight of every code from those of the features; one that is not listed has none."""
    return tuple(sum(weights.get(name, 0) for name in features_of(code)) for code in range(N_CODES))
