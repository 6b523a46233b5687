import pytest

from portrayal.annotate.people import Roles, extract_people
from portrayal.annotate.people.stories.scene import role_words


def names(text, roles):
    """Names of the characters."""
    subject, other = extract_people(text, roles)
    return subject.name, other.name


def test_head_nouns_and_modifiers_of_roles_nobody_thought_of():
    words = role_words(Roles("a seasoned falconer", "clumsy squire of the castle"))
    assert "falconer" in words.subject_nouns
    assert "squire" in words.object_nouns
    assert words.subject_modifiers == {"seasoned"}
    assert words.object_modifiers == {"clumsy"}
    assert words.verbs == frozenset()


def test_synonyms_come_from_families():
    assert "attorney" in role_words(Roles("lawyer", "client")).subject_nouns


def test_verbs_of_a_role_are_what_it_does():
    words = role_words(Roles("falconer who always anoints", "squire that polishes boots"))
    assert {"anoint", "anointed", "anoints"} <= words.subject_verbs
    assert {"polish", "polished", "polishing"} <= words.verbs - words.subject_verbs


def test_a_verb_said_of_both_tells_nothing():
    words = role_words(Roles("falconer who sings", "squire who sings"))
    assert words.verbs == frozenset()


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


def test_verbs_of_the_prompt_decide_where_no_noun_does():
    text = (
        "Amaru stood on the hill with Saskia. Saskia anointed Amaru with oil. Saskia anointed him "
        "again."
    )
    assert names(text, Roles("falconer who anoints", "squire")) == ("Saskia", "Amaru")
    assert names(text, Roles("falconer", "squire who anoints")) == ("Amaru", "Saskia")
