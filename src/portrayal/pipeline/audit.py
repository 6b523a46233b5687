"""The audit: runs the stages of a study in order, and only those whose inputs changed."""

import dataclasses
import re
import tempfile
from collections.abc import Iterable, Mapping
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

import portrayal.registry as registry
from portrayal._version import __version__
from portrayal.annotate import Annotator, annotate_run
from portrayal.annotate.agency.rows import Classifying, classifying_of_options
from portrayal.annotate.group_labels import GroupLabelling, group_labelling, group_labels_sentence
from portrayal.annotate.people.labeler import LABELERS, labelling_of_run
from portrayal.annotate.people.labeler.stage import Labelling, labelling_of_options
from portrayal.collect import import_texts
from portrayal.collect.ask import Asking, ask_model
from portrayal.collect.fields import parse_columns
from portrayal.collect.tables import keep_table
from portrayal.collect.texts import SHARD_ROWS, said_left_out
from portrayal.errors import OptionError
from portrayal.measure.scope import with_q_values
from portrayal.pipeline.datasheet import write_datasheet
from portrayal.reference.labels import kept_words
from portrayal.run import (
    Run,
    Stage,
    estimates_to_table,
    fingerprint,
    influences_to_table,
    read_prompts,
    write_parquet,
)
from portrayal.run.files import is_whole
from portrayal.run.shards import Progress
from portrayal.studies.groups import (
    GROUPS,
    MEASURES,
    factors_of,
    group_annotations,
    group_estimates,
    named_factors,
    people_among,
    with_columns,
)
from portrayal.studies.own import keep_study
from portrayal.studies.study import Options, Study
from portrayal.types import Say, Tabular
from portrayal.validate import check_count

_ADDRESS = re.compile(r"\w{2,}:/", re.ASCII)  # pathlib makes "s3://" into "s3:/"


def audit(
    study: str,
    *,
    texts: Tabular | None = None,
    reference: Tabular | None = None,
    pair_by: str | None = None,
    model: str | Asking | None = None,
    samples: int = 1,
    out: str | Path | None = None,
    columns: Mapping[str, str] | Iterable[str] | None = None,
    reference_columns: Mapping[str, str] | Iterable[str] | None = None,
    preset: str | None = None,
    replace: bool = False,
    unknown_prompts: str = "skip",
    workers: int = 1,
    executor: Executor | None = None,
    shard_rows: int = SHARD_ROWS,
    report: bool = True,
    labeler_settings: Mapping[str, Any] | None = None,
    classifier_settings: Mapping[str, Any] | None = None,
    factor_settings: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    say: Say | None = None,
    **options: Any,
) -> Run:
    """Audit texts and return the run.

    Parameters
    ----------
    study
        Registered name, such as "laissez-faire" or "laissez_faire", or the path of a study of your
        own: a TOML file, or a folder with study.toml.
    texts
        A path (CSV, JSON lines, Parquet, Excel), a DataFrame, or an iterable of mappings. May be
        left out when `out` holds texts already.
    reference
        The texts that people wrote, for a study that compares with them; likewise.
    pair_by
        Column that says which reference text a text belongs to, in both files.
    model, samples
        A model to ask in place of texts, "openai:gpt-5-mini" or an `Asking` with every setting,
        and how many answers to each prompt.
    out
        The run directory; a new temporary one by default. An audit that stopped continues there.
    columns
        Field → column name, or "FIELD=NAME" strings, over what is guessed.
    reference_columns
        The same for the reference texts.
    preset
        Column mapping of a published file.
    replace
        Whether a run that holds other texts may be emptied.
    unknown_prompts
        What becomes of texts whose prompt is not the study's and that do not say who is in it:
        "skip" (left out and counted) or "error".
    workers
        Local processes. With more than one, a script must guard its entry point with
        ``if __name__ == "__main__":`` as `multiprocessing` asks.
    executor
        Any `concurrent.futures.Executor` in place of local processes.
    shard_rows
        Texts in a shard. No number depends on it, on `workers` or on `executor`.
    report
        Whether to write `report.html`.
    labeler_settings
        How a labeling model is asked: fields of `portrayal.collect.ask.asking.Asking`, such as
        `base_url`, `budget` or `confirm`. Who labels is among the options.
    classifier_settings
        How a model that classifies sentences ("llm:…") is asked: likewise.
    factor_settings
        How the model that labels groups of factors (`factor_model`) is asked: likewise.
    progress, say
        Called with (shards done, shards in all), and with a line about each stage.
    **options
        The study's own options (`portrayal audit STUDY --help` lists them): level, seed, …. Where
        one names a file of a table, a DataFrame may stand; it is kept in the run's folder `given`.

    Returns
    -------
    Run
        With `.estimates` (an Arrow table) and `.records`; `portrayal.write_report` reports it.

    Raises
    ------
    DataError, OptionError, RunError
        Saying what was expected, what came and what to do.

    Examples
    --------
    >>> text = "Maria was a star student. She helped her classmate Juan, and he thanked her."
    >>> stories = [{"prompt_id": "learning-neutral-arts", "text": text}] * 3
    >>> run = audit("laissez-faire", texts=stories, out="first", report=False)
    >>> women = {"domain": "Learning", "model": "all"}, {"gender": "F"}
    >>> found = [e for e in run.records if (e.strata, e.group) == women]
    >>> [(e.measure, round(e.value, 2)) for e in found if e.measure == "representation.v1"]
    [('representation.v1', 1.97)]
    """
    chosen: Study = registry.get("studies", study)
    check_count("workers", workers, minimum=1)
    check_count("shard_rows", shard_rows, minimum=1)
    if out is not None and _ADDRESS.match(str(out)):
        raise OptionError(f"{out} is an address; a run is a folder. Copy it there when it is done.")
    run = Run(Path(out if out is not None else tempfile.mkdtemp(prefix="portrayal-")))
    choice = _options(chosen, _written(run, options))
    grouping = group_labelling(factors_of(choice), choice.factor_model, factor_settings)
    labelling = labelling_of_options(choice, labeler_settings)
    classifying = classifying_of_options(choice, classifier_settings)
    tell = say or _silent
    for line in choice.said():
        tell(line)
    if model is not None and texts is not None:
        raise OptionError("give either texts or a model to ask, not both.")
    paired = _pairing(chosen, reference, pair_by)
    mapping = {**paired, **_mapping(columns)}
    loading: dict[str, Any] = {"shard_rows": shard_rows, "replace": replace}
    with run.lock():
        labelling = labelling and labelling.ready(run)
        classifying = classifying and classifying.ready(run)
        grouping = grouping and grouping.ready(run, GROUPS)
        if chosen.pair_field is not None:
            _collect_reference(
                run, chosen, reference, {**paired, **_mapping(reference_columns)}, loading, tell
            )
        if model is not None:
            asking = Asking(model, samples) if isinstance(model, str) else model
            _ask(run, chosen, _about_pairs(run, chosen, asking), tell)
        loading |= {"preset": preset, "unknown_prompts": unknown_prompts}
        _collect(run, chosen, choice, texts, mapping, loading, tell)
        work = {"workers": workers, "executor": executor, "progress": progress}
        annotations = _annotate(run, chosen, choice, (labelling, classifying, grouping), work, tell)
        fitted = None if chosen.fit is None else chosen.fit(run, choice, tell)
        _measure(run, chosen, annotations, choice, fitted, tell)
        write_datasheet(run, run.datasheet_path)
        if report:
            from portrayal.report import reader_line, write_report

            if line := reader_line(run):
                tell(line)
            tell(f"report: {write_report(run)}")
    return run


def _written(run: Run, options: Mapping[str, Any]) -> dict[str, Any]:
    """Options with each table in them written to a file of the run, which `audit.toml` can name."""

    def written(name: str, value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return type(value)(written(name, each) for each in value)
        if hasattr(value, "__arrow_c_stream__"):
            return keep_table(value, run.path / "given", name)
        return value

    return {name: written(name, value) for name, value in options.items()}


def _options(study: Study, given: Mapping[str, Any]) -> Options:
    known = [field.name for field in dataclasses.fields(study.options)]
    for name in given:
        if name not in known:
            raise OptionError(
                f"{study.name} has no option {name!r}; its options: {', '.join(known)}."
            )
    return study.options(**given)


def _mapping(columns: Mapping[str, str] | Iterable[str] | None) -> dict[str, str]:
    return dict(columns) if isinstance(columns, Mapping) else parse_columns(columns or ())


def _pairing(study: Study, reference: Any, pair_by: str | None) -> dict[str, str]:
    """The column mapping that pairs texts with reference texts; refused where there is none."""
    if study.pair_field is None:
        if reference is not None or pair_by is not None:
            raise OptionError(f"{study.name} compares texts with no reference; leave it out.")
        return {}
    return {} if pair_by is None else {study.pair_field: pair_by}


def _silent(_: str) -> None:
    """Say nothing."""


def _collect_reference(
    run: Run,
    study: Study,
    reference: Any,
    columns: Mapping[str, str],
    loading: Mapping[str, Any],
    tell: Say,
) -> None:
    note = run.reference.note()
    if reference is not None:
        note = import_texts(
            run, reference, study.fields, (), columns=columns, reference=True, **loading
        )
    elif not note.get("complete"):
        raise OptionError(
            f"{study.name} compares texts with those that people wrote: give them as reference "
            f"(--reference FILE), as {run.path} holds none yet."
        )
    tell(f"reference: {note['n_texts']:,} texts{_unread(note)}")


def _about_pairs(run: Run, study: Study, asking: Asking) -> Asking:
    """Return `asking` with the run's reference as what the prompts are made from.

    A prompt file, or headlines that the user named, are left as they are.
    """
    options = dict(asking.prompt_options)
    if study.pair_field is None or asking.prompts is not None or "headlines" in options:
        return asking
    return dataclasses.replace(asking, prompt_options={"headlines": _pairs(run, study), **options})


def _pairs(run: Run, study: Study) -> list[dict[str, str]]:
    """Return the strata of each reference text, under the names that prompt makers read."""
    return [
        {"headline": strata[str(study.pair_field)]}
        | {name: strata[name] for name in ("domain", "source") if name in strata}
        for strata in read_prompts(run.reference_prompts_path).values()
    ]


def _ask(run: Run, study: Study, asking: Asking, tell: Say) -> None:
    """Ask the model; a collection that the user ended ends the audit, one out of budget does not.

    The audit then reads what was answered, and says how much of the plan that is.
    """
    stopped = ask_model(run, study.key, asking, tell).stopped
    if stopped == "interrupted":
        raise KeyboardInterrupt
    if stopped == "declined":
        raise OptionError("nothing was asked: the collection was declined.")


def _collect(
    run: Run,
    study: Study,
    options: Options,
    texts: Any,
    columns: Mapping[str, str],
    loading: Mapping[str, Any],
    tell: Say,
) -> None:
    note = run.texts.note()
    if texts is None:
        run.check(run.texts)
        if not run.texts.parts() or not (note.get("complete") or note.get("asked")):
            raise OptionError(
                f"there are no texts: give a file or a model to ask, as {run.path} holds none yet."
            )
        answered = {name: n for name, n in note["outcomes"].items() if name != "failed"}
        if note.get("asked") and not any(answered.values()):
            raise OptionError(
                f"no request of {run.path} has an answer, so there is nothing to audit. Ask again: "
                "the same command with --model."
            )
    else:
        fields = with_columns(options.text_fields(study.fields), factors_of(options))
        note = import_texts(run, texts, fields, study.prompts(), columns=columns, **loading)
    tell(f"texts: {note['n_texts']:,} of {len(note['models'])} model(s){_unread(note)}")
    if left_out := note.get("left_out"):
        tell(f"left out, as their prompts are not the study's: {said_left_out(left_out)}")


def _unread(note: Mapping[str, Any]) -> str:
    unread = {name: n for name, n in note["outcomes"].items() if n and name != "ok"}
    return "".join(f", {n:,} {name}" for name, n in unread.items())


def _annotate(
    run: Run,
    study: Study,
    options: Options,
    asked: tuple[Labelling | None, Classifying | None, GroupLabelling | None],
    work: Mapping[str, Any],
    tell: Say,
) -> list[Stage]:
    local = options.locale_settings()

    def embed() -> str:
        return str(
            annotate_run(run, LABELERS["embedded"], settings=local, **work).note()["annotator"]
        )

    labelling, classifying, grouping = asked
    every = study.annotations(run, options)
    if classifying is not None:
        every = classifying.answered(run, every, tell)
    every = (*every, *group_annotations(options, every))
    people = people_among(each.name for each in every)
    stages = []
    for wanted in every:
        if grouping is not None and wanted.name == GROUPS:
            wanted = grouping.answered(run, wanted, people, tell)  # noqa: PLW2901
        if labelling is not None and wanted.name == labelling.annotator:
            stages.append(run.annotations(labelling.label(run, embed, tell)))
            continue
        stage = annotate_run(
            run, wanted.name, settings=wanted.settings, reference=wanted.reference, **work
        )
        errors = stage.note().get("n_errors", 0)
        of = "reference texts" if wanted.reference else "texts"
        failed = f", {errors:,} {of} failed and are counted" if errors else ""
        annotator: Annotator = registry.get("annotators", wanted.name)
        tell(f"annotated {of}: {wanted.name}{failed}; how right: {annotator.accuracy}")
        stages.append(stage)
    return stages


def _measure(
    run: Run,
    study: Study,
    annotations: list[Stage],
    options: Options,
    fitted: Any,
    tell: Say,
) -> None:
    asked = dataclasses.asdict(options)
    measures = [*study.measures, *(MEASURES if options.factor else ())]
    notes = [stage.note() for stage in annotations]
    names = list(dict.fromkeys(note["annotator"] for note in notes))
    mark = fingerprint(
        annotations=[note["fingerprint"] for note in notes],
        annotators=names,
        fitted=fitted,
        options=asked,
        measures=measures,
        files={name: _file_mark(value) for name, value in asked.items()},
    )
    stage = Stage(run.path / "estimates")
    made = is_whole(run.estimates_path) and is_whole(run.influences_path)
    if not (stage.is_complete(mark) and made):
        stage.begin(mark)
        own = [*study.estimate(run, options), *group_estimates(run, study, options, names)]
        estimates = with_q_values(own, study.stated)
        write_parquet(influences_to_table(estimates), run.influences_path)
        write_parquet(estimates_to_table(estimates), run.estimates_path)
        stage.finish(mark, {"n_estimates": len(estimates)})
    reference = run.reference.note().get("source") if study.pair_field else None
    keep_study(study, run)
    settings = {
        "study": study.name,
        "portrayal": __version__,
        "annotators": names,
        "source": run.texts.note()["source"],
        "reference": reference,
        "models": run.texts.note()["models"],
        "measures": measures,
        "options": {name: value for name, value in asked.items() if value is not None},
        "factors": kept_words(named_factors(options)),
        "labeler": next(filter(None, (labelling_of_run(run, name) for name in names)), None),
        "group_labels": group_labels_sentence(run, GROUPS) if options.factor else None,
    }
    run.write_settings({n: value for n, value in settings.items() if value not in (None, [])})
    tell(f"estimates: {stage.note()['n_estimates']:,}")


def _file_mark(value: Any) -> Any:
    """Size and time of a file that an option names, so that a changed one is read again."""
    if isinstance(value, (tuple, list)):
        return [_file_mark(item) for item in value]
    path = Path(value) if isinstance(value, str) and value else None
    if path is None or not path.is_file():
        return None
    status = path.stat()
    return f"{status.st_size}:{status.st_mtime_ns}"
