"""Any string is read without an error, and with work that grows with its length alone."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from portrayal.annotate.people.shared.model import UNSPECIFIED, UNSURE, Roles
from portrayal.reference.groups import GENDERS
from support import people_by_rules

ROLES = [
    Roles("baker who kneads", "apprentice"),
    Roles("star student", "struggling student in chess club"),
    Roles("doctor", None),
    Roles("two American friends", None),
    Roles("", ""),
]
PIECES = [
    *("Ann", "Bo", "O'Neil", "Ta-Nehisi", "ANN", "ann", "Ольга", "美咲", "Zoe\u0301", "Mr.", "Mrs"),
    *("baker", "apprentice", "her friend", "the girl", "he", "her", "they", "taught", "who"),
    *(",", ".", '"', "“", "”", "'", "-", "—", "\n", "\u202e", "\u2069", "\u200b", "\x00", "**"),
    *("# ", "in August", "I", "and", "named", "('", "Sure! Here is", "\ud83d", "Dr.", "İ", "ﬁ"),
    *("star", "student", "struggling", "'s", "’s", "😀", "مرحبا", "<b>", "New York", "Nurse", ""),
]


def check(text, roles):
    for character in people_by_rules(text, roles):
        if character is None:
            continue
        assert character.gender in (*GENDERS, UNSPECIFIED, UNSURE)
        assert 0.0 <= character.confidence <= 1.0
        for span in character.spans:
            assert 0 <= span.start < span.end <= len(text)
            if span.kind == "name":
                assert text[span.start : span.end] == character.name
            else:
                assert span.kind == "reference"
        assert list(character.spans) == sorted(character.spans, key=lambda span: span.start)


@settings(deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=60).map(" ".join), st.sampled_from(ROLES))
def test_any_mix_of_story_words_is_read(text, roles):
    check(text, roles)


@settings(deadline=None)
@given(st.text(max_size=300), st.text(max_size=40), st.none() | st.text(max_size=40))
def test_any_text_and_any_roles_are_read(text, subject, other):
    roles = Roles(subject, other)
    check(text, roles)
    check("Ottilie taught her friend Bram to knit. He thanked her.", roles)
    assert people_by_rules(text, roles) == people_by_rules(text, roles)


@pytest.mark.parametrize(
    "piece",
    [
        *("Ann taught Bo, who thanked her. ", "Ann ", "a-", "her ", "they ", "apprentice named "),
        *('"', "'", ". ", ", ", "\n", "Mr. ", "# a\n", "sure ", "\u202eAnn\u202c ", "A", "Z\u0301"),
        *(" ", "- ", "Student ", "'s", "**", "Emily, ", "Maria, a ", '"Hi," she said. '),
        *("his friend Emily thanked her. ", "The student took their book. ", "Here is a story "),
        "<p>Emily</p>",
    ],
)
def test_work_grows_with_length_and_no_faster(piece, grows_with_length):
    assert grows_with_length(lambda text: check(text, ROLES[1]), piece)


def test_a_megabyte_is_read():
    text = "Ann, a baker, taught Bo, an apprentice. He thanked her. " * 18_000
    subject, other = people_by_rules(text, ROLES[0])
    assert len(text) > 1_000_000
    assert (subject.name, other.name) == ("Ann", "Bo")
