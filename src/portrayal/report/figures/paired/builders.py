"""Builders: which function draws the figures of each paired measure."""

from collections.abc import Callable

from portrayal.records import Estimate
from portrayal.report.figures.figure import Figure
from portrayal.report.figures.paired.changes import group_changes
from portrayal.report.figures.paired.forms import prompt_effects
from portrayal.report.figures.paired.lengths import text_lengths
from portrayal.report.figures.paired.levels import distances
from portrayal.report.figures.paired.tables import pair_fates, refusals, shown_elsewhere, topic_use
from portrayal.report.view import View

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
