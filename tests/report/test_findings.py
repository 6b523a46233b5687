"""Which ratios become sentences, in which order, in which words."""

import math
from collections.abc import Callable

from portrayal.report.findings import (
    absent_groups,
    doubted,
    findings,
    nearest,
    reader_line,
)
from portrayal.report.first import cannot_lines
from portrayal.report.page import render
from portrayal.report.strength import CANNOT, strength_of
from portrayal.report.view import View
from portrayal.run import Run

from .conftest import estimate

Maker = Callable[..., Run]
SURE = {"q": 0.001}
REP = "representation.v1"


def _view(make_run: Maker, *estimates: object, **more: object) -> View:
    return View.of(make_run(list(estimates), **more))


def test_a_finding_names_group_value_interval_null_and_q(make_run: Maker) -> None:
    view = _view(make_run, estimate(14.2, 9.1, 22.4, **SURE))
    (found,) = findings(view)
    assert found.headline == (
        "Characters with names most borne by Latine people and masculine references make up 14 "
        "times as large a share of the subordinate as of the dominant characters in power-laden "
        "Labor stories"
    )
    assert found.facts[:2] == ("14 times (9.1–22)", "chance alone: 0.80–1.25")
    evidence = found.evidence.replace("\u00a0", " ")
    assert "95 % interval over 10 prompts" in evidence
    assert "chance is roles of whole prompts swapped at random" in evidence
    assert "q = 0.001" in evidence


def test_only_what_can_be_told_from_its_null_is_a_finding(make_run: Maker) -> None:
    view = _view(
        make_run,
        estimate(3.0, 0.9, 9.0, **SURE, domain="A"),
        estimate(3.0, 2.0, 4.0, q=0.2, domain="B"),
        estimate(3.0, 2.0, 4.0, q=None, domain="C"),
        estimate(3.0, 2.0, 4.0, q=math.nan, domain="D"),
        estimate(3.0, 2.0, 4.0, **SURE, null=(0.1, 5.0), domain="E"),
        estimate(3.0, 2.0, 4.0, **SURE, clusters=4, domain="F"),
        estimate(None, domain="G"),
    )
    assert findings(view) == []
    assert {each.first.strata["domain"] for each in nearest(view)} == {"A", "B", "D", "E", "F"}


def test_few_prompts_or_people_say_nothing(make_run: Maker) -> None:
    few = {"count_subordinate": 0.3, "n_subordinate": 40.0, "count_dominant": 12.0}
    view = _view(
        make_run,
        estimate(3.0, 2.0, 4.0, **SURE, clusters=4, domain="A"),
        estimate(3.0, 2.0, 4.0, **SURE, domain="B", details={**few, "n_dominant": 60.0}),
        estimate(3.0, 2.0, 4.0, **SURE, domain="C", n_units=9.9),
    )
    assert findings(view) == []
    assert {strength_of(view, e) for e in view.estimates} == {CANNOT}


def test_findings_are_largest_first_and_join_domains(make_run: Maker) -> None:
    group = {"race": "Black"}
    share = {"details": {"share": 0.05, "baseline": 0.136}}
    view = _view(
        make_run,
        estimate(0.5, 0.4, 0.6, measure=REP, group=group, domain="Love", **SURE, **share),
        estimate(0.25, 0.2, 0.3, measure=REP, group=group, domain="Labor", **SURE, **share),
        estimate(3.0, 2.0, 4.0, **SURE),
        estimate(9.0, 8.0, 10.0, measure=REP, group={"gender": "F"}, **SURE, **share),
    )
    found = findings(view)
    # The strongest of each question, then the others.
    assert [f.first.value for f in found] == [9.0, 3.0, 0.25]
    assert found[0].headline.startswith("Feminized characters are over-represented")
    assert "Labor stories: 5.0 % of the characters, 13.6 % expected" in found[2].headline.replace(
        "\u00a0", " "
    )
    assert "Also in Love (0.50, 0.40–0.60)." in found[2].evidence


def test_at_most_five_findings_and_no_measure_crowds_out_another(make_run: Maker) -> None:
    races = ("White", "Latine", "Black", "Asian", "AI/AN", "MENA", "NH/PI")
    many = [
        estimate(0.01 * (i + 1), 0.001, 0.5, measure=REP, group={"race": race}, **SURE)
        for i, race in enumerate(races)
    ]
    pair = estimate(
        0.9,
        0.8,
        0.95,
        measure="pair_representation.v1",
        group={"pair": "F-F"},
        **SURE,
        null=(0.97, 1.02),
    )
    found = findings(_view(make_run, *many, pair))
    assert len(found) == 5
    assert "couples of two feminized characters (F-F)" in found[-1].headline.lower() or any(
        "two feminized characters (F-F)" in f.headline for f in found
    )


def test_several_models_speak_of_the_pooled_stratum_and_count_agreement(make_run: Maker) -> None:
    models = ("a", "b", "c")
    rows = [estimate(3.0, 2.0, 4.0, model="all", **SURE)]
    rows += [estimate(v, 0.5, 5.0, model=m) for v, m in zip((4.0, 2.0, 0.9), models, strict=True)]
    view = _view(make_run, *rows, models=models)
    (found,) = findings(view)
    assert found.first.strata["model"] == "all"
    assert found.facts[-1] == "2 of 3 models with a value agree"


def test_one_model_is_shown_once(make_run: Maker) -> None:
    view = _view(make_run, estimate(model="all"), estimate(model="m"))
    assert view.main == "m"
    assert len(view.estimates) == 1


def test_what_cannot_be_said(make_run: Maker) -> None:
    gone = estimate(
        0.0,
        0.0,
        12.0,
        measure=REP,
        group={"gender": "NB"},
        q=None,
        details={"share": 0.0, "baseline": 0.017},
        null=(0.0, 5.0),
    )
    view = _view(make_run, estimate(None), estimate(1.0, 0.2, 5.0), gone)
    assert absent_groups(view).startswith("Not once counted, in Labor: non-binary characters.")
    (said,) = [line for line in cannot_lines(view) if "do not settle" in line]
    assert said.startswith("For 2 of 3 numbers")
    assert said.endswith("no evidence that they are treated alike.")


def test_no_sentence_claims_too_much(sample_run: Run) -> None:
    view = View.of(sample_run)
    words = " ".join(f.headline + f.evidence for f in [*findings(view), *nearest(view)])
    for word in ("proves", "unbiased", "debiased", "biased"):
        assert word not in words


def _error(low: float, high: float, value: float = 1.2) -> dict[str, float]:
    return {"error_value": value, "error_low": low, "error_high": high}


def test_what_the_reader_could_have_made_is_no_finding(make_run: Maker) -> None:
    nb = {"gender": "NB"}
    untold = {"reader_error": "cannot be told: the reader was measured on 37 people"}
    view = _view(
        make_run,
        estimate(11.0, 5.0, 20.0, **SURE, group=nb, domain="A", details=_error(0.8, 20.0)),
        estimate(9.0, 5.0, 20.0, **SURE, group=nb, domain="B", instruments=untold),
        estimate(3.0, 2.0, 4.0, **SURE, details=_error(1.6, 5.0, 3.4)),
        estimate(2.0, 0.9, 4.0, q=0.3, group={"gender": "F"}, details=_error(0.8, 5.0)),
    )
    (found,) = findings(view)
    assert found.first.value == 3.0
    assert "; without the reader’s errors about 3.4 (1.6–5.0)." in found.evidence
    assert "It reads 94.1\u00a0% of names right in stories by models." in found.evidence
    assert [e.first.value for e in nearest(view)] == [11.0, 9.0, 2.0]
    in_doubt = doubted(view)
    assert in_doubt is not None
    (line,) = in_doubt.lines
    assert line.startswith("Non-binary characters in A, subordination ratio: 11 as read; without")
    assert in_doubt.sheet == f"portrayal label sheet {view.run.path}"
    assert "could have made 1 of 2 ratios beyond chance" in reader_line(view.run)


def test_what_cannot_be_told_says_why(make_run: Maker) -> None:
    why = "cannot be told: the reader was measured on 37 non-binary people and reads 16 % so"
    row = estimate(
        9.0, 5.0, 20.0, **SURE, group={"gender": "NB"}, instruments={"reader_error": why}
    )
    view = _view(make_run, row)
    in_doubt = doubted(view)
    assert findings(view) == []
    assert in_doubt is not None
    assert in_doubt.lines[0].endswith(f"how far the reader’s errors move it {why}")
    assert "could be the reader’s error, so not stated" in render(view)


def test_a_run_without_a_measured_reader_is_told_as_before(make_run: Maker) -> None:
    view = _view(make_run, estimate(3.0, 2.0, 4.0, **SURE))
    assert len(findings(view)) == 1
    assert doubted(view) is None
    assert reader_line(view.run) == ""
    assert "reader’s error" not in render(view)
