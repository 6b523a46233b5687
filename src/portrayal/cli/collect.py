"""The command `collect`, and what it prints."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import portrayal.cli.printing as show
import portrayal.registry as registry
from portrayal.cli.asking import BATCH, LIMITS, WHOM, How, Offers, asking_progress, offering
from portrayal.cli.options import Format, PromptFile
from portrayal.cli.studies import each_study, of_study

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
    from portrayal.collect.ask.asking import ask_model
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
        "open_batches": getattr(report, "open_batches", 0),
    }
