"""A stage keeps what was made from the same inputs, and files are whole or absent."""

import json
import os
from pathlib import Path

import pyarrow as pa
import pytest

from portrayal.errors import RunError
from portrayal.run import Stage, fingerprint, write_parquet
from portrayal.run.files import write_atomically


@pytest.fixture
def stage(tmp_path):
    return Stage(tmp_path / "texts")


def part(stage, number):
    path = stage.folder / f"part-{number:05d}.parquet"
    write_parquet(pa.table({"a": [number]}), path)
    return path


def test_a_stage_is_complete_for_its_own_mark_alone(stage):
    assert not stage.is_complete("a")
    stage.begin("a")
    assert not stage.is_complete("a")
    stage.finish("a", {"n_texts": 3})
    assert stage.is_complete("a")
    assert not stage.is_complete("b")
    assert stage.note() == {"fingerprint": "a", "complete": True, "n_texts": 3}


def test_a_complete_stage_holds_nothing_that_a_killed_worker_had_begun(stage):
    stage.begin("a")
    kept = part(stage, 0)
    begun = stage.folder / ".part-00001.parquet.7-0a1b2c3d.tmp"
    begun.write_bytes(b"PAR1")
    stage.finish("a", {})
    assert kept.exists()
    assert not begun.exists()


def test_beginning_again_keeps_the_parts_of_the_same_mark(stage):
    stage.begin("a")
    kept = part(stage, 0)
    stage.begin("a")
    assert kept.exists()
    assert not stage.is_complete("a")


def test_beginning_with_another_mark_starts_afresh(stage):
    stage.begin("a")
    gone = part(stage, 0)
    stage.finish("a", {})
    stage.begin("b")
    assert not gone.exists()
    assert stage.parts() == []


def test_a_folder_with_other_peoples_files_is_left_alone(stage):
    stage.folder.mkdir()
    mine = stage.folder / "my stories.csv"
    mine.write_text("text\nonce\n")
    with pytest.raises(RunError, match=r"my stories\.csv.*--out"):
        stage.begin("a")
    assert mine.read_text() == "text\nonce\n"


def test_leftovers_of_a_killed_process_are_cleared(stage):
    stage.folder.mkdir()
    (stage.folder / ".part-00000.parquet.77.tmp").write_text("half")
    (stage.folder / "part-00000.parquet").write_text("half")
    stage.begin("a")
    assert [p.name for p in stage.folder.iterdir()] == ["stage.json"]


@pytest.mark.parametrize("content", ["", "{", "[1]", "\udc80".encode("utf-8", "surrogatepass")])
def test_a_note_that_cannot_be_read_is_no_note(stage, content):
    stage.begin("a")
    note = stage.folder / "stage.json"
    note.write_bytes(content if isinstance(content, bytes) else content.encode())
    assert stage.note() == {}
    assert not stage.is_complete("a")


def test_parts_come_in_their_order_and_nothing_else(stage):
    stage.begin("a")
    paths = [part(stage, n) for n in (2, 0, 1)]
    (stage.folder / ".part-00009.parquet.1.tmp").touch()
    assert stage.parts() == sorted(paths)


def test_fingerprints_tell_values_apart_and_ignore_the_order_of_keys():
    assert fingerprint(a=1, b={"x": 1, "y": 2}) == fingerprint(b={"y": 2, "x": 1}, a=1)
    assert fingerprint(a=1) != fingerprint(a="1")
    assert fingerprint(a=["ab"]) != fingerprint(a=["a", "b"])
    assert fingerprint(a=None) != fingerprint()


def test_text_is_written_whole(tmp_path):
    path = tmp_path / "note.json"
    write_atomically(path, "één\n")
    write_atomically(path, "zwei\n")
    assert path.read_text(encoding="utf-8") == "zwei\n"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("failing", ["fsync", "replace", "encode"])
def test_a_failing_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch, failing):
    path = tmp_path / "note.json"
    path.write_text("old")

    def full(*_):
        raise OSError("no space left on device")

    monkeypatch.setattr(os, "fsync", full if failing == "fsync" else os.fsync)
    monkeypatch.setattr(Path, "replace", full if failing == "replace" else Path.replace)
    with pytest.raises((OSError, UnicodeEncodeError)):
        write_atomically(path, "new \udc80" if failing == "encode" else "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_failing_parquet_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    import pyarrow.parquet as pq

    path = tmp_path / "part-00000.parquet"
    write_parquet(pa.table({"a": [1]}), path)
    whole = pq.write_table

    def half(table, where, **options):
        whole(table, where, **options)
        raise OSError("no space left on device")

    monkeypatch.setattr(pq, "write_table", half)
    with pytest.raises(OSError, match="no space"):
        write_parquet(pa.table({"a": [2]}), path)
    assert pq.read_table(path)["a"].to_pylist() == [1]
    assert list(tmp_path.iterdir()) == [path]


def test_the_note_is_readable_json(stage):
    stage.begin("a")
    stage.finish("a", {"source": "Geschichten ä.csv"})
    note = json.loads((stage.folder / "stage.json").read_text(encoding="utf-8"))
    assert note["source"] == "Geschichten ä.csv"


@pytest.mark.parametrize("keep", [0, 3, 100, -1])
def test_a_part_that_was_cut_off_is_made_again(tmp_path, keep):
    stage = Stage(tmp_path / "s")
    stage.begin("mark")
    for name in ("part-00000.parquet", "part-00001.parquet"):
        write_parquet(pa.table({"a": list(range(100))}), stage.folder / name)
    stage.finish("mark", {})
    assert stage.is_complete("mark")
    first, second = stage.parts()
    first.write_bytes(first.read_bytes()[:keep])
    assert stage.damaged() == [first]
    assert not stage.is_complete("mark")
    stage.begin("mark")
    assert stage.parts() == [second]
