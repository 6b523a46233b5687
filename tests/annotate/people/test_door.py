import inspect

import portrayal.annotate.people as people
from portrayal.annotate.people.shared.model import Roles
from portrayal.annotate.people.stories.scene import role_words


def test_the_door_lists_what_is_public():
    assert set(people.__all__) == {
        name
        for name, value in vars(people).items()
        if not name.startswith("_") and not inspect.ismodule(value)
    }


def test_role_words_come_from_the_wording_of_the_role():
    words = role_words(Roles("an American star chef", "shy apprentice who burns the soup"))
    assert {"chef", "cook"} <= words.subject_nouns
    assert "apprentice" in words.object_nouns
    assert words.modifiers["star"] > 0 > words.modifiers["shy"]
    assert "soup" not in words.subject_nouns | words.object_nouns


def test_an_unknown_role_stands_for_itself():
    words = role_words(Roles("blacksmith", "falconer of the king"))
    assert "blacksmith" in words.subject_nouns
    assert "falconer" in words.object_nouns
