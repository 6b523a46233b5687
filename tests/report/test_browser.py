"""The page in a real browser: draws, asks nothing of the network, runs nothing it was given."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from portrayal.report import write_report
from portrayal.run import Run

from .conftest import estimate

pytestmark = pytest.mark.browser

HOSTILE = (
    "<script>window.hit=1</script></script><img src=x onerror='window.hit=1'>"
    "{{ 7*7 }}{% raw %}${window.hit=1}\u202e\u2066gnp\u2028\"'`"
)


DRAWN = (
    "document.querySelectorAll('figure > details').forEach(d => d.open = true);"
    "return new Promise(done => setTimeout(() => done("
    "[...document.querySelectorAll('[data-chart]')].map(e => [e.dataset.chart,"
    " e.querySelectorAll('svg :is(path, text, circle, rect, line)').length])), 100))"
)


def opened(browser: Any, path: Path, width: int = 1280) -> None:
    browser.get_log("browser")
    browser.get_log("performance")
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    browser.get(path.as_uri())
    for _ in range(200):
        if browser.execute_script("return document.body.dataset.drawn") == "all":
            return
        time.sleep(0.05)
    pytest.fail("the charts were not drawn within 10 seconds")


def requests(browser: Any) -> list[str]:
    found = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    urls = [
        m["params"]["request"]["url"] for m in found if m["method"] == "Network.requestWillBeSent"
    ]
    return [url for url in urls if not url.startswith(("data:", "blob:", "chrome"))]


@pytest.fixture(scope="module")
def page(sample_pages: Callable[[str], Path]) -> Path:
    return sample_pages("laissez-faire")


@pytest.fixture
def hostile(make_run: Callable[..., Run], tmp_path: Path) -> Path:
    rows = [
        estimate(3.0, 2.0, 4.0, q=0.001, model=HOSTILE, group={"race": HOSTILE, "gender": HOSTILE}),
        estimate(
            3.0,
            2.0,
            4.0,
            q=0.001,
            model=HOSTILE,
            domain=HOSTILE,
            measure="name_subordination.v1",
            group={"name": HOSTILE},
            details={"share_Latine": 0.9, "count_subordinate": 5.0},
        ),
        estimate(
            0.2, 0.1, 0.3, model=HOSTILE, measure="representation.v1", group={"race": HOSTILE}
        ),
        estimate(0.2, 0.1, 0.3, model=HOSTILE, measure="evil.v1", group={HOSTILE: HOSTILE}),
    ]
    stories = [
        {
            "text": f"{HOSTILE} and {HOSTILE}",
            "model": HOSTILE,
            "object_name": HOSTILE,
            "object_gender": "F",
            "object_spans": [{"start": 0, "end": 10, "kind": "name"}],
        }
    ]
    run = make_run(rows, models=[HOSTILE], stories=stories)
    return write_report(run, tmp_path / "report.html")


def test_every_chart_is_drawn_without_errors_or_requests(browser: Any, page: Path) -> None:
    opened(browser, page)
    charts = browser.execute_script(DRAWN)
    assert len(charts) >= 6
    for name, marks in charts:
        assert marks >= 10, name
    assert [entry for entry in browser.get_log("browser") if entry["level"] != "INFO"] == []
    assert requests(browser) == [page.as_uri()]


def test_hostile_text_is_shown_and_does_nothing(browser: Any, hostile: Path) -> None:
    opened(browser, hostile)
    assert browser.execute_script("return window.hit") is None
    assert browser.execute_script("return document.querySelectorAll('img').length") == 0
    scripts = browser.execute_script("return document.querySelectorAll('script').length")
    assert scripts == 3
    story = browser.execute_script("return document.querySelector('.story').textContent")
    assert story.startswith("<script>window.hit=1</script></script><img src=x")
    assert "{{ 7*7 }}{% raw %}${window.hit=1}" in story
    isolated = "return getComputedStyle(document.querySelector('.story')).unicodeBidi"
    assert browser.execute_script(isolated) == "isolate"
    assert [entry for entry in browser.get_log("browser") if entry["level"] != "INFO"] == []
    assert requests(browser) == [hostile.as_uri()]


def test_the_download_unpacks_in_the_page(browser: Any, page: Path) -> None:
    opened(browser, page)
    browser.execute_script("document.querySelector('#tables > details').open = true")
    browser.execute_script("document.getElementById('download').click()")
    for _ in range(100):
        if browser.find_element("id", "download-note").text.startswith("Saved"):
            break
        time.sleep(0.05)
    path = browser.downloads / "estimates.csv"
    for _ in range(100):
        if path.exists():
            break
        time.sleep(0.05)
    assert path.read_text(encoding="utf-8").startswith("study,measure,statistic,unit")


def test_a_phone_scrolls_down_only(browser: Any, page: Path) -> None:
    opened(browser, page, width=375)
    browser.execute_script("document.querySelectorAll('details').forEach(d => d.open = true)")
    wide, inner = browser.execute_script(
        "return [document.documentElement.scrollWidth, window.innerWidth]"
    )
    assert inner == 375
    assert wide <= inner


def test_printing_opens_the_figures(browser: Any, page: Path) -> None:
    opened(browser, page)
    closed = "return document.querySelectorAll('figure > details:not([open])').length"
    before = browser.execute_script(closed)
    browser.execute_script("window.dispatchEvent(new Event('beforeprint'))")
    assert browser.execute_script(closed) < before / 2
    blank = "return [...document.querySelectorAll('figure > details[open] [data-chart]')]"
    assert browser.execute_script(f"{blank}.filter(e => !e.querySelector('svg')).length") == 0
    browser.execute_script("window.dispatchEvent(new Event('afterprint'))")
    assert browser.execute_script(closed) == before


def test_a_link_opens_what_is_folded(browser: Any, page: Path) -> None:
    opened(browser, page)
    browser.execute_script("document.querySelector('nav a[href=\"#methods\"]').click()")
    is_open = "return document.querySelector('#methods > details').open"
    assert browser.execute_script(is_open)


def test_a_phone_scrolls_charts_within_their_place(browser: Any, page: Path) -> None:
    opened(browser, page, width=390)
    browser.execute_script(DRAWN)
    place, image = browser.execute_script(
        "const svg = document.querySelector('#which-couples-appear svg');"
        "return [svg.parentElement.clientWidth, svg.getBoundingClientRect().width]"
    )
    assert place < 390 < image  # letters as large as on a wide screen
    # Phones show no bars, so a shade says that there is more
    for kind in (".chart", ".scroll"):
        style = f"getComputedStyle(document.querySelector('{kind}')).backgroundAttachment"
        assert browser.execute_script(f"return {style}") == "local, local, scroll, scroll"


def test_a_phone_sees_all_of_what_would_settle_a_question(browser: Any, page: Path) -> None:
    opened(browser, page, width=390)
    ends = browser.execute_script(
        "return [...document.querySelectorAll('.candidates td')].map(cell =>"
        " [cell.getBoundingClientRect().width, cell.getBoundingClientRect().right])"
    )
    assert len(ends) >= 6
    assert all(width > 0 and right <= 390 for width, right in ends)


def test_long_titles_of_panels_stand_in_lines(
    browser: Any, make_run: Callable[..., Run], tmp_path: Path
) -> None:
    place = "the villages of the northern and the eastern river, beyond the hills"
    rows = [
        estimate(
            measure=measure,
            study="any",
            strata={"model": "m", "place": place, "seen_by": "words", "population": "here"},
            group=group,
        )
        for measure, group in (
            ("group_ratio.v1", {"religion": "hindu"}),
            ("association.v1", {"religion": "hindu", "age": "old"}),
        )
    ]
    opened(browser, write_report(make_run(rows, study="any"), tmp_path / "page.html"))
    assert {name for name, _ in browser.execute_script(DRAWN)} == {
        "glance",
        "measure-group-ratio-v1",
        "measure-association-v1",
    }
    texts = browser.execute_script(
        "return [...document.querySelectorAll('figure [data-chart] svg')].map(svg =>"
        " [...svg.querySelectorAll('text')].map(t => [t.textContent,"
        " t.getBoundingClientRect().right]))"
    )
    for svg in texts:
        assert all(right <= 1280 for _, right in svg)
        assert place.replace(" ", "") in "".join(words for words, _ in svg).replace(" ", "")


def saved(browser: Any, name: str) -> bytes:
    path = browser.downloads / name
    for _ in range(100):
        if path.exists() and path.stat().st_size:
            return path.read_bytes()
        time.sleep(0.05)
    pytest.fail(f"{name} was not saved")


def test_a_chart_is_saved_with_its_caption(browser: Any, page: Path) -> None:
    for kind in ("svg", "png"):
        opened(browser, page)
        browser.execute_script(DRAWN)
        click = f"document.querySelector('#which-couples-appear [data-save={kind}]').click()"
        browser.execute_script(click)
        saved(browser, f"which-couples-appear.{kind}")
    text = saved(browser, "which-couples-appear.svg").decode()
    root = ElementTree.fromstring(text)
    assert float(root.get("width", "0")) > 400
    assert "Which couples appear" in text
    assert "Portrayal" in "".join(root.itertext())
    assert saved(browser, "which-couples-appear.png").startswith(b"\x89PNG")


def test_a_finding_is_copied_with_its_citation(
    browser: Any, make_run: Callable[..., Run], tmp_path: Path
) -> None:
    run = make_run([estimate(3.0, 2.0, 4.0, q=0.001)])
    opened(browser, write_report(run, tmp_path / "page.html"))
    text = browser.execute_script(
        "window.copied = ''; navigator.clipboard.writeText = t => {"
        " window.copied = t; return Promise.resolve(); };"
        "document.querySelector('[data-share] .share').click(); return window.copied"
    )
    first, *_, last = text.splitlines()
    shown = "return document.querySelector(arguments[0]).textContent.trim()"
    assert first == browser.execute_script(shown, "[data-share] .headline")
    assert last == browser.execute_script(shown, "#citation")


def test_every_chart_has_a_text_alternative(browser: Any, page: Path) -> None:
    opened(browser, page)
    labels = browser.execute_script(
        "return [...document.querySelectorAll('.chart')].map(e => e.getAttribute('aria-label'))"
    )
    assert labels
    assert all(len(label) > 20 for label in labels)
    tables = browser.execute_script(
        "return [...document.querySelectorAll('figure')].map(f => !!f.querySelector('table'))"
    )
    assert all(tables)
