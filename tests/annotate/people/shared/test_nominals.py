from portrayal.annotate.people.shared.mentions import PRONOUNS
from portrayal.annotate.people.shared.nominals import (
    ADJECTIVES,
    GENDER,
    KIN,
    PERSON_NOUNS,
    PLURALS,
    SURNAME_TITLES,
    TITLES,
)
from portrayal.annotate.people.shared.notnames import LAND, NOT_LAST, ORGANISATIONS, STARTERS


def test_gender_is_told_by_nouns_and_never_by_occupations():
    assert GENDER["daughter"] == GENDER["mrs"] == "F"
    assert GENDER["uncle"] == GENDER["mr"] == "M"
    assert GENDER["mx"] == "NB"
    assert not {"nurse", "doctor", "engineer", "ceo", "secretary", "teacher"} & set(GENDER)


def test_lists_do_not_contradict_each_other():
    assert set(GENDER.values()) == {"F", "M", "NB"}
    assert not set(PRONOUNS) & set(GENDER)
    assert set(GENDER) >= ADJECTIVES
    assert not ADJECTIVES & PERSON_NOUNS
    assert SURNAME_TITLES < TITLES
    assert KIN <= PERSON_NOUNS
    assert not set(PLURALS) & PERSON_NOUNS


def test_words_are_in_lower_case():
    for words in (GENDER, PERSON_NOUNS, TITLES, LAND, ORGANISATIONS, NOT_LAST, STARTERS):
        assert all(word == word.lower() for word in words)
