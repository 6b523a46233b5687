"""A judge's card against plain counts, and groups that it treats differently."""

import math
import re
from pathlib import Path

import numpy as np
import pytest

import portrayal
from command import invoke
from measure.test_by_hand import FACTOR, QUICK, of_many_prompts, table
from portrayal.cli.printing import span
from portrayal.measure.judging import AgreedShare, judge_card
from portrayal.raters.labels import read_hand_labels
from portrayal.run import Run

DRAWN = np.random.default_rng(7).permutation(600)[:300]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("judged")
    (folder / "faith.toml").write_text(FACTOR.format(name="faith"), encoding="utf-8")
    texts = [{k: row[k] for k in ("text_id", "prompt_id", "text")} for row in of_many_prompts()]
    factor = [str(folder / "faith.toml")]
    return portrayal.audit(
        study="laissez-faire", texts=texts, factor=factor, out=folder / "run", **QUICK
    )


@pytest.fixture
def hand(tmp_path: Path) -> str:
    rows = of_many_prompts()
    return table(tmp_path, [(rows[i]["text_id"], "faith", rows[i]["faith"]) for i in DRAWN])


def test_recall_and_precision_are_plain_shares_and_the_worse_group_is_named(
    run: Run, hand: str
) -> None:
    card = judge_card(run, read_hand_labels(hand, ["faith"]), "faith")
    rows = [of_many_prompts()[i] for i in DRAWN]
    ones = ["faithone" in row["text"] for row in rows if row["faith"] == "one"]
    assert card.recall["one", ""].value == pytest.approx(np.mean(ones))
    assert card.recall["one", ""].n == pytest.approx(len(ones))
    assert card.recall["two", ""].value == card.precision["one", ""].value == 1.0
    right = [f"faith{row['faith']}" in row["text"] or row["faith"] == "none" for row in rows]
    assert card.agreement.value == pytest.approx(np.mean(right))
    said = f"It finds {100 * np.mean(ones):.0f} % of one and 100 % of two."
    assert said in card.sentences


def test_a_judge_that_is_as_good_in_all_domains_is_not_accused(run: Run, hand: str) -> None:
    card = judge_card(run, read_hand_labels(hand, ["faith"]), "faith", by="domain")
    assert {part for _, part in card.recall} == {"Labor", "Learning"}
    assert card.sentences == ()


def test_the_command_prints_the_card(run: Run, hand: str) -> None:
    asked = ("score", "judge", run.path, "--hand-labels", hand, "--field", "faith")
    shown = invoke(*asked)
    assert shown.exit_code == 0, shown.output
    assert "faith: 300 labels by one rater" in shown.stdout
    assert re.search(r"; the same in \d+ \(\d+–\d+\) % of \d+\n", shown.stdout)
    assert "It finds" in shown.stdout
    assert '"recall"' in invoke(*asked, "--format", "json").stdout


def test_where_both_say_one_thing_of_all_there_is_no_kappa() -> None:
    weight = np.array([0.39464882943143814, 0.1, 0.7] * 10)
    prompt = np.array([f"p{i}" for i in range(30)])
    kappa = AgreedShare.of_kappa([["none"] * 30] * 2, weight, prompt, 0.95)
    assert np.isnan([kappa.value, kappa.low, kappa.high]).all()


def test_a_kappa_near_chance_has_no_sign() -> None:
    kappas = AgreedShare(-0.001, -0.2, 0.1, 30), AgreedShare(*[math.nan] * 3, 9)
    assert [span(kappa, 1, 2) for kappa in kappas] == ["0.00 (−0.20 to 0.10)", "–"]


def test_no_bound_of_kappa_lies_below_minus_one() -> None:
    labels = [["ok"] * 11 + ["refused"] * 3, ["ok"] * 12 + ["refused"] * 2]
    prompt = np.array([f"p{i}" for i in range(14)])
    weight = np.array([6.0] * 9 + [1.0] * 5)
    kappa = AgreedShare.of_kappa(labels, weight, prompt, 0.99)
    assert kappa.low == -1.0 < kappa.value
