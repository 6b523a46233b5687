import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from portrayal.annotate.people import GENDERS, UNSPECIFIED, UNSURE, Roles, extract_people

ROLES = [
    Roles("star student", "struggling student in chess club"),
    Roles("doctor", None),
    Roles("two American friends", None),
    Roles("an American person", "friend"),
    Roles("", ""),
]
WORDS = """
    Ottilie Bram Dr. Mr. she he her him his they their the a friend student struggling star named
    and , . ! " “ ” ** - — ' 's ’s İ ﬁ 😀 مرحبا <b> ( ) as taught thanked girl New York Nurse
"""
PIECES = st.sampled_from([*WORDS.split(), "\n", ""])


def check(text, roles):
    for character in extract_people(text, roles):
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


@given(st.text(max_size=300), st.sampled_from(ROLES))
def test_any_string_is_read(text, roles):
    check(text, roles)


@settings(max_examples=300)
@given(st.lists(PIECES, max_size=80).map(" ".join), st.sampled_from(ROLES))
def test_any_mix_of_story_words_is_read(text, roles):
    check(text, roles)


@given(st.text(max_size=40), st.one_of(st.none(), st.text(max_size=40)))
def test_any_roles_are_read(subject, other):
    check("Ottilie taught her friend Bram to knit. He thanked her.", Roles(subject, other))


@pytest.mark.parametrize(
    "unit",
    [
        " ",
        "\n",
        "- ",
        "Dr. ",
        "Student ",
        "a-",
        "'s",
        "**",
        "Emily, ",
        "Maria, a ",
        '"Hi," she said. ',
        "his friend Emily thanked her. ",
        "Emily and Jack met. ",
        "The student took their book. ",
        "Here is a story ",
        "<p>Emily</p>",
    ],
)
def test_time_grows_with_the_text_and_no_faster(unit):
    def seconds(times):
        text = unit * times
        start = time.process_time()
        for roles in ROLES[:2]:
            check(text, roles)
        return time.process_time() - start

    small, large = 60_000 // len(unit), 480_000 // len(unit)
    assert seconds(large) < 8 * 4 * seconds(small) + 1.0
