"""The number of topics: halves of documents, their surprise, and the rule of one standard error."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from portrayal.annotate.topics.corpus import bags_of
from portrayal.annotate.topics.fit import (
    choose_topics,
    chunk_for,
    completion_loss,
    fit_lda,
    passes_for,
    split_words,
    topic_grid,
)

DOCUMENTS = st.lists(st.lists(st.integers(0, 5), max_size=12), min_size=1, max_size=8)


@given(DOCUMENTS, st.integers(0, 99))
def test_halves_hold_every_word_once(documents: list[list[int]], seed: int) -> None:
    bags = bags_of(documents)
    seen, hidden = split_words(bags, seed)
    assert len(seen) == len(hidden) == len(bags)
    np.testing.assert_array_equal(seen.words + hidden.words, bags.words)
    assert set(seen.words - hidden.words) <= {0.0, 1.0}
    for i, document in enumerate(documents):
        both = np.zeros(6)
        for half in (seen, hidden):
            inside = slice(half.start[i], half.start[i + 1])
            np.add.at(both, half.word[inside], half.count[inside])
            assert (half.count[inside] > 0).all()
        np.testing.assert_array_equal(both, np.bincount(document, minlength=6))


def test_the_surprise_by_hand() -> None:
    """Topics of a word each: what was seen says which, and its prior how surely."""
    topics = np.array([[1e9, 1e-3], [1e-3, 1e9]])
    seen, hidden = bags_of([[0, 0, 0], [1]]), bags_of([[0, 1], []])
    loss = completion_loss(topics, np.array([0.5, 0.5]), seen, hidden)
    assert loss == pytest.approx([-np.log(3.5 / 4) - np.log(0.5 / 4), 0.0], abs=1e-3)


def test_a_fitting_number_of_topics_surprises_least() -> None:
    rng = np.random.default_rng(0)
    made = [(10 * (i % 3) + rng.integers(0, 10, 40)).tolist() for i in range(200)]
    names = tuple(f"w{i:02}" for i in range(30))
    seen, hidden = split_words(bags_of(made[150:]), 0)
    losses = []
    for k in (2, 3, 12):
        lda = fit_lda(bags_of(made[:150]), names, k, passes=10, chunk=chunk_for(150), seed=1)
        losses.append(completion_loss(lda.state.get_lambda(), lda.alpha, seen, hidden))
    choice = choose_topics([2, 3, 12], np.stack(losses), hidden.words)
    assert choice.k == 3
    assert choice.interior


def test_one_standard_error() -> None:
    rng = np.random.default_rng(1)
    best = rng.normal(6.0, 1.0, 400)
    size = np.full(400, 2.0)
    near, far = best + rng.normal(0.01, 1.0, 400), best + rng.normal(1.0, 1.0, 400)
    near += best.mean() - near.mean() + 0.02  # half of one standard error, which is 0.05
    assert choose_topics([2, 5, 9], np.stack([near, best, far]), size).k == 2
    found = choose_topics([2, 5, 9, 14], np.stack([far, best, far, far]), size)
    assert (found.k, found.interior, found.worse) == (5, True, 2)
    found = choose_topics([2, 5], np.stack([far, best]), size)
    assert (found.k, found.interior, found.worse) == (5, False, 0)
    assert "at the end of those tried" in found.reason


def test_grids_and_passes() -> None:
    assert topic_grid(3) == (2,)
    assert topic_grid(2_499)[-1] == 249
    assert topic_grid(2_500) == (250,)
    assert (passes_for(100), passes_for(20_000)) == (20, 1)
    assert (chunk_for(3), chunk_for(100), chunk_for(10**6)) == (1, 25, 2_000)
