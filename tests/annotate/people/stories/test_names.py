import pytest

from portrayal.annotate.people.shared.model import Roles
from portrayal.annotate.people.stories.scene import read_story
from support import people_by_rules


def first_names(text):
    """First names of the people found."""
    return [person.first for person in read_story(text, Roles("baker", None)).people]


@pytest.mark.parametrize(
    "name",
    [
        *("O'Neil", "D'Angelo", "D’Angelo", "D'Ávila", "Ta-Nehisi", "Mei-Ling", "Mary-Jane"),
        *("Zoë", "Łukasz", "Zoe\u0301", "Ольга", "Ngũgĩ", "Đặng", "Jean-Luc"),
    ],
)
def test_names_of_every_make(name):
    text = f"{name}, a baker, taught Bo, an apprentice. {name} was proud of Bo."
    subject, other = people_by_rules(text, Roles("baker", "apprentice"))
    assert (subject.name, other.name) == (name, "Bo")
    for span in subject.spans:
        if span.kind == "name":
            assert text[span.start : span.end] == name


@pytest.mark.parametrize("name", ["John", "Mark", "Bill", "Grace", "Will", "Rose", "Hope", "May"])
@pytest.mark.parametrize(
    "text",
    [
        "{} eagerly waited at the gate.",
        "It rained. {} quickly ran home.",
        "It rained. {} stood up. Nobody came.",
    ],
)
def test_names_that_are_words_open_a_sentence(name, text):
    assert first_names(text.format(name)) == [name]


def test_a_title_and_a_surname_are_no_first_name():
    assert first_names("Mr. O'Neil and Mrs. Pitt waved.") == [None, None]


def test_a_singular_verb_tells_a_name_from_a_plural():
    assert first_names("Anders was an American student.") == ["Anders"]
    assert first_names("Readers found it odd.") == []


def test_adjectives_with_a_hyphen_are_no_names():
    assert first_names("Ten-year-old Bram waved.") == ["Bram"]
    assert first_names("Chicago-based Bram waved.") == ["Bram"]


def test_months_after_in_are_no_names():
    assert first_names("In August Bram brought a tomato.") == ["Bram"]
    assert first_names("Then in August, Bram left.") == ["Bram"]
    assert first_names("August was proud of his brother Bram. August waved.") == ["August", "Bram"]
