"""The commands `list …`: what is installed, a study's prompts, a run's estimates."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

import portrayal.cli.printing as show
from portrayal.cli.options import Format, Measure, PromptFile, RunPath, Where, formats
from portrayal.cli.studies import each_study, of_study

if TYPE_CHECKING:
    from portrayal.records import Prompt

app = typer.Typer(
    help="List studies, measures, annotators, prompts, or the estimates of a run.",
    no_args_is_help=True,
)


@app.command()
def studies(format: Format = "table") -> None:
    """List the studies.

    Example: portrayal list studies
    """
    show.studies(as_object=format == "json")


@app.command()
def measures(format: Format = "table") -> None:
    """List the measures with paper and equation.

    Example: portrayal list measures --format json
    """
    show.components("measures", as_object=format == "json")


@app.command()
def annotators(format: Format = "table") -> None:
    """List the annotators, with how often each is right.

    Example: portrayal list annotators
    """
    show.components("annotators", as_object=format == "json")


@app.command()
def estimates(
    run: RunPath,
    measure: Measure = None,
    where: Where = None,
    format: Annotated[str, formats("table", "csv", "json")] = "table",
) -> None:
    """List the estimates of a run.

    Example: portrayal list estimates runs/first --measure subordination --where domain=Love
    """
    from portrayal.run import Run, flatten_estimates

    rows = show.select(Run.open(run).records, measure, where or [])
    if format == "json":
        show.as_json({"estimates": [show.estimate_facts(row) for row in rows]})
    elif format == "csv":
        table = flatten_estimates(rows)
        show.as_csv(table.column_names, table.to_pylist())
    else:
        show.estimates_table(rows)


def _prompts(
    study: str,
    file: PromptFile = None,
    *,
    prompt_options: Mapping[str, Any],
    format: Annotated[str, formats("csv", "json")] = "csv",
) -> None:
    """List the prompts of a study, or check a prompt file of your own."""
    from portrayal.collect.ask.asking import prompts_of

    made = prompts_of(study, file, prompt_options)
    _print_prompts(study, made, as_object=format == "json")


app.add_typer(
    each_study(
        "prompts",
        "List the prompts of a study, or check a prompt file of your own.",
        "prompts",
        lambda study: (
            of_study(_prompts, study),
            f"List the prompts of {study}, or check a prompt file of your own.\n\n"
            f"Example: portrayal list prompts {study} --prompts mine.toml",
        ),
    )
)


def _print_prompts(study: str, made: "Iterable[Prompt]", *, as_object: bool) -> None:
    """Print prompts as CSV or one JSON object."""
    rows = [{"prompt_id": p.prompt_id, **p.strata, "text": p.text} for p in made]
    if as_object:
        show.as_json({"study": study, "prompts": rows})
        return
    names = dict.fromkeys(name for row in rows for name in row if name != "text")
    show.as_csv([*names, "text"], rows)
