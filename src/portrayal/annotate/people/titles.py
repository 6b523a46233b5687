"""Titles before names."""

from portrayal.annotate.people.wordset import word_set

FORMAL_TITLES = word_set(
    """
    captain detective doctor dr judge justice madam madame miss mister mr mrs ms mx officer
    president prof professor rev reverend senator sergeant sir
    """
)
"""Titles that stand before a surname: "Dr. Smith" has no first name."""

INFORMAL_TITLES = word_set("agent aunt auntie brother chef coach nurse sister uncle")
"""Titles that stand before a first name: "Chef Maria" is Maria."""

TITLES = FORMAL_TITLES | INFORMAL_TITLES

RELATIVES = word_set("aunt auntie brother sister uncle")
"""Titles of people who are seldom in a prompt's roles."""

ABBREVIATIONS = word_set(
    "capt col det dr fr gen gov hon jr lt mr mrs ms mx prof rep rev sen sgt sr st"
)
"""Words behind which a full stop seldom ends a sentence."""
