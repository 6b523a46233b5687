"""What the commands print that change texts or build a data set."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Column, Table

from portrayal.show import line

if TYPE_CHECKING:
    from portrayal.mitigate import Mitigation


def mitigation(done: "Mitigation") -> None:
    """Print groups, gaps and variances before and after, what got worse, and what was done."""
    facts = done.facts
    compared = facts["comparison"]
    _table("variance between groups (pp²)", compared["variances"], 2)
    _table("gap in ratio gap (pp)", compared["gaps"], 1)
    _table("share of agentic sentences", compared["groups"], 3)
    for each in compared["variances"]:
        if each["runs"]:
            told = "; ".join(f"{before:.2f} → {after:.2f}" for before, after in each["runs"])
            line(f"variance of {each['attribute']} in each run: {told}")
    if facts["strata"]:
        _strata(facts["strata"])
    line(f"texts: {_counted(facts['texts'])}")
    if facts["method"] == "rewrite":
        edits = facts["edits"]
        line(
            f"edits: {edits['applied']:,} applied, {edits['refused']:,} refused "
            f"({_counted(edits['refused_by_reason'])})"
        )
    worse = facts["worse"]
    line(
        f"worse: {len(worse['variances_rose'])} variances rose, {len(worse['gaps_grew'])} gaps "
        f"grew, {len(worse['groups_fell'])} groups fell, {worse['n_texts_against']:,} texts moved "
        f"the other way, {worse['n_texts_unlike']:,} texts are less alike than "
        f"{worse['least_similarity']}"
    )
    line(f"stopped: {facts['stopped']}{_hint(facts)}")
    line(f"report: {done.out / 'report.html'}")
    line(f"next: portrayal audit agency --texts {done.out / 'texts.jsonl'}")


def _hint(facts: Mapping[str, Any]) -> str:
    """What to do where nothing was asked."""
    if facts["rounds"] or not facts["until_noise"]:
        return ""
    return ", so nothing was asked; --all-rounds asks all the same"


def _strata(places: Sequence[Mapping[str, Any]]) -> None:
    """Print the variances within strata, and which strata have no level of their own."""
    rows = [
        {**row, "what": place["stratum"] or "all others"}
        for place in places
        for row in place["comparison"]["variances"]
    ]
    _table("variance within (pp²)", rows, 2)
    rose = [place["stratum"] or "all others" for place in places if place["rose"]]
    line(f"strata in which a variance rose: {', '.join(rose) or 'none'}")
    for place in places:
        for name, why in place["pooled"].items():
            line(f"no level of its own, so toward the overall one: {name or 'texts'} ({why})")


def _table(title: str, rows: Sequence[Mapping[str, Any]], digits: int) -> None:
    headers = ("attribute", title, "before", "after", "change", "p before", "p after", "n")
    table = Table(*(Column(header, overflow="fold") for header in headers), box=None)
    for row in rows:
        table.add_row(
            row["attribute"],
            row["what"],
            *(_span(row[when], digits) for when in ("before", "after", "change")),
            *("" if row[p] is None else f"{row[p]:.3f}" for p in ("p_before", "p_after")),
            f"{row['n_texts']:,}",
        )
    Console(emoji=False, markup=False).print(table)


def _span(cell: Mapping[str, Any], digits: int) -> str:
    if cell["value"] is None:
        return "–"
    if cell["low"] is None or cell["high"] is None:
        return f"{cell['value']:.{digits}f}"
    return f"{cell['value']:.{digits}f} ({cell['low']:.{digits}f} to {cell['high']:.{digits}f})"


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{n:,} {name}" for name, n in counts.items()) or "none"
