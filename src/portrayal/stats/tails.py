"""Tail probabilities and quantiles of known distributions, from `scipy.special`.

`scipy.stats` holds the same numbers and far more, and takes longer to import than many an audit
takes to run; the tests hold these functions against it. As there, *sf* is the probability above a
value, *isf* the value with a given probability above it, *ppf* the one with it below, and NaN or a
parameter that cannot be gives NaN. Arrays broadcast.
"""

from bisect import bisect_left

import numpy as np
import numpy.typing as npt
from scipy import special

from portrayal.types import FloatArray

_STRAIGHT = 1.6e-5
"""|skew| below which Pearson's type III curve is taken for the normal one, as scipy.stats does."""


def normal_sf(x: npt.ArrayLike) -> FloatArray:
    """Return the probability that a standard normal number exceeds `x`."""
    return np.asarray(special.ndtr(-np.asarray(x, dtype=np.float64)))


def normal_isf(q: npt.ArrayLike) -> FloatArray:
    """Return the value that a standard normal number exceeds with probability `q`."""
    return np.asarray(-special.ndtri(np.asarray(q, dtype=np.float64)))


def t_sf(x: npt.ArrayLike, df: npt.ArrayLike) -> FloatArray:
    """Return the probability that Student's t with `df` degrees of freedom exceeds `x`."""
    return np.asarray(special.stdtr(df, -np.asarray(x, dtype=np.float64)))


def t_isf(q: npt.ArrayLike, df: npt.ArrayLike) -> FloatArray:
    """Return the value that Student's t with `df` degrees of freedom exceeds with probability `q`.

    Examples
    --------
    >>> float(t_isf(0.025, 10).round(3))
    2.228
    """
    below = special.stdtrit(df, np.asarray(q, dtype=np.float64))
    return np.asarray(np.where(np.equal(q, 0.0), np.abs(below), -below))  # its sign is lost at 0


def f_sf(x: npt.ArrayLike, df1: npt.ArrayLike, df2: npt.ArrayLike) -> FloatArray:
    """Return the probability that F with `df1` and `df2` degrees of freedom exceeds `x` ≥ 0."""
    return np.asarray(special.fdtrc(df1, df2, x))


def chi2_ppf(q: npt.ArrayLike, df: npt.ArrayLike) -> FloatArray:
    """Return the value below which χ² with `df` degrees of freedom lies with probability `q`."""
    return np.asarray(2.0 * special.gammaincinv(np.asarray(df, dtype=np.float64) / 2.0, q))


def beta_ppf(q: npt.ArrayLike, a: npt.ArrayLike, b: npt.ArrayLike) -> FloatArray:
    """Return the value below which a beta number with shapes `a`, `b` lies with probability `q`."""
    return np.asarray(special.betaincinv(a, b, q))


def beta_isf(q: npt.ArrayLike, a: npt.ArrayLike, b: npt.ArrayLike) -> FloatArray:
    """Return the value that a beta number with shapes `a`, `b` exceeds with probability `q`."""
    return np.asarray(special.betainccinv(a, b, q))


def pearson3_sf(x: npt.ArrayLike, skew: npt.ArrayLike) -> FloatArray:
    """Return the probability that a Pearson type III number of mean 0 and SD 1 exceeds `x`.

    The distribution is that of a gamma number, shifted and scaled to mean 0, SD 1 and the given
    skewness, mirrored where that is negative.
    """
    x, skew, shape = _gamma_shape(x, skew)
    x_gamma = shape * (1.0 + x * skew / 2.0)
    x_gamma = np.where(np.isnan(x_gamma), x_gamma, np.maximum(x_gamma, 0.0))
    upper, lower = special.gammaincc(shape, x_gamma), special.gammainc(shape, x_gamma)
    straight = np.abs(skew) < _STRAIGHT
    return np.asarray(np.where(straight, normal_sf(x), np.where(skew > 0, upper, lower)))


def pearson3_cdf(x: npt.ArrayLike, skew: npt.ArrayLike) -> FloatArray:
    """Return the probability that a Pearson type III number of mean 0 and SD 1 is at most `x`."""
    return pearson3_sf(-np.asarray(x, dtype=np.float64), -np.asarray(skew, dtype=np.float64))


def pearson3_ppf(q: npt.ArrayLike, skew: npt.ArrayLike) -> FloatArray:
    """Return the value below which a Pearson type III number of mean 0, SD 1 lies with `q`."""
    q, skew, shape = _gamma_shape(q, skew)
    x_gamma = np.where(skew > 0, special.gammaincinv(shape, q), special.gammainccinv(shape, q))
    straight = np.abs(skew) < _STRAIGHT
    safe = np.where(straight, 1.0, skew)
    return np.asarray(np.where(straight, -normal_isf(q), (x_gamma / shape - 1.0) * 2.0 / safe))


def _gamma_shape(
    x: npt.ArrayLike, skew: npt.ArrayLike
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Both arguments broadcast, and the shape of the gamma distribution with that skewness."""
    x, skew = np.broadcast_arrays(np.asarray(x, np.float64), np.asarray(skew, np.float64))
    return x, skew, 4.0 / np.where(np.abs(skew) < _STRAIGHT, 1.0, skew) ** 2


def binomial_pmf(n: int, share: float) -> FloatArray:
    """Return the probability of each of 0 to `n` successes in `n` trials; shape (n + 1,)."""
    if share in {0.0, 1.0}:
        return np.asarray(np.arange(n + 1) == n * share, dtype=np.float64)
    below = np.arange(n, dtype=np.float64)
    step = np.log((n - below) / (below + 1.0)) + np.log(share) - np.log1p(-share)
    return _from_steps(step)


def hypergeometric_pmf(total: int, marked: int, draws: int) -> FloatArray:
    """Return the probability of each possible number of marked among `draws` of `total`.

    From max(0, drawn + marked - total) to min(marked, drawn).
    """
    low, high = max(0, draws + marked - total), min(marked, draws)
    k = np.arange(low, high, dtype=np.float64)
    step = np.log((marked - k) / (k + 1.0)) + np.log(
        (draws - k) / (total - marked - draws + k + 1.0)
    )
    return _from_steps(step)


def _from_steps(step: FloatArray) -> FloatArray:
    """Probabilities that sum to 1, from the logarithms of the ratios of neighbours."""
    height = np.concatenate([[0.0], np.cumsum(step)])
    weight = np.exp(height - height.max())
    return np.asarray(weight / weight.sum())


def binomial_ppf(q: float, n: int, share: float) -> int:
    """Return the smallest count at or below which `n` trials end with probability `q` or more.

    `q` and `share` lie inside 0–1.

    Examples
    --------
    >>> binomial_ppf(0.975, 100, 0.5)
    60
    """
    return bisect_left(range(n), q, key=lambda k: special.bdtr(float(k), n, share))
