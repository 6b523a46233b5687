"""Commands that read what was coded, or bring codes in and out: parse, call, print."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from portrayal import cli_ask, show, show_ask, show_code
from portrayal.errors import OptionError

if TYPE_CHECKING:
    from portrayal.coding import Project

ProjectPath = Annotated[
    Path, typer.Argument(metavar="PROJECT", help="Folder of a coding project, or a run with one.")
]
Level = Annotated[float, typer.Option(help="Confidence level.")]
Seed = Annotated[int, typer.Option(help="Start of the random stream of the intervals.")]
By = Annotated[
    str | None,
    typer.Option(help="Stratum or label of people that groups texts; default group, cue or race."),
]
Merge = Annotated[
    list[str] | None,
    typer.Option(metavar="GROUP=GROUP", help="Count the first with the second; repeatable."),
]


def agree(
    project: ProjectPath,
    level: Level = 0.95,
    draws: Annotated[int, typer.Option(help="Resamples of the prompts.")] = 2000,
    seed: Seed = 0,
    json: cli_ask.Json = False,
) -> None:
    """Say how far people agree, and each language model with them."""
    from portrayal.coding.agreement import agreement
    from portrayal.coding.codes import read_codes

    found = _project(project)
    codes = read_codes(found)
    said = agreement(found, codes, level=level, draws=draws, seed=seed)
    if json:
        show.as_json(
            {"project": str(found.folder), "begun_not_done": codes.started}
            | show_code.agreement_facts(said)
        )
    else:
        show_code.agreement(said, codes.started)


@cli_ask.grouped
def llm(
    project: ProjectPath,
    model: Annotated[
        str, typer.Option(help="Model to ask: openai:gpt-5-mini, server:NAME, local:PATH, ….")
    ],
    samples: Annotated[
        int, typer.Option(help="Its answers about each text; more than half of them decide.")
    ] = 1,
    *,
    how: cli_ask.How,
    json: cli_ask.Json = False,
) -> None:
    """Let a language model code the texts, as a rater apart from people."""
    from portrayal.annotate.label import LabelAsking
    from portrayal.coding.llm import code_by_model

    found = _project(project)
    with show_ask.asking_progress(quiet=json) as advance:
        asking = LabelAsking(model, samples, **how.settings(model, advance))
        result = code_by_model(found, asking)
    if json:
        show.as_json({"project": str(found.folder), **show_code.coder_facts(result)})
    else:
        show_code.coder(result)


def clusters(
    project: ProjectPath,
    by: By = None,
    merge: Merge = None,
    seed: Annotated[
        int | None, typer.Option(help="Decides the exemplar; default the project's.")
    ] = None,
    level: Level = 0.95,
    json: cli_ask.Json = False,
) -> None:
    """List which codes occur together in each group, and an exemplar of the commonest set."""
    from dataclasses import asdict

    from portrayal.coding.clusters import cluster_codes
    from portrayal.coding.codes import read_codes

    found = _project(project)
    groups = cluster_codes(
        found, read_codes(found), by=by, merge=_merged(merge), seed=seed, level=level
    )
    if json:
        show.as_json({"project": str(found.folder), "groups": [asdict(group) for group in groups]})
    else:
        show_code.clusters(groups)


def report(
    project: ProjectPath,
    out: Annotated[
        Path | None, typer.Option(help="HTML file to write; default coding.html in the project.")
    ] = None,
    by: By = None,
    merge: Merge = None,
    level: Level = 0.95,
    seed: Seed = 0,
) -> None:
    """Write what was read and coded as an HTML page of its own."""
    from portrayal.report.coded import write_coding_report

    found = _project(project)
    path = out or found.folder / "coding.html"
    written = write_coding_report(found, path, by=by, merge=_merged(merge), level=level, seed=seed)
    show.line(f"report: {written}")


def export(
    project: ProjectPath,
    format: Annotated[str, typer.Option(help="csv, sheets or label-studio.")] = "csv",
    out: Annotated[
        Path | None, typer.Option(help="CSV file, or folder of the others; default in the project.")
    ] = None,
) -> None:
    """Write codes as CSV, hand labels as sheets, or the tasks for Label Studio."""
    from portrayal.coding.exports import export_codes, export_sheets
    from portrayal.validate import check_choice

    check_choice("format", format, ("csv", "sheets", "label-studio"))
    found = _project(project)
    if format == "csv":
        written = [export_codes(found, out)]
    elif format == "sheets":
        written = export_sheets(found, out)
    else:
        from portrayal.coding.labelstudio import export_tasks

        written = list(export_tasks(found, out or found.folder / "label-studio"))
    for path in written:
        show.line(f"wrote {path}")
    if not written:
        show.line("nothing written: nobody is done with a text.")


def import_(
    project: ProjectPath,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="codes.csv, or a JSON export.")],
    format: Annotated[
        str | None, typer.Option(help="csv or label-studio; default by the file's ending.")
    ] = None,
    rater: Annotated[
        list[str] | None,
        typer.Option(metavar="THERE=HERE", help="Label Studio's rater and the name here."),
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Write over codes that a rater has here already.")
    ] = False,
    json: cli_ask.Json = False,
) -> None:
    """Read codes from a CSV file, or from a JSON export of Label Studio."""
    from portrayal.coding.imports import import_codes
    from portrayal.coding.labelstudio import import_tasks
    from portrayal.validate import check_choice

    kind = format or ("label-studio" if file.suffix.lower() == ".json" else "csv")
    check_choice("format", kind, ("csv", "label-studio"))
    found, raters = _project(project), _pairs("--rater", rater)
    if kind == "csv":
        if raters:
            raise OptionError("--rater names raters of Label Studio; a CSV file holds the names.")
        done = import_codes(found, file, replace=replace)
    else:
        done = import_tasks(found, file, raters=raters, replace=replace)
    if json:
        facts = {"raters": dict(done.raters), "n_texts": done.n_texts}
        show.as_json({"project": str(found.folder), **facts, "left_out": dict(done.left_out)})
        return
    for name, n in done.raters.items():
        show.line(f"{name}: {n:,} texts")
    for why, n in done.left_out.items():
        show.line(f"left out: {n:,} {why}")


def _project(path: Path) -> "Project":
    from portrayal.cli_code import find_project

    return find_project(path)


def _merged(merge: list[str] | None) -> dict[str, str]:
    return _pairs("--merge", merge)


def _pairs(option: str, given: list[str] | None) -> dict[str, str]:
    found = {}
    for pair in given or ():
        one, sign, other = pair.partition("=")
        if not (sign and one.strip() and other.strip()):
            raise OptionError(f"{option} takes A=B, such as Inuit=AN; got {pair!r}.")
        found[one.strip()] = other.strip()
    return found


COMMANDS: dict[str, Callable[..., None]] = {
    "agree": agree,
    "llm": llm,
    "clusters": clusters,
    "report": report,
    "export": export,
    "import": import_,
}
"""The commands by name, for `portrayal code`."""
