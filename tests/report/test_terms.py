"""The glossary test: a technical word of a first screen is explained there, on every page."""

import re
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from portrayal.report.page import render
from portrayal.report.terms import Terms, terms
from portrayal.report.view import View
from portrayal.run import Run

from .conftest import estimate
from .test_browser import opened
from .test_limits import AXE, RUN_AXE

TECHNICAL = {
    r"intervals?": "95 % interval",
    r"chance|luck": "chance",
    r"holds for prompts like these": "holds for prompts like these",
    r"in these prompts": "holds in these prompts",
    r"by their names": "by their names",
    r"(?<!representation )(?<!subordination )ratios?|\d times": "times",
    r"expected": "expected",
    r"representation ratio": "representation ratio",
    r"subordination ratio": "subordination ratio",
    r"dominant|subordinate": "dominant, subordinate",
    r"power-laden|power-neutral": "power-laden, power-neutral",
    r"(?:wo)?men|non-binary": "women, men, non-binary people",
    r"Latine|AI/AN|MENA|NH/PI": "Latine, AI/AN, MENA, NH/PI",
    r"points": "percentage points",
    r"[pq]": "p and q",
    r"SD|standard deviations?": "SD",
    r"agentic|communal|agency": "agentic, communal",
    r"(?:un)?masked": "masked",
    r"classifiers?|linear-lac\.v1|LABE": "classifier",
    r"prompts?|sources|headlines": "prompts",
    r"pairs|male half|female half": "pairs",
    r"themes?|topics?": "theme, topic",
    r"originals?": "originals",
    r"distances?": "distance",
    r"sentiment": "sentiment",
    r"the reader": "reader",
    r"baseline": "baseline",
    r"log scale": "log scale",
}
"""A word that nobody knows from elsewhere → the entry of the page's list that explains it."""
BANNED = (
    r"can(?:not)? be told from", r"resampl", r"told from (?:its|chance|0|1)", r"\bnull\b",
    r"multiplicity", r"Benjamini", r"bootstrap", r"statistically", r"significan", r"clustered by",
    r"[0-9]e-[0-9]", r"family", r"estimand", r"shrink", r"fair naming", r"carriers", r"percent of",
)  # fmt: skip
"""Words that a first screen does without."""


PAGES = ("laissez-faire", "agency", "news", "pairs")


@pytest.fixture(scope="module")
def pages(sample_runs: Callable[[str], Run]) -> dict[str, str]:
    return {name: render(View.of(sample_runs(name))) for name in PAGES}


def first_screen_of(page: str) -> tuple[str, set[str]]:
    """The visible words of a first screen, and what its list of words explains."""
    first = page.partition('<section id="first"')[2].partition("</section>")[0]
    first, _, words = first.partition('<details id="words">')
    first = re.sub(r'<details class="behind">.*?</details>', " ", first, flags=re.DOTALL)
    first = re.sub(r"<svg.*?</svg>", " ", first, flags=re.DOTALL)
    text = " ".join(unescape(re.sub(r"<[^>]*>", "", first.replace("</", " </"))).split())
    return text, {unescape(name) for name in re.findall(r"<dt>(.*?)</dt>", words)}


@pytest.mark.parametrize("study", PAGES)
def test_every_technical_word_of_a_first_screen_is_explained_there(
    pages: dict[str, str], study: str
) -> None:
    text, explained = first_screen_of(pages[study])
    assert len(text) > 300
    missing = {
        entry
        for pattern, entry in TECHNICAL.items()
        if re.search(rf"(?<!\w)(?:{pattern})(?!\w)", text, re.IGNORECASE)
    } - explained
    assert missing == set()
    assert {entry for entry in BANNED if re.search(entry, text, re.IGNORECASE)} == set()


@pytest.mark.parametrize("study", PAGES)
def test_each_word_is_marked_once(pages: dict[str, str], study: str) -> None:
    marked = re.findall(r'data-means="([^"]+)"', pages[study])
    assert len(marked) == len(set(marked)) > 5


def test_meanings_are_plain_and_names_are_not_repeated() -> None:
    names = [name for name, _, _ in terms()]
    assert len(set(names)) == len(names)
    assert set(TECHNICAL.values()) == set(names)
    for _, _, means in terms():
        assert not any(re.search(word, means, re.IGNORECASE) for word in BANNED)
        assert len(means.split()) < 60


def test_what_is_marked_is_escaped_and_whole() -> None:
    mark = Terms()
    shown = str(mark('<b>"q" & chance alone</b> chance'))
    assert "<b>" not in shown
    assert shown.count('class="term"') == 2
    assert unescape(re.sub(r"<[^>]*>", "", shown)) == '<b>"q" & chance alone</b> chance'
    assert 'class="term"' not in str(mark("chance"))


def test_a_difference_of_shares_is_in_points(make_run: Callable[..., Run]) -> None:
    place = {"task": "Biography", "stratum": "all", "masking": "masked", "classifier": "c.v1"}
    row = estimate(
        0.378, 0.2, 0.5, statistic="difference", measure="agency_gap.v1", q=0.5,
        strata={"model": "m", **place}, group={"gender": "male − female"},
    )  # fmt: skip
    screen = render(View.of(make_run([row], study="agency")))
    assert "+37.8 points" in screen
    assert "+20.0 to +50.0" in screen
    assert "+0.378" not in first_screen_of(screen)[0]


def test_shares_of_answers_are_in_points(pages: dict[str, str]) -> None:
    text, _ = first_screen_of(pages["pairs"])
    assert "+45.2 points (+27.4 to +63.1)" in text
    assert "0.452" not in text


@pytest.mark.browser
@pytest.mark.parametrize("width", [1280, 390])
def test_a_word_is_explained_by_pointing_keys_and_tapping(
    browser: Any, pages: dict[str, str], tmp_path: Path, width: int
) -> None:
    path = tmp_path / "page.html"
    path.write_text(pages["laissez-faire"], encoding="utf-8")
    opened(browser, path, width)
    for how in ("focus()", "click()", "dispatchEvent(new Event('mouseenter'))"):
        said, left, right, means = browser.execute_script(
            f"const it = document.querySelector('.term'); it.{how};"
            "const tip = document.getElementById('tip'), at = tip.getBoundingClientRect();"
            "return [tip.hidden ? '' : tip.innerText, at.left, at.right, it.dataset.means]"
        )
        assert said == means
        assert 0 <= left < right <= width
        hidden = browser.execute_script(
            "document.dispatchEvent(new KeyboardEvent('keydown', {key: 'Escape'}));"
            "return document.getElementById('tip').hidden"
        )
        assert hidden


@pytest.mark.browser
@pytest.mark.parametrize("study", ["laissez-faire", "agency", "news", "pairs"])
def test_axe_has_nothing_serious_to_say_of_what_explains(
    browser: Any, pages: dict[str, str], tmp_path: Path, study: str
) -> None:
    path = tmp_path / "page.html"
    path.write_text(pages[study], encoding="utf-8")
    opened(browser, path, 390)
    browser.set_script_timeout(120)
    browser.execute_script(AXE)
    browser.execute_script("document.getElementById('words').open = true")
    assert browser.execute_async_script(RUN_AXE) == []
