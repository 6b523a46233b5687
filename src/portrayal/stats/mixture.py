"""Share of each race among named people, by maximum likelihood over P(name | race).

Counting by name shares reads a race that is named twice as often as 1.2 times as often (see
`stats.naming`). The *mixture* asks instead which shares pi make the names at hand most likely, if
within each race names are spread as among the population's bearers:

    P(name) = sum over races r of pi_r P(name | r),
    P(name | r) = bearers x l_r(name) / bearers of r

The number of bearers of a name is the same for every race and drops out, so l_r(name) / (share of r
in the population) is all that is needed. The estimate stands and falls with that assumption: a
writer who draws on a few hundred common names is read as naming no Black people at all. So
`spread_as_bearers` must be asked first, and nothing is estimated where it says no. `moments`
estimates the same shares without weighing names by how telling they are; shares outside 0-1 there
are another sign that the assumption fails.

Intervals take the sum of scores of each prompt as one observation (sandwich), t on prompts less 1,
on the logit scale; a share at 0 is bounded by its profile likelihood.

Sources: Dempster, Laird and Rubin (1977), EM, JRSS B 39; Varadhan and Roland (2008), Simple and
globally convergent methods for accelerating EM (SQUAREM), Scand. J. Stat. 35; White (1982), Maximum
likelihood estimation of misspecified models, Econometrica 50; Elliott et al. (2009) for names as
P(name | race), Health Serv. Outcomes Res. Method. 9.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import special

from portrayal.stats.naming import repetition, repetition_effect
from portrayal.stats.tails import t_isf, t_sf
from portrayal.types import BoolArray, FloatArray

LEAST_INFORMATION = 0.1
"""A race is identified if one name says at least this share of what knowing its race would."""

MOST_COINCIDENCE = 2.0
"""Names may coincide twice as often as among bearers before a mixture is refused."""

_EDGE = 1e-7  # shares below this are at the edge: there is no score to build an interval on
_STEPS = 500
_SETTLED = 1e-9
_LEAST = 1e-300


@dataclass(frozen=True)
class NameModel:
    """P(name | race) of a population, up to each name's number of bearers.

    Attributes
    ----------
    times
        Share of a race among a name's bearers over its share in the population, shape (n_names, k):
        how many times as often people of the race bear the name.
    population
        Share of each race among all bearers, shape (k,), summing to 1.
    held
        Components whose share names cannot tell, shape (k,): their share stays the population's.
    information
        What one name says about the share of each race, over what its race itself would say, in
        0-1, at the population's shares, shape (k,). For one that is held: if it alone were not.
    condition
        Condition number of the information about the shares that are estimated.
    """

    times: FloatArray
    population: FloatArray
    held: BoolArray
    information: FloatArray
    condition: float

    @property
    def identified(self) -> BoolArray:
        """Which races the names can tell, shape (k,)."""
        return ~self.held & (self.information >= LEAST_INFORMATION)


@dataclass(frozen=True)
class MixtureFit:
    """Shares of races and how each prompt moves them.

    Attributes
    ----------
    share
        Shape (k,), in 0-1, summing to 1 but for shares below 1e-7, which are 0.
    influence
        First-order change of `share` for each prompt, shape (n_prompts, k); 0 for shares that are
        held or at the edge.
    n
        Names that were counted.
    """

    share: FloatArray
    influence: FloatArray
    n: float


def name_model(
    bearers: FloatArray, likelihood: FloatArray, listed: FloatArray, held: BoolArray
) -> NameModel:
    """Return the model of names that occur, from the bearers of a whole population.

    Parameters
    ----------
    bearers
        Bearers of every name of the population, shape (n_population,).
    likelihood
        Shares of their bearers by race, shape (n_population, k): 0 or more, rows summing to 1. Put
        everybody else in a last column.
    listed
        The same shares for the names that will be counted, shape (n_names, k).
    held
        Which components keep their share in the population, shape (k,).

    Raises
    ------
    ValueError
        For rows that do not sum to 1, a race without bearers, or fewer than two free components.

    >>> shares = np.array([[0.9, 0.1], [0.2, 0.8]])
    >>> model = name_model(np.array([1.0, 1.0]), shares, shares, np.zeros(2, dtype=bool))
    >>> model.population.round(2).tolist(), model.information.round(2).tolist()
    ([0.55, 0.45], [0.49, 0.49])
    """
    for each in (likelihood, listed):
        if each.ndim != 2 or each.shape[1] != held.size:
            raise ValueError(f"shares must have shape (names, {held.size}); got {each.shape}.")
        if bool(np.any(each < 0)) or not np.allclose(each.sum(1), 1.0, atol=1e-6):
            raise ValueError(
                "the shares of a name's bearers must sum to 1; add a column of others."
            )
    if int((~held).sum()) < 2:
        raise ValueError("at least two shares must be free: nothing could be estimated.")
    population = bearers @ likelihood / bearers.sum()
    if bool(np.any(population <= 0)):
        raise ValueError("every component must have bearers in the population.")
    times = likelihood / population
    information, condition = _information(bearers, times, population, held)
    for i in np.flatnonzero(held):
        alone = held & (np.arange(held.size) != i)
        information[i] = _information(bearers, times, population, alone)[0][i]
    return NameModel(listed / population, population, held, information, condition)


def hold_untold(bearers: FloatArray, likelihood: FloatArray) -> BoolArray:
    """Return which components names cannot tell, shape (k,), to be held at the population's share.

    The component of which a name says least is held first and the information about the others
    computed again, until each of the others is identified or two are left. `bearers` and
    `likelihood` are as for `name_model`. The population's share is of the bearers.

    >>> shares = np.array([[0.7, 0.1, 0.2], [0.1, 0.7, 0.2], [0.3, 0.3, 0.4]])
    >>> hold_untold(np.ones(3), shares).tolist()
    [False, False, True]
    """
    held = np.zeros(likelihood.shape[1], dtype=bool)
    population = bearers @ likelihood / bearers.sum()
    while (~held).sum() > 2:
        information, _ = _information(bearers, likelihood / population, population, held)
        least = int(np.argmin(np.where(held, np.inf, information)))
        if information[least] >= LEAST_INFORMATION:
            break
        held[least] = True
    return held


def fit_shares(counts: FloatArray, model: NameModel) -> FloatArray:
    """Return the shares that make each row of counts most likely, by accelerated EM.

    Parameters
    ----------
    counts
        Characters of each name, shape (n_rows, n_names); rows may be replicates of a bootstrap.
    model
        From `name_model`.

    Returns
    -------
    shares
        Shape (n_rows, k); NaN for rows without any name.

    >>> shares = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> model = name_model(np.array([1.0, 1.0]), shares, shares, np.zeros(2, dtype=bool))
    >>> fit_shares(np.array([[30.0, 10.0]]), model).round(4).tolist()
    [[0.75, 0.25]]
    """
    if counts.ndim != 2 or counts.shape[1] != len(model.times):
        raise ValueError(f"counts must have shape (rows, {len(model.times)}); got {counts.shape}.")
    share = np.tile(model.population, (len(counts), 1))
    share = np.where(model.held, share, np.maximum(share, 1e-6))
    share = _scaled(share, model)
    active = np.arange(len(counts))
    for _ in range(_STEPS):
        old = share[active]
        new = _squarem(counts[active], old, model)
        share[active] = new
        active = active[np.abs(new - old).max(1) > _SETTLED]
        if not active.size:
            break
    return np.where(counts.sum(1, keepdims=True) > 0, share, np.nan)


def fit_mixture(counts: FloatArray, model: NameModel) -> MixtureFit:
    """Fit the shares of all prompts together, and the influence of each prompt.

    `counts` has shape (n_names, n_prompts). Raises ValueError where no name was counted.
    """
    total = counts.sum(1)
    if not total.sum() > 0:
        raise ValueError("no name was counted, so no share can be estimated.")
    share = fit_shares(total[np.newaxis], model)[0]
    share = np.where(share > _EDGE, share, 0.0)
    scores = model.times / np.maximum(model.times @ share, _LEAST)[:, np.newaxis]
    free = ~model.held & (share > 0)
    influence = np.zeros((counts.shape[1], share.size))
    if free.sum() > 1:
        basis = _tangent(int(free.sum()))
        turned = scores[:, free] @ basis
        curvature = (turned * total[:, np.newaxis]).T @ turned
        influence[:, free] = counts.T @ turned @ np.linalg.pinv(curvature) @ basis.T
    return MixtureFit(share, influence, float(total.sum()))


def mixture_interval(
    counts: FloatArray, model: NameModel, fit: MixtureFit, level: float = 0.95
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return clustered bounds of the shares, and p of the population's shares.

    Parameters
    ----------
    counts, model, fit
        Shape (n_names, n_prompts), and what `name_model` and `fit_mixture` returned.
    level
        A fraction.

    Returns
    -------
    low, high, p
        Shape (k,). NaN for races that are not identified, for a share that is all there is to give,
        and with fewer than 2 prompts. p tests the share in the population of bearers, on the logit
        scale. A share at 0 has bounds [0, h] and p from the profile likelihood of as many names as
        there would be if none were repeated within a prompt (Kish's design effect).
    """
    prompts = int((counts.sum(0) > 0).sum())
    df = max(prompts - 1, 1)
    error = np.sqrt(prompts / df * (fit.influence**2).sum(0))
    edge = (fit.share <= 0) | (error <= 0)
    none = ~model.identified | (prompts < 2) | (edge & (fit.share > 0))
    inner = np.where(edge, 0.5, np.clip(fit.share, _EDGE, 1.0 - _EDGE))
    scaled = np.where(edge, np.nan, error / (inner * (1.0 - inner)))
    quantile = float(t_isf((1.0 - level) / 2.0, df))
    middle = np.log(inner / (1.0 - inner))
    low, high = (special.expit(middle + sign * quantile * scaled) for sign in (-1.0, 1.0))
    null = np.log(model.population / (1.0 - model.population))
    p = 2.0 * t_sf(np.abs(middle - null) / scaled, df)
    at_zero = np.flatnonzero(edge & ~none)
    if at_zero.size:
        sizes = counts.sum(0)[:, np.newaxis]
        total = counts.sum(1) / repetition_effect(sizes, repetition(counts))
        for i in at_zero:
            falls = _profile(total, model, int(i))
            low[i], high[i] = 0.0, _largest_share(falls, model, quantile**2 / 2.0)
            p[i] = 2.0 * t_sf(np.sqrt(2.0 * falls(float(model.population[i]))), df)
    low, high, p = (np.where(none, np.nan, each) for each in (low, high, p))
    return low, high, p


def mixture_ratio_interval(
    lesser: FloatArray,
    greater: FloatArray,
    fits: tuple[MixtureFit, MixtureFit],
    model: NameModel,
    level: float = 0.95,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the ratio of shares in two roles of the same prompts, and its clustered bounds.

    The influences of a prompt on both roles are taken together, on the log scale, with t on prompts
    less 1. Where the share is 0 in one role the interval has one side, a bound of each role's share
    at half the error (Bonferroni). The test beside it is of swapped prompts (`role_scores`).

    Parameters
    ----------
    lesser, greater
        Counts by name and prompt in each role, shape (n_names, n_prompts).
    fits, model
        Of the two roles, from `fit_mixture`; and from `name_model`.
    level
        A fraction.

    Returns
    -------
    ratio, low, high
        Shape (k,); inf where the share is 0 in `greater` alone, NaN where it is 0 in both. NaN for
        races that are not identified; no bounds with fewer than 2 prompts.
    """
    above, below = fits
    prompts = int(((lesser.sum(0) > 0) | (greater.sum(0) > 0)).sum())
    known = (above.share > 0) & (below.share > 0)
    top, bottom = (np.where(known, fit.share, 1.0) for fit in fits)
    influence = above.influence / top - below.influence / bottom
    df = max(prompts - 1, 1)
    half = float(t_isf((1.0 - level) / 2.0, df)) * np.sqrt(prompts / df * (influence**2).sum(0))
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(model.identified, above.share / below.share, np.nan)
        low, high = (top / bottom * np.exp(sign * half) for sign in (-1.0, 1.0))
        one_sided = model.identified & ~known & ~np.isnan(ratio)
        if one_sided.any():
            ends = [
                mixture_interval(counts, model, fit, (1.0 + level) / 2.0)
                for counts, fit in zip((lesser, greater), fits, strict=True)
            ]
            low = np.where(one_sided, ends[0][0] / ends[1][1], low)
            high = np.where(one_sided, ends[0][1] / ends[1][0], high)
    none = np.isnan(ratio) | (prompts < 2)
    low, high = (np.where(none, np.nan, each) for each in (low, high))
    return ratio, low, high


def role_scores(lesser: FloatArray, greater: FloatArray, model: NameModel) -> FloatArray:
    """Return what each prompt adds to the difference of mixture shares between two roles.

    Scores are taken at the shares of both roles together, which whole prompts that change roles do
    not move; so their signs are coins where roles mean nothing (`roles.coin_test`).

    Parameters
    ----------
    lesser, greater
        Counts by name and prompt in each role, shape (n_names, n_prompts).
    model
        From `name_model`.

    Returns
    -------
    scores
        Shape (n_prompts, k); the sum over prompts is, to first order, the difference of shares.
    """
    both = fit_mixture(np.concatenate([lesser, greater], axis=1), model)
    n_prompts, half = lesser.shape[1], both.n
    parts = both.influence[:n_prompts], both.influence[n_prompts:]
    with np.errstate(divide="ignore"):
        weights = [half / max(float(counts.sum()), 1.0) for counts in (lesser, greater)]
    return parts[0] * weights[0] - parts[1] * weights[1]


def moments(
    counts: FloatArray, model: NameModel, bearers: FloatArray, times: FloatArray
) -> FloatArray:
    """Return the shares at which counting by name shares would read what it reads.

    A check on the mixture: both are right if names are spread within each race as among bearers.

    Parameters
    ----------
    counts, model
        Characters of each name, shape (n_names,), and their model.
    bearers, times
        Of the whole population, shapes (n_population,) and (n_population, k), `times` as in the
        model.

    Returns
    -------
    shares
        Shape (k,), not kept inside 0-1.
    """
    weight = bearers / bearers.sum()
    # Of people of race s, the mean share of race r among the bearers of their name.
    confusion = (times * weight[:, np.newaxis]).T @ times * model.population[:, np.newaxis]
    reads = counts @ (model.times * model.population) / counts.sum()
    free = ~model.held
    rest = reads - confusion[:, model.held] @ model.population[model.held]
    shares = model.population.copy()
    shares[free] = np.linalg.lstsq(confusion[:, free], rest, rcond=None)[0]
    return shares


def spread_as_bearers(counts: FloatArray, bearers: FloatArray) -> tuple[bool, float]:
    """Say whether names are spread as widely as among bearers, so that a mixture can be read.

    Two people of different prompts share their name by chance; in a population with share b_j of
    name j, with chance sum b_j^2 (about 1 in 560 among US bearers).

    Parameters
    ----------
    counts
        Characters by name and prompt, shape (n_names, n_prompts).
    bearers
        Bearers of every name of the population, shape (n_population,).

    Returns
    -------
    spread, times
        Whether names of different prompts are the same at most `MOST_COINCIDENCE` times as often as
        among bearers, and how many times as often they are; NaN and False with one prompt.

    >>> spread_as_bearers(np.eye(4), np.ones(4))
    (True, 0.0)
    >>> spread_as_bearers(np.ones((1, 3)), np.ones(4))
    (False, 4.0)
    """
    size, total = counts.sum(0), counts.sum()
    pairs = float(total**2 - (size**2).sum())
    if pairs <= 0:
        return False, float("nan")
    same = float((counts.sum(1) ** 2).sum() - (counts**2).sum()) / pairs
    times = same / float(((bearers / bearers.sum()) ** 2).sum())
    return times <= MOST_COINCIDENCE, times


def _squarem(counts: FloatArray, share: FloatArray, model: NameModel) -> FloatArray:
    """One accelerated step from shares (n_rows, k); a plain one where it would lose likelihood."""
    first = _em(counts, share, model)
    second = _em(counts, first, model)
    change, bend = first - share, second - 2.0 * first + share
    size = np.linalg.norm(bend, axis=1, keepdims=True)
    length = np.linalg.norm(change, axis=1, keepdims=True) / np.maximum(size, _LEAST)
    length = np.clip(length, 1.0, 1e4)
    ahead = share + 2.0 * length * change + length**2 * bend
    inside = np.all(ahead[:, ~model.held] > 0, axis=1, keepdims=True)
    ahead = np.where(inside, ahead, second)
    better = _log_likelihood(counts, ahead, model) >= _log_likelihood(counts, second, model)
    return _em(counts, np.where(better[:, np.newaxis], ahead, second), model)


def _em(counts: FloatArray, share: FloatArray, model: NameModel) -> FloatArray:
    mixed = np.maximum(share @ model.times.T, _LEAST)
    return _scaled(share * ((counts / mixed) @ model.times), model)


def _scaled(share: FloatArray, model: NameModel) -> FloatArray:
    """Give held components their share, and scale the others to sum to the rest."""
    held = model.population * model.held
    free = np.where(model.held, 0.0, share)
    total = np.maximum(free.sum(-1, keepdims=True), _LEAST)
    return np.asarray(held + free * ((1.0 - held.sum()) / total), dtype=np.float64)


def _log_likelihood(counts: FloatArray, share: FloatArray, model: NameModel) -> FloatArray:
    mixed = np.maximum(share @ model.times.T, _LEAST)
    return np.asarray((counts * np.log(mixed)).sum(1), dtype=np.float64)


def _profile(counts: FloatArray, model: NameModel, i: int) -> Callable[[float], float]:
    """How far the log likelihood falls from its best where race `i` has a certain share."""
    row, held = counts[np.newaxis], model.held.copy()
    held[i] = True
    best = float(_log_likelihood(row, fit_shares(row, model), model)[0])

    def falls(share: float) -> float:
        population = model.population.copy()
        population[i] = share
        fixed = NameModel(model.times, population, held, model.information, model.condition)
        return max(best - float(_log_likelihood(row, fit_shares(row, fixed), fixed)[0]), 0.0)

    return falls


def _largest_share(falls: Callable[[float], float], model: NameModel, by: float) -> float:
    """Largest share at which the log likelihood has not fallen by more than `by`."""
    low, high = 0.0, 1.0 - float(model.population[model.held].sum()) - 1e-6
    for _ in range(30):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if falls(middle) <= by else (low, middle)
    return high


def _information(
    bearers: FloatArray, times: FloatArray, population: FloatArray, held: BoolArray
) -> tuple[FloatArray, float]:
    """Information of a name about each share over that of its race, and the condition number."""
    free = ~held
    basis = _tangent(int(free.sum()))
    turned = times[:, free] @ basis
    matrix = (turned * (bearers / bearers.sum())[:, np.newaxis]).T @ turned
    values = np.linalg.eigvalsh(matrix)
    condition = float(values[-1] / values[0]) if values[0] > 0 else float("inf")
    information = np.zeros(held.size)
    if np.isfinite(condition) and condition < 1e12:
        variance = np.diag(basis @ np.linalg.inv(matrix) @ basis.T)
        known = population[free]
        # If races were known: variance of a share among those that are free to change.
        best = known * (1.0 - known / known.sum())
        information[free] = np.minimum(best / np.maximum(variance, _LEAST), 1.0)
    return information, condition


def _tangent(k: int) -> FloatArray:
    """Orthonormal directions in which shares change but not their sum, shape (k, k - 1)."""
    return np.asarray(np.linalg.svd(np.ones((1, k)))[2][1:].T, dtype=np.float64)
