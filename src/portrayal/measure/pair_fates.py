"""Pair fates: what became of every text, by model and prompt form."""

from collections.abc import Iterator

from portrayal.measure.paired import Paired
from portrayal.measure.scope import Scope
from portrayal.records import ALL, Estimate
from portrayal.registry import Component

NAME = "pair_fates.v1"
SOURCE = "Fang et al. 2024, Methods (pairs that are dropped)"


def pair_fates(paired: Paired, scope: Scope) -> Iterator[Estimate]:
    """Yield how many texts were paired, and how many were not, by reason.

    Parameters
    ----------
    paired, scope
        The paired table and the audit's settings.
    """
    for (model, form), reasons in sorted(paired.fates.items()):
        total = sum(reasons.values())
        for fate, n in sorted(reasons.items()):
            yield Estimate(
                study=scope.study,
                measure=NAME,
                statistic="count",
                unit="pair",
                strata={"model": model, "form": form, "domain": ALL, "source": ALL},
                group={"fate": fate},
                value=float(n),
                n_texts=total,
                n_units=float(n),
                n_clusters=n,
                instruments=dict(scope.instruments),
                source=SOURCE,
            )


PAIR_FATES = Component(
    name=NAME,
    summary="How many texts were paired with an original, and why the others were not.",
    reads="every generated text and every original, with outcomes",
    unit="pair",
    range="0 and up, whole numbers",
    undefined_when="never: a fate that nothing met has no row",
    equation="number of texts, or of originals without a text, by what became of them",
    source=SOURCE,
    run=pair_fates,
)
