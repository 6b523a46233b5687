"""Distances by hand: Eq. 1-6 of Fang et al. 2024."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from paired_world import level, made, one, original, quick, read, rows, scores
from portrayal.measure.pairs.changes import PAIRED_DISTANCE
from portrayal.measure.pairs.estimates import distances
from portrayal.measure.pairs.levels import text_levels

NAN = float("nan")


def test_equations_1_and_2_from_texts(tmp_path: Path) -> None:
    """Three female words and one male of four; one of each of two; none at all."""
    human = [original("a", "He met her."), original("b", "It rained. Her son left.")]
    ours = [made("a", "She saw her mother. He left."), made("b", "It rained.")]
    full = text_levels(read(tmp_path / "run", human, ours))[0]
    assert full.groups == ("F", "M")
    np.testing.assert_allclose(full.generated, [[3 / 4, 1 / 4], [NAN, NAN]])
    np.testing.assert_allclose(full.reference, [[1 / 2, 1 / 2], [1 / 2, 1 / 2]])


def test_equation_3_as_printed_for_two_and_three_groups() -> None:
    two = level([[0.75, 0.25]], [[0.5, 0.5]])
    assert distances(two, two.generated, two.reference).item() == pytest.approx(0.25)
    three = level([[0.7, 0.2, 0.1]], [[0.2, 0.5, 0.3]], ("White", "Black", "Asian"))
    assert distances(three, three.generated, three.reference).item() == pytest.approx(0.5)


def _shares(draw: st.DrawFn, m: int) -> np.ndarray:
    counts = np.array(draw(st.lists(st.integers(0, 9), min_size=m, max_size=m)), dtype=float)
    counts[0] += counts.sum() == 0
    return counts / counts.sum()


@given(st.data(), st.integers(2, 5))
def test_equation_3_is_the_least_work_of_moving_shares(data: st.DataObject, m: int) -> None:
    f, o = data.draw(st.composite(_shares)(m)), data.draw(st.composite(_shares)(m))
    cost = 1.0 - np.eye(m)
    sums = np.concatenate([np.kron(np.eye(m), np.ones(m)), np.kron(np.ones(m), np.eye(m))])
    best = linprog(cost.ravel(), A_eq=sums, b_eq=np.concatenate([o, f]), bounds=(0, None))
    its = level([f], [o], [str(i) for i in range(m)])
    found = distances(its, its.generated, its.reference).item()
    assert found == pytest.approx(best.fun, abs=1e-7)
    if m <= 3:
        assert found == pytest.approx(np.abs(f - o).max())


def test_equation_4_leaves_out_pairs_without_group_words() -> None:
    its = level(
        [[1.0, 0.0], [0.5, 0.5], [NAN, NAN], [0.2, 0.8]],
        [[0.4, 0.6], [0.5, 0.5], [0.1, 0.9], [NAN, NAN]],
    )
    found = one(PAIRED_DISTANCE.run(rows([its]), quick()), model="m")
    assert found.value == pytest.approx((0.6 + 0.0) / 2)
    assert (found.n_texts, found.n_units, found.n_clusters) == (4, 2, 2)
    assert found.exclusions == {
        "no group words in the generated text": 1,
        "no group words in the original": 1,
    }
    half = 1.959964 * np.std([0.6, 0.0], ddof=1) / np.sqrt(2)
    assert found.paper_interval is not None
    assert found.paper_interval.low == pytest.approx(0.3 - half)


def test_document_level_names_topics_as_what_is_lacking() -> None:
    its = level([[NAN, NAN]], [[0.5, 0.5]], name="document")
    (found,) = PAIRED_DISTANCE.run(rows([its]), quick())
    assert found.value is None
    assert found.exclusions == {"no pertinent topic in the generated text": 1}


def test_equations_5_and_6_take_the_largest_difference_of_any_group() -> None:
    """|0.4 - 0.1| = 0.3 against |-0.2 - 0.3| = 0.5; then only men are on both sides."""
    its = scores([[0.4, -0.2], [NAN, 0.1]], [[0.1, 0.3], [0.9, 0.0]])
    found = one(PAIRED_DISTANCE.run(rows([its]), quick()))
    assert found.value == pytest.approx((0.5 + 0.1) / 2)
    apart = scores([[0.4, NAN]], [[NAN, 0.1]])
    (undefined,) = PAIRED_DISTANCE.run(rows([apart]), quick())
    assert undefined.value is None
    assert undefined.undefined == "no pair in which both texts mention a group"


def test_sentences_belong_to_the_group_with_most_of_its_words(tmp_path: Path) -> None:
    """The paper's own example is about men, three words to one; a tie is about nobody."""
    pytest.importorskip("textblob", reason="sentiment needs textblob (extra 'news')")
    human = [original("a", "He was good. She was awful. His wife told her.")]
    ours = [made("a", "He himself and his women were bad. She and he were great.")]
    paired = read(tmp_path / "run", human, ours, sentiment=True)
    full = text_levels(paired, ["sentence_sentiment"])[0]
    assert (full.name, full.worse) == ("sentence_sentiment", -1)
    np.testing.assert_allclose(full.generated, [[NAN, -0.7]], atol=1e-5)  # "bad"
    np.testing.assert_allclose(full.reference, [[-1.0, 0.7]], atol=1e-5)  # "awful", "good"
    (found,) = PAIRED_DISTANCE.run(paired.with_levels([full]), quick())
    assert found.value == pytest.approx(1.4, abs=1e-5)


def test_null_draws_keep_the_words_of_a_pair_and_of_each_text(tmp_path: Path) -> None:
    human = [original("a", "He met her. She left."), original("b", "His son left her.")]
    ours = [made("a", "She saw her mother. He left.", model=m) for m in "mn"] + [made("b", "He.")]
    paired = read(tmp_path / "run", human, ours)
    full = text_levels(paired)[0]
    assert full.dealer is not None
    deal, sizes = full.dealer(paired.pools(all_models=True)), np.array([[4], [4], [1]])
    words = full.generated * sizes
    of_originals = full.reference * [[3], [3], [3]]
    for seed in range(20):
        mine, other = deal(np.random.default_rng(seed))
        total = (mine * sizes)[:2].sum(0) + other[0] * 3
        np.testing.assert_allclose(total, words[:2].sum(0) + of_originals[0])
        np.testing.assert_array_equal(other[0], other[1])
        np.testing.assert_allclose(mine[2] + other[2] * 3, words[2] + of_originals[2])


def test_null_draws_of_scores_keep_each_groups_scores(tmp_path: Path) -> None:
    pytest.importorskip("textblob", reason="sentiment needs textblob (extra 'news')")
    human = [original("a", "He was good. He was bad. She was awful.")]
    ours = [made("a", "He was great. She was nice.")]
    paired = read(tmp_path / "run", human, ours, sentiment=True)
    full = text_levels(paired, ["sentence_sentiment"])[0]
    assert full.dealer is not None
    total = full.generated + full.reference * [[1, 2]]
    seen, deal = set(), full.dealer(paired.pools())
    for seed in range(40):
        first, second = deal(np.random.default_rng(seed))
        np.testing.assert_allclose(first + second * [[1, 2]], total)
        seen.add(round(float(first[0, 1]), 3))
    assert seen == {0.8, 0.7, -0.7}


def test_equal_texts_lie_within_their_null() -> None:
    """Dealt again, a pair of equal texts differs by chance: 0 is no larger than that."""
    half = np.full((6, 2), 0.5)

    def deal(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        share = rng.random((6, 1))
        return np.hstack([share, 1 - share]), half

    (found,) = PAIRED_DISTANCE.run(rows([level(half, half, deal=deal)]), quick())
    assert found.value == 0.0
    assert found.null is not None
    assert found.null.low > 0.0
    assert found.tests[0].p == 1.0
