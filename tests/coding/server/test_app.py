"""What raters see and send: one text at a time, blind, resumed by name, adjudicated."""

from base64 import b64encode
from collections.abc import Callable
from pathlib import Path

import pytest

from coding.raters import TEXT, project
from command import invoke
from portrayal.coding import CodingItem, ItemPerson, make_project, open_project, project_labels
from portrayal.coding.server.desk import pack
from portrayal.coding.store import Store
from portrayal.raters import codebook, read_hand_labels, write_labels
from portrayal.raters.people import people_of
from servers.raters_page import Client, Page

Make = Callable[[], Client]


def test_a_rater_resumes_in_any_browser_by_name(client: Make, page: Page) -> None:
    first = client().begin(page.token, "Ray")
    assert first.click(1, "code", "noble_savage")[0] == 200
    assert first.click(1, "note", "", "A <b>note</b>")[0] == 200
    status, said = first.click(1, "done")
    assert status == 200
    assert (said["done"], said["of"]) == (1, 5)
    second = client().begin(page.token, "ray")
    _, headers, _ = second.ask("GET", "/next")
    assert headers["location"] == "/text/2"
    _, _, text = second.ask("GET", "/text/1")
    assert 'data-key="noble_savage" checked' in text
    assert "A &lt;b&gt;note&lt;/b&gt;" in text


def test_a_new_name_is_asked_about_once(client: Make, page: Page) -> None:
    browser = client()
    browser.enter(page.token)
    status, _, text = browser.post("/begin", form=browser.form, name="Typo <i>")
    assert status == 200
    assert "Typo &lt;i&gt;" in text
    assert "has coded here yet" in text
    status, _, text = browser.post("/begin", form=browser.form, name="\u202e")
    assert status == 400
    assert "name has 1 to 60 characters" in text


def test_another_browser_needs_the_personal_code(client: Make, page: Page, folder: Path) -> None:
    first = client().begin(page.token, "Pia")
    code = Client.codes[page.token, "pia"]
    given = {"name": " pIA", "does": "rate"}
    again = first.post("/begin", form=first.form, **given)
    assert (again[0], again[1]["location"]) == (303, "/next")  # this browser knows her

    other = client()
    other.enter(page.token)
    status, _, text = other.post("/begin", form=other.form, **given)
    assert status == 200
    assert "Somebody called <bdi>pIA</bdi> codes here" in text
    assert code not in text
    assert other.ask("GET", "/next")[1]["location"] == "/"
    status, _, text = other.post("/begin", form=other.form, code="2222-2222", **given)
    assert status == 403
    assert "not the code of this name" in text
    typed = code.upper().replace("-", " ")
    assert other.post("/begin", form=other.form, code=typed, **given)[0] == 303
    assert other.ask("GET", "/next")[1]["location"] == "/text/1"

    stored = (folder / "codes.sqlite").read_bytes() + (folder / "codes.sqlite-wal").read_bytes()
    assert code.encode() not in stored
    assert code.replace("-", "").encode() not in stored


def test_a_second_rater_in_a_browser_ends_the_memory_of_the_first(client: Make, page: Page) -> None:
    browser = client().begin(page.token, "Quinn")
    browser.begin(page.token, "Rae")
    given = {"form": browser.form, "name": "Quinn", "does": "rate"}
    assert browser.post("/begin", **given)[0] == 200
    assert browser.post("/begin", code=Client.codes[page.token, "quinn"], **given)[0] == 303


def forged(name: str) -> str:
    """What a rater who knows how cookies are made writes for another name."""
    return pack(name, "rate")


def test_nobody_reads_or_writes_as_another_rater(client: Make, page: Page, folder: Path) -> None:
    ann = client().begin(page.token, "Ann")
    ann.click(1, "note", "", "what only Ann reads")
    eve = client().begin(page.token, "Eve")
    own, (_, signature) = eve.reader, eve.reader.split(".")
    kept = Store(folder / "codes.sqlite")
    before = kept.answers("ann", "t1")
    for reader in (forged("Ann"), f"{forged('Ann')}.{signature}", f"{forged('Ann')}.", "", None):
        eve.reader = reader  # type: ignore[assignment]
        status, said = eve.click(1, "note", "", "what Eve writes as Ann")
        assert status == 400
        assert "did not sign" in said["error"]
        eve.cookies[f"portrayal_{page.port}_reader"] = str(reader)
        status, headers, text = eve.ask("GET", "/text/1")
        assert (status, headers["location"]) == (303, "/")
        assert "only Ann" not in text
    assert kept.answers("ann", "t1") == before
    kept.close()
    eve.reader = own
    assert eve.click(1, "done")[0] == 200


@pytest.mark.parametrize(
    "cookie", ["[", "WzFd", "W" * 3000, "\xff.\xfe", "a.b.c", '"', b64encode(b"[" * 2000).decode()]
)
def test_a_malformed_cookie_is_none(client: Make, page: Page, cookie: str) -> None:
    browser = client()
    browser.enter(page.token)
    browser.cookies[f"portrayal_{page.port}_reader"] = cookie
    assert browser.ask("GET", "/")[0] == 200
    assert browser.ask("GET", "/next")[1]["location"] == "/"


def test_names_that_look_alike_are_one_rater(client: Make, page: Page) -> None:
    client().begin(page.token, "Finn").click(1, "note", "", "his own")
    other = client()
    other.enter(page.token)
    status, _, text = other.post("/begin", form=other.form, name="\uff26\u2071nn", does="rate")
    assert status == 200
    assert "codes here" in text


def test_a_lost_code_is_reset_on_the_command_line(client: Make, page: Page, folder: Path) -> None:
    client().begin(page.token, "Sol").click(1, "done")
    lost = Client.codes[page.token, "sol"]

    def command(*options: str) -> str:
        done = invoke("label", "raters", folder, *options)
        assert done.exit_code == 0 or "no rater called" in done.stderr
        return done.output

    assert "Sol: done with 1 texts" in command()
    assert "given a new code" in command("--reset", "sol")
    assert "no rater called" in command("--reset", "sol")
    browser = client().begin(page.token, "Sol")
    assert Client.codes[page.token, "sol"] != lost
    assert browser.ask("GET", "/next")[1]["location"] == "/text/2"


def test_raters_do_not_see_each_other(client: Make, page: Page) -> None:
    ann, bo = client().begin(page.token, "Ann"), client().begin(page.token, "Bo")
    ann.click(2, "code", "glass_ceiling")
    ann.click(2, "note", "", "what Ann thinks")
    ann.click(2, "done")
    _, _, text = bo.ask("GET", "/text/2")
    assert "what Ann thinks" not in text
    assert 'data-key="glass_ceiling" checked' not in text
    assert "Ann" not in text


def test_group_labels_and_strata_are_not_shown(client: Make, page: Page) -> None:
    _, _, text = client().begin(page.token, "Ann").ask("GET", "/text/1")
    assert '<mark class="subject">Ms. Grant</mark> showed' in text
    assert "domain" not in text


@pytest.mark.parametrize(
    ("place", "about", "key", "value"),
    [
        (0, "code", "noble_savage", "1"),
        (6, "code", "noble_savage", "1"),
        ("1", "code", "noble_savage", "1"),
        (True, "code", "noble_savage", "1"),
        (1, "code", "no_such_code", "1"),
        (1, "code", "noble_savage", "2"),
        (1, "code", "noble_savage", 1),
        (1, "field", "subject_name", "Ann"),
        (1, "done", "x", "1"),
        (1, "votes", "", "1"),
        (1, "note", "", "x" * 20_001),
    ],
)
def test_what_answers_no_question_is_refused(
    client: Make, page: Page, place: object, about: str, key: str, value: object
) -> None:
    browser = client().begin(page.token, "Ann")
    status, said = browser.click(place, about, key, value)  # type: ignore[arg-type]
    assert status == 400
    assert len(said["error"]) > 10


def test_a_text_is_done_only_when_what_the_audit_needs_is_answered(
    tmp_path: Path,
) -> None:
    folder = project(tmp_path / "p", book="people").folder
    served = Page(folder)
    try:
        browser = Client(served.port).begin(served.token, "Ann")

        def done() -> tuple[int, str]:
            status, said = browser.click(1, "done")
            return status, said.get("error", "")

        subject, both = "Words that refer to the subject", "the subject, Words that refer to the"
        assert done()[0] == 400
        assert both in done()[1]
        browser.click(1, "field", "subject_name", "Grant")
        browser.click(1, "note", "", "Nobody says.")
        assert done()[0] == 400
        assert subject in done()[1]
        browser.click(1, "field", "subject_gender", "F")
        assert done()[0] == 400
        assert subject not in done()[1]
        browser.click(1, "field", "object_gender", "M")
        assert done() == (200, "")
        assert browser.click(1, "field", "object_gender", None)[0] == 400
        # A text that nobody can label is done with a note, and then has no label at all.
        assert browser.click(2, "done")[0] == 400
        browser.click(2, "note", "", "Two texts in one.")
        assert browser.click(2, "done")[0] == 200
        assert browser.click(2, "note", "", None)[0] == 400
        browser.close()
    finally:
        served.kill()
    path = write_labels(tmp_path / "labels.csv", project_labels(open_project(folder)))
    assert people_of(read_hand_labels(path)) == {
        ("t1", "subject"): ("Grant", "F"),
        ("t1", "object"): (None, "M"),
    }


def test_a_story_of_one_person_needs_no_second(tmp_path: Path) -> None:
    alone = [CodingItem("t1", TEXT, "", (ItemPerson("subject", "Grant", "F", "mentor", ()),))]
    served = Page(make_project(tmp_path / "p", alone, codebook("people")).folder)
    try:
        browser = Client(served.port).begin(served.token, "Ann")
        browser.click(1, "field", "subject_gender", "F")
        assert browser.click(1, "done")[0] == 200
        browser.close()
    finally:
        served.kill()


@pytest.mark.parametrize(
    "body", ["", "[]", "null", '{"reader": 3}', "[" * 5000, '{"reader": "x.y"}', "\x00", '"x"']
)
def test_a_body_that_is_no_click_is_refused(client: Make, page: Page, body: str) -> None:
    browser = client().begin(page.token, "Ann")
    status, _, _ = browser.ask("POST", "/save", body, {"X-Portrayal": browser.form})
    assert status == 400


@pytest.mark.parametrize(
    "path",
    ["/text/9", "/text/0", "/text/x", "/text/" + "9" * 5000, "/nowhere", "/static/../app.py"],
)
def test_what_is_not_there(client: Make, page: Page, path: str) -> None:
    assert client().begin(page.token, "Ann").ask("GET", path)[0] == 404


def test_a_retried_click_counts_once_and_undo_crosses_texts(client: Make, page: Page) -> None:
    browser = client().begin(page.token, "Uma")
    _, first = browser.click(1, "code", "noble_savage", click_id="a" * 32)
    _, again = browser.click(1, "code", "noble_savage", click_id="a" * 32)
    assert first["seq"] == again["seq"]
    browser.click(3, "done")
    assert browser.click(1, "", path="/undo") == (200, {"place": 3})
    assert browser.click(1, "", path="/undo") == (200, {"place": 1})
    assert browser.click(1, "", path="/undo") == (200, {"place": None})


def test_adjudication(client: Make, page: Page, folder: Path) -> None:
    for name, code in (("Ann", "noble_savage"), ("Bo", "model_minority")):
        rater = client().begin(page.token, name)
        rater.click(4, "code", code)
        rater.click(4, "code", "frozen_in_time")
        rater.click(4, "note", "", f"because of {code}")
        rater.click(4, "done")
    browser = client()
    browser.enter(page.token)
    status, _, text = browser.post("/begin", form=browser.form, name="Bo", does="adjudicate")
    assert status == 400
    assert "may not adjudicate" in text
    cleo = client().begin(page.token, "Cleo", "adjudicate")
    _, _, text = cleo.ask("GET", "/text/4")
    assert "because of model_minority" in text
    assert "<b>Rater 1</b>: Noble savage, Frozen in time" in text
    assert text.count('<span class="small">1 of 2</span>') == 2
    assert 'data-key="frozen_in_time" checked data-agreed' in text
    assert ">Ann<" not in text
    assert cleo.ask("GET", "/text/5")[0] == 404
    assert cleo.click(5, "done")[0] == 400
    cleo.click(4, "code", "frozen_in_time")
    cleo.click(4, "code", "noble_savage", "0")
    assert cleo.click(4, "done")[0] == 200
    assert cleo.ask("GET", "/next")[1]["location"] in ("/end", "/text/2", "/text/1")
    decided = project_labels(open_project(folder)).of("adjudicated")
    said = {one.field: one.value for one in decided.rows if one.text_id == "t4"}
    assert said["frozen_in_time"] == "1"
    assert said["noble_savage"] == "0"
    assert {one.rater for one in decided.rows} == {"cleo (adjudication)"}


def test_an_adjudicator_who_also_codes_is_blind_until_done(client: Make, page: Page) -> None:
    coder = client().begin(page.token, "Cleo")
    coder.click(5, "done")
    for name, value in (("Ann", "1"), ("Bo", "0")):
        rater = client().begin(page.token, name)
        rater.click(3, "code", "noble_savage", value)
        rater.click(3, "done")
    judge = client().begin(page.token, "Cleo", "adjudicate")
    assert judge.ask("GET", "/text/3")[0] == 404
    coder.click(3, "done")
    assert judge.ask("GET", "/text/3")[0] == 200
