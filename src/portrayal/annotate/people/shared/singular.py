"""Singular "they": which of its uses refer to one character."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import compress, product
from typing import NamedTuple

from portrayal.annotate.people.shared.mentions import OTHER
from portrayal.annotate.people.shared.scan import Tokens
from portrayal.annotate.people.shared.words import word_set

THEY = word_set("they them their theirs themselves themself")
"""Forms that refer to one person or to several."""

_TOGETHER = word_set(
    "together both each everyone all two team couple friendship bond shared share mutual"
)
"""Words that show that several people are meant."""

PLURAL_PEOPLE = word_set(
    """
    students classmates teachers peers colleagues friends parents patients doctors nurses fans
    customers clients siblings partners people others children kids coworkers teammates players
    opponents members employees workers investors judges mentors families neighbors locals diners
    patrons guests readers viewers critics professors experts lives family team crowd audience
    community group staff class couple pair duo strangers users followers
    """
)
"""Nouns for several people."""


WHERE = ("here", "back")
RIVALS = ("no rival yet", "alone", "rival back", "rival near", "rival latest")
USES = ("they", "their", "their one", "their kin", "them")

THEY_LINKS = tuple(product(WHERE, RIVALS, USES, ("", "together"), ("", "sole")))
"""How a use of "they" stands to the one character it may refer to; its number is its place."""

_WHERE, _RIVAL, _USE, _TOGETHER_STEP = 100, 20, 4, 2

_SINGLE = word_set(
    """
    voice face heart name mind hand head smile talent career life passion love desk dream work
    brilliance creativity dedication determination skill expertise experience journey job office
    chest breath gaze expression reputation future education notebook phone pulse arm condition
    """
)
"""What one person has one of."""

_KIN = word_set(
    """
    partner friend brother sister sibling husband wife girlfriend boyfriend mentor teacher boss
    mother father mom dad parents professor classmates peers coworkers colleagues patient client
    """
)


class TheyWalk(NamedTuple):
    """What all choices of genders of a story have in common.

    Attributes
    ----------
    order
        Position, sentence and number of each mention and each use of "they" outside quotations, up
        to the last use; the number is -1 for a mention, else the part of the link's that the words
        around the use tell.
    uses
        How many uses of "they" there are, with those in quotations.
    """

    order: list[tuple[int, int, int]]
    uses: int


def they_walk(tokens: Tokens, they: Sequence[int], mentions: Iterable[int]) -> TheyWalk:
    """What to walk through for uses of "they" at `they` and other mentions at `mentions`."""
    if not they:
        return TheyWalk([], 0)
    sentence = tokens.sentence
    own = [at for at in they if not tokens.quoted[at]]
    if not own:
        return TheyWalk([], len(they))
    shared = set(compress(sentence, map(_TOGETHER.__contains__, tokens.low)))
    order = [(at, sentence[at], -1) for at in mentions if at < own[-1]]
    for at in own:
        together = sentence[at] in shared
        use = _use(tokens.low, at) * _USE + together * _TOGETHER_STEP
        order.append((at, sentence[at], use))
    return TheyWalk(sorted(order), len(they))


def they_links(
    walk: TheyWalk, who: Mapping[int, int], slot: int, *, sole: bool, other_told: bool
) -> list[tuple[int, int]]:
    """Uses of "they" that may refer to the character `slot`, as (position, number of the link).

    `who` maps the position of every other mention to its character or a negative number; `sole`
    says that the prompt asks for one character and `other_told` that the other one is a "he" or
    "she". A use may refer to the character when it was the last to be mentioned in the sentence, or
    in the sentence before where nobody was in this one; the other may stand between if told.
    """
    here: set[int] = set()
    before: set[int] = set()
    seen: set[int] = set()
    current, latest = -1, -9
    found: list[tuple[int, int]] = []
    for at, sentence, use in walk.order:
        if sentence != current:
            before = here if sentence == current + 1 else set()
            here, current = set(), sentence
        if use < 0:
            latest = who[at]
            here.add(latest)
            seen.add(latest)
            continue
        between = other_told and latest == 1 - slot and OTHER not in here
        if slot not in (here or before) or not (latest == slot or between):
            continue
        if between:
            rival = 4
        elif len(here or before) > 1:
            rival = 3
        elif seen <= {slot}:
            rival = 0
        else:
            rival = 2 if len(before) > (slot in before) else 1
        found.append((at, (not here) * _WHERE + rival * _RIVAL + use + sole))
        here.add(slot)
        latest = slot
    return found


def _use(low: Sequence[str], at: int) -> int:
    """Place in `USES` of the form of "they" at `at`."""
    word = low[at]
    if word == "they":
        return 0
    if word != "their":
        return 4 if word.startswith("them") else 1
    after = low[at + 1 : at + 4]
    if after and after[0] in _KIN:
        return 3
    return 2 if not _SINGLE.isdisjoint(after[:2]) else 1
