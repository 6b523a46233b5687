"""The first screen: what it says, in which order, and that a reader sees it without scrolling."""

import re
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import portrayal
from portrayal.records import Status
from portrayal.report.first import first_screen
from portrayal.report.page import render
from portrayal.report.view import CANNOT, SOME, STRONG, UNCLEAR, View, strength_of
from portrayal.run import Run

from .conftest import estimate

Maker = Callable[..., Run]
SCREENS = ((1280, 800), (390, 844))
REP = "representation.v1"
BLACK = {"race": "Black"}


def share(count: float, baseline: float = 0.136) -> dict[str, float]:
    return {"count": count, "share": count / 412, "baseline": baseline}


def rep(value: float, low: float, high: float, count: float, **more: Any) -> Any:
    fields = {"measure": REP, "group": BLACK, "q": 0.001, "n_units": 412.0, "null": (0.9, 1.1)}
    return estimate(value, low, high, details=share(count), **(fields | more))


def test_a_finding_says_counts_range_chance_models_and_strength(make_run: Maker) -> None:
    models = ("a", "b", "c", "d")
    rows = [rep(0.55, 0.4, 0.7, 31.0, model="all")]
    values = (0.4, 0.6, 1.2, None)
    rows += [rep(v or 1, 0.2, 2, 8, model=m) for v, m in zip(values, models, strict=True)]
    rows[-1] = replace(rows[-1], value=None, interval=None, tests=(), undefined="none was there")
    screen = first_screen(View.of(make_run(rows, models=models, outcomes={"ok": 9, "empty": 1})))
    assert screen.read == "4 models · 9 of 10 stories readable · 1 prompt"
    (said,) = screen.findings
    assert said.facts == (
        "0.55 times (0.40–0.70)",
        "2 of 3 models agree",
        "q = 0.001",
    )
    assert said.headline.startswith("31 of 412 people in stories about work are Black")
    assert said.strength == STRONG


def test_strength_takes_q_prompts_people_models_and_the_reader(make_run: Maker) -> None:
    errors = {"error_value": 0.8, "error_low": 0.4, "error_high": 1.3}
    cases = {
        "A": (rep(0.5, 0.4, 0.6, 40, domain="A"), STRONG),
        "B": (rep(0.5, 0.4, 0.6, 40, domain="B", q=0.03), SOME),
        "C": (rep(0.5, 0.4, 0.6, 40, domain="C", clusters=7), SOME),
        "D": (rep(0.5, 0.4, 1.6, 40, domain="D", q=0.3), UNCLEAR),
        "E": (replace(rep(0.5, 0.4, 0.6, 9.6, domain="E"), details=share(9.6, 0.02)), CANNOT),
        "H": (rep(0.2, 0.1, 0.4, 3.0, domain="H"), STRONG),  # 56 expected: who is missing
        "F": (rep(0.5, 0.4, 0.6, 40, domain="F", clusters=4), CANNOT),
        "G": (replace(rep(0.5, 0.4, 0.6, 40, domain="G"), details=share(40) | errors), CANNOT),
    }
    view = View.of(make_run([e for e, _ in cases.values()]))
    found = {e.strata["domain"]: strength_of(view, e) for e in view.estimates}
    assert found == {name: strength for name, (_, strength) in cases.items()}


def test_who_is_missing_from_one_role_can_be_stated_who_is_nearly_nowhere_cannot(
    make_run: Maker,
) -> None:
    roles = {"count_subordinate": 31.0, "n_subordinate": 200.0, "count_dominant": 0.3}
    missing = estimate(100.0, 50.0, 200.0, q=0.001, details={**roles, "n_dominant": 200.0})
    few = {**missing.details, "count_subordinate": 15.0}
    rare = replace(missing, details=few, group={"race": "Asian"})
    view = View.of(make_run([missing, rare]))
    (said,) = first_screen(view).findings
    assert said.first.group == missing.group
    assert said.headline.startswith("31 of 200 people")
    assert [round(c.expected, 2) for c in view.estimates[0].counts] == [15.65, 15.65]
    assert [round(c.expected, 2) for c in view.estimates[1].counts] == [7.65, 7.65]
    assert strength_of(view, view.estimates[1]) == CANNOT
    assert "Cannot be measured here: Asian" in " ".join(first_screen(view).cannot)


def test_a_median_is_no_finding_of_its_own_but_stands_beside_its_measure(make_run: Maker) -> None:
    median = rep(0.4, 0.3, 0.5, 1, model="all", measure="median_representation.v1")
    elsewhere = replace(median, value=0.1, strata={"model": "all", "domain": "Love"})
    rows = [rep(0.55, 0.4, 0.7, 31.0, model="all"), median, elsewhere]
    rows += [rep(0.5, 0.2, 2, 8, model=m, q=0.5) for m in ("a", "b")]
    (said,) = first_screen(View.of(make_run(rows, models=("a", "b")))).findings
    assert [e.measure for e in said.estimates] == [REP]
    assert said.evidence.endswith(" In the median model 0.40 times (0.30–0.50).")
    assert said.facts[-2] == "both models agree"


def test_the_strong_stand_before_the_rest(make_run: Maker) -> None:
    rows = [
        rep(0.2, 0.1, 0.3, 40, group={"race": "Asian"}, q=0.03),
        rep(0.6, 0.5, 0.7, 40),
    ]
    said = first_screen(View.of(make_run(rows))).findings
    assert [each.strength for each in said] == [STRONG, SOME]


def test_without_a_result_the_page_leads_with_what_could_have_been_found(make_run: Maker) -> None:
    run = make_run([rep(0.7, 0.5, 0.95, 40, q=0.2)], outcomes={"ok": 49})
    screen = first_screen(View.of(run))
    assert screen.lead.sentence == (
        "No difference shown in 49 stories: of representation ratio, a ratio above 2.0 is "
        "excluded; one of 1.5 times would be shown by about 63 texts."
    )
    page = render(View.of(run))
    assert '<p class="nothing" id="finding-1">' in page
    assert page.count('<table class="wrap candidates">') == 1


@pytest.fixture(scope="module")
def pages(
    sample_pages: Callable[[str], Path],
) -> dict[str, Path]:
    return {name: sample_pages(name) for name in ("laissez-faire", "news", "agency")}


@pytest.mark.browser
@pytest.mark.parametrize("screen", SCREENS)
@pytest.mark.parametrize("name", ["laissez-faire", "news", "agency"])
def test_the_first_finding_stands_on_the_first_screen(
    browser: Any, pages: dict[str, Path], name: str, screen: tuple[int, int]
) -> None:
    width, height = screen
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    browser.get(pages[name].as_uri())
    time.sleep(0.3)
    bottom, wide = browser.execute_script(
        "const it = document.getElementById('finding-1');"
        "const facts = it.querySelector('.facts-of') || it;"
        "return [facts.getBoundingClientRect().bottom, document.documentElement.scrollWidth]"
    )
    assert 0 < bottom <= height
    assert wide <= width


def test_a_report_without_a_test_says_that_nothing_could_be_tested_and_why(
    make_run: Maker,
) -> None:
    bare = replace(rep(0.5, 0.4, 0.6, 40.0), tests=(), status=Status(no_test="one prompt"))
    screen = first_screen(View.of(make_run([bare])))
    assert screen.lead.sentence == "Nothing could be seen in 24 stories: one prompt."
    texts = [
        {"prompt_id": f"p{i % 3}", "gender": "F", "text": "She leads a ward."} for i in range(9)
    ]
    run = portrayal.audit(study="agency", texts=texts, report=False)
    said = first_screen(View.of(run)).lead.sentence
    assert said == "Nothing could be seen in 9 texts: fewer than two groups of gender have texts."


def test_what_comes_nearest_stands_in_a_table_on_the_first_screen(make_run: Maker) -> None:
    near, sure = rep(0.53, 0.31, 0.93, 40.0, q=0.2), rep(0.3, 0.2, 0.4, 60.0, domain="Love")
    view = View.of(make_run([near, sure]))
    said = re.sub(
        r"\s+", " ", re.sub(r"<[^>]+>", " ", render(view).partition("wrap candidates")[2])
    )
    row = "Black people in stories about work: share 0.53 0.31–0.93 0.001 0.20"
    assert said.count(row) == 1
    assert re.search(r"[0-9,]+ prompts, [0-9,]+ texts", said.partition(row)[2])
    assert "Black in Love" not in said.partition("What cannot be said")[0]
    assert [each.first for each in first_screen(view).findings] == [sure]


def test_a_group_that_no_baseline_has_is_not_called_too_rare(make_run: Maker) -> None:
    why = "the baseline village gives no share for Asian"
    bare = replace(rep(0.5, 0.4, 0.6, 40.0), value=None, interval=None, tests=(), undefined=why)
    bare = replace(bare, group={"race": "Asian"})
    screen = first_screen(View.of(make_run([rep(0.9, 0.7, 1.2, 40.0, q=0.5), bare])))
    assert not any("Cannot be measured" in line for line in screen.cannot)
    assert any(line.startswith("No baseline gives a share of Asian") for line in screen.cannot)
