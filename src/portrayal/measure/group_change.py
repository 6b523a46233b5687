"""Group change: how much more or less generated texts mention a group, over all pairs."""

from collections.abc import Iterator

import numpy as np

from portrayal.measure.paired import Level, Paired
from portrayal.measure.paired_estimates import ROUNDING, Quantity, by_group, paired_means
from portrayal.measure.scope import Scope
from portrayal.measure.tally import FloatArray
from portrayal.records import Estimate
from portrayal.registry import Component

NAME = "group_change.v1"
SOURCE = "Fang et al. 2024, Table 1"


def _changes(_: Level, generated: FloatArray, reference: FloatArray) -> FloatArray:
    change = generated - reference
    return np.where(np.abs(change) > ROUNDING, change, change * 0)


QUANTITY = Quantity(
    measure=NAME,
    statistic="difference",
    source=SOURCE,
    columns=by_group,
    values=_changes,
    undefined="no pair in which both texts can be compared for the group",
    tested=True,
)


def group_change(paired: Paired, scope: Scope) -> Iterator[Estimate]:
    """Yield the mean change of each group's share or score over all pairs.

    Parameters
    ----------
    paired, scope
        The paired table with its levels, and the audit's settings.
    """
    return paired_means(QUANTITY, paired, scope)


GROUP_CHANGE = Component(
    name=NAME,
    summary="How much each group's share or score differs between generated texts and originals.",
    reads="the paired table: shares of groups among words or topics, scores of sentences",
    unit="pair",
    range="-1 to 1 for shares and toxicity, -2 to 2 for sentiment",
    undefined_when="no pair in which both texts can be compared for the group",
    equation="mean over pairs of generated minus original",
    source=SOURCE,
    run=group_change,
)
