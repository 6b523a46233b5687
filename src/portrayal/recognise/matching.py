"""Matching: which rows are of one pair, if an id binds them, and what else groups differ in."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import chdtrc

from portrayal.recognise.columns import InputColumn, InputTable, crossing
from portrayal.recognise.roles import ColumnRoles
from portrayal.stats import divide, holm

LEAST_T, LEAST_RATIO = 3.0, 1.05
"""From which on texts of one id share more words than those of two ids."""
FEWEST_IDS, MOST_IDS = 5, 300
LEVEL, LEAST_V, LEAST_EXPECTED = 0.05, 0.1, 5.0
"""Of tests of association: their level over all columns, the least Cramér's V that is named (small,
Cohen 1988), and units of a cell, on average, from which on chi-squared holds."""
_WORD = re.compile(r"[^\W\d_]{3,}")
Binding = Literal["binds", "counts", "open"]


@dataclass(frozen=True)
class Pairing:
    """The columns whose values together name a pair, and whether they bind its texts."""

    columns: tuple[InputColumn, ...]
    binding: Binding


def pairing_of(
    table: InputTable, roles: ColumnRoles, groups: Sequence[InputColumn]
) -> Pairing | None:
    """Return what names the pairs of a table; None where nothing does.

    Within the settings that vary inside it, each value of an id holds each group once.
    """
    best: Pairing | None = None
    for column in _candidates(table, roles):
        columns = _unique_within(table, roles, column, groups)
        if columns is None:
            continue
        is_trusted = column is roles.pairs or column.called("pair") or column in roles.shared
        binding: Binding = "binds"
        if column is not roles.pairs:
            binding = binding_of(keys_of(columns), keys_of(groups), roles.text.cells)
            # Texts of a pair need not share words, and pairs of none lose next to nothing: a name
            # that says "pair" is believed
            if column.called("pair") and not column.called("counter"):
                binding = "binds"
            elif binding == "open" and is_trusted and len(column.counts) < FEWEST_IDS:
                binding = "binds"  # few ids are no test
        if binding == "binds":
            return Pairing(columns, binding)
        if binding == "open" and column.called("pair") and best is None:
            best = Pairing(columns, binding)
    return best


def keys_of(columns: Sequence[InputColumn]) -> list[str]:
    """Return the values of several columns in each row, as one; "" where one is blank."""
    rows = zip(*(column.cells for column in columns), strict=True)
    return [" · ".join(row) if all(row) else "" for row in rows]


def _candidates(table: InputTable, roles: ColumnRoles) -> Iterator[InputColumn]:
    """Columns that may name pairs, those of such a name first."""
    if roles.pairs is not None:
        yield roles.pairs
        return
    used = roles.used - {column.name for column in roles.shared}
    free = [c for c in table.columns.values() if c.name not in used]
    yield from sorted(
        (
            c
            for c in free
            if 2 <= len(c.counts) <= 0.7 * c.counts.total()
            and (c.called("pair") or not c.called("topic"))
        ),
        key=lambda c: (not c.called("pair"), not c.called("id"), c.called("counter")),
    )


def _unique_within(
    table: InputTable, roles: ColumnRoles, column: InputColumn, groups: Sequence[InputColumn]
) -> tuple[InputColumn, ...] | None:
    """The id with the settings inside which it holds each group once; None where it never does."""
    fixed = [column] if roles.model is None else [column, roles.model]
    used = roles.used | {column.name}
    inside = [
        c for c in (*table.settings(used),) if not c.called("counter") and _varies_inside(column, c)
    ]
    for settings in ((), *((c,) for c in inside), tuple(inside)):
        ids = keys_of([*fixed, *settings])
        counts = Counter(zip(ids, keys_of(groups), strict=True))
        rows = sum(n for (i, group), n in counts.items() if i and group)
        single = sum(n for (i, group), n in counts.items() if i and group and n == 1)
        if rows and single >= 0.95 * rows:
            _, n_both, share = crossing(ids, keys_of(groups))
            return (column, *settings) if share >= 0.5 and n_both > 1 else None
    return None


def _varies_inside(column: InputColumn, setting: InputColumn) -> bool:
    values: dict[str, set[str]] = defaultdict(set)
    for key, value in zip(column.cells, setting.cells, strict=True):
        values[key].add(value)
    return any(len(inside) > 1 for inside in values.values())


def binding_of(ids: Sequence[str], groups: Sequence[str], texts: Sequence[str]) -> Binding:
    """Return whether texts of one id share more words, across groups, than those of two ids.

    A text of a group is compared with that of another group of its own id and of the next one:
    words in both over words in either. It binds from t > 3 and a ratio above 1.05; "open" where
    there are fewer than `FEWEST_IDS` ids, or t is between 1.5 and 3.
    """
    halves: dict[str, dict[str, frozenset[str]]] = {}
    for key, group, text in zip(ids, groups, texts, strict=True):
        if key and group and text and (len(halves) < MOST_IDS or key in halves):
            words = frozenset(_WORD.findall(text.casefold()))
            halves.setdefault(key, {}).setdefault(group, words)
    full = [[by[g] for g in sorted(by)[:2]] for by in halves.values() if len(by) > 1]
    if len(full) < FEWEST_IDS:
        return "open"
    inside = [_overlap(one, two) for one, two in full]
    between = [_overlap(full[i - 1][0], full[i][1]) for i in range(len(full))]
    gaps = [a - b for a, b in zip(inside, between, strict=True)]
    n, mean = len(gaps), sum(gaps) / len(gaps)
    spread = math.sqrt(sum((gap - mean) ** 2 for gap in gaps) / (n - 1))
    t = mean / (spread / math.sqrt(n)) if spread else math.inf * (mean > 0)
    if t > LEAST_T and sum(inside) > LEAST_RATIO * sum(between):
        return "binds"
    return "open" if 1.5 < t <= LEAST_T else "counts"


def _overlap(one: frozenset[str], two: frozenset[str]) -> float:
    return len(one & two) / max(len(one | two), 1)


def associated(
    columns: Iterable[InputColumn], group: InputColumn, units: Sequence[str]
) -> list[InputColumn]:
    """Return the columns in which groups differ, the most strongly associated first.

    Each is tested by chi-squared, all of them together by Holm's method; `LEVEL` is the chance that
    one is named though none is associated.

    Parameters
    ----------
    columns
        Columns of few values.
    group
        The column that is compared.
    units
        The request or source of each row: where all rows of each have one value, they count once.
    """
    tested, p_values, strengths = list[InputColumn](), list[float](), list[float]()
    for column in columns:
        n_values = len({*zip(units, column.cells, strict=True)})
        rows_of = units if n_values == len({*units}) else range(len(units))
        rows = dict.fromkeys(zip(rows_of, column.cells, group.cells, strict=True))
        counts = Counter((value, label) for _, value, label in rows if value and label)
        n = np.array([[counts[v, g] for g in group.counts] for v in column.counts], dtype=float)
        expected = n.sum(1, keepdims=True) * n.sum(0) / max(n.sum(), 1.0)
        if min(n.shape) < 2 or expected.mean() < LEAST_EXPECTED:
            continue
        squares = float(np.nansum(divide((n - expected) ** 2, expected)))
        tested.append(column)
        p_values.append(float(chdtrc((n.shape[0] - 1) * (n.shape[1] - 1), squares)))
        strengths.append(math.sqrt(squares / n.sum() / (min(n.shape) - 1)))
    q = holm(p_values)
    order = sorted(range(len(tested)), key=lambda i: -strengths[i])
    return [tested[i] for i in order if q[i] <= LEVEL and strengths[i] >= LEAST_V]
