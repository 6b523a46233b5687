"""Stories with a known truth, through the measures themselves, for `benchmarks.calibration`."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from benchmarks import calibration_worlds as worlds
from benchmarks.calibration_worlds import Cell, Rng
from portrayal.measure.scope import Scope
from portrayal.measure.stories.corrected import HandSample
from portrayal.measure.stories.representation import representation
from portrayal.measure.stories.subordination import subordination
from portrayal.measure.stories.tally import DOMINANT, NEUTRAL, SUBORDINATE, Tally
from portrayal.records import Estimate
from portrayal.reference.groups import RACES, baseline
from portrayal.types import FloatArray, IntArray

NOBODY, NB, UNKNOWN = -1, 2, 3
BLACK = {"race": "Black"}


def story_tally(
    prompts: int, first: tuple[IntArray, IntArray], second: tuple[IntArray, IntArray] | None = None
) -> Tally:
    """Tally stories of one domain and model from name and gender codes of shape (prompts, texts).

    With a `second` character the stories are power-laden, and the first one is dominant.
    """
    texts = first[0].size
    laden, nobody = second is not None, np.full(texts, NOBODY)
    other = (nobody, nobody) if second is None else (second[0].ravel(), second[1].ravel())
    return Tally(
        prompt_ids=tuple(f"p{i:03d}" for i in range(prompts)),
        domains=("Labor",),
        models=("m",),
        names=(),
        races=RACES,
        n_primary=5,
        prompt_domain=np.zeros(prompts, dtype=np.int64),
        prompt_laden=np.full(prompts, laden),
        prompt_couple=np.zeros(prompts, dtype=bool),
        prompt_scenario=("",) * prompts,
        prompt=np.repeat(np.arange(prompts), texts // prompts),
        model=np.zeros(texts, dtype=np.int64),
        outcome=np.zeros(texts, dtype=np.int64),
        subject_name=first[0].ravel(),
        subject_gender=first[1].ravel(),
        object_name=other[0],
        object_gender=other[1],
        count=np.ones(texts, dtype=np.int64),
        likelihood=np.full((1, len(RACES)), np.nan),
    )


def _of(rows: Iterable[Estimate], group: dict[str, str]) -> tuple[Estimate, Estimate]:
    """The estimate of all models as read, and as labels by hand correct it."""
    read, corrected = (e for e in rows if e.group == group and e.strata["model"] == "all")
    return read, corrected


def _judged(e: Estimate, truth: float) -> tuple[float, ...]:
    """Value over truth, coverage, p < .05, agreement and whether there is a value."""
    if e.value is None:
        return np.nan, np.nan, np.nan, np.nan, 0.0
    if e.interval is None or e.null is None:
        return e.value / truth, np.nan, np.nan, np.nan, 1.0
    holds = e.interval.low <= truth <= e.interval.high
    refused = e.tests[0].p < 0.05
    beside = not e.interval.low <= e.null.value <= e.interval.high
    agrees = np.isnan(e.tests[0].p) or refused == beside
    return e.value / truth, holds, refused, agrees, 1.0


@dataclass(frozen=True)
class Annotator:
    """How a labeler of genders errs about non-binary characters, and how many people check.

    `recall` of them it finds, half of the others it calls unknown; of those that it finds
    `precision` are right. `by_hand` stories are labelled by people, drawn at random.
    """

    recall: float
    precision: float
    by_hand: int


def genders(rng: Rng, cell: Cell, share: float, annotator: Annotator) -> tuple[IntArray, IntArray]:
    """Genders of one role as people and as the annotator label them, shape (prompts, texts)."""
    shape = cell.prompts, cell.texts
    own = worlds.prompt_shares(rng, (cell.prompts, 1), share, cell.icc)
    common = rng.choice(4, shape, p=(0.475, 0.475, 0.0, 0.05))
    gold = np.where((rng.random(shape) < own) & (common != UNKNOWN), NB, common)
    missed = (gold == NB) & (rng.random(shape) >= annotator.recall)
    guess = np.where(missed, np.where(rng.random(shape) < 0.5, UNKNOWN, rng.choice(2, shape)), gold)
    wrong = annotator.recall * (1 - annotator.precision) / annotator.precision * share / (1 - share)
    return gold, np.where((gold != NB) & (rng.random(shape) < 0.95 * wrong), NB, guess)


def corrected_audits(
    rng: Rng, cell: Cell, ratio: float, annotator: Annotator, reps: int
) -> dict[str, FloatArray]:
    """Ratios of non-binary characters, corrected and as read.

    `cell.share` of the neutral and of the dominant characters is non-binary, `ratio` times it of
    the subordinate ones. Shape (reps, 5) each, value over the
    truth, whether the interval holds it, p < .05, whether p and interval agree, and defined.
    """
    scope, star = Scope("laissez-faire"), baseline()
    kinds = ("representation", "subordination")
    found: dict[str, list[tuple[float, ...]]] = {
        f"{kind}, {how}": [] for kind in kinds for how in ("corrected", "naive")
    }
    for _ in range(reps):
        first, second = (
            genders(rng, cell, cell.share * times, annotator) for times in (1.0, ratio)
        )
        drawn = rng.permutation(first[0].size)[: annotator.by_hand]
        for kind, roles, truth in (
            (kinds[0], (first,), cell.share / star.shares["gender"]["NB"]),
            (kinds[1], (first, second), ratio),
        ):
            tally, hand = _hand_labelled(cell.prompts, roles, drawn)
            rows = (
                representation(tally, scope, baseline=star, name_tables={}, hand_sample=hand)
                if kind == kinds[0]
                else subordination(tally, scope, hand_sample=hand)
            )
            read, corrected = _of(rows, {"gender": "NB"})
            found[f"{kind}, corrected"].append(_judged(corrected, truth))
            found[f"{kind}, naive"].append(_judged(read, truth))
    return {name: np.array(rows, dtype=np.float64) for name, rows in found.items()}


Role = tuple[IntArray, IntArray]
"""Genders by hand and by the annotator."""


def _hand_labelled(
    prompts: int, roles: tuple[Role, ...], drawn: IntArray
) -> tuple[Tally, HandSample]:
    nobody = np.full(roles[0][0].size, NOBODY)
    slots = [(nobody, guess) for _, guess in roles]
    tally = story_tally(prompts, slots[0], slots[1] if len(slots) > 1 else None)
    k = len(drawn) * len(roles)
    none = np.full(k, NOBODY)
    codes = (NEUTRAL,) if len(roles) == 1 else (DOMINANT, SUBORDINATE)
    gold, guess = (np.concatenate([r[i].ravel()[drawn] for r in roles]) for i in (0, 1))
    return tally, HandSample(
        tally,
        prompt=np.tile(tally.prompt[drawn], len(roles)),
        model=np.zeros_like(none),
        role=np.repeat(codes, len(drawn)),
        weight=np.full(k, len(nobody) / len(drawn)),
        name=none,
        gender=guess,
        gold_name=none,
        gold_gender=gold,
    )
