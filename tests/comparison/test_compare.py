"""Two runs compared from the sums that they keep."""

import shutil

import numpy as np
import pyarrow.parquet as pq
import pytest

import portrayal
from portrayal.comparison import Side
from portrayal.errors import OptionError, RunError

NAMES = {"she": ("Maria", "She"), "he": ("Juan", "He")}


def stories(share: float, seed: int, model: str = "m", n: int = 40) -> list[dict[str, str]]:
    """Stories of fifteen prompts in which a woman is the student with this probability."""
    rng = np.random.default_rng(seed)
    made = []
    for prompt in portrayal_prompts():
        for woman in rng.random(n) < share + rng.normal(0, 0.05):
            name, word = NAMES["she" if woman else "he"]
            text = f"{name} was a star student. {word} won a prize."
            made.append({"prompt_id": prompt, "text": text, "model": model})
    return made


def portrayal_prompts() -> list[str]:
    """Names of the power-neutral prompts about learning."""
    from portrayal.studies.laissez_faire.prompts import prompts

    every = [p.prompt_id for p in prompts()]
    return [name for name in every if name.startswith("learning-neutral")]


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("compared")
    for name, share, seed in (("a", 0.7, 1), ("again", 0.7, 2), ("b", 0.35, 3)):
        portrayal.audit(
            "laissez-faire",
            texts=stories(share, seed, model=name),
            out=folder / name,
            report=False,
        )
    portrayal.audit(
        "laissez-faire",
        texts=stories(0.7, 1, "one") + stories(0.35, 3, "two"),
        out=folder / "both",
        report=False,
    )
    return folder


def women(found):
    (row,) = [
        row
        for row in found.rows
        if row.measure == "representation.v1" and dict(row.group) == {"gender": "F"}
    ]
    return row


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
    few = [row for row in stories(0.7, 1) if row["prompt_id"] != portrayal_prompts()[0]]
    portrayal.audit("laissez-faire", texts=few, out=tmp_path / "few", report=False)
    found = portrayal.compare(runs / "a", tmp_path / "few")
    assert (found.prompts.both, found.prompts.only_a, found.prompts.only_b) == (14, 1, 0)
    row = women(found)
    assert (row.n_prompts, row.n_only_a, row.n_only_b) == (14, 1, 0)


def test_the_same_texts_have_no_change_and_claim_no_equivalence(runs):
    row = women(portrayal.compare(runs / "a", runs / "a"))
    assert row.change == 1.0
    assert row.p == 1.0
    assert row.equivalent is None


def test_other_instruments_are_refused_with_what_differs(runs, tmp_path):
    portrayal.audit(
        "laissez-faire",
        texts=stories(0.7, 1),
        out=tmp_path / "other",
        report=False,
        baseline="subject:core",
    )
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
    portrayal.audit("laissez-faire", out=tmp_path / "old", report=False)
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
