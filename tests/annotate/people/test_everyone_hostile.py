"""Texts that nobody meant for people to read: long, without capitals, or made to cost time."""

from itertools import islice, product

import pytest

from annotate.people.conftest import lines_run
from portrayal.annotate.people.any_text.everyone import find_everyone
from support import matrix

LETTERS = "abcdefghijklmnopqrst"
UNITS = [
    "Ann Lee and Bo Ray met. She left. ",
    "\n",
    "Dr. ",
    "Emily, ",
    "Maria, a ",
    '"Hi," she said. ',
    "“",
    "\u202eAnn\u202c ",
    "ANN LEE IS HERE. ",
    "ann lee is here. ",
    "My name is Ann. ",
    "a male ",
    "Ann they ",
    "I ",
    "the singer Ann ",
    "van der ",
    "Mr. and Mrs. Lee ",
    'Ann "Bo" Lee ',
    'Ann "',
    "J. K. ",
    "A. ",
    "Xola Mda is here. He left. ",
    "Ann Lee and ",
    "Ann, MD, ",
    "King ",
]


def read(text):
    find_everyone(text, unnamed=True, writer=True)


@pytest.mark.parametrize("unit", matrix(UNITS))
def test_work_grows_with_the_text_and_no_faster(unit, grows_with_length):
    assert grows_with_length(read, unit)


FORMS = ("{0} {1} met him. She left. ", "Mr. {0} met him. She left. ")


@pytest.mark.parametrize("form", matrix(FORMS))
def test_work_grows_with_the_people_and_no_faster(form):
    names = [f"{a.upper()}{b}{c}" for a, b, c in islice(product(LETTERS, repeat=3), 400)]
    text = [form.format(name, name[::-1].title()) for name in names]
    small, large = (lines_run(lambda n=n: read("".join(text[:n]))) for n in (100, 400))
    assert large < 4 * 3 * small


SCENE = "Angela Merkel studied physics. She met Bo Ray in Leipzig, and he laughed.\n"


def test_work_grows_with_the_pronouns_and_no_faster():
    """Each pronoun looks at the mentions close before it, not at all of the text."""
    small, large = (lines_run(lambda n=n: read(SCENE * n)) for n in (100, 800))
    assert large < 8 * 1.2 * small


@pytest.mark.parametrize("times", matrix((2_800, 14_000)))  # 200 kB; a megabyte
def test_people_of_a_long_text(times):
    people = find_everyone(SCENE * times)
    assert [(p.name, p.gender) for p in people] == [("Angela Merkel", "F"), ("Bo Ray", "M")]


@pytest.mark.parametrize("text", ["THE ROSE IS RED. IT LIVES HERE.", "a nurse is a doctor's hope."])
def test_without_the_help_of_capitals_words_are_not_names(text):
    assert find_everyone(text) == []


def test_marks_of_direction_are_not_part_of_a_name():
    (person,) = find_everyone("\u202bAngela Merkel\u202c said she agreed.")
    assert (person.name, person.gender) == ("Angela Merkel", "F")
