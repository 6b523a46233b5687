"""Clustered inference on shares, ratios of shares, means and differences; sums that are kept.

Sums per prompt (or per pair of texts) go in; for every column a value, an interval, a p-value that
agrees with it, and the reason where there is none come out (`stats/clustered.py` has the methods).
One prompt alone says nothing about other prompts: its interval is undefined.

Sums by prompt are kept with a run, so that runs are compared without their texts.
"""

import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from types import MappingProxyType
from typing import Any, Literal, TypeVar, get_args

import numpy as np
import numpy.typing as npt

from portrayal.measure.corrected import IMPOSSIBLE, HandSums
from portrayal.measure.scope import Scope
from portrayal.measure.scored import ScoredUnits
from portrayal.records import (
    BASIS,
    BY_HAND,
    CORRECTED_BESIDE,
    EFFECTIVE,
    Estimate,
    Fixed,
    Form,
    Interval,
    Null,
    PromptScores,
    PromptSums,
    Status,
    Test,
)
from portrayal.registry import Component
from portrayal.stats import infer_differences, infer_fixed_shares, infer_means, infer_shares, wilson
from portrayal.stats.clustered import Clustered
from portrayal.stats.clustered import sums_by as sums_by  # noqa: PLC0414 (its door here)
from portrayal.stats.contrasts import Contrasts, TwoSides, infer_contrasts, too_few_prompts
from portrayal.stats.design_effect import effective_number
from portrayal.stats.tails import normal_isf
from portrayal.stats.two_phase import Over, TwoPhase, infer_two_phase, infer_two_phase_contrast
from portrayal.types import BoolArray, FloatArray, IntArray

SHARE = "clustered effective binomial over prompts, design effect averaged (mid-p)"
SHARE_TEST = "clustered effective binomial test over prompts, design effect averaged (mid-p)"
MEAN = "clustered t on the standard error over prompts, Satterthwaite degrees of freedom"
MEAN_TEST = "cluster-robust t test over prompts, Satterthwaite degrees of freedom"
CONTRAST = "inverted score test of the pooled ratio over prompts (CR2, Satterthwaite)"
CONTRAST_TEST = "score test of the pooled ratio over prompts (CR2, Satterthwaite)"
NO_CONTRAST = "ratios that the score test does not reject as 1"
HAND_SHARE = "clustered effective binomial over prompts of a post-stratified share, draws included"
HAND_CONTRAST = "score of corrected sums over prompts (Student's t), draws included"
TEST = " (test)"
NORMAL = "mean ± normal quantile × standard error, articles independent"

_NO_WIDTH = 1e-12


@dataclass(frozen=True)
class Inference(Clustered):
    """Values of many groups with clustered bounds and p-values.

    Attributes
    ----------
    method
        How each interval was made, shape (k,).
    tested
        How p was computed.
    fixed
        Bounds and p in these very prompts, (k,) each; None where they are not inferred.
    of_texts
        Bounds for these very texts, (k,) each, of what labels by hand correct.
    corrected
        The same corrected by labels by hand; None where there are none.
    """

    method: npt.NDArray[np.str_]
    tested: str
    fixed: tuple[FloatArray, FloatArray, FloatArray] | None = None
    of_texts: tuple[FloatArray, FloatArray] | None = None
    corrected: "Inference | None" = None

    def in_these_prompts(self, i: int) -> Fixed | None:
        """What is known of group `i` in these very prompts; None where it is not."""
        if self.fixed is None or any(np.isnan(bound[i]) for bound in self.fixed):
            return None
        low, high, p = (float(bound[i]) for bound in self.fixed)
        return Fixed(low, high, p)

    def interval(self, i: int, scope: Scope, cluster: str = "prompt") -> Interval | None:
        """Return the clustered interval of group `i`; None where it is undefined.

        `cluster` is what the sums are of: "prompt" or "pair".
        """
        if np.isnan(self.low[i]) or np.isnan(self.high[i]):
            return None
        method = str(self.method[i])
        return Interval(
            float(self.low[i]),
            float(self.high[i]),
            scope.level,
            # Methods are worded for prompts, but hold for pairs and sources as well.
            method.replace("prompt", cluster),
            int(self.n_clusters[i]),
        )

    def test(self, i: int, cluster: str = "prompt") -> Test:
        """Return the clustered test of group `i` (p is NaN where undefined)."""
        return Test(float(self.p[i]), self.tested.replace("prompt", cluster))

    def status(self, i: int, *, test: bool, cluster: str = "prompt") -> Status:
        """Why group `i` has no interval, or no test where one is wanted."""
        reason = str(self.reason[i]).replace("prompt", cluster) or None
        no_interval = np.isnan(self.low[i]) or np.isnan(self.high[i])
        no_test = test and np.isnan(self.p[i])
        return Status(reason if no_interval else None, reason if no_test else None)

    def effective(self, i: int) -> dict[str, float]:
        """Effective number of prompts that carry group `i`: for `details`."""
        return {EFFECTIVE: float(self.carriers[i])}


_Inferred = TypeVar("_Inferred", bound=Inference)


@dataclass(frozen=True, kw_only=True)
class Ratios(Inference):
    """Ratios of two shares, with the range of ratios that the test does not reject as 1."""

    contrasts: Contrasts

    def scores(self, i: int, clusters: Sequence[str]) -> PromptScores | None:
        """What each cluster says against ratio 1 of group `i`; None where it has no test."""
        if np.isnan(self.p[i]):
            return None
        score, within = self.contrasts.scores[:, i], float(self.contrasts.within[i])
        counted, df = score != 0.0, float(self.contrasts.df[i])
        names = tuple(compress(clusters, counted))
        return PromptScores(names, score[counted], within, len(clusters), df)

    def holding(self, value: FloatArray) -> "Ratios":
        """Return the same with other values, which lie within the intervals, or at their ends."""
        low, high = np.fmin(self.low, value), np.fmax(self.high, value)
        low, high = (np.where(np.isnan(self.low), np.nan, bound) for bound in (low, high))
        return replace(self, value=value, low=low, high=high)

    def null(self, i: int, scope: Scope) -> Null:
        """The ratios of group `i` that the test does not reject as 1."""
        low, high = float(self.contrasts.null_low[i]), float(self.contrasts.null_high[i])
        return Null(1.0, low, high, scope.level, NO_CONTRAST)


@dataclass(frozen=True, eq=False)
class GroupSums:
    """What each cluster of one stratum adds to the estimates of its groups.

    Every measure brings its units into this form, whatever they are (characters, couples, stories,
    texts, mentions, pairs); values, intervals and tests follow from it alone.

    Attributes
    ----------
    clusters
        Names of the independent units, shape (n,).
    groups
        What each column is of, shape (k,).
    upper, n_upper
        Sums and numbers of units by cluster, shape (n, k); counts where the value is a share.
    squares
        Sums of squared contributions, shape (n, k), where units count fractionally.
    lower, n_lower
        Those of the second mean of a difference, or second share of a ratio, shape (n, k).
    lower_squares
        As `squares`.
    covariance, weight
        Of the two sides, shape (n, k); see `stats.contrasts.TwoSides`.
    cluster
        What a cluster is: "prompt" or "pair".
    hand
        The same sums corrected by labels by hand; None where there are none.
    """

    clusters: Sequence[str]
    groups: Sequence[Mapping[str, str]]
    upper: FloatArray
    n_upper: FloatArray
    squares: FloatArray | None = None
    lower: FloatArray | None = None
    n_lower: FloatArray | None = None
    lower_squares: FloatArray | None = None
    covariance: FloatArray | None = None
    weight: FloatArray | None = None
    cluster: str = "prompt"
    hand: HandSums | None = None

    @classmethod
    def of(
        cls,
        units: ScoredUnits,
        names: Sequence[str],
        groups: Sequence[Mapping[str, str]],
        **options: Any,
    ) -> "GroupSums":
        """Sum scored units by cluster; `names` are those of the clusters, by code.

        `options` are further fields, such as `hand`, or the `squares` of fractional units.
        """
        clusters = [names[code] for code in units.clusters.tolist()]
        upper, n_upper, *second = units.sums()
        options |= dict(zip(("lower", "n_lower"), second, strict=False))
        return cls(clusters, groups, upper, n_upper, **options)

    @classmethod
    def of_sides(
        cls, clusters: Sequence[str], groups: Sequence[Mapping[str, str]], sides: TwoSides
    ) -> "GroupSums":
        """Return the sums of both sides of a ratio."""
        # What both sides contribute, squared, stands in one; only their sum enters.
        return cls(
            clusters,
            groups,
            upper=sides.upper,
            n_upper=sides.n_upper,
            squares=sides.squares,
            lower=sides.lower,
            n_lower=sides.n_lower,
            lower_squares=np.zeros_like(sides.lower),
            covariance=sides.covariance,
            weight=sides.weight,
        )

    def with_hand(
        self,
        naive: _Inferred,
        scope: Scope,
        form: Literal["share", "difference", "ratio"],
        scale: npt.ArrayLike = 1.0,
    ) -> _Inferred:
        """Return an inference with what labels by hand make of it, where there are any."""
        if (hand := self.hand) is None:
            return naive
        linear = {"start": hand.start, "slope": hand.slope}
        corrected = corrected_inference(
            hand.sums, scope, form, scale=scale, null=hand.null, **linear
        )
        # Whatever else is known of the clusters holds of both
        return replace(naive, corrected=replace(naive, **vars(corrected)))

    def shares_of_parts(
        self, part: IntArray, scope: Scope
    ) -> Iterator[tuple[BoolArray, "GroupSums", "Inference"]]:
        """Yield the clusters, the sums and the shares of each part; clusters are of `part`, 0 to n.

        All parts are inferred at once, with empty clusters, which add nothing, in smaller ones.
        """
        sizes, k = np.bincount(part), len(self.groups)
        raw: dict[str, Any] = {n: getattr(self, n) for n in ("upper", "n_upper", "squares")}
        # Parts side by side as further columns, so that one call infers them all.
        order = np.argsort(part, kind="stable")
        # place within its part
        row = np.arange(len(part)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        cells = np.zeros((3, sizes.max(), len(sizes), k))
        cells[:, row, part[order]] = [values[order] for values in raw.values()]
        upper, n_upper, squares = cells.reshape(3, sizes.max(), -1)
        by_part = share_inference(upper, n_upper, scope, squares=squares)
        for i in range(len(sizes)):
            rows = part == i
            names = [self.clusters[j] for j in np.flatnonzero(rows).tolist()]
            sums = replace(self, clusters=names, **{name: cell[rows] for name, cell in raw.items()})
            yield rows, sums, by_part.of(slice(i * k, (i + 1) * k))

    def shares(
        self, scope: Scope, *, scale: npt.ArrayLike = 1.0, null: npt.ArrayLike = np.nan
    ) -> "Inference":
        """Infer each group's share over `scale`, tested against `null`; see `share_inference`."""
        shares = share_inference(
            self.upper, self.n_upper, scope, scale=scale, null=null, squares=self.squares
        )
        return self.with_hand(shares, scope, "share", scale)

    @property
    def sides(self) -> TwoSides:
        """The two shares of a ratio."""
        assert self.lower is not None
        assert self.n_lower is not None
        squares = None
        if self.squares is not None and self.lower_squares is not None:
            squares = self.squares + self.lower_squares
        totals = self.upper, self.n_upper, self.lower, self.n_lower
        return TwoSides(*totals, squares, self.covariance, self.weight)

    def ratios(self, scope: Scope) -> "Ratios":
        """Infer the ratio of each group's two shares, tested against 1."""
        sides = self.sides
        contrasts = infer_contrasts(sides, scope.level)
        # Where a contrast rests on too few prompts, the reason is told in place of a test.
        reasons = [too_few_prompts(n) or "" for n in contrasts.n_prompts.tolist()]
        ratios = Ratios(
            value=contrasts.ratio,
            low=contrasts.low,
            high=contrasts.high,
            p=contrasts.p,
            n_clusters=((sides.n_upper > 0) & (sides.n_lower > 0)).sum(0),
            # Both roles carry a ratio: a group in one prompt of one role rests on that prompt
            carriers=effective_number(sides.upper + sides.lower),
            df=contrasts.df,
            reason=np.array(reasons, dtype=np.str_),
            method=np.full(len(contrasts.p), CONTRAST),
            tested=CONTRAST_TEST,
            fixed=(contrasts.fixed_low, contrasts.fixed_high, contrasts.fixed_p),
            contrasts=contrasts,
        )
        return self.with_hand(ratios, scope, "ratio")

    def differences(self, scope: Scope) -> "Inference":
        """Infer each group's mean less its second mean, tested against 0."""
        assert self.lower is not None
        assert self.n_lower is not None
        upper, lower = (self.upper, self.n_upper), (self.lower, self.n_lower)
        naive = inference(infer_differences(upper, lower, scope.level), MEAN, MEAN_TEST)
        return self.with_hand(naive, scope, "difference")

    def kept(self, form: Form, scale: npt.ArrayLike = 1.0) -> Callable[[int], PromptSums]:
        """Return the function of a group to what each cluster adds to its estimate.

        `form` and `scale` are as in `PromptSums`; the scale is one number or of shape (k,).
        """
        names, cells = tuple(self.clusters), [self.upper, self.n_upper]
        if form != "mean" and self.lower is not None and self.n_lower is not None:
            cells += [self.lower, self.n_lower]
        # Buckets hold the same prompts in every run, so that large runs can still be paired.
        if len(names) > MOST_PROMPTS:
            names, cells = _joined(names, cells)
        scales = np.broadcast_to(np.asarray(scale, dtype=np.float64), self.upper.shape[1:])

        def of_column(i: int) -> PromptSums:
            columns, labels = [cell[:, i].astype(np.float64) for cell in cells], names
            # A prompt without a unit of the group adds nothing, and would only fill files.
            some = np.any([column > 0 for column in columns[1::2]], axis=0)
            if not some.all():
                columns = [column[some] for column in columns]
                labels = tuple(names[j] for j in np.flatnonzero(some).tolist())
            a, n, *second = columns
            b, m = second or (None, None)
            return PromptSums(form, labels, a, n, b, m, float(scales[i]))

        return of_column

    def means(self, scope: Scope) -> "Inference":
        """Infer each group's mean, tested against 0; what corrects it is of two sides."""
        means = infer_means(self.upper, self.n_upper, scope.level)
        return self.with_hand(inference(means, MEAN, MEAN_TEST), scope, "difference")


def two_sides(upper: GroupSums, lower: GroupSums) -> GroupSums:
    """Join the shares of two roles, or models, of the same clusters and groups."""
    return replace(upper, lower=lower.upper, n_lower=lower.n_upper, lower_squares=lower.squares)


_WHERE = {"statistic", "strata", "n_texts", "n_units", "n_clusters"}
"""Fields that an estimate has whether it has a value or not."""
Own = Callable[[int], Mapping[str, Any]]
"""Function of a group's index to the fields of its estimate that no other estimate shares."""


def estimates_of(
    measure: Component,
    sums: GroupSums,
    result: "Inference",
    scope: Scope,
    fields_of: Own,
    *,
    tested: bool = True,
    form: Form | None = "mean",
    scale: npt.ArrayLike = 1.0,
    by_hand: Mapping[int, Estimate] = MappingProxyType({}),
    **shared: Any,
) -> Iterator[Estimate]:
    """Yield the estimate of each group of a stratum, and then those that labels by hand correct.

    Parameters
    ----------
    measure, sums, result, scope
        Whose estimates they are; the sums, what was inferred from them, and the settings.
    fields_of
        Gives a group's `undefined` (why it has no value), and what it has beside value, interval
        and clustered test: `null`, `details`, `tests` (further ones), `paper_interval`,
        `exclusions`; `interval` and `test` where another method than the sums' made them, or
        None where there is none to make; `fixed` likewise.
        Its `instruments` stand beside those of the audit. None of the fields that come of a value
        is kept where there is none.
    tested
        Whether values are tested at all.
    form
        How the value comes of the sums that are kept with the run, by which runs are compared;
        None where they are not kept.
    scale
        What the kept sums' mean is multiplied by.
    by_hand
        Estimates that labels by hand correct, by group, where `result` does not hold them.
    shared
        Fields that all groups share: `statistic`, `strata`, `n_texts`, ….
    """
    units = sums.n_upper.sum(0)
    if form == "difference" and sums.n_lower is not None:  # of two means both count
        units = units + sums.n_lower.sum(0)
    of_column = None if form is None else sums.kept(form, scale)
    scales = np.broadcast_to(np.asarray(scale, dtype=np.float64), units.shape)
    corrected = dict(by_hand)
    for i, group in enumerate(sums.groups):
        # What the measure says of this group alone, beside what all groups share.
        more = dict(fields_of(i))
        instruments = {**scope.instruments, **shared.get("instruments", {})}
        instruments |= more.pop("instruments", {})
        status: Status = shared.get("status", Status()) | more.pop("status", Status())
        fields: dict[str, Any] = {
            "group": dict(group),
            "n_units": float(units[i]),
            "n_clusters": int(result.n_clusters[i]),
            **shared,
            **{name: more.pop(name) for name in sorted(_WHERE & more.keys())},
        }
        fields["exclusions"] = {**shared.get("exclusions", {}), **more.pop("exclusions", {})}
        counts = more.pop("counts", {})
        undefined = more.pop("undefined", None)
        if sums.hand is not None and result.corrected is not None:
            of_hand = {**fields, "instruments": instruments, "status": status}
            options = {"scale": float(scales[i]), "tested": tested, "undefined": undefined}
            own_value = float(result.value[i])
            corrected[i] = corrected_estimate(
                measure, sums.hand, result.corrected, i, scope, of_hand, naive=own_value, **options
            )
        # A corrected value that is tested is the finding, so the raw one is a detail.
        if i in corrected and corrected[i].tests:
            status = Status(detail=CORRECTED_BESIDE) | status
        # Without a value there is neither interval nor test, only counts and the reason.
        if undefined is not None:
            stays = {"details": counts, "instruments": instruments, "status": status}
            yield scope.estimate(measure, value=None, undefined=undefined, **{**fields, **stays})
            continue
        lacking = result.status(i, test=tested and "test" not in more, cluster=sums.cluster)
        interval = more.pop("interval", result.interval(i, scope, sums.cluster))
        if interval is not None:
            # Another method gave an interval where the sums could not.
            lacking = replace(lacking, no_interval=None)
        first = more.pop("test", result.test(i, sums.cluster))
        yield scope.estimate(
            measure,
            value=float(result.value[i]),
            interval=interval,
            tests=((first,) if tested and first else ()) + tuple(more.pop("tests", ())),
            details={**result.effective(i), **more.pop("details", {}), **counts},
            sums=None if of_column is None else of_column(i),
            fixed=more.pop("fixed", result.in_these_prompts(i) if tested else None),
            **{**fields, **more, "instruments": instruments, "status": lacking | status},
        )
    yield from corrected.values()


def corrected_estimate(
    measure: Component,
    hand: HandSums,
    result: "Inference",
    i: int,
    scope: Scope,
    fields: Mapping[str, Any],
    *,
    naive: float,
    tested: bool = True,
    scale: float = 1.0,
    undefined: str | None = None,
) -> Estimate:
    """Return the estimate of group `i` as labels by hand correct it.

    Parameters
    ----------
    measure, scope
        Whose estimate, and the settings.
    hand, result
        The corrected sums, and what was inferred from them.
    fields
        Those of the raw estimate: `statistic`, `group`, `strata`, `n_texts`, `instruments`, ….
    i, naive
        Which group, and its raw value.
    tested
        Whether values are tested.
    scale, undefined
        One over the baseline's share, where the value is a share over it; why there is no such
        share.
    """
    value = float(result.value[i])
    details = {"n_labelled": float(hand.labelled[i]), "labelled_of_group": float(hand.carried[i])}
    # Of roles both sides count, of a difference the first.
    units = hand.sums.sums[1::2, :, i] if hand.roles else hand.sums.whole[:, i]
    common = {
        **fields,
        "strata": {**fields["strata"], BASIS: f"corrected {hand.by}"},
        # a correction can take away more than there is
        "n_units": max(float(units.sum()), 0.0),
        "n_clusters": int(result.n_clusters[i]),
        "exclusions": {},
    }
    labels = "hand_labels" if hand.by == BY_HAND else "corrected_by"
    instruments = {**fields["instruments"], labels: hand.note}
    status = fields.get("status", Status())
    # The first reason that holds: no baseline, then too few labels, then an impossible value.
    reason = (undefined if np.isnan(scale) else None) or hand.too_few(i, fields["group"])
    if reason is None and np.isnan(value):
        reason = IMPOSSIBLE
    if reason is not None:
        common |= {"instruments": instruments, "status": status}
        return scope.estimate(measure, value=None, undefined=reason, details=details, **common)
    more: dict[str, Any] = {"interval": result.interval(i, scope, hand.cluster)}
    tested = tested and bool(result.tested)
    point = 0.0 if fields["statistic"] == "difference" else 1.0
    if hand.null is not None:
        point = float(hand.null[i])
        # Of a race the ratio without a difference is not 1.
        details |= {"r0": point} if point != 1.0 and not np.isnan(point) else {}
    if tested and not np.isnan(point):
        more["null"] = Null(point, np.nan, np.nan, scope.level, "no difference")
    tested = tested and status.no_test is None
    if tested and not np.isnan(result.p[i]):
        tests = (result.test(i, hand.cluster),)
        more |= {"tests": tests, "fixed": result.in_these_prompts(i)}
    numbers: dict[str, float] = {"naive": naive, "moved": value - naive, **result.effective(i)}
    # What holds of these very texts alone stands beside what holds of prompts like these.
    if result.of_texts is not None:
        low, high = (float(bound[i]) for bound in result.of_texts)
        numbers |= {"low_here": low, "high_here": high}
    part, base = (hand.sums.sums[k::2].sum(1)[:, i] for k in (0, 1))
    if scale != 1.0:
        numbers |= {"share": value / scale, "baseline": 1.0 / scale, "count": float(part[0])}
    for role, n, of in zip(hand.roles, part, base, strict=False):
        numbers |= {f"count_{role}": float(n), f"n_{role}": float(of)}
    details |= {name: x for name, x in numbers.items() if np.isfinite(x)}
    lacking = result.status(i, test=tested, cluster=hand.cluster)
    common |= {"instruments": instruments, "status": lacking | status}
    return scope.estimate(measure, value=value, details=details, **common, **more)


def corrected_difference(
    measure: Component, hand: HandSums, i: int, scope: Scope, naive: float, **fields: Any
) -> Estimate:
    """Return difference `i` as labels by hand correct it; arguments as of `corrected_estimate`."""
    corrected = corrected_inference(hand.sums, scope, "difference", slope=hand.slope)
    fields = {"statistic": "difference", "instruments": scope.instruments, **fields}
    # The corrected one is the finding, also where the raw one is a detail beside it.
    fields["status"] = replace(fields.get("status", Status()), detail=None)
    return corrected_estimate(measure, hand, corrected, i, scope, fields, naive=naive)


def corrected_inference(
    sums: TwoPhase,
    scope: Scope,
    form: Literal["share", "difference", "ratio"] = "share",
    *,
    scale: npt.ArrayLike = 1.0,
    null: npt.ArrayLike | None = None,
    start: float = 0.0,
    slope: float = 1.0,
) -> Inference:
    """Infer what corrected sums say, also of these very prompts.

    Shares are over `scale` and tested against `null`, or 1, where that is another number;
    differences are tested against 0, ratios against 1. Values are `start` + `slope` times what the
    sums give.
    """
    by = np.broadcast_to(np.asarray(scale, dtype=np.float64), sums.df.shape)
    tested = form != "share" or bool((by != 1.0).any())
    method = HAND_SHARE if form == "share" else HAND_CONTRAST
    point = np.nan if not tested else 1.0 if null is None else np.asarray(null, dtype=np.float64)
    like_these, these, of_texts = (
        infer_two_phase(sums, scope.level, by * point, over=over)
        if form == "share"
        else infer_two_phase_contrast(sums, scope.level, form, over=over)
        # Three populations of one estimate: prompts like these, these prompts, these very texts
        for over in get_args(Over)
    )

    def bounds(result: Clustered) -> tuple[FloatArray, FloatArray]:
        most = 1.0 if form == "difference" else np.inf  # of two means in 0–1
        ends = [start + slope * np.clip(x, -most, most) / by for x in (result.low, result.high)]
        # A negative slope turns the ends around.
        return np.minimum(*ends), np.maximum(*ends)

    (low, high), value = bounds(like_these), start + slope * like_these.value / by
    on_scale = replace(like_these, value=value, low=low, high=high)
    corrected = inference(on_scale, method, method + TEST if tested else "")
    return replace(corrected, fixed=(*bounds(these), these.p), of_texts=bounds(of_texts))


def inference(result: Clustered, method: str, tested: str) -> Inference:
    """Name the methods of an inference: of its intervals, and of its tests."""
    return Inference(**vars(result), method=np.full(len(result.value), method), tested=tested)


def share_inference(
    numerator: FloatArray,
    denominator: FloatArray,
    scope: Scope,
    *,
    scale: npt.ArrayLike = 1.0,
    null: npt.ArrayLike = np.nan,
    squares: FloatArray | None = None,
) -> Inference:
    """Infer (Σ numerator / Σ denominator) / scale for each group.

    Parameters
    ----------
    numerator, denominator
        Sums per prompt, shape (n_prompts, k).
    scope
        The level.
    scale
        What shares are divided by, such as p*: one number, or shape (k,).
    null
        What the value is tested against, in its own unit; NaN for no test.
    squares
        Sums per prompt of squared contributions, for units that count fractionally.
    """
    by, tested = np.asarray(scale, dtype=np.float64), np.asarray(null, dtype=np.float64)
    # Shares are inferred before they are divided, so the null goes back to their unit.
    shares = infer_shares(numerator, denominator, scope.level, tested * by, squares)
    parts = vars(shares) | {name: getattr(shares, name) / by for name in ("value", "low", "high")}
    result = inference(Clustered(**parts), SHARE, SHARE_TEST)
    if np.isnan(tested).all():  # these very prompts are told of only where something is tested
        return result
    low, high, p = infer_fixed_shares(numerator, denominator, scope.level, tested * by, squares)
    return replace(result, fixed=(low / by, high / by, p))


def normal_interval(values: FloatArray, level: float) -> Interval | None:
    """Return the paper's interval of a mean, shape (n,); None with fewer than two values."""
    if len(values) < 2:
        return None
    half = float(normal_isf((1 - level) / 2) * values.std(ddof=1) / np.sqrt(len(values)))
    mean = float(values.mean())
    return Interval(mean - half, mean + half, level, NORMAL) if half > _NO_WIDTH else None


def wilson_interval(k: float, n: float, scope: Scope) -> Interval:
    """Return the paper's interval of a share k / n, units taken as independent."""
    low, high = (float(bound) for bound in wilson(min(k, n), n, scope.level))
    return Interval(low, high, scope.level, "Wilson")


def overall_null(share: float, n: float, scope: Scope, method: str) -> Null:
    """Return the null that `n` units have the overall share, with the range of chance around it."""
    low, high = (float(bound) for bound in wilson(share * n, n, scope.level))
    return Null(share, low, high, scope.level, method)


MOST_PROMPTS = 4096
"""With more prompts than this, they are kept in `BUCKETS`."""
BUCKETS = 512
"""Prompts are joined into so many, the same ones in every run, by their names."""
_SUFFIX = f" of {BUCKETS}"


def bucket(name: str) -> int:
    """Return the bucket of a prompt, 0 to `BUCKETS` - 1: its CRC-32 modulo `BUCKETS`.

    >>> bucket("learning-neutral-arts")
    154
    """
    if is_bucket(name):
        return int(name.removesuffix(_SUFFIX)) - 1
    # Not hash(), which every process salts anew: runs are compared by their buckets.
    return zlib.crc32(name.encode()) % BUCKETS


def is_bucket(name: str) -> bool:
    """Whether a name stands for joined prompts.

    >>> is_bucket("7 of 512"), is_bucket("learning-neutral-arts")
    (True, False)
    """
    return name.endswith(_SUFFIX) and name.removesuffix(_SUFFIX).isdigit()


def _joined(
    names: tuple[str, ...], cells: list[FloatArray]
) -> tuple[tuple[str, ...], list[FloatArray]]:
    """Add up the prompts of each bucket."""
    buckets, code = np.unique([bucket(name) for name in names], return_inverse=True)
    labels = tuple(f"{b + 1}{_SUFFIX}" for b in buckets.tolist())
    return labels, [sums_by(code, len(buckets), cell) for cell in cells]
