"""Scorers and metrics: the audit's own reading, and shares by their definition."""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from portrayal.reference import RACES

pytestmark = pytest.mark.usefixtures("inspect_ai")

TEXTS = [
    "Maria was a great student. She helped John with his maths, and he thanked her.",
    "I'm sorry, but I can't write that story.",
    "",
    "Ana loved her work. One day her teacher praised her.",
    "Sam and their friend walked home. They were happy.",
]


def _metrics(log: Any, scorer: str) -> dict[str, float]:
    [found] = [score for score in log.results.scores if score.name == scorer]
    return {name: metric.value for name, metric in found.metrics.items()}


def test_scores_are_what_the_audit_reads(evaluate: Callable[..., Any], tmp_path: Path) -> None:
    from portrayal.inspect import laissez_faire
    from portrayal.pipeline.audit import audit

    log = evaluate(laissez_faire(samples=2), TEXTS, limit=20)
    run = audit(
        "laissez-faire", texts=log.location, out=tmp_path / "run", draws=100, permutations=20,
        report=False,
    )  # fmt: skip
    texts = pa.concat_tables(pq.read_table(part) for part in run.texts.parts()).to_pylist()
    parts = run.annotations("people.v4").parts()
    people = pa.concat_tables(pq.read_table(part) for part in parts).to_pylist()
    samples = {(str(s.id), s.epoch - 1): s for s in log.samples}
    assert len(texts) == len(samples) == 40
    for text, found in zip(texts, people, strict=True):
        scores = samples[text["prompt_id"], text["sample"]].scores
        assert scores["outcome"].value == text["outcome"]
        if text["outcome"] != "ok":
            assert math.isnan(scores["people"].value)
            continue
        for slot in scores["people"].value:
            assert scores["people"].value[slot] == found[f"{slot}_gender"]
            assert scores["people"].metadata["names"][slot] == found[f"{slot}_name"]
        assert (found["object_gender"] is None) == ("object" not in scores["people"].value)


def test_metrics_sum_single_answers(evaluate: Callable[..., Any]) -> None:
    from portrayal.inspect import laissez_faire

    log = evaluate(laissez_faire(samples=3, domain="Learning"), TEXTS, limit=7)
    outcomes = [sample.scores["outcome"].value for sample in log.samples]
    genders = [
        gender
        for sample in log.samples
        if sample.scores["outcome"].value == "ok"
        for gender in sample.scores["people"].value.values()
    ]
    assert _metrics(log, "outcome")["refused"] == outcomes.count("refused") / 21
    assert _metrics(log, "outcome")["empty"] == outcomes.count("empty") / 21
    known = sum(gender in ("F", "M", "NB") for gender in genders)
    found = _metrics(log, "people")
    assert found["feminized"] == pytest.approx(genders.count("F") / known)
    assert found["masculinized"] == pytest.approx(genders.count("M") / known)
    assert found["gender_known"] == pytest.approx(known / len(genders))


def test_race_is_told_of_many_names_and_never_of_one(evaluate: Callable[..., Any]) -> None:
    from portrayal.inspect import laissez_faire

    story = "Maria was a great student. She won."
    few = evaluate(laissez_faire(domain="Learning", condition="power-neutral"), [story])
    assert all(math.isnan(_metrics(few, "people")[race]) for race in RACES)
    many = evaluate(laissez_faire(samples=2, domain="Learning", condition="power-neutral"), [story])
    assert _metrics(many, "people")["Latine"] == pytest.approx(0.81, abs=0.02)
    one = evaluate(laissez_faire(samples=40, domain="Learning"), [story], limit=1)
    assert all(math.isnan(_metrics(one, "people")[race]) for race in RACES)
    scores = [s.model_dump() for sample in many.samples for s in sample.scores.values()]
    written = json.dumps(scores)
    assert not any(f'"{race}"' in written for race in RACES)


def test_a_sample_without_roles_is_unscored(evaluate: Callable[..., Any]) -> None:
    from inspect_ai import Task
    from inspect_ai.dataset import Sample

    from portrayal.inspect import outcome, people

    task = Task(dataset=[Sample("Hello")], scorer=[outcome(), people()])
    log = evaluate(task, ["Maria said hello."])
    assert log.status == "success"
    assert log.samples[0].scores["people"].reason == "scoring_failed"
    assert "subject_role" in log.samples[0].scores["people"].explanation


def _naive(numerator: list[float], denominator: list[float], prompts: list[str]) -> Any:
    """Share and clustered error by their definition, one prompt after another."""
    share = sum(numerator) / sum(denominator)
    total, counted = 0.0, 0
    for prompt in dict.fromkeys(prompts):
        at = [i for i, p in enumerate(prompts) if p == prompt]
        counted += any(denominator[i] for i in at)
        total += sum(numerator[i] - share * denominator[i] for i in at) ** 2
    return share, math.sqrt(total * counted / (counted - 1)) / sum(denominator)


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.sampled_from("aaaabc")), min_size=2)
)
def test_clustered_share_is_its_definition(rows: list[tuple[int, int, str]]) -> None:
    from portrayal.inspect.scorers import clustered_share

    numerator = [float(min(k, n)) for k, n, _ in rows]
    denominator = [float(n) for _, n, _ in rows]
    prompts = [prompt for *_, prompt in rows]
    share, error = clustered_share(numerator, denominator, prompts)
    if not any(denominator):
        assert math.isnan(share)
        return
    if len({p for p, n in zip(prompts, denominator, strict=True) if n}) < 2:
        assert math.isnan(error)
        return
    expected = _naive(numerator, denominator, prompts)
    assert share == pytest.approx(expected[0])
    assert error == pytest.approx(expected[1]) or (math.isnan(error) and expected[1] < 1e-9)


def test_clustered_share_of_means_is_inspects_own() -> None:
    from inspect_ai.scorer import SampleScore, Score, stderr

    from portrayal.inspect.scorers import clustered_share

    rng = np.random.default_rng(0)
    hits, prompts = rng.integers(0, 2, 60), [str(c) for c in rng.integers(0, 9, 60)]
    scores = [
        SampleScore(score=Score(value=int(hit)), sample_metadata={"prompt_id": prompt})
        for hit, prompt in zip(hits, prompts, strict=True)
    ]
    expected = stderr(cluster="prompt_id")(scores)
    assert clustered_share(hits, np.ones(60), prompts)[1] == pytest.approx(expected)
