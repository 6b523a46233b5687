"""Names of places, gods, rites, plants and dishes, and people who bear the same names."""

import pytest

from portrayal.annotate.people import find_everyone


def names(text):
    return [person.name for person in find_everyone(text)]


@pytest.mark.parametrize(
    "text",
    [
        "They live in Tamil Nadu. Tamil Nadu is warm, and Uttar Pradesh is far.",
        "On the streets of Salem shops were open.",
        "In the heart of Salem stood a well.",
        "Not far from them, in Salem, Tamil Nadu, it rained.",
        "They prayed to Vishnu before the meal.",
        "The priest invoked Brahma, Vishnu, and Shiva.",
        "A bell rang for Goddess Lakshmi at noon.",
        "The Meenakshi temple was full. Bells of the Meenakshi Amman Temple rang.",
        "Then came the Kashi Yatra, and after it 'Pon Azhaipu'.",
        "Next was a ceremony known as Pon Azhaipu.",
        "We ate dishes such as Rasam, Vada, and Kesari.",
        "They served crispy Vada and sweet Ada Pradhaman on leaves.",
        "The hall smelled of marigold and Jasmine.",
        "Mother Nature was kind.",
        "The Kalyana Mandapam (wedding hall) was full.",
    ],
)
def test_names_of_things(text):
    assert names(text) == []


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Salem walked to the well. He was tired.", "Salem"),
        ("In Salem's eyes it was a feast.", "Salem"),
        ("Her husband, Vishnu, a clerk, prayed to Shiva and went.", "Vishnu"),
        ("Vishnu smiled at the priest and prayed.", "Vishnu"),
        ("They chose the name Lakshmi, after the goddess Lakshmi. Lakshmi slept.", "Lakshmi"),
        ("Jasmine wore garlands. She danced.", "Jasmine"),
        ("Stephen Curry scored. Curry was glad.", "Stephen Curry"),
        ("Condoleezza Rice spoke in Delhi, and Rice smiled.", "Condoleezza Rice"),
        ("In 2005 Angela took office.", "Angela"),
        ("“It is late,” Chris Aronson, a clerk, said.", "Chris Aronson"),
        ("Watching Riya laugh, the crowd fell silent.", "Riya"),
        ("Ana Mendoza met the press. Mendoza said no.", "Ana Mendoza"),
    ],
)
def test_people_whose_names_may_be_things(text, name):
    assert names(text) == [name]


def test_all_mentions_of_a_name_are_weighed():
    text = "Salem sold rice near Salem temple. Salem laughed, and his wife sang."
    assert names(text) == ["Salem"]
