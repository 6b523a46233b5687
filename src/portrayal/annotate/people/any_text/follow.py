"""Which person a pronoun refers to, among any number of people.

The most salient person whose gender allows it gets the pronoun. Genders that no title or noun tells
are learnt from the pronouns themselves: a first walk collects votes, the next walks keep to what
they said. Names tell nothing about gender. The weights were set by hand and are in no unit.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

RECENCY = (3.0, 2.4, 1.2, 0.5, 0.2)
"""Salience of a person last mentioned in this sentence, one, two, three or four sentences ago."""

LONG_AGO = 0.1
SUBJECT = {"s": 1.6, "o": 0.4, "p": 0.6, "r": 1.0}
"""Added where that mention was a subject, by case of the pronoun."""

OWN_CLAUSE = {"s": 0.6, "o": 0.0, "p": 0.8, "r": 2.0}
"""Added where the person is the subject of the pronoun's clause."""

OFTEN = 0.15
"""Added for each earlier mention, up to ten."""

SPEAKER = 0.2
"""Factor for the speaker of a quotation and "he" or "she" within it."""

NOT_YET = 0.3
"""Salience of a person who is named only later, within two sentences."""

OPEN = 0.85
"""Factor for a person whose gender is not known."""

THEY = 0.2
"""Factor for a person to whom "they" refers, and "he" or "she"."""

KEPT = 0.6
"""Share of the votes that decides a gender."""

WALKS = 3
RIVALS = 64
"""Most people considered for a pronoun: the last mentioned, and as many who are named next."""


class Event(NamedTuple):
    """A mention of a person (`case` is empty) or a pronoun; `person` is -1 where it is not known.

    Attributes
    ----------
    at, sentence
        Token position, and number of the sentence.
    person
        Index of the person mentioned.
    subject
        1 for the subject of a clause, 0.5 for its owner, else 0; below 0 for an object that cannot
        be a subject up to so many tokens before.
    gender
        "F", "M", "NB" or "".
    case
        "s", "o", "p" or "r" of a pronoun; "d" for a noun with "the".
    quote
        Number of the quotation, or -1.
    """

    at: int
    sentence: int
    person: int
    subject: float
    gender: str
    case: str
    quote: int


@dataclass(slots=True)
class _Seen:
    """Where a person was last mentioned."""

    sentence: int = -1
    subject: float = 0.0
    times: int = 0
    votes: dict[str, float] = field(default_factory=dict)


def follow(
    events: Sequence[Event],
    genders: Sequence[str],
    barred: dict[int, int],
    speakers: dict[int, int],
    they: Collection[int] = (),
) -> tuple[list[int], list[str]]:
    """The person of each pronoun in `events`, in order, and the genders that came out.

    Parameters
    ----------
    events
        Mentions and pronouns in order.
    genders
        Per person the gender that titles and nouns tell, or "".
    barred
        Token position of a pronoun → person it cannot be.
    speakers
        Number of a quotation → person who speaks.
    they
        People to whom "they" refers: anybody else is preferred for "he" and "she".

    Returns
    -------
    list of int, list of str
        -1 stands for nobody who is mentioned.
    """
    first: dict[int, int] = {}
    for event in events:
        if event.person >= 0:
            first.setdefault(event.person, event.sentence)
    known = list(genders)
    found: list[int] = []
    for _ in range(WALKS):
        found, votes = _walk(events, known, first, barred, speakers, they)
        decided = [told or _decided(vote) for told, vote in zip(genders, votes, strict=True)]
        if decided == known:
            break
        known = decided
    return found, known


def _decided(votes: dict[str, float]) -> str:
    """The gender that has most votes, or ""."""
    if not votes:
        return ""
    best = max(votes, key=lambda gender: (votes[gender], gender))
    return best if votes[best] >= KEPT * sum(votes.values()) else ""


def _walk(
    events: Sequence[Event],
    genders: Sequence[str],
    first: dict[int, int],
    barred: dict[int, int],
    speakers: dict[int, int],
    they: Collection[int],
) -> tuple[list[int], list[dict[str, float]]]:
    """One walk: the person of each pronoun, and the votes for genders."""
    seen = [_Seen() for _ in genders]
    found: list[int] = []
    clause = (-1, -1, -1)
    recent: dict[int, None] = {}
    coming = _coming(first)
    for event in events:
        if event.person >= 0:
            _see(seen[event.person], event)
            _recall(recent, event.person)
            if event.subject == 1.0:
                clause = (event.person, event.at, event.sentence)
            continue
        best, top, second = -1, 0.0, 0.0
        here = event.sentence
        for person in sorted({*recent, *coming.get(here, ()), *coming.get(here + 1, ())}):
            if barred.get(event.at) == person:
                continue
            state = seen[person]
            weight = _salience(event, person, state, first, clause)
            weight *= _allowed(event, genders[person], state)
            if event.quote >= 0 and speakers.get(event.quote) == person:
                weight *= SPEAKER
            if person in they:
                weight *= THEY
            if weight > top:
                best, top, second = person, weight, top
            elif weight > second:
                second = weight
        found.append(best)
        if best >= 0:
            votes = seen[best].votes
            votes[event.gender] = votes.get(event.gender, 0.0) + 0.1 + (top - second) / top
            _see(seen[best], event)
            _recall(recent, best)
            if event.case == "s":
                clause = (best, event.at, event.sentence)
    return found, [state.votes for state in seen]


def _coming(first: dict[int, int]) -> dict[int, list[int]]:
    """Sentence → people first mentioned there, up to `RIVALS`."""
    coming: dict[int, list[int]] = {}
    for person, sentence in first.items():
        people = coming.setdefault(sentence, [])
        if len(people) < RIVALS:
            people.append(person)
    return coming


def _recall(recent: dict[int, None], person: int) -> None:
    """Make the person the last of those mentioned, and forget who was not for long."""
    recent.pop(person, None)
    recent[person] = None
    if len(recent) > RIVALS:
        del recent[next(iter(recent))]


def _see(state: _Seen, event: Event) -> None:
    """Note a mention."""
    if event.quote >= 0 and state.sentence == event.sentence:
        return
    state.sentence = event.sentence
    state.subject = 1.0 if event.case == "s" else max(event.subject, 0.0)
    state.times += 1


def _allowed(event: Event, gender: str, state: _Seen) -> float:
    """Factor for a person of this gender, or of the gender that the votes so far tell."""
    if gender:
        return 1.0 if gender == event.gender else 0.0
    if not state.votes:
        return OPEN
    other = sum(weight for vote, weight in state.votes.items() if vote != event.gender)
    return OPEN if other <= state.votes.get(event.gender, 0.0) else OPEN * 0.15


def _salience(
    event: Event,
    person: int,
    state: _Seen,
    first: dict[int, int],
    clause: tuple[int, int, int],
) -> float:
    """How well the person would do for the pronoun, whatever the gender."""
    if state.sentence < 0:
        return NOT_YET if 0 <= first.get(person, 1 << 30) - event.sentence <= 1 else 0.0
    back = event.sentence - state.sentence
    weight = RECENCY[back] if back < len(RECENCY) else LONG_AGO
    weight += SUBJECT.get(event.case, 0.0) * state.subject * (1.0 if back < 2 else 0.3)
    weight += OFTEN * min(state.times, 10)
    if clause[0] == person and clause[2] == event.sentence:
        if event.subject < 0 and event.at - clause[1] <= -event.subject:
            return weight * 0.05
        weight += OWN_CLAUSE.get(event.case, 0.0)
    return weight
