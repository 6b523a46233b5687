"""Gates of a score in two tables: four words, and the same inference as `compare`."""

import json

import numpy as np
import pytest

import portrayal
from command import invoke
from portrayal.errors import OptionError
from portrayal.gating.policy import Policy, Rule


def rows(share, seed, n=1000):
    difficulty = np.random.default_rng(0).random(n)
    luck = np.random.default_rng(seed).random(n)
    return [
        {"id": i, "accuracy": bool(x < share)}
        for i, x in enumerate((0.8 * difficulty + 0.2 * luck).tolist())
    ]


def judged(run, base, **rule):
    policy = Policy((Rule("right", score="accuracy", **rule),))
    return portrayal.gate(run, base, policy)


def test_a_score_passes_fails_or_is_open():
    base, same, less = rows(0.6, 1), rows(0.6, 2), rows(0.45, 3)
    assert judged(same, base, allowed_change=0.05).outcome == "pass"
    assert judged(less, base, allowed_change=0.05).outcome == "fail"
    assert judged(base, less, allowed_change=0.05, worse="down").outcome == "pass"
    open_one = judged(same[:60], base[:60], allowed_change=0.01)
    assert open_one.outcome == "inconclusive"
    assert open_one.needed.texts > 60
    assert judged(base, base, allowed_change=0.0).outcome == "pass"


def test_as_many_of_each_file_would_do_as_two_equal_samples_need():
    """Of files of unlike sizes too; a change beyond is tested at twice the smaller p."""
    base = [{"score": i % 10} for i in range(500)]
    for n, less, allowed, z in ((60, 0.1, 0.4, 1.645 + 1.282), (400, 1.0, 0.9, 1.96 + 0.842)):
        run = [{"score": i % 10 - less} for i in range(n)]
        needed = portrayal.gate(
            run, base, Policy((Rule("score", score="score", allowed_change=allowed),))
        ).needed
        distance = allowed if n == 60 else less - allowed
        assert (
            needed.texts
            == needed.prompts
            == pytest.approx(2 * 8.27 * (z / distance) ** 2, rel=0.05)
        )


def test_a_verdict_of_scores_has_the_numbers_of_the_comparison():
    base, less = rows(0.6, 1), rows(0.55, 3)
    verdict = judged(less, base, allowed_change=0.05)
    (row,) = portrayal.compare(base, less, score="accuracy", margin=0.05).rows
    (check,) = verdict.checks
    assert (check.row.change, check.row.low, check.row.high) == (row.change, row.low, row.high)
    assert check.p_within == row.p_equivalent
    assert verdict.notes[0].startswith("A is right in")


def test_a_level_of_five_per_cent_is_kept_at_the_end_of_what_is_allowed():
    rng, fails = np.random.default_rng(5), 0
    for _ in range(400):
        first = rng.normal(size=80)
        second = first + rng.normal(size=80) - 0.3  # just as much less as is allowed
        tables = (
            [{"id": i, "accuracy": x} for i, x in enumerate(values.tolist())]
            for values in (second, first)
        )
        fails += judged(*tables, allowed_change=0.3, worse="down").outcome == "fail"
    assert fails <= 0.075 * 400


def test_the_command_and_a_policy_of_scores_agree(tmp_path):
    for name, table in (("old", rows(0.6, 1)), ("new", rows(0.45, 3))):
        text = "\n".join(map(json.dumps, table))
        (tmp_path / f"{name}.jsonl").write_text(text, encoding="utf-8")
    (tmp_path / "gate.toml").write_text(
        '[[rule]]\nname = "accuracy"\nscore = "accuracy"\nallowed_change = 0.02\nworse = "down"\n'
    )
    sides = (tmp_path / "new.jsonl", "--against", tmp_path / "old.jsonl")
    by_options = invoke(
        "gate", *sides, "--score", "accuracy", "--allowed-change", ".02", "--worse", "down"
    )
    by_policy = invoke("gate", *sides, "--policy", tmp_path / "gate.toml")
    assert by_options.exit_code == by_policy.exit_code == 1
    assert by_options.stdout == by_policy.stdout
    assert "old.jsonl is right in" in by_options.stdout
    without = invoke("gate", *sides, "--score", "accuracy")
    assert without.exit_code == 2
    assert "--allowed-change" in without.stderr


@pytest.mark.parametrize("rule", [{}, {"measure": "representation", "score": "accuracy"}])
def test_a_rule_has_a_measure_or_a_score(rule):
    with pytest.raises(OptionError, match="give a measure of runs; or a score of tables"):
        Rule("x", allowed_change=0.1, **rule)
