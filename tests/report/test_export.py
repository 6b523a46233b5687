"""The report in a notebook: what the page says, escaped."""

import html
from collections.abc import Callable
from dataclasses import replace

import pytest

from portrayal.records import Fixed
from portrayal.report import Report
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


def test_a_notebook_folds_what_the_page_folds(run: Run) -> None:
    shown = Report.of(run)._repr_html_()
    front, _, folded = shown.partition('<details class="folded">')
    assert [finding.folded for finding in Report.of(run).findings] == [False, True, True]
    assert front.count("holds for prompts like these") == 1
    assert folded.count("holds for prompts like these") == 2
    assert "<summary>All 3 findings</summary>" in folded


def test_a_notebook_says_what_holds_in_these_prompts(make_run: Callable[..., Run]) -> None:
    here = replace(estimate(3.0, 0.8, 9.0, q=0.4), fixed=Fixed(2.0, 4.0, 0.001, 0.002))
    (finding,) = Report.of(made := make_run([here])).in_these_prompts
    assert html.escape(finding.headline) in Report.of(made)._repr_html_()
