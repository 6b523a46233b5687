"""Running an annotator over the shards of a run."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NoReturn

import pyarrow as pa

import portrayal.registry as registry
from portrayal.annotate.language import FEWEST_WORDS, NOT_ENGLISH, WORD, is_english
from portrayal.errors import DataError, OptionError
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


UNREAD = "unread"
"""Column of why an annotator that reads any language in part did not read the rest of a text."""
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
    other_languages
        What reads a text that is not in English in its stead; "" where it reads any language. It is
        not given such a text, whose row has that as its error.
    any_language
        Function of the settings to whether it reads any language by them.
    in_part
        Whether it is given such a text all the same, as it counts some things in any language; the
        text's row says in the column "unread" why the rest is not read.
    by_capitals
        Whether it knows names by their capitals, and so reads no text all in capitals either.
    """

    run: Callable[..., Any] = _needs_settings
    schema: pa.Schema
    accuracy: str
    setup: Callable[[Mapping[str, Any]], Callable[..., Any]] | None = None
    per_shard: bool = False
    in_run: bool = False
    every_row: bool = False
    other_languages: str = ""
    any_language: Callable[[Mapping[str, Any]], bool] = lambda _: False
    in_part: bool = False
    by_capitals: bool = False

    def why_unread(self, text: str, settings: Mapping[str, Any] | None = None) -> str:
        """Return why it does not read a text by these settings, and what does; "" if it does."""
        is_flat = self.by_capitals and (text.isupper() or text.islower())
        if is_flat and len(WORD.findall(text)) >= FEWEST_WORDS:
            return "all in capitals or in small letters, by which names are known: set it in both"
        is_any = not self.other_languages or self.any_language(settings or {})
        return "" if is_any or is_english(text) else f"{NOT_ENGLISH}: {self.other_languages}"


def description(name: str) -> dict[str, Any]:
    """Return what an annotator that ships says of itself, as fields of `Annotator`."""
    return {"name": name, **_DESCRIPTIONS[name]}


_DESCRIPTIONS = toml_beside(__file__, "annotators.toml")


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
    stay null. A row that fails, or that is in a language the annotator does not read, keeps its
    error in the column `error`.
    """
    component: Annotator = registry.get("annotators", annotator)
    strata = _strata(prompts, prompts.stat().st_mtime_ns, prompts.stat().st_ino)
    texts = read_parquet(source).to_pylist()
    full_settings = dict(settings or {})
    result_of: dict[str, Any] = {}
    readable = []
    for text in texts:
        is_ok = text["outcome"] == "ok"
        reason = component.why_unread(text["text"], full_settings) if is_ok else ""
        text[UNREAD] = reason or None
        if reason and not component.in_part:
            result_of[text["text_id"]] = DataError(reason)
        elif is_ok or component.every_row:
            readable.append(text)
    readable_strata = [strata[text["prompt_id"]] for text in readable]
    full_settings |= {"run": str(prompts.parent)} if component.in_run else {}
    work = component.run if component.setup is None else component.setup(full_settings)
    # Batches read a shard at once; other annotators row by row, so that one may fail
    results: list[Any] = list(work(readable, readable_strata)) if component.per_shard else []
    for row, about in () if component.per_shard else zip(readable, readable_strata, strict=True):
        try:
            results.append(work(row, about))
        except Exception as failure:  # stands in the place of its row
            results.append(failure)
    result_of |= {text["text_id"]: x for text, x in zip(readable, results, strict=True)}
    empty = dict.fromkeys(component.schema.names)
    rows = []
    for text in texts:
        result = result_of.get(text["text_id"], {})
        failed = isinstance(result, Exception)
        error = f"{type(result).__name__}: {result}" if failed else None
        row = {} if failed else result
        # A row for every text, in the order of the shard, whatever became of it
        of_text = {name: text[name] for name in ("text_id", UNREAD)}
        rows.append({"error": error, **empty, **row, **of_text})
    fields = [pa.field("text_id", pa.string()), *component.schema, pa.field("error", pa.string())]
    fields += [pa.field(UNREAD, pa.string())] if component.in_part else []
    write_parquet(pa.Table.from_pylist(rows, schema=pa.schema(fields)), target)
    return len(rows)


@lru_cache(maxsize=4)
def _strata(path: Path, *_version: int) -> Mapping[str, Strata]:
    return read_prompts(path, words=PROMPT)


def n_unread(run: Run, annotators: Iterable[str]) -> int:
    """Return how many answers of a run none of these annotators read, as other languages.

    Scores of texts hold the length of any text, so that none is unread where they were made.
    """
    notes = [run.annotations(name).note() for name in annotators]
    if any(note.get("annotator", "").startswith("text_scores") for note in notes):
        return 0
    return min((int(note.get("n_errors", 0)) for note in notes), default=0)


def unread_words(note: Mapping[str, Any]) -> str:
    """Return how many texts the annotator of a stage's note did not read in full, and mostly why.

    >>> unread_words({"n_errors": 7, "commonest_error": ["DataError: not in English: ask", 5]})
    '7 not read in full (5: not in English: ask)'
    """
    if not note.get("commonest_error"):
        return ""
    error, n = note["commonest_error"]
    # The name of the exception stands before what it says
    return f"{note['n_errors']:,} not read in full ({n:,}: {error.partition(': ')[2]})"


def errors_of(stage: Stage) -> Counter[str]:
    """Return how many rows of a stage have each error, or each reason why they are read in part."""
    counts = Counter[str]()
    for table in map(read_parquet, stage.parts()):
        counts.update(table["error"].drop_null().to_pylist())
        if UNREAD in table.column_names:
            counts.update(f"{UNREAD}: {reason}" for reason in table[UNREAD].drop_null().to_pylist())
    return counts
