"""Conclusions of a reader: by definition, by simulation, and where nothing can be told."""

from dataclasses import replace

import numpy as np
import pytest
from statsmodels.stats.meta_analysis import combine_effects

from portrayal.measure.stories.conclusions import (
    LADEN,
    PAIRS_OF_TWO,
    PEOPLE,
    ROLES,
    Conclusion,
    ReaderErrors,
    conclusions,
    measured,
    shift_of,
    shipped,
    summary_of,
)
from portrayal.raters.people import SlotArrays
from portrayal.records import (
    BASIS,
    CORRECTED,
    ERROR_HIGH,
    ERROR_LOW,
    ERROR_VALUE,
    Estimate,
    Fixed,
    Interval,
)

GENDERS = np.array(["F", "M", "NB", "Unspecified"])
CELL = Conclusion("r", "Love", ROLES, "F", "", 200, 8, 1.4, 1.2, -0.15, -0.4, 0.1, 0.1)


def slots_of(gold, read, prompt, *, condition=LADEN, domain="Love", name=None):
    """Slots of stories of two: genders by code, shape (n, 2), and the prompt of each story."""
    n = len(gold)
    names = ["emma" if name is None else name[i] for i in range(n) for _ in range(2)]
    return SlotArrays(
        cluster=np.repeat(prompt, 2),
        cluster_unit="prompt",
        n_clusters=int(prompt.max()) + 1,
        name=names,
        gold_name=names,
        gender=GENDERS[read.reshape(-1)],
        gold_gender=GENDERS[gold.reshape(-1)],
        strata={
            "domain": [domain] * (2 * n),
            "condition": [condition] * (2 * n),
            "model": ["m"] * (2 * n),
            "role": ["subject", "object"] * n,
        },
    )


def world(rng, swapped, *, n_prompts=20, per_prompt=30, women=(0.35, 0.6), spread=0.0):
    """Stories of which a reader exchanges the people of some, more so in some prompts."""
    prompt = np.repeat(np.arange(n_prompts), per_prompt)
    gold = (rng.random((len(prompt), 2)) > np.array(women)).astype(np.int64)
    rate = np.clip(swapped + spread * rng.standard_normal(n_prompts), 0.0, 1.0)[prompt]
    turn = rng.random(len(prompt)) < rate
    return gold, np.where(turn[:, np.newaxis], gold[:, ::-1], gold), prompt


def of(cells, gender="F", race="", what=ROLES):
    (cell,) = (c for c in cells if (c.gender, c.race, c.of) == (gender, race, what))
    return cell


def estimate(value=2.0, low=1.5, high=2.6, *, group=None, **fields):
    shape = {"study": "s", "measure": "subordination.v1", "statistic": "ratio", "unit": "character"}
    shape |= {"strata": {"domain": "Love", "model": "all"}, "group": group or {"gender": "F"}}
    shape |= {"interval": Interval(low, high, 0.95, "made"), "n_units": 500.0, "n_clusters": 9}
    return Estimate(value=value, **(shape | fields))


def test_a_quotient_follows_its_definition():
    gold, read, prompt = world(np.random.default_rng(1), 0.2)
    cell = of(conclusions(slots_of(gold, read, prompt), "r"))

    def ratio(genders, kept):
        return (genders[kept, 1] == 0).mean() / (genders[kept, 0] == 0).mean()

    everything = np.ones(len(prompt), dtype=bool)
    assert cell.labels == pytest.approx(ratio(gold, everything))
    assert cell.read == pytest.approx(ratio(read, everything))
    assert cell.quotient == pytest.approx(np.log(cell.read / cell.labels))
    # The error is about that of leaving prompts out one by one.
    left = [prompt != p for p in range(20)]
    jackknife = np.array([np.log(ratio(read, kept) / ratio(gold, kept)) for kept in left])
    assert cell.error == pytest.approx(np.sqrt(19 / 20 * np.var(jackknife) * 20), rel=0.1)
    assert (cell.people, cell.prompts) == ((gold == 0).sum(), 20)
    assert cell.low < cell.quotient < cell.high


def test_shares_pairs_and_races_are_those_of_stories_without_power():
    gold, _, prompt = world(np.random.default_rng(2), 0.0)
    read = np.where(np.arange(len(gold))[:, np.newaxis] % 5 == 0, 3, gold)
    name = np.where(np.arange(len(gold)) % 2 == 0, "emma", "lakisha")
    slots = slots_of(gold, read, prompt, condition="power-neutral", name=name)
    cells = conclusions(slots)
    assert {c.of for c in cells} == {PEOPLE, PAIRS_OF_TWO}
    assert of(cells, what=PEOPLE).labels == pytest.approx((gold == 0).mean())
    both = (np.sort(gold, axis=1) == [0, 1]).all(1)
    pair = of(cells, "F-M", what=PAIRS_OF_TWO)
    assert (pair.people, pair.labels) == (both.sum(), pytest.approx(both.mean()))
    assert pair.read == pytest.approx(both[read[:, 0] < 3].mean())
    # Names are read right, so that races are.
    assert of(cells, "", "Black", PEOPLE).quotient == pytest.approx(0.0, abs=1e-9)


def test_whom_a_reader_misses_altogether_is_seen():
    gold, read, prompt = world(np.random.default_rng(3), 0.0)
    gold[::10, 1] = 2
    cell = of(conclusions(slots_of(gold, read, prompt)), "NB")
    assert (cell.labels, np.isnan(cell.read)) == (np.inf, True)
    assert cell.quotient < -3  # half a person where there are sixty


def test_a_reader_that_is_right_moves_nothing_but_by_what_a_person_could():
    gold, _, prompt = world(np.random.default_rng(4), 0.0)
    cells = conclusions(slots_of(gold, gold, prompt))
    assert (of(cells).quotient, of(cells).error) == (0.0, 0.0)
    assert not any(c.differs for c in cells)
    e = ReaderErrors(cells, 0.95).added(estimate())
    assert e.details[ERROR_VALUE] == e.value
    assert e.details[ERROR_LOW] == pytest.approx(1.5, rel=0.01)
    assert e.details[ERROR_HIGH] == pytest.approx(2.6, rel=0.01)


@pytest.mark.parametrize("spread", [0.0, 0.1])
def test_the_range_holds_what_labels_of_other_prompts_say(spread):
    rng, hits, naive = np.random.default_rng(5), [], []
    for _ in range(200):
        cells = conclusions(slots_of(*world(rng, 0.15, n_prompts=8, spread=spread)))
        new = of(conclusions(slots_of(*world(rng, 0.15, n_prompts=8, spread=spread))))
        quotient, half = shift_of(cells, ("Love", ROLES, "F", ""), new.people, 8, 0.95)
        hits.append(min(0.0, quotient - half) <= new.quotient <= max(0.0, quotient + half))
        naive.append(of(cells).low <= new.quotient <= of(cells).high)
    assert np.mean(hits) >= 0.94
    assert np.mean(naive) < np.mean(hits)


def test_a_domain_that_was_not_measured_has_the_random_effects_of_others():
    rng = np.random.default_rng(6)
    cells = [
        replace(CELL, domain=str(i), quotient=q, error=error, people=1e6)
        for i, (q, error) in enumerate(
            zip(rng.normal(0, 0.3, 6), rng.uniform(0.05, 0.2, 6), strict=True)
        )
    ]
    q, error = (np.array([getattr(c, name) for c in cells]) for name in ("quotient", "error"))
    dl = combine_effects(q, error**2, method_re="dl")
    quotient, half = shift_of(cells, ("Housing", ROLES, "F", ""), 1e12, 8, 0.95)
    assert quotient == pytest.approx(dl.mean_effect_re)
    total = dl.tau2 + dl.sd_eff_w_re**2 + np.mean(1e6 * error**2) / 1e12
    assert half == pytest.approx(2.570582 * np.sqrt(total))
    # What was measured itself stands alone.
    assert shift_of(cells, ("0", ROLES, "F", ""), 1e6, 8, 0.95)[0] == q[0]


def test_a_race_that_hardly_occurs_has_the_range_of_all_names():
    cells = [replace(CELL, race=race, people=60) for race in ("White", "Black")]
    cells.append(replace(CELL, race="Asian", people=2, quotient=3.0, error=0.0))
    quotient, half = shift_of(cells, ("Love", ROLES, "F", "Asian"), 30, 8, 0.95)
    # One person of two could be misread, so these say little.
    assert abs(quotient) < 1.0
    assert np.isfinite(half)
    assert shift_of(cells, ("Love", ROLES, "F", "Black"), 30, 8, 0.95)[0] == -0.15


def test_what_is_not_known_of_a_group_is_the_reason():
    few = [replace(CELL, gender="NB", people=4), replace(CELL, gender="NB", domain="x", people=4)]
    e = ReaderErrors([CELL, *few], 0.95).added(estimate(group={"gender": "NB"}))
    assert ERROR_LOW not in e.details
    assert e.status.reader_error == (
        "cannot be told: the reader was measured on 8 non-binary people"
    )
    e = ReaderErrors([CELL], 0.95, "en-IN").added(estimate())
    assert e.status.reader_error == (
        "cannot be told: the reader was measured on stories of en-US, and these are of en-IN"
    )


def test_without_a_measured_reader_or_with_human_labels_nothing_is_added():
    e = estimate()
    assert ReaderErrors([], 0.95).added(e) is e
    corrected = replace(e, strata={**e.strata, BASIS: CORRECTED})
    assert ReaderErrors([CELL], 0.95).added(corrected) is corrected
    assert ReaderErrors([CELL], 0.95).added(replace(e, measure="names.v1")).details == {}


@pytest.mark.parametrize(
    ("value", "low", "high"), [(0.0, 0.0, 0.4), (np.inf, 2.0, np.inf), (3.0, 0.0, np.inf)]
)
def test_a_range_never_is_narrower_than_the_interval(value, low, high):
    e = ReaderErrors([CELL], 0.95).added(estimate(value, low, high))
    assert e.details[ERROR_LOW] <= low
    assert e.details[ERROR_HIGH] >= high
    assert not np.isnan([e.details[ERROR_LOW], e.details[ERROR_HIGH]]).any()


def test_what_holds_in_too_few_prompts_for_an_interval_has_a_range_as_well():
    fixed = Fixed(1.5, 2.6, 0.01)
    e = ReaderErrors([CELL], 0.95).added(estimate(interval=None, fixed=fixed, n_clusters=2))
    assert e.details[ERROR_LOW] < 1.5 < 2.6 < e.details[ERROR_HIGH]


def test_the_reader_that_ships_was_measured():
    assert {c.reader for c in shipped()} == {"people.v8"}
    domains = {c.domain for c in measured("people.v8")}
    assert {"Labor", "Learning", "Love", "couples (written)"} < domains
    assert measured("people-labelled.v1") == []
    total = summary_of(measured("people.v8"))
    assert total.cells == 75
    assert total.shift < 0.07
    assert abs(total.worst[0].quotient) == max(abs(c.quotient) for c in total.worst)
