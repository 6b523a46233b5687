"""Two runs compared from the sums that they keep."""

import shutil
from dataclasses import replace

import numpy as np
import pyarrow.parquet as pq
import pytest

import portrayal
from portrayal.comparison.compare import Side, compare_several, models_of
from portrayal.comparison.result import Change, about, by_evidence, ordered
from portrayal.comparison.sums import Sums, changes_against
from portrayal.errors import OptionError, RunError
from portrayal.measure.clustered import bucket
from support import student_prompts, student_stories

from .audits import audit, women


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("compared")
    for name, share, seed in (("a", 0.7, 1), ("again", 0.7, 2), ("b", 0.35, 3)):
        audit(folder / name, student_stories(share, seed, model=name))
    both = student_stories(0.7, 1, "one") + student_stories(0.35, 3, "two")
    audit(folder / "both", both)
    return folder


def test_a_difference_is_a_ratio_of_ratios(runs):
    row = women(portrayal.compare(runs / "a", runs / "b"))
    assert row.scale == "ratio"
    assert row.change == pytest.approx(row.value_b / row.value_a)
    assert row.high < 1
    assert row.p < 0.05
    assert row.q >= row.p
    assert row.equivalent is False
    assert (row.n_prompts, row.n_only_a, row.n_only_b, row.paired) == (15, 0, 0, True)
    assert row.undefined is None


def test_for_these_prompts_alone_chance_is_in_the_answers(runs, tmp_path):
    found = portrayal.compare(runs / "a", runs / "b", population="these-prompts")
    here, others = women(found), women(portrayal.compare(runs / "a", runs / "b"))
    assert here.change == others.change
    assert (here.low, here.high, here.p) != (others.low, others.high, others.p)
    assert "for these prompts alone" in " ".join(about(found))
    with pytest.raises(OptionError, match="population"):
        portrayal.compare(runs / "a", runs / "b", population="all")


def test_models_of_one_run_are_compared_as_two_runs_are(runs):
    apart = women(portrayal.compare(runs / "a", runs / "b"))
    both = portrayal.open_run(runs / "both")
    together = women(portrayal.compare(Side(both, "one"), Side(both, "two")))
    assert together.change == pytest.approx(apart.change)
    assert together.p == pytest.approx(apart.p)
    assert (together.model_a, together.model_b) == ("one", "two")


def test_turning_the_sides_turns_the_change(runs):
    one = women(portrayal.compare(runs / "a", runs / "b"))
    two = women(portrayal.compare(runs / "b", runs / "a"))
    assert two.change == pytest.approx(1 / one.change)
    assert two.low == pytest.approx(1 / one.high)
    assert two.p == pytest.approx(one.p)


def test_prompts_of_one_run_alone_are_counted(runs, tmp_path):
    few = [row for row in student_stories(0.7, 1) if row["prompt_id"] != student_prompts()[0]]
    audit(tmp_path / "few", few)
    found = portrayal.compare(runs / "a", tmp_path / "few")
    assert (found.prompts.both, found.prompts.only_a, found.prompts.only_b) == (14, 1, 0)
    row = women(found)
    assert (row.n_prompts, row.n_only_a, row.n_only_b) == (14, 1, 0)


def test_the_same_texts_have_no_change_and_claim_no_equivalence(runs):
    row = women(portrayal.compare(runs / "a", runs / "a"))
    assert row.change == 1.0
    assert row.p == 1.0
    assert row.equivalent is None


def test_where_nothing_may_be_stated_what_is_shown_is_what_has_a_value(runs):
    found = portrayal.compare(runs / "a", runs / "b")
    found = replace(found, rows=tuple(replace(row, stated=False) for row in found.rows))
    n_shown, total = len(ordered(found)), len(found.rows)
    said = f"shown: {n_shown:,} of {total:,} estimates, those with a value, as none may be stated"
    assert any(line.startswith(said) for line in about(found))
    assert n_shown > 0


def test_other_instruments_are_refused_with_what_differs(runs, tmp_path):
    audit(tmp_path / "other", student_stories(0.7, 1), baseline="subject:core")
    with pytest.raises(OptionError, match=r"baseline: census-2022 and subject:core"):
        portrayal.compare(runs / "a", tmp_path / "other")
    found = portrayal.compare(runs / "a", tmp_path / "other", despite=["baseline"])
    assert [each.name for each in found.instruments] == ["baseline"]
    with pytest.raises(OptionError, match="does not differ"):
        portrayal.compare(runs / "a", tmp_path / "other", despite=["baseline", "lexicon"])


def test_runs_that_cannot_be_compared_say_what_to_do(runs, tmp_path):
    with pytest.raises(RunError, match="is not a run"):
        portrayal.compare(runs / "a", tmp_path)
    old = tmp_path / "old"
    shutil.copytree(runs / "a", old)
    (old / "influences.parquet").unlink()
    with pytest.raises(RunError, match="Run the same `portrayal audit` command again"):
        portrayal.compare(runs / "a", old)
    with pytest.raises(OptionError, match="no model 'x'; models: a"):
        portrayal.compare(Side(portrayal.open_run(runs / "a"), "x"), runs / "b")


def test_an_old_run_gets_its_sums_from_the_same_command(runs, tmp_path):
    shutil.copytree(runs / "a", tmp_path / "old")
    (tmp_path / "old" / "influences.parquet").unlink()
    portrayal.audit(study="laissez-faire", out=tmp_path / "old", report=False)
    before, after = (
        pq.read_table(folder / "influences.parquet") for folder in (runs / "a", tmp_path / "old")
    )
    assert before.equals(after)


def test_a_comparison_is_a_data_frame(runs):
    frame = portrayal.compare(runs / "a", runs / "b").to_pandas()
    assert {"measure", "domain", "gender", "change", "low", "high", "p", "q"} <= set(frame.columns)


@pytest.mark.parametrize("margin", [0.99, 0.5])
def test_a_margin_of_ratios_is_1_or_more(runs, margin):
    with pytest.raises(OptionError, match="factor of 1 or more"):
        portrayal.compare(runs / "a", runs / "b", margin=margin)


@pytest.fixture(scope="module")
def four(tmp_path_factory):
    """A run of four models."""
    every = [
        row
        for number, share in enumerate((0.7, 0.35, 0.5, 0.6))
        for row in student_stories(share, number, f"model {number}", 20)
    ]
    folder = tmp_path_factory.mktemp("four") / "run"
    return portrayal.open_run(audit(folder, every))


def test_models_of_one_run_beside_a_base_hold_the_error_of_their_family(four):
    found = compare_several(models_of(Side(four), "model 2"))
    assert {each.a for each in found} == {f"{four.path} (model 2)"}
    assert len(found) == 3
    rows = [women(each) for each in found]
    p = sorted(row.p for row in rows)
    adjusted = sorted(row.p_family for row in rows)
    assert adjusted[0] == pytest.approx(min(1.0, 3 * p[0]))
    assert all(row.p_family >= row.p for row in rows)
    stated = [row for each in found for row in each.rows if row.stated]
    smallest = min(row.p for row in stated if row.p is not None)
    tested = sum(row.p is not None for row in stated)
    assert min(row.audit_q for row in stated if row.audit_q is not None) <= smallest * tested
    assert {"a", "b", "p_family"} <= set(found[0].to_pandas().columns)


def test_a_comparison_is_shown_in_notebooks_with_every_word_escaped(runs):
    found = portrayal.compare(runs / "a", runs / "b")
    page = replace(found, a="<b>&")._repr_html_()
    assert "&lt;b&gt;&amp;" in page
    assert "<b>" not in page


def test_a_margin_stands_in_its_row(runs):
    found = portrayal.compare(runs / "a", runs / "again", margin=3.0)
    assert women(found).margin == 3.0
    assert women(found).equivalent is True
    shares = [row for row in found.rows if row.measure == "outcomes.v1"]
    assert {row.margin for row in shares} == {0.05}


def test_sums_that_one_run_keeps_joined_are_joined_in_the_other():
    names = [f"p{i}" for i in range(40)]
    rng = np.random.default_rng(0)
    a, n = rng.binomial(20, 0.4, (40, 1)).astype(float), np.full((40, 1), 20.0)
    codes = np.array([bucket(name) for name in names])
    nan = np.full((40, 1), np.nan)
    joined = Sums("mean", True, (a, n, nan, nan), np.ones(1), np.zeros(1), codes).joined(codes)
    other = Sums("mean", True, (a + 1, n, nan, nan), np.ones(1), np.zeros(1), codes).joined(codes)

    (row,) = changes_against(other, joined, 0.95, margin=0.2)
    assert row["n_prompts"] == len(set(codes.tolist()))
    assert row["value_a"] == pytest.approx(a.sum() / n.sum())


def test_what_judges_a_change_orders_changes() -> None:
    """Many tests of one measure make a small p weak: a larger p may be nearer to a finding."""

    def row(name: str, p: float | None, q: float | None, audit_q: float | None = None) -> Change:
        return Change(
            "gap.v1",
            "share",
            {},
            {"group": name},
            "difference",
            change=0.1,
            p=p,
            q=q,
            audit_q=audit_q,
        )

    rows = [
        row("none", None, None),
        row("weak", 0.01, 0.02, 0.3),
        row("near", 0.02, 0.3, 0.06),
        row("detail", 0.001, 0.2),
    ]
    names = [each.group["group"] for each in sorted(rows, key=by_evidence)]
    assert names == ["near", "detail", "weak", "none"]
