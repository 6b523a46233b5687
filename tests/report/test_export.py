"""The report as Markdown and in a notebook: what the page says, escaped."""

import html
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from portrayal.errors import OptionError
from portrayal.records import Fixed
from portrayal.report import Report, export_report
from portrayal.run import Run

from .conftest import estimate

HOSTILE = "<b>x</b> | *y* [z](http://a) `q`"


@pytest.fixture
def run(make_run: Callable[..., Run]) -> Run:
    rows = [
        estimate(value, 2.0, 4.0, q=0.001, group={"race": HOSTILE, "gender": gender})
        for value, gender in ((3.0, "F"), (3.1, "M"), (3.2, "NB"))
    ]
    return make_run(rows)


def test_markdown_has_the_findings_and_no_markup(run: Run, tmp_path: Path) -> None:
    path = export_report(run, tmp_path / "out" / "r.md", "md")
    text = path.read_text(encoding="utf-8")
    assert text.startswith("# Laissez-faire")
    assert text.count("holds for prompts like these; ") == 3
    assert "## What was found" in text
    assert "<b>" not in text
    assert r"\<b\>x\</b\> \| \*y\*" in text


def test_an_unknown_format_is_refused(run: Run) -> None:
    with pytest.raises(OptionError, match="html, md"):
        export_report(run, format="odt")


def test_a_notebook_folds_what_the_page_folds(run: Run) -> None:
    shown = Report.of(run)._repr_html_()
    front, _, folded = shown.partition('<details class="folded">')
    assert [finding.folded for finding in Report.of(run).findings] == [False, True, True]
    assert front.count("holds for prompts like these") == 1
    assert folded.count("holds for prompts like these") == 2
    assert "<summary>All 3 findings</summary>" in folded


def test_a_notebook_says_what_holds_in_these_prompts(make_run: Callable[..., Run]) -> None:
    here = replace(estimate(3.0, 0.8, 9.0, q=0.4), fixed=Fixed(2.0, 4.0, 0.001, 0.002))
    (finding,) = Report.of(made := make_run([here])).here
    assert html.escape(finding.headline) in Report.of(made)._repr_html_()
