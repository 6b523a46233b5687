"""The seven published models, drawn in grey beside the audited ones."""

from collections.abc import Collection
from dataclasses import dataclass
from functools import cache

from portrayal.reference import published

PAPER = " (paper)"
PLAIN = "un" + "biased"
"""Fang et al.'s name of the form that adds nothing to the headline."""
NOTE = (
    "Grey: the seven models of Fang et al. (2024), as printed, on 8,629 articles of The New York "
    "Times and Reuters. Headlines, word lists of people and lengths differ; read them as context."
)
_KINDS = {
    "wasserstein": "paired_distance",
    "max_abs_difference": "paired_distance",
    "prejudice_rate_female": "prejudice_rate",
    "prejudice_rate_black": "prejudice_rate",
    "prejudice_change_female": "prejudice_change",
    "prejudice_change_black": "prejudice_change",
}
_GROUPS = {"female": "female", "black": "Black"}


@dataclass(frozen=True)
class Printed:
    """One printed figure; bounds are None where the paper prints none."""

    kind: str
    level: str
    attribute: str
    form: str
    model: str
    group: str
    value: float
    low: float | None
    high: float | None
    n: int

    @property
    def label(self) -> str:
        """The row it stands in."""
        return self.model + (" · biased" if self.form == "biased" else "") + PAPER


@cache
def printed() -> tuple[Printed, ...]:
    """Return every printed distance, prejudice rate, change, and Table 1's changes of groups."""
    found = [
        Printed(
            _KINDS[row["metric"]],
            row["level"],
            row["attribute"],
            row["prompt"],
            row["model"],
            _GROUPS.get(row["metric"].rpartition("_")[2], ""),
            row["value"],
            row["ci_low"],
            row["ci_high"],
            row["n"],
        )
        for row in published("fang_news_bias").to_pylist()
    ]
    found += [
        Printed(
            "group_change",
            row["level"],
            row["attribute"],
            PLAIN,
            row["model"],
            row["group"],
            row["value"],
            row["ci_low"],
            row["ci_high"],
            row["n"],
        )
        for row in published("fang_group_change").to_pylist()
    ]
    return tuple(found)


def printed_at(kind: str, place: tuple[str, str], forms: Collection[str]) -> list[Printed]:
    """Return what is printed of a kind at a level and attribute, for forms that the run has.

    The plain form stands beside any run.
    """
    return [
        row
        for row in printed()
        if row.kind == kind
        and (row.level, row.attribute) == place
        and (row.form == PLAIN or row.form in forms)
    ]


def printed_effects(kind: str, place: tuple[str, str]) -> list[Printed]:
    """Return the printed differences between the biased and the plain form."""
    return [
        Printed(
            kind,
            row["level"],
            row["attribute"],
            PLAIN,
            row["model"],
            "female",
            row["difference"],
            None,
            None,
            0,
        )
        for row in published("fang_biased_prompts").to_pylist()
        if _KINDS[row["metric"]] == kind and (row["level"], row["attribute"]) == place
    ]


def printed_words() -> dict[str, int]:
    """Return Table 3: average words by writer."""
    return {row["writer"]: row["words"] for row in published("fang_word_counts").to_pylist()}
