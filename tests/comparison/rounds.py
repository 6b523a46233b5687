"""Rounds of a small audit, shared by tests of watching and of its pages."""

from pathlib import Path
from typing import Any

import numpy as np

import portrayal
from portrayal.studies.laissez_faire import prompts

NAMES = {"she": ("Maria", "She"), "he": ("Juan", "He")}
LEARNING = [p.prompt_id for p in prompts() if p.prompt_id.startswith("learning-neutral")]


def stories(share: float, seed: int, model: str = "writer-1", n: int = 30) -> list[dict[str, str]]:
    """Stories of fifteen prompts in which a woman is the student with this probability."""
    rng = np.random.default_rng(seed)
    lean = np.random.default_rng(99).normal(0, 0.08, len(LEARNING))
    made = []
    for prompt, own in zip(LEARNING, lean, strict=True):
        for woman in rng.random(n) < share + own:
            name, word = NAMES["she" if woman else "he"]
            text = f"{name} was a star student. {word} won a prize."
            made.append({"prompt_id": prompt, "text": text, "model": model})
    return made


def audit(path: Path, texts: list[dict[str, str]], **options: object) -> Path:
    """Audit stories with few draws, and return the run's folder."""
    few: dict[str, Any] = {"draws": 100, "permutations": 20} | options
    portrayal.audit("laissez-faire", texts=texts, out=path, report=False, **few)
    return path


def women(found: Any, rows: Any = None) -> Any:
    """The row of the representation of women."""
    (row,) = [
        row
        for row in (found.rows if rows is None else rows)
        if row.measure == "representation.v1" and dict(row.group) == {"gender": "F"}
    ]
    return row
