"""Every measure has a figure whose chart is valid Vega-Lite; a broken one says so in its place."""

import re
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import portrayal
from portrayal import registry
from portrayal.records import Estimate
from portrayal.registry import described
from portrayal.report.figures.generic import GENERIC, BrokenFigureWarning, build, figures
from portrayal.report.page import render
from portrayal.report.study import report_of, study_report
from portrayal.report.view import View
from portrayal.run import Run
from portrayal.studies.own import read_study
from support import assert_vega_lite

from .conftest import estimate

TABLES = ("common_names.v1", "outcomes.v1")
BY_HAND = ("corrected_representation.v2", "corrected_subordination.v2")
"""Measures that need hand labels, which the sample run does not have."""
BY_MODELS = ("median_representation.v1", "median_subordination.v1")
"""Measures that need three models, where the sample is of one."""
MEASURES = registry.get("studies", "laissez-faire").measures
OWN = ("cue_counts.v1", "representation_by_baseline.v1")
"""Of a list of cues; of a study with several baselines."""
DRAWN = [name for name in MEASURES if name not in (*BY_HAND, *BY_MODELS, *OWN)]


@pytest.fixture(scope="module")
def view(sample_run: Run) -> View:
    return View.of(sample_run)


@pytest.mark.parametrize("study", registry.names("studies"))
def test_every_measure_of_a_study_names_a_figure_that_there_is(study: str) -> None:
    report = study_report(registry.get("studies", study))
    for name in registry.get("studies", study).measures:
        assert described(name).figure in {*GENERIC, *report.figures}, name


@pytest.mark.parametrize("name", DRAWN)
def test_figure_is_valid_and_says_something(view: View, name: str) -> None:
    first, *more = build(view, name, view.by_measure[name])
    assert ("reader" in [each.key for each in more]) == (name == "representation.v1")
    for figure in (first, *more):
        assert figure.title
        assert figure.reading.endswith(".")
        assert figure.note.endswith((".", "’s"))
        assert figure.label.startswith(figure.title)
        assert figure.table.rows
        assert all(len(row) == len(figure.table.columns) for row in figure.table.rows)
        assert (figure.spec is None) == (name in TABLES or figure.key == "reader")
        if figure.spec is not None:
            assert_vega_lite(figure.spec)


def test_common_names_tell_their_likelihood(view: View) -> None:
    (figure,) = build(view, "common_names.v1", view.by_measure["common_names.v1"])
    column = figure.table.columns.index("Likelihood")
    shares = [float(row[column].removesuffix("%").strip()) for row in figure.table.rows]
    assert shares
    assert all(60 < share <= 100 for share in shares)
    # Wikipedia's nationalities and the Census put Hussein into different groups; both stand there.
    other = figure.table.columns.index("In the other table")
    told = {row[1]: (row[column], row[other]) for row in figure.table.rows}
    assert told["Hussein"] == ("75.0\u00a0%", "67.8\u00a0% White")
    assert sum(cells[1] != "—" for cells in told.values()) < len(told) / 2


def test_keys_are_unique(view: View) -> None:
    keys = [figure.key for figure in figures(view)]
    assert len(keys) == len(set(keys))


def test_published_models_stand_beside(view: View) -> None:
    (figure,) = build(view, "subordination.v1", view.by_measure["subordination.v1"])
    assert "as published" in str(figure.spec)
    assert "another name table" in figure.note


@pytest.mark.parametrize("name", MEASURES)
def test_no_estimates_no_figure(view: View, name: str) -> None:
    assert build(view, name, []) == []


def test_an_unknown_share_gets_a_table(view: View) -> None:
    rows = [estimate(measure="dancing.v2", statistic="share", group={"step": "waltz"})]
    (figure,) = build(view, "dancing.v2", rows)
    assert figure.spec is None
    assert figure.title == "Dancing"
    assert figure.table.rows[0][-7] == "waltz"


@pytest.mark.parametrize("name", MEASURES)
def test_groups_that_a_chart_does_not_know_are_drawn_or_said_to_break_it(
    view: View, name: str
) -> None:
    rows = [estimate(measure=name, group={"planet": "Mars"}, model="sample")]
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        drawn = build(view, name, rows)
    broken = [w for w in said if w.category is BrokenFigureWarning]
    assert len(broken) == sum(bool(figure.broken) for figure in drawn)
    for figure in drawn:
        assert figure.broken or figure.spec is None or "Mars" in str(figure.spec)


def _fails(_view: View, _estimates: list[object]) -> list[object]:
    raise KeyError("race of <nobody>")


def test_a_broken_figure_fails_the_tests(view: View, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(report_of(view).figures, "subordination", _fails)
    with pytest.raises(BrokenFigureWarning, match=r"subordination\.v1 could not be drawn"):
        figures(view)


def test_a_broken_figure_says_so_in_its_place(
    view: View, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(report_of(view).figures, "subordination", _fails)
    with pytest.warns(BrokenFigureWarning):
        page = render(view)
    box = re.search(r'<p class="broken" role="alert">.*?</p>', page).group()
    assert "subordination.v1: KeyError: &#39;race of &lt;nobody&gt;&#39;" in box
    assert page.count('class="broken"') == 1
    assert "Who appears: representation ratios" in page


@pytest.mark.parametrize("name", BY_HAND)
def test_corrected_ratios_stand_beside_those_as_labelled(view: View, name: str) -> None:
    source = name.removeprefix("corrected_").replace(".v2", ".v1")
    rows = [
        replace(e, measure=name, details={"naive": e.value or 1.0, "naive_low": 0.5})
        for e in view.by_measure[source]
    ]
    (figure,) = build(view, name, rows)
    assert "As labelled" in figure.table.columns
    assert figure.reading.endswith("interval.")
    assert figure.spec is not None
    assert_vega_lite(figure.spec)


def test_any_ratio_can_be_a_heatmap(view: View) -> None:
    (figure,) = GENERIC["heatmap"](view, view.by_measure["subordination.v1"])
    assert_vega_lite(figure.spec)
    assert "Subordinat" in str(figure.spec)
    assert figure.table.rows
    rows = [estimate(measure="dancing.v2", statistic="share", model=view.main)]
    assert GENERIC["heatmap"](view, rows) == GENERIC["dots"](view, rows)


def test_the_reader_stands_beside_the_published_ones(view: View) -> None:
    _, figure = build(view, "representation.v1", view.by_measure["representation.v1"])
    rows = {row[0]: row[1:] for row in figure.table.rows}
    assert rows["ChatGPT 3.5, fine-tuned (paper)"][:4] == tuple(
        f"{each}\u00a0%" for each in ("98.0", "97.0", "98.1", "99.3")
    )
    assert float(rows["Non-binary, plain stories"][1].split()[0]) < 50
    assert figure.reading.startswith("It misses most where people are non-binary")


VALUES = {
    ("north", "rich"): (2.0, 1.5, 2.7, 1e-4),
    ("north", "poor"): (1.2, 0.8, 1.8, 0.4),
    ("south", "rich"): (0.4, 0.3, 0.6, 1e-4),
    ("south", "poor"): (None, 0.0, 0.0, None),
}


def pairs() -> list[Estimate]:
    return [
        estimate(
            value,
            low,
            high,
            measure="association.v1",
            study="any",
            strata={"model": "m"},
            group={"region": region, "wealth": wealth},
            q=q,
            null=None if value is None else (0.8, 1.2),
        )
        for (region, wealth), (value, low, high, q) in VALUES.items()
    ]


@pytest.fixture
def grid_view(make_run: Callable[..., Run]) -> View:
    return View.of(make_run(pairs(), study="any"))


def test_only_what_is_resolved_has_colour(grid_view: View) -> None:
    (figure,) = GENERIC["grid"](grid_view, grid_view.by_measure["association.v1"])
    assert figure.spec is not None
    assert_vega_lite(figure.spec)
    cells = figure.spec["concat"][0]["data"]["values"]
    kinds = {(cell["col"], cell["row"]): cell["c"] for cell in cells}
    assert kinds == {
        ("north", "rich"): "sure",
        ("north", "poor"): "unsure",
        ("south", "rich"): "sure",
        ("south", "poor"): "undefined",
    }
    assert figure.reading == "2 of 3 pairs can be told from 1."
    assert "wealth by region" in figure.spec["concat"][0]["title"]
    assert len(figure.table.rows) == 4


def test_a_table_has_the_surest_first(make_run: Callable[..., Run]) -> None:
    rows = [
        estimate(3.0, 2.0, 4.0, q=q, domain=name)
        for name, q in (("Unsure", 0.2), ("None", None), ("Sure", 0.001))
    ]
    (figure,) = GENERIC["table"](View.of(make_run(rows)), rows)
    assert [row[0] for row in figure.table.rows] == ["Sure", "Unsure", "None"]


def test_tables_say_by_what_groups_were_seen(make_run: Callable[..., Run]) -> None:
    made = [
        estimate(
            measure="group_share.v1",
            study="any",
            statistic="share",
            strata={"model": "m", "seen_by": seen_by},
            group=group,
        )
        for seen_by, group in (
            ("references", {"gender": "F"}),
            ("words", {"religion": "hindu"}),
            ("words and names", {"religion": "hindu", "race": "Latine"}),
        )
    ]
    view = View.of(make_run(made, study="any"))
    for name in ("table", "dots", "grid"):
        (figure,) = GENERIC[name](view, view.estimates)
        said = [row[figure.table.columns.index("Seen by")] for row in figure.table.rows]
        assert said == ["pronouns and role words", "words", "words and names"]


STUDY = """
name = "kin"
[[template]]
text = "A story of a {job}."
person = "{job}"
values = { job = ["nurse", "doctor", "clerk", "cook"] }
[people]
read = "labels"
[[baselines]]
name = "village"
source = "made up"
shares.gender = { F = 0.5, M = 0.5 }
[[baselines]]
name = "town"
source = "made up"
shares.gender = { F = 0.2, M = 0.8 }
"""


def test_each_baseline_has_a_panel_with_its_ratios_and_intervals(tmp_path: Path) -> None:
    path = tmp_path / "kin.toml"
    path.write_text(STUDY, encoding="utf-8")
    women = {"nurse": 9, "doctor": 3, "clerk": 6, "cook": 6}  # of ten: 24 of 40
    texts = [
        {"prompt_id": p.prompt_id, "subject_gender": "F" if i < women[p.strata["job"]] else "M"}
        for p in read_study(path).prompts()
        for i in range(10)
    ]
    columns = {"subject_gender": "subject_gender"}
    run = portrayal.audit(
        str(path), texts=texts, columns=columns, out=tmp_path / "run", report=False
    )
    name = "representation_by_baseline.v1"
    view = View.of(run)
    (figure,) = build(view, name, view.by_measure[name])
    assert figure.spec is not None
    assert_vega_lite(figure.spec)
    panels = {panel["title"]["text"]: panel["data"]["values"] for panel in figure.spec["vconcat"]}
    assert [title.rpartition("against ")[2] for title in panels] == ["village", "town"]
    table = [dict(zip(figure.table.columns, row, strict=True)) for row in figure.table.rows]
    for (title, dots), shares in zip(panels.items(), ((0.5, 0.5), (0.2, 0.8)), strict=True):
        population = title.rpartition("against ")[2]
        ratios = [24 / 40 / shares[0], 16 / 40 / shares[1]]
        assert [each["row"] for each in dots] == ["Women", "Men"]
        assert [each["v"] for each in dots] == pytest.approx(ratios)
        known = [
            e
            for e in view.by_measure[name]
            if e.value is not None and e.strata["population"] == population
        ]
        for each, e in zip(dots, known, strict=True):
            bounds = e.interval
            assert bounds is not None
            assert bounds.low < each["v"] < bounds.high
            assert (each["lo"], each["hi"]) == pytest.approx((bounds.low, bounds.high))
        rows = [row for row in table if row["Population"] == population and row["q"] != "—"]
        assert [float(row["Value"]) for row in rows] == pytest.approx(ratios)
        assert all("–" in row["95\u00a0% interval"] for row in rows)
