"""Texts that people tried, with whom they name: letters, forms, dialogues, pronouns, word-names."""

import pytest

from portrayal.annotate.people.any_text.everyone import find_everyone
from portrayal.annotate.people.reader.referents import by_network

READERS = pytest.mark.parametrize("refer", [None, by_network], ids=["rules", "network"])
U = "Unspecified"
TABLE = [
    ("To Whom It May Concern: I recommend Kelly. She is warm.", {"Kelly": "F"}),
    ("John eagerly waited at the gate.", {"John": U}),
    ("- Name: Omar Haddad\n- Age: 41\n- Job: nurse\nHe lives in Detroit.", {"Omar Haddad": "M"}),
    ("I am Kelly. My pronouns are she/her.", {"Kelly": "F"}),
    ("Ella opened the shop. She was a nonbinary engineer.", {"Ella": "NB Unsure"}),
    (
        "Omar: How are you?\nLinh: My sister Rosa is here.\nOmar: She is kind.",
        {"Omar": U, "Linh": U, "Rosa": "F"},
    ),
    ("Dear Dana, please forward this to Thomas. He needs it today.", {"Dana": U, "Thomas": "M"}),
    ("Ziv and Ariana rang their manager. They were late.", {"Ziv": U, "Ariana": U}),
    ("As a young woman with a long commute, I've learned to read.", {None: "F"}),
]
WORDS = (
    "Mark Bill Grace Rose Faith Will April Austin Jordan Don Christian Sunny Houston London Iris"
)
COUNTED = "Bill Mark Rose Grant Drew Ray Robin Mason Hunter Parker Dean Duke Rusty Frank Rich Wade"
THINGS = (
    "King Saud University opened.",
    "He was treated at Queen Mary Hospital.",
    "She held a Lady Davis Fellowship.",
    "The Media Lab showed a robot.",
    "He graduated Magna Cum Laude in 2004.",
    "The Dr. Martin Luther King Jr. Bridge was renamed.",
    "The Prince Albert Hall seats two thousand.",
    "Dr. Pepper is sold here.",
    "Our dog Bella is missing.",
)


@READERS
@pytest.mark.parametrize(("text", "people"), TABLE)
def test_the_table(refer, text, people):
    found = {p.name: p.gender for p in find_everyone(text, writer=None in people, refer=refer)}
    assert set(found) == set(people)
    assert all(found[name] in gender for name, gender in people.items())


@pytest.mark.parametrize("word", WORDS.split())
def test_names_that_are_words_open_sentences(word):
    (person,) = find_everyone(f"{word} walked home with his dog. He was tired.")
    assert (person.name, person.gender) == (word, "M")


@pytest.mark.parametrize("word", COUNTED.split())
@pytest.mark.parametrize(
    "behind", ["opened the book.", "was late for work.", "burped and apologized.", "has asthma."]
)
def test_names_that_are_no_subject_as_a_word_are_people_behind_any_sentence(word, behind):
    assert [p.name for p in find_everyone(f"The room was quiet. {word} {behind}")] == [word]


@pytest.mark.parametrize(
    ("text", "genders"),
    [
        ("I have always been a quiet man.", {"M"}),
        ("I grew up as the youngest son of a miner.", {"M"}),
        ("I'm Carla's sister.", {U, "F"}),
        ('"I am a widow now," Mabel wrote.', {"F"}),
        ("Name: Rana Aziz\nAge: 30\nGender: Female", {"F"}),
        ("Dana asked the duchess for her advice.", {U}),
        ("Kim thanked Edith for her help.", {U, "F"}),
        ("Kim asked Edith to marry him.", {U, "M"}),
        ("Kim left with Edith, who had lost her hat.", {U, "F"}),
        ("The only man was Ivo.", {"M"}),
    ],
)
def test_grammar_says_whose_gender_a_noun_or_pronoun_tells(text, genders):
    people = find_everyone(text, writer=True)
    assert {person.gender for person in people} == genders


@pytest.mark.parametrize("text", THINGS)
def test_things_with_titles_and_names_are_nobody(text):
    assert find_everyone(text) == []


@READERS
@pytest.mark.parametrize(
    ("text", "name", "gender"),
    [
        ("Kim hired Edith because she spoke Welsh.", "Edith", "F"),
        ("Ellis bought a ring for Nadia, but she sent it back.", "Nadia", "F"),
        ("Lynn asked Mr. Pratt for his report.", "Lynn", U),
        ("Leslie's wife sings in her own band.", "Leslie", U),
        ("Before Gus left, Robin kissed him.", "Gus", "M"),
        ("Sean promised Ella that he would come.", "Sean", "M"),
    ],
)
def test_grammar_says_whom_a_pronoun_means(refer, text, name, gender):
    assert {p.name: p.gender for p in find_everyone(text, refer=refer)}[name] == gender


def test_speakers_in_capitals_and_small_letters():
    script = "JULES (sobbing): She is gone.\nADELE: Who?\nJULES: My sister Camille."
    people = {p.name: p.gender for p in find_everyone(script)}
    assert people == {"JULES": U, "ADELE": U, "Camille": "F"}
    chat = "[12:01] kofi: anyone seen Beatriz?\n[12:02] mei: she's at lunch"
    assert {p.name.casefold() for p in find_everyone(chat)} == {"kofi", "beatriz", "mei"}
