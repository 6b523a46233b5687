"""Prejudice change: by how much, among the pairs in which a group fared worse."""

from collections.abc import Iterator

import numpy as np

from portrayal.measure.paired import Level, Paired
from portrayal.measure.paired_estimates import Quantity, paired_means
from portrayal.measure.prejudice_rate import directed, mentioned_changes
from portrayal.measure.scope import Scope
from portrayal.measure.tally import FloatArray
from portrayal.records import Estimate
from portrayal.registry import Component

NAME = "prejudice_change.v1"
SOURCE = "Fang et al. 2024, Fig. 2c–10b (decrease in prejudice articles)"


def _changes(level: Level, generated: FloatArray, reference: FloatArray) -> FloatArray:
    change = mentioned_changes(level, generated, reference)
    worse = level.worse * change
    return np.concatenate(
        [np.where(worse > 0, change, np.nan), np.where(worse < 0, change, np.nan)], axis=-1
    )


QUANTITY = Quantity(
    measure=NAME,
    statistic="difference",
    source=SOURCE,
    columns=directed,
    values=_changes,
    undefined="no pair in which the group changed in this direction",
)


def prejudice_change(paired: Paired, scope: Scope) -> Iterator[Estimate]:
    """Yield the mean change among pairs in which a group fared worse (and better).

    Parameters
    ----------
    paired, scope
        The paired table with its levels, and the audit's settings.
    """
    return paired_means(QUANTITY, paired, scope)


PREJUDICE_CHANGE = Component(
    name=NAME,
    summary="By how much a group's share or score changed where it fared worse, and better.",
    reads="the paired table: shares of groups among words or topics, scores of sentences",
    unit="pair",
    range="-1 to 1 for shares and toxicity, -2 to 2 for sentiment",
    undefined_when="no pair in which the group changed in this direction",
    equation="mean of generated minus original among the pairs that the prejudice rate counts. "
    "Chosen by their sign, so never near 0: compare with the null",
    source=SOURCE,
    run=prejudice_change,
)
