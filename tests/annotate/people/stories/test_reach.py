import pytest

from portrayal.annotate.people.shared.links import (
    is_object,
    is_touched,
    object_reach,
    pronoun_at,
)
from portrayal.annotate.people.shared.scan import scan


@pytest.mark.parametrize(
    ("text", "reaches"),
    [
        ("ann thanked him", True),
        ("ann smiled and hugged him", True),
        ("ann spoke , squeezing him", True),
        ("ann smiled because bo thanked him", False),
        ("ann smiled and the crowd cheered him", False),
    ],
)
def test_how_far_a_verb_is_from_its_subject(text, reaches):
    words = text.split()
    at = len(words) - 1
    assert (object_reach(words, at) >= at) == reaches


@pytest.mark.parametrize(
    ("text", "touched"),
    [
        ("she took his hand", True),
        ("she looked into his warm eyes", True),
        ("she took his advice", False),
        ("she raised his hand", False),
        ("his hand", False),
        ("she took his", False),
    ],
)
def test_what_someone_else_touches(text, touched):
    words = text.split()
    assert is_touched(words, words.index("his")) == touched


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("bo thanked her", True),
        ("bo convinced her they could", True),
        ("bo helped her choose a dress", True),
        ("bo liked her work", False),
        ("bo helped her brother", False),
    ],
)
def test_objects_are_told_from_possessives(text, is_one):
    words = text.split()
    assert is_object(words, words.index("her")) == is_one


def test_an_object_of_place_may_be_ones_own():
    assert pronoun_at(scan("Relief washed over him"), 3).reach == 0
    assert pronoun_at(scan("Ann thanked him"), 2).reach > 0
