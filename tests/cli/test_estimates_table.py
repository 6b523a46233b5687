"""The table of estimates for people: q of the whole audit where it may be stated, marked."""

import pytest

from portrayal.cli.printing import estimates_table
from portrayal.records import Estimate, Test


def _row(q: float, audit_q: float | None) -> Estimate:
    test = Test(0.01, "by hand", q, audit_q)
    return Estimate("s", "m.v1", "ratio", "story", {}, {"race": "Black"}, 2.0, tests=(test,))


def test_q_of_the_audit_is_shown_and_marked(capsys: pytest.CaptureFixture[str]) -> None:
    estimates_table([_row(0.0123, 0.0456), _row(0.0789, None)])
    shown = capsys.readouterr().out
    assert "0.0456*" in shown
    assert "0.0123" not in shown
    assert "0.0789" in shown
    assert "0.0789*" not in shown
    assert "* q over all that the audit's report may state" in shown


def test_details_alone_need_no_mark(capsys: pytest.CaptureFixture[str]) -> None:
    estimates_table([_row(0.0789, None)])
    assert "*" not in capsys.readouterr().out
