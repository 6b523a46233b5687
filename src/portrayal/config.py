"""Options, each declared once, by name, type, default, help and panel.

The command line, `audit.toml` and the arguments of `portrayal.audit` all come from the records
here and from a study's own record of options; `AuditConfig` holds them all.
"""

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from types import GenericAlias, NoneType, UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from portrayal.errors import OptionError
from portrayal.records import LIKE_THESE, Population
from portrayal.types import Tabular
from portrayal.validate import check_count

PANELS = ("Texts", "Asking a model", "Reading", "Statistics", "Output")
"""The panels of a command's help, in order."""
_COLUMNS = ("FIELD=NAME", "NAME=NAME")
"""What stands for values that a file may give as a table, too."""


def option(
    default: Any,
    help: str,
    *,
    panel: str = "Reading",
    rare: bool = False,
    flag: str = "",
    metavar: str = "",
) -> Any:
    """Return a field of a record with what the command line says of it.

    Parameters
    ----------
    default
        A value, or a function without arguments that makes one (`dict`).
    help, panel
        One sentence, and the panel of the help in which it stands.
    rare
        Whether the command line takes it by `--set name=value` only.
    flag, metavar
        The option's name on the command line where it is another, and what stands for its value.
    """
    words = {"help": help, "panel": panel, "rare": rare, "flag": flag, "metavar": metavar}
    if isinstance(default, type):
        return field(default_factory=default, metadata=words)
    return field(default=default, metadata=words)


@dataclass(frozen=True)
class Option:
    """A declared option.

    Attributes
    ----------
    name, default, help, panel, rare, metavar
        See `option`.
    flag
        The name after `--`, with `_` for `-`.
    kind
        The type of one value.
    repeated
        Whether it takes several values.
    is_map
        Whether these are NAME=VALUE; `kind` is then that of the values.
    """

    name: str
    default: Any
    help: str
    panel: str = "Reading"
    rare: bool = False
    metavar: str = ""
    flag: str = ""
    kind: Any = str
    repeated: bool = False
    is_map: bool = False

    def __post_init__(self) -> None:
        """Take the name itself where the command line has no other."""
        object.__setattr__(self, "flag", self.flag or self.name)

    @classmethod
    def of(cls, name: str, hint: Any, default: Any, words: Mapping[str, Any]) -> "Option":
        """Return the option of a field or argument of this type; the first of several counts."""
        kinds = get_args(hint) if isinstance(hint, UnionType) else (hint,)
        kind = next(hint_part for hint_part in kinds if hint_part is not NoneType)
        origin = get_origin(kind)
        many = isinstance(origin, type) and issubclass(origin, Iterable)
        is_mapping = isinstance(origin, type) and issubclass(origin, Mapping)
        if many:
            kind = get_args(kind)[1 if is_mapping else 0]
        # Paths and the like come as text from a command line and a file alike
        if get_origin(kind) is not Literal and kind not in (bool, int, float, Any):
            kind = str
        return cls(name, default, kind=kind, repeated=many, is_map=is_mapping, **words)

    @property
    def in_file(self) -> Any:
        """The type of its value in a file of options."""
        if self.is_map:
            return Mapping[str, Any]
        kind = GenericAlias(tuple, (self.kind, ...)) if self.repeated else self.kind
        return kind | Mapping[str, str] if self.metavar in _COLUMNS else kind

    def read(self, text: str) -> Any:
        """Return the value that `text` writes, as `--set` takes it.

        Raises
        ------
        OptionError
            When it is none of this kind.
        """
        if self.repeated and not self.is_map:
            one = dataclasses.replace(self, repeated=False)
            return tuple(one.read(part.strip()) for part in text.split(","))
        # Not bool(text): "false" would be true
        if self.kind is bool and text.lower() in ("true", "false"):
            return text.lower() == "true"
        # Of any kind: a whole number before a fraction before text, as TOML reads it
        for kind in {int: (int,), float: (float,), Any: (int, float, str)}.get(self.kind, ()):
            try:
                return kind(text)
            except ValueError:
                continue
        if self.kind is str or text in get_args(self.kind):
            return text
        words = {bool: "true or false", int: "a whole number", float: "a number"}
        expected = words.get(self.kind) or f"one of {', '.join(get_args(self.kind))}"
        raise OptionError(f"{self.name} must be {expected}; got {text!r}.")


def options_of(record: type) -> dict[str, Option]:
    """Return the options that a record declares by `option`, by their names.

    >>> options_of(AuditOptions)["report"].default
    True
    """
    hints = get_type_hints(record)
    return {
        record_field.name: Option.of(
            record_field.name, hints[record_field.name], record_field.default, record_field.metadata
        )
        for record_field in dataclasses.fields(record)
        if "help" in record_field.metadata
    }


def check_known(
    name: str, options: Iterable[str], whose: str, offered: Iterable[str] | None = None
) -> None:
    """Refuse a name that is no option of `whose`; say the nearest, and those `offered` (or all).

    >>> check_known("lvel", ["level", "seed"], "news")
    Traceback (most recent call last):
    portrayal.errors.OptionError: news has no option 'lvel'. Did you mean 'level'? Its options: ...
    """
    options = tuple(options)  # it may be an iterator, and is gone through twice
    if name not in options:
        near = get_close_matches(name, options, 1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        names = ", ".join(options if offered is None else offered)
        raise OptionError(f"{whose} has no option {name!r}.{hint} Its options: {names}.")


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyOptions:
    """What may be chosen in every study; `portrayal.studies.study.Options` checks it.

    Attributes
    ----------
    level, seed, draws, permutations
        See `portrayal.measure.Scope`.
    question
        Claims named beforehand (`portrayal.measure.scope.Question`).
    population
        What is stated: of prompts like these, which are then a sample, or of these prompts
        (`Estimate.fixed`), where that is known.
    factor
        Factors whose groups are seen in the texts beside what the study measures: names of those
        that ship, or TOML files (`portrayal.reference.load_factor`).
    factor_model
        The language model that labels texts for factors with a source of the kind "model".
    locale
        A locale that ships, or a folder of one's own (`portrayal.reference.locales`), whose words
        people are read with.
    hand_labels
        Label file (`portrayal.raters.read_hand_labels`), by which estimates are corrected.
    measure
        Registered measures beside the study's own, such as those of another package.
    """

    level: float = option(0.95, "Confidence level.", panel="Statistics")
    seed: int = option(0, "Start of every random stream.", panel="Statistics")
    question: tuple[str, ...] = option(
        (),
        "Claim named beforehand, judged apart: 'subordination race=Latine domain=Labor'; may be "
        "repeated.",
        panel="Statistics",
    )
    population: Population = option(  # noqa: RUF009
        LIKE_THESE,
        "What findings are about: prompts like these, or these very prompts, asked again.",
        panel="Statistics",
    )
    draws: int = option(2000, "Replicates of the cluster bootstrap.", panel="Statistics", rare=True)
    permutations: int = option(200, "Replicates of the null.", panel="Statistics", rare=True)
    factor: tuple[str, ...] = option(
        (), "Factor to measure as well: religion, age, ..., or a TOML file; may be repeated."
    )
    factor_model: str | None = option(
        None, "Model that labels for a factor with a source of the kind model: SERVICE:MODEL."
    )
    locale: str | None = option(
        None, "Language and country of the texts: a name, or a folder of data (docs/locales.md)."
    )
    hand_labels: str | None = option(
        None, "Labels by hand of some texts of this run, by which estimates are corrected."
    )
    measure: tuple[str, ...] = option(
        (), "Registered measure to add to the study's own, such as one of yours; may be repeated."
    )


@dataclass(frozen=True, kw_only=True)
class AuditOptions:
    """What may be chosen in an audit of any study, but for the model that writes.

    Attributes
    ----------
    columns, reference_columns
        Field → column name, or "FIELD=NAME" strings, over what is guessed.
    model_alias
        Name of a model in the texts → the name that it goes by, or "NAME=NAME" strings.
    pair_by
        Column that says which texts belong together, also with reference texts in their file.
    preset
        Column mapping of a published file.
    replace
        Whether a run that holds other texts may be emptied.
    shard_rows
        Texts in a shard. No number depends on it.
    llm_settings
        Fields of `portrayal.Asking`, such as `base_url`, `budget` or `confirm`, for the models that
        label people, classify sentences ("llm:…") or label groups of factors. Which models these
        are is among the options of the study. Pace and consent are those of the model that writes,
        where these do not say others.
    report
        Whether to write `report.html`.
    workers
        Local processes. With more than one, a script must guard its entry point with
        ``if __name__ == "__main__":`` as `multiprocessing` asks.
    executor
        Any `concurrent.futures.Executor` in place of local processes.
    """

    columns: Iterable[str] | Mapping[str, str] = option(
        (),
        "Column NAME holds FIELD; repeatable, or several joined by commas.",
        panel="Texts",
        flag="column",
        metavar="FIELD=NAME",
    )
    reference_columns: Iterable[str] | Mapping[str, str] = option(
        (),
        "Column NAME of the reference file holds FIELD.",
        panel="Texts",
        flag="reference_column",
        metavar="FIELD=NAME",
    )
    model_alias: Iterable[str] | Mapping[str, str] = option(
        (),
        "Texts of model NAME are of the model NAME after it; repeatable.",
        panel="Texts",
        metavar="NAME=NAME",
    )
    pair_by: str | None = option(
        None, "Column that says which texts are a pair.", panel="Texts", metavar="COLUMN"
    )
    preset: str | None = option(None, "Columns of a published file.", panel="Texts", rare=True)
    replace: bool = option(False, "Write over what is there already.", panel="Texts")
    shard_rows: int | None = None

    llm_settings: Mapping[str, Any] = option(
        dict,
        "How a language model that reads texts is asked: base_url, parameters, budget, price.",
        rare=True,
    )
    report: bool = option(True, "Write report.html.", panel="Output", rare=True)
    workers: int = option(1, "Local processes; default one per core.", panel="Output")
    executor: Any = None

    def __post_init__(self) -> None:
        """Refuse a shard of no texts, and work that nobody does."""
        if self.shard_rows is not None:
            check_count("shard_rows", self.shard_rows, minimum=1)
        check_count("workers", self.workers, minimum=1)


_ASKING = "Asking a model"


@dataclass(frozen=True, slots=True)
class AskingConfig:
    """Whom to ask, how often, and within which limits; see `portrayal.Asking`."""

    model: str = option("", "Model to ask: openai:gpt-5-mini, server:NAME, ….", panel=_ASKING)
    samples: int = option(1, "Answers to each prompt.", panel=_ASKING)
    prompts: Tabular | None = option(  # noqa: RUF009
        None, "Prompt file of your own (TOML, CSV, JSON lines).", panel=_ASKING, metavar="FILE"
    )
    prompt_options: Mapping[str, Any] = option(dict, "Options of the study's prompts.")
    base_url: str | None = option(
        None, "Address of an OpenAI-compatible server (vLLM, Ollama, …).", panel=_ASKING
    )
    parameters: Mapping[str, Any] = option(
        dict,
        "temperature, max_tokens, top_p, seed, reasoning_effort, thinking_budget, ….",
        panel=_ASKING,
        flag="parameter",
        metavar="NAME=VALUE",
    )
    arm: str = option(
        "", "Name of these parameters; one run may hold several of a model.", panel=_ASKING
    )
    concurrency: int = option(16, "Most requests in flight.", panel=_ASKING)
    rpm: float | None = option(
        None, "Requests a minute that the account allows.", panel=_ASKING, rare=True
    )
    tpm: float | None = option(
        None, "Tokens a minute that the account allows.", panel=_ASKING, rare=True
    )
    budget: str | None = option(None, 'Stop before "5 USD" or "2M tokens".', panel=_ASKING)
    price: str | None = option(
        None, 'US dollars per million tokens in and out, "0.25/2".', panel=_ASKING
    )
    timeout: float | None = option(
        None,
        "Seconds that one try may take, at most 600; default 180 for a service.",
        panel=_ASKING,
        rare=True,
    )


def llm_settings(
    models: Iterable[str | None],
    settings: Mapping[str, Any],
    first: Mapping[str, Any],
    which: str = "llm_settings.{}",
) -> dict[str, Any]:
    """Return how models that read texts are asked, beside the `first` that writes.

    They share its pace and consent; a server without an address of its own has that of the first.

    Parameters
    ----------
    models
        What readers are named by; those that are no language model say so by None or a word
        without a colon.
    settings, first
        Fields of `Asking` that were given for them, and for the model that writes.
    which
        Makes an option's name of a field, for messages.

    Raises
    ------
    OptionError
        When something is said of a model that is not asked.
    """
    asked_models = [model for model in models if model and ":" in model]
    if not asked_models:
        for name in ("base_url", "parameters", "budget", "price"):
            if settings.get(name):
                option_name = options_of(AskingConfig)[name].flag.replace("_", "-")
                option = which.format(option_name if which.startswith("--") else name)
                raise OptionError(
                    f"{option} says nothing without --labeler-model, --factor-model or a "
                    "classifier llm:…."
                )
        return {}
    same = ("concurrency", "rpm", "tpm", "timeout", "confirm", "progress")
    shared = {name: first[name] for name in same if name in first}
    if first.get("base_url") and any("server:" in model for model in asked_models):
        shared["base_url"] = first["base_url"]
    return {**shared, **settings}
