"""The audit: runs the stages of a study in order, and only those whose inputs changed."""

import dataclasses
import tempfile
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

from portrayal import __version__, registry
from portrayal.annotate import annotate_run
from portrayal.asking import Asking, ask_model
from portrayal.collect import import_texts
from portrayal.collect.fields import parse_columns
from portrayal.collect.texts import SHARD_ROWS
from portrayal.datasheet import write_datasheet
from portrayal.errors import OptionError
from portrayal.records import ALL, Estimate, Test
from portrayal.run import Run, Stage, estimates_to_table, fingerprint, write_parquet
from portrayal.run.shards import Progress
from portrayal.stats import benjamini_hochberg
from portrayal.studies.study import Options, Study
from portrayal.validate import check_count

Say = Callable[[str], None]


def audit(
    study: str,
    *,
    texts: Any = None,
    model: str | Asking | None = None,
    samples: int = 1,
    out: str | Path | None = None,
    columns: Mapping[str, str] | Iterable[str] | None = None,
    preset: str | None = None,
    replace: bool = False,
    workers: int = 1,
    executor: Executor | None = None,
    shard_rows: int = SHARD_ROWS,
    report: bool = True,
    progress: Progress | None = None,
    say: Say | None = None,
    **options: Any,
) -> Run:
    """Audit texts and return the run.

    Parameters
    ----------
    study
        Registered name, such as "laissez-faire" or "laissez_faire".
    texts
        A path (CSV, JSON lines, Parquet, Excel), a DataFrame, or an iterable of mappings. May be
        left out when `out` holds texts already.
    model, samples
        A model to ask in place of texts, "openai:gpt-5-mini" or an `Asking` with every setting,
        and how many answers to each prompt.
    out
        The run directory; a new temporary one by default. An audit that stopped continues there.
    columns
        Field → column name, or "FIELD=NAME" strings, over what is guessed.
    preset
        Column mapping of a published file.
    replace
        Whether a run that holds other texts may be emptied.
    workers
        Local processes. With more than one, a script must guard its entry point with
        ``if __name__ == "__main__":`` as `multiprocessing` asks.
    executor
        Any `concurrent.futures.Executor` in place of local processes.
    shard_rows
        Texts in a shard. No number depends on it, on `workers` or on `executor`.
    report
        Whether to write `report.html`.
    progress, say
        Called with (shards done, shards in all), and with a line about each stage.
    **options
        Fields of `portrayal.studies.Options`: baseline, name_table, level, seed, ….

    Returns
    -------
    Run
        With `.estimates` (an Arrow table), `.records` and `.report(path)`.

    Raises
    ------
    DataError, OptionError, RunError
        Saying what was expected, what came and what to do.
    """
    chosen = registry.get("studies", study)
    choice = _options(options)
    check_count("workers", workers, minimum=1)
    check_count("shard_rows", shard_rows, minimum=1)
    run = Run(Path(out if out is not None else tempfile.mkdtemp(prefix="portrayal-")))
    tell = say or _silent
    mapping = columns if isinstance(columns, Mapping) else parse_columns(columns or ())
    if model is not None and texts is not None:
        raise OptionError("give either texts or a model to ask, not both.")
    with run.lock():
        if model is not None:
            asking = Asking(model, samples) if isinstance(model, str) else model
            _ask(run, chosen, asking, tell)
        _collect(run, chosen, texts, mapping, preset, replace, shard_rows, tell)
        annotator = _annotate(run, chosen, workers, executor, progress, tell)
        _measure(run, chosen, annotator, choice, tell)
        write_datasheet(run, run.datasheet_path)
        if report:
            tell(f"report: {run.report()}")
    return run


def _ask(run: Run, study: Study, asking: Asking, tell: Say) -> None:
    """Ask the model; a collection that the user ended ends the audit, one out of budget does not.

    The audit then reads what was answered, and says how much of the plan that is.
    """
    stopped = ask_model(run, study.name, asking, tell).stopped
    if stopped == "interrupted":
        raise KeyboardInterrupt
    if stopped == "declined":
        raise OptionError("nothing was asked: the collection was declined.")


def _silent(_: str) -> None:
    """Say nothing."""


def _options(given: Mapping[str, Any]) -> Options:
    known = [field.name for field in dataclasses.fields(Options)]
    for name in given:
        if name not in known:
            raise OptionError(f"there is no option {name!r}; options: {', '.join(known)}.")
    return Options(**given)


def _collect(
    run: Run,
    study: Study,
    texts: Any,
    columns: Mapping[str, str],
    preset: str | None,
    replace: bool,
    shard_rows: int,
    tell: Say,
) -> None:
    note = run.texts.note()
    if texts is None:
        if not run.texts.parts() or not (note.get("complete") or note.get("asked")):
            raise OptionError(
                f"there are no texts: give a file or a model to ask, as {run.path} holds none yet."
            )
    else:
        note = import_texts(
            run,
            texts,
            study.fields,
            study.prompts(),
            columns=columns,
            preset=preset,
            shard_rows=shard_rows,
            replace=replace,
        )
    unread = {name: n for name, n in note["outcomes"].items() if n and name != "ok"}
    counted = "".join(f", {n:,} {name}" for name, n in unread.items())
    tell(f"texts: {note['n_texts']:,} of {len(note['models'])} model(s){counted}")


def _annotate(
    run: Run,
    study: Study,
    workers: int,
    executor: Executor | None,
    progress: Progress | None,
    tell: Say,
) -> str:
    labelled = bool(run.texts.note().get("labelled"))
    name = study.labelled_annotator if labelled else study.annotator
    stage = annotate_run(run, name, workers=workers, executor=executor, progress=progress)
    errors = stage.note().get("n_errors", 0)
    tell(f"people: {name}" + (f", {errors:,} texts failed and are counted" if errors else ""))
    return name


def _measure(run: Run, study: Study, annotator: str, options: Options, tell: Say) -> None:
    asked = dataclasses.asdict(options)
    mark = fingerprint(
        annotations=run.annotations(annotator).note()["fingerprint"],
        annotator=annotator,
        options=asked,
        measures=study.measures,
        table=_file_mark(options.name_table),
    )
    stage = Stage(run.path / "estimates")
    if not (stage.is_complete(mark) and run.estimates_path.exists()):
        stage.begin(mark)
        estimates = with_q_values(list(study.estimate(run, annotator, options)))
        write_parquet(estimates_to_table(estimates), run.estimates_path)
        stage.finish(mark, {"n_estimates": len(estimates)})
    run.write_settings(
        {
            "study": study.name,
            "portrayal": __version__,
            "annotator": annotator,
            "source": run.texts.note()["source"],
            "models": run.texts.note()["models"],
            "measures": list(study.measures),
            "options": {name: value for name, value in asked.items() if value is not None},
        }
    )
    tell(f"estimates: {stage.note()['n_estimates']:,}")


def _file_mark(name_table: str) -> str | None:
    """Size and time of a user's own name table, so that a changed one is read again."""
    path = Path(name_table)
    if not path.is_file():
        return None
    status = path.stat()
    return f"{status.st_size}:{status.st_mtime_ns}"


def with_q_values(estimates: list[Estimate]) -> list[Estimate]:
    """Add Benjamini–Hochberg q to each estimate's clustered test.

    A family is one measure of one model, or of all models together: each is read on its own, and
    the pooled tests repeat those of the single models.
    """
    families: dict[tuple[str, str], list[int]] = {}
    for i, estimate in enumerate(estimates):
        if estimate.tests:
            families.setdefault((estimate.measure, estimate.strata.get("model", ALL)), []).append(i)
    adjusted = list(estimates)
    for members in families.values():
        q = benjamini_hochberg([estimates[i].tests[0].p for i in members])
        for i, value in zip(members, q.tolist(), strict=True):
            first, *others = estimates[i].tests
            tests = (Test(first.p, first.method, value), *others)
            adjusted[i] = dataclasses.replace(estimates[i], tests=tests)
    return adjusted
