"""Rows: the answers of logs as lines of a file, so that no more than some samples are held."""

import json
import shutil
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from inspect_ai.log import EvalSample

from portrayal.errors import DataError
from portrayal.inspect.answers import prompt_of, sample_answers
from portrayal.inspect.logs import Log, read_samples

Row = dict[str, Any]


def write_rows(
    copy: Path, logs: Iterable[Log], known: frozenset[str], say: Callable[[str], None]
) -> int:
    """Write the answers of logs as JSON lines, one sample after another.

    The first line has every key that any row has, as readers learn the columns from the first rows.

    Parameters
    ----------
    copy
        File to write.
    logs
        Logs to read.
    known
        Ids of the study's prompts; other ids may name different prompts in different logs.
    say
        Called with a line about each log.

    Returns
    -------
    int
        Number of samples.

    Raises
    ------
    DataError
        When a log cannot be read or no sample is found.
    """
    rest = copy.with_suffix(".rest")
    first: Row = {}
    keys: dict[str, None] = {}
    n_samples = 0
    with rest.open("w", encoding="utf-8") as stream:
        for log in logs:
            n_before = n_samples
            for sample in read_samples(log):
                n_samples += 1
                for row in _rows(sample, log, known):
                    keys |= dict.fromkeys(row)
                    if first:
                        stream.write(json.dumps(row) + "\n")
                    else:
                        first = row
            say(
                f"{log.name}: {log.header.status}, {n_samples - n_before:,} samples "
                f"of {log.header.eval.model}"
            )
    if not first:
        raise DataError(f"{copy.stem}: the log holds no samples.")
    with copy.open("wb") as whole, rest.open("rb") as stream:
        whole.write(json.dumps(dict.fromkeys(keys) | first).encode() + b"\n")
        shutil.copyfileobj(stream, whole)
    return n_samples


def _rows(sample: EvalSample, log: Log, known: frozenset[str]) -> Iterator[Row]:
    """One row for each answer; metadata that are words or numbers come along as columns."""
    spec = log.header.eval
    model = sample.output.model if spec.model in ("", "none", "none/none") else spec.model
    asked = {
        "prompt": prompt_of(sample.input),
        "prompt_id": str(sample.id) if str(sample.id) in known else None,
        "model": model,
    }
    for number, answer in enumerate(sample_answers(sample)):
        own = {
            "text": answer.text,
            "text_id": "/".join(map(str, (spec.eval_id, sample.id, sample.epoch, number))),
            **asked,
            "outcome": answer.outcome,
        }
        yield own | {
            key: value
            for key, value in sample.metadata.items()
            if key not in own and isinstance(value, (str, int, float, bool))
        }
