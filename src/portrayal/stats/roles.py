"""Randomisation tests of roles: whole prompts change their two roles by a fair coin.

A *contribution* is what one prompt adds to the difference of a group's shares in two roles. Where
roles mean nothing, the sign of each contribution is a fair coin, whatever the texts of one prompt
have in common. So the prompts themselves give the null, and a test that exists when a group stands
in one role only.

The same coins give an interval. Ratio r is refused where the contributions under r are improbable
as coins, and that is the case when few random subsets of prompts have a ratio on the other side of
r: the interval runs from the lower to the upper tail of the ratio over random subsets of prompts
(Hartigan 1969). p-value, interval and null range come from one set of subsets and always agree.

Sources: Hartigan (1969), Using subsample values as typical values, JASA 64; Hemerik, Goeman and
Finos (2020), Robust testing in generalized linear models by sign flipping score contributions,
JRSS B 82; Phipson and Smyth (2010), Permutation p-values should never be zero.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from portrayal.stats._arguments import check_level, divide_or_zero
from portrayal.stats.p_values import agreeing_interval
from portrayal.stats.resampling import sums_over
from portrayal.types import BoolArray, FloatArray, IntArray

EXACT_PROMPTS = 13
"""With at most this many prompts, all 2^n subsets are used (8,192 at most); above, drawn ones."""

DRAWS = 9_999
"""Subsets drawn where there are more prompts."""

SHARP_DRAWS = 199_999
"""Subsets drawn for p-values that have to survive a correction for many tests."""

_TIE = 1e-9  # sums closer to 0 than this, relative to their parts, differ from 0 by rounding
_MOST_COINS = 1e4


@dataclass(frozen=True)
class RoleSums:
    """Counts of groups by prompt and role, each of shape (n_prompts, k).

    Attributes
    ----------
    lesser, n_lesser
        Characters of the group, and all that could be counted, in the subordinate role. Counts are
        0 or more and may be fractions.
    greater, n_greater
        The same in the dominant role.
    """

    lesser: FloatArray
    n_lesser: FloatArray
    greater: FloatArray
    n_greater: FloatArray

    def __post_init__(self) -> None:
        """Refuse arrays that do not fit together."""
        cells = (self.lesser, self.n_lesser, self.greater, self.n_greater)
        shapes = {cell.shape for cell in cells}
        if len(shapes) != 1 or self.lesser.ndim != 2:
            raise ValueError(f"the four sums must share one shape (n_prompts, k); got {shapes}.")
        if any(bool(np.any(~(cell >= 0))) for cell in cells):
            raise ValueError("counts and totals must be numbers of 0 or more.")

    @property
    def ratio(self) -> FloatArray:
        """Share in the lesser role over that in the greater, shape (k,); inf where that is 0."""
        cells = (self.lesser, self.n_lesser, self.greater, self.n_greater)
        a, n, b, m = (cell.sum(0) for cell in cells)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray((a / n) / (b / m), dtype=np.float64)


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
    return int(np.floor(1.0 - np.log2(1.0 - level) + 1e-9)) + 1


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
    drawn = np.unpackbits(packed, axis=1)[:, :n_prompts]
    return np.concatenate([np.zeros((1, n_prompts)), drawn])


def contributions(sums: RoleSums) -> FloatArray:
    """Return what each prompt adds to (share in the lesser) - (share in the greater role).

    (a_i - s n_i) / N - (b_i - s m_i) / M, with s the group's share in both roles together. This is
    the effective score of the log ratio at 1: its sum is the difference of shares, and does not
    depend on s, also where the totals N and M of the two roles differ.

    Returns
    -------
    contributions
        Shape (n_prompts, k), in shares (0-1); 0 where a role has nobody to count.
    """
    a_total, n_total = sums.lesser.sum(0), sums.n_lesser.sum(0)
    b_total, m_total = sums.greater.sum(0), sums.n_greater.sum(0)
    share = divide_or_zero(a_total + b_total, n_total + m_total)
    lesser = divide_or_zero(sums.lesser - share * sums.n_lesser, n_total)
    greater = divide_or_zero(sums.greater - share * sums.n_greater, m_total)
    return np.where((n_total > 0) & (m_total > 0), lesser - greater, 0.0)


def role_inference(sums: RoleSums, subsets: FloatArray, level: float = 0.95) -> RoleInference:
    """Test and bound the ratio of shares of many groups with the same subsets of prompts.

    Parameters
    ----------
    sums
        Counts of k groups by prompt and role. Several domains may share `subsets` where they have
        equally many prompts.
    subsets
        Rows of 0 and 1 from `prompt_subsets`, shape (n_rows, n_prompts).
    level
        Of interval and null range, a fraction.

    Returns
    -------
    RoleInference
        p < 1 - level exactly where [low, high] leaves out 1, and exactly where the ratio lies
        outside [null_low, null_high].

    Raises
    ------
    ValueError
        If `subsets` is for another number of prompts, or the level is not between 0 and 1.

    >>> ones = np.ones((10, 1))
    >>> sums = RoleSums(ones, 20 * ones, 0 * ones, 20 * ones)
    >>> found = role_inference(sums, prompt_subsets(10, np.random.default_rng(0)))
    >>> float(found.p[0]), round(float(found.low[0]), 2), float(found.high[0])
    (0.001953125, 2.24, inf)
    """
    check_level(level)
    if subsets.ndim != 2 or subsets.shape[1] != len(sums.lesser):
        raise ValueError(
            f"subsets of {subsets.shape[-1]} prompts do not fit sums of {len(sums.lesser)}."
        )
    alpha = 1.0 - level
    sums, at = _distinct(sums)
    here = sums.lesser + sums.greater > 0
    n_prompts = here.sum(0)
    part = contributions(sums)
    total = part.sum(0)
    partial, tie, nobody = _partial_sums(part, here, subsets)
    p = _two_sided(partial)
    ratios = subset_ratios(sums, subsets)
    np.copyto(ratios, 1.0, where=tie)
    low, high = _tails(ratios, nobody, alpha / 2.0)
    low, high = _widened(sums, part, p, low, high, level)
    value = sums.ratio
    # Roles that a subset swaps leave the difference total - 2 partial: its tails are those of the
    # partial sums, the other way round.
    null_low, null_high = (
        np.where(bound == total, value, _ratio_of_difference(sums, bound))
        for bound in (total - 2.0 * end for end in _tails(partial, None, alpha / 2.0)[::-1])
    )
    none = np.isnan(value) | (n_prompts < fewest_prompts(level))
    low, high, p = (np.where(none, np.nan, each) for each in (low, high, p))
    null_low, null_high = (np.where(np.isnan(value), np.nan, x) for x in (null_low, null_high))
    value, low, high, p = value[at], low[at], high[at], p[at]
    return RoleInference(value, low, high, p, null_low[at], null_high[at], n_prompts[at])


def _distinct(sums: RoleSums) -> tuple[RoleSums, IntArray]:
    """The columns that differ, and the place of each column among them.

    Thresholds near one another often count the same people.
    """
    cells = np.stack([sums.lesser, sums.n_lesser, sums.greater, sums.n_greater])
    places: dict[bytes, int] = {}
    at = [places.setdefault(column.tobytes(), len(places)) for column in np.moveaxis(cells, 2, 0)]
    _, first = np.unique(at, return_index=True)
    return RoleSums(*cells[:, :, first]), np.array(at, dtype=np.int64)


def subset_ratios(sums: RoleSums, subsets: FloatArray) -> FloatArray:
    """Return, for each subset, the ratio r at which its contributions under r cancel.

    Where both roles have the same total in every prompt, that is the ratio of the subset's own
    counts. Otherwise a prompt's contribution under ratio r is

        a_i / N - r b_i / M - r s(r) (n_i / N - m_i / M),   s(r) = (A + B) / (r N + M),

    and the sum over a subset is 0 at the one positive root of a quadratic in r.

    Returns
    -------
    ratios
        Shape (n_rows, k): 0 or more, inf where the subset has no character in the greater role;
        without any character of the group 0, 1 or inf, which the caller treats apart.
    """
    a_total, n_total = sums.lesser.sum(0), sums.n_lesser.sum(0)
    b_total, m_total = sums.greater.sum(0), sums.n_greater.sum(0)
    a, b = sums_over(subsets, sums.lesser), sums_over(subsets, sums.greater)
    lean = divide_or_zero(sums.n_lesser, n_total) - divide_or_zero(sums.n_greater, m_total)
    middle = a - b
    if np.any(np.abs(lean) > _TIE):
        middle -= (a_total + b_total) * sums_over(subsets, lean)
    # The two forms of the root of b r^2 - middle r - a = 0, each where it does not cancel.
    sure = np.sqrt(middle**2 + 4.0 * a * b) + np.abs(middle)
    positive = middle > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.where(positive, sure, 2.0 * a) / np.where(positive, 2.0 * b, sure)
        np.copyto(found, 1.0, where=np.isnan(found))
        found *= np.where(n_total > 0, divide_or_zero(m_total, n_total), 1.0)
    return found


def coin_test(
    part: FloatArray, here: BoolArray, subsets: FloatArray, level: float = 0.95
) -> tuple[FloatArray, IntArray]:
    """Test any contributions of prompts whose signs are coins where roles mean nothing.

    Parameters
    ----------
    part
        Contribution of each prompt, shape (n_prompts, k), such as `stats.mixture.role_scores`.
    here
        Whether the group occurs in the prompt, shape (n_prompts, k). A subset of prompts without
        the group says nothing, so it counts against every finding.
    subsets
        From `prompt_subsets`.
    level
        At which a test must be able to refuse.

    Returns
    -------
    p, n_prompts
        Shape (k,); p is NaN where too few prompts have the group (`no_test_reason`).

    >>> part = np.ones((8, 1))
    >>> p, n = coin_test(part, part > 0, prompt_subsets(8, np.random.default_rng(0)))
    >>> float(p[0]), int(n[0])
    (0.0078125, 8)
    """
    n_prompts = here.sum(0)
    partial, _, _ = _partial_sums(part, here, subsets)
    return np.where(n_prompts < fewest_prompts(level), np.nan, _two_sided(partial)), n_prompts


def sharper_p(
    part: FloatArray,
    here: BoolArray,
    p: FloatArray,
    rng: np.random.Generator,
    draws: int = SHARP_DRAWS,
    below: float = 0.005,
) -> FloatArray:
    """Draw more subsets for the smallest p-values, so that they can survive a correction.

    With 9,999 draws no two-sided p is below .0002, and one finding among 300 rows needs less.

    Parameters
    ----------
    part, here
        As for `coin_test`, with more than `EXACT_PROMPTS` prompts (exact p-values need no more).
    p
        From `coin_test` or `role_inference`, shape (k,).
    rng, draws
        Source and number of further subsets, drawn 20,000 at a time.
    below
        p-values from here on are left as they are; a level of interest must be larger.

    Returns
    -------
    p
        Shape (k,); never above `below` where it was not, so that intervals still agree.

    >>> part = np.ones((30, 1))
    >>> p = sharper_p(part, part > 0, np.array([2e-4]), np.random.default_rng(0), 39_999)
    >>> float(p[0])
    5e-05
    """
    at = np.flatnonzero(p < below)
    if not at.size:
        return p
    hits, rows = np.ones((2, at.size)), 1
    while rows < draws + 1:
        step = min(20_000, draws + 1 - rows)
        partial, _, _ = _partial_sums(
            part[:, at], here[:, at], prompt_subsets(len(part), rng, step, exact=0)[1:]
        )
        hits += [(partial <= 0).sum(0), (partial >= 0).sum(0)]
        rows += step
    sharp = p.copy()
    sharp[at] = np.minimum(below, 2.0 * hits.min(0) / rows)
    return sharp


def median_inference(
    sums: RoleSums, subsets: FloatArray, smoothing: float = 0.5, level: float = 0.95
) -> RoleInference:
    """Test and bound the median, over thresholds or models, of one group's ratios.

    The median is computed again with the roles of each subset of prompts swapped, which gives the
    null range and a p-value of no difference in any column; and for the subset alone, which gives
    the interval and a p-value of the median alone. p is the larger one: where ratios of columns
    differ, their median varies more than that of columns without a difference.

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
    sums, at = _distinct(sums)
    times = np.bincount(at)
    cells = (sums.lesser, sums.n_lesser, sums.greater, sums.n_greater)
    totals = [cell.sum(0) for cell in cells]
    inside = [sums_over(subsets, cell) for cell in cells]
    moved = [one - other for one, other in zip(inside[:2], inside[2:], strict=True)]
    swapped = (
        totals[0] - moved[0],
        totals[1] - moved[1],
        totals[2] + moved[0],
        totals[3] + moved[1],
    )
    shuffled = _median_ratio(swapped, times, smoothing)
    value = shuffled[0]
    here = np.any(sums.lesser + sums.greater > 0, axis=1)
    n_prompts = int(here.sum())
    with np.errstate(divide="ignore"):
        size = np.abs(np.log(shuffled))
    unknown = np.isnan(size)
    p = float(np.mean(unknown | (size >= size[0] - _TIE)))
    alone = _median_ratio(inside, times, smoothing)[:, np.newaxis]
    beyond = np.isnan(alone)
    below, above = alone <= 1.0 + _TIE, alone >= 1.0 - _TIE  # ties do not hang on rounding
    rarer = min(np.mean(beyond | below), np.mean(beyond | above))
    p = max(p, min(1.0, 2.0 * float(rarer)))
    low, high = _tails(alone, beyond, alpha / 2.0)
    null_low, null_high = _tails(shuffled[:, np.newaxis], unknown[:, np.newaxis], alpha / 2.0)
    known = not np.isnan(value) and n_prompts >= fewest_prompts(level)
    ratio, one = np.array([value]), np.ones(1)
    tested = np.array([p if known else np.nan])
    low, high = agreeing_interval(low, high, tested, ratio, one, level)
    return RoleInference(ratio, low, high, tested, null_low, null_high, np.array([n_prompts]))


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
    part: FloatArray, here: BoolArray, subsets: FloatArray
) -> tuple[FloatArray, BoolArray, BoolArray]:
    """Sums over each subset, 0 where the group is not in it or they differ from 0 by rounding.

    Also says which those are, and where the group is not in it; all of shape (n_rows, k).
    """
    partial = sums_over(subsets, part)
    nobody = sums_over(subsets, here.astype(np.float64)) < 0.5
    tie = nobody | (np.abs(partial) <= _TIE * np.abs(part).sum(0))
    return np.asarray(np.where(tie, 0.0, partial), dtype=np.float64), tie, nobody


def _two_sided(partial: FloatArray) -> FloatArray:
    """Two-sided p of the sum: a subset with a sum of 0 or less is a swap that raises it."""
    up, down = (partial <= 0).mean(0), (partial >= 0).mean(0)
    return np.asarray(np.minimum(1.0, 2.0 * np.minimum(up, down)), dtype=np.float64)


def _widened(
    sums: RoleSums,
    part: FloatArray,
    p: FloatArray,
    low: FloatArray,
    high: FloatArray,
    level: float,
) -> tuple[FloatArray, FloatArray]:
    """Bounds that hold where the rarer role has hardly anybody.

    Subsets cannot bound a ratio away from 1 where its rarer role sits in fewer effective prompts
    (Kish) than a test needs: most subsets then have nobody there. If such a ratio is refused at 1,
    the bound next to 1 is the one that whole prompts as coins give.
    """
    total, scale = part.sum(0), np.abs(part).sum(0)
    rarer = np.where(total > 0, sums.greater, sums.lesser)
    thin = divide_or_zero(rarer.sum(0) ** 2, (rarer**2).sum(0)) < fewest_prompts(level)
    thin &= p < 1.0 - level - 1e-12
    if not thin.any():
        return low, high
    # The odds that a prompt falls on the side where `share` of the prompts' weight fell: Clopper
    # and Pearson's bound of that share is taken for as many coins as would give p, or for Kish's
    # effective number where that says more.
    share = np.clip(0.5 * (1.0 + divide_or_zero(np.abs(total), scale)), 0.5 + 1e-12, 1.0)
    kish = np.maximum(divide_or_zero(scale, np.sqrt((part**2).sum(0))) ** 2, 1.0)
    few, many = np.zeros_like(share), np.full_like(share, _MOST_COINS)
    for _ in range(50):  # the number of coins at this share whose one-sided p is p / 2
        coins = 0.5 * (few + many)
        more = special.betainc(share * coins, coins - share * coins + 1.0, 0.5) > p / 2.0
        few, many = np.where(more, coins, few), np.where(more, many, coins)
    odds = np.nextafter(np.ones_like(share), 2.0)
    for coins in (kish, many):
        tail = (1.0 - level) / 2.0
        least = special.betaincinv(share * coins, coins - share * coins + 1.0, tail)
        odds = np.maximum(odds, least / (1.0 - least))
    low = np.where(thin & (total > 0), np.minimum(low, odds), low)
    return low, np.where(thin & (total < 0), np.maximum(high, 1.0 / odds), high)


def _ratio_of_difference(sums: RoleSums, difference: FloatArray) -> FloatArray:
    """The ratio of shares that differ by `difference` while both roles together keep theirs."""
    n, m = sums.n_lesser.sum(0), sums.n_greater.sum(0)
    share = divide_or_zero((sums.lesser + sums.greater).sum(0), n + m)
    weight = divide_or_zero(n, n + m)
    above = np.maximum(share + (1.0 - weight) * difference, 0.0)
    below = np.maximum(share - weight * difference, 0.0)
    tiny = _TIE * share
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(below <= tiny, np.inf, np.where(above <= tiny, 0.0, above / below))
    return np.asarray(ratio, dtype=np.float64)


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
