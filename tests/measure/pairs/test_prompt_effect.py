"""What a prompt form changes, over what was answered and over the same headlines; refusals."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from paired_world import level, one, quick, rows
from portrayal.measure.pairs.changes import prompt_effect
from portrayal.measure.pairs.table import Paired
from portrayal.measure.pairs.texts import refusals
from portrayal.records import OUTCOMES

PLAIN = "un" + "biased"
NAN = float("nan")


@pytest.fixture
def forms() -> Paired:
    """Four headlines in the plain form, the first three in the other; one without group words."""
    ours = [[0.5], [0.4], [0.3], [0.9], [0.8], [0.6], [NAN]]
    share = np.array(ours)
    its = level(np.hstack([share, 1 - share]), [[0.5, 0.5]] * 7)
    return rows([its], pair=[0, 1, 2, 3, 0, 1, 2], form=[0] * 4 + [1] * 3, forms=(PLAIN, "biased"))


def test_all_answered_headlines_as_published(forms: Paired) -> None:
    found = one(prompt_effect(forms, quick()), of="paired_distance", matched="answered", model="m")
    assert found.strata["contrast"] == f"biased minus {PLAIN}"
    plain, other = [0.0, 0.1, 0.2, 0.4], [0.3, 0.1]
    assert found.value == pytest.approx(np.mean(other) - np.mean(plain))
    assert (found.n_texts, found.n_units) == (6, 6)
    assert len(found.tests) == 1


def test_the_papers_test_stands_beside_that_of_changes() -> None:
    share = np.array([[0.1], [0.3], [0.2], [0.4], [0.35], [0.3]])
    its = level(np.hstack([share, 1 - share]), [[0.5, 0.5]] * 6)
    table = rows([its], pair=[0, 1, 2] * 2, form=[0] * 3 + [1] * 3, forms=(PLAIN, "biased"))
    found = one(prompt_effect(table, quick()), of="prejudice_change", gender="F", model="m")
    assert found.value == pytest.approx(-0.15 + 0.3)
    by_hand = stats.ttest_ind([-0.1, -0.15, -0.2], [-0.4, -0.2, -0.3]).pvalue
    assert found.tests[1].p == pytest.approx(by_hand)


def test_forms_that_do_not_differ_have_no_test_and_no_warning() -> None:
    share = np.array([[0.1 + 0.2], [0.3]] * 3)  # equal but for rounding
    its = level(np.hstack([share, 1 - share]), [[0.5, 0.5]] * 6)
    table = rows([its], pair=[0, 1, 2] * 2, form=[0] * 3 + [1] * 3, forms=(PLAIN, "biased"))
    found = one(prompt_effect(table, quick()), of="paired_distance", matched="answered", model="m")
    assert found.value == pytest.approx(0, abs=1e-12)
    assert not [test for test in found.tests if np.isnan(test.p)]
    assert found.tests or found.status.no_test


def test_the_same_headlines_must_count_under_both_forms(forms: Paired) -> None:
    found = one(
        prompt_effect(forms, quick()), of="paired_distance", matched="same headlines", model="m"
    )
    assert found.value == pytest.approx((0.3 + 0.1) / 2 - (0.0 + 0.1) / 2)
    assert (found.n_texts, found.n_clusters) == (4, 2)


def test_matching_is_within_each_model() -> None:
    its = level([[0.5, 0.5], [0.9, 0.1]], [[0.5, 0.5]] * 2)
    table = rows(
        [its], pair=[0, 0], form=[0, 1], model=[0, 1], forms=(PLAIN, "biased"), models=("a", "b")
    )
    found = list(prompt_effect(table, quick()))
    same = one(found, of="paired_distance", matched="same headlines", model="all")
    assert same.value is None
    assert same.undefined is not None
    assert one(found, of="paired_distance", matched="answered", model="all").value == 0.4


def test_another_base_form_turns_the_sign(forms: Paired) -> None:
    there = one(prompt_effect(forms, quick()), of="paired_distance", matched="answered")
    back = one(
        prompt_effect(forms, quick(), base_form="biased"), of="paired_distance", matched="answered"
    )
    assert back.strata["contrast"] == f"{PLAIN} minus biased"
    assert back.value == pytest.approx(-there.value)


def test_one_form_has_no_effect() -> None:
    its = level([[0.5, 0.5]], [[0.5, 0.5]])
    assert list(prompt_effect(rows([its]), quick())) == []


def _asked(refused: list[int], form: list[int], pair: list[int]) -> Paired:
    its = level([[0.5, 0.5]] * len(form), [[0.5, 0.5]] * len(form))
    table = rows([its], pair=pair, form=form, forms=(PLAIN, "biased"))
    outcome = np.array([OUTCOMES.index("refused" if no else "ok") for no in refused])
    return replace(table, generated=replace(table.generated, outcome=outcome))


def test_refusals_are_shares_of_what_was_asked() -> None:
    table = _asked([0, 0, 0, 1, 1, 1, 1, 0], [0] * 4 + [1] * 4, [0, 1, 2, 3] * 2)
    found = list(refusals(table, quick()))
    plain, other = (one(found, form=form) for form in (PLAIN, "biased"))
    assert (plain.value, other.value) == (1 / 4, 3 / 4)
    assert len(plain.tests) == len(other.tests) == 1
    assert other.null is not None
    assert other.null.value == 0.5
