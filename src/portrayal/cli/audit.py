"""The commands `collect` and `audit`: a subcommand for each study, with the study's own options."""

import dataclasses
import os
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import portrayal.cli.printing as show
import portrayal.registry as registry
from portrayal.cli.asking import (
    BATCH,
    BESIDE,
    BESIDE_BATCH,
    LIMITS,
    WHOM,
    How,
    Offers,
    asking_progress,
    asks,
    offering,
    reading_settings,
    under_way,
)
from portrayal.cli.options import Columns, Format, PromptFile, Replace
from portrayal.cli.studies import chosen, each_study, of_study, option_name
from portrayal.errors import OptionError

if TYPE_CHECKING:
    from portrayal.collect.ask import CollectReport
    from portrayal.run import Run


@offering
def _collect(
    study: str,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Run directory; default runs/STUDY.")
    ] = None,
    prompts: PromptFile = None,
    *,
    prompt_options: Mapping[str, Any],
    how: Annotated[How, Offers((*WHOM, *LIMITS, "judge", *BATCH))],
    format: Format = "table",
) -> None:
    """Ask a model all prompts of a study; the same command continues after anything."""
    from portrayal.collect.ask import ask_model
    from portrayal.pipeline.datasheet import write_datasheet
    from portrayal.run import Run

    json = format == "json"
    run = Run(out or Path("runs") / registry.called(study))
    with run.lock(), asking_progress(quiet=json) as advance:
        asking = how.asking(advance, prompts=prompts, prompt_options=prompt_options)
        report = ask_model(run, study, asking, show.nothing if json else show.line)
        if run.texts.parts():
            write_datasheet(run, run.datasheet_path)
    if json:
        show.as_json(_report_facts(run, report))
    if report.stopped == "interrupted":
        raise KeyboardInterrupt


collect = each_study(
    "collect",
    "Ask a model all prompts of a study; the same command continues after anything.",
    "prompts",
    lambda study: (
        of_study(_collect, study),
        f"Ask a model all prompts of {study}.\n\n"
        f"Example: portrayal collect {study} --model openai:gpt-5-mini --samples 5",
    ),
)


def _report_facts(run: "Run", report: "CollectReport") -> dict[str, Any]:
    """What a collection did, as plain values."""
    return {
        "run": str(run.path),
        "model": report.model,
        "done": report.done,
        "total": report.total,
        "outcomes": dict(report.outcomes),
        "asked": report.asked,
        "tries": report.tries,
        "input_tokens": report.usage.input_tokens,
        "output_tokens": report.usage.output_tokens,
        "cost_usd": report.cost,
        "stopped": report.stopped or None,
        "open_batches": report.open_batches,
    }


@offering
def _audit(
    study: str,
    *,
    texts: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="CSV, JSON lines, Parquet or Excel file, or a folder of them; Inspect logs.",
        ),
    ] = None,
    reference: Annotated[
        Path | None, typer.Option(help="File of the texts that people wrote, to compare with.")
    ] = None,
    pair_by: Annotated[
        str | None, typer.Option(help="Column that pairs texts with reference texts.")
    ] = None,
    sample: Annotated[bool, typer.Option("--sample", help="Audit the study's sample.")] = False,
    prompts: PromptFile = None,
    prompt_options: Mapping[str, Any],
    how: Annotated[How, Offers((*WHOM, *LIMITS, "judge", "batch"))],
    labels: Annotated[How, Offers(BESIDE, of="labeler")],
    reads: Annotated[How, Offers(BESIDE, of="classifier")],
    groups: Annotated[How, Offers(BESIDE_BATCH, of="factor", own=BESIDE_BATCH)],
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Run directory; default runs/STUDY.")
    ] = None,
    append: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Add today's run to a folder that `watch` reads."),
    ] = None,
    column: Columns = None,
    reference_column: Annotated[
        list[str] | None,
        typer.Option(metavar="FIELD=NAME", help="Column NAME of the reference file holds FIELD."),
    ] = None,
    preset: Annotated[str | None, typer.Option(help="Columns of a published file.")] = None,
    replace: Replace = False,
    unknown_prompts: Annotated[
        str,
        typer.Option(
            metavar="skip|error",
            help="Texts whose prompt is not the study's and whose columns do not say who is in "
            "it: leave them out and count them, or stop.",
        ),
    ] = "skip",
    workers: Annotated[
        int | None, typer.Option(help="Local processes; default one per core.")
    ] = None,
    own: dict[str, Any],
    format: Format = "table",
) -> None:
    """Audit texts, or a model's answers."""
    from portrayal.pipeline.audit import audit as run_audit

    json = format == "json"
    given = _given(study, texts, reference, sample)
    more_than_one = how.samples > 1
    what = {"prompts": prompts, "samples": more_than_one, "judge": how.judge, "batch": how.batch}
    _check_asked(how.model, what | {option_name(key, v): v for key, v in prompt_options.items()})
    labeler_model = own.get("labeler_model")
    classifier = own.get("classifier")
    if labeler_model is None:
        labels.refuse("--labeler-model", "labeler-")
    factor_model = own.get("factor_model")
    if factor_model is None:
        groups.refuse("--factor-model", "factor-")
    models = (how.model, labeler_model, factor_model)
    asked = any(name is not None for name in models) or asks(classifier)
    place = _place(study, out, append)
    with (
        under_way(place, as_object=json),
        show.progress(quiet=json or asked) as advance,
        asking_progress(quiet=json or not asked) as answered,
    ):
        asking = None
        if how.model is not None:
            asking = how.asking(answered, prompts=prompts, prompt_options=prompt_options)
        run = run_audit(
            study,
            **given,
            pair_by=pair_by,
            model=asking,
            out=place,
            columns=column,
            reference_columns=reference_column,
            preset=preset,
            replace=replace,
            unknown_prompts=unknown_prompts,
            labeler_settings=labels.beside(how).settings(answered),
            classifier_settings=reading_settings([classifier], reads, how, answered),
            factor_settings=groups.beside(how).settings(answered),
            workers=(os.cpu_count() or 1) if workers is None else workers,
            progress=advance,
            say=None if json else show.line,
            **chosen(own),
        )
    if json:
        show.as_json(show.run_facts(run))


def _check_asked(model: str | None, given: Mapping[str, Any]) -> None:
    """Refuse options that say what a model is asked where none is."""
    for name, value in given.items():
        if value and model is None:
            raise OptionError(
                f"--{name} says what to ask a model: give --model, or leave it out. Texts that are "
                "there say their prompts, and who is in them, by their columns."
            )


def _place(study: str, out: Path | None, append: Path | None) -> Path:
    """The run directory: a folder of a series is named by the day (UTC), so one day has one run."""
    if append is None:
        return out or Path("runs") / registry.called(study)
    if out is not None:
        raise OptionError("give either --out or --append, not both.")
    return append / datetime.now(tz=UTC).date().isoformat()


def _given(study: str, texts: Path | None, reference: Path | None, sample: bool) -> dict[str, Any]:
    """Return the texts that an audit was told to read."""
    if not sample:
        return {"texts": texts, "reference": reference}
    if texts is not None or reference is not None:
        raise OptionError("give either --texts and --reference or --sample, not both.")
    return dict(registry.get("studies", study).sample())


def _command(name: str) -> tuple[Callable[..., None], str]:
    """The subcommand of a study: what says nothing for it is hidden."""
    study = registry.get("studies", name)
    own = {each.name for each in dataclasses.fields(study.options)}
    hidden = set() if study.pair_field else {"reference", "pair_by", "reference_column"}
    hidden |= {f"labeler_{each}" for each in BESIDE} if "labeler_model" not in own else set()
    hidden |= {f"classifier_{each}" for each in BESIDE} if "classifier" not in own else set()
    example = f"portrayal audit {name} --texts answers.csv --out runs/mine"
    if study.pair_field:
        example += f" --reference articles.csv --pair-by {study.pair_field}"
    words = f"{study.title}. {study.question}\n\nExample: {example}"
    return of_study(_audit, name, hidden=frozenset(hidden)), words


audit = each_study(
    "audit",
    "Audit texts, or a model's answers, by one of the studies or by your own, named by its path.",
    "studies",
    _command,
)


def new(
    folder: Annotated[Path, typer.Argument(help="Folder to make; its name becomes the study's.")],
) -> None:
    """Write a study of your own: a commented TOML file, prompts, a card and texts to try it on.

    Example: portrayal new my-study
    """
    from portrayal.studies.own import write_start

    file = write_start(folder)
    show.line(f"wrote {file}; next: portrayal audit {folder} --sample")
