"""What the commands of coding print: agreement, models and clusters."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape
from rich.table import Column, Table

from portrayal.show import line

if TYPE_CHECKING:
    from portrayal.coding.agreement import Agreement, Compared, Figure
    from portrayal.coding.clusters import GroupClusters
    from portrayal.coding.llm import CoderResult
    from portrayal.coding.shares import Share
    from portrayal.records import Interval, Null

SHARES = ("percent_agreement", "positive_agreement")
CALLED = {
    "percent_agreement": "agreement",
    "positive_agreement": "on yes",
    "cohens_kappa": "Cohen's kappa",
    "fleiss_kappa": "Fleiss' kappa",
    "krippendorff_alpha": "Krippendorff's alpha",
}


def agreement_facts(found: "Agreement") -> dict[str, Any]:
    """Return agreement as plain values; language models stand apart from people."""
    return {
        "people": _compared_facts(found.people),
        "pairs_of_people": [_compared_facts(one) for one in found.pairs],
        "language_models_against_people": [_compared_facts(one) for one in found.models],
    }


def _compared_facts(one: "Compared") -> dict[str, Any]:
    return {
        "raters": list(one.raters),
        "n_done": one.n_done,
        "left_open": one.left_open,
        "figures": [asdict(figure) | {"raters": list(figure.raters)} for figure in one.figures],
        "warnings": list(one.warnings),
    }


def agreement(found: "Agreement", started: int) -> None:
    """Print the agreement of people, then of pairs, then of each model with people."""
    done = ", ".join(f"{rater} {n:,}" for rater, n in found.people.n_done.items()) or "nobody"
    line(f"people: texts done by {done}; {started:,} begun and not done, which do not count.")
    if len(found.people.raters) < 2:
        line("agreement takes two people or more.")
    _figures(found.people)
    for pair in found.pairs:
        line(f"\n{' and '.join(pair.raters)}:")
        _figures(pair)
    for model in found.models:
        line(
            f"\nlanguage model {model.raters[1]}, against what people settle on (not in the above):"
        )
        if model.left_open:
            line(f"{model.left_open:,} decisions that people left open are not compared.")
        _figures(model)


def _figures(one: "Compared") -> None:
    if one.figures:
        table = Table(*(Column(h, overflow="fold") for h in _HEADS), box=None)
        for figure in one.figures:
            table.add_row(*(escape(cell) for cell in _cells(figure)))
        Console(emoji=False).print(table)
    for warning in one.warnings:
        line(f"warning: {warning}")


_HEADS = ("code", "statistic", "value", "interval", "texts")


def _cells(figure: "Figure") -> list[str]:
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


def interval(figure: "Figure") -> str:
    """Return the interval of a figure, or why it has none."""
    if figure.interval is None:
        return "" if figure.undefined else figure.no_interval
    low, high = figure.interval.low, figure.interval.high
    return f"{number(low, figure.statistic)} to {number(high, figure.statistic)}"


def coder(result: "CoderResult") -> None:
    """Print what a model did, with everything that failed."""
    line(f"{result.rater}: coded {result.n_coded:,} of {result.n_items:,} texts.")
    for what, counts in (("answers not used", result.unusable), ("codes removed", result.removed)):
        if counts:
            said = ", ".join(f"{n:,} {reason}" for reason, n in counts.items())
            line(f"{what}: {said}")
    if result.failed:
        line(
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


def clusters(found: "list[GroupClusters]") -> None:
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
        line(f"nothing by chance: {why}.")


def _share(share: "Share") -> tuple[str, str, str]:
    said = share.no_interval if share.interval is None else _percent(share.interval)
    value = "–" if share.value is None else f"{100 * share.value:.0f} %"
    return f"{share.n:,} of {share.of:,}", value, said


def _percent(bounds: "Interval | Null") -> str:
    return f"{100 * bounds.low:.0f} to {100 * bounds.high:.0f} %"
