"""Changes: one estimate of two sides, and whether and how far they differ."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Scale = Literal["ratio", "difference"]


@dataclass(frozen=True, slots=True)
class Change:
    """One estimate of two sides, and the change from the first to the second.

    Attributes
    ----------
    measure, statistic
        Registered name, and what the values are ("ratio", "share", "difference", …).
    strata, group
        Where, but for the model, and of whom.
    model_a, model_b
        Model of each side; "all" where models are pooled.
    scale
        "ratio": the change is the second value over the first, and 1 is no change; "difference":
        the second less the first, and 0 is none.
    value_a, value_b
        Values over the prompts that are compared: of paired prompts, those that both sides have.
    change, low, high
        The change with its interval, on `scale`.
    p, q, audit_q
        Two-sided p-value of no change; Benjamini and Hochberg's q among the changes of one measure
        and model, and among all that a report may state (None for a detail).
    p_family
        p adjusted by Holm for all sides that are compared with one base; None where there is one.
    margin
        Largest change that counts as none: a factor for ratios; None where there is none.
    p_inside, p_beyond
        One-sided p-values at the lower and upper end of the margin: small where the change is shown
        to lie inside that end, and beyond it; None where there is no margin or no test.
    p_equivalent, equivalent
        Larger p-value of two one-sided tests that the change is `margin` or more, and whether it is
        1 − level or less; None where there is no margin or no test.
    n_prompts, n_only_a, n_only_b
        Independent units (prompts, pairs, blocks) of both sides, and of one alone. Where a run has
        many, some are joined and count as one.
    paired
        Whether units are paired; units of one side alone then do not count.
    method
        How interval and p were made.
    stated
        Whether a report may state it as a finding.
    undefined
        Why there is no change, or no interval and test; None where there are.
    """

    measure: str
    statistic: str
    strata: Mapping[str, str]
    group: Mapping[str, str]
    model_a: str
    model_b: str
    scale: Scale
    value_a: float | None
    value_b: float | None
    change: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    q: float | None = None
    audit_q: float | None = None
    p_family: float | None = None
    margin: float | None = None
    p_inside: tuple[float, float] | None = None
    p_beyond: tuple[float, float] | None = None
    p_equivalent: float | None = None
    equivalent: bool | None = None
    n_prompts: int = 0
    n_only_a: int = 0
    n_only_b: int = 0
    paired: bool = False
    method: str = ""
    stated: bool = False
    undefined: str | None = None

    @property
    def null(self) -> float:
        """The change that is none: 1 for ratios, 0 for differences."""
        return 1.0 if self.scale == "ratio" else 0.0

    @property
    def model(self) -> str:
        """The model, or "A → B" where the sides have two."""
        return self.model_a if self.model_a == self.model_b else f"{self.model_a} → {self.model_b}"

    @property
    def size(self) -> float:
        """How far the change is from none: |ln change| or |change|; NaN where undefined."""
        if self.change is None:
            return math.nan
        return abs(math.log(self.change)) if self.scale == "ratio" else abs(self.change)


@dataclass(frozen=True, slots=True)
class Prompts:
    """Prompts of two runs: of both, of each alone, and of both with other words under one name."""

    both: int
    only_a: int
    only_b: int
    reworded: int = 0


def flat_change(row: Change) -> dict[str, Any]:
    """Return a change as plain values by column name."""
    after = (
        "scale value_a value_b change low high p q audit_q p_family margin p_equivalent equivalent "
        "n_prompts n_only_a n_only_b paired method stated undefined"
    )
    return {
        "measure": row.measure,
        "statistic": row.statistic,
        "model_a": row.model_a,
        "model_b": row.model_b,
        **row.strata,
        **row.group,
        **{name: getattr(row, name) for name in after.split()},
    }
