"""Selective labels: what is right among the most confident, and whether confidence is a chance.

Risk–coverage after Geifman & El-Yaniv (2017); the area under it is the mean share of errors over
all coverages. The expected calibration error follows Naeini et al. (2015), with ten bins of equal
width.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from portrayal.annotate.scoring.rates import (
    FloatArray,
    Rate,
    Resampling,
    cluster_sums,
    known,
    rates,
)
from portrayal.annotate.scoring.slots import Slots
from portrayal.stats import divide

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
    draws = np.concatenate([area(w) for w in how.weights(min(how.draws, _DRAWS))])
    low, high = how.bounds(draws[:, np.newaxis], np.array([slots.n_clusters]))
    return Rate(value, known(low[0]), known(high[0]), float(len(slots)))
