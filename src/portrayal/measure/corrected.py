"""Corrected shares: prediction-powered estimates from hand labels, clustered by prompt.

For every prompt, sum what the annotator's labels of all texts add to numerator and denominator of
a share, and add the weighted errors of the hand-labelled texts (λ = 1 in Angelopoulos et al. 2023,
which draws no tuning from few prompts). The sums hold without error on average, whatever the
annotator's errors are, because texts were drawn at random with known probabilities; prompts are
then resampled, sums and errors together, so that the interval has both the spread between prompts
and that of drawing the hand-labelled texts.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from portrayal.measure.clustered import Inference, has_width
from portrayal.measure.features import Features
from portrayal.measure.hand_sample import HandSample
from portrayal.measure.scope import Scope
from portrayal.measure.strata import Stratum, prompt_sums
from portrayal.measure.tally import Characters, FloatArray, IntArray
from portrayal.records import Estimate, Null, Test
from portrayal.stats import (
    cluster_robust_t,
    cluster_weights,
    divide,
    expanded_percentile,
    score_ratio_interval,
    wilson,
)

METHOD = "prediction-powered, cluster bootstrap over prompts (expanded percentile)"
ROBUST_T = "cluster-robust t test of the corrected ratio on the log scale"
SOURCE = "Angelopoulos et al. 2023, Prediction-powered inference, Eq. 1"

IMPOSSIBLE = (
    "after the correction a share lies outside 0–1, or the dominant one is 0: too few hand labels "
    "for so rare a group"
)

FEWEST = 20
"""Hand-labelled characters of each role below which nothing is corrected."""

_ROUNDING = 1e-9

Sums = tuple[FloatArray, FloatArray]
"""Numerator and denominator per prompt, shapes (n_prompts, k)."""


@dataclass(frozen=True)
class Corrected:
    """Sums of one role in one stratum.

    Attributes
    ----------
    naive, sums
        As the annotator labels all texts, and with the weighted errors added.
    n_labelled
        Hand-labelled characters.
    """

    naive: Sums
    sums: Sums
    n_labelled: int


def corrected_sums(
    characters: Characters,
    hand: HandSample,
    stratum: Stratum,
    role: int,
    features: tuple[Features, Features, Features],
) -> Corrected:
    """Return the sums of one role.

    Parameters
    ----------
    characters, hand
        All characters as the annotator labels them, and the hand-labelled ones.
    stratum, role
        Where.
    features
        Of all characters, of the hand-labelled ones as people label them, and as the annotator.
    """
    everyone, gold, guess = (np.concatenate([f.numerator, f.denominator], axis=1) for f in features)
    k = len(features[0].groups)
    naive = prompt_sums(characters, stratum, role, everyone)
    total = naive + hand.errors(stratum, role, gold - guess)
    n = int(hand.inside(stratum, role).sum())
    return Corrected((naive[:, :k], naive[:, k:]), (total[:, :k], total[:, k:]), n)


def infer(
    upper: Sums, lower: Sums | None, scale: FloatArray, scope: Scope, rng: np.random.Generator
) -> Inference:
    """Infer a share over `scale`, or the ratio of two shares, for each group.

    Shares that cannot be, as the correction takes a sum below 0 or above its whole, are NaN. Where
    no prompt varies, each prompt counts as one observation, as in the naive estimate.
    """
    shares = [
        _share(sums[0].sum(0), sums[1].sum(0)) for sums in (upper, *((lower,) if lower else ()))
    ]
    value = (shares[0] if lower is None else divide(*shares)) / scale
    present = upper[1] != 0 if lower is None else (upper[1] != 0) & (lower[1] != 0)
    clusters = present.sum(0)
    weights = cluster_weights(len(upper[0]), scope.draws, rng).astype(np.float64)
    draws = _clipped(weights, upper) / scale
    if lower is not None:
        draws = divide(draws, _clipped(weights, lower))
    low, high = np.full(len(value), np.nan), np.full(len(value), np.nan)
    for size in np.unique(clusters[clusters > 1]):
        at = clusters == size
        low[at], high[at] = expanded_percentile(draws[:, at], scope.level, int(size))
    flat = ~has_width(low, high) & (clusters > 1) & ~np.isnan(value)
    flat_low, flat_high = _per_prompt(shares, np.where(flat, clusters, 1), scope.level)
    return Inference(
        value=value,
        low=np.where(flat, flat_low / scale, low),
        high=np.where(flat, flat_high / scale, high),
        p=_p(value, _influence(upper) - (0.0 if lower is None else _influence(lower)), clusters),
        n_clusters=clusters,
        resampled=~flat,
    )


def _share(part: FloatArray, whole: FloatArray) -> FloatArray:
    """Part of whole, shape (k,); NaN unless it lies in 0–1 but for rounding."""
    share = divide(part, np.where(whole > 0, whole, np.nan))
    possible = (share > -_ROUNDING) & (share < 1 + _ROUNDING)
    rounded = np.where(np.abs(share) < _ROUNDING, 0.0, np.minimum(share, 1.0))
    return np.where(possible, rounded, np.nan)


def _clipped(weights: FloatArray, sums: Sums) -> FloatArray:
    """Share of each replicate, shape (draws, k), at the nearer end of 0–1 where it lies outside."""
    part, whole = (weights @ values for values in sums)
    return np.clip(divide(part, np.where(whole > 0, whole, np.nan)), 0.0, 1.0)


def _per_prompt(
    shares: list[FloatArray], clusters: IntArray, level: float
) -> tuple[FloatArray, FloatArray]:
    counts = [np.nan_to_num(share) * clusters for share in shares]
    if len(shares) == 1:
        return wilson(counts[0], clusters, level)
    return score_ratio_interval(counts[0], clusters, counts[1], clusters, level)


def _p(value: FloatArray, influence: FloatArray, clusters: IntArray) -> FloatArray:
    p = np.full(len(value), np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        log_value = np.log(value)
    for i in np.flatnonzero(clusters > 1).tolist():
        p[i] = float(cluster_robust_t(log_value[i], influence[:, i], df=int(clusters[i]) - 1)[1])
    return p


def _influence(sums: Sums) -> FloatArray:
    """Influence of each prompt on the log share, shape (n_prompts, k); sums may be below 0."""
    part, whole = (divide(s, np.where(s.sum(0) > 0, s.sum(0), np.nan)) for s in sums)
    return np.asarray(part - whole)


@dataclass(frozen=True)
class CorrectedMeasure:
    """What every estimate of one corrected measure has in common."""

    name: str
    source: str
    scope: Scope
    naive: str

    def estimate(
        self,
        stratum: Stratum,
        group: Mapping[str, str],
        inference: tuple[Inference, Inference, int],
        n_units: float,
        labelled: Mapping[str, int],
        reason: str | None,
    ) -> Estimate:
        """Return the estimate of one group.

        Parameters
        ----------
        stratum, group
            Where, and of whom.
        inference
            Corrected and naive inference of many groups, and the index of this one.
        n_units
            Characters behind the value, as corrected.
        labelled
            Hand-labelled characters by role.
        reason
            Why there is no value; None where nothing speaks against it.
        """
        found, naive, i = inference
        value = float(found.value[i])
        if reason is None and not np.isfinite(value):
            reason = IMPOSSIBLE
        bounds = None if reason else found.interval(i, self.scope)
        resampled = bool(found.resampled[i])
        before = naive.interval(i, self.scope)
        details = {"naive": float(naive.value[i])}
        if before is not None:
            details |= {"naive_low": before.low, "naive_high": before.high}
        details |= {f"n_labelled_{role}": float(n) for role, n in labelled.items()}
        kept = {key: number for key, number in details.items() if np.isfinite(number)}
        nan = float("nan")
        return Estimate(
            study=self.scope.study,
            measure=self.name,
            statistic="ratio",
            unit="character",
            strata=stratum.labels,
            group=dict(group),
            value=None if reason else value,
            interval=bounds and replace(bounds, method=METHOD if resampled else bounds.method),
            null=Null(1.0, nan, nan, self.scope.level, "no difference"),
            tests=() if reason else (Test(float(found.p[i]), ROBUST_T),),
            n_texts=stratum.n_texts,
            n_units=max(n_units, 0.0),
            n_clusters=int(found.n_clusters[i]),
            exclusions=stratum.exclusions,
            details=kept,
            instruments={**self.scope.instruments, "corrects": self.naive},
            undefined=reason,
            source=self.source,
        )


def too_few(labelled: Mapping[str, int]) -> str | None:
    """Return why nothing can be corrected; None where there are hand labels enough."""
    for role, n in labelled.items():
        if n < FEWEST:
            return (
                f"{n} {role} characters are labelled by hand here, and a correction needs "
                f"{FEWEST} or more"
            )
    return None
