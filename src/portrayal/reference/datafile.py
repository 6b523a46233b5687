"""Data files: TOML or JSON as typed records, and what is wrong with file, line and key.

The schema of a file is a frozen dataclass: its fields are the keys, its annotations what they hold,
its defaults what may be left out. A field with `Annotated[str, KEY]` takes the name of the table
that it stands in, one with `KeyName("not")` another key than its own name, one with a `Holds` what
that accepts. What two keys must have in common the dataclass says in `__post_init__`, or whoever
reads it by `DataFile.wrong`.
"""

import hashlib
import json
import math
import os
import re
import tomllib
import types
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from difflib import get_close_matches
from functools import cached_property, lru_cache
from importlib.resources.abc import Traversable
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Generic, Literal, TypeVar, Union, get_args, get_origin
from typing import get_type_hints as hints_of

from portrayal.errors import DataError, PortrayalError, UnknownNameError

T = TypeVar("T")
Key = str | int
Keys = tuple[Key, ...]
"""The way to a value: names of tables and keys, and the places in lists, from 0."""

KEY = "key"
"""Marks the field of a record that takes the name of its table."""


@dataclass(frozen=True)
class KeyName:
    """Another key than the name of the field."""

    key: str


@dataclass(frozen=True)
class Holds:
    """What a value must be beside its type.

    Attributes
    ----------
    expected
        In words: "a share of 0 to 1".
    accepts
        Whether a value of the type is one.
    convert
        What the record holds in place of the value.
    reads
        What the file holds in place of the annotation.
    """

    expected: str = ""
    accepts: Callable[[Any], bool] = lambda _: True
    convert: Callable[[Any], Any] = lambda value: value
    reads: Any = None


def matching(pattern: str, expected: str) -> Holds:
    """Return what holds text that a pattern matches as a whole."""
    return Holds(expected, lambda text: re.fullmatch(pattern, text) is not None)


ALLOWED_OUTSIDE = "PORTRAYAL_ALLOW_OUTSIDE"
"""Variable of the folders, joined as in PATH, of which files in data may be."""

Line = Annotated[str, Holds("text", convert=lambda text: " ".join(text.split()))]
"""Text on one line, however it is broken in the file."""
Name = Annotated[str, matching("[a-z0-9][a-z0-9_-]*", "small letters, digits, - and _")]
Word = Annotated[str, Holds("text in quotation marks", lambda text: bool(text.strip()))]
Term = Annotated[str, Holds("words or names", lambda text: re.search(r"[^\W_]", text) is not None)]
"""Words or a name: a text with at least one letter or digit."""
Share = Annotated[float, Holds("a share of 0 to 1", lambda share: 0 <= share <= 1)]


@dataclass(frozen=True)
class Problems:
    """What is wrong in several places of a file, said all at once.

    >>> problems = Problems(parse_toml("a = 1", "own.toml"))
    >>> for message in ("one", "two"):
    ...     problems.add(("a",), message)
    >>> problems.tell()
    Traceback (most recent call last):
    portrayal.errors.DataError: own.toml, line 1: a: one
    own.toml, line 1: a: two
    """

    file: "DataFile"
    messages: list[str] = field(default_factory=list)

    def add(self, keys: Keys, message: str) -> None:
        """Note what is wrong with what stands at `keys`."""
        self.messages.append(str(self.file.wrong(keys, message)))

    @contextmanager
    def noted(self) -> Iterator[None]:
        """Keep an error that is raised within, and go on."""
        try:
            yield
        except DataError as error:
            self.messages.append(str(error))

    def tell(self) -> None:
        """Raise one error with a line for each that was noted; nothing where none was."""
        if self.messages:
            raise DataError("\n".join(dict.fromkeys(self.messages)))


@dataclass(frozen=True)
class DataFile:
    """What a file says, and where.

    Attributes
    ----------
    name
        How messages speak of the file.
    table
        Its content.
    text
        As it is written.
    path
        Where it stands; None for one that ships.
    form
        What it is written in.
    """

    name: str
    table: dict[str, Any]
    text: str = field(repr=False)
    path: Path | None = None
    form: Literal["toml", "json"] = "toml"

    @property
    def digest(self) -> str:
        """Tells one content of the file from another."""
        return hashlib.blake2b(repr(self.table).encode(), digest_size=8).hexdigest()

    def at(self, keys: Keys) -> Any:
        """Return the value at `keys`."""
        value: Any = self.table
        for key in keys:
            value = value[key]
        return value

    def line(self, keys: Keys) -> int:
        """Return the line of a key, or of what holds it where it is missing; the first line is 1.

        >>> parse_toml(chr(10).join(("b = [", "1,", "2]")), "own.toml").line(("b", 1))
        3
        """
        # A key that is missing has no line: the table that lacks it has one
        while not _has(self.table, keys):
            keys = keys[:-1]
        # `tomllib` gives lines of syntax errors only: the first so many lines that hold the key
        n_lines = range(1, self.text.count("\n") + 2)
        return 1 + bisect_left(n_lines, True, key=lambda n: _has(_beginning(self.text, n), keys))

    def wrong(self, keys: Keys, message: str) -> DataError:
        """Return the error of what stands at `keys`: file, line, key and what was expected.

        >>> str(parse_toml("a = 1", "own.toml").wrong(("a",), "expected text; got 1."))
        'own.toml, line 1: a: expected text; got 1.'
        """
        dotted = ".".join(key for key in keys if isinstance(key, str))
        place = "" if self.form == "json" else f", line {self.line(keys)}"
        return DataError(f"{self.name}{place}: {f'{dotted}: ' if dotted else ''}{message}")

    def beside(self, keys: Keys, path_text: str, need: str = "", *, or_name: bool = False) -> str:
        """Return the path of a file that stands beside this one: the resolver of paths in data.

        A path that leaves the file's own folder, by `..`, from the root or by a link, is refused,
        unless it is below a folder that the variable `ALLOWED_OUTSIDE` names: who shares a data
        file does not say what is read here.

        Parameters
        ----------
        keys, path_text
            Where it is named, and how.
        need
            What else it might have been: "none of the registered tables".
        or_name
            Whether text that is no file and has no ending is a name, which stays as it is.

        Raises
        ------
        DataError
            When it is not there, or outside.
        """
        path = Path(path_text) if self.path is None else self.path.parent / path_text
        if path.exists():
            allowed = filter(None, os.environ.get(ALLOWED_OUTSIDE, "").split(os.pathsep))
            homes = (Path() if self.path is None else self.path.parent, *map(Path, allowed))
            # Resolved, so that neither ".." nor a link leads out of the folder.
            real = path.resolve()
            if not any(real.is_relative_to(home.resolve()) for home in homes):
                raise self.wrong(
                    keys,
                    f"{path_text!r} leads out of the file's folder, to {real}. Copy it beside the "
                    f"file, or set the variable {ALLOWED_OUTSIDE}={real.parent}.",
                )
            return str(path.absolute())
        if or_name and not Path(path_text).suffix:
            return path_text
        also = f"{need}, and " if need else ""
        raise self.wrong(keys, f"{path_text!r} is {also}no file: {path} does not exist.")

    def differ(self, keys: Keys, names: list[str]) -> None:
        """Refuse tables of the list at `keys` of which two have one name.

        Raises
        ------
        DataError
            With the line of the second.
        """
        for i, name in enumerate(names):
            if name in names[:i]:
                raise self.wrong(
                    (*keys, i),
                    f"another one of the {keys[-1]} is called {name!r}: give this one a name of "
                    "its own.",
                )

    def record(self, kind: type[T], keys: Keys = (), **extra: Any) -> T:
        """Return the table at `keys` as a record.

        Parameters
        ----------
        kind
            A dataclass: the schema.
        keys
            The way to the table.
        extra
            Values of fields that the file does not say.

        Raises
        ------
        DataError
            With file, line and key, and what was expected.

        Examples
        --------
        >>> @dataclass(frozen=True)
        ... class Pet:
        ...     name: str
        ...     legs: int = 4
        >>> parse_toml("name = 'Rex'", "pet.toml").record(Pet)
        Pet(name='Rex', legs=4)
        >>> parse_toml("legs = 'two'", "pet.toml").record(Pet, name="Rex")
        Traceback (most recent call last):
        portrayal.errors.DataError: pet.toml, line 1: legs: expected a whole number; got 'two'.
        """
        values = self.values(kind, keys, **extra)
        try:
            return kind(**values, **extra)
        except DataError:
            raise
        except PortrayalError as error:
            # The record refuses values that do not go together: the first key that it names
            # says the line.
            table = self.at(keys)
            keys_in_error = (word for word in re.findall(r"\w+", str(error)) if word in table)
            raise self.wrong((*keys, *[*keys_in_error][:1]), str(error)) from None

    def values(self, kind: type, keys: Keys = (), **extra: Any) -> dict[str, Any]:
        """Return what the table at `keys` says of the fields of a dataclass; as `record`."""
        table = self.at(keys)
        if not isinstance(table, dict):
            raise self.wrong(keys, f"expected a table; got {table!r}.")
        hints = _hints(kind)
        slots = {slot.name: slot for slot in fields(kind) if slot.init and slot.name not in extra}
        marks = {name: getattr(hints[name], "__metadata__", ()) for name in slots}
        key_of = {
            name: next((mark.key for mark in marks[name] if isinstance(mark, KeyName)), name)
            for name in slots
            if KEY not in marks[name]
        }
        # All that is wrong with a table is told at once, not one error a run: first the keys that
        # nobody knows, as one of them may be meant for one that is missing
        problems = Problems(self)
        for key in table:
            if key not in key_of.values():
                near = get_close_matches(key, key_of.values(), 1)
                meant = f" Is {near[0]!r} meant?" if near else ""
                allowed = ", ".join(key_of.values())
                problems.add((*keys, key), f"unknown key; expected one of {allowed}.{meant}")
        values: dict[str, Any] = {}
        for name, slot in slots.items():
            needed = slot.default is MISSING and slot.default_factory is MISSING
            if name not in key_of:
                values[name] = keys[-1]
                if not isinstance(keys[-1], str):
                    raise self.wrong(keys, f"expected tables by name, headed [{keys[-2]}.NAME].")
                continue
            if key_of[name] in table:
                with problems.noted():
                    values[name] = self.value(hints[name], (*keys, key_of[name]), needed=needed)
            elif needed:
                problems.add(keys, f"the key {key_of[name]!r} is missing.")
        problems.tell()
        return values

    def value(self, hint: Any, keys: Keys, *, needed: bool = True) -> Any:
        """Return the value at `keys` as an annotation asks for it; a blank text if not `needed`."""
        value, origin, args, shape = self.at(keys), get_origin(hint), get_args(hint), _shape(hint)
        if origin is Annotated:
            holds = next((mark for mark in args[1:] if isinstance(mark, Holds)), Holds())
            read = self.value(holds.reads or args[0], keys, needed=needed)
            if not holds.accepts(read):
                raise self._expected(keys, holds.expected)
            return holds.convert(read)
        if origin in (Union, types.UnionType):
            return self._one_of([kind for kind in args if kind is not type(None)], keys, needed)
        if origin is Literal and value not in args:
            raise self._expected(keys, f"one of {', '.join(map(str, args))}")
        if hint is Any or origin is Literal:
            return value
        if shape in (tuple, frozenset):
            elements = self._elements(args, keys)
            return tuple(elements) if shape is tuple else frozenset(elements)
        # To Python True is a whole number
        fits = isinstance(value, _PYTHON[shape]) and (shape is bool or not isinstance(value, bool))
        if fits and shape is float:  # neither NaN nor a whole number beyond all floats
            fits = not math.isnan(value) if isinstance(value, float) else abs(value) < 1e300
        if not fits or (shape is str and needed and not value.strip()):
            raise self._expected(keys, _WORDS[shape])
        if shape is dict:
            return dict(
                zip(value, self._each(args[1], [(*keys, key) for key in value]), strict=True)
            )
        result = self.record(hint, keys) if shape is object else value
        return float(value) if shape is float else result

    def _one_of(self, kinds: list[Any], keys: Keys, needed: bool) -> Any:
        """The value at `keys` as the one of several annotations that it fits."""
        value = self.at(keys)
        # Records are told apart by what their field "kind" may hold
        hints = [(kind, _hints(kind).get("kind")) for kind in kinds if _shape(kind) is object]
        records = {str((*get_args(_bare(hint)), "")[0]): kind for kind, hint in hints}
        if len(records) > 1:
            if "kind" not in value:
                raise self.wrong(
                    keys, f"the key 'kind' is missing: expected one of {', '.join(records)}."
                )
            if value["kind"] not in records:
                raise self._expected((*keys, "kind"), f"one of {', '.join(records)}")
            return self.record(records[value["kind"]], keys)
        for kind in kinds:
            # To Python true is a whole number as well; in a file it is none.
            if isinstance(value, _PYTHON[_shape(kind)]) and not isinstance(value, bool):
                return self.value(kind, keys, needed=needed)
        raise self._expected(keys, " or ".join(_WORDS[_shape(kind)] for kind in kinds))

    def _each(self, hint: Any, places: Sequence[Keys]) -> list[Any]:
        """The values at these places as an annotation asks for them."""
        values, problems = [], Problems(self)
        for keys in places:
            with problems.noted():
                values.append(self.value(hint, keys))
        problems.tell()
        return values

    def _elements(self, args: tuple[Any, ...], keys: Keys) -> Iterable[Any]:
        """The elements of the list at `keys`, or of tables by name where records are listed."""
        value, head = self.at(keys), ".".join(key for key in keys if isinstance(key, str))
        tables = _shape(args[0]) in (object, dict)
        marks = _hints(_bare(args[0])).values() if _shape(args[0]) is object else ()
        # Records that take the names of their tables
        by_name = any(KEY in getattr(hint, "__metadata__", ()) for hint in marks)
        if by_name and isinstance(value, dict):
            return self._each(args[0], [(*keys, key) for key in value])
        if tables and not (isinstance(value, list) and all(isinstance(v, dict) for v in value)):
            form = f"[{head}.NAME]" if by_name else f"[[{head}]]"
            raise self.wrong(keys, f"expected tables, each headed {form}.")
        if not isinstance(value, list):
            raise self._expected(keys, _WORDS[tuple])
        fixed = () if args[-1] is ... or len(args) == 1 else args
        if fixed and len(value) != len(fixed):
            raise self._expected(keys, f"a list of {len(fixed)} values")
        if fixed:
            return (self.value(kind, (*keys, i)) for i, kind in enumerate(fixed))
        return self._each(args[0], [(*keys, i) for i in range(len(value))])

    def _expected(self, keys: Keys, need: str) -> DataError:
        return self.wrong(keys, f"expected {need}; got {self.at(keys)!r}.")


def _has(value: Any, keys: Keys) -> bool:
    """Whether a table holds a value at `keys`."""
    try:
        for key in keys:
            value = value[key]
    except (LookupError, TypeError):
        return False
    return True


_ENDS = tuple(
    quote + "".join(signs)
    for n in range(7)
    for signs in product("]}", repeat=n)
    for quote in ("", '"""', "'''")
)
"""What may close the lists, tables and texts that are open at the end of a line."""


@lru_cache(maxsize=64)
def _beginning(text: str, n: int) -> dict[str, Any]:
    """What the first `n` lines of valid TOML say, whatever they leave open closed."""
    lines = "".join(f"{line}\n" for line in text.split("\n")[:n])
    for end in _ENDS:
        with suppress(tomllib.TOMLDecodeError):
            return tomllib.loads(lines + end)
    return {}


_PYTHON: dict[Any, tuple[type, ...]] = {
    str: (str,),
    bool: (bool,),
    int: (int,),
    float: (int, float),
    tuple: (list,),
    dict: (dict,),
    object: (dict,),
}
_WORDS: dict[Any, str] = {
    str: "text in quotation marks",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    tuple: 'a list of texts, such as ["…"]',
    dict: "a table",
    object: "a table",
}


def _bare(hint: Any) -> Any:
    """An annotation without its marks; of several records the first."""
    while get_origin(hint) in (Annotated, Union, types.UnionType):
        hint = get_args(hint)[0]
    return hint


def _shape(hint: Any) -> Any:
    """What of `_PYTHON` a value of an annotation is."""
    bare = _bare(hint)
    if is_dataclass(bare):
        return object
    origin = get_origin(bare) or bare
    return dict if origin is Mapping else origin


@lru_cache(maxsize=64)
def _hints(record: type) -> Mapping[str, Any]:
    return hints_of(record, include_extras=True)


def read_datafile(path: str | Path) -> DataFile:
    """Read a file of JSON (.json) or of TOML (any other ending).

    Raises
    ------
    DataError
        When it cannot be read or is not what its ending says, with the line.
    """
    path = Path(path)
    try:
        # The size first: parsing some hundred megabytes could take all memory
        if (size := path.stat().st_size) > MOST_BYTES:
            raise DataError(
                f"{path} has {size:,} bytes; a file of settings, words or prompts has at most "
                f"{MOST_BYTES:,}. Put long tables into CSV files that it names."
            )
        text = path.read_bytes().decode("utf-8-sig")  # Excel begins UTF-8 with a mark
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not UTF-8 text: {error.reason}.") from error
    if path.suffix.casefold() != ".json":
        return parse_toml(text, str(path), path)
    try:
        table = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}: not JSON: {error}.") from error
    if not isinstance(table, dict):
        raise DataError(f"{path}, line 1: expected a table; got a list or a value.")
    return DataFile(str(path), table, text, path, "json")


MOST_BYTES = 5_000_000
"""Size of a file of TOML or JSON: it is checked before anything is parsed."""
_MOST_PARTS = 64
_WORD = r"""(?:[A-Za-z0-9_-]++|"[^"\n]*+"|'[^'\n]*+')"""
_DEEP = re.compile(rf"(?<![A-Za-z0-9_-]){_WORD}(?:[ \t]*+\.[ \t]*+{_WORD}){{{_MOST_PARTS}}}")
_AT_LINE = re.compile(r"\s*\(at (?:line (\d+), column \d+|end of document)\)")


def parse_toml(text: str, name: str, path: Path | None = None) -> DataFile:
    """Return what TOML text says; `name` stands for the file in messages.

    Raises
    ------
    DataError
        When it is not TOML, with the line.
    """
    # tomllib takes quadratic time for keys of thousands of parts
    if (deep := _DEEP.search(text)) is not None:
        line = 1 + text.count("\n", 0, deep.start())
        raise DataError(f"{name}, line {line}: a key has more than {_MOST_PARTS} parts.")
    try:
        table = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        match = _AT_LINE.search(str(error))
        line = int(match[1]) if match is not None and match[1] else max(1, len(text.splitlines()))
        cause = _AT_LINE.sub("", str(error))
        raise DataError(f"{name}, line {line}: not TOML: {cause}.") from None
    return DataFile(name, table, text, path)


def file_states(paths: Iterable[str | Path]) -> dict[str, str]:
    """Return what tells one state of each file from another: its size and time, by its path."""
    stats = {str(path): Path(path).stat() for path in paths}
    return {path: f"{stat.st_size}:{stat.st_mtime_ns}" for path, stat in stats.items()}


@dataclass(frozen=True)
class Catalogue(Generic[T]):
    """The files of a kind that ship, and those that a user names by their path.

    Attributes
    ----------
    noun
        What one of them is: "a factor".
    folder
        Where those that ship stand.
    read
        Function of a name and a file to what the file describes.
    file
        Name of the file in a folder of its own, for kinds that are folders; "" for files.
    """

    noun: str
    folder: Traversable
    read: Callable[[str, DataFile], T]
    file: str = ""
    _shipped: dict[str, T] = field(default_factory=dict, repr=False)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of those that ship, sorted."""
        names = [entry.name for entry in self.folder.iterdir()]
        if not self.file:
            names = [name.removesuffix(".toml") for name in names if name.endswith(".toml")]
        return tuple(sorted(names))

    def load(self, spec: str | Path) -> T:
        """Return one by its name, which is read once, or from a file or folder of the user's own.

        Raises
        ------
        UnknownNameError
            When there is neither.
        DataError
            With file, line and key, and what was expected.
        """
        name = str(spec)
        if name in self.names:
            if name not in self._shipped:
                inside = f"{name}/{self.file}" if self.file else f"{name}.toml"
                text = self.folder.joinpath(*inside.split("/")).read_text(encoding="utf-8")
                self._shipped[name] = self.read(name, parse_toml(text, inside))
            return self._shipped[name]
        path = Path(spec) / self.file if self.file else Path(spec)
        if not path.is_file():
            need = f"a folder with a file {self.file}" if self.file else "a file that exists"
            raise UnknownNameError(
                f"{name!r} is neither {self.noun} that ships ({', '.join(self.names)}) nor {need}. "
                "Name one of them, or give the path of your own."
            )
        name_of_file = path.absolute().parent.name if self.file else path.stem
        return self.read(name_of_file, read_datafile(path))
