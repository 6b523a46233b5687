"""Gates: four outcomes, one verdict for one input, and errors that say what to do."""

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import portrayal
from gating.conftest import LEARNING, stories
from gating.worlds import run_of
from portrayal.comparison.compare import Side
from portrayal.comparison.sums import Sums, changes_against
from portrayal.errors import OptionError, RunError
from portrayal.gating.gate import place
from portrayal.gating.policy import Policy, Rule
from portrayal.records import LIKE_THESE, TEXTS_ALONE, THESE
from portrayal.stats.contrasts import RatioScore, TwoSides
from portrayal.studies.laissez_faire import prompts
from support import vouch_again

WOMEN = Rule("women", "representation", {"gender": ("F",)}, allowed_change=1.25)
RANGE = Rule("women", "representation", {"gender": ("F",)}, allowed_range=(0.8, 1.25))


def policy(rule=WOMEN, **more):
    return Policy((rule,), **more)


def test_a_change_beyond_what_is_allowed_fails(runs):
    verdict = portrayal.gate(runs / "fewer", runs / "base", policy())
    assert (verdict.outcome, verdict.exit_code) == ("fail", 1)
    (check,) = verdict.checks
    assert check.row.high < 0.8
    assert check.p_beyond_all < 0.05
    assert check.row.change == pytest.approx(check.row.value_b / check.row.value_a)


def test_what_is_shown_to_lie_within_passes(runs):
    verdict = portrayal.gate(runs / "again", runs / "base", policy())
    assert (verdict.outcome, verdict.exit_code) == ("pass", 0)
    (check,) = verdict.checks
    assert check.p_within < 0.05


def test_too_few_texts_are_inconclusive_and_say_how_many_would_do(runs):
    rng = np.random.default_rng(3)
    base, run = (
        run_of(Side(portrayal.open_run(runs / "base")).run, rng.binomial(6, 0.5, 15), 6)
        for _ in range(2)
    )
    verdict = portrayal.gate(run, base, policy())
    assert (verdict.outcome, verdict.exit_code) == ("inconclusive", 3)
    assert verdict.needed.texts > verdict.checks[0].n_texts
    assert verdict.needed.prompts > 15
    assert f"about {verdict.needed.texts:,} texts" in verdict.summary


def test_no_excess_shown_passes_what_equivalence_leaves_open(runs):
    few = replace(WOMEN, allowed_change=1.0)
    verdict = portrayal.gate(runs / "again", runs / "base", policy(few, passes="no_excess_shown"))
    assert verdict.outcome == "pass"


def test_only_the_worse_side_counts(runs):
    up, down = (replace(WOMEN, worse=side) for side in ("up", "down"))
    assert portrayal.gate(runs / "fewer", runs / "base", policy(up)).outcome == "pass"
    assert portrayal.gate(runs / "fewer", runs / "base", policy(down)).outcome == "fail"


def test_a_run_against_itself_passes(runs):
    assert portrayal.gate(runs / "base", runs / "base", policy()).outcome == "pass"


def test_ranges_need_no_base(runs):
    verdict = portrayal.gate(runs / "base", None, policy(replace(RANGE, allowed_range=(1.2, 1.6))))
    assert (verdict.outcome, verdict.against) == ("pass", None)
    assert portrayal.gate(runs / "base", None, policy(RANGE)).outcome == "fail"
    beside = replace(RANGE, allowed_range=(0.5, 1.4))
    assert portrayal.gate(runs / "base", None, policy(beside)).outcome == "inconclusive"


def test_shares_too_rare_for_a_paired_test_are_bounded(runs):
    refused = Rule("refused", "outcomes", {"outcome": ("refused",)}, allowed_change=0.1)
    (check,) = portrayal.gate(runs / "again", runs / "base", policy(refused)).checks
    assert (check.status, check.row.change) == ("pass", 0.0)
    narrow = replace(refused, allowed_change=0.001)
    assert portrayal.gate(runs / "again", runs / "base", policy(narrow)).outcome == "inconclusive"


def test_too_much_that_could_not_be_read_is_unreadable(runs, tmp_path):
    shutil.copytree(runs / "again", tmp_path / "run")
    run = portrayal.open_run(tmp_path / "run")
    note = run.path / "texts" / "stage.json"
    facts = json.loads(note.read_text())
    facts["outcomes"] = {"ok": 300, "refused": 140, "empty": 10, "failed": 0}
    note.write_text(json.dumps(facts))
    vouch_again(run)
    limits = {"refused": 0.2, "empty": 0.05, "unmatched": 0.99}
    verdict = portrayal.gate(tmp_path / "run", runs / "base", policy(unreadable=limits))
    assert (verdict.outcome, verdict.exit_code) == ("unreadable", 4)
    assert [limit.outcome for limit in verdict.limits] == ["refused"]
    assert "31% refused, above the 20% allowed" in verdict.summary
    facts["outcomes"] = {"ok": 0, "refused": 450, "empty": 0, "failed": 0}
    note.write_text(json.dumps(facts))
    vouch_again(run)
    assert portrayal.gate(tmp_path / "run", runs / "base", policy()).outcome == "unreadable"


def test_people_without_name_or_gender_are_unmatched(runs, tmp_path):
    nobody = [
        {"prompt_id": prompt, "text": "Xqzt was a star student.", "model": "again"}
        for prompt in LEARNING
        for _ in range(10)
    ]
    portrayal.audit(
        study="laissez-faire",
        texts=stories(0.7, 2, "again") + nobody,
        out=tmp_path / "run",
        report=False,
    )
    for most, outcome in ((0.3, "pass"), (0.2, "unreadable")):
        limits = policy(unreadable={"unmatched": most})
        verdict = portrayal.gate(tmp_path / "run", runs / "base", limits)
        assert verdict.outcome == outcome
    assert [limit.share for limit in verdict.limits] == [pytest.approx(0.25)]


def test_identical_inputs_give_one_verdict_20_times(runs):
    base = portrayal.open_run(runs / "base")
    rng = np.random.default_rng(8)
    one, two = (run_of(base, rng.binomial(20, share, 18)) for share in (0.5, 0.62))
    first = portrayal.gate(two, one, policy(replace(WOMEN, allowed_change=1.0)))
    for _ in range(19):
        again = portrayal.gate(two, one, policy(replace(WOMEN, allowed_change=1.0)))
        assert again == first


def test_more_rules_make_it_harder_for_each_to_fail(runs):
    base = portrayal.open_run(runs / "base")
    rng = np.random.default_rng(5)
    one, two = (run_of(base, rng.binomial(20, share, 18)) for share in (0.5, 0.6))
    strict = replace(WOMEN, allowed_change=1.0)
    alone = portrayal.gate(two, one, policy(strict)).checks[0]
    many = Policy(tuple(replace(strict, name=str(i)) for i in range(10)))
    assert portrayal.gate(two, one, many).checks[0].p_beyond_all == pytest.approx(
        min(1.0, 10 * alone.p_beyond_all)
    )


def test_p_values_are_those_of_the_paired_test(runs):
    """A gate that allows nothing fails exactly where the comparison finds a change."""
    (check,) = portrayal.gate(
        runs / "again", runs / "base", policy(replace(WOMEN, allowed_change=1.0))
    ).checks
    (row,) = [
        row
        for row in portrayal.compare(runs / "base", runs / "again").rows
        if row.measure == "representation.v1" and dict(row.group) == {"gender": "F"}
    ]
    assert check.p_beyond == pytest.approx(row.p)
    assert (check.row.low, check.row.high) == pytest.approx((row.low, row.high))


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 500), st.sampled_from([1.0, 1.1, 1.3]))
def test_a_check_fails_only_where_its_interval_lies_beyond(runs, seed, allowed):
    base = portrayal.open_run(runs / "base")
    rng = np.random.default_rng(seed)
    one, two = (run_of(base, rng.binomial(20, share, 10)) for share in (0.4, 0.55))
    (check,) = portrayal.gate(two, one, policy(replace(WOMEN, allowed_change=allowed))).checks
    beyond = check.row.low > allowed or check.row.high < 1 / allowed
    assert (check.status == "fail") == beyond


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        (replace(WOMEN, group={"gender": ("X",)}), r"gender = 'X' fits no estimate .* F, M"),
        (replace(WOMEN, group={"age": ("*",)}), "has no 'age'; it has race, gender"),
        (replace(WOMEN, where={"domain": ("Sport",)}), "domain is one of Learning"),
        (replace(WOMEN, where={"model": ("other",)}), "model is one of again, all"),
        (replace(WOMEN, allowed_change=0.5), "a factor of 1 or more; got 0.5"),
        (replace(WOMEN, measure="common_names", group={}), "keeps no sums by prompt"),
        (replace(WOMEN, measure="agency_gap", group={}), "has no estimate in"),
    ],
)
def test_a_rule_that_cannot_be_judged_is_refused(runs, rule, said):
    with pytest.raises(OptionError, match=said):
        portrayal.gate(runs / "again", runs / "base", policy(rule))


def test_runs_that_cannot_be_gated_say_what_to_do(runs, tmp_path):
    with pytest.raises(RunError, match="is not a run"):
        portrayal.gate(tmp_path, runs / "base", policy())
    with pytest.raises(OptionError, match=r"name the run to compare with \(--against\)"):
        portrayal.gate(runs / "again", None, policy())
    old = tmp_path / "old"
    shutil.copytree(runs / "base", old)
    (old / "influences.parquet").unlink()
    with pytest.raises(RunError, match="Run the same `portrayal audit` command again"):
        portrayal.gate(runs / "again", old, policy())


def test_other_instruments_are_refused_but_for_what_the_policy_names(runs, tmp_path):
    shutil.copytree(runs / "base", tmp_path / "other")
    path = tmp_path / "other" / "audit.toml"
    path.write_text(path.read_text().replace("[options]", '[options]\nflavour = "x"'))
    vouch_again(portrayal.Run(tmp_path / "other"))
    with pytest.raises(OptionError, match=r'despite = \["flavour"\]'):
        portrayal.gate(runs / "again", tmp_path / "other", policy())
    allowed = policy(despite=("flavour",))
    assert portrayal.gate(runs / "again", tmp_path / "other", allowed).outcome == "pass"


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    """A run of two models: "old" has twice the women of "new"."""
    out = tmp_path_factory.mktemp("two") / "run"
    texts = stories(0.7, 1, "old") + stories(0.35, 3, "new")
    return portrayal.audit(study="laissez-faire", texts=texts, out=out, report=False, draws=100)


def test_models_of_one_run_are_gated_as_sides(two):
    verdict = portrayal.gate(Side(two, "new"), Side(two, "old"), policy())
    assert verdict.outcome == "fail"
    assert [check.row.model for check in verdict.checks] == ["old → new"]


def test_each_model_is_judged_alone_unless_the_rule_says_all(two):
    def models(**where):
        rule = replace(RANGE, where=where, allowed_range=(0.5, 1.0))
        return {c.row.model: c.status for c in portrayal.gate(two, None, policy(rule)).checks}

    assert models() == {"old": "fail", "new": "pass"}
    assert models(model=("n*",)) == {"new": "pass"}
    assert models(model=("all",)).keys() == {"all"}
    against = portrayal.gate(two, two, policy())
    assert {check.row.model for check in against.checks} == {"old", "new"}


def test_what_the_base_has_not_is_inconclusive_or_skipped(runs, tmp_path):
    love = stories(0.7, 1, "again")
    known = {p.prompt_id for p in prompts()}
    names = sorted(name for name in known if name.startswith("love-neutral"))
    love = [row | {"prompt_id": names[i % len(names)]} for i, row in enumerate(love)]
    texts = stories(0.7, 2, "again") + love
    portrayal.audit(
        study="laissez-faire", texts=texts, out=tmp_path / "run", report=False, draws=100
    )
    verdict = portrayal.gate(tmp_path / "run", runs / "base", policy())
    missing = [check for check in verdict.checks if "has no such" in (check.row.undefined or "")]
    assert [dict(check.row.strata)["domain"] for check in missing] == ["Love"]
    assert verdict.outcome == "inconclusive"
    skipping = policy(replace(WOMEN, untestable="skip"))
    assert portrayal.gate(tmp_path / "run", runs / "base", skipping).outcome == "pass"


def test_prompts_that_both_runs_ask_can_be_judged_as_they_are(runs):
    """Four prompts say nothing of others; of themselves 100 texts each say much."""
    known = Side(portrayal.open_run(runs / "base")).run
    base, run = (run_of(known, np.full(4, k), 100) for k in (50, 20))
    assert portrayal.gate(run, base, policy()).outcome == "inconclusive"
    verdict = portrayal.gate(run, base, policy(population="these-prompts"))
    assert verdict.outcome == "fail"
    (check,) = verdict.checks
    test = RatioScore(TwoSides(*(np.full((4, 1), x) for x in (20.0, 100.0, 50.0, 100.0))))
    assert check.row.high == pytest.approx(test.interval(0.95, these_prompts=True)[1][0], rel=1e-6)
    error = np.sqrt(0.8 / 0.2 / 396 + 1 / 396)  # by hand, of the log ratio alone
    assert check.row.high == pytest.approx(0.4 * np.exp(1.959964 * error), rel=0.01)
    ranged = portrayal.gate(run, None, policy(RANGE, population="these-prompts"))
    assert ranged.outcome == "fail"
    with pytest.raises(OptionError, match="population"):
        policy(population="mine")


def test_prompts_that_are_fixed_keep_the_level_where_they_differ_from_each_other():
    rng = np.random.default_rng(11)
    share = rng.beta(1, 1, (6, 1))
    n = np.full((6, 1000), 60.0)
    sides = [
        Sums("mean", True, (rng.binomial(60, share, n.shape) + 0.0, n, n * np.nan, n * np.nan),
             np.ones(1000), np.ones(1000), np.arange(6))
        for _ in range(2)
    ]  # fmt: skip
    rows = changes_against(*sides, 0.95, fixed=True)
    assert {row["method"] for row in rows} == {TEXTS_ALONE}
    assert abs(np.mean([row["p"] < 0.05 for row in rows]) - 0.05) < 0.02


def test_a_range_that_no_value_can_leave_passes(runs):
    """Both ends beyond what is possible: there is nothing to test, and nothing that can fail."""
    for ends in ((0.0, 9.0), (0.0, np.inf), (-np.inf, np.inf), (-1.0, 1e6)):
        verdict = portrayal.gate(runs / "base", None, policy(replace(RANGE, allowed_range=ends)))
        assert verdict.outcome == "pass", ends
        assert verdict.checks[0].p_beyond == 1.0


def test_a_run_passes_against_its_own_copy(runs):
    """Also a share, for which bounds of rare shares are tried."""
    share = Rule("cues", "cue_counts", {}, allowed_change=0.05)
    for rule in (WOMEN, share):
        verdict = portrayal.gate(runs / "base", runs / "base", policy(rule))
        assert verdict.outcome == "pass", verdict.summary


ORDER = {"fail": 0, "inconclusive": 1, "pass": 2}


@given(
    st.floats(0.05, 1.0), st.floats(1.05, 3.0), st.floats(0.0, 0.5), st.floats(0.0, 2.0),
    st.sampled_from([LIKE_THESE, THESE]),
)  # fmt: skip
@settings(deadline=None)
def test_a_wider_range_never_makes_a_verdict_worse(runs, low, high, less, more, population):
    ranges = ((low, high), (max(low - less, 0.0), high + more))
    narrow, wide = (
        portrayal.gate(
            runs / "base",
            None,
            policy(replace(RANGE, allowed_range=ends), population=population),
        )
        for ends in ranges
    )
    assert ORDER[wide.outcome] >= ORDER[narrow.outcome]


@given(st.floats(1.0, 2.0), st.floats(0.0, 1.0), st.sampled_from(["again", "fewer", "base"]))
@settings(deadline=None)
def test_a_larger_allowed_change_never_makes_a_verdict_worse(runs, change, more, name):
    narrow, wide = (
        portrayal.gate(runs / name, runs / "base", policy(replace(WOMEN, allowed_change=allowed)))
        for allowed in (change, change + more)
    )
    assert ORDER[wide.outcome] >= ORDER[narrow.outcome]


def test_a_few_texts_that_are_alike_by_chance_are_not_beyond_a_range():
    """As in the audit, the variance of a difference is at least the pooled one."""
    few, counts = (np.arange(606) < 6) * 1.0, (np.arange(606) % 5 == 1) * 1.0
    counts[:6] = 0.0
    cells = tuple(x[:, np.newaxis] for x in (counts * few, few, counts * (1 - few), 1 - few))
    sums = Sums("difference", False, cells, np.ones(1), np.full(1, np.nan), np.arange(606))
    assert place(sums, 0.95, (-0.1, 0.1))["p_beyond"] > 0.05
