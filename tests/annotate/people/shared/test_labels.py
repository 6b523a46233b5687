import math

import pytest

from portrayal.annotate.people.shared.model import (
    clean_name,
    gender_of_references,
    normalise_gender,
)
from portrayal.annotate.people.shared.words import GENDER_WORDS
from portrayal.reference.groups import GENDERS


@pytest.mark.parametrize(
    ("references", "gender"),
    [
        (["She", "her"], "F"),
        (["Mr."], "M"),
        (["they", "Mx."], "NB"),
        (["his", "wife"], "Unsure"),
        ([], "Unspecified"),
        (["doctor", "I"], "Unspecified"),
        (["the young woman"], "F"),
    ],
)
def test_references_tell_gender(references, gender):
    assert gender_of_references(references) == gender


def test_the_word_list_has_the_sizes_of_table_s6a_and_no_word_twice():
    assert tuple(sorted(GENDER_WORDS)) == tuple(sorted(GENDERS))
    assert {gender: len(words) for gender, words in GENDER_WORDS.items()} == {
        "NB": 6,
        "F": 15,
        "M": 14,
    }
    assert len(set().union(*GENDER_WORDS.values())) == 35


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        ("Dr. Okafor", None),
        ("Mrs Lindqvist", None),
        ("Dr. Ngozi Okafor", "Ngozi"),
        ("Chef Maria", "Maria"),
        ("Nurse Ines | Ines", "Ines"),
        ("Dr. Bela | Bela", "Bela"),
        ("Maria Lopez", "Maria"),
        ("Min-jun", "Min-jun"),
        ("O'Shea", "O'Shea"),
        ("Unspecified", None),
        ("  ", None),
        ("", None),
        (None, None),
        (math.nan, None),
    ],
)
def test_labelled_names_are_cleaned(raw, name):
    assert clean_name(raw) == name


@pytest.mark.parametrize(
    ("raw", "gender"),
    [
        ("Female", "F"),
        ("Fem.", "F"),
        ("woman", "F"),
        ("M", "M"),
        ("masculinized", "M"),
        ("Non-binary", "NB"),
        ("nonbinary", "NB"),
        ("NB", "NB"),
        ("Unsure", "Unsure"),
        ("Unspecified", "Unspecified"),
        ("", "Unspecified"),
        (None, "Unspecified"),
        (math.nan, "Unspecified"),
    ],
)
def test_gender_labels_of_any_spelling(raw, gender):
    assert normalise_gender(raw) == gender
