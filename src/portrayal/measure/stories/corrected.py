"""Corrected shares: prediction-powered estimates from hand labels, clustered by prompt.

For every prompt, sum what the annotator's labels of all texts add to numerator and denominator of
a share, and add the weighted errors of the hand-labelled texts (λ = 1 in Angelopoulos et al. 2023,
which draws no tuning from few prompts). The sums hold without error on average, whatever the
annotator's errors are, because texts were drawn at random with known probabilities; prompts are
then resampled, sums and errors together, so that the interval has both the spread between prompts
and that of drawing the hand-labelled texts.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from portrayal.errors import DataError
from portrayal.measure.clustered import (
    Inference,
    Sums,
    infer,
    ratio_inference,
    share_inference,
    sums_by,
)
from portrayal.measure.scope import Scope
from portrayal.measure.stories.representation import REPRESENTATION
from portrayal.measure.stories.strata import (
    Features,
    Stratum,
    group_features,
    prompt_sums,
    strata,
)
from portrayal.measure.stories.subordination import SUBORDINATION
from portrayal.measure.stories.tally import (
    DOMINANT,
    GENDER_CODES,
    NEUTRAL,
    NO_SLOT,
    ROLES,
    SUBORDINATE,
    Characters,
    Likelihoods,
    Tally,
)
from portrayal.raters.people import HandLabel, Sheet
from portrayal.records import Estimate, Null, Test
from portrayal.reference import Baseline
from portrayal.registry import Component
from portrayal.run.directory import Run
from portrayal.run.reading import read_chosen
from portrayal.run.stages import Stage
from portrayal.stats import cluster_weights, divide, score_ratio_interval, wilson
from portrayal.types import BoolArray, FloatArray, IntArray

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
PREDICTION_POWERED = "Angelopoulos et al. 2023, Prediction-powered inference, Eq. 1"

IMPOSSIBLE = (
    "after the correction a share lies outside 0–1, or the dominant one is 0: too few hand labels "
    "for so rare a group"
)

FEWEST = 20
"""Hand-labelled characters of each role below which nothing is corrected."""

_ROUNDING = 1e-9


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
    if hand is not None:
        measures = CORRECTED_REPRESENTATION, REPRESENTATION.name
        yield from _corrected(measures, (NEUTRAL,), baseline, tally, scope, hand)


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
    if hand is not None:
        measures = CORRECTED_SUBORDINATION, SUBORDINATION.name
        yield from _corrected(measures, (SUBORDINATE, DOMINANT), None, tally, scope, hand)


def _corrected(
    measures: tuple[Component, str],
    roles: tuple[int, ...],
    baseline: Baseline | None,
    tally: Tally,
    scope: Scope,
    hand: HandSample,
) -> Iterator[Estimate]:
    """Estimates of the share of one role over p*, or the ratio of two roles' shares.

    `measures` are the corrected one, and the name of the one that it corrects.
    """
    measure, naive_name = measures
    characters, crossed = tally.characters, baseline is None
    features = (
        group_features(tally, characters.name, characters.gender, crossed=crossed),
        hand.features(gold=True, crossed=crossed),
        hand.features(gold=False, crossed=crossed),
    )
    groups = features[0].groups
    scale = np.ones(len(groups))
    if baseline is not None:
        shares = {**baseline.race, **baseline.gender}
        scale = np.array([shares.get(next(iter(group.values())), np.nan) for group in groups])
    for stratum in strata(tally, laden=NEUTRAL not in roles):
        sides = [corrected_sums(characters, hand, stratum, role, features) for role in roles]
        where = stratum.domain, stratum.model
        sums = [side.sums for side in sides]
        found = corrected_inference(sums, scale, scope, scope.rng(measure.name, *where))
        naive = (
            share_inference(*sides[0].naive, scope, scale=scale)
            if len(sides) == 1
            else ratio_inference(sides[0].naive, sides[1].naive, scope)
        )
        labelled = {ROLES[role]: s.n_labelled for role, s in zip(roles, sides, strict=True)}
        for i, group in enumerate(groups):
            reason = too_few(labelled)
            if baseline is not None and np.isnan(scale[i]):
                reason = (
                    f"the baseline {baseline.name} gives no share for {' '.join(group.values())}"
                )
            n_units = sum(float(whole[:, i].sum()) for _, whole in sums)
            common: dict[str, Any] = {
                "statistic": "ratio",
                "strata": stratum.labels,
                "group": dict(group),
                "n_texts": stratum.n_texts,
                "n_units": max(n_units, 0.0),
                "exclusions": stratum.exclusions,
                "instruments": {**scope.instruments, "corrects": naive_name},
            }
            yield _estimate(measure, (found, naive, i), labelled, reason, scope, common)


def _estimate(
    measure: Component,
    inference: tuple[Inference, Inference, int],
    labelled: Mapping[str, int],
    reason: str | None,
    scope: Scope,
    common: Mapping[str, Any],
) -> Estimate:
    """The estimate of one group, from corrected and naive inference and the group's index."""
    found, naive, i = inference
    value = float(found.value[i])
    if reason is None and not np.isfinite(value):
        reason = IMPOSSIBLE
    bounds = None if reason else found.interval(i, scope)
    before = naive.interval(i, scope)
    details = {"naive": float(naive.value[i])}
    if before is not None:
        details |= {"naive_low": before.low, "naive_high": before.high}
    details |= {f"n_labelled_{role}": float(n) for role, n in labelled.items()}
    return scope.estimate(
        measure,
        value=None if reason else value,
        interval=bounds
        and replace(bounds, method=METHOD if bounds.seed is not None else bounds.method),
        null=Null(1.0, np.nan, np.nan, scope.level, "no difference"),
        tests=() if reason else (Test(float(found.p[i]), ROBUST_T),),
        n_clusters=int(found.n_clusters[i]),
        details={key: number for key, number in details.items() if np.isfinite(number)},
        undefined=reason,
        **common,
    )


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


def corrected_inference(
    sides: Sequence[Sums], scale: FloatArray, scope: Scope, rng: np.random.Generator
) -> Inference:
    """Infer a share over `scale`, or the ratio of the shares of two sides, for each group.

    Shares that cannot be, as the correction takes a sum below 0 or above its whole, are NaN. Where
    no prompt varies, each prompt counts as one observation, as in the naive estimate.
    """
    shares = [_share(part.sum(0), whole.sum(0)) for part, whole in sides]
    clusters = np.all([whole != 0 for _, whole in sides], axis=0).sum(0)
    weights = cluster_weights(len(sides[0][0]), scope.draws, rng).astype(np.float64)
    draws = [_clipped(weights, side) for side in sides]
    influence = [_influence(side).T for side in sides]

    def flat_bounds(flat: BoolArray) -> Sums:
        size = np.where(flat, clusters, 1)
        counts = [np.nan_to_num(share) * size for share in shares]
        if len(sides) == 2:
            return score_ratio_interval(counts[0], size, counts[1], size, scope.level)
        low, high = wilson(counts[0], size, scope.level)
        return low / scale, high / scale

    if len(sides) == 2:
        value, drawn, moved = divide(*shares), divide(*draws), influence[0] - influence[1]
    else:
        value, drawn, moved = shares[0] / scale, draws[0] / scale, influence[0]
    return infer(value, drawn, moved, clusters, scope.level, flat_bounds)


def too_few(labelled: Mapping[str, int]) -> str | None:
    """Return why nothing can be corrected; None where there are hand labels enough."""
    for role, n in labelled.items():
        if n < FEWEST:
            return (
                f"{n} {role} characters are labelled by hand here, and a correction needs "
                f"{FEWEST} or more"
            )
    return None


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


def _influence(sums: Sums) -> FloatArray:
    """Influence of each prompt on the log share, shape (n_prompts, k); sums may be below 0."""
    part, whole = (divide(s, np.where(s.sum(0) > 0, s.sum(0), np.nan)) for s in sums)
    return np.asarray(part - whole)


CORRECTED_REPRESENTATION = Component(
    name="corrected_representation.v1",
    summary="The representation ratio, corrected by hand labels for the annotator's errors.",
    reads="people of power-neutral stories; hand labels of a random sample; a name table; p*",
    unit="character",
    range="0 to 1/p*; 1 is the population's share",
    undefined_when="fewer than 20 characters are labelled by hand, the corrected denominator is 0 "
    "or less, or p* has no share",
    equation="R_rep with Σ f(x̂) + Σ w (f(x) - f(x̂)) for each sum: x̂ the annotator's label, x the "
    "hand label, w the texts a labelled one stands for",
    source=f"Shieh et al. 2025, Eq. 1–2; {PREDICTION_POWERED}",
    run=corrected_representation,
    title="Representation ratio, corrected by hand labels",
    reading="Above 1: more often than in the baseline, the errors of labelling allowed for.",
    findings=0,
    figure="corrected-representation",
    listed=False,
)


CORRECTED_SUBORDINATION = Component(
    name="corrected_subordination.v1",
    summary="The subordination ratio, corrected by hand labels for the annotator's errors.",
    reads="people of power-laden stories; hand labels of a random sample; a name table",
    unit="character",
    range="0 and up; 1 is neutral, above 1 is subordinated",
    undefined_when="fewer than 20 characters of a role are labelled by hand, or a corrected "
    "denominator, or the count of the group in the dominant role, is 0 or less",
    equation="R_sub with Σ f(x̂) + Σ w (f(x) - f(x̂)) for each sum: x̂ the annotator's label, x the "
    "hand label, w the texts a labelled one stands for",
    source=f"Shieh et al. 2025, Eq. 3; {PREDICTION_POWERED}",
    run=corrected_subordination,
    title="Subordination ratio, corrected by hand labels",
    reading="Above 1: more often subordinate than dominant, the errors of labelling allowed for.",
    findings=0,
    figure="corrected-subordination",
    listed=False,
)
