"""What a comparison says in sentences."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import portrayal
from portrayal.comparison.compare import Side
from portrayal.report.compared import change_lines
from portrayal.run import Run

from .test_browser import HOSTILE

NAMES = {"she": ("Maria", "She"), "he": ("Juan", "He")}


def stories(share: float, model: str) -> Iterator[dict[str, str]]:
    from portrayal.studies.laissez_faire import prompts

    chosen = [p.prompt_id for p in prompts() if p.prompt_id.startswith("learning-neutral")]
    for at, prompt in enumerate(chosen):
        for i in range(24):
            name, word = NAMES["she" if i < round(24 * share) + at % 4 - 2 else "he"]
            more = HOSTILE if i % 2 else ""
            text = f"{name} was a star student. {word} won a prize. {more}"
            yield {"prompt_id": prompt, "text": text, "model": model}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three rounds; the third differs. Models have hostile names."""
    path = tmp_path_factory.mktemp("series")
    for month, share in ((1, 0.15), (2, 0.16), (3, 0.9)):
        portrayal.audit(
            study="laissez-faire",
            texts=list(stories(share, f"{HOSTILE} {month // 3}")),
            out=path / f"2026-0{month}-01",
            report=False,
            draws=100,
            permutations=20,
        )
    return path


@pytest.fixture(scope="module")
def sides(folder: Path) -> tuple[Side, Side]:
    return Side(Run.open(folder / "2026-01-01")), Side(Run.open(folder / "2026-03-01"))


def test_a_comparison_says_what_changed(sides: tuple[Side, Side]) -> None:
    lines = list(change_lines(portrayal.compare(*sides), sides))
    assert "309 of 360 people in stories about learning are men in" in lines[0]
    assert "×0.126 (0.0906 to 0.174), q <0.001." in lines[0]
    assert 1 < len(lines) <= 5


def test_sides_that_are_the_same_have_no_clear_change(sides: tuple[Side, Side]) -> None:
    same = sides[0], sides[0]
    (line,) = change_lines(portrayal.compare(*same), same)
    assert line.startswith("No clear change")


def test_odd_numbers_have_a_line(sides: tuple[Side, Side]) -> None:
    """Infinite bounds, no margin, values of 0 and None, and nothing that may be stated at all."""
    found = portrayal.compare(*sides)
    odd = {"low": 0.0, "high": float("inf"), "margin": None, "equivalent": None}
    rows = [replace(row, **odd, value_a=0.0) for row in found.rows if row.stated]
    rows += [replace(row, value_b=None, change=None, low=None, high=None) for row in rows]
    assert list(change_lines(replace(found, rows=tuple(rows)), sides))
    assert not list(change_lines(replace(found, rows=()), sides))
