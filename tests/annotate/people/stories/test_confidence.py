import pytest

from portrayal.annotate.people import Roles, extract_people
from portrayal.annotate.people.stories.decide import SCALE, choices
from portrayal.annotate.people.stories.extract import (
    GENDER_SIGNS,
    NAME_SIGNS,
    gender_signs,
    learned,
    log_odds,
    logistic,
    name_signs,
    read_story,
)

BAKER = Roles("baker", None)
MENTORING = Roles("star student", "struggling student")


def test_signs_are_as_many_as_their_names():
    scene, cast = read_story("Ann taught Bo. He thanked her.", MENTORING)
    option = choices(scene, cast, learned().saliences)[0]
    assert [len(signs) for signs in name_signs(scene, cast, option)] == [len(NAME_SIGNS)] * 2
    assert len(gender_signs(0.5, 0.5, "F", two=True)) == len(GENDER_SIGNS)


def test_odds_and_back():
    assert log_odds(0.5) == 0.0
    assert log_odds(0.0) == -log_odds(1.0)
    assert logistic([log_odds(0.8)], [SCALE]) == pytest.approx(0.8)


def test_a_clear_story_is_surer_than_an_open_one():
    clear, _ = extract_people("Ann, a baker, rose early. She baked. She sold her bread.", BAKER)
    teacher, _ = extract_people("Ann and Bo and Cy met. They argued. He left.", MENTORING)
    assert clear.gender_confidence > 0.9 > teacher.gender_confidence
    assert clear.confidence > teacher.confidence


def test_confidences_are_probabilities():
    for text in ("", "Ann.", "They met. She told him so. " * 20):
        for character in extract_people(text, MENTORING):
            for value in (
                character.confidence,
                character.name_confidence,
                character.gender_confidence,
            ):
                assert 0.0 <= value <= 1.0
