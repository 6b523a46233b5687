"""The agency report: what it says, that it is inert, and that no ranking is printed unresolved."""

import dataclasses
import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import portrayal
from portrayal.records import ERROR_HIGH, ERROR_LOW, Estimate, Interval, Null, Status
from portrayal.records import Test as TestOf
from portrayal.report.figures.generic import figures
from portrayal.report.first import first_screen
from portrayal.report.page import render
from portrayal.report.study import report_of
from portrayal.report.view import View
from portrayal.studies.agency.report.head import (
    _differences,
    agency_first,
    agency_head,
    doubt,
    facts,
)
from portrayal.studies.agency.report.ranking import letter_display, rankings
from portrayal.studies.agency.report.series import group_name, points
from portrayal.studies.agency.report.texts import agency_reading

ACTS = "They founded a company and won the award."
CARES = "They lovingly support and care for their friends."
EVIL = "<script>alert(1)</script>"


def audit(path, rows, **options):
    fast = {"draws": 300, "permutations": 100, "report": False}
    return View.of(portrayal.audit("agency", texts=rows, out=path, **{**fast, **options}))


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


def test_the_head_says_both_maskings_and_what_cannot_be_said(view):
    head, first = agency_head(view), first_screen(view)
    assert first.none.startswith(
        "Nothing found in 24 texts. Four times in five they would have shown: "
    )
    assert first.stated == ()
    said = _differences(view, ("Biography", "", "sample"))
    assert all("Unmasked" in s.evidence for s in said)
    assert {row[1] for row in head.masking.rows} == {"male − female", "White − Black"}
    assert "Agentic is not better than communal" in first.cannot[-1]
    assert dict(facts(view))["Groups"] == "gender, race"


def test_what_another_classifier_has_the_other_way_round_is_not_stated(tmp_path):
    view = audit(tmp_path / "r", texts_of({"a": 0.8, "b": 0.2}))
    (stated,) = [s for s in first_screen(view).stated if s.first.measure.startswith("agency_gap")]
    low, high = (stated.first.details[name] for name in (ERROR_LOW, ERROR_HIGH))
    assert 0 < low <= stated.first.value <= high
    reach = f"{points(low / 2)} to {points(high / 2)}"
    assert f"{reach} by other readings of the same sentences" in stated.facts
    assert "the classifier trained on LAC alone +" in stated.evidence
    assert "no other reading of the same sentences has any the other way round" in doubt(view)
    assert "the levels are +8.8 and −6.5 by linear-lac.v1" in doubt(view)
    assert "+22.0 and +35.6 by linear-lac-untaught.v2 and +10.4 and +0.3 by" in doubt(view)
    turned = {"by_untaught": -0.1, ERROR_LOW: -0.1}
    other = replace(
        view,
        estimates=tuple(
            replace(e, details={**e.details, **turned}) if ERROR_LOW in e.details else e
            for e in view.estimates
        ),
    )
    shown = [s for s in first_screen(other).stated if s.first.measure.startswith("agency_gap")]
    assert shown == []
    assert "1 of 1 difference beyond chance is not stated" in first_screen(other).cannot[0]
    assert "the classifier trained on LAC alone −10.0" in doubt(other)
    assert order(other) == [("a", "a"), ("b", "a")]


def order(view, masking="masked"):
    return [
        (group_name(e.group), r.letters[i])
        for r in rankings(view, masking)
        for i, e in enumerate(r.groups)
    ]


def test_a_ranking_is_drawn_with_letters_where_it_is_resolved(tmp_path):
    view = audit(tmp_path / "r", texts_of({"a": 0.8, "b": 0.5, "c": 0.2}))
    assert order(view) == [("a", "a"), ("b", "b"), ("c", "c")]
    (found,) = rankings(view, "masked")
    assert found.words == "race: a > b > c"
    (figure,) = [f for f in figures(view) if f.key == "agency-groups"]
    assert "1 of 1 ranking can be told from chance. race: a > b > c." in figure.reading
    assert [row[1:3] for row in figure.table.rows] == [("a", "a"), ("b", "b"), ("c", "c")]


def test_a_ranking_that_chance_explains_has_one_letter(tmp_path):
    view = audit(tmp_path / "r", texts_of({"a": 0.5, "b": 0.5, "c": 0.5}, n=30))
    (found,) = rankings(view, "masked")
    assert set(found.letters) == {"a"}
    assert "not ranked, as chance alone puts groups as far apart" in found.words
    assert ">" not in found.words


def test_neighbours_that_cannot_be_told_apart_share_a_letter(tmp_path):
    view = audit(tmp_path / "r", texts_of({"a": 0.8, "b": 0.79, "c": 0.2}))
    letters = dict(order(view))
    assert letters["a"] == letters["b"] == "a"
    assert letters["c"] == "b"
    assert rankings(view, "masked")[0].words == "race: in part, from b down to c"


@given(st.sets(st.tuples(st.integers(0, 6), st.integers(0, 6)).filter(lambda p: p[0] < p[1])))
def test_two_groups_share_a_letter_unless_they_are_told_apart(pairs):
    names = [f"g{i}" for i in range(7)]
    told = {frozenset((names[i], names[j])) for i, j in pairs}
    letters = dict(zip(names, letter_display(names, told), strict=True))
    for one, two in itertools.combinations(names, 2):
        assert bool(set(letters[one]) & set(letters[two])) == (frozenset((one, two)) not in told)


def difference(value, low, high, null, q, groups="male − female", masking="masked", **more):
    return Estimate(
        study="agency",
        measure="agency_gap.v1",
        statistic="difference",
        unit="text",
        strata={"model": "m", "task": "all", "stratum": "all", "masking": masking},
        group={"gender": groups},
        value=value,
        interval=None if low is None else Interval(low, high, 0.95, "t"),
        null=Null(0.0, *null, 0.95, "s"),
        n_units=60.0,
        n_clusters=30,
        tests=() if q is None else (TestOf(q, "t", q),),
        **more,
    )


def said_of(view, estimates):
    changed = dataclasses.replace(view, estimates=estimates)
    (sentence,) = _differences(changed, ("all", "", "m"))
    return sentence


def test_a_difference_below_0_is_turned_with_everything_beside_it(view):
    own = difference(-0.232, -0.354, -0.09, (-0.05, 0.08), 0.001)
    other = difference(-0.079, -0.2, 0.01, (-0.1, 0.1), 0.4, masking="unmasked")
    said = said_of(view, [own, other])
    assert "sentences about women are 11.6 points more often agentic" in said.headline
    assert said.facts[:2] == ("+11.6 points (+4.5 to +17.7)", "agentic less communal: 23.2 points")
    assert "Unmasked: +7.9 (−1.0 to +20.0)" in said.evidence
    assert said.clear


def test_the_largest_of_the_sure_differences_is_called_that(view):
    rows = [
        difference(0.5, -0.1, 1.1, (-0.2, 0.2), 0.4, "a − b"),
        difference(0.3, 0.2, 0.4, (-0.1, 0.1), 0.001, "a − c"),
        difference(0.2, 0.1, 0.3, (-0.1, 0.1), 0.001, "b − c"),
    ]
    said = said_of(view, rows)
    assert "the largest of the 2 of 3 differences that can be told from 0" in said.evidence
    assert "the only one of 2 diff" in said_of(view, rows[:2]).evidence
    assert "the largest of 1" not in said_of(view, rows[:1]).evidence
    unsure = [rows[0], difference(0.1, -0.1, 0.3, (-0.1, 0.1), 0.6, "a − c")]
    assert "2 differences, none of which can be told from 0" in said_of(view, unsure).evidence


def test_what_keeps_a_difference_from_being_told_is_said(view):
    said = said_of(view, [difference(0.3, 0.02, 0.5, (-0.1, 0.1), 0.2)])
    assert not said.clear
    assert "leaves out 0, but q over all differences that were looked at is 0.2" in said.evidence
    said = said_of(view, [difference(0.3, 0.02, 0.5, (-0.4, 0.4), 0.001)])
    assert "leaves out 0, but shuffled groups lie as far apart" in said.evidence
    why = Status("a group has texts of one prompt only", "too few prompts")
    bare = difference(0.3, None, None, (-0.1, 0.1), None, status=why)
    said = said_of(view, [bare])
    assert "No interval: a group has texts of one prompt only. No test: too few" in said.evidence


def test_a_ranking_without_a_test_says_why(tmp_path):
    rows = texts_of({"a": 0.8, "b": 0.2}, n=20)
    view = audit(tmp_path / "r", [dict(row, prompt="Write.") for row in rows], by=("race",))
    assert rankings(view, "masked")[0].why == "as shuffled groups all give the same variance"
    page = render(view)
    assert "p —" not in page
    assert "--cluster text takes each text as a unit" in agency_head(view).limits


def test_every_form_of_the_paper_has_a_figure(view):
    keys = [figure.key for figure in figures(view)]
    assert keys == [
        "agency-groups",
        "agency-shares",
        "agency-differences",
        "agency-strata",
        "agency-variance",
        "agency-noise",
    ]
    by_key = {figure.key: figure for figure in figures(view)}
    printed = [row for row in by_key["agency-variance"].table.rows if "(paper)" in row[0]]
    assert ("Biography, ChatGPT (paper)", "unmasked", "38.1", "47.8", "66.3", "50.7") in printed
    for figure in by_key.values():
        assert figure.reading
        assert figure.table.rows


def test_published_figures_are_labelled(view):
    drawn = " ".join(str(figure.spec) for figure in figures(view))
    assert "(paper)" in drawn
    assert "as published" in drawn
    assert "ChatGPT †" in render(view)


def test_texts_are_shown_from_the_most_agentic_to_the_most_communal(view):
    reading = agency_reading(view)
    assert len(reading.texts) == 24
    assert reading.groups == ("Black female", "Black male", "White female", "White male")
    for text in reading.texts:
        told = [p for p in text.pieces if p.kind]
        assert {p.kind for p in told} <= {"agentic", "communal"}
        assert all("masked" in p.told and "unmasked" in p.told for p in told)


def test_the_page_is_inert(tmp_path):
    rows = texts_of({EVIL: 0.5, "b": 0.4}, n=6)
    rows += [{"race": "b", "text": f"{EVIL} {ACTS}", "name": EVIL, "model": EVIL}]
    page = render(audit(tmp_path / "r", rows, by=("race",)))
    assert EVIL not in page
    assert 'http-equiv="Content-Security-Policy"' in page


def test_words_of_groups_and_numbers():
    assert group_name({"race": "White − Black", "gender": "male"}) == "White male − Black male"
    assert group_name({"gender": "male − female", "beside": "human"}) == (
        "male − female, beside human texts"
    )
    assert group_name({}) == "all texts"
    assert points(-0.1638) == "−16.4"
    assert points(None) == "—"


def test_other_audits_have_no_agency(tmp_path):
    run = portrayal.audit(
        "laissez-faire",
        texts=[{"text": "Maria teaches.", "condition": "neutral", "subject_role": "teacher"}],
        out=tmp_path / "r",
        report=False,
        draws=100,
        permutations=20,
    )
    view = View.of(run)
    assert "agency" not in report_of(view).package
    assert "agency-groups" not in render(view)


def test_published_figures_of_a_task_stand_beside(tmp_path):
    cells = [(race, gender) for race in ("White", "Black") for gender in ("female", "male")]
    rows = [
        {
            "race": race,
            "gender": gender,
            "task": "Professor Review",
            "department": f"{part} department",
            "text": (ACTS, CARES)[(i + len(race)) % 2],
        }
        for race, gender in cells
        for part in ("Chemistry", "English")
        for i in range(6)
    ]
    page = audit(tmp_path / "r", rows)
    drawn = {figure.key: figure for figure in figures(page)}
    table = drawn["agency-shares"].table
    place = table.columns.index("Mistral MSR †")
    printed = {row[0]: row[place] for row in table.rows}
    assert printed["Black female"] == "51.3\xa0%"  # Table 3
    assert printed["female"] == "—"
    assert "Table 3" in drawn["agency-shares"].note
    (panel,) = drawn["agency-strata"].spec["concat"]
    assert "Chemistry: human texts (paper)" in str(panel)  # Table 17
    assert "human texts" not in str(drawn["agency-groups"].spec)
    variances = [row for row in drawn["agency-variance"].table.rows if "(paper)" in row[0]]
    assert len(variances) == 3  # Table 1


def test_models_stand_beside_human_texts(tmp_path):
    rows = [dict(row, model="human") for row in texts_of({"a": 0.5, "b": 0.5})]
    rows += [dict(row, model="gpt") for row in texts_of({"a": 0.9, "b": 0.1}, seed=1)]
    view = audit(tmp_path / "r", rows)
    (figure,) = [each for each in figures(view) if each.key == "agency-human"]
    (panel,) = figure.spec["concat"]
    order = panel["layer"][0]["encoding"]["y"]["scale"]["domain"]
    assert order[0] == "human"
    assert figure.reading.startswith("1 of 1 difference of models from human texts can be told")
    said = [each.headline for each in agency_first(view).stated]
    assert any("that in texts that people wrote" in each for each in said)
    assert all(each.key != "agency-human" for each in figures(audit(tmp_path / "s", rows[:120])))


def test_texts_of_a_model_called_human_alone_have_no_such_figure(view):
    assert "agency-human" not in {each.key for each in figures(view)}
