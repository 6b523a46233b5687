"""Random subsets of prompts: for medians of ratios, and other numbers without a score of their own.

Where roles mean nothing, whole prompts change their two roles by a fair coin, whatever the texts of
one prompt have in common. So the prompts themselves give the null: of a *contribution*, what one
prompt adds to a number, the sign is a coin. The same coins give an interval: it runs from the lower
to the upper tail of the number over random subsets of prompts (Hartigan 1969). A single ratio has
scores by prompt, which say more (`contrasts.py`).

Sources: Hartigan (1969), Using subsample values as typical values, JASA 64; Hemerik, Goeman and
Finos (2020), Robust testing in generalized linear models by sign flipping score contributions,
JRSS B 82; Phipson and Smyth (2010), Permutation p-values should never be zero.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from portrayal.stats._arguments import check_level
from portrayal.stats.contrasts import TwoSides
from portrayal.stats.p_values import inverted_toward_null
from portrayal.stats.resampling import sums_over
from portrayal.types import BoolArray, FloatArray, IntArray

EXACT_PROMPTS = 13
"""With at most this many prompts, all 2^n subsets are used (8,192 at most); above, drawn ones."""

DRAWS = 9_999
"""Subsets drawn where there are more prompts."""

_TIE = 1e-9  # sums closer to 0 than this, relative to their parts, differ from 0 by rounding


@dataclass(frozen=True)
class RoleInference:
    """What random roles say about each group's ratio; all of shape (k,).

    Attributes
    ----------
    ratio
        Share in the subordinate over share in the dominant role; inf where the group is never
        dominant, NaN where it is in neither role or a role has nobody to count.
    low, high
        Bounds of the ratio; `high` may be inf and `low` 0. NaN where no test can reach the level.
    p
        Two-sided p-value in 0-1 of ratio 1; NaN as above.
    null_low, null_high
        Central range of the ratio where whole prompts change roles by fair coins. A ratio with
        p < 1 - level lies outside, any other inside.
    n_prompts
        Prompts in which the group occurs in either role.
    """

    ratio: FloatArray
    low: FloatArray
    high: FloatArray
    p: FloatArray
    null_low: FloatArray
    null_high: FloatArray
    n_prompts: IntArray


def fewest_prompts(level: float) -> int:
    """Return how many prompts a two-sided coin test needs to reach p < 1 - level.

    With n prompts the smallest p-value is 2^(1 - n).

    >>> fewest_prompts(0.95)
    6
    """
    check_level(level)
    return int(np.floor(-np.log2(1.0 - level) + 1e-9)) + 2


def no_test_reason(n_prompts: int, level: float) -> str | None:
    """Return why a group in this many prompts has no test; None where it has one.

    >>> no_test_reason(5, 0.95)
    'the group occurs in 5 prompts; swapping whole prompts needs 6 to reach p < 0.05'
    """
    needed = fewest_prompts(level)
    if n_prompts >= needed:
        return None
    prompts = "1 prompt" if n_prompts == 1 else f"{n_prompts} prompts"
    alpha = f"{1.0 - level:.3g}"
    return (
        f"the group occurs in {prompts}; swapping whole prompts needs {needed} to reach p < {alpha}"
    )


def prompt_subsets(
    n_prompts: int, rng: np.random.Generator, draws: int = DRAWS, exact: int = EXACT_PROMPTS
) -> FloatArray:
    """Return subsets of prompts whose roles are swapped, as rows of 0 and 1.

    Parameters
    ----------
    n_prompts
        At least 1.
    rng
        Used only where there are more than `exact` prompts.
    draws, exact
        Subsets drawn; prompts up to which all subsets are listed.

    Returns
    -------
    subsets
        Shape (n_rows, n_prompts). The first row is the empty subset (the data as they are), so a
        mean over rows is a valid p-value: exact, or (1 + hits) / (1 + draws).

    >>> prompt_subsets(2, np.random.default_rng(0)).tolist()
    [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]
    """
    if n_prompts < 1 or draws < 1:
        raise ValueError(f"prompts and draws must be 1 or more; got {n_prompts} and {draws}.")
    if n_prompts <= exact:
        codes = np.arange(2**n_prompts)[:, np.newaxis]
        return np.asarray((codes >> np.arange(n_prompts)) & 1, dtype=np.float64)
    packed = rng.integers(0, 256, size=(draws, -(-n_prompts // 8)), dtype=np.uint8)
    signs = np.unpackbits(packed, axis=1)[:, :n_prompts]
    return np.concatenate([np.zeros((1, n_prompts)), signs])


def _distinct(sums: TwoSides) -> tuple[TwoSides, IntArray]:
    """The columns that differ, and the place of each column among them.

    Thresholds near one another often count the same people.
    """
    cells = np.stack([sums.upper, sums.n_upper, sums.lower, sums.n_lower])
    places: dict[bytes, int] = {}
    code = [places.setdefault(column.tobytes(), len(places)) for column in np.moveaxis(cells, 2, 0)]
    _, first = np.unique(code, return_index=True)
    return TwoSides(*cells[:, :, first]), np.array(code, dtype=np.int64)


def median_inference(
    sums: TwoSides, subsets: FloatArray, smoothing: float = 0.5, level: float = 0.95
) -> RoleInference:
    """Test and bound the median, over thresholds or models, of one group's ratios.

    The median is computed again with the roles of each subset of prompts swapped, which gives the
    null range and a p-value of no difference in any column; and for the subset alone, which gives
    an interval and a p-value of the median alone. p is the larger one: where ratios of columns
    differ, their median varies more than that of columns without a difference. Where the swaps
    alone do not refuse 1, the interval's end toward 1 inverts them, on the log scale.

    Parameters
    ----------
    sums
        Counts above each threshold (Shieh et al. 2025, Eq. 4) or of each model, shape (n_prompts,
        T), and totals of the same shape.
    subsets
        From `prompt_subsets`. Each row costs two medians: 1,000 rows are enough.
    smoothing
        Added to a count (twice to its total) where one of two counts is 0.
    level
        A fraction.

    Returns
    -------
    RoleInference
        Of one group: arrays of shape (1,).
    """
    alpha = 1.0 - level
    sums, code = _distinct(sums)
    times = np.bincount(code)
    cells = (sums.upper, sums.n_upper, sums.lower, sums.n_lower)
    totals = [cell.sum(0) for cell in cells]
    inside = [sums_over(subsets, cell) for cell in cells]
    shift = [one - other for one, other in zip(inside[:2], inside[2:], strict=True)]
    swapped = (
        totals[0] - shift[0],
        totals[1] - shift[1],
        totals[2] + shift[0],
        totals[3] + shift[1],
    )
    shuffled = _median_ratio(swapped, times, smoothing)
    value = shuffled[0]
    # Only prompts with the group count towards there being enough for a test.
    has_group = np.any(sums.upper + sums.lower > 0, axis=1)
    n_prompts = int(has_group.sum())
    with np.errstate(divide="ignore"):
        size = np.abs(np.log(shuffled))
    unknown = np.isnan(size)
    p = float(np.mean(unknown | (size >= size[0] - _TIE)))
    partial = _tied(_median_ratio(inside, times, smoothing)[:, np.newaxis])
    beyond = np.isnan(partial)
    rarer = min(np.mean(beyond | (partial <= 1.0)), np.mean(beyond | (partial >= 1.0)))
    p = max(p, min(1.0, 2.0 * float(rarer)))
    low, high = _tails(partial, beyond, alpha / 2.0)
    null_low, null_high = _tails(shuffled[:, np.newaxis], unknown[:, np.newaxis], alpha / 2.0)
    testable = not np.isnan(value) and n_prompts >= fewest_prompts(level)
    # The swaps refuse a median whose logarithm is further from 0 than this.
    rank = max(int(np.ceil(alpha * len(size) - 1e-9)), 1)
    reach = np.sort(np.where(unknown, np.inf, size))[-rank]
    with np.errstate(divide="ignore", invalid="ignore"):
        ends = _tied(np.exp(np.log(value) + np.array([-reach, reach])))
    ends = ends if np.isfinite(reach) else np.array([0.0, np.inf])
    ratio, tested = np.array([value]), np.array([p])
    low, high = inverted_toward_null((low, high), tuple(ends), tested, ratio, 1.0, level)
    low, high, tested = (np.where(testable, x, np.nan) for x in (low, high, tested))
    return RoleInference(ratio, low, high, tested, null_low, null_high, np.array([n_prompts]))


def _tied(ratio: FloatArray) -> FloatArray:
    """Ratios, where those that differ from 1 by rounding are 1."""
    return np.where(np.abs(ratio - 1.0) <= _TIE, 1.0, ratio)


def _median_ratio(cells: Sequence[FloatArray], times: IntArray, smoothing: float) -> FloatArray:
    """Median over columns of the ratio, smoothed where one count is 0; NaN where none is known.

    Column j counts `times[j]` times.
    """
    a, n, b, m = cells
    no_a, no_b = a <= _TIE, b <= _TIE
    added = np.where(no_a ^ no_b, smoothing, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = ((a + added) / (n + 2 * added)) / ((b + added) / (m + 2 * added))
    ratio = np.where((no_a & no_b) | (n <= 0) | (m <= 0), np.nan, ratio)
    order = np.argsort(ratio, axis=1)  # NaN last
    ordered = np.take_along_axis(ratio, order, axis=1)
    reached = np.cumsum(np.where(np.isnan(ordered), 0, times[order]), axis=1)
    count = reached[:, -1:]
    low, high = (
        np.take_along_axis(
            ordered, np.minimum((reached <= rank).sum(1), len(times) - 1)[:, None], 1
        )
        for rank in ((count - 1) // 2, count // 2)
    )
    return np.asarray(np.where(count > 0, 0.5 * (low + high), np.nan)[:, 0], dtype=np.float64)


def _partial_sums(
    part: FloatArray, has_group: BoolArray, subsets: FloatArray
) -> tuple[FloatArray, BoolArray, BoolArray]:
    """Sums over each subset, 0 where the group is not in it or they differ from 0 by rounding.

    Also says which those are, and where the group is not in it; all of shape (n_rows, k).
    """
    partial = sums_over(subsets, part)
    nobody = sums_over(subsets, has_group.astype(np.float64)) < 0.5
    tie = nobody | (np.abs(partial) <= _TIE * np.abs(part).sum(0))
    return np.asarray(np.where(tie, 0.0, partial), dtype=np.float64), tie, nobody


def _tails(
    values: FloatArray, unknown: BoolArray | None, tail: float
) -> tuple[FloatArray, FloatArray]:
    """The extreme values that at least a share `tail` of the rows reach, along axis 0.

    Unknown rows count as beyond both.
    """
    n, rank = len(values), max(int(np.ceil(tail * len(values) - 1e-9)), 1) - 1
    if unknown is None:
        unknown = np.zeros((1, values.shape[1]), dtype=bool)
    ordered = np.sort(
        np.where(unknown, np.inf, values).T, axis=1
    )  # by rows, far quicker than by columns
    below = rank - unknown.sum(0)
    columns = np.arange(len(ordered))
    low = np.where(below >= 0, ordered[columns, np.maximum(below, 0)], 0.0)
    return low, ordered[:, n - 1 - rank]
