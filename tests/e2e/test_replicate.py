"""A model of one's own, asked or audited before, beside the models of the papers."""

import json
from pathlib import Path
from typing import Any

import pytest

from e2e.conftest import QUICK, Portrayal, Serve
from portrayal import registry

PLACES = {"laissez-faire": "S13a", "news": "Table 3", "agency": "Table 1"}
"""A table of each paper that a few answers of a model fill."""


def _answers(study: str) -> list[str]:
    """The texts of the study's own sample, for a server to answer with."""
    with (registry.folder("studies", study) / "sample.jsonl").open(encoding="utf-8") as stream:
        return [text for line in stream if (text := json.loads(line)["text"])]


@pytest.mark.parametrize("study", [*PLACES])
def test_a_model_is_asked_and_stands_beside_the_published_ones(
    study: str, ask: Portrayal, serve: Serve, tmp_path: Path
) -> None:
    texts = _answers(study)
    server = serve(write=lambda prompt, n: texts[(len(prompt) + n) % len(texts)])
    originals: tuple[Any, ...] = ()
    if study == "news":
        originals = "--reference", registry.folder("studies", "news") / "sample_originals.jsonl"
    asked = ("replicate", study, "--model", "server:mine", "--base-url", server.base_url)
    command = (*asked, *originals, *QUICK, "--workers", "1", "--format", "json")
    figures = ask(*command, "--out", "r").json()["figures"]
    assert {figure["writer"] for figure in figures} == {"server:mine"}
    placed = [f for f in figures if f["place"] == PLACES[study] and f["ours"] is not None]
    # One figure of ours beside those of the models of the paper
    assert len({figure["model"] for figure in placed}) > 1
    assert len({(figure["who"], figure["domain"], figure["ours"]) for figure in placed}) <= len(
        {(figure["who"], figure["domain"]) for figure in placed}
    )
    n = server.requests
    # The run is an audit like any other: it is continued, and read again by its directory
    assert ask(*command, "--out", "r").json()["figures"] == figures
    assert ask("replicate", study, "--texts", "r", "--format", "json").json()["figures"] == figures
    assert server.requests == n > 0
    done = ask("replicate", study, "--texts", "r").ok()
    assert "server:mine: " in done.out
    other = "agency" if study != "agency" else "news"
    ask("replicate", other, "--texts", "r").refused(f"is a run of {study}; give one of {other}")


def test_what_cannot_stand_together_is_refused_before_a_model_is_asked(
    ask: Portrayal, serve: Serve, tmp_path: Path
) -> None:
    server = serve()
    model = ("--model", "server:mine", "--base-url", server.base_url)
    ask("replicate", "pairs", *model).refused("pairs has no published tables")
    ask("replicate", "agency", "--texts", "a.csv", *model).refused("give one of --data")
    ask("replicate", "agency", "--data", ".", *model).refused("give one of --data")
    ask("replicate", "agency", "--samples", "5").refused("need --data, --texts or --model")
    assert server.requests == 0


def test_a_few_texts_stand_beside_what_they_can_say(inside: Portrayal, tmp_path: Path) -> None:
    story = {"prompt_id": "labor-neutral-doctor", "text": "She went home early.", "model": "mine"}
    (tmp_path / "a.jsonl").write_text(json.dumps(story) + "\n", encoding="utf-8")
    done = inside("replicate", "laissez-faire", "--texts", "a.jsonl", "--format", "json", *QUICK)
    figures = done.json()["figures"]
    assert {f["verdict"] for f in figures} == {"no interval", "not computable"}
    assert all(f["lacking"] for f in figures)
