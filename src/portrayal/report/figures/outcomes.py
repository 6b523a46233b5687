"""Outcomes: refused, empty and failed answers, by domain and condition."""

from portrayal.records import Estimate
from portrayal.report import formats as fmt
from portrayal.report.figures.figure import Figure, Table
from portrayal.report.inert import short
from portrayal.report.view import View, domain_of


def outcomes(view: View, estimates: list[Estimate]) -> Figure | None:
    """Return the table of answers that could not be read; None where there is no estimate."""
    rows: dict[tuple[str, str, str], dict[str, Estimate]] = {}
    for e in estimates:
        key = (
            short(view.called(e.strata.get("model", "")), 40),
            domain_of(e),
            e.strata.get("condition", ""),
        )
        rows.setdefault(key, {})[e.group.get("outcome", "")] = e
    if not rows:
        return None
    kinds = list(dict.fromkeys(kind for cells in rows.values() for kind in cells))
    missed = {key: cells for key, cells in rows.items() if any(e.value for e in cells.values())}
    table = tuple(
        (
            *key,
            *(fmt.share(cells[k].value) if k in cells else fmt.NOTHING for k in kinds),
            fmt.count(next(iter(cells.values())).n_units),
        )
        for key, cells in list((missed or rows).items())[:120]
    )
    heads = ("Model", "Domain", "Condition", *(kind.capitalize() for kind in kinds), "Texts")
    return Figure(
        "outcomes",
        "Answers that could not be read",
        _reading(missed),
        "Refused, empty and failed answers are no stories: they are counted here and left out of "
        "every other number.",
        None,
        Table(heads, table, 3),
    )


def _reading(missed: dict[tuple[str, str, str], dict[str, Estimate]]) -> str:
    if not missed:
        return "Every answer could be read."
    worst = max(missed.items(), key=lambda item: sum(e.value or 0 for e in item[1].values()))
    lost = sum(e.value or 0 for e in worst[1].values())
    where = ", ".join(part for part in worst[0] if part)
    return f"Most are missing for {where}: {fmt.share(lost)} of its answers."
