"""Corrected shares: prediction-powered estimates from hand labels, clustered by prompt.

For every prompt, sum what the annotator's labels of all texts add to numerator and denominator of
a share, and add the weighted errors of the hand-labelled texts (λ = 1 in Angelopoulos et al. 2023,
which draws no tuning from few prompts). The sums hold without error on average, whatever the
annotator's errors are, because texts were drawn at random with known probabilities; prompts are
then resampled, sums and errors together, so that the interval has both the spread between prompts
and that of drawing the hand-labelled texts.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from portrayal.errors import DataError
from portrayal.measure.clustered import Inference, has_width, ratio_inference, share_inference
from portrayal.measure.features import Features, group_features, sums_by
from portrayal.measure.scope import Scope
from portrayal.measure.stories.representation import REPRESENTATION_NAME
from portrayal.measure.stories.subordination import NAME as SUBORDINATION_NAME
from portrayal.measure.stories.tally import (
    DOMINANT,
    GENDER_CODES,
    NEUTRAL,
    NO_SLOT,
    SUBORDINATE,
    Characters,
    Tally,
)
from portrayal.measure.strata import Stratum, prompt_sums, strata
from portrayal.raters.people import HandLabel, Sheet
from portrayal.records import Estimate, Null, Test
from portrayal.reference import Baseline
from portrayal.registry import Component
from portrayal.run.directory import Run
from portrayal.run.reading import read_chosen
from portrayal.run.stages import Stage
from portrayal.stats import (
    cluster_robust_t,
    cluster_weights,
    divide,
    expanded_percentile,
    score_ratio_interval,
    wilson,
)
from portrayal.types import FloatArray, IntArray

Likelihoods = Callable[[Sequence[str]], FloatArray]

_COLUMNS = ["text_id", "subject_name", "subject_gender", "object_name", "object_gender", "error"]


@dataclass(frozen=True)
class HandSample:
    """Characters of the hand-labelled texts.

    Attributes
    ----------
    tally
        The run's tally, with the names that only people found added to it.
    prompt, model, role, weight
        Shape (n,): codes as in the tally, and how many texts of the run each one's text stands for.
    name, gender, gold_name, gold_gender
        Shape (n,): codes as the annotator and as people label them.
    n_texts
        Hand-labelled texts.
    """

    tally: Tally
    prompt: IntArray
    model: IntArray
    role: IntArray
    weight: FloatArray
    name: IntArray
    gender: IntArray
    gold_name: IntArray
    gold_gender: IntArray
    n_texts: int

    def features(self, *, gold: bool, crossed: bool) -> Features:
        """What each character adds to the sums of a measure, as people or annotator label it."""
        name, gender = (self.gold_name, self.gold_gender) if gold else (self.name, self.gender)
        return group_features(self.tally, name, gender, crossed=crossed)

    def inside(self, stratum: Stratum, role: int) -> Any:
        """Which characters lie in a stratum and have a role, shape (n,)."""
        return stratum.has(self.prompt, self.model) & (self.role == role)

    def errors(self, stratum: Stratum, role: int, values: FloatArray) -> FloatArray:
        """Sum weighted `values`, shape (n, k), per prompt of the stratum: (n_prompts, k)."""
        inside = self.inside(stratum, role)
        code = np.searchsorted(stratum.prompts, self.prompt[inside])
        weighted = values[inside] * self.weight[inside, np.newaxis]
        return sums_by(code, len(stratum.prompts), weighted)


def hand_sample(
    run: Run, annotations: Stage, sheet: Sheet, tally: Tally, likelihoods: Likelihoods
) -> HandSample:
    """Set hand labels beside the annotator's.

    Parameters
    ----------
    run, annotations
        A run and the stage of its people annotations.
    sheet
        Hand labels of texts that were drawn from this run.
    tally, likelihoods
        The run's tally, and what made its shares by race.

    Raises
    ------
    DataError
        When the sheet is of other texts, or a stratum of it has no labelled text.
    """
    _check(run, sheet)
    wanted = {label.text_id: label for label in sheet.labels}
    places = _places(run, wanted)
    unknown = wanted.keys() - places.keys()
    if unknown:
        raise DataError(
            f"{sheet.path}: row {wanted[min(unknown)].row}: this run has no text {min(unknown)!r}; "
            "hand labels correct the run that their sheet was drawn from."
        )
    rows = []
    for text_id, found in _annotated(annotations, wanted).items():
        label = wanted[text_id]
        weight = sheet.weights[label.stratum]
        for slot, said in (("subject", label.subject), ("object", label.object)):
            if said is not None:
                guess = found[f"{slot}_name"], found[f"{slot}_gender"]
                rows.append((*places[text_id], slot, weight, *guess, *said))
    return _coded(rows, tally, likelihoods, len(wanted))


def _check(run: Run, sheet: Sheet) -> None:
    if not sheet.labels:
        raise DataError(f"{sheet.path}: no row is filled in, so there is nothing to correct by.")
    if sheet.unlabelled_strata:
        raise DataError(
            f"{sheet.path}: no text of the stratum {sheet.unlabelled_strata[0]!r} is labelled, so "
            "nothing is known of the errors there. Label at least one text of every stratum."
        )
    readable = run.texts.note().get("outcomes", {}).get("ok")
    drawn_from = sum(sheet.stratum_sizes.values())
    if readable is not None and readable != drawn_from:
        raise DataError(
            f"{sheet.path} was drawn from {drawn_from:,} readable texts, but this run has "
            f"{readable:,}. Draw a new sheet with `portrayal label sheet`."
        )


def _places(run: Run, wanted: Mapping[str, HandLabel]) -> dict[str, tuple[str, str]]:
    """Prompt and model of each wanted text that the run has."""
    found = {}
    for row in read_chosen(run.texts.parts(), ["text_id", "prompt_id", "model"], wanted):
        found[row["text_id"]] = (row["prompt_id"], row["model"])
    return found


def _annotated(stage: Stage, wanted: Mapping[str, HandLabel]) -> dict[str, dict[str, Any]]:
    """Return the annotator's label of each wanted text that it did not fail on."""
    rows = read_chosen(stage.parts(), _COLUMNS, wanted)
    return {row["text_id"]: row for row in rows if row["error"] is None}


def _coded(
    rows: list[tuple[Any, ...]], tally: Tally, likelihoods: Likelihoods, n_texts: int
) -> HandSample:
    prompts = {prompt: i for i, prompt in enumerate(tally.prompt_ids)}
    models = {model: i for i, model in enumerate(tally.models)}
    names = {name.casefold(): i for i, name in enumerate(tally.names)}
    genders = {gender: i for i, gender in enumerate(GENDER_CODES)}
    added = sorted({row[6] for row in rows if row[6] and row[6].casefold() not in names})
    for name in added:
        names.setdefault(name.casefold(), len(names))
    kept = [name for i, name in enumerate(added) if names[name.casefold()] == len(tally.names) + i]
    shares = [tally.likelihood[:-1], *([likelihoods(kept)] if kept else []), tally.likelihood[-1:]]
    wider = replace(tally, names=(*tally.names, *kept), likelihood=np.concatenate(shares), cache={})
    laden = tally.prompt_laden

    def name_of(name: str | None) -> int:
        return names.get((name or "").casefold(), NO_SLOT)

    def role_of(prompt: int, slot: str) -> int:
        return (DOMINANT if slot == "subject" else SUBORDINATE) if laden[prompt] else NEUTRAL

    coded = [
        (
            prompts[prompt],
            models[model],
            role_of(prompts[prompt], slot),
            name_of(name),
            genders.get(gender, NO_SLOT),
            name_of(gold_name),
            genders[gold_gender],
        )
        for prompt, model, slot, _, name, gender, gold_name, gold_gender in rows
    ]
    columns = np.array(coded, dtype=np.int64).reshape(-1, 7).T
    weight = np.array([row[3] for row in rows], dtype=np.float64)
    prompt, model, role, name, gender, gold_name, gold_gender = columns
    return HandSample(
        wider, prompt, model, role, weight, name, gender, gold_name, gold_gender, n_texts
    )


METHOD = "prediction-powered, cluster bootstrap over prompts (expanded percentile)"
ROBUST_T = "cluster-robust t test of the corrected ratio on the log scale"
CORRECTED_SOURCE = "Angelopoulos et al. 2023, Prediction-powered inference, Eq. 1"

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


CORRECTED_REPRESENTATION_NAME = "corrected_representation.v1"
CORRECTED_REPRESENTATION_SOURCE = f"Shieh et al. 2025, Eq. 1–2; {CORRECTED_SOURCE}"


def corrected_representation(
    tally: Tally, scope: Scope, *, baseline: Baseline, hand: HandSample | None = None
) -> Iterator[Estimate]:
    """Yield the corrected representation ratio of each race and gender in power-neutral stories.

    Parameters
    ----------
    tally, scope
        Annotated stories and the audit's settings.
    baseline
        The comparison distribution p*.
    hand
        Hand-labelled characters; nothing is yielded where None.
    """
    if hand is None:
        return
    characters = tally.characters
    features = (
        group_features(tally, characters.name, characters.gender, crossed=False),
        hand.features(gold=True, crossed=False),
        hand.features(gold=False, crossed=False),
    )
    groups = features[0].groups
    shares = {**baseline.race, **baseline.gender}
    labels = [next(iter(group.values())) for group in groups]
    starred = np.array([shares.get(label, np.nan) for label in labels])
    measure = CorrectedMeasure(
        CORRECTED_REPRESENTATION_NAME, CORRECTED_REPRESENTATION_SOURCE, scope, REPRESENTATION_NAME
    )
    for stratum in strata(tally, laden=False):
        found = corrected_sums(characters, hand, stratum, NEUTRAL, features)
        corrected = infer(
            found.sums,
            None,
            starred,
            scope,
            scope.rng(CORRECTED_REPRESENTATION_NAME, stratum.domain, stratum.model),
        )
        naive = share_inference(
            *found.naive,
            starred,
            scope,
            scope.rng(REPRESENTATION_NAME, stratum.domain, stratum.model),
        )
        labelled = {"neutral": found.n_labelled}
        for i, group in enumerate(groups):
            reason = too_few(labelled)
            if np.isnan(starred[i]):
                reason = f"the baseline {baseline.name} gives no share for {labels[i]}"
            n = float(found.sums[1][:, i].sum())
            yield measure.estimate(stratum, group, (corrected, naive, i), n, labelled, reason)


CORRECTED_REPRESENTATION = Component(
    name=CORRECTED_REPRESENTATION_NAME,
    summary="The representation ratio, corrected by hand labels for the annotator's errors.",
    reads="people of power-neutral stories; hand labels of a random sample; a name table; p*",
    unit="character",
    range="0 to 1/p*; 1 is the population's share",
    undefined_when="fewer than 20 characters are labelled by hand, the corrected denominator is 0 "
    "or less, or p* has no share",
    equation="R_rep with Σ f(x̂) + Σ w (f(x) - f(x̂)) for each sum: x̂ the annotator's label, x the "
    "hand label, w the texts a labelled one stands for",
    source=CORRECTED_REPRESENTATION_SOURCE,
    run=corrected_representation,
    title="Representation ratio, corrected by hand labels",
    reading="Above 1: more often than in the baseline, the errors of labelling allowed for.",
    findings=0,
    figure="corrected-representation",
    listed=False,
)


NAME = "corrected_subordination.v1"
SOURCE = f"Shieh et al. 2025, Eq. 3; {CORRECTED_SOURCE}"


def corrected_subordination(
    tally: Tally, scope: Scope, *, hand: HandSample | None = None
) -> Iterator[Estimate]:
    """Yield the corrected subordination ratio by race, by gender, and by both together.

    Parameters
    ----------
    tally, scope
        Annotated stories and the audit's settings.
    hand
        Hand-labelled characters; nothing is yielded where None.
    """
    if hand is None:
        return
    characters = tally.characters
    features = (
        group_features(tally, characters.name, characters.gender, crossed=True),
        hand.features(gold=True, crossed=True),
        hand.features(gold=False, crossed=True),
    )
    groups = features[0].groups
    one = np.ones(len(groups))
    measure = CorrectedMeasure(NAME, SOURCE, scope, SUBORDINATION_NAME)
    for stratum in strata(tally, laden=True):
        lesser, greater = (
            corrected_sums(characters, hand, stratum, role, features)
            for role in (SUBORDINATE, DOMINANT)
        )
        corrected = infer(
            lesser.sums, greater.sums, one, scope, scope.rng(NAME, stratum.domain, stratum.model)
        )
        naive = ratio_inference(
            lesser.naive,
            greater.naive,
            scope,
            scope.rng(SUBORDINATION_NAME, stratum.domain, stratum.model),
        )
        labelled = {"subordinate": lesser.n_labelled, "dominant": greater.n_labelled}
        for i, group in enumerate(groups):
            n = float(lesser.sums[1][:, i].sum() + greater.sums[1][:, i].sum())
            yield measure.estimate(
                stratum, group, (corrected, naive, i), n, labelled, too_few(labelled)
            )


CORRECTED_SUBORDINATION = Component(
    name=NAME,
    summary="The subordination ratio, corrected by hand labels for the annotator's errors.",
    reads="people of power-laden stories; hand labels of a random sample; a name table",
    unit="character",
    range="0 and up; 1 is neutral, above 1 is subordinated",
    undefined_when="fewer than 20 characters of a role are labelled by hand, or a corrected "
    "denominator, or the count of the group in the dominant role, is 0 or less",
    equation="R_sub with Σ f(x̂) + Σ w (f(x) - f(x̂)) for each sum: x̂ the annotator's label, x the "
    "hand label, w the texts a labelled one stands for",
    source=SOURCE,
    run=corrected_subordination,
    title="Subordination ratio, corrected by hand labels",
    reading="Above 1: more often subordinate than dominant, the errors of labelling allowed for.",
    findings=0,
    figure="corrected-subordination",
    listed=False,
)
