"""Running an annotator over the shards of a run."""

from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Any, NoReturn

import pyarrow as pa

import portrayal.registry as registry
from portrayal.errors import OptionError
from portrayal.models.loading import on_one_core
from portrayal.reference.shipped import toml_beside
from portrayal.registry import Component
from portrayal.run.directory import Run, read_prompts
from portrayal.run.files import Stage, fingerprint, read_parquet, write_parquet
from portrayal.run.shards import Progress, run_shards

Strata = Mapping[str, str]
SPAN = pa.struct([("start", pa.int32()), ("end", pa.int32())])
"""Where something stands in a text, in characters."""


def _needs_settings(*_: Any) -> NoReturn:
    raise OptionError("this annotator has settings, which an audit gives it.")


PROMPT = "+prompt"
"""Where annotators find the words of a prompt among its strata; no stratum has such a name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotator(Component):
    """A component whose `run(row, strata)` turns one text row into one annotation row.

    Attributes
    ----------
    schema
        Arrow schema of the row that `run` returns, without `text_id` and `error`.
    accuracy
        How often it is right, and on what that was measured.
    run, setup
        An annotator with settings has `setup` in place of `run`: `setup(settings)` is called once
        per shard and returns the function. Settings are JSON-like values.
    per_shard
        Whether that function takes all readable rows of a shard at once, with their strata, and
        returns one annotation row or exception for each; for classifiers that work in batches.
    in_run
        Whether `setup` is also told the directory of the run, as the setting "run"; for what was
        asked of a model and lies there.
    every_row
        Whether it is also given texts that were refused, empty or failed, whose columns may say
        something of them.
    """

    run: Callable[..., Any] = _needs_settings
    schema: pa.Schema
    accuracy: str
    setup: Callable[[Mapping[str, Any]], Callable[..., Any]] | None = None
    per_shard: bool = False
    in_run: bool = False
    every_row: bool = False


def description(name: str) -> dict[str, Any]:
    """Return what an annotator that ships says of itself, as fields of `Annotator`."""
    return {"name": name, **_descriptions()[name]}


@cache
def _descriptions() -> dict[str, dict[str, str]]:
    return toml_beside(__file__, "annotators.toml")


@dataclass(frozen=True, slots=True)
class Annotation:
    """An annotation that a study asks for.

    Attributes
    ----------
    name
        Registered name of the annotator.
    settings
        What its `setup` is given.
    reference
        Whether it reads the reference texts in place of the audited ones.
    """

    name: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    reference: bool = False


def annotate_run(
    run: Run,
    name: str,
    *,
    settings: Mapping[str, Any] | None = None,
    reference: bool = False,
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
    settings
        What the annotator's `setup` is given.
    reference
        Whether to annotate the reference texts in place of the audited ones.
    workers, executor, progress
        See `portrayal.run.run_shards`. Numbers depend on none of them.

    Returns
    -------
    Stage
        The folder of the annotations, complete.
    """
    name = registry.resolve("annotators", name)
    own_settings = dict(settings or {})
    texts = run.reference if reference else run.texts
    stage = run.reference_annotations(name) if reference else run.annotations(name)
    # All that a row depends on is in the mark; workers are not
    note = texts.note()
    facts: dict[str, Any] = {"settings": own_settings} if own_settings else {}
    if "shard_rows" in note:
        facts["shard_rows"] = note["shard_rows"]
    parts = texts.parts()
    names = [part.name for part in parts]
    base = fingerprint(texts=note["fingerprint"], annotator=name, **facts)
    mark = fingerprint(base=base, parts=names)
    if stage.is_complete(mark) and [part.name for part in stage.parts()] == names:
        return stage
    with run.manifest.step(stage.folder.relative_to(run.path).as_posix()):
        stage.begin(mark, base=base)  # texts may have grown since: parts made before are kept
        stage.keep_parts(names)
        prompts = run.reference_prompts_path if reference else run.prompts_path
        # absolute, as workers on other machines have working folders of their own
        work = partial(
            annotate_shard, annotator=name, prompts=prompts.absolute(), settings=own_settings
        )
        folder = stage.folder.absolute()
        pairs = [(part.absolute(), folder / part.name) for part in parts]
        run_shards(work, pairs, workers=workers, executor=executor, progress=progress)
        errors = errors_of(stage)
        stage.finish(
            mark,
            {
                "annotator": name,
                "settings": own_settings or None,
                "n_errors": errors.total(),
                "commonest_error": errors.most_common(1)[0] if errors else None,
            },
        )
    return stage


@on_one_core
def annotate_shard(
    source: Path,
    target: Path,
    *,
    annotator: str,
    prompts: Path,
    settings: Mapping[str, Any] | None = None,
) -> int:
    """Annotate one shard of texts into one file and return its number of rows.

    Only texts with the outcome "ok" are read, unless the annotator takes every row; other rows
    stay null. A row that fails keeps its
    error in the column `error`.
    """
    component: Annotator = registry.get("annotators", annotator)
    strata = _strata(prompts, prompts.stat().st_mtime_ns, prompts.stat().st_ino)
    texts = read_parquet(source).to_pylist()
    readable = [text for text in texts if component.every_row or text["outcome"] == "ok"]
    readable_strata = [strata[text["prompt_id"]] for text in readable]
    place = {"run": str(prompts.parent)} if component.in_run else {}
    full_settings = {**(settings or {}), **place}
    work = component.run if component.setup is None else component.setup(full_settings)
    # Batches read a shard at once; other annotators row by row, so that one may fail
    results: list[Any] = list(work(readable, readable_strata)) if component.per_shard else []
    for row, about in () if component.per_shard else zip(readable, readable_strata, strict=True):
        try:
            results.append(work(row, about))
        except Exception as failure:  # stands in the place of its row
            results.append(failure)
    result_of = {text["text_id"]: result for text, result in zip(readable, results, strict=True)}
    empty = dict.fromkeys(component.schema.names)
    rows = []
    for text in texts:
        result = result_of.get(text["text_id"], {})
        failed = isinstance(result, Exception)
        error = f"{type(result).__name__}: {result}" if failed else None
        row = {} if failed else result
        # A row for every text, in the order of the shard, whatever became of it
        rows.append({"text_id": text["text_id"], "error": error, **empty, **row})
    fields = [pa.field("text_id", pa.string()), *component.schema, pa.field("error", pa.string())]
    write_parquet(pa.Table.from_pylist(rows, schema=pa.schema(fields)), target)
    return len(rows)


@lru_cache(maxsize=4)
def _strata(path: Path, *_version: int) -> Mapping[str, Strata]:
    return read_prompts(path, words=PROMPT)


def errors_of(stage: Stage) -> Counter[str]:
    """Return how many rows of a stage have each error."""
    columns = (read_parquet(part, columns=["error"])["error"] for part in stage.parts())
    return Counter(error for column in columns for error in column.drop_null().to_pylist())
