"""Any string is read without an error, and in time that grows with its length alone."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from portrayal.annotate.people import Roles, extract_people

ROLES = Roles("baker who kneads", "apprentice")
PIECES = [
    *("Ann", "Bo", "O'Neil", "Ta-Nehisi", "ANN", "ann", "Ольга", "美咲", "Zoe\u0301", "Mr.", "Mrs"),
    *("baker", "apprentice", "her friend", "the girl", "he", "her", "they", "taught", "who"),
    *(",", ".", '"', "“", "”", "'", "-", "—", "\n", "\u202e", "\u2069", "\u200b", "\x00", "**"),
    *("# ", "in August", "I", "and", "named", "('", "Sure! Here is", "\ud83d"),
]


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=60).map(" ".join))
def test_spans_lie_in_any_text(text):
    for character in extract_people(text, ROLES):
        for span in character.spans:
            assert 0 <= span.start < span.end <= len(text)
            if span.kind == "name":
                assert text[span.start : span.end] == character.name


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=200), st.text(max_size=40), st.text(max_size=40))
def test_any_text_and_any_roles(text, subject, other):
    for roles in (Roles(subject, other), Roles(subject, None)):
        assert extract_people(text, roles) == extract_people(text, roles)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("ANN, A BAKER, TAUGHT BO. BO THANKED ANN.", ("ANN", "BO")),
        ("ann, a baker, taught bo. bo thanked ann.", ("ann", "bo")),
        ("美咲, a baker, taught 健太.", ("美咲", "健太")),
        ("A BAKER WITH HOPE TAUGHT.", (None, None)),
    ],
)
def test_names_are_told_by_other_words_where_capitals_tell_none(text, names):
    found = extract_people(text, ROLES)
    assert tuple(character.name for character in found) == names
    assert {character.gender for character in found} == {"Unspecified"}


def seconds(text):
    """CPU seconds of one reading, smallest of three."""
    times = []
    for _ in range(3):
        start = time.process_time()
        extract_people(text, ROLES)
        times.append(time.process_time() - start)
    return min(times)


@pytest.mark.parametrize(
    "piece",
    [
        *("Ann taught Bo, who thanked her. ", "Ann ", "a-", "her ", "they ", "apprentice named "),
        *('"', "'", ". ", ", ", "\n", "Mr. ", "# a\n", "sure ", "\u202eAnn\u202c ", "A", "Z\u0301"),
    ],
)
def test_time_grows_with_length(piece):
    short, long = (piece * (size // len(piece)) for size in (20_000, 160_000))
    assert seconds(long) < 40 * seconds(short) + 0.05  # 8 where linear, 64 where quadratic


def test_a_megabyte_is_read():
    text = "Ann, a baker, taught Bo, an apprentice. He thanked her. " * 18_000
    subject, other = extract_people(text, ROLES)
    assert len(text) > 1_000_000
    assert (subject.name, other.name) == ("Ann", "Bo")
