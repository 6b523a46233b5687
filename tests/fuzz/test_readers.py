"""Readers of files under random damage: each reads, or says in one line what is wrong.

A target takes bytes. What it is given is a file of `corpus/<target>/` after a few changes that
Hypothesis draws. Each target runs for `PORTRAYAL_FUZZ_SECONDS`, half a second by default and five
minutes in `make test EXTRAS=1`. What once failed is kept in the corpus, whose files all run first.
"""

import os
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from portrayal.collect.ask.journal import Journal
from portrayal.collect.promptfile import read_prompts
from portrayal.collect.sources import open_source
from portrayal.errors import PortrayalError
from portrayal.gating.policy import read_policy
from portrayal.raters.sheets import codebook
from portrayal.reference.factors import load_factor
from portrayal.registry import get
from portrayal.run.manifest import Manifest
from portrayal.studies.own import read_study

SECONDS = float(os.environ.get("PORTRAYAL_FUZZ_SECONDS", "0.5"))
LONGEST = 5.0
"""Seconds of the processor that one small file may take."""
CORPUS = Path(__file__).parent / "corpus"
PIECES = [
    b'"', b"'", b",", b"\n", b"\r", b"\0", b"[", b"]", b"{", b"}", b"=", b".", b"\\", b"\x1b[31m",
    b"\xff\xfe", b"\xef\xbb\xbf", b"1e999", b"-1", b"NaN", b"nan", b"null", b"true", b"../",
    b'"""', b"\xe2\x80\xae", b"\\ud800", b"9" * 400, b"PAR1", b"PK\x03\x04", b"\x1f\x8b",
    b"[" * 3000, b'{"a":' * 3000,
]  # fmt: skip


def _rows(path: Path) -> None:
    list(islice(open_source(path).rows(), 1000))


def _prompts(path: Path) -> None:
    read_prompts(path, get("prompts", "laissez-faire").fields)


def _journal(path: Path) -> None:
    book = Journal(path, path.parent)
    try:
        rows = [row["text"] for row in book.rows()]
        assert all(each.startswith("Story") for each in rows), "a line that was changed is believed"
        book.append({"key": "new", "text": "Story"})
    finally:
        book.close()
    again = Journal(path, path.parent)
    assert len(list(again.rows())) == len(rows) + 1
    again.close()


def _manifest(path: Path) -> object:
    """What is changed is no manifest: none but the whole one of the corpus is believed."""
    content = Manifest(path.parent).content()
    whole = (CORPUS / "manifest" / "plain.json").read_bytes()
    assert (content is not None) == (path.read_bytes() == whole)
    return content


TARGETS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "csv": ("texts.csv", _rows),
    "jsonl": ("texts.jsonl", _rows),
    "eval": ("texts.eval", _rows),
    "json": ("texts.json", _rows),
    "parquet": ("texts.parquet", _rows),
    "zip": ("texts.zip", _rows),
    "gz": ("texts.csv.gz", _rows),
    "xlsx": ("texts.xlsx", _rows),
    "prompts": ("prompts.toml", _prompts),
    "study": ("study.toml", read_study),
    "factor": ("factor.toml", load_factor),
    "policy": ("policy.toml", read_policy),
    "codebook": ("codebook.toml", codebook),
    "journal": ("journal.jsonl", _journal),
    "manifest": ("manifest.json", _manifest),
}


def _change(data: bytes, place: float, kind: int, piece: bytes, length: int) -> bytes:
    at = int(place * len(data))
    end = min(len(data), at + length)
    if kind == 0:
        return data[:at] + piece + data[at:]
    if kind == 1:
        return data[:at] + data[end:]
    if kind == 2:
        return data[:at] + piece[: end - at] + data[end:]
    return data[:end] + data[at:]  # a part twice


def _check(data: bytes, folder: Path, name: str, read: Callable[[Path], object]) -> None:
    path = folder / name
    path.write_bytes(data)
    began = time.process_time()
    try:
        read(path)
    except PortrayalError as error:
        said = str(error).strip()
    else:
        said = "read"
    assert said, "an error without words"
    assert time.process_time() - began < LONGEST, "it took too long"


READERS = pytest.mark.fault(
    "files of any kind with random damage (tables, TOML, journals, manifests)",
    "they are read, or refused with words; nothing that was changed is believed",
)


@READERS
@pytest.mark.parametrize("target", TARGETS)
def test_a_damaged_file_is_read_or_refused(target: str, tmp_path: Path) -> None:
    name, read = TARGETS[target]
    corpus = [path.read_bytes() for path in sorted((CORPUS / target).iterdir())]
    for data in corpus:
        _check(data, tmp_path, name, read)
    changes = st.lists(
        st.tuples(
            st.floats(0, 1), st.integers(0, 3),
            st.one_of(st.sampled_from(PIECES), st.binary(max_size=8)), st.integers(1, 64),
        ), min_size=1, max_size=5,
    )  # fmt: skip
    until, number = time.monotonic() + SECONDS, 0
    while time.monotonic() < until:

        @seed(number)
        @settings(
            max_examples=100,
            database=None,
            deadline=None,
            derandomize=False,
            suppress_health_check=list(HealthCheck),
        )
        @given(st.sampled_from(corpus), changes)
        def run(data: bytes, drawn: list[tuple[float, int, bytes, int]]) -> None:
            for each in drawn:
                data = _change(data, *each)
            _check(data, tmp_path, name, read)

        run()
        number += 1


def test_every_file_of_the_corpus_has_a_target() -> None:
    assert {path.name for path in CORPUS.iterdir()} == set(TARGETS)
