"""The reader of data files: records by annotations, and messages with file, line and key."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portrayal.errors import DataError, OptionError, UnknownNameError
from portrayal.reference.datafile import (
    KEY,
    Catalogue,
    DataFile,
    Holds,
    KeyName,
    Line,
    Name,
    Share,
    Word,
    parse_toml,
    read_datafile,
)


@dataclass(frozen=True)
class Toy:
    name: Annotated[str, KEY]
    price: float = 0.0


@dataclass(frozen=True)
class Dog:
    kind: Literal["dog"]
    legs: int = 4


@dataclass(frozen=True)
class Fish:
    kind: Literal["fish"]
    salt: bool = False


@dataclass(frozen=True)
class Owner:
    name: Name
    note: Line = ""
    part: Share = 1.0
    words: str | tuple[Word, ...] = ()
    unlike: Annotated[tuple[Word, ...], KeyName("not")] = ()
    pair: tuple[float, float] | None = None
    marks: frozenset[str] = frozenset()
    sizes: Mapping[str, int] | None = None
    upper: Annotated[str, Holds("small letters", str.islower, str.upper)] = ""
    toys: tuple[Toy, ...] = ()
    pets: tuple[Dog | Fish, ...] = ()

    def __post_init__(self) -> None:
        if self.unlike and self.words == self.unlike:
            raise OptionError("not and words are the same.")


FULL = """\
name = "ann"
note = '''
two
lines'''
part = 1
words = "one"
not = ["two"]
pair = [1, 2.5]
marks = ["a", "a"]
sizes = { s = 1 }
upper = "abc"
[toys.ball]
price = 2
[[pets]]
kind = "fish"
salt = true
[[pets]]
kind = "dog"
"""


def test_a_record_is_read_by_its_annotations() -> None:
    assert parse_toml(FULL, "own.toml").record(Owner) == Owner(
        name="ann",
        note="two lines",
        part=1.0,
        words="one",
        unlike=("two",),
        pair=(1.0, 2.5),
        marks=frozenset("a"),
        sizes={"s": 1},
        upper="ABC",
        toys=(Toy("ball", 2.0),),
        pets=(Fish("fish", True), Dog("dog")),
    )
    assert parse_toml("part = 0.5", "own.toml").record(Owner, name="ann") == Owner("ann", part=0.5)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"ann"', '"Ann"', "line 1: name: expected small letters, digits, - and _; got 'Ann'."),
        ('name = "ann"', "", "line 1: the key 'name' is missing."),
        ("part = 1", "part = 50", "line 5: part: expected a share of 0 to 1; got 50."),
        ("part = 1", "part = nan", "line 5: part: expected a number; got nan."),
        ("part = 1", "part = true", "line 5: part: expected a number; got True."),
        ('"one"', "3", "line 6: words: expected text in quotation marks or a list of texts"),
        ('["two"]', '[" "]', "line 7: not: expected text in quotation marks; got ' '."),
        ("not = ", "nto = ", "line 7: nto: unknown key; expected one of name, .* Is 'not' meant"),
        ("[1, 2.5]", "[1]", "line 8: pair: expected a list of 2 values; got [1]."),
        ("s = 1", "s = 1.5", "line 10: sizes.s: expected a whole number; got 1.5."),
        ('"abc"', '"ABC"', "line 11: upper: expected small letters; got 'ABC'."),
        ("[toys.ball]", "[[toys]]", "line 12: toys: expected tables by name, headed [toys.NAME]."),
        ("salt = true", "salt = 1", "line 16: pets.salt: expected true or false; got 1."),
        ('"fish"', '"bird"', "line 15: pets.kind: expected one of dog, fish; got 'bird'."),
        (
            'kind = "dog"',
            "",
            "line 17: pets: the key 'kind' is missing: expected one of dog, fish.",
        ),
        ('"one"', '["two"]', "line 7: not: not and words are the same."),
        ("[[pets]]", "[pets]", "not TOML|pets: expected tables, each headed [[pets]]"),
    ],
)
def test_what_is_wrong_is_said_with_file_line_and_key(old: str, new: str, message: str) -> None:
    pattern = re.escape(message).replace(r"\.\*", ".*").replace(r"\|", "|")
    with pytest.raises(DataError, match=f"^own.toml, (line \\d+: )?({pattern})"):
        parse_toml(FULL.replace(old, new), "own.toml").record(Owner)


def test_json_is_read_as_toml_is(tmp_path: Path) -> None:
    path = tmp_path / "own.json"
    path.write_text('{"name": "ann", "part": 2}', encoding="utf-8")
    with pytest.raises(DataError, match=r"own\.json: part: expected a share of 0 to 1; got 2"):
        read_datafile(path).record(Owner)
    path.write_text("[]", encoding="utf-8")
    with pytest.raises(DataError, match="expected a table"):
        read_datafile(path)


def test_a_catalogue_holds_what_ships_and_reads_what_is_named(tmp_path: Path) -> None:
    (tmp_path / "shipped").mkdir()
    (tmp_path / "shipped" / "one.toml").write_text("price = 1", encoding="utf-8")
    (tmp_path / "two.toml").write_text("price = 2", encoding="utf-8")

    def read(name: str, file: DataFile) -> Toy:
        return file.record(Toy, name=name)

    toys = Catalogue("a toy", tmp_path / "shipped", read)
    assert toys.names == ("one",)
    assert toys.load("one") == Toy("one", 1.0)
    assert toys.load("one") is toys.load("one")
    assert toys.load(tmp_path / "two.toml") == Toy("two", 2.0)
    with pytest.raises(UnknownNameError, match=r"neither a toy that ships \(one\) nor a file"):
        toys.load("three")


keys = st.text('abcé ."#', min_size=1, max_size=4)
values = st.recursive(
    st.one_of(st.integers(0, 9), st.booleans(), st.text("ab#]}\"'\n", max_size=5)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(keys, inner, max_size=3)),
    max_leaves=12,
)


@given(st.dictionaries(keys, values, max_size=4))
def test_every_key_and_element_has_the_line_on_which_it_stands(table: dict[str, Any]) -> None:
    import tomli_w

    text = tomli_w.dumps(table, multiline_strings=True)
    file = parse_toml(text, "any.toml")
    assert file.table == tomllib.loads(text)
    lines = text.splitlines()

    def walk(value: Any, way: tuple[str | int, ...]) -> None:
        own = file.line(way)
        assert 1 <= own <= max(1, len(lines))
        if way and isinstance(way[-1], str) and way[-1].isascii() and way[-1].isalpha():
            assert way[-1] in lines[own - 1]
        if isinstance(value, int) and not isinstance(value, bool):
            assert str(value) in lines[own - 1]
        if isinstance(value, (dict, list)):
            parts = value.items() if isinstance(value, dict) else enumerate(value)
            for key, inner in parts:
                walk(inner, (*way, key))

    walk(table, ())
