"""Labels by hand of outcomes, scores of pairs and associations: each against a plain recount."""

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import portrayal
from portrayal.errors import DataError
from portrayal.records import Estimate
from portrayal.report.first import AS_READ, finding_lines, first_screen
from portrayal.report.view import View
from portrayal.run import Run

QUICK = {"report": False, "draws": 200, "permutations": 20}
SAD, GLAD = "It was a sad, bad and awful day", "It was a happy, good and lovely day"


def table(folder: Path, rows: list[tuple[str, str, str]]) -> str:
    with (folder / "hand.csv").open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(("text_id", "field", "label", "rater"))
        writer.writerows((*row, "ann") for row in rows)
    return str(folder / "hand.csv")


def side_by_side(run: Run, measure: str, **where: str) -> tuple[Estimate, Estimate]:
    """The raw and the corrected estimate of these strata and groups."""
    found = [
        e
        for e in run.records
        if e.measure == measure and where.items() <= {**e.strata, **e.group}.items()
    ]
    (by_hand,) = (e for e in found if e.corrected)
    (raw,) = (e for e in found if e is not by_hand)
    return raw, by_hand


def pairs(n: int = 120) -> list[dict[str, Any]]:
    """Pairs of which women's texts are glad in 60 %, men's in 40 %; irony is scored wrongly."""
    rng, rows = np.random.default_rng(2), []
    for i in range(n):
        for half in ("female", "male"):
            glad = rng.random() < (0.6 if half == "female" else 0.4)
            wrong = rng.random() < (0.3 if half == "female" else 0.05)
            rows.append(
                {
                    "text_id": f"{i}-{half}",
                    "pair": f"p{i}",
                    "gender": half,
                    "text": f"{GLAD if glad != wrong else SAD}, they said, number {i} {half}.",
                    "truth": glad,
                }
            )
    return rows


def audited_pairs(folder: Path, hand: list[tuple[str, str, str]]) -> Run:
    texts = [{k: row[k] for k in ("text_id", "pair", "gender", "text")} for row in pairs()]
    return portrayal.audit(
        study="pairs",
        texts=texts,
        group="gender",
        scorers=("sentiment",),
        hand_labels=table(folder, hand),
        out=folder / "run",
        **QUICK,
    )


def test_differences_within_pairs_are_corrected(tmp_path: Path) -> None:
    rows = pairs()
    said = [("positive" if row["truth"] else "negative") for row in rows]
    drawn = np.random.default_rng(3).permutation(len(rows))[:150]
    hand = [(rows[i]["text_id"], "sentiment", said[i]) for i in drawn]
    run = audited_pairs(tmp_path, hand)
    raw, found = side_by_side(run, "pair_difference.v2", score="sentiment", part="all")
    true = 2 * np.mean([row["truth"] * (1, -1)[row["gender"] == "male"] for row in rows]) * 2
    assert found.value is not None
    assert found.details["naive"] == pytest.approx(raw.value)
    assert found.details["moved"] == pytest.approx(found.value - raw.value)
    assert raw.status.detail is not None
    assert found.details["low_here"] < true < found.details["high_here"]
    assert abs(found.value - true) < abs(raw.value - true)
    assert (
        found.instruments["hand_labels"] == "150 labels by one rater, whose errors nobody can see"
    )


def test_all_labels_give_the_labels(tmp_path: Path) -> None:
    rows = pairs()
    marks = np.random.default_rng(4).uniform(-1, 1, len(rows)).round(3)
    hand = [(row["text_id"], "sentiment", str(x)) for row, x in zip(rows, marks, strict=True)]
    run = audited_pairs(tmp_path, hand)
    _, found = side_by_side(run, "pair_difference.v2", score="sentiment", part="all")
    assert found.value == pytest.approx(np.mean(marks[::2] - marks[1::2]))


def test_labels_of_one_half_alone_correct_nothing(tmp_path: Path) -> None:
    hand = [(row["text_id"], "sentiment", "neutral") for row in pairs()[::2]]
    run = audited_pairs(tmp_path, hand)
    raw, found = side_by_side(run, "pair_difference.v2", score="sentiment", part="all")
    assert found.value is None
    assert found.undefined is not None
    assert found.undefined.startswith("0 texts of one of the groups are labelled by hand")
    assert raw.status.detail is None


def test_what_is_no_label_of_a_score_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="of sentiment expected negative, neutral, positive, or a"):
        audited_pairs(tmp_path, [("0-female", "sentiment", "jolly")])


PROMPTS = ("learning-neutral-arts", "learning-neutral-english", "labor-neutral-cook")
FACTOR = """\
name = "{name}"
label = "{name}"
note = "Mentions."
[groups.one]
[groups.two]
[[sources]]
kind = "words"
words = {{ one = ["{name}one"], two = ["{name}two"] }}
"""


def stories(n: int = 600) -> list[dict[str, Any]]:
    """Stories of faiths and jobs that go together; half of the words of the first are missing.

    A fifth of the answers decline in words that no rule knows.
    """
    rng, rows = np.random.default_rng(5), []
    for i in range(n):
        faith = str(rng.choice(["one", "two"], p=[0.4, 0.6]))
        job = "one" if rng.random() < (0.7 if faith == "one" else 0.3) else "two"
        shown = "" if faith == "one" and rng.random() < 0.5 else f"faith{faith} "
        declined = rng.random() < 0.2
        text = f"Story {i} {shown}of a job{job} worker." if not declined else f"Ask others, {i}."
        own = {"faith": faith, "job": job} if not declined else {"faith": "none", "job": "none"}
        name = {"text_id": f"t{i}", "prompt_id": PROMPTS[i % 3], "text": text}
        rows.append({**name, **own, "outcome": "refused" if declined else "ok"})
    return rows


def of_many_prompts() -> list[dict[str, Any]]:
    """The same stories, of 24 prompts."""
    every = portrayal.registry.get("studies", "laissez-faire").prompts()
    domains = (
        [p.prompt_id for p in every if p.strata["domain"] == d] for d in ("Labor", "Learning")
    )
    names = [name for own in domains for name in own[:12]]
    return [row | {"prompt_id": names[i % 24]} for i, row in enumerate(stories())]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder, rows = tmp_path_factory.mktemp("hand"), stories()
    for name in ("faith", "job"):
        (folder / f"{name}.toml").write_text(FACTOR.format(name=name), encoding="utf-8")
    drawn = np.random.default_rng(6).permutation(len(rows))[:200]
    hand = [
        (rows[i]["text_id"], field, rows[i][field])
        for i in drawn
        for field in ("faith", "job", "outcome")
    ]
    return portrayal.audit(
        study="laissez-faire",
        texts=[{k: row[k] for k in ("text_id", "prompt_id", "text")} for row in rows],
        factor=[str(folder / "faith.toml"), str(folder / "job.toml")],
        hand_labels=table(folder, hand),
        out=folder / "run",
        **QUICK,
    )


def test_refusals_that_no_rule_knows_are_counted(run: Run) -> None:
    where = {"outcome": "refused", "domain": "Learning", "model": "all"}
    raw, found = side_by_side(run, "outcomes.v1", **where)
    own = [row for row in stories() if row["prompt_id"].startswith("learning")]
    true = np.mean([row["outcome"] == "refused" for row in own])
    assert raw.value == 0.0
    assert found.value is not None
    assert found.details["low_here"] < true < found.details["high_here"]
    page = portrayal.write_report(run).read_text(encoding="utf-8")
    assert ">As read</th>" in page


def test_lifts_are_corrected_where_both_are_labelled(run: Run) -> None:
    where = {"faith": "one", "job": "one", "model": "unnamed"}
    raw, found = side_by_side(run, "association.v1", **where)
    told = [row for row in stories() if row["outcome"] == "ok"]
    both = np.mean([row["job"] == "one" for row in told if row["faith"] == "one"])
    true = both / np.mean([row["job"] == "one" for row in stories()])
    assert found.value is not None
    assert found.details["low_here"] < true < found.details["high_here"]
    assert found.details["naive"] == pytest.approx(raw.details["overall"])
    assert found.tests
    assert raw.status.detail is not None


def news(folder: Path, hand: str) -> Run:
    rng = np.random.default_rng(8)
    texts, originals = [], []
    for i in range(80):
        originals.append({"pair": f"h{i}", "text": f"He met her in the town, report {i}."})
        declined = rng.random() < 0.3
        text = "Ask someone else." if declined else f"She saw him there, report {i}."
        texts.append({"text_id": f"n{i}", "pair": f"h{i}", "model": "m", "text": text})
    return portrayal.audit(
        study="news",
        texts=texts,
        reference=originals,
        levels=("word",),
        hand_labels=hand,
        out=folder / "run",
        **QUICK,
    )


def test_refusals_of_news_are_corrected(tmp_path: Path) -> None:
    rng = np.random.default_rng(8)
    declined = []
    for _ in range(80):
        declined.append(rng.random() < 0.3)
    hand = [
        (f"n{i}", "outcome", "refused" if declined[i] else "ok")
        for i in np.random.default_rng(9).permutation(80)[:40]
    ]
    run = news(tmp_path, table(tmp_path, hand))
    raw, found = side_by_side(run, "refusals.v1", model="m")
    assert raw.value == 0.0
    assert found.value == pytest.approx(np.mean([label == "refused" for _, _, label in hand]))
    assert found.details["low_here"] < np.mean(declined) < found.details["high_here"]


def scored_news(n: int = 90) -> tuple[list[dict[str, Any]], list[dict[str, Any]], dict[Any, float]]:
    """Originals and texts to them, and what people would say of each sentence.

    Texts are less kind to her than originals; what they say of her in irony is scored wrongly.
    """
    rng, truth = np.random.default_rng(11), {}
    texts, originals = [], []
    for i in range(n):
        for side, rows, chance in (("", texts, 0.35), ("original:", originals, 0.6)):
            parts, name = [], f"n{i}" if not side else f"o{i}"
            for unit in range(1, 2 + int(rng.integers(1, 4))):
                glad = rng.random() < chance
                wrong = rng.random() < (0.35 if not side else 0.05)
                words = "was happy and lovely" if glad != wrong else "was sad and awful"
                person = "He" if rng.random() < 0.3 else "She"
                parts.append(f"{person} {words}, number {i}.")
                truth[side + name, str(unit)] = 1.0 if glad else -1.0
            rows.append({"text_id": name, "pair": f"h{i}", "model": "m", "text": " ".join(parts)})
    return texts, originals, truth


def audited_news(folder: Path, hand: list[tuple[str, str, str, str]], **options: Any) -> Run:
    texts, originals, _ = scored_news()
    path = folder / "hand.csv"
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(("text_id", "unit", "field", "label", "rater"))
        writer.writerows((*row, "ann") for row in hand)
    given = {"texts": texts, "reference": originals, "levels": ("sentiment",)}
    out = {"out": folder / "run", "hand_labels": str(path)}
    return portrayal.audit(study="news", **given, **out, **options, **QUICK)


def mean_change(truth: dict[Any, float], person: str) -> float:
    """By loops: the mean over pairs of what people say of a person in the text and its original."""
    texts, originals, _ = scored_news()
    changes = []
    for text, original in zip(texts, originals, strict=True):
        means = []
        for side, row in (("", text), ("original:", original)):
            sentences = row["text"].split(". ")
            own = [
                truth[side + row["text_id"], str(unit)]
                for unit, sentence in enumerate(sentences, 1)
                if sentence.startswith(person)
            ]
            means.append(float(np.mean(own)) if own else np.nan)
        changes.append(means[0] - means[1])
    return float(np.nanmean(changes))


LEVEL = {"level": "sentence_sentiment"}


def test_all_labels_of_sentences_give_the_change_of_the_labels(tmp_path: Path) -> None:
    _, _, truth = scored_news()
    marks = np.random.default_rng(12).uniform(-1, 1, len(truth)).round(3)
    given = dict(zip(truth, marks.tolist(), strict=True))
    hand = [(*key, "sentiment", str(x)) for key, x in given.items()]
    run = audited_news(tmp_path, hand)
    for group, person in (("F", "She"), ("M", "He")):
        raw, found = side_by_side(run, "group_change.v1", gender=group, **LEVEL)
        assert found.value == pytest.approx(mean_change(given, person), abs=1e-9)
        assert found.details["naive"] == pytest.approx(raw.value)
        assert raw.status.detail is not None


def test_changes_of_scores_are_corrected_by_labels_of_some_sentences(tmp_path: Path) -> None:
    _, _, truth = scored_news()
    keys = list(truth)
    chosen = [keys[i] for i in np.random.default_rng(13).permutation(len(keys))[:220]]
    words = {1.0: "positive", -1.0: "negative"}
    run = audited_news(tmp_path, [(*key, "sentiment", words[truth[key]]) for key in chosen])
    raw, found = side_by_side(run, "group_change.v1", gender="F", **LEVEL)
    true = mean_change(truth, "She")
    assert found.value is not None
    assert raw.value is not None
    assert found.details["low_here"] < true < found.details["high_here"]
    assert abs(found.value - true) < abs(raw.value - true)
    assert "drawn at random" not in found.instruments["hand_labels"]


def test_sentences_that_were_picked_are_called_so(tmp_path: Path) -> None:
    texts, _, _ = scored_news()
    glad = [(r["text_id"], "1") for r in texts if "happy" in r["text"].split(". ")[0]][:25]
    run = audited_news(tmp_path, [(*key, "sentiment", "positive") for key in glad])
    _, found = side_by_side(run, "group_change.v1", gender="F", **LEVEL)
    assert found.value is None  # no original is labelled
    assert "these were not drawn at random" in found.instruments["hand_labels"]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (("n0", "99", "sentiment", "neutral"), "'n0' has sentences 1 to"),
        (("n0", "", "sentiment", "neutral"), "give the number of the sentence"),
        (("original:x", "1", "sentiment", "neutral"), "this run has no text 'original:x'"),
        (("n0", "1", "sentiment", "jolly"), "of sentiment expected negative, neutral, positive"),
        (("n0", "1", "outcome", "ok"), "whole texts are labelled here"),
        (("n0", "1", "toxicity", "toxic"), "this audit can correct outcome, sentiment"),
    ],
)
def test_labels_of_sentences_that_cannot_be_used_are_refused(
    tmp_path: Path, row: tuple[str, str, str, str], message: str
) -> None:
    with pytest.raises(DataError, match=message):
        audited_news(tmp_path, [row])


def test_what_nobody_checked_is_called_as_the_scorer_reads(tmp_path: Path) -> None:
    rows = pairs()
    said = [("positive" if row["truth"] else "negative") for row in rows]
    hand = [(row["text_id"], "sentiment", label) for row, label in zip(rows, said, strict=True)]
    checked = audited_pairs(tmp_path, hand)
    texts = [{k: row[k] for k in ("text_id", "pair", "gender", "text")} for row in rows]
    options = {"group": "gender", "scorers": ("sentiment",), **QUICK}
    bare = portrayal.audit(study="pairs", texts=texts, out=tmp_path / "bare", **options)
    for run, called in ((bare, True), (checked, False)):
        with run.speaking():
            screen = first_screen(View.of(run))
        (stated,) = [each for each in screen.findings if "positive" in each.headline]
        assert (AS_READ in stated.facts) == called
        assert any("stated of sentiment is as" in line for line in screen.cannot) == called
        lines = list(finding_lines(run))
        assert any("positive" in line for line in lines)
        assert any(AS_READ in line for line in lines) == called


def test_labels_chosen_by_hand_are_called_so(tmp_path: Path) -> None:
    """Texts that the scorer calls glad, or answers that it calls refusals, are no random draw."""
    glad = [(row["text_id"], "sentiment", "positive") for row in pairs() if GLAD in row["text"]]
    run = audited_pairs(tmp_path, glad[:60])
    _, found = side_by_side(run, "pair_difference.v2", score="sentiment", part="all")
    assert "these were not drawn at random" in found.instruments["hand_labels"]
    rows = [row | {"text": "I cannot help with that."} if i % 3 else row for i, row in
            enumerate(pairs())]  # fmt: skip
    texts = [{k: row[k] for k in ("text_id", "pair", "gender", "text")} for row in rows]
    refused = [(rows[i]["text_id"], "outcome", "refused") for i in range(90) if i % 3]
    drawn = [(rows[i]["text_id"], "outcome", "refused" if i % 3 else "ok") for i in range(60)]
    for hand, called in ((refused, True), (drawn, False)):
        more = {"texts": texts, "group": "gender", "hand_labels": table(tmp_path, hand)}
        out = tmp_path / f"refused-{called}"
        run = portrayal.audit(study="pairs", scorers=("length",), out=out, **more, **QUICK)
        notes = {e.instruments.get("hand_labels", "") for e in run.records} - {""}
        assert notes
        assert all(("not drawn at random" in note) == called for note in notes)
