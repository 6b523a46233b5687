"""Running an annotator over the shards of a run."""

from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from portrayal import registry
from portrayal.registry import Component
from portrayal.run.directory import Run
from portrayal.run.shards import Progress, run_shards, write_parquet
from portrayal.run.stages import Stage, fingerprint

Strata = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Annotator(Component):
    """A component whose `run(row, strata)` turns one text row into one annotation row.

    Attributes
    ----------
    schema
        Arrow schema of the row that `run` returns, without `text_id` and `error`.
    accuracy
        How often it is right, and on what that was measured.
    """

    schema: pa.Schema
    accuracy: str


def annotate_run(
    run: Run,
    name: str,
    *,
    workers: int = 1,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Stage:
    """Annotate every text of a run by the annotator `name`; finished shards are skipped.

    Parameters
    ----------
    run
        A run with texts.
    name
        Registered name of the annotator (version optional).
    workers, executor, progress
        See `portrayal.run.run_shards`. Numbers depend on none of them.

    Returns
    -------
    Stage
        The folder of the annotations, complete.
    """
    name = registry.resolve("annotators", name)
    texts = run.texts
    stage = run.annotations(name)
    note = texts.note()
    shards = {"shard_rows": note["shard_rows"]} if "shard_rows" in note else {}
    parts = texts.parts()
    names = [part.name for part in parts]
    base = fingerprint(texts=note["fingerprint"], annotator=name, **shards)
    mark = fingerprint(base=base, parts=names)
    if stage.is_complete(mark):
        return stage
    stage.begin(mark, base=base)  # texts may have grown since: parts made before are kept
    stage.keep_parts(names)
    work = partial(annotate_shard, annotator=name, prompts=run.prompts_path)
    pairs = [(part, stage.folder / part.name) for part in parts]
    run_shards(work, pairs, workers=workers, executor=executor, progress=progress)
    stage.finish(mark, {"annotator": name, "n_errors": _count_errors(stage)})
    return stage


def annotate_shard(source: Path, target: Path, *, annotator: str, prompts: Path) -> int:
    """Annotate one shard of texts into one file and return its number of rows.

    Only texts with the outcome "ok" are read; other rows stay null. A row that fails keeps its
    error in the column `error`.
    """
    component: Annotator = registry.get("annotators", annotator)
    strata = _strata(prompts, prompts.stat().st_mtime_ns, prompts.stat().st_ino)
    empty = dict.fromkeys(component.schema.names)
    rows = []
    for text in pq.read_table(source).to_pylist():
        row: dict[str, Any] = {"text_id": text["text_id"], "error": None, **empty}
        if text["outcome"] == "ok":
            try:
                row.update(component.run(text, strata[text["prompt_id"]]))
            except Exception as error:
                row["error"] = f"{type(error).__name__}: {error}"
        rows.append(row)
    fields = [pa.field("text_id", pa.string()), *component.schema, pa.field("error", pa.string())]
    write_parquet(pa.Table.from_pylist(rows, schema=pa.schema(fields)), target)
    return len(rows)


@lru_cache(maxsize=4)
def _strata(path: Path, *_version: int) -> dict[str, Strata]:
    table = pq.read_table(path, columns=["prompt_id", "strata"])
    return {row["prompt_id"]: dict(row["strata"]) for row in table.to_pylist()}


def _count_errors(stage: Stage) -> int:
    columns = (pq.read_table(part, columns=["error"])["error"] for part in stage.parts())
    return sum(len(column) - column.null_count for column in columns)
