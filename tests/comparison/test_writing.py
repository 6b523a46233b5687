"""Whether texts are written alike: a model that is exchanged, and rounds that are not."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from portrayal.comparison import Writing, watch
from portrayal.comparison.writing import writing_of
from portrayal.run import Run
from support import matrix

from .rounds import audit

WORDS = [f"word{i}" for i in range(60)]
PROMPTS = [f"prompt-{i}" for i in range(10)]


def round_of(folder: Path, rows: list[dict[str, str]]) -> Run:
    run = Run(folder)
    run.texts.folder.mkdir(parents=True)
    pq.write_table(pa.Table.from_pylist(rows), run.texts.folder / "part-00000.parquet")
    return run


def texts(rng: np.random.Generator, length: float, wobble: float) -> list[dict[str, str]]:
    """Eight texts of each prompt, of words with the frequencies of a language."""
    share = 1.0 / np.arange(1, len(WORDS) + 1)
    rows = []
    mean = length * np.exp(rng.normal(0, wobble))
    for prompt in PROMPTS:
        for n in rng.poisson(mean * rng.gamma(20, 1 / 20, size=8)):
            words = rng.choice(WORDS, n, p=share / share.sum())
            rows.append({"prompt_id": prompt, "text": " ".join(words)})
    return rows


@pytest.mark.parametrize("wobble", matrix([0.03, 0.0]))
def test_rounds_of_one_writer_are_alike(tmp_path, wobble):
    rng, alarms = np.random.default_rng(0), 0
    for world in range(5):
        made = [round_of(tmp_path / f"{world}/{t}", texts(rng, 50, wobble)) for t in range(12)]
        alarms += writing_of(made, PROMPTS, 0.05).alarm is not None
    assert alarms == 0


def test_longer_texts_are_seen_with_their_round(tmp_path):
    rng = np.random.default_rng(1)
    made = [round_of(tmp_path / str(t), texts(rng, 50 if t < 4 else 75, 0.0)) for t in range(6)]
    found = writing_of(made, PROMPTS, 0.05)
    assert found.start == 5
    assert found.alarm in (5, 6)
    name, before, since = found.moved[0]
    assert name == "words per text"
    assert before == pytest.approx(50, abs=3)
    assert since == pytest.approx(75, abs=4)
    assert found.p < 0.05


def test_what_cannot_be_asked_is_said(tmp_path):
    rows = texts(np.random.default_rng(2), 20, 0.0)
    one = round_of(tmp_path / "1", rows)
    assert writing_of([one], PROMPTS, 0.05) == Writing(undefined="a change takes two rounds")
    few = round_of(tmp_path / "2", [row for row in rows if row["prompt_id"] < "prompt-3"])
    assert writing_of([one, few], PROMPTS, 0.05).undefined == "3 prompts have texts in every round"


def test_a_model_that_is_exchanged_at_round_4_is_seen_by_round_5(shared_data, tmp_path):
    """Three answers of each round to 47 prompts; before the exchange nothing is seen."""
    answers: dict[tuple[str, str], list[str]] = {}
    path = shared_data("laissez_faire/gold_stories_dev.jsonl")
    for line in path.read_text("utf-8").splitlines():
        row = json.loads(line)
        answers.setdefault((row["model"], row["prompt"]), []).append(row["text"] or "")
    prompts = sorted({prompt for _, prompt in answers})
    for t in range(5):
        part = t % 3 * 3
        rows = [
            {"prompt": prompt, "text": text, "model": "writer"}
            for prompt in prompts
            for text in answers["ChatGPT4" if t < 3 else "Llama2(7B)", prompt][part : part + 3]
        ]
        audit(tmp_path / "rounds" / f"2026-0{t + 1}-01", rows)
        if t == 2:
            before = watch(tmp_path / "rounds")
            assert not before.has_changed
            assert "would have been seen by now" in before.said[-1]
    found = watch(tmp_path / "rounds")
    assert found.writing.start == 4
    assert found.writing.alarm in (4, 5)
    assert "words per text" in [name for name, _, _ in found.writing.moved]
    assert "Texts are written otherwise from round 4" in found.said[0]
