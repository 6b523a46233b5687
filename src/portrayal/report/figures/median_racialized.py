"""Fig. 3c: median racialized subordination ratios by model, race and gender."""

from portrayal.records import Estimate
from portrayal.report import formats as fmt
from portrayal.report.figures.figure import Figure, Spec, estimate_table
from portrayal.report.figures.published import NOTE, published_ratios
from portrayal.report.figures.ratios import cell, published_cell, ratio_heat, tiled
from portrayal.report.findings import distance
from portrayal.report.view import View, domain_of, domains, is_sure
from portrayal.report.words import GENDER_LABELS, group_label

LIMIT = 4.0
"""log2 of the ratio at which the colours end: one sixteenth, and sixteen times."""


def median_racialized(view: View, estimates: list[Estimate]) -> Figure | None:
    """Return the heatmap of median racialized ratios; None where there is no estimate."""
    known = [e for e in estimates if e.value is not None]
    main = [e for e in estimates if e.strata.get("model") == view.main]
    if not main:
        return None
    races = list(dict.fromkeys(e.group["race"] for e in estimates))
    genders = list(dict.fromkeys(e.group["gender"] for e in known))
    legend = "times as common in the subordinate role"
    charts: list[Spec] = []
    for domain in domains(view, estimates):
        defined = {e.group["gender"] for e in known if domain_of(e) == domain}
        row: list[Spec] = []
        for gender in (g for g in genders if g in defined):
            cells = [
                cell(view, e, e.group["race"], LIMIT)
                for e in estimates
                if domain_of(e) == domain and e.group["gender"] == gender
            ]
            cells += [
                published_cell(row, row.group[0][1])
                for row in published_ratios("median_racialized_subordination")
                if row.domain == domain and row.group[1][1] == gender
            ]
            title = f"{domain}, {GENDER_LABELS.get(gender, gender).lower()}"
            first = len(row) % 2 == 0
            row.append(
                ratio_heat(
                    view,
                    cells,
                    races,
                    title=title,
                    limit=LIMIT,
                    legend=legend,
                    width=47,
                    labels=first,
                )
            )
        charts += [tiled(row, 2, 20)] if row else []
    return Figure(
        "median-racialized",
        "The more racialized the name: median ratios",
        _reading(main),
        "Within one gender, names whose likelihood for a race exceeds a threshold: how much more "
        "common they are in the subordinate than in the dominant role, as the median over "
        "thresholds from 1 % to 100 %. Grey cell: not distinguishable from 1; dashed and empty: "
        f"undefined, the tooltip says why. {NOTE}",
        tiled(charts) if charts else None,
        estimate_table(view, main, "domain"),
    )


def _reading(main: list[Estimate]) -> str:
    known = [e for e in main if e.value is not None]
    sure = [e for e in known if is_sure(e)]
    if not known:
        return "No median is defined."
    if not sure:
        return (
            f"None of the {len(known)} medians can be told from 1 once all tests are allowed for."
        )
    above = sum((e.value or 0) > 1 for e in sure)
    far = max(sure, key=distance)
    return (
        f"{len(sure)} of {len(known)} medians can be told from 1, {above} of them above it; "
        f"the furthest is {fmt.ratio(far.value)} ({group_label(far.group)}, "
        f"{domain_of(far)})."
    )
