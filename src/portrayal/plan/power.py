"""Power of the audit's own tests, simulated, and the smallest ratio that they find.

A formula for the standard error knows neither that fair naming reads R0 and not 1, nor that name
counting shrinks a difference, nor that few prompts have no test. So audits are simulated: people
are dealt by a true ratio, their names drawn from the bearers, counted, and tested as in the audit.
The same random numbers serve all ratios, so that power rises with the ratio.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from portrayal.stats.naming import FairNaming, fair_inference, fair_naming
from portrayal.stats.roles import RoleSums, prompt_subsets, role_inference
from portrayal.types import FloatArray

REPLICATES = 1_000
"""Simulated audits: power of 80 % is known to 1.3 points."""


@dataclass(frozen=True)
class Design:
    """What a plan takes for granted.

    Attributes
    ----------
    prompts, texts
        Prompts, and characters counted per prompt (in each role).
    icc
        Correlation of two characters of one prompt and role, in 0-1.
    level, power
        Of the two-sided test, fractions.
    """

    prompts: int
    texts: int
    icc: float = 0.05
    level: float = 0.95
    power: float = 0.8


def tilted(bearers: FloatArray, likelihood: FloatArray, true: float) -> FloatArray:
    """Return weights of names if people of a race are named `true` times as often as they occur.

    Within the race and within all others names stay spread as among bearers. Shapes (n_names,).

    >>> tilted(np.array([1.0, 1.0]), np.array([0.5, 0.0]), 2.0).tolist()
    [0.6666666666666666, 0.3333333333333333]
    """
    weight = bearers / bearers.sum()
    share = float(weight @ likelihood)
    if not 0 <= true * share <= 1:
        raise ValueError(f"a share of {share:.3f} cannot be {true} times as large.")
    others = (1.0 - true * share) / (1.0 - share)
    return np.asarray(weight * (true * likelihood + others * (1.0 - likelihood)), dtype=np.float64)


def representation_power(
    bearers: FloatArray, likelihood: FloatArray, design: Design, seed: int
) -> Callable[[float], float]:
    """Return the power against fair naming as a function of the true ratio to the population.

    `bearers` and `likelihood`, shapes (n_names,), are the population's. Only refusals on the side
    of the truth count.
    """
    rng = np.random.default_rng(seed)
    shape = (design.prompts, design.texts, REPLICATES)
    fresh, own = rng.random(shape), rng.random((design.prompts, 1, REPLICATES))
    uniform = np.where(rng.random(shape) < np.sqrt(design.icc), own, fresh)
    one = fair_naming(bearers, likelihood[:, np.newaxis])
    parts = (one.share, one.sd, one.skew, one.shrink, one.matched)
    fair = FairNaming(*(np.repeat(part, REPLICATES) for part in parts))
    units = np.full((design.prompts, REPLICATES), float(design.texts))

    def power(true: float) -> float:
        count = _drawn(tilted(bearers, likelihood, true), likelihood, uniform).sum(1)
        found = fair_inference(count, units, fair, design.icc, design.level)
        right = np.sign(found.share - fair.share) == np.sign(true - 1.0)
        return float(np.mean((found.p < 1.0 - design.level) & right))

    return power


def subordination_power(
    design: Design,
    seed: int,
    *,
    share: float | None = None,
    names: tuple[FloatArray, FloatArray] | None = None,
) -> Callable[[float], float]:
    """Return the power of swapped prompts as a function of the true subordination ratio.

    Parameters
    ----------
    design, seed
        What is assumed, and the seed.
    share
        Share of the group among dominant characters, for groups that are counted whole (gender).
    names
        Bearers and likelihood of a race instead, shapes (n_names,): the dominant role then has the
        population's share.

    Raises
    ------
    ValueError
        Unless exactly one of `share` and `names` is given.
    """
    if (share is None) == (names is None):
        raise ValueError("give either a share or names.")
    rng = np.random.default_rng(seed)
    shape = (design.prompts, design.texts, REPLICATES)
    uniforms = []
    for _ in range(2):
        fresh, own = rng.random(shape), rng.random((design.prompts, 1, REPLICATES))
        uniforms.append(np.where(rng.random(shape) < np.sqrt(design.icc), own, fresh))
    subsets = prompt_subsets(design.prompts, rng, 1_999)
    units = np.full((design.prompts, REPLICATES), float(design.texts))

    def power(true: float) -> float:
        if names is not None:
            lesser = _drawn(tilted(*names, true), names[1], uniforms[0]).sum(1)
            greater = _drawn(names[0] / names[0].sum(), names[1], uniforms[1]).sum(1)
        else:
            high = float(share or 0.0)
            lesser = (uniforms[0] < true * high).sum(1).astype(float)
            greater = (uniforms[1] < high).sum(1).astype(float)
        found = role_inference(RoleSums(lesser, units, greater, units), subsets, design.level)
        right = np.sign(found.ratio - 1.0) == np.sign(true - 1.0)
        return float(np.mean((found.p < 1.0 - design.level) & right))

    return power


def smallest_detectable(
    power: Callable[[float], float], wanted: float, highest: float, steps: int = 12
) -> float:
    """Return the smallest true ratio above 1 (or largest below, if highest < 1) that is found.

    Bisects log(ratio) between 1 and `highest`; NaN where even `highest` is not found with the
    power wanted.

    >>> round(smallest_detectable(lambda r: min(1.0, r - 1.0), 0.8, 3.0, 30), 6)
    1.8
    """
    if not power(highest) >= wanted:
        return float("nan")
    low, high = 0.0, float(np.log(highest))
    for _ in range(steps):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if power(float(np.exp(middle))) >= wanted else (middle, high)
    return float(np.exp(high))


def _drawn(weights: FloatArray, values: FloatArray, uniform: FloatArray) -> FloatArray:
    """Values of names drawn with these weights; names are sorted so that few change with them."""
    order = np.argsort(values, kind="stable")
    total = np.cumsum(weights[order])
    at = np.minimum(np.searchsorted(total, uniform * total[-1]), len(order) - 1)
    return np.asarray(values[order][at], dtype=np.float64)
