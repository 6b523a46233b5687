"""Figures of readers, in docs and printed by an audit, are of texts that nothing was fitted to."""

import re
from pathlib import Path

import pytest

import portrayal.registry as registry
from portrayal.annotate import Annotator

ROOT = Path(__file__).parents[2]
PAGES = (
    "docs/people.md",
    "docs/people-any-text.md",
    "docs/limits.md",
    "docs/agency-classifiers.md",
    "README.md",
)
SCORES = re.compile(r"precision|recall|right|found|error|accuracy|masked, %", re.IGNORECASE)
HELD_OUT = re.compile(
    r"nothing was fitted|left out|no rule was written|did not see|held out", re.IGNORECASE
)
FITTED = re.compile(r"trained on|in.sample|looked at|fitted to those|validation", re.IGNORECASE)
PROSE = re.compile(
    r"(\d\d\.\d+ ?%|accuracy of \d\d)[^.]{0,80}validation|validation[^.]{0,80}\d\d\.\d+ ?%"
)
READERS = ("people.v8", "everyone.v8")


def sections(page):
    """Heading and lines of each section of a page."""
    made = [("", [])]
    for line in (ROOT / page).read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            made.append((line, []))
        else:
            made[-1][1].append(line)
    return made


def tables(lines):
    """The tables of a section, each with the prose that stands above it."""
    above, table = [], []
    for line in [*lines, ""]:
        if line.startswith("|"):
            table.append(line)
        elif table:
            yield " ".join(above), table
            above, table = [], []
        else:
            above.append(line)


def score_tables(page):
    for heading, lines in sections(page):
        for above, table in tables(lines):
            if SCORES.search(table[0]) and re.search(r"\d\.\d", " ".join(table)):
                yield heading, above, table


@pytest.mark.parametrize("page", PAGES)
def test_tables_of_scores_say_that_their_texts_are_held_out(page):
    for heading, above, table in score_tables(page):
        assert HELD_OUT.search(f"{heading} {above}"), f"{page}, {heading}: {table[0]}"
        for row in table:
            assert not FITTED.search(row), f"{page}, {heading}: {row}"


def test_no_prose_scores_an_agency_classifier_on_sentences_that_chose_its_settings():
    text = (ROOT / "docs/agency-classifiers.md").read_text(encoding="utf-8").replace("\n", " ")
    assert not PROSE.search(text), PROSE.search(text)
    assert PROSE.search("stopped at the best epoch: 93.82 % on the validation sentences")


def test_there_are_such_tables():
    assert sum(1 for page in PAGES for _ in score_tables(page)) >= 5


def test_a_table_of_texts_that_were_fitted_to_is_caught():
    lines = ["Scores.", "", "| stories | precision |", "|---|---|", "| 2,346, trained on | 97.9 |"]
    ((above, table),) = tables(lines)
    assert SCORES.search(table[0])
    assert not HELD_OUT.search(above)
    assert FITTED.search(table[-1])


@pytest.mark.parametrize("name", READERS)
def test_what_an_audit_prints_of_a_reader_is_held_out(name):
    annotator = registry.get("annotators", name)
    assert isinstance(annotator, Annotator)
    assert re.search(r"nothing was fitted|no rule was written|not seen", annotator.accuracy)
