"""The command `score people`, and what it prints."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

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
from portrayal.cli.options import (
    Columns,
    Draws,
    Format,
    HandLabels,
    Labeler,
    Level,
    RouteShare,
    Seed,
)
from portrayal.cli.printing import as_json, line, percent, table
from portrayal.errors import OptionError

if TYPE_CHECKING:
    from portrayal.annotate.people.labeler.stage import Labelling
    from portrayal.raters.people import Labelled, Labels, PeopleScore, Selective

app = typer.Typer(help="Say how often an annotator is right, by hand labels.", no_args_is_help=True)

_COLUMNS = {
    "name_precision": "name P",
    "name_recall": "name R",
    "gender_precision": "gender P",
    "gender_recall": "gender R",
    "gender_accuracy": "gender accuracy",
    "joint_accuracy": "joint accuracy",
}


@app.command()
@offering
def people(
    hand_labels: HandLabels,
    column: Columns = None,
    labeler: Labeler = "embedded",
    route_share: RouteShare = 0.2,
    reader: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder of a reader of your own.")
    ] = None,
    *,
    how: Annotated[How, Offers((*WHOM, *LIMITS, *BATCH), of="labeler", changed={"samples": 3})],
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Folder that keeps the answers of a labeler model.")
    ] = Path("runs/score-people"),
    name_table: Annotated[str, typer.Option(help="Table of the races of names.")] = "census-2020",
    level: Level = 0.95,
    draws: Draws = 2000,
    seed: Seed = 0,
    format: Format = "table",
) -> None:
    """Say how often names and genders are right: precision, recall, accuracy, against hand labels.

    Example: portrayal score people --hand-labels runs/laissez-faire/hand-labels.csv
    """
    from portrayal.annotate.people.labeler.stage import labelling_of
    from portrayal.raters.people import read_gold, score_people

    json = format == "json"
    stories = list(read_gold(hand_labels, column or ()))
    if how.model is None:
        how.refuse("--labeler-model", "labeler-")
    with (
        under_way(out, as_object=json),
        asking_progress(quiet=json or how.model is None) as answered,
    ):
        settings = how.settings(answered)
        labelling = labelling_of(labeler, how.model, how.samples, route_share, settings)
        found = None if labelling is None else _labels(stories, labelling, out)
        own = _read(stories, labeler, reader) if found is None and labeler != "embedded" else None
    facts: dict[str, Any] = {"labeler": labeler, "n_stories": len(stories)}
    if found is not None:
        facts |= {"n_by_the_model": found.n_llm, "n_the_model_failed_on": found.n_failed}
    with show.working("scoring", quiet=json):
        score = score_people(
            stories,
            people=own if found is None else found.people,
            level=level,
            draws=draws,
            seed=seed,
            name_table=name_table,
        )
    _print_score(score, facts, as_object=json)


def _read(stories: list[dict[str, Any]], labeler: str, reader: Path | None) -> "list[Labelled]":
    """Return the people that the reader finds: everywhere, or where the rules are unsure."""
    from portrayal.annotate.people.reader.rows import UNSURE
    from portrayal.raters.people import label_by_reader

    return label_by_reader(stories, reader, below=UNSURE if labeler == "routed" else 1.0)


def _labels(stories: list[dict[str, Any]], labelling: "Labelling", out: Path) -> "Labels":
    """Return the labels of a model, alone or where the extractor is least sure."""
    from portrayal.annotate.people import extract_people
    from portrayal.raters.people import label_by_model

    if not stories:
        raise OptionError("no story is labelled, so there is nothing to ask a model about.")
    return label_by_model(stories, extract_people, labelling.asking, out, share=labelling.share)


def _print_score(score: "PeopleScore", facts: Mapping[str, Any], *, as_object: bool) -> None:
    """Print the agreement of a labeler with hand labels; `facts` say who labelled what."""
    if as_object:
        as_json(dict(facts) | score.as_json())
        return
    line(", ".join(f"{name.replace('_', ' ')}: {value}" for name, value in facts.items()))
    rows = table("", "slots", *_COLUMNS.values())
    rows.add_row("all", *_cells(score))
    for attribute, values in score.by.items():
        for value, part in values.items():
            rows.add_row(f"{attribute} {value}", *_cells(part))
    console = Console(emoji=False)
    console.print(rows)
    for attribute in score.absent:
        line(f"left out: the file does not say the {attribute}, so there is no breakdown by it")
    if score.selective:
        console.print(_coverage(score.selective))
        console.print(_reliability(score.selective))
        line(_errors_of_calibration(score.selective))
    line(_gap(score))
    unit = f"{score.n_clusters} {score.cluster_unit}{'' if score.n_clusters == 1 else 's'}"
    line(f"per cent; intervals resample {unit.replace('storys', 'stories')}")


def _cells(score: "PeopleScore") -> list[str]:
    return [f"{score.n_slots:,.0f}", *(percent(score.rates[name]) for name in _COLUMNS)]


def _coverage(parts: Mapping[str, "Selective"]) -> Table:
    rows = table("most confident", *(f"{name} accuracy" for name in parts))
    for coverage in next(iter(parts.values())).at:
        cells = (percent(part.at[coverage]) for part in parts.values())
        rows.add_row(f"{coverage:.0%} of the slots", *cells)
    rows.add_row("area under risk–coverage", *(percent(part.area) for part in parts.values()))
    return rows


def _reliability(parts: Mapping[str, "Selective"]) -> Table:
    rows = table("confidence", "of", "slots", "mean confidence", "accuracy")
    for name, part in parts.items():
        for place in part.bins:
            rows.add_row(
                f"{place.low:.1f}–{place.high:.1f}",
                name,
                f"{place.right.n:,.0f}",
                f"{100 * place.confidence:.1f}",
                percent(place.right),
            )
    return rows


def _errors_of_calibration(parts: Mapping[str, "Selective"]) -> str:
    said = (
        f"{name} {100 * part.calibration_error:.1f}"
        for name, part in parts.items()
        if part.calibration_error is not None
    )
    return f"expected calibration error: {', '.join(said) or 'undefined, as no slot is labelled'}"


def _gap(score: "PeopleScore") -> str:
    gap = score.race_gap
    if gap is None or gap.value is None:
        why = "nothing is labelled" if gap is None else gap.undefined
        return f"gender errors between races of names: undefined, as {why}"
    bounds = "" if gap.low is None else f" ({gap.low:.2f}–{gap.high:.2f})"
    left = f"; fewer than 30 slots: {', '.join(gap.left_out)}" if gap.left_out else ""
    return (
        f"gender errors between races of names: {gap.value:.2f} times{bounds}, {gap.highest} names "
        f"over {gap.lowest} names; up to {gap.by_chance:.2f} by chance{left}"
    )
