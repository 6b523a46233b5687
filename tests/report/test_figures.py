"""Every measure has a figure whose chart is valid SVG; a broken one says so in its place."""

import re
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

import portrayal
from portrayal import registry
from portrayal.records import Estimate
from portrayal.registry import described
from portrayal.report.figures.declared import Declared, default, draw
from portrayal.report.figures.figure import Figure
from portrayal.report.figures.generic import KINDS, BrokenFigureWarning, build, figures
from portrayal.report.figures.panels import scale
from portrayal.report.page import render
from portrayal.report.study import StudyReport
from portrayal.report.view import View
from portrayal.run import Run
from portrayal.studies.own import read_study

from .conftest import estimate

TABLES = ("common_names.v1", "outcomes.v1", "name_subordination.v1", "scenario_likelihood.v1")
"""Measures of which each figure is a table."""
BY_MODELS = ("median_representation.v1", "median_subordination.v1")
"""Measures that need three models, where the sample is of one."""
MEASURES = registry.get("studies", "laissez-faire").measures
OWN = ("cue_counts.v1", "representation_by_baseline.v1")
"""Of a list of cues; of a study with several baselines."""
DRAWN = [name for name in MEASURES if name not in (*BY_MODELS, *OWN)]


@pytest.fixture(scope="module")
def view(sample_run: Run) -> View:
    return View.of(sample_run)


def assert_svg(figure: Figure) -> None:
    """A chart is well-formed XML that loads nothing."""
    root = ElementTree.fromstring(figure.svg)
    assert float(root.get("width", "0")) > 100
    assert not re.search(r"\s(?:href|src|style|on\w+)=", figure.svg)


@pytest.mark.parametrize("study", registry.names("studies"))
def test_every_declared_figure_is_of_a_measure_of_its_study(study: str) -> None:
    of_study = registry.get("studies", study)
    report: StudyReport = of_study.report()
    stems = {name.rpartition(".v")[0] for name in of_study.measures}
    for row in report.figures:
        declared = Declared.of(row)
        assert declared.measure in stems
        assert declared.kind in ("", "dots", "heat", "table")
    kinds = {described(name).figure for name in of_study.measures}
    assert kinds <= {"", "dots", "heatmap", "grid", "table", *KINDS}


@pytest.mark.parametrize("name", DRAWN)
def test_figure_is_valid_and_says_something(view: View, name: str) -> None:
    drawn = build(view, name, view.by_measure[name])
    assert drawn
    for figure in drawn:
        assert figure.title
        assert figure.reading.endswith(".")
        assert figure.note.strip().endswith((".", "’s"))
        assert figure.label.startswith(figure.title)
        assert figure.table.rows
        assert all(len(row) == len(figure.table.columns) for row in figure.table.rows)
        assert (figure.chart is None) == (name in TABLES)
        if figure.chart is not None:
            assert_svg(figure)


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


def test_the_key_of_colours_has_three_digits_at_most() -> None:
    key = scale(3.0, "times the share").body
    assert "1/2.83" in key
    assert "2.828" not in key


def test_keys_are_unique(view: View) -> None:
    keys = [figure.key for figure in figures(view)]
    assert len(keys) == len(set(keys))


@pytest.mark.parametrize("name", MEASURES)
def test_no_estimates_no_figure(view: View, name: str) -> None:
    assert build(view, name, []) == []


def test_an_unknown_share_gets_a_table(view: View) -> None:
    rows = [estimate(measure="dancing.v2", statistic="share", group={"step": "waltz"})]
    (figure,) = build(view, "dancing.v2", rows)
    assert figure.chart is None
    assert figure.title == "Dancing"
    assert figure.table.rows[0][figure.table.columns.index("Group")] == "waltz"


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
        assert figure.broken or figure.chart is None or "Mars" in figure.svg


def _fails(_view: View, _estimates: list[object]) -> list[object]:
    raise KeyError("race of <nobody>")


def test_a_broken_figure_fails_the_tests(view: View, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(KINDS, "names", _fails)
    with pytest.raises(BrokenFigureWarning, match=r"common_names\.v1 could not"):
        figures(view)


def test_a_broken_figure_says_so_in_its_place(
    view: View, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(KINDS, "names", _fails)
    with pytest.warns(BrokenFigureWarning):
        page = render(view)
    box = re.search(r'<p class="broken" role="alert">.*?</p>', page).group()
    assert "common_names.v1: KeyError: &#39;race of &lt;nobody&gt;&#39;" in box
    assert page.count('class="broken"') == 1
    assert "Who appears: representation ratios" in page


def test_any_ratio_can_be_a_heat_map(view: View) -> None:
    declared = Declared(measure="", kind="heat", panels=("domain",), rows=("model",))
    figure = draw(view, declared, view.by_measure["subordination.v1"])
    assert_svg(figure)
    assert "Subordination ratio" in figure.svg
    assert figure.table.rows
    bare = [estimate(measure="dancing.v2", statistic="share", model=view.main, null=None)]
    assert draw(view, declared, bare).chart is None


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


def drawn(view: View, name: str, rows: list[Estimate], kind: str = "") -> Figure:
    declared = default(name, rows)
    return draw(view, replace(declared, kind=kind or declared.kind), rows)


def test_only_what_is_resolved_has_colour(grid_view: View) -> None:
    figure = drawn(grid_view, "association.v1", grid_view.by_measure["association.v1"])
    assert_svg(figure)
    colours = dict(
        re.findall(r'Group: ([^\n<]*)[^"]*?</title><rect[^>]*?fill="([^"]*)"', figure.svg)
    )
    assert colours == {
        "north, rich": "#f4a582",
        "north, poor": "#ededed",
        "south, rich": colours["south, rich"],
        "south, poor": "white",
    }
    assert colours["south, rich"] not in ("#ededed", "white")
    assert figure.reading.startswith("2 of 3 values can be told from 1")
    assert "wealth by region" in figure.svg
    assert len(figure.table.rows) == 4


def test_a_table_has_the_surest_first(make_run: Callable[..., Run]) -> None:
    rows = [
        estimate(3.0, 2.0, 4.0, q=q, domain=name)
        for name, q in (("Unsure", 0.2), ("None", None), ("Sure", 0.001))
    ]
    figure = drawn(View.of(make_run(rows)), rows[0].measure, rows, "table")
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
    for name in ("table", "dots"):
        table = drawn(view, "group_share.v1", list(view.estimates), name).table
        ways = [row[table.columns.index("Seen by")] for row in table.rows]
        assert ways == ["pronouns and role words", "words", "words and names"]


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
        study=str(path), texts=texts, columns=columns, out=tmp_path / "run", report=False
    )
    name = "representation_by_baseline.v1"
    view = View.of(run)
    (figure,) = build(view, name, view.by_measure[name])
    assert_svg(figure)
    table = [dict(zip(figure.table.columns, row, strict=True)) for row in figure.table.rows]
    for population, shares in (("village", (0.5, 0.5)), ("town", (0.2, 0.8))):
        assert f"against {population}" in figure.svg
        ratios = [24 / 40 / shares[0], 16 / 40 / shares[1]]
        rows = [r for r in table if r["Population"].endswith(population)]
        assert [row["Group"] for row in rows] == ["Women", "Men"]
        assert [float(row["Value"]) for row in rows] == pytest.approx(ratios)
        assert all("–" in row["95\u00a0% interval"] for row in rows)
        for row in rows:
            interval = row["95\u00a0% interval"]
            assert f"Value: {row['Value']}\nInterval: {interval}" in figure.svg
