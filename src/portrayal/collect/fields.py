"""Fields of a text, the column names they go by, and the values they may take."""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace

from portrayal.errors import DataError, OptionError

LABELS = (
    "subject_name",
    "subject_gender",
    "subject_references",
    "object_name",
    "object_gender",
    "object_references",
)
"""Fields of people who are already labelled; taken as they are."""

_ALIASES: Mapping[str, tuple[str, ...]] = {
    "text": ("text", "response", "story", "generation", "completion", "output", "answer"),
    "text_id": ("text_id", "id", "story_id", "custom_id"),
    "prompt": ("prompt", "query", "prompt_text", "instruction"),
    "model": ("model", "model_name", "model_id"),
    "outcome": ("outcome",),
    "domain": ("domain",),
    "condition": ("condition", "power_dynamic", "power_condition"),
    "subject_role": ("subject_role", "subject"),
    "object_role": ("object_role", "object"),
}


@dataclass(frozen=True, slots=True)
class TextFields:
    """What a study wants to know of each text, and how input files may say it.

    Attributes
    ----------
    strata
        Fields of the prompt: `domain`, `condition`, roles, ….
    required
        Fields that must be known for every text, from a column or from the prompt.
    required_unlabelled
        Further fields needed where people are not labelled, with the stratum that calls for them:
        field → (stratum, value), or None for always.
    values
        Accepted spellings: field → casefolded spelling → the study's own value.
    presets
        Published files: preset name → field → column.
    aliases
        Further column names that a field goes by, tried after the well-known ones.
    asked
        Fields that the input must have a column for, with the option that names each.
    of_prompts
        Those of them that known prompts can tell as well, where texts name their prompt.
    """

    strata: tuple[str, ...]
    required: tuple[str, ...]
    required_unlabelled: Mapping[str, tuple[str, str] | None] = field(default_factory=dict)
    values: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    presets: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    aliases: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    asked: Mapping[str, str] = field(default_factory=dict)
    of_prompts: tuple[str, ...] = ()

    @property
    def known(self) -> tuple[str, ...]:
        """Every field that a column can be mapped to."""
        plain = ("text", "text_id", "prompt", "prompt_id", "model", "outcome")
        return (*plain, *self.strata, *LABELS)

    def with_strata(self, *names: str) -> "TextFields":
        """Return fields that also keep the columns of these names as strata."""
        new = tuple(name for name in dict.fromkeys(names) if name not in self.known)
        aliases = {**self.aliases, **{name: (_key(name),) for name in new}}
        return replace(self, strata=(*self.strata, *new), aliases=aliases)

    def asking(self, asked: Mapping[str, str]) -> "TextFields":
        """Return fields that keep the columns of these names, each with the option that names it.

        An input without a column of such a name is refused by its header, unless the name is a
        field of the study and texts name their prompt, as known prompts tell their fields.
        """
        own = tuple(name for name in asked if name in self.known)
        return replace(self.with_strata(*asked), asked=asked, of_prompts=own)

    def missing(self, strata: Mapping[str, str], *, labelled: bool) -> list[str]:
        """Return the fields that a text with these strata lacks."""
        needed = list(self.required)
        if not labelled:
            called = self.required_unlabelled.items()
            needed += [n for n, at in called if at is None or strata.get(at[0]) == at[1]]
        return [name for name in needed if name not in strata]

    def canonical(self, name: str, value: str | None) -> str | None:
        """Return `value` of field `name` as the study spells it; None for blank.

        Raises
        ------
        DataError
            When the field has a fixed set of values and this is none of them.
        """
        value = None if value is None else str(value).strip()
        if not value:
            return None
        spellings = self.values.get(name)
        if spellings is None:
            return value
        try:
            return spellings[value.casefold()]
        except KeyError:
            expected = sorted(set(spellings.values()))
            raise DataError(
                f"{name} has the value {value!r}; expected one of {', '.join(expected)}. "
                f"Correct the column or map another with --column {name}=NAME."
            ) from None


def parse_columns(pairs: Iterable[str]) -> dict[str, str]:
    """Return `FIELD=NAME` pairs (also several joined by commas) as a mapping field → column."""
    columns: dict[str, str] = {}
    for pair in (part for text in pairs for part in text.split(",") if part.strip()):
        name, sign, column = pair.partition("=")
        if not sign or not name.strip() or not column.strip():
            raise OptionError(
                f"a column is mapped as FIELD=NAME, such as text=story; got {pair!r}."
            )
        columns[name.strip()] = column.strip()
    return columns


def map_columns(
    fields: TextFields,
    found: Iterable[str],
    *,
    columns: Mapping[str, str] | None = None,
    preset: str | None = None,
    where: str = "the texts",
) -> dict[str, str]:
    """Decide which column of the input holds which field.

    The user's own mapping wins, then the preset, then well-known names. Labels of people are never
    guessed: they are mapped by the user or a preset.

    Raises
    ------
    DataError
        When a mapped column is missing, or there are neither texts nor labelled people.
    OptionError
        When a field or preset does not exist, or a column that an option asks for.
    """
    names = list(found)
    by_key = {_key(name): name for name in reversed(names)}
    mapped = {*(columns or ()), *fields.presets.get(preset or "", ())}
    mapping = _guess(fields, names, mapped, where)
    if preset is not None:
        if preset not in fields.presets:
            known = ", ".join(fields.presets) or "none"
            raise OptionError(f"no preset is called {preset!r}; this study has: {known}.")
        wanted = {f: by_key.get(_key(c), c) for f, c in fields.presets[preset].items()}
        mapping |= _checked(fields, wanted, names, where)
    mapping |= _checked(fields, columns or {}, names, where)
    prompted = "prompt" in mapping or "prompt_id" in mapping
    for name, option in fields.asked.items():
        if name not in mapping and not (prompted and name in fields.of_prompts):
            raise OptionError(
                f"{option} {name}: no text has a value for it. Columns of {where}: "
                f"{_listed(names)}. Name one of these, or map it with --column {name}=NAME."
            )
    if "text" not in mapping and not any(name in mapping for name in LABELS):
        raise DataError(
            f"{where}: no column with the text was found; found {_listed(names)}. "
            "Name yours with --column text=NAME."
        )
    return mapping


def _guess(
    fields: TextFields, names: list[str], mapped: Collection[str], where: str
) -> dict[str, str]:
    """Columns by well-known names, of fields that nobody mapped."""
    by_key: dict[str, list[str]] = {}
    for column in names:
        by_key.setdefault(_key(column), []).append(column)
    guessed: dict[str, str] = {}
    for name in fields.known:
        if name in LABELS or name in mapped:
            continue
        for alias in (*_ALIASES.get(name, (name,)), *fields.aliases.get(name, ())):
            if alias in by_key:
                first, *others = by_key[alias]
                if others:
                    raise DataError(
                        f"{where}: the columns {first!r} and {others[0]!r} are both read as "
                        f"{name}. Say which one with --column {name}=NAME."
                    )
                guessed[name] = first
                break
    return guessed


def _checked(
    fields: TextFields, wanted: Mapping[str, str], names: list[str], where: str
) -> dict[str, str]:
    for name, column in wanted.items():
        if name not in fields.known:
            raise OptionError(
                f"{name!r} is not a field that can be mapped; fields: {', '.join(fields.known)}."
            )
        if column not in names:
            raise DataError(
                f"{where}: there is no column {column!r} for {name}; found {_listed(names)}."
            )
    return dict(wanted)


def _key(name: str) -> str:
    return re.sub(r"[\s_\-]+", "_", name.strip().casefold())


def _listed(names: list[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:30])
    return shown + (f" and {len(names) - 30} more" if len(names) > 30 else "") if names else "none"
