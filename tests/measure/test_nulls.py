"""The null of roles: what swapping keeps, what it averages to, and its exact distribution."""

from collections import Counter
from itertools import product

import numpy as np
import pytest

import naive
from portrayal.measure.stories.casting import pair_roles
from portrayal.measure.stories.subordination import subordination
from portrayal.measure.stories.thresholds import median_racialized, threshold_subordination
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


def exact_ratios(stories, gender):
    """The ratio of one gender in each of the 2^n ways to swap the roles of n whole prompts."""
    prompts = sorted({s["prompt_id"] for s in stories})
    found = []
    for heads in product((False, True), repeat=len(prompts)):
        swapped = {p for p, head in zip(prompts, heads, strict=True) if head}
        seats = [
            (s["object_gender"], s["subject_gender"])[:: -1 if s["prompt_id"] in swapped else 1]
            for s in stories
        ]
        below, above = (
            Counter(seat[role] for seat in seats if seat[role] in naive.GENDERS) for role in (0, 1)
        )
        parts = below[gender] / sum(below.values()), above[gender] / sum(above.values())
        found.append(parts[0] - parts[1])
    return np.array(found)


def test_p_is_that_of_all_2_to_the_n_swaps_of_whole_prompts(tmp_path):
    rng = np.random.default_rng(5)
    stories = [
        story(f"p{i % 8}", subject=(None, str(a)), other=(None, str(b)))
        for i, (a, b) in enumerate(rng.choice(["F", "M", "NB"], size=(70, 2), p=[0.3, 0.6, 0.1]))
    ]
    found = list(subordination(tally(make_run(stories, tmp_path)), scope()))
    for gender in naive.GENDERS:
        e = next(e for e in found if e.group == {"gender": gender})
        drawn = exact_ratios(stories, gender)
        tails = np.mean(drawn >= drawn[0] - 1e-12), np.mean(drawn <= drawn[0] + 1e-12)
        assert e.tests[0].p == pytest.approx(min(1, 2 * min(tails)))
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
        assert e.null.low <= 1.0 + 1e-9
        assert e.null.high >= 1.0 - 1e-9
        assert not e.tests[0].p < 0.5


def test_roles_that_never_change_lie_outside_the_null(tmp_path):
    stories = [
        story(f"p{i % 10}", subject=("Sam", "M"), other=("Maria", "F")) for i in range(80)
    ] + [story(f"p{i % 8}", subject=("Emily", "F"), other=("Jamal", "M")) for i in range(8)]
    found = list(subordination(tally(make_run(stories, tmp_path)), scope(permutations=400)))
    women = next(e for e in found if e.group == {"gender": "F"})
    assert women.value == pytest.approx(10)
    assert women.null.high < 4
    assert women.tests[0].p == pytest.approx(2 / 2**10)


def test_reversed_pairs_have_the_range_of_swapped_prompts(tmp_path):
    """A prompt's stories keep their order together: the share reaches from 0 to all of them."""
    stories = [story(f"p{i % 4}", subject=("Sam", "M"), other=("Maria", "F")) for i in range(60)]
    stories += [story(f"p{i % 4}", subject=("Sam", "M"), other=("Jamal", "M")) for i in range(40)]
    found = list(pair_roles(tally(make_run(stories, tmp_path)), scope()))
    group = {"dominant_gender": "M", "subordinate_gender": "F"}
    e = next(e for e in found if e.group == group)
    assert e.value == 0.6
    assert e.null.value == 0.3
    assert (e.null.low, e.null.high) == pytest.approx((0.0, 0.6)), "4 prompts: all 16 swaps"
    both = {"dominant_gender": "M", "subordinate_gender": "M"}
    assert next(e for e in found if e.group == both).null.value == 0.4


def test_the_toy_tables_are_what_the_measures_see(tallied):
    assert np.allclose(tallied.likelihood[:-1], likelihoods(tallied.names), equal_nan=True)
    assert np.isnan(tallied.likelihood[-1]).all()
