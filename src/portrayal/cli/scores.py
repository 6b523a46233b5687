"""What the command line prints of scores and of agreement: one JSON object, or tables."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Column, Table

from portrayal.cli.printing import as_json, line

if TYPE_CHECKING:
    from portrayal.raters.people import PairAgreement, PeopleScore, Rate, Selective

_COLUMNS = {
    "name_precision": "name P",
    "name_recall": "name R",
    "gender_precision": "gender P",
    "gender_recall": "gender R",
    "gender_accuracy": "gender accuracy",
    "joint_accuracy": "joint accuracy",
}


def people_score(score: "PeopleScore", facts: Mapping[str, Any], *, as_object: bool) -> None:
    """Print the agreement of a labeler with hand labels; `facts` say who labelled what."""
    if as_object:
        as_json(dict(facts) | score.as_json())
        return
    line(", ".join(f"{name.replace('_', ' ')}: {value}" for name, value in facts.items()))
    table = _table("", "slots", *_COLUMNS.values())
    table.add_row("all", *_cells(score))
    for attribute, values in score.by.items():
        for value, part in values.items():
            table.add_row(f"{attribute} {value}", *_cells(part))
    console = Console(emoji=False)
    console.print(table)
    for attribute in score.absent:
        line(f"left out: the file does not say the {attribute}, so there is no breakdown by it")
    if score.selective:
        console.print(_coverage(score.selective))
        console.print(_reliability(score.selective))
        line(_errors_of_calibration(score.selective))
    line(_gap(score))
    unit = f"{score.n_clusters} {score.cluster_unit}{'' if score.n_clusters == 1 else 's'}"
    line(f"per cent; intervals resample {unit.replace('storys', 'stories')}")


def agreements(found: Iterable["PairAgreement"], *, as_object: bool) -> None:
    """Print how far raters agree, pair by pair."""
    if as_object:
        as_json({"pairs": [one.as_json() for one in found]})
        return
    table = _table("raters", "texts", "characters", "same gender", "kappa", "same name")
    for one in found:
        kappa = one.gender_kappa
        beyond = kappa.undefined or _span(kappa, 1, 2)
        table.add_row(
            " and ".join(one.raters),
            f"{one.n_texts:,}",
            f"{one.n_slots:,}",
            _percent(one.gender),
            beyond,
            _percent(one.name),
        )
    Console(emoji=False).print(table)


def _table(*headers: str) -> Table:
    return Table(*(Column(header, overflow="fold") for header in headers), box=None)


def _cells(score: "PeopleScore") -> list[str]:
    return [f"{score.n_slots:,.0f}", *(_percent(score.rates[name]) for name in _COLUMNS)]


def _percent(rate: "Rate") -> str:
    return _span(rate, 100, 1)


def _span(rate: "Rate", factor: float, digits: int) -> str:
    if rate.value is None:
        return "–"
    value = f"{factor * rate.value:.{digits}f}"
    if rate.low is None or rate.high is None:
        return value
    return f"{value} ({factor * rate.low:.{digits}f}–{factor * rate.high:.{digits}f})"


def _coverage(parts: Mapping[str, "Selective"]) -> Table:
    table = _table("most confident", *(f"{name} accuracy" for name in parts))
    for coverage in next(iter(parts.values())).at:
        cells = (_percent(part.at[coverage]) for part in parts.values())
        table.add_row(f"{coverage:.0%} of the slots", *cells)
    table.add_row("area under risk–coverage", *(_percent(part.area) for part in parts.values()))
    return table


def _reliability(parts: Mapping[str, "Selective"]) -> Table:
    table = _table("confidence", "of", "slots", "mean confidence", "accuracy")
    for name, part in parts.items():
        for place in part.bins:
            table.add_row(
                f"{place.low:.1f}–{place.high:.1f}",
                name,
                f"{place.right.n:,.0f}",
                f"{100 * place.confidence:.1f}",
                _percent(place.right),
            )
    return table


def _errors_of_calibration(parts: Mapping[str, "Selective"]) -> str:
    told = (
        f"{name} {100 * part.calibration_error:.1f}"
        for name, part in parts.items()
        if part.calibration_error is not None
    )
    return f"expected calibration error: {', '.join(told) or 'undefined, as no slot is labelled'}"


def _gap(score: "PeopleScore") -> str:
    gap = score.race_gap
    if gap is None or gap.value is None:
        why = "nothing is labelled" if gap is None else gap.undefined
        return f"gender errors between races of names: undefined, as {why}"
    bounds = "" if gap.low is None else f" ({gap.low:.2f}–{gap.high:.2f})"
    left = f"; fewer than 30 slots: {', '.join(gap.left_out)}" if gap.left_out else ""
    return (
        f"gender errors between races of names: {gap.value:.2f} times{bounds}, {gap.highest} names "
        f"over {gap.lowest} names; up to {gap.by_chance:.2f} by chance{left}"
    )
