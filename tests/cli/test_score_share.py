"""`portrayal score share`: a share corrected by a confusion matrix of other texts."""

import json

import pytest

from command import invoke

GIVEN = ("score", "share", "--said", "140/1000", "--found", "60/100", "--cleared", "290/300")


def test_the_share_is_printed_with_what_it_rests_on() -> None:
    shown = invoke(*GIVEN)
    assert shown.exit_code == 0
    said = " ".join(shown.stdout.split())
    assert said.startswith("18.8 % (13.1–24.8) are of the group, where the classifier says 14.0 %")
    assert "--hand-labels" in said


def test_texts_of_one_prompt_that_are_alike_widen_it() -> None:
    plain, alike = (
        json.loads(invoke(*GIVEN, "--format", "json", *more).stdout)
        for more in ((), ("--design-effect", "4"))
    )
    assert plain["value"] == alike["value"] == pytest.approx((0.14 - 1 / 30) / (0.6 - 1 / 30))
    assert alike["low"] < plain["low"] < plain["high"] < alike["high"]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--said", "14"), "--said takes a count of a total, such as 60/100; got '14'"),
        (("--found", "101/100"), "--found takes a count"),
        (("--cleared", "x/300"), "--cleared takes a count"),
        (("--cleared", "100/300"), "no better than chance"),
        (("--design-effect", "0.5"), "--design-effect is 1 or more"),
    ],
)
def test_what_cannot_be_corrected_is_one_line(more: tuple[str, str], words: str) -> None:
    at = GIVEN.index(more[0]) if more[0] in GIVEN else len(GIVEN)
    done = invoke(*GIVEN[:at], *more, *GIVEN[at + 2 :])
    assert done.exit_code == 2
    assert words in done.output
