"""Codes of what happens in a story, and their features."""

from portrayal.annotate.people.shared.links import FEATURES_OF, FIRST_CODE, THEY_CODES


def test_codes_of_singular_they_are_those_of_its_kinds():
    """The network speaks in their place, so none of another kind may be among them."""
    kinds = tuple(kind for kind in FIRST_CODE if kind.startswith(("they", "singly")))
    of_kinds = [i for i, names in enumerate(FEATURES_OF) if names[0].startswith(kinds)]
    assert list(THEY_CODES) == of_kinds
    assert len(kinds) == 4
