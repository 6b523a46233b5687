"""What a study is made of, and the options that every audit takes."""

import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import partial
from importlib import import_module
from importlib.resources import files
from importlib.util import find_spec
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import portrayal.registry as registry
from portrayal.annotate import Annotation
from portrayal.collect.fields import TextFields
from portrayal.config import StudyOptions
from portrayal.errors import OptionError
from portrayal.measure.scope import Question, Scope
from portrayal.measure.tables import Tables
from portrayal.raters.labels import HandTable, read_hand_labels
from portrayal.records import Population, Prompt
from portrayal.reference.factors import load_factor
from portrayal.reference.locales import load_locale
from portrayal.run.directory import Run
from portrayal.types import Say
from portrayal.validate import check_choice

if TYPE_CHECKING:
    from portrayal.report.study import StudyReport


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(StudyOptions):
    """What a user may choose in every study; a study adds its own in a subclass.

    Each option reruns only the stages that depend on it. Fields are numbers, strings, truth values,
    None, or tuples of strings, so that a run can keep them and the command line can offer them.

    Raises
    ------
    OptionError, UnknownNameError, DataError
        Where an option cannot be used; before any text is read.
    """

    def __post_init__(self) -> None:
        """Refuse options that cannot be used, before any text is read."""
        # One word for an option of several is one of them, not its letters.
        for column in fields(self):
            value = getattr(self, column.name)
            if isinstance(column.default, tuple) and isinstance(value, str):
                object.__setattr__(self, column.name, (value,) if value else ())
        # Each of these checks what it returns; called here, an audit fails before it costs
        # anything.
        self.scope("")
        check_choice("population", self.population, get_args(Population))
        self.locale_settings()
        self.further_measures()
        self.questions()
        self.hand_table()

    def hand_fields(self) -> tuple[str, ...]:
        """Return the fields that labels by hand may be of: the factors, and the study's own."""
        return tuple(load_factor(spec).name for spec in self.factor)

    def hand_table(self) -> HandTable | None:
        """Return the labels by hand; None where there are none."""
        if self.hand_labels is None:
            return None
        return read_hand_labels(self.hand_labels, self.hand_fields())

    def questions(self) -> tuple[Question, ...]:
        """Return the questions that are asked beforehand, each once however it is written."""
        # Read from the back, so that of two alike the first stays.
        by_key = {question.key: question for question in map(Question.of, reversed(self.question))}
        return tuple(reversed(by_key.values()))

    def group_values(self, strata: Iterable[Mapping[str, str]]) -> dict[str, set[str]]:
        """Return the values that strata and groups of estimates may have, by name.

        Those are the values of the prompts' `strata` and the groups of factors that are asked for.
        """
        values: dict[str, set[str]] = {}
        for prompt_strata in strata:
            for name, value in prompt_strata.items():
                values.setdefault(name, set()).add(value)
        return values | {factor.name: {*factor.keys} for factor in map(load_factor, self.factor)}

    def further_measures(self) -> tuple[str, ...]:
        """Return the registered names, with their versions, of the measures that are added."""
        return tuple(registry.resolve("measures", name) for name in self.measure)

    def said(self) -> tuple[str, ...]:
        """Return lines that the audit prints before it reads, such as how a file is understood."""
        return ()

    def locale_settings(self) -> dict[str, str]:
        """Return the settings of whatever reads people: the locale and its state, or nothing."""
        return {} if self.locale is None else load_locale(self.locale).mark()

    def locale_instrument(self) -> dict[str, str]:
        """Return the locale as estimates name it among their instruments, or nothing."""
        return {} if self.locale is None else {"locale": load_locale(self.locale).name}

    def text_fields(self, fields: TextFields) -> TextFields:
        """Return what to read of each text: the study's `fields`, and columns that options name."""
        return fields

    def scope(self, study: str, **more: Any) -> Scope:
        """Return the settings that the measures of `study` share."""
        return Scope(
            study,
            level=self.level,
            seed=self.seed,
            draws=self.draws,
            permutations=self.permutations,
            **more,
        )


@dataclass(frozen=True, slots=True)
class PromptMaker:
    """Makes the prompts of a study, also of one whose audit is not here yet.

    Attributes
    ----------
    fields
        What its prompts state, for prompt files of the user's own.
    make
        Function of the study's own options (such as `headlines`) to its prompts.
    repeated
        Pattern of a prompt as base models write it again at the start of an answer; "" for none.
    """

    fields: TextFields
    make: Callable[..., tuple[Prompt, ...]]
    repeated: str = ""

    @property
    def options(self) -> tuple[str, ...]:
        """Names of the study's own options of prompts."""
        return tuple(signature(self.make).parameters)

    @property
    def needed(self) -> tuple[str, ...]:
        """Those of them that have no default: files of the user's own."""
        parameters = signature(self.make).parameters.values()
        return tuple(
            parameter.name for parameter in parameters if parameter.default is parameter.empty
        )

    def __call__(self, **options: Any) -> tuple[Prompt, ...]:
        """Return the prompts.

        Raises
        ------
        OptionError
            When an option is missing or unknown, naming those there are.
        """
        # Checked by name here, as a call's own error would speak of Python.
        missing = [name for name in self.needed if name not in options]
        unknown = [name for name in options if name not in self.options]
        if missing or unknown:
            wrong = f"needs --{missing[0]}" if missing else f"takes no option {unknown[0]!r}"
            raise OptionError(f"this study {wrong}; options: {', '.join(self.options) or 'none'}.")
        return self.make(**options)


@dataclass(frozen=True, slots=True)
class Study:
    """An audit: what is asked, read and measured.

    Attributes
    ----------
    name, title, paper, question
        Registered name, title, citation, and what it asks in one sentence.
    fields
        What it wants to know of each text.
    prompts
        Returns its prompts; none where they are made from the user's own headlines or groups.
    options
        Its own options.
    annotations
        Function of a run and options to the annotations it needs, in order.
    measures
        Registered names, in the order of the report.
    tables
        Function of a run and options to what its measures read (`portrayal.measure.tables`).
    sample
        Returns what `audit` is given for the texts that ship with the study, such as `texts` and
        `reference`.
    card
        Path of the study card inside the package; a whole path for a study in a TOML file.
    pair_field
        The field by which texts are paired, with reference texts or with each other; None where
        they are not.
    reference
        Whether texts are compared with reference texts.
    fit
        Work between annotations and estimates: fitting a topic model, which keeps a stage of its
        own, or saying which texts are left out. Returns a JSON-like mark of what it made, on which
        the estimates depend, or None. None where there is no such work.
    stated
        Strata that the sentences of its report keep to, such as all domains together: their tests
        are the family of `Test.audit_q`.
    report
        Returns what the study adds to the report, which is called, and its modules imported, only
        when a report is written; None where the generic report says everything.
    group_by
        Strata of the prompts by which groups of factors are split; None takes the first of `fields`
        that every prompt has, with two to twelve values.
    file
        The TOML file that describes it; "" for a study that is registered.
    words
        What sentences of a report call its `places` (by domain) and what people do in the
        `lesser` and the `greater` role (by domain, or "all").
    """

    name: str
    title: str
    paper: str
    question: str
    fields: TextFields
    prompts: Callable[[], tuple[Prompt, ...]]
    options: type[Options]
    annotations: Callable[[Run, Any], tuple[Annotation, ...]]
    measures: tuple[str, ...]
    tables: Callable[[Run, Any], Tables]
    sample: Callable[[], dict[str, Path]]
    card: str
    pair_field: str | None = None
    reference: bool = False
    fit: Callable[[Run, Any, Say], Any] | None = None
    stated: Mapping[str, str] = field(default_factory=dict)
    report: Callable[[], "StudyReport"] | None = None
    group_by: tuple[str, ...] | None = None
    file: str = ""
    words: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @property
    def matched(self) -> bool:
        """Whether texts are paired with each other, not with reference texts."""
        return self.pair_field is not None and not self.reference

    @property
    def key(self) -> str:
        """How the registry looks it up: its name, or its file."""
        return self.file or self.name


def said_of(package: str) -> dict[str, Any]:
    """Return what a study's folder says of it, as `Study` takes it: title, measures, checks, …."""
    folder = Path(str(files(package)))
    about = tomllib.loads((folder / "about.toml").read_text(encoding="utf-8"))
    texts = {"texts": folder / "sample.jsonl", "reference": folder / "sample_originals.jsonl"}
    return about | {
        "measures": tuple(about["measures"]),
        "sample": lambda: {name: path for name, path in texts.items() if path.is_file()},
        "report": partial(study_report, package),
        "card": "card.md",
    }


def study_report(package: str) -> "StudyReport":
    """Return what a study's folder adds to a report: its `report.toml`, and texts to read."""
    # Imported when a page is written: an audit without one never loads its figures
    from portrayal.report.study import StudyReport

    texts = import_module(f"{package}.texts") if find_spec(f"{package}.texts") else None
    return StudyReport.read(package, texts=texts and texts.texts_to_read)
