"""Singular "they": which of its uses refer to one character."""

from collections.abc import Mapping, Sequence

from portrayal.annotate.people.scan import Tokens
from portrayal.annotate.people.wordset import word_set

THEY = word_set("they them their theirs themselves")
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


def singular_they(
    tokens: Tokens,
    they: Sequence[int],
    who: Mapping[int, int],
    untold: frozenset[int],
    nameless: frozenset[int],
) -> list[tuple[int, int]]:
    """Uses of "they" that refer to one of the characters `untold`, as (position, character).

    `who` maps the position of every other mention to its character or a negative number. A use
    counts for a character when nobody else was mentioned before it in its sentence and, unless the
    character is nameless and mentioned there, in the sentence before.
    """
    if not untold:
        return []
    sentence = tokens.sentence
    together = {sentence[at] for at, word in enumerate(tokens.low) if word in _TOGETHER}
    found: list[tuple[int, int]] = []
    places = sorted(who)
    here: set[int] = set()
    before: set[int] = set()
    current, number = -1, 0
    for at in they:
        while number <= len(places):
            place = places[number] if number < len(places) and places[number] < at else at
            if sentence[place] != current:
                before = here if sentence[place] == current + 1 else set()
                here, current = set(), sentence[place]
            if place == at:
                break
            here.add(who[place])
            number += 1
        near = here or before
        if len(near) != 1 or tokens.quoted[at] or current in together:
            continue
        (character,) = near
        if character in untold and (before <= near or (here and character in nameless)):
            found.append((at, character))
            here.add(character)
    return found
