"""The published models: ratios as the paper prints them, drawn in grey beside the run's."""

from dataclasses import dataclass
from functools import cache

from portrayal.reference import GENDERS, RACES, published
from portrayal.report.words import group_label

NOTE = (
    "Grey: the five models of Shieh et al. (2025), as printed. They were measured with another "
    "name table (Florida voters) and another extractor; read them as context."
)
_GENDERS = {"Fem.": "F", "Masc.": "M", "NB": "NB"}
_TABLES = {
    "representation": ("shieh_representation_ratios", "representation_ratio"),
    "subordination": ("shieh_subordination_ratios", "subordination_ratio"),
    "median_racialized_subordination": (
        "shieh_median_racialized_subordination_ratios",
        "median_ratio",
    ),
}


@dataclass(frozen=True)
class Published:
    """One printed ratio; bounds are NaN where the paper prints none."""

    domain: str
    model: str
    group: tuple[tuple[str, str], ...]
    value: float
    low: float
    high: float
    n: int

    @property
    def label(self) -> str:
        """The group in words."""
        return group_label(dict(self.group))


@cache
def published_ratios(kind: str) -> tuple[Published, ...]:
    """Return the printed ratios of a measure, by its name without version."""
    if kind not in _TABLES:
        return ()
    table, column = _TABLES[kind]
    return tuple(
        Published(
            row["domain"],
            row["model"],
            _group(row),
            _number(row[column]),
            _number(row["ci_low"]),
            _number(row["ci_high"]),
            int(row["n"] or 0),
        )
        for row in published(table).to_pylist()
        if row[column] is not None
    )


def _group(row: dict[str, str]) -> tuple[tuple[str, str], ...]:
    if "group" not in row:
        gender = _GENDERS.get(row["gender"], row["gender"])
        return (("race", row["race"]), ("gender", gender))
    label = _GENDERS.get(row["group"], row["group"])
    kind = "race" if label in RACES else "gender" if label in GENDERS else "pair"
    return ((kind, label),)


def _number(value: float | None) -> float:
    return float("nan") if value is None else float(value)
