"""Singular "they": which of its uses refer to one character."""

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from portrayal.annotate.people.scan import Tokens
from portrayal.annotate.people.wordset import word_set

THEY = word_set("they them their theirs themselves themself")
"""Forms that refer to one person or to several."""

_TOGETHER = word_set("together both each everyone all two team couple friendship bond")
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


def they_links(
    tokens: Tokens,
    they: Sequence[int],
    who: Mapping[int, int],
    slot: int,
    *,
    sole: bool,
    other_told: bool,
) -> list[tuple[int, int]]:
    """Uses of "they" that may refer to the character `slot`, as (position, number of the link).

    `who` maps the position of every other mention to its character or a negative number; `sole`
    says that the prompt asks for one character and `other_told` that the other one is a "he" or
    "she". A use may refer to the character when it was the last to be mentioned in the sentence, or
    in the sentence before where nobody was in this one; the other may stand between if told.
    """
    walk = _TheyWalk(sorted(who), who, tokens.sentence)
    found: list[tuple[int, int]] = []
    for at in they:
        walk.reach(at)
        near = walk.here or walk.before
        between = other_told and walk.latest == 1 - slot
        if slot not in near or tokens.quoted[at] or not (walk.latest == slot or between):
            continue
        if between:
            rival = 4
        elif len(near) > 1:
            rival = 3
        elif walk.seen <= {slot}:
            rival = 0
        else:
            rival = 2 if len(walk.before) > (slot in walk.before) else 1
        together = not _TOGETHER.isdisjoint(_sentence(tokens, at))
        code = (not walk.here) * _WHERE + rival * _RIVAL + _use(tokens.low, at) * _USE
        found.append((at, code + together * _TOGETHER_STEP + sole))
        walk.here.add(slot)
        walk.latest = slot
    return found


@dataclass(slots=True)
class _TheyWalk:
    """Who was mentioned up to a use of "they".

    Attributes
    ----------
    here, before, seen
        Who was mentioned in the sentence reached, in the one before, and anywhere so far.
    latest
        Who was mentioned last.
    """

    places: Sequence[int]
    who: Mapping[int, int]
    sentence: Sequence[int]
    here: set[int] = field(default_factory=set)
    before: set[int] = field(default_factory=set)
    seen: set[int] = field(default_factory=set)
    current: int = -1
    number: int = 0
    latest: int = -9

    def reach(self, at: int) -> None:
        """Go on to the token at `at`."""
        while self.number < len(self.places) and self.places[self.number] < at:
            place = self.places[self.number]
            self._turn(self.sentence[place])
            self.latest = self.who[place]
            self.here.add(self.latest)
            self.seen.add(self.latest)
            self.number += 1
        self._turn(self.sentence[at])

    def _turn(self, sentence: int) -> None:
        """Start a new sentence if need be."""
        if sentence != self.current:
            self.before = self.here if sentence == self.current + 1 else set()
            self.here, self.current = set(), sentence


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


def _sentence(tokens: Tokens, at: int) -> list[str]:
    """Words of the sentence of the token at `at`."""
    sentence = tokens.sentence
    return tokens.low[bisect_left(sentence, sentence[at]) : bisect_right(sentence, sentence[at])]
