"""The document level: Eq. 8 and 9 by hand, its null, and corpora too small for it."""

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

from portrayal.annotate.topics.fit import TopicSettings, fit_topics
from portrayal.annotate.topics.model import Bags, read_topic_texts
from portrayal.errors import RunError
from portrayal.measure.pairs.changes import PAIRED_DISTANCE, PREJUDICE_RATE
from portrayal.measure.pairs.estimates import FEW_TO_EXCHANGE, ONE_EACH
from portrayal.measure.pairs.table import Level, Paired, pair_texts
from portrayal.measure.pairs.topics import (
    NULL,
    Topics,
    document_levels,
    pertinent_shares,
    read_topics,
    topic_use,
)
from portrayal.measure.scope import Scope
from portrayal.run import Run
from support import needs
from topic_run import news, paired_run, silent, topic_run

needs("lemminflect", "sklearn")

Fitted = tuple[Run, Paired, TopicSettings, Topics]


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> Fitted:
    run, paired, settings = topic_run(tmp_path_factory.mktemp("topics") / "run")
    return run, paired, settings, read_topics(run, paired)


@pytest.fixture(scope="module")
def level(fitted: Fitted) -> Level:
    _, paired, _, topics = fitted
    (found,) = document_levels(paired, topics)
    assert (found.name, found.attribute) == ("document", "gender")
    return found


def test_topics_go_with_the_group_that_talks_of_them(fitted: Fitted) -> None:
    _, _, _, topics = fitted
    assert topics.model is not None
    art = int(topics.model.numbers["gallery"])
    about_art = int(topics.model.topics[:, art].argmax())
    assert [(table.model, table.form) for table in topics.tables] == [
        ("a", "plain"),
        ("b", "plain"),
        ("reference", "all"),
    ]
    for table in topics.tables:
        assert table.groups[table.association[about_art]] == "F"
        assert table.groups[table.association[1 - about_art]] == "M"


def test_equation_8_by_hand(fitted: Fitted, level: Level) -> None:
    """With one topic for each group g is t_d itself, which the model gives of whole texts."""
    _, paired, _, topics = fitted
    assert topics.model is not None
    table = topics.tables[-1]
    female = int(np.flatnonzero(table.association == table.groups.index("F"))[0])
    column = level.groups.index("F")
    human, made = news(40)
    by_text = {row["pair"]: row["text"] for row in human}
    texts = [by_text[paired.pairs[pair]] for pair in paired.pair.tolist()]
    expected = topics.model.shares(texts)[:, female]
    expected = np.where(expected < 0.01, 0.0, expected)
    np.testing.assert_allclose(level.reference[:, column], expected, atol=0.01)
    texts = [row["text"] for row in made]
    expected = topics.model.shares(texts)[:, female]
    np.testing.assert_allclose(level.generated[:, column], expected, atol=0.011)


def test_equations_8_and_9_with_numbers(fitted: Fitted) -> None:
    """Three topics (F, M, none) with a word each, prior 1 / 3: texts of 10 words, and of 3.

    Generated: gamma = 1 / 3 + (4, 4, 2) = (13, 13, 7) / 3, so g = (13, 13) / 26. Original: gamma =
    1 / 3 + (0, 3, 0), g = (1, 10) / 11, and W = |1 / 2 - 1 / 11|.
    """
    _, paired, _, topics = fitted
    level = _one_row(paired, topics)
    np.testing.assert_allclose(level.generated, [[1 / 2, 1 / 2]], atol=1e-5)
    np.testing.assert_allclose(level.reference, [[1 / 11, 10 / 11]], atol=1e-5)
    distance = np.abs(level.generated - level.reference).sum(1).mean() / 2
    assert distance == pytest.approx(9 / 22, abs=1e-5)
    strict = _one_row(paired, topics, 0.2)
    np.testing.assert_allclose(strict.reference, [[0.0, 1.0]])  # 1 / 12 is below 0.2
    nothing = _one_row(paired, topics, 0.9)
    assert np.isnan(nothing.generated).all()
    assert np.isnan(nothing.reference).all()


def _one_row(paired: Paired, topics: Topics, least: float = 0.01) -> Level:
    """One pair of three sentences, under a model that gives each word to one topic."""
    assert topics.model is not None
    assert topics.generated is not None
    model = dataclasses.replace(
        topics.model,
        words=("a", "b", "c"),
        topics=np.eye(3) * 1e8 + 1e-3,
    )
    texts = dataclasses.replace(
        topics.generated,
        text_start=np.array([0, 2]),
        topic=np.array([0, 1]),
        words=Bags([[4.0, 0.0, 0.0], [0.0, 4.0, 2.0]]),
    )
    original = dataclasses.replace(
        texts,
        text_start=np.array([0, 1]),
        topic=np.array([1]),
        words=Bags([[0.0, 3.0, 0.0]]),
    )
    tables = tuple(
        dataclasses.replace(table, association=np.array([0, 1, -1]))
        for table in (topics.tables[0], topics.tables[-1])
    )
    one = np.zeros(1, dtype=np.int64)
    side = dataclasses.replace(
        paired.generated,
        pair=one,
        model=one,
        form=one,
        outcome=one,
        words=np.array([10.0]),
        start=np.array([0, 2]),
        counts=np.zeros((2, 2)),
    )
    other = dataclasses.replace(side, start=np.array([0, 1]), counts=np.zeros((1, 2)))
    row = dataclasses.replace(
        paired,
        pair=one,
        model=one,
        form=one,
        text=one,
        original=one,
        generated=side,
        reference=other,
    )
    made = Topics(model, texts, original, tables)
    return document_levels(row, made, least)[0]


def test_the_original_of_another_subject_lies_further_away(fitted: Fitted, level: Level) -> None:
    paired = fitted[1]
    distance = np.abs(level.generated - level.reference).sum(1) / 2
    by_model = [distance[paired.model == code].mean() for code in (0, 1)]
    assert by_model[0] > by_model[1] + 0.1
    np.testing.assert_allclose(np.nansum(level.generated, 1), 1.0)


def test_the_null_exchanges_whole_texts(fitted: Fitted, level: Level) -> None:
    """Texts a and b are dealt with the original together, and each with it alone."""
    paired = fitted[1].with_levels([level])
    scope = Scope("news", draws=100, permutations=99)
    found = {e.strata["model"]: e for e in PAIRED_DISTANCE.run(paired, scope)}
    both, alone = found["all"], found["a"]
    assert both.null is not None
    assert [test.method for test in both.tests] == [NULL]
    assert [test.method for test in alone.tests] == [ONE_EACH]
    assert alone.null is not None
    assert alone.null.high < alone.value
    assert found["b"].tests[0].p > 0.05  # texts like their originals
    for e in PREJUDICE_RATE.run(paired, scope):
        if e.value is not None and e.strata["model"] == "a":
            assert e.null is not None
            assert e.tests[0].p < 0.05


def test_both_texts_of_a_pair_are_read_alike(level: Level) -> None:
    """First as the text of the row, then as an original; one of each is what is compared."""
    assert level.readings is not None
    np.testing.assert_array_equal(level.readings[0, 0], level.generated)
    np.testing.assert_array_equal(level.readings[1, 1], level.reference)


def test_few_pairs_with_one_text_each_have_no_test(fitted: Fitted, level: Level) -> None:
    """Five originals, whatever else, cannot be exchanged so that fewer than 5 % are as far out."""
    sides = fitted[1], fitted[1].generated
    rows, texts = (dataclasses.replace(x, form=(x.pair >= 5).astype(np.int64)) for x in sides)
    paired = dataclasses.replace(rows, generated=texts, forms=("few", "many"))
    paired = paired.with_levels([level])
    scope = Scope("news", draws=100, permutations=99)
    found = {
        e.strata["form"]: e for e in PAIRED_DISTANCE.run(paired, scope) if e.strata["model"] == "a"
    }
    few = found["few"]
    assert (few.null, few.tests, few.status.no_test) == (None, (), FEW_TO_EXCHANGE)
    assert few.interval is not None
    assert found["many"].tests[0].p < 0.05
    assert found["many"].status.no_test is None


def test_one_text_and_its_original_change_places_by_a_coin(fitted: Fitted, level: Level) -> None:
    """Every corpus ties its topics alike here, so that a text says the same in either place."""
    assert level.dealer is not None
    ours, theirs = level.dealer(fitted[1].pools())(np.random.default_rng(4))
    as_read = level.generated, level.reference
    stayed = np.isclose(ours, as_read[0]).all(1) & np.isclose(theirs, as_read[1]).all(1)
    swapped = np.isclose(ours, as_read[1]).all(1) & np.isclose(theirs, as_read[0]).all(1)
    assert (stayed | swapped).all()
    assert 0.3 < swapped.mean() < 0.7


def test_three_texts_change_places_as_wholes(fitted: Fitted, level: Level) -> None:
    paired = fitted[1]
    assert level.dealer is not None
    ours, theirs = level.dealer(paired.pools(all_models=True))(np.random.default_rng(4))
    moved = np.abs(theirs - level.reference).max(axis=1) > 1e-9
    assert 0.4 < moved.mean() < 0.9
    for pair in range(40):
        rows = paired.pair == pair
        before = np.concatenate([level.generated[rows], level.reference[rows][:1]])[:, 0]
        after = np.concatenate([ours[rows], theirs[rows][:1]])[:, 0]
        np.testing.assert_allclose(np.sort(after), np.sort(before))


def test_topics_of_one_group_have_no_shares() -> None:
    shares = np.array([[0.6, 0.2, 0.2]])
    assert pertinent_shares(shares, np.array([0, 1, -1]), 2)[0] == pytest.approx([0.75, 0.25])
    assert np.isnan(pertinent_shares(shares, np.array([0, 0, 2]), 2)).all()
    assert np.isnan(pertinent_shares(shares, np.array([2, -1, 2]), 2)).all()


def test_where_topics_of_a_corpus_go_with_one_group_the_reason_says_so(fitted: Fitted) -> None:
    _, paired, _, topics = fitted
    tables = list(topics.tables)
    tables[1] = dataclasses.replace(tables[1], association=np.array([0, -1]))
    one = dataclasses.replace(topics, tables=tuple(tables))
    levels = document_levels(paired, one)
    scope = Scope("news", draws=100, permutations=20)
    found = {
        e.strata["model"]: e for e in PAIRED_DISTANCE.run(paired.with_levels(levels[:1]), scope)
    }
    assert found["b"].undefined == (
        "topics in texts of b, plain go with F only, and shares take topics of two groups"
    )
    assert found["a"].value is not None
    assert found["all"].value is not None
    none = dataclasses.replace(tables[2], association=np.array([2, -1]))
    assert "in the originals go with no group" in str(none.without_shares)


def test_shards_and_workers_change_nothing(tmp_path: Path) -> None:
    found = []
    for rows, workers in ((1000, 1), (7, 2)):
        run = paired_run(tmp_path / str(rows), *news(10), shard_rows=rows, workers=workers)
        settings = TopicSettings(topics=(2,))
        fit_topics(run, settings, silent)
        paired = pair_texts(run, sentiment=False)
        topics = read_topics(run, paired)
        made = document_levels(paired, topics)
        tables = (run.path / "topics" / "topics.json").read_text("utf-8")
        found.append((made, tables))
    (one, table), (other, again) = found
    assert table == again
    for a, b in zip(one, other, strict=True):
        np.testing.assert_array_equal(a.generated, b.generated)
        np.testing.assert_array_equal(a.reference, b.reference)


def test_topic_tables_stand_in_the_run(fitted: Fitted) -> None:
    run, _, _, topics = fitted
    shown = json.loads((run.path / "topics" / "topics.json").read_text("utf-8"))
    assert shown["n_topics"] == 2
    assert [len(words) for words in shown["words"]] == [15, 15]
    assert shown["tables"][0]["observed"] == topics.tables[0].observed.tolist()
    assert set(shown["tables"][0]["association"]) == {"F", "M"}


def test_topic_use_v1(fitted: Fitted) -> None:
    _, paired, _, topics = fitted
    scope = Scope("news", permutations=50)
    rows = list(topic_use(paired, scope, topics=topics))
    assert len(rows) == 3
    for row in rows:
        assert row.value is not None
        assert (row.null, row.tests, row.n_clusters) == (None, (), 40)
        assert 0 < row.details["cramers_v"] <= 1
    assert rows == list(topic_use(paired, scope, topics=topics))


@pytest.mark.parametrize(
    ("human", "made"), [("one", "two"), ("", "."), ("She is.", "He was"), ("x x x", "y")]
)
def test_tiny_corpora_are_undefined_with_a_reason(tmp_path: Path, human: str, made: str) -> None:
    run = paired_run(
        tmp_path / "run",
        [{"pair": "p", "text": human, "model": "people"}],
        [{"pair": "p", "text": made, "model": m} for m in ("a", "b")],
    )
    settings = TopicSettings()
    fit_topics(run, settings, silent)
    paired = pair_texts(run, sentiment=False)
    topics = read_topics(run, paired)
    for level in document_levels(paired, topics):
        assert np.isnan(level.generated).all()
    rows = list(topic_use(paired, Scope("news"), topics=topics))
    assert rows
    for row in rows:
        assert row.value is None
        assert row.undefined


def test_texts_out_of_step_are_refused(fitted: Fitted) -> None:
    run, paired, _, topics = fitted
    assert topics.model is not None
    found = read_topic_texts(run, topics.model)
    np.testing.assert_array_equal(found.text_start, paired.generated.start)
    less = dataclasses.replace(paired.generated, start=paired.generated.start[:-1])
    with pytest.raises(RunError, match="out of step"):
        read_topics(run, dataclasses.replace(paired, generated=less))
