"""Agreement with hand labels: precision, recall and accuracy of names and genders.

A name is right when its first name equals the labelled one, casefolded. Precision divides by the
names or genders that were predicted, recall by those that were labelled; "Unspecified" and
"Unsure" predict no gender. Within a labelled gender, precision divides by the slots predicted to
have it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from portrayal.annotate.people import GENDERS, UNSPECIFIED, extract_people
from portrayal.raters.agreement import Resampling
from portrayal.raters.people.slots import Extractor, Labelled, Slots, compare, label
from portrayal.reference import RACES, mena_nhpi_table, name_table, race_likelihoods
from portrayal.stats import divide, wilson
from portrayal.types import FloatArray, IntArray
from portrayal.validate import check_count, check_level, check_seed


@dataclass(frozen=True, slots=True)
class Rate:
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
        shape: dict[str, Any] = {
            "value": self.value,
            "low": self.low,
            "high": self.high,
            "n": round(self.n, 6),
        }
        return shape | ({"undefined": self.undefined} if self.undefined else {})


def cluster_sums(cluster: IntArray, n_clusters: int, values: FloatArray) -> FloatArray:
    """Sum the rows of `values`, shape (n, k), by cluster: shape (n_clusters, k)."""
    columns = [np.bincount(cluster, weights=v, minlength=n_clusters) for v in values.T]
    return np.stack(columns, axis=1) if columns else np.zeros((n_clusters, 0))


def rates(
    numerator: FloatArray, denominator: FloatArray, how: Resampling, reasons: list[str]
) -> list[Rate]:
    """Return the rate of each column of sums per cluster, shapes (n_clusters, k).

    Where no cluster varies, as at 100 %, each counts as one observation and Wilson's interval of
    those is used, so that no interval is without width. `reasons` says, for each column, why it
    is undefined where the denominator is 0.
    """
    value = divide(numerator.sum(0), denominator.sum(0))
    clusters = (denominator > 0).sum(0)
    parts = [divide(w @ numerator, w @ denominator) for w in how.weights(len(numerator))]
    low, high = how.bounds(np.concatenate(parts), clusters)
    flat = ~(high - low > 1e-9) & (clusters > 1) & ~np.isnan(value)
    share = np.clip(np.where(flat, value, 0.0), 0.0, 1.0)
    wide_low, wide_high = wilson(share * clusters, clusters, how.level)
    low, high = np.where(flat, wide_low, low), np.where(flat, wide_high, high)
    return [
        Rate(known(v), known(a), known(b), float(n), reason if np.isnan(v) else None)
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


def race_shares(slots: Slots, table: str) -> tuple[tuple[str, ...], FloatArray]:
    """Return races, and the shares of each slot's labelled name, shape (n_slots, n_races).

    NaN where the name is in no table or there is none.
    """
    names = sorted({name for name in slots.gold_name if name is not None})
    shares = np.full((len(slots), len(RACES)), np.nan)
    if names:
        found = race_likelihoods(names, name_table(table), mena_nhpi_table())
        code = {name: i for i, name in enumerate(names)}
        named = np.flatnonzero(slots.has_gold_name)
        shares[named] = found[[code[slots.gold_name[i] or ""] for i in named.tolist()]]
    return RACES, shares


def race_gap(slots: Slots, races: tuple[str, ...], shares: FloatArray, how: Resampling) -> RaceGap:
    """Return how far gender errors lie apart between races of names."""
    weights = np.nan_to_num(shares)
    enough = weights.sum(0) >= FEWEST if len(slots) else np.zeros(len(races), dtype=bool)
    used = [race for race, keep in zip(races, enough, strict=True) if keep]
    left_out = tuple(race for race in races if race not in used)
    if len(used) < 2:
        reason = f"fewer than two races of names have {FEWEST:.0f} slots"
        return RaceGap(None, None, None, None, "", "", {}, left_out, reason)
    weights = weights[:, enough]
    wrong = (~slots.same_gender).astype(np.float64)[:, np.newaxis]
    errors = divide((weights * wrong).sum(0), weights.sum(0))
    ordered = [used[i] for i in np.argsort(errors)]
    by_race = dict(zip(used, errors.tolist(), strict=True))
    if not errors.min() > 0:
        reason = f"no gender is wrong where names are of {ordered[0]} bearers"
        return RaceGap(None, None, None, None, ordered[-1], ordered[0], by_race, left_out, reason)
    part = cluster_sums(slots.cluster, slots.n_clusters, weights * wrong)
    whole = cluster_sums(slots.cluster, slots.n_clusters, weights)
    draws = np.concatenate(
        [_gap(divide(w @ part, w @ whole)) for w in how.weights(slots.n_clusters)]
    )
    low, high = how.bounds(draws[:, np.newaxis], np.array([int((whole.sum(1) > 0).sum())]))
    if not high[0] - low[0] > 1e-9:
        low[0] = high[0] = np.nan
    return RaceGap(
        value=float(_gap(errors)),
        low=known(low[0]),
        high=known(high[0]),
        by_chance=_by_chance(weights, wrong[:, 0], how),
        highest=ordered[-1],
        lowest=ordered[0],
        errors=by_race,
        left_out=left_out,
    )


def _gap(errors: FloatArray) -> FloatArray:
    return divide(errors.max(-1), errors.min(-1))


def _by_chance(weights: FloatArray, wrong: FloatArray, how: Resampling) -> float:
    """Deal the names that are matched again among their slots; return the upper end of the gap."""
    rng = np.random.default_rng(how.seed)
    named = weights.sum(1) > 0
    weights, wrong = weights[named], wrong[named]
    gaps = [_gap(rng.permutation(wrong) @ weights / weights.sum(0)) for _ in range(SHUFFLES)]
    return float(np.quantile(gaps, (1 + how.level) / 2))


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
    right: Rate


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

    at: dict[float, Rate]
    area: Rate
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


def selective(slots: Slots, how: Resampling) -> dict[str, Selective]:
    """Return "name", "gender" and "joint", each by its own confidence."""
    name, gender = slots.name_confidence, slots.gender_confidence
    same = slots.same_name, slots.same_gender
    return {
        "name": _selective(slots, same[0].astype(np.float64), name, how),
        "gender": _selective(slots, same[1].astype(np.float64), gender, how),
        "joint": _selective(slots, (same[0] & same[1]).astype(np.float64), slots.confidence, how),
    }


def _selective(
    slots: Slots, right: FloatArray, confidence: FloatArray, how: Resampling
) -> Selective:
    if not len(slots):
        nothing = Rate(None, None, None, 0.0, "no story is labelled")
        return Selective(dict.fromkeys(COVERAGES, nothing), nothing, (), None)
    weights = np.stack([kept(confidence, c) for c in COVERAGES], axis=1)
    at = _rates(slots, weights, right, how)
    edges = np.linspace(0.0, 1.0, BINS + 1)
    place = np.clip(np.digitize(confidence, edges) - 1, 0, BINS - 1)
    filled = [b for b in range(BINS) if (place == b).any()]
    inside = np.stack([place == b for b in filled], axis=1).astype(np.float64)
    bins = tuple(
        Bin(float(edges[b]), float(edges[b + 1]), float(confidence[place == b].mean()), rate)
        for b, rate in zip(filled, _rates(slots, inside, right, how), strict=True)
    )
    error = sum(b.right.n * abs((b.right.value or 0.0) - b.confidence) for b in bins) / len(slots)
    return Selective(
        dict(zip(COVERAGES, at, strict=True)), _area(slots, right, confidence, how), bins, error
    )


def kept(confidence: FloatArray, coverage: float) -> FloatArray:
    """Weight of each slot when the share `coverage` is kept, shape (n,), summing to n · coverage.

    Slots tied at the boundary get the same fraction.
    """
    wanted = coverage * len(confidence)
    threshold = np.sort(confidence)[::-1][max(int(np.ceil(wanted - 1e-9)) - 1, 0)]
    above, tied = confidence > threshold, confidence == threshold
    part = (wanted - above.sum()) / tied.sum()
    return np.asarray(above + np.clip(part, 0.0, 1.0) * tied, dtype=np.float64)


def _rates(slots: Slots, weights: FloatArray, right: FloatArray, how: Resampling) -> list[Rate]:
    part = cluster_sums(slots.cluster, slots.n_clusters, weights * right[:, np.newaxis])
    whole = cluster_sums(slots.cluster, slots.n_clusters, weights)
    return rates(part, whole, how, ["no slot is kept"] * weights.shape[1])


def _area(slots: Slots, right: FloatArray, confidence: FloatArray, how: Resampling) -> Rate:
    """Area under the risk–coverage curve; slots of equal confidence are kept together.

    So are those of neighbouring confidences, where there are too many to hold them all.
    """
    levels, level = np.unique(-confidence, return_inverse=True)
    most = max(_CELLS // slots.n_clusters, 20)
    if len(levels) > most:
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
        [area(w) for w in how.weights(slots.n_clusters, draws=min(how.draws, _DRAWS))]
    )
    low, high = how.bounds(draws[:, np.newaxis], np.array([slots.n_clusters]))
    return Rate(value, known(low[0]), known(high[0]), float(len(slots)))


STATISTICS = (
    "name_precision",
    "name_recall",
    "name_accuracy",
    "gender_precision",
    "gender_recall",
    "gender_accuracy",
    "joint_accuracy",
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
    rates: Mapping[str, Rate]
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
    how = Resampling(level, draws, seed)
    groups, member, predicted = _groups(slots, name_table)
    scores = _scores(slots, how, groups, member, predicted)
    by: dict[str, dict[str, PeopleScore]] = {"domain": {}, "model": {}, "condition": {}}
    for (attribute, value), score in zip(groups[1:], scores[1:], strict=True):
        by.setdefault(attribute, {})[value] = score
    races, shares = race_shares(slots, name_table)
    return PeopleScore(
        n_slots=float(len(slots)),
        n_clusters=slots.n_clusters,
        cluster_unit=slots.cluster_unit,
        rates=scores[0].rates,
        by=by,
        selective=selective(slots, how),
        race_gap=race_gap(slots, races, shares, how),
    )


Groups = list[tuple[str, str]]


def _groups(slots: Slots, name_table: str) -> tuple[Groups, FloatArray, FloatArray]:
    """Attribute and value of each group; weight of each slot in it, as labelled and as predicted.

    The first group has every slot. Weights have shape (n_slots, n_groups); they differ between
    label and prediction for genders alone.
    """
    groups: Groups = [("", "all")]
    member = [np.ones(len(slots))]
    for attribute, values in slots.strata.items():
        for value in sorted({value for value in values if value is not None}):
            groups.append((attribute, value))
            member.append(np.array([v == value for v in values], dtype=np.float64))
    predicted = list(member)
    for gender in (*GENDERS, UNSPECIFIED):
        groups.append(("gender", gender))
        member.append((slots.gold_gender == gender).astype(np.float64))
        predicted.append((slots.gender == gender).astype(np.float64))
    races, shares = race_shares(slots, name_table)
    groups += [("race", race) for race in races]
    weights = np.nan_to_num(shares)
    return (
        groups,
        np.concatenate([np.stack(member, axis=1), weights], axis=1),
        np.concatenate([np.stack(predicted, axis=1), weights], axis=1),
    )


def _cells(slots: Slots) -> dict[str, tuple[FloatArray, FloatArray]]:
    """What each slot adds to numerator and denominator of each statistic."""
    everyone = np.ones(len(slots), dtype=bool)
    right_name = slots.same_name & slots.has_name
    right_gender = slots.same_gender & slots.has_gender
    labelled = slots.gold_gender != UNSPECIFIED
    cells = (
        (right_name, slots.has_name),
        (right_name, slots.has_gold_name),
        (slots.same_name, everyone),
        (right_gender, slots.has_gender),
        (right_gender, labelled),
        (slots.same_gender, everyone),
        (slots.same_name & slots.same_gender, everyone),
    )
    floats = [(part.astype(np.float64), whole.astype(np.float64)) for part, whole in cells]
    return dict(zip(STATISTICS, floats, strict=True))


def _scores(
    slots: Slots, how: Resampling, groups: Groups, member: FloatArray, predicted: FloatArray
) -> list[PeopleScore]:
    """Return the score of each group."""
    if not len(slots):
        nothing = {name: Rate(None, None, None, 0.0, "no story is labelled") for name in STATISTICS}
        return [PeopleScore(0.0, 0, slots.cluster_unit, nothing, {}, {}, None) for _ in groups]
    found: dict[str, list[Rate]] = {}
    for name, (part, whole) in _cells(slots).items():
        weight = predicted if name == "gender_precision" else member
        sums = [
            cluster_sums(slots.cluster, slots.n_clusters, weight * cell[:, np.newaxis])
            for cell in (part, whole)
        ]
        reasons = [_reason(name, value) for _, value in groups]
        found[name] = rates(sums[0], sums[1], how, reasons)
    clusters = (cluster_sums(slots.cluster, slots.n_clusters, member) > 0).sum(0)
    return [
        PeopleScore(
            float(member[:, i].sum()),
            int(clusters[i]),
            slots.cluster_unit,
            {name: column[i] for name, column in found.items()},
            {},
            {},
            None,
        )
        for i in range(len(groups))
    ]


def _reason(statistic: str, value: str) -> str:
    """Say why a statistic of a group is undefined where its denominator is 0."""
    where = "" if value == "all" else f" in {value}"
    if statistic.endswith("accuracy"):
        return f"no slot is labelled{where}"
    what = statistic.partition("_")[0]
    done = "predicted" if statistic.endswith("precision") else "labelled"
    return f"no {what} is {done}{where}"
