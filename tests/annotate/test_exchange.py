"""The same text with the other person in it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portrayal.annotate.exchange import exchange_of

EXCHANGE = exchange_of("en-US")
WORDS = ("she", "he", "woman", "man", "mother", "father", "aunt", "saw", "met", ".")


@pytest.mark.parametrize(
    ("text", "twin"),
    [
        ("She likes her.", "He likes him."),
        ("Her son met her in her house.", "His daughter met him in his house."),
        ("The house is his. HE said so.", "The house is hers. SHE said so."),
        ("Mrs. Smith asked for her mother-in-law.", "Mr. Smith asked for his father-in-law."),
        ("The other theme, a shepherd.", "The other theme, a shepherd."),
        ("", ""),
    ],
)
def test_words_of_a_woman_become_those_of_a_man(text, twin):
    assert EXCHANGE(text) == twin


def test_words_and_twins_stand_for_one_another():
    neutral = EXCHANGE.neutral
    assert neutral["she"] == neutral["he"] == "he/she"
    assert len({neutral[word] for word in ("her", "hers", "his", "him")}) == 1


@given(st.lists(st.sampled_from(WORDS), max_size=12))
def test_exchanging_twice_gives_the_text(words):
    text = " ".join(words)
    assert EXCHANGE(EXCHANGE(text)) == text
