"""Which person a pronoun means, among any number of people: "he" and "she", "they", "I".

A pronoun means the person of its gender for whom most speaks, by the walk and the weights of
stories (`shared.links`). Genders that no title or noun tells are learnt from the pronouns: walks
collect votes, and the likeliest choice of genders is kept. Names tell nothing about gender.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations, product
from typing import NamedTuple

import numpy as np

from portrayal.annotate.people.any_text.grammar import Preference
from portrayal.annotate.people.names.candidates import LISTS
from portrayal.annotate.people.shared import links
from portrayal.annotate.people.shared.scan import QUOTES, Tokens
from portrayal.annotate.people.shared.words import PLURAL_PEOPLE, SAYING, THEY
from portrayal.reference.groups import FEMININE, MASCULINE, NON_BINARY
from portrayal.types import FloatArray

OFTEN, MOST, NAMED, OPEN, THEY_TOO = 500, 10, 500, -2000, -600
"""What speaks for a person for each mention, up to so many, for a name, and where the gender is not
known; and for a gender of "he" or "she" for each "they" that refers to the person alone."""

PREFERRED = 2_500
"""What a preference of grammar outweighs, in thousandths of log odds."""

WALKS, TRIED, TRIED_AT_ONCE = 3, 6, 3
"""Walks that collect votes; people whose genders are tried, one by one and two at once."""

RIVALS = 64
"""Most people among whom a pronoun chooses; further ones open a part of the text of their own."""


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


def resolve(
    events: Sequence[links.PersonMention],
    people: Sequence[tuple[str, bool, int]],
    barred: Mapping[int, int],
    preferred: Sequence[Preference] = (),
) -> list[int]:
    """The person of each pronoun, in order; `OTHER` for no one who is mentioned.

    Parameters
    ----------
    events
        Mentions and pronouns in order.
    people
        Of each person the gender that titles and nouns tell, or "", whether it has a name, and how
        many "they" refer to it alone.
    barred
        See `links.Mentions`.
    preferred
        What grammar prefers.
    """
    genders = [gender for gender, _, _ in people]
    # Parts of the text with few enough people to be compared
    parts: list[list[links.PersonMention]] = [[]]
    part_persons: set[int] = set()
    for event in events:
        if not event.case:
            if len(part_persons | {event.entity}) > RIVALS:
                parts.append([])
                part_persons = set()
            part_persons.add(event.entity)
        parts[-1].append(event)
    meant_persons: list[int] = []
    for part in parts:
        persons = list(dict.fromkeys(event.entity for event in part if not event.case))
        place = {person: i for i, person in enumerate(persons)}
        local = [e if e.case else e._replace(entity=place[e.entity]) for e in part]
        # Whom a possessive cannot be may not be among the people of this part
        known = [e.token for e in part if e.token in barred]
        never = {token: place.get(barred[token], links.OTHER) for token in known}
        hints = [(genders[person], *people[person][1:]) for person in persons]
        mentions = links.Mentions(local, never)
        score, choice = _likeliest(mentions, hints)
        against = [
            one
            for one in preferred
            if one.person in place
            and one.rival in place
            and one.token not in never
            and choice.entity_at.get(one.token) == place[one.rival]
        ]
        # Where further words tell the gender of the other, a sentence by itself says little.
        # Pronouns behind one in its sentence follow it
        tokens_against = {one.token for one in against}
        opened = {e.sentence: e.token for e in reversed(part) if e.token in tokens_against}
        elsewhere = {
            choice.entity_at[e.token]
            for e in part
            if e.case and e.token < opened.get(e.sentence, e.token + 1)
        }
        against = [one for one in against if place[one.rival] not in elsewhere]
        # Once more, with what the preferences say barred: taken if not much worse elsewhere
        if against:
            mentions.barred |= {one.token: place[one.rival] for one in against}
            other, way = _likeliest(mentions, hints)
            if other + PREFERRED * len(against) >= score:
                choice = way
        for person, gender in zip(persons, choice.genders, strict=True):
            # What this part told of a gender holds in the parts behind
            genders[person] = gender or ""
        meant = [choice.entity_at[event.token] for event in part if event.case]
        meant_persons += [links.OTHER if i == links.OTHER else persons[i] for i in meant]
    return meant_persons


def _likeliest(
    mentions: links.Mentions, people: Sequence[tuple[str, bool, int]]
) -> tuple[int, links.GenderChoice]:
    """The likeliest choice of genders that titles and nouns leave open, and its score."""
    weights, _ = links.learned()
    events = mentions.events
    times = Counter(event.entity for event in events)

    def follow(genders: Sequence[str | None]) -> tuple[int, links.GenderChoice]:
        more = [
            OFTEN * min(times[i], MOST) + NAMED * people[i][1] + OPEN * (gender == "")
            for i, gender in enumerate(genders)
        ]
        choice = links.walk(mentions, tuple(genders), weights, more)
        counts = Counter(choice.entity_at.values())
        codes, against = choice.codes.copy(), 0
        for i, (gender, (hint, is_named, they)) in enumerate(zip(genders, people, strict=True)):
            against += they * bool(gender)
            # An open gender that a pronoun met has no code: it is neither told nor untold
            if gender != "" or not counts[i]:
                flags = {"is_named": is_named, "sole": len(people) == 1}
                state = 2 * bool(hint)
                codes.append(links.code_of_gender(gender or None, counts[i], state, **flags))
        return sum(map(weights.__getitem__, codes)) + THEY_TOO * against, choice

    genders: list[str | None] = [hint for hint, _, _ in people]
    best, choice = follow(genders)
    for _ in range(WALKS):
        # Each pronoun is a vote for the gender of whom it means
        votes = Counter((choice.entity_at[e.token], e.gender) for e in events if e.case)
        decided = dict(sorted(votes, key=lambda vote: (votes[vote], vote)))
        voted = [hint or decided.get(i, "") for i, (hint, _, _) in enumerate(people)]
        if voted == genders:
            break
        genders = [*voted]
        best, choice = follow(genders)
    genders_told = sorted({event.gender for event in events if event.case})
    # Then other genders for one or two people: votes may get stuck in a wrong choice
    free = [i for i, _ in times.most_common() if i != links.OTHER and not people[i][0]][:TRIED]
    some_people = (*combinations(free[:TRIED_AT_ONCE], 2), *((i,) for i in free))
    for some in some_people if genders_told else ():
        for trial in product((*genders_told, None), repeat=len(some)):
            other = genders.copy()
            for i, gender in zip(some, trial, strict=True):
                other[i] = gender
            score, way = follow(other) if other != genders else (best, choice)
            if score > best:
                best, choice, genders = score, way, other
    return best, choice


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
        other_genders = [i for i, hint in enumerate(genders) if hint not in ("", gender)]
        allowed[row, other_genders if never < 0 else [*other_genders, never]] = 0.0
    # Pronouns of the same gender support one another, a pronoun never itself
    same = np.array(spoken)[:, np.newaxis] == np.array(spoken)
    other = ~same
    np.fill_diagonal(same, val=False)
    posterior = allowed
    for _ in range(WALKS):
        same_gender = same @ posterior + _SURE
        share = same_gender / (same_gender + other @ posterior + _SURE)
        # Nobody has no gender: several strangers may be "she" and "he"
        share[:, -1] = 0.5
        posterior = allowed * share**_LEAN
        posterior /= posterior.sum(1, keepdims=True)
    nobody = posterior.shape[1] - 1
    return [-1 if i == nobody else int(i) for i in posterior.argmax(1)]


_SEVERAL = PLURAL_PEOPLE | LISTS.together

_LEAST = 2
"""Uses without a rival that make a person non-binary where nothing else says so."""


def single_they(
    tokens: Tokens,
    person_at: Mapping[int, int],
    genders: Sequence[frozenset[str]],
    is_named: Sequence[bool],
) -> list[tuple[int, int]]:
    """Uses of "they" that refer to one person, as (position, person).

    Parameters
    ----------
    tokens
        The text.
    person_at
        Token position of each mention → person.
    genders
        Per person the genders that other references tell.
    is_named
        Per person whether it has a name.

    Notes
    -----
    Only people to whom no word of another gender refers are taken. Where no "non-binary" or "Mx."
    says so, at least two uses must follow this person alone, with no noun for several people near.
    """
    sentence, low = tokens.sentence, tokens.low
    places = [i for i, word in enumerate(low) if word in THEY]
    # Sentence → its first noun for several people
    crowded = {sentence[i]: i for i in reversed(range(len(low))) if low[i] in _SEVERAL}
    near: dict[int, set[int]] = {}
    uses_of: dict[int, list[int]] = {}
    for i in sorted({*person_at, *places}):
        number = sentence[i]
        if i in person_at:
            near.setdefault(number, set()).add(person_at[i])
            continue
        # "They" behind a noun for several people means these
        if tokens.quoted[i] or crowded.get(number, i) < i:
            continue
        before = near.get(number, set())
        if not before and number - 1 not in crowded:
            before = near.get(number - 1, set())
        # With two people around, "they" may be both
        if len(before) == 1:
            (person,) = before
            if not genders[person] & {FEMININE, MASCULINE}:
                uses_of.setdefault(person, []).append(i)
                near.setdefault(number, set()).add(person)
    return [
        (i, person)
        for person, uses in uses_of.items()
        if NON_BINARY in genders[person] or (is_named[person] and len(uses) >= _LEAST)
        for i in uses
    ]


_NEAR = 4


def find_speakers(tokens: Tokens, person_at: Mapping[int, int]) -> dict[int, int]:
    """Number of a quotation → index of its speaker, where one stands beside it.

    `person_at` maps positions of names and pronouns to people: '"…," said Ann', 'Ann said: "…"'.
    """
    low, n = tokens.low, len(tokens.low)
    speakers: dict[int, int] = {}
    for i in [i for i, word in enumerate(low) if word in QUOTES]:
        closes = i > 0 and tokens.quoted[i - 1] > 0
        number = tokens.quoted[i - 1 if closes else min(i + 1, n - 1)]
        if not number or number in speakers:
            continue
        step = 1 if closes else -1
        near = [i + step * k for k in range(1, _NEAR + 2) if 0 <= i + step * k < n]
        says = [p for p in near if low[p] in SAYING]
        name_places = [p for p in near if p in person_at]
        # Behind a quotation the speaker must follow at once: '"…," said Ann'
        if says and name_places and min(says + name_places) <= i + 2:
            speakers[number] = person_at[name_places[0]]
    return speakers
