"""The one configuration of an audit: from Python, from a file, and from the command line."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field, make_dataclass
from pathlib import Path
from typing import Any

from portrayal.collect.ask.asking import Asking
from portrayal.config import AskingConfig, AuditOptions, check_known, llm_settings, options_of
from portrayal.errors import OptionError
from portrayal.reference.datafile import read_datafile

OF_THE_MOMENT = ("executor", "workers", "replace", "shard_rows")
"""What no file says: it is of the machine and the moment, and no number depends on it."""
RESULTS = (
    "portrayal annotators source reference models measures factors labeler group_labels questions"
)
"""What the `audit.toml` of a run says beside its options: what came of them."""


@dataclass(frozen=True, kw_only=True)
class AuditConfig(AuditOptions):
    """Everything that may be chosen in an audit, beside the study and its files.

    Attributes
    ----------
    asking
        How the model that writes is asked; None where none is.
    options
        The study's own options, name → value: level, seed, …. `portrayal audit STUDY --help` and
        the reference of the command line list them.

    Examples
    --------
    >>> from portrayal.studies.study import Options
    >>> config = AuditConfig.of({"level": 0.9, "columns": {"text": "story"}}, Options, "a study")
    >>> config.columns, config.options
    ({'text': 'story'}, {'level': 0.9})
    """

    asking: Asking | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        options_given: Mapping[str, Any],
        study: type,
        whose: str,
        file: str | Path | None = None,
    ) -> "AuditConfig":
        """Return the configuration that options by name make; those that are the default count not.

        Parameters
        ----------
        options_given
            Option → value.
        study
            The study's own record of options.
        whose
            The study's name, for messages.
        file
            A file, such as the `audit.toml` of a run, that says what `options_given` does not.

        Raises
        ------
        OptionError
            When a name is unknown (the nearest is said), or an option says nothing without another.
        DataError
            When a key of the file is unknown or of a wrong type, or it is of another study.
        """
        if file is not None:
            in_file = read_options(file, study, whose)
            both = {
                name: {**in_file[name], **value}
                for name, value in options_given.items()
                if isinstance(value, Mapping) and isinstance(in_file.get(name), Mapping)
            }
            options_given = {**in_file, **options_given, **both}
        tables: dict[str, type] = {"audit": AuditOptions, "asking": Asking, "options": study}
        default = {option.name: option.default for option in dataclasses.fields(study)}
        table_of = {f.name: name for name, of in tables.items() for f in dataclasses.fields(of)}
        records: dict[str, dict[str, Any]] = {name: {} for name in tables}
        for name, value in options_given.items():
            check_known(name, table_of, whose, default)
            into = records[table_of[name]]
            if hasattr(value, "__arrow_c_stream__") and name != "prompts":
                raise OptionError(
                    f"{name} takes the path of a file; got a table. Write it to a file."
                )
            # By type as well: 1 equals True and 1.0, which mean other things
            if value is not None and (
                type(value) is not type(default.get(name)) or value != default[name]
            ):
                into[name] = value
        audit, asking, options = records.values()
        model = asking.get("model")
        # Options of asking without a model: refused, as texts that are there were asked otherwise
        unasked = [name for name in ("prompts", "samples", "arm") if name in asking]
        for name, value in asking.get("prompt_options", {}).items():
            unasked.append(name.removesuffix("s") if isinstance(value, (tuple, dict)) else name)
        if unasked and not model:
            raise OptionError(
                f"--{unasked[0]} says what to ask a model: give --model, or leave it out. Texts "
                "that are there say their prompts, and who is in them, by their columns."
            )
        study_options: dict[str, Any] = default | options
        readers = [study_options.get(f"{name}_model") for name in ("labeler", "factor")]
        classifier = str(study_options.get("classifier"))
        readers += [classifier] if classifier.startswith("llm:") else []
        audit["llm_settings"] = llm_settings(readers, audit.get("llm_settings", {}), asking)
        whom = model if isinstance(model, Asking) else Asking(**asking) if model else None
        return cls(asking=whom, options=options, **audit)

    def tables(self) -> dict[str, dict[str, Any]]:
        """Return what a run keeps of it beside the study's options, for `of` to read again.

        That is whatever is not the default; without what no file can hold, such as functions.
        """
        written: dict[str, dict[str, Any]] = {}
        for name, default in (("audit", AuditOptions()), ("asking", AskingConfig())):
            record = self if name == "audit" else self.asking
            written[name] = {}
            for option in dataclasses.fields(default) if record is not None else ():
                value = _plain(getattr(record, option.name))
                # What is the default is not kept, so that a file says what was chosen
                if option.name not in OF_THE_MOMENT and value not in (
                    None,
                    _plain(getattr(default, option.name)),
                ):
                    written[name][option.name] = value
        return {name: values for name, values in written.items() if values}


def _plain(value: Any) -> Any:
    """A value as TOML writes it; None for what it cannot write."""
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Mapping):
        plain_items = {str(name): _plain(item) for name, item in value.items()}
        return {name: item for name, item in plain_items.items() if item is not None}
    if isinstance(value, (list, tuple)):
        return [item for item in map(_plain, value) if item is not None]
    return value if isinstance(value, (str, bool, int, float)) else None


def read_options(path: str | Path, study: type, whose: str) -> dict[str, Any]:
    """Return what a file says of the options of an audit, by their names.

    Parameters
    ----------
    path
        A file with the tables audit, asking and options, as `audit.toml` has.
    study, whose
        See `AuditConfig.of`.

    Raises
    ------
    DataError
        When a key is unknown or of a wrong type, or it is of another study; with file and line.
    """
    file = read_datafile(path)

    def values_of(record: type, *table: str) -> dict[str, Any]:
        """What a table says of the options of a record, all of which may be left out."""
        options = [o for o in options_of(record).values() if o.name not in OF_THE_MOMENT]
        kind = make_dataclass(record.__name__, [(o.name, o.in_file, None) for o in options])
        return file.values(kind, table) if table[0] in file.table else {}

    if file.table.get("study", whose) != whose:
        raise file.wrong(("study",), f"expected {whose!r}; got {file.table['study']!r}.")
    # A run's audit.toml says results too: known keys, that are no options
    names = ("study", "audit", "asking", "options", *RESULTS.split())
    file.values(make_dataclass("AuditFile", [(name, Any, None) for name in names]))
    values = values_of(AuditOptions, "audit") | values_of(AskingConfig, "asking")
    values |= values_of(study, "options")
    if "llm_settings" in values:
        values["llm_settings"] = values_of(AskingConfig, "audit", "llm_settings")
    return values
