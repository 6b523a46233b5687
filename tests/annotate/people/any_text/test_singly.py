import pytest

from portrayal.annotate.people.any_text.everyone import find_everyone


@pytest.mark.parametrize(
    ("text", "gender"),
    [
        ("Robin Cole writes plays. They live alone. Their cat is old.", "NB"),
        ("Robin Cole is non-binary. They live alone.", "NB"),
        ("Mx. Robin Cole lives here.", "NB"),
        ("Robin Cole writes plays. They live alone.", "Unspecified"),
        ("Robin Cole met the students. They laughed. Their bus was late.", "Unspecified"),
        ("Robin Cole is a woman. They live alone. Their cat is old.", "F"),
        ("Robin Cole said: “They came. They saw. They left.”", "Unspecified"),
    ],
)
def test_they_of_one_person(text, gender):
    (person,) = find_everyone(text)
    assert person.gender == gender


def test_they_of_two_people():
    people = find_everyone("Ann Lee and Bo Ray ran. They won. Their prize was a cup.")
    assert [p.gender for p in people] == ["Unspecified", "Unspecified"]
