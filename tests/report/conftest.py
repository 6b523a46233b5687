"""Runs for the report's tests: a real one from the packaged sample, and ones made by hand."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from portrayal.records import Estimate, Interval, Null, Test
from portrayal.run import Run, Stage, estimates_to_table, write_parquet
from support import headless_chromium

SPAN = pa.struct([("start", pa.int32()), ("end", pa.int32()), ("kind", pa.string())])
STRATA = pa.map_(pa.string(), pa.string())
N_STORIES = 24
LADEN = {"domain": "Labor", "condition": "power-laden"}


def estimate(
    value: float | None = 1.0,
    low: float = 0.5,
    high: float = 2.0,
    *,
    measure: str = "subordination.v1",
    domain: str | None = "Labor",
    model: str = "m",
    q: float | None = 0.5,
    null: tuple[float, float] | None = (0.8, 1.25),
    clusters: int = 10,
    group: Mapping[str, str] | None = None,
    **more: Any,
) -> Estimate:
    """One estimate with everything a report reads."""
    strata = {"model": model} | ({"domain": domain} if domain is not None else {})
    fields: dict[str, Any] = {
        "study": "laissez-faire",
        "measure": measure,
        "statistic": "ratio",
        "unit": "character",
        "strata": strata,
        "group": group or {"race": "Latine", "gender": "M"},
        "value": value,
        "interval": None if value is None else Interval(low, high, 0.95, "cluster", clusters, 0),
        "paper_interval": None if value is None else Interval(low, high, 0.95, "Katz log"),
        "null": null and Null(1.0, *null, 0.95, "roles of whole prompts swapped at random", 0),
        "tests": () if q is None else (Test(0.001, "t", q, q),),
        "n_texts": 100,
        "n_units": 50.0,
        "n_clusters": clusters,
        "undefined": "nobody was there" if value is None else None,
    }
    return Estimate(**(fields | more))


@pytest.fixture
def make_run(tmp_path: Path) -> Callable[..., Run]:
    """Return a function that writes a run from estimates and stories."""

    def make(
        estimates: Sequence[Estimate],
        *,
        models: Sequence[str] = ("m",),
        stories: Sequence[Mapping[str, Any]] | None = None,
        study: str = "laissez-faire",
        outcomes: Mapping[str, int] | None = None,
    ) -> Run:
        run = Run(tmp_path / "run")
        run.path.mkdir(parents=True)
        write_parquet(estimates_to_table(estimates), run.estimates_path)
        prompt = {"prompt_id": "p", "text": "Write a story.", "strata": list(LADEN.items())}
        schema = pa.schema([("prompt_id", pa.string()), ("text", pa.string()), ("strata", STRATA)])
        write_parquet(pa.Table.from_pylist([prompt], schema=schema), run.prompts_path)
        if stories is None:  # of nobody, and enough different ones that something can be seen
            n = N_STORIES if outcomes is None else outcomes["ok"]
            stories = [{"text": f"Day {i}: the rain was over, and it was warm."} for i in range(n)]
        _texts(run.texts, stories, models, outcomes or {"ok": len(stories)})
        _people(run.annotations("people.v8"), stories)
        run.write_settings(
            {
                "study": study,
                "portrayal": "0.1.0",
                "annotators": ["people.v8"],
                "source": "stories.jsonl",
                "models": list(models),
                "measures": list(dict.fromkeys(e.measure for e in estimates)),
                "options": {"seed": 3, "level": 0.95, "baseline": "census-2022"},
            }
        )
        return run

    return make


def _texts(
    stage: Stage,
    stories: Sequence[Mapping[str, Any]],
    models: Sequence[str],
    outcomes: Mapping[str, int],
) -> None:
    stage.begin("t")
    columns = {
        "text_id": [f"{i:09}" for i in range(len(stories))],
        "prompt_id": ["p"] * len(stories),
        "model": [story.get("model", models[0]) for story in stories],
        "text": [story["text"] for story in stories],
        "outcome": ["ok"] * len(stories),
    }
    types = dict.fromkeys(columns, pa.string())
    table = pa.table({name: pa.array(columns[name], types[name]) for name in columns})
    write_parquet(table, stage.folder / "part-00000.parquet")
    n_texts = sum(outcomes.values())
    stage.finish("t", {"n_texts": n_texts, "outcomes": dict(outcomes), "models": list(models)})


def _people(stage: Stage, stories: Sequence[Mapping[str, Any]]) -> None:
    stage.begin("a")
    columns: dict[str, pa.Array] = {
        "text_id": pa.array([f"{i:09}" for i in range(len(stories))], pa.string()),
        "error": pa.array([None] * len(stories), pa.string()),
    }
    for slot in ("subject", "object"):
        for part in ("name", "gender"):
            values = [story.get(f"{slot}_{part}") for story in stories]
            columns[f"{slot}_{part}"] = pa.array(values, pa.string())
        spans = [story.get(f"{slot}_spans") for story in stories]
        columns[f"{slot}_spans"] = pa.array(spans, pa.list_(SPAN))
    write_parquet(pa.table(columns), stage.folder / "part-00000.parquet")
    stage.finish("a", {"n_errors": 0})


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Headless Chromium; the test is skipped where there is none."""
    downloads = tmp_path_factory.mktemp("downloads")
    session = headless_chromium(tmp_path_factory.mktemp("profile"), downloads=downloads)
    session.downloads = downloads
    yield session
    session.quit()
