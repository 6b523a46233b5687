"""Runs that several tests gate; only read."""

import numpy as np
import pytest

import portrayal
from portrayal.studies.laissez_faire import prompts

NAMES = {"she": ("Maria", "She"), "he": ("Juan", "He")}
LEARNING = [p.prompt_id for p in prompts() if p.prompt_id.startswith("learning-neutral")]


def stories(share: float, seed: int, model: str, n: int = 30) -> list[dict[str, str]]:
    """Stories of fifteen prompts in which a woman is the student with this probability."""
    rng = np.random.default_rng(seed)
    made = []
    for prompt in LEARNING:
        for woman in rng.random(n) < share + rng.normal(0, 0.03):
            name, word = NAMES["she" if woman else "he"]
            text = f"{name} was a star student. {word} won a prize."
            made.append({"prompt_id": prompt, "text": text, "model": model})
    return made


@pytest.fixture(scope="session")
def runs(tmp_path_factory):
    """Runs "base", "again" (the same share of women) and "fewer" (half of it)."""
    folder = tmp_path_factory.mktemp("gated")
    for name, share, seed in (("base", 0.7, 1), ("again", 0.7, 2), ("fewer", 0.35, 3)):
        portrayal.audit(
            study="laissez-faire",
            texts=stories(share, seed, name),
            out=folder / name,
            report=False,
            draws=100,
            permutations=20,
        )
    return folder
