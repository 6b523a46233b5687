"""Targets choose no more sentences than a group needs, in the right direction."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mitigate.conftest import crowd, passage
from portrayal.errors import OptionError
from portrayal.mitigate import Reading
from portrayal.mitigate.targets import always_up, group_shares, reference_of, toward

SPAN = (0, 1)


def _reading(*agentic: float) -> Reading:
    return Reading((SPAN,) * len(agentic), agentic)


def test_always_up_takes_every_communal_sentence() -> None:
    readings = [_reading(0.1, 0.9, 0.4), None, _reading(0.8), _reading(float("nan"), 0.2)]
    chosen = always_up(readings)
    assert {i: each.numbers for i, each in chosen.items()} == {0: (0, 2), 3: (1,)}
    assert {each.direction for each in chosen.values()} == {"up"}


def test_a_sentence_that_cannot_be_told_counts_for_nothing() -> None:
    assert _reading(float("nan"), 0.9, 0.1, 0.1).share == pytest.approx(1 / 3)


def test_the_reference_is_the_most_agentic_group_or_the_named_one() -> None:
    shares = {("female", "Black"): 0.3, ("male", "White"): 0.6}
    columns = ("gender", "race")
    assert reference_of(shares, columns, {}) == ("male", "White")
    named = {"race": "Black", "gender": "female"}
    assert reference_of(shares, columns, named) == ("female", "Black")
    with pytest.raises(OptionError, match="gender=female, race=Black"):
        reference_of(shares, columns, {"gender": "female"})
    with pytest.raises(OptionError, match="two groups"):
        reference_of({("male",): 0.5}, ("gender",), {})


shares_of = st.lists(
    st.lists(st.floats(0.01, 0.99), min_size=1, max_size=6), min_size=2, max_size=14
)


@given(shares_of, st.floats(0.0, 1.0), st.integers(0, 3))
def test_the_chosen_sentences_bring_each_group_to_the_level(
    agentic: list[list[float]], level: float, seed: int
) -> None:
    readings = [_reading(*each) for each in agentic]
    passages = [passage("x", ("a" if i % 2 else "b",), f"p{i}") for i in range(len(agentic))]
    chosen = toward(level, ("b",), passages, readings, {}, seed=seed)
    assert all(passages[i].group == ("a",) for i in chosen)
    own = [i for i in range(len(agentic)) if passages[i].group == ("a",)]
    total, widest = 0.0, 0.0
    for i in own:
        share, n = readings[i].share, len(agentic[i])
        widest = max(widest, 1 / n)
        if i in chosen:
            right = readings[i].communal() if chosen[i].direction == "up" else readings[i].acting()
            assert set(chosen[i].numbers) <= set(right)
            share += len(chosen[i].numbers) / n * (1 if chosen[i].direction == "up" else -1)
        total += share
    assert abs(total - level * len(own)) <= widest / 2 + 1e-9


def test_one_sentence_of_each_text_is_taken_before_a_second_and_tried_ones_last() -> None:
    readings = [_reading(0.9, 0.9)] + [_reading(0.1, 0.3)] * 4
    passages = [passage("x", ("b" if i == 0 else "a",), f"p{i}") for i in range(5)]
    chosen = toward(0.5, ("b",), passages, readings, {})
    assert {i: each.numbers for i, each in chosen.items()} == dict.fromkeys((1, 2, 3, 4), (1,))
    tried = {(i, 1): 1 for i in (1, 2, 3, 4)}
    chosen = toward(0.5, ("b",), passages, readings, tried)
    assert {i: each.numbers for i, each in chosen.items()} == dict.fromkeys((1, 2, 3, 4), (0,))


def test_shares_are_means_over_texts() -> None:
    passages = crowd(4)
    readings = [_reading(0.9), _reading(0.1), _reading(0.9, 0.1), None]
    assert group_shares(passages, readings) == {("female",): 0.0, ("male",): 0.75}
