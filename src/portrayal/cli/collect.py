"""The commands `collect`, `prompts` and `import-inspect`, and what they print."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import portrayal.cli.printing as show
import portrayal.registry as registry
from portrayal.cli.asking import BATCH, LIMITS, WHOM, How, Offers, asking_progress, offering
from portrayal.cli.options import Json, PromptFile
from portrayal.cli.studies import each_study, of_study
from portrayal.validate import check_choice

if TYPE_CHECKING:
    from portrayal.collect.ask import CollectReport
    from portrayal.records import Prompt
    from portrayal.run import Run


@offering
def _collect(
    study: str,
    out: Annotated[Path | None, typer.Option(help="Run directory; default runs/STUDY.")] = None,
    prompts: PromptFile = None,
    *,
    prompt_options: Mapping[str, Any],
    how: Annotated[How, Offers((*WHOM, *LIMITS, "judge", *BATCH))],
    json: Json = False,
) -> None:
    """Ask a model all prompts of a study; the same command continues after anything."""
    from portrayal.collect.ask.asking import ask_model
    from portrayal.pipeline.datasheet import write_datasheet
    from portrayal.run import Run

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


def _prompts(
    study: str,
    file: PromptFile = None,
    *,
    prompt_options: Mapping[str, Any],
    format: Annotated[str, typer.Option(help="csv or json.")] = "csv",
    json: Json = False,
) -> None:
    """List the prompts of a study, or check a prompt file of your own."""
    from portrayal.collect.ask.asking import prompts_of

    check_choice("format", format, ("csv", "json"))
    made = prompts_of(study, file, prompt_options)
    _print_prompts(study, made, as_object=json or format == "json")


collect = each_study(
    "collect",
    "Ask a model all prompts of a study; the same command continues after anything.",
    "prompts",
    lambda study: (of_study(_collect, study), f"Ask a model all prompts of {study}."),
)
prompts = each_study(
    "prompts",
    "List the prompts of a study, or check a prompt file of your own.",
    "prompts",
    lambda study: (of_study(_prompts, study), f"List the prompts of {study}."),
)


def import_inspect(
    log: Annotated[list[Path], typer.Argument(help="Inspect logs, .eval or .json, or folders.")],
    study: Annotated[
        str | None, typer.Option(help="Study; logs of Portrayal's own tasks say it.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Run directory.")] = Path("runs/inspect"),
    column: Annotated[
        list[str] | None,
        typer.Option("--column", metavar="FIELD=KEY", help="Metadata KEY holds FIELD."),
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Empty a run that holds other texts.")
    ] = False,
    json: Json = False,
) -> None:
    """Turn logs of Inspect AI into a run, for `portrayal audit STUDY --out RUN`."""
    from portrayal.inspect import import_inspect as run_import

    done = run_import(
        log, out, study, columns=column, replace=replace, say=None if json else show.line
    )
    facts = {"run": str(out), "study": done.study, "n_texts": done.n_texts}
    if json:
        show.as_json({**facts, "outcomes": dict(done.outcomes), "models": list(done.models)})
    else:
        show.line(f"next: portrayal audit {done.study} --out {out}")


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
        "open_batches": getattr(report, "open_batches", 0),
    }


def _print_prompts(study: str, made: "Iterable[Prompt]", *, as_object: bool) -> None:
    """Print prompts as CSV or one JSON object."""
    rows = [{"prompt_id": p.prompt_id, **p.strata, "text": p.text} for p in made]
    if as_object:
        show.as_json({"study": study, "prompts": rows})
        return
    names = dict.fromkeys(name for row in rows for name in row if name != "text")
    show.as_csv([*names, "text"], rows)
