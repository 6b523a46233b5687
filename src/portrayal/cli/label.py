"""The commands `label …`: labels of a model or of people, how far raters agree, what it prints."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

import portrayal.cli.printing as show
from portrayal.cli.asking import (
    BATCH,
    LIMITS,
    WHOM,
    How,
    Offers,
    asking_progress,
    offering,
    under_way,
)
from portrayal.cli.options import Json, Labeler, RouteShare
from portrayal.cli.printing import percent, span, table
from portrayal.errors import OptionError, RunError

if TYPE_CHECKING:
    from portrayal.raters.people import PairAgreement

app = typer.Typer(help="Label who is in texts, by a model or by hand.", no_args_is_help=True)


@app.command("run")
@offering
def run_labels(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Directory of a run.")],
    labeler: Labeler = "llm",
    route_share: RouteShare = 0.2,
    *,
    how: Annotated[How, Offers((*WHOM, *LIMITS, *BATCH), changed={"samples": 3})],
    json: Json = False,
) -> None:
    """Label the people of a run by a model; the same command asks again what failed."""
    from portrayal.annotate.people.labeler.labelling import label_texts_of, labelling_of
    from portrayal.run import Run

    held = Run(run)
    if not held.texts.parts():
        raise RunError(f"{run} holds no texts. Name a directory that `portrayal audit` made.")
    if labeler not in ("llm", "routed"):
        raise OptionError("`portrayal label run` asks a model: --labeler is llm or routed.")
    if how.model is None:
        raise OptionError("say who labels: --model SERVICE:MODEL.")
    with (
        under_way(run, as_object=json),
        held.lock(),
        asking_progress(quiet=json) as answered,
    ):
        settings = how.settings(answered)
        labelling = labelling_of(labeler, how.model, how.samples, route_share, settings)
        facts = label_texts_of(held, labelling, show.nothing if json else show.line)
    if json:
        show.as_json({"run": str(run), **facts})
    else:
        more = f"--labeler {labeler} --labeler-model {how.model} --labeler-samples {how.samples}"
        share = f" --route-share {route_share}" if labeler == "routed" else ""
        show.line(f"next: portrayal audit STUDY --out {run} {more}{share}")


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
    json: Json = False,
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


@app.command()
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
    json: Json = False,
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


@app.command()
def agreement(sheets: Sheets, json: Json = False) -> None:
    """How often raters of one sample say the same, and how far beyond chance."""
    from portrayal.raters.people import agreement as agree
    from portrayal.raters.people import read_sheet

    _print_agreement(agree([read_sheet(path) for path in sheets]), as_object=json)


@app.command()
def merge(
    sheets: Sheets,
    out: Annotated[Path, typer.Option(help="CSV file to write.")],
    json: Json = False,
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


def _print_agreement(found: Iterable["PairAgreement"], *, as_object: bool) -> None:
    """Print how far raters agree, pair by pair."""
    if as_object:
        show.as_json({"pairs": [one.as_json() for one in found]})
        return
    rows = table("raters", "texts", "characters", "same gender", "kappa", "same name")
    for one in found:
        kappa = one.gender_kappa
        beyond = kappa.undefined or span(kappa, 1, 2)
        rows.add_row(
            " and ".join(one.raters),
            f"{one.n_texts:,}",
            f"{one.n_slots:,}",
            percent(one.gender),
            beyond,
            percent(one.name),
        )
    Console(emoji=False).print(rows)
