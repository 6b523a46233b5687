"""The audit: runs the stages of a study in order, and only those whose inputs changed."""

import dataclasses
import os
import re
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import portrayal.registry as registry
from portrayal._version import __version__
from portrayal.annotate import Annotator, annotate_run
from portrayal.annotate.agency.rows import classifying_of
from portrayal.annotate.annotator import unread_words
from portrayal.annotate.group_labels import group_labelling, group_labels_sentence
from portrayal.annotate.llm import ModelReader
from portrayal.annotate.people.labeler.stage import labelling_of, labelling_of_run
from portrayal.collect import import_texts
from portrayal.collect.ask.loop import ask_model
from portrayal.collect.corpus import asked_source, is_asked
from portrayal.collect.fields import parse_columns
from portrayal.collect.sources import TextSource, open_source
from portrayal.collect.texts import SHARD_ROWS, said_left_out
from portrayal.errors import OptionError
from portrayal.measure.scope import Question, sides_of, with_q_in
from portrayal.measure.tables import check_measures
from portrayal.models.loading import on_one_core
from portrayal.pipeline.config import AuditConfig
from portrayal.recognise import Design, recognise, text_column
from portrayal.records import ALL, OTHERS
from portrayal.reference.labels import kept_words
from portrayal.run import Run, Stage, estimates_to_table, fingerprint, read_prompts, write_parquet
from portrayal.run.estimates import influences_to_table
from portrayal.run.files import is_whole
from portrayal.run.manifest import (
    ANNOTATED,
    ANSWERS,
    MEASURED,
    REFERENCE,
    REFERENCE_ANNOTATED,
    REPORTED,
    TEXTS,
    TOPICS,
    digests,
    files_named,
)
from portrayal.run.shards import Progress
from portrayal.shown import counted
from portrayal.studies.groups import (
    GROUPS,
    MEASURES,
    factors_of,
    group_annotations,
    group_tables,
    named_factors,
)
from portrayal.studies.own import keep_study
from portrayal.studies.study import Options, Study
from portrayal.types import Say, Tabular


def _silent(_: str) -> None:
    """Tell nobody."""


_ADDRESS = re.compile(r"\w{2,}:/", re.ASCII)  # pathlib makes "s3://" into "s3:/"


@on_one_core
def audit(
    texts: Tabular | TextSource | None = None,
    *,
    study: str | None = None,
    by: str | Sequence[str] = (),
    score: str | Sequence[str] = (),
    columns: Iterable[str] | Mapping[str, str] = (),
    reference: Tabular | None = None,
    model: Any = None,
    out: str | Path | None = None,
    asked: bool = False,
    population: str | None = None,
    level: float | None = None,
    hand_labels: str | Path | None = None,
    workers: int | None = None,
    report: bool | None = None,
    config: AuditConfig | str | Path | None = None,
    progress: Progress | None = None,
    say: Say | None = None,
    **options: Any,
) -> Run:
    """Audit texts, or a model's answers, and return the run.

    Parameters
    ----------
    texts
        A path (CSV, JSON lines, Parquet, Excel, a log of chats or of an evaluation), a DataFrame,
        or an iterable of mappings. May be left out when `out` holds texts already.
    study
        Registered name, such as "laissez-faire" or "laissez_faire", or the path of a study of your
        own: a TOML file, or a folder with study.toml. None recognises what the columns are, and
        which comparison they allow (`portrayal.recognise`); `say` is told.
    by
        Columns of groups whose texts are compared, such as "user_gender", or "race*gender" for
        their intersections; of a study, the columns by which it splits.
    score
        Columns of numbers or of yes and no that are compared beside the built-in scores.
    columns
        Field → column name, or "FIELD=NAME" strings, over what is guessed.
    reference
        The texts that people wrote, for a study that compares with them.
    model
        A model to ask in place of texts: "openai:gpt-5-mini", or an `Asking` with every setting.
    out
        The run directory; a new temporary one by default. An audit that stopped continues there.
    asked
        Whether the texts were asked for by the groups of `by`, where that cannot be seen.
    population, level, hand_labels
        What findings are about ("prompts like these" or "these-prompts"), the confidence level, and
        a file of labels by hand that correct the estimates.
    workers, report
        Local processes, and whether to write `report.html`.
    config
        Everything that may be chosen, in one record, in place of options by name; or a file, such
        as the `audit.toml` of a run, over which they count.
    progress, say
        Called with (shards done, shards in all), and with a line about each stage.
    **options
        Further fields of the records of `AuditConfig`, each by its name (`pair_by`, `replace`,
        `samples`, `base_url`, `executor`, …), and the study's own options (`portrayal audit STUDY
        --help` lists them).

    Returns
    -------
    Run
        With `.findings`, `.estimates` (an Arrow table), `.records` and `.plot()`;
        `portrayal.write_report` reports it.

    Raises
    ------
    DataError, OptionError, RunError
        Saying what was expected, what came and what to do.

    Examples
    --------
    >>> text = "Maria was a star student. She helped her classmate Juan, and he thanked her."
    >>> stories = [{"prompt_id": "learning-neutral-arts", "text": text}] * 3
    >>> run = audit(stories, study="laissez-faire", out="first", report=False)
    >>> women = {"domain": "Learning", "model": "all"}, {"gender": "F"}
    >>> found = [e for e in run.records if (e.strata, e.group) == women]
    >>> [(e.measure, round(e.value, 2)) for e in found if e.measure == "representation.v1"]
    [('representation.v1', 1.97)]
    """
    tell = of_stages = say or _silent
    by, score = ((names,) if isinstance(names, str) else tuple(names) for names in (by, score))
    options |= {
        "model": model,
        "population": population,
        "level": level,
        "hand_labels": None if hand_labels is None else str(hand_labels),
        "workers": workers,
        "report": report,
    }
    options = {name: value for name, value in options.items() if value is not None}
    if study is None:
        design = _recognised(texts, by, score, columns, asked, model)
        for line in design.lines:
            tell(line)
        of_stages = _silent  # which say what the lines of the design said already
        study, texts, columns = design.study, design.texts, design.columns
        options = {**design.options, **options}
    else:
        options |= {name: names for name, names in (("by", by), ("score", score)) if names}
    options |= {"columns": columns} if columns else {}
    study_record: Study = registry.get("studies", study)
    # Options by name and a file are both made into the one record, and checked there
    if not isinstance(config, AuditConfig):
        config = AuditConfig.of(options, study_record.options, study_record.name, config)
    elif options:
        raise OptionError(f"give either config or options by name, not both: {', '.join(options)}.")
    # A path of "s3://…" would silently become a folder called "s3:" here
    if out is not None and _ADDRESS.match(str(out)):
        raise OptionError(f"{out} is an address; a run is a folder. Copy it there when it is done.")
    run = Run(Path(out if out is not None else tempfile.mkdtemp(prefix="portrayal-")))
    if config.asking is not None and texts is not None:
        raise OptionError("give either texts or a model to ask, not both.")
    name = study_record.name
    if not study_record.reference and reference is not None:
        raise OptionError(f"{name} compares texts with no reference; leave it out.")
    if study_record.pair_field is None and config.pair_by is not None:
        raise OptionError(f"{name} has no pairs, so --pair-by fits nothing; leave it out.")
    # Two audits in one folder would each write half of a run
    with run.lock():
        _stages(run, study_record, config, texts, reference, progress, of_stages)
        if config.report:
            _report(run, tell)
    return run


def _report(run: Run, tell: Say) -> None:
    """Write the page, and say what was found."""
    # Imported here: drawing takes long to load, and an audit may go without
    from portrayal.report import answer_lines, write_report
    from portrayal.report.view import View

    view = View.of(run)  # read once for page and terminal
    tell(f"report: {write_report(view)}")
    for line in answer_lines(view):
        tell(line)


def _recognised(
    texts: Tabular | TextSource | None,
    by: Sequence[str],
    score: Sequence[str],
    columns: Iterable[str] | Mapping[str, str],
    asked: bool,
    model: Any,
) -> Design:
    """What the columns of a file are, and which comparison they allow."""
    if texts is None or model is not None:
        raise OptionError(
            "say by which study a model is asked, such as laissez-faire (in Python study=…); "
            "texts alone need none."
        )
    if isinstance(texts, str) and texts in registry.names("studies"):
        raise OptionError(f"{texts} is a study, no file: audit(texts, study={texts!r}).")
    column_of = parse_columns(columns)
    if isinstance(texts, (str, Path)) and is_asked(texts):
        source = asked_source(texts)
        column_of = {name: name for name in ("text", "prompt", "model")} | column_of
    else:
        source = open_source(texts, score)
    design = recognise(source, by=by, columns=column_of, scores=score, asked=asked)
    if design.question:
        raise OptionError(design.question)
    return design


def _stages(
    run: Run,
    study: Study,
    config: AuditConfig,
    texts: Tabular | TextSource | None,
    reference: Tabular | None,
    progress: Progress | None,
    tell: Say,
) -> None:
    """Run the stages in order, in a run that is held: what fits of an earlier audit is kept."""
    # What this audit makes anew may be mended; anything else that does not fit is an error
    makes = {ANSWERS, ANNOTATED, REFERENCE_ANNOTATED, TOPICS, MEASURED, REPORTED}
    makes |= {TEXTS} if texts is not None or config.asking is not None else set()
    makes |= {REFERENCE} if reference is not None else set()
    # First of all, so that no stage rests on a file that is not as it was made
    for line in run.manifest.mend(makes, by_user=config.asking is not None):
        tell(line)
    options = study.options(**config.options)  # checked by the study's own record
    readers: list[ModelReader | None] = [
        group_labelling(factors_of(options), options.factor_model, config.llm_settings),
        classifying_of(getattr(options, "classifier", ""), config.llm_settings),
    ]
    # Studies of news or scores have no characters to label
    study_options: Any = options
    if hasattr(study_options, "labeler_model"):
        labeler = study_options.labeler, study_options.labeler_model, study_options.labeler_samples
        readers.append(labelling_of(*labeler, config.llm_settings))
    for line in options.said():
        tell(line)
    # Before any text is read, so that a missing key is told in seconds
    models = [reader.ready(run) for reader in readers if reader is not None]
    # The stages proper: texts, annotations, measures, report
    _collect(run, study, options, config, texts, reference, tell)
    # Only now is it known which models and groups there are to ask about
    if questions := options.questions():
        values = options.group_values(read_prompts(run.prompts_path).values())
        values["model"] = {*run.texts.note()["models"]}
        check_questions(questions, measures_of(study, options), values)
    work = {"workers": config.workers, "executor": config.executor}
    annotations = _annotate(run, study, options, models, {**work, "progress": progress}, tell)
    _measure(run, study, annotations, options, config, tell)


def _collect(
    run: Run,
    study: Study,
    options: Options,
    config: AuditConfig,
    texts: Tabular | TextSource | None,
    reference: Tabular | None,
    tell: Say,
) -> None:
    """Bring the reference and the texts into the run: from files, or by asking a model."""
    loading: dict[str, Any] = {"replace": config.replace, "by_content": text_column}
    loading["shard_rows"] = config.shard_rows or SHARD_ROWS
    paired = {str(study.pair_field): config.pair_by} if config.pair_by is not None else {}
    # The reference first, as prompts for a model may be made from its headlines
    if study.reference:
        note = run.reference.note()
        if reference is not None:
            columns = paired | parse_columns(config.reference_columns)
            note = import_texts(
                run, reference, study.fields, (), columns=columns, reference=True, **loading
            )
        elif not note.get("complete"):
            raise OptionError(
                f"{study.name} compares texts with those that people wrote: give them as reference "
                f"(--reference FILE), as {run.path} holds none yet."
            )
        tell(f"reference: {counted(note['n_texts'], 'text')}{_unread(note)}")
    if config.asking is not None:
        _ask(run, study, config, tell)
    if texts is not None:
        columns_of_factors = (name for factor in factors_of(options) for name in factor.columns)
        fields = options.text_fields(study.fields).keeping(columns_of_factors)
        loading |= {"preset": config.preset, "aliases": parse_columns(config.model_alias)}
        columns = paired | parse_columns(config.columns)
        import_texts(run, texts, fields, study.prompts(), columns=columns, **loading)
    run.check(under_way=True)  # what this audit does not make must be as it was
    note = run.texts.note()
    if texts is None:
        if not run.texts.parts() or not (note.get("complete") or note.get("asked")):
            raise OptionError(
                f"there are no texts: give a file or a model to ask, as {run.path} holds none yet."
            )
        # Refusals are answers too, and are audited; a failed request is none
        answered = {name: n for name, n in note["outcomes"].items() if name != "failed"}
        if note.get("asked") and not any(answered.values()):
            raise OptionError(
                f"no request of {run.path} has an answer, so there is nothing to audit. Ask again: "
                "the same command with --model."
            )
    tell(f"texts: {note['n_texts']:,} of {counted(len(note['models']), 'model')}{_unread(note)}")
    for line in _oddities(study, note) if texts is not None else ():
        tell(line)
    if left_out := note.get("left_out"):
        tell(f"left out, as their prompts are not the study's: {said_left_out(left_out)}")


def _oddities(study: Study, note: Mapping[str, Any]) -> Iterator[str]:
    """What a user may not know of a file's columns and rows, in one line each."""
    if "model" not in note["mapping"]:
        yield "no column names a model: all texts are of one, unnamed; --column model=NAME"
    # Answers to a file of requests name their prompts in `custom_id`
    names_prompt = {"prompt", "prompt_id"} & note["mapping"].keys()
    names_prompt |= {"custom_id"} & {*note["mapping"].values()}
    if not names_prompt and "subject_role" in study.fields.strata:
        yield "no column names a prompt: texts of the same strata are of one; --column prompt=NAME"
    if n := note.get("n_reasoned"):
        yield f"{counted(n, 'text')} held reasoning, which was removed"
    if lacking := note.get("without_column"):
        yield (
            f"{counted(lacking['n'], 'row')} without a column {lacking['column']!r}, the first is "
            f"row {lacking['row']:,} with {', '.join(lacking['columns'])}; they count as empty"
        )
    if n := note.get("n_repeated_ids"):
        yield f"{counted(n, 'row')} with the text_id of an earlier row; each is a text of its own"


def _ask(run: Run, study: Study, config: AuditConfig, tell: Say) -> None:
    """Ask the model; a collection that the user ended ends the audit, one out of budget does not.

    The audit then reads what was answered, and says how much of the plan that is. Prompts are made
    from the run's reference, unless the user named a prompt file or headlines.
    """
    asking = config.asking
    assert asking is not None
    if study.reference and asking.prompts is None:
        strata = read_prompts(run.reference_prompts_path).values()
        headlines = [{"headline": stratum[str(study.pair_field)]} for stratum in strata]
        prompt_options = {"headlines": headlines, **asking.prompt_options}
        asking = dataclasses.replace(asking, prompt_options=prompt_options)
    stopped = ask_model(run, study.key, asking, tell).stopped
    if stopped == "interrupted":  # Ctrl-C means the whole command
        raise KeyboardInterrupt
    if stopped == "declined":
        raise OptionError("nothing was asked: the collection was declined.")


def _unread(note: Mapping[str, Any]) -> str:
    unread = {name: n for name, n in note["outcomes"].items() if n and name != "ok"}
    return "".join(f", {n:,} {name}" for name, n in unread.items())


def _annotate(
    run: Run,
    study: Study,
    options: Options,
    models: Sequence[ModelReader],
    work: Mapping[str, Any],
    tell: Say,
) -> list[Stage]:
    annotations = study.annotations(run, options)
    # Groups come last, as they may be seen in the people that others have found
    annotations = (*annotations, *group_annotations(options, annotations))
    reader_of = {name: model for model in models for name in model.annotators}
    stages = []
    for planned in annotations:
        if planned.name in reader_of:
            planned = reader_of[planned.name].answered(run, planned, tell)  # noqa: PLW2901
        stage = annotate_run(
            run, planned.name, settings=planned.settings, reference=planned.reference, **work
        )
        of = "reference texts" if planned.reference else "texts"
        unread = f", {words}" if (words := unread_words(stage.note())) else ""
        annotator: Annotator = registry.get("annotators", planned.name)
        tell(f"annotated {of}: {planned.name}{unread}; how right: {annotator.accuracy}")
        stages.append(stage)
    return stages


def _measure(
    run: Run,
    study: Study,
    annotations: list[Stage],
    options: Options,
    config: AuditConfig,
    tell: Say,
) -> None:
    fitted = None if study.fit is None else study.fit(run, options, tell)
    option_values = dataclasses.asdict(options)
    measures = measures_of(study, options)
    questions = options.questions()
    questions_asked = asked_when(run, questions)
    notes = [stage.note() for stage in annotations]
    names = list(dict.fromkeys(note["annotator"] for note in notes))
    folders = [stage.folder.relative_to(run.path).as_posix() for stage in annotations]
    used = (TEXTS, REFERENCE, ANSWERS, TOPICS, *folders)
    run.manifest.settle(used)
    mark = fingerprint(
        read=run.manifest.made(TEXTS, REFERENCE, *folders),
        annotators=names,
        fitted=fitted,
        options=option_values,
        measures=measures,
        files=digests(files_named(option_values.values())),
    )
    stage = Stage(run.path / "estimates")
    is_written = is_whole(run.estimates_path) and is_whole(run.influences_path)
    if not (stage.is_complete(mark) and is_written):
        all_tables = study.tables(run, options), group_tables(run, study, options, names)
        check_measures([name for name in measures if name not in study.measures], all_tables)
        rows = [estimate for tables in all_tables for estimate in tables.estimates(measures)]
        family = (options.level, options.seed), study.stated, questions
        estimates = with_q_in(options.population, rows, *family)
        run.manifest.open(MEASURED)
        stage.begin(mark)
        write_parquet(influences_to_table(estimates), run.influences_path)
        write_parquet(estimates_to_table(estimates), run.estimates_path)
        stage.finish(mark, {"n_estimates": len(estimates)})
    reference = run.reference.note().get("source") if study.reference else None
    run.manifest.open(MEASURED)
    keep_study(study, run)  # a study of the user's own may change; the run keeps what it was
    settings = {
        "study": study.name,
        "portrayal": __version__,
        "annotators": names,
        "source": run.texts.note()["source"],
        "reference": reference,
        "models": run.texts.note()["models"],
        "measures": measures,
        "questions": questions_asked,
        "options": {n: _beside(value) for n, value in option_values.items() if value is not None},
        **config.tables(),
        "factors": kept_words(named_factors(options)),
        "labeler": next(filter(None, (labelling_of_run(run, name) for name in names)), None),
        "group_labels": group_labels_sentence(run, GROUPS) if options.factor else None,
    }
    run.write_settings({n: value for n, value in settings.items() if value not in (None, [])})
    tell(f"estimates: {stage.note()['n_estimates']:,}")
    if options.hand_labels is not None or getattr(options, "correct_by", None) is not None:
        from portrayal.report import correction_lines

        for line in correction_lines(run):
            tell(line)


def measures_of(study: Study, options: Options) -> list[str]:
    """Return the registered names of what an audit measures, in the order of the report."""
    names = (*study.measures, *(MEASURES if options.factor else ()), *options.further_measures())
    return list(dict.fromkeys(names))


def _beside(value: Any) -> Any:
    """An option with whole paths in it as paths from here, which say nothing of this machine."""
    if isinstance(value, (tuple, list)):
        return type(value)(map(_beside, value))
    if not (isinstance(value, str) and Path(value).is_absolute() and Path(value).exists()):
        return value
    with suppress(ValueError):  # on another drive
        return Path(os.path.relpath(value)).as_posix()
    return value


_MOST_NAMED = 20


def check_questions(
    questions: Sequence[Question], measures: Sequence[str], values: Mapping[str, Collection[str]]
) -> None:
    """Refuse a question that no estimate could answer, before any text is read.

    Parameters
    ----------
    questions
        As they were asked.
    measures
        Registered names of what the audit measures.
    values
        What is known of the values of strata and groups (`Options.group_values`); a key that is not
        among them is of the measure's own strata, and is not checked.

    Raises
    ------
    OptionError
        Naming what exists.

    Examples
    --------
    >>> asked = [Question.of("subordination race=Klingon")]
    >>> check_questions(asked, ["subordination.v1"], {"race": ["Black", "White"]})
    Traceback (most recent call last):
    portrayal.errors.OptionError: --question 'subordination race=Klingon': no race is 'Klingon'; \
there are: Black, White.
    """
    for question in questions:
        option = f"--question {question.text!r}"
        if question.measure not in measures:
            raise OptionError(
                f"{option}: this audit does not measure {question.measure}; it measures: "
                f"{_some(measures)}."
            )
        for key, value in question.where.items():
            if key not in values:  # a stratum of the measure's own, which only the measure knows
                continue
            names = sorted(values[key])
            for side in sides_of(value):
                if side not in (*names, ALL, OTHERS):
                    raise OptionError(f"{option}: no {key} is {side!r}; there are: {_some(names)}.")


def asked_when(run: Run, questions: Sequence[Question]) -> list[dict[str, Any]]:
    """Return when each question was asked first, and whether the run was audited before that.

    Parameters
    ----------
    run
        The run, before its estimates are made anew; it keeps what was asked in `audit.toml`, and
        in its manifest when it was first measured.
    questions
        Those that are asked now.
    """
    if not questions:  # so that a damaged `audit.toml` is written anew
        return []
    first = run.manifest.first_measured
    audited = bool(first) or run.estimates_path.is_file()
    earlier = run.settings().get("questions", []) if run.settings_path.is_file() else []
    first_asked = {Question.of(record["text"]).key: record for record in earlier}
    today = datetime.now(tz=UTC).date().isoformat()
    now: dict[str, Any] = {"on": today, "after_an_audit": audited}
    if first:
        now["first_audit"] = first
    # The first day stays, also when a question is put in other words
    return [{**first_asked.get(question.key, now), "text": question.text} for question in questions]


def _some(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
