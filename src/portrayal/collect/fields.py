"""Fields of a text, the column names they go by, and the values they may take."""

import logging
import re
import tomllib
import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from portrayal.errors import DataError, OptionError

LABELS = tuple(
    f"{slot}_{part}" for slot in ("subject", "object") for part in ("name", "gender", "references")
)
"""Fields of people who are already labelled; taken as they are."""

_SYNONYMS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_FIRST_WINS = ("text_id", "name")
"""Fields for which two columns are no question."""

MOST_VALUES = 50
"""Values of a column from which on they say nothing of what it holds."""

ByContent = Callable[[Any, Collection[str]], str]
"""Returns the column of texts of a `TextSource`, of those that are not among the columns given."""

log = logging.getLogger("portrayal.columns")
"""Says which column is read as which field; the command line prints it."""


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
    variants
        Words of a prompt that differ from the study's and mean the same → the prompt's id.
    asked
        Fields that the input must have a column for, with the option that names each.
    of_prompts
        Those of them that known prompts can tell as well, where texts name their prompt.
    own_ids
        Whether a column of prompt ids names prompts; where texts of one id differ in their strata
        it does not, and ids are made of words and strata.
    kept
        Columns that are kept with each text as they stand, such as labels of what it says; texts
        of one prompt may differ in them.
    is_stratum
        Whether a further column of this name and these values, at most `MOST_VALUES`, is a stratum.
    """

    strata: tuple[str, ...]
    required: tuple[str, ...]
    required_unlabelled: Mapping[str, tuple[str, str] | None] = field(default_factory=dict)
    values: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    presets: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    aliases: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    variants: Mapping[str, str] = field(default_factory=dict)
    asked: Mapping[str, str] = field(default_factory=dict)
    of_prompts: tuple[str, ...] = ()
    own_ids: bool = True
    kept: tuple[str, ...] = ()
    is_stratum: Callable[[str, Collection[str]], bool] | None = None

    @property
    def known(self) -> tuple[str, ...]:
        """Every field that a column can be mapped to."""
        ids = ("prompt_id",) if self.own_ids else ()
        plain = ("text", "text_id", "prompt", *ids, "model", "outcome")
        return (*plain, *self.strata, *LABELS, *self.kept)

    def with_strata(self, *names: str) -> "TextFields":
        """Return fields that also keep the columns of these names as strata."""
        new = tuple(name for name in dict.fromkeys(names) if name not in self.known)
        return replace(self, strata=(*self.strata, *new))

    def keeping(self, names: Iterable[str]) -> "TextFields":
        """Return fields that also keep the columns of these names with each text."""
        new = tuple(name for name in dict.fromkeys(names) if name not in self.known)
        aliases = {**self.aliases, **{name: (_key(name),) for name in new}}
        return replace(self, kept=(*self.kept, *new), aliases=aliases)

    def asking(self, options: Mapping[str, str]) -> "TextFields":
        """Return fields that keep the columns of these names, each with the option that names it.

        An input without a column of such a name is refused by its header, unless the name is a
        field of the study and texts name their prompt, as known prompts tell their fields.
        """
        prompt_columns = tuple(name for name in options if name in self.known)
        return replace(self.with_strata(*options), asked=options, of_prompts=prompt_columns)

    def missing(self, strata: Mapping[str, str], *, labelled: bool) -> list[str]:
        """Return the fields that a text with these strata lacks."""
        needed = list(self.required)
        if not labelled:
            called = self.required_unlabelled.items()
            needed += [n for n, rule in called if rule is None or strata.get(rule[0]) == rule[1]]
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


def parse_columns(pairs: Mapping[str, str] | Iterable[str] | None) -> dict[str, str]:
    """Return `FIELD=NAME` pairs (also several joined by commas) as a mapping field → column."""
    if isinstance(pairs, Mapping):
        return dict(pairs)
    columns: dict[str, str] = {}
    for pair in (part for text in pairs or () for part in _JOINED.split(text) if part.strip()):
        name, sign, column = map(str.strip, pair.partition("="))
        if not (sign and name and column):
            raise OptionError(
                f"a column is mapped as FIELD=NAME, such as text=story, and a model as NAME=NAME, "
                f"such as Claude2=Claude; got {pair!r}."
            )
        if columns.setdefault(name, column) != column:
            raise OptionError(f"{name} is mapped to two columns: {columns[name]!r}, {column!r}.")
    return columns


_JOINED = re.compile(r",(?=[^,=]*=|\s*$)")  # a column's name may hold commas


def find_columns(
    targets: Iterable[str],
    columns_present: Iterable[str],
    *,
    columns: Mapping[str, str] | Iterable[str] | None = None,
    needed: Collection[str] = (),
    aliases: Mapping[str, Iterable[str]] | None = None,
    unguessed: Collection[str] = (),
    by_content: Callable[[Collection[str]], str] | None = None,
    file: str = "the texts",
) -> dict[str, str]:
    """Decide which column of an input holds which field, and say what was guessed.

    Every command reads its files by this. The user's own mapping wins; then a column of the
    field's own name; then one by which people call it. Names are compared without case, blanks,
    marks and width (NFKC), in any script. What was guessed is logged by `log`, with a column that
    looks like a model's name and is not used.

    Parameters
    ----------
    targets
        Fields to look for.
    columns_present
        Names of the columns.
    columns
        Field → column, or "FIELD=NAME" strings, as the user says.
    needed
        Fields that must be there.
    aliases
        Further names of fields.
    unguessed
        Fields that only the user maps.
    by_content
        Returns the column of texts by what it holds, where none goes by a name of it; is given the
        columns that hold other fields (`portrayal.recognise.text_column`).
    file
        How messages speak of the input.

    Returns
    -------
    dict
        Field → column.

    Raises
    ------
    DataError
        When a column is missing, or two may be meant.
    OptionError
        When a field cannot be mapped.
    """
    names, fields = list(columns_present), list(targets)
    explicit = parse_columns(columns)
    for name, column in explicit.items():
        if name not in fields:
            raise OptionError(
                f"{name!r} is not a field that can be mapped; fields: {', '.join(fields)}."
            )
        if column not in names:
            raise DataError(
                f"{file}: there is no column {column!r} for {name}; found {_listed(names)}. "
                f"Name one of these with --column {name}=NAME (of a reference, --reference-column)."
            )
    by_key: dict[str, list[str]] = {}
    for column in names:
        by_key.setdefault(_key(column), []).append(column)
    guessed: dict[str, str] = {}
    for name in (name for name in fields if name not in {*explicit, *unguessed}):
        # A column of the field's own name settles it, whatever else could be meant
        called = by_key.get(_key(name), []) or [
            column for key in _keys_of(name, aliases or {}) for column in by_key.get(key, ())
        ]
        # Which of two columns holds the texts decides every number: asked, not guessed
        if len(called) > 1 and name not in _FIRST_WINS:
            raise DataError(
                f"{file}: the columns {', '.join(map(repr, called))} can all be read as "
                f"{name}. Say which one with --column {name}=NAME."
            )
        if called:
            guessed[name] = called[0]
    if by_content is not None and "text" in {*fields} - {*guessed, *explicit}:
        guessed["text"] = by_content([*guessed.values(), *explicit.values()])
    mapping = guessed | explicit
    if missing := [name for name in needed if name not in mapping]:
        raise DataError(
            f"{file}: no column {', '.join(missing)}; found {_listed(names)}. "
            f"Name yours with --column {missing[0]}=NAME."
        )
    if read := ", ".join(f"{name} = {col}" for name, col in guessed.items() if name != col):
        log.info("%s: read as %s", file, read)
    for column in names if "model" in fields and "model" not in mapping else ():
        # Models that are pooled unawares are the costliest mistake a file can hold
        if column not in mapping.values() and _MODEL.search(_key(column)):
            log.warning(
                "%s: the column %r looks like a model's name and is not used; --column "
                "'model=%s' uses it. Without it all texts count as one model's.",
                file,
                column,
                column,
            )
    return mapping


def map_columns(
    fields: TextFields,
    columns_present: Iterable[str],
    *,
    columns: Mapping[str, str] | None = None,
    preset: str | None = None,
    by_content: Callable[[Collection[str]], str] | None = None,
    file: str = "the texts",
) -> dict[str, str]:
    """Decide which column of the input holds which field of a study, as `find_columns` does.

    The user's own mapping wins, then the preset, then well-known names. Labels of people are never
    guessed: they are mapped by the user or a preset.

    Raises
    ------
    DataError
        When a mapped column is missing, or there are neither texts nor labelled people.
    OptionError
        When a field or preset does not exist, or a column that an option asks for.
    """
    names, explicit = list(columns_present), dict(columns or {})
    if preset is not None:
        if preset not in fields.presets:
            presets = ", ".join(fields.presets) or "none"
            raise OptionError(f"no preset is called {preset!r}; this study has: {presets}.")
        # Backwards, so that the first of two columns with one key stays
        by_key = {_key(name): name for name in reversed(names)}
        explicit = {f: by_key.get(_key(c), c) for f, c in fields.presets[preset].items()} | explicit
    is_labelled = not explicit.keys().isdisjoint(LABELS)
    mapping = find_columns(
        fields.known,
        names,
        columns=explicit,
        needed=() if is_labelled else ("text",),
        aliases=fields.aliases,
        unguessed=LABELS,  # a column "subject_name" may hold anything
        by_content=None if is_labelled else by_content,
        file=file,
    )
    prompted = "prompt" in mapping or "prompt_id" in mapping
    for name, option in fields.asked.items():
        if name not in mapping and not (prompted and name in fields.of_prompts):
            raise OptionError(
                f"{option} {name}: no text has a value for it. Columns of {file}: "
                f"{_listed(names)}. Name one of these, or map it with --column {name}=NAME."
            )
    return mapping


def _keys_of(name: str, aliases: Mapping[str, Iterable[str]]) -> dict[str, None]:
    """What a field may be called, as `_key` writes it; plurals too."""
    words = (name, *_SYNONYMS.get(name, "").split(), *aliases.get(name, ()))
    return dict.fromkeys(form for word in words for form in (_key(word), _key(word) + "s"))


@lru_cache(maxsize=2**14)  # names of columns come from files
def is_called(column: str, field: str) -> bool:
    """Return whether a column has a name that a field goes by.

    >>> is_called("Model response", "text"), is_called("score", "text")
    (True, False)
    """
    return _key(column) in _keys_of(field, {})


def renamed_in(
    row: Collection[str], mapping: Mapping[str, str], aliases: Mapping[str, Iterable[str]]
) -> tuple[str, str] | None:
    """Return a column that a row lacks, and the one that it seems to have in its place, if any.

    That is a column whose name differs in case or signs alone; of texts also one of another name
    that texts go by.

    >>> renamed_in({"Answer", "pair"}, {"text": "answer", "pair": "pair"}, {})
    ('answer', 'Answer')
    """
    for name, column in mapping.items():
        if column in row:
            continue
        keys = {_key(column)} | ({*_keys_of(name, aliases)} if name == "text" else set())
        for other in row:
            if _key(other) in keys and other not in mapping.values():
                return column, other
    return None


_MODEL = re.compile(r"model|llm|gpt|engine|generator|checkpoint|deployment|assistant|chatbot|模型")


def _key(name: str) -> str:
    """A name without case, separators and width; letters and marks of any script stay."""
    folded = unicodedata.normalize("NFKC", name).casefold()
    return "".join(c for c in folded if c.isalnum() or unicodedata.category(c)[0] == "M")


def _listed(names: list[str]) -> str:
    head = ", ".join(repr(name) for name in names[:30])
    return head + (f" and {len(names) - 30} more" if len(names) > 30 else "") if names else "none"
