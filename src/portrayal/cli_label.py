"""Commands on labels: a model labels texts, and hand labels become files. Parse, call, print."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from portrayal import cli_ask, show, show_ask
from portrayal.errors import OptionError, RunError

if TYPE_CHECKING:
    from portrayal.collect.ask import AskCallback

app = typer.Typer(help="Label who is in texts, by a model or by hand.", no_args_is_help=True)

Labeler = Annotated[
    str, typer.Option(help="Who finds the people: embedded, llm, or routed (llm where unsure).")
]
LabelerModel = Annotated[
    str | None, typer.Option(help="Model that labels: openai:gpt-5-mini, server:NAME, ….")
]
LabelerSamples = Annotated[
    int, typer.Option(help="Its answers about each text, which are put to a vote.")
]
RouteShare = Annotated[
    float, typer.Option(help="Fraction of the texts, the least sure ones, that routed sends to it.")
]
LabelerBaseUrl = Annotated[
    str | None, typer.Option(help="Address of its OpenAI-compatible server.")
]
LabelerParameter = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME=VALUE", help="Its temperature, max_tokens, top_p, seed, system."),
]
LabelerBudget = Annotated[
    str | None, typer.Option(help='Stop labelling before "5 USD" or "2M tokens".')
]
LabelerPrice = Annotated[
    str | None, typer.Option(help='Its US dollars per million tokens in and out, "0.25/2".')
]


def labeler_settings(
    model: str | None,
    base_url: str | None = None,
    parameter: list[str] | None = None,
    budget: str | None = None,
    price: str | None = None,
    *,
    concurrency: int = 16,
    rpm: float | None = None,
    tpm: float | None = None,
    yes: bool = False,
    progress: "AskCallback | None" = None,
) -> dict[str, Any]:
    """Return how the options of a command ask a labeling model, as `labelling_of` takes it."""
    if model is None:
        given = {"base-url": base_url, "parameter": parameter, "budget": budget, "price": price}
        for name, value in given.items():
            if value:
                raise OptionError(f"--labeler-{name} says nothing without --labeler-model.")
        return {}
    return {
        "base_url": base_url,
        "parameters": cli_ask.parameters_of(parameter),
        "concurrency": concurrency,
        "rpm": rpm,
        "tpm": tpm,
        "budget": budget,
        "price": price,
        "confirm": cli_ask.confirmation(yes, model),
        "progress": progress,
    }


@app.command("run")
def run_labels(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Directory of a run.")],
    labeler: Labeler = "llm",
    labeler_model: LabelerModel = None,
    labeler_samples: LabelerSamples = 3,
    route_share: RouteShare = 0.2,
    labeler_base_url: LabelerBaseUrl = None,
    labeler_parameter: LabelerParameter = None,
    labeler_budget: LabelerBudget = None,
    labeler_price: LabelerPrice = None,
    concurrency: cli_ask.Concurrency = 16,
    rpm: cli_ask.Rpm = None,
    tpm: cli_ask.Tpm = None,
    yes: cli_ask.Yes = False,
    json: cli_ask.Json = False,
) -> None:
    """Label the people of a run by a model; the same command asks again what failed."""
    from portrayal.labelling import label_texts_of, labelling_of
    from portrayal.run import Run

    held = Run(run)
    if not held.texts.parts():
        raise RunError(f"{run} holds no texts. Name a directory that `portrayal audit` made.")
    if labeler == "embedded":
        raise OptionError("`portrayal label run` asks a model: --labeler is llm or routed.")
    with held.lock(), show_ask.asking_progress(quiet=json) as answered:
        settings = labeler_settings(
            labeler_model,
            labeler_base_url,
            labeler_parameter,
            labeler_budget,
            labeler_price,
            concurrency=concurrency,
            rpm=rpm,
            tpm=tpm,
            yes=yes,
            progress=answered,
        )
        labelling = labelling_of(labeler, labeler_model, labeler_samples, route_share, settings)
        facts = label_texts_of(held, labelling, show.nothing if json else show.line)
    if json:
        show.as_json({"run": str(run), **facts})
    else:
        show.line("next: portrayal audit STUDY --out RUN with the same --labeler options")


@app.command("export-finetune")
def export_finetune(
    gold: Annotated[Path, typer.Argument(metavar="GOLD", help="File of hand-labelled texts.")],
    out: Annotated[Path, typer.Option(help="JSON lines file to write.")],
    format: Annotated[str, typer.Option(help="openai: chats with messages.")] = "openai",
    column: Annotated[
        list[str] | None,
        typer.Option("--column", metavar="FIELD=NAME", help="Column NAME holds FIELD; repeatable."),
    ] = None,
    validation_share: Annotated[
        float, typer.Option(help="Fraction of the prompts that goes to a second file.")
    ] = 0.0,
    system: Annotated[
        str | None, typer.Option(help="A system message before each chat; none by default.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the split.")] = 0,
    json: cli_ask.Json = False,
) -> None:
    """Write hand labels as the file that a service fine-tunes a labeler on."""
    from portrayal.annotate.label import export_finetune as export
    from portrayal.annotate.label.finetune import FORMATS
    from portrayal.validate import check_choice

    check_choice("format", format, FORMATS)
    done = export(
        gold,
        out,
        columns=column or (),
        validation_share=validation_share,
        system=system,
        seed=seed,
    )
    if json:
        second = None if done.validation is None else str(done.validation)
        facts = {"train": str(done.train), "n_train": done.n_train, "validation": second}
        more = {"n_validation": done.n_validation, "refused": dict(done.refused)}
        show.as_json(facts | more)
        return
    show.line(f"{done.train}: {done.n_train:,} chats")
    if done.validation is not None:
        show.line(f"{done.validation}: {done.n_validation:,} chats of other prompts")
    for why, n in done.refused.items():
        show.line(f"left out: {n:,} rows {why}")
