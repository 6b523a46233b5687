"""Counts of cues against plain loops, their bounds, and a count of 0."""

from pathlib import Path

import pytest

from measure.cues.stories import story_run
from portrayal.collect.corpus import file_corpus, run_corpus
from portrayal.measure.cues.lists import cue_list, cues_of
from portrayal.measure.cues.search import CUE_COUNTS, cue_counts, cue_rows, find_cues
from portrayal.measure.scope import Scope


@pytest.fixture(scope="module")
def hits(tmp_path_factory: pytest.TempPathFactory):
    run = story_run(tmp_path_factory.mktemp("run"))
    return find_cues(run_corpus(run), cue_list())


def naive(hits, domain, model, term, role):
    """Texts, mentions and readable texts, counted one by one."""
    texts, mentions, readable = set(), 0, 0
    for (prompt, name, outcome), n in hits.texts.items():
        fits = domain in ("all", hits.corpus.prompts[prompt]["domain"])
        readable += n * (outcome == "ok" and fits and model in ("all", name))
    for m in hits.mentions:
        fits = domain in ("all", hits.corpus.prompts[m.prompt_id]["domain"])
        term_fits = term == m.cue.term or (term == "any" and m.cue.group == "AI")
        if fits and model in ("all", m.model) and term_fits and role in ("all", m.role):
            texts.add(m.text_id)
            mentions += 1
    return len(texts), mentions, readable


def test_counts_equal_plain_loops(hits) -> None:
    rows = [r for r in cue_rows(list(cue_counts(hits, Scope("t")))) if r["cues"] == "AI"]
    assert {r["domain"] for r in rows} == {"all", "Labor", "Learning"}
    assert {r["model"] for r in rows} == {"all", "m1", "m2"}
    for row in rows:
        expected = naive(hits, row["domain"], row["model"], row["cue"], row["role"])
        assert (row["texts"], row["mentions"], row["of_texts"]) == expected
        assert row["share"] == pytest.approx(expected[0] / expected[2])
    assert any(row["texts"] for row in rows if row["cue"] == "any" and row["role"] == "subordinate")


def test_a_count_of_zero_is_a_value_with_its_upper_bounds(hits) -> None:
    estimates = list(cue_counts(hits, Scope("t")))
    (none,) = [
        e
        for e in estimates
        if e.group == {"cues": "NH/PI", "cue": "Samoa", "role": "all"}
        and e.strata == {"domain": "all", "model": "all"}
    ]
    assert none.value == 0
    assert none.undefined is None
    assert none.interval is not None
    assert 0 < none.interval.high < 1
    assert none.interval.n_clusters == 6
    assert none.details["upper_of_none"] == pytest.approx(1 - 0.05 ** (1 / 37))
    assert none.paper_interval is not None
    assert none.paper_interval.high > none.details["upper_of_none"]
    assert none.exclusions == {"refused": 1, "empty": 2}


def test_an_interval_is_never_narrower_than_the_exact_one(hits) -> None:
    for e in cue_counts(hits, Scope("t")):
        if e.interval is not None and e.paper_interval is not None:
            assert e.interval.low <= e.paper_interval.low
            assert e.interval.high >= e.paper_interval.high


def test_zero_of_half_a_million_is_bounded_by_three_in_half_a_million() -> None:
    rows = [{"text": "Once.", "prompt": f"p{i % 50}"} for i in range(1000)]
    hits = find_cues(file_corpus(rows), cues_of(["gay"]))
    scaled = type(hits)(hits.cues, hits.corpus, (), {k: 500 * n for k, n in hits.texts.items()})
    (row,) = [r for r in cue_rows(list(cue_counts(scaled, Scope("t")))) if r["model"] == "all"]
    assert (row["texts"], row["of_texts"]) == (0, 500_000)
    assert row["upper_of_none"] == pytest.approx(3 / 500_000, rel=0.01)
    assert row["interval"]["high"] > 0.01  # 50 prompts say no more of other prompts


def test_where_no_text_could_be_read_the_share_is_undefined() -> None:
    hits = find_cues(file_corpus([{"text": "", "prompt": "p"}]), cues_of(["gay"]))
    for row in cue_rows(list(cue_counts(hits, Scope("t")))):
        assert row["share"] is None
        assert "no text could be read" in row["undefined"]


def test_the_seed_alone_decides(hits, tmp_path: Path) -> None:
    again = find_cues(run_corpus(story_run(tmp_path, shard_rows=3)), cue_list())
    scope = Scope("t", seed=3)
    first = cue_rows(list(cue_counts(hits, scope)))
    assert first == cue_rows(list(cue_counts(again, scope)))


@pytest.mark.parametrize(
    "rows",
    [
        [{"text": "A gay man.", "prompt": "p"}],
        [{"text": "A gay man.", "prompt": "p", "domain": "Labor"}] * 3,
        [{"text": "A gay man.", "prompt": "p", "domain": "Labor"}, {"text": "A man."}],
        [{"text": "A gay man.", "prompt": f"p{i}"} for i in range(3)],
        [{"text": "I'm sorry, I can't help with that.", "prompt": "p", "outcome": "refused"}],
    ],
)
def test_no_share_without_a_value_or_a_reason_and_no_interval_without_width(rows) -> None:
    hits = find_cues(file_corpus(rows), cues_of(["gay", "elf"]))
    estimates = list(CUE_COUNTS.run(hits, Scope("t")))
    assert estimates
    for e in estimates:
        assert (e.value is None) == (e.undefined is not None)
        for bounds in (e.interval, e.paper_interval):
            assert bounds is None or bounds.low < bounds.high
        assert e.interval is None or e.n_clusters > 1
