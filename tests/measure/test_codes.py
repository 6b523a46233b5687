"""Shares of codes: by group, against chance within prompts, and corrected by what people code."""

from itertools import permutations, product

import numpy as np
import pytest

from measure.cues.stories import story_run
from portrayal.errors import DataError, OptionError
from portrayal.measure import Scope
from portrayal.measure.clustered import SHARE
from portrayal.measure.codes import (
    EVERYONE,
    PERMUTED,
    CodedTexts,
    CodeShare,
    against_others,
    code_prevalence,
    code_shares,
    coded_texts,
)
from portrayal.raters import Label, Labels
from portrayal.run import read_rows
from portrayal.stats import infer_shares
from raters.coded import Sample

SCOPE = Scope("coding")


@pytest.fixture
def sample():
    return Sample(12)


def coded(sample, prompts=None, groups=None):
    """Even texts Latine, odd ones Asian; each answers a prompt of its own."""
    if groups is None:
        groups = {"Latine": sample.names[::2], "Asian": sample.names[1::2]}
    return CodedTexts(sample.labels, prompts or {name: name for name in sample.names}, groups)


def codes(sample, **more):
    return {group.group: group for group in code_shares(coded(sample, **more))}


def counts(group):
    return {share.code: share.n for share in group.shares if share.n}


def test_each_text_counts_for_each_of_its_codes(sample):
    both = {"savior", "foreigner"}
    sample.code("a", {"t0": both, "t2": both, "t4": {"savior"}, "t1": {"savage"}})
    found = codes(sample)
    assert set(found) == {"Latine", "Asian"}
    latine = found["Latine"]
    assert counts(latine) == {"savior": 3, "foreigner": 2}
    assert counts(found["Asian"]) == {"savage": 1}
    assert (latine.n_texts, latine.n_open, latine.n_prompts) == (6, 0, 6)
    for share in latine.shares:
        assert share.interval.low <= share.value <= share.interval.high


def test_texts_on_which_people_are_divided_are_left_out_and_counted(sample):
    sample.code("a", {"t0": {"savior"}, "t2": {"savior"}})
    sample.code("b", {"t2": {"savior"}})
    latine = codes(sample)["Latine"]
    assert (latine.n_texts, latine.n_open) == (5, 1)
    assert counts(latine) == {"savior": 1}
    sample.code("c", {"t0": {"savior"}, "t2": {"savior"}})
    assert counts(codes(sample)["Latine"]) == {"savior": 2}


def test_models_have_no_vote_and_an_adjudicator_the_last_word(sample):
    sample.code("a", {"t0": {"savior"}})
    sample.code("server:m", {"t0": {"savage"}, "t2": {"savage"}}, kind="llm")
    assert counts(codes(sample)["Latine"]) == {"savior": 1}
    sample.code("judge", {"t0": {"foreigner"}}, kind="adjudicated", texts=["t0"])
    assert counts(codes(sample)["Latine"]) == {"foreigner": 1}


def test_a_group_without_a_settled_text_has_no_share(sample):
    sample.code("a", {"t0": {"savior"}}, texts=["t0"])
    asian = codes(sample)["Asian"]
    assert (asian.n_texts, asian.n_open) == (0, 0)
    assert {(share.value, share.interval) for share in asian.shares} == {(None, None)}


def test_a_share_is_inferred_from_its_prompts_sums():
    sample = Sample(40)
    prompts = {name: f"p{i // 5}" for i, name in enumerate(sample.names)}
    shown = {*sample.names[:7], "t20"}
    sample.code("a", {name: {"savior"} for name in sample.names if name in shown})
    (group,) = code_shares(coded(sample, prompts, {EVERYONE: sample.names}))
    share = group.shares[0]
    of_prompt = [[n for n in sample.names if prompts[n] == f"p{p}"] for p in range(8)]
    sums = [[sum(name in shown for name in names)] for names in of_prompt]
    expected = infer_shares(sums, np.full((8, 1), 5), 0.95)
    assert (share.n, share.of, share.value) == (8, 40, 0.2)
    assert share.interval.low == pytest.approx(expected.low[0])
    assert share.interval.high == pytest.approx(expected.high[0])
    assert (share.interval.method, share.interval.n_clusters) == (SHARE, 8)
    assert share.no_null == "there are no texts of other groups"
    (one,) = code_shares(coded(sample, dict.fromkeys(sample.names, "p"), {"all": sample.names}))
    assert (one.shares[0].value, one.shares[0].interval) == (0.2, None)


def test_chance_is_every_arrangement_of_labels_within_prompts():
    names = ("a", "b", "c", "d", "e", "f")
    texts = CodedTexts(Labels(()), dict(zip(names, "xxxyyy", strict=True)), {})
    shown = {"a", "b", "d"}
    found = against_others(CodeShare("c", 3, 3, None), shown, shown, names, texts, 0.8)
    by_hand = [
        sum(x and y for x, y in zip(first + second, (1, 1, 0, 1, 0, 0), strict=True))
        for first, second in product(permutations((1, 1, 0)), permutations((1, 0, 0)))
    ]
    assert found.null.value == pytest.approx(np.mean(by_hand) / 3)
    assert found.p == pytest.approx(np.mean([n == 3 for n in by_hand]))
    assert found.null.method == PERMUTED
    assert (found.null.low, found.null.high) == pytest.approx((1 / 3, 1.0))
    apart = CodedTexts(Labels(()), dict(zip("abcd", "xxyy", strict=True)), {})
    found = against_others(CodeShare("c", 1, 2, None), {"a"}, {"a", "b"}, "abcd", apart, 0.95)
    assert (found.null, found.p) == (None, None)
    assert "no prompt has" in found.no_null


def test_groups_of_mixed_prompts_are_compared():
    sample = Sample(40)
    prompts = {name: f"p{i // 4}" for i, name in enumerate(sample.names)}
    sample.code("a", {f"t{i}": {"savior"} for i in range(40) if i % 2 == 0 or i > 36})
    first, second = code_shares(coded(sample, prompts))
    savior, foreigner, _ = first.shares
    assert (savior.code, savior.n, savior.of) == ("savior", 20, 20)
    assert savior.null.high < 1
    assert savior.p < 1e-6
    assert savior.q == pytest.approx(savior.p)  # the one code that labels can move
    assert (foreigner.p, foreigner.q, foreigner.null.high) == (None, None, 0.0)
    assert second.shares[0].n == 2
    assert code_shares(coded(sample, prompts)) == [first, second]


def test_what_a_model_codes_is_corrected_by_what_people_code():
    """The model misses half of one group's code; people coded 120 of 600 texts at random."""
    rng, sample = np.random.default_rng(3), Sample(600)
    true = [f"t{i}" for i in range(600) if rng.random() < (0.5, 0.3)[i % 2]]
    marked = [name for name in true if int(name[1:]) % 2 == 1 or rng.random() < 0.5]
    sample.code("server:m", {name: {"savior"} for name in marked}, kind="llm")
    drawn = [f"t{i}" for i in rng.permutation(600)[:120]]
    sample.code("a", {name: {"savior"} for name in true if name in drawn}, texts=drawn)
    rows = code_prevalence(coded(sample))
    found = {one.group: one for one in rows if one.code == "savior"}
    for at, group in enumerate(("Latine", "Asian")):
        one, own = found[group], [f"t{i}" for i in range(at, 600, 2)]
        share = np.mean([name in true for name in own])
        assert one.rater == "server:m"
        assert one.said == pytest.approx(np.mean([name in marked for name in own]))
        assert (one.n, one.n_hand) == (300, sum(int(name[1:]) % 2 == at for name in drawn))
        assert one.interval.low < share < one.interval.high
        assert abs(one.value - share) <= abs(one.said - share) + 1e-9
    # Post-stratified by hand: labels in each class of what the model says.
    own = [name for name in drawn if int(name[1:]) % 2 == 0]
    n = {hit: sum(((f"t{i}" in marked) == hit) for i in range(0, 600, 2)) for hit in (0, 1)}
    sides = [[name in true for name in own if (name in marked) == hit] for hit in (0, 1)]
    assert found["Latine"].value == pytest.approx(
        sum(n[hit] * np.mean(sides[hit]) for hit in (0, 1)) / 300
    )
    bare = next(one for one in rows if one.code == "savage")
    assert (bare.value, bare.interval) == (None, None)
    assert "no savage is among them" in bare.undefined


def test_without_a_model_or_with_few_labels_nothing_is_corrected(sample):
    sample.code("a", {"t0": {"savior"}})
    assert code_prevalence(coded(sample)) == []
    sample.code("server:m", {"t0": {"savior"}}, kind="llm")
    assert {one.undefined for one in code_prevalence(coded(sample))} == {
        "6 texts are labelled by hand here, and a correction needs 20 or more"
    }


def test_groups_and_prompts_come_from_the_run(tmp_path):
    run = story_run(tmp_path / "run")
    rows = list(read_rows(run, ("text_id", "prompt_id", "model", "outcome")))
    texts = [row for row in rows if row["outcome"] == "ok"]
    labels = Labels(tuple(Label(row["text_id"], "", "savior", "1", "a") for row in texts), "l.csv")
    by_race = coded_texts(run, labels)
    assert by_race.prompts == {row["text_id"]: row["prompt_id"] for row in texts}
    # Each of a text's people adds it to a group: helpers John and Sarah are in every doctor's text
    assert {"Black", "Latine", "White"} <= set(by_race.groups)
    merged = coded_texts(run, labels, merge={"Black": "Latine"})
    assert set(merged.groups) == set(by_race.groups) - {"Black"}
    assert set(coded_texts(run, labels, by="power").groups) == {
        *("dominant", "neutral", "subordinate")
    }
    by_model = coded_texts(run, labels, by="model").groups
    assert {name: len(group) for name, group in by_model.items()} == {
        model: sum(row["model"] == model for row in texts) for model in ("m1", "m2")
    }
    with pytest.raises(OptionError, match=r"has a 'shoe' to group by; texts have: .*domain.*race"):
        coded_texts(run, labels, by="shoe")
    with pytest.raises(DataError, match="this run has no text 'x'"):
        coded_texts(run, Labels((Label("x", "", "savior", "1", "a"),), "l.csv"))
    words = Labels((Label(texts[0]["text_id"], "", "faith", "one", "a"),), "l.csv")
    with pytest.raises(OptionError, match=r"l\.csv labels no codes \(1 or 0\), but faith"):
        coded_texts(run, words)
