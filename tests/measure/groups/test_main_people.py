"""Main people against their definition, on lopsided texts, and what is said of them."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import portrayal
from portrayal.errors import OptionError
from portrayal.measure.groups.main_people import MAIN_PEOPLE
from portrayal.records import Estimate
from portrayal.report import answer_lines, finding_lines
from portrayal.run import Run
from portrayal.stats import infer_differences

WOMAN, MAN, NOBODY = "Ann sang. She left early.", "Bo sang. He left early.", "It rained all day."
UNTOLD = "Kim sang. Kim left early."


def rows(n_prompts: int = 12) -> list[dict[str, str]]:
    """Texts of `n_prompts` prompts, more of some than of others, women mostly in the sad ones."""
    texts = []
    for i in range(n_prompts):
        for k in range(3 + i):
            sad = (i + k) % 3 > 0
            text = WOMAN if (k % 5 > 0) == sad else MAN
            text = {6: NOBODY, 7: UNTOLD, 8: ""}.get((7 * i + k) % 11, text)
            label = {WOMAN: "woman", MAN: "man", UNTOLD: "unclear"}.get(text, "")
            if i == k:
                label = "man"
            texts.append(
                {
                    "prompt": f"Write about topic {i}.",
                    "text": text and f"{text} It was {i} past {k}.",
                    "mood": "sad" if sad else "glad",
                    "who": label,
                }
            )
    return texts


def kind(row: dict[str, str]) -> str:
    """Which of the texts a row is, without the sentence that makes it another one than the rest."""
    return row["text"].partition(" It was")[0] if row["text"] else ""


def audited(texts: list[dict[str, str]], out: Path, **options: Any) -> Run:
    return portrayal.audit(texts, study="people", out=out, **options)


def of(run: Run, statistic: str, group: str, **place: str) -> Estimate:
    (one,) = [
        e
        for e in run.records
        if (e.measure, e.statistic) == (MAIN_PEOPLE.name, statistic)
        and e.group["gender"] == group
        and e.strata["model"] == "all"
        and {k: v for k, v in e.strata.items() if k != "model"} == place
    ]
    return one


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return audited(rows(), tmp_path_factory.mktemp("people"), by=["mood"], check="who")


def test_models_are_no_column_to_split_by(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="each model stand apart"):
        audited(rows(), tmp_path / "r", by=["model"])


def test_shares_are_those_of_a_plain_count(run: Run) -> None:
    for mood in ("all", "sad", "glad"):
        texts = [kind(row) for row in rows() if mood in ("all", row["mood"])]
        counts = Counter(texts)
        n = counts[WOMAN] + counts[MAN] + counts[UNTOLD]
        for group, text in (("F", WOMAN), ("M", MAN), ("not determined", UNTOLD)):
            share = of(run, "share", group, mood=mood)
            assert share.value == pytest.approx(counts[text] / n)
            assert share.n_texts == len(texts)
        left_out = {
            "refused, empty or failed": counts[""],
            "text that names nobody": counts[NOBODY],
        }
        assert share.exclusions == left_out
        assert share.value is not None
        assert share.value > 0.0


def test_a_difference_is_inferred_from_sums_by_prompt(run: Run) -> None:
    sides = {mood: np.zeros((12, 2)) for mood in ("glad", "sad")}
    for row in rows():
        if kind(row) in (WOMAN, MAN, UNTOLD):
            prompt = int(row["prompt"].split()[-1].strip("."))
            sides[row["mood"]][prompt] += (kind(row) == WOMAN, 1.0)
    glad, sad = ((side[:, [0]], side[:, [1]]) for side in sides.values())
    expected = infer_differences(glad, sad, 0.95)
    e = of(run, "difference", "F", mood="glad − sad")
    assert e.value == pytest.approx(expected.value[0])
    assert e.value < -0.3
    assert e.interval is not None
    assert (e.interval.low, e.interval.high) == pytest.approx((expected.low[0], expected.high[0]))
    assert e.tests[0].p == pytest.approx(expected.p[0])


def test_the_answer_says_who_is_in_the_texts_and_where_it_differs(run: Run) -> None:
    who, finding, following = answer_lines(run)
    n = Counter(map(kind, rows()))
    assert who.startswith(
        f"Main people of {n[WOMAN] + n[MAN] + n[UNTOLD]} texts: women {n[WOMAN]} ("
    )
    labelled = [r for r in rows() if kind(r) in (WOMAN, MAN, UNTOLD)]
    alike = sum(
        r["who"] == {WOMAN: "woman", MAN: "man", UNTOLD: "unclear"}[kind(r)] for r in labelled
    )
    share = f"{100 * alike / len(labelled):.0f}"
    assert 50 < int(share) < 100
    share = f"{share}\u00a0% of {len(labelled)} texts"
    assert who.endswith(f" Checked against the column “who”: alike in {share}.")
    assert finding.startswith("The main person is a ")
    assert "where mood is “" in finding
    assert following.endswith(f"Next: portrayal list findings {run.path}")
    assert who in finding_lines(run)
    assert run.findings[0]["sentence"] == finding.partition(". Holds")[0]
    assert run.findings[0]["q"] < 0.05
    assert run.plot().svg.startswith("<svg")


@pytest.mark.parametrize(("n", "words"), [(1, "this prompt"), (3, "these 3 prompts")])
def test_few_prompts_speak_of_themselves_alone(tmp_path: Path, n: int, words: str) -> None:
    texts = [dict(row, prompt=f"Write {i % n}.") for i, row in enumerate(rows())]
    run = audited(texts, tmp_path, by=["mood"])
    assert of(run, "share", "F", mood="all").details["units_text"] > 60
    assert next(answer_lines(run)).split(": ")[0].endswith(f" texts of {words}")


@pytest.mark.parametrize("text", [NOBODY, "I cannot help with that request.", ""])
def test_texts_without_people_have_no_shares_and_say_why(tmp_path: Path, text: str) -> None:
    run = audited([{"text": text, "mood": mood} for mood in "abc" * 8], tmp_path, by=["mood"])
    assert {e.value for e in run.records} == {None}
    assert of(run, "share", "F", mood="all").undefined == "no text names anybody"
    assert sum(of(run, "share", "F", mood="all").exclusions.values()) == 24
    assert next(answer_lines(run)).startswith("Nothing could be seen in ")
