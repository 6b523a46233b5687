"""Schemas: JSON Schema (2020-12) of what commands print of a run, by names with versions."""

import json
from importlib.resources import files
from typing import Any

from portrayal.validate import check_choice

SCHEMAS = {"findings": "portrayal.findings.v1", "estimates": "portrayal.estimates.v2"}
"""What is printed → name of its schema, which stands in it; another form has another version."""


def schema(name: str) -> dict[str, Any]:
    """Return the JSON Schema of "findings" or "estimates".

    >>> schema("findings")["$id"]
    'portrayal.findings.v1'
    """
    file = SCHEMAS[check_choice("name", name, SCHEMAS)].removeprefix("portrayal.")
    read: dict[str, Any] = json.loads(files(__name__).joinpath(f"{file}.json").read_text("utf-8"))
    return read
