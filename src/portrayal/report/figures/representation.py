"""Fig. 1a: representation ratios by model and group, one block for each domain."""

from portrayal.records import Estimate
from portrayal.report import formats as fmt
from portrayal.report.figures.figure import Figure, estimate_table
from portrayal.report.figures.published import NOTE, published_ratios
from portrayal.report.figures.ratios import GAP, cell, published_cell, ratio_heat, tiled
from portrayal.report.view import View, domain_of, domains, is_sure
from portrayal.report.words import column_label

LIMIT = 2.0
"""log2 of the ratio at which the colours end: a quarter, and four times."""


def representation(view: View, estimates: list[Estimate]) -> Figure | None:
    """Return the heatmap of representation ratios; None where there is no estimate."""
    groups = [g for g in dict.fromkeys(tuple(e.group.items()) for e in estimates) if len(g) == 1]
    races = [value for ((kind, value),) in groups if kind == "race"]
    genders = [value for ((kind, value),) in groups if kind == "gender"]
    columns = [*races, *([GAP] if races and genders else []), *map(column_label, genders)]
    if not columns:
        return None
    printed = [row for row in published_ratios("representation") if row.group[0][0] != "pair"]
    charts = []
    legend = "times the baseline’s share"
    for domain in domains(view, estimates):
        cells = [
            cell(view, e, column_label(next(iter(e.group.values()))), LIMIT)
            for e in estimates
            if domain_of(e) == domain and len(e.group) == 1
        ]
        cells += [
            published_cell(r, column_label(r.group[0][1])) for r in printed if r.domain == domain
        ]
        charts.append(
            ratio_heat(view, cells, columns, title=domain, limit=LIMIT, legend=legend, width=57)
        )
    main = [e for e in estimates if e.strata.get("model") == view.main]
    return Figure(
        "representation",
        "Who appears: representation ratios",
        _reading(main),
        "Share of each group among the characters of power-neutral stories, over its share in the "
        "baseline. Blue: fewer than the baseline; red: more; grey cell: not distinguishable from "
        "it (clustered interval, q and null range together); dashed and empty: undefined, the "
        f"tooltip says why. {NOTE}",
        tiled(charts),
        estimate_table(view, main, "domain"),
    )


def _reading(main: list[Estimate]) -> str:
    known = [e for e in main if e.value is not None]
    sure = [e for e in known if is_sure(e)]
    if not sure:
        return f"None of {fmt.plural(len(known), 'ratio')} can be told from the baseline."
    over = sum((e.value or 0) > 1 for e in sure)
    return (
        f"Of {fmt.plural(len(known), 'ratio')}, {len(sure)} can be told from the baseline: "
        f"{over} above it and {len(sure) - over} below."
    )
