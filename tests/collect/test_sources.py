"""Every format gives the same rows; what cannot be read is explained."""

import csv
import gzip
import json
import time

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from portrayal import registry
from portrayal.collect import texts
from portrayal.collect.sources import open_source
from portrayal.errors import DataError
from portrayal.run import Run

ROWS = [
    {"story": 'She said "wait", then left.\nA new line; done.', "model": "a", "n": "1"},
    {"story": "María — naïve, 日本", "model": "", "n": "2"},
    {"story": "plain", "model": "b", "n": "3"},
]


def write_csv(path, separator=",", encoding="utf-8"):
    with path.open("w", encoding=encoding, newline="") as stream:
        writer = csv.DictWriter(stream, list(ROWS[0]), delimiter=separator)
        writer.writeheader()
        writer.writerows(ROWS)


def write_excel(path):
    from openpyxl import Workbook

    book = Workbook()
    book.active.append(list(ROWS[0]))
    for row in ROWS:
        book.active.append(list(row.values()))
    book.create_sheet("notes").append(["not", "these"])
    book.save(path)


def lines():
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in ROWS)


def zipped(text):
    return gzip.compress(text.encode())


def write_csv_gz(path):
    plain = path.with_name("plain.csv")
    write_csv(plain)
    path.write_bytes(gzip.compress(plain.read_bytes()))
    plain.unlink()


FILES = {
    "t.csv": write_csv,
    "T.CSV": write_csv,
    "with-bom.csv": lambda path: write_csv(path, encoding="utf-8-sig"),
    "t.tsv": lambda path: write_csv(path, separator="\t"),
    "t.csv.gz": write_csv_gz,
    "t.jsonl": lambda path: path.write_text(lines(), encoding="utf-8"),
    "blank-lines.ndjson": lambda path: path.write_text(
        "\n" + lines().replace("\n", "\n\n"), encoding="utf-8"
    ),
    "t.jsonl.gz": lambda path: path.write_bytes(zipped(lines())),
    "with-bom.jsonl.gz": lambda path: path.write_bytes(zipped("\ufeff" + lines())),
    "t.json": lambda path: path.write_text(json.dumps(ROWS, indent=1), encoding="utf-8"),
    "t.json.gz": lambda path: path.write_bytes(zipped(json.dumps(ROWS))),
    "t.parquet": lambda path: pq.write_table(pa.Table.from_pylist(ROWS), path, row_group_size=1),
    "t.xlsx": write_excel,
}


@pytest.mark.parametrize("name", FILES)
def test_files_of_every_kind_give_the_same_rows(tmp_path, name):
    path = tmp_path / name
    FILES[name](path)
    for given in (path, str(path)):
        source = open_source(given)
        assert source.columns == ("story", "model", "n")
        assert [dict(row) for row in source.rows()] == ROWS
        assert list(source.rows()) == list(source.rows()), "each pass starts afresh"
    assert source.name == str(path)


TABLES = {
    "DataFrame": lambda: pd.DataFrame(ROWS),
    "DataFrame with an index": lambda: pd.DataFrame(ROWS).set_index(pd.Index([7, 8, 9])),
    "Arrow table": lambda: pa.Table.from_pylist(ROWS),
    "Arrow reader": lambda: pa.Table.from_pylist(ROWS).to_reader(),
    "list": lambda: ROWS,
    "generator": lambda: (row for row in ROWS),
}


@pytest.mark.parametrize("kind", TABLES)
def test_tables_of_every_kind_give_the_same_rows(kind):
    source = open_source(TABLES[kind]())
    kept = [{name: row[name] for name in ROWS[0]} for row in source.rows()]
    assert kept == ROWS
    assert set(source.columns) >= set(ROWS[0])
    assert len(list(source.rows())) == 3


def test_a_folder_joins_its_files_by_name(tmp_path):
    (tmp_path / "b.csv").write_text("story\ntwo\n")
    (tmp_path / "a.csv").write_text("story\none\n")
    (tmp_path / "readme.md").write_text("not a file of texts")
    assert [row["story"] for row in open_source(tmp_path).rows()] == ["one", "two"]
    (tmp_path / "c.csv").write_text("tale\nthree\n")
    with pytest.raises(DataError, match=r"c\.csv: its columns \(tale\) differ"):
        open_source(tmp_path)


def test_an_empty_folder_is_explained(tmp_path):
    with pytest.raises(DataError, match="holds no file of texts"):
        open_source(tmp_path)


def test_the_digest_is_that_of_the_content(tmp_path):
    one, two, other = tmp_path / "one.csv", tmp_path / "two.csv", tmp_path / "other.csv"
    one.write_text("story\na\n")
    two.write_text("story\na\n")
    other.write_text("story\nb\n")
    digests = [open_source(path).digest for path in (one, two, other)]
    assert digests[0] == digests[1] != digests[2]
    tables = [open_source(TABLES["DataFrame"]()).digest for _ in range(2)]
    assert tables[0] == tables[1]
    changed = pd.DataFrame(ROWS)
    changed.loc[2, "story"] = "Plain"
    assert open_source(changed).digest != tables[0]
    assert open_source(ROWS).digest != open_source(ROWS[:2]).digest
    digits = [open_source([{"story": value}]).digest for value in ("1", 1, None)]
    assert len(set(digits)) == 3


def test_columns_that_only_later_json_rows_have_are_found(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text('{"text": "a"}\n{"text": "b", "model": "m"}\n')
    assert open_source(path).columns == ("text", "model")
    assert open_source([{"text": "a"}, {"model": "m"}]).columns == ("text", "model")


BROKEN = {
    "absent": ("no.csv", None, "no such file"),
    "empty": ("t.csv", b"", "the file is empty"),
    "header only": ("t.csv", b"story,model\n", "no rows were found"),
    "empty array": ("t.json", b"[]", "no rows were found"),
    "other kind": ("t.docx", b"x", "files of kind '.docx' are not read"),
    "no kind": ("stories", b"x", "files of kind 'none' are not read"),
    "too many fields": ("t.csv", b"a,b\n1,2\n1,2,3\n", "line 3 has another number of fields"),
    "too few fields": ("t.csv", b"a,b\n1,2\n1\n", "line 3 has another number of fields"),
    "open quote": ("t.csv", b'a,b\n1,"2\n', "not valid CSV"),
    "damaged utf-8": ("t.csv", "a,b\né,2\n".encode() + b"\xe9,2\n", "not valid CSV in UTF-8"),
    "bad line": ("t.jsonl", b'{"a": 1}\n{"a": \n{"a": 3}\n', "line 2 is not valid JSON"),
    "a list in a line": (
        "t.jsonl",
        b'{"a": 1}\n[2]\n',
        "line 2: expected a JSON object, found list",
    ),
    "latin-1 lines": ("t.jsonl", '{"a": "é"}\n'.encode("latin-1"), "line 1 is not valid JSON"),
    "bad json": ("t.json", b'[{"a": 1},', "not valid JSON"),
    "object, not array": ("t.json", b'{"a": 1}', "expected a JSON array"),
    "number in array": ("t.json", b'[{"a": 1}, 2]', "item 2: expected a JSON object, found int"),
    "not parquet": ("t.parquet", b"PAR1 no", "not a readable Parquet file"),
    "not excel": ("t.xlsx", b"PK no", "not a readable spreadsheet"),
    "not gzip": ("t.jsonl.gz", b'{"a": 1}\n', "not valid JSON"),
    "cut gzip": ("t.csv.gz", gzip.compress(b"a,b\n1,2\n" * 99)[:-12], "not valid CSV"),
    "cut gzip array": ("t.json.gz", gzip.compress(b"[]" * 99)[:20], "not valid JSON"),
    "damaged gzip": ("t.csv.gz", gzip.compress(b"a,b\n1,2\n")[:12] + b"\xff" * 20, "not valid CSV"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_what_cannot_be_read_is_explained(tmp_path, case):
    name, content, message = BROKEN[case]
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(DataError) as raised:
        open_source(path)
    assert message in str(raised.value)
    assert str(path) in str(raised.value)


def test_a_bad_line_far_down_is_found_when_it_is_read(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text('{"a": 1}\n' * 6000 + "{\n")
    source = open_source(path)
    with pytest.raises(DataError, match="line 6001 is not valid JSON"):
        list(source.rows())


def test_a_column_that_first_stands_far_down_is_one(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text('{"a": 1}\n' * 1000 + '{"a": 1, "b": 2}\n')
    assert open_source(path).columns == ("a", "b")


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (7, "got int"),
        ([], "the list of rows is empty"),
        (["a story"], "row 1: expected a JSON object, found str"),
        ({"text": "a story"}, "row 1: expected a JSON object, found str"),
        (pd.DataFrame({"text": []}), "no rows"),
    ],
    ids=["number", "empty", "strings", "one mapping", "empty frame"],
)
def test_what_is_no_table_is_explained(texts, message):
    with pytest.raises(DataError, match=message):
        open_source(texts)


MOVING = pytest.mark.fault(
    "a file of texts is written to, cut off, swapped or removed while it is read",
    "it is refused in one line; no run holds rows of one state under the digest of another",
)


def _appended(path):
    with path.open("a") as stream:
        stream.write('{"story": "late", "model": "c"}\n')


def _cut(path):
    with path.open("r+b") as stream:
        stream.truncate(path.stat().st_size // 2)


def _swapped(path):
    other = path.with_name("other")
    other.write_bytes(path.read_bytes().replace(b"plain", b"brain"))
    other.replace(path)


def _overwritten(path):
    path.write_bytes(path.read_bytes().replace(b"plain", b"brain"))


CHANGES = [_appended, _cut, _swapped, _overwritten, lambda path: path.unlink()]


@MOVING
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("within", [True, False])
def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path, change, within):
    path = tmp_path / "t.jsonl"
    path.write_text(lines() * 5000, encoding="utf-8")
    source = open_source(path)
    rows = source.rows()
    if within:
        next(rows)
    time.sleep(0.02)  # clocks of file systems tick in hundredths of a second
    change(path)
    with pytest.raises((DataError, FileNotFoundError), match=r"changed while|No such file"):
        list(rows)


@MOVING
def test_an_import_of_a_file_that_changes_leaves_no_finished_texts(tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    path.write_text("text,prompt\n" + "A nurse met a cook.,one\n" * 300)

    def rows(reader, given):
        for number, row in enumerate(whole(reader, given)):
            if number == 100:
                time.sleep(0.02)
                _appended(path)
            yield row

    whole = texts.TextReader.read
    monkeypatch.setattr(texts.TextReader, "read", rows)
    run = Run(tmp_path / "r")
    run.path.mkdir()
    fields = registry.get("studies", "agency").fields
    with pytest.raises(DataError, match=r"t\.csv changed while it was read"):
        texts.import_texts(run, path, fields, ())
    assert not run.texts.note().get("complete")
    monkeypatch.undo()
    path.write_text("text,prompt\n" + "A nurse met a cook.,one\n" * 300)
    assert texts.import_texts(run, path, fields, ())["n_texts"] == 300
