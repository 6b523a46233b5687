"""`portrayal build`, from biographies to a split, as a user types it."""

import csv
import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from e2e.conftest import Portrayal
from portrayal.collect.sources import open_source
from servers.openai_server import OpenAIServer
from servers.rewriter import body
from support import needs

needs("openai")


def _paraphrased(_: str, asked: dict[str, Any], kind: str) -> dict[str, Any] | None:
    if kind != "ok":
        return None
    sentence = asked["messages"][-1]["content"].rpartition("The sentence is: '")[2].rstrip("'")
    if "number 7" in sentence:
        return body("Sorry, no JSON.")
    return body(json.dumps({"agentic": f"Driven: {sentence}", "communal": f"Kindly: {sentence}"}))


@pytest.fixture
def biographies(tmp_path: Path) -> Path:
    path = tmp_path / "bios.jsonl"
    rows = [
        {"text": f"A was born. A grew up. A wrote book number {i}. A won prize {i}. A lives on."}
        for i in range(12)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def _by_opening(text: str) -> str:
    return "agentic" if text.startswith("Driven") else "communal"


def _fill(path: Path, label_of: Callable[[str], str] = _by_opening) -> None:
    with path.open(encoding="utf-8-sig", newline="") as stream:
        rows = list(csv.DictReader(stream))
    for row in rows:
        row["label"] = label_of(row["text"])
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def test_every_step_follows_the_one_before(
    inside: Portrayal, biographies: Path, tmp_path: Path
) -> None:
    step = ("--out", "data", "--format", "json")
    made = inside("build", "sentences", "--texts", biographies, *step).json()
    assert (made["texts"], made["sentences"]) == (12, 24)
    with OpenAIServer(render=_paraphrased, faults={"server_error": 0.1}) as server:
        asked = ("--model", "server:m", "--base-url", server.base_url)
        made = inside("build", "paraphrases", *asked, *step).json()
        n_asked = server.answered.total()
        assert inside("build", "paraphrases", *asked, *step).json() == made
        assert server.answered.total() == n_asked == 24
    assert made["sentences"] == {"malformed": 1, "ok": 23}
    assert inside("build", "sheets", *step).json()["rows"] == 46
    sheets = [tmp_path / "data" / "sheets" / f"{i}.csv" for i in (1, 2)]
    for sheet in sheets:
        _fill(sheet)
    made = inside("build", "labels", *sheets, *step, "--draws", "50").json()
    assert made["counts"] == {"kept": 46}
    assert made["kappa_kept"]["value"] == 1.0
    done = inside("build", "split", "--out", "data", "--together").ok()
    assert "next: portrayal build classifier --hand-labels data/split/train.jsonl" in done.out
    assert done.out.rstrip().endswith("--out mine")
    card = (tmp_path / "data" / "split" / "data-card.md").read_text(encoding="utf-8")
    for words in ("malformed 1", "Kappa", "server:m", "texts: 12", "more than one part: 0."):
        assert words.casefold() in card.casefold()
    train = (tmp_path / "data" / "split" / "train.jsonl").read_text(encoding="utf-8").splitlines()
    assert {"text", "label"} <= json.loads(train[0]).keys()


def test_a_step_alone_on_sentences_of_ones_own(inside: Portrayal, tmp_path: Path) -> None:
    (tmp_path / "own.csv").write_text("said\nShe led.\nHe helped.\n", encoding="utf-8")
    with OpenAIServer(render=_paraphrased) as server:
        asked = ("--model", "server:m", "--base-url", server.base_url)
        options = ("--column", "sentence=said", "--out", "d", *asked)
        done = inside("build", "paraphrases", "--texts", "own.csv", *options).ok()
    assert "sentences: ok 2" in done.out
    rows = (tmp_path / "d" / "paraphrases.csv").read_text(encoding="utf-8")
    assert rows.count("She led.") == 4


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("sentences", "--texts", "none.csv"), "no such file"),
        (("paraphrases",), "--model"),
        (("sheets",), "no such file"),
        (("labels", "one.csv"), "no such file"),
    ],
)
def test_what_cannot_be_done_is_told_in_one_line(
    arguments: tuple[str, ...], words: str, inside: Portrayal
) -> None:
    inside("build", *arguments).refused(words)


AGENTIC, COMMUNAL, TURNED = 1_914, 1_810, 52
"""Table 9: labels of LAC. The third: entries that both raters label against their target."""
SPLIT = {"train": 2_979, "validation": 372, "test": 373}
ODD, DOUBTED, TIED = 38, 209, 12
"""Removed entries of either target; kept ones on which one rater differs, and on which all do."""


def _entries(lac: list[Path]) -> tuple[list[str], list[str], dict[str, tuple[str, str, str]]]:
    """Both lists of paraphrases, and what the raters and a third one say of each.

    LAC's sentences where its files are here, the others written for this test.
    """
    rows = [row for path in lac for row in open_source(path).rows()]
    by_label = {"1": dict[str, None](), "0": dict[str, None]()}
    for row in rows:
        by_label[str(row["label"])][" ".join(row["text"].split())] = None
    agentic, communal = map(list, by_label.values())
    agentic += [f"[Name] won prize number {i}." for i in range(AGENTIC - len(agentic))]
    communal += [f"[Name] helped at stall number {i}." for i in range(COMMUNAL - len(communal))]
    said = dict.fromkeys(agentic, ("agentic",) * 3) | dict.fromkeys(communal, ("communal",) * 3)
    for i, text in enumerate(agentic[TURNED:][:DOUBTED]):
        said[text] = ("agentic", ("communal", "neutral")[i % 2], "")
    for text in communal[:TIED]:
        said[text] = ("agentic", "neutral", "communal")
    odd = [f"It was the year {1900 + i}." for i in range(2 * ODD)]
    kinds = [("na", "neutral", ""), ("neutral", "neutral", ""), ("communal", "neutral", "neutral")]
    # Of agentic targets, as the third kind is a tie there
    said |= {text: kinds[i % 3 if i < ODD else i % 2] for i, text in enumerate(odd)}
    first = agentic[TURNED:] + odd[:ODD]
    return first, communal + agentic[:TURNED] + odd[ODD:], said


def _fleiss(ballots: Sequence[Sequence[str]]) -> float:
    """Fleiss' kappa by its definition."""
    n, k, of_all = len(ballots), len(ballots[0]), Counter[str]()
    agree = 0.0
    for ballot in ballots:
        counts = Counter(ballot)
        of_all += counts
        agree += sum(c * (c - 1) for c in counts.values()) / (k * (k - 1)) / n
    chance = sum((c / (n * k)) ** 2 for c in of_all.values())
    return (agree - chance) / (1.0 - chance)


def test_lac_is_built_as_it_was_published(
    inside: Portrayal, shared_data: Callable[[str], Path], tmp_path: Path
) -> None:
    first, second, said = _entries([shared_data(f"lac/{n}.csv") for n in ("train", "validation")])
    n_texts, inner = len(first) // 20, 20
    with (tmp_path / "bios.csv").open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["biography"])
        for i in range(n_texts):
            numbered = " ".join(f"She is person {i * inner + k} here." for k in range(inner))
            writer.writerow([f"Ann was born. Ann grew up. {numbered} Ann lives on."])

    def render(_: str, asked: dict[str, Any], kind: str) -> dict[str, Any] | None:
        number = re.search(r"is person (\d+) here", asked["messages"][-1]["content"])
        if kind != "ok" or number is None:
            return None
        pair = {"agentic": first[int(number[1])], "communal": second[int(number[1])]}
        return body(f"Here it is:\n```json\n{json.dumps(pair)}\n```")

    step = ("--out", "data", "--format", "json")
    made = inside("build", "sentences", "--texts", "bios.csv", *step).json()
    assert (made["texts"], made["sentences"]) == (n_texts, len(first))
    with OpenAIServer(render=render, faults={"rate_limit": 0.01, "cut_json": 0.01}) as server:
        asked = ("--model", "server:m", "--base-url", server.base_url)
        made = inside("build", "paraphrases", *asked, *step).json()
        assert made["sentences"] == {"ok": len(first)}
    n_rows = inside("build", "sheets", "--raters", "2", *step).json()["rows"]
    assert n_rows == AGENTIC + COMMUNAL + 2 * ODD
    sheets = [tmp_path / "data" / "sheets" / f"{i}.csv" for i in (1, 2)]
    for rater, sheet in enumerate(sheets):
        _fill(sheet, lambda text, rater=rater: said[text][rater])  # type: ignore[misc]
    inside("build", "labels", *sheets, *step, "--draws", "20").ok()
    third = tmp_path / "data" / "undecided" / "third.csv"
    _fill(third, lambda text: said[text][2])
    made = inside("build", "labels", *sheets, "--third", third, *step, "--draws", "20").json()
    assert made["counts"]["kept"] == AGENTIC + COMMUNAL
    entries = [*((text, "agentic") for text in first), *((text, "communal") for text in second)]
    kept = [(target, *said[text][:2]) for text, target in entries if not text.startswith("It was")]
    # Appendix B.5
    assert made["kappa_kept"]["value"] == pytest.approx(_fleiss(kept), abs=1e-12)
    assert round(made["kappa_kept"]["value"], 2) == 0.90
    assert made["kappa_all"]["value"] < made["kappa_kept"]["value"]
    made = inside("build", "split", *step).json()
    assert {part: made[part]["entries"] for part in SPLIT} == SPLIT
    assert sum(made[part]["agentic"] for part in SPLIT) == AGENTIC
    files = {part: tmp_path / "data" / "split" / f"{part}.jsonl" for part in SPLIT}
    labelled = ("--hand-labels", files["train"], "--validation", files["validation"])
    inside("build", "classifier", *labelled, "--out", "mine").ok()
    test = ("--hand-labels", files["test"], "--classifier", "mine", "--format", "json")
    masked, _ = inside("score", "agency", *test).json()["scores"]
    # The paper's BERT has .917 on its test, what ships .874
    assert masked["accuracy"]["value"] > 0.8
