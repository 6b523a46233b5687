"""Reading a run: prompts with their strata, and texts shard by shard with their annotations."""

import sys
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from portrayal.run.directory import Run
from portrayal.run.files import read_parquet
from portrayal.run.stages import Stage


def read_prompts(
    path: Path, *, words: str | None = None, only: Collection[str] | None = None
) -> dict[str, dict[str, str]]:
    """Return the strata of each prompt by its prompt_id, in the order of the file.

    Parameters
    ----------
    path
        `Run.prompts_path` or `Run.reference_prompts_path`.
    words
        Name under which the words of the prompt stand among its strata; None leaves them out.
    only
        Strata to keep; None keeps all.
    """
    columns = ["prompt_id", "strata", *(["text"] if words else [])]
    prompts: dict[str, dict[str, str]] = {}
    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(columns=columns):
            for row in batch.to_pylist():
                strata = {
                    # Few values come again and again: each is in memory once, however many prompts
                    # there are.
                    name: sys.intern(value)
                    for name, value in row["strata"]
                    if only is None or name in only
                }
                prompts[row["prompt_id"]] = {words: row["text"]} | strata if words else strata
    return prompts


def read_shards(
    texts: Stage, columns: Sequence[str], *annotations: tuple[Stage, Sequence[str]]
) -> Iterator[tuple[pa.Table, ...]]:
    """Yield each shard of texts, and beside it the same rows of every annotation.

    Parameters
    ----------
    texts, columns
        `Run.texts` or `Run.reference`, and which of their columns.
    annotations
        Stages of annotations, and which of their columns.
    """
    for part in texts.parts():
        yield (
            read_parquet(part, columns=list(columns)),
            # Shards of annotations are named as those of the texts, and hold the same rows
            *(read_parquet(s.folder / part.name, columns=list(c)) for s, c in annotations),
        )


def read_rows(
    run: Run, columns: Sequence[str], *, words: str | None = None
) -> Iterator[dict[str, Any]]:
    """Yield each text of a run as the strata of its prompt, then its own columns.

    `columns` must hold "prompt_id"; `words` is as in `read_prompts`.
    """
    prompts = read_prompts(run.prompts_path, words=words)
    for (table,) in read_shards(run.texts, columns):
        for row in table.to_pylist():
            yield {**prompts[row["prompt_id"]], **row}


def read_chosen(
    parts: Sequence[Path], columns: Sequence[str], text_ids: Collection[str], *, by: str = "text_id"
) -> Iterator[dict[str, Any]]:
    """Yield the rows of these texts from files of texts or annotations, in their order.

    `by` is "text_id", or of texts "source_id", the name that the user's file gives them.
    """
    ids = pa.array(list(text_ids), pa.string())
    for part in parts:
        table = read_parquet(part, list(dict.fromkeys([*columns, by])))
        rows = table.filter(pc.is_in(table[by], value_set=ids))
        yield from rows.select(list(columns)).to_pylist()


_SHARDS_AT_ONCE = 40
"""Shards whose texts and annotations are joined at once: with all, memory would grow with texts."""


def distinct_rows(texts: Stage, annotations: Stage, query: str) -> dict[str, list[Any]]:
    """Return the distinct rows of a query and how many there are of each, by column.

    Memory grows with the distinct rows, not with the texts.

    Parameters
    ----------
    texts, annotations
        `Run.texts`, and annotations of them, with the same texts in each shard.
    query
        DuckDB's SQL over `$texts` and `$annotations`, grouped by all but `n`, their number.
    """
    import duckdb

    parts = texts.parts()
    with duckdb.connect() as connection:
        tables = []
        for start in range(0, max(len(parts), 1), _SHARDS_AT_ONCE):
            names = [part.name for part in parts[start : start + _SHARDS_AT_ONCE]]
            paths = {
                "texts": [str(texts.folder / name) for name in names],
                "annotations": [str(annotations.folder / name) for name in names],
            }
            tables.append(connection.sql(query, params=paths).to_arrow_table())
        # Each batch was counted by itself, so equal rows of two are added up
        connection.register("counted", pa.concat_tables(tables))
        total = "select * replace (sum(n)::bigint as n) from counted group by all order by all"
        table = connection.sql(total).to_arrow_table()
    return {name: table[name].to_pylist() for name in table.column_names}
