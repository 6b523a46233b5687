"""Commands on hand labels: sheets for raters, and how far they agree. Parse, call, print."""

from pathlib import Path
from typing import Annotated

import typer

from portrayal import cli_ask, show, show_score

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
    from portrayal.annotate.hand import draw, guesses_of, readable_texts, write_sheet
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
    from portrayal.annotate.hand import agreement as agree
    from portrayal.annotate.hand import read_sheet

    show_score.agreements(agree([read_sheet(path) for path in sheets]), as_object=json)


def merge(
    sheets: Sheets,
    out: Annotated[Path, typer.Option(help="CSV file to write.")],
    json: cli_ask.Json = False,
) -> None:
    """Put the sheets of several raters to a vote: the label that more than half of them give."""
    from portrayal.annotate.hand import merge_sheets

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
