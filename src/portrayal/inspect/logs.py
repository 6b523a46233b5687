"""Logs: which ones are meant, and their samples a few at a time."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from zipfile import BadZipFile

from inspect_ai.log import (
    EvalLog,
    EvalSample,
    list_eval_logs,
    read_eval_log,
    read_eval_log_sample_summaries,
    read_eval_log_samples_by_id,
)

from portrayal.errors import DataError

_TOGETHER = 2_000  # samples held at once; the table of contents is read anew for each batch
_UNREAD = {"attachments", "events", "events_data", "messages", "scores", "store", "timelines"}

Logs = str | Path | Iterable[str | Path]
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


def open_logs(logs: Logs) -> tuple[list[Log], list[Log]]:
    """Return the logs to read, and those that a later try of the same task supersedes.

    Parameters
    ----------
    logs
        A log, several, or a folder of logs.

    Raises
    ------
    DataError
        When there is no such log, or it cannot be read.
    """
    places = [logs] if isinstance(logs, (str, Path)) else list(logs)
    found = [_open(place) for item in places for place in _expand(str(item))]
    if not found:
        raise DataError(f"{logs}: there is no Inspect log here; expected .eval or .json files.")
    latest: dict[tuple[str, str], Log] = {}
    for log in sorted(found, key=lambda log: (log.header.eval.created, log.name)):
        latest[log.header.eval.task_id, log.header.eval.model] = log
    kept = sorted(latest.values(), key=lambda log: (log.header.eval.created, log.name))
    return kept, [log for log in found if log not in kept]


def _expand(place: str) -> list[str]:
    if "://" in place:
        return [place]
    if Path(place).is_dir():
        return sorted(info.name for info in list_eval_logs(place))
    if not Path(place).is_file():
        raise DataError(f"{place}: there is no such log.")
    return [place]


def _open(place: str) -> Log:
    try:
        return Log(place, read_eval_log(place, header_only=True))
    except (ValueError, KeyError, OSError, EOFError, BadZipFile) as error:
        raise DataError(
            f"{place}: not a readable Inspect log ({_first_line(error)}). Expected a .eval or "
            ".json file that `inspect eval` wrote; `inspect log recover` may mend a broken one."
        ) from error


def read_samples(log: Log) -> Iterator[EvalSample]:
    """Yield the samples of a log in the order of its dataset, epoch after epoch.

    A `.eval` log is read two thousand samples at a time, without events and messages; a `.json` log
    has no index and is read whole.

    Raises
    ------
    DataError
        When the log breaks off or cannot be read.
    """
    try:
        if log.name.endswith(".json"):
            yield from _in_order(log, read_eval_log(log.place).samples or [])
            return
        keys = _present(log)
        for start in range(0, len(keys), _TOGETHER):
            yield from read_eval_log_samples_by_id(
                log.place, keys[start : start + _TOGETHER], exclude_fields=_UNREAD
            )
    except (ValueError, LookupError, OSError, EOFError, BadZipFile) as error:
        raise DataError(f"{log.place}: the log breaks off ({_first_line(error)}).") from error


def _present(log: Log) -> list[Key]:
    """The samples that are there; a log that was not finished lacks some of the planned."""
    planned, results = log.planned, log.header.results
    if results is not None and planned and results.completed_samples == len(planned):
        return planned
    there = {
        (str(s.id), s.epoch): (s.id, s.epoch) for s in read_eval_log_sample_summaries(log.place)
    }
    return [there[key] for key in _order(log, there)]


def _in_order(log: Log, samples: Sequence[EvalSample]) -> list[EvalSample]:
    there = {(str(sample.id), sample.epoch): sample for sample in samples}
    return [there[key] for key in _order(log, there)]


def _order(log: Log, there: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
    rank = {(str(sample), epoch): i for i, (sample, epoch) in enumerate(log.planned)}
    return sorted(there, key=lambda key: (rank.get(key, len(rank)), key))


def _first_line(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]
