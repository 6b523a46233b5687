"""How well a character would do for a pronoun, and which choices of genders are worth trying.

Under a choice of genders each pronoun goes to the most salient character of its gender (`trace`).
Names tell nothing about gender here. The weights below were set by hand and rounded from a search
on half of the development prompts at a time; they are in no unit.
"""

from collections.abc import Mapping

from portrayal.annotate.people.shared.mentions import POSSESSOR

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

NEVER_NAMED = 4.0
"""Salience of a character who is only ever a pronoun."""

STRANGER = 0.4
"""Factor for people outside the roles whose noun tells the pronoun's gender."""

QUOTED = 0.1
"""Factor for pronouns in direct speech."""

GENDERED = 0.2
"""Cost of giving a character a gender."""

ALIKE = 0.3
"""Cost of giving both the same gender."""

LEFT = 4
"""Pronouns outside quotations that a choice may leave to nobody beyond those that any must."""

Genders = tuple[str | None, ...]
"""A choice of genders: one per character, None for no gender."""


def likely(told: Mapping[str, int], options: list[Genders]) -> list[Genders]:
    """Those of `options` that do not leave far more pronouns to nobody than others must.

    `told` says how many pronouns outside quotations each gender has.
    """
    if sum(told.values()) <= LEFT:
        return options
    left = [sum([told[g] for g in told if g not in genders]) for genders in options]
    most = min(left) + LEFT
    return [genders for genders, n in zip(options, left, strict=True) if n <= most]
