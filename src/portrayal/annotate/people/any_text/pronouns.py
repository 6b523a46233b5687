"""Which person a pronoun means, among any number of people: "he" and "she", "they", "I".

The most salient person whose gender allows it gets the pronoun. Genders that no title or noun tells
are learnt from the pronouns themselves: a first walk collects votes, the next walks keep to what
they said. Names tell nothing about gender. The weights were set by hand and are in no unit.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from portrayal.annotate.people.any_text.candidates import LISTS
from portrayal.annotate.people.shared.scan import QUOTES, Tokens
from portrayal.annotate.people.shared.words import PLURAL_PEOPLE, SAYING, THEY, word_set
from portrayal.reference import FEMININE, MASCULINE, NON_BINARY
from portrayal.types import FloatArray

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

OF_THEY = 0.2
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


class Mark(NamedTuple):
    """A stretch of a text that the network looks at.

    Attributes
    ----------
    start, end
        Offsets.
    kind
        "name" (hidden behind a placeholder), "noun" (left as it is) or "pronoun".
    person
        Index of the person; of a pronoun, its number.
    """

    start: int
    end: int
    kind: str
    person: int


Refer = Callable[[str, Sequence[Mark], int, int], FloatArray]
"""A text, its marks, and how many people and pronouns they name, to whom each pronoun means.

The probability of each person, and in the last column of nobody, shape (n_pronouns, n_people + 1);
NaN where nothing is known. See `portrayal.annotate.people.reader.referents.refer`.
"""


@dataclass(slots=True)
class _LastMention:
    """Where a person was last mentioned."""

    sentence: int = -1
    subject: float = 0.0
    times: int = 0
    votes: dict[str, float] = field(default_factory=dict)


def resolve(
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
        People to whom "they" refers: anyone else is preferred for "he" and "she".

    Returns
    -------
    list of int, list of str
        -1 stands for no one who is mentioned.
    """
    first: dict[int, int] = {}
    for event in events:
        if event.person >= 0:
            first.setdefault(event.person, event.sentence)
    known = list(genders)
    found: list[int] = []
    # Sentence → people first mentioned there, up to `RIVALS`
    coming: dict[int, list[int]] = {}
    for person, sentence in first.items():
        people = coming.setdefault(sentence, [])
        if len(people) < RIVALS:
            people.append(person)
    for _ in range(WALKS):
        found, votes = walk_once(events, known, first, coming, barred, speakers, they)
        decided = [gender or _decided(vote) for gender, vote in zip(genders, votes, strict=True)]
        if decided == known:
            break
        known = decided
    return found, known


_SURE, _LEAN = 0.2, 0.5
"""Mass of each gender that a person has before any pronoun, and the power of what genders say."""


def most_likely(
    chances: FloatArray, spoken: Sequence[str], genders: Sequence[str], barred: Sequence[int]
) -> list[int]:
    """The person of each pronoun, from chances that know nothing of the other pronouns.

    A person whom "she" means is seldom meant by "he": each chance is weighed by the share of the
    person's other pronouns that tell the same gender, three times over.

    Parameters
    ----------
    chances
        Of each person, and in the last column of nobody, shape (n_pronouns, n_people + 1).
    spoken
        Gender that each pronoun tells.
    genders
        Per person the gender that titles and nouns tell, or "".
    barred
        Per pronoun a person it cannot mean, or -1.

    Returns
    -------
    list of int
        -1 stands for no one who is mentioned.
    """
    allowed = chances.copy()
    for row, (gender, never) in enumerate(zip(spoken, barred, strict=True)):
        allowed[row, [i for i, told in enumerate(genders) if told and told != gender]] = 0.0
        if never >= 0:
            allowed[row, never] = 0.0
    same = np.array(spoken)[:, np.newaxis] == np.array(spoken)
    np.fill_diagonal(same, val=False)
    other = ~same
    np.fill_diagonal(other, val=False)
    found = allowed
    for _ in range(WALKS):
        own = same @ found + _SURE
        share = own / (own + other @ found + _SURE)
        share[:, -1] = 0.5
        found = allowed * share**_LEAN
        found /= found.sum(1, keepdims=True)
    nobody = found.shape[1] - 1
    return [-1 if at == nobody else int(at) for at in found.argmax(1)]


def _decided(votes: dict[str, float]) -> str:
    """The gender that has most votes, or ""."""
    if not votes:
        return ""
    best = max(votes, key=lambda gender: (votes[gender], gender))
    return best if votes[best] >= KEPT * sum(votes.values()) else ""


def walk_once(
    events: Sequence[Event],
    genders: Sequence[str],
    first: dict[int, int],
    coming: dict[int, list[int]],
    barred: dict[int, int],
    speakers: dict[int, int],
    they: Collection[int],
) -> tuple[list[int], list[dict[str, float]]]:
    """One walk: the person of each pronoun, and the votes for genders."""
    seen = [_LastMention() for _ in genders]
    found: list[int] = []
    clause = (-1, -1, -1)
    recent: dict[int, None] = {}
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
            # Whether the gender, or the votes for one so far, allow this person
            own = state.votes.get(event.gender, 0.0)
            other = sum(n for vote, n in state.votes.items() if vote != event.gender)
            told = float(genders[person] == event.gender)
            weight *= told if genders[person] else OPEN if other <= own else OPEN * 0.15
            if event.quote >= 0 and speakers.get(event.quote) == person:
                weight *= SPEAKER
            if person in they:
                weight *= OF_THEY
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


def _recall(recent: dict[int, None], person: int) -> None:
    """Make the person the last of those mentioned, and forget who was not for long."""
    recent.pop(person, None)
    recent[person] = None
    if len(recent) > RIVALS:
        del recent[next(iter(recent))]


def _see(state: _LastMention, event: Event) -> None:
    """Note a mention."""
    if event.quote >= 0 and state.sentence == event.sentence:
        return
    state.sentence = event.sentence
    state.subject = 1.0 if event.case == "s" else max(event.subject, 0.0)
    state.times += 1


def _salience(
    event: Event,
    person: int,
    state: _LastMention,
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


_SEVERAL = PLURAL_PEOPLE | LISTS.together

_LEAST = 2
"""Uses without a rival that make a person non-binary where nothing else says so."""


def single_they(
    tokens: Tokens,
    who: Mapping[int, int],
    genders: Sequence[frozenset[str]],
    named: Sequence[bool],
) -> list[tuple[int, int]]:
    """Uses of "they" that refer to one person, as (position, person).

    Parameters
    ----------
    tokens
        The text.
    who
        Token position of each mention → person.
    genders
        Per person the genders that other references tell.
    named
        Per person whether it has a name.

    Notes
    -----
    Only people to whom no word of another gender refers are taken. Where no "non-binary" or "Mx."
    says so, at least two uses must follow this person alone, with no noun for several people near.
    """
    sentence, low = tokens.sentence, tokens.low
    places = [at for at, word in enumerate(low) if word in THEY]
    if not places:
        return []
    crowded: dict[int, int] = {}
    for at, word in enumerate(low):
        ahead = low[at + 1 : at + 3] if word in LISTS.before_plurals else []
        plural = any(w.endswith("s") and not w.endswith("ss") and len(w) > 3 for w in ahead)
        if plural or word in _SEVERAL:
            crowded.setdefault(sentence[at], at)
    near: dict[int, set[int]] = {}
    found: dict[int, list[int]] = {}
    for at in sorted({*who, *places}):
        here = sentence[at]
        if at in who:
            near.setdefault(here, set()).add(who[at])
            continue
        if tokens.quoted[at] or crowded.get(here, at) < at:
            continue
        before = near.get(here, set())
        if not before and here - 1 not in crowded:
            before = near.get(here - 1, set())
        if len(before) == 1:
            (person,) = before
            if not genders[person] & {FEMININE, MASCULINE}:
                found.setdefault(person, []).append(at)
                near.setdefault(here, set()).add(person)
    return [
        (at, person)
        for person, uses in found.items()
        if NON_BINARY in genders[person] or (named[person] and len(uses) >= _LEAST)
        for at in uses
    ]


FIRST_PERSON = word_set("i me my mine myself")
"""Forms of "I"; "i'm" is two tokens."""


_NEAR = 4


def number_quotations(tokens: Tokens) -> list[int]:
    """Per token the number of the quotation it stands in, or -1."""
    numbers = []
    current, inside = -1, False
    for quoted in tokens.quoted:
        current += quoted and not inside
        inside = quoted
        numbers.append(current if quoted else -1)
    return numbers


def find_speakers(tokens: Tokens, quotes: list[int], who: Mapping[int, int]) -> dict[int, int]:
    """Number of a quotation → index of its speaker, where one stands beside it.

    `who` maps positions of names and pronouns to people: '"…," said Ann', 'Ann said: "…"'.
    """
    words, low = tokens.words, tokens.low
    found: dict[int, int] = {}
    if QUOTES.isdisjoint(words):
        return found
    n = len(words)
    for at in [at for at in range(n) if words[at] in QUOTES]:
        closes = at > 0 and quotes[at - 1] >= 0
        number = quotes[at - 1] if closes else (quotes[at + 1] if at + 1 < n else -1)
        if number < 0 or number in found:
            continue
        step = 1 if closes else -1
        near = [at + step * k for k in range(1, _NEAR + 2) if 0 <= at + step * k < n]
        says = [p for p in near if low[p] in SAYING]
        named = [p for p in near if p in who]
        if says and named and (not closes or min(says + named) <= at + 2):
            found[number] = who[named[0]]
    return found


def find_signature(tokens: Tokens) -> int:
    """Position of the first word below a closing formula ("Sincerely,"), or -1."""
    words, low = tokens.words, tokens.low
    for at in range(len(words) - 1, max(-1, len(words) - 40), -1):
        if low[at] in LISTS.closing and words[at + 1 : at + 2] == [","]:
            return at + 2 + (words[at + 2 : at + 3] == ["\n"])
    return -1
