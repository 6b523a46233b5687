"""What a run says of labels by hand: what they corrected, by how much, what not and why."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from portrayal.records import BASIS, CORRECTED, Estimate
from portrayal.report.corrected import correction_lines
from portrayal.report.first import finding_lines
from portrayal.report.page import render
from portrayal.report.view import View
from portrayal.run import Run

from .conftest import estimate

Maker = Callable[..., Run]
NOTE = "people of 100 texts labelled by one rater, whose errors nobody can see"
FEW = "17 dominant characters are labelled by hand here, and a correction needs 20 or more"
RARE = "too few labels for so rare a group: no {} is among them, as may be where up to 8 % are"


def by_hand(value: float | None, naive: float = 1.0, **more: Any) -> Estimate:
    """A corrected ratio of the stories; `naive` is what the reader saw."""
    bounds = () if value is None else (value / 1.5, value * 1.5)
    details = {"naive": naive}
    made = estimate(value, *bounds, measure="subordination.v1", details=details, **more)
    strata = {**made.strata, BASIS: CORRECTED}
    return replace(made, strata=strata, instruments={"hand_labels": NOTE})


def test_a_run_says_what_was_corrected_by_how_much_and_what_not_and_why(make_run: Maker) -> None:
    women = {"gender": "F"}
    run = make_run(
        [
            by_hand(2.0, naive=4.0, group=women),
            by_hand(1.1, naive=1.0, group={"gender": "M"}),
            by_hand(1.0, naive=1.0, group={"gender": "NB"}),
            by_hand(None, domain="Love", group=women, undefined=FEW),
            by_hand(None, domain="Love", group={"gender": "M"}, undefined=FEW),
            by_hand(None, domain="Learning", group=women, undefined=RARE.format("F")),
            by_hand(None, domain="Learning", group={"gender": "NB"}, undefined=RARE.format("NB")),
        ]
    )
    lines = [line.replace("\u00a0", " ") for line in correction_lines(run)]
    assert lines == [
        f"By hand: {NOTE}; they correct 3 of 7 numbers. What the scorer saw lies outside the "
        "interval of the corrected number in 1 of them.",
        "Women in stories about work, subordination ratio: the scorer saw 4.0, people say 2.0 "
        "(1.3–3.0).",
        "Men in stories about work, subordination ratio: the scorer saw 1.00, people say 1.10 "
        "(0.73–1.65).",
        f"Not corrected: 2 numbers in stories about love, as {FEW}.",
        "Not corrected: 2 numbers (women and non-binary people), as too few labels for so "
        "rare a group.",
    ]
    assert {*lines} <= {line.replace("\u00a0", " ") for line in finding_lines(run)}
    assert "What labels of a sample corrected" in render(View.of(run))


def test_labels_that_correct_nothing_say_so_and_why(make_run: Maker) -> None:
    none = [by_hand(None, undefined=FEW, domain=domain) for domain in ("Love", "Labor")]
    first, *others = correction_lines(make_run(none))
    assert first == f"By hand: {NOTE}; they correct none of 2 numbers."
    assert others == [
        f"Not corrected: 2 numbers in stories about love and in stories about work, as {FEW}."
    ]


def test_labels_that_say_what_the_scorer_saw_move_nothing(make_run: Maker) -> None:
    _, second = correction_lines(make_run([by_hand(1.0)]))
    assert second == "No number moved: people say of these texts what the scorer saw."


def test_a_run_without_labels_says_nothing_of_them(make_run: Maker) -> None:
    run = make_run([estimate(2.0, 1.0, 3.0)])
    assert correction_lines(run) == ()
    assert "What labels of a sample corrected" not in render(View.of(run))


def test_a_way_of_seeing_is_named_without_the_labels_that_corrected_it(make_run: Maker) -> None:
    seen = estimate(0.24, 0.19, 0.29, measure="group_share.v1", details={"naive": 0.31})
    strata = {"seen_by": "words", "model": "m", BASIS: CORRECTED}
    labels = {"hand_labels": "100 labels by 2 raters"}
    share = replace(seen, statistic="share", strata=strata, instruments=labels)
    _, moved = correction_lines(make_run([share]))
    assert CORRECTED not in moved
    saw = "the scorer saw 31.0 %, people say 24.0 % (19.0–29.0 %)."
    assert moved.replace("\u00a0", " ").endswith(saw)
