"""Importing: the answers in Inspect logs become the texts of a run."""

import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from portrayal import registry
from portrayal.collect import import_texts
from portrayal.collect.fields import parse_columns
from portrayal.collect.texts import SHARD_ROWS
from portrayal.errors import DataError, OptionError
from portrayal.inspect.logs import Log, Logs, open_logs
from portrayal.inspect.rows import write_rows
from portrayal.inspect.tasks import STUDY_KEY
from portrayal.run import Run
from portrayal.studies import Study

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class InspectImport:
    """What came of an import.

    Attributes
    ----------
    run
        The run directory; `portrayal audit STUDY --out RUN` continues there.
    study
        Registered name.
    n_texts
        Answers imported.
    outcomes
        How many of them by outcome.
    models
        Models that answered.
    logs
        Names of the logs that were read.
    superseded
        Names of logs that were left out because a later try of the same task holds their samples.
    n_missing
        Samples that were planned and are not in the logs, because the evaluation stopped.
    """

    run: Run
    study: str
    n_texts: int
    outcomes: Mapping[str, int]
    models: tuple[str, ...]
    logs: tuple[str, ...]
    superseded: tuple[str, ...]
    n_missing: int


def import_inspect(
    logs: Logs,
    out: str | Path,
    study: str | None = None,
    *,
    columns: Mapping[str, str] | Iterable[str] | None = None,
    shard_rows: int = SHARD_ROWS,
    replace: bool = False,
    say: Say | None = None,
) -> InspectImport:
    """Turn Inspect logs into a run that `portrayal audit` takes on.

    Parameters
    ----------
    logs
        A `.eval` or `.json` log, several, or a folder of logs; one or several models.
    out
        The run directory.
    study
        Registered name; may be left out for logs of our own tasks, which say it.
    columns
        Field → key of the samples' metadata, or "FIELD=KEY" strings, where the log's own names
        differ. Needed only for prompts that are not the study's.
    shard_rows
        Texts in a shard; no number depends on it.
    replace
        Whether a run that holds other texts may be emptied.
    say
        Called with a line about each log.

    Returns
    -------
    InspectImport
        The run and its counts.

    Raises
    ------
    DataError
        When a log cannot be read, or a sample's prompt is not one of the study's and its metadata
        lack the strata that the study needs.
    OptionError
        When the study is not named and the logs do not say it.
    RunError
        When the run holds other texts and `replace` is False.
    """
    kept, left_out = open_logs(logs)
    chosen: Study = registry.get("studies", study or _study_of(kept))
    mapping = columns if isinstance(columns, Mapping) else parse_columns(columns or ())
    known = frozenset(prompt.prompt_id for prompt in chosen.prompts())
    run = Run(Path(out))
    with run.lock(), tempfile.TemporaryDirectory(dir=run.path, prefix=".inspect-") as folder:
        name = kept[0].name if len(kept) == 1 else f"{len(kept)} Inspect logs"
        copy = Path(folder) / f"{name}.jsonl"
        n_samples = write_rows(copy, kept, known, say or _silent)
        try:
            note = import_texts(
                run,
                copy,
                chosen.fields,
                chosen.prompts(),
                columns=mapping,
                shard_rows=shard_rows,
                replace=replace,
            )
        except DataError as error:
            raise DataError(str(error).replace(str(copy), name)) from None
    return InspectImport(
        run=run,
        study=chosen.name,
        n_texts=note["n_texts"],
        outcomes=note["outcomes"],
        models=tuple(note["models"]),
        logs=tuple(log.name for log in kept),
        superseded=tuple(log.name for log in left_out),
        n_missing=max(0, sum(len(log.planned) for log in kept) - n_samples),
    )


def _silent(_: str) -> None:
    """Say nothing."""


def _study_of(logs: Iterable[Log]) -> str:
    named = {(log.header.eval.metadata or {}).get(STUDY_KEY) for log in logs}
    if len(named) == 1 and (study := named.pop()):
        return str(study)
    raise OptionError(
        "the logs do not say one study: name it with --study, such as --study laissez-faire."
    )
