"""A small paired run about two subjects, annotated and with topics."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from portrayal.annotate import annotate_run
from portrayal.annotate.group_words import group_word_settings
from portrayal.annotate.topics.fit import TopicSettings, fit_topics
from portrayal.collect import import_texts
from portrayal.collect.fields import TextFields
from portrayal.measure.pairs.table import Paired, pair_texts
from portrayal.run import Run

FIELDS = TextFields(strata=("pair", "form"), required=("pair",))
ART = ["paint", "gallery", "canvas", "museum", "sculpture", "brush", "exhibit", "color"]
BALL = ["goal", "team", "match", "coach", "league", "stadium", "score", "season"]


def silent(_: str) -> None:
    """Say nothing."""


def text(rng: np.random.Generator, art: float, sentences: int) -> str:
    """Sentences about art mention women, those about ball games men."""
    made = []
    for _ in range(sentences):
        about_art = rng.random() < art
        words = rng.choice(ART if about_art else BALL, 7)
        who = ("She" if about_art else "He") if rng.random() < 0.6 else "It"
        made.append(f"{who} {' '.join(words)}.")
    return " ".join(made)


def news(pairs: int, seed: int = 0) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Originals half about art, and generated texts, two of each pair, mostly about ball games."""
    rng = np.random.default_rng(seed)
    human = [{"pair": f"p{i}", "text": text(rng, 0.5, 12), "model": "people"} for i in range(pairs)]
    made = [
        {"pair": f"p{i}", "model": name, "text": text(rng, art, 8), "form": "plain"}
        for i in range(pairs)
        for name, art in (("a", 0.2), ("b", 0.5))
    ]
    return human, made


def paired_run(
    path: Path,
    human: Sequence[dict[str, Any]],
    made: Sequence[dict[str, Any]],
    *,
    shard_rows: int = 1000,
    workers: int = 1,
) -> Run:
    """Import both sides and count their group words."""
    run = Run(path)
    run.path.mkdir(parents=True, exist_ok=True)
    import_texts(run, human, FIELDS, (), reference=True, shard_rows=shard_rows)
    import_texts(run, made, FIELDS, (), shard_rows=shard_rows)
    settings = group_word_settings(["liang-2022"])
    for reference in (False, True):
        annotate_run(run, "group_words.v2", settings=settings, reference=reference, workers=workers)
    return run


def topic_run(path: Path, pairs: int = 40, **settings: Any) -> tuple[Run, Paired, TopicSettings]:
    """Return a run with fitted topics, its paired table and the settings."""
    run = paired_run(path, *news(pairs))
    chosen = TopicSettings(**({"topics": (2,)} | settings))
    fit_topics(run, chosen, silent)
    return run, pair_texts(run, sentiment=False), chosen
