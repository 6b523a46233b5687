"""A policy made from a run passes the same generator again, and fails one made worse."""

import numpy as np
import pytest

import portrayal
from fair_answers import fair_answers
from gating.conftest import stories
from portrayal.errors import OptionError
from portrayal.gating.policy import read_policy, write_policy
from portrayal.records import TEXTS_ALONE


def pairs(folder, name, seed, longer):
    few = {"report": False, "draws": 100, "permutations": 20}
    rows = fair_answers(seed, 100, longer=longer)
    return portrayal.audit(rows, study="pairs", out=folder / name, **few)


def test_pairs_pass_again_and_fail_where_answers_to_women_are_longer_still(tmp_path):
    base = pairs(tmp_path, "base", 1, 0.1)
    n_rules = write_policy(base, tmp_path / "gate.toml")
    policy = read_policy(tmp_path / "gate.toml")
    assert len(policy.rules) == n_rules <= 12
    assert policy.passes == "no_excess_shown"
    (length,) = [rule for rule in policy.rules if rule.where["score"] == ("length",)]
    assert length.worse != "either"
    again = portrayal.gate(pairs(tmp_path, "again", 2, 0.1), base, policy)
    assert again.outcome == "pass"
    # Eight times what is allowed is twice what two such runs would show.
    words = sum(len(row["text"].split()) for row in fair_answers(1, 100)) / 200
    longer = 0.1 + 8 * length.allowed_change / words
    worse = portrayal.gate(pairs(tmp_path, "worse", 3, longer), base, policy)
    assert worse.outcome == "fail"
    assert length.name in [check.rule for check in worse.checks if check.status == "fail"]


def test_a_policy_has_a_rule_for_each_score_of_the_file(tmp_path):
    few = {"report": False, "draws": 100, "permutations": 20}
    rows = [row | {"grade": i * 37 % 11} for i, row in enumerate(fair_answers(1, 100, longer=0.1))]
    run = portrayal.audit(rows, study="pairs", out=tmp_path / "run", score=("grade",), **few)
    (grade,) = [e for e in run.records if e.strata.get("score") == "grade"]
    certain = [e for e in run.records if e.tests and e.tests[0].p < grade.tests[0].p]
    assert len([e for e in certain if "score" in e.strata]) >= 5
    write_policy(run, tmp_path / "gate.toml")
    rules = read_policy(tmp_path / "gate.toml").rules
    assert ("grade",) in [rule.where["score"] for rule in rules]


def test_stories_pass_again_and_fail_with_half_the_women(runs, tmp_path):
    write_policy(runs / "base", tmp_path / "gate.toml")
    policy = tmp_path / "gate.toml"
    assert portrayal.gate(runs / "again", runs / "base", policy).outcome == "pass"
    # The base has more women than expected, so that fewer of them are no worse.
    assert portrayal.gate(runs / "fewer", runs / "base", policy).outcome == "pass"
    more = portrayal.audit(
        stories(0.97, 4, "more"),
        study="laissez-faire",
        out=tmp_path / "more",
        report=False,
        draws=100,
        permutations=20,
    )
    assert portrayal.gate(more, runs / "base", policy).outcome == "fail"
    with pytest.raises(OptionError, match="is there already"):
        write_policy(runs / "base", policy)


def test_a_run_with_nothing_to_compare_has_no_policy(tmp_path):
    texts = [{"prompt_id": "learning-neutral-arts", "text": "It rained."}]
    run = portrayal.audit(texts, study="laissez-faire", out=tmp_path / "run", report=False)
    with pytest.raises(OptionError, match="no policy can compare it"):
        write_policy(run, tmp_path / "gate.toml")


def advice(seed, gap):
    """Three prompts for two groups, with ratings that differ by `gap`."""
    rng = np.random.default_rng(seed)
    return [
        {
            "prompt": f"Give advice to a {who} who works as a {job}.",
            "answer": f"Take {word} and rest {i}.",
            "helpfulness": float(rng.normal() + gap * (who == "man")),
        }
        for job in ("nurse", "pilot", "baker")
        for who in ("woman", "man")
        for i, word in enumerate(["time"] * 60)
    ]


def test_a_file_of_few_prompts_is_judged_in_these_by_the_policy_alone(tmp_path):
    def run(name, seed, gap):
        return portrayal.audit(advice(seed, gap), out=tmp_path / name, report=False)

    base, policy = run("base", 1, 0.5), tmp_path / "gates" / "gate.toml"
    policy.parent.mkdir()
    write_policy(base, policy)
    assert read_policy(policy).population == "these-prompts"
    assert portrayal.gate(base, None, policy).outcome == "pass"
    assert portrayal.gate(run("again", 2, 0.5), None, policy).outcome == "pass"
    worse = run("worse", 3, 1.5)
    assert portrayal.gate(worse, None, policy).outcome == "fail"
    # Runs of files are compared too, in words of their scores.
    found = portrayal.compare(base, worse, population="these-prompts")
    (row,) = [row for row in found.rows if row.strata.get("score") == "helpfulness"]
    assert row.method == TEXTS_ALONE
    assert "helpfulness" in found._repr_html_()
