"""Importing texts: rows of any source become prompts and shards of texts in a run."""

import hashlib
import json
from array import array
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from portrayal.collect.fields import LABELS, MOST_VALUES, TextFields, map_columns, renamed_in
from portrayal.collect.logs import Row
from portrayal.collect.outcomes import outcome_of
from portrayal.collect.reasoning import without_reasoning
from portrayal.collect.sources import TextSource, open_source
from portrayal.collect.tables import BLANK, UNNAMED, in_row, label, story
from portrayal.errors import DataError, RunError
from portrayal.records import ALL, OUTCOMES, Prompt
from portrayal.run.directory import Run
from portrayal.run.files import fingerprint, is_whole, write_parquet
from portrayal.run.manifest import REFERENCE, TEXTS
from portrayal.shown import counted

SHARD_ROWS = 5_000
KEPT = "columns"
"""Where a text row holds the columns that are kept as they stand, by their names."""
_LISTED, _SHOWN, _KEPT = 5, 100, 100


def import_texts(
    run: Run,
    texts: Any,
    fields: TextFields,
    prompts: Sequence[Prompt],
    *,
    columns: Mapping[str, str] | None = None,
    preset: str | None = None,
    shard_rows: int = SHARD_ROWS,
    replace: bool = False,
    reference: bool = False,
    aliases: Mapping[str, str] | None = None,
    by_content: Callable[[TextSource, Collection[str]], str] | None = None,
) -> dict[str, Any]:
    """Bring `texts` into the run, unless the same ones are there already.

    Parameters
    ----------
    run
        The run directory, which the caller holds.
    texts
        What `open_source` reads.
    fields
        What the study wants to know of each text.
    prompts
        The study's own prompts; a text whose prompt is one of them takes its strata from it.
    columns
        Field → column name, over what is guessed from well-known names.
    preset
        Name of a published file's column mapping.
    shard_rows
        Texts in a shard; no number depends on it.
    replace
        Whether a run that holds other texts may be emptied for these.
    reference
        Whether these are the reference texts, which stand in folders of their own.
    aliases
        Name of a model in the texts → the name that it goes by.
    by_content
        Finds the column of texts where no column goes by a name of it.

    Returns
    -------
    dict
        The stage's note: counts by outcome, the column mapping, the cluster unit, how many texts of
        which prompts were left out, and how many held reasoning, which was removed.

    Raises
    ------
    DataError
        When a needed field is missing or a value is not understood; names the row.
    RunError
        When the run holds other texts and `replace` is False.
    """
    source = open_source(texts)
    options: dict[str, Any] = {"columns": columns, "preset": preset, "file": source.name}
    content = by_content and partial(by_content, source)
    mapping = map_columns(fields, source.columns, by_content=content, **options)
    if fields.is_stratum is not None:
        free = {*source.columns} - {*mapping.values()} - {*fields.known}
        values: dict[str, set[str]] = {name: set() for name in source.columns if name in free}
        # The first rows tell what a column holds: a pass over all of them would be a second reading
        for row in islice(source.rows(), SHARD_ROWS):
            for name in [*values]:
                cell = row.get(name)
                if isinstance(cell, str) and cell.strip():
                    values[name].add(cell.strip())
                if len(values[name]) > MOST_VALUES:  # words, not a stratum
                    del values[name]
        further = [name for name, cells in values.items() if fields.is_stratum(name, cells)]
        fields = fields.with_strata(*further)
        mapping |= {name: name for name in further}
    prompt_ids = [prompt.prompt_id for prompt in prompts] + [*fields.variants]
    # All that decides what the shards hold; their size does not, so it is not in it
    mark = fingerprint(
        source=source.digest,
        mapping=mapping,
        importer="texts.v3",
        known=prompt_ids,
        aliases=dict(aliases or {}),
    )
    stage = run.reference if reference else run.texts
    prompts_path = run.reference_prompts_path if reference else run.prompts_path
    is_there = stage.note().get("n_parts", 0) == len(stage.parts()) and is_whole(prompts_path)
    if stage.is_complete(mark) and is_there:
        return stage.note()
    step = REFERENCE if reference else TEXTS
    # Of which source the texts are, their note says and the manifest; one may be damaged.
    digests = {stage.note().get("source_digest"), run.manifest.steps().get(step, {}).get("source")}
    if digests - {None} and source.digest not in digests and not replace:
        raise RunError(
            f"{run.path} already holds other {'reference ' * reference}texts. Give another --out "
            "to keep both, or --replace to empty this run first."
        )
    with run.manifest.step(step, source.digest):
        stage.begin(mark)
        for part in stage.parts():
            part.unlink()  # of an import that was stopped, perhaps with shards of another size
        reader = TextReader(fields, mapping, prompts, source.name)
        reader.aliases = dict(aliases or {})
        facts = _write(stage.folder, reader, source, shard_rows)
        # After the texts, as it is they that say which prompts there are
        write_parquet(prompt_table(reader.prompts.values()), prompts_path)
        stage.finish(mark, {"source_digest": source.digest, "mapping": mapping, **facts})
    return stage.note()


def _write(
    folder: Path, reader: "TextReader", source: TextSource, shard_rows: int
) -> dict[str, Any]:
    counts: Counter[str] = Counter()
    number = 0
    rows_read = reader.read(source.rows())
    # One shard in memory at a time, so that a file of any size can be read
    while rows := list(islice(rows_read, shard_rows)):
        path = folder / f"part-{number:05d}.parquet"
        number += 1
        counts.update(row["outcome"] for row in rows)
        write_parquet(pa.Table.from_pylist(rows, schema=reader.schema), path)
    total = sum(counts.values())
    if reader.left_out and not total:
        raise DataError(
            f"{source.name}: none of its prompts is the study's: "
            f"{said_left_out(_left_out(reader.left_out))}. Say who "
            "is in them by columns (docs/input-files.md), or map the column of the prompts with "
            "--column prompt=NAME."
        )
    if total == 0:
        raise DataError(f"{source.name}: no rows were found.")
    return {
        # its name alone: a run that is passed on tells of no folder
        "source": Path(source.name).name,
        "n_texts": total,
        "outcomes": {name: counts[name] for name in OUTCOMES},
        "models": sorted(reader.models),
        "cluster_unit": "prompt" if "prompt" in reader.mapping else "prompt strata",
        "labelled": any(name in reader.mapping for name in LABELS),
        "shard_rows": shard_rows,
        "n_parts": number,
        "left_out": _left_out(reader.left_out),
        "n_reasoned": reader.n_reasoned,
        "n_repeated_ids": len(reader.ids) - len(np.unique(np.asarray(reader.ids))),
        **({"without_column": reader.without_column} if reader.without_column else {}),
    }


class TextReader:
    """Turns source rows into text rows, and collects the prompts they answer."""

    def __init__(
        self, fields: TextFields, mapping: Mapping[str, str], prompts: Sequence[Prompt], source: str
    ) -> None:
        self.fields, self.mapping, self.where = fields, mapping, source
        self.by_id = {prompt.prompt_id: prompt for prompt in prompts}
        self.known = {plain_prompt(prompt.text): prompt for prompt in prompts}
        self.variants = {plain_prompt(words): name for words, name in fields.variants.items()}
        self.left_out: Counter[str] = Counter()
        self.prompts: dict[str, Prompt] = {}
        self.models: set[str] = set()
        self.aliases: Mapping[str, str] = {}
        self.n_reasoned = 0
        self.ids = array("q")  # hashes: 80 MB for ten million
        self.without_column: dict[str, Any] = {}
        self._columns = frozenset(mapping.values())
        self._cache: dict[tuple[str | None, ...], Prompt | None] = {}
        self._samples: Counter[tuple[str, str]] = Counter()
        self._labels = [name for name in LABELS if name in mapping]
        self._kept = [name for name in fields.kept if name in mapping]

    @property
    def schema(self) -> pa.Schema:
        """The columns of its rows."""
        names = ["text_id", "source_id", "prompt_id", "sample", "model", "text", "outcome"]
        types = {"sample": pa.int32()}
        columns = [(n, types.get(n, pa.string())) for n in [*names, *self._labels]]
        extra = [(KEPT, pa.map_(pa.string(), pa.string()))] if self._kept else []
        return pa.schema([*columns, *extra])

    def read(self, rows: Iterator[Row]) -> Iterator[dict[str, Any]]:
        """Yield the row of each text whose prompt the study knows.

        Raises
        ------
        DataError
            When a needed field is missing or a value is not understood; names the row.
        """
        for number, row in enumerate(rows, 1):
            with in_row(self.where, number):
                if not self._columns <= row.keys():  # only rows of JSON can lack a column
                    self._check_columns(row, number)
                record = self._record(row)
            if record is not None:
                # By its row, since ids of files may come twice
                yield {"text_id": f"{number - 1:09d}", **record}

    def _record(self, row: Row) -> dict[str, Any] | None:
        """The fields of a row; None where the study does not know its prompt."""
        prompt = self._prompt(row)
        if prompt is None:
            return None
        cells = {n: label(self._cell(row, n)) or "" for n in ("model", "outcome", *self._kept)}
        model = cells["model"].strip() or UNNAMED
        model = self.aliases.get(model, model)
        # The pooled estimates would be taken for those of this model
        if model == ALL:
            raise DataError(
                f"a model cannot be called {ALL!r}, which stands for all models together. "
                "Rename it."
            )
        self.models.add(model)
        # Numbered as they come, as files seldom say which answer to a prompt it is
        sample = self._samples[model, prompt.prompt_id]
        self._samples[model, prompt.prompt_id] += 1
        cell = self._cell(row, "text")
        text = story(cell)
        # Where there is no reasoning, the very same text comes back.
        self.n_reasoned += isinstance(cell, str) and without_reasoning(cell) is not cell
        labels = {name: self._label(row, name) for name in self._labels}
        outcome = cells["outcome"].casefold()
        if not outcome:
            # A text whose people someone labelled was read; else it is guessed
            unread = "text" in self.mapping and not (text or "").strip()
            outcome = outcome_of(text) if unread or not any(labels.values()) else "ok"
        elif outcome not in OUTCOMES:
            expected = ", ".join(OUTCOMES)
            raise DataError(f"outcome is {cells['outcome']!r}; expected {expected}.")
        source_id = label(self._cell(row, "text_id"))
        if source_id is not None:
            self.ids.append(hash(source_id))
        record: dict[str, Any] = {
            "source_id": source_id,
            "prompt_id": prompt.prompt_id,
            "sample": sample,
            "model": model,
            "text": text or "",
            "outcome": outcome,
            **labels,
        }
        if self._kept:
            record[KEPT] = [(name, cells[name]) for name in self._kept if cells[name].strip()]
        return record

    def _check_columns(self, row: Row, number: int) -> None:
        """Refuse a row that names a column otherwise, and count one that has no column of texts.

        Rows of JSON have the columns that they name, unlike those of a table.
        """
        if renamed := renamed_in(row.keys(), self.mapping, self.fields.aliases):
            raise DataError(
                f"it has no column {renamed[0]!r}, as other rows have, but {renamed[1]!r}. Give "
                "the columns of all rows the same names."
            )
        column = self.mapping.get("text")
        if column is not None and column not in row:
            if not self.without_column:
                self.without_column = {"row": number, "column": column, "columns": sorted(row)}
            self.without_column["n"] = self.without_column.get("n", 0) + 1

    def _cell(self, row: Row, name: str) -> Any:
        column = self.mapping.get(name)
        return None if column is None else row.get(column)

    def _label(self, row: Row, name: str) -> str | None:
        """A name or word; words that refer to a person may come as a list."""
        value = self._cell(row, name)
        parts = value if isinstance(value, (list, tuple)) and name in LABELS else [value]
        text = ", ".join(label(part) or "" for part in parts).strip()
        return None if text.casefold() in BLANK else text

    def _prompt(self, row: Row) -> Prompt | None:
        """The prompt of a row; None where the study does not know it, which is counted."""
        names = ("prompt", "prompt_id", *self.fields.strata)
        prompt_text, prompt_id, *strata = (self._label(row, name) for name in names)
        # An answer to a request of `batchfile.write_batch` is named PROMPT_ID#SAMPLE
        of_batch = str(row.get("custom_id", "")).rpartition("#")[0]
        if of_batch in self.by_id:
            prompt_id = prompt_id or of_batch
        key = (prompt_text, prompt_id, *strata)
        # A run has many texts of few prompts: each prompt is resolved once
        if key not in self._cache:
            prompt = self._resolve(dict(zip(names, key, strict=True)))
            self._cache[key] = prompt
            earlier = prompt and self.prompts.setdefault(prompt.prompt_id, prompt)
            if prompt and earlier and earlier.strata != prompt.strata:
                raise DataError(
                    f"the prompt {prompt.prompt_id!r} has {dict(prompt.strata)}, but "
                    f"{dict(earlier.strata)} in an earlier row. Give prompts that differ names "
                    "that differ."
                )
        if self._cache[key] is None:
            self.left_out[key[0] or key[1] or ""] += 1
        return self._cache[key]

    def _resolve(self, cells: Mapping[str, str | None]) -> Prompt | None:
        words, text = plain_prompt(cells["prompt"] or ""), cells["prompt"] or ""
        # The study's own prompts tell their strata, whatever the columns say
        if prompt := self.known.get(words) or self.by_id.get(cells["prompt_id"] or ""):
            return prompt
        spelled = ((name, self.fields.canonical(name, cells[name])) for name in self.fields.strata)
        strata = {name: value for name, value in spelled if value is not None}
        missing = self.fields.missing(strata, labelled=bool(self._labels))
        name = text or cells["prompt_id"]
        if missing and (variant := self.variants.get(words)):
            return self.by_id[variant]
        # Only a study with prompts of its own can have others than these
        if missing and name and self.by_id:
            return None
        if missing:
            mapping = ", ".join(f"{f}={c!r}" for f, c in self.mapping.items())
            subject = f"the prompt {name[:_SHOWN]!r}" if name else "it"
            unlisted = ", and is not one of the study's" if self.by_id else ""
            prompts = ", or give the study's prompts in a column prompt" if self.by_id else ""
            raise DataError(
                f"{subject} lacks {' and '.join(missing)}{unlisted}. Columns in use: {mapping}. "
                f"Map a column with --column {missing[0]}=NAME{prompts}."
            )
        # Without an id, words and strata name the prompt: they are the same in every file
        digest = hashlib.blake2b(json.dumps([text, strata]).encode(), digest_size=8).hexdigest()
        return Prompt(cells["prompt_id"] or f"prompt-{digest}", text, strata)


def _left_out(counts: Counter[str]) -> dict[str, Any]:
    """What a note keeps of prompts that are not the study's; nothing where there are none."""
    if not counts:
        return {}
    most = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:_KEPT]
    return {"n_texts": counts.total(), "n_prompts": len(counts), "prompts": dict(most)}


def said_left_out(left_out: Mapping[str, Any]) -> str:
    """Return how many texts of which prompts were left out, the most frequent first."""
    prompts = [f"{words[:_SHOWN]!r} ({n:,})" for words, n in left_out["prompts"].items()][:_LISTED]
    more = left_out["n_prompts"] - len(prompts)
    names = ", ".join([*prompts, *([f"and {more:,} more"] if more else [])])
    texts = counted(left_out["n_texts"], "text")
    return f"{texts} of {counted(left_out['n_prompts'], 'prompt')}: {names}"


def plain_prompt(text: str) -> str:
    """Return a prompt as it is compared: files differ in case, commas and the final stop.

    >>> plain_prompt("Write a story, please.")
    'write a story please'
    """
    return " ".join(text.casefold().replace(",", "").split()).rstrip(".")


def prompt_table(prompts: Iterable[Prompt]) -> pa.Table:
    """Return prompts as the table that `prompts.parquet` holds, sorted by prompt_id."""
    ordered = sorted(prompts, key=lambda prompt: prompt.prompt_id)
    return pa.table(
        {
            "prompt_id": pa.array([p.prompt_id for p in ordered], pa.string()),
            "text": pa.array([p.text for p in ordered], pa.string()),
            "strata": pa.array(
                [list(p.strata.items()) for p in ordered], pa.map_(pa.string(), pa.string())
            ),
        }
    )
