"""What can be compared: estimates of two sides that are the same number, measured alike."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from portrayal.errors import OptionError
from portrayal.records import ALL, NO_FINDING, NO_INTERVAL, NO_TEST, READER_ERROR, Estimate
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


_NOTES = {NO_INTERVAL, NO_TEST, NO_FINDING, READER_ERROR}
_NO_INSTRUMENT = {"seed", "draws", "permutations", "hand_labels", "labeler_samples", "factor"}
"""Options that change no value, or give data; factors are compared by what they say."""


@dataclass(frozen=True, slots=True)
class Instrument:
    """Something two runs measured with differently: its name, and what each used."""

    name: str
    first: str
    second: str

    def __str__(self) -> str:
        """Say what differs: "name_table: census-2020 and ssa-2023"."""
        return f"{self.name}: {self.first or 'none'} and {self.second or 'none'}"


def differing(a: Run, b: Run, records: tuple[list[Estimate], list[Estimate]]) -> list[Instrument]:
    """Return what the runs measured with differently.

    That is what their estimates name as instruments, for the measures that both have, and the
    options of the audits that are neither seeds nor numbers of draws.

    Parameters
    ----------
    a, b
        The runs.
    records
        Estimates of each that are compared.
    """
    measures = {e.measure for e in records[0]} & {e.measure for e in records[1]}
    sides = [
        _of_estimates(e for e in side if e.measure in measures) | _of_settings(run.settings())
        for side, run in zip(records, (a, b), strict=True)
    ]
    names = sorted(sides[0].keys() | sides[1].keys())
    return [
        Instrument(name, sides[0].get(name, ""), sides[1].get(name, ""))
        for name in names
        if sides[0].get(name, "") != sides[1].get(name, "")
    ]


def check_instruments(found: Iterable[Instrument], despite: Iterable[str]) -> None:
    """Refuse runs that measured with something else, but for what `despite` names.

    Raises
    ------
    OptionError
        Listing what differs; or where `despite` names what does not.
    """
    known, allowed = list(found), set(despite)
    others = allowed - {each.name for each in known} - {"all"}
    if others:
        names = ", ".join(each.name for each in known) or "nothing"
        raise OptionError(
            f"despite {', '.join(sorted(others))}: that does not differ; what does: {names}."
        )
    refused = [each for each in known if each.name not in allowed and "all" not in allowed]
    if refused:
        listed = "; ".join(map(str, refused))
        raise OptionError(
            f"the runs measured with different instruments ({listed}). Audit both alike, or name "
            f"what may differ with --despite {refused[0].name}."
        )


def _of_estimates(records: Iterable[Estimate]) -> dict[str, str]:
    found: dict[str, set[str]] = {}
    for name, value in {pair for e in records for pair in e.instruments.items()}:
        if name not in _NOTES:
            found.setdefault(name, set()).add(value.partition(";")[0])
    return {name: ", ".join(sorted(values)) for name, values in found.items()}


def _of_settings(settings: Mapping[str, Any]) -> dict[str, str]:
    options = settings.get("options", {})
    found = {
        name: str(value)
        for name, value in options.items()
        if name not in _NO_INSTRUMENT and value not in ("", [], False)
    }
    for factor in settings.get("factors", ()):
        found[f"factor {factor['name']}"] = str(factor["digest"])
    return found | {"annotators": ", ".join(settings.get("annotators", []))}
