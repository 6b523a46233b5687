"""A folder of answers that `portrayal collect` asked for, as rows of texts."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

from portrayal.collect.sources import Row, TextSource
from portrayal.errors import DataError
from portrayal.run.directory import Run
from portrayal.run.reading import read_prompts, read_shards

_OF_TEXT = ("model", "text", "outcome")


def is_asked(path: str | Path) -> bool:
    """Whether a folder holds prompts and their answers, as `portrayal collect` writes them."""
    return Path(path).is_dir() and Run(Path(path)).prompts_path.is_file()


def asked_source(path: str | Path) -> TextSource:
    """Return the answers of a run, each with its prompt and what the prompt file says of it.

    Raises
    ------
    DataError
        When it holds no answers yet.
    RunError
        When a file of it is not as it was written.
    """
    run = Run(Path(path))
    run.check(under_way=True)
    if not run.texts.parts():
        raise DataError(f"{path}: nothing was answered yet. Ask again: portrayal collect ….")
    prompts = read_prompts(run.prompts_path, words="prompt")
    strata = dict.fromkeys(name for about in prompts.values() for name in about)
    columns = (*_OF_TEXT, *(name for name in strata if name not in _OF_TEXT))
    digest = hashlib.blake2b(digest_size=16)
    for part in (run.prompts_path, *run.texts.parts()):
        digest.update(part.read_bytes())

    def rows() -> Iterator[Row]:
        for (table,) in read_shards(run.texts, ("prompt_id", *_OF_TEXT)):
            for row in table.to_pylist():
                yield dict.fromkeys(columns, "") | prompts[row.pop("prompt_id")] | row

    return TextSource(str(path), digest.hexdigest(), columns, rows)
