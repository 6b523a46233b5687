"""Shares are clustered by prompt, and what chance gives is every arrangement within prompts."""

from itertools import permutations, product

import numpy as np
import pytest

from coding.coded import book, code_all
from portrayal.coding import CodingItem, make_project, project_labels
from portrayal.coding.shares import (
    PERMUTED,
    PERMUTED_FREELY,
    against_others,
    code_shares,
    shares,
)
from portrayal.measure import Scope
from portrayal.measure.clustered import SHARE
from portrayal.stats import infer_shares, upper_of_none, wilson

SCOPE = Scope("coding")
ITEMS = tuple(f"t{i}" for i in range(40))
PROMPTS = {item: f"p{i // 5}" for i, item in enumerate(ITEMS)}
SHOWN = set(ITEMS[:7]) | {"t20"}


def bounds(n, of):
    return tuple(float(bound) for bound in wilson(n, of, 0.95))


def test_a_share_is_inferred_from_its_prompts_sums():
    (share,) = shares([SHOWN], ITEMS, PROMPTS, SCOPE)
    sums = [[sum(i in SHOWN for i in ITEMS if PROMPTS[i] == f"p{p}")] for p in range(8)]
    expected = infer_shares(sums, np.full((8, 1), 5), 0.95)
    assert (share.n, share.of, share.value) == (8, 40, 0.2)
    assert (share.interval.low, share.interval.high) == (expected.low[0], expected.high[0])
    assert share.interval.method == SHARE
    assert share.interval.n_clusters == 8
    naive = bounds(8, 40)
    assert share.interval.high - share.interval.low > 1.3 * (naive[1] - naive[0])


def test_texts_without_any_prompt_are_independent():
    (share,) = shares([SHOWN], ITEMS, {}, SCOPE)
    assert share.interval.method == "Wilson"
    assert (share.interval.low, share.interval.high) == pytest.approx(bounds(8, 40))


def test_none_of_many_texts_leaves_what_other_prompts_might_show():
    none, every = shares([set(), ITEMS], ITEMS, PROMPTS, SCOPE)
    assert (none.interval.low, every.interval.high) == (0.0, 1.0)
    assert none.interval.high == pytest.approx(1 - every.interval.low)
    assert none.interval.high > upper_of_none(40, 0.95)


def test_one_prompt_gives_no_interval_and_no_texts_no_share():
    (share,) = shares([SHOWN], ITEMS[:5], PROMPTS, SCOPE)
    assert (share.value, share.interval) == (1.0, None)
    assert "one prompt" in share.no_interval
    (nothing,) = shares([SHOWN], (), PROMPTS, SCOPE)
    assert (nothing.value, nothing.interval) == (None, None)


def test_chance_is_every_arrangement_of_labels_within_prompts():
    items = ("a", "b", "c", "d", "e", "f")
    prompts = dict(zip(items, "xxxyyy", strict=True))
    shown, group = {"a", "b", "d"}, {"a", "b", "d"}
    (share,) = shares([shown], sorted(group), prompts, SCOPE)
    found = against_others("c", share, shown, group, items, prompts, 0.8)
    counts = [
        sum(x and y for x, y in zip(first + second, (1, 1, 0, 1, 0, 0), strict=True))
        for first, second in product(permutations((1, 1, 0)), permutations((1, 0, 0)))
    ]
    assert found.null.value == pytest.approx(np.mean(counts) / 3)
    assert found.p == pytest.approx(np.mean([n == 3 for n in counts]))
    assert found.null.method == PERMUTED
    assert (found.null.low, found.null.high) == pytest.approx((1 / 3, 1.0))


def test_prompts_of_one_group_alone_say_nothing_of_chance():
    items = ("a", "b", "c", "d")
    (share,) = shares([{"a"}], ("a", "b"), dict(zip(items, "xxyy", strict=True)), SCOPE)
    given = ("c", share, {"a"}, {"a", "b"}, items)
    apart = against_others(*given, dict(zip(items, "xxyy", strict=True)), 0.95)
    assert (apart.null, apart.p) == (None, None)
    assert "no prompt has" in apart.no_null
    assert against_others(*given, {}, 0.95).null.method == PERMUTED_FREELY
    alone = against_others("c", share, {"a"}, {"a", "b"}, ("a", "b"), {}, 0.95)
    assert "no texts of other groups" in alone.no_null


def test_shares_are_of_prompts_and_against_other_groups(tmp_path):
    items = [
        CodingItem(f"t{i}", "A text.", strata={"group": "AB"[i % 2], "prompt_id": f"p{i // 4}"})
        for i in range(40)
    ]
    project = make_project(tmp_path / "p", items, book())
    code_all(project, "a", {f"t{i}": {"savior"} for i in range(40) if i % 2 == 0 or i > 36})
    first, second = code_shares(project, project_labels(project))
    assert (first.n_prompts, second.n_prompts) == (10, 10)
    savior, foreigner, _ = first.shares
    assert (savior.code, savior.share.n, savior.share.of) == ("savior", 20, 20)
    assert savior.null.high < 1
    assert savior.p < 1e-6
    assert savior.q == pytest.approx(savior.p)  # the one code that labels can move
    assert (foreigner.p, foreigner.q, foreigner.null.high) == (None, None, 0.0)
    assert second.shares[0].share.n == 2
    assert second.shares[0].share.interval.n_clusters == 10
    assert code_shares(project, project_labels(project)) == [first, second]
