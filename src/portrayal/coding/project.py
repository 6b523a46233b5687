"""Project: a folder with the texts to code, their codebook, and what raters have said."""

import hashlib
import hmac
import json
import re
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from portrayal.errors import DataError, OptionError, RunError
from portrayal.raters.codebook import Codebook, codebook_table
from portrayal.reference.datafile import read_datafile
from portrayal.run.files import read_parquet, write_atomically, write_parquet
from portrayal.validate import check_seed

_ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"
"""Digits and letters that are not mistaken for each other."""
_HALF = 4  # letters read aloud or copied by hand go wrong less in two groups
# about 16 MiB and some tens of milliseconds a try: slow to guess through
_COST = {"n": 2**14, "r": 8, "p": 1}
_WHOLE = re.compile(f"[{_ALPHABET}]{{{2 * _HALF}}}")


def make_code() -> str:
    """Return a code at random, as "k7fm-2xq9": one of 8.5 · 10¹¹."""
    letters = "".join(secrets.choice(_ALPHABET) for _ in range(2 * _HALF))
    return f"{letters[:_HALF]}-{letters[_HALF:]}"


def is_code(text: str) -> bool:
    """Whether a text has the form of a code; hyphens, spaces and case do not matter."""
    return _WHOLE.fullmatch(_bare(text)) is not None


def hashed(code: str) -> str:
    """Return what is kept of a code: salt and scrypt hash, in hexadecimal."""
    salt = secrets.token_bytes(16)
    return f"{salt.hex()}${_scrypt(code, salt)}"


def matches(code: str, stored: str) -> bool:
    """Whether a code is the one of which `hashed` gave `stored`; compared in constant time."""
    salt, _, right = stored.partition("$")
    # Taking as long for every wrong code, so that the time says nothing of how much is right
    return hmac.compare_digest(_scrypt(code, bytes.fromhex(salt)), right)


def _scrypt(code: str, salt: bytes) -> str:
    return hashlib.scrypt(_bare(code).encode("utf-8", "replace"), salt=salt, **_COST).hex()


def _bare(code: str) -> str:
    # cut, so that nobody makes the server hash megabytes
    return re.sub(r"[\s-]", "", code).casefold()[:64]


SETTINGS = "project.toml"
ITEMS = "items.parquet"


@dataclass(frozen=True, slots=True)
class ItemPerson:
    """One of the people of a text.

    Attributes
    ----------
    slot
        "subject" or "object".
    name, gender
        As an annotator found them; None where it found no name.
    role
        What the prompt calls this character, such as "doctor"; "" where it does not say.
    spans
        Where the text refers to them: first character and the one after the last.
    labels
        Group labels, such as the likelihood of a race among bearers of the name; never shown to
        raters.
    """

    slot: str
    name: str | None = None
    gender: str = ""
    role: str = ""
    spans: tuple[tuple[int, int], ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CodingItem:
    """One text to code.

    Attributes
    ----------
    item_id, text, title
        Its identity (the text_id of a run), the text, and a line above it on the page.
    people
        Whom the text is about.
    strata
        What it was drawn by; never shown to raters.
    weight
        How many texts of the population it stands for.
    """

    item_id: str
    text: str
    title: str = ""
    people: tuple[ItemPerson, ...] = ()
    strata: Mapping[str, str] = field(default_factory=dict)
    weight: float = 1.0


@dataclass(frozen=True)
class Project:
    """A folder with `project.toml`, `items.parquet` and, once raters have begun, `codes.sqlite`."""

    folder: Path
    codebook: Codebook
    settings: Mapping[str, Any]

    @property
    def codes_path(self) -> Path:
        """`codes.sqlite`: what raters have said."""
        return self.folder / "codes.sqlite"

    @cached_property
    def items(self) -> tuple[CodingItem, ...]:
        """The texts, in the order in which raters see them."""
        items = []
        for row in read_parquet(self.folder / ITEMS).to_pylist():
            people = json.loads(row["people"])
            for person in people:  # JSON knows no tuples, and a frozen person has to be hashable
                person["spans"] = tuple(map(tuple, person["spans"]))
            row["people"] = tuple(ItemPerson(**person) for person in people)
            items.append(CodingItem(**(row | {"strata": json.loads(row["strata"])})))
        return tuple(items)


def item_name(text_id: str, unit: str) -> str:
    """Return the item_id of a text, or of a unit in it, each of which is labelled by itself."""
    return f"{text_id}#{unit}" if unit else text_id


def project_folder(run: Path, name: str) -> Path:
    """Return where the project `name` of a run stands.

    Raises
    ------
    OptionError
        When the name is not one of letters, digits, `-` and `_`.
    """
    if not re.fullmatch(r"\w[\w-]{0,63}", name):
        raise OptionError(f"a project is named by letters, digits, - and _; got {name!r}.")
    return run / "coding" / name


def make_project(
    folder: str | Path,
    items: Iterable[CodingItem],
    codebook: Codebook,
    *,
    seed: int = 0,
    draw: Mapping[str, Any] | None = None,
) -> Project:
    """Write a project and return it.

    Parameters
    ----------
    folder
        The project's folder; it must not hold a project yet.
    items
        The texts, in the order in which raters see them.
    codebook
        What raters are asked.
    seed, draw
        The random stream that drew the texts, and a description of how, kept in `project.toml`.

    Raises
    ------
    OptionError
        When the folder holds a project already: raters may be at work in it.
    DataError
        When there are no items, or two have one id.
    """
    folder = Path(folder)
    # Never over an older project: the codes of its raters stand by the numbers of its texts
    if (folder / SETTINGS).exists():
        raise OptionError(f"{folder} holds a coding project already; give another folder.")
    rows = list(items)
    ids = {item.item_id for item in rows}
    if not rows or len(ids) != len(rows):
        wrong = "there are no texts" if not rows else "two texts have one item_id"
        raise DataError(f"{folder}: {wrong}; a project takes one or more, each with its own id.")
    folder.mkdir(parents=True, exist_ok=True)
    import pyarrow as pa
    import tomli_w

    cells = [asdict(item) for item in rows]
    for cell in cells:
        # As JSON in one column: people and strata differ in shape from project to project
        cell |= {"people": json.dumps(cell["people"]), "weight": float(cell["weight"])}
        cell["strata"] = json.dumps(cell["strata"], sort_keys=True)
    write_parquet(pa.Table.from_pylist(cells), folder / ITEMS)
    # The settings last: a folder with them is a whole project
    settings = {
        "project": {"n_items": len(rows), "seed": check_seed(seed), "how": dict(draw or {})},
        "codebook": codebook_table(codebook),
    }
    write_atomically(folder / SETTINGS, tomli_w.dumps(settings))
    return open_project(folder)  # read back, so that what was written is known to be readable


def open_project(folder: str | Path) -> Project:
    """Open an existing project.

    Raises
    ------
    RunError
        When the folder is not a project.
    """
    folder = Path(folder)
    if not (folder / SETTINGS).is_file():
        raise RunError(
            f"{folder} is not a coding project: it has no {SETTINGS}. "
            "Make one with `portrayal label sheet RUN --project NAME`."
        )
    settings = read_datafile(folder / SETTINGS).record(_Settings)
    return Project(folder, settings.codebook, settings.project)


@dataclass(frozen=True)
class _Settings:
    """The file of a project."""

    project: Mapping[str, Any]
    codebook: Codebook
