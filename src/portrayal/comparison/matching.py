"""Which estimates of two sides are the same number: same measure, place and group."""

from collections.abc import Iterator
from dataclasses import dataclass

from portrayal.errors import OptionError
from portrayal.records import ALL, Estimate
from portrayal.run import Run

_OF_SIDE = ("model", "classifier")
"""Strata that say who wrote and who read, by which sides may differ."""

Key = tuple[str, str, frozenset[tuple[str, str]], frozenset[tuple[str, str]]]


@dataclass(frozen=True, eq=False)
class Side:
    """One side of a comparison: a run, and its model; None for the run as it is."""

    run: Run
    model: str | None = None

    @property
    def name(self) -> str:
        """The directory, with the model where one was chosen."""
        path = str(self.run.path)
        return path if self.model is None else f"{path} ({self.model})"

    @property
    def models(self) -> list[str]:
        """Models of the run, or the one that was chosen.

        Raises
        ------
        OptionError
            Where the run has no such model, naming those it has.
        """
        known: list[str] = self.run.settings().get("models", [])
        if self.model is None:
            return known
        if self.model not in (*known, ALL):
            raise OptionError(
                f"{self.run.path} has no model {self.model!r}; models: {', '.join(known)}."
            )
        return [self.model]


def model_pairs(a: Side, b: Side) -> list[tuple[str, str]]:
    """Return the models to compare: those of one name; the only two; else all together."""
    ours, theirs = a.models, b.models
    if len(ours) == len(theirs) == 1:
        return [(ours[0], theirs[0])]
    shared = [model for model in ours if model in theirs]
    return [(model, model) for model in shared] + [(ALL, ALL)]


def rows_of(side: Side, model: str) -> dict[Key, int]:
    """Return the estimates of a model by what they are, as rows of the run.

    Where the run has one model, what is only known of all models together is that model's.
    """
    wanted = [model] if len(side.models) > 1 or model == ALL else [ALL, model]
    if side.model is not None and len(side.run.settings().get("models", [])) > 1:
        wanted = [model]
    found: dict[Key, int] = {}
    for label in wanted:
        for row, estimate in enumerate(side.run.records):
            if estimate.strata.get("model", ALL) == label:
                found[_key(estimate)] = row
    return found


def matched(a: dict[Key, int], b: dict[Key, int]) -> Iterator[tuple[int, int]]:
    """Yield the rows of both sides that are the same estimate, in the order of the first."""
    for key, row in a.items():
        if key in b:
            yield row, b[key]


def _key(estimate: Estimate) -> Key:
    strata = frozenset(item for item in estimate.strata.items() if item[0] not in _OF_SIDE)
    return estimate.measure, estimate.statistic, strata, frozenset(estimate.group.items())
