"""What was labelled: by a model, how far raters agree, how often codes occur."""

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

import portrayal.cli.printing as show
from portrayal.cli.asking import (
    BATCH,
    LIMITS,
    asking_of,
    asking_progress,
    asking_record,
    settings_of,
    under_way,
)
from portrayal.cli.options import (
    ONE_BY_ONE,
    Draws,
    Format,
    Labeler,
    Level,
    RouteShare,
    Seed,
    pairs,
)
from portrayal.errors import OptionError, RunError
from portrayal.validate import check_different_files

if TYPE_CHECKING:
    from collections.abc import Iterable

    from portrayal.coding import Project
    from portrayal.coding.llm import CoderResult
    from portrayal.raters import Agreement, Labels
    from portrayal.report.coding import Block


Sheets = Annotated[
    list[Path],
    Parameter(help="Filled-in sheets or other label files; or a project, or a run with one."),
]
ProjectPath = Annotated[Path, Parameter(help="Folder of a coding project, or a run with one.")]
GroupedBy = Annotated[
    str | None,
    Parameter(
        metavar="STRATUM",
        help="Stratum or label of people that groups texts; default group, cue or race.",
    ),
]
LABELLING = asking_record("model", "samples", *LIMITS, *BATCH, whose="labeler", samples=0)
"""Answers to each question where none are named: 3 about people, 1 by a codebook."""
Merge = Annotated[
    list[str] | None,
    Parameter(metavar="GROUP=GROUP", help="Count the first with the second; repeatable."),
]


def find_project(path: Path) -> "Project":
    """Return the project in a folder, or the only one of a run.

    Raises
    ------
    RunError
        When there is none, or a run has several.
    """
    from portrayal.coding import open_project

    folders = sorted(one.parent for one in path.glob("coding/*/project.toml"))
    # What is neither a project nor a run is opened all the same, for its error's sake
    if (path / "project.toml").is_file() or not (path / "audit.toml").is_file():
        return open_project(path)
    if not folders:
        raise RunError(
            f"{path} has no texts to code yet. Draw some: portrayal label sheet {path} --project …"
        )
    if len(folders) > 1:
        names = ", ".join(str(one) for one in folders)
        raise RunError(f"{path} has several coding projects; name one of {names}.")
    return open_project(folders[0])


def labels_at(paths: list[Path]) -> "Labels":
    """Return the labels of a project, or the only one of a run, or of label files."""
    from portrayal.coding import project_labels
    from portrayal.raters import read_labels

    if paths[0].is_dir():
        if len(paths) > 1:
            raise OptionError("name one project, or the label files of several raters.")
        return project_labels(find_project(paths[0]))
    check_different_files(paths)
    return read_labels(*paths)


def agreement(
    sheets: Sheets,
    /,
    *,
    level: Level = 0.95,
    draws: Draws = 2000,
    seed: Seed = 0,
    format: Format = "table",
) -> None:
    """Say how far people agree beyond chance, and in a project each language model with them.

    Example: portrayal label agreement anna.csv ben.csv

    """
    from portrayal.raters import agreement as agreement_of

    labels = labels_at(sheets)
    agreed = agreement_of(labels, level=level, draws=draws, seed=seed)
    if format == "json":
        facts: dict[str, Any] = {"labels": labels.source, "begun_not_done": labels.started}
        facts["people"] = _compared_facts(agreed.people)
        facts["pairs_of_people"] = [_compared_facts(one) for one in agreed.pairs]
        facts["language_models_against_people"] = [_compared_facts(one) for one in agreed.models]
        show.as_json(facts)
        return
    from portrayal.report.coding import agreement_blocks

    if labels.started:
        show.line(f"{labels.started:,} texts are begun and not done, and do not count.")
    print_blocks(agreement_blocks(labels.names, agreed))


def _compared_facts(one: "Agreement") -> dict[str, Any]:
    figures = [asdict(figure) | {"raters": list(figure.raters)} for figure in one.coefficients]
    return {
        "raters": list(one.raters),
        "n_done": one.n_done,
        "left_open": one.left_open,
        "figures": figures,
        "warnings": list(one.warnings),
    }


def print_blocks(blocks: "Iterable[Block]") -> None:
    """Print tables under their titles, with the sentences before and after them."""
    for block in blocks:
        show.line(f"\n{block.title}")
        for line in block.before:
            show.line(line)
        if block.table is not None:
            show.table(block.table.columns, block.table.rows)
        for line in block.after:
            show.line(line)


def model(
    given: Path,
    /,
    *,
    labeler: Labeler = "llm",
    route_share: RouteShare = 0.2,
    how: Annotated[Any, ONE_BY_ONE] = LABELLING,
    format: Format = "table",
) -> None:
    """Let a language model label; the same command asks again what failed.

    Example: portrayal label model runs/laissez-faire --labeler-model openai:gpt-5-mini

    Parameters
    ----------
    given
        A run, whose people are labelled; or a coding project, whose codebook is used.
    """
    from portrayal.annotate.people.labeler.stage import label_texts_of, labelling_of
    from portrayal.coding.llm import code_by_model
    from portrayal.run import Run

    json = format == "json"
    if not how.labeler_model:
        raise OptionError("say who labels: --labeler-model SERVICE:MODEL.")
    if labeler not in ("llm", "routed"):
        raise OptionError("`portrayal label model` asks a model: --labeler is llm or routed.")
    if (given / "project.toml").is_file():
        # A model codes the texts of a project as a rater apart from people.
        project = find_project(given)
        with under_way(project.folder, as_object=json), asking_progress(quiet=json) as answered:
            asking = asking_of(settings_of(how, answered))
            print_coder(code_by_model(project, asking), project, as_object=json)
        return
    run = Run(given)
    if not run.texts.parts():
        raise RunError(f"{given} holds no texts. Name a directory that `portrayal audit` made.")
    # Whole before it is paid for
    run.check()
    with under_way(given, as_object=json), run.lock(), asking_progress(quiet=json) as answered:
        settings = settings_of(how, answered)
        model_name, samples = settings.pop("model"), settings.pop("samples", 3)
        labelling = labelling_of(labeler, model_name, samples, route_share, settings)
        facts = label_texts_of(run, labelling, show.nothing if json else show.line)
    if json:
        show.as_json({"run": str(given), **facts})
        return
    more = f"--labeler {labeler} --labeler-model {model_name} --set labeler_samples={samples}"
    routed = f" --set route_share={route_share}" if labeler == "routed" else ""
    show.line(f"next: portrayal audit STUDY --out {given} {more}{routed}")


def codes(
    project: ProjectPath,
    /,
    *,
    by: GroupedBy = None,
    merge: Merge = None,
    level: Level = 0.95,
    format: Format = "table",
) -> None:
    """List how often each code occurs in each group.

    Where a model coded as well, its shares are corrected by the texts that people coded.

    Example: portrayal label codes runs/laissez-faire/coding/first --by race
    """
    from portrayal.coding import code_prevalence, code_shares, project_labels
    from portrayal.report.coding import code_blocks

    opened = find_project(project)
    labels, merged = project_labels(opened), pairs("--merge", merge, "Inuit=AN")
    groups = code_shares(opened, labels, by=by, merge=merged, level=level)
    corrected = code_prevalence(opened, labels, by=by, merge=merged, level=level)
    if format == "json":
        facts = {"groups": list(map(asdict, groups)), "corrected": list(map(asdict, corrected))}
        show.as_json({"project": str(opened.folder), **facts})
        return
    print_blocks(code_blocks(labels.names, groups, corrected))


def print_coder(result: "CoderResult", project: "Project", *, as_object: bool) -> None:
    """Print what a model did, with everything that failed."""
    if as_object:
        # The report holds what cannot be JSON; its cost and end are told
        facts = asdict(replace(result, report=None))
        facts.pop("report")
        asking_report = result.report
        facts["cost_usd"] = None if asking_report is None else asking_report.cost
        facts["stopped"] = None if asking_report is None else asking_report.stopped or None
        show.as_json({"project": str(project.folder), "kind": "llm", **facts})
        return
    show.line(f"{result.rater}: coded {result.n_coded:,} of {result.n_items:,} texts.")
    for title, counts in (("answers not used", result.unusable), ("codes removed", result.removed)):
        if counts:
            counts_text = ", ".join(f"{n:,} {reason}" for reason, n in counts.items())
            show.line(f"{title}: {counts_text}")
    if result.failed:
        show.line(
            f"{len(result.failed):,} texts have no codes of it. The same command asks again about "
            "those that no answer came for."
        )
