"""Hand labels on sheets: drawn, filled in by people, put to a vote, and written for fine-tuning."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

import portrayal.cli.printing as show
from portrayal.cli.options import Columns, Flag, Format, HandLabels, RunPath, Seed


def finetune(
    *,
    hand_labels: HandLabels,
    out: Path,
    column: Columns = None,
    validation_share: float = 0.0,
    system: str | None = None,
    seed: Seed = 0,
    format: Format = "table",
) -> None:
    """Write hand labels as chats with messages, the file that a service fine-tunes a labeler on.

    Example: portrayal label finetune --hand-labels labelled.csv --out chats.jsonl

    Parameters
    ----------
    out
        JSON lines file to write.
    validation_share
        Fraction of the prompts that goes to a second file.
    system
        A system message before each chat; none by default.
    """
    from portrayal.annotate.people.labeler import export_finetune

    json = format == "json"
    done = export_finetune(
        hand_labels,
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


Sheets = Annotated[list[Path], Parameter(help="Sheets of one sample, filled in.")]


def sheet(
    run: RunPath,
    /,
    *,
    n: int = 300,
    by: Annotated[list[str] | None, Parameter(metavar="STRATUM")] = None,
    out: Path | None = None,
    with_guesses: Flag = False,
    seed: Seed = 0,
    format: Format = "table",
) -> None:
    """Draw texts at random for people to label, as a CSV file with instructions beside it.

    Example: portrayal label sheet runs/laissez-faire --n 300

    Parameters
    ----------
    n
        Texts to draw.
    by
        Draw as many of each, such as domain; repeatable. Default: domain, condition, model.
    out
        CSV file; default in the run.
    with_guesses
        Show the extractor's labels; they sway raters.
    """
    from portrayal.raters.people import draw, guesses_of, readable_texts, write_sheet
    from portrayal.run import Run

    json = format == "json"
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
    show.line(f"then: portrayal score people --hand-labels {path}")


def merge(sheets: Sheets, /, *, out: Path, format: Format = "table") -> None:
    """Put the sheets of several raters to a vote: the label that more than half of them give.

    Example: portrayal label merge anna.csv ben.csv --out agreed.csv

    Parameters
    ----------
    out
        CSV file to write.
    """
    from portrayal.raters.people import merge_sheets

    json = format == "json"
    done = merge_sheets(sheets, out)
    if json:
        facts = {"sheet": str(done.path), "n_labelled": done.n_labelled}
        show.as_json(facts | {"n_undecided": done.n_undecided})
        return
    show.line(f"{done.path}: {done.n_labelled:,} texts with a label of the majority")
    if done.n_undecided:
        show.line(f"undecided, left empty for you to settle: {done.n_undecided:,} texts")
