"""`portrayal build`, from biographies to a split, as a user types it."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from e2e.conftest import Portrayal
from servers.openai_server import OpenAIServer
from servers.rewriter import body


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


def _fill(path: Path) -> None:
    with path.open(encoding="utf-8-sig", newline="") as stream:
        rows = list(csv.DictReader(stream))
    for row in rows:
        row["label"] = "agentic" if row["text"].startswith("Driven") else "communal"
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
