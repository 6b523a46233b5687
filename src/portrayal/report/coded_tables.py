"""Tables of what was coded: codes by group, clusters, agreement, and cues."""

import json
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from portrayal.report import formats as fmt
from portrayal.report.figures.figure import Table
from portrayal.report.inert import short
from portrayal.report.view import FEW_PROMPTS

if TYPE_CHECKING:
    from portrayal.coding import Project
    from portrayal.coding.agreement import Compared, Figure
    from portrayal.coding.clusters import GroupClusters
    from portrayal.records import Null
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


def codes_by_group(project: "Project", groups: "Sequence[GroupClusters]") -> Table:
    """Return the share of each group's texts that show each code, with what chance gives."""
    names = code_names(project)
    rows = []
    for group in groups:
        for one in group.shares:
            share = one.share
            rows.append(
                (
                    short(group.group, 40),
                    names[one.code],
                    f"{share.n:,}",
                    f"{share.of:,}",
                    fmt.share(share.value),
                    fmt.interval(share.interval, "share"),
                    _chance(one.null),
                    fmt.probability(one.p),
                    fmt.probability(one.q),
                )
            )
    heads = ("Group", "Code", "Texts", "of", "Share", "Interval", "By chance", "p", "q")
    return Table(heads, tuple(rows), 2)


def share_sentences(groups: "Sequence[GroupClusters]") -> tuple[str, ...]:
    """Return how the intervals and chances of shares were made, and which are missing or weak."""
    found = []
    if all(group.n_prompts is None for group in groups):
        found.append(
            "No prompts are known: intervals are Wilson’s, which take texts as independent."
        )
    else:
        found.append(
            "Intervals resample the prompts with their texts, or count each prompt once where none "
            "differs from another."
        )
    few = [
        f"{short(group.group, 40)} ({group.n_prompts})"
        for group in groups
        if group.n_prompts is not None and 0 < group.n_prompts < FEW_PROMPTS
    ]
    if few:
        found.append(
            f"Fewer than {FEW_PROMPTS} prompts, too little to go by: {fmt.listed(few)}; one prompt "
            "alone gives no interval."
        )
    if any(one.null for group in groups for one in group.shares):
        found.append(
            "“By chance” is the range of the share if group labels were permuted within each "
            "prompt; p is the chance of a count as unlikely as this one, and q corrects it for all "
            "rows (Benjamini–Hochberg); neither where every arrangement gives one count."
        )
    why: dict[str, list[str]] = {}
    for group in groups:
        for reason in dict.fromkeys(one.no_null for one in group.shares if one.no_null):
            why.setdefault(reason, []).append(short(group.group, 40))
    found += [f"Nothing by chance for {fmt.listed(who)}: {said}." for said, who in why.items()]
    return tuple(found)


def _chance(null: "Null | None") -> str:
    """The range that chance gives; one share where labels can be moved and nothing changes."""
    if null is not None and null.low == null.high:
        return fmt.share(null.low)
    return fmt.interval(null, "share")


def clusters_of(project: "Project", group: "GroupClusters") -> Table:
    """Return the clusters of one group, the largest first; small ones in one row at the end."""
    names = code_names(project)
    rows = [
        (
            " + ".join(names[key] for key in one.codes) or "none of the codes",
            f"{one.share.n:,}",
            fmt.share(one.share.value),
            fmt.interval(one.share.interval, "share"),
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
    """Return counts of cues as rows: those of `coding/cues.json`, or else those of the audit.

    Whoever searched with a list of their own reads that one; none where nothing was counted.
    """
    path = run.path / "coding" / "cues.json"
    try:
        rows = list(json.loads(path.read_text("utf-8"))["cues"])
        if cue_table(rows) is not None:
            cue_places(rows)
            return rows
    except (OSError, ValueError, KeyError, TypeError):
        pass
    from portrayal.coding import cuecounts

    if not run.estimates_path.is_file():
        return []
    return cuecounts.cue_rows([e for e in run.records if e.measure == cuecounts.NAME])


def cue_table(rows: Sequence[dict[str, Any]]) -> Table | None:
    """Return counts of cues by role, over all models and domains; None without any."""
    pooled = [row for row in rows if row["domain"] == row["model"] == "all"]
    found = [
        (
            short(row["cues"], 30),
            _term(row),
            f"{row['texts']:,}",
            *_by_role(row, pooled),
            *_certainty(row),
        )
        for row in pooled
        if row["role"] == "all"
    ]
    roles = ("# Base", "# Dom", "# Sub")
    heads = ("Cues", "Term", "Texts", *roles, "Share", "Interval", "These prompts alone")
    return Table(heads, tuple(found), 2) if found else None


def cue_places(rows: Sequence[dict[str, Any]]) -> Table | None:
    """Return counts of each group's cues by model, by domain and by role; None without any."""
    terms = Counter((row["cues"], *_place(row)) for row in rows)
    found = []
    for row in rows:
        only = terms[row["cues"], *_place(row)] == 1
        split = [name for name in ("model", "domain", "role") if row[name] != "all"]
        if len(split) == 1 and (row["cue"] == "any" or only):
            cells = (f"{row['texts']:,}", f"{row['of_texts']:,}", *_certainty(row))
            found.append((short(row["cues"], 30), split[0], short(row[split[0]], 40), *cells))
    heads = ("Cues", "By", "Of", "Texts", "of", "Share", "Interval", "These prompts alone")
    found.sort(key=lambda cells: ("model", "domain", "role").index(cells[1]))
    return Table(heads, tuple(found), 3) if found else None


def cue_counts(rows: Sequence[dict[str, Any]], group: str) -> tuple[tuple[str, str], ...]:
    """Return in how many texts any term of a group describes a character of each role."""
    pooled = [row for row in rows if row["domain"] == row["model"] == "all"]
    for row in pooled:
        if (row["cues"], row["cue"], row["role"]) == (group, "any", "all"):
            return tuple(zip(("# Base", "# Dom", "# Sub"), _by_role(row, pooled), strict=True))
    return ()


def _place(row: dict[str, Any]) -> tuple[str, str, str]:
    return row["model"], row["domain"], row["role"]


def _term(row: dict[str, Any]) -> str:
    return "any of them" if row["cue"] == "any" else short(row["cue"], 40)


def _by_role(row: dict[str, Any], pooled: Sequence[dict[str, Any]]) -> tuple[str, ...]:
    by_role = {
        one["role"]: one["texts"]
        for one in pooled
        if (one["cues"], one["cue"]) == (row["cues"], row["cue"])
    }
    counts = (by_role.get(role) for role in ("neutral", "dominant", "subordinate"))
    return tuple(fmt.NOTHING if n is None else f"{n:,}" for n in counts)


def _certainty(row: dict[str, Any]) -> tuple[str, str, str]:
    """Share, clustered interval, and exact interval, which is one-sided where nothing was found."""
    exact = _bounds(row["exact_interval"])
    if row["upper_of_none"] is not None:
        exact = f"below {_small(row['upper_of_none'])}"
    return fmt.share(row["share"]), _bounds(row["interval"]), exact


def _bounds(bounds: dict[str, Any] | None) -> str:
    return fmt.NOTHING if bounds is None else fmt.span(bounds["low"], bounds["high"], "share")


def _small(share: float) -> str:
    """A share in percent with two digits, however small: it is a bound, and 0 is none."""
    return f"{100 * share:.2g}{fmt.PERCENT}" if share < 0.001 else fmt.share(share)


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
