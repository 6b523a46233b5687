"""Names of places, gods, rites, plants and dishes, and people who bear the same names."""

import pytest

from portrayal.annotate.people.any_text.everyone import find_everyone


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
        "The last feast, known as 'Pooja,' was held at noon.",
        'Under chants of "Ram naam satya hai" the procession left. Ram naam satya hai, they sang.',
        "He lit a lamp and sang, “Satya ki Shakti, Amar Rahe.”",
        "They worship Mother Ganga. Statues of Lord Rama and Sita stood there.",
        "“Hey Ram, where did he go?” cried the crowd.",
        "Salem, a busy city, was still asleep.",
        "On his chest lay the old Yazh, an ancient string instrument.",
        "It lasts a lifetime. Cherish it, nurture it.",
        "Lapata Maiya was their goddess. They sang to the Radha-Krishna of the temple.",
        "Title: A Weaver's Serene Farewell\n\nIn a village the looms were still.",
        "The eldest Dom handed over a torch.",
        "He learned Rabindra sangeet and the Kabir bhajan.",
        "The banks of the river Kaveri were full of lamps.",
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
        ("His name was to be 'Aditya,' and everybody clapped.", "Aditya"),
        ("A Thakur named Vishnu lived here.", "Vishnu"),
        ("“Now, Pooja, that will do.”", "Pooja"),
        ("Chandan was a carver. The tools of Chandan lay idle.", "Chandan"),
    ],
)
def test_people_whose_names_may_be_things(text, name):
    assert names(text) == [name]


@pytest.mark.parametrize(
    ("text", "listed"),
    [
        ("Her parents, Ganesh and Kavya, watched.", ["Ganesh", "Kavya"]),
        ("Three daughters – Poonam, Priya, and Rani – sang.", ["Poonam", "Priya", "Rani"]),
        ("They prepared for their sons, Vishnu and Krishna.", ["Vishnu", "Krishna"]),
    ],
)
def test_people_who_are_enumerated(text, listed):
    assert names(text) == listed


def test_all_mentions_of_a_name_are_weighed():
    text = "Salem sold rice near Salem temple. Salem laughed, and his wife sang."
    assert names(text) == ["Salem"]
