"""Rules about a judge: least agreement with people, by the labels that a run was audited with."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import portrayal
from command import invoke
from gating.test_policy import written
from measure.test_by_hand import FACTOR, QUICK, of_many_prompts, table
from portrayal.errors import DataError, OptionError
from portrayal.gating import JudgeRule, Policy, read_policy
from portrayal.measure.judging import AgreedShare
from portrayal.run import Run

TOML = """[[judge]]
name = "reads faiths"
field = "faith"
group = ["one", "two"]
least = { recall = 0.8 }
"""
RULE = JudgeRule("reads faiths", "faith", {"recall": 0.8}, ("one", "two"))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Half of the words of "one" are missing, none of "two"."""
    folder, rows = tmp_path_factory.mktemp("judged"), of_many_prompts()
    (folder / "faith.toml").write_text(FACTOR.format(name="faith"), encoding="utf-8")
    drawn = np.random.default_rng(7).permutation(600)[:300]
    hand = [(rows[i]["text_id"], f, rows[i][f]) for i in drawn for f in ("faith", "outcome")]
    return portrayal.audit(
        "laissez-faire",
        texts=[{k: row[k] for k in ("text_id", "prompt_id", "text")} for row in rows],
        factor=[str(folder / "faith.toml")],
        hand_labels=table(folder, hand),
        out=folder / "run",
        **QUICK,
    )


def statuses(run: Run, rule: JudgeRule, **more: object) -> dict[str, str]:
    verdict = portrayal.gate(run, None, Policy(judges=(rule,), **more))
    return {check.group.get("faith", ""): check.status for check in verdict.checks}


def test_a_judge_that_misses_half_of_a_group_fails_and_finds_the_other(run: Run) -> None:
    verdict = portrayal.gate(run, None, Policy(judges=(RULE,)))
    assert (verdict.outcome, verdict.exit_code) == ("fail", 1)
    one, two = verdict.checks
    assert (one.group, one.status, two.status) == ({"faith": "one"}, "fail", "pass")
    assert one.low < one.value < one.high < 0.8
    assert two.value == 1.0


def test_between_both_bounds_nothing_is_shown(run: Run) -> None:
    near = statuses(run, replace(RULE, least={"recall": 0.5}))
    assert near == {"one": "inconclusive", "two": "pass"}
    assert statuses(run, replace(RULE, least={"agreement": 0.5})) == {"": "pass"}
    assert statuses(run, replace(RULE, least={"agreement": 0.95})) == {"": "fail"}


def test_too_few_labels_of_a_group_are_inconclusive_or_skipped(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [row for row in of_many_prompts() if row["faith"] == "one"][:9]
    path = table(tmp_path, [(row["text_id"], "faith", "one") for row in rows])
    settings = run.settings()
    settings["options"]["hand_labels"] = path
    monkeypatch.setattr(Run, "settings", lambda self: settings)
    rule = replace(RULE, group=("one",))
    (check,) = portrayal.gate(run, None, Policy(judges=(rule,))).checks
    assert (check.status, check.reason) == ("inconclusive", "9 labels, and 10 are needed")
    assert statuses(run, replace(rule, untestable="skip")) == {"one": "skipped"}


@pytest.mark.parametrize("kind", ["recall", "kappa"])
@pytest.mark.parametrize("icc", [0.0, 0.3])
def test_p_and_interval_agree_and_hear_how_alike_a_prompt_is(kind: str, icc: float) -> None:
    """The judge is right of 80 % of the texts, of whole prompts together where `icc` is not 0."""
    rng, prompt = np.random.default_rng(8), np.repeat(np.arange(30), 6).astype(str)
    hit = rng.random(180) < np.where(icc, np.repeat(rng.beta(1.9, 0.47, 30), 6), 0.8)
    truth, one = rng.random(180) < 0.5, np.ones(180)
    sides = [truth.astype(str).tolist(), (truth == hit).astype(str).tolist()]
    clustered, alone = (
        AgreedShare.of(hit, one, by, 0.95)
        if kind == "recall"
        else AgreedShare.of_kappa(sides, one, by, 0.95)
        for by in (prompt, np.arange(180).astype(str))
    )
    assert clustered.value == pytest.approx(alone.value)
    wider = (clustered.high - clustered.low) / (alone.high - alone.low)
    assert 1.2 < wider < 2.5 if icc else 0.7 < wider < 1.4
    for least in np.arange(0.35, 1.0, 0.05):
        more, less = clustered.p_at_least(least)
        assert (more < 0.025) == (clustered.high < least)
        assert (less < 0.025) == (clustered.low > least)


def test_a_least_kappa_is_asked_for(run: Run) -> None:
    assert statuses(run, replace(RULE, least={"kappa": 0.4})) == {"": "pass"}
    assert statuses(run, replace(RULE, least={"kappa": 0.95})) == {"": "fail"}
    assert statuses(run, replace(RULE, least={"kappa": 0.75})) == {"": "inconclusive"}


def test_a_file_asks_for_it_and_the_command_prints_what_failed(run: Run, tmp_path: Path) -> None:
    path = written(tmp_path, TOML)
    assert read_policy(path).judges == (RULE,)
    shown = invoke("gate", run.path, "--policy", path)
    assert shown.exit_code == 1
    assert "reads faiths: judge's recall" in " ".join(shown.stdout.split())
    assert "(faith, all)" in shown.stdout
    said = json.loads(invoke("gate", run.path, "--policy", path, "--format", "json").stdout)
    assert [check["allowed"] for check in said["checks"]] == [[0.8, "inf"]] * 2


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("recall = 0.8", "recal = 0.8", "line 5: judge.least: least must be one of agreement"),
        ("recall = 0.8", "recall = 1.0", "shares above 0 and below 1"),
        ("recall = 0.8", "recall = 80", "a share of 0 to 1"),
        ('field = "faith"', "", "the key 'field' is missing"),
        ('"one", "two"', '"three"', "group fits none that people see; they see none, one, two"),
        ('"faith"', '"sentiment"', "names no fields that people can label"),
    ],
)
def test_what_cannot_be_asked_is_an_error(
    run: Run, tmp_path: Path, old: str, new: str, said: str
) -> None:
    path = written(tmp_path, TOML.replace(old, new))
    with pytest.raises((DataError, OptionError), match=said):
        portrayal.gate(run, None, path)


def test_a_run_without_labels_says_how_to_get_them(run: Run, tmp_path: Path) -> None:
    texts = [
        {k: row[k] for k in ("text_id", "prompt_id", "text")} for row in of_many_prompts()[:30]
    ]
    bare = portrayal.audit("laissez-faire", texts=texts, out=tmp_path / "bare", **QUICK)
    with pytest.raises(OptionError, match="without labels by hand; audit it with --hand-labels"):
        portrayal.gate(bare, None, Policy(judges=(RULE,)))
