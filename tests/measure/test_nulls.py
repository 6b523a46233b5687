"""The null of roles: what swapping keeps, what it averages to, and its exact distribution."""

from collections import Counter
from itertools import product

import numpy as np
import pytest

import naive
from portrayal.measure.stories.casting import pair_roles
from portrayal.measure.stories.strata import strata
from portrayal.measure.stories.subordination import subordination
from portrayal.measure.stories.swaps import swapped_roles
from portrayal.measure.stories.tally import GENDER_CODES
from portrayal.measure.stories.thresholds import (
    median_racialized,
    swapped_above,
    threshold_subordination,
)
from support import likelihoods, make_run, scope, story, tally

PAIRS = (
    (("Emily", "F"), ("Maria", "F")),
    (("Sam", "M"), ("Maria", "F")),
    (("Sam", "M"), ("Jamal", "M")),
    (("Sam", "M"), ("Sam", "M")),
    ((None, "Unsure"), ("Priya", "F")),
    (("Emily", "F"), ("Maria", "F")),
    (("Ahmed", "NB"), ("Emily", "F")),
)


def kinds_of(swaps, tallied):
    """Name and gender of each kind, as words."""
    names = [tallied.names[code] if code >= 0 else None for code in swaps.name]
    return list(zip(names, [GENDER_CODES[g] for g in swaps.gender], strict=True))


def every_swap(pairs):
    """Kinds in the subordinate role in each of the 2^n ways to seat n pairs."""
    for heads in product((False, True), repeat=len(pairs)):
        yield Counter(
            subject if swapped else other
            for (subject, other), swapped in zip(pairs, heads, strict=True)
        )


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    stories = [
        story(f"p{i % 2}", model="m", subject=subject, other=other)
        for i, (subject, other) in enumerate(PAIRS)
    ]
    return tally(make_run(stories, tmp_path_factory.mktemp("small")))


def test_draws_have_the_mean_and_variance_of_all_2_to_the_n_swaps(small):
    pooled = next(strata(small, laden=True))
    swaps = swapped_roles(small, pooled, scope(permutations=8000))
    exact = list(every_swap(PAIRS))
    assert len(exact) == 2**7
    assert sorted(map(str, kinds_of(swaps, small))) == sorted(
        map(str, {kind for pair in PAIRS for kind in pair})
    )
    for i, kind in enumerate(kinds_of(swaps, small)):
        counts = [seating[kind] for seating in exact]
        drawn = swaps.subordinate[:, i]
        assert drawn.mean() == pytest.approx(np.mean(counts), abs=0.05)
        assert drawn.var() == pytest.approx(np.var(counts), abs=0.08)
        assert set(drawn) <= set(counts)


def test_ratios_of_draws_are_those_of_the_exact_swaps(small):
    pooled = next(strata(small, laden=True))
    swaps = swapped_roles(small, pooled, scope(permutations=4000))
    is_f = np.array([[gender == "F"] for _, gender in kinds_of(swaps, small)], dtype=float)
    known = np.array([[g in naive.GENDERS] for _, g in kinds_of(swaps, small)], dtype=float)
    drawn = Counter(np.round(swaps.ratio(is_f, known)[:, 0], 9).tolist())
    exact = Counter()
    for below in every_swap(PAIRS):
        above = Counter(kind for pair in PAIRS for kind in pair) - below
        below_f, n_below, above_f, n_above = (
            sum(n for (_, gender), n in seat.items() if gender in wanted)
            for seat, wanted in (
                (below, "F"),
                (below, naive.GENDERS),
                (above, "F"),
                (above, naive.GENDERS),
            )
        )
        exact[round((below_f / n_below) / (above_f / n_above), 9)] += 1
    assert drawn.keys() <= exact.keys()
    for value, count in exact.items():
        assert drawn[value] / 4000 == pytest.approx(count / 128, abs=0.03)


@pytest.mark.parametrize("race", naive.RACES)
def test_thresholds_of_draws_are_counted_one_by_one(tallied, race):
    """Likelihoods that lie exactly on a threshold do not exceed it."""
    swaps = swapped_roles(tallied, next(strata(tallied, laden=True)), scope(permutations=20))
    kinds = kinds_of(swaps, tallied)
    steps = np.array([0.0, 0.02, 0.05, 0.3, 0.6, 0.95])
    column = tallied.likelihood[swaps.name, naive.RACES.index(race)]
    found = swapped_above(swaps, column, swaps.gender == GENDER_CODES.index("F"), steps)
    for counts, above, matched in (
        (swaps.subordinate, found[0], found[1]),
        (swaps.dominant, found[2], found[3]),
    ):
        for draw in range(3):
            shares = [
                (naive.share_of(name, race), n)
                for (name, gender), n in zip(kinds, counts[draw], strict=True)
                if gender == "F" and naive.share_of(name, race) is not None
            ]
            assert matched[draw].tolist() == [sum(n for _, n in shares)]
            assert above[draw].tolist() == [
                sum(n for share, n in shares if share > step) for step in steps
            ]


def test_swapping_keeps_the_total_of_each_kind(tallied, stories):
    for stratum in strata(tallied, laden=True):
        swaps = swapped_roles(tallied, stratum, scope())
        totals = swaps.subordinate + swaps.dominant
        assert (totals == totals[0]).all()
        assert (swaps.subordinate >= 0).all()
        assert (swaps.dominant >= 0).all()
        here = next(f for s, f in naive.slices(stories, "power-laden") if s == stratum.labels)
        expected = Counter(
            (name.casefold() if name else None, gender)
            for _, name, gender, s in naive.people(here)
            if naive.has_object(s)
        )
        kinds = [(n.casefold() if n else None, g) for n, g in kinds_of(swaps, tallied)]
        assert dict(zip(kinds, totals[0].tolist(), strict=True)) == expected


def test_each_role_keeps_its_number_of_characters(tallied):
    for stratum in strata(tallied, laden=True, pool_domains=True):
        swaps = swapped_roles(tallied, stratum, scope())
        assert np.ptp(swaps.subordinate.sum(1)) == 0
        assert (swaps.subordinate.sum(1) == swaps.dominant.sum(1)).all()


def test_a_pooled_stratum_sums_the_draws_of_its_parts(tallied):
    of = {s.model: s for s in strata(tallied, laden=True, pool_domains=True)}
    whole = swapped_roles(tallied, of.pop("all"), scope())
    summed = Counter()
    for stratum in of.values():
        part = swapped_roles(tallied, stratum, scope())
        for i, kind in enumerate(kinds_of(part, tallied)):
            summed[kind] += part.subordinate[:, i]
    found = dict(zip(kinds_of(whole, tallied), whole.subordinate.T, strict=True))
    assert found.keys() == summed.keys()
    assert all((found[kind] == draws).all() for kind, draws in summed.items())


def symmetric_stories():
    """Each pair occurs as often one way as the other."""
    pairs = [pair for pair in PAIRS for _ in range(4)]
    seats = [(a, b) for a, b in pairs] + [(b, a) for a, b in pairs]
    return [
        story(f"p{i % 3}", subject=subject, other=other) for i, (subject, other) in enumerate(seats)
    ]


def test_symmetric_roles_read_1_inside_the_null(tmp_path):
    tallied = tally(make_run(symmetric_stories(), tmp_path))
    found = [
        *subordination(tallied, scope(permutations=200)),
        *median_racialized(tallied, scope(permutations=200)),
        *threshold_subordination(tallied, scope(permutations=200)),
    ]
    defined = [e for e in found if e.value is not None]
    assert len(defined) > 100
    for e in defined:
        assert e.value == pytest.approx(1.0)
        assert e.null.value == 1.0
        assert e.null.low <= 1.0 + 1e-9
        assert e.null.high >= 1.0 - 1e-9
        permuted = next(test for test in e.tests if "swapped" in test.method)
        assert permuted.p > 0.5
    women = next(e for e in defined if e.group == {"gender": "F"})
    assert women.null.low < 0.9
    assert women.null.high > 1.1


def test_roles_that_never_change_lie_outside_the_null(tmp_path):
    stories = [
        story(f"p{i % 5}", subject=("Sam", "M"), other=("Maria", "F")) for i in range(80)
    ] + [story(f"p{i % 5}", subject=("Emily", "F"), other=("Jamal", "M")) for i in range(8)]
    found = list(subordination(tally(make_run(stories, tmp_path)), scope(permutations=400)))
    women = next(e for e in found if e.group == {"gender": "F"})
    assert women.value == pytest.approx(10)
    assert women.null.high < 3
    assert women.tests[-1].p == pytest.approx(1 / 401)


def test_reversed_pairs_have_the_range_of_fair_coins(tmp_path):
    """Each story's dominant woman over a man counts 1, its reverse 0: a coin's mean and spread."""
    stories = [story(f"p{i % 4}", subject=("Sam", "M"), other=("Maria", "F")) for i in range(60)]
    stories += [story(f"p{i % 4}", subject=("Sam", "M"), other=("Jamal", "M")) for i in range(40)]
    found = list(pair_roles(tally(make_run(stories, tmp_path)), scope()))
    group = {"dominant_gender": "M", "subordinate_gender": "F"}
    e = next(e for e in found if e.group == group)
    assert e.value == 0.6
    assert e.null.value == 0.3
    half = 1.959964 * np.sqrt(60 / 4) / 100
    assert (e.null.low, e.null.high) == pytest.approx((0.3 - half, 0.3 + half))
    both = {"dominant_gender": "M", "subordinate_gender": "M"}
    assert next(e for e in found if e.group == both).null.value == 0.4


def test_the_toy_tables_are_what_the_measures_see(tallied):
    assert np.allclose(tallied.likelihood[:-1], likelihoods(tallied.names), equal_nan=True)
    assert np.isnan(tallied.likelihood[-1]).all()
