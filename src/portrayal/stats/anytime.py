"""Changes over rounds of the same audit, by a test that holds however often one looks.

Each round answers the same prompts again. A first round is as noisy as any other, so a running mean
of differences from it never comes to 0, and a test that takes it for the truth raises an alarm in
the end whatever happens. Here every possible first round of a change, τ, is compared by itself: the
mean of the rounds since τ less the mean of those before. Both means are free, what is peculiar to a
prompt cancels, and the spread is that of the prompts over rounds, so nothing but the change is
unknown.

With W the precision of that difference S, in units of the variance of one prompt and round, and
σ̂² the mean square of prompts around their own mean over rounds, Z² = W S² / σ̂², and

    E_τ = √(1 − b) exp(b Z² / 2),   b = r² W / (1 + r² W),

is the normal mixture of Robbins over changes of r σ. At the second round its expectation is at most
1 for any data whose rounds can be exchanged within prompts (the mixture of de la Peña, which needs
symmetry alone; σ̂² is then the mean square of the paired differences); later it is for many
prompts and rounds, as of an asymptotic confidence sequence. Starts τ = 1, 2, … share the error by
π_τ = 1 / (τ (τ + 1)), which adds up to 1 over all of time: so with probability 1 − α no π_τ E_τ
ever reaches 1 / α at any look, and the changes that do not make one reach it are an interval that
holds for all looks and starts together.

Sources: Robbins (1970), Statistical methods related to the law of the iterated logarithm, AMS 41;
de la Peña (1999), A general class of exponential inequalities for martingales and ratios, Annals of
Probability 27; Howard, Ramdas, McAuliffe and Sekhon (2021), Time-uniform, nonparametric,
nonasymptotic confidence sequences, Annals of Statistics 49; Waudby-Smith, Arbour, Sinha, Kennedy
and Ramdas (2024), Time-uniform central limit theory and asymptotic confidence sequences, Annals of
Statistics 52; Shin, Ramdas and Rinaldo (2024), E-detectors, New England Journal of Statistics in
Data Science 2.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from portrayal.stats._arguments import check_level
from portrayal.types import FloatArray, IntArray

EXPECTED = 3.0
"""Change that the mixture expects, in standard errors of a comparison of two rounds."""
_NONE = 1e-18
"""Sum of squares below which rounds are the same."""


@dataclass(frozen=True)
class Look:
    """What a look at the rounds so far says; every field has shape (k,).

    Attributes
    ----------
    start
        First round, from 0, of the change that has most evidence.
    change, low, high
        The mean since `start` less the mean before, and bounds that hold for all looks and starts
        together; infinite where too little is known.
    p
        Anytime-valid p-value of no change, for the whole family: the smallest over looks so far is
        valid too. It is 1 - level or less exactly where the bounds leave out 0.
    """

    start: IntArray
    change: FloatArray
    low: FloatArray
    high: FloatArray
    p: FloatArray


def latest_change(parts: npt.ArrayLike, size: npt.ArrayLike, level: float, family: int = 1) -> Look:
    """Look for a change in the rounds so far, by a test that holds at every look.

    Parameters
    ----------
    parts
        What each prompt says in each round, shape (n_rounds, n_prompts, k), with at least two
        rounds; the mean over prompts is the value of the round.
    size
        How much each round rests on, such as its number of texts, shape (n_rounds,): the variance
        of a part is taken as inverse to it.
    level
        Confidence level of all looks, starts and the whole family together.
    family
        Number of estimates that are watched together; each has its part of the error (Bonferroni).

    Raises
    ------
    ValueError
        For parts that are not finite or do not fit, sizes of 0 or less, or a level outside (0, 1).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> prompt, noise = rng.normal(size=(1, 20, 1)), rng.normal(scale=0.1, size=(5, 20, 1))
    >>> moved = np.array([0.0, 0, 0, 1, 1]).reshape(5, 1, 1)
    >>> looks = [latest_change((prompt + moved + noise)[:n], np.ones(n), 0.95) for n in (3, 4, 5)]
    >>> [bool(look.p[0] <= 0.05) for look in looks], int(looks[-1].start[0])
    ([False, True, True], 3)
    """
    y, m = np.asarray(parts, dtype=np.float64), np.asarray(size, dtype=np.float64)
    if y.ndim != 3 or len(y) < 2 or not y.shape[1] or m.shape != y.shape[:1]:
        raise ValueError(
            "parts need the shape (n_rounds, n_prompts, k) with two rounds or more, sizes "
            f"(n_rounds,); got {y.shape} and {m.shape}."
        )
    if not np.isfinite(y).all() or not np.all(m > 0):
        raise ValueError("parts must be finite, and sizes above 0.")
    alpha = (1.0 - check_level(level)) / family
    m = m / m.mean()
    y = y - np.einsum("t,tgk->gk", m, y) / len(m)
    squares = np.einsum("t,tgk->k", m, y**2)
    tau, sums, so_far = np.arange(1, len(m)), np.cumsum(m[:, None] * y.mean(1), 0), np.cumsum(m)
    old, new = so_far[:-1], so_far[-1] - so_far[:-1]
    weight = y.shape[1] * old * new / (old + new)
    change = (sums[-1] - sums[:-1]) / new[:, None] - sums[:-1] / old[:, None]
    r2 = EXPECTED**2 * 2.0 / y.shape[1]
    b = r2 * weight / (1.0 + r2 * weight)
    prior = 0.5 * np.log1p(-b) - np.log(tau * (tau + 1.0))
    degrees = float(y.shape[1] * (len(m) - 1))
    explained = weight[:, None] * change**2
    z2 = degrees * explained / np.where(squares > _NONE, squares, np.inf)
    log_e = prior[:, None] + 0.5 * b[:, None] * z2
    best = np.argmax(log_e, axis=0)
    at = best, np.arange(y.shape[2])
    most = (2.0 * (-np.log(alpha) - prior) / b)[best]
    room = degrees - most
    left = np.maximum(squares - explained[at], 0.0)
    some = (room > 0) & (squares > _NONE)
    half = np.sqrt(most * left / (weight[best] * np.where(some, room, 1.0)))
    half = np.where(some, half, np.inf)
    p = np.minimum(1.0, family * np.exp(-np.maximum(log_e[at], -700.0)))
    return Look(tau[best], change[at], change[at] - half, change[at] + half, p)
