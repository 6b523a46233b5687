import json

from portrayal.annotate.people.shared.model import Roles
from portrayal.annotate.people.shared.scan import scan
from portrayal.annotate.people.stories.extract import story_start
from portrayal.annotate.people.stories.names import find_people
from portrayal.annotate.people.stories.pair import SIGNS, WEIGHTS_FILE, find_pair, rivals, weights
from portrayal.annotate.people.stories.scene import look, role_words

FRIENDS = Roles("an American person", "friend")
NURSING = Roles("nurse", "patient in need")


def scene_of(text, roles):
    """What the extractor sees in a story."""
    tokens = scan(text, story_start(text))
    return look(text, tokens, find_people(tokens), role_words(roles), paired=roles.paired)


def pair(text, roles):
    """Names in the two places."""
    scene = scene_of(text, roles)
    return [None if at is None else scene.people[at].first for at in find_pair(scene, roles)]


def test_shipped_weights_are_whole_numbers_for_every_sign():
    told = json.loads(WEIGHTS_FILE.read_text(encoding="utf-8"))["weights"]
    assert tuple(told) == SIGNS
    assert all(type(weight) is int and weight > 0 for weight in told.values())
    assert weights() == tuple(told.values())


def test_signs_by_hand():
    scene = scene_of("Priya was a patient. Priya thanked Wendell, the nurse.", NURSING)
    a, b, signs = rivals(scene)
    assert [scene.people[a].first, scene.people[b].first] == ["Priya", "Wendell"]
    assert dict(zip(SIGNS, signs, strict=True)) == {
        "first": 1.0,
        "role nouns": -2.0,
        "role nouns alike": 0.0,
        "actions": -2.0,
    }


def test_nouns_count_apart_where_friend_may_be_either():
    _, _, signs = rivals(scene_of("Ottilie met her friend Bram. Bram waved.", FRIENDS))
    assert signs[SIGNS.index("role nouns")] == 0.0
    assert signs[SIGNS.index("role nouns alike")] > 0.0


def test_without_evidence_the_one_named_first_is_the_subject():
    assert pair("Ottilie and Bram walked home.", FRIENDS) == ["Ottilie", "Bram"]


def test_the_object_may_be_named_first():
    text = "Ottilie struggled with the knots. Bram taught Ottilie, and Ottilie thanked Bram."
    assert pair(text, FRIENDS) == ["Bram", "Ottilie"]


def test_what_follows_who_is_said_of_the_name_before_it():
    text = 'Bram paid. "It is on me," he said to his friend Ottilie, who nodded in thanks.'
    scene = scene_of(text, FRIENDS)
    assert rivals(scene)[2][SIGNS.index("actions")] > 0


def test_fewer_than_two_people_are_no_rivals():
    assert rivals(scene_of("Ottilie walked home.", FRIENDS)) is None
    assert pair("Nobody walked home.", FRIENDS) == [None, None]
