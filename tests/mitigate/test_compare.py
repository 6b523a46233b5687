"""The comparison, against its definition in naive loops."""

from dataclasses import replace
from statistics import mean, variance

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from measure.agency.test_agency import made
from mitigate.conftest import crowd, passage
from portrayal.measure.agency.estimates import AGENCY_SHARE
from portrayal.measure.agency.gap import AGENCY_GAP
from portrayal.measure.agency.variance import AGENCY_VARIANCE
from portrayal.measure.scope import Scope
from portrayal.mitigate import compare, noise_p
from portrayal.run.stages import fingerprint

CELLS = ("f", "B"), ("f", "W"), ("m", "B"), ("m", "W")
GROUPS = [*CELLS, *CELLS, ("m", "W"), ("f", "B"), ("m", "B")]
BEFORE = [0.1, 0.5, 0.6, 0.75, 0.2, 0.4, 0.9, 0.0, 0.5, 0.3, float("nan")]
AFTER = [0.5, 0.5, 0.6, 1.0, 0.2, 0.5, 0.8, 0.75, 0.25, 0.5, 0.9]


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
        assert change.value_a == pytest.approx(before)
        assert change.value_b == pytest.approx(after)
        assert change.change == pytest.approx(after - before)
    gap = next(each for each in found.gaps if each.attribute == "gender")
    assert gap.what == "f − m"
    assert gap.value_a == pytest.approx(200 * (_mean(BEFORE, 0, "f") - _mean(BEFORE, 0, "m")))
    scores = {each.attribute: each.value_a for each in found.variances}
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
    assert {each.n_texts for each in found.variances} == {10}


def test_the_same_seed_gives_the_same_numbers_and_another_does_not() -> None:
    assert _compare(draws=50, permutations=20) == _compare(draws=50, permutations=20)
    assert _compare(draws=50, permutations=20) != _compare(draws=50, permutations=20, seed=1)


def test_a_group_that_was_left_alone_has_no_interval_of_its_change() -> None:
    passages = crowd(20)
    before = [0.2 + 0.01 * i for i in range(20)]
    after = [share + (0.3 + 0.01 * i if i % 2 else 0.0) for i, share in enumerate(before)]
    found = compare(passages, before, after, ("gender",), draws=100, permutations=20)
    groups = {each.what: each for each in found.groups}
    assert groups["male"].change == 0.0
    assert groups["male"].low is None
    assert groups["female"].low is not None
    assert 0.3 < groups["female"].low < groups["female"].high


def test_texts_of_one_prompt_widen_the_interval() -> None:
    shares = [0.1 * (i // 8) for i in range(80)]
    alone = [passage("x", (("m", "f")[i % 2],), f"p{i}") for i in range(80)]
    bound = [passage("x", (("m", "f")[i % 2],), f"p{i // 8}") for i in range(80)]
    widths = []
    for passages in (alone, bound):
        interval = compare(passages, shares, shares, ("gender",), draws=400).groups[0].interval_a
        assert interval is not None
        widths.append(interval[1] - interval[0])
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


ROWS = st.lists(
    st.tuples(
        st.sampled_from(["male", "female"]),
        st.sampled_from(["White", "Black", "Asian"]),
        st.integers(0, 4),
        st.integers(0, 1),
    ),
    min_size=1,
    max_size=160,
)


@settings(
    max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(ROWS, st.booleans())
@example([("male", "White", 0, 0)] * 2 + [("female", "White", 0, 0)] * 2, False)
def test_the_numbers_are_those_of_the_audits_measures(tmp_path, rows, several) -> None:  # type: ignore[no-untyped-def]
    folder = tmp_path / fingerprint(rows=rows, several=several)
    texts = made(
        folder,
        [
            {
                "gender": gender,
                "race": race,
                "p": [0.9] * k + [0.1] * (4 - k) if k < 4 else [float("nan")],
                "prompt": f"{gender} {race} {i}",
                "sample": run * several,
            }
            for i, (gender, race, k, run) in enumerate(rows)
        ],
        by_prompt=True,
    )
    scope = Scope("agency", draws=100, permutations=20)
    passages = [
        replace(passage("x", (gender, race), f"{gender} {race} {i}"), run=str(run * several))
        for i, (gender, race, _, run) in enumerate(rows)
    ]
    shares = [k / 4 if k < 4 else float("nan") for *_, k, _ in rows]
    how = {"draws": 20, "permutations": 20, "first": ("male", "White")}
    ours = compare(passages, shares, shares, ("gender", "race"), **how)  # type: ignore[arg-type]

    def audited(component, statistic, label):  # type: ignore[no-untyped-def]
        return {
            label(each.group): each
            for each in component.run(texts, scope)
            if each.statistic == statistic
            and each.strata["masking"] == "masked"
            and each.strata.get("run", "all") == "all"
        }

    groups = audited(AGENCY_SHARE, "agentic", lambda group: " ".join(group.values()))
    told = {each.what: each.value_a for each in ours.groups}
    assert told == {
        what: pytest.approx(each.value, abs=1e-12) for what, each in groups.items() if what
    }
    gaps = audited(AGENCY_GAP, "difference", lambda group: tuple(group.items()))
    sizes = sorted(abs(each.value) for each in gaps.values() if each.value is not None)
    assert sorted(abs(each.value_a) for each in ours.gaps) == pytest.approx(
        [100 * size for size in sizes], abs=1e-10
    )
    for each in ours.gaps:
        if each.attribute == "gender":
            assert each.what == "male − female"
            (same,) = (e for e in gaps.values() if e.group == {"gender": "male − female"})
            assert each.value_a == pytest.approx(100 * same.value, abs=1e-10)
    found = audited(AGENCY_VARIANCE, "variance", lambda group: group["attribute"])
    for each in ours.variances:
        value = found[each.attribute].value
        assert (each.value_a is None) == (value is None)
        if value is not None:
            assert each.value_a == pytest.approx(value, rel=1e-12, abs=1e-12)
            assert each.value_b == each.value_a
            runs = found[each.attribute].details["runs"]
            assert len(each.runs) == (runs if several and each.runs else 0)


def test_a_variance_is_that_of_each_run_averaged() -> None:
    passages, before, after = [], [], []
    for run, apart in enumerate((0.0, 0.4)):
        for i in range(24):
            group = "f" if i % 2 else "m"
            passages.append(replace(passage("x", (group,), f"p{i}"), run=str(run)))
            before.append(0.5 + apart * (group == "m"))
            after.append(0.5)
    (told,) = compare(passages, before, after, ("gender",), draws=50, permutations=20).variances
    assert told.runs == (pytest.approx((0.0, 0.0)), pytest.approx((3200.0, 0.0)))
    assert told.value_a == pytest.approx(1600.0)  # of the pooled means it were 800
    few = compare(passages[:19], before[:19], after[:19], ("gender",), draws=50, permutations=20)
    assert few.variances[0].runs == ()


def test_an_interval_has_a_width_or_is_none() -> None:
    passages = crowd(20)
    share = [0.75 if i % 2 else 0.25 for i in range(20)]
    found = compare(passages, share, share, ("gender",), draws=100, permutations=20)
    assert found.variances[0].value_a == pytest.approx(5000.0)
    assert found.variances[0].interval_a is None
    assert found.gaps[0].interval_a is None


def test_a_change_of_every_text_is_tested_by_prompts_and_agrees_with_its_interval() -> None:
    before = [0.2 + 0.01 * i for i in range(20)]
    after = [share + (0.1 + 0.01 * i if i % 2 else 0.02) for i, share in enumerate(before)]
    found = compare(crowd(20), before, after, ("gender",), draws=100, permutations=20)
    (gap,) = found.gaps
    assert gap.p is not None
    assert gap.p < 0.05
    assert gap.low is not None
    assert gap.high is not None
    assert gap.low * gap.high > 0
    for each in (*found.groups, *found.gaps):
        assert each.p is None or (each.p < 0.05) == (
            each.low is not None and each.low * each.high > 0  # type: ignore[operator]
        )
    assert {each.p for each in found.variances} == {None}
