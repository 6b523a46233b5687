"""Targets choose no more sentences than a group needs, in the right direction."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mitigate.conftest import crowd, passage
from portrayal.errors import OptionError
from portrayal.mitigate import AgencyReading
from portrayal.mitigate.targets import (
    Levels,
    always_up,
    group_shares,
    levels_of,
    reference_of,
    toward,
)

SPAN = (0, 1)


def _reading(*agentic: float) -> AgencyReading:
    return AgencyReading((SPAN,) * len(agentic), agentic)


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


@settings(max_examples=30, deadline=None)
@given(shares_of, st.floats(0.0, 1.0), st.integers(0, 3))
def test_the_chosen_sentences_bring_each_group_to_the_level(
    agentic: list[list[float]], level: float, seed: int
) -> None:
    readings = [_reading(*each) for each in agentic]
    passages = [passage("x", ("a" if i % 2 else "b",), f"p{i}") for i in range(len(agentic))]
    chosen = toward(Levels(level), ("b",), passages, readings, {}, seed=seed)
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
    chosen = toward(Levels(0.5), ("b",), passages, readings, {})
    assert {i: each.numbers for i, each in chosen.items()} == dict.fromkeys((1, 2, 3, 4), (1,))
    tried = {(i, 1): 1 for i in (1, 2, 3, 4)}
    chosen = toward(Levels(0.5), ("b",), passages, readings, tried)
    assert {i: each.numbers for i, each in chosen.items()} == dict.fromkeys((1, 2, 3, 4), (0,))


def test_shares_are_means_over_texts() -> None:
    passages = crowd(4)
    readings = [_reading(0.9), _reading(0.1), _reading(0.9, 0.1), None]
    assert group_shares(passages, readings) == {("female",): 0.0, ("male",): 0.75}


def test_a_stratum_has_a_level_of_its_own_where_every_group_has_enough_texts() -> None:
    said = {("nurse", "a"): (0.9, 0.9), ("nurse", "b"): (0.1, 0.9), ("judge", "a"): (0.9,) * 3,
            ("judge", "b"): (0.1,), ("poet", "a"): (0.1, 0.1), ("", "a"): (0.9, 0.9)}  # fmt: skip
    passages, readings = [], []
    for (stratum, group), each in said.items():
        for p in each:
            passages.append(replace(passage("x", (group,), f"p{len(passages)}"), block=stratum))
            readings.append(_reading(p))
    levels = levels_of(passages, readings, ("b",), per_stratum=True, min_group=2)
    assert levels.overall == pytest.approx(1 / 3)
    assert levels.own == {"nurse": 0.5}
    assert levels.pooled == {
        "": "no stratum",
        "judge": "texts about b: 1, needed: 2",
        "poet": "texts about b: 0, needed: 2",
    }
    assert [levels.place(name) for name in ("nurse", "judge", "")] == ["nurse", "", ""]
    assert levels.of("nurse") == 0.5
    assert levels.of("") == levels.overall
    assert levels_of(passages, readings, ("b",)) == Levels(levels.overall)


def test_groups_are_brought_together_within_strata_though_they_are_alike_overall() -> None:
    passages, readings = [], []
    for stratum, high, low in (("nurse", "b", "a"), ("judge", "a", "b")):
        for group, agentic in ((high, 0.9), (low, 0.1)):
            for _ in range(4):
                passages.append(replace(passage("x", (group,), f"p{len(passages)}"), block=stratum))
                readings.append(_reading(agentic, agentic))
    overall = levels_of(passages, readings, ("b",))
    assert toward(overall, ("b",), passages, readings, {}) == {}
    levels = levels_of(passages, readings, ("b",), per_stratum=True, min_group=4)
    chosen = toward(levels, ("b",), passages, readings, {})
    ways = {(passages[i].block, each.direction, each.numbers) for i, each in chosen.items()}
    assert ways == {("nurse", "up", (0, 1)), ("judge", "down", (0, 1))}
    assert len(chosen) == 8
