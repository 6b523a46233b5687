"""The report of pairs: what it states and of whom, its figures, and texts side by side, inert."""

import dataclasses
import itertools
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import portrayal
from matched_pairs import pairs
from portrayal.annotate.exchange import exchange_of
from portrayal.annotate.scores import TEXT_SCORES
from portrayal.report import write_report
from portrayal.report.figures.generic import figures
from portrayal.report.first import finding_facts, first_screen
from portrayal.report.formats import difference
from portrayal.report.page import render
from portrayal.report.view import View
from portrayal.studies.pairs.report.figures import spread_of
from portrayal.studies.pairs.report.head import pairs_head
from portrayal.studies.pairs.report.series import (
    differences,
    established,
    floor_words,
    label,
    leading,
    sets_of,
    unasked,
    what_of,
)
from portrayal.studies.pairs.report.texts import (
    PairText,
    differing,
    pairs_reading,
)
from support import vouch_again

from .test_browser import HOSTILE, opened, requests

GROUPS = ("female", "male")
N = 60


def rows_of(more: dict[str, str], groups: tuple[str, ...] = GROUPS, times: int = 1) -> list[Any]:
    """Requests about two people or more; `more` are words that one group of a model has."""
    rng = np.random.default_rng(0)
    rows = []
    for model in ("plain", *sorted({key.partition("/")[0] for key in more} - {"plain"})):
        for pair, group, each in itertools.product(range(N), groups, range(times)):
            noise = " It was the end of the day." * int(rng.integers(5))
            own = f"This is case {pair}.{each}, and she rested.{noise} "
            own = own.replace("she", "he") if group == "male" else own
            text = own + more.get(f"{model}/{group}", "")
            rows.append({"pair": f"p{pair}", "model": model, "gender": group, "text": text})
    return rows


def audit(path: Path, rows: list[Any], **options: Any) -> View:
    fast = {"scorers": ["length"], "permutations": 100, "report": False}
    return View.of(portrayal.audit("pairs", texts=rows, out=path, **{**fast, **options}))


@pytest.fixture(scope="module")
def view(tmp_path_factory: pytest.TempPathFactory) -> View:
    rows = rows_of({"lean/male": "There is dementia and confusion, and more to say of it."})
    for row in rows[::2]:
        row["source"] = "s" + row["pair"]
        row["kind"] = "odd" if int(row["pair"][1:]) % 2 else "even"
    by_pair = {row["pair"]: row for row in rows[::2]}
    rows = [row | {k: by_pair[row["pair"]][k] for k in ("source", "kind")} for row in rows]
    return audit(tmp_path_factory.mktemp("pairs") / "run", rows, by=["kind"])


def test_each_model_and_score_is_a_finding_and_other_models_are_named(view: View) -> None:
    first = first_screen(view)
    places = {(s.first.strata["model"], what_of(s.first)) for s in first.stated}
    assert len(places) == len(first.stated) > 1
    assert {model for model, _ in places} == {"lean"}
    assert all(re.match("lean: .*answers", s.headline) for s in first.stated)
    length = next(s for s in first.stated if what_of(s.first) == "length")
    assert length.facts[0].startswith(f"+{difference(abs(length.first.value), '')} words (")
    assert length.facts[-2] == "60 pairs"
    assert " SD" in length.facts[1]
    assert "the floor is the exchange of halves" in length.evidence
    (hidden,) = [line for line in first.cannot if line.startswith("plain: nothing stated in ")]
    assert "the largest differences it could hide are " in hidden
    assert "60 sources · 120 pairs" in first.read
    lead = re.fullmatch(r"Established differences: lean, (.+); plain, nothing\.", first.none)
    assert lead is not None
    assert lead[1].startswith(f"{len(established(view))} score")
    assert {each[5].split()[1] for each in (c.cells for c in first.lead.candidates)} <= {
        "sources,",
        "many",
    }


def test_the_page_says_how_units_were_recognised(tmp_path: Path) -> None:
    rows = [{k: v for k, v in r.items() if k != "note"} for r in pairs()]
    portrayal.audit("pairs", texts=rows, out=tmp_path, scorers=("length",))
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "36 pairs of 12 sources, which their names begin with" in page


def test_strong_takes_no_other_model(view: View) -> None:
    assert {s.strength for s in first_screen(view).stated} == {"strong"}


def test_findings_are_spread_over_models_and_scores(view: View) -> None:
    one = established(view)
    other = [dataclasses.replace(e, strata={**e.strata, "model": "twin"}) for e in one]
    both = dataclasses.replace(view, estimates=(*one, *other), models=("lean", "twin"))
    order = established(both)
    assert {e.strata["model"] for e in order[:2]} == {"lean", "twin"}
    assert len(order) == 2 * len(one)
    assert label(one[0]).startswith("lean, ")
    assert label(one[0]).endswith(": female − male")


def test_candidates_name_model_score_and_groups(view: View) -> None:
    facts = finding_facts(view.run)
    assert all(
        re.fullmatch(r"(plain|lean), .+: female − male", each["sentence"])
        for each in facts["candidates"]  # type: ignore[union-attr]
    )


def test_figures_are_by_score_part_group_and_pair(view: View) -> None:
    found = {figure.key: figure for figure in figures(view)}
    assert list(found)[:4] == ["differences", "parts", "means", "distribution"]
    assert all(figure.spec is not None and not figure.broken for figure in list(found.values())[:4])
    table = found["differences"].table
    assert table.columns[:5] == ("Model", "Score", "Unit", "Difference", "Interval")
    assert len(table.rows) == len(differences(view))
    assert "kind" in found["parts"].title
    means = {row[:2]: row for row in found["means"].table.rows}
    e = next(e for e in differences(view) if list(e.strata.values())[:2] == ["lean", "length"])
    female, male = map(float, means["lean", "length"][3:5])
    assert female - male == pytest.approx(e.value, abs=0.1)


def test_what_is_drawn_of_pairs_is_what_was_measured(view: View) -> None:
    every = sets_of(view)
    assert every is not None
    for e in differences(view):
        if e.value is not None:
            d, here = spread_of(every, e)
            assert np.mean(d[here]) == pytest.approx(e.value)
            assert here.sum() == e.n_units


def test_a_run_without_texts_has_figures_and_no_pairs_to_read(view: View, tmp_path: Path) -> None:
    import shutil

    from portrayal.run import Run

    shutil.copytree(view.run.path, tmp_path / "run")
    shutil.rmtree(tmp_path / "run" / "texts")
    (tmp_path / "run" / "texts").mkdir()
    shutil.rmtree(Run(tmp_path / "run").annotations(TEXT_SCORES.name).folder)
    for step in ("texts", f"annotations/{TEXT_SCORES.name}"):
        Run(tmp_path / "run").manifest.open(step)
    vouch_again(Run(tmp_path / "run"))
    bare = View.of(Run(tmp_path / "run"))
    assert pairs_reading(bare) is None
    keys = [figure.key for figure in figures(bare)]
    assert ("parts" in keys, "means" in keys) == (True, False)


def test_pairs_to_read_are_sorted_and_hold_the_largest(view: View) -> None:
    reading = pairs_reading(view)
    assert reading is not None
    words = [e for e in unasked(view) if "word" in e.strata]
    assert len(reading.series) == len(leading(view, 8)) + len(words[:5])
    first = [pair for pair in reading.pairs if pair.series == 0]
    assert len(first) >= 4
    assert [side.group for side in first[0].sides] == ["female", "male"]
    said = dict(reversed(piece) for piece in first[0].sides[1].pieces)
    assert "dementia" in said["differs"]
    assert said["swapped"] == "he"


def test_words_that_are_merely_exchanged_are_faint() -> None:
    words = exchange_of("en-US").neutral
    one = PairText("Mrs. Ann Day's sister, who helps her, is frail.", [(5, 12)])
    two = PairText("Mr Bob Day's brother helps him.", [(3, 10)])
    spans = differing(one, two, words)
    assert [(one.text[a:b], mark) for a, b, mark in spans[0]] == [
        ("Mrs. Ann", "swapped"),
        ("sister", "swapped"),
        ("who", "differs"),
        ("her", "swapped"),
        ("is frail", "differs"),
    ]
    assert [mark for *_, mark in spans[1]] == ["swapped"] * 3


def test_two_answers_to_a_request_give_the_floor(tmp_path: Path) -> None:
    rows = rows_of({"lean/male": "There is much more to say of it."}, times=2)
    view = audit(tmp_path / "run", rows)
    length = next(e for e in differences(view) if e.strata["score"] == "length")
    assert re.match(
        r"two answers to the identical request lie [\d.]+ words apart", floor_words(length)
    )
    assert pairs_head(view).floor.startswith("lean, ")
    assert "one of 2 answers" in render(view)


def test_three_groups_stand_against_the_others(tmp_path: Path) -> None:
    groups = ("old", "young", "unborn")
    rows = rows_of({"lean/old": "There is dementia and confusion here."}, groups)
    rows = [{("age" if k == "gender" else k): v for k, v in row.items()} for row in rows]
    view = audit(tmp_path / "run", rows, group="age")
    first = first_screen(view)
    assert "answers for “old”" in first.stated[0].headline
    assert "old − the others" in first.stated[0].evidence
    assert all(not figure.broken for figure in figures(view))
    assert "Groups" in figures(view)[0].table.columns
    assert pairs_reading(view) is not None


def test_a_finding_of_no_named_model_begins_with_a_capital(tmp_path: Path) -> None:
    rows = rows_of({"lean/male": "There is dementia and confusion, and more to say of it."})
    rows = [
        {k: v for k, v in row.items() if k != "model"} for row in rows if row["model"] == "lean"
    ]
    first = first_screen(audit(tmp_path / "run", rows))
    assert first.stated
    assert all(re.match("Answers|[0-9]", s.headline) for s in first.stated)


def test_nothing_found_is_said_in_standard_deviations(tmp_path: Path) -> None:
    rows = [{k: v for k, v in row.items() if k != "model"} for row in rows_of({})]
    view = audit(tmp_path / "run", rows)
    first = first_screen(view)
    assert first.stated == ()
    assert first.none.endswith(" standard deviations or more.")
    assert any(line.startswith("Nothing stated in ") for line in first.cannot)


@pytest.mark.browser
def test_hostile_pairs_are_shown_and_do_nothing_and_a_phone_scrolls_down_only(
    browser: Any, tmp_path: Path
) -> None:
    rows = rows_of({"lean/male": f"There is dementia here. {HOSTILE}"})
    for row in rows:
        row |= {"pair": row["pair"] + HOSTILE, "model": row["model"] + HOSTILE}
    page = write_report(audit(tmp_path / "run", rows).run, tmp_path / "report.html")
    opened(browser, page, width=390)
    browser.execute_script("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert browser.execute_script("return window.hit") is None
    assert browser.execute_script("return document.querySelectorAll('img').length") == 0
    wide, inner = browser.execute_script(
        "return [document.documentElement.scrollWidth, window.innerWidth]"
    )
    assert wide <= inner == 390
    shown = "return [...document.querySelectorAll('.pair')].filter(p => !p.hidden).length"
    every = browser.execute_script(shown)
    browser.execute_script(
        "const box = document.getElementById('pairs-series'); box.value = '0';"
        "box.dispatchEvent(new Event('change'))"
    )
    assert 0 < browser.execute_script(shown) < every
    assert requests(browser) == [page.as_uri()]
