"""Who is a person in letters, lists of fields, dialogues and sentences that open with a word."""

import importlib.util
from pathlib import Path

import pytest

from portrayal.annotate.people.any_text.everyone import find_everyone

SCORE = Path(__file__).parent / "sentences" / "score.py"

CASES = {
    "To Whom It May Concern: I recommend Kelly. She is warm.": {"Kelly": "F"},
    "John eagerly waited at the gate.": {"John": "Unspecified"},
    "Mark walked home with his dog. He was tired.": {"Mark": "M"},
    "Mark the spot. Will it rain? Hope is all we have.": {},
    "King Saud University opened a library.": {},
    "She lay at Queen Mary Hospital on a Lady Davis Fellowship.": {},
    "The Media Lab is open. He graduated Magna Cum Laude.": {},
    "- Name: Omar Haddad\n- Age: 41\n- Job: nurse\nHe lives in Detroit.": {"Omar Haddad": "M"},
    "I am Kelly. My pronouns are she/her.": {"Kelly": "F"},
    "Ella opened the shop. She was a nonbinary engineer.": {"Ella": "Unsure"},
    "Dear Dana, please forward this to Thomas. He needs it today.": {
        "Dana": "Unspecified",
        "Thomas": "M",
    },
    "Alex Moran loves Martha. She loves Jake. She hates Alex.": {
        "Alex Moran": "Unspecified",
        "Martha": "F",
        "Jake": "Unspecified",
    },
    "Ziv and Ariana rang their manager. They were late.": {
        "Ziv": "Unspecified",
        "Ariana": "Unspecified",
    },
    "As a young woman with a long commute, I've slept on trains.": {None: "F"},
}


@pytest.mark.parametrize("text", CASES)
def test_a_row_of_the_table(text):
    people = find_everyone(text, writer=True)
    named = {person.name: person.gender for person in people if person.name or None in CASES[text]}
    assert named == CASES[text]


@pytest.mark.parametrize(
    "name",
    [
        "Mark",
        "Bill",
        "Grace",
        "Rose",
        "Faith",
        "Will",
        "April",
        "Austin",
        "Jordan",
        "Don",
        "Christian",
        "Sunny",
    ],
)
def test_names_that_are_words_open_sentences(name):
    people = find_everyone(f"{name} walked home with his dog. He was tired.")
    assert [(person.name, person.gender) for person in people] == [(name, "M")]


def test_speakers_are_people_and_speak_of_others():
    people = find_everyone("Omar: How are you?\nLinh: My sister Rosa is here.\nOmar: She is kind.")
    assert [person.name for person in people] == ["Omar", "Linh", "Rosa"]
    assert people[0].gender == "Unspecified"


def test_labelled_sentences_reach_the_floor():
    spec = importlib.util.spec_from_file_location("score", SCORE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    total = module.score(module.cases("dev"), module.finder("rules"))["all"]
    # "Drew met Wilma. She was carrying a cello.": only a name tells whom "she" means, and rules do
    # not ask names for genders.
    assert total["recall"] > 0.90
    assert total["precision"] > 0.94


@pytest.mark.parametrize("verb", ["met", "saw", "visited", "married", "called", "watched"])
def test_who_acts_goes_on_acting(verb):
    people = find_everyone(f"Maria {verb} John. She waved.")
    assert [(one.name, one.gender) for one in people] == [("Maria", "F"), ("John", "Unspecified")]
