"""Singular "they" of any person: who is non-binary by the words of the text."""

from collections.abc import Mapping, Sequence

from portrayal.annotate.people.shared.scan import Tokens
from portrayal.annotate.people.shared.singular import PLURAL_PEOPLE, THEY
from portrayal.annotate.people.shared.words import word_set

_TOGETHER = word_set("together both each everyone all two three team couple together others many")
_SEVERAL = PLURAL_PEOPLE | _TOGETHER
_BEFORE_PLURALS = word_set("the these those many several some other")
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
        if word in _SEVERAL or (word in _BEFORE_PLURALS and _looks_plural(tokens, at)):
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
            if not genders[person] & {"F", "M"}:
                found.setdefault(person, []).append(at)
                near.setdefault(here, set()).add(person)
    return [
        (at, person)
        for person, uses in found.items()
        if "NB" in genders[person] or (named[person] and len(uses) >= _LEAST)
        for at in uses
    ]


def _looks_plural(tokens: Tokens, at: int) -> bool:
    """Whether a plural noun stands behind "the", "these" or the like at `at`."""
    ahead = tokens.low[at + 1 : at + 3]
    return any(w.endswith("s") and not w.endswith("ss") and len(w) > 3 for w in ahead)
