"""Tables for people: every word as it is; q of the whole audit where it may be stated, marked."""

import pytest

from portrayal.cli.printing import give
from portrayal.records import Estimate, Test
from portrayal.run.estimates import shown_cells


def _row(q: float, audit_q: float | None) -> Estimate:
    test = Test(0.01, "by hand", q, audit_q)
    return Estimate("s", "m.v1", "ratio", "story", {}, {"race": "Black"}, 2.0, tests=(test,))


def test_q_of_the_audit_is_shown_and_marked(capsys: pytest.CaptureFixture[str]) -> None:
    *table, note = shown_cells([_row(0.0123, 0.0456), _row(0.0789, None)])
    give("table", (), [table, note])
    shown = capsys.readouterr().out
    assert "0.0456*" in shown
    assert "0.0123" not in shown
    assert "0.0789" in shown
    assert "0.0789*" not in shown
    assert "* q over all that the audit's report may state" in shown


def test_details_alone_need_no_mark(capsys: pytest.CaptureFixture[str]) -> None:
    *table, note = shown_cells([_row(0.0789, None)])
    give("table", (), [table, note])
    assert "*" not in capsys.readouterr().out


def test_words_of_a_cell_are_printed_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    give("table", (), [(("what", "n"), [("[red]Ann[/red] :smile:", 3), ("a\x1b[31mb\u202e", "–")])])
    shown = capsys.readouterr().out
    assert "[red]Ann[/red] :smile:" in shown
    assert "a\ufffd[31mb\ufffd" in shown


def test_what_is_too_wide_wraps(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    give("table", (), [(("what",), [("x" * 50,)])])
    assert capsys.readouterr().out.count("x") == 50
