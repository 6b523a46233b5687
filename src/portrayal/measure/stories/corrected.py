"""Corrected shares: estimates from hand labels of a random sample, clustered by prompt.

What the annotator's labels of all texts add to numerator and denominator of a share is corrected by
the errors of the hand-labelled characters, in three classes by the annotator's label (post-
stratification, `stats/two_phase.py`): among those it puts into the group, those it does not, and
those it cannot tell. The inference has both the spread between prompts and that of drawing the
hand-labelled texts.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from portrayal.measure.clustered import (
    TEST,
    Sums,
    corrected_inference,
    inference,
    ratio_inference,
    share_inference,
)
from portrayal.measure.corrected import IMPOSSIBLE, labelled_texts, too_few
from portrayal.measure.scope import Scope
from portrayal.measure.stories.representation import REPRESENTATION
from portrayal.measure.stories.strata import Features, Stratum, group_features, prompt_sums, strata
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
from portrayal.raters import HandTable
from portrayal.raters.labels import SLOTS
from portrayal.raters.people import people_of
from portrayal.records import Estimate, Null, Status
from portrayal.reference import Baseline
from portrayal.reference.groups import no_share
from portrayal.registry import Component
from portrayal.run.directory import Run
from portrayal.run.reading import read_chosen
from portrayal.run.stages import Stage
from portrayal.stats.design_effect import effective_number
from portrayal.stats.two_phase import Labelled, TwoPhase, infer_two_phase_ratio, two_phase
from portrayal.types import FloatArray, IntArray

RATIO = "clustered effective binomial over prompts of post-stratified odds, draws included"
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
    note
        Who labelled how many texts, for instruments and reports.
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
    note: str = ""

    def features(self, *, gold: bool, crossed: bool) -> Features:
        """What each character adds to the sums of a measure, as people or annotator label it."""
        name, gender = (self.gold_name, self.gold_gender) if gold else (self.name, self.gender)
        return group_features(self.tally, name, gender, crossed=crossed)


def hand_sample(
    run: Run, annotations: Stage, table: HandTable, tally: Tally, likelihoods: Likelihoods
) -> HandSample:
    """Set hand labels beside the annotator's.

    Parameters
    ----------
    run, annotations
        A run and the stage of its people annotations.
    table
        Hand labels of people of texts that were drawn from this run.
    tally, likelihoods
        The run's tally, and what made its shares by race.

    Raises
    ------
    DataError
        When the labels are of other texts.
    """
    people = people_of(table)
    places = labelled_texts(run, table, f"{SLOTS[0]}_gender", ["prompt_id", "model"])
    names = {row["text_id"]: name for name, row in places.items()}
    n_texts = run.texts.note().get("outcomes", {}).get("ok", 0)
    rows = []
    for read in read_chosen(annotations.parts(), _COLUMNS, names):
        # an annotation that failed counts nowhere, so nor do its labels
        if read["error"] is not None:
            continue
        name = names[read["text_id"]]
        place = places[name]["prompt_id"], places[name]["model"]
        for slot in SLOTS:
            if gold := people.get((name, slot)):
                weight = table.weights(f"{slot}_gender", [(name, "")], n_texts / len(names))[0]
                guess = read[f"{slot}_name"], read[f"{slot}_gender"]
                rows.append((*place, slot, weight, *guess, *gold))
    n, raters = len(names), len(table.raters[f"{SLOTS[0]}_gender"])
    labeller = f"{raters} raters" if raters > 1 else "one rater, whose errors nobody can see"
    note = f"people of {n} texts labelled by {labeller}"
    return replace(_coded(rows, tally, likelihoods), note=note)


def _coded(rows: list[tuple[Any, ...]], tally: Tally, likelihoods: Likelihoods) -> HandSample:
    prompts = {prompt: i for i, prompt in enumerate(tally.prompt_ids)}
    models = {model: i for i, model in enumerate(tally.models)}
    names = {name.casefold(): i for i, name in enumerate(tally.names)}
    genders = {gender: i for i, gender in enumerate(GENDER_CODES)}
    # Names that only people found are in no row of the tally; their codes come after its own.
    added = sorted({row[6] for row in rows if row[6] and row[6].casefold() not in names})
    for name in added:
        names.setdefault(name.casefold(), len(names))
    new = [name for i, name in enumerate(added) if names[name.casefold()] == len(tally.names) + i]
    # The last row is that of characters without a name (code -1), so new names go before it.
    shares = [tally.likelihood[:-1], *([likelihoods(new)] if new else []), tally.likelihood[-1:]]
    wider = replace(tally, names=(*tally.names, *new), likelihood=np.concatenate(shares), cache={})
    laden = tally.prompt_laden

    def name_of(name: str | None) -> int:
        return names.get((name or "").casefold(), NO_SLOT)

    def role_of(prompt: int, slot: str) -> int:
        # Power-laden prompts name the one with power first.
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
    return HandSample(wider, prompt, model, role, weight, name, gender, gold_name, gold_gender)


CORRECTION = "Angelopoulos, Duchi & Zrnic 2023, PPI++; Särndal, Swensson & Wretman 1992, chapter 9"


@dataclass(frozen=True)
class Corrected:
    """One role of a stratum.

    Attributes
    ----------
    naive
        Numerators and denominators per prompt, as the annotator labels all texts.
    sums
        The corrected ones.
    carried
        Of each hand-labelled character the larger of both labels, shape (n, k).
    """

    naive: Sums
    sums: TwoPhase
    carried: FloatArray


def corrected_representation(
    tally: Tally, scope: Scope, *, baseline: Baseline, hand_sample: HandSample
) -> Iterator[Estimate]:
    """Yield the corrected representation ratio of each race and gender in power-neutral stories.

    Parameters
    ----------
    tally, scope
        Annotated stories and the audit's settings.
    baseline
        The comparison distribution p*.
    hand_sample
        Hand-labelled characters.
    """
    measures = CORRECTED_REPRESENTATION, REPRESENTATION.name
    yield from _corrected(measures, (NEUTRAL,), baseline, tally, scope, hand_sample)


def corrected_subordination(
    tally: Tally, scope: Scope, *, hand_sample: HandSample
) -> Iterator[Estimate]:
    """Yield the corrected subordination ratio by race, by gender, and by both together.

    Parameters
    ----------
    tally, scope
        Annotated stories and the audit's settings.
    hand_sample
        Hand-labelled characters.
    """
    measures = CORRECTED_SUBORDINATION, SUBORDINATION.name
    yield from _corrected(measures, (SUBORDINATE, DOMINANT), None, tally, scope, hand_sample)


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
        hand.features(gold=False, crossed=crossed),
        hand.features(gold=True, crossed=crossed),
    )
    groups = features[0].groups
    by_hand = {**scope.instruments, "hand_labels": hand.note}
    scale = np.ones(len(groups))
    if baseline is not None:
        scale = np.array(baseline.shares(groups))
    for stratum in strata(tally, laden=NEUTRAL not in roles):
        sides = [corrected_sums(characters, hand, stratum, role, features) for role in roles]
        if baseline is None:
            upper, lower = sides
            ratio = infer_two_phase_ratio(upper.sums, lower.sums, scope.level)
            corrected = inference(ratio, RATIO, RATIO + TEST)
            naive = ratio_inference(upper.naive, lower.naive, scope)
        else:
            corrected = corrected_inference(sides[0].sums, scope, scale=scale)
            naive = share_inference(*sides[0].naive, scope, scale=scale)
        carried = effective_number(np.concatenate([side.carried for side in sides]))
        # Each role needs labels enough: many of one role say nothing of the other
        labelled = {
            f"{ROLES[role]} character": len(s.carried) for role, s in zip(roles, sides, strict=True)
        }
        for i, group in enumerate(groups):
            value, reason = float(corrected.value[i]), too_few(labelled, group, float(carried[i]))
            if baseline is not None and np.isnan(scale[i]):
                reason = no_share(baseline.name, group)
            if reason is None and np.isnan(value):
                reason = IMPOSSIBLE
            details = {"naive": float(naive.value[i]), "labelled_of_group": float(carried[i])}
            details |= {f"n_labelled_{role.split()[0]}": float(n) for role, n in labelled.items()}
            if (before := naive.interval(i, scope)) is not None:
                details |= {"naive_low": before.low, "naive_high": before.high}
            bounds = corrected.interval(i, scope)
            fields: dict[str, Any] = {"interval": bounds, "tests": (corrected.test(i),)}
            yield scope.estimate(
                measure,
                value=None if reason else value,
                null=Null(1.0, np.nan, np.nan, scope.level, "no difference"),
                statistic="ratio",
                strata=stratum.labels,
                group=dict(group),
                n_texts=stratum.n_texts,
                # Where much was misread a corrected number of people can fall below 0.
                n_units=max(sum(float(s.sums.whole[:, i].sum()) for s in sides), 0.0),
                n_clusters=int(corrected.n_clusters[i]),
                exclusions=stratum.exclusions,
                details={key: number for key, number in details.items() if np.isfinite(number)},
                undefined=reason,
                instruments={**by_hand, "corrects": naive_name},
                status=Status() if reason else corrected.status(i, test=True),
                **({} if reason else fields),
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
        Of all characters and of the hand-labelled ones as the annotator labels them, and of the
        latter as people do.
    """
    inside = stratum.has(characters.prompt, characters.model) & (characters.role == role)
    hand_rows = stratum.has(hand.prompt, hand.model) & (hand.role == role)
    everyone, guess, gold = features
    numerator = prompt_sums(characters, stratum, role, everyone.numerator)
    denominator = prompt_sums(characters, stratum, role, everyone.denominator)
    population, labelled = (
        Labelled(
            np.searchsorted(stratum.prompts, prompt[mask]),
            weight[mask].astype(np.float64),
            (values.numerator[mask], values.denominator[mask]),
        )
        for prompt, weight, values, mask in (
            (characters.prompt, characters.count, everyone, inside),
            (hand.prompt, hand.weight, guess, hand_rows),
        )
    )
    truth = gold.numerator[hand_rows], gold.denominator[hand_rows]
    sums = two_phase(population, labelled, truth, len(stratum.prompts))
    # By either label, as the error may lie in missing the group or in seeing it
    carried = np.maximum(gold.numerator[hand_rows], guess.numerator[hand_rows])
    return Corrected((numerator, denominator), sums, carried)


_EQUATION = (
    "Σ_c N_c (mean of f(x̂) + mean error of class c) for each sum Σ f: c what the annotator says of "
    "the group (yes, no, unknown), x̂ its label, error f(x) - f(x̂) over the hand-labelled of c"
)

CORRECTED_REPRESENTATION = Component(
    name="corrected_representation.v2",
    summary="The representation ratio, corrected by hand labels for the annotator's errors.",
    reads="people of power-neutral stories; hand labels of a random sample; a name table; p*",
    unit="character",
    range="0 to 1/p*; 1 is the population's share",
    undefined_when="fewer than 20 characters, or nobody of the group, are labelled by hand, or p* "
    "has no share",
    equation=f"R_rep with {_EQUATION}",
    source=f"Shieh et al. 2025, Eq. 1–2; {CORRECTION}",
    run=corrected_representation,
    title="Representation ratio, corrected by hand labels",
    reading="Above 1: more often than in the baseline, the errors of labelling allowed for.",
    findings=0,
    figure="dots",
    listed=False,
)


CORRECTED_SUBORDINATION = Component(
    name="corrected_subordination.v2",
    summary="The subordination ratio, corrected by hand labels for the annotator's errors.",
    reads="people of power-laden stories; hand labels of a random sample; a name table",
    unit="character",
    range="0 and up; 1 is neutral, above 1 is subordinated",
    undefined_when="fewer than 20 characters of a role, or nobody of the group, are labelled by "
    "hand; inf where the group is never dominant",
    equation=f"R_sub with {_EQUATION}",
    source=f"Shieh et al. 2025, Eq. 3; {CORRECTION}",
    run=corrected_subordination,
    title="Subordination ratio, corrected by hand labels",
    reading="Above 1: more often subordinate than dominant, the errors of labelling allowed for.",
    findings=0,
    figure="dots",
    listed=False,
)
