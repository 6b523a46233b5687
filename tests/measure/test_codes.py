"""Shares of codes: by group, and corrected by what people code."""

import numpy as np
import pytest

from measure.cues.stories import story_run
from portrayal.errors import DataError, OptionError
from portrayal.measure.clustered import SHARE
from portrayal.measure.codes import (
    CORRECTED,
    EVERYONE,
    NO_TEXT,
    PEOPLE,
    CodedTexts,
    code_shares,
    code_table,
    coded_texts,
)
from portrayal.raters.labels import Label, Labels
from portrayal.run import read_rows
from portrayal.stats import infer_shares
from raters.coded import Sample

BOTH = CORRECTED.format("server:m")


@pytest.fixture
def sample():
    return Sample(12)


def coded(sample, prompts=None, groups=None):
    """Even texts Latine, odd ones Asian; each answers a prompt of its own."""
    if groups is None:
        groups = {"Latine": sample.names[::2], "Asian": sample.names[1::2]}
    rows = {name: {"text": name} for name in sample.names}
    prompts = prompts or {name: name for name in sample.names}
    return CodedTexts(sample.labels, prompts, groups, rows)


def by_code(sample, group, by=PEOPLE, **more):
    shares = code_shares(coded(sample, **more))
    return {row.code: row for row in shares if (row.group, row.by) == (group, by)}


def counts(shares):
    return {code: round(row.value * row.n_texts) for code, row in shares.items() if row.value}


def test_each_text_counts_for_each_of_its_codes(sample):
    both = {"savior", "foreigner"}
    sample.code("a", {"t0": both, "t2": both, "t4": {"savior"}, "t1": {"savage"}})
    latine = by_code(sample, "Latine")
    assert counts(latine) == {"savior": 3, "foreigner": 2}
    assert counts(by_code(sample, "Asian")) == {"savage": 1}
    for share in latine.values():
        assert (share.n_texts, share.n_open, share.n_prompts) == (6, 0, 6)
        assert share.interval.low <= share.value <= share.interval.high


def test_texts_on_which_people_are_divided_are_left_out_and_counted(sample):
    sample.code("a", {"t0": {"savior"}, "t2": {"savior"}})
    sample.code("b", {"t2": {"savior"}})
    latine = by_code(sample, "Latine")
    assert {(share.n_texts, share.n_open) for share in latine.values()} == {(5, 1)}
    assert counts(latine) == {"savior": 1}
    sample.code("c", {"t0": {"savior"}, "t2": {"savior"}})
    assert counts(by_code(sample, "Latine")) == {"savior": 2}


def test_models_have_no_vote_and_an_adjudicator_the_last_word(sample):
    sample.code("a", {"t0": {"savior"}})
    sample.code("server:m", {"t0": {"savage"}, "t2": {"savage"}}, kind="llm")
    assert counts(by_code(sample, "Latine")) == {"savior": 1}
    assert counts(by_code(sample, "Latine", "server:m")) == {"savage": 2}
    sample.code("judge", {"t0": {"foreigner"}}, kind="adjudicated", texts=["t0"])
    assert counts(by_code(sample, "Latine")) == {"foreigner": 1}


def test_a_group_without_a_settled_text_has_no_share(sample):
    sample.code("a", {"t0": {"savior"}}, texts=["t0"])
    for share in by_code(sample, "Asian").values():
        assert (share.value, share.interval, share.undefined) == (None, None, NO_TEXT)
        assert (share.n_texts, share.n_open) == (0, 0)


def test_a_share_is_inferred_from_its_prompts_sums():
    sample = Sample(40)
    prompts = {name: f"p{i // 5}" for i, name in enumerate(sample.names)}
    shown = {*sample.names[:7], "t20"}
    sample.code("a", {name: {"savior"} for name in sample.names if name in shown})
    share = by_code(sample, EVERYONE, prompts=prompts, groups={EVERYONE: sample.names})["savior"]
    of_prompt = [[n for n in sample.names if prompts[n] == f"p{p}"] for p in range(8)]
    sums = [[sum(name in shown for name in names)] for names in of_prompt]
    expected = infer_shares(sums, np.full((8, 1), 5), 0.95)
    assert (share.n_texts, share.value) == (40, 0.2)
    assert share.interval.low == pytest.approx(expected.low[0])
    assert share.interval.high == pytest.approx(expected.high[0])
    assert (share.interval.method, share.interval.n_clusters) == (SHARE, 8)
    one_prompt = dict.fromkeys(sample.names, "p")
    one = by_code(sample, "all", prompts=one_prompt, groups={"all": sample.names})["savior"]
    assert (one.value, one.interval) == (0.2, None)


def test_what_a_model_codes_is_corrected_by_what_people_code():
    """The model misses half of one group's code; people coded 120 of 600 texts at random."""
    rng, sample = np.random.default_rng(3), Sample(600)
    true = [f"t{i}" for i in range(600) if rng.random() < (0.5, 0.3)[i % 2]]
    marked = [name for name in true if int(name[1:]) % 2 == 1 or rng.random() < 0.5]
    sample.code("server:m", {name: {"savior"} for name in marked}, kind="llm")
    drawn = [f"t{i}" for i in rng.permutation(600)[:120]]
    sample.code("a", {name: {"savior"} for name in true if name in drawn}, texts=drawn)
    for at, group in enumerate(("Latine", "Asian")):
        by_model = by_code(sample, group, "server:m")["savior"]
        one, own = by_code(sample, group, BOTH)["savior"], [f"t{i}" for i in range(at, 600, 2)]
        share = np.mean([name in true for name in own])
        assert by_model.value == pytest.approx(np.mean([name in marked for name in own]))
        n_hand = sum(int(name[1:]) % 2 == at for name in drawn)
        assert (by_model.n_texts, one.n_texts) == (300, n_hand)
        assert one.interval.low < share < one.interval.high
        assert abs(one.value - share) <= abs(by_model.value - share) + 1e-9
    # Post-stratified by hand: labels in each class of what the model says.
    own = [name for name in drawn if int(name[1:]) % 2 == 0]
    n = {hit: sum(((f"t{i}" in marked) == hit) for i in range(0, 600, 2)) for hit in (0, 1)}
    sides = [[name in true for name in own if (name in marked) == hit] for hit in (0, 1)]
    latine = by_code(sample, "Latine", BOTH)
    assert latine["savior"].value == pytest.approx(
        sum(n[hit] * np.mean(sides[hit]) for hit in (0, 1)) / 300
    )
    bare = latine["savage"]
    assert (bare.value, bare.interval) == (None, None)
    assert "no savage is among them" in bare.undefined


def test_without_a_model_or_with_few_labels_nothing_is_corrected(sample):
    sample.code("a", {"t0": {"savior"}})
    assert {row.by for row in code_shares(coded(sample))} == {PEOPLE}
    sample.code("server:m", {"t0": {"savior"}}, kind="llm", texts=sample.names[::2])
    rows = by_code(sample, "Latine", BOTH).values()
    assert {(row.value, row.undefined) for row in rows} == {
        (None, "6 texts are labelled by hand here, and a correction needs 20 or more")
    }
    for by in ("server:m", BOTH):
        rows = by_code(sample, "Asian", by).values()
        assert {(row.value, row.undefined) for row in rows} == {(None, NO_TEXT)}


def test_a_table_has_a_column_for_each_code_of_people_and_of_a_model(sample):
    sample.code("a", {"t0": {"savior"}}, texts=["t0", "t1"])
    sample.code("server:m", {"t1": {"savior"}}, kind="llm", texts=["t1", "t2"])
    groups = {"Latine": ["t0", "t1"], "Asian": ["t1", "t2"]}
    rows = {row["text_id"]: row for row in code_table(coded(sample, groups=groups))}
    columns = ("group", "text", "savior", "savior (server:m)")
    assert [tuple(rows[name][key] for key in columns) for name in ("t0", "t1", "t2", "t3")] == [
        ("Latine", "t0", "1", ""),
        ("", "t1", "0", "1"),
        ("Asian", "t2", "", "0"),
        ("", "t3", "", ""),
    ]


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
