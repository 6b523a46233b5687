import html
import re
import shutil
from dataclasses import replace

import pytest

from portrayal.coding import (
    CodingItem,
    ItemPerson,
    draw_texts,
    items_of,
    make_project,
    project_labels,
)
from portrayal.raters import codebook
from portrayal.report import write_report
from portrayal.report.coding import section, sections
from portrayal.report.figures.generic import build
from portrayal.report.view import View
from portrayal.run import Run

HOSTILE = "<script>alert(1)</script>\u202e & \"quoted\" {{ 7*7 }} <b onload='x'>"
BOOK = codebook("stereotypes")
KEYS = [code.key for code in BOOK.codes]


def coded(project, rater, given, kind="human"):
    from coding.coded import write_codes

    rows = [(i.item_id, k, k in given.get(i.item_id, ())) for i in project.items for k in KEYS]
    write_codes(project, rater, rows, kind=kind)


@pytest.fixture
def run(sample_run, tmp_path):
    folder = tmp_path / "run"
    shutil.copytree(sample_run.path, folder)
    return Run(folder)


@pytest.fixture
def project(run):
    items = items_of(run, draw_texts(run, "stereotypes", 40, by=["race"], seed=1))
    made = make_project(run.path / "coding" / "pilot", items, BOOK, seed=1, draw={"by": "names"})
    latine = [i for i in made.items if any(p.labels.get("race") == "Latine" for p in i.people)]
    given = {item.item_id: {"perpetual_foreigner", "white_savior"} for item in latine}
    coded(made, "Ana", given)
    coded(made, "Bo", dict(list(given.items())[1:]))
    return made


def visible_text(page):
    body = re.sub(r"<(script|style)>.*?</\1>", "", page, flags=re.DOTALL)
    return html.unescape(re.sub(r"<[^>]+>", " ", body))


def test_a_group_says_how_many_texts_count(run, project):
    codes = section(project, project_labels(project)).blocks[0]
    latine = next(line for line in codes.before if line.startswith("Latine: "))
    assert "on whose codes people agree" in latine
    assert "on which people are divided" in latine
    saved = [row for row in codes.table.rows if row[:2] == ("Latine", "White savior")]
    assert len(saved) == 1
    assert int(saved[0][2]) > 0


def test_the_section_stands_in_the_report_of_the_run(run, project, tmp_path):
    page = write_report(run, tmp_path / "r.html").read_text()
    assert page.count('<section id="coded">') == 1
    assert '<a href="#coded">Read and coded</a>' in page
    text = visible_text(page)
    assert "Fleiss’ κ" in text
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
    make_project(run.path / "coding" / "empty", [CodingItem("a", "T.")], BOOK)
    assert sections(View.of(run)) == []


def test_models_stand_apart(run, project):
    alone = section(project, project_labels(project)).blocks
    coded(project, "server:m", {i.item_id: set(KEYS) for i in project.items}, kind="llm")
    codes, corrected, people, model = section(project, project_labels(project)).blocks
    assert (codes, people) == alone
    assert corrected.title == "Codes of server:m, corrected by people"
    assert model.title.startswith("Language model server:m, against what people settle on")
    assert "Cohen’s κ" in model.table.columns


def test_one_rater_has_shares_and_no_agreement(run, project):
    only = project_labels(project)
    alone = replace(only, rows=tuple(one for one in only.rows if one.rater == "ana"))
    codes, people = section(project, alone).blocks
    assert people.table is None
    assert "Agreement takes two people or more; ana has coded." in people.before
    assert codes.table.rows


def test_what_is_hostile_is_inert_in_the_report(run, tmp_path):
    people = (ItemPerson("subject", HOSTILE, "F", spans=((0, 8),), labels={"race": HOSTILE}),)
    items = [
        CodingItem(f"t{i}", HOSTILE * (200 if i else 1), HOSTILE, people, {"model": HOSTILE})
        for i in range(4)
    ]
    project = make_project(run.path / "coding" / "p", items, BOOK)
    coded(project, "Ana <i>", {"t0": set(KEYS), "t1": set(KEYS)})
    coded(project, "Bo & co", {"t0": set(KEYS), "t1": set(KEYS)})
    pages = [write_report(run, tmp_path / f"{i}.html").read_text() for i in (1, 2)]
    assert pages[0] == pages[1]
    assert "<script>alert" not in pages[0]
    assert "onload='x'>" not in pages[0]
    assert "alert(1)" in visible_text(pages[0])
    assert "ana <i>" in visible_text(pages[0])
