"""Hostile input files times the commands that read them: no traceback, nothing misread in silence.

Each file holds the story once, or not at all; a command reads it and prints or writes the story as
it stands, or refuses in one line with status 2.
"""

import csv
import gzip
import json
import os
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from e2e.conftest import Portrayal
from portrayal.collect import import_texts
from portrayal.collect.corpus import file_corpus, read_plain
from portrayal.collect.sources import MOST_UNPACKED
from portrayal.collect.tables import FORMULAS
from portrayal.errors import DataError
from portrayal.raters.labels import read_labels
from portrayal.raters.sheets import codebook
from portrayal.run import Run, read_rows
from portrayal.studies.laissez_faire import FIELDS, prompts
from support import matrix

STORY = "María Chen met her colleague José. She thanked him."
COLUMNS = ("prompt_id", "text", "model")
PROMPT, MODEL = "learning-neutral-arts", "m"


def row(**more: Any) -> dict[str, Any]:
    return {"prompt_id": PROMPT, "text": STORY, "model": MODEL} | more


def csv_of(*rows: str, head: str = "prompt_id,text,model") -> str:
    return "\n".join([head, *rows, ""])


def plain(text: str = STORY) -> str:
    return f"{PROMPT},{text},{MODEL}"


def bench(path: Path, content: str | bytes) -> None:
    path.write_bytes(content.encode() if isinstance(content, str) else content)


def parquet(path: Path, **columns: Any) -> None:
    table = {"prompt_id": pa.array([PROMPT]), "text": pa.array([STORY]), "model": pa.array([MODEL])}
    pq.write_table(pa.table(table | columns), path)


def sheet(path: Path, *rows: list[Any], far: bool = False) -> None:
    from openpyxl import Workbook

    book = Workbook()
    for each in rows or [list(COLUMNS), [PROMPT, STORY, MODEL]]:
        book.active.append(each)
    if far:
        book.active["XFD1048576"] = "far"
    book.save(path)


def cut(make: Callable[[Path], None], keep: float) -> Callable[[Path], None]:
    def made(path: Path) -> None:
        make(path)
        content = path.read_bytes()
        path.write_bytes(content[: int(len(content) * keep)])

    return made


def bomb(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("xl/worksheets/sheet1.xml", b" " * 20_000_000)


LINE = json.dumps(row())
DEEP = "[" * 50_000 + "]" * 50_000
READ: dict[str, str | bytes | Callable[[Path], None]] = {
    "plain.csv": csv_of(plain()),
    "mark.csv": ("\ufeff" + csv_of(plain())).encode(),
    "windows.csv": csv_of(plain()).replace("\n", "\r\n"),
    "utf-16.csv": csv_of(plain()).encode("utf-16"),
    "utf-16.tsv": csv_of(plain()).replace(",", "\t").encode("utf-16"),
    "utf-16.jsonl": LINE.encode("utf-16"),
    "index.csv": csv_of(f"0,{plain()}", head=",prompt_id,text,model"),
    "spaces.csv": csv_of(plain(), head=" Prompt ID ,TEXT, Model "),
    "plain.csv.gz": gzip.compress(csv_of(plain()).encode()),
    "half.jsonl": LINE.replace("thanked", "\\ud800thanked"),
    "pair.jsonl": LINE.replace("thanked", "\\ud83d\\ude00 thanked"),
    "nested.jsonl": json.dumps(row(other={"a": [{"b": None}]})),
    "big-number.jsonl": json.dumps(row(other=10**300)),
    "nan.json": "[" + LINE.replace("}", ', "other": NaN}') + "]",
    "nul.jsonl": LINE.replace("thanked", "\\u0000thanked"),
    "formula.csv": csv_of(plain("=1+1|x! " + STORY)),
    "escape.jsonl": LINE.replace("thanked", "\\u001b[31mthanked"),
    "turned.jsonl": LINE.replace("thanked", "\\u202ethanked"),
    "plain.parquet": parquet,
    "index.parquet": lambda path: parquet(path, __index_level_0__=pa.array([0])),
    "other-bytes.parquet": lambda path: parquet(path, other=pa.array([b"\xff\xfe"])),
    "large.parquet": lambda path: parquet(path, text=pa.array([STORY], pa.large_string())),
    "category.parquet": lambda path: parquet(path, text=pa.array([STORY]).dictionary_encode()),
    "plain.xlsx": sheet,
    "latin-1.csv": csv_of(plain()).encode("latin-1"),
}
REFUSED: dict[str, str | bytes | Callable[[Path], None]] = {
    "empty.csv": "",
    "header.csv": csv_of(),
    "no-mark.csv": csv_of(plain()).encode("utf-16-le"),
    "no-mark.jsonl": LINE.encode("utf-16-be"),
    "twice.csv": csv_of(f"{plain()},another", head="prompt_id,text,model,text"),
    "alike.csv": csv_of(f"{plain()},another", head="prompt_id,text,model,Text"),
    "twice.jsonl": LINE.replace("}", ', "text": "another"}'),
    "twice.xlsx": lambda path: sheet(path, [*COLUMNS, "text"], [PROMPT, STORY, MODEL, "another"]),
    "short.csv": csv_of(plain(), PROMPT),
    "long.csv": csv_of(f"{plain()},more"),
    "open.csv": csv_of(f'{PROMPT},"{STORY}'),
    "binary.csv": bytes(range(256)) * 20,
    "picture.csv": b"\x89PNG\r\n\x1a\n" + bytes(100),
    "number.jsonl": json.dumps(row(text=7)),
    "list.jsonl": json.dumps(row(text=[STORY])),
    "object.jsonl": json.dumps(row(text={"a": STORY})),
    "truth.jsonl": json.dumps(row(text=True)),
    "deep.jsonl": LINE.replace('"m"', DEEP),
    "deep.json": DEEP,
    "digits.jsonl": LINE.replace('"m"', "1" * 5000),
    "one-object.json": LINE,
    "cut.json": f"[{LINE[:-9]}",
    "text.jsonl": "not json\n",
    "struct.parquet": lambda path: parquet(path, text=pa.array([{"a": STORY}])),
    "bytes.parquet": lambda path: parquet(path, text=pa.array([STORY.encode()])),
    "number.parquet": lambda path: parquet(path, text=pa.array([1.5])),
    "late.parquet": lambda path: parquet(path, at=pa.array([400_000_000_000], pa.timestamp("s"))),
    "cut.parquet": cut(parquet, 0.5),
    "start.parquet": cut(parquet, 0.01),
    "text.parquet": "prompt_id,text\n",
    "far.xlsx": lambda path: sheet(path, far=True),
    "bomb.xlsx": bomb,
    "cut.xlsx": cut(sheet, 0.5),
    "empty.xlsx": lambda path: sheet(path, [None]),
    "number.xlsx": lambda path: sheet(path, list(COLUMNS), [PROMPT, 7, MODEL]),
    "bomb.csv.gz": gzip.compress(csv_of(plain("a" * 20_000_000)).encode()),
    "bomb.jsonl.gz": gzip.compress(b'{"text": "' + b"a" * 20_000_000),
    "bomb.json.gz": gzip.compress(b"[" + b" " * 20_000_000),
    "cut.csv.gz": gzip.compress(csv_of(*[plain()] * 999).encode())[:-20],
    "not.csv.gz": csv_of(plain()),
    "kind.docx": "text",
}


@pytest.fixture(autouse=True)
def bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MOST_UNPACKED, "10MB")


Files = dict[str, "str | bytes | Callable[[Path], None]"]


def made(folder: Path, files: Files) -> Iterator[Path]:
    """Write the files one by one."""
    for name, content in files.items():
        path = folder / name
        content(path) if callable(content) else bench(path, content)
        yield path


def as_read(story: str) -> str:
    """The story without what some files add to it on purpose."""
    for added in ("\ufffd", "\U0001f600 ", "\0", "=1+1|x! ", "\x1b[31m", "\u202e"):
        story = story.replace(added, "")
    return story


READERS: dict[str, Callable[[Path], tuple[object, ...]]] = {
    "people": lambda path: ("find", "people", "--texts", path, "--format", "json"),
    "people to a file": lambda path: ("find", "people", "--texts", path, "--out", "people.csv"),
    "audit": lambda path: ("audit", "laissez-faire", "--texts", path, "--out", "run"),
    "words": lambda path: ("find", "words", "--texts", path, "--by", "model"),
    "score": lambda path: ("score", "people", "--hand-labels", path),
    "cues": lambda path: ("find", "cues", "--texts", path),
}


@pytest.mark.parametrize("command", matrix(READERS))
def test_what_cannot_be_read_is_refused_in_one_line(
    inside: Portrayal, tmp_path: Path, command: str
) -> None:
    for path in made(tmp_path, REFUSED):
        done = inside(*READERS[command](path))
        assert (path.name, done.status) == (path.name, 2), done
        done.refused()
        assert not (tmp_path / "people.csv").exists()
        assert not (tmp_path / "run").exists() or not list((tmp_path / "run").glob("*.parquet"))


OTHERS: dict[str, bytes] = {
    "deep": b"a = " + DEEP.encode(),
    "latin-1": 'a = "\u00e9"'.encode("latin-1"),
    "utf-16": 'a = "b"'.encode("utf-16"),
    "binary": bytes(range(256)),
    "cut": b"a = ",
}


@pytest.mark.parametrize("kind", matrix(OTHERS))
@pytest.mark.parametrize(
    ("ending", "command"),
    [
        ("toml", ("list", "prompts", "laissez-faire", "--prompts")),
        ("toml", ("find", "cues", "--texts", "ok.csv", "--list")),
        ("csv", ("find", "cues", "--texts", "ok.csv", "--list")),
        ("toml", ("gate", "run")),
    ],
    ids=["prompts", "cues", "table of cues", "policy"],
)
def test_other_files_than_texts_are_refused_in_one_line(
    inside: Portrayal, tmp_path: Path, kind: str, ending: str, command: tuple[str, ...]
) -> None:
    bench(tmp_path / "ok.csv", csv_of(plain()))
    bench(tmp_path / f"given.{ending}", OTHERS[kind])
    inside(*command, f"given.{ending}").refused()


@pytest.mark.parametrize("kind", matrix(OTHERS))
def test_codebooks_and_label_files_are_refused_in_one_line(tmp_path: Path, kind: str) -> None:
    bench(tmp_path / "given.json", OTHERS[kind])
    with pytest.raises(DataError):
        codebook(tmp_path / "given.json")
    with pytest.raises(DataError):
        read_labels(tmp_path / "given.json")


def test_what_can_be_read_is_read_as_it_stands(inside: Portrayal, tmp_path: Path) -> None:
    for path in made(tmp_path, READ):
        done = inside("find", "people", "--texts", path, "--format", "json").ok()
        found = [one["first"] for one in json.loads(done.out)["people"] if one["first"]]
        assert found == ["María", "José"], (path.name, found)
        read = [[one.text for one in read_plain(path)]]
        read += [table["text"].to_pylist() for table in file_corpus(path).tables()]
        run = Run(tmp_path / "run")
        import_texts(run, path, FIELDS, prompts(), replace=True)
        rows = list(read_rows(run, ["prompt_id", "text", "model"]))
        read.append([one["text"] for one in rows])
        assert [[as_read(text) for text in each] for each in read] == [[STORY]] * 3, path.name
        assert (rows[0]["prompt_id"], rows[0]["model"]) == (PROMPT, MODEL), path.name


def test_people_are_written_without_formulas(inside: Portrayal, tmp_path: Path) -> None:
    bench(tmp_path / "t.jsonl", json.dumps({"id": "=cmd()", "text": STORY}))
    inside("find", "people", "--texts", "t.jsonl", "--out", "people.csv").ok()
    cells = [
        c
        for line in csv.reader((tmp_path / "people.csv").read_text("utf-8").splitlines())
        for c in line
    ]
    assert "'=cmd()" in cells
    assert not [cell for cell in cells if cell.startswith(FORMULAS)]


@pytest.mark.parametrize("locale", ["cp1252", "latin-1", "ascii"])
def test_what_is_printed_is_right_in_any_encoding(
    portrayal: Portrayal, tmp_path: Path, locale: str
) -> None:
    story = STORY.replace("José", "明 José \U0001f600")
    bench(tmp_path / "t.jsonl", json.dumps({"text": story, "id": "明"}))
    if locale == "ascii":
        table = portrayal(
            "find", "people", "--texts", "t.jsonl", PYTHONIOENCODING=locale, PYTHONUTF8="0"
        ).ok()
        assert "\\u660e" in table.out
    told = portrayal(
        "find",
        "people",
        "--texts",
        "t.jsonl",
        "--format",
        "json",
        PYTHONIOENCODING=locale,
        PYTHONUTF8="0",
    ).ok()
    assert {one["text_id"] for one in json.loads(told.out)["people"]} == {"明"}


@pytest.mark.skipif(os.name != "posix", reason="locales of POSIX")
def test_any_letters_stand_in_names_of_files(portrayal: Portrayal, tmp_path: Path) -> None:
    c = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    bench(tmp_path / "Erzählung 明.csv", csv_of(plain()))
    for out in ("leute ä.csv", "lauf ä"):
        command = ("find", "people") if out.endswith("csv") else ("audit", "laissez-faire")
        done = portrayal(*command, "--texts", "Erzählung 明.csv", "--out", out, **c).ok()
        assert (tmp_path / out).exists(), done
    portrayal("find", "people", "--texts", "Erzählung 明.tsv", **c).refused(
        "Erzählung 明.tsv: there is no such file"
    )
