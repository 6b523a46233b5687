"""Texts of a file: columns, clusters, outcomes, and errors."""

import io
import json

import pytest

from portrayal.collect.corpus import STDIN, file_corpus, read_plain
from portrayal.errors import DataError, OptionError


def rows(corpus):
    return [row for table in corpus.tables() for row in table.to_pylist()]


def test_columns_are_guessed_or_named() -> None:
    given = [{"story": "A tale.", "model": "m", "query": "Write.", "domain": "Love"}]
    corpus = file_corpus(given)
    (row,) = rows(corpus)
    assert (row["text"], row["model"], row["outcome"]) == ("A tale.", "m", "ok")
    assert corpus.prompts[row["prompt_id"]] == {"domain": "Love", "text": "Write."}
    assert corpus.cluster == "prompt"
    other = file_corpus([{"body": "A tale."}], {"text": "body"})
    assert rows(other)[0]["model"] == "unnamed"
    assert other.cluster == "text"


def test_a_second_pass_gives_the_same() -> None:
    corpus = file_corpus([{"text": f"Tale {i}.", "prompt": f"p{i % 3}"} for i in range(10)])
    assert rows(corpus) == rows(corpus)
    assert len(corpus.prompts) == 3


def test_a_prompt_of_two_domains_is_two_prompts() -> None:
    cells = {"text": "A tale.", "prompt": "Write.", "prompt_id": "p1"}
    corpus = file_corpus([{**cells, "domain": "Love"}, {**cells, "domain": "Labor"}])
    assert len({row["prompt_id"] for row in rows(corpus)}) == len(corpus.prompts) == 2


def test_blank_cells_are_blank() -> None:
    corpus = file_corpus([{"text": float("nan"), "model": None, "prompt": "p"}])
    (row,) = rows(corpus)
    assert (row["text"], row["model"], row["outcome"]) == ("", "unnamed", "empty")


def test_errors_name_the_row_and_the_column() -> None:
    with pytest.raises(DataError, match="row 2: outcome is 'fine'"):
        rows(file_corpus([{"text": "a", "outcome": "ok"}, {"text": "b", "outcome": "fine"}]))
    with pytest.raises(DataError, match="--column"):
        file_corpus([{"body": "A tale."}])


@pytest.mark.parametrize("name", ["bio.txt", "bio.md", "bio", "BIO.TXT"])
def test_a_plain_text_is_one_text(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(b"\xef\xbb\xbfAnn,\nBo\n")
    assert list(read_plain(path)) == [(name, "Ann,\nBo\n")]


def test_standard_input_is_one_text(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO("Zoë".encode())))
    assert list(read_plain(STDIN)) == [("-", "Zoë")]


def test_rows_of_a_table_with_their_ids_or_numbers(tmp_path):
    path = tmp_path / "bios.csv"
    path.write_text("id,text\nx,Ann\n,Bo\nz,\n", encoding="utf-8")
    assert list(read_plain(path)) == [("x", "Ann"), ("2", "Bo"), ("z", "")]


def test_columns_of_other_names(tmp_path):
    path = tmp_path / "bios.jsonl"
    path.write_text(json.dumps({"who": 7, "bio": "Ann"}) + "\n", encoding="utf-8")
    assert list(read_plain(path, ["text=bio", "text_id=who"])) == [("7", "Ann")]


@pytest.mark.parametrize(
    ("name", "content", "columns", "error", "words"),
    [
        ("none.txt", None, [], DataError, "no such file"),
        ("none.csv", None, [], DataError, "no such file"),
        ("blank.txt", b" \n", [], DataError, "no text in it"),
        ("bad.txt", b"Zo\xeb", [], DataError, "UTF-8"),
        ("a.csv", b"x\n1\n", [], DataError, "--column text=NAME"),
        ("a.csv", b"x\n1\n", ["text=y"], DataError, "no column 'y'"),
        ("a.csv", b"x\n1\n", ["model=x"], OptionError, "not a field that can be mapped"),
        ("a.txt", b"Ann", ["text=x"], OptionError, "has no columns"),
        ("a.pdf", b"Ann", [], DataError, "not read"),
    ],
)
def test_errors_say_what_to_do(tmp_path, name, content, columns, error, words):
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(error, match=words):
        list(read_plain(path, columns))
