import html
import re
import shutil
from dataclasses import replace

import pytest

from portrayal.measure.drawing import draw_texts, items_of
from portrayal.raters.labels import Label, Labels
from portrayal.raters.labels import write_labels as write
from portrayal.raters.sheets import Codebook, CodebookQuestion, codebook, write_sheets
from portrayal.report import write_report
from portrayal.report.coding import sections
from portrayal.report.figures.generic import build
from portrayal.report.view import View
from portrayal.run import Run

HOSTILE = "<script>alert(1)</script>\u202e & \"quoted\" {{ 7*7 }} <b onload='x'>"
BOOK = codebook("stereotypes")
KEYS = [code.key for code in BOOK.codes]


@pytest.fixture
def run(sample_run, tmp_path):
    folder = tmp_path / "run"
    shutil.copytree(sample_run.path, folder)
    return Run(folder)


@pytest.fixture
def folder(run):
    """Sheets of 40 texts, of which Ana and Bo give every third two codes, but for one."""
    folder = run.path / "labels" / "pilot"
    items = items_of(run, draw_texts(run, "stereotypes", 40, by=["race"], seed=1))
    write_sheets(items, BOOK, folder, ["Ana", "Bo", "Cy"])
    names = [item.text_id for item in items]
    given = {name: {"perpetual_foreigner", "white_savior"} for name in names[::3]}
    coded(folder, "Ana", names, given)
    coded(folder, "Bo", names, {name: given[name] for name in list(given)[1:]})
    return folder


def coded(folder, rater, names, given, kind="human"):
    rows = [
        Label(name, "", key, str(int(key in given.get(name, ()))), rater, kind=kind)
        for name in names
        for key in KEYS
    ]
    write(folder / f"{re.sub('[^a-zA-Z]', '', rater)}.csv", Labels(tuple(rows)))


def visible_text(page):
    body = re.sub(r"<(script|style)>.*?</\1>", "", page, flags=re.DOTALL)
    return html.unescape(re.sub(r"<[^>]+>", " ", body))


def test_a_group_says_how_many_texts_count(run, folder):
    (section,) = sections(View.of(run))
    assert section.title == "Stereotypes in stories (pilot)"
    codes = section.blocks[0]
    assert any("on whose codes people agree" in line for line in codes.before)
    assert sum("on which people are divided" in line for line in codes.before) >= 1
    (row,) = [row for row in codes.table.rows if row[:2] == ("Latine", "white savior")]
    assert row[2] == "people"
    assert [name for name, *_ in section.definitions] == [code.name for code in BOOK.codes]


def test_the_section_stands_in_the_report_of_the_run(run, folder, tmp_path):
    page = write_report(run, tmp_path / "r.html").read_text()
    assert page.count('<section id="coded">') == 1
    assert '<a href="#coded">Read and coded</a>' in page
    text = visible_text(page)
    assert "Cohen’s κ" in text
    assert "people are divided" in text


def test_a_run_without_codes_shows_the_cues_of_its_audit_alone(run, tmp_path):
    (terms,) = build(view := View.of(run), "cue_counts.v1", view.by_measure["cue_counts.v1"])
    total = next(row for row in terms.table.rows if row[0].startswith("NH/PI, any"))
    n = next(e for e in run.records if e.measure == "cue_counts.v1").n_texts
    cells = dict(zip(terms.table.columns, total, strict=True))
    assert cells["Value"] == "0\u00a0%"
    assert cells["Naive"].startswith("0–")
    assert cells["At most"] == f"{100 * (1 - 0.05 ** (1 / n)):.1f}\u00a0%"
    # The sample has one character whose name is a term: Cheyenne.
    named = next(row for row in terms.table.rows if row[0].startswith("AI, any"))
    assert f"{100 / n:.1f}\u00a0%" in named
    page = write_report(run, tmp_path / "r.html").read_text()
    assert "Read and coded" not in page
    items = items_of(run, draw_texts(run, "x", 12))
    write_sheets(items, BOOK, run.path / "labels" / "empty", ["Ana"])
    write_sheets(items, codebook("people"), run.path / "labels" / "people", ["Ana"])
    assert sections(View.of(run)) == []


def test_models_stand_apart(run, folder):
    (alone,) = sections(View.of(run))
    names = sorted({row["text_id"] for row in drawn(folder)})
    coded(folder, "server:m", names, {name: set(KEYS) for name in names}, kind="llm")
    (section,) = sections(View.of(run))
    codes, people, model = section.blocks
    assert people == alone.blocks[1]
    by_people = [row for row in codes.table.rows if row[2] == "people"]
    assert by_people == [*alone.blocks[0].table.rows]
    assert {row[2] for row in codes.table.rows} == {*("people", "server:m", "server:m, corrected")}
    assert model.title.startswith("Language model server:m, against what people settle on")
    assert "Cohen’s κ" in model.table.columns


def drawn(folder):
    from portrayal.collect.tables import read_table

    return read_table(folder / "drawn.csv", ["text_id"])


def test_one_rater_has_shares_and_no_agreement(run, folder):
    (folder / "Bo.csv").unlink()
    (section,) = sections(View.of(run))
    codes, people = section.blocks
    assert people.table is None
    assert "Agreement takes two people or more; Ana has labelled." in people.before
    assert codes.table.rows


def test_labels_that_cannot_be_read_are_named_and_stop_no_report(run, folder):
    coded(folder, "Cy", ["elsewhere"], {})
    (folder / "drawn.csv").unlink()
    (section,) = sections(View.of(run))
    (block,) = section.blocks
    assert block.title == "These labels cannot be shown"
    assert block.before[0].startswith("Ana.csv, Bo.csv, Cy.csv: this run has no text 'elsewhere'")


def test_what_is_hostile_is_inert_in_the_report(run, folder, tmp_path):
    question = CodebookQuestion("k", HOSTILE, HOSTILE, HOSTILE)
    items = items_of(run, draw_texts(run, "x", 12))
    items = [replace(item, text=HOSTILE, prompt=HOSTILE) for item in items]
    own = run.path / "labels" / "own"
    write_sheets(items, Codebook("b", HOSTILE, HOSTILE, (question,)), own, ["Ana"])
    for rater in ("Ana <i>", "Bo & co"):
        coded(own, rater, [item.text_id for item in items], {})
    pages = [write_report(run, tmp_path / f"{i}.html").read_text() for i in (1, 2)]
    assert pages[0] == pages[1]
    assert "<script>alert" not in pages[0]
    assert "onload='x'>" not in pages[0]
    assert "alert(1)" in visible_text(pages[0])
    assert "Ana <i>" in visible_text(pages[0])
