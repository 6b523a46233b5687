"""Changes over rounds of the same audit, by e-processes that hold however often one looks.

Each round answers the same prompts again, and rounds differ by more than their texts: a wobble of
all answers of a day is no change of the model. So a round has a variance of its own,

    y_tp = μ_p + a_t + δ 1{t ≥ τ} + ε_tp,   a_t ~ N(0, ω² σ²),   ε_tp ~ N(0, σ² P / n_t),

for P prompts and n_t texts, σ being the standard deviation of a text within its prompt. What is
peculiar to a prompt, μ_p, and the unit σ are removed by invariance (Lai 1976; Wang & Ramdas 2025):
with the mean y_t of a round, v_t = 1 / n_t + ω², the sum of squares Q_ω of y_t / √v_t around their
mean and S of what is left within rounds, the likelihood of what is invariant is

    M_ω = Π v_t^-½ (Σ 1 / v_t)^-½ (S + Q_ω)^-N/2,   N = P (T - 1).

A change of δ ~ N(0, r² σ²) from round τ on multiplies it by (1 + r² W)^-½ and lessens Q_ω by
r² W² d² / (1 + r² W), d being the mean since τ less the mean before, and W its precision. With a
mixture over ω and r in the numerator, and the *largest* M_ω of an unchanged world below, E_τ is an
e-process for every ω in [0, `WOBBLE`] (universal inference: Wasserman, Ramdas & Balakrishnan 2020).
So where rounds are stable this is learnt from them, and a stationary wobble is no evidence, however
many texts there are. Starts share the error by π_τ = 1 / (τ (τ + 1)), which adds up to 1.

Many numbers are tested by e-BH (Wang & Ramdas 2022), which holds under any dependence.

Sources: Lai (1976), On confidence sequences, Annals of Statistics 4; Wang & Ramdas (2025), Anytime-
valid t-tests and confidence sequences for Gaussian means with unknown variance, Sequential Analysis
44; Wasserman, Ramdas & Balakrishnan (2020), Universal inference, PNAS 117; Wang & Ramdas (2022),
False discovery rate control with e-values, JRSS B 84; Shin, Ramdas & Rinaldo (2024), E-detectors,
New England Journal of Statistics in Data Science 2; Cohen (1988) for what a small effect is.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln, logsumexp

from portrayal.stats._arguments import crossing
from portrayal.types import FloatArray, IntArray

WOBBLE = 0.2
"""Largest SD of rounds that is no change, in SDs of a text: a small effect (Cohen 1988)."""
EXPECTED = (0.25, 1.0)
"""Changes that the mixture expects, in SDs of a text."""
_STEPS = 12
_NONE = 1e-18
"""Sum of squares below which rounds are the same."""


@dataclass(frozen=True)
class Look:
    """What a look at the rounds so far says; every field has shape (k,).

    Attributes
    ----------
    start
        First round, from 0, of the change that has most evidence.
    change
        The mean since `start` less the mean before.
    e
        e-value of no change in any of these rounds: 1 / e is a p-value at any look.
    low, high
        Bounds of `change`: what e-values below `need` leave; infinite where none was given.
    findable
        Change in the middle of these rounds whose e-value would be `need`; infinite likewise.
    """

    start: IntArray
    change: FloatArray
    e: FloatArray
    low: FloatArray
    high: FloatArray
    findable: FloatArray


def latest_change(parts: npt.ArrayLike, size: npt.ArrayLike, need: float | None = None) -> Look:
    """Look for a change in the rounds so far, by e-values that hold at every look.

    Parameters
    ----------
    parts
        What each prompt says in each round, shape (n_rounds, n_prompts, k), with at least two
        rounds; the mean over prompts is the value of the round.
    size
        Texts of each round, shape (n_rounds,).
    need
        e-value from which on a change counts, such as 20 for one number at level .95: for bounds
        and what could be found.

    Raises
    ------
    ValueError
        For parts that are not finite or do not fit, or sizes of 0 or less.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> prompt, noise = rng.normal(size=(1, 20, 1)), rng.normal(scale=0.1, size=(6, 20, 1))
    >>> moved = np.array([0.0, 0, 0, 0.5, 0.5, 0.5]).reshape(6, 1, 1)
    >>> looks = [latest_change((prompt + moved + noise)[:n], np.full(n, 200)) for n in (3, 4, 6)]
    >>> [bool(look.e[0] >= 20) for look in looks], int(looks[-1].start[0])
    ([False, True, True], 3)
    """
    y, n = np.asarray(parts, dtype=np.float64), np.asarray(size, dtype=np.float64)
    if y.ndim != 3 or len(y) < 2 or not y.shape[1] or n.shape != y.shape[:1]:
        raise ValueError(
            "parts need the shape (n_rounds, n_prompts, k) with two rounds or more, sizes "
            f"(n_rounds,); got {y.shape} and {n.shape}."
        )
    if not np.isfinite(y).all() or not np.all(n > 0):
        raise ValueError("parts must be finite, and sizes above 0.")
    n_rounds, n_prompts, k = y.shape
    # what is peculiar to a prompt goes, by invariance
    y = y - np.einsum("t,tgk->gk", n, y) / n.sum()
    rounds = y.mean(1)
    within = np.einsum("t,tgk->k", n / n_prompts, (y - rounds[:, np.newaxis]) ** 2)
    log_e, change = _evidence(rounds, within, n, n_prompts)
    best = np.argmax(log_e, axis=0)
    best_start = best, np.arange(k)
    moves = within + np.einsum("t,tk->k", n, rounds**2) > _NONE
    endless = np.full(k, np.inf)
    low, high, findable = -endless, endless, endless
    if need is not None:
        # A change in the middle, of data as they scatter without the change they seem to have.
        findable = _half(rounds, within, n, n_prompts, np.full(k, n_rounds // 2 - 1), need)[1]
        centre, half = _half(rounds, within, n, n_prompts, best, need)
        low, high = np.where(moves, centre - half, low), np.where(moves, centre + half, high)
        findable = np.where(moves, findable, np.inf)
    e = np.where(moves, np.exp(np.minimum(log_e[best_start], 700.0)), 0.0)  # exp(710) overflows
    return Look(best + 1, change[best_start], e, low, high, findable)


def _evidence(
    rounds: FloatArray, within: FloatArray, n: FloatArray, n_prompts: int
) -> tuple[FloatArray, FloatArray]:
    """Logarithm of π E of every start, and its change by texts: both (n_rounds - 1, k)."""
    n_rounds = len(n)
    share = WOBBLE**2 * np.geomspace(min(0.1 / (WOBBLE**2 * n.mean()), 0.5), 1.0, _STEPS)
    variance = 1.0 / n + np.concatenate([[0.0], share])[:, np.newaxis]
    # Half of the numerator expects rounds that vary by their texts alone.
    prior = np.log(np.concatenate([[0.5], np.full(_STEPS, 0.5 / _STEPS)]))[:, np.newaxis]
    w = 1.0 / variance
    total_weight = w.sum(1)
    sums = np.cumsum(w[:, :, np.newaxis] * rounds, axis=1)
    q = np.einsum("gt,tk->gk", w, rounds**2) - sums[:, -1] ** 2 / total_weight[:, np.newaxis]
    # Relative to the sum of squares of texts alone, so that powers stay in range.
    total = np.maximum(within + np.maximum(q[0], 0.0), _NONE)
    scaled = -0.5 * np.log(variance).sum(1) - 0.5 * np.log(total_weight)
    power = 0.5 * n_prompts * (n_rounds - 1)
    residual = within + np.maximum(q, 0.0)
    null = scaled[:, np.newaxis] - power * np.log(np.maximum(residual, 1e-300) / total)
    old = np.cumsum(w, axis=1)[:, :-1]
    new = total_weight[:, np.newaxis] - old
    precision = old * new / total_weight[:, np.newaxis]
    change = (sums[:, -1:] - sums[:, :-1]) / new[:, :, None] - sums[:, :-1] / old[:, :, None]
    explained = precision[:, :, None] * change**2
    tau = np.arange(1.0, n_rounds)[:, np.newaxis]
    mixed = []
    for r in EXPECTED:
        grown = 1.0 + r**2 * precision
        errors = residual[:, np.newaxis] - ((grown - 1.0) / grown)[:, :, None] * explained
        free = -0.5 * np.log(grown)[:, :, None] - power * np.log(np.maximum(errors, 1e-300) / total)
        mixed.append(free + (scaled[:, np.newaxis] + prior)[:, :, None] - np.log(len(EXPECTED)))
    log_e = logsumexp(np.concatenate(mixed), axis=0) - null.max(0)
    # Rounds that are exchanged within prompts by chance never say more than their arrangements.
    ways = gammaln(n_rounds + 1) - gammaln(tau + 1) - gammaln(n_rounds - tau + 1)
    log_e = np.minimum(log_e, n_prompts * ways - np.log(2.0))
    return log_e - np.log(tau * (tau + 1.0)), change[0]


def _half(
    rounds: FloatArray,
    within: FloatArray,
    n: FloatArray,
    n_prompts: int,
    start: IntArray,
    need: float,
) -> tuple[FloatArray, FloatArray]:
    """Change from `start` (0 for the second round) on, and how far from it e-values are `need`."""
    since = np.arange(len(n))[:, np.newaxis] > start
    columns = np.arange(rounds.shape[1])
    centre = _evidence(rounds, within, n, n_prompts)[1][start, columns]
    weight = n[:, np.newaxis] * since
    spread = np.sqrt(np.maximum(within, _NONE) / (n_prompts * max(len(n) - 1, 1)))
    residual = rounds - since * centre

    def height(half: FloatArray) -> FloatArray:
        shifted = residual + since * half
        shifted = shifted - np.einsum("t,tk->k", n, shifted) / n.sum()
        log_e = _evidence(shifted, within, n, n_prompts)[0][start, columns]
        return np.asarray(log_e - np.log(need))

    if not weight.any():
        return centre, np.full(len(centre), np.inf)
    high = spread * WOBBLE
    for _ in range(20):  # outwards until the evidence is enough
        high = np.where(height(high) >= 0, high, 2.0 * high)
    endless = height(high) < 0
    return centre, np.where(endless, np.inf, crossing(height, np.zeros(len(centre)), high))


def e_bh(e: npt.ArrayLike) -> FloatArray:
    """Adjust e-values for many numbers by e-BH, under any dependence: reject where this is ≤ α.

    Sources: Wang & Ramdas (2022), equation 3.

    Parameters
    ----------
    e
        e-values, shape (k,), 0 or more.

    Returns
    -------
    Array of shape (k,)
        Smallest false discovery rate at which e-BH rejects each.

    Raises
    ------
    ValueError
        For e-values below 0 or missing.

    Examples
    --------
    >>> e_bh([100.0, 5.0, 40.0]).round(3)
    array([0.03 , 0.2  , 0.038])
    """
    values = np.asarray(e, dtype=np.float64)
    if values.ndim != 1 or not np.all(values >= 0):
        raise ValueError("e-values must be a list of numbers of 0 or more.")
    order = np.argsort(-values, kind="stable")
    ranks = np.arange(1, len(values) + 1)
    with np.errstate(divide="ignore"):
        needed = np.minimum(1.0, len(values) / (ranks * values[order]))
    adjusted = np.empty(len(values))
    adjusted[order] = np.minimum.accumulate(needed[::-1])[::-1]
    return adjusted
