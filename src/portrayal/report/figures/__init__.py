"""Figures: each known measure has a builder; any other measure gets a table.

A *builder* takes the view and a measure's estimates and returns one `Figure`, or None where there
is nothing to show. A study that uses a new measure adds its builder to `BUILDERS`; measures
that have several figures each add theirs to `SEVERAL`.
"""

from portrayal.records import Estimate
from portrayal.report.figures.figure import Builder, Figure, Table, estimate_table
from portrayal.report.figures.outcomes import outcomes
from portrayal.report.figures.parts import CONFIG
from portrayal.report.view import View
from portrayal.report.words import measure_title, stem
from portrayal.studies.agency.report.figures import SEVERAL as AGENCY
from portrayal.studies.laissez_faire.report.casting import pair_roles, scenario_likelihood
from portrayal.studies.laissez_faire.report.corrected import (
    corrected_representation,
    corrected_subordination,
)
from portrayal.studies.laissez_faire.report.names import common_names, name_subordination
from portrayal.studies.laissez_faire.report.ratios import (
    pair_representation,
    representation,
    subordination,
)
from portrayal.studies.laissez_faire.report.thresholds import (
    likelihood_histogram,
    median_racialized,
    threshold_subordination,
)
from portrayal.studies.news.report.figures import SEVERAL as PAIRED


def _elsewhere(_: View, __: list[Estimate]) -> list[Figure]:
    """No figure: terms that name identities have a section of their own, `report.coded`."""
    return []


SEVERAL = {**PAIRED, **AGENCY, "cue_counts": _elsewhere}
"""Builders of measures that have several figures each, by the measure's name without version."""

BUILDERS: dict[str, Builder] = {
    "representation": representation,
    "pair_representation": pair_representation,
    "subordination": subordination,
    "median_racialized_subordination": median_racialized,
    "name_subordination": name_subordination,
    "threshold_subordination": threshold_subordination,
    "common_names": common_names,
    "likelihood_histogram": likelihood_histogram,
    "scenario_likelihood": scenario_likelihood,
    "pair_roles": pair_roles,
    "outcomes": outcomes,
    "corrected_representation": corrected_representation,
    "corrected_subordination": corrected_subordination,
}
"""Builder of each measure's figure, by the measure's name without version."""


def figures(view: View) -> list[Figure]:
    """Return the figures of a run, in the study's order."""
    found: list[Figure | None] = []
    for name, rows in view.by_measure.items():
        several = stem(name) in SEVERAL
        found += build_several(view, name, rows) if several else [build(view, name, rows)]
    return [figure for figure in found if figure is not None]


def build_several(view: View, measure: str, estimates: list[Estimate]) -> list[Figure]:
    """Return the figures of a measure that has several; a table where they cannot be drawn."""
    try:
        return SEVERAL[stem(measure)](view, estimates) if estimates else []
    except (KeyError, ValueError):
        return [as_table(view, measure, estimates)]


def build(view: View, measure: str, estimates: list[Estimate]) -> Figure | None:
    """Return one measure's figure; a table where no builder knows it, None where it is empty."""
    if not estimates:
        return None
    builder = BUILDERS.get(stem(measure))
    if builder is None:
        return as_table(view, measure, estimates)
    try:
        return builder(view, estimates)
    except (KeyError, ValueError):  # groups or strata that the chart does not know
        return as_table(view, measure, estimates)


def as_table(view: View, measure: str, estimates: list[Estimate]) -> Figure:
    """Return any measure's estimates as a table, with the measure's own words."""
    component = view.component(measure)
    strata = list(dict.fromkeys(name for e in estimates for name in e.strata))
    return Figure(
        "measure-" + "".join(c if c.isalnum() else "-" for c in measure),
        measure_title(measure),
        component.summary if component else f"{len(estimates):,} estimates of {measure}.",
        "This measure has no chart of its own.",
        None,
        estimate_table(view, estimates, *strata),
    )


__all__ = [
    "BUILDERS",
    "CONFIG",
    "SEVERAL",
    "Figure",
    "Table",
    "as_table",
    "build",
    "build_several",
    "figures",
]
