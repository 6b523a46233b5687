"""Pairing: every text is in a row or has a reason, and none is dropped silently."""

from pathlib import Path

import numpy as np
import pytest

from paired_world import made, one, original, quick, read
from portrayal.errors import RunError
from portrayal.measure.pairs.table import pair_texts
from portrayal.measure.pairs.texts import text_lengths
from portrayal.run import Run
from topic_run import paired_run

HUMAN = [
    original("a", "", outcome="empty"),
    original("a", "She left early."),
    original("a", "A second original."),
    original("b", "He stayed for the whole day."),
    original("c", "   "),
    original("lonely", "Nobody wrote about this."),
]
OURS = [
    made("a", "She left."),
    made("a", "She left again.", form="biased"),
    made("b", "I'm sorry, but I can't help with that.", form="biased", outcome="refused"),
    made("b", ""),
    made("c", "He came."),
    made("d", "There is no such headline."),
    made("b", "He came.", model="n"),
    made("a", "half a", model="n", outcome="failed"),
]


def test_every_text_is_in_a_row_or_has_a_reason(tmp_path: Path) -> None:
    paired = read(tmp_path / "run", HUMAN, OURS)
    assert len(paired.pair) == 3
    assert [paired.pairs[i] for i in paired.pair] == ["a", "a", "b"]
    assert [paired.models[i] for i in paired.model] == ["m", "m", "n"]
    assert [paired.forms[i] for i in paired.form] == ["plain", "biased", "plain"]
    assert paired.unpaired == [
        *("", "", "refused", "empty", "original: empty", "no original", "", "failed")
    ]


def test_the_first_readable_original_is_the_one(tmp_path: Path) -> None:
    paired = read(tmp_path / "run", HUMAN, OURS)
    assert paired.reference.words[paired.original].tolist() == [3.0, 3.0, 6.0]


def test_lengths_are_reported(tmp_path: Path) -> None:
    paired = read(tmp_path / "run", HUMAN, OURS)
    lengths = list(text_lengths(paired, quick()))
    assert one(lengths, model="reference").value == pytest.approx((3 + 3 + 6 + 4) / 4)
    assert one(lengths, model="reference").exclusions == {"empty": 2}
    plain = one(lengths, model="m", form="plain")
    assert plain.value == pytest.approx((2 + 2 + 5) / 3)
    assert plain.exclusions == {"empty": 1}


def test_texts_without_a_key_are_counted(tmp_path: Path) -> None:
    paired = read(tmp_path / "run", HUMAN[1:2], [made("a", "She left."), made("z", "He came.")])
    assert paired.unpaired == ["", "no original"]


def test_no_number_depends_on_shards(tmp_path: Path) -> None:
    tables = [read(tmp_path / str(n), HUMAN, OURS, shard_rows=n) for n in (1, 3, 100)]
    first = tables[0]
    for other in tables[1:]:
        assert other.unpaired == first.unpaired
        np.testing.assert_array_equal(other.text, first.text)
        np.testing.assert_array_equal(other.original, first.original)
        np.testing.assert_array_equal(other.generated.counts[:], first.generated.counts[:])
        np.testing.assert_array_equal(other.generated.start, first.generated.start)


def test_an_annotation_that_is_missing_is_an_error(tmp_path: Path) -> None:
    run = paired_run(tmp_path / "run", HUMAN, OURS)
    with pytest.raises(RunError, match="not complete"):
        pair_texts(run, sentiment=True)
    bare = Run(tmp_path / "none")
    bare.path.mkdir()
    with pytest.raises(RunError, match="not complete"):
        pair_texts(bare, sentiment=False)


def test_rows_of_a_pair_stand_together(tmp_path: Path) -> None:
    """Texts listed model by model."""
    human = [original(f"p{i}", "He left.") for i in range(4)]
    sizes = {"p2": 7, "p0": 3, "p3": 1, "p1": 2}
    listed = [(n, pair) for pair, size in sizes.items() for n in range(size)]
    ours = [
        made(pair, "She left.", model=f"m{n}") for n, pair in sorted(listed, key=lambda x: x[0])
    ]
    paired = read(tmp_path / "run", human, ours)
    assert (np.diff(paired.pair) != 0).sum() == 3
    assert len(paired.pools().first) == 13
    assert len(paired.pools(all_models=True).first) == 4
