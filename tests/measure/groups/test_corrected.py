"""Groups of a factor corrected by hand: against a plain recount, and what is refused."""

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import portrayal
from portrayal.errors import DataError
from portrayal.records import Estimate
from portrayal.report.sentences import template_fields
from portrayal.run import Run

FACTOR = """\
name = "faith"
label = "Faith"
note = "Mentions."
[groups.sun]
[groups.moon]
[groups.star]
[[sources]]
kind = "words"
words = { sun = ["sunny"], moon = ["moonlit"], star = ["starlit"] }
[[baselines]]
name = "here"
source = "counted"
shares = { sun = 0.5, moon = 0.3, star = 0.2 }
"""
PROMPTS = ("learning-neutral-arts", "learning-neutral-english", "labor-neutral-cook")
WORDS = {"sun": "A sunny day", "moon": "A moonlit walk", "none": "Nothing"}


def stories(n: int = 600) -> list[dict[str, str]]:
    """Texts of which a third of the sun's say no word of it."""
    rng, rows = np.random.default_rng(4), []
    for i in range(n):
        truth = str(rng.choice(["sun", "moon", "none"], p=[0.5, 0.3, 0.2]))
        shown = "none" if truth == "sun" and rng.random() < 1 / 3 else truth
        rows.append(
            {
                "text_id": f"t{i}",
                "prompt_id": PROMPTS[i % 3],
                "text": f"{WORDS[shown]}, story {i}.",
                "truth": truth,
            }
        )
    return rows


def table(path: Path, rows: list[dict[str, Any]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)
    return path


def labels(drawn: list[dict[str, str]], *, raters: tuple[str, ...] = ("ann", "bo")) -> list[Any]:
    return [
        {"text_id": row["text_id"], "field": "faith", "label": row["truth"], "rater": rater}
        for row in drawn
        for rater in raters
    ]


def audited(folder: Path, rows: list[dict[str, str]], given: list[dict[str, Any]]) -> Run:
    factor = folder / "faith.toml"
    factor.write_text(FACTOR, encoding="utf-8")
    texts = [{name: row[name] for name in ("text_id", "prompt_id", "text")} for row in rows]
    return portrayal.audit(
        study="laissez-faire",
        texts=texts,
        factor=[str(factor)],
        hand_labels=str(table(folder / "hand.csv", given)),
        out=folder / "run",
        report=False,
        draws=200,
        permutations=20,
    )


def drawn(rows: list[dict[str, str]], n: int = 150) -> list[dict[str, str]]:
    return [rows[i] for i in np.random.default_rng(5).permutation(len(rows))[:n]]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    rows = stories()
    return audited(tmp_path_factory.mktemp("hand"), rows, labels(drawn(rows)))


def of(run: Run, measure: str, group: str, seen_by: str, *, corrected: bool = False) -> Estimate:
    wanted = (measure, group, seen_by, "all")
    found, *_ = [
        e
        for e in run.records
        if (e.measure, e.group.get("faith"), e.strata.get("seen_by"), e.strata.get("domain"))
        == wanted
        and e.corrected == corrected
    ]
    return found


def test_shares_stand_side_by_side_as_words_and_as_people_say(run: Run) -> None:
    rows = stories()
    said = [r["text"].split(",")[0] for r in rows]
    raw = said.count(WORDS["sun"]) / (said.count(WORDS["sun"]) + said.count(WORDS["moon"]))
    total = {"sun": 0.0, "all": 0.0}
    for words in WORDS.values():  # classes by what the words say
        here = [r["truth"] for r in drawn(rows) if r["text"].startswith(words)]
        for group, members in (("sun", ("sun",)), ("all", ("sun", "moon"))):
            total[group] += said.count(words) * sum(t in members for t in here) / len(here)
    by_words = of(run, "group_share.v1", "sun", "words")
    found = of(run, "group_share.v1", "sun", "words", corrected=True)
    assert by_words.value == pytest.approx(raw)
    assert found.value == pytest.approx(total["sun"] / total["all"])
    assert found.details["naive"] == pytest.approx(raw)
    assert found.details["moved"] == pytest.approx(found.value - raw)
    truth = [r["truth"] for r in rows]
    true = truth.count("sun") / (truth.count("sun") + truth.count("moon"))
    assert found.interval is not None
    assert found.details["low_here"] < true < found.details["high_here"]
    assert not found.details["low_here"] < raw < found.details["high_here"]
    assert found.instruments["hand_labels"] == "150 labels by 2 raters"


def test_the_corrected_ratio_may_be_stated_and_the_raw_one_may_not(run: Run) -> None:
    raw = of(run, "group_ratio.v1", "sun", "words")
    found = of(run, "group_ratio.v1", "sun", "words", corrected=True)
    share = of(run, "group_share.v1", "sun", "words", corrected=True)
    assert found.value == pytest.approx(share.value / 0.5)
    assert raw.status.detail is not None
    assert found.status.detail is None
    assert found.tests
    assert found.fixed is not None
    said = template_fields(found)["seen_by"]
    assert said == f", words, corrected by hand from {raw.value:.2f}"


def test_a_group_without_a_label_is_not_corrected(run: Run) -> None:
    found = of(run, "group_share.v1", "star", "words", corrected=True)
    assert found.value is None
    most = 100 * (1 - 0.05 ** (1 / found.details["n_labelled"]))
    assert found.undefined == (
        "too few labels for so rare a group: no star is among them, as may be where up to "
        f"{most:.1f} % are"
    )


def test_few_labels_correct_nothing(tmp_path: Path) -> None:
    rows = stories()
    run = audited(tmp_path, rows, labels(drawn(rows, 12), raters=("ann",)))
    found = of(run, "group_share.v1", "sun", "words", corrected=True)
    assert found.undefined is not None
    assert found.undefined.startswith("12 texts are labelled by hand here")
    assert "one rater" in found.instruments["hand_labels"]


def test_labels_that_were_picked_are_said_to_be(tmp_path: Path) -> None:
    rows = stories()
    picked = [row for row in rows if row["text"].startswith("A sunny")][:80]
    run = audited(tmp_path, rows, labels(picked))
    found = of(run, "group_share.v1", "sun", "words", corrected=True)
    assert "these were not drawn at random" in found.instruments["hand_labels"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"text_id": "t9999"}, "this run has no text 't9999'"),
        ({"label": "comet", "text_id": "t45"}, "no group of faith is called 'comet'"),
        ({"label": "comet", "rater": "bo"}, "no group of faith is called 'comet'"),
        ({"field": "caste"}, "the field 'caste' is of nothing measured here"),
        ({"label": "moon", "text_id": "t1"}, "says 'moon' of 't1' here and 'sun' above"),
    ],
)
def test_what_cannot_be_used_is_refused_in_one_line(
    tmp_path: Path, change: dict[str, str], message: str
) -> None:
    rows = stories(60)
    given = [{**each, "label": "sun"} for each in labels(rows[:30], raters=("ann",))]
    with pytest.raises(DataError, match=message) as error:
        audited(tmp_path, rows, [*given, {**given[1], **change}])
    assert "\n" not in str(error.value)
