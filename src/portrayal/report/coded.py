"""Read and coded: exemplars with their codes, counts by role, and how far raters agree."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from portrayal.report import formats as fmt
from portrayal.report.coded_tables import (
    agreement_table,
    clusters_of,
    code_names,
    codes_by_group,
    cue_counts,
    cue_places,
    cue_rows,
    cue_table,
    share_sentences,
    undefined_sentences,
)
from portrayal.report.figures.figure import Table
from portrayal.report.inert import short
from portrayal.report.passages import Passage, passage
from portrayal.report.view import View
from portrayal.report.words import GENDER_WORDS
from portrayal.run.stages import write_atomically

if TYPE_CHECKING:
    from portrayal.coding import Item, Person, Project
    from portrayal.coding.agreement import Agreement, Compared
    from portrayal.coding.clusters import GroupClusters
    from portrayal.coding.codes import Codes
    from portrayal.coding.roles import RoleCount, RoleCounts
    from portrayal.run.directory import Run

_ROLES = {"neutral": "Base", "dominant": "Dom", "subordinate": "Sub"}


@dataclass(frozen=True)
class Character:
    """Who is in an exemplar, as the head of a story in Table 4: words, and counts by role."""

    slot: str
    words: str
    counts: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class GroupView:
    """One group: its clusters, its exemplar and how that was drawn, and counts of its cues."""

    title: str
    clusters: Table
    how: str
    codes: tuple[str, ...] = ()
    characters: tuple[Character, ...] = ()
    passage: Passage | None = None
    counts: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class RatersView:
    """The agreement of some raters: sentences before and after a table."""

    title: str
    before: tuple[str, ...]
    table: Table | None
    after: tuple[str, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class Section:
    """What the page shows of one project."""

    title: str
    facts: tuple[tuple[str, str], ...]
    warning: str
    groups: tuple[GroupView, ...]
    codes: Table | None
    shares: tuple[str, ...]
    people: RatersView
    pairs: tuple[RatersView, ...]
    models: tuple[RatersView, ...]
    definitions: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True)
class Coded:
    """What was read and coded: a section for each project, and counts of cues, whole and split."""

    sections: tuple[Section, ...]
    cues: Table | None
    cue_places: Table | None


def sections(view: View) -> Coded | None:
    """Return what was read and coded in a run; None where nothing was."""
    folder = view.run.path / "coding"
    from portrayal.coding import open_project
    from portrayal.coding.codes import read_codes

    found = []
    for path in sorted(folder.glob("*/project.toml")):
        project = open_project(path.parent)
        codes = read_codes(project)
        if codes.done and project.codebook.codes:
            found.append(section(project, codes, level=view.level, seed=view.seed))
    rows = cue_rows(view.run)
    return Coded(tuple(found), cue_table(rows), cue_places(rows)) if found or rows else None


def section(
    project: "Project",
    codes: "Codes",
    *,
    by: str | None = None,
    merge: Mapping[str, str] | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> Section:
    """Return what the page shows of one project; see `cluster_codes` for `by` and `merge`."""
    from portrayal.coding.agreement import agreement
    from portrayal.coding.clusters import cluster_codes
    from portrayal.coding.roles import run_of

    groups = cluster_codes(project, codes, by=by, merge=merge, level=level)
    said = agreement(project, codes, level=level, seed=seed)
    run = run_of(project)
    names = _counts_by_role(project, groups, run, level, seed)
    cues = [] if run is None else cue_rows(run)
    settled = any(group.n_items for group in groups)
    return Section(
        short(f"{project.codebook.title} ({project.folder.name})", 100),
        _facts(project, codes, said, level),
        short(project.codebook.warning or "", 400),
        tuple(_group(project, group, names, cue_counts(cues, group.group)) for group in groups),
        codes_by_group(project, groups) if settled else None,
        share_sentences(groups) if settled else (),
        _people(project, said),
        tuple(_raters(project, pair, " and ".join(pair.raters)) for pair in said.pairs),
        tuple(_model(project, model) for model in said.models),
        tuple(
            (short(c.name, 60), short(c.definition, 600), short(c.source, 300))
            for c in project.codebook.codes
        ),
    )


def write_coding_report(
    project: "Project",
    path: Path,
    *,
    by: str | None = None,
    merge: Mapping[str, str] | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> Path:
    """Write a page of its own about one project and return its path.

    Parameters
    ----------
    project
        A coding project.
    path
        The HTML file; its folder is made where it is missing.
    by, merge
        As `portrayal.coding.clusters.cluster_codes` takes them.
    level, seed
        Confidence level (a fraction), and seed of the intervals of agreement.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    from portrayal import __version__
    from portrayal.coding.codes import read_codes
    from portrayal.coding.roles import run_of

    shown = section(project, read_codes(project), by=by, merge=merge, level=level, seed=seed)
    run = run_of(project)
    rows = [] if run is None else cue_rows(run)
    loader = PackageLoader("portrayal.report", "templates")
    environment = Environment(
        loader=loader,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    style = environment.loader.get_source(environment, "style.css")[0]  # type: ignore[union-attr]
    text = environment.get_template("coding.html.j2").render(
        coded=Coded((shown,), cue_table(rows), cue_places(rows)),
        style=Markup(style),  # noqa: S704
        title=shown.title,
        version=__version__,
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, text)
    return path


def _facts(
    project: "Project", codes: "Codes", said: "Agreement", level: float
) -> tuple[tuple[str, str], ...]:
    how = project.settings.get("how") or {}
    drawn = ", ".join(f"{key} {value}" for key, value in how.items() if key != "run" and value)
    people = ", ".join(f"{name} ({n:,})" for name, n in said.people.n_done.items())
    models = ", ".join(f"{m.raters[1]} ({m.n_done[m.raters[1]]:,})" for m in said.models)
    rows = [
        ("Texts", f"{len(project.items):,}"),
        ("Drawn", short(drawn, 160)),
        ("Seed of the draw", str(project.settings.get("seed", ""))),
        ("People (texts done)", short(people, 200) or "nobody yet"),
        ("Begun, not done", f"{codes.started:,}" if codes.started else ""),
        ("Language models, apart", short(models, 200)),
        ("Confidence level", fmt.level(level)),
    ]
    return tuple((what, value) for what, value in rows if value)


def _group(
    project: "Project",
    group: "GroupClusters",
    counts: "Mapping[tuple[str, str], RoleCounts]",
    cues: tuple[tuple[str, str], ...],
) -> GroupView:
    title = short(group.group, 60)
    table = clusters_of(project, group)
    left = ""
    if group.n_open:
        left = f" {fmt.plural(group.n_open, 'text')} on which people are divided are left out."
    if group.exemplar is None:
        said = "No text of this group shows a code on which people agree." + left
        return GroupView(title, table, said, counts=cues)
    largest = group.largest
    keys = () if largest is None else largest.codes
    item = next(one for one in project.items if one.item_id == group.exemplar)
    tied = f", one of {group.tied} equally large ones" if group.tied > 1 else ""
    n = 0 if largest is None else len(largest.items)
    how = f"Drawn at random from the largest cluster with a code ({fmt.plural(n, 'text')}{tied})."
    return GroupView(
        title,
        table,
        how + left,
        tuple(code_names(project)[key] for key in keys),
        tuple(_character(person, item, counts) for person in item.people),
        _passage(item),
        cues,
    )


def _character(
    person: "Person", item: "Item", counts: "Mapping[tuple[str, str], RoleCounts]"
) -> Character:
    parts = [GENDER_WORDS.get(person.gender, ""), person.labels.get("names", "")]
    told = "; ".join(part for part in parts if part)
    name = person.name or person.role or "no name"
    of_name = counts.get(((person.name or "").casefold(), item.strata.get("domain") or "all"))
    cells: tuple[tuple[str, str], ...] = ()
    if of_name is not None:
        cells = tuple((f"# {label}", _counted(of_name[role])) for role, label in _ROLES.items())
    return Character(person.slot, short(f"{name}: {told}" if told else name, 120), cells)


def _counted(count: "RoleCount") -> str:
    said = f"{count.n:,}"
    if count.interval is None:
        return said
    low, high = (round(bound) for bound in (count.interval.low, count.interval.high))
    return f"{said} ({low:,}{fmt.DASH}{high:,})"


def _passage(item: "Item") -> Passage:
    row: dict[str, Any] = {
        "model": item.strata.get("model", "no model named"),
        "prompt": item.title,
        "condition": item.strata.get("condition", ""),
        "text": item.text[:100_000],
        "size": len(item.text),
    }
    for slot in ("subject", "object"):
        person = next((one for one in item.people if one.slot == slot), None)
        row[f"{slot}_name"] = None if person is None else person.name
        spans = () if person is None else person.spans[:200]
        row[f"{slot}_spans"] = [{"start": start, "end": end} for start, end in spans]
    return passage(row)


def _counts_by_role(
    project: "Project",
    groups: "Sequence[GroupClusters]",
    run: "Run | None",
    level: float,
    seed: int,
) -> "Mapping[tuple[str, str], RoleCounts]":
    from portrayal.coding.roles import role_counts

    if run is None:
        return {}
    exemplars = {group.exemplar for group in groups}
    people = [p for item in project.items if item.item_id in exemplars for p in item.people]
    names = (person.name for person in people if person.name)
    return role_counts(run, names, level=level, seed=seed)


def _people(project: "Project", said: "Agreement") -> RatersView:
    people = said.people
    if len(people.raters) < 2:
        who = f"{people.raters[0]} alone has coded" if people.raters else "nobody has coded yet"
        return RatersView("People", (f"Agreement takes two people or more; {who}.",), None, (), ())
    return _raters(project, people, "People")


def _raters(project: "Project", compared: "Compared", title: str) -> RatersView:
    table = agreement_table(project, compared) if compared.figures else None
    after = tuple(undefined_sentences(project, compared))
    return RatersView(short(title, 120), (), table, after, compared.warnings)


def _model(project: "Project", compared: "Compared") -> RatersView:
    """A model against what people settle on, with what failed."""
    from portrayal.coding.coders import coder_notes

    name = compared.raters[1]
    before = [f"Compared with what people settle on, on {compared.n_done[name]:,} texts it coded."]
    for note in coder_notes(project):
        if note["rater"].casefold() == name.casefold():
            failed = f"{note['n_failed']:,} of {note['n_items']:,} texts have no usable answer"
            removed = sum(note["removed"].values())
            before.append(f"{failed}; {fmt.plural(removed, 'code')} taken out of its answers.")
    if compared.left_open:
        before.append(
            f"{fmt.plural(compared.left_open, 'decision')} that people left open are not compared."
        )
    view = _raters(project, compared, f"Language model {name}")
    return RatersView(view.title, tuple(before), view.table, view.after, view.warnings)
