"""Sums of labels that a scorer gives to all units and people to a random sample of them.

This is two-phase sampling: phase one holds every unit with the scorer's label, phase two a random
sample with labels by hand as well, each with the number of units it stands for. The hand-labelled
units get *calibrated* weights, near those of the draw, with which what the scorer says of them adds
up to what it says of all; their labels by hand are summed with these weights. That is the
regression estimator of survey sampling, and prediction-powered inference whose power λ the data
choose: a scorer that knows nothing has λ 0, and the labels stand alone. Where labels count 0 or 1
it is post-stratification by what the scorer says (in the group, known and not in it, not known), so
that a corrected share always lies in 0–1. The scorer is heard where that makes the variance of the
estimate smaller; where a class of its labels is hardly checked, the labels by hand stand alone.

Everything that is made of sums follows from the corrected sums, their contributions by prompt and
their covariance from the draw: shares, differences, ratios and lifts. Shares and ratios of two
roles are inferred as in `stats/clustered.py`: the prompts' influences give a variance, which is a
design effect over the variance of independent units and draws, and an effective binomial follows.
Differences and lifts have Student's t. The variance of the draws is taken with half an error more
in every class than was seen (as Jeffreys' prior adds): a class without an error among 30 is not
known to have none, and one that by chance shows few would give too narrow an interval, which with
the share itself at its lowest misses most.

Sources: Särndal, Swensson & Wretman (1992), Model assisted survey sampling, chapters 6, 7 and 9;
Angelopoulos et al. (2023), Prediction-powered inference, Science 382; Angelopoulos, Duchi & Zrnic
(2023), PPI++, arXiv 2311.01453.
"""

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Literal

import numpy as np

from portrayal.stats._arguments import divide, nearest_rejected
from portrayal.stats.clustered import (
    NO_NULL,
    NO_SPREAD,
    NO_UNITS,
    ONE_PROMPT,
    Clustered,
    agree,
    pooled_part,
    sums_by,
    two_way_variance,
)
from portrayal.stats.design_effect import (
    SMALLEST_EFFECT,
    Evidence,
    effective_number,
    evidence_interval,
    evidence_p,
    small_sample,
)
from portrayal.stats.tails import t_isf, t_sf
from portrayal.types import FloatArray, IntArray

PSEUDO_ERRORS = 0.5
"""Errors that each class has beyond those seen, in the variance of drawing the labelled units."""

GAIN = 1.05
"""How much smaller a variance must be for what labels teach to be heard."""
FOLDS = 10
"""Parts of the hand-labelled units; those of one are predicted by the labels of the others."""

Contrast = Literal["difference", "ratio"]
Over = Literal["prompts", "these prompts", "these texts"]
"""What an interval is of: prompts like these, any texts of these prompts, or these texts."""

_ROUNDING, _TINY = 1e-9, 1e-300


@dataclass(frozen=True)
class Labelled:
    """Units as one labels them: what each adds to the sums behind k estimates.

    Attributes
    ----------
    prompt
        Index of each row's prompt, shape (n,).
    weight
        How many units each row stands for, shape (n,).
    terms
        What one unit of the row adds to each sum, t arrays of shape (n, k): the numerator and the
        denominator of a share; of differences, ratios and lifts those of the second share as well.
    """

    prompt: IntArray
    weight: FloatArray
    terms: tuple[FloatArray, ...]


@dataclass(frozen=True)
class TwoPhase:
    """Corrected sums behind k estimates.

    Attributes
    ----------
    fitted
        What each prompt adds to each sum by what the scorer says of its units, shape
        (t, n_prompts, k): as many as people would find in such units.
    errors
        What the labels of its own units add to that, shape (t, n_prompts, k).
    totals, labelled
        Units per prompt by the scorer's labels, shape (n_prompts, k), and how many of them are
        labelled by hand, shape (n_prompts,).
    drawing
        Covariance of the corrected sums from drawing the hand-labelled units, shape (t, t, k).
    typical
        Mean square of a label over its mean, shape (k,): 1 for labels that count 0 or 1.
    df
        Degrees of freedom of `drawing`, shape (k,).
    units
        Effective number of labelled units in the first denominator, shape (k,).
    roles
        Whether the two shares are those of roles, both of which carry a group.
    ways
        Where prompts are clustered in two ways at once, such as by name and by topic: the code of
        each prompt in either way, shape (n_prompts,) each.
    """

    fitted: FloatArray
    errors: FloatArray
    totals: FloatArray
    labelled: FloatArray
    drawing: FloatArray
    typical: FloatArray
    df: FloatArray
    units: FloatArray
    roles: bool = False
    ways: tuple[IntArray, ...] = ()

    @cached_property
    def by_way(self) -> tuple["TwoPhase", ...]:
        """The same sums by the clusters of each way, and last by prompt."""
        by_prompt = replace(self, ways=())
        parts = []
        for code in self.ways:
            by = partial(sums_by, code, int(code.max()) + 1)
            fitted, errors = (np.stack([*map(by, sums)]) for sums in (self.fitted, self.errors))
            totals, labelled = by(self.totals), by(self.labelled[:, np.newaxis])[:, 0]
            parts.append(
                replace(by_prompt, fitted=fitted, errors=errors, totals=totals, labelled=labelled)
            )
        return (*parts, by_prompt)

    @property
    def clusters(self) -> IntArray:
        """Prompts with units, or clusters of the way that has fewest, shape (k,)."""
        return np.asarray(np.min([(one.totals > 0).sum(0) for one in self.by_way], axis=0))

    @cached_property
    def carriers(self) -> FloatArray:
        """Effective number of prompts that carry the first numerator, or both of roles, (k,)."""
        if self.ways:
            return np.asarray(np.min([one.carriers for one in self.by_way], axis=0))
        numerators = self.sums[::2] if self.roles else self.sums[:1]
        return effective_number(np.maximum(numerators, 0.0).sum(0))

    @property
    def sums(self) -> FloatArray:
        """What each prompt adds to each corrected sum, shape (t, n_prompts, k)."""
        return self.fitted + self.errors

    @property
    def part(self) -> FloatArray:
        """What each prompt adds to the numerator, shape (n_prompts, k)."""
        return np.asarray(self.sums[0])

    @property
    def whole(self) -> FloatArray:
        """What each prompt adds to the denominator, shape (n_prompts, k)."""
        return np.asarray(self.sums[1])

    @property
    def share(self) -> FloatArray:
        """Corrected shares, shape (k,); NaN where they lie outside 0–1 or nobody is left."""
        total = self.whole.sum(0)
        return _possible(divide(self.part.sum(0), np.where(total > 0, total, np.nan)))

    @property
    def apart(self) -> FloatArray:
        """Variance of each share if units were independent, shape (k,)."""
        share, total = np.nan_to_num(self.share), self.whole.sum(0)
        unit = np.maximum(share * (1.0 - share) * self.typical, 0.0)
        return self.drawn(self.of_share) + divide(unit, np.where(total > 0, total, np.nan))

    @property
    def of_share(self) -> FloatArray:
        """How each sum moves the share, shape (2, k)."""
        total = self.whole.sum(0)
        total = np.where(total > 0, total, np.nan)
        return np.stack([1.0 / total, -np.nan_to_num(self.share) / total])

    def beside(self, lower: "TwoPhase") -> "TwoPhase":
        """Join this corrected share and that of another role as the sides of a contrast."""
        blocks = np.zeros((4, 4, self.drawing.shape[-1]))
        blocks[:2, :2], blocks[2:, 2:] = self.drawing[:2, :2], lower.drawing[:2, :2]
        return TwoPhase(
            fitted=np.concatenate([self.fitted[:2], lower.fitted[:2]]),
            errors=np.concatenate([self.errors[:2], lower.errors[:2]]),
            totals=self.totals + lower.totals,
            labelled=self.labelled + lower.labelled,
            drawing=blocks,
            typical=(self.typical + lower.typical) / 2.0,
            df=np.minimum(self.df, lower.df),
            units=np.minimum(self.units, lower.units),
            roles=True,
        )

    def drawn(self, gradient: FloatArray) -> FloatArray:
        """Variance from the draw, shape (k,), of what the first sums move by `gradient`, (r, k)."""
        r = len(gradient)
        return np.asarray(np.einsum("ik,ijk,jk->k", gradient, self.drawing[:r, :r], gradient))

    @cached_property
    def _samples(self) -> list[tuple[FloatArray, FloatArray, FloatArray]]:
        """Of all units and of the labelled: how many by prompt, and their small-sample terms."""
        labelled = np.broadcast_to(self.labelled[:, np.newaxis], self.totals.shape)
        return [(units, *small_sample([units])) for units in (self.totals, labelled)]

    def variance(self, gradient: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Variance over prompts like these of what `gradient` makes of the sums, and its df.

        What the scorer says varies between prompts, over all units; errors vary by the draw, and
        more where those of one prompt are alike. Prompts that are clustered in two ways have the
        variances of both less that by prompt.
        """
        if self.ways:
            both = [one.variance(gradient) for one in self.by_way]
            return two_way_variance(*zip(*both, strict=True))
        r = len(gradient)
        predictions, missed = (
            np.nan_to_num(np.einsum("ik,ipk->pk", gradient, sums[:r]))
            for sums in (self.fitted, self.errors)
        )
        predictions = predictions - predictions.mean(0)
        variances = []
        for sums, (units, factor, free) in zip((predictions, missed), self._samples, strict=True):
            squared = divide((sums**2).sum(0), factor)
            # Few prompts that carry the variance, or the group, tell little of it.
            few = 3.0 * (divide((sums**2).sum(0) ** 2, (sums**4).sum(0)) - 1.0)
            few = np.minimum(np.where(np.isfinite(few), few, np.inf), self.carriers - 1.0)
            several = ((units > 0).sum(0) > 1) & np.isfinite(squared)
            df = np.minimum(free, np.maximum(few, 0.5))
            variances.append((np.where(several, squared, 0.0), df))
        (between, df), (error_variance, own_df) = variances
        # Where the scorer says much, it may miss much as well.
        between = between + 2.0 * np.maximum((predictions * missed).sum(0), 0.0)
        drawing = self.drawn(gradient)
        # The errors' design effect is one half at least; of one prompt's nothing is known.
        floor = np.where(error_variance > 0, drawing / 2.0, drawing)
        alike = error_variance > floor
        rare = self.carriers < (self.totals > 0).sum(0) / 2
        errors = np.maximum(error_variance, floor)
        own_df = np.where(alike | rare, own_df, self.df)
        parts = divide(between**2, df), divide(errors**2, np.where(own_df > 0, own_df, np.nan))
        return between + errors, divide((between + errors) ** 2, np.nan_to_num(parts).sum(0))


def _possible(share: FloatArray) -> FloatArray:
    """Shares in 0–1; NaN where they lie outside by more than rounding."""
    rounded = np.where(np.abs(share) < _ROUNDING, 0.0, np.clip(share, 0.0, 1.0))
    return np.where((share > -_ROUNDING) & (share < 1 + _ROUNDING), rounded, np.nan)


def two_phase(
    everyone: Labelled, hand: Labelled, truth: tuple[FloatArray, ...], n_prompts: int
) -> TwoPhase:
    """Correct the sums of all units by those labelled by hand.

    Parameters
    ----------
    everyone
        All units as the scorer labels them; `weight` says how often each kind occurs.
    hand
        The hand-labelled ones as the scorer labels them; `weight` says how many each stands for,
        which is 1 over the probability with which it was drawn.
    truth
        The same ones as people label them, arrays as `hand.terms`.
    n_prompts
        Number of prompts.

    Examples
    --------
    Half of six units are labelled by hand; the scorer has missed one of them:

    >>> said = np.array([[1.0], [0], [0], [1], [0], [0]])
    >>> prompt, drawn = np.arange(6), np.array([0, 1, 2])
    >>> every = Labelled(prompt, np.ones(6), (said, np.ones((6, 1))))
    >>> hand = Labelled(drawn, np.full(3, 2.0), (said[drawn], np.ones((3, 1))))
    >>> found = two_phase(every, hand, (np.array([[1.0], [1], [0]]), np.ones((3, 1))), 6)
    >>> round(float(found.share[0]), 3)
    0.667
    """
    t, (n, k), weights = len(hand.terms), hand.terms[0].shape, everyone.weight[:, np.newaxis]
    fitted, errors = np.zeros((2, t, n_prompts, k))
    drawing, freedom = np.zeros((t, t, k)), np.zeros(k)
    squares, amount = (hand.weight @ hand.terms[0] ** power for power in (2, 1))
    typical = np.where(amount > 0, divide(squares, np.where(amount > 0, amount, 1.0)), 1.0)
    classes, in_class = _classes(everyone), np.stack(_classes(hand))
    expansion = np.stack([everyone.weight @ c for c in classes]) / np.maximum(in_class.sum(1), 1)
    least = PSEUDO_ERRORS * typical * expansion * np.maximum(expansion - 1.0, 0.0)
    size = np.asarray(np.bincount(everyone.prompt, everyone.weight, n_prompts), dtype=np.float64)
    by_prompt = [sums_by(everyone.prompt, n_prompts, term * weights) for term in everyone.terms]
    taught = _taught(size, by_prompt, hand, truth) if n > 1 else []
    for i in range(k):
        # What the scorer says: 1, and its own terms, of all units by prompt and of the labelled;
        # then what the labels of other units make of all that it says.
        columns = [
            (e[:, i], h[:, i]) for e, h in (*zip(by_prompt, hand.terms, strict=True), *taught)
        ]
        full, sample = (
            np.column_stack(side) for side in zip((size, np.ones(n)), *columns, strict=True)
        )
        labels = np.stack([label[:, i] for label in truth], axis=1)
        if n == 0:
            fitted[:, :, i] = full[:, 1:].T  # nobody labelled anything: what the scorer says
            continue
        sums = hand.weight @ labels
        wholes = np.where(sums[1::2] > _ROUNDING, sums[1::2], np.nan)
        per_unit = np.array([1.0, -1.0])[: t // 2] / wholes
        moves = np.stack([per_unit, -per_unit * divide(sums[::2], wholes)], axis=1)
        gradient = np.nan_to_num(moves.ravel())
        # How a share, or a difference of two, moves with each sum.
        candidates = []
        # Where the scorer's labels of a class are hardly checked, people's labels stand alone.
        sizes, guesses = [*range(0, t + 1, 2)], [*range(t + 1, sample.shape[1])]
        for rows, worth in (([*range(t + 1)], 1.0), (sizes, 1.0), (sizes + guesses, GAIN)):
            used, fit, weight, misfit, extra = _calibrated(full, sample, labels, hand.weight, rows)
            if any(fit[used.index(g), 2 * m] < 0 for m, g in enumerate(guesses) if g in used):
                continue  # what labels of others say the wrong way round says nothing
            if rows == sizes:
                by, observed, n_class = size.sum() / n, extra @ misfit[:, 0] ** 2, float(n)
                prior = PSEUDO_ERRORS * typical[i] * by * max(by - 1.0, 0.0)
            else:
                prior, observed = least[:, i], in_class[:, :, i] @ (extra * misfit[:, 0] ** 2)
                n_class = in_class[:, :, i].sum(1)
            least_unseen = np.maximum(prior - observed, 0.0)
            spread = float(extra @ (misfit @ gradient) ** 2 + least_unseen.sum() * gradient[0] ** 2)
            # The spread of (x + ½) errors among n + 1, as Jeffreys' prior has it: a class that by
            # chance shows few errors is not taken to have so few.
            shrunk = (n_class / (n_class + 1.0)) ** 2
            unseen = float(np.maximum((observed + prior) * shrunk - observed, least_unseen).sum())
            candidates.append((spread * worth, used, fit, weight, misfit, extra, unseen))
        _, used, fit, weight, misfit, extra, unseen = min(candidates, key=lambda one: one[0])
        fitted[:, :, i] = (full[:, used] @ fit).T
        missed = (misfit * weight[:, np.newaxis]).T
        errors[:, :, i] = [np.bincount(hand.prompt, e, n_prompts) for e in missed]
        drawing[:, :, i] = misfit.T @ (misfit * extra[:, np.newaxis])
        drawing[0, 0, i] += unseen
        freedom[i] = max(n - len(used), 0)
    labelled = np.bincount(hand.prompt, minlength=n_prompts).astype(np.float64)
    units = effective_number(hand.terms[1] * hand.weight[:, np.newaxis])
    return TwoPhase(fitted, errors, by_prompt[1], labelled, drawing, typical, freedom, units)


def infer_two_phase(
    sums: TwoPhase, level: float, null: FloatArray, *, over: Over = "prompts"
) -> Clustered:
    """Infer corrected shares and test them against fixed shares, shape (k,); NaN for none.

    The interval from a variance with `df` degrees of freedom, as `infer_shares`; there is none with
    one prompt, or where the correction leaves a share outside 0–1. Over these very prompts, as in
    `infer_fixed_shares`, chance is in the draw and in the texts; over these texts in the draw.
    """
    fixed = over != "prompts"
    share, total = sums.share, np.where(sums.whole.sum(0) > 0, sums.whole.sum(0), np.nan)
    # Where all that is labelled is alike, as much is said as by so many labels.
    least = 0.5 / (sums.units + 1.0)
    inner = np.clip(share, least, 1.0 - least)
    clusters, ones = sums.clusters, np.ones_like(total)
    unit = sums.drawn(sums.of_share) if over == "these texts" else sums.apart
    units = divide(inner * (1 - inner), unit)
    units = np.where(np.isfinite(units) & (units > 0), units, np.nan_to_num(total))
    evidence = Evidence(share, units, ones, 0.0 * ones, ones, ones * (1 + 1e-6))
    if not fixed:
        variance, df = sums.variance(sums.of_share)
        effect = divide(variance, sums.apart)
        usable = np.isfinite(effect) & (effect > 0) & (df > 0)
        fewest = np.min([effective_number(one.totals) for one in sums.by_way], axis=0)
        most = np.maximum(units / np.maximum(fewest, 1.0), 1.0)
        evidence = replace(
            evidence,
            effect=np.where(usable, effect, 1.0),
            df=np.where(usable, df, 0.0),
            smallest=ones * SMALLEST_EFFECT,
            tilt=ones,
            largest=most * (1 + 1e-9),
        )
    inside = (null > 0) & (null < 1)
    unbounded = np.isnan(share) | ((clusters < 2) & (not fixed))
    checks = [np.isnan(share), unbounded, ~inside]
    reason = np.select(checks, [NO_UNITS, ONE_PROMPT, NO_NULL], default="")
    low, high = (np.where(unbounded, np.nan, bound) for bound in evidence_interval(evidence, level))
    p = np.where(reason == "", evidence_p(evidence, np.where(inside, null, np.nan)), np.nan)
    return Clustered(share, low, high, p, clusters, sums.carriers, evidence.df, reason)


def infer_two_phase_contrast(
    sums: TwoPhase, level: float, form: Contrast = "difference", *, over: Over = "prompts"
) -> Clustered:
    """Infer the difference of two corrected shares or means, or their ratio, such as a lift.

    The four sums are a, n, b and m. Of a ratio r the *score* a/n − r b/m is 0, and Student's t is
    this over its standard error, from the variance over prompts, at least that of the draw; over
    these prompts from that of the draw and of independent texts, over these texts from that of the
    draw; each is at least the pooled one of both shares. A difference is the score of r = 1, so
    that both have one test; the interval of a ratio holds those that are not rejected. Units may be
    of both shares, or of one.
    """
    totals = sums.sums.sum(1)
    n, m = np.where(totals[1::2] > 0, totals[1::2], np.nan)
    upper, lower = divide(totals[0], n), divide(totals[2], m)
    spread = [np.maximum(s * (1.0 - s) * sums.typical, 0.0) for s in (upper, lower)]
    clusters, fixed = sums.clusters, over != "prompts"

    # Few units that are labelled alike by chance vary as those of both shares together do.
    a, sizes, b, lower_sizes = np.nan_to_num(sums.sums)
    influences = (a - upper * sizes) / n, (b - lower * lower_sizes) / m
    units = [np.maximum(sizes, 0.0), np.maximum(lower_sizes, 0.0)]
    pooled = pooled_part([np.nan_to_num(influence) for influence in influences], units)

    def score(ratio: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Score, standard error and degrees of freedom of ratios, shape (k,) each."""
        gradient = np.stack([1 / n, -upper / n, -ratio / m, ratio * lower / m])
        variance, df = sums.drawn(gradient), sums.df
        if not fixed:
            variance, df = sums.variance(gradient)
        elif over == "these prompts":
            variance = variance + spread[0] / n + ratio**2 * spread[1] / m
        usable = (variance > 0) & (df >= 1) & ((clusters > 1) | fixed)
        error, df = (np.where(usable, x, np.nan) for x in (np.sqrt(pooled * variance), df))
        return upper - ratio * lower, error, df

    value, error, df = score(np.ones_like(upper))
    p, null = np.asarray(2.0 * t_sf(np.abs(value) / error, df)), np.zeros_like(value)
    half = t_isf((1 - level) / 2, df) * error
    low, high = value - half, value + half
    if form == "ratio":
        value, null = divide(_possible(upper), _possible(lower)), null + 1.0

        def excess(log_ratio: FloatArray) -> FloatArray:
            flat = np.exp(log_ratio).reshape(-1, len(value))
            parts = [score(ratio) for ratio in flat]
            sizes = [np.abs(s) / e - t_isf((1 - level) / 2, d) for s, e, d in parts]
            return np.reshape(sizes, log_ratio.shape)

        low, high = nearest_rejected(excess, value)
    low, high = (np.where(np.isnan(p) | np.isnan(value), np.nan, bound) for bound in (low, high))
    checks = [np.isnan(value), (clusters < 2) & (not fixed), np.isnan(p)]
    reason = np.select(checks, [NO_UNITS, ONE_PROMPT, NO_SPREAD], default="")
    low, high = agree(low, high, null, p, level)
    carriers = effective_number(sums.totals)
    return Clustered(value, low, high, p, clusters, carriers, np.nan_to_num(df), reason)


def _calibrated(
    full: FloatArray, sample: FloatArray, labels: FloatArray, design: FloatArray, columns: list[int]
) -> tuple[list[int], FloatArray, FloatArray, FloatArray, FloatArray]:
    """Calibrate the weights of the labelled to the sums of the chosen columns over all units.

    Returns the columns that say something new of the labelled units, the labels' coefficients on
    them, the weights, what is left of the labels, and the variance of each unit's remainder.
    """
    used: list[int] = []
    for column in columns:
        # A column that repeats others, as of a scorer that always says the same, has no coefficient
        if np.linalg.matrix_rank(sample[:, [*used, column]]) > len(used):
            used.append(column)
    weighted = sample[:, used] * design[:, np.newaxis]
    moment = weighted.T @ sample[:, used]
    fit = np.asarray(np.linalg.solve(moment, weighted.T @ labels), dtype=np.float64)
    # By how much the labelled, as weighted, miss the sums of all units.
    gap = full[:, used].sum(0) - weighted.sum(0)
    weight = design * (1.0 + sample[:, used] @ np.linalg.solve(moment, gap))
    # Each labelled unit stands for others, whose errors nobody saw.
    n = len(design)
    extra = weight * np.maximum(weight - 1.0, 0.0) * n / max(n - len(used), 1)
    return used, fit, weight, labels - sample[:, used] @ fit, extra


def _taught(
    size: FloatArray, by_prompt: list[FloatArray], hand: Labelled, truth: tuple[FloatArray, ...]
) -> list[tuple[FloatArray, FloatArray]]:
    """Predict each numerator from all that the scorer says, and from the prompt, by the labels.

    Ridge regression on the scorer's terms of all k estimates, and a mean of each prompt, drawn to
    the others' as far as prompts are alike. Ten folds: no unit's own label is in its prediction
    (Zrnic & Candès 2024, Cross-prediction-powered inference). Returns for each numerator sums by
    prompt over all units, shape (n_prompts, k), and those of the sample, shape (n, k).
    """
    n = len(hand.prompt)
    weight = (hand.weight / hand.weight.mean())[:, np.newaxis]
    # Without a constant: the mean of the labels of the other folds falls where a label rises.
    sample, full = np.concatenate(hand.terms, axis=1), np.concatenate(by_prompt, axis=1)
    middle = full.sum(0) / size.sum()
    sample, full = sample - middle, full - size[:, np.newaxis] * middle
    sample, full = np.split(np.unique(np.concatenate([sample, full]), axis=1), [n])
    fold = np.argsort(np.argsort(hand.prompt, kind="stable")) % FOLDS
    predictions = []
    for column in range(0, len(truth), 2):
        label, denominator = truth[column], hand.terms[column + 1]
        total, prediction = np.zeros_like(by_prompt[column]), np.zeros_like(label)
        for number in range(min(FOLDS, n)):
            training = fold != number
            w, x, test = weight[training], sample[training], ~training
            moment = x.T @ (x * w) + np.eye(x.shape[1])
            centred = label[training] - (w * label[training]).sum(0) / w.sum()
            fit = np.linalg.solve(moment, x.T @ (centred * w))
            residuals = w * (centred - x @ fit)
            units = w * denominator[training]
            s, m = (sums_by(hand.prompt[training], len(size), sums) for sums in (residuals, units))
            # Variance between prompts, from pairs of units of one prompt; 0 where there are none.
            pairs = (m**2).sum(0) - (units**2).sum(0)
            alike = np.maximum((s**2).sum(0) - (residuals**2).sum(0), 0.0)
            alike = divide(alike, np.where(pairs > _ROUNDING, pairs, np.inf))
            spread = (residuals**2 / w).sum(0) / np.maximum(m.sum(0), _ROUNDING)
            mean = s * alike / np.maximum(m * alike + spread, _TINY)
            prediction[test] = sample[test] @ fit + denominator[test] * mean[hand.prompt[test]]
            total += (full @ fit + by_prompt[column + 1] * mean) / min(FOLDS, n)
        predictions.append((total, prediction))
    return predictions


def _classes(labels: Labelled) -> list[FloatArray]:
    """By the scorer: in the group, known and not in it, not known; parts, shape (n, k) each."""
    most = max(float(labels.terms[1].max(initial=0.0)), _TINY)
    part, total = (term / most for term in labels.terms[:2])
    return [part, np.maximum(total - part, 0.0), np.maximum(1.0 - total, 0.0)]
