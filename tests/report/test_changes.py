"""Pages of comparisons: what they say, and what a browser makes of them."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import portrayal
from portrayal.comparison import Side
from portrayal.report.compared import forests, write_comparison
from portrayal.run import Run

from .test_browser import DRAWN, HOSTILE, opened, requests, saved

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


@pytest.fixture(scope="module")
def compared(sides: tuple[Side, Side], folder: Path) -> Path:
    return write_comparison(portrayal.compare(*sides), sides, folder / ".pages" / "compared.html")


def words_of(path: Path) -> str:
    return " ".join(path.read_text(encoding="utf-8").split())


def test_a_comparison_says_what_changed_and_what_did_not(compared: Path) -> None:
    said = words_of(compared)
    assert "people in stories about learning are" in said
    assert "over 15 prompts of both." in re.sub("<[^>]*>", "", said)
    assert re.search(r"they differ in \d+ of \d+ comparisons, are alike in \d+", said)


def test_charts_are_valid(sides: tuple[Side, Side]) -> None:
    found = portrayal.compare(*sides)
    stated = [row for row in found.rows if row.stated]
    for figure in forests(stated, 0.95):
        if figure.chart is not None:
            assert ElementTree.fromstring(figure.svg).get("width")


def test_odd_numbers_have_a_page(sides: tuple[Side, Side], tmp_path: Path) -> None:
    """Infinite bounds, no margin, values of 0 and None, and nothing that may be stated at all."""
    found = portrayal.compare(*sides)
    odd = {"low": 0.0, "high": float("inf"), "margin": None, "equivalent": None}
    rows = [replace(row, **odd, value_a=0.0) for row in found.rows[:6]]
    rows += [replace(row, value_b=None, change=None, low=None, high=None) for row in found.rows[:6]]
    for given in (rows, []):
        path = write_comparison(replace(found, rows=tuple(given)), sides, tmp_path / "page.html")
        assert path.stat().st_size > 1000


@pytest.mark.browser
@pytest.mark.parametrize("width", [1280, 390])
def test_pages_open_offline_and_run_nothing(browser: Any, width: int, compared: Path) -> None:
    opened(browser, compared, width)
    assert browser.execute_script("return window.hit") is None
    assert browser.execute_script("return document.querySelectorAll('img').length") == 0
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    charts = browser.execute_script(DRAWN)
    assert charts
    for key, marks in charts:
        assert marks > 10, key
    assert [entry for entry in browser.get_log("browser") if entry["level"] != "INFO"] == []
    assert requests(browser) == [compared.as_uri()]


@pytest.mark.browser
def test_the_changes_can_be_saved(browser: Any, compared: Path) -> None:
    opened(browser, compared)
    browser.execute_script("document.querySelector('#what > details').open = true")
    browser.find_element("id", "download").click()
    text = saved(browser, "changes.csv").decode()
    assert text.startswith("measure,statistic,")
    assert text.count("\n") > 50
