import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portrayal.annotate.agency import mask
from portrayal.annotate.agency.masking import _words
from portrayal.annotate.word_match import any_of

WORDS = """
    he She his HER hers him herself man Women actress King Duke Mr. Mrs Sir Dr. Professor Emily
    Maria José Will Grace May April Smith Black black white White asian African-American male female
    woman person [NAME] [GROUP] [TITLE] the of and , . ; ! " ( Jae-Hyun O'Brien s/he (s)he J. Hope
    noble Monarch england 1990 it's he's
"""
PIECES = st.sampled_from(WORDS.split())
SENTENCES = st.lists(PIECES, max_size=12).map(" ".join)


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("She told her husband.", "They told their spouse."),
        ("Emily is a Black female comedian.", "[NAME] is a [GROUP] comedian."),
        ("Mr. Smith met María Rodriguez's son.", "[TITLE]. [NAME] met [NAME]'s child."),
        ("Will it work? Will Smith will.", "Will it work? [NAME] will."),
        ("Black-and-white films by black women.", "[GROUP]-and-white films by [GROUP] people."),
        ("In May 1980 he met Grace.", "In May 1980 they met [NAME]."),
        ("An African-American actress", "An [GROUP] actor"),
        ("The White House praised Virginia.", "The [GROUP] House praised Virginia."),
    ],
)
def test_what_is_masked(text, masked):
    assert mask(text) == masked


def test_given_names_are_masked_wherever_they_stand_with_a_capital():
    assert mask("Xyra Qume sings; so does Qume.", ["Xyra Qume"]) == "[NAME] sings; so does [NAME]."
    assert mask("Wei leads.", "Wei") == "[NAME] leads."
    assert mask("They hope.", ["Hope"]) == "They hope."
    assert mask("Virginia leads.", ["Virginia"]) == "[NAME] leads."


PARTS = st.text(alphabet="ab/-", min_size=1, max_size=4)


@given(st.lists(PARTS, min_size=1, max_size=8), st.text(alphabet="ab/- ", max_size=20))
def test_a_pattern_of_words_matches_as_the_words_one_by_one_longest_first(words, text):
    plain = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
    shared, listed = (re.compile(rf"{each}(?!a)") for each in (any_of(words), f"(?:{plain})"))
    assert shared.findall(text) == listed.findall(text)


@given(SENTENCES)
def test_masking_twice_is_masking_once(text):
    once = mask(text)
    assert mask(once) == once


@given(st.text(max_size=60), st.lists(st.sampled_from(["Emily", "Wei Chen", "Hope"]), max_size=2))
def test_any_text_can_be_masked(text, names):
    once = mask(text, names)
    assert mask(once, names) == once


@given(st.lists(st.sampled_from(["he", "his", "him", "led", "the", "team", "own"])))
def test_a_swap_of_pronouns_leaves_no_trace(words):
    swap = {"he": "she", "his": "her", "him": "her"}
    assert mask(" ".join(words)) == mask(" ".join(swap.get(word, word) for word in words))


def test_the_neutral_words_are_fixed_points():
    for neutral in _words().neutral.values():
        assert mask(neutral) == neutral
        assert mask(neutral.capitalize() + " plays") == neutral.capitalize() + " plays"
