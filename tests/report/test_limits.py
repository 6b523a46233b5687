"""What a reader meets, in a real browser: how long, how large, how wide, on paper, and for all."""

import base64
import itertools
import re
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from portrayal.report import write_report
from support import matrix

from .test_browser import opened

pytestmark = pytest.mark.browser

MOST_PIXELS, MOST_WORDS, MOST_BYTES, MOST_PAGES = 6000, 1500, 1_000_000, 12
FEW = {"draws": 100, "permutations": 20, "report": False}
PAGES = ("stories", "agency", "news")
OPEN_ALL = "document.querySelectorAll('details').forEach(each => each.open = true)"
OPEN_SOME = (
    f"{OPEN_ALL}; [...document.querySelectorAll('figure details details, .reading-of')]"
    ".slice(2).forEach(each => each.open = false)"
)
"""Tables and texts of one kind look alike: two of them are opened."""
SCREENS = [(390, "dark"), (1280, "light"), (1280, "dark"), (390, "light")]
AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
RUN_AXE = (
    "const done = arguments[arguments.length - 1];"
    "axe.run(document, {resultTypes: ['violations']}).then(found => done(found.violations"
    ".filter(each => ['serious', 'critical'].includes(each.impact))"
    ".map(each => [each.id, each.nodes.slice(0, 3).map(node => node.html.slice(0, 200))])))"
)


@pytest.fixture(scope="module")
def pages(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Callable[[str], Path]:
    """Pages of all stories, and of the samples of the other studies."""
    folder = tmp_path_factory.mktemp("limits")

    def page(name: str) -> Path:
        path = folder / f"{name}.html"
        if path.exists():
            return path
        if name in ("agency", "news"):
            return request.getfixturevalue("sample_pages")(name)
        return write_report(request.getfixturevalue("stories_run"), path)

    return page


@pytest.mark.parametrize("name", matrix(PAGES))
def test_a_page_is_short_before_what_is_folded(
    browser: Any, pages: Callable[[str], Path], name: str
) -> None:
    opened(browser, pages(name))
    height, words = browser.execute_script(
        "return [document.documentElement.scrollHeight,"
        " document.body.innerText.split(/\\s+/).filter(Boolean).length]"
    )
    assert height <= MOST_PIXELS
    assert words <= MOST_WORDS


@pytest.mark.parametrize("name", matrix(PAGES, 3))
def test_a_file_is_small(pages: Callable[[str], Path], name: str) -> None:
    assert (pages(name)).stat().st_size <= MOST_BYTES


@pytest.mark.parametrize("name", matrix(PAGES))
def test_no_panel_is_empty(browser: Any, pages: Callable[[str], Path], name: str) -> None:
    opened(browser, pages(name))
    browser.execute_script(OPEN_ALL)
    empty = browser.execute_script(
        "return [...document.querySelectorAll('figure')].filter(figure =>"
        " !figure.querySelector('svg text, td')).map(figure => figure.id)"
    )
    assert empty == []


@pytest.mark.parametrize("name", matrix(PAGES))
@pytest.mark.parametrize("width", matrix((390, 1280)))
def test_nothing_is_wider_than_the_page(
    browser: Any, pages: Callable[[str], Path], name: str, width: int
) -> None:
    opened(browser, pages(name), width)
    browser.execute_script(OPEN_ALL)
    browser.execute_async_script("setTimeout(arguments[0], 200)")
    wide = browser.execute_script(
        "return [document.documentElement.scrollWidth, ...[...document.querySelectorAll("
        "'.chart')].filter(e => e.checkVisibility()).map("
        "e => e.getBoundingClientRect().right)]"
    )
    assert max(wide) <= width
    # A chart scrolls within its place on a phone: shrunk to it, nobody could read it.
    shrunk = browser.execute_script(
        "return [...document.querySelectorAll('.chart svg')].filter(e => e.checkVisibility())"
        ".map(e => e.getBoundingClientRect().width / e.getAttribute('width'))"
    )
    assert min(shrunk, default=1.0) > 0.7


@pytest.mark.parametrize("name", matrix(PAGES))
def test_a_print_has_few_pages_and_every_chart_whole(
    browser: Any, pages: Callable[[str], Path], name: str
) -> None:
    opened(browser, pages(name))
    printed = browser.execute_cdp_cmd("Page.printToPDF", {"paperWidth": 8.27, "paperHeight": 11.69})
    pdf = base64.b64decode(printed["data"])
    assert 1 <= len(re.findall(rb"/Type\s*/Page\b", pdf)) <= MOST_PAGES


@pytest.mark.parametrize("name", matrix(PAGES))
def test_headings_are_in_order(browser: Any, pages: Callable[[str], Path], name: str) -> None:
    opened(browser, pages(name))
    levels = browser.execute_script(
        "return [...document.querySelectorAll('h1, h2, h3, h4')].map(e => +e.tagName[1])"
    )
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(later <= earlier + 1 for earlier, later in itertools.pairwise(levels))


@pytest.mark.parametrize("name", matrix(PAGES))
@pytest.mark.parametrize(("width", "scheme"), matrix(SCREENS))
def test_axe_has_nothing_serious_to_say(
    browser: Any, pages: Callable[[str], Path], name: str, width: int, scheme: str
) -> None:
    media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    try:
        opened(browser, pages(name), width)
        browser.set_script_timeout(120)
        browser.execute_script(AXE)
        browser.execute_script(OPEN_SOME)
        assert browser.execute_async_script(RUN_AXE) == []
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
