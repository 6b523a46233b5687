"""Distinct rows are counted over shards, some at a time."""

from pathlib import Path

import pytest

import portrayal
import portrayal.run.directory as reading
from portrayal.measure.stories.tally import _QUERY


def test_rows_are_the_same_however_many_shards_are_joined_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [
        {"text": "Mary thanked Juan.", "prompt_id": f"p{i % 3}", "model": "m", "domain": "Labor",
         "condition": "power-neutral", "subject_name": ("Mary", "Juan")[i % 2],
         "subject_gender": "FM"[i % 2]}
        for i in range(50)
    ]  # fmt: skip
    run = portrayal.audit(
        study="laissez-faire",
        texts=rows,
        out=tmp_path / "run",
        columns=["subject_name=subject_name", "subject_gender=subject_gender"],
        draws=100,
        permutations=20,
        report=False,
        shard_rows=4,
    )
    (stage,) = (run.annotations(name) for name in run.settings()["annotators"])
    at_once = reading.distinct_rows(run.texts, stage, _QUERY)
    monkeypatch.setattr(reading, "_SHARDS_AT_ONCE", 3)
    assert reading.distinct_rows(run.texts, stage, _QUERY) == at_once
    assert sum(at_once["n"]) == 50
    assert len(run.texts.parts()) == 13
    assert len(at_once["n"]) == 6
