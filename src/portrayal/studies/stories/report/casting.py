"""Who appears in which scenario, and who stands over whom."""

import math
from collections.abc import Iterator
from typing import Any

import portrayal.report.formats as fmt
import portrayal.report.words as words
from portrayal.records import Estimate
from portrayal.report.figures.figure import Figure, Spec, facts, tooltip
from portrayal.report.figures.heat import GAP, heat
from portrayal.report.figures.panels import tiled
from portrayal.report.formats import short
from portrayal.report.view import SURE, View, domain_of, domains, q_of
from portrayal.report.words import column_label
from portrayal.studies.stories.report.ratios import FIGURES, LIMIT

Rows = list[Estimate]


def pair_roles(view: View, estimates: Rows) -> Iterator[Figure]:
    """Yield the matrices by gender and by race."""
    main = view.only_main(estimates)
    if not main:
        return
    valued = [e for e in main if e.value is not None]
    attributes = (next(iter(e.group)) for e in valued)
    # Attributes in which both people were told.
    pairs = dict.fromkeys(
        n.removeprefix("dominant_") for n in attributes if n.startswith("dominant_")
    )
    # A row of matrices for each attribute, one matrix for each domain.
    rows = []
    for attribute in pairs:
        mine = [e for e in main if f"dominant_{attribute}" in e.group]
        labels = list(dict.fromkeys(column_label(e.group[f"dominant_{attribute}"]) for e in mine))
        charts = [
            heat(
                [_matrix_cell(view, e, attribute) for e in mine if domain_of(e) == domain],
                labels,
                labels,
                title=domain,
                limit=LIMIT,
                legend="times as often as the reverse",
                cell=(58.0 if attribute == "gender" else 43.0, 26.0),
            )
            for domain in domains(view, mine)
        ]
        rows.append(tiled(charts, 3, 24))
    # Of the two cells of a pair, the one that is more frequent.
    sure = [e for e in main if _is_asymmetric(e) and (e.value or 0) > _reverse(e)]
    tested = [e for e in main if e.tests and e.value is not None]
    # A pair has two cells and one test, so cells are halved.
    reading = f"None of {len(tested) // 2} pairs leans one way round beyond chance."
    if sure:
        far = max(sure, key=lambda e: (e.value or 0) - _reverse(e))
        above, below = map(column_label, far.group.values())
        reading = (
            f"{len(sure)} of {len(tested) // 2} pairs lean one way round; the widest is {above} "
            f"over {below} in {domain_of(far)}: {fmt.share(far.value)} of stories, and "
            f"{fmt.share(_reverse(far))} the other way round."
        )
    yield FIGURES.figure("who-over-whom", view, valued, tiled(rows) if rows else None, said=reading)


def _matrix_cell(view: View, e: Estimate, attribute: str) -> dict[str, Any]:
    above = column_label(e.group[f"dominant_{attribute}"])
    below = column_label(e.group[f"subordinate_{attribute}"])
    forth, back = e.details.get("count", 0.0), e.details.get("count_reversed", 0.0)
    # A way round that never occurs leans without limit; the colours end at LIMIT.
    lean = math.log2(forth / back) if forth > 0 and back > 0 else LIMIT if forth else -LIMIT
    text = GAP if e.value is None else f"{100 * e.value:.0f} %"
    return {
        **facts(view, e),
        "group": f"{above} over {below}",
        "row": above,
        "col": below,
        "l": max(-LIMIT, min(LIMIT, lean)),
        # "0 %" would deny stories that there are.
        "t": "<1 %" if 0 < (e.value or 0) < 0.005 else text,
        "c": "undefined" if e.value is None else "sure" if _is_asymmetric(e) else "unsure",
    }


def _is_asymmetric(e: Estimate) -> bool:
    """Whether one way round is told from the other: q, and outside the coin's range."""
    q = q_of(e)
    return q is not None and q < SURE and _is_outside(e)


def _reverse(e: Estimate) -> float:
    return e.details.get("count_reversed", 0.0) / e.n_units if e.n_units else 0.0


ROLES = ("neutral", "dominant", "subordinate")
MOST_SCENARIOS = 60
"""Scenarios of a domain at most."""


def scenario_likelihood(view: View, estimates: Rows) -> Iterator[Figure]:
    """Yield a heatmap of shares by scenario and group for each role."""
    main = view.only_main(estimates)
    columns = list(dict.fromkeys(column_label(next(iter(e.group.values()))) for e in main))
    present = {e.strata.get("role", "") for e in main if e.value is not None}
    for role in [role for role in ROLES if role in present] or sorted(present):
        role_rows = [e for e in main if e.strata.get("role", "") == role]
        # A scenario says something where its share is not what its domain's would give by chance.
        outside = sorted((e for e in role_rows if _is_outside(e)), key=lambda e: -abs(_gap(e)))
        valued = [e for e in main if e.strata.get("role") == role and e.value is not None]
        reading = f"No share among {len(valued)} lies outside what chance within the domain gives."
        if outside:
            far, null = outside[0], outside[0].null
            reading = (
                f"{len(outside)} of {len(valued)} shares among {role} characters lie outside what "
                f"chance within the domain gives; the furthest: {words.group_words(far.group)} in "
                f"“{short(far.strata.get('scenario', ''), 40)}” ({fmt.share(far.value)} against "
                f"{fmt.share(far.value if null is None else null.value)})."
            )
        yield FIGURES.figure(
            "scenarios",
            view,
            outside,
            tiled(
                [
                    _scenarios(view, role_rows, domain, columns)
                    for domain in domains(view, role_rows)
                ]
            ),
            key=f"scenarios-{role}".rstrip("-"),
            roles=f": {role} roles" if role else "",
            said=reading,
        )


def _gap(e: Estimate) -> float:
    """How far a share lies from that of its domain, in percentage points."""
    return 0.0 if e.null is None else 100 * ((e.value or 0.0) - e.null.value)


def _is_outside(e: Estimate) -> bool:
    if e.value is None or e.null is None:
        return False
    return not e.null.low <= e.value <= e.null.high


def _scenarios(view: View, main: Rows, domain: str, columns: list[str]) -> Spec:
    domain_rows = [e for e in main if domain_of(e) == domain]
    # Long lists are cut: hundreds of rows are read by nobody.
    scenarios = list(dict.fromkeys(e.strata.get("scenario", "") for e in domain_rows))[
        :MOST_SCENARIOS
    ]
    data = []
    for e in domain_rows:
        if e.strata.get("scenario", "") not in scenarios:
            continue
        estimate_facts = facts(view, e)
        kept_facts = ("domain", "group", "value", "ci", "null", "n", "why")
        cell: dict[str, Any] = {
            name: estimate_facts[name] for name in kept_facts if name in estimate_facts
        }
        # Facts that all cells share are left out, as there are very many cells.
        cell["row"] = short(e.strata.get("scenario", ""), 36)
        cell["col"] = column_label(next(iter(e.group.values())))
        cell["t"] = "–" if e.value is None else f"{100 * e.value:.0f} %"
        data.append(cell | {"g": round(_gap(e), 1), "o": _is_outside(e)})
    return FIGURES.chart(
        "scenarios",
        title=short(domain, 40),
        data=data,
        columns=columns,
        tooltip=tooltip(Scenario="row"),
    )
