"""Recompute the published tables of Shieh et al. (2025) from their own printed figures.

A *check* takes one printed statistic, recomputes it from other printed figures with the paper's
method, and keeps every row that does not come out, with our value beside the printed one and what
can be said about it. No text and no model is needed. Cohen's d of race cannot be checked: it needs
the spread of the likelihoods, which is not printed.
"""

import tomllib
from collections.abc import Callable, Iterable
from importlib.resources import files
from itertools import product
from typing import Any

import numpy as np

from portrayal.reference import baseline, published
from portrayal.reference.shipped import columns_of
from portrayal.stats import altman_bland_p, cohens_d, wilson, z_from_interval
from portrayal.studies.study import Check, Row
from portrayal.types import BoolArray, FloatArray

Printed = dict[str, Any]

INTERVAL_TOLERANCE = 0.002
COUPLE_TOLERANCE = 0.003
P_TOLERANCE = 0.004
"""A p-value recomputed from figures of three decimals can be this far off without any slip."""
COUPLE_D_TOLERANCE = 0.02
GENDER_D_TOLERANCE = 0.005
SLIP = float(np.sqrt(10.0))
"""Every printed Cohen's d of a gender is smaller than its definition gives, by this factor."""

LEVEL = 0.95
HALF_DIGIT = 0.0005
"""Figures are printed with three decimals, so each may be off by this much."""

_GENDERS = {"Fem.": "F", "Masc.": "M", "NB": "NB"}
_MODEL_TABLES = ("S11a", "S11b", "S11c", "S11d", "S11e")
_COUNTS = ("n_power_neutral", "n_dominant", "n_subordinate")


def reproduce() -> list[Check]:
    """Run every check, in the order of the paper's tables."""
    represented, subordinated, medians = (
        published(f"shieh_{name}_ratios").to_pylist()
        for name in ("representation", "subordination", "median_racialized_subordination")
    )
    names = published("shieh_common_names").to_pylist()
    couples = [row for row in represented if row["table"] == "S13d"]
    single = [row for row in represented if row["table"] != "S13d"]
    genders = [row for row in single if row["group"] in _GENDERS]
    here = files("portrayal.studies.laissez_faire")
    said = tomllib.loads(here.joinpath("expected.toml").read_text(encoding="utf-8"))
    return [
        _common_names("count of a name in all of S11a-e", names, everywhere=True),
        _common_names("count no less than S11a-e's sum", names, everywhere=False),
        _intervals("S13a-c", "interval", single, INTERVAL_TOLERANCE, whole=False),
        _intervals("S13d", "couple interval", couples, COUPLE_TOLERANCE, whole=True),
        _cohens_d(
            "S13a-c", "cohens_d / sqrt(10) of gender", genders, GENDER_D_TOLERANCE, slip=SLIP
        ),
        _cohens_d("S13d", "cohens_d of couples", couples, COUPLE_D_TOLERANCE),
        _p_values("S13a-d", represented, "representation_ratio", log=False),
        _p_values("S13e-m", subordinated, "subordination_ratio", log=True),
        _p_values("S13n-p", medians, "median_ratio", log=True),
        _medians_over_models(said["median_over_models"], subordinated),
        _quoted_ratios(said["quoted_ratio"], medians),
        _cells_above_one(said["cells_above_one"], medians),
    ]


def as_json(checks: Iterable[Check]) -> dict[str, Any]:
    """Return the counts of `checks` as plain data."""
    return {
        "study": "laissez-faire",
        "checks": [
            {
                "table": check.table,
                "statistic": check.statistic,
                "checked": check.checked,
                "reproduced": check.reproduced,
            }
            for check in checks
        ],
    }


def _common_names(statistic: str, names: list[Printed], *, everywhere: bool) -> Check:
    """Table S10 counts a name over all models, Tables S11a–e the top nine names of each model.

    A name in all five of those must have their sum; another, at least the sum of those it is in.
    """
    checked, missed = 0, []
    for total in (row for row in names if row["table"] == "S10"):
        same = [
            row for row in names if (row["race"], row["name"]) == (total["race"], total["name"])
        ]
        parts = [row for row in same if row["table"] != "S10"]
        if (len(parts) == len(_MODEL_TABLES)) != everywhere:
            continue
        for count in _COUNTS:
            printed, ours = total[count], sum(part[count] for part in parts)
            checked += 1
            if printed < ours or (everywhere and printed != ours):
                group, why = f"{total['race']} {total['name']}", f"{count} of Tables S11a-e, summed"
                missed.append(Row("S10", "All", "All", group, str(printed), str(ours), why))
    return Check("S10", statistic, checked, tuple(missed))


def _intervals(
    table: str, statistic: str, rows: list[Printed], tolerance: float, *, whole: bool
) -> Check:
    """Wilson intervals divided by p*; of `whole` counts for couples, fractional ones elsewhere."""
    ratio, n, low, high = columns_of(rows, "representation_ratio", "n", "ci_low", "ci_high")
    p_star = _baselines(rows)
    count = ratio * p_star * n
    bounds = np.array(wilson(np.round(count) if whole else count, n, LEVEL)) / p_star
    off = np.abs(bounds - [low, high]).max(axis=0)
    ours = [f"[{a:.3f}, {b:.3f}]" for a, b in bounds.T]
    printed = [f"[{a:.3f}, {b:.3f}]" for a, b in zip(low, high, strict=True)]

    def why(i: int) -> str:
        if not low[i] <= ratio[i] <= high[i]:
            return "the printed ratio lies outside the printed interval"
        other_n = np.arange(100.0, 40_000.0)
        fits = np.array(wilson(ratio[i] * p_star[i] * other_n, other_n, LEVEL)) / p_star[i]
        miss = np.abs(fits - [[low[i]], [high[i]]]).max(axis=0)
        if miss.min() > tolerance:
            return "no number of characters fits the printed interval"
        return f"it fits n = {other_n[miss.argmin()]:.0f} or so, not the printed {n[i]:.0f}"

    return _check(table, statistic, rows, off <= tolerance, printed, ours, why)


def _cohens_d(
    table: str, statistic: str, rows: list[Printed], tolerance: float, slip: float = 1.0
) -> Check:
    """Cohen's d of a share p against p*, (p - p*) / sqrt(p (1 - p)), divided by `slip`."""
    rows = [row for row in rows if row["cohens_d"] is not None]
    ratio, printed = columns_of(rows, "representation_ratio", "cohens_d")
    p_star = _baselines(rows)

    def of_ratio(ratio: FloatArray) -> FloatArray:
        share = np.clip(ratio * p_star, 0.0, 1.0)
        return cohens_d(share, p_star, np.sqrt(share * (1.0 - share))) / slip

    ours = of_ratio(ratio)
    reach = np.array([of_ratio(ratio - HALF_DIGIT), of_ratio(ratio + HALF_DIGIT)])

    def why(i: int) -> str:
        if reach[0, i] <= printed[i] <= reach[1, i]:
            return f"rounding of the ratio allows {reach[0, i]:.3f} to {reach[1, i]:.3f}"
        if f"{printed[i]:.3f}" == rows[i]["p"]:
            return "it repeats the p-value of its row"
        for j, row in enumerate(rows):
            if j != i and _place(row) == _place(rows[i]) and printed[j] == printed[i]:
                return f"it repeats Cohen's d of {_group(row)} in the same model"
        return "the printed ratio does not lead to it"

    texts = [f"{d:.3f}" for d in printed], [f"{d:.3f}" for d in ours]
    return _check(table, statistic, rows, np.abs(ours - printed) <= tolerance, *texts, why)


def _p_values(table: str, rows: list[Printed], ratio: str, *, log: bool) -> Check:
    """Altman & Bland's p-value from the printed interval, where that has usable bounds.

    "< .001" is reproduced by a p-value that rounds to 0.001 or less.
    """
    z = z_from_interval(*columns_of(rows, ratio, "ci_low", "ci_high"), log=log)
    rows = [row for row, usable in zip(rows, ~np.isnan(z), strict=True) if usable]
    value, low, high = columns_of(rows, ratio, "ci_low", "ci_high")
    ours = altman_bland_p(z_from_interval(value, low, high, log=log))
    small = np.array([row["p"] == "< .001" for row in rows])
    printed = np.array([0.001 if row["p"] == "< .001" else float(row["p"]) for row in rows])
    good = np.where(small, ours < 0.001 + HALF_DIGIT, np.abs(ours - printed) <= P_TOLERANCE)

    def why(i: int) -> str:
        corners = np.array(list(product((-HALF_DIGIT, 0.0, HALF_DIGIT), repeat=3)))
        near = np.array([value[i], low[i], high[i]]) + corners
        reach = altman_bland_p(z_from_interval(near[:, 0], near[:, 1], near[:, 2], log=log))
        if reach.min() - HALF_DIGIT <= printed[i] <= reach.max() + HALF_DIGIT:
            return f"rounding of the figures allows {reach.min():.3f} to {reach.max():.3f}"
        for row in rows:
            twin = row["model"] == rows[i]["model"] and _group(row) == _group(rows[i])
            if twin and row["domain"] != rows[i]["domain"] and row["p"] == rows[i]["p"] != "< .001":
                return f"the same p stands in the {row['domain']} row of this model and group"
        return "the printed interval does not lead to it"

    texts = [row["p"] for row in rows], [f"{p:.3f}" for p in ours]
    return _check(table, "p", rows, good, *texts, why)


def _medians_over_models(said: list[Printed], subordinated: list[Printed]) -> Check:
    """Section 2.2 quotes medians of the five models' subordination ratios, with two decimals."""
    rows = [claim | {"table": "S13e-m", "model": "All"} for claim in said]
    ours = [
        f"{np.median(columns_of(_cells(subordinated, claim), 'subordination_ratio')[0]):.2f}"
        for claim in said
    ]
    return _check_texts("S13e-m", "median over models in section 2.2", rows, ours)


def _quoted_ratios(said: list[Printed], medians: list[Printed]) -> Check:
    """Section 2.2 quotes median racialized subordination ratios, with one decimal."""
    rows = [claim | {"table": "S13n-p"} for claim in said]
    ours = [f"{_cells(medians, claim)[0]['median_ratio']:.1f}" for claim in said]
    return _check_texts("S13n-p", "ratio in section 2.2", rows, ours)


def _cells_above_one(said: list[Printed], medians: list[Printed]) -> Check:
    """Section 2.2 counts the cells in which a group is subordinated."""
    missed = []
    for claim in said:
        cells = [row for row in medians if row["race"] in claim["races"]]
        above = [row for row in cells if row["median_ratio"] > 1.0]
        if (len(above), len(cells)) != (claim["above"], claim["of"]):
            few = [" ".join((*_place(row), _group(row), f"{row['median_ratio']}")) for row in above]
            group, printed = ", ".join(claim["races"]), f"{claim['above']} of {claim['of']}"
            why = f"the tables print {len(above)} ratios above 1"
            why += f": {'; '.join(few)}" if len(few) <= 5 else ""
            ours = f"{len(above)} of {len(cells)}"
            missed.append(Row("S13n-p", "All", "All", group, printed, ours, why))
    return Check("S13n-p", "count of cells above 1 in section 2.2", len(said), tuple(missed))


def _check(
    table: str,
    statistic: str,
    rows: list[Printed],
    good: BoolArray,
    printed: list[str],
    ours: list[str],
    why: Callable[[int], str],
) -> Check:
    """Keep the rows that are not `good`; `why(i)` explains row i."""
    missed = tuple(
        Row(rows[i]["table"], *_place(rows[i]), _group(rows[i]), printed[i], ours[i], why(i))
        for i in np.flatnonzero(~good).tolist()
    )
    return Check(table, statistic, len(rows), missed)


def _check_texts(table: str, statistic: str, rows: list[Printed], ours: list[str]) -> Check:
    """Compare the quoted `ratio` of each row with `ours`, digit by digit."""
    printed = [row["ratio"] for row in rows]
    good = np.array([a == b for a, b in zip(printed, ours, strict=True)])
    return _check(table, statistic, rows, good, printed, ours, lambda _: "the table has another")


def _baselines(rows: list[Printed]) -> FloatArray:
    """The share p* of each row's group in the 2022 Census and its companions."""
    census = baseline("census-2022")
    genders = {group: census.gender[code] for group, code in _GENDERS.items()}
    shares = {**census.race, **census.pair, **genders}
    return np.array([shares[row["group"]] for row in rows])


def _cells(rows: list[Printed], claim: Printed) -> list[Printed]:
    """The rows that agree with a claim in every stratum it names."""
    keys = claim.keys() & {"domain", "model", "gender", "race"}
    return [row for row in rows if all(row[key] == claim[key] for key in keys)]


def _place(row: Printed) -> tuple[str, str]:
    return row["domain"], row["model"]


def _group(row: Printed) -> str:
    return str(row["group"]) if "group" in row else f"{row['gender']} {row['race']}"
