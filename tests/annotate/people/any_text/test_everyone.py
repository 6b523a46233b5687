import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from portrayal.annotate.people.any_text.everyone import find_everyone, main_person
from portrayal.annotate.people.shared.model import UNSPECIFIED, UNSURE
from portrayal.annotate.sentences import sentences
from portrayal.reference.groups import GENDERS

WORDS = """
    Ottilie Bram Okoye Dr. Mr. Ms. she he her him his they their I me my the a woman singer son
    named and , . ! " “ ” ' ’s — • 。 van der of in said born Angela Merkel NASA Paris non-binary
    female Sincerely İ ﬁ 😀 مرحبا <b> ( ) 34
"""


def only(text, **how):
    (person,) = find_everyone(text, **how)
    return person


def check(text):
    count = len(sentences(text))
    people = find_everyone(text, unnamed=True, writer=True)
    for person in people:
        assert person.gender in (*GENDERS, UNSPECIFIED, UNSURE)
        assert person.spans
        assert all(0 <= s.start < s.end <= len(text) for s in person.spans)
        assert list(person.spans) == sorted(person.spans, key=lambda s: (s.start, s.end, s.kind))
        assert {s.kind for s in person.spans} <= {"name", "reference", "noun", "speech"}
        assert all(0 <= index < count for index in person.sentences)
        assert list(person.sentences) == sorted(set(person.sentences))
        assert (person.gender == UNSPECIFIED) == (not person.references)
    assert [p.spans[0].start for p in people] == sorted(p.spans[0].start for p in people)
    assert main_person(people) in people or not people


@settings(deadline=None)  # the first call reads the list of first names
@given(st.text(max_size=300))
def test_any_string_is_read(text):
    check(text)


@settings(deadline=None)
@given(st.lists(st.sampled_from([*WORDS.split(), "\n"]), max_size=80).map(" ".join))
def test_any_mix_of_words_is_read(text):
    check(text)


def test_a_biography_is_about_one_person():
    text = "Angela Merkel was born in Hamburg. She studied physics. In 2005 Merkel took office."
    person = only(text)
    assert (person.name, person.first, person.last) == ("Angela Merkel", "Angela", "Merkel")
    assert person.gender == "F"
    assert person.references == ("she",)
    names = [text[s.start : s.end] for s in person.spans if s.kind == "name"]
    assert names == ["Angela Merkel", "Merkel"]
    assert person.sentences == (0, 1, 2)


@pytest.mark.parametrize("name", ["Maria", "James", "Jordan", "Nkechi"])
def test_a_name_alone_tells_no_gender(name):
    person = only(f"{name} Okafor opened the shop at nine. The customers of {name} Okafor waited.")
    assert person.gender == UNSPECIFIED


def test_swapping_the_name_changes_no_gender():
    text = "{} Lindqvist said she would appeal. {} Lindqvist lost her case."
    genders = {only(text.format(n, n)).gender for n in ("Michael", "Emily", "Xiomara", "Oluwaseun")}
    assert genders == {"F"}


def test_a_title_and_surname_give_no_first_name():
    person = only("Mr. Boateng teaches physics. Mr. Boateng is strict.")
    assert (person.first, person.last, person.title) == (None, "Boateng", "Mr")
    assert person.gender == "M"


@pytest.mark.parametrize(
    ("name", "last"),
    [
        ("Ursula von der Leyen", "von der Leyen"),
        ("Stephen M. Ross", "Ross"),
        ("Robert Downey Jr.", "Downey"),
        ("Mei", None),
    ],
)
def test_last_names(name, last):
    assert only(f"{name} said she was glad. She laughed.").last == last


def test_who_introduces_themselves_is_the_writer():
    text = "My name is Raj and I am a 40-year-old male podcaster. I live in Pune with my dog."
    person = only(text)
    assert person.writer
    assert (person.first, person.gender, person.sentences) == ("Raj", "M", (0, 1))


def test_the_writer_is_returned_where_asked_for():
    text = "I met Ann Lee in Rome. I still have her letter.\nSincerely,\nPaul Adams"
    assert [p.name for p in find_everyone(text) if p.writer] == []
    assert [p.name for p in find_everyone(text, writer=True) if p.writer] == ["Paul Adams"]
    assert only("I was alone.", writer=True).name is None


def test_people_without_a_name_are_returned_where_asked_for():
    text = "A woman stood at the gate. She waved."
    assert find_everyone(text) == []
    assert only(text, unnamed=True).gender == "F"


def test_two_genders_make_it_unsure():
    assert only("Ms. Alex Reyes arrived. Alex Reyes is a businessman.").gender == UNSURE


def test_nobody():
    assert find_everyone("") == []
    assert find_everyone("The lift will be repaired on Monday.") == []
    assert main_person([]) is None


def test_the_main_person_of_a_letter_is_not_its_writer():
    text = (
        "I recommend Kelly Warren. Kelly worked for me. She was kind. I was glad of her.\n"
        "Sincerely,\nPaul Adams"
    )
    assert main_person(find_everyone(text, writer=True)).name == "Kelly Warren"
