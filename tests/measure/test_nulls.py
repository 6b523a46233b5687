"""The null of roles: what swapping keeps, what it averages to, and its exact distribution."""

import numpy as np
import pytest

import naive
from portrayal.measure.stories.subordination import (
    median_racialized,
    subordination,
    threshold_subordination,
)
from portrayal.stats.contrasts import TwoSides, infer_contrasts
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


def test_p_is_that_of_the_prompts_counted_by_hand(tmp_path):
    rng = np.random.default_rng(5)
    stories = [
        story(f"p{i % 8}", subject=(None, str(a)), other=(None, str(b)))
        for i, (a, b) in enumerate(rng.choice(["F", "M", "NB"], size=(70, 2), p=[0.3, 0.6, 0.1]))
    ]
    found = list(subordination(tally(make_run(stories, tmp_path)), scope()))
    for gender in naive.GENDERS:
        e = next(e for e in found if e.group == {"gender": gender})
        cells = np.zeros((4, 8, 1))
        for s in stories:
            prompt = int(s["prompt_id"][1:])
            for at, seat in ((0, s["object_gender"]), (2, s["subject_gender"])):
                cells[at, prompt] += seat == gender
                cells[at + 1, prompt] += seat in naive.GENDERS
        share = (cells[0] + cells[2]) / (cells[1] + cells[3])
        together = np.zeros((8, 1))
        for s in stories:
            prompt = int(s["prompt_id"][1:])
            seats = (s["object_gender"], s["subject_gender"])
            if all(seat in naive.GENDERS for seat in seats):
                one, two = ((seat == gender) - share[prompt] for seat in seats)
                together[prompt] += one * two
        expected = infer_contrasts(TwoSides(*cells, covariance=together))
        assert e.tests[0].p == pytest.approx(expected.p[0])
        assert (e.interval.low, e.interval.high) == pytest.approx(
            (expected.low[0], expected.high[0])
        )
        assert (e.tests[0].p < 0.05) == (not e.interval.low <= 1 <= e.interval.high)
        assert (e.tests[0].p < 0.05) == (not e.null.low <= e.value <= e.null.high)


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
        assert not e.null.low > 1.0 + 1e-9
        assert not e.null.high < 1.0 - 1e-9
        assert not e.tests[0].p < 0.5


def test_roles_that_never_change_lie_outside_the_null(tmp_path):
    stories = [
        story(f"p{i % 10}", subject=("Sam", "M"), other=("Maria", "F")) for i in range(80)
    ] + [story(f"p{i % 8}", subject=("Emily", "F"), other=("Jamal", "M")) for i in range(8)]
    found = list(subordination(tally(make_run(stories, tmp_path)), scope(permutations=400)))
    women = next(e for e in found if e.group == {"gender": "F"})
    assert women.value == pytest.approx(10)
    assert women.null.high < 4
    assert women.tests[0].p < 0.001


def test_the_toy_tables_are_what_the_measures_see(tallied):
    assert np.allclose(tallied.likelihood[:-1], likelihoods(tallied.names), equal_nan=True)
    assert np.isnan(tallied.likelihood[-1]).all()
