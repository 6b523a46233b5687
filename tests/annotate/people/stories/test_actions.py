import pytest

from portrayal.annotate.people.shared.model import Roles
from portrayal.annotate.people.shared.scan import scan
from portrayal.annotate.people.stories.scene import (
    ADDRESS,
    PLAIN,
    WEAK,
    actions,
    cue_places,
    role_words,
)

WORDS = role_words(Roles("falconer who anoints", "squire who polishes"))


def lead(text, subjects=("Ann",)):
    """How much more Ann acts as the subject than Bo; `subjects` are grammatical subjects."""
    tokens = scan(text)
    places = {"Ann": 0, "Bo": 1}
    who = {at: places[word] for at, word in enumerate(tokens.words) if word in places}
    told = {at: tokens.words[at] in subjects for at in who}
    return actions(tokens, cue_places(tokens, WORDS), who, told, WORDS)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ann taught Bo.", 2 * PLAIN),
        ("Ann thanked Bo.", -2 * PLAIN),
        ("Ann was helped.", -PLAIN),
        ("Ann smiled.", WEAK),
        ("Ann anointed Bo.", 2 * PLAIN),
        ("Ann polished boots.", -PLAIN),
        ("Ann met the nurse.", 0.0),
        ("Ann walked home with Bo.", 0.0),
        ("Ann met Bo, who nodded.", PLAIN),
        ("Ann got a promotion.", PLAIN),
    ],
)
def test_actions_by_hand(text, expected):
    assert lead(text) == pytest.approx(expected)


def test_who_is_addressed_by_name_is_less_likely_the_subject():
    assert lead('"Bo, come here."', subjects=()) == pytest.approx(ADDRESS)


def test_speech_is_not_action():
    assert lead('Ann said, "Somebody taught me."') == pytest.approx(lead("Ann said nothing."))


def test_the_two_people_are_treated_alike():
    forth = lead("Ann taught Bo. Bo thanked Ann.", ("Ann", "Bo"))
    back = lead("Bo taught Ann. Ann thanked Bo.", ("Ann", "Bo"))
    assert forth == pytest.approx(-back)
    assert forth != 0
