"""The one configuration of an audit: from Python, from a file, and from the command line."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from portrayal.collect.ask.asking import Asking
from portrayal.config import (
    InputConfig,
    ReadingConfig,
    ReportConfig,
    check_known,
    classifier_settings,
    pace_of,
    refuse_settings,
)
from portrayal.errors import OptionError


@dataclass(frozen=True, kw_only=True)
class AuditConfig:
    """Everything that may be chosen in an audit, beside the study and its files.

    Attributes
    ----------
    input, asking, reading, report
        See the records; `asking` is None where no model is asked.
    options
        The study's own options, name → value: level, seed, …. `portrayal audit STUDY --help` and
        the reference of the command line list them.

    Examples
    --------
    >>> from portrayal.studies.study import Options
    >>> config = AuditConfig.of({"level": 0.9, "columns": {"text": "story"}}, Options, "a study")
    >>> config.input.columns, config.options
    ({'text': 'story'}, {'level': 0.9})
    """

    input: InputConfig = field(default_factory=InputConfig)
    asking: Asking | None = None
    reading: ReadingConfig = field(default_factory=ReadingConfig)
    report: ReportConfig = field(default_factory=ReportConfig)
    options: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, given: Mapping[str, Any], study: type, whose: str) -> "AuditConfig":
        """Return the configuration that options by name make.

        Parameters
        ----------
        given
            Option → value. A part of a mapping may stand alone: "labeler_settings.budget".
        study
            The study's own record of options.
        whose
            The study's name, for messages.

        Raises
        ------
        OptionError
            When a name is unknown (the nearest is said), or an option says nothing without another.
        """
        tables = {
            "input": InputConfig,
            "asking": Asking,
            "reading": ReadingConfig,
            "report": ReportConfig,
            "options": study,
        }
        own = dataclasses.fields(study)
        table_of = {f.name: name for name, of in tables.items() for f in dataclasses.fields(of)}
        made: dict[str, dict[str, Any]] = {name: {} for name in tables}
        for key, value in given.items():
            name, _, part = key.partition(".")
            check_known(name, table_of, whose, [each.name for each in own])
            into = made[table_of[name]]
            if part:
                into.setdefault(name, {})
                into[name] = {**into[name], part: value}
            elif value is not None:
                into[name] = value
        asked, options = made["asking"], made["options"]
        model = asked.get("model")
        unasked = [name for name in ("prompts", "samples", "judge", "batch") if name in asked]
        for name, value in asked.get("prompt_options", {}).items():
            unasked.append(name.removesuffix("s") if isinstance(value, (tuple, dict)) else name)
        if unasked and not model:
            raise OptionError(
                f"--{unasked[0]} says what to ask a model: give --model, or leave it out. Texts "
                "that are there say their prompts, and who is in them, by their columns."
            )
        reading = made["reading"]
        chosen: dict[str, Any] = {each.name: each.default for each in own} | options
        reading["classifier_settings"] = classifier_settings(
            [chosen.get("classifier")], reading.get("classifier_settings", {}), asked
        )
        for who in ("labeler", "factor"):
            settings = reading.get(f"{who}_settings", {})
            if chosen.get(f"{who}_model") is None:
                refuse_settings(f"{who}_settings.{{}}", settings, f"--{who}-model")
            reading[f"{who}_settings"] = {**pace_of(asked), **settings}
        return cls(
            input=InputConfig(**made["input"]),
            asking=model if isinstance(model, Asking) else Asking(**asked) if model else None,
            reading=ReadingConfig(**reading),
            report=ReportConfig(**made["report"]),
            options=options,
        )
