"""Which ratios become sentences, in which order, in which words."""

import math
from collections.abc import Callable

from portrayal.records import Estimate, Fixed, Status
from portrayal.report.findings import doubt_words, doubted, findings, nearest
from portrayal.report.first import cannot_lines, finding_facts, remedies
from portrayal.report.page import render
from portrayal.report.view import CANNOT, View, strength_of
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
    assert found.headline.startswith("Latine men in stories about work: subordination ratio 14")
    assert found.facts == ("14 times (9.1–22)", "50 characters", "q = 0.001")
    evidence = found.evidence.replace("\u00a0", " ")
    assert "95 % interval over 10 prompts" in evidence
    assert "would read 0.80–1.25 (roles of whole prompts swapped at random)" in evidence
    assert "p = 0.001" in evidence


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


def test_the_strongest_of_each_question_stands_first(make_run: Maker) -> None:
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
    assert [f.first.value for f in found] == [9.0, 3.0, 0.25, 0.5]
    assert not any(f.folded for f in found)


def test_mirror_images_are_one_finding(make_run: Maker) -> None:
    def of(value: float, gender: str, cells: tuple[float, float]) -> Estimate:
        details = {"count_subordinate": cells[0], "n_subordinate": 100.0}
        details |= {"count_dominant": cells[1], "n_dominant": 100.0}
        bounds = value * 0.8, value * 1.25
        return estimate(value, *bounds, **SURE, group={"gender": gender}, details=details)

    women, men = of(4.8, "F", (86.0, 18.0)), of(0.14, "M", (11.0, 79.0))
    rare = of(3.0, "NB", (15.0, 5.0))
    found, alone = findings(_view(make_run, women, men, rare))
    assert [e.value for e in found.estimates] == [0.14, 4.8]
    assert "The mirror image: 86 of 100 people" in found.evidence
    assert [e.value for e in alone.estimates] == [3.0]


def test_these_prompts_are_spoken_of_where_prompts_like_them_are_not(make_run: Maker) -> None:
    fixed = Fixed(2.5, 3.5, 0.002, 0.004)
    both = estimate(3.0, 2.0, 4.0, **SURE, fixed=fixed)
    alone = estimate(3.0, 0.9, 9.0, q=0.3, domain="Love", fixed=fixed)
    run = make_run([both, alone])
    facts = finding_facts(run)["findings"]
    assert [f["population"] for f in facts] == ["prompts like these", "these prompts"]
    assert [f["id"] for f in facts] == [both.id, alone.id]
    assert [(f["p"], f["q"]) for f in facts] == [(0.001, 0.001), (0.002, 0.004)]
    assert facts[1]["interval"] == [2.5, 3.5]


def test_one_finding_of_each_question_stands_in_front_and_the_others_are_folded(
    make_run: Maker,
) -> None:
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
    assert len(found) == 8
    in_front = [f.first for f in found if not f.folded]
    assert [e.measure for e in in_front] == [REP, "pair_representation.v1"]
    assert in_front[0].value == 0.01


def test_several_models_speak_of_the_pooled_stratum_and_count_agreement(make_run: Maker) -> None:
    models = ("a", "b", "c")
    rows = [estimate(3.0, 2.0, 4.0, model="all", **SURE)]
    rows += [estimate(v, 0.5, 5.0, model=m) for v, m in zip((4.0, 2.0, 0.9), models, strict=True)]
    view = _view(make_run, *rows, models=models)
    (found,) = findings(view)
    assert found.first.strata["model"] == "all"
    assert found.facts[-2] == "2 of 3 models agree"


def test_one_model_is_shown_once(make_run: Maker) -> None:
    view = _view(make_run, estimate(model="all"), estimate(model="m"))
    assert view.main == "m"
    assert len(view.estimates) == 1


def test_what_cannot_be_said(make_run: Maker) -> None:
    view = _view(make_run, estimate(None), *(estimate(x, 0.2, 5.0) for x in (1.0, 1.1)))
    (said,) = [line for line in cannot_lines(view) if "do not settle" in line]
    assert said.startswith("For 2 of 3 numbers")
    assert said.endswith("no evidence that they are treated alike.")


def test_an_attribute_of_one_group_says_that_it_is_compared_with_nothing(make_run: Maker) -> None:
    gap = {"measure": "agency_gap.v1", "statistic": "difference", "null": None, "q": None}
    one = estimate(None, **gap, group={"gender": "any"})
    variance = estimate(None, measure="agency_variance.v1", group={"attribute": "gender"}, q=None)
    (said,) = cannot_lines(_view(make_run, one, variance))
    assert said == (
        "Differences between groups of gender cannot be measured, as there is only one."
    )


def test_no_sentence_claims_too_much(sample_run: Run) -> None:
    view = View.of(sample_run)
    words = " ".join(f.headline + f.evidence for f in [*findings(view), *nearest(view)])
    for word in ("proves", "unbiased", "debiased", "biased"):
        assert word not in words


def _error(low: float, high: float, value: float = 1.2) -> dict[str, float]:
    return {"error_value": value, "error_low": low, "error_high": high}


def test_what_the_reader_could_have_made_is_no_finding(make_run: Maker) -> None:
    nb = {"gender": "NB"}
    untold = Status(reader_error="cannot be told: the reader was measured on 37 people")
    view = _view(
        make_run,
        estimate(11.0, 5.0, 20.0, **SURE, group=nb, domain="A", details=_error(0.8, 20.0)),
        estimate(9.0, 5.0, 20.0, **SURE, group=nb, domain="B", status=untold),
        estimate(3.0, 2.0, 4.0, **SURE, details=_error(1.6, 5.0, 3.4)),
        estimate(2.0, 0.9, 4.0, q=0.3, group={"gender": "F"}, details=_error(0.8, 5.0)),
    )
    (found,) = findings(view)
    assert found.first.value == 3.0
    assert "; without the reader’s errors about 3.4 (1.6–5.0)." in found.evidence
    assert [e.first.value for e in nearest(view)] == [11.0, 9.0, 2.0]
    first, second = map(doubt_words, doubted(view))
    assert first.startswith("Non-binary people in A, subordination ratio: 11 as read; without")
    assert second.endswith(str(untold.reader_error))
    (line,) = remedies(view, ())
    assert (
        f"2 numbers unstated, label a sample by hand (portrayal label sheet {view.run.path})"
        in line
    )


def test_what_cannot_be_told_says_why(make_run: Maker) -> None:
    why = "cannot be told: the reader was measured on 37 non-binary people and reads 16 % so"
    row = estimate(9.0, 5.0, 20.0, **SURE, group={"gender": "NB"}, status=Status(reader_error=why))
    view = _view(make_run, row)
    assert findings(view) == []
    assert doubt_words(*doubted(view)).endswith(f"how far the reader’s errors move it {why}")
    assert "could be the reader’s error, so not stated" in render(view)


def test_a_run_without_a_measured_reader_is_told_as_before(make_run: Maker) -> None:
    view = _view(make_run, estimate(3.0, 2.0, 4.0, **SURE))
    assert len(findings(view)) == 1
    assert doubted(view) == []
    assert remedies(view, ()) == ()
    assert "reader’s error" not in render(view)
