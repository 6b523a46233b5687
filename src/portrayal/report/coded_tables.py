"""Tables of what was coded: codes by group, clusters, agreement, and cues."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from portrayal.report import formats as fmt
from portrayal.report.figures.figure import Table
from portrayal.report.inert import short
from portrayal.stats import wilson

if TYPE_CHECKING:
    from portrayal.coding import Project
    from portrayal.coding.agreement import Compared, Figure
    from portrayal.coding.clusters import GroupClusters
    from portrayal.run.directory import Run

CLUSTERS = 8
"""Clusters shown of one group."""
_STATISTICS = {
    "percent_agreement": "Agreement",
    "positive_agreement": "Agreement on yes",
    "cohens_kappa": "Cohen’s κ",
    "fleiss_kappa": "Fleiss’ κ",
    "krippendorff_alpha": "Krippendorff’s α",
}
_SHARES = ("percent_agreement", "positive_agreement")


def code_names(project: "Project") -> dict[str, str]:
    """Return the names of codes by key."""
    return {code.key: short(code.name, 40) for code in project.codebook.codes}


def codes_by_group(project: "Project", groups: "Sequence[GroupClusters]", level: float) -> Table:
    """Return how many texts of each group show each code, with Wilson's interval of the share."""
    rows = []
    for group in groups:
        for key, name in code_names(project).items():
            n = sum(len(one.items) for one in group.clusters if key in one.codes)
            low, high = (float(x) for x in wilson(n, group.n_items, level))
            share = fmt.share(n / group.n_items) if group.n_items else fmt.NOTHING
            cells = (f"{n:,}", f"{group.n_items:,}", share, fmt.span(low, high, "share"))
            rows.append((short(group.group, 40), name, *cells))
    return Table(("Group", "Code", "Texts", "of", "Share", "Interval"), tuple(rows), 2)


def clusters_of(project: "Project", group: "GroupClusters") -> Table:
    """Return the clusters of one group, the largest first; small ones in one row at the end."""
    names = code_names(project)
    rows = [
        (
            " + ".join(names[key] for key in one.codes) or "none of the codes",
            f"{len(one.items):,}",
            fmt.share(len(one.items) / group.n_items),
            fmt.interval(one.interval, "share"),
        )
        for one in group.clusters[:CLUSTERS]
    ]
    rest = group.clusters[CLUSTERS:]
    if rest:
        n = sum(len(one.items) for one in rest)
        said = fmt.plural(len(rest), "other combination")
        rows.append((said, f"{n:,}", fmt.share(n / group.n_items), fmt.NOTHING))
    return Table(("Codes together", "Texts", "Share", "Interval"), tuple(rows), 1)


def agreement_table(project: "Project", compared: "Compared") -> Table:
    """Return one row for each question, and the statistics beside each other."""
    names = code_names(project) | {field.key: field.label for field in project.codebook.fields}
    names |= {"all codes": "All codes together", "whole set": "The whole set of a text"}
    present = {figure.statistic for figure in compared.figures}
    statistics = [name for name in _STATISTICS if name in present]
    rows = []
    for question in dict.fromkeys(figure.question for figure in compared.figures):
        cells = [short(names.get(question, question), 40)]
        for statistic in statistics:
            cells.append(_figure(compared.get(question, statistic)))
        first = compared.get(question, "percent_agreement")
        cells.append(f"{first.n_items:,}" if first is not None else fmt.NOTHING)
        rows.append(tuple(cells))
    heads = ("Code", *(_STATISTICS[name] for name in statistics), "Texts")
    return Table(heads, tuple(rows), 1)


def undefined_sentences(project: "Project", compared: "Compared") -> list[str]:
    """Return which figures are of fewer texts, or have no value or interval, and why."""
    names = code_names(project) | {"all codes": "all codes", "whole set": "the whole set"}
    by: dict[str, list[str]] = {}
    whole = {one.n_items for one in compared.figures if one.statistic == "fleiss_kappa"}
    every = {one.n_items for one in compared.figures if one.statistic == "percent_agreement"}
    few = []
    if whole and 0 < max(whole) < max(every):
        few.append(f"Fleiss’ κ is of the {max(whole):,} texts that all of them coded.")
    for figure in compared.figures:
        reason = figure.undefined or figure.no_interval
        if reason:
            what = "No value" if figure.undefined else "No interval"
            said = names.get(figure.question, figure.question)
            label = f"{_STATISTICS[figure.statistic]} of {said}"
            by.setdefault(f"{what}, as {reason}", []).append(label)
    return few + [f"{reason}: {fmt.listed(labels)}." for reason, labels in by.items()]


def cue_rows(run: "Run") -> list[dict[str, Any]]:
    """Return the rows of `coding/cues.json` over all models and domains; none without the file."""
    path = run.path / "coding" / "cues.json"
    try:
        rows = json.loads(path.read_text("utf-8"))["cues"]
        wanted = [row for row in rows if row["domain"] == row["model"] == "all"]
        [_cue(row, wanted) for row in wanted]
    except (OSError, ValueError, KeyError, TypeError):
        return []
    return wanted


def cue_table(rows: Sequence[dict[str, Any]]) -> Table | None:
    """Return counts of cues by role, of what `cue_rows` gave; None where it gave nothing."""
    found = [_cue(row, rows) for row in rows if row["role"] == "all"]
    heads = ("Cues", "Term", "Texts", "# Base", "# Dom", "# Sub", "Share", "Interval")
    return Table(heads, tuple(found), 2) if found else None


def cue_counts(rows: Sequence[dict[str, Any]], group: str) -> tuple[tuple[str, str], ...]:
    """Return in how many texts any term of a group describes a character of each role."""
    for row in rows:
        if (row["cues"], row["cue"], row["role"]) == (group, "any", "all"):
            return tuple(zip(("# Base", "# Dom", "# Sub"), _cue(row, rows)[3:6], strict=True))
    return ()


def _cue(row: dict[str, Any], rows: Sequence[dict[str, Any]]) -> tuple[str, ...]:
    by_role = {
        one["role"]: one["texts"]
        for one in rows
        if (one["cues"], one["cue"]) == (row["cues"], row["cue"])
    }
    roles = (by_role.get(role) for role in ("neutral", "dominant", "subordinate"))
    bounds = row["interval"] or row["exact_interval"]
    said = fmt.NOTHING if bounds is None else fmt.span(bounds["low"], bounds["high"], "share")
    if row["upper_of_none"] is not None:
        said = f"below {fmt.share(row['upper_of_none'])}"
    return (
        short(row["cues"], 30),
        "any of them" if row["cue"] == "any" else short(row["cue"], 40),
        f"{row['texts']:,}",
        *(fmt.NOTHING if n is None else f"{n:,}" for n in roles),
        fmt.share(row["share"]),
        said,
    )


def _figure(figure: "Figure | None") -> str:
    if figure is None or figure.value is None:
        return fmt.NOTHING
    value = _number(figure.value, figure.statistic)
    if figure.interval is None:
        return value
    low, high = figure.interval.low, figure.interval.high
    return f"{value} ({_number(low, figure.statistic)} to {_number(high, figure.statistic)})"


def _number(value: float, statistic: str) -> str:
    if statistic in _SHARES:
        return f"{100 * value:.0f}{fmt.PERCENT}"
    return f"{round(value, 2) + 0.0:.2f}".replace("-", "−")
