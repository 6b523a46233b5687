"""Places: of which rows estimates are, as values of columns say, and which of them do not count.

Rows are texts, matched sets, prompts, or what else a measure counts; every measure makes its places
here, so that a column splits all of them by the same rule.
"""

import math
from collections.abc import Iterator, Mapping
from itertools import product

import numpy as np
import numpy.typing as npt

from portrayal.types import BoolArray, FloatArray


def places(
    n: int, columns: Mapping[str, npt.ArrayLike], *, most: float = math.inf, crossed: int = 0
) -> Iterator[tuple[dict[str, str], BoolArray]]:
    """Yield all n rows, then those of each value of each column, and of all columns crossed.

    Parameters
    ----------
    n, columns
        Number of rows, and their values of each column by its name, shape (n,); "" is none.
    most
        Values of a column above which it names no parts; one of a single value splits nothing.
    crossed
        Combinations of all columns' values up to which they are places too.

    Examples
    --------
    >>> [(labels, rows.tolist()) for labels, rows in places(3, {"tone": ["warm", "cold", ""]})]
    ... # doctest: +NORMALIZE_WHITESPACE
    [({}, [True, True, True]), ({'tone': 'cold'}, [False, True, False]),
     ({'tone': 'warm'}, [True, False, False])]
    """
    cells = {name: np.array(column, dtype=object) for name, column in columns.items()}
    values = {name: sorted({*column.tolist()} - {""}) for name, column in cells.items()}
    values = {name: labels for name, labels in values.items() if 1 < len(labels) <= most}
    parts = [{}, *({name: value} for name, labels in values.items() for value in labels)]
    # More would leave a handful of texts at each place
    if len(values) > 1 and math.prod(map(len, values.values())) <= crossed:
        parts += [dict(zip(values, labels, strict=True)) for labels in product(*values.values())]
    for part in parts:
        inside = np.ones(n, dtype=bool)
        for name, value in part.items():
            inside &= cells[name] == value
        yield part, inside


def exclusions(count: FloatArray, rows: Mapping[str, BoolArray]) -> dict[str, int]:
    """Return how many units the rows of each reason stand for, of reasons that have some.

    `count` is that of each row, shape (n,), and `rows` says which ones are out, (n,) each.
    """
    n = {reason: round(float(count[inside].sum())) for reason, inside in rows.items()}
    return {reason: number for reason, number in n.items() if number}
