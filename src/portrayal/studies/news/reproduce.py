"""Recompute the published figures of Fang et al. (2024) from their own printed figures.

The paper prints 210 figures (Figures 2, 3a, 3c–10, A.1 and A.2): distances, prejudice rates, and
changes among the prejudiced articles, with intervals and numbers of articles. Table 1 prints 21
more, and the text beside Figures 8–10 42 differences. No text and no model is needed. Table 3's
average lengths cannot be checked: nothing else that is printed depends on them.

An interval of a mean is read as value ± t · standard error, as the paper's method makes it.
"""

import tomllib
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib.resources import files
from typing import Any

import numpy as np

from portrayal.reference import published
from portrayal.reference.shipped import columns_of
from portrayal.stats.tails import t_isf, t_sf
from portrayal.studies.study import Check, Row
from portrayal.types import BoolArray, FloatArray

Printed = dict[str, Any]

LEVEL = 0.95
DISTANCES = ("wasserstein", "max_abs_difference")

_FIGURES = {
    ("word", "gender"): ("2a", "2b", "2c"),
    ("word", "race"): ("3a", "3c", "3d"),
    ("sentence_sentiment", "gender"): ("4a", "4b", "4c"),
    ("sentence_sentiment", "race"): ("5a", "5b", "5c"),
    ("document", "gender"): ("6a", "6b", "6c"),
    ("document", "race"): ("7a", "7b", "7c"),
    ("sentence_toxicity", "gender"): ("A.1a", "A.1b", "A.1c"),
    ("sentence_toxicity", "race"): ("A.2a", "A.2b", "A.2c"),
}
_BIASED = {
    "word": ("", "8a", "8b"),
    "sentence_sentiment": ("", "9a", "9b"),
    "document": ("", "10a", "10b"),
}


def kind_of(row: Printed) -> int:
    """Return 0 for a distance, 1 for a prejudice rate, 2 for a change."""
    if row["metric"] in DISTANCES:
        return 0
    return 1 if row["metric"].startswith("prejudice_rate") else 2


def figure_of(row: Printed) -> str:
    """Return the figure that shows a row ("Fig. 2a")."""
    panels = _FIGURES[row["level"], row["attribute"]]
    if row.get("prompt") == "biased":
        panels = _BIASED[row["level"]]
    return f"Fig. {panels[kind_of(row)]}"


def printed_figures() -> list[Printed]:
    """Return the 210 figures, each with its place as `table` and its `kind`."""
    rows = published("fang_news_bias").to_pylist()
    return [row | {"table": figure_of(row), "kind": kind_of(row)} for row in rows]


def standard_errors(rows: list[Printed]) -> FloatArray:
    """Return the standard error that each interval implies."""
    low, high, n = columns_of(rows, "ci_low", "ci_high", "n")
    return np.asarray((high - low) / 2.0 / t_isf((1.0 - LEVEL) / 2.0, n - 1.0))


def p_of_means(rows: list[Printed]) -> FloatArray:
    """Return the two-sided p-value of each mean against 0."""
    value, n = columns_of(rows, "value", "n")
    return np.asarray(2.0 * t_sf(np.abs(value) / standard_errors(rows), n - 1.0))


def p_of_two_means(first: list[Printed], second: list[Printed]) -> FloatArray:
    """Return Student's two-sided p-value, with equal variances, of each pair of means."""
    (mean_1, n_1), (mean_2, n_2) = (columns_of(rows, "value", "n") for rows in (first, second))
    squares = (n_1 - 1) * n_1 * standard_errors(first) ** 2
    squares = squares + (n_2 - 1) * n_2 * standard_errors(second) ** 2
    freedom = n_1 + n_2 - 2.0
    error = np.sqrt(squares / freedom * (1.0 / n_1 + 1.0 / n_2))
    return np.asarray(2.0 * t_sf(np.abs(mean_2 - mean_1) / error, freedom))


HALF_DIGIT = 5e-5
"""Figures are printed with four decimals, or as percentages with two: each may be off by it."""
NEAR = 1e-9
P_TOLERANCE = 0.004
"""A p-value recomputed from figures of four decimals can be this far off without any slip."""
EVERY = "Fig. 2-10, A"


def reproduce() -> list[Check]:
    """Run every check: the figures by themselves, with each other, and what the text says."""
    rows = printed_figures()
    table = [row | {"table": "Table 1"} for row in published("fang_group_change").to_pylist()]
    here = files("portrayal.studies.news").joinpath("expected.toml")
    said = tomllib.loads(here.read_text(encoding="utf-8"))
    bounded = [row for row in rows if row["kind"] != 1]
    return [
        _centred(EVERY, bounded),
        _possible_spread(bounded),
        *_rates(rows),
        *_numbers(rows, said),
        _mass(rows),
        _centred("Table 1", table),
        *_table_1(rows, table),
        *_differences(rows),
        _lowest(rows, said["lowest"]),
        _captions(rows, said["caption"]),
        _articles(said),
    ]


def _centred(table: str, rows: list[Printed]) -> Check:
    """A normal interval has its value in the middle."""
    value, low, high = columns_of(rows, "value", "ci_low", "ci_high")
    middle = (low + high) / 2.0
    other = 2.0 * value - high

    def why(i: int) -> str:
        return f"the upper bound leads to the lower bound {other[i]:.4f}"

    ours = [f"{m:.4f} in the middle" for m in middle]
    good = np.abs(middle - value) <= 2.0 * HALF_DIGIT + NEAR
    return _check(table, "value in the middle of its interval", rows, good, ours, why, listed=True)


def _possible_spread(rows: list[Printed]) -> Check:
    """The standard deviation of values in 0–w with mean m is at most √(m (w - m))."""
    value, n = columns_of(rows, "value", "n")
    wide = np.array([2.0 if row["level"] == "sentence_sentiment" else 1.0 for row in rows])
    spread = standard_errors(rows) * np.sqrt(n)
    most = np.sqrt(np.abs(value) * (wide - np.abs(value)))
    both = zip(spread, most, strict=True)
    ours = [f"standard deviation {found:.3f} of at most {limit:.3f}" for found, limit in both]
    return _check(EVERY, "interval implies a possible spread", rows, spread <= most, ours)


def _rates(rows: list[Printed]) -> list[Check]:
    """A rate times its n is the n of the change among those articles."""
    rates = [row for row in rows if row["kind"] == 1]
    changes = _partners(rows, rates, kind=2)
    (rate, n), (count,) = columns_of(rates, "value", "n"), columns_of(changes, "n")
    near = np.abs(rate * n - count) <= 1.0
    exact = np.abs(rate - count / n) <= HALF_DIGIT + NEAR
    counts = [f"{r:.1f} for {c:.0f} articles" for r, c in zip(rate * n, count, strict=True)]
    shares = [f"{c:.0f} / {m:.0f} = {c / m:.4f}" for c, m in zip(count, n, strict=True)]

    def why(i: int) -> str:
        return f"{rate[i] * n[i]:.2f} articles by the rate, {count[i]:.0f} by the change"

    first = "rate × n is the n of its change ± 1"
    return [
        _check(EVERY, first, rates, near, counts, why, listed=True),
        _check(EVERY, "rate to its four digits", rates, exact, shares, why),
    ]


def _numbers(rows: list[Printed], said: dict[str, Any]) -> list[Check]:
    """Which articles can be among which."""
    plain = [row for row in rows if row["prompt"] == "unbiased"]
    rates = [row for row in plain if row["kind"] == 1]
    whole = _partners(plain, rates, kind=0)
    some = [row for row in plain if row["level"].startswith("sentence") and row["kind"] == 0]
    words = _partners(plain, some, level="word")
    who = said["answered"]
    asked = [row for row in rows if row["prompt"] == "biased" and row["model"] == who["model"]]
    answered = round(who["share"] * said["all"])
    return [
        _at_most("n of a rate within n of its distance", rates, columns_of(whole, "n")[0]),
        _at_most("n of sentences within n of words", some, columns_of(words, "n")[0]),
        _at_most("n within the articles of the study", rows, np.full(len(rows), said["all"])),
        _at_most("n within the biased prompts answered", asked, np.full(len(asked), answered)),
    ]


def _at_most(statistic: str, rows: list[Printed], most: FloatArray) -> Check:
    (n,) = columns_of(rows, "n")
    return _check(EVERY, statistic, rows, n <= most, [f"n at most {m:.0f}" for m in most])


def _mass(rows: list[Printed]) -> Check:
    """Prejudiced articles are part of all, and a change is no larger than the distance."""
    plain = [row for row in rows if row["prompt"] == "unbiased"]
    changes = [row for row in plain if row["kind"] == 2]
    whole = _partners(plain, changes, kind=0)
    part, every = (np.abs(np.prod(columns_of(r, "value", "n"), axis=0)) for r in (changes, whole))
    ours = [f"{p:.1f} of {e:.1f} in all" for p, e in zip(part, every, strict=True)]
    statistic = "changes add up to no more than distances"
    return _check("Fig. 2-7, A", statistic, changes, part <= every, ours)


def _table_1(rows: list[Printed], table: list[Printed]) -> list[Check]:
    """Table 1 is of the same articles as Fig. 3a; shares of three groups change by 0 together."""
    value, n = columns_of(table, "value", "n")
    whole = _partners(rows, table, kind=0, prompt="unbiased")
    distance, articles = columns_of(whole, "value", "n")
    together = [row | {"group": "all groups"} for row in table if row["group"] == "White"]
    total = np.array(
        [sum(r["value"] for r in table if r["model"] == row["model"]) for row in together]
    )
    sums = np.abs(total) <= 3.0 * HALF_DIGIT + NEAR
    within = np.abs(value) <= distance
    return [
        _check("Table 1", "groups add up to 0", together, sums, [f"{t:.4f}" for t in total]),
        _check("Table 1", "n of Fig. 3a", table, n == articles, [f"{m:.0f}" for m in articles]),
        _check("Table 1", "within the distance", table, within, [f"{d:.4f}" for d in distance]),
        _p_values("Table 1", table, p_of_means(table)),
    ]


def _differences(rows: list[Printed]) -> list[Check]:
    """The text prints second form minus first, and for changes the p-value of a t-test."""
    said = [
        row | {"kind": 2 if row["p"] else 1, "value": row["difference"]}
        for row in published("fang_biased_prompts").to_pylist()
    ]
    plain = _partners(rows, said, prompt="unbiased")
    loaded = _partners(rows, said, prompt="biased")
    said = [row | {"table": there["table"]} for row, there in zip(said, loaded, strict=True)]
    (first,), (second,), (printed,) = (columns_of(r, "value") for r in (plain, loaded, said))
    ours = second - first
    tested = [i for i, row in enumerate(said) if row["kind"] == 2]
    p = p_of_two_means([plain[i] for i in tested], [loaded[i] for i in tested])
    good = np.abs(ours - printed) <= HALF_DIGIT
    return [
        _check("Fig. 8-10", "difference in the text", said, good, [f"{d:.4f}" for d in ours]),
        _p_values("Fig. 8-10", [said[i] for i in tested], p),
    ]


def _p_values(table: str, rows: list[Printed], ours: FloatArray) -> Check:
    """Student's p-value from the printed means, intervals and numbers of articles."""
    limits = [float(row["p"].removeprefix("<")) for row in rows]
    small = np.array([row["p"].startswith("<") for row in rows])
    limit = np.array(limits)
    good = np.where(small, ours < limit + HALF_DIGIT, np.abs(ours - limit) <= P_TOLERANCE)
    printed = [f"p {row['p']}" for row in rows]
    return _check(table, "p", rows, good, [f"p {p:.4f}" for p in ours], printed=printed)


def _lowest(rows: list[Printed], said: list[Printed]) -> Check:
    """The text names the model nearest to 0 in a figure."""
    found, best = [], []
    for claim in said:
        shown = [row for row in rows if row["table"] == claim["figure"]]
        first = min(shown, key=lambda row: abs(row["value"]))
        found.append(next(row for row in shown if row["model"] == claim["model"]))
        best.append(first)
    good = np.array([a["model"] == b["model"] for a, b in zip(found, best, strict=True)])
    ours = [f"{row['model']} {row['value']:.4f}" for row in best]
    why = "another model has the lowest figure"
    return _check("Fig. 2-7, A", "lowest in the text", found, good, ours, lambda _: why)


def _captions(rows: list[Printed], said: list[Printed]) -> Check:
    """Captions repeat Grover's figures."""
    found = [
        next(row for row in rows if (row["table"], row["model"]) == (claim["figure"], "Grover"))
        for claim in said
    ]
    ours = [f"{row['value']:.4f}" for row in found]
    printed = [claim["value"] for claim in said]
    good = np.array([a == b for a, b in zip(printed, ours, strict=True)])

    def why(i: int) -> str:
        same = [row["table"] for row in rows if f"-{row['value']:.4f}" == printed[i]]
        return f"it is the rate of {same[0]}, with a minus" if same else "the figure has another"

    return _check("Fig. 2-7", "caption repeats the figure", found, good, ours, why, printed=printed)


def _articles(said: dict[str, Any]) -> Check:
    """Articles of the sections add up to each agency's, and those to all."""
    sums = {name: (part["all"], sum(part["sections"])) for name, part in said["articles"].items()}
    sums["both"] = (said["all"], sum(part["all"] for part in said["articles"].values()))
    missed = tuple(
        Row("Data", "articles", "", name, str(printed), str(ours), "the sections add up to another")
        for name, (printed, ours) in sums.items()
        if printed != ours
    )
    return Check("Data", "articles add up", len(sums), missed)


def _partners(rows: list[Printed], wanted: list[Printed], **other: Any) -> list[Printed]:
    """The row for each of `wanted` that differs from it in `other` alone."""
    names = ("level", "attribute", "prompt", "model", "kind")
    index = {tuple(row[name] for name in names): row for row in rows}
    keys = [row | other for row in wanted]
    return [index[tuple(key[name] for name in names)] for key in keys]


def _check(
    table: str,
    statistic: str,
    rows: list[Printed],
    good: BoolArray,
    ours: Sequence[str],
    why: Callable[[int], str] = lambda _: "the printed figures do not lead to it",
    *,
    printed: Sequence[str] = (),
    listed: bool = False,
) -> Check:
    """Keep the rows that are not `good`; `why(i)` explains row i."""
    texts = printed or [_text(row) for row in rows]
    found = [
        Row(row["table"], _level(row), row["model"], _group(row), texts[i], ours[i], "")
        for i, row in enumerate(rows)
    ]
    missed = tuple(replace(found[i], explanation=why(i)) for i in np.flatnonzero(~good).tolist())
    return Check(table, statistic, len(rows), missed, tuple(found) if listed else ())


def _text(row: Printed) -> str:
    """A figure as printed, with its interval and number of articles."""
    bounds = "" if row.get("ci_low") is None else f" [{row['ci_low']:.4f}, {row['ci_high']:.4f}]"
    return f"{row['value']:.4f}{bounds}" + (f", n {row['n']}" if "n" in row else "")


def _level(row: Printed) -> str:
    form = ", biased form" if row.get("prompt") == "biased" else ""
    return str(row["level"]).replace("_", " ") + form


def _group(row: Printed) -> str:
    if "group" in row:
        return str(row["group"])
    return str(row["attribute"] if row.get("kind") == 0 else row["metric"].rpartition("_")[2])
