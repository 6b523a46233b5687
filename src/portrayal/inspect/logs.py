"""Logs: which ones are meant, and their samples a few at a time."""

import json
import logging
import shutil
import tempfile
import weakref
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

from inspect_ai.log import (
    EvalLog,
    EvalSample,
    list_eval_logs,
    read_eval_log,
    read_eval_log_sample_summaries,
    read_eval_log_samples_by_id,
)
from inspect_ai.model import ContentReasoning, ModelOutput

from portrayal.collect import outcome_of
from portrayal.collect.reasoning import without_reasoning
from portrayal.collect.sources import TextSource, open_source
from portrayal.errors import DataError
from portrayal.records import Outcome

log = logging.getLogger("portrayal.inspect")
"""Says what each log holds and lacks; the command line prints it."""


@dataclass(frozen=True, slots=True)
class LoggedAnswer:
    """One answer: its text, whether it can be read, and the reasoning that came along."""

    text: str
    outcome: Outcome
    reasoning: str = ""


def answers_of(output: ModelOutput, *, failed: bool = False) -> list[LoggedAnswer]:
    """Return the answers of a model's output, one for each choice.

    Parameters
    ----------
    output
        What the model gave; several choices where several were asked for at once.
    failed
        Whether the sample ended in an error or was invalidated.

    Returns
    -------
    list of LoggedAnswer
        At least one. "failed" for an error or where no answer was made at all, "refused" where the
        provider's content filter stopped it; else what the audit reads from the text alone.
    """
    if not output.choices:
        return [LoggedAnswer(output.completion, "failed")]
    answers = []
    for choice in output.choices:
        came, content = choice.message.text, choice.message.content
        text = without_reasoning(came)
        parts = [] if isinstance(content, str) else content
        reasoning_parts = [part.reasoning for part in parts if isinstance(part, ContentReasoning)]
        reasoning = came if text is not came else "\n".join(reasoning_parts)
        filtered = choice.stop_reason == "content_filter"
        # An error goes before what the text says: it may have broken off
        outcome = "failed" if failed else "refused" if filtered else outcome_of(text)
        answers.append(LoggedAnswer(text, outcome, reasoning))
    return answers


_TOGETHER = 2_000  # samples held at once; the table of contents is read anew for each batch
_UNREADABLE = (ValueError, KeyError, OSError, EOFError, BadZipFile)
_UNREAD = {"attachments", "events", "events_data", "messages", "scores", "store", "timelines"}

Key = tuple[str | int, int]


@dataclass(frozen=True, slots=True)
class Log:
    """One log: its place, and what Inspect says of it without its samples."""

    place: str
    header: EvalLog

    @property
    def name(self) -> str:
        """The file's name."""
        return self.place.replace("\\", "/").rpartition("/")[2]

    @property
    def planned(self) -> list[Key]:
        """Sample id and epoch of every answer that was to be asked for."""
        ids = self.header.eval.dataset.sample_ids or []
        epochs = range(1, (self.header.eval.config.epochs or 1) + 1)
        return [(sample, epoch) for sample in ids for epoch in epochs]


def open_logs(place: str | Path) -> tuple[list[Log], list[Log]]:
    """Return the logs to read, and those that a later try of the same task supersedes.

    Parameters
    ----------
    place
        A log, or a folder of logs.

    Raises
    ------
    DataError
        When there is no such log, or it cannot be read.
    """
    place, places = str(place), [str(place)]
    if Path(place).is_dir():
        places = sorted(info.name for info in list_eval_logs(place))
    elif "://" not in place and not Path(place).is_file():
        raise DataError(f"{place}: there is no such log.")
    if not places:
        raise DataError(f"{place}: there is no Inspect log here; expected .eval or .json files.")
    all_logs = []
    for name in places:
        try:
            all_logs.append(Log(name, read_eval_log(name, header_only=True)))
        except _UNREADABLE as error:
            raise DataError(
                f"{name}: not a readable Inspect log ({_first_line(error)}). Expected a .eval or "
                ".json file that `inspect eval` wrote; `inspect log recover` may mend a broken one."
            ) from error
    latest: dict[tuple[str, str], Log] = {}
    # By time, so that the last try of a task and model is what stays
    for log in sorted(all_logs, key=lambda log: (log.header.eval.created, log.name)):
        latest[log.header.eval.task_id, log.header.eval.model] = log
    newest = sorted(latest.values(), key=lambda log: (log.header.eval.created, log.name))
    return newest, [log for log in all_logs if log not in newest]


def read_samples(log: Log) -> Iterator[EvalSample]:
    """Yield the samples of a log in the order of its dataset, epoch after epoch.

    A `.eval` log is read two thousand samples at a time, without events and messages; a `.json` log
    has no index and is read whole.

    Raises
    ------
    DataError
        When the log breaks off or cannot be read.
    """
    planned, results = log.planned, log.header.results
    rank = {(str(sample), epoch): i for i, (sample, epoch) in enumerate(planned)}

    def ordered(keys: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
        # Samples that the header does not plan go last
        return sorted(keys, key=lambda key: (rank.get(key, len(rank)), key))

    try:
        if log.name.endswith(".json"):
            samples = read_eval_log(log.place).samples or []
            by_place = {(str(sample.id), sample.epoch): sample for sample in samples}
            yield from (by_place[key] for key in ordered(by_place))
            return
        # The header says what is there, where the log was finished: no list of samples is read
        keys = planned
        if results is None or not planned or results.completed_samples != len(planned):
            # A log that was not finished lacks some of the planned samples.
            summaries = read_eval_log_sample_summaries(log.place)
            present = {(str(s.id), s.epoch): (s.id, s.epoch) for s in summaries}
            keys = [present[key] for key in ordered(present)]
        for start in range(0, len(keys), _TOGETHER):
            yield from read_eval_log_samples_by_id(
                log.place, keys[start : start + _TOGETHER], exclude_fields=_UNREAD
            )
    except (*_UNREADABLE, LookupError) as error:
        raise DataError(f"{log.place}: the log breaks off ({_first_line(error)}).") from error


def _first_line(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]


Row = dict[str, Any]


def write_rows(copy: Path, logs: Iterable[Log]) -> int:
    """Write the answers of logs as JSON lines, one sample after another.

    The first line has every key that any row has, as readers learn the columns from the first rows.

    Parameters
    ----------
    copy
        File to write.
    logs
        Logs to read.

    Returns
    -------
    int
        Number of samples.

    Raises
    ------
    DataError
        When a log cannot be read or no sample is found.
    """
    rows_path = copy.with_suffix(".rest")
    # Kept back until all keys are known, as it has to name every column
    first: Row = {}
    keys: dict[str, None] = {}
    n_samples = 0
    with rows_path.open("w", encoding="utf-8") as stream:
        for opened in logs:
            n_before = n_samples
            for sample in read_samples(opened):
                n_samples += 1
                for row in _rows(sample, opened):
                    keys |= dict.fromkeys(row)
                    if first:
                        stream.write(json.dumps(row) + "\n")
                    else:
                        first = row
            n = n_samples - n_before
            missing = max(0, len(opened.planned) - n)
            log.info(
                "%s: %s, %s samples of %s%s",
                opened.name,
                opened.header.status,
                f"{n:,}",
                opened.header.eval.model,
                f", {missing:,} more were planned and are not there" if missing else "",
            )
    if not first:
        raise DataError(f"{copy.stem}: the log holds no samples.")
    with copy.open("wb") as target, rows_path.open("rb") as stream:
        target.write(json.dumps(dict.fromkeys(keys) | first).encode() + b"\n")
        shutil.copyfileobj(stream, target)
    return n_samples


def _rows(sample: EvalSample, log: Log) -> Iterator[Row]:
    """One row for each answer; metadata that are words or numbers come along as columns."""
    spec = log.header.eval
    model = sample.output.model if spec.model in ("", "none", "none/none") else spec.model
    request = sample.input
    if not isinstance(request, str):  # messages: what the user said in them
        request = "\n\n".join(message.text for message in request if message.role == "user")
    asked_with = {"prompt": request, "model": model}
    failed = sample.error is not None or sample.invalidation is not None
    for number, answer in enumerate(answers_of(sample.output, failed=failed)):
        fields = {
            "text": answer.text,
            # With the log's own id, as two logs may number their samples alike
            "text_id": "/".join(map(str, (spec.eval_id, sample.id, sample.epoch, number))),
            **asked_with,
            "outcome": answer.outcome,
            "reasoning_content": answer.reasoning or None,
        }
        yield fields | {
            key: value
            for key, value in sample.metadata.items()
            # Metadata must not replace what was read from the log
            if key not in fields and isinstance(value, (str, int, float, bool))
        }


def log_source(place: str | Path) -> TextSource:
    """Return the answers of a log of Inspect AI, or of a folder of logs, as rows.

    Columns are `text`, `text_id`, `prompt`, `model`, `outcome` and the samples' metadata that are
    words or numbers. A later try of a task takes the place of the earlier one. What each log holds
    and lacks is logged to `log`.

    Raises
    ------
    DataError
        When there is no such log, or it cannot be read.
    """
    logs, left_out = open_logs(place)
    for superseded in left_out:
        log.info("%s: left out, as a later try of the same task is here", superseded.name)
    name = logs[0].name if len(logs) == 1 else f"{len(logs)} Inspect logs"
    folder = Path(tempfile.mkdtemp(prefix="portrayal-"))
    try:
        copy = folder / f"{name}.jsonl"
        write_rows(copy, logs)
        source = replace(open_source(copy), name=name)
    except BaseException:
        shutil.rmtree(folder)
        raise
    # The copy lives as long as somebody may read its rows
    weakref.finalize(source.rows, shutil.rmtree, folder, ignore_errors=True)
    return source
