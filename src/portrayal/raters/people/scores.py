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
    """

    n_slots: float
    n_clusters: int
    cluster_unit: str
    rates: Mapping[str, ScoreRate]
    by: Mapping[str, Mapping[str, "PeopleScore"]]

    def value(self, statistic: str) -> float | None:
        """Return one of `STATISTICS` as a fraction in 0–1; None where it is undefined."""
        return self.rates[statistic].value

    @property
    def absent(self) -> tuple[str, ...]:
        """Attributes that no labelled story has, so that there is no breakdown by them."""
        return tuple(attribute for attribute, scores in self.by.items() if not scores)

    def as_json(self) -> dict[str, Any]:
        """Plain dictionaries; `by` at the top alone."""
        shape: dict[str, Any] = {
            "n_slots": round(self.n_slots, 6),
            "n_clusters": self.n_clusters,
            **{name: rate.as_json() for name, rate in self.rates.items()},
        }
        if not self.by:
            return shape
        return shape | {
            "cluster_unit": self.cluster_unit,
            "by": {
                attribute: {value: score.as_json() for value, score in scores.items()}
                for attribute, scores in self.by.items()
                if scores
            },
            "left_out": list(self.absent),
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
    return replace(scores[0], by=by)


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
        return groups, [PeopleScore(0.0, 0, unit, nothing, {}) for _ in groups]
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
        )
        for i in range(len(groups))
    ]
