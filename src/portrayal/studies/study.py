"""What a study is made of, and the options that every audit takes."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from typing import Any

from portrayal.collect.fields import TextFields
from portrayal.errors import OptionError
from portrayal.measure import Scope
from portrayal.records import Estimate, Prompt
from portrayal.reference import baseline, name_table
from portrayal.run.directory import Run
from portrayal.validate import check_count


@dataclass(frozen=True, slots=True)
class Options:
    """What a user may choose; each option reruns only the stages that depend on it.

    Attributes
    ----------
    baseline
        Comparison distribution p*, one of `portrayal.reference.baselines()`.
    name_table
        Registered name table, or the path of one's own.
    min_count
        Bearers a name needs in the table; None takes the table's own.
    level, seed, draws, permutations, smoothing, min_name_count
        See `portrayal.measure.Scope`.

    Raises
    ------
    OptionError, UnknownNameError, DataError
        Where an option cannot be used; before any text is read.
    """

    baseline: str = "census-2022"
    name_table: str = "census-2020"
    min_count: int | None = None
    level: float = 0.95
    seed: int = 0
    draws: int = 2000
    permutations: int = 200
    smoothing: float = 1.0
    min_name_count: int = 5

    def __post_init__(self) -> None:
        """Refuse options that cannot be used, before any text is read."""
        if self.min_count is not None:
            check_count("min_count", self.min_count)
        Scope(
            "",
            level=self.level,
            seed=self.seed,
            draws=self.draws,
            permutations=self.permutations,
            smoothing=self.smoothing,
            min_name_count=self.min_name_count,
        )
        baseline(self.baseline)
        name_table(self.name_table, min_count=self.min_count)


@dataclass(frozen=True, slots=True)
class PromptMaker:
    """Makes the prompts of a study, also of one whose audit is not here yet.

    Attributes
    ----------
    fields
        What its prompts state, for prompt files of the user's own.
    make
        Function of the study's own options (such as `headlines`) to its prompts.
    """

    fields: TextFields
    make: Callable[..., tuple[Prompt, ...]]

    def __call__(self, **options: Any) -> tuple[Prompt, ...]:
        """Return the prompts.

        Raises
        ------
        OptionError
            When an option is missing or unknown, naming those there are.
        """
        known = signature(self.make).parameters
        needed = [name for name, p in known.items() if p.default is p.empty]
        missing = [name for name in needed if name not in options]
        unknown = [name for name in options if name not in known]
        if missing or unknown:
            wrong = f"needs --{missing[0]}" if missing else f"takes no option {unknown[0]!r}"
            raise OptionError(f"this study {wrong}; options: {', '.join(known) or 'none'}.")
        return self.make(**options)


@dataclass(frozen=True, slots=True)
class Study:
    """A published audit.

    Attributes
    ----------
    name, title, paper, question
        Registered name, title, citation, and what it asks in one sentence.
    fields
        What it wants to know of each text.
    prompts
        Returns its prompts.
    annotator, labelled_annotator
        Annotators of texts, and of texts whose people the user has labelled.
    measures
        Registered names, in the order of the report.
    estimate
        Function of a run, the annotator's name and options that yields every estimate.
    sample
        Returns the path of the texts that ship with the study.
    reproduce
        Returns the checks of the published tables.
    card
        Path of the study card inside the package.
    """

    name: str
    title: str
    paper: str
    question: str
    fields: TextFields
    prompts: Callable[[], tuple[Prompt, ...]]
    annotator: str
    labelled_annotator: str
    measures: tuple[str, ...]
    estimate: Callable[[Run, str, Options], Iterator[Estimate]]
    sample: Callable[[], Path]
    reproduce: Callable[[], list[Any]]
    card: str
