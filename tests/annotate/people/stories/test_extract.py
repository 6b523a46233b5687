import pytest

from portrayal.annotate.people.shared.model import Roles
from support import people_by_rules

MENTORING = Roles("star student", "struggling student in chess club")
NURSING = Roles("nurse", "patient in need")
BAKER = Roles("baker", None)
TEACHING = Roles("an American person", "friend")
SIBLINGS = Roles("two American siblings", None)


def told(text, roles):
    """Name and gender of the characters."""
    return tuple(
        (character.name, character.gender) if character else None
        for character in people_by_rules(text, roles)
    )


CASES = [
    (
        "Ottilie, a baker in Duluth, opened her shop at dawn. She loved the smell of rye.",
        BAKER,
        (("Ottilie", "F"), None),
    ),
    (
        "The baker kneaded the dough. His hands were strong.",
        BAKER,
        ((None, "M"), None),
    ),
    (
        "In Duluth, a baker named Rowan kneaded the dough. They hummed while they worked.",
        BAKER,
        (("Rowan", "NB"), None),
    ),
    (
        "Wendell, a star student, saw that Priya was lost. He offered to teach her the openings. "
        "Priya thanked Wendell for his patience.",
        MENTORING,
        (("Wendell", "M"), ("Priya", "F")),
    ),
    (
        "Priya struggled with every opening. One day Wendell, the best player of the class, "
        "offered to tutor her. He explained each move. Priya was grateful to her mentor, Wendell.",
        MENTORING,
        (("Wendell", "M"), ("Priya", "F")),
    ),
    (
        "Nurse Odalys sat beside the patient. She checked his pulse and he smiled at her.",
        NURSING,
        (("Odalys", "F"), (None, "M")),
    ),
    (
        "Mrs. Abernathy, a nurse, cared for a frail patient named Cyrus. She held his hand.",
        NURSING,
        ((None, "F"), ("Cyrus", "M")),
    ),
    (
        'Here is a 40 word story about friends:\n\n"Hold the rod like this," Bram told his friend '
        "Lucia. She laughed and tried again. Bram was proud of his friend.",
        TEACHING,
        (("Bram", "M"), ("Lucia", "F")),
    ),
    (
        "I taught my friend Lucia how to fish. She learned fast.",
        TEACHING,
        ((None, "Unspecified"), ("Lucia", "F")),
    ),
    (
        "Ines and her brother Teo washed the dishes. Teo splashed his sister and they laughed.",
        SIBLINGS,
        (("Ines", "F"), ("Teo", "M")),
    ),
    (
        "Ines and Teo washed the dishes together. They laughed about their soapy sleeves.",
        SIBLINGS,
        (("Ines", "Unspecified"), ("Teo", "Unspecified")),
    ),
]


@pytest.mark.parametrize(("text", "roles", "expected"), CASES)
def test_characters_of_a_story(text, roles, expected):
    assert told(text, roles) == expected


@pytest.mark.parametrize(
    ("subject", "other", "subject_noun", "other_noun"),
    [
        ("lawyer", "client", "attorney", "client"),
        ("librarian", "visitor", "librarian", "visitor"),
        ("professional athlete", "rookie in the league", "quarterback", "rookie"),
        ("shop owner", "apprentice who is late", "owner", "apprentice"),
    ],
)
def test_roles_are_data(subject, other, subject_noun, other_noun):
    text = (
        f"The {other_noun}, Amaru, was nervous. Saskia, the {subject_noun}, smiled. "
        "She gave him some advice, and he thanked her."
    )
    assert told(text, Roles(subject, other)) == (("Saskia", "F"), ("Amaru", "M"))


def test_gender_never_comes_from_the_name():
    for name in ("Mary", "John", "Alex"):
        subject, _ = people_by_rules(f"{name}, a baker, loved rye bread.", BAKER)
        assert (subject.name, subject.gender) == (name, "Unspecified")


def test_a_formal_title_and_a_surname_give_no_first_name_but_a_gender():
    subject, _ = people_by_rules("Mr. Vandermeer, a baker, loved rye bread.", BAKER)
    assert (subject.name, subject.gender, subject.references) == (None, "M", ("mr",))


def test_spans_point_into_the_original_text_behind_preamble_and_heading():
    story = "Ottilie, a baker, burned her first loaf. She cried."
    text = "Sure! Here is a story:\n\n**The Oven**\n\n" + story
    subject, _ = people_by_rules(text, BAKER)
    assert [(text[span.start : span.end], span.kind) for span in subject.spans] == [
        ("Ottilie", "name"),
        ("her", "reference"),
        ("She", "reference"),
    ]


def test_a_story_wholly_in_bold_is_kept():
    text = "**Ottilie, a baker, burned her first loaf. She cried, and she baked another one.**"
    assert told(text, BAKER)[0] == ("Ottilie", "F")


def test_places_days_and_schools_are_no_people():
    text = "On Monday, in New York City, the baker walked past Lincoln High. He was late."
    assert told(text, BAKER)[0] == (None, "M")


def test_a_dog_is_no_baker():
    text = "With a dog named Biscuit, Ottilie ran the bakery. She was a baker. Biscuit barked."
    assert told(text, BAKER)[0] == ("Ottilie", "F")


def test_possessor_of_a_friend_is_someone_else():
    text = "Ottilie taught Bram, her oldest friend, how to knit."
    subject, other = people_by_rules(text, TEACHING)
    assert (subject.gender, other.gender) == ("F", "Unspecified")


def test_answers_are_deterministic():
    text, roles, _ = CASES[4]
    assert people_by_rules(text, roles) == people_by_rules(text, roles)


def test_paired_roles():
    assert Roles("two American friends", None).paired
    assert Roles("neighbor", "Neighbor").paired
    assert not Roles("baker", None).paired
    assert not Roles("baker", "apprentice").paired
