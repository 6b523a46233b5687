"""The comparison, against its definition in naive loops."""

from statistics import mean, variance

import pytest

from mitigate.conftest import crowd, passage
from portrayal.mitigate import compare, noise_p

GROUPS = [("f", "B"), ("f", "W"), ("m", "B"), ("m", "W"), ("m", "W"), ("f", "B"), ("m", "B")]
BEFORE = [0.1, 0.5, 0.6, 0.75, 0.5, 0.3, float("nan")]
AFTER = [0.5, 0.5, 0.6, 1.0, 0.25, 0.5, 0.9]


def _compare(**how: int):  # type: ignore[no-untyped-def]
    passages = [passage("x", group, f"p{i}") for i, group in enumerate(GROUPS)]
    return compare(passages, BEFORE, AFTER, ("gender", "race"), **how)


def _mean(shares: list[float], which: int, value: str) -> float:
    kept = [i for i in range(len(GROUPS)) if BEFORE[i] == BEFORE[i]]
    return mean(shares[i] for i in kept if GROUPS[i][which] == value)


def test_means_gaps_and_variances_are_their_definitions() -> None:
    found = _compare(draws=50, permutations=20)
    groups = {(each.attribute, each.what): each for each in found.groups}
    for attribute, which, value in (("gender", 0, "f"), ("gender", 0, "m"), ("race", 1, "B")):
        change = groups[attribute, value]
        before, after = _mean(BEFORE, which, value), _mean(AFTER, which, value)
        assert change.before.value == pytest.approx(before)
        assert change.after.value == pytest.approx(after)
        assert change.change.value == pytest.approx(after - before)
    gap = next(each for each in found.gaps if each.attribute == "gender")
    assert gap.what == "f − m"
    assert gap.before.value == pytest.approx(200 * (_mean(BEFORE, 0, "f") - _mean(BEFORE, 0, "m")))
    scores = {each.attribute: each.before.value for each in found.variances}
    points = [200 * _mean(BEFORE, 0, value) for value in "fm"]
    assert scores["gender"] == pytest.approx(variance(points))
    cells = {}
    for group, share in zip(GROUPS, BEFORE, strict=True):
        if share == share:
            cells.setdefault(group, []).append(share)
    assert scores["intersectional"] == pytest.approx(
        variance([200 * mean(each) for each in cells.values()])
    )
    three = [scores[name] for name in ("gender", "race", "intersectional")]
    assert scores["overall"] == pytest.approx(mean(three))


def test_a_text_without_a_share_is_left_out_on_both_sides() -> None:
    found = _compare(draws=20, permutations=20)
    assert {each.n_texts for each in found.variances} == {6}


def test_the_same_seed_gives_the_same_numbers_and_another_does_not() -> None:
    assert _compare(draws=50, permutations=20) == _compare(draws=50, permutations=20)
    assert _compare(draws=50, permutations=20) != _compare(draws=50, permutations=20, seed=1)


def test_a_group_that_was_left_alone_has_no_interval_of_its_change() -> None:
    passages = crowd(20)
    before = [0.2 + 0.01 * i for i in range(20)]
    after = [share + (0.3 + 0.01 * i if i % 2 else 0.0) for i, share in enumerate(before)]
    found = compare(passages, before, after, ("gender",), draws=100, permutations=20)
    groups = {each.what: each.change for each in found.groups}
    assert groups["male"].value == 0.0
    assert groups["male"].low is None
    assert groups["female"].low is not None
    assert 0.3 < groups["female"].low < groups["female"].high


def test_texts_of_one_prompt_widen_the_interval() -> None:
    shares = [0.1 * (i // 8) for i in range(80)]
    alone = [passage("x", (("m", "f")[i % 2],), f"p{i}") for i in range(80)]
    bound = [passage("x", (("m", "f")[i % 2],), f"p{i // 8}") for i in range(80)]
    widths = []
    for passages in (alone, bound):
        number = compare(passages, shares, shares, ("gender",), draws=400).groups[0].before
        assert number.low is not None
        assert number.high is not None
        widths.append(number.high - number.low)
    assert widths[1] > 1.8 * widths[0]


def test_the_null_knows_a_difference_from_none() -> None:
    apart, alike = crowd(), crowd()
    shares = [0.75 if i % 2 == 0 else 0.25 + 0.01 * (i % 5) for i in range(40)]
    assert noise_p(apart, shares, ("gender",), permutations=199)["gender"] == pytest.approx(0.005)
    same = [0.1 * (i // 2 % 7) for i in range(40)]
    assert noise_p(alike, same, ("gender",), permutations=199)["gender"] > 0.5


def test_no_text_gives_nothing() -> None:
    nan = float("nan")
    found = compare(crowd(2), [nan, nan], [nan, nan], ("gender",), draws=5, permutations=5)
    assert found.groups == ()
    assert noise_p(crowd(2), [nan, nan], ("gender",), permutations=5) == {}
