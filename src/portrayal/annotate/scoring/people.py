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
from portrayal.annotate.scoring.races import RaceGap, race_gap, race_shares
from portrayal.annotate.scoring.rates import FloatArray, Rate, Resampling, cluster_sums, rates
from portrayal.annotate.scoring.selective import Selective, selective
from portrayal.annotate.scoring.slots import Extractor, Labelled, Slots, compare, label
from portrayal.validate import check_count, check_level, check_seed

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
        `portrayal.collect.gold.read_gold` yields them; `prompt_id` (or `prompt`), `domain`, `model`
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
    how = Resampling(slots.n_clusters, draws, level, seed)
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
    right_gender = slots.same_gender & slots.told
    labelled = slots.gold_gender != UNSPECIFIED
    cells = (
        (right_name, slots.has_name),
        (right_name, slots.has_gold_name),
        (slots.same_name, everyone),
        (right_gender, slots.told),
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
