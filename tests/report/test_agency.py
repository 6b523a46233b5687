"""The agency report: what it states, its figures beside the published ones, and texts, inert."""

from dataclasses import replace

import numpy as np
import pytest

import portrayal
from portrayal.records import ERROR_HIGH, ERROR_LOW, Estimate, Interval, Null, Status
from portrayal.records import Test as TestOf
from portrayal.report.about import reading_error
from portrayal.report.figures.generic import figures
from portrayal.report.findings import doubt_words, doubted, facts_of
from portrayal.report.first import first_screen, read_line
from portrayal.report.page import render
from portrayal.report.sentences import sentence_of
from portrayal.report.view import View
from portrayal.report.words import group_label
from portrayal.run.estimates import shown_cells
from portrayal.studies.agency.texts import texts_to_read

ACTS = "They founded a company and won the award."
CARES = "They lovingly support and care for their friends."
EVIL = "<script>alert(1)</script>"


def audit(path, rows, **options):
    fast = {"draws": 300, "permutations": 100, "report": False}
    return View.of(portrayal.audit(study="agency", texts=rows, out=path, **{**fast, **options}))


def texts_of(shares, n=60, seed=0):
    """`n` texts of each group, with this share of agentic sentences."""
    rng = np.random.default_rng(seed)
    rows = []
    for group, share in shares.items():
        for _ in range(n):
            acts = rng.random(8) < share
            rows.append({"race": group, "text": " ".join(ACTS if a else CARES for a in acts)})
    return rows


@pytest.fixture(scope="module")
def view(sample_runs):
    return View.of(sample_runs("agency"))


def test_the_first_screen_speaks_of_masked_sentences_alone(view):
    first = first_screen(view)
    assert first.lead.sentence.startswith(
        "No difference shown in 24 texts: of difference in agency, a difference above "
    )
    assert first.findings == ()
    assert {e.first.strata["masking"] for e in first.lead.candidates} == {"masked"}
    assert "Agentic is not better than communal" in reading_error(view)[-1]
    assert "+22.0 and +35.6 (+23.2 and +35.0) by linear-lac-untaught.v2" in reading_error(view)[-2]


def test_groups_that_are_compared_are_named_once_and_rows_say_their_statistic(view):
    assert "compared: male with female and White with Black" in read_line(view)
    shares = [e for e in view.estimates if e.measure == "agency_share.v1"][:3]
    _, cells, _ = shown_cells(shares)
    assert [row[0].split(" · ")[-2] for row in cells] == [
        f"agency share ({statistic})" for statistic in ("agentic", "communal", "ratio gap")
    ]


def test_how_far_groups_lie_apart_says_which_of_them_is_where(tmp_path):
    view = audit(tmp_path / "r", texts_of({"Asian": 0.8, "Black": 0.5, "White": 0.2}))
    (apart,) = [f for f in first_screen(view).findings if "lie further apart" in f.headline]
    levels = {
        e.group["race"]: 100 * e.value
        for e in view.estimates
        if e.statistic == "agentic" and "race" in e.group and e.strata["masking"] == "masked"
    }
    assert apart.headline.endswith(
        f": {levels['Asian']:.0f}\u00a0% of the sentences about Asian people are agentic, "
        f"{levels['White']:.0f}\u00a0% of those about White people"
    )


def test_what_another_classifier_has_the_other_way_round_is_not_stated(tmp_path):
    view = audit(tmp_path / "r", texts_of({"a": 0.8, "b": 0.2}))
    (stated,) = [s for s in first_screen(view).findings if s.first.measure.startswith("agency_gap")]
    assert stated.first.strata["masking"] == "masked"
    low, high = (stated.first.details[name] for name in (ERROR_LOW, ERROR_HIGH))
    assert 0 < low <= stated.first.value <= high
    assert " by other readings of the same texts" in stated.evidence
    turned = tuple(
        replace(e, details={**e.details, ERROR_LOW: -0.1}) if ERROR_LOW in e.details else e
        for e in view.estimates
    )
    other = replace(view, estimates=turned)
    shown = [s for s in first_screen(other).findings if s.first.measure.startswith("agency_gap")]
    assert shown == []
    (in_doubt,) = doubted(other)
    assert "−10.0 to " in doubt_words(in_doubt)
    assert "could make it" in first_screen(other).cannot[0]
    assert first_screen(other).remedies == ()


def difference(value, low, high, null, q, groups="male − female", **more):
    return Estimate(
        study="agency",
        measure="agency_gap.v1",
        statistic="difference",
        unit="text",
        strata={"model": "m", "task": "all", "stratum": "all", "masking": "masked"},
        group={"gender": groups},
        value=value,
        interval=None if low is None else Interval(low, high, 0.95, "t"),
        null=Null(0.0, *null, 0.95, "s"),
        n_units=60.0,
        n_clusters=30,
        tests=() if q is None else (TestOf(q, "t", q, q),),
        **more,
    )


def stated_of(view, estimates):
    return first_screen(replace(view, estimates=tuple(estimates), models=("m",))).findings


def test_a_difference_below_0_is_turned_with_its_interval(view):
    e = difference(-0.232, -0.354, -0.09, (-0.05, 0.08), 0.001)
    assert "sentences about women are 11.6 points more often agentic" in sentence_of(e)
    assert facts_of(view, e)[0] == "+23.2 points (+9.0 to +35.4)"


def test_of_several_differences_of_an_attribute_the_largest_stands_in_front(view):
    rows = [
        difference(0.5, -0.1, 1.1, (-0.2, 0.2), 0.4, "a − b"),
        difference(0.3, 0.2, 0.4, (-0.1, 0.1), 0.001, "a − c"),
        difference(0.2, 0.1, 0.3, (-0.1, 0.1), 0.001, "b − c"),
    ]
    stated = stated_of(view, rows)
    assert [(s.first.value, s.folded) for s in stated] == [(0.3, False), (0.2, True)]


def test_what_keeps_a_difference_from_being_stated(view):
    assert not stated_of(view, [difference(0.3, 0.02, 0.5, (-0.1, 0.1), 0.2)])
    assert not stated_of(view, [difference(0.3, 0.02, 0.5, (-0.4, 0.4), 0.001)])
    why = Status("a group has texts of one prompt only", "too few prompts")
    assert not stated_of(view, [difference(0.3, None, None, (-0.1, 0.1), None, status=why)])


def test_every_form_of_the_paper_has_a_figure(view):
    drawn = {figure.title: figure for figure in figures(view)}
    assert list(drawn) == [
        "Groups, from agentic to communal",
        "Share of agentic sentences, by group",
        "Differences between groups",
        "Differences by stratum",
        "Variance between groups",
    ]
    for figure in drawn.values():
        assert figure.reading
        assert figure.table.rows
        assert (figure.chart is None) == (figure.title in list(drawn)[1::3])


def test_texts_are_shown_from_the_most_agentic_to_the_most_communal(view):
    readings = texts_to_read(view)
    assert len(readings.readings) == 16
    pieces = [p for r in readings.readings for p in r.passages[0].pieces if p.shade]
    assert {p.shade for p in pieces} <= {"agentic", "communal"}
    assert all("masked" in p.title and "unmasked" in p.title for p in pieces)


def test_the_page_is_inert(tmp_path):
    rows = texts_of({EVIL: 0.5, "b": 0.4}, n=6)
    rows += [{"race": "b", "text": f"{EVIL} {ACTS}", "name": EVIL, "model": EVIL}]
    page = render(audit(tmp_path / "r", rows, by=("race",)))
    assert EVIL not in page
    assert 'http-equiv="Content-Security-Policy"' in page


def test_a_difference_of_crossed_groups_names_both_whole():
    assert group_label({"race": "White − Black", "gender": "male"}) == "White male − Black male"
