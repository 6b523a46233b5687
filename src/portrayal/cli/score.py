"""Commands that measure an annotator against hand labels: parse, call, print."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from portrayal.cli import ask as cli_ask
from portrayal.cli import ask as show_ask
from portrayal.cli import label as cli_label
from portrayal.cli import scores as show_score
from portrayal.errors import OptionError

if TYPE_CHECKING:
    from portrayal.annotate.people.labeler.labelling import Labelling
    from portrayal.raters.people import Labels

app = typer.Typer(help="Measure an annotator against hand labels.", no_args_is_help=True)

Columns = Annotated[
    list[str] | None,
    typer.Option(
        "--column", metavar="FIELD=NAME", help="Column NAME holds FIELD; several may follow."
    ),
]
More = Annotated[
    list[str] | None, typer.Argument(metavar="[FIELD=NAME]...", help="Further columns.")
]


@app.callback()
def _root() -> None:
    pass


@app.command()
@cli_ask.grouped
def people(
    gold: Annotated[
        Path, typer.Option(help="File of stories with hand-labelled people, or a filled-in sheet.")
    ],
    more: More = None,
    column: Columns = None,
    labeler: cli_label.Labeler = "embedded",
    labeler_model: cli_label.LabelerModel = None,
    labeler_samples: cli_label.LabelerSamples = 3,
    route_share: cli_label.RouteShare = 0.2,
    *,
    labels: cli_label.LabelerHow,
    yes: cli_ask.Yes = False,
    out: Annotated[
        Path, typer.Option(help="Folder that keeps the answers of a labeler model.")
    ] = Path("runs/score-people"),
    name_table: Annotated[str, typer.Option(help="Table of the races of names.")] = "census-2020",
    level: Annotated[float, typer.Option(help="Confidence level.")] = 0.95,
    draws: Annotated[int, typer.Option(help="Replicates of the cluster bootstrap.")] = 2000,
    seed: Annotated[int, typer.Option(help="Start of every random stream.")] = 0,
    json: cli_ask.Json = False,
) -> None:
    """Precision, recall and accuracy of names and genders against hand labels."""
    from portrayal.annotate.people.labeler.labelling import labelling_of
    from portrayal.raters.people import read_gold, score_people

    stories = list(read_gold(gold, [*(column or ()), *(more or ())]))
    with show_ask.asking_progress(quiet=json or labeler_model is None) as answered:
        settings = labels.settings(labeler_model, cli_ask.How(yes=yes), answered)
        labelling = labelling_of(labeler, labeler_model, labeler_samples, route_share, settings)
        found = None if labelling is None else _labels(stories, labelling, out)
    facts: dict[str, Any] = {"labeler": labeler, "n_stories": len(stories)}
    if found is not None:
        facts |= {"n_by_the_model": found.n_llm, "n_the_model_failed_on": found.n_failed}
    score = score_people(
        stories,
        people=None if found is None else found.people,
        level=level,
        draws=draws,
        seed=seed,
        name_table=name_table,
    )
    show_score.people_score(score, facts, as_object=json)


def _labels(stories: list[dict[str, Any]], labelling: "Labelling", out: Path) -> "Labels":
    """Return the labels of a model, alone or where the extractor is least sure."""
    from portrayal.annotate.people import extract_people
    from portrayal.raters.people import label_by_model

    if not stories:
        raise OptionError("no story is labelled, so there is nothing to ask a model about.")
    return label_by_model(stories, extract_people, labelling.asking, out, share=labelling.share)
