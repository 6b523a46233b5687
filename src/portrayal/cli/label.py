"""Commands on hand labels: sheets for raters, and how far they agree. Parse, call, print."""

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from portrayal.cli import ask as cli_ask
from portrayal.cli import ask as show_ask
from portrayal.cli import printing as show
from portrayal.cli import scores as show_score
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


@dataclass(frozen=True)
class LabelerHow(cli_ask.OptionGroup):
    """How a command asks a labeling model, as its options say."""

    labeler_base_url: LabelerBaseUrl = None
    labeler_parameter: LabelerParameter = None
    labeler_budget: LabelerBudget = None
    labeler_price: LabelerPrice = None

    def settings(
        self, model: str | None, how: cli_ask.How, progress: "AskCallback | None" = None
    ) -> dict[str, Any]:
        """Return how to ask the labeling model, as `labelling_of` takes it; its pace is `how`'s."""
        own = {
            name.removeprefix("labeler_"): value for name, value in dataclasses.asdict(self).items()
        }
        if model is None:
            for name, value in own.items():
                if value:
                    option = f"--labeler-{name.replace('_', '-')}"
                    raise OptionError(f"{option} says nothing without --labeler-model.")
            return {}
        return dataclasses.replace(how, **own).settings(model, progress)


@app.command("run")
@cli_ask.grouped
def run_labels(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Directory of a run.")],
    labeler: Labeler = "llm",
    labeler_model: LabelerModel = None,
    labeler_samples: LabelerSamples = 3,
    route_share: RouteShare = 0.2,
    *,
    labels: LabelerHow,
    concurrency: cli_ask.Concurrency = 16,
    rpm: cli_ask.Rpm = None,
    tpm: cli_ask.Tpm = None,
    yes: cli_ask.Yes = False,
    json: cli_ask.Json = False,
) -> None:
    """Label the people of a run by a model; the same command asks again what failed."""
    from portrayal.annotate.people.labeler.labelling import label_texts_of, labelling_of
    from portrayal.run import Run

    held = Run(run)
    if not held.texts.parts():
        raise RunError(f"{run} holds no texts. Name a directory that `portrayal audit` made.")
    if labeler == "embedded":
        raise OptionError("`portrayal label run` asks a model: --labeler is llm or routed.")
    with held.lock(), show_ask.asking_progress(quiet=json) as answered:
        how = cli_ask.How(concurrency=concurrency, rpm=rpm, tpm=tpm, yes=yes)
        settings = labels.settings(labeler_model, how, answered)
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
    from portrayal.annotate.people.labeler import export_finetune as export
    from portrayal.annotate.people.labeler.finetune import FORMATS
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


Sheets = Annotated[
    list[Path], typer.Argument(metavar="SHEET...", help="Sheets of one sample, filled in.")
]


def sheet(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Directory of a run.")],
    n: Annotated[int, typer.Option("--n", help="Texts to draw.")] = 300,
    by: Annotated[
        list[str] | None,
        typer.Option(help="Strata, such as domain; repeatable. Default: domain, condition, model."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="CSV file; default in the run.")] = None,
    with_guesses: Annotated[
        bool, typer.Option("--with-guesses", help="Show the extractor's labels; they sway raters.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Of the sample.")] = 0,
    json: cli_ask.Json = False,
) -> None:
    """Draw texts at random for people to label, as a CSV file with instructions beside it."""
    from portrayal.raters.people import draw, guesses_of, readable_texts, write_sheet
    from portrayal.run import Run

    held = Run.open(run)
    drawn = draw(readable_texts(held), n, by=by or None, seed=seed)
    path = write_sheet(
        out or held.path / "hand-labels.csv", drawn, guesses_of(drawn) if with_guesses else None
    )
    strata = {one.stratum: one.stratum_size for one in drawn}
    if json:
        words = str(path.with_suffix(".md"))
        facts = {"sheet": str(path), "instructions": words, "n_drawn": len(drawn)}
        show.as_json(facts | {"n_texts": sum(strata.values()), "strata": strata})
        return
    show.line(f"{path}: {len(drawn):,} of {sum(strata.values()):,} texts, {len(strata)} strata")
    show.line(f"{path.with_suffix('.md')}: how to fill it in")
    show.line(f"then: portrayal score people --gold {path}")


def agreement(sheets: Sheets, json: cli_ask.Json = False) -> None:
    """How often raters of one sample say the same, and how far beyond chance."""
    from portrayal.raters.people import agreement as agree
    from portrayal.raters.people import read_sheet

    show_score.agreements(agree([read_sheet(path) for path in sheets]), as_object=json)


def merge(
    sheets: Sheets,
    out: Annotated[Path, typer.Option(help="CSV file to write.")],
    json: cli_ask.Json = False,
) -> None:
    """Put the sheets of several raters to a vote: the label that more than half of them give."""
    from portrayal.raters.people import merge_sheets

    done = merge_sheets(sheets, out)
    if json:
        facts = {"sheet": str(done.path), "n_labelled": done.n_labelled}
        show.as_json(facts | {"n_undecided": done.n_undecided})
        return
    show.line(f"{done.path}: {done.n_labelled:,} texts with a label of the majority")
    if done.n_undecided:
        show.line(f"undecided, left empty for you to settle: {done.n_undecided:,} texts")


def add_to(app: typer.Typer) -> None:
    """Add these commands to those on labels."""
    app.command()(sheet)
    app.command()(agreement)
    app.command()(merge)
