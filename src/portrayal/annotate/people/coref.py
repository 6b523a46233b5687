"""Which character a gendered pronoun refers to.

Every assignment of genders to the characters is tried. Under each, a walk through the story gives
each pronoun to the most salient character of its gender, and the assignment whose pronouns fit
best is kept. Names tell nothing about gender here. The weights below were set by hand and rounded
from a search on half of the development prompts at a time; they are in no unit.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from portrayal.annotate.people.mentions import OTHER, POSSESSOR, Mention

RECENCY = (4.3, 3.6, 1.9, 0.3)
"""Salience of a character last mentioned in this sentence, one, two, or more sentences ago."""

SUBJECT = {"s": 1.7, "o": 0.5, "p": 0.4, "r": 0.4}
"""Added where that mention was a subject, by case of the pronoun."""

NEWEST = {"s": 0.3, "o": -0.6, "p": 0.5, "r": 0.5}
"""Added where no one was mentioned later."""

OWN_CLAUSE = {"s": 1.0, "o": 0.0, "p": 0.2, "r": 2.0}
"""Added where the character is the subject of the pronoun's clause."""

NOT_OWN = 0.05
"""Factor for the object of a verb and its subject: "she thanked her" are two people."""

NAME_RANK = {1.0: 1.0, POSSESSOR: 1.2, 0.0: 0.0}
"""How much of a subject a name or noun is, by rank."""

PRONOUN_RANK = {"s": 1.8, "o": -0.5, "p": 0.6, "r": -0.5}
"""How much of a subject a pronoun is, by case."""

NOT_YET = 0.2
"""Salience of a character who is only mentioned later."""

NEVER_NAMED, FIRST_NEVER_NAMED = 4.0, 3.0
"""Salience of a character who is only ever a pronoun, and what the first pronoun adds for it."""

STRANGER = 0.4
"""Factor for people outside the roles whose noun tells the pronoun's gender."""

QUOTED = 0.1
"""Factor for pronouns in direct speech."""

GENDERED = 0.2
"""Cost of giving a character a gender."""

ALIKE, ALIKE_NAMELESS = 0.3, 2.0
"""Cost of giving both the same gender, and where one of them has no name."""

Genders = tuple[str | None, ...]


@dataclass(slots=True)
class Walk:
    """How far a walk through the mentions has come; lists have one entry more, for strangers.

    Attributes
    ----------
    first, last
        Sentence in which each character is first named, and was last mentioned; -1 for never.
    rank
        How much of a subject that last mention was.
    sentence, newest
        The sentence reached, and who was mentioned last in the story.
    clause, clause_at
        Subject of the clause reached, `OTHER` where it is unknown, and its token position.
    stranger, stranger_at
        Gender of the last stranger's noun, or "", and its token position.
    """

    first: Sequence[int]
    last: list[int]
    rank: list[float]
    sentence: int = -1
    newest: int = OTHER
    clause: int = OTHER
    clause_at: int = -1
    stranger: str = ""
    stranger_at: int = -1

    def see(self, event: Mention) -> None:
        """Pass a name or noun."""
        entity = event.entity
        if event.quoted and self.last[entity] >= 0:
            return
        self.last[entity], self.newest = self.sentence, entity
        self.rank[entity] = NAME_RANK[event.rank]
        if event.rank == 1.0:
            self.clause, self.clause_at = entity, event.at
        if entity == OTHER:
            self.stranger, self.stranger_at = event.gender, event.at

    def take(self, event: Mention, entity: int) -> None:
        """Pass a pronoun that refers to `entity`."""
        if event.case == "s":
            self.clause, self.clause_at = entity, event.at
        if entity != OTHER:
            self.last[entity], self.newest = self.sentence, entity
            self.rank[entity] = PRONOUN_RANK[event.case]

    def salience(self, event: Mention, index: int) -> float:
        """How well the character at `index`, mentioned before, would do for the pronoun."""
        weight = RECENCY[min(self.sentence - self.last[index], 3)]
        weight += SUBJECT[event.case] * self.rank[index]
        if index == self.newest:
            weight += NEWEST[event.case]
        if index == self.clause:
            if event.rank >= 0.0:
                weight += OWN_CLAUSE[event.case]
            elif event.at - self.clause_at <= -event.rank:
                weight *= NOT_OWN
        return weight * QUOTED if event.quoted else weight

    def stranger_salience(self, event: Mention) -> float:
        """How well a stranger would do for the pronoun."""
        if self.last[OTHER] < 0:
            return 0.0
        weight = RECENCY[min(self.sentence - self.last[OTHER], 3)]
        return (weight + SUBJECT[event.case] * self.rank[OTHER]) * STRANGER


def resolve(
    events: Sequence[Mention],
    genders: Genders,
    first: Sequence[int],
    barred: Mapping[int, int],
    *,
    narrated: bool,
) -> tuple[float, list[int]]:
    """Support for characters of these genders, and the character of each pronoun or `OTHER`.

    `first` holds the sentence in which each character is first named, -1 where it never is;
    `barred` says which character a pronoun cannot be.
    """
    n = len(genders)
    walk = Walk(first, [-1] * (n + 1), [0.0] * (n + 1))
    total = 0.0
    found: list[int] = []
    for event in events:
        at, sentence, _, rank, gender, case, _ = event
        if sentence != walk.sentence:
            walk.sentence, walk.clause = sentence, OTHER
        if not case:
            walk.see(event)
            continue
        if case == "p" and rank > 0.0:
            walk.clause = OTHER
        best, top = OTHER, 0.0
        if walk.stranger == gender:
            top = walk.stranger_salience(event)
        for index in range(n):
            if genders[index] != gender or barred.get(at) == index:
                continue
            if walk.last[index] >= 0:
                weight = walk.salience(event, index)
            elif first[index] >= 0:
                weight = NOT_YET
            else:
                weight = 0.0 if narrated else NEVER_NAMED
                weight += FIRST_NEVER_NAMED * (index == 0 and not found)
            if weight > top:
                best, top = index, weight
        walk.take(event, best)
        total += top
        found.append(best)
    return total, found


def choose(
    events: Sequence[Mention],
    hints: Sequence[Mapping[str, float]],
    barred: Mapping[int, int],
    *,
    narrated: bool = False,
    nameless: bool = False,
) -> tuple[list[int], float]:
    """Characters of the pronouns in `events` that explain the story best.

    Parameters
    ----------
    events
        Mentions in order.
    hints
        Per character, the genders that nouns and titles tell, with weights.
    barred
        Token position of a pronoun → character it cannot be.
    narrated
        Whether the story is told in the first person, so that a character may never be named.
    nameless
        Whether one of the characters has no name.

    Returns
    -------
    list of int, float
        The character of each pronoun or `OTHER`, and how far the best genders are ahead of the
        next best.
    """
    n = len(hints)
    first = [-1] * (n + 1)
    for event in reversed(events):
        if not event.case:
            first[event.entity] = event.sentence
    best: tuple[float, list[int]] = (float("-inf"), [])
    second = float("-inf")
    alike = ALIKE_NAMELESS if nameless else ALIKE
    for genders in _options(events, hints):
        score, found = resolve(events, genders, first, barred, narrated=narrated)
        score -= GENDERED * (n - genders.count(None))
        if n == 2 and genders[0] and genders[0] == genders[1] and not (hints[0] and hints[1]):
            score -= alike
        if score > best[0]:
            best, second = (score, found), best[0]
        elif score > second:
            second = score
    return best[1], best[0] - second


def _options(events: Sequence[Mention], hints: Sequence[Mapping[str, float]]) -> list[Genders]:
    """Assignments of genders to try: hints decide, else any gender that a pronoun has."""
    seen: list[str | None] = [*sorted({event.gender for event in events if event.case}), None]
    choices = [
        [max(hint, key=lambda gender: (hint[gender], gender))] if hint else seen for hint in hints
    ]
    if len(choices) == 1:
        return [(a,) for a in choices[0]]
    return [(a, b) for a in choices[0] for b in choices[1]]
