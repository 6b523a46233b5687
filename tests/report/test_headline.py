"""The three headlines: something was found, nothing was although it could have been, or why not."""

import json
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from scipy.stats import norm

import portrayal
from command import invoke
from portrayal.records import TEXT_SD, THESE, Estimate, Fixed, Interval, Null, Status, finite
from portrayal.report.about import readable
from portrayal.report.first import finding_facts, finding_lines, first_screen
from portrayal.report.headline import POWER, SHOWN, Headline
from portrayal.report.page import render
from portrayal.report.view import View
from portrayal.run import Run
from portrayal.studies.laissez_faire import prompts

from .conftest import N_STORIES, estimate

Maker = Callable[..., Run]
GERMAN = (
    "Maria war an diesem Tag {i} eine fleißige Schülerin. Sie half ihrem Freund Juan mit den "
    "Hausaufgaben, und er dankte ihr am nächsten Morgen mit einem kleinen Kuchen."
)
ENGLISH = (
    "Maria was a star student on day {i}. She helped her friend Juan with the homework, and he "
    "thanked her in the morning of the next day with a small cake."
)


def lead(view: View) -> Headline:
    found = first_screen(view).lead
    assert isinstance(found, Headline)
    return found


def near(value: float = 0.7, low: float = 0.5, high: float = 0.95, **more: Any) -> Estimate:
    return estimate(value, low, high, **({"q": 0.2} | more))


def test_what_was_found_leads_and_what_was_not_stands_below(make_run: Maker) -> None:
    sure = estimate(3.0, 2.0, 4.0, q=0.001, domain="Love")
    found = lead(View.of(make_run([near(), sure])))
    assert (found.kind, found.sentence) == ("found", "")
    assert [each.first for each in found.candidates] == [near()]


def test_what_is_established_is_never_called_not_established(make_run: Maker) -> None:
    races = ("White", "Latine", "Black", "Asian", "AI/AN", "MENA", "NH/PI")
    share = {"q": 0.001, "measure": "representation.v1"}
    many = [
        estimate(0.01 * (i + 1), 0.001, 0.5, group={"race": race}, **share)
        for i, race in enumerate(races)
    ]
    errors = {"error_value": 1.2, "error_low": 0.8, "error_high": 20.0}
    doubted = estimate(9.0, 5.0, 20.0, q=0.001, domain="Love", details=errors)
    screen = first_screen(View.of(make_run([*many, doubted, near()])))
    assert [s.folded for s in screen.findings] == [False, *[True] * 6], "one question"
    assert [each.first for each in screen.lead.candidates] == [near()]


def test_nothing_found_says_what_could_have_been(make_run: Maker) -> None:
    wide = near(1.5, 0.6, 4.0, domain="Love", group={"race": "Asian"})
    found = lead(View.of(make_run([wide, near()])))
    least, other = detectable(near(), 2), detectable(wide, 2)
    assert found.kind == "nothing found"
    assert 1.6 < least < 2 < other
    (question,) = found.detectable
    assert (question.size, question.comparisons) == (pytest.approx(other), 2)
    needed = 24 * (math.log(other) / math.log(1.5)) ** 2
    assert found.sentence == (
        "No difference shown in 24 stories: of subordination ratio, a ratio above 4.0 is excluded; "
        f"one of 1.5 times would be shown by about {float(f'{needed:.2g}'):.0f} texts."
    )


def test_what_could_have_been_found_of_one_question_says_nothing_of_another(
    make_run: Maker,
) -> None:
    """The precise ratio of one question is no limit of what another could have shown."""
    precise = near(1.01, 0.97, 1.05, measure="representation.v1", group={"race": "White"})
    hopeless = near(1.5, 0.1, 22.0)
    found = lead(View.of(make_run([precise, hopeless])))
    shares, roles = found.detectable
    assert shares.size < 1.2 < 10 < roles.size
    assert "of representation ratio, a ratio above 1.05 is excluded; " in found.sentence
    assert "subordination ratio, only ratios above 10" in found.sentence


def test_what_holds_in_these_prompts_is_not_called_nothing(make_run: Maker) -> None:
    wide = near(1.5, 0.6, 4.0, domain="Love", group={"race": "Asian"})
    here = replace(near(), fixed=Fixed(0.6, 0.9, 0.001, 0.002))
    said = lead(View.of(make_run([wide, here]))).sentence
    assert said.startswith("No difference shown beyond these very prompts in 24 stories: of ")


def detectable(e: Estimate, family: int) -> float:
    """The ratio that a two-sided test at 5 %, shared among `family`, finds with a power of 80 %."""
    assert e.interval is not None
    assert e.value is not None
    half = (math.log(e.interval.high / e.value) + math.log(e.value / e.interval.low)) / 2
    error = half / norm.isf(0.025)
    ratio = math.exp(error * (norm.isf(0.025 / family) + norm.isf(0.2)))
    assert norm.sf(norm.isf(0.025 / family) - math.log(ratio) / error) == pytest.approx(POWER)
    return ratio


@pytest.mark.parametrize("family", [1, 2, 6])
def test_what_could_be_found_and_what_it_takes_follow_from_the_interval(
    make_run: Maker, family: int
) -> None:
    rows = [near(domain=f"D{i}", clusters=20) for i in range(family)]
    other = near(measure="representation.v1", group={"race": "Black"})
    found = lead(View.of(make_run([*rows, other])))
    mine = [each for each in found.candidates if each.first.measure == "subordination.v1"]
    size = detectable(rows[0], 2 * family)  # among its own, for two questions
    needed = math.ceil(20 * (math.log(size) / math.log(0.7)) ** 2)
    assert mine
    assert [each.detectable for each in mine] == pytest.approx([size] * len(mine))
    assert {each.prompts for each in mine} == {needed}
    assert mine[0].cells[1:5] == ("0.70", "0.50–0.95", "0.001", "0.20")
    assert mine[0].cells[5] == f"{needed} prompts, {needed * 100 // 20} texts"


def test_candidates_are_five_the_most_probable_first(make_run: Maker) -> None:
    ps = (0.04, 0.5, 0.01, 0.2, 0.3, 0.06, 0.9)
    rows = []
    for i, p in enumerate(ps):
        row = near(domain=f"D{i}")
        rows.append(replace(row, tests=(replace(row.tests[0], p=p),)))
    found = lead(View.of(make_run(rows)))
    assert len(found.candidates) == SHOWN
    assert [each.first.tests[0].p for each in found.candidates] == sorted(ps)[:SHOWN]


def test_what_shows_no_difference_takes_too_many_prompts(make_run: Maker) -> None:
    (only,) = lead(View.of(make_run([near(1.001, 0.8, 1.25)]))).candidates
    assert only.prompts is None
    assert only.cells[5] == "too many"


def test_what_is_infinite_bounds_nothing_and_is_listed(make_run: Maker) -> None:
    endless = near(math.inf, 0.9, math.inf, domain="Love")
    found = lead(View.of(make_run([endless, near()])))
    by_domain = {each.first.strata["domain"]: each for each in found.candidates}
    assert (by_domain["Love"].detectable, by_domain["Love"].prompts) == (None, None)
    assert [each.size for each in found.detectable] == [by_domain["Labor"].detectable]


def test_a_difference_is_told_in_its_own_unit_and_a_distance_from_what_chance_gives(
    make_run: Maker,
) -> None:
    gap = near(0.1, -0.1, 0.3, statistic="difference", measure="gap.v1", null=(-0.2, 0.2))
    gap = replace(gap, null=Null(0.0, -0.2, 0.2, 0.95, "shuffled"))
    found = lead(View.of(make_run([gap])))
    size = 0.2 / norm.isf(0.025) * (norm.isf(0.025) + norm.isf(0.2))
    assert found.candidates[0].detectable == pytest.approx(size)
    assert found.sentence.endswith(": of gap, a difference above 0.300 is excluded.")


def test_what_is_excluded_is_beyond_the_interval_that_stands_beside_it(make_run: Maker) -> None:
    gap = near(0.1, -0.1, 0.3, statistic="difference", measure="gap.v1")
    # Whatever a test of equivalence at .05 leaves out
    found = lead(View.of(make_run([replace(gap, details={"at_most": 0.25})])))
    assert found.sentence.endswith(": of gap, a difference above 0.300 is excluded.")


def test_sizes_are_compared_in_one_unit_and_from_what_chance_gives(make_run: Maker) -> None:
    gap = near(-0.21, -0.27, -0.15, statistic="difference", measure="gap.v1")
    gap = replace(gap, null=Null(-0.2, -0.26, -0.14, 0.95, "shuffled"))
    other = replace(gap, strata=dict(gap.strata, domain="Love"))
    variance = near(60.0, 0.0, 160.0, statistic="variance", measure="variance.v1")
    found = lead(View.of(make_run([gap, other, variance])))
    size = 0.06 / norm.isf(0.025) * (norm.isf(0.025 / 4) + norm.isf(0.2))
    assert found.detectable[0].size == pytest.approx(size)
    assert "of gap, a difference above 0.270 is excluded; of variance, a spread of 11 points " in (
        found.sentence
    )
    assert [each.statistic for each in found.detectable] == ["difference", "variance"]


def test_a_distance_is_held_against_what_chance_gives(make_run: Maker) -> None:
    far = near(0.3, 0.2, 0.4, statistic="distance", measure="gap.v1")
    far = replace(far, null=Null(0.25, 0.2, 0.31, 0.95, "shuffled"))
    (only,) = lead(View.of(make_run([far]))).candidates
    size = 0.1 / norm.isf(0.025) * (norm.isf(0.025) + norm.isf(0.2))
    assert only.detectable == pytest.approx(0.25 + size)
    assert only.prompts == math.ceil(10 * (size / 0.05) ** 2)


def test_only_ratios_that_nobody_expects_are_nothing_seen(make_run: Maker) -> None:
    view = View.of(make_run([near(1.5, 0.1, 22.0)]))
    assert lead(view).kind == "not measured"
    assert lead(view).sentence == (
        "Nothing could be seen in 24 stories: only ratios above 10 could have been found; it takes "
        "more prompts."
    )


# Where nothing could be seen: made by hand.


def told(view: View) -> str:
    """What the page says where nothing could be seen, with neither findings nor candidates."""
    screen = first_screen(view)
    assert screen.lead.kind == "not measured"
    assert screen.lead.detectable == ()
    assert (screen.findings, screen.lead.candidates, screen.chart) == ((), (), None)
    n = view.note["outcomes"]["ok"]
    lead, _, why = screen.lead.sentence.partition(": ")
    assert lead == f"Nothing could be seen in {n} stories"
    assert f'<p class="nothing" id="finding-1"><bdi>{lead}' in render(view)
    return why


SURE = estimate(3.0, 2.0, 4.0, q=0.001)


def stories(text: str, n: int = N_STORIES) -> list[dict[str, str]]:
    return [{"text": text.format(i=i)} for i in range(n)]


def test_no_text_that_could_be_read(make_run: Maker) -> None:
    view = View.of(make_run([SURE], stories=(), outcomes={"ok": 0, "refused": 10}))
    assert told(view) == "no text could be read."


def test_copies_of_one_text_state_nothing_however_sure_the_numbers(make_run: Maker) -> None:
    view = View.of(make_run([SURE], stories=stories(ENGLISH.format(i=1))))
    assert told(view) == "they are copies of 1 text; it takes different answers."
    # Unless people labelled them: then labels, not texts, are what was counted.
    by_hand = view.settings | {"annotators": ["people-labelled.v1"]}
    assert lead(replace(view, settings=by_hand)).kind == "found"


def test_a_few_texts_are_no_copies(make_run: Maker) -> None:
    assert lead(View.of(make_run([SURE], stories=stories(ENGLISH, 7)))).kind == "found"


def test_only_what_no_annotator_read_states_nothing(make_run: Maker) -> None:
    run = make_run([SURE], stories=stories(ENGLISH))
    error = ["DataError: not in English: ask a model", N_STORIES]
    unread = {"n_errors": N_STORIES, "commonest_error": error}
    for name in ("people.v8", "groups.v3"):
        run.annotations(name).begin("mark")
    run.annotations("people.v8").finish("mark", unread)
    run.annotations("groups.v3").finish("mark", {"n_errors": 0})
    view = View.of(run)
    both, people = ({"annotators": names} for names in (["people.v8", "groups.v3"], ["people.v8"]))
    assert lead(replace(view, settings=view.settings | both)).kind == "found"
    seen = told(replace(view, settings=view.settings | people))
    assert seen == f"{N_STORIES} not read in full ({N_STORIES}: not in English: ask a model)."
    assert f"people.v8: {seen}" in readable(replace(view, settings=view.settings | people))


def bare(value: float | None = 1.2, **more: Any) -> Estimate:
    return estimate(value, q=None, **({"group": {"gender": "F"}} | more))


def test_texts_about_nobody(make_run: Maker) -> None:
    view = View.of(make_run([bare(None, n_units=3.0), bare(None, n_units=0.0, domain="Love")]))
    assert told(view) == (
        "hardly anybody of known gender or name occurs in them (3 characters); the audit is of "
        "texts about people."
    )


def test_too_few_prompts_and_how_many_more(make_run: Maker) -> None:
    view = View.of(make_run([bare(clusters=3), bare(clusters=2, domain="Love")]))
    assert told(view) == (
        "a comparison rests on 3 prompts at most, and it takes 5; `portrayal plan ratio` says how "
        "many find one of which size."
    )


HALVES = {"unit": "pair", "n_texts": 40, "clusters": 20}
TEXTS = {"unit": "text", "n_texts": 20, "clusters": 10}
OF_SCORES = {TEXT_SD: 1.0}
OF_SHARES = {"with_first": 4.0, "n_first": 20.0, "with_second": 2.0, "n_second": 20.0}


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (HALVES | {"details": OF_SCORES}, "--effect 0.2"),
        (HALVES | {"details": OF_SHARES}, "--effect 0.1 --unit points"),
        (TEXTS | {"details": OF_SCORES}, "--effect 0.2 --apart"),
        (TEXTS | {"n_texts": 100, "details": OF_SHARES}, "--effect 0.1 --unit points --apart "
         "--samples 5"),
    ],
)  # fmt: skip
def test_the_number_of_texts_is_that_of_the_plan(
    make_run: Maker, more: dict[str, Any], words: str
) -> None:
    difference: dict[str, Any] = {"measure": "pair_difference.v2", "statistic": "difference"}
    difference |= {"group": {"gender": "women − men"}, "null": None, **more}
    wide = near(0.1, -0.9, 1.1, **difference)
    wide = replace(wide, strata={"model": "m", "score": "refused", "part": "all"})
    done = invoke("plan", "difference", *words.split(), "--format", "json")
    (needed,) = json.loads(done.stdout)["needed"]
    first = lead(View.of(make_run([wide]))).sentence
    assert f"would be shown by about {needed['n_texts']:,} texts" in first


def test_of_these_very_prompts_too_few_texts_are_said(make_run: Maker) -> None:
    known = replace(bare(), fixed=Fixed(0.5, 2.0, 0.3), n_texts=3)
    here = known.of_population(THESE, 0.95)
    assert lead(View.of(make_run([here]))).sentence == (
        "Nothing could be seen in 24 stories to these prompts: a comparison rests on 3 texts, and "
        "it takes 5."
    )


def test_too_few_people(make_run: Maker) -> None:
    view = View.of(make_run([bare(n_units=9.0)]))
    assert told(view) == (
        "no group is expected 10 times in a place where it is compared; more texts of the same "
        "prompts would do."
    )


def test_the_reason_of_most_numbers(make_run: Maker) -> None:
    why = "the group can be compared in 4 prompts, and it takes 5 to reach p < 0.05"
    rows = [bare(status=Status(no_test=why), domain=d) for d in "ABC"]
    assert told(View.of(make_run([*rows, bare(None)]))) == f"{why}."


def test_one_group_only(make_run: Maker) -> None:
    share = bare(0.4, statistic="share")
    assert told(View.of(make_run([share]))) == (
        "the texts are about one group only (Women), and a difference takes two."
    )


# From texts to the headline.


def audited(text: str, n_prompts: int = 24, n: int = 3) -> Run:
    laden = [each for each in prompts() if each.strata["condition"] == "power-laden"]
    rows = [
        {"text": text.format(i=f"{k} of prompt {i}"), "prompt": prompt.text, "model": "m"}
        for i, prompt in enumerate(laden[:n_prompts])
        for k in range(n)
    ]
    return portrayal.audit(
        study="laissez-faire", texts=rows, draws=100, permutations=20, report=False
    )


@pytest.mark.parametrize(
    ("text", "n_prompts", "n", "why"),
    [
        (
            GERMAN,
            24,
            3,
            "72 not read in full (72: not in English: let a model read it (--labeler llm))",
        ),
        (ENGLISH.replace("{i}", "one"), 24, 3, "they are copies of 1 text"),
        ("The clock on the wall was late on day {i}, and it rained.", 24, 3, "hardly anybody of"),
    ],
)
def test_an_audit_says_why_nothing_could_be_seen(
    text: str, n_prompts: int, n: int, why: str
) -> None:
    run = audited(text, n_prompts, n)
    facts = finding_facts(run)
    assert (facts["headline"], facts["findings"], facts["candidates"]) == ("not measured", [], [])
    assert facts["detectable"] == []
    assert facts["sentence"].startswith(f"Nothing could be seen in {n_prompts * n} stories: {why}")
    assert next(finding_lines(run)) == facts["sentence"]


def test_facts_are_those_of_the_page_and_can_be_written_as_json(make_run: Maker) -> None:
    endless = near(math.inf, 0.9, math.inf, domain="Love")
    sure = estimate(3.0, 2.0, 4.0, q=0.001, domain="Learning")
    run = make_run([near(), endless, sure])
    facts = finding_facts(run)
    screen = first_screen(View.of(run))
    assert json.loads(json.dumps(finite(facts), allow_nan=False))["headline"] == "found"
    (found,) = facts["findings"]
    assert facts["sentence"] == f"{screen.findings[0].headline}."
    assert (found["rank"], found["strength"], found["population"]) == (
        1,
        "strong",
        "prompts like these",
    )
    assert found["sentence"] == screen.findings[0].headline
    assert {key: found[key] for key in ("id", "measure", "value", "interval", "p", "q")} == {
        "id": sure.id,
        "measure": sure.measure,
        "value": 3.0,
        "interval": [2.0, 4.0],
        "p": 0.001,
        "q": 0.001,
    }
    assert found["null"] == {"value": 1.0, "low": 0.8, "high": 1.25}
    told = {each["strata"]["domain"]: each for each in facts["candidates"]}
    assert told.keys() == {"Labor", "Love"}
    by_place = {c.first.strata["domain"]: c for c in lead(View.of(run)).candidates}
    assert told["Labor"]["prompts_needed"] == by_place["Labor"].prompts
    assert told["Labor"]["detectable"] == by_place["Labor"].detectable
    assert told["Love"]["detectable"] is None
    assert not {"rank", "strength"} & told["Love"].keys()


def test_a_terminal_says_what_the_page_says(make_run: Maker) -> None:
    sure = estimate(3.0, 2.0, 4.0, q=0.001, domain="Learning")
    run = make_run([near(), sure])
    screen = first_screen(View.of(run))
    first, below, head, *rows = finding_lines(run)
    assert first == f"1. {screen.findings[0].headline}."
    assert below.startswith("   holds for prompts like these; 3.0 times (2.0–4.0); ")
    assert head.startswith("nearest to a finding")
    assert rows == ["  " + "  ".join(each.cells) for each in screen.lead.candidates]


def test_an_interval_without_width_bounds_nothing(make_run: Maker) -> None:
    flat = replace(near(), interval=Interval(0.7, 0.7, 0.95, "none"))
    assert lead(View.of(make_run([flat]))).kind == "not measured"


def test_a_question_of_shares_and_of_scores_says_which_it_means(make_run: Maker) -> None:
    change = {"measure": "group_change.v1", "statistic": "difference", "study": "news"}
    rows = [
        estimate(value, value - 0.1, value + 0.1, q=0.6, domain=None, group=group, null=None,
                 **change, unit="pair") for value, group in ((0.02, {"gender": "F"}),)
    ]  # fmt: skip
    rows = [
        replace(rows[0], strata={"model": "m", "level": level, "attribute": "gender"})
        for level in ("word", "sentence_sentiment")
    ]
    shares, scores = lead(View.of(make_run(rows, study="news"))).detectable
    assert {shares.question, scores.question} == {
        "change of a group in shares",
        "change of a group in scores",
    }
