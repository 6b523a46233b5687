import pytest

from portrayal.annotate.people.shared.links import learned
from portrayal.annotate.people.shared.model import Roles
from portrayal.annotate.people.stories.genders import make_cast
from portrayal.annotate.people.stories.roles import (
    ADDRESS,
    PLAIN,
    SIGNS,
    WEAK,
    actions,
    ways_of,
)
from portrayal.annotate.people.stories.scene import read_story
from support import people_by_rules

FRIENDS = Roles("an American person", "friend")
NURSING = Roles("nurse", "patient in need")
FALCONRY = Roles("falconer", "squire")


def pair(text, roles):
    """Names in the two places."""
    return [person.name for person in people_by_rules(text, roles)]


def signs(text, roles, names):
    """Values of the signs of the way that gives the roles to people of these names."""
    scene = read_story(text, roles)
    ways, values = ways_of(scene)
    first = [person.first for person in scene.people]
    way = tuple(None if name is None else first.index(name) for name in names)
    return dict(zip(SIGNS, values[ways.index(way)], strict=True))


def lead(text, names=("Ann", "Bo")):
    """How much more the first of two people acts as the subject than the second."""
    scene = read_story(text, FALCONRY)
    first = [person.first for person in scene.people]
    slots = [first.index(name) if name in first else None for name in names]
    return actions(scene, make_cast(scene, slots), {})


def test_a_weight_for_every_sign():
    assert set(learned()[1]) == set(SIGNS)
    assert all(type(weight) is int for weight in learned()[1].values())


def test_every_way_is_there_once():
    scene = read_story("Priya met Wendell.", NURSING)
    ways, _ = ways_of(scene)
    wanted = {(0, 1), (1, 0), (0, None), (None, 0), (1, None), (None, 1), (None, None)}
    assert set(ways) == wanted
    assert len(ways) == len(wanted)
    assert set(ways_of(read_story("Priya met Wendell.", Roles("nurse", None)))[0]) == {
        (0,),
        (1,),
        (None,),
    }


def test_signs_by_hand():
    text = "Priya was a patient. Priya met Wendell, the nurse."
    forth = signs(text, NURSING, ["Priya", "Wendell"])
    assert (forth["in order"], forth["nouns"], forth["nouns alike"]) == (1.0, -2.0, 0.0)
    back = signs(text, NURSING, ["Wendell", "Priya"])
    assert (back["in order"], back["nouns"]) == (-1.0, 2.0)
    assert signs(text, NURSING, [None, "Wendell"])["object alone"] == 1.0


def test_nouns_count_apart_where_friend_may_be_either():
    found = signs("Ottilie met her friend Bram. Bram waved.", FRIENDS, ["Ottilie", "Bram"])
    assert found["nouns"] == 0.0
    assert found["nouns alike"] > 0.0


def test_without_evidence_the_one_named_first_is_the_subject():
    assert pair("Ottilie and Bram walked home.", FRIENDS) == ["Ottilie", "Bram"]


def test_the_object_may_be_named_first():
    text = "Ottilie struggled with the knots. Bram taught Ottilie, and Ottilie thanked Bram."
    assert pair(text, FRIENDS) == ["Bram", "Ottilie"]
    assert pair("Priya was a patient. Wendell, the nurse, came.", NURSING) == ["Wendell", "Priya"]


def test_a_narrator_is_the_subject():
    text = "As a nurse, I met a patient named Jack. Jack sighed. I helped Jack."
    assert pair(text, NURSING) == [None, "Jack"]
    assert pair("Nobody walked home.", FRIENDS) == [None, None]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ann taught Bo.", 2 * PLAIN),
        ("Ann thanked Bo.", -2 * PLAIN),
        ("Ann smiled.", WEAK),
        ("Ann met the nurse.", 0.0),
        ("Ann walked home with Bo.", 0.0),
        ("Ann met Bo, who nodded.", PLAIN),
    ],
)
def test_actions_by_hand(text, expected):
    assert lead(text) == pytest.approx(expected)


def test_speech_is_not_action_but_an_address_is():
    assert lead('Ann said, "Somebody taught me."') == pytest.approx(lead("Ann said nothing."))
    assert lead('Ann met Bo. "Bo, come here."') == pytest.approx(ADDRESS)


def test_the_two_people_are_treated_alike():
    forth = lead("Ann taught Bo. Bo thanked Ann.")
    assert forth == pytest.approx(-lead("Bo taught Ann. Ann thanked Bo."))
    assert forth != 0
