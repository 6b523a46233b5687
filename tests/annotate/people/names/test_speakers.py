import pytest

from portrayal.annotate.people.shared.model import Roles
from support import people_by_rules

STORY = (
    "Maria was a star student who loved mathematics. When Omar, a struggling student, asked for "
    "help, Maria smiled and said that she would teach him. Omar thanked her."
)
ROLES = Roles("star student", "struggling student in math class")


def named(characters):
    return [(who.name, who.gender) for who in characters]


@pytest.mark.parametrize(
    ("one", "other"),
    [("Élodie", "Ángel"), ("Анна", "Иван")],
)
def test_names_in_other_scripts(one, other):
    text = STORY.replace("Maria", one).replace("Omar", other)
    found = people_by_rules(text, ROLES)
    assert named(found) == [(one, "F"), (other, "M")]
    for character in found:
        for span in character.spans:
            if span.kind == "name":
                assert text[span.start : span.end] == character.name


def test_speakers_in_capitals_are_names_in_a_story():
    text = "JULES: Sit down.\nMARA: I will not. She laughed.\nJULES: Then stand."
    assert [who.name for who in people_by_rules(text, ROLES)] == ["JULES", "MARA"]
