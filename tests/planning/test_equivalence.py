"""Answers that show two runs alike: the power that is planned, and the level at the margin."""

import numpy as np
import pytest

from portrayal.errors import OptionError
from portrayal.planning import equivalence, equivalence_power
from portrayal.records import Prompt

MARGIN = float(np.log(1.25))


def test_the_planned_answers_show_likeness_and_hardly_ever_a_difference_at_the_margin():
    prompts = [Prompt(f"p{i}", "", {"domain": "Work"}) for i in range(15)]
    (row,) = equivalence(prompts, shares={"gender": {"F": 0.5}})
    assert row.n_prompts == 15
    assert row.n_texts == 15 * row.samples
    how = {"icc": 0.18, "margin": MARGIN, "replicates": 1000, "seed": 3}
    power = equivalence_power("representation", 0.5, 15, row.samples, **how)
    away = equivalence_power("representation", 0.5, 15, row.samples, change=MARGIN, **how)
    assert power > 0.79
    assert away < 0.065


def test_few_prompts_show_nothing():
    prompts = [Prompt(f"p{i}", "", {}) for i in range(5)]
    (row,) = equivalence(prompts, shares={"gender": {"F": 0.5}})
    assert row.samples is None
    assert "needs 6" in row.undefined


def test_prompts_that_change_apart_are_not_alike_whatever_their_answers():
    how = {"icc": 0.18, "margin": MARGIN, "replicates": 200}
    assert equivalence_power("representation", 0.5, 15, 5000, alike=0.0, **how) < 0.5


@pytest.mark.parametrize("wrong", [{"margin": 1.0}, {"alike": 1.5}, {"power": 1.0}])
def test_what_cannot_be_is_refused(wrong):
    with pytest.raises(OptionError):
        list(equivalence([Prompt("p", "", {})], **wrong))
