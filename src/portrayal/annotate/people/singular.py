"""Singular "they": which of its uses refer to one character."""

from collections.abc import Mapping, Sequence

from portrayal.annotate.people.scan import Tokens

OTHER = -1

THEY = frozenset(["they", "them", "their", "theirs", "themselves"])
"""Forms that refer to one person or to several."""

_TOGETHER = frozenset(["together", "both", "each", "everyone", "all", "two", "team", "couple", "friendship", "bond"])
"""Words that show that several people are meant."""

PLURAL_PEOPLE = frozenset(
    ["students", "classmates", "teachers", "peers", "colleagues", "friends", "parents", "patients", "doctors", "nurses", "fans", "customers", "clients", "siblings", "partners", "people", "others", "children", "kids", "coworkers", "teammates", "players", "opponents", "members", "employees", "workers", "investors", "judges", "mentors", "families", "neighbors", "locals", "diners", "patrons", "guests", "readers", "viewers", "critics", "professors", "experts", "lives", "family", "team", "crowd", "audience", "community", "group", "staff", "class", "couple", "pair", "duo", "strangers", "users", "followers"]
)
"""Nouns for several people."""


def singular_they(
    tokens: Tokens,
    they: Sequence[int],
    who: Mapping[int, int],
    open_slots: frozenset[int],
    nameless: frozenset[int],
) -> list[tuple[int, int]]:
    """Uses of "they" that refer to one of `open_slots`, as (position, slot).

    `who` maps the position of every other mention to its slot or `OTHER`; plural nouns are
    `OTHER`. A use counts for a character when nobody else was mentioned before it in its sentence
    and, for a character with a name or from an earlier sentence, in the sentence before.
    """
    if not open_slots:
        return []
    low, sentence = tokens.low, tokens.sentence
    found: list[tuple[int, int]] = []
    together = {sentence[at] for at, word in enumerate(low) if word in _TOGETHER}
    places = sorted(who)
    here: set[int] = set()
    before: set[int] = set()
    current, number = -9, 0
    for at in they:
        while number < len(places) and places[number] < at:
            place = places[number]
            number += 1
            if sentence[place] != current:
                before = here if sentence[place] == current + 1 else set()
                here, current = set(), sentence[place]
            here.add(who[place])
        if sentence[at] != current:
            before = here if sentence[at] == current + 1 else set()
            here, current = set(), sentence[at]
        near = here or before
        if len(near) != 1 or tokens.quoted[at] or current in together:
            continue
        slot = next(iter(near))
        if slot in open_slots and (not before - near or (here and slot in nameless)):
            found.append((at, slot))
            here.add(slot)
    return found
