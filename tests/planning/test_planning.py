"""Plans: the numbers that they name find the effect, and the tests are those of an audit."""

import math

import numpy as np
import pytest
from scipy import stats as distributions

from command import invoke
from portrayal.errors import OptionError
from portrayal.planning import KINDS, AuditPlan, plan, power

DESIGNS = [
    ("share", 1.4, {"share": 0.5, "texts": 20, "tests": 1}),
    ("ratio", 0.5, {"share": 0.5, "texts": 20, "tests": 1}),
    ("ratio", 2.0, {"share": 0.2, "texts": 20, "tests": 20}),
    ("difference", 0.5, {"tests": 20}),
    ("difference", -0.5, {"texts": (1, 5), "tests": 1}),
    ("difference", 0.6, {"apart": True, "tests": 1}),
    ("difference", 0.1, {"apart": True, "unit": "points"}),
    ("difference", 0.2, {"unit": "phrase", "texts": 5}),
]


@pytest.mark.parametrize(("kind", "effect", "more"), DESIGNS)
def test_what_is_needed_finds_the_effect_with_other_random_numbers(kind, effect, more):
    [needed] = plan(kind, [effect], **more)
    assert needed.undefined is None
    assert 0.72 <= power(needed.design, seed=2) <= 0.9
    fewer = AuditPlan(kind=kind, effect=effect, blocks=max(needed.design.blocks // 2, 5), **more)
    assert power(fewer, seed=2) < power(needed.design, seed=2) - 0.1


@pytest.mark.parametrize(("kind", "more"), [(k, m) for k, _, m in DESIGNS])
def test_an_effect_of_almost_nothing_is_found_no_oftener_than_the_level_says(kind, more):
    effect = 1e-9 if kind == "difference" else 1 + 1e-9
    design = AuditPlan(kind=kind, effect=effect, blocks=40, **more)
    # Only rejections on the side of the truth count: half of 5 %, and three errors of 1,000 draws.
    assert power(design, seed=3) <= 0.025 / design.n_tests + 0.016


def test_pairs_need_what_the_formula_of_the_t_test_says():
    """Cohen (1988), section 2.3, for differences of variance 2 (1 - ρ) / m + (d varies)²."""
    for m, icc, varies in ((1, 0.5, 0.0), (4, 0.2, 0.75)):
        [needed] = plan("difference", [0.4], texts=m, icc=icc, varies=varies, tests=1)
        sd = math.sqrt(2 * (1 - icc) / m + (0.4 * varies) ** 2)
        n = np.arange(5, 400)
        beyond = distributions.t.isf(0.025, n - 1)
        exact = distributions.nct.sf(beyond, n - 1, 0.4 * np.sqrt(n) / sd)
        assert needed.design.blocks == pytest.approx(n[exact >= 0.8][0], rel=0.12)


def test_more_texts_of_few_prompts_do_not_do():
    [needed] = plan("ratio", [1.2], blocks=6, share=0.5, icc=0.5)
    assert "ask more prompts" in needed.undefined
    assert needed.power < 0.8
    [enough] = plan("share", [1.5], blocks=40, share=0.3, icc=0.05)
    assert enough.design.blocks == 40
    assert enough.power >= 0.8


@pytest.mark.parametrize("unit", ["sd", "points", "phrase"])
def test_of_few_prompts_it_takes_answers_to_show_a_difference_in_these(unit):
    others, these = plan("difference", [0.3], blocks=3, unit=unit)
    assert others.undefined
    assert these.design.these
    assert these.undefined is None
    assert 0.72 <= power(these.design, seed=2) <= 0.95
    assert power(AuditPlan(kind="difference", effect=0.3, blocks=3, these=True)) == 0  # one answer


def test_too_few_prompts_or_people_find_nothing():
    assert power(AuditPlan(kind="difference", effect=9.0, blocks=4)) == 0
    assert power(AuditPlan(kind="share", effect=2.0, blocks=5, texts=1, share=0.4)) == 0


@pytest.mark.parametrize(
    "wrong",
    [
        {"kind": "median"},
        {"kind": "ratio", "effect": 2.0, "share": 0.5},
        {"kind": "ratio", "effect": 1.0},
        {"kind": "share", "effect": 1.5, "texts": (1, 2)},
        {"kind": "difference", "effect": 0.0},
        {"kind": "difference", "icc": 1.0},
        {"kind": "difference", "texts": 0},
        {"kind": "difference", "blocks": 0},
        {"kind": "difference", "unit": "points", "effect": 10.0},
    ],
)
def test_what_cannot_be_is_refused(wrong):
    with pytest.raises(OptionError):
        AuditPlan(**({"effect": 0.5, "blocks": 20} | wrong))


@pytest.mark.parametrize("kind", KINDS)
def test_the_command_says_it_in_twenty_lines(kind):
    done = invoke("plan", kind, "--effect", "0.6", "--samples", "5", "--tests", "1")
    assert done.exit_code == 0, done.stderr
    assert "0.6" in done.stdout
    assert len(done.stdout.splitlines()) <= 20
    assert invoke("plan", kind, "--samples", "0").exit_code == 2


@pytest.mark.parametrize("zero", ["blocks", "tests"])
def test_zero_is_not_the_usual_number(zero: str) -> None:
    with pytest.raises(OptionError, match=f"{zero} must be a whole number of at least 1; got 0"):
        plan("ratio", [1.5], **{zero: 0})
