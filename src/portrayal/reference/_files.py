"""Where the shipped files stand, and how TOML among them is read."""

import tomllib
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any


def data_file(name: str) -> Traversable:
    """Return the shipped file `name`, a path below `reference/data`."""
    return files("portrayal.reference").joinpath("data", *name.split("/"))


def read_toml(name: str) -> dict[str, Any]:
    """Return the content of the shipped TOML file `name`."""
    return tomllib.loads(data_file(name).read_text(encoding="utf-8"))
