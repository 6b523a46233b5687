"""Builders: which function draws the figures of each paired measure."""

from collections.abc import Callable

from portrayal.records import Estimate
from portrayal.report.figures.figure import Figure
from portrayal.report.view import View
from portrayal.studies.news.report.forms import prompt_effects
from portrayal.studies.news.report.levels import distances, group_changes
from portrayal.studies.news.report.tables import (
    pair_fates,
    refusals,
    shown_elsewhere,
    text_lengths,
    topic_use,
)

Builders = Callable[[View, list[Estimate]], list[Figure]]

SEVERAL: dict[str, Builders] = {
    "paired_distance": distances,
    "prejudice_rate": shown_elsewhere,
    "prejudice_change": shown_elsewhere,
    "group_change": group_changes,
    "prompt_effect": prompt_effects,
    "refusals": refusals,
    "text_lengths": text_lengths,
    "pair_fates": pair_fates,
    "topic_use": topic_use,
}
"""Builder of each paired measure's figures, by the measure's name without version."""
