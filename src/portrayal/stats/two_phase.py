"""Shares of labels that an annotator gives to all texts and people to a random sample of them.

This is two-phase sampling: phase one holds every text with the annotator's label, phase two a
random sample with labels by hand as well. A share is a ratio of sums over characters, and each sum
is corrected by *post-stratification*. By the annotator's label, characters fall into three classes:
in the group, known and not in the group, and not known. In each class the mean error of the
hand-labelled characters is taken off all of them. So the error is weighed by classes as large as
they really are, and not as large as they happen to be among the hand-labelled texts; for labels
that count 0 or 1 a corrected share always lies in 0–1. It is the regression estimator whose slope
the data choose: prediction-powered inference with tuned λ (Angelopoulos, Duchi & Zrnic 2023).

Inference is that of `stats/clustered.py`: the prompts' influences give a variance, which is a
design effect over the variance of independent texts and draws, and an effective binomial follows.
The variance of the draws is taken with half an error more in every class (as Jeffreys' prior adds),
and is the least that the design effect allows: a class without an error among 30 is not known to
have none.

Sources: Särndal, Swensson & Wretman (1992), Model assisted survey sampling, chapters 7 and 9;
Angelopoulos et al. (2023), Prediction-powered inference, Science 382; Angelopoulos, Duchi & Zrnic
(2023), PPI++, arXiv 2311.01453.
"""

from dataclasses import dataclass, replace

import numpy as np

from portrayal.stats._arguments import divide
from portrayal.stats.clustered import (
    FEWEST_CARRIERS,
    NEVER,
    NO_NULL,
    NO_UNITS,
    ONE_PROMPT,
    TOO_FEW,
    Clustered,
)
from portrayal.stats.design_effect import (
    PSEUDO_PROMPTS,
    Evidence,
    design_effect,
    effective_number,
    evidence_interval,
    evidence_p,
)
from portrayal.types import BoolArray, FloatArray, IntArray

PSEUDO_ERRORS = 0.5
"""Errors added to each class before the variance of drawing the hand-labelled texts is taken."""

_ROUNDING = 1e-9


@dataclass(frozen=True)
class Labelled:
    """Labels of characters: what each adds to the numerators and denominators of k shares.

    Attributes
    ----------
    prompt
        Index of each character's prompt, shape (n,).
    weight
        How many characters each stands for, shape (n,).
    part, whole
        By the annotator's label, shape (n, k): 0 to 1, and 0 or 1.
    """

    prompt: IntArray
    weight: FloatArray
    part: FloatArray
    whole: FloatArray


@dataclass(frozen=True)
class TwoPhase:
    """Corrected sums of shares; shape (n_prompts, k), or (k,).

    Attributes
    ----------
    part, whole
        What each prompt adds to the corrected sums, the errors of its own characters included.
    totals
        Units per prompt by the annotator's labels.
    drawing
        Variance of each share from drawing the hand-labelled characters.
    unit
        Variance of one unit's contribution.
    """

    part: FloatArray
    whole: FloatArray
    totals: FloatArray
    drawing: FloatArray
    unit: FloatArray

    @property
    def share(self) -> FloatArray:
        """Corrected shares, shape (k,); NaN where they lie outside 0–1 or nobody is left."""
        whole = self.whole.sum(0)
        share = divide(self.part.sum(0), np.where(whole > 0, whole, np.nan))
        possible = (share > -_ROUNDING) & (share < 1 + _ROUNDING)
        rounded = np.where(np.abs(share) < _ROUNDING, 0.0, np.clip(share, 0.0, 1.0))
        return np.where(possible, rounded, np.nan)

    @property
    def apart(self) -> FloatArray:
        """Variance of each share if characters were independent, shape (k,)."""
        whole = self.whole.sum(0)
        return self.drawing + divide(self.unit, np.where(whole > 0, whole, np.nan))


def two_phase(
    everyone: Labelled, hand: Labelled, part: FloatArray, whole: FloatArray, n_prompts: int
) -> TwoPhase:
    """Correct the sums of all characters by those labelled by hand.

    Parameters
    ----------
    everyone
        All characters; `weight` says how often each kind occurs.
    hand
        The hand-labelled ones as the annotator labels them; `weight` says how many each stands for.
    part, whole
        The same ones as people label them, shape (n_hand, k).
    n_prompts
        Number of prompts.
    """
    sums = [_by_prompt(everyone, each, n_prompts) for each in (everyone.part, everyone.whole)]
    totals, size = sums[1], _sum(everyone, everyone.part)
    typical = divide(_sum(everyone, everyone.part**2), size)  # 1 for labels that count 0 or 1
    typical = np.where(np.isfinite(typical), typical, 1.0)
    errors = part - hand.part, whole - hand.whole
    parts = []
    for inside, drawn in zip(_classes(everyone), _classes(hand), strict=True):
        here, number = _by_prompt(everyone, inside, n_prompts), drawn.sum(0)
        weight = _sum(hand, drawn)
        scale = np.where(weight > 0, divide(here.sum(0), np.where(weight > 0, weight, 1.0)), 0.0)
        left = []
        for i, error in enumerate(errors):
            mean = np.where(weight > 0, divide(_sum(hand, drawn * error), weight), 0.0)
            left.append(drawn * (error - mean))
            sums[i] = sums[i] + here * mean + scale * _by_prompt(hand, left[i], n_prompts)
        parts.append((scale, left, here.sum(0) / np.maximum(number, 1)))
    nothing = np.zeros_like(size)
    found = TwoPhase(sums[0], sums[1], totals, nothing, nothing)
    share = np.nan_to_num(found.share)
    drawing, many = np.zeros_like(size), hand.weight * np.maximum(hand.weight - 1.0, 0.0)
    for scale, (top, bottom), each in parts:
        drawing += scale**2 * (many @ (top - share * bottom) ** 2)
        drawing += PSEUDO_ERRORS * typical * each * np.maximum(each - 1.0, 0.0)
    drawing = divide(drawing, found.whole.sum(0) ** 2)
    unit = np.maximum(share * (1.0 - share) * typical, 0.0)
    return replace(found, drawing=drawing, unit=unit)


def infer_two_phase(sums: TwoPhase, level: float, null: FloatArray) -> Clustered:
    """Infer corrected shares and test them against fixed shares, shape (k,); NaN for none.

    The interval from a variance with `df` degrees of freedom, as `infer_shares`; there is none with
    one prompt, or where the correction leaves a share outside 0–1.
    """
    share, whole = sums.share, np.where(sums.whole.sum(0) > 0, sums.whole.sum(0), np.nan)
    influence = divide(sums.part - np.nan_to_num(share) * sums.whole, whole)
    drawn = np.clip(share, 0.5 / (whole + 1.0), 1.0 - 0.5 / (whole + 1.0))
    evidence = _evidence(
        share,
        drawn * (1 - drawn),
        np.nan_to_num(influence),
        [sums.totals],
        sums.apart[np.newaxis],
        effective_number(sums.totals),
    )
    clusters = (sums.totals > 0).sum(0)
    inside = (null > 0) & (null < 1)
    checks = [(np.isnan(share), NO_UNITS), (clusters < 2, ONE_PROMPT), (~inside, NO_NULL)]
    return _clustered(share, evidence, clusters, sums.part, checks, (null, level))


def infer_two_phase_ratio(upper: TwoPhase, lower: TwoPhase, level: float) -> Clustered:
    """Infer the ratio of two corrected shares of the same prompts, as `infer_ratios`.

    The ratio is inf where the group is in the first role alone; there is no p where fewer than four
    effective prompts carry the group.
    """
    sides = (upper, lower)
    share, whole = zip(*((s.share, s.whole.sum(0)) for s in sides), strict=True)
    counts = [np.nan_to_num(s) * np.where(w > 0, w, 0.0) for s, w in zip(share, whole, strict=True)]
    number = np.where(counts[0] + counts[1] > 0, counts[0] + counts[1], np.nan)
    part = sum((np.maximum(s.part, 0.0) for s in sides), np.zeros_like(upper.part))
    carriers = effective_number(part)
    first = np.where(np.isnan(share[0] + share[1]), np.nan, counts[0] / number)
    drawn = (np.nan_to_num(first) * carriers + PSEUDO_PROMPTS) / (carriers + 2 * PSEUDO_PROMPTS)
    spread = drawn * (1 - drawn)
    signs = (1 - drawn), -drawn
    influence = np.zeros_like(upper.part)
    for side, sign, tilt in zip(sides, signs, (1.0, -1.0), strict=True):
        total = np.where(side.whole.sum(0) > 0, side.whole.sum(0), np.nan)
        influence += divide(sign * side.part, number) - tilt * spread * divide(side.whole, total)
    apart = np.stack(
        [
            sign**2 * side.apart * divide(w, number) ** 2
            for side, sign, w in zip(sides, signs, whole, strict=True)
        ]
    )
    apart = np.where(apart.sum(0) > 0, apart, np.nan)
    totals = [s.totals for s in sides]
    evidence = _evidence(first, spread, np.nan_to_num(influence), totals, apart, carriers)
    both = (counts[0] > 0) & (counts[1] > 0)
    df = np.where(both, np.minimum(evidence.df, np.maximum(carriers - 1.0, 0.0)), 0.0)
    evidence = replace(evidence, df=df, effect=np.where(df > 0, evidence.effect, 1.0), atom=1.0)
    clusters = ((upper.totals > 0) & (lower.totals > 0)).sum(0)
    checks = [
        (np.isnan(share[0] + share[1]), NO_UNITS),
        (np.isnan(first), NEVER),
        (clusters < 2, ONE_PROMPT),
        (carriers < FEWEST_CARRIERS, TOO_FEW),
    ]
    odds = divide(whole[0], whole[1])
    odds = np.where(np.isfinite(odds) & (odds > 0), odds, np.nan)
    found = _clustered(first, evidence, clusters, part, checks, (odds / (1 + odds), level))
    low, high = (divide(x, (1 - x) * odds) for x in (found.low, found.high))
    return replace(found, value=divide(*share), low=low, high=high)


def _clustered(
    share: FloatArray,
    evidence: Evidence,
    clusters: IntArray,
    part: FloatArray,
    checks: list[tuple[BoolArray, str]],
    against: tuple[FloatArray, float],
) -> Clustered:
    """Interval and p from one evidence; `checks` say where and why there is no p."""
    null, level = against
    reason = np.select([fails for fails, _ in checks], [why for _, why in checks], default="")
    low, high = evidence_interval(evidence, level)
    p = evidence_p(evidence, np.where((null > 0) & (null < 1), null, np.nan))
    known = (clusters >= 2) & ~np.isnan(share)
    low, high = (np.where(known, bound, np.nan) for bound in (low, high))
    p = np.where(reason == "", p, np.nan)
    carriers = effective_number(np.maximum(part, 0.0))
    return Clustered(share, low, high, p, clusters, carriers, evidence.df, reason)


def _evidence(
    share: FloatArray,
    spread: FloatArray,
    influence: FloatArray,
    totals: list[FloatArray],
    apart: FloatArray,
    prompts: FloatArray,
) -> Evidence:
    """Reduce a share to effective units, no more than `apart` gives and no fewer than `prompts`."""
    effect, df = design_effect(influence, totals, apart)
    size = divide(spread, apart.sum(0))
    size = np.where(np.isfinite(size), size, np.nan_to_num(totals[0].sum(0)))
    return Evidence(
        share=share,
        size=size,
        effect=np.where(df > 0, effect, 1.0),
        df=df,
        smallest=np.ones_like(size),
        largest=np.maximum(size / np.maximum(prompts, 1.0), 1.0) * (1 + 1e-9),
    )


def _classes(labels: Labelled) -> tuple[FloatArray, FloatArray, FloatArray]:
    """By the annotator: in the group, known and not in it, not known; shape (n, k), 0 or 1 each."""
    known = labels.whole > 0
    inside = known & (labels.part >= 0.5)
    found = np.stack([inside, known & ~inside, ~known]).astype(np.float64)
    return found[0], found[1], found[2]


def _sum(labels: Labelled, values: FloatArray) -> FloatArray:
    return np.asarray(labels.weight @ values)


def _by_prompt(labels: Labelled, values: FloatArray, n_prompts: int) -> FloatArray:
    weighted = values * labels.weight[:, np.newaxis]
    columns = [np.bincount(labels.prompt, column, n_prompts) for column in weighted.T]
    return np.stack(columns, axis=1).astype(np.float64)
