"""Coders: what is kept of each language model that was asked to code a project."""

import json
from typing import Any

from portrayal.coding.project import Project

CODERS = "coders"
"""Folder of a project in which the answers of models are kept, one folder for each."""
NOTE = "coder.json"


def coder_notes(project: Project) -> list[dict[str, Any]]:
    """Return what each model did: its rater, texts coded and failed, and what was removed."""
    paths = sorted((project.folder / CODERS).glob(f"*/{NOTE}"))
    return [json.loads(path.read_text("utf-8")) for path in paths]
