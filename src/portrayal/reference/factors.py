"""Reading factors: the ones that ship, and a user's own file, checked key by key."""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

from portrayal.errors import UnknownNameError
from portrayal.reference.factor import (
    EVERYWHERE,
    Baseline,
    CodeSource,
    ColumnSource,
    Factor,
    Group,
    ModelSource,
    NameSource,
    ReferenceSource,
    Several,
    Source,
    WordSource,
    factor_mark,
    spelling_key,
)
from portrayal.reference.located import Keys, Located, parse_located, read_located
from portrayal.reference.shipped import data_file, occupations, read_toml

__all__ = [
    "EVERYWHERE",
    "Baseline",
    "CodeSource",
    "ColumnSource",
    "Factor",
    "Group",
    "ModelSource",
    "NameSource",
    "ReferenceSource",
    "Source",
    "WordSource",
    "factor_mark",
    "factors",
    "load_factor",
    "read_factor",
    "spelling_key",
]

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]*")
_COLOR = re.compile(r"#[0-9A-Fa-f]{6}")
_HAS_WORD = re.compile(r"[^\W_]")
_TOLERANCE = 0.005
_TOP = (
    *("name", "label", "note", "source", "language", "also", "rest"),
    *("groups", "sources", "baselines"),
)
_GROUP = ("label", "color", "also", "note", "said")
_BASELINE = (
    *("name", "source", "date", "note", "stratum"),
    *("shares", "of", "missing", "whole"),
)
_SHARED = ("kind", "name", "several", "note")
_KINDS: dict[str, tuple[str, ...]] = {
    "column": ("column", "separator", "values", "none", "unknown"),
    "words": ("words", "not", "as_written", "followed_by", "plural"),
    "names": ("part", "table", "names", "spellings", "by"),
    "references": ("words", "pairs_of", "among"),
    "codes": ("field", "file", "values", "none", "unknown"),
    "model": ("question", "unit", "answer"),
}


def load_factor(spec: str | Path) -> Factor:
    """Return a factor that ships, or read one from a file.

    Parameters
    ----------
    spec
        A name from `factors()`, or the path of a TOML file; see docs/factors.md for its keys.

    Raises
    ------
    UnknownNameError
        If `spec` is neither.
    DataError
        If the file is no factor: one line with file, line, key and what was expected.

    Examples
    --------
    >>> load_factor("gender").keys
    ('F', 'M', 'NB')
    """
    if isinstance(spec, str) and spec in factors():
        return _shipped(spec)
    path = Path(spec)
    if not path.is_file():
        raise UnknownNameError(
            f"{str(spec)!r} is neither a factor that ships ({', '.join(factors())}) nor a file "
            "that exists. Name one of them, or give the path of your own TOML file."
        )
    return read_factor(read_located(path), path)


@lru_cache(maxsize=1)
def factors() -> tuple[str, ...]:
    """Return the names of the factors that ship, sorted.

    >>> {"gender", "race", "religion"} <= set(factors())
    True
    """
    names = (entry.name for entry in data_file("factors").iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml")))


@lru_cache(maxsize=32)
def _shipped(name: str) -> Factor:
    text = data_file(f"factors/{name}.toml").read_text(encoding="utf-8")
    return read_factor(parse_located(text, f"{name}.toml"), None)


def is_color(text: str) -> bool:
    """Whether text is a colour as factors write it ("#rrggbb")."""
    return _COLOR.fullmatch(text) is not None


def read_factor(file: Located, path: Path | None) -> Factor:
    """Return the factor that a TOML file says; `path` is None for one that ships.

    Raises
    ------
    DataError
        With file, line and key, and what was expected.
    """
    file.check_keys((), _TOP, ("name", "label", "note", "groups", "sources"))
    name = _text(file, ("name",))
    if not _NAME.fullmatch(name):
        raise file.wrong(("name",), f"expected small letters, digits, - and _; got {name!r}.")
    groups = _groups(file)
    keys = tuple(group.key for group in groups)
    spellings = _group_spellings(file, groups)
    folder = None if path is None else path.parent
    sources = [
        _source(file, ("sources", i), keys, spellings, folder) for i in _list(file, ("sources",))
    ]
    if not sources:
        raise file.wrong(("sources",), "expected at least one source, headed [[sources]].")
    _differ(file, "sources", [each.name for each in sources])
    _all_seen(file, keys, sources)
    stated = _list(file, ("baselines",)) if "baselines" in file.table else range(0)
    baselines = [_baseline(file, ("baselines", i), keys) for i in stated]
    _differ(file, "baselines", [each.name for each in baselines])
    digest = hashlib.blake2b(repr(file.table).encode(), digest_size=8).hexdigest()
    return Factor(
        name=name,
        label=_text(file, ("label",)),
        note=_text(file, ("note",)),
        source=_text(file, ("source",), ""),
        language=_text(file, ("language",), ""),
        groups=groups,
        sources=tuple(sources),
        baselines=tuple(baselines),
        also=_texts(file, ("also",), ()),
        rest=_texts(file, ("rest",), ()),
        path="" if path is None else str(path.absolute()),
        digest=digest,
    )


def _groups(file: Located) -> tuple[Group, ...]:
    listed = _table(file, ("groups",))
    if not listed:
        raise file.wrong(("groups",), "expected at least one group, headed [groups.NAME].")
    groups = []
    for key in listed:
        here: Keys = ("groups", key)
        _table(file, here)
        file.check_keys(here, _GROUP)
        color = _text(file, (*here, "color"), "")
        if color and not is_color(color):
            raise file.wrong((*here, "color"), f'expected a colour as "#rrggbb"; got {color!r}.')
        said = _table(file, (*here, "said")) if "said" in listed[key] else {}
        groups.append(
            Group(
                key=key,
                label=_text(file, (*here, "label"), key),
                color=color,
                also=_texts(file, (*here, "also"), ()),
                note=_text(file, (*here, "note"), ""),
                said={where: _text(file, (*here, "said", where)) for where in said},
            )
        )
    return tuple(groups)


def _group_spellings(file: Located, groups: Sequence[Group]) -> dict[str, str]:
    """Spelling → group of keys, labels and further spellings; no spelling may mean two groups."""
    held: dict[str, str] = {}
    for group in groups:
        here: Keys = ("groups", group.key)
        also = [((*here, "also", i), spelling) for i, spelling in enumerate(group.also)]
        for keys, spelling in [(here, group.key), ((*here, "label"), group.label), *also]:
            _hold(file, keys, spelling, group.key, held)
    return held


def _hold(file: Located, keys: Keys, spelling: str, group: str, held: dict[str, str]) -> None:
    """Let a spelling mean a group, unless it means another one."""
    other = held.setdefault(spelling_key(spelling), group)
    if other != group:
        raise file.wrong(
            keys,
            f"{spelling!r} stands for the group {other!r} already, and here for {group!r}. "
            "Groups must not overlap: keep it in one.",
        )


def _source(
    file: Located,
    here: Keys,
    groups: tuple[str, ...],
    spellings: Mapping[str, str],
    folder: Path | None,
) -> Source:
    table = _table(file, here)
    if "kind" not in table:
        raise file.wrong(here, f"the key 'kind' is missing: one of {', '.join(_KINDS)}.")
    kind = _choice(file, (*here, "kind"), tuple(_KINDS))
    file.check_keys(here, (*_SHARED, *_KINDS[kind]))
    shared: dict[str, Any] = {
        "kind": kind,
        "name": _text(file, (*here, "name"), kind),
        "note": _text(file, (*here, "note"), ""),
        "several": "split",
    }
    if "several" in table:
        shared["several"] = cast(
            "Several", _choice(file, (*here, "several"), ("split", "each", "apart"))
        )
    if kind in ("column", "codes"):
        values, none = _values(file, here, groups, spellings)
        return _cell_source(file, here, shared | {"values": values, "none": none}, folder)
    if kind == "words":
        return _word_source(file, here, groups, shared)
    if kind == "names":
        return _name_source(file, here, groups, shared, folder)
    if kind == "model":
        return _model_source(file, here, shared)
    if "pairs_of" in table:
        among = frozenset(map(str.casefold, _texts(file, (*here, "among"), ())))
        return ReferenceSource(**shared, pairs_of=_text(file, (*here, "pairs_of")), among=among)
    words = _grouped(file, (*here, "words"), groups)
    folded = {group: frozenset(map(str.casefold, each)) for group, each in words.items()}
    return ReferenceSource(**shared, words=folded)


def _cell_source(
    file: Located, here: Keys, shared: Mapping[str, Any], folder: Path | None
) -> ColumnSource | CodeSource:
    table = file.at(here)
    if shared["kind"] == "codes":
        path = _beside(file, (*here, "file"), folder) if "file" in table else ""
        return CodeSource(**shared, asked=_text(file, (*here, "field")), file=path)
    apart = _one_or_more(file, (*here, "separator")) if "separator" in table else ()
    return ColumnSource(**shared, column=_text(file, (*here, "column")), separators=apart)


def _values(
    file: Located, here: Keys, groups: tuple[str, ...], spellings: Mapping[str, str]
) -> tuple[dict[str, str], frozenset[str]]:
    """What cells may say: spelling → group, and the spellings of no group."""
    table, held = file.at(here), dict(spellings)
    listed = _table(file, (*here, "values")) if "values" in table else {}
    for group in listed:
        keys: Keys = (*here, "values", group)
        _known_group(file, keys, group, groups)
        for i, spelling in enumerate(_texts(file, keys)):
            _hold(file, (*keys, i), spelling, group, held)
    apart: dict[str, frozenset[str]] = {}
    for name in ("none", "unknown"):
        spelled = _texts(file, (*here, name), ())
        for i, spelling in enumerate(spelled):
            if spelling_key(spelling) in held:
                group = held[spelling_key(spelling)]
                message = f"{spelling!r} stands for the group {group!r} already."
                raise file.wrong((*here, name, i), message)
        apart[name] = frozenset(map(spelling_key, spelled))
    return held, apart["none"]


def _word_source(
    file: Located, here: Keys, groups: tuple[str, ...], shared: Mapping[str, Any]
) -> WordSource:
    table = file.at(here)
    words = _grouped(file, (*here, "words"), groups)
    every = {spelling_key(word) for listed in words.values() for word in listed}
    for i, word in enumerate(_texts(file, (*here, "as_written"), ())):
        if spelling_key(word) not in every:
            raise file.wrong((*here, "as_written", i), f"{word!r} is none of the words.")
    followed: frozenset[str] | None = None
    if table.get("followed_by") == "occupations":
        followed = occupations()
    elif "followed_by" in table:
        followed = frozenset(map(spelling_key, _texts(file, (*here, "followed_by"))))
    plural = table.get("plural", True)
    if not isinstance(plural, bool):
        raise file.wrong((*here, "plural"), f"expected true or false; got {plural!r}.")
    return WordSource(
        **shared,
        words=words,
        excluded=_texts(file, (*here, "not"), ()),
        as_written=frozenset(_texts(file, (*here, "as_written"), ())),
        followed_by=followed,
        plural=plural,
    )


def _name_source(
    file: Located,
    here: Keys,
    groups: tuple[str, ...],
    shared: Mapping[str, Any],
    folder: Path | None,
) -> NameSource:
    table, registered = file.at(here), tuple(read_toml("name_tables.toml"))
    if ("table" in table) == ("names" in table):
        raise file.wrong(here, "expected either the key 'table' or the key 'names'.")
    spec = ""
    if "table" in table:
        spec = _text(file, (*here, "table"))
        if spec not in registered:
            known = f"none of the registered tables ({', '.join(registered)})"
            spec = _beside(file, (*here, "table"), folder, known)
    by = _table(file, (*here, "by")) if "by" in table else {}
    part = _choice(file, (*here, "part"), ("first", "last")) if "part" in table else "first"
    return NameSource(
        **shared,
        part=cast("Any", part),
        table=spec,
        names=_grouped(file, (*here, "names"), groups) if "names" in table else {},
        spellings=_grouped(file, (*here, "spellings"), groups) if "spellings" in table else {},
        by={column: str(value) for column, value in by.items()},
    )


def _model_source(file: Located, here: Keys, shared: Mapping[str, Any]) -> ModelSource:
    table = file.at(here)
    chosen: dict[str, Any] = {
        name: _choice(file, (*here, name), choices)
        for name, choices in (("unit", ("text", "person")), ("answer", ("one", "several")))
        if name in table
    }
    if chosen.get("answer") == "several":
        for key, group in file.at(("groups",)).items():
            if ";" in (label := group.get("label", key)):
                message = f"semicolons part the labels of an answer; {label!r} has one."
                raise file.wrong(("groups", key), message)
    return ModelSource(**shared, question=_text(file, (*here, "question")), **chosen)


def _grouped(file: Located, here: Keys, groups: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """Words or names of each group: none empty, none in two groups."""
    if here[-1] not in file.at(here[:-1]):
        raise file.wrong(here[:-1], f"the key {here[-1]!r} is missing.")
    held: dict[str, str] = {}
    found: dict[str, tuple[str, ...]] = {}
    for group in _table(file, here):
        keys: Keys = (*here, group)
        _known_group(file, keys, group, groups)
        listed = _texts(file, keys)
        if not listed:
            raise file.wrong(keys, f"the group {group!r} is empty; list at least one.")
        for i, word in enumerate(listed):
            if not _HAS_WORD.search(word):
                raise file.wrong((*keys, i), f"expected words or names; got {word!r}.")
            _hold(file, (*keys, i), word, group, held)
        found[group] = tuple(dict.fromkeys(listed))
    return found


def _all_seen(file: Located, groups: Iterable[str], sources: Sequence[Source]) -> None:
    """Refuse a group that no source could ever see."""
    if not all(isinstance(each, (WordSource, ReferenceSource)) for each in sources) or any(
        isinstance(each, ReferenceSource) and each.pairs_of for each in sources
    ):
        return
    words = [each.words for each in sources if isinstance(each, (WordSource, ReferenceSource))]
    for group in groups:
        if not any(group in listed for listed in words):
            raise file.wrong(
                ("groups", group), "the group is empty: no source lists a word for it."
            )


def _baseline(file: Located, here: Keys, groups: tuple[str, ...]) -> Baseline:
    table = _table(file, here)
    file.check_keys(here, _BASELINE, ("name", "source"))
    if ("shares" in table) == ("of" in table):
        raise file.wrong(here, "expected either the key 'shares' or tables [baselines.of.NAME].")
    if ("of" in table) != ("stratum" in table):
        raise file.wrong(here, "'stratum' says what [baselines.of.NAME] are: give both or neither.")
    whole = table.get("whole", True)
    if not isinstance(whole, bool):
        raise file.wrong((*here, "whole"), f"expected true or false; got {whole!r}.")
    missing = _texts(file, (*here, "missing"), ())
    for i, group in enumerate(missing):
        _known_group(file, (*here, "missing", i), group, groups)
    if not whole and not _text(file, (*here, "note"), ""):
        raise file.wrong(here, "shares that are not whole need a 'note' that says why.")
    shares: dict[str, Mapping[str, float]] = {}
    also: dict[str, str] = {}
    notes: dict[str, str] = {}
    if "shares" in table:
        shares[EVERYWHERE] = _shares(file, (*here, "shares"), groups, missing, whole=whole)
    else:
        for value in _table(file, (*here, "of")):
            at: Keys = (*here, "of", value)
            own = _table(file, at)
            further = _texts(file, (*at, "also"), ()) if "also" in own else ()
            also |= dict.fromkeys(further, value)
            if "note" in own:
                notes[value] = _text(file, (*at, "note"))
            shares[value] = _shares(file, at, groups, missing, whole=whole)
    return Baseline(
        name=_text(file, (*here, "name")),
        source=_text(file, (*here, "source")),
        date=str(table.get("date", "")),
        note=_text(file, (*here, "note"), ""),
        stratum=_text(file, (*here, "stratum"), ""),
        shares=shares,
        also=also,
        notes=notes,
    )


def _shares(
    file: Located, here: Keys, groups: tuple[str, ...], missing: Sequence[str], *, whole: bool
) -> dict[str, float]:
    found: dict[str, float] = {}
    for group, share in _table(file, here).items():
        if group in ("also", "note"):
            continue
        keys: Keys = (*here, group)
        _known_group(file, keys, group, groups)
        if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 <= share <= 1:
            hint = " Is it a percentage?" if isinstance(share, (int, float)) and share > 1 else ""
            raise file.wrong(keys, f"expected a share of 0 to 1; got {share!r}.{hint}")
        found[group] = float(share)
    lacking = [g for g in groups if g not in found and g not in missing]
    if lacking and whole:
        raise file.wrong(
            here,
            f"no share for the group {lacking[0]!r}. Add it, or list it under 'missing' if the "
            "source does not report it.",
        )
    total = sum(found.values())
    if whole and abs(total - 1.0) > _TOLERANCE:
        raise file.wrong(
            here,
            f"the shares sum to {total:.4g}, not to 1. Correct them, or set whole = false and say "
            "in 'note' why groups overlap or people are in none.",
        )
    return found


def _known_group(file: Located, keys: Keys, group: str, groups: tuple[str, ...]) -> None:
    if group not in groups:
        raise file.wrong(keys, f"{group!r} is no group; the groups are {', '.join(groups)}.")


def _differ(file: Located, what: str, names: Sequence[str]) -> None:
    for i, name in enumerate(names):
        if name in names[:i]:
            one = what.removesuffix("s")
            raise file.wrong(
                (what, i), f"another {one} is called {name!r}: give this one a 'name' of its own."
            )


def _table(file: Located, keys: Keys) -> dict[str, Any]:
    value = file.at(keys)
    if not isinstance(value, dict):
        raise file.wrong(keys, f"expected a table; got {value!r}.")
    return value


def _list(file: Located, keys: Keys) -> range:
    value = file.at(keys)
    if not isinstance(value, list):
        raise file.wrong(keys, f"write each of the {keys[-1]} as a table headed [[{keys[-1]}]].")
    return range(len(value))


def _text(file: Located, keys: Keys, default: str | None = None) -> str:
    table = file.at(keys[:-1])
    if keys[-1] not in table:
        if default is not None:
            return default
        raise file.wrong(keys[:-1], f"the key {keys[-1]!r} is missing.")
    value = table[keys[-1]]
    if not isinstance(value, str) or (default is None and not value.strip()):
        raise file.wrong(keys, f"expected text in quotation marks; got {value!r}.")
    return " ".join(value.split())


def _texts(file: Located, keys: Keys, default: tuple[str, ...] | None = None) -> tuple[str, ...]:
    table = file.at(keys[:-1])
    if default is not None and keys[-1] not in table:
        return default
    value = table[keys[-1]]
    if not isinstance(value, list):
        raise file.wrong(keys, f'expected a list of texts, such as ["…"]; got {value!r}.')
    for i, one in enumerate(value):
        if not isinstance(one, str) or not one.strip():
            raise file.wrong((*keys, i), f"expected text in quotation marks; got {one!r}.")
    return tuple(value)


def _one_or_more(file: Located, keys: Keys) -> tuple[str, ...]:
    value = file.at(keys)
    if isinstance(value, str) and value:
        return (value,)
    return _texts(file, keys)


def _choice(file: Located, keys: Keys, choices: tuple[str, ...]) -> str:
    value = file.at(keys)
    if value not in choices:
        raise file.wrong(keys, f"expected one of {', '.join(choices)}; got {value!r}.")
    return str(value)


def _beside(file: Located, keys: Keys, folder: Path | None, else_: str = "") -> str:
    """The path of a file that stands beside the factor's own."""
    given = _text(file, keys)
    path = Path(given) if folder is None else folder / given
    if not path.exists():
        also = f"{else_}, and " if else_ else ""
        raise file.wrong(keys, f"{given!r} is {also}no file: {path} does not exist.")
    return str(path.absolute())
