"""What can be compared: estimates of two sides that are the same number, measured alike."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from portrayal.errors import OptionError
from portrayal.records import ALL, Estimate
from portrayal.run import Run
from portrayal.types import Tabular

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
        models: list[str] = self.run.settings().get("models", [])
        if self.model is None:
            return models
        if self.model not in (*models, ALL):
            raise OptionError(
                f"{self.run.path} has no model {self.model!r}; models: {', '.join(models)}."
            )
        return [self.model]


def side_of(run: Run | Side | Tabular) -> Side:
    """Return a side of a comparison from what `compare` takes; OptionError for a table or log."""
    if isinstance(run, Run | Side):
        return run if isinstance(run, Side) else Side(run)
    if not isinstance(run, str | Path) or Path(run).is_file():
        name = f"{run} is" if isinstance(run, str | Path) else "a table is"
        raise OptionError(f"{name} no run; of tables and logs, name a column: --score COLUMN.")
    return Side(Run.open(run))


def model_pairs(
    a: Side, b: Side, aliases: Mapping[str, str] | None = None
) -> list[tuple[str, str]]:
    """Return the models to compare: those of one name; the only two; else all together."""
    ours, theirs = a.models, b.models
    if len(ours) == len(theirs) == 1:
        return [(ours[0], theirs[0])]
    # Versions of one model have several names; aliases bring them together.
    alias_of = aliases or {}
    called = {alias_of.get(model, model): model for model in theirs}
    names = [(model, alias_of.get(model, model)) for model in ours]
    return [(model, called[name]) for model, name in names if name in called] + [(ALL, ALL)]


def rows_of(side: Side, model: str) -> dict[Key, int]:
    """Return the estimates of a model by what they are, as rows of the run.

    Where the run has one model, what is only known of all models together is that model's.
    """
    single = len(side.run.settings().get("models", [])) < 2
    index: dict[Key, int] = {}
    # The model's own estimate comes last, and so replaces that of all models.
    for label in [ALL, model] if single and model != ALL else [model]:
        for row, estimate in enumerate(side.run.records):
            if estimate.strata.get("model", ALL) == label:
                strata = frozenset(
                    item for item in estimate.strata.items() if item[0] not in _OF_SIDE
                )
                group = frozenset(estimate.group.items())
                index[estimate.measure, estimate.statistic, strata, group] = row
    return index


def matched(a: dict[Key, int], b: dict[Key, int]) -> Iterator[tuple[int, int]]:
    """Yield the rows of both sides that are the same estimate, in the order of the first."""
    for key, row in a.items():
        if key in b:
            yield row, b[key]


_NO_INSTRUMENT = {*("seed", "draws", "permutations", "hand_labels", "labeler_samples", "factor")}
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
    sides: list[dict[str, str]] = []
    for estimates, run in zip(records, (a, b), strict=True):
        by_name: dict[str, set[str]] = {}
        for name, value in dict.fromkeys(
            item for e in estimates if e.measure in measures for item in e.instruments.items()
        ):
            # What follows a semicolon is a note on an instrument, no other instrument.
            by_name.setdefault(name, set()).add(value.partition(";")[0])
        used = {name: ", ".join(sorted(values)) for name, values in by_name.items()}
        settings = run.settings()
        for name, value in settings.get("options", {}).items():
            if name not in _NO_INSTRUMENT and value not in ("", [], False):
                used[name] = str(value)
        for factor in settings.get("factors", ()):
            # A factor is what it says, not what its file is called.
            used[f"factor {factor['name']}"] = str(factor["digest"])
        sides.append(used | {"annotators": ", ".join(settings.get("annotators", []))})
    return _unlike(*sides)


def _unlike(first: Mapping[str, str], second: Mapping[str, str]) -> list[Instrument]:
    """What two sides have of different names, or under one name with different values."""
    return [
        Instrument(name, first.get(name, ""), second.get(name, ""))
        for name in sorted(first.keys() | second.keys())
        if first.get(name, "") != second.get(name, "")
    ]


def asked_differently(
    sides: tuple[Side, Side], pairs: Iterable[tuple[str, str]]
) -> list[Instrument]:
    """Return by which parameters, and by which versions of models, the sides were asked.

    Nothing for texts that were not asked here. Differences are no fault: they may be what is
    compared.
    """
    by_side: list[dict[str, set[str]]] = [{}, {}]
    for pair in pairs:
        notes = [
            side.run.texts.note().get("asked", {}).get(model)
            for side, model in zip(sides, pair, strict=True)
        ]
        # Texts that were not asked here have no parameters to differ in.
        for into, note in zip(by_side, notes, strict=True) if all(notes) else ():
            facts = {**note["parameters"], "model named in answers": ", ".join(note["answered_by"])}
            for name, value in facts.items():
                into.setdefault(name, set()).add(str(value))
    return _unlike(*({n: "; ".join(sorted(v)) for n, v in values.items()} for values in by_side))


def check_instruments(
    instruments: Iterable[Instrument], despite: Iterable[str], remedy: str = "with --despite {}"
) -> None:
    """Refuse runs that measured with something else, but for what `despite` names.

    Raises
    ------
    OptionError
        Listing what differs; or where `despite` names what does not.
    """
    items, allowed = list(instruments), set(despite)
    # A permission for what does not differ is most likely a misspelled name.
    needless = allowed - {item.name for item in items} - {"all"}
    if needless:
        names = ", ".join(item.name for item in items) or "nothing"
        raise OptionError(
            f"despite {', '.join(sorted(needless))}: that does not differ; what does: {names}."
        )
    refused = [item for item in items if item.name not in allowed and "all" not in allowed]
    if refused:
        words = "; ".join(map(str, refused))
        raise OptionError(
            f"the runs measured with different instruments ({words}). Audit both alike, or name "
            f"what may differ {remedy.format(refused[0].name)}."
        )
