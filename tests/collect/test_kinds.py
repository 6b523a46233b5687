"""Files as people have them: each kind is read, or one line says what to do."""

import json
import logging
import zipfile

import pyarrow as pa
import pytest

from portrayal.collect.sources import open_source
from portrayal.errors import DataError

ROWS = [{"prompt": "Say, who?", "text": "Zoë met Søren."}, {"prompt": "And?", "text": "No one."}]
TABLE = pa.Table.from_pylist(ROWS)


def csv(sign, encoding="utf-8"):
    lines = [sign.join(ROWS[0]), *(sign.join(f'"{v}"' for v in row.values()) for row in ROWS)]
    return "\n".join(lines).encode(encoding)


LINES = "\n".join(json.dumps(row) for row in ROWS).encode()
READ = {
    "semicolons": ("t.csv", csv(";"), "semicolons"),
    "tabs": ("t.csv", csv("\t"), "tabs"),
    "tabs called txt": ("t.txt", csv("\t"), ""),
    "commas called txt": ("t.txt", csv(","), "commas"),
    "windows": ("t.csv", csv(";", "cp1252"), "Windows-1252"),
    "lines called txt": ("t.txt", LINES, ""),
    "lines called json": ("t.json", LINES, ""),
}


@pytest.mark.parametrize("kind", READ)
def test_a_kind_of_file_is_read_and_what_was_guessed_is_said(kind, tmp_path, caplog):
    name, content, said = READ[kind]
    (tmp_path / name).write_bytes(content)
    with caplog.at_level(logging.INFO, "portrayal"):
        source = open_source(tmp_path / name)
        rows = list(source.rows())
    assert source.columns == ("prompt", "text")
    assert rows == ROWS
    assert said in caplog.text
    assert bool(said) == bool(caplog.text)


def test_a_zip_with_one_table_is_read_and_one_with_two_is_named(tmp_path):
    path = tmp_path / "t.zip"
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr("data/t.csv", csv(";"))
        packed.writestr("readme.pdf", b"%PDF")
        packed.writestr("__MACOSX/._t.csv", b"\0")
    source = open_source(path)
    assert (source.name, list(source.rows())) == (str(path), ROWS)
    with zipfile.ZipFile(path, "a") as packed:
        packed.writestr("data/u.csv", csv(";"))
    with pytest.raises(DataError, match=r"found 2 \(data/t.csv, data/u.csv\). Unpack it"):
        open_source(path)
    path.write_bytes(b"PK no zip")
    with pytest.raises(DataError, match="not a readable archive"):
        open_source(path)


def test_tables_in_memory_are_read():
    assert list(open_source(TABLE).rows()) == ROWS
    polars = pytest.importorskip("polars")
    assert list(open_source(polars.from_arrow(TABLE)).rows()) == ROWS


def test_a_damaged_file_of_utf_8_is_no_file_of_windows(tmp_path):
    (tmp_path / "t.csv").write_bytes(csv(",").replace(b"one.", b"\xe9."))
    with pytest.raises(DataError, match="not valid CSV in UTF-8"):
        list(open_source(tmp_path / "t.csv").rows())
