"""Agreement with hand labels: precision, recall and accuracy of names and genders.

A name is right when its first name equals the labelled one, casefolded. Precision divides by the
names or genders that were predicted, recall by those that were labelled; "Unspecified" and
"Unsure" predict no gender. Within a labelled gender, precision divides by the slots predicted to
have it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from portrayal.annotate.people import GENDERS, UNSPECIFIED, extract_people
from portrayal.raters.agreement import Resampling
from portrayal.raters.people.slots import Extractor, Labelled, SlotArrays, compare, label
from portrayal.reference import RACES, mena_nhpi_table, name_table, race_likelihoods
from portrayal.stats import divide, wilson
from portrayal.types import FloatArray, IntArray
from portrayal.validate import check_count, check_level, check_seed


@dataclass(frozen=True, slots=True)
class ScoreRate:
    """A share of slots.

    Attributes
    ----------
    value
        A fraction in 0–1; None where there is nothing to divide by, as `undefined` says.
    low, high
        Clustered interval; None where it is undefined, as with a single cluster.
    n
        The denominator: slots, or for races the sum of likelihoods.
    undefined
        Why there is no value.
    """

    value: float | None
    low: float | None
    high: float | None
    n: float
    undefined: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Plain values; `undefined` only where there is no value."""
        shape: dict[str, Any] = {"value": self.value, "low": self.low, "high": self.high}
        return (
            shape
            | {"n": round(self.n, 6)}
            | ({"undefined": self.undefined} if self.undefined else {})
        )


def cluster_sums(cluster: IntArray, n_clusters: int, values: FloatArray) -> FloatArray:
    """Sum the rows of `values`, shape (n, k), by cluster: shape (n_clusters, k)."""
    columns = [np.bincount(cluster, weights=v, minlength=n_clusters) for v in values.T]
    return np.stack(columns, axis=1) if columns else np.zeros((n_clusters, 0))


def rates(
    numerator: FloatArray, denominator: FloatArray, resampling: Resampling, reasons: list[str]
) -> list[ScoreRate]:
    """Return the rate of each column of sums per cluster, shapes (n_clusters, k).

    Where no cluster varies, as at 100 %, each counts as one observation and Wilson's interval of
    those is used, so that no interval is without width. `reasons` says, for each column, why it
    is undefined where the denominator is 0.
    """
    # A ratio of sums: prompts count by their slots, in the value as in the resamples
    value = divide(numerator.sum(0), denominator.sum(0))
    clusters = (denominator > 0).sum(0)
    parts = [divide(w @ numerator, w @ denominator) for w in resampling.weights(len(numerator))]
    low, high = resampling.bounds(np.concatenate(parts), clusters)
    # Where all clusters are right, or all wrong, no resample differs: Wilson's interval by
    # clusters.
    flat = ~(high - low > 1e-9) & (clusters > 1) & ~np.isnan(value)
    share = np.clip(np.where(flat, value, 0.0), 0.0, 1.0)
    wide_low, wide_high = wilson(share * clusters, clusters, resampling.level)
    low, high = np.where(flat, wide_low, low), np.where(flat, wide_high, high)
    return [
        ScoreRate(known(v), known(a), known(b), float(n), reason if np.isnan(v) else None)
        for v, a, b, n, reason in zip(value, low, high, denominator.sum(0), reasons, strict=True)
    ]


def known(value: float) -> float | None:
    """Return `value` as a number; None for NaN."""
    return None if np.isnan(value) else float(value)


FEWEST = 30.0
"""Slots, as a sum of likelihoods, below which a race is left out of the gap."""
SHUFFLES = 200


@dataclass(frozen=True, slots=True)
class RaceGap:
    """The highest share of wrong genders of any race of names over the lowest.

    Attributes
    ----------
    value
        The ratio, at least 1; None where it is undefined.
    low, high
        Clustered interval; None where prompts do not vary. A highest over a lowest is above 1 by
        chance alone: read it beside `by_chance`.
    by_chance
        The upper end of the central `level` of the ratio with names dealt again among the slots.
    highest, lowest
        Races with the highest and the lowest share of errors.
    errors
        Share of slots with a wrong gender by race, a fraction in 0–1.
    left_out
        Races with fewer than 30 slots.
    undefined
        Why there is no value.
    """

    value: float | None
    low: float | None
    high: float | None
    by_chance: float | None
    highest: str
    lowest: str
    errors: dict[str, float]
    left_out: tuple[str, ...]
    undefined: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return {name: getattr(self, name) for name in self.__slots__}


def race_shares(slots: SlotArrays, table: str) -> FloatArray:
    """Return the shares of each slot's labelled name by race, shape (n_slots, n_races).

    NaN where the name is in no table or there is none.
    """
    names = sorted({name for name in slots.gold_name if name is not None})
    shares = np.full((len(slots), len(RACES)), np.nan)
    if names:
        likelihoods = race_likelihoods(names, name_table(table), mena_nhpi_table())
        code = {name: i for i, name in enumerate(names)}
        rows = np.flatnonzero(slots.has_gold_name)
        # By the labelled name, so that a wrong prediction changes no race
        shares[rows] = likelihoods[[code[slots.gold_name[i] or ""] for i in rows.tolist()]]
    return shares


def race_gap(slots: SlotArrays, shares: FloatArray, resampling: Resampling) -> RaceGap:
    """Return how far gender errors lie apart between races of names; `shares` by `race_shares`."""
    # A slot counts for each race by the share of its name's bearers, without a match for none.
    weights = np.nan_to_num(shares)
    enough = weights.sum(0) >= FEWEST if len(slots) else np.zeros(len(RACES), dtype=bool)
    used = [race for race, keep in zip(RACES, enough, strict=True) if keep]
    left_out = tuple(race for race in RACES if race not in used)
    if len(used) < 2:
        reason = f"fewer than two races of names have {FEWEST:.0f} slots"
        return RaceGap(None, None, None, None, "", "", {}, left_out, reason)
    weights = weights[:, enough]
    wrong = (~slots.same_gender).astype(np.float64)[:, np.newaxis]
    errors = divide((weights * wrong).sum(0), weights.sum(0))
    lowest, *_, highest = (used[i] for i in np.argsort(errors))
    by_race = dict(zip(used, errors.tolist(), strict=True))
    if not errors.min() > 0:
        reason = f"no gender is wrong where names are of {lowest} bearers"
        return RaceGap(None, None, None, None, highest, lowest, by_race, left_out, reason)
    part = cluster_sums(slots.cluster, slots.n_clusters, weights * wrong)
    pooled = cluster_sums(slots.cluster, slots.n_clusters, weights)
    blocks = [divide(w @ part, w @ pooled) for w in resampling.weights(slots.n_clusters)]
    draws = np.concatenate([divide(block.max(-1), block.min(-1)) for block in blocks])
    low, high = resampling.bounds(draws[:, np.newaxis], np.array([int((pooled.sum(1) > 0).sum())]))
    if not high[0] - low[0] > 1e-9:
        low[0] = high[0] = np.nan
    # By chance: the names that are matched are exchanged among their slots.
    rng, has_share = np.random.default_rng(resampling.seed), weights.sum(1) > 0
    weights, wrong = weights[has_share], wrong[has_share, 0]
    null = (rng.permutation(wrong) @ weights / weights.sum(0) for _ in range(SHUFFLES))
    gaps = [float(divide(shares_wrong.max(), shares_wrong.min())) for shares_wrong in null]
    return RaceGap(
        value=float(divide(errors.max(), errors.min())),
        low=known(low[0]),
        high=known(high[0]),
        by_chance=float(np.quantile(gaps, (1 + resampling.level) / 2)),
        highest=highest,
        lowest=lowest,
        errors=by_race,
        left_out=left_out,
    )


COVERAGES = (1.0, 0.95, 0.9, 0.8, 0.7, 0.5)
"""Shares of slots that are kept, the most confident first."""
BINS = 10
_DRAWS = 400  # of the area, which costs a sum over all confidences in each
_CELLS = 2_000_000  # clusters × confidences held at a time


@dataclass(frozen=True, slots=True)
class Bin:
    """Slots with a confidence inside [low, high): how confident, and how often right."""

    low: float
    high: float
    confidence: float
    right: ScoreRate


@dataclass(frozen=True, slots=True)
class Selective:
    """One of "name", "gender" and "joint", by its confidence.

    Attributes
    ----------
    at
        Coverage → accuracy of the most confident slots. Slots of equal confidence at the boundary
        are kept in part.
    area
        Area under the risk–coverage curve: 0 is best, the overall share of errors is no use.
    bins
        Reliability: confidence and accuracy in ten bins of equal width; empty ones are left out.
    calibration_error
        Mean distance of accuracy from confidence over slots; None where there is no slot.
    """

    at: dict[float, ScoreRate]
    area: ScoreRate
    bins: tuple[Bin, ...]
    calibration_error: float | None

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "accuracy_at_coverage": {f"{c:g}": rate.as_json() for c, rate in self.at.items()},
            "area_under_risk_coverage": self.area.as_json(),
            "calibration_error": self.calibration_error,
            "reliability": [
                {
                    "from": part.low,
                    "to": part.high,
                    "confidence": part.confidence,
                    "accuracy": part.right.as_json(),
                }
                for part in self.bins
            ],
        }


def selective(slots: SlotArrays, resampling: Resampling) -> dict[str, Selective]:
    """Return "name", "gender" and "joint", each by its own confidence."""
    parts = {
        "name": (slots.same_name, slots.name_confidence),
        "gender": (slots.same_gender, slots.gender_confidence),
        "joint": (slots.same_name & slots.same_gender, slots.confidence),
    }
    return {
        name: _selective(slots, right.astype(np.float64), confidence, resampling)
        for name, (right, confidence) in parts.items()
    }


def _selective(
    slots: SlotArrays, right: FloatArray, confidence: FloatArray, resampling: Resampling
) -> Selective:
    if not len(slots):
        nothing = ScoreRate(None, None, None, 0.0, "no story is labelled")
        return Selective(dict.fromkeys(COVERAGES, nothing), nothing, (), None)
    # Accuracy of the most confident, then by bins of confidence
    weights = np.stack([kept(confidence, c) for c in COVERAGES], axis=1)
    points = _rates(slots, weights, right, resampling)
    edges = np.linspace(0.0, 1.0, BINS + 1)
    place = np.clip(np.digitize(confidence, edges) - 1, 0, BINS - 1)
    filled = [b for b in range(BINS) if (place == b).any()]
    inside = np.stack([place == b for b in filled], axis=1).astype(np.float64)
    bins = tuple(
        Bin(float(edges[b]), float(edges[b + 1]), float(confidence[place == b].mean()), rate)
        for b, rate in zip(filled, _rates(slots, inside, right, resampling), strict=True)
    )
    # Expected calibration error, over bins of equal width.
    error = sum(b.right.n * abs((b.right.value or 0.0) - b.confidence) for b in bins) / len(slots)
    return Selective(
        dict(zip(COVERAGES, points, strict=True)),
        _area(slots, right, confidence, resampling),
        bins,
        error,
    )


def kept(confidence: FloatArray, coverage: float) -> FloatArray:
    """Weight of each slot when the share `coverage` is kept, shape (n,), summing to n · coverage.

    Slots tied at the boundary get the same fraction.
    """
    n_kept = coverage * len(confidence)
    threshold = np.sort(confidence)[::-1][max(int(np.ceil(n_kept - 1e-9)) - 1, 0)]
    above, tied = confidence > threshold, confidence == threshold
    part = (n_kept - above.sum()) / tied.sum()
    return np.asarray(above + np.clip(part, 0.0, 1.0) * tied, dtype=np.float64)


def _rates(
    slots: SlotArrays, weights: FloatArray, right: FloatArray, resampling: Resampling
) -> list[ScoreRate]:
    part = cluster_sums(slots.cluster, slots.n_clusters, weights * right[:, np.newaxis])
    total = cluster_sums(slots.cluster, slots.n_clusters, weights)
    return rates(part, total, resampling, ["no slot is kept"] * weights.shape[1])


def _area(
    slots: SlotArrays, right: FloatArray, confidence: FloatArray, resampling: Resampling
) -> ScoreRate:
    """Area under the risk–coverage curve; slots of equal confidence are kept together.

    So are those of neighbouring confidences, where there are too many to hold them all.
    """
    # Negative, so that the surest come first.
    levels, level = np.unique(-confidence, return_inverse=True)
    most = max(_CELLS // slots.n_clusters, 20)
    if len(levels) > most:
        # Neighbouring levels are joined, as the table of clusters by level must fit into memory.
        level = level * most // len(levels)
    k = min(len(levels), most)
    flat = slots.cluster * k + level
    size = slots.n_clusters * k
    number = np.bincount(flat, minlength=size).reshape(-1, k).astype(np.float64)
    wrong = np.bincount(flat, weights=1.0 - right, minlength=size).reshape(-1, k)

    def area(weights: FloatArray) -> FloatArray:
        n, errors = weights @ number, weights @ wrong
        risk = divide(errors.cumsum(-1), n.cumsum(-1))
        return divide(np.nansum(n * risk, axis=-1), n.sum(-1))

    value = float(area(np.ones((1, slots.n_clusters)))[0])
    draws = np.concatenate(
        [area(w) for w in resampling.weights(slots.n_clusters, draws=min(resampling.draws, _DRAWS))]
    )
    low, high = resampling.bounds(draws[:, np.newaxis], np.array([slots.n_clusters]))
    return ScoreRate(value, known(low[0]), known(high[0]), float(len(slots)))


STATISTICS = (
    *("name_precision", "name_recall", "name_accuracy"),
    *("gender_precision", "gender_recall", "gender_accuracy", "joint_accuracy"),
)
"""What is scored; accuracies count "no name" and "Unspecified" as values that can be right."""


@dataclass(frozen=True, slots=True)
class PeopleScore:
    """Agreement over a set of slots.

    Attributes
    ----------
    n_slots
        Characters compared; within a race, the sum of likelihoods.
    n_clusters, cluster_unit
        What is resampled for intervals: "prompt", "pair of roles" or "story".
    rates
        Each of `STATISTICS` with its interval.
    by
        The same per stratum: attribute → value → score. Attributes: domain, model, condition, role
        (subject or object), gender (as labelled; non-binary is always there) and race (of the
        labelled name's bearers).
    selective
        What is right among the most confident: "name", "gender", "joint"; empty within strata.
    race_gap
        How far gender errors lie apart between races of names; None within strata.
    """

    n_slots: float
    n_clusters: int
    cluster_unit: str
    rates: Mapping[str, ScoreRate]
    by: Mapping[str, Mapping[str, "PeopleScore"]]
    selective: Mapping[str, Selective]
    race_gap: RaceGap | None

    def value(self, statistic: str) -> float | None:
        """Return one of `STATISTICS` as a fraction in 0–1; None where it is undefined."""
        return self.rates[statistic].value

    @property
    def absent(self) -> tuple[str, ...]:
        """Attributes that no labelled story has, so that there is no breakdown by them."""
        return tuple(attribute for attribute, scores in self.by.items() if not scores)

    def as_json(self) -> dict[str, Any]:
        """Plain dictionaries; `by`, `selective` and `race_gap` at the top alone."""
        shape: dict[str, Any] = {
            "n_slots": round(self.n_slots, 6),
            "n_clusters": self.n_clusters,
            **{name: rate.as_json() for name, rate in self.rates.items()},
        }
        if self.race_gap is None:
            return shape
        return shape | {
            "cluster_unit": self.cluster_unit,
            "by": {
                attribute: {value: score.as_json() for value, score in scores.items()}
                for attribute, scores in self.by.items()
                if scores
            },
            "left_out": list(self.absent),
            "selective": {name: part.as_json() for name, part in self.selective.items()},
            "race_gap": self.race_gap.as_json(),
        }


def score_people(
    rows: Iterable[Mapping[str, Any]],
    extractor: Extractor = extract_people,
    *,
    people: Sequence[Labelled] | None = None,
    level: float = 0.95,
    draws: int = 2000,
    seed: int = 0,
    name_table: str = "census-2020",
) -> PeopleScore:
    """Score `extractor` against labelled stories.

    Parameters
    ----------
    rows
        Stories with the keys `text`, `subject_role`, `object_role`, `gold_subject_name`,
        `gold_subject_gender`, `gold_object_name` and `gold_object_gender`, as
        `read_gold` yields them; `prompt_id` (or `prompt`), `domain`, `model`
        and `condition` may be missing. A missing `gold_object_gender` means that there is no
        object.
    extractor
        Any callable with the signature of `extract_people`.
    people
        Labels that were made already, one for each row, in place of an extractor's.
    level, draws, seed
        Confidence level, replicates of the cluster bootstrap, and start of the random stream.
    name_table
        Whose race shares weight the slots by race of the labelled name.

    Raises
    ------
    OptionError, DataError
        For a level, seed or number of draws that cannot be used, or labels of other stories.
    """
    check_level(level)
    check_seed(seed)
    check_count("draws", draws, minimum=100)
    stories = list(rows)
    slots = compare(stories, label(stories, extractor) if people is None else people)
    resampling = Resampling(level, draws, seed)
    shares = race_shares(slots, name_table)
    groups, scores = _scores(slots, shares, resampling)
    by: dict[str, dict[str, PeopleScore]] = {"domain": {}, "model": {}, "condition": {}}
    for (attribute, value), score in zip(groups[1:], scores[1:], strict=True):
        by.setdefault(attribute, {})[value] = score
    gap = race_gap(slots, shares, resampling)
    return replace(scores[0], by=by, selective=selective(slots, resampling), race_gap=gap)


def _scores(
    slots: SlotArrays, shares: FloatArray, resampling: Resampling
) -> tuple[list[tuple[str, str]], list[PeopleScore]]:
    """Attribute and value of each group, the first of all slots, and its score."""
    groups = [("", "all")]
    # The weight of each slot in a group: as labelled, and as predicted, which differ for genders.
    member, predicted = [np.ones(len(slots))], [np.ones(len(slots))]
    for attribute, values in slots.strata.items():
        for value in sorted({value for value in values if value is not None}):
            groups.append((attribute, value))
            member.append(np.array([v == value for v in values], dtype=np.float64))
            predicted.append(member[-1])
    for gender in (*GENDERS, UNSPECIFIED):
        groups.append(("gender", gender))
        member.append((slots.gold_gender == gender).astype(np.float64))
        predicted.append((slots.gender == gender).astype(np.float64))
    groups += [("race", race) for race in RACES]
    weights = [np.nan_to_num(column) for column in shares.T]
    by_label, by_prediction = (np.stack([*part, *weights], 1) for part in (member, predicted))
    unit = slots.cluster_unit
    if not len(slots):
        nothing = {
            name: ScoreRate(None, None, None, 0.0, "no story is labelled") for name in STATISTICS
        }
        return groups, [PeopleScore(0.0, 0, unit, nothing, {}, {}, None) for _ in groups]
    everyone = np.ones(len(slots), dtype=bool)
    right_name = slots.same_name & slots.has_name
    right_gender = slots.same_gender & slots.has_gender
    # What each slot adds to numerator and denominator.
    cells = {
        "name_precision": (right_name, slots.has_name),
        "name_recall": (right_name, slots.has_gold_name),
        "name_accuracy": (slots.same_name, everyone),
        "gender_precision": (right_gender, slots.has_gender),
        "gender_recall": (right_gender, slots.gold_gender != UNSPECIFIED),
        "gender_accuracy": (slots.same_gender, everyone),
        "joint_accuracy": (slots.same_name & slots.same_gender, everyone),
    }
    columns: dict[str, list[ScoreRate]] = {}
    for name, parts in cells.items():
        # Precision of a gender is of the slots predicted to have it, all else of those labelled
        weight = by_prediction if name == "gender_precision" else by_label
        numerator, denominator = (
            cluster_sums(slots.cluster, slots.n_clusters, weight * part[:, np.newaxis])
            for part in parts
        )
        part_name, _, statistic = name.partition("_")
        conditions = {"accuracy": "slot is labelled", "precision": f"{part_name} is predicted"}
        reason = f"no {conditions.get(statistic, f'{part_name} is labelled')}"
        reasons = [reason if value == "all" else f"{reason} in {value}" for _, value in groups]
        columns[name] = rates(numerator, denominator, resampling, reasons)
    n_clusters = (cluster_sums(slots.cluster, slots.n_clusters, by_label) > 0).sum(0)
    return groups, [
        PeopleScore(
            float(by_label[:, i].sum()),
            int(n_clusters[i]),
            unit,
            {name: column[i] for name, column in columns.items()},
            {},
            {},
            None,
        )
        for i in range(len(groups))
    ]
