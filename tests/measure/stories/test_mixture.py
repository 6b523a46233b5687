"""Mixture ratios: against the likelihood by search, what is refused, and what always holds."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import optimize

from portrayal.measure import Tally
from portrayal.measure.stories.mixture import representation_mixture, subordination_mixture
from portrayal.records import ALL, NO_INTERVAL, NO_TEST
from portrayal.reference import (
    RACES,
    baseline,
    mena_nhpi_table,
    name_bearers,
    name_table,
    race_likelihoods,
)
from support import scope

BASE = baseline("census-2022")
CENSUS, WIKIPEDIA = name_table(), mena_nhpi_table()
TABLES = dict.fromkeys(CENSUS.races, CENSUS) | dict.fromkeys(WIKIPEDIA.races, WIKIPEDIA)
NOBODY = -1


def told(first, second=None):
    """Tally stories whose characters bear these names, lists of names by prompt."""
    laden, names = second is not None, sorted({n for p in [*first, *(second or [])] for n in p})
    code = {name: i for i, name in enumerate(names)}
    size = [len(prompt) for prompt in first]
    n = sum(size)
    of = [np.array([code[x] for p in side for x in p]) for side in (first, second or [[]])]
    unsure, nobody = np.full(n, 4), np.full(n, NOBODY)
    shares = np.full((len(names) + 1, len(RACES)), np.nan)
    shares[:-1] = race_likelihoods(names, CENSUS, WIKIPEDIA)
    return Tally(
        prompt_ids=tuple(f"p{i:03d}" for i in range(len(size))),
        domains=("Labor",),
        models=("m",),
        names=tuple(names),
        races=RACES,
        n_primary=5,
        prompt_domain=np.zeros(len(size), dtype=np.int64),
        prompt_laden=np.full(len(size), laden),
        prompt_couple=np.zeros(len(size), dtype=bool),
        prompt_scenario=("",) * len(size),
        prompt=np.repeat(np.arange(len(size)), size),
        model=np.zeros(n, dtype=np.int64),
        outcome=np.zeros(n, dtype=np.int64),
        subject_name=of[0],
        subject_gender=unsure,
        object_name=of[1] if laden else nobody,
        object_gender=unsure if laden else nobody,
        count=np.ones(n, dtype=np.int64),
        likelihood=shares,
    )


@pytest.fixture(scope="module")
def people():
    """Names of the Census table, their bearers, and those by race (the last: everybody else)."""
    bearers, likelihood = name_bearers(CENSUS, WIKIPEDIA)
    shares = np.nan_to_num(likelihood[:, :5])
    shares = np.column_stack([shares, np.clip(1 - shares.sum(1), 0, None)])
    shares /= shares.sum(1, keepdims=True)
    return np.array(CENSUS.listed[0]), bearers / bearers.sum(), shares


def drawn(rng, people, times, n_prompts=12, each=60):
    """Names of people of whom those of Black race are `times` as many as in the population."""
    names, weight, shares = people
    population = weight @ shares
    tilt = np.ones(6)
    tilt[2] = times
    mixed = weight * (shares @ tilt)
    mixed /= mixed.sum()
    assert population[2] == pytest.approx(0.106, abs=0.002)
    picks = rng.choice(len(names), (n_prompts, each), p=mixed)
    return [names[row].tolist() for row in picks]


def of_race(estimates, race="Black"):
    (found,) = (e for e in estimates if e.group == {"race": race} and e.strata["model"] == ALL)
    return found


def represented(tally, race="Black", **given):
    settings = {"baseline": BASE, "name_tables": TABLES} | given
    return of_race(representation_mixture(tally, scope(), **settings), race)


def subordinated(tally, race="Black", name_tables=TABLES):
    return of_race(subordination_mixture(tally, scope(), name_tables=name_tables), race)


def most_likely(names, people):
    """Shares of the six components by search, AI/AN and everybody else at the population's."""
    listed, weight, shares = people
    row = {name.casefold(): i for i, name in enumerate(listed.tolist())}
    at = [row[name.casefold()] for prompt in names for name in prompt]
    population = weight @ shares
    times = shares[at] / population
    rest = population[4:]

    def loss(free):
        return -np.log(times @ np.concatenate([free, rest])).sum()

    whole = 1 - rest.sum()
    limits = {"type": "eq", "fun": lambda free: free.sum() - whole}
    found = optimize.minimize(
        loss, population[:4], bounds=[(0, 1)] * 4, constraints=limits, tol=1e-10
    )
    return found.x


def test_the_representation_ratio_maximises_the_likelihood(people):
    names = drawn(np.random.default_rng(1), people, 3.0)
    tally, best = told(names), most_likely(names, people)
    for k, race in enumerate(RACES[:4]):
        found = represented(tally, race)
        assert found.value * BASE.race[race] == pytest.approx(best[k], abs=2e-4)
        assert found.interval.low < found.value < found.interval.high
        assert found.details["share"] == pytest.approx(found.value * BASE.race[race])
    assert found.n_units == 12 * 60
    assert found.n_clusters == found.interval.n_clusters == 12


def test_the_subordination_ratio_is_that_of_two_fits(people):
    rng = np.random.default_rng(2)
    dominant, lesser = drawn(rng, people, 1.0), drawn(rng, people, 4.0)
    found = subordinated(told(dominant, lesser))
    shares = [most_likely(names, people)[2] for names in (dominant, lesser)]
    assert found.value == pytest.approx(shares[1] / shares[0], rel=5e-3)
    assert found.tests[0].p < 0.05
    assert found.interval.low > found.null.value == 1
    assert found.details["n_dominant"] == 720
    turned = subordinated(told(lesser, dominant))
    assert turned.value == pytest.approx(1 / found.value, rel=1e-3)
    assert turned.tests[0].p == pytest.approx(found.tests[0].p)


def test_p_and_interval_agree_and_the_null_is_the_bearers_share(people):
    rng = np.random.default_rng(3)
    for times in (0.2, 0.7, 1.0, 1.3, 3.0):
        names, others = drawn(rng, people, times, 9, 40), drawn(rng, people, 1.0, 9, 40)
        for found in (represented(told(names)), subordinated(told(others, names))):
            if found.value is None:
                assert "not spread" in found.undefined  # by chance, in so few names
                continue
            beside = not found.interval.low <= found.null.value <= found.interval.high
            assert (found.tests[0].p < 0.05) == beside
    assert represented(told(drawn(rng, people, 1.0))).null.value == pytest.approx(0.783, abs=2e-3)


def test_a_race_that_nobody_bears_has_an_interval_with_one_side(people):
    names, weight, shares = people
    rng = np.random.default_rng(4)
    white = np.sqrt(weight) * (shares[:, 0] > 0.5) * (shares[:, 2] < 0.02)  # spread widely
    picks = rng.choice(len(names), (10, 50), p=white / white.sum())
    without = [names[row].tolist() for row in picks]
    found = represented(told(without))
    assert found.value == 0
    assert found.interval.low == 0
    assert found.interval.high < found.null.value
    assert found.tests[0].p < 0.05
    both = subordinated(told(without, drawn(rng, people, 4.0, 10, 50)))
    assert both.value == np.inf
    assert both.details["count_dominant"] == 0
    assert both.interval.high == np.inf
    assert both.interval.low > 1
    assert subordinated(told(without, without)).undefined == (
        "the names fit no character of this race in either role"
    )


def test_names_that_come_again_and_again_are_refused(people):
    names, weight, _ = people
    few = np.where(weight >= np.sort(weight)[-100], weight, 0.0)
    picks = np.random.default_rng(5).choice(len(names), (12, 60), p=few / few.sum())
    same = [names[row].tolist() for row in picks]
    found = represented(told(same))
    assert found.value is None
    assert found.interval is None
    assert "share a name" in found.undefined
    said = float(found.undefined.split("share a name ")[1].split(" times")[0])
    assert said == pytest.approx(found.details["coincidence"], abs=0.05)
    assert said > 5
    wide = drawn(np.random.default_rng(6), people, 1.0)
    assert "share a name" in subordinated(told(wide, same)).undefined


@pytest.mark.parametrize("race", ["AI/AN", "NH/PI"])
def test_races_that_names_cannot_tell_are_refused(people, race):
    found = represented(told(drawn(np.random.default_rng(7), people, 1.0)), race)
    assert found.undefined.startswith("names cannot tell it: one name says ")
    assert 0 < found.details["information"] < 0.1


def test_what_lacks_has_a_reason(people):
    rng = np.random.default_rng(8)
    names = drawn(rng, people, 1.0)
    assert "no name table" in represented(told(names), name_tables={}).undefined
    assert "gives no share" in represented(told(names), baseline=replace(BASE, race={})).undefined
    assert "matched first name" in represented(told([["Qwxz"] * 5] * 3)).undefined
    assert "one prompt" in represented(told(drawn(rng, people, 1.0, 1))).undefined
    few = subordinated(told(drawn(rng, people, 1.0, 4, 90), drawn(rng, people, 1.0, 4, 90)))
    assert few.interval is None
    assert {NO_INTERVAL, NO_TEST} <= few.instruments.keys()
    assert few.value > 0
