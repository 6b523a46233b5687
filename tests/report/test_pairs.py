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
from portrayal.report.figures.generic import figures, glance
from portrayal.report.first import finding_facts, finding_lines, first_screen
from portrayal.report.formats import difference
from portrayal.report.page import render
from portrayal.report.view import View
from portrayal.studies.pairs.texts import PER_SERIES, PairText, differing, texts_to_read
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
    return View.of(portrayal.audit(study="pairs", texts=rows, out=path, **{**fast, **options}))


@pytest.fixture(scope="module")
def view(tmp_path_factory: pytest.TempPathFactory) -> View:
    rows = rows_of({"lean/male": "There is dementia and confusion, and more to say of it."})
    for row in rows[::2]:
        row["source"] = "s" + row["pair"]
        row["kind"] = "odd" if int(row["pair"][1:]) % 2 else "even"
    by_pair = {row["pair"]: row for row in rows[::2]}
    rows = [row | {k: by_pair[row["pair"]][k] for k in ("source", "kind")} for row in rows]
    return audit(tmp_path_factory.mktemp("pairs") / "run", rows, by=["kind"])


def test_the_chart_has_the_model_of_the_findings_with_its_intervals(view: View) -> None:
    scores = [f for f in first_screen(view).findings if "score" in f.first.strata]
    chart = glance(view, scores)
    assert chart is not None
    assert dict(chart.legend)["dot"] == "lean: value and interval"
    assert dict(chart.legend)["small"] == "other models"


def test_the_page_does_not_say_that_models_are_pooled(view: View) -> None:
    assert "together; the figures show each" not in render(view)


def test_each_model_and_score_is_a_finding(view: View) -> None:
    first = first_screen(view)
    scores = [s for s in first.findings if "score" in s.first.strata]
    assert len({(s.first.strata["model"], s.first.strata["score"]) for s in scores}) == len(scores)
    assert len(scores) > 1
    assert {s.first.strata["model"] for s in first.findings} == {"lean"}
    assert all(re.match("lean: .*answers", s.headline) for s in first.findings)
    length = next(s for s in scores if s.first.strata["score"] == "length")
    assert length.facts[0].startswith(f"+{difference(abs(length.first.value), '')} words (")
    assert length.facts[1].endswith(" standard deviations of the texts")
    assert "60 pairs" in length.facts
    assert {each[5].split()[1] for each in (c.cells for c in first.lead.candidates)} <= {
        "sources,",
        "many",
    }


def test_the_page_says_how_units_were_recognised(tmp_path: Path) -> None:
    rows = [{k: v for k, v in r.items() if k != "note"} for r in pairs()]
    portrayal.audit(study="pairs", texts=rows, out=tmp_path, scorers=("length",))
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "36 pairs of 12 sources, which their names begin with" in page


def test_strong_takes_no_other_model(view: View) -> None:
    assert {s.strength for s in first_screen(view).findings} == {"strong"}


def test_findings_are_spread_over_models(view: View) -> None:
    one = [e for e in view.estimates if e.strata["model"] == "lean"]
    other = [dataclasses.replace(e, strata={**e.strata, "model": "twin"}) for e in one]
    both = dataclasses.replace(view, estimates=(*one, *other), models=("lean", "twin"))
    stated = first_screen(both).findings
    of_scores = [s.first.strata["model"] for s in stated if "score" in s.first.strata]
    assert set(of_scores[:2]) == {"lean", "twin"}


def test_candidates_name_model_score_and_groups(view: View) -> None:
    facts = finding_facts(view.run)
    assert all(
        re.fullmatch(r"(plain|lean), female − male in .+: between groups", each["sentence"])
        for each in facts["candidates"]  # type: ignore[union-attr]
        if each["measure"].startswith("pair_difference")
    )


def test_figures_are_by_score_and_part(view: View) -> None:
    drawn = {figure.title: figure for figure in figures(view)}
    first, parts, *_ = drawn.values()
    assert (first.title, parts.title) == (
        "Differences by score and model",
        "The same differences by part",
    )
    assert all(figure.chart is not None and not figure.broken for figure in (first, parts))
    columns = ("Model", "Score", "Group", "Value")
    assert first.table.columns[:4] == columns
    assert {"Instrument bias", "Hides at most", "As written"} <= set(first.table.columns)
    wholes = [e for e in view.estimates if e.strata.get("part") == "all" and "score" in e.strata]
    assert len(first.table.rows) == len(wholes)
    assert "kind = odd" in parts.svg
    assert "standard deviations of the texts" in first.svg


def test_pairs_to_read_have_the_differences_that_were_measured(view: View) -> None:
    readings = texts_to_read(view)
    assert readings is not None
    for label in dict.fromkeys(reading.note for reading in readings.readings):
        mine = [r for r in readings.readings if r.note == label]
        assert len(mine) <= PER_SERIES
        values = [float(r.title.split(": ")[1].split()[0].replace("−", "-")) for r in mine]
        assert values in (sorted(values), sorted(values, reverse=True))
    first = readings.readings[0]
    assert [passage.heading for passage in first.passages] == ["female", "male"]
    marked = [(p.mark, p.text) for r in readings.readings for p in r.passages[1].pieces if p.mark]
    assert any(mark == "differs" and "dementia" in text for mark, text in marked)
    assert ("swapped", "he") in marked


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
    assert texts_to_read(bare) is None
    assert len(figures(bare)) == len(figures(view))


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
    table = figures(audit(tmp_path / "run", rows))[0].table
    score, floor = table.columns.index("Score"), table.columns.index("Two answers")
    assert all(re.match(r"[+−]?[\d.]+", r[floor]) for r in table.rows if r[score] == "length")


def test_three_groups_stand_against_the_others(tmp_path: Path) -> None:
    groups = ("old", "young", "unborn")
    rows = rows_of({"lean/old": "There is dementia and confusion here."}, groups)
    rows = [{("age" if k == "gender" else k): v for k, v in row.items()} for row in rows]
    view = audit(tmp_path / "run", rows, group="age")
    first = first_screen(view)
    assert "answers for “old”" in first.findings[0].headline
    assert all(not figure.broken for figure in figures(view))
    assert "old − the others" in figures(view)[0].svg
    assert texts_to_read(view) is not None


def test_a_finding_of_no_named_model_begins_with_a_capital(tmp_path: Path) -> None:
    rows = rows_of({"lean/male": "There is dementia and confusion, and more to say of it."})
    rows = [
        {k: v for k, v in row.items() if k != "model"} for row in rows if row["model"] == "lean"
    ]
    first = first_screen(audit(tmp_path / "run", rows))
    assert first.findings
    assert all(re.match("Answers|[0-9]", s.headline) for s in first.findings)


def test_texts_that_nothing_pairs_are_read_from_the_highest_score_down(tmp_path: Path) -> None:
    rows = rows_of({"lean/male": "There is dementia and confusion, and more to say of it."})
    rows = [
        {**{k: v for k, v in row.items() if k not in ("pair", "model")}, "prompt": f"p{i}"}
        for i, row in enumerate(row for row in rows if row["model"] == "lean")
    ]
    view = audit(tmp_path / "run", rows, group="gender", apart=True)
    assert first_screen(view).findings[0].first.value < 0  # women's less men's
    readings = texts_to_read(view)
    assert readings is not None
    assert "from the highest score of either to the lowest" in readings.selection
    scores = [
        re.findall(r"[\d.]+", reading.title)[:2]
        for reading in readings.readings
        if reading.title.startswith("length: ")
    ]
    for side in zip(*scores, strict=True):
        assert list(map(float, side)) == sorted(map(float, side), reverse=True)
    assert float(scores[0][1]) > float(scores[0][0])


@pytest.mark.parametrize(("groups", "times"), [(("female", "male", "other"), 2), (GROUPS, 3)])
def test_what_is_no_pair_of_texts_is_called_a_prompt(
    tmp_path: Path, groups: tuple[str, ...], times: int
) -> None:
    """On the terminal, in JSON and on the page, all units have one name."""
    rows = rows_of({"plain/male": "There is much more to say of it."}, groups, times)
    view = audit(tmp_path / "run", rows)
    text, facts = "\n".join(map(str, finding_lines(view.run))), finding_facts(view.run)
    assert f"; {N} prompts; " in text
    assert "holds for prompts like these" in text
    assert "pairs" not in text.replace("portrayal audit pairs", "")
    assert {finding["units"] for finding in facts["findings"]} == {"prompts"}
    page = re.sub(r"<[^>]+>", "", render(view))
    assert not re.search(r"\d pairs(?! of answers to)|pairs like these", page)
    assert f"pairs of answers to {N} prompts" in page


def test_nothing_found_is_said_in_standard_deviations(tmp_path: Path) -> None:
    rows = [{k: v for k, v in row.items() if k != "model"} for row in rows_of({})]
    view = audit(tmp_path / "run", rows)
    first = first_screen(view)
    assert first.findings == ()
    chart = glance(view, first.lead.candidates)
    assert chart is None or dict(chart.legend)["ring"] == "value and interval, not established"
    assert re.search(
        r"a difference above 0\.\d+ standard deviations is excluded; ", first.lead.sentence
    )


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
    assert requests(browser) == [page.as_uri()]
