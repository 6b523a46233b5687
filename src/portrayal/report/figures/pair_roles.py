"""Who stands over whom: the dominant and the subordinate group of each story."""

import math
from typing import Any

from portrayal.records import Estimate
from portrayal.report import formats as fmt
from portrayal.report.figures.figure import Figure, Spec, estimate_table, facts
from portrayal.report.figures.parts import heat
from portrayal.report.figures.ratios import tiled
from portrayal.report.view import View, domain_of, domains
from portrayal.report.words import column_label

LIMIT = 2.0
"""log2 of the asymmetry at which the colours end: a quarter, and four times."""


def pair_roles(view: View, estimates: list[Estimate]) -> Figure | None:
    """Return the matrices by gender and by race; None where there is no estimate."""
    main = [e for e in estimates if e.strata.get("model") == view.main]
    rows: list[Spec] = []
    for attribute in ("gender", "race"):
        mine = [e for e in main if f"dominant_{attribute}" in e.group]
        known = [e for e in mine if e.value is not None]
        if known:
            rows.append(_matrices(view, mine, attribute))
    if not main:
        return None
    return Figure(
        "who-over-whom",
        "Who stands over whom",
        _reading(main),
        "Rows: the dominant group; columns: the subordinate one; number: share of the stories with "
        "both known (races count fractionally, by the bearers of both names). Red: more often this "
        "way round than the reverse; blue: less often; grey: cannot be told from an even split, or "
        "the diagonal.",
        tiled(rows) if rows else None,
        estimate_table(view, [e for e in main if e.value is not None], "domain"),
    )


def _matrices(view: View, mine: list[Estimate], attribute: str) -> Spec:
    labels = list(dict.fromkeys(column_label(e.group[f"dominant_{attribute}"]) for e in mine))
    charts = []
    size = (58.0, 26.0) if attribute == "gender" else (43.0, 26.0)
    for domain in domains(view, mine):
        cells = [_cell(view, e, attribute) for e in mine if domain_of(e) == domain]
        charts.append(
            heat(
                cells,
                labels,
                labels,
                title=domain,
                limit=LIMIT,
                legend="times as often as the reverse",
                cell=size,
            )
        )
    return tiled(charts, 3, 24)


def _cell(view: View, e: Estimate, attribute: str) -> dict[str, Any]:
    above, below = e.group[f"dominant_{attribute}"], e.group[f"subordinate_{attribute}"]
    there, back = e.details.get("count", 0.0), e.details.get("count_reversed", 0.0)
    lean = math.log2(there / back) if there > 0 and back > 0 else LIMIT if there else -LIMIT
    kind = "undefined" if e.value is None else "sure" if is_asymmetric(e) else "unsure"
    return {
        **facts(view, e),
        "group": f"{column_label(above)} over {column_label(below)}",
        "row": column_label(above),
        "col": column_label(below),
        "l": max(-LIMIT, min(LIMIT, lean)),
        "t": " " if e.value is None else _percent(e.value),
        "c": kind,
    }


def _percent(share: float) -> str:
    return "<1 %" if 0 < share < 0.005 else f"{100 * share:.0f} %"


def is_asymmetric(e: Estimate) -> bool:
    """Whether one way round is told from the other: q, and outside the coin's range."""
    q = e.tests[0].q if e.tests else None
    if q is None or math.isnan(q) or q >= 0.05 or e.value is None or e.null is None:
        return False
    return not e.null.low <= e.value <= e.null.high


def _reading(main: list[Estimate]) -> str:
    sure = [e for e in main if is_asymmetric(e) and (e.value or 0) > _reverse(e)]
    tested = [e for e in main if e.tests and e.value is not None]
    if not sure:
        return f"None of {len(tested) // 2} pairs leans one way round beyond chance."
    far = max(sure, key=lambda e: (e.value or 0) - _reverse(e))
    above, below = map(column_label, far.group.values())
    return (
        f"{len(sure)} of {len(tested) // 2} pairs lean one way round; the widest is {above} over "
        f"{below} in {domain_of(far)}: {fmt.share(far.value)} of stories, and "
        f"{fmt.share(_reverse(far))} the other way round."
    )


def _reverse(e: Estimate) -> float:
    return e.details.get("count_reversed", 0.0) / e.n_units if e.n_units else 0.0
