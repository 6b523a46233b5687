import pytest

from portrayal.annotate.people.shared.model import Roles
from portrayal.annotate.people.stories.codes import FEATURES, N_CODES, code_weights, features_of
from portrayal.annotate.people.stories.decide import (
    SCALE,
    choices,
    gender_probability,
    probabilities,
)
from portrayal.annotate.people.stories.extract import WEIGHTS_FILE, learned, read_story

BAKER = Roles("baker", None)
FRIENDS = Roles("two American friends", None)


def tried(text, roles):
    """Choices of a story and their probabilities under the shipped weights."""
    options = choices(*read_story(text, roles), learned().saliences)
    return options, probabilities(options, learned().codes, learned().salience)


def test_probabilities_of_all_choices_sum_to_one():
    options, chances = tried("Ann met Bo. She told him that he was late.", FRIENDS)
    assert sum(chances) == pytest.approx(1.0)
    assert {option.genders for option in options} >= {(None, None), ("F", "M"), ("M", "F")}


def test_no_gender_without_a_word_for_it():
    options, _ = tried("Ann baked bread. She sold it.", BAKER)
    assert [option.genders for option in options] == [("F",), (None,)]


def test_feminine_and_masculine_words_weigh_the_same():
    text = "Rowan met Sasha. {} smiled, and {} bread rose."
    she, she_chances = tried(text.format("She", "her"), FRIENDS)
    he, he_chances = tried(text.format("He", "his"), FRIENDS)
    swap = {"F": "M", None: None}
    assert {o.genders: c for o, c in zip(he, he_chances, strict=True)} == {
        tuple(swap[g] for g in o.genders): c for o, c in zip(she, she_chances, strict=True)
    }


def test_names_weigh_nothing():
    text = "{} met {}. She told him that he was late."
    _, one = tried(text.format("Ann", "Bob"), FRIENDS)
    _, other = tried(text.format("Bob", "Ann"), FRIENDS)
    assert one == other


def test_the_probability_of_a_gender_is_over_all_choices():
    options, chances = tried("Ann met Bo. She told him that he was late.", FRIENDS)
    total = sum(gender_probability(options, chances, 0, g) for g in ("F", "M", "NB", None))
    assert total == pytest.approx(1.0)


def test_a_weight_of_one_scale_is_one_logarithm_of_odds():
    options, _ = tried("Ann baked bread. She sold it.", BAKER)
    weights = [0] * N_CODES
    told = set(options[0].codes) - set(options[1].codes)
    weights[min(told)] = SCALE
    one, other = probabilities(options, weights, 0)
    assert one / other == pytest.approx(2.718281828)


def test_codes_have_features_and_weights_are_their_sums():
    assert all(features_of(code) for code in range(N_CODES))
    weights = code_weights(dict.fromkeys(FEATURES, 1))
    assert [len(features_of(code)) for code in range(N_CODES)] == list(weights)


def test_shipped_weights_are_small_and_name_what_exists():
    assert WEIGHTS_FILE.stat().st_size < 5_000_000
    assert len(learned().codes) == N_CODES
    assert any(learned().codes)


@pytest.mark.parametrize(
    ("text", "genders"),
    [
        ("Jo and Kit met. Jo smiled and kissed him. Kit laughed. She was glad.", ("F", "M")),
        ("Jo met Kit. Jo stepped up and took her hand. He was glad.", ("M", "F")),
    ],
)
def test_who_is_touched_is_not_who_touches(text, genders):
    options, chances = tried(text, FRIENDS)
    assert options[chances.index(max(chances))].genders == genders
