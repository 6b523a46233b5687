"""Files that are damaged, wrongly made or hostile: read rightly, or refused by name in one line."""

import gzip
import json
import os
import re
import subprocess
import sys
import threading
import zipfile
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from portrayal.collect.corpus import file_corpus, read_plain
from portrayal.collect.sources import MOST_UNPACKED, open_source
from portrayal.collect.tables import read_table
from portrayal.errors import DataError, OptionError

STORY = "María met 明 — and left."


def texts(path: Path) -> list[str]:
    return [text for _, text in read_plain(path)]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.jsonl", "t.json", "t.txt", "t.csv.gz"])
def test_text_in_other_encodings_of_unicode_is_read(
    tmp_path: Path, name: str, encoding: str
) -> None:
    row = json.dumps({"text": STORY}, ensure_ascii=False)
    said = {"t.txt": STORY, "t.jsonl": row, "t.json": f"[{row}]"}.get(name, f"text\n{STORY}\n")
    content = said.encode(encoding)
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    assert texts(tmp_path / name) == [STORY]


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl", "t.json", "t.txt"])
def test_utf_16_without_its_mark_is_refused_by_name(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(f"text\n{STORY}\n".encode("utf-16-le"))
    with pytest.raises(DataError, match="UTF-16 without a byte order mark"):
        texts(tmp_path / name)


WRONG: dict[str, Any] = {
    "a struct": {"a": 1},
    "bytes": b"once upon a time",
    "a list": ["once", "upon"],
    "a number": 7,
    "a truth": True,
    "a date": date(2025, 1, 1),
}


@pytest.mark.parametrize("kind", WRONG)
def test_what_is_no_text_is_no_story(tmp_path: Path, kind: str) -> None:
    rows = [{"text": WRONG[kind], "model": "m"}]
    path = tmp_path / "t.parquet"
    pq.write_table(pa.Table.from_pylist(rows), path)
    with pytest.raises(DataError, match=r"t\.parquet: row 1: it holds no text but"):
        texts(path)
    with pytest.raises(DataError, match="row 1: it holds no text but"):
        list(file_corpus(path).tables())
    if not isinstance(WRONG[kind], (bytes, date)):
        path = tmp_path / "t.jsonl"
        path.write_text(f'{{"text": "a story"}}\n{json.dumps(rows[0])}\n')
        with pytest.raises(DataError, match=r"t\.jsonl: row 2: it holds no text but"):
            texts(path)


def test_names_may_be_numbers_but_no_objects(tmp_path: Path) -> None:
    frame = pd.DataFrame({"text": ["a", "b"], "id": [1.0, None]})
    frame.to_parquet(tmp_path / "t.parquet")
    assert [each.text_id for each in read_plain(tmp_path / "t.parquet")] == ["1", "2"]
    (tmp_path / "t.jsonl").write_text('{"text": "a", "id": {"n": 1}}')
    with pytest.raises(DataError, match="row 1: it holds no text but a value of type dict"):
        texts(tmp_path / "t.jsonl")
    with pytest.raises(DataError, match="row 1: it holds no text"):
        read_table(tmp_path / "t.jsonl", ["text"])


def twice_parquet(path: Path) -> None:
    pq.write_table(pa.table([["a"], ["b"]], names=["text", "text"]), path)


def twice_excel(path: Path) -> None:
    from openpyxl import Workbook

    book = Workbook()
    book.active.append(["text", "text"])
    book.active.append(["a", "b"])
    book.save(path)


TWICE: dict[str, Callable[[Path], Any]] = {
    "t.csv": lambda path: path.write_text("text,text\na,b\n"),
    "t.jsonl": lambda path: path.write_text('{"text": "a", "text": "b"}\n'),
    "t.json": lambda path: path.write_text('[{"text": "a", "text": "b"}]'),
    "t.parquet": twice_parquet,
    "t.xlsx": twice_excel,
}


@pytest.mark.parametrize("name", TWICE)
def test_a_header_that_stands_twice_is_refused(tmp_path: Path, name: str) -> None:
    TWICE[name](tmp_path / name)
    with pytest.raises(DataError, match="'text' stands twice"):
        open_source(tmp_path / name)


def test_a_table_with_a_header_twice_is_refused() -> None:
    with pytest.raises(DataError, match="'text' stands twice"):
        open_source(pa.table([["a"], ["b"]], names=["text", "text"]))


def test_two_columns_that_both_read_as_one_field_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("Text,text,model\na,b,m\n")
    with pytest.raises(DataError, match=r"'Text', 'text' can all be read as text.*--column text="):
        texts(path)
    assert [text for _, text in read_plain(path, ["text=Text"])] == ["a"]


def test_a_column_without_a_name_is_no_field(tmp_path: Path) -> None:
    pd.DataFrame({"text": ["a", "b"]}).to_csv(tmp_path / "t.csv")  # the index has a blank header
    (table,) = file_corpus(tmp_path / "t.csv").tables()
    assert table["model"].to_pylist() == ["unnamed", "unnamed"]
    assert table["text_id"].to_pylist() == ["000000000", "000000001"]


def test_half_a_character_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text('{"text": "a \\ud83d b", "id": "\\udc00"}\n{"text": "\\ud83d\\ude00"}')
    assert texts(path) == ["a \ufffd b", "\U0001f600"]
    assert next(iter(read_plain(path))).text_id == "\ufffd"


@pytest.mark.parametrize("name", ["t.json", "t.jsonl"])
def test_deeply_nested_json_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text('[{"text": ' + "[" * 100_000 + "]" * 100_000 + "}]")
    with pytest.raises(DataError, match="not valid JSON"):
        texts(tmp_path / name)


@pytest.mark.parametrize("unit", ["s", "ms", "us"])
def test_a_time_past_the_year_9999_is_one_line(tmp_path: Path, unit: str) -> None:
    late = pa.array(
        [400_000_000_000 * {"s": 1, "ms": 10**3, "us": 10**6}[unit]], pa.timestamp(unit)
    )
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"text": ["a"], "at": late}), path)
    with pytest.raises(DataError, match="not a readable Parquet file") as raised:
        texts(path)
    assert "\n" not in str(raised.value)


def test_a_cut_parquet_file_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"text": ["a story"] * 5000}), path)
    whole = path.read_bytes()
    for cut in (4, 100, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:cut])
        with pytest.raises(DataError, match="not a readable Parquet file"):
            texts(path)
    path.write_bytes(whole[:20] + bytes(100) + whole[120:])
    with pytest.raises(DataError, match="not a readable Parquet file"):
        texts(path)


def test_dates_of_a_sheet_are_kept_and_are_no_stories(tmp_path: Path) -> None:
    from openpyxl import Workbook

    given = [date(2025, 1, 2), datetime(2025, 1, 2, 3, 4, 5), time(3, 4, 5), timedelta(hours=30)]
    book = Workbook()
    book.active.append(["text", *"abcd"])
    book.active.append(["a story", *given])
    book.save(tmp_path / "t.xlsx")
    (row,) = open_source(tmp_path / "t.xlsx").rows()
    assert row == {"text": "a story", **dict(zip("abcd", given, strict=True))}
    with pytest.raises(DataError, match="row 1: it holds no text but a value of type date"):
        list(read_plain(tmp_path / "t.xlsx", ["text=a"]))


def far_cell(path: Path) -> Path:
    from openpyxl import Workbook

    book = Workbook()
    book.active["A1"], book.active["XFD1048576"] = "text", "far"
    book.save(path)
    assert path.stat().st_size < 20_000
    return path


def test_a_cell_far_away_does_not_end_the_process(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="one is far from the others"):
        texts(far_cell(tmp_path / "t.xlsx"))


@pytest.fixture
def little(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MOST_UNPACKED, "2MB")


@pytest.mark.usefixtures("little")
@pytest.mark.parametrize("name", ["t.csv.gz", "t.jsonl.gz", "t.json.gz", "t.xlsx"])
def test_what_unpacks_to_too_much_is_refused(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, many = tmp_path / name, b"text\n" + b"a story\n" * 500_000
    if name == "t.xlsx":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
            packed.writestr("xl/worksheets/sheet1.xml", many)
    else:
        rows = {"t.jsonl.gz": b'{"text": "a"}\n' * 300_000, "t.json.gz": b" " * 4_000_000}
        path.write_bytes(gzip.compress(rows.get(name, many)))
    with pytest.raises(DataError, match=r"unpacks to more than 2,000,000 bytes.*MOST_UNPACKED=8GB"):
        texts(path)
    if name == "t.csv.gz":
        monkeypatch.setenv(MOST_UNPACKED, "5 MB")
        assert len(texts(path)) == 500_000
        monkeypatch.setenv(MOST_UNPACKED, "much")
        with pytest.raises(OptionError, match="500MB or 8GB"):
            texts(path)


LONG = "a story " * 2_000
BOMBS: dict[str, tuple[dict[str, list[Any]], dict[str, Any]]] = {
    "a packed page": ({"text": [f"{i}{LONG}" for i in range(200)]}, {"compression": "zstd"}),
    "one text many times": ({"text": [LONG] * 1_000}, {}),
    "one text in a struct": ({"text": ["a"] * 1_000, "more": [{"in": LONG}] * 1_000}, {}),
    "one text in lists": ({"text": ["a"] * 1_000, "more": [[LONG]] * 1_000}, {}),
    "bytes": ({"text": ["a"] * 1_000, "more": [LONG.encode()] * 1_000}, {}),
    "one number many times": ({"text": ["a"], "more": [[7] * 3_000_000]}, {}),
    "over many row groups": ({"text": [LONG] * 1_000}, {"row_group_size": 10}),
}


@pytest.mark.usefixtures("little")
@pytest.mark.parametrize("bomb", BOMBS)
def test_parquet_that_unpacks_to_too_much_is_refused(tmp_path: Path, bomb: str) -> None:
    path, (columns, how) = tmp_path / "t.parquet", BOMBS[bomb]
    pq.write_table(pa.table(columns), path, **how)
    assert path.stat().st_size < 400_000
    with pytest.raises(DataError, match=r"unpacks to more than 2,000,000 bytes.*MOST_UNPACKED=8GB"):
        texts(path)


def test_parquet_within_the_bound_is_read_as_it_was_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "t.parquet"
    rows = [{"text": f"{LONG}{i % 7}", "n": i, "s": {"a": [None, "b"]}} for i in range(300)]
    rows[5]["text"] = None
    pq.write_table(pa.Table.from_pylist(rows), path, row_group_size=100)
    monkeypatch.setattr("portrayal.collect.sources._AT_ONCE", 100_000)
    assert list(open_source(path).rows()) == rows


def test_a_line_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("portrayal.collect.sources.LONGEST", 1000)
    for name, content in (
        ("t.jsonl", '{"text": "' + "a" * 2000),
        ("t.csv", 'text\n"' + "a\n" * 999),
    ):
        (tmp_path / name).write_text(content)
        with pytest.raises(DataError, match=r"1,000 characters|field larger than"):
            texts(tmp_path / name)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are POSIX's")
@pytest.mark.parametrize("name", ["t.csv", "t.txt"])
def test_a_named_pipe_is_read(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    os.mkfifo(path)
    content = STORY if name == "t.txt" else f"text\n{STORY}\n"
    writer = threading.Thread(target=path.write_text, args=(content, "utf-8"))
    writer.start()
    assert texts(path) == [STORY]
    writer.join()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are POSIX's")
@pytest.mark.parametrize(("name", "content"), [("pipe", STORY), ("t.jsonl", "{")])
def test_errors_name_the_pipe_and_not_its_copy(tmp_path: Path, name: str, content: str) -> None:
    path = tmp_path / name
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_text, args=(content, "utf-8"))
    writer.start()
    with pytest.raises(DataError, match=re.escape(str(path))) as refused:
        list(open_source(path).rows())
    writer.join()
    assert "portrayal-" not in str(refused.value).replace(str(path), "")


def test_the_reader_of_sheets_needs_nothing_of_the_package() -> None:
    reader = Path(sys.modules["portrayal.collect.sources"].__file__ or "").with_name("sheet.py")
    done = subprocess.run(
        [sys.executable, "-P", str(reader), "no.xlsx", "1000000000"],
        capture_output=True,
        check=True,
    )
    assert b"No such file" in done.stdout
    assert "portrayal" not in reader.read_text("utf-8")
