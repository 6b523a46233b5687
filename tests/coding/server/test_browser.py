"""The raters' page in a real browser: by keyboard, two at once, hostile texts, a dead server."""

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from coding.raters import project
from coding.test_by_hand import drawn_project
from portrayal.coding import CodingItem, ItemPerson, make_project, open_project, project_labels
from portrayal.raters import codebook, read_hand_labels, write_labels
from servers.raters_page import Page
from support import headless_chromium

pytestmark = pytest.mark.browser
OPENED: list[Any] = []

HOSTILE = (
    "<script>window.hit=1</script></textarea><img src=x onerror='window.hit=1'>"
    "{{ 7*7 }}{% raw %}${window.hit=1}\u202egnp\u2066\u2028\"'`\x00 javascript:alert(1)"
)


@pytest.fixture(scope="module")
def browsers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], Any]]:
    """Return a function that opens a headless Chromium with a profile of its own."""

    def make() -> Any:
        profile = tmp_path_factory.mktemp("profile")
        session = headless_chromium(profile, "window-size=1280,900")
        OPENED.append(session)
        return session

    yield make
    while OPENED:
        OPENED.pop().quit()


@pytest.fixture(scope="module")
def one(browsers: Callable[[], Any]) -> Any:
    return browsers()


@pytest.fixture(scope="module")
def other(browsers: Callable[[], Any]) -> Any:
    return browsers()


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Callable[..., Page]]:
    """Return a function that serves a project."""
    pages: list[Page] = []

    def serve(folder: Path, *options: str) -> Page:
        pages.append(Page(folder, *options))
        return pages[-1]

    yield serve
    for page in pages:
        if page.process.poll() is None:
            page.kill()


def until(what: Callable[[], Any], seconds: float = 60) -> Any:
    """Wait for something to be true and return it."""
    from selenium.common.exceptions import WebDriverException

    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            found = what()
        except WebDriverException:
            found = None
        if found:
            return found
        time.sleep(0.05)
    shown = [f"{b.current_url}: {b.find_element('tag name', 'body').text[:500]}" for b in OPENED]
    pytest.fail(f"not within {seconds} s: {what}; the browsers show {shown}")


def begin(browser: Any, page: Page, name: str, *, new: bool = True) -> None:
    """Enter by keyboard alone."""
    from selenium.webdriver.common.keys import Keys

    browser.get_log("browser")
    browser.get(page.url)
    field = until(lambda: browser.find_element("id", "name"))
    assert page.token not in browser.current_url
    field.clear()
    field.send_keys(name, Keys.ENTER)
    if new:
        until(lambda: "Nobody called" in browser.page_source and focus(browser) == "BUTTON")
        press(browser, Keys.ENTER)
    until(lambda: "/text/" in browser.current_url and listens(browser))


def focus(browser: Any) -> str:
    """Tag of the element that keys go to."""
    return str(browser.execute_script("return document.activeElement.tagName"))


def listens(browser: Any) -> bool:
    """Whether the page takes keys: its script focuses the heading when it listens."""
    return bool(browser.execute_script("return document.activeElement.id === 'place'"))


def press(browser: Any, *keys: str) -> None:
    """Press keys wherever the focus is."""
    from selenium.webdriver.common.action_chains import ActionChains

    ActionChains(browser).send_keys(*keys).perform()


def status(browser: Any) -> str:
    return str(browser.find_element("id", "status").text)


def at(browser: Any, place: int) -> bool:
    return str(browser.current_url).endswith(f"/text/{place}") and listens(browser)


def clean(browser: Any) -> bool:
    return not [e for e in browser.get_log("browser") if e["level"] not in ("INFO", "DEBUG")]


def said(folder: Path) -> dict[tuple[str, str], list[str]]:
    """Codes that are set, by text and rater."""
    found: dict[tuple[str, str], list[str]] = {}
    codes = project_labels(open_project(folder))
    for label in codes.rows:
        of_text = found.setdefault((label.text_id, label.rater), [])
        if label.value == "1":
            of_text.append(label.field)
    return found


def test_a_rater_goes_on_in_another_browser_with_the_code(
    one: Any, other: Any, served: Callable[..., Page], tmp_path: Path
) -> None:
    from selenium.webdriver.common.keys import Keys

    page = served(project(tmp_path / "p").folder)
    one.get(page.url)
    until(lambda: one.find_element("id", "name")).send_keys("Eva", Keys.ENTER)
    code = until(lambda: one.find_element("id", "code")).text
    until(lambda: focus(one) == "BUTTON")
    press(one, Keys.ENTER)
    until(lambda: at(one, 1))
    press(one, Keys.ENTER)
    until(lambda: at(one, 2))

    other.get(page.url)
    until(lambda: other.find_element("id", "name")).send_keys("eva", Keys.ENTER)
    for typed in ("2222-2222", code):
        until(lambda: "Somebody called" in other.page_source and focus(other) == "INPUT")
        press(other, typed, Keys.ENTER)
        if typed != code:
            until(lambda: "not the code of this name" in other.page_source)
    until(lambda: at(other, 2))
    begin(one, page, "Eva", new=False)
    assert at(one, 2)


def test_coding_by_keyboard_alone(one: Any, served: Callable[..., Page], tmp_path: Path) -> None:
    from selenium.webdriver.common.keys import Keys

    folder = project(tmp_path / "p").folder
    begin(one, served(folder), "Ann")
    assert one.switch_to.active_element.get_attribute("id") == "place"
    press(one, "w", "f")
    until(lambda: status(one) == "Saved: Perpetual foreigner set.")
    press(one, "w")
    until(lambda: status(one) == "Saved: White savior not set.")
    press(one, "/")
    press(one, "a note with w and f", Keys.ESCAPE)
    until(lambda: status(one) == "Saved: Note.")
    press(one, Keys.ENTER)
    until(lambda: at(one, 2))
    press(one, Keys.BACKSPACE)
    until(lambda: at(one, 1) and status(one) == "Undone.")
    press(one, Keys.BACKSPACE)
    until(lambda: one.find_element("id", "note").get_attribute("value") == "")
    until(lambda: at(one, 1) and status(one) == "Undone.")
    press(one, Keys.ENTER)
    until(lambda: at(one, 2))
    press(one, Keys.ARROW_RIGHT)
    until(lambda: at(one, 3))
    press(one, "g", Keys.ENTER)
    until(lambda: at(one, 2))
    press(one, Keys.ENTER)
    until(lambda: "All 3 texts are done" in one.page_source)
    assert said(folder) == {
        ("t1", "ann"): ["perpetual_foreigner"],
        ("t2", "ann"): [],
        ("t3", "ann"): ["glass_ceiling"],
    }
    assert clean(one)


def test_shortcuts_can_be_turned_off(one: Any, served: Callable[..., Page], tmp_path: Path) -> None:
    begin(one, served(project(tmp_path / "p").folder), "Ann")
    one.execute_script("document.querySelector('details.help').open = true")
    one.find_element("id", "keys").click()
    one.execute_script("document.getElementById('place').focus()")
    press(one, "w")
    assert not one.find_element("css selector", "[data-key=white_savior]").is_selected()
    one.find_element("id", "keys").click()


def test_two_raters_at_once(
    one: Any, other: Any, served: Callable[..., Page], tmp_path: Path
) -> None:
    from selenium.webdriver.common.keys import Keys

    folder = project(tmp_path / "p").folder
    page = served(folder, "--adjudicator", "Cleo")
    begin(one, page, "Ann")
    begin(other, page, "Bo")
    for place in (1, 2, 3):
        press(one, "w")
        press(other, "w", "n" if place == 2 else "w")
        press(one, Keys.ENTER)
        press(other, Keys.ENTER)
        for browser in (one, other):
            until(
                lambda b=browser, p=place: (
                    at(b, p + 1) if p < 3 else "All 3 texts are done" in b.page_source
                )
            )
    assert said(folder) == {
        ("t1", "ann"): ["white_savior"],
        ("t2", "ann"): ["white_savior"],
        ("t3", "ann"): ["white_savior"],
        ("t1", "bo"): [],
        ("t2", "bo"): ["white_savior", "noble_savage"],
        ("t3", "bo"): [],
    }
    one.get(page.url)
    field = until(lambda: one.find_element("id", "name"))
    field.clear()
    field.send_keys("Cleo")
    one.find_element("css selector", "[value=adjudicate]").click()
    field.send_keys(Keys.ENTER)
    until(lambda: one.find_element("id", "code") and focus(one) == "BUTTON")
    press(one, Keys.ENTER)
    until(lambda: at(one, 1))
    assert "Rater 2" in one.find_element("css selector", ".others").text
    press(one, Keys.ARROW_RIGHT)
    until(lambda: at(one, 2))
    assert one.find_element("css selector", "[data-key=white_savior]").is_selected()
    press(one, Keys.ENTER)
    until(lambda: at(one, 3))
    assert said(folder)["t2", "cleo (adjudication)"] == ["white_savior"]


def test_a_server_killed_while_coding_loses_nothing_that_was_pressed(
    one: Any, served: Callable[..., Page], tmp_path: Path
) -> None:
    from selenium.webdriver.common.keys import Keys

    folder = project(tmp_path / "p").folder
    page = served(folder)
    begin(one, page, "Ann")
    press(one, "w")
    until(lambda: status(one).startswith("Saved"))
    page.kill()
    press(one, "f", "n")
    until(lambda: status(one).startswith("Not saved yet: 2 answers."))
    assert "waiting" in one.find_element("id", "status").get_attribute("class")
    press(one, Keys.ENTER)
    until(lambda: status(one).startswith("Not saved yet: 3 answers."))
    served(folder)
    until(lambda: at(one, 2), 30)
    assert said(folder) == {("t1", "ann"): ["white_savior", "perpetual_foreigner", "noble_savage"]}


def test_answers_outlive_the_tab(one: Any, served: Callable[..., Page], tmp_path: Path) -> None:
    folder = project(tmp_path / "p").folder
    page = served(folder)
    begin(one, page, "Ann")
    page.kill()
    press(one, "m")
    until(lambda: status(one).startswith("Not saved yet: 1 answer."))
    one.execute_script(
        "window.addEventListener('beforeunload', e => e.stopImmediatePropagation(), true)"
    )
    one.get("about:blank")
    served(folder)
    one.get(page.url)
    until(lambda: one.find_element("id", "name").get_attribute("value") == "Ann")
    begin(one, page, "Ann", new=False)
    until(lambda: one.find_element("css selector", "[data-key=model_minority]").is_selected())
    until(lambda: status(one) == "Nothing to save.")


def test_hostile_texts_are_inert(one: Any, served: Callable[..., Page], tmp_path: Path) -> None:
    people = (
        ItemPerson("subject", HOSTILE, "F", HOSTILE),
        ItemPerson("object", None, "M", HOSTILE),
    )
    large = "long " * 200_000 + HOSTILE
    texts = [
        CodingItem("a", HOSTILE + " and " + HOSTILE, HOSTILE, people),
        CodingItem("b", large, "", people),
        CodingItem("c/../<b>", "x" * 1_000_000),
    ]
    folder = make_project(tmp_path / "p", texts, codebook("stereotypes")).folder
    page = served(folder)
    begin(one, page, "Ann <b>'\"&{{7*7}}")
    assert one.execute_script("return document.querySelectorAll('img, .story script').length") == 0
    assert one.execute_script("return document.scripts.length") == 1
    story = one.find_element("id", "story")
    text = one.execute_script("return arguments[0].textContent", story)
    assert text.startswith("<script>window.hit=1</script></textarea><img src=x")
    assert "{{ 7*7 }}{% raw %}${window.hit=1}RLOgnpLRI" in text
    assert not set("\u202e\u2066\x00") & set(one.page_source)
    style = "return getComputedStyle(arguments[0]).unicodeBidi"
    assert one.execute_script(style, story) == "isolate"
    assert len(one.find_elements("css selector", "#story mark.subject")) >= 2
    note = one.find_element("id", "note")
    note.send_keys("</textarea><script>window.hit=1</script>")
    one.execute_script("document.getElementById('place').focus()")
    until(lambda: status(one) == "Saved: Note.")
    one.refresh()
    note = until(lambda: listens(one) and one.find_element("id", "note"))
    assert note.get_attribute("value") == "</textarea><script>window.hit=1</script>"
    for place, size in ((2, 1_000_000), (3, 1_000_000)):
        one.get(f"http://127.0.0.1:{page.port}/text/{place}")
        until(lambda p=place: at(one, p))
        length = one.execute_script("return document.getElementById('story').textContent.length")
        assert length >= size
        wide, inner = one.execute_script(
            "return [document.documentElement.scrollWidth, window.innerWidth]"
        )
        assert wide <= inner
    press(one, "w")
    until(lambda: status(one) == "Saved: White savior set.")
    assert one.execute_script("return window.hit") is None
    assert clean(one)


def test_nothing_outside_is_asked_for(
    one: Any, served: Callable[..., Page], tmp_path: Path
) -> None:
    page = served(project(tmp_path / "p").folder)
    one.get_log("performance")
    begin(one, page, "Ann")
    found = [json.loads(entry["message"])["message"] for entry in one.get_log("performance")]
    urls = [
        m["params"]["request"]["url"] for m in found if m["method"] == "Network.requestWillBeSent"
    ]
    assert urls
    assert all(url.startswith(f"http://127.0.0.1:{page.port}/") for url in urls), urls


def test_people_are_labelled_on_the_same_page(
    one: Any, served: Callable[..., Page], tmp_path: Path
) -> None:
    from selenium.webdriver.common.keys import Keys

    folder = project(tmp_path / "p", book="people").folder
    begin(one, served(folder), "Ann")
    assert not one.find_elements("css selector", "#story mark")
    labels = "return [...document.querySelectorAll('.field > label')].map(e => e.control !== null)"
    assert all(one.execute_script(labels))
    name = one.find_element("css selector", "[data-key=subject_name]")
    press(one, name.get_attribute("data-shortcut"))
    press(one, "Grant", Keys.ENTER)
    until(lambda: status(one) == "Saved: First name of the subject.")
    press(one, "1")
    until(lambda: status(one) == "Saved: F.")
    press(one, "1")
    until(lambda: status(one) == "Saved: F not set.")
    press(one, "2", Keys.ENTER)
    until(lambda: "the object" in one.find_element("id", "problem").text)
    assert "the subject" not in one.find_element("id", "problem").text
    assert one.switch_to.active_element.get_attribute("name") == "object_gender"
    assert str(one.current_url).endswith("/text/1")
    assert project_labels(open_project(folder)).rows == ()
    press(one, "6", Keys.ENTER)
    until(lambda: at(one, 2))
    replies = {r.field: r.value for r in project_labels(open_project(folder)).rows}
    people = {
        "subject_name": "Grant",
        "subject_gender": "M",
        "object_name": "",
        "object_gender": "F",
    }
    assert replies == people


def test_a_screen_reader_finds_names_for_everything(
    one: Any, served: Callable[..., Page], tmp_path: Path
) -> None:
    begin(one, served(project(tmp_path / "p").folder), "Ann")
    tree = one.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    wanted = {"checkbox", "radio", "textbox", "button", "link", "region", "progressbar"}
    nameless = [
        node["role"]["value"]
        for node in tree
        if not node.get("ignored")
        and node.get("role", {}).get("value") in wanted
        and not node.get("name", {}).get("value")
    ]
    assert nameless == []
    assert one.find_element("id", "status").get_attribute("aria-live") == "polite"
    assert one.execute_script("return document.documentElement.lang") == "en"
    assert one.execute_script("return document.querySelectorAll('h1, main').length") == 2


CONTRAST = """
const shade = c => { const [r, g, b] = c.map(v => v / 255).map(
  v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
const parse = s => s.match(/[\\d.]+/g).map(Number);
const behind = e => { for (; e; e = e.parentElement) {
  const c = parse(getComputedStyle(e).backgroundColor);
  if (c.length < 4 || c[3] > 0) return c.slice(0, 3); } return [255, 255, 255]; };
return [...document.querySelectorAll('body *')].filter(e =>
  e.checkVisibility() && !e.closest('.hidden, .skip') &&
  [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim())).map(e => {
  const a = shade(parse(getComputedStyle(e).color).slice(0, 3)), b = shade(behind(e));
  return [e.tagName + ' ' + e.className + ' ' + e.textContent.slice(0, 30),
    (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)]; });
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast(one: Any, served: Callable[..., Page], tmp_path: Path, scheme: str) -> None:
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    one.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    page = served(project(tmp_path / "p").folder)
    one.get(page.url)
    until(lambda: one.find_element("id", "name"))
    low = [row for row in one.execute_script(CONTRAST) if row[1] < 4.5]
    begin(one, page, "Ann")
    one.execute_script("document.querySelectorAll('details').forEach(d => d.open = true)")
    rows = one.execute_script(CONTRAST)
    one.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    assert len(rows) > 30
    assert low + [row for row in rows if row[1] < 4.5] == []


def test_labels_of_a_measure_are_the_file_of_audits(
    one: Any, served: Callable[..., Page], tmp_path: Path
) -> None:
    from selenium.webdriver.common.keys import Keys

    folder = drawn_project(tmp_path) / "run" / "coding" / "hand"
    page = served(folder)
    begin(one, page, "Ann")
    given = []
    for place in range(1, 23):
        until(lambda place=place: one.current_url.endswith(f"/text/{place}") and listens(one))
        given.append(place % 3)
        press(one, "123"[place % 3], Keys.ENTER)
    until(lambda: one.current_url.endswith("/text/23") and listens(one))
    path = write_labels(tmp_path / "hand.csv", project_labels(open_project(folder)))
    table = read_hand_labels(str(path), ["faith"])
    items = open_project(folder).items
    names = {("one", "two", "none")[choice] for choice in given}
    assert {*table.labels["faith"].values()} == names
    assert [name for name, _ in table.labels["faith"]] == [i.item_id for i in items[:22]]
    assert table.raters["faith"] == ["ann"]
    wide = "return document.documentElement.scrollWidth <= innerWidth"
    size = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
    one.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    assert one.execute_script(wide)
    one.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert not [entry for entry in one.get_log("browser") if entry["level"] == "SEVERE"]
