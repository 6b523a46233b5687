"""What gates write: every format says the same."""

import json
import math
from dataclasses import replace

import pytest

from portrayal.comparison.result import Change
from portrayal.gating.verdict import EXIT_CODES, FORMATS, RuleCheck, SampleSize, Verdict
from portrayal.records import THESE

CHECK = RuleCheck(
    rule="a | rule",
    row=Change(
        measure="subordination.v1",
        statistic="ratio",
        strata={"domain": "Labor"},
        group={"gender": "F"},
        model_a="old",
        model_b="new",
        scale="ratio",
        value_a=1.0,
        value_b=2.0,
        change=2.0,
        low=1.6,
        high=math.inf,
        n_prompts=20,
    ),
    allowed=(0.0, 1.5),
    p_beyond=0.001,
    p_within=0.9,
    n_texts=200,
    p_beyond_all=0.004,
    status="fail",
)
OPEN = replace(
    CHECK,
    rule="open",
    status="inconclusive",
    needed=SampleSize(80, 800, "that nothing has changed"),
)
GOOD = replace(CHECK, rule="good", status="pass")


def verdict(*checks, outcome="fail", **more):
    return Verdict(outcome, "runs/new", "runs/old", 0.95, "shown_within", checks, **more)


def test_the_table_fits_80_columns_and_names_what_failed_first():
    said = FORMATS["table"](verdict(GOOD, OPEN, CHECK))
    assert max(map(len, said.splitlines())) <= 80
    lines = said.splitlines()
    assert lines[1].startswith("fail")
    assert "×2 (1.6 to ∞)" in said
    assert "about 800 texts (80 prompts)" in " ".join(said.split())
    assert "fail: runs/new against runs/old (1 fail, 1 inconclusive, 1 pass)" in " ".join(
        said.split()
    )


def test_every_format_names_the_population():
    assert f'"{THESE}"' in FORMATS["json"](verdict(GOOD, population=THESE))
    for name in ("table", "markdown"):
        assert "judged for these prompts" in FORMATS[name](verdict(GOOD, population=THESE))
        assert "judged for prompts like these" in FORMATS[name](verdict(GOOD))


def test_markdown_is_a_table_with_the_verdict_above():
    said = FORMATS["markdown"](verdict(GOOD, CHECK))
    assert said.startswith("## Portrayal gate: fail\n")
    assert "| fail | a \\| rule |" in said
    assert all(
        line.replace("\\|", "").count("|") == 8 for line in said.splitlines() if "| " in line
    )


@pytest.mark.parametrize(
    "name", ["a\x1b[31m\x00", "<img src=x>", "[x](y) @all `|\n| a |", "\ud800"]
)
def test_odd_names_stay_names(name):
    odd = verdict(replace(CHECK, row=replace(CHECK.row, model_b=name), rule=name), OPEN)
    said = FORMATS["markdown"](odd)
    rows = [line for line in said.splitlines() if line.startswith("| ")]
    assert len(rows) == 4  # head, rule, and the two checks
    assert "<img" not in said.replace("\\<", "")
    assert "](y)" not in said.replace("\\]", "")
    assert "\x1b" not in FORMATS["table"](odd)


def test_json_holds_everything_and_infinities_as_words():
    found = json.loads(FORMATS["json"](verdict(CHECK, OPEN)))
    assert found["exit_code"] == EXIT_CODES["fail"]
    assert found["checks"][0]["row"]["high"] == "inf"
    assert found["checks"][1]["needed"]["texts"] == 800
    assert found["needed"]["prompts"] == 80
