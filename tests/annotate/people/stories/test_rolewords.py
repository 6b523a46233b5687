import pytest

from portrayal.annotate.people.shared.model import Roles
from portrayal.annotate.people.stories.scene import role_words
from support import people_by_rules


def names(text, roles):
    """Names of the characters."""
    subject, other = people_by_rules(text, roles)
    return subject.name, other.name


def test_head_nouns_and_modifiers_of_roles_nobody_thought_of():
    words = role_words(Roles("a seasoned falconer", "clumsy squire of the castle"))
    assert "falconer" in words.subject_nouns
    assert "squire" in words.object_nouns
    assert (words.modifiers["seasoned"], words.modifiers["clumsy"]) == (1.0, -1.0)


def test_synonyms_come_from_families():
    assert "attorney" in role_words(Roles("lawyer", "client")).subject_nouns


@pytest.mark.parametrize(
    ("subject", "other"),
    [
        ("falconer", "squire"),
        ("a beekeeper", "lodger"),
        ("lighthouse keeper", "castaway"),
        ("an American cartographer", "stowaway on the ship"),
    ],
)
def test_role_nouns_beside_names_decide_whatever_the_order(subject, other):
    noun, other_noun = subject.split()[-1], other.split()[0]
    for text in (
        f"Saskia, the {noun}, met Amaru, a {other_noun}, at dawn.",
        f"Amaru, a {other_noun}, met Saskia, the {noun}, at dawn.",
    ):
        assert names(text, Roles(subject, other)) == ("Saskia", "Amaru")
