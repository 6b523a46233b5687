"""Policies: what a file may say, and errors that name its line."""

import math

import pytest

from portrayal.errors import DataError, OptionError
from portrayal.gating.policy import Policy, Rule, read_policy, write_example

GOOD = """level = 0.9

[[rule]]
measure = "representation"
group = { gender = ["F", "M"] }
allowed_change = 1.25

[[rule]]
name = "refused"
measure = "outcomes"
allowed_range = [0.0, inf]
"""


def written(tmp_path, text):
    path = tmp_path / "gate.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_policy_is_read(tmp_path):
    policy = read_policy(written(tmp_path, GOOD))
    assert policy.level == 0.9
    first, second = policy.rules
    assert (first.name, first.measure) == ("rule 1", "representation.v1")
    assert first.group == {"gender": ("F", "M")}
    assert second.allowed_range == (0.0, math.inf)
    assert policy.needs_base


def test_the_example_is_a_policy_and_says_that_its_numbers_are_examples(tmp_path):
    write_example(tmp_path / "gate.toml")
    policy = read_policy(tmp_path / "gate.toml")
    assert len(policy.rules) == 2
    assert "THE NUMBERS BELOW ARE EXAMPLES" in (tmp_path / "gate.toml").read_text("utf-8")
    with pytest.raises(OptionError, match="is there already"):
        write_example(tmp_path / "gate.toml")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("level = 0.9", "levle = 0.9", "line 1: levle: unknown key; .* Is 'level' meant"),
        ("level = 0.9", "level = 95", "line 1: level: level must be a fraction"),
        ("level = 0.9", 'level = "high"', "line 1: level: expected a number"),
        ("level = 0.9", 'passes = "maybe"', "line 1: passes: expected one of"),
        ("level = 0.9", 'passes = "skip"', "line 1: passes: expected one of"),
        (
            "level = 0.9",
            "[unreadable]\nrefused = 20",
            "line 2: unreadable.refused: expected a share of 0 to 1",
        ),
        (
            "level = 0.9",
            "[unreadable]\nrefusals = 0.2",
            r"line 2: unreadable.refusals: unknown key",
        ),
        (
            '"representation"',
            '"representatoin"',
            "line 4: rule.measure: measure 'representatoin' is not",
        ),
        ("allowed_change = 1.25", "", "line 3: rule: give either allowed_change or allowed_range"),
        (
            "allowed_change = 1.25",
            "allowed_change = -1",
            "line 6: rule.allowed_change: allowed_change is a number",
        ),
        (
            "allowed_change = 1.25",
            "allowed_change = nan",
            "line 6: rule.allowed_change: expected a number",
        ),
        (
            "allowed_change",
            "allowed",
            "line 6: rule.allowed: unknown key; .* Is 'allowed_range' meant",
        ),
        (
            "[0.0, inf]",
            "[1, 0]",
            r"line 11: rule.allowed_range: allowed_range is \[lowest, highest\]; got",
        ),
        ("[0.0, inf]", "[1]", "line 11: rule.allowed_range: expected a list of 2 values"),
        (
            '["F", "M"]',
            "3",
            "line 5: rule.group.gender: expected text in quotation marks or a list",
        ),
        ('name = "refused"', 'name = "rule 1"', "two rules are called 'rule 1'"),
        (
            "[0.0, inf]",
            '[0.0, 1.0]\nworse = "up"',
            "line 12: rule.worse: worse goes with allowed_change",
        ),
        ("[[rule]]", "[rule]", "not TOML|begin each with"),
        ("level = 0.9", f"level = 1{'0' * 400}", "line 1: .*expected a number|not TOML"),
        ("level = 0.9", f"level = {'[' * 9000}", "not TOML"),
        ("level = 0.9", "level = ", "line 1: not TOML"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path, old, new, said):
    path = written(tmp_path, GOOD.replace(old, new))
    with pytest.raises(DataError, match=said) as error:
        read_policy(path)
    assert str(error.value).startswith(str(path))


def test_a_mark_of_byte_order_is_passed_over(tmp_path):
    path = tmp_path / "gate.toml"
    path.write_bytes(b"\xef\xbb\xbf" + GOOD.encode())
    assert read_policy(path).level == 0.9
    path.write_bytes(GOOD.encode("utf-16"))
    with pytest.raises(DataError, match="is not UTF-8"):
        read_policy(path)


def test_a_policy_without_rules_or_file_says_what_to_do(tmp_path):
    with pytest.raises(DataError, match=r"begin each with \[\[rule\]\]"):
        read_policy(written(tmp_path, "level = 0.9\n"))
    with pytest.raises(DataError, match="portrayal gate --init"):
        read_policy(tmp_path / "none.toml")
    with pytest.raises(OptionError, match="is not registered"):
        Rule("x", "none", allowed_change=1.0)
    with pytest.raises(OptionError, match="has no rule"):
        Policy(())
