"""What Fang et al. (2024) print: the figures by their place in the paper, and what they imply.

An interval of a mean is read as value ± t · standard error, as the paper's method makes it.
"""

from typing import Any

import numpy as np

from portrayal.reference import published
from portrayal.stats.tails import t_isf, t_sf
from portrayal.types import FloatArray

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


def columns(rows: list[Printed], *names: str) -> list[FloatArray]:
    """Return columns as arrays; NaN where nothing is printed."""
    return [np.array([row[name] for row in rows], dtype=np.float64) for name in names]


def standard_errors(rows: list[Printed]) -> FloatArray:
    """Return the standard error that each interval implies."""
    low, high, n = columns(rows, "ci_low", "ci_high", "n")
    return np.asarray((high - low) / 2.0 / t_isf((1.0 - LEVEL) / 2.0, n - 1.0))


def p_of_means(rows: list[Printed]) -> FloatArray:
    """Return the two-sided p-value of each mean against 0."""
    value, n = columns(rows, "value", "n")
    return np.asarray(2.0 * t_sf(np.abs(value) / standard_errors(rows), n - 1.0))


def p_of_two_means(first: list[Printed], second: list[Printed]) -> FloatArray:
    """Return Student's two-sided p-value, with equal variances, of each pair of means."""
    (mean_1, n_1), (mean_2, n_2) = (columns(rows, "value", "n") for rows in (first, second))
    squares = (n_1 - 1) * n_1 * standard_errors(first) ** 2
    squares = squares + (n_2 - 1) * n_2 * standard_errors(second) ** 2
    freedom = n_1 + n_2 - 2.0
    error = np.sqrt(squares / freedom * (1.0 / n_1 + 1.0 / n_2))
    return np.asarray(2.0 * t_sf(np.abs(mean_2 - mean_1) / error, freedom))
