"""What was labelled: by a model, how far raters agree, how often codes occur."""

from dataclasses import fields
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
    from collections.abc import Iterable, Iterator

    from portrayal.coding import Project
    from portrayal.coding.llm import CoderResult
    from portrayal.raters import Labels
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
    from portrayal.report.coding import agreement_blocks

    labels = labels_at(sheets)
    agreed = agreement_of(labels, level=level, draws=draws, seed=seed)
    facts = {
        "labels": labels.source,
        "begun_not_done": labels.started,
        "people": agreed.people,
        "pairs_of_people": agreed.pairs,
        "language_models_against_people": agreed.models,
    }
    n_begun = labels.started
    begun = [f"{n_begun:,} texts are begun and not done, and do not count."] if n_begun else []
    show.give(format, facts, [*begun, *_parts(agreement_blocks(labels.names, agreed))])


def _parts(blocks: "Iterable[Block]") -> "Iterator[show.Part]":
    """Tables under their titles, with the sentences before and after them."""
    for block in blocks:
        yield f"\n{block.title}"
        yield from block.before
        if block.table is not None:
            yield block.table.columns, block.table.rows
        yield from block.after


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
            _give_coder(code_by_model(project, asking), project, format)
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
    facts = {"project": str(opened.folder), "groups": groups, "corrected": corrected}
    show.give(format, facts, _parts(code_blocks(labels.names, groups, corrected)))


def _give_coder(result: "CoderResult", project: "Project", format: Format) -> None:
    """Print what a model did, with everything that failed."""
    # The report holds what cannot be JSON; its cost and end are told
    asking = result.report
    facts: dict[str, Any] = {"project": str(project.folder), "kind": "llm"}
    facts |= {f.name: getattr(result, f.name) for f in fields(result) if f.name != "report"}
    facts["cost_usd"] = None if asking is None else asking.cost
    facts["stopped"] = None if asking is None else asking.stopped or None
    parts = [f"{result.rater}: coded {result.n_coded:,} of {result.n_items:,} texts."]
    for title, counts in (("answers not used", result.unusable), ("codes removed", result.removed)):
        if counts:
            counts_text = ", ".join(f"{n:,} {reason}" for reason, n in counts.items())
            parts.append(f"{title}: {counts_text}")
    if n_failed := len(result.failed):
        parts.append(
            f"{n_failed:,} texts have no codes of it. The same command asks again about those that "
            "no answer came for."
        )
    show.give(format, facts, parts)
