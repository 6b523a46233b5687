"""The commands of `portrayal code` that read what was coded: agreement, models, clusters, files."""

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Column, Table

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
from portrayal.cli.options import Json
from portrayal.errors import OptionError, RunError

if TYPE_CHECKING:
    from portrayal.coding import Project
    from portrayal.coding.agreement import Agreement, ProjectAgreement
    from portrayal.coding.clusters import GroupClusters, Share
    from portrayal.coding.llm import CoderResult
    from portrayal.raters import Coefficient
    from portrayal.records import Interval, Null


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


def find_project(path: Path) -> "Project":
    """Return the project in a folder, or the only one of a run.

    Raises
    ------
    RunError
        When there is none, or a run has several.
    """
    from portrayal.coding import open_project

    found = sorted(one.parent for one in path.glob("coding/*/project.toml"))
    if (path / "project.toml").is_file() or not (path / "audit.toml").is_file():
        return open_project(path)
    if not found:
        raise RunError(f"{path} has no texts to code yet. Draw some: portrayal code make {path}")
    if len(found) > 1:
        names = ", ".join(str(one) for one in found)
        raise RunError(f"{path} has several coding projects; name one of {names}.")
    return open_project(found[0])


def agree(
    project: ProjectPath,
    level: Level = 0.95,
    draws: Annotated[int, typer.Option(help="Resamples of the prompts.")] = 2000,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Say how far people agree, and each language model with them."""
    from portrayal.coding.agreement import agreement
    from portrayal.coding.codes import read_codes

    found = find_project(project)
    codes = read_codes(found)
    said = agreement(found, codes, level=level, draws=draws, seed=seed)
    if json:
        show.as_json(
            {"project": str(found.folder), "begun_not_done": codes.started} | agreement_facts(said)
        )
    else:
        print_agreement(said, codes.started)


@offering
def llm(
    project: ProjectPath,
    *,
    how: Annotated[How, Offers((*WHOM, *LIMITS, *BATCH))],
    json: Json = False,
) -> None:
    """Let a language model code the texts, as a rater apart from people."""
    from portrayal.coding.llm import code_by_model

    found = find_project(project)
    with under_way(found.folder, as_object=json), asking_progress(quiet=json) as advance:
        result = code_by_model(found, how.asking(advance))
    if json:
        show.as_json({"project": str(found.folder), **coder_facts(result)})
    else:
        print_coder(result)


def clusters(
    project: ProjectPath,
    by: By = None,
    merge: Merge = None,
    seed: Annotated[
        int | None, typer.Option(help="Decides the exemplar; default the project's.")
    ] = None,
    level: Level = 0.95,
    json: Json = False,
) -> None:
    """List which codes occur together in each group, and an exemplar of the commonest set."""
    from portrayal.coding.clusters import cluster_codes
    from portrayal.coding.codes import read_codes

    found = find_project(project)
    groups = cluster_codes(
        found, read_codes(found), by=by, merge=_merged(merge), seed=seed, level=level
    )
    if json:
        show.as_json({"project": str(found.folder), "groups": [asdict(group) for group in groups]})
    else:
        print_clusters(groups)


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
    from portrayal.report.coding import write_coding_report

    found = find_project(project)
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
    from portrayal.coding.files import export_codes, export_sheets
    from portrayal.validate import check_choice

    check_choice("format", format, ("csv", "sheets", "label-studio"))
    found = find_project(project)
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
        show.line("nothing written: no one is done with a text.")


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
    json: Json = False,
) -> None:
    """Read codes from a CSV file, or from a JSON export of Label Studio."""
    from portrayal.coding.files import import_codes
    from portrayal.coding.labelstudio import import_tasks
    from portrayal.validate import check_choice

    kind = format or ("label-studio" if file.suffix.lower() == ".json" else "csv")
    check_choice("format", kind, ("csv", "label-studio"))
    found, raters = find_project(project), _pairs("--rater", rater)
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


SHARES = ("percent_agreement", "positive_agreement")
CALLED = {
    "percent_agreement": "agreement",
    "positive_agreement": "on yes",
    "cohens_kappa": "Cohen's kappa",
    "fleiss_kappa": "Fleiss' kappa",
    "krippendorff_alpha": "Krippendorff's alpha",
}


def agreement_facts(found: "ProjectAgreement") -> dict[str, Any]:
    """Return agreement as plain values; language models stand apart from people."""
    return {
        "people": _compared_facts(found.people),
        "pairs_of_people": [_compared_facts(one) for one in found.pairs],
        "language_models_against_people": [_compared_facts(one) for one in found.models],
    }


def _compared_facts(one: "Agreement") -> dict[str, Any]:
    return {
        "raters": list(one.raters),
        "n_done": one.n_done,
        "left_open": one.left_open,
        "figures": [
            asdict(figure) | {"raters": list(figure.raters)} for figure in one.coefficients
        ],
        "warnings": list(one.warnings),
    }


def print_agreement(found: "ProjectAgreement", started: int) -> None:
    """Print the agreement of people, then of pairs, then of each model with people."""
    done = ", ".join(f"{rater} {n:,}" for rater, n in found.people.n_done.items()) or "no one"
    show.line(f"people: texts done by {done}; {started:,} begun and not done, which do not count.")
    if len(found.people.raters) < 2:
        show.line("agreement takes two people or more.")
    _figures(found.people)
    for pair in found.pairs:
        show.line(f"\n{' and '.join(pair.raters)}:")
        _figures(pair)
    for model in found.models:
        show.line(
            f"\nlanguage model {model.raters[1]}, against what people settle on (not in the above):"
        )
        if model.left_open:
            show.line(f"{model.left_open:,} decisions that people left open are not compared.")
        _figures(model)


def _figures(one: "Agreement") -> None:
    if one.coefficients:
        table = Table(*(Column(h, overflow="fold") for h in _HEADS), box=None)
        for figure in one.coefficients:
            table.add_row(*(escape(cell) for cell in _cells(figure)))
        Console(emoji=False).print(table)
    for warning in one.warnings:
        show.line(f"warning: {warning}")


_HEADS = ("code", "statistic", "value", "interval", "texts")


def _cells(figure: "Coefficient") -> list[str]:
    value = figure.undefined or number(figure.value, figure.statistic)
    return [
        figure.question,
        CALLED[figure.statistic],
        value,
        interval(figure),
        f"{figure.n_items:,}",
    ]


def number(value: float | None, statistic: str) -> str:
    """Return a figure: shares in percent, kappas with two decimals."""
    if value is None:
        return "–"
    return f"{100 * value:.0f} %" if statistic in SHARES else f"{round(value, 2) + 0.0:.2f}"


def interval(figure: "Coefficient") -> str:
    """Return the interval of a figure, or why it has none."""
    if figure.interval is None:
        return "" if figure.undefined else figure.no_interval
    low, high = figure.interval.low, figure.interval.high
    return f"{number(low, figure.statistic)} to {number(high, figure.statistic)}"


def print_coder(result: "CoderResult") -> None:
    """Print what a model did, with everything that failed."""
    show.line(f"{result.rater}: coded {result.n_coded:,} of {result.n_items:,} texts.")
    for what, counts in (("answers not used", result.unusable), ("codes removed", result.removed)):
        if counts:
            said = ", ".join(f"{n:,} {reason}" for reason, n in counts.items())
            show.line(f"{what}: {said}")
    if result.failed:
        show.line(
            f"{len(result.failed):,} texts have no codes of it. The same command asks again about "
            "those that no answer came for."
        )


def coder_facts(result: "CoderResult") -> dict[str, Any]:
    """Return what a model did as plain values."""
    report = result.report
    return {
        "rater": result.rater,
        "kind": "llm",
        "n_items": result.n_items,
        "n_coded": result.n_coded,
        "failed": dict(result.failed),
        "removed": dict(result.removed),
        "unusable": dict(result.unusable),
        "cost_usd": None if report is None else report.cost,
        "stopped": None if report is None else report.stopped or None,
    }


def print_clusters(found: "list[GroupClusters]") -> None:
    """Print the clusters of each group, with the exemplar, and the share that shows each code."""
    table = Table("group", "codes together", "texts", "share", "interval", "exemplar", box=None)
    for group in found:
        for i, one in enumerate(group.clusters):
            own = group.exemplar if one is group.largest else None
            first = group.group if i == 0 else ""
            table.add_row(
                *map(
                    escape, (first, " + ".join(one.codes) or "none", *_share(one.share), own or "")
                )
            )
        if group.n_open:
            table.add_row("", f"left out: {group.n_open:,} on which people are divided")
    Console(emoji=False).print(table)
    by_code = Table("group", "code", "texts", "share", "interval", "by chance", "p", "q", box=None)
    for group in found:
        for row in group.shares:
            chance = "" if row.null is None else _percent(row.null)
            tests = ["" if x is None else f"{x:.2g}" for x in (row.p, row.q)]
            cells = (group.group, row.code, *_share(row.share), chance, *tests)
            by_code.add_row(*map(escape, cells))
    Console(emoji=False).print(by_code)
    for why in dict.fromkeys(row.no_null for group in found for row in group.shares if row.no_null):
        show.line(f"nothing by chance: {why}.")


def _share(share: "Share") -> tuple[str, str, str]:
    said = share.no_interval if share.interval is None else _percent(share.interval)
    value = "–" if share.value is None else f"{100 * share.value:.0f} %"
    return f"{share.n:,} of {share.of:,}", value, said


def _percent(bounds: "Interval | Null") -> str:
    return f"{100 * bounds.low:.0f} to {100 * bounds.high:.0f} %"
