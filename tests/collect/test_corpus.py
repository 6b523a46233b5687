"""Texts of a file: columns, clusters, outcomes, and errors."""

import pytest

from portrayal.collect.corpus import file_corpus
from portrayal.errors import DataError


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


def test_blank_cells_are_blank() -> None:
    corpus = file_corpus([{"text": float("nan"), "model": None, "prompt": "p"}])
    (row,) = rows(corpus)
    assert (row["text"], row["model"], row["outcome"]) == ("", "unnamed", "empty")


def test_errors_name_the_row_and_the_column() -> None:
    with pytest.raises(DataError, match="row 2: outcome is 'fine'"):
        rows(file_corpus([{"text": "a", "outcome": "ok"}, {"text": "b", "outcome": "fine"}]))
    with pytest.raises(DataError, match="--column"):
        file_corpus([{"body": "A tale."}])
