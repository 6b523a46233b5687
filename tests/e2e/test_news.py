"""`portrayal audit news` as a user types it: the sample, own files, a model, and mistakes."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from e2e.conftest import PAGED, QUICK, Portrayal, only, write_lines
from portrayal.run import Run

WORDS = ("audit", "news", "--levels", "word", *QUICK)
HUMAN = [
    {"headline": f"News {i}", "body": "He met her. His mother and her son left.", "section": "law"}
    for i in range(6)
]
OURS = [
    {"headline": f"News {i}", "body": "He met him. His mother left.", "model": "m", "style": style}
    for i in range(6)
    for style in ("plain", "angry")
]


@pytest.fixture
def files(tmp_path: Path) -> tuple[object, ...]:
    write_lines(tmp_path / "human.jsonl", HUMAN)
    write_lines(tmp_path / "ours.jsonl", OURS)
    return ("--reference", "human.jsonl", "--texts", "ours.jsonl", "--pair-by", "headline")


def test_the_sample_from_audit_to_report(inside: Portrayal, tmp_path: Path) -> None:
    done = inside(*WORDS, *PAGED, "--sample", "--workers", 1).ok()
    assert "reference: 12 texts" in done.out
    assert "left out: document level: not asked for" in done.out
    page = (tmp_path / "runs" / "news" / "report.html").read_text(encoding="utf-8")
    assert page.rstrip().endswith("</html>")
    rows = inside(
        "list", "estimates", "runs/news", "--measure", "refusals", "--format", "json"
    ).json()
    assert {row["strata"]["model"] for row in rows["estimates"]} == {"sample"}
    assert only(rows["estimates"], form="biased")["tests"]


def test_own_files_with_their_own_columns(
    inside: Portrayal, tmp_path: Path, files: tuple[object, ...]
) -> None:
    columns = ("--column", "text=body", "--column", "form=style", "--reference-column", "text=body")
    inside(*WORDS, *files, *columns, "--out", "r", "--set", "base_form=plain", "--workers", 1).ok()
    rows = inside(
        "list", "estimates", "r", "--measure", "paired_distance", "--format", "json"
    ).json()["estimates"]
    plain = only(rows, form="plain", attribute="gender")
    assert plain["value"] == pytest.approx(abs(1 / 4 - 3 / 6))
    assert plain["n_clusters"] == 6
    effects = inside(
        "list", "estimates", "r", "--measure", "prompt_effect", "--format", "json"
    ).json()["estimates"]
    assert {row["strata"]["contrast"] for row in effects} == {"angry minus plain"}


def test_a_model_is_asked_for_each_headline(
    inside: Portrayal, serve: object, tmp_path: Path, files: tuple[object, ...]
) -> None:
    server = serve()  # type: ignore[operator]
    asked = ("--model", "server:tiny", "--base-url", server.base_url, "--yes")
    reference = (*files[:2], *files[4:], "--reference-column", "text=body")
    inside(*WORDS, *reference, *asked, "--out", "r", "--workers", 1).ok()
    run = Run.open(tmp_path / "r")
    assert run.texts.note()["n_texts"] == 6
    asked_about = pq.read_table(run.prompts_path)["text"].to_pylist()
    assert all(any(f"News {i}" in text for text in asked_about) for i in range(6))


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--texts", "ours.jsonl"), ("give them as reference",)),
        (("--reference", "none.jsonl", "--texts", "ours.jsonl"), ("none.jsonl",)),
        (("--sample", "--texts", "ours.jsonl"), ("--sample",)),
        (("--sample", "--levels", "paragraph"), ("levels", "paragraph")),
        (("--sample", "--lexicons", "nobody-2020"), ("nobody-2020", "liang-2022")),
        (("--sample", "--sentiment", "mood"), ("mood", "textblob")),
        (("--sample", "--people", "none.csv"), ("none.csv",)),
        (("--sample", "--set", "base_form=rude"), ("rude",)),
        (("--sample", "--topics", "0"), ("topics",)),
    ],
)
def test_mistakes(
    inside: Portrayal, files: tuple[object, ...], more: tuple[str, ...], words: tuple[str, ...]
) -> None:
    inside("audit", "news", *QUICK, *more, "--workers", 1).refused(*words)


def test_no_pair_at_all_is_said_with_what_the_keys_look_like(
    inside: Portrayal, tmp_path: Path
) -> None:
    write_lines(tmp_path / "human.jsonl", [{"headline": "A", "text": "He left."}])
    write_lines(tmp_path / "ours.jsonl", [{"headline": "B", "text": "She left.", "model": "m"}])
    files = ("--reference", "human.jsonl", "--texts", "ours.jsonl", "--pair-by", "headline")
    done = inside(*WORDS, *files, "--out", "r", "--workers", 1)
    done.refused("no text names an original", "'B'", "'A'", "--pair-by")
