"""The paired report in a real browser: charts are drawn, texts are inert."""

from pathlib import Path
from typing import Any

import pytest

from portrayal.report import write_report

from .paired_run import estimates, write_paired_run
from .test_browser import DRAWN, HOSTILE, opened, requests

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("paired")
    return write_report(write_paired_run(folder / "run"), folder / "report.html")


def errors(browser: Any) -> list[Any]:
    return [entry for entry in browser.get_log("browser") if entry["level"] != "INFO"]


def test_every_chart_is_drawn_without_errors_or_requests(browser: Any, page: Path) -> None:
    opened(browser, page)
    charts = browser.execute_script(DRAWN)
    assert len(charts) == 1 + 6
    for name, marks in charts:
        assert marks > 10, name
    assert errors(browser) == []
    assert requests(browser) == [page.as_uri()]


def test_words_are_underlined_in_the_colour_of_their_group(browser: Any, page: Path) -> None:
    opened(browser, page)
    mark = "document.querySelector('.reading-of .story mark')"
    style = f"return getComputedStyle({mark}).borderBottomColor"
    assert browser.execute_script(style) == "rgb(136, 34, 85)"


def test_a_phone_scrolls_down_only(browser: Any, page: Path) -> None:
    opened(browser, page, width=375)
    browser.execute_script("document.querySelectorAll('details').forEach(d => d.open = true)")
    wide, inner = browser.execute_script(
        "return [document.documentElement.scrollWidth, window.innerWidth]"
    )
    assert (inner, wide <= inner) == (375, True)


def test_hostile_texts_are_shown_and_do_nothing(browser: Any, tmp_path: Path) -> None:
    pair = (HOSTILE, f"She said {HOSTILE}", f"He said {HOSTILE}")
    run = write_paired_run(
        tmp_path / "run",
        pairs=[pair],
        models=(HOSTILE, "b"),
        forms=(HOSTILE, "plain"),
        rows=estimates((HOSTILE, "b")),
        scores=False,
    )
    page = write_report(run, tmp_path / "report.html")
    opened(browser, page)
    assert browser.execute_script("return window.hit") is None
    assert browser.execute_script("return document.querySelectorAll('img').length") == 0
    story = browser.execute_script(
        "return document.querySelector('.reading-of .story').textContent"
    )
    assert "<script>window.hit=1</script></script><img src=x" in story
    assert "{{ 7*7 }}{% raw %}${window.hit=1}" in story
    assert errors(browser) == []
    assert requests(browser) == [page.as_uri()]
