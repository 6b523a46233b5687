"""Fitting once, keeping, reusing, and saying why there are no topics."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from portrayal.annotate.topics.fit import (
    TopicSettings,
    choose_topics,
    chunk_for,
    completion_loss,
    fit_lda,
    fit_topics,
    passes_for,
    saved_topics,
    split_words,
    topic_grid,
    topics_stage,
)
from portrayal.annotate.topics.model import TopicModel, bags_of, load_topics, save_topics
from portrayal.errors import DataError, OptionError, RunError
from support import needs
from topic_run import news, paired_run, silent, topic_run

needs("lemminflect", "sklearn")


def test_a_fit_is_kept_and_used_again(tmp_path: Path) -> None:
    run, _, settings = topic_run(tmp_path / "run", pairs=10)
    arrays = topics_stage(run).folder / "model.npz"
    made = arrays.stat().st_mtime_ns
    said: list[str] = []
    again = fit_topics(run, settings, said.append)
    assert arrays.stat().st_mtime_ns == made
    assert said == []
    assert again is not None
    assert again.n_topics == 2
    fit_topics(run, TopicSettings(topics=(3,)), silent)
    assert saved_topics(run)[0].n_topics == 3  # type: ignore[union-attr]


def test_shards_change_nothing(tmp_path: Path) -> None:
    found = []
    for rows, workers in ((1000, 1), (7, 2)):
        run = paired_run(tmp_path / str(rows), *news(8), shard_rows=rows, workers=workers)
        found.append(fit_topics(run, TopicSettings(topics=(2, 3)), silent))
    one, other = found
    assert one is not None
    assert other is not None
    assert one.words == other.words
    np.testing.assert_array_equal(one.topics, other.topics)
    assert one.facts == other.facts


def test_a_saved_model_comes_back_and_serves_another_run(tmp_path: Path) -> None:
    run, _, _ = topic_run(tmp_path / "run", pairs=10)
    model = load_topics(run.path / "topics")
    back = load_topics(save_topics(model, tmp_path / "copy"))
    np.testing.assert_array_equal(model.topics, back.topics)
    assert (model.words, model.facts) == (back.words, back.facts)
    other = paired_run(tmp_path / "other", *news(5, seed=9))
    used = fit_topics(other, TopicSettings(topic_model=str(tmp_path / "copy")), silent)
    assert used is not None
    np.testing.assert_array_equal(used.topics, model.topics)
    texts = ["The team won the match.", ""]
    np.testing.assert_array_equal(used.shares(texts), model.shares(texts))


def test_k_is_chosen_by_held_out_halves_and_fitted_to_all_texts(tmp_path: Path) -> None:
    said: list[str] = []
    run = paired_run(tmp_path / "run", *news(20))
    model = fit_topics(run, TopicSettings(topics=(8, 2, 4)), said.append)
    assert model is not None
    tried = model.facts["tried"]
    assert [each["k"] for each in tried] == [2, 4, 8]
    assert model.n_topics == 2
    assert tried[0]["perplexity"] < tried[2]["perplexity"]
    assert model.facts["documents"] == 60
    assert said[-2] == f"topics: K = 2: {model.facts['reason']}"


def test_small_corpora_say_why_topics_are_few(tmp_path: Path) -> None:
    said: list[str] = []
    fit_topics(paired_run(tmp_path / "run", *news(1)), TopicSettings(), said.append)
    assert said[0] == "topics: K = 2: 3 documents allow no more at 10 documents a topic"


@pytest.mark.parametrize("texts", [("one", "two"), ("", "..."), ("?!", "—")])
def test_no_topics_with_a_reason(tmp_path: Path, texts: tuple[str, str]) -> None:
    human, made = ([{"pair": "p", "text": t, "model": "m"}] for t in texts)
    run = paired_run(tmp_path / "run", human, made)
    said: list[str] = []
    assert fit_topics(run, TopicSettings(), said.append) is None
    assert saved_topics(run)[0] is None
    assert "at least two texts that share words" in str(saved_topics(run)[1])
    assert said[0].startswith("warning: no topics")
    assert fit_topics(run, TopicSettings(), said.append) is None
    assert len(said) == 1


def test_a_run_without_topics_says_so(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="run the audit again"):
        saved_topics(paired_run(tmp_path / "run", *news(2)))


def test_words_of_a_topic_are_its_own(tmp_path: Path) -> None:
    run, _, _ = topic_run(tmp_path / "run")
    model = saved_topics(run)[0]
    assert model is not None
    top = [set(model.top_words(k, 8)) for k in range(2)]
    assert {"gallery", "museum"} <= top[0] or {"gallery", "museum"} <= top[1]
    assert len(top[0] & top[1]) <= 1


def test_hostile_files_are_refused(tmp_path: Path) -> None:
    run, _, _ = topic_run(tmp_path / "run", pairs=5)
    folder = save_topics(load_topics(run.path / "topics"), tmp_path / "model")
    path = folder / "model.npz"
    arrays = dict(np.load(path))

    def saved(**wrong: np.ndarray) -> Path:
        np.savez(path, **arrays | wrong)
        return folder

    with pytest.raises(DataError, match="allow_pickle"):
        load_topics(saved(topics=np.array([{"a": 1}], dtype=object)))
    other = json.dumps({"format": "other", "words": [], "facts": {}}).encode()
    with pytest.raises(DataError, match="expected a topic model of format"):
        load_topics(saved(about=np.frombuffer(other, np.uint8)))
    for content in (b"[" * 10_000, b"[]", b"{}"):
        with pytest.raises(DataError, match="holds no topic model"):
            load_topics(saved(about=np.frombuffer(content, np.uint8)))
    path.write_bytes(b"PK\x03\x04 nothing")
    with pytest.raises(DataError, match="not a readable file of arrays"):
        load_topics(folder)
    with pytest.raises(DataError, match="holds no topic model"):
        load_topics(tmp_path / "absent")


@pytest.mark.parametrize("wrong", [{"topics": (1,)}, {"seed": -1}])
def test_wrong_settings_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(OptionError):
        TopicSettings(**wrong)  # type: ignore[arg-type]


DOCUMENTS = st.lists(st.lists(st.integers(0, 5), max_size=12), min_size=1, max_size=8)


@given(DOCUMENTS, st.integers(0, 99))
def test_halves_hold_every_word_once(documents: list[list[int]], seed: int) -> None:
    bags = bags_of(documents, 6)
    seen, hidden = split_words(bags, seed)
    assert set((seen - hidden).sum(axis=1)) <= {0.0, 1.0}
    assert all((half.data > 0).all() for half in (seen, hidden))
    for document, both in zip(documents, (seen + hidden).toarray(), strict=True):
        np.testing.assert_array_equal(both, np.bincount(document, minlength=6))


def test_the_surprise_by_hand() -> None:
    """Topics of a word each: what was seen says which, and its prior how surely."""
    model = TopicModel(("a", "b"), np.array([[1e9, 1e-3], [1e-3, 1e9]]), np.ones(2))
    seen, hidden = bags_of([[0, 0, 0], [1]], 2), bags_of([[0, 1], []], 2)
    loss = completion_loss(model, seen, hidden)
    assert loss == pytest.approx([-np.log(3.5 / 4) - np.log(0.5 / 4), 0.0], abs=1e-3)


def test_a_fitting_number_of_topics_surprises_least() -> None:
    rng = np.random.default_rng(0)
    made = [(10 * (i % 3) + rng.integers(0, 10, 40)).tolist() for i in range(200)]
    seen, hidden = split_words(bags_of(made[150:], 30), 0)
    losses = []
    for k in (2, 3, 12):
        model = fit_lda(tuple(map(str, range(30))), bags_of(made[:150], 30), k, seed=1)
        losses.append(completion_loss(model, seen, hidden))
    assert choose_topics([2, 3, 12], np.stack(losses), hidden.sum(axis=1))[0] == 3


def test_one_standard_error() -> None:
    rng = np.random.default_rng(1)
    best = rng.normal(6.0, 1.0, 400)
    size = np.full(400, 2.0)
    near, far = best + rng.normal(0.01, 1.0, 400), best + rng.normal(1.0, 1.0, 400)
    near += best.mean() - near.mean() + 0.02  # half of one standard error, which is 0.05
    assert choose_topics([2, 5, 9], np.stack([near, best, far]), size)[0] == 2
    k, _, worse = choose_topics([2, 5, 9, 14], np.stack([far, best, far, far]), size)
    assert (k, worse) == (5, 2)
    k, reason, worse = choose_topics([2, 5], np.stack([far, best]), size)
    assert (k, worse) == (5, 0)
    assert "at the end of those tried" in reason


def test_grids_and_passes() -> None:
    assert topic_grid(3) == (2,)
    assert topic_grid(2_499)[-1] == 249
    assert topic_grid(2_500) == (250,)
    assert (passes_for(100), passes_for(20_000)) == (20, 1)
    assert (chunk_for(3), chunk_for(100), chunk_for(10**6)) == (1, 25, 2_000)
