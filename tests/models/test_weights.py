"""Weights of networks that were changed: refused in words, and before any library reads them."""

import json
import random
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from portrayal.annotate.agency.linear import read_linear
from portrayal.annotate.agency.loading import CARD, ENCODER, shipped_logit
from portrayal.annotate.agency.loading import WEIGHTS as AGENCY_WEIGHTS
from portrayal.annotate.people.reader import network
from portrayal.annotate.people.reader.reading import WEIGHTS
from portrayal.errors import DataError
from portrayal.models.loading import load_onnx, read_arrays
from support import needs

TAMPERED = pytest.mark.fault(
    "weights of a network (npz, ONNX, a tokenizer) are damaged, swapped or made to do harm",
    "they are refused in one line, those with a digest before any library reads them",
)
LINEAR = Path(network.__file__).parents[2] / "agency" / "linear.npz"


def _npz(path: Path, member: bytes, method: int = zipfile.ZIP_DEFLATED) -> None:
    with zipfile.ZipFile(path, "w", method) as packed:
        packed.writestr("table.npy", member)


def _header(shape: str, dtype: str = "'<f8'") -> bytes:
    words = f"{{'descr': {dtype}, 'fortran_order': False, 'shape': {shape}, }}".encode()
    return b"\x93NUMPY\x01\x00" + (len(words) + 1).to_bytes(2, "little") + words + b"\n"


def _pickled(path: Path) -> None:
    np.savez(path, table=np.array([{"a": 1}], dtype=object))


def _bomb(path: Path) -> None:
    _npz(path, _header("(3000000,)", "'|u1'") + bytes(3 * 10**6))


def _damaged(path: Path) -> None:
    content = bytearray(LINEAR.read_bytes())
    content[len(content) // 2 : len(content) // 2 + 400] = bytes(400)
    path.write_bytes(content)


HARM: dict[str, Callable[[Path], object]] = {
    "missing": lambda path: None,
    "empty": lambda path: path.write_bytes(b""),
    "no archive": lambda path: path.write_bytes(b"PK\x03\x04" + b"x" * 1000),
    "cut off": lambda path: path.write_bytes(LINEAR.read_bytes()[:-2000]),
    "changed within": _damaged,
    "pickled objects": _pickled,
    "more numbers than there are": lambda path: _npz(path, _header(f"({10**15},)")),
    "code in a header": lambda path: _npz(path, _header("__import__('os').getpid()")),
    "a header without an end": lambda path: _npz(path, _header("[" * 60_000)),
    "zeros": _bomb,
}  # fmt: skip


@TAMPERED
@pytest.mark.parametrize("harm", HARM)
def test_arrays_that_do_harm_are_refused(
    tmp_path: Path, harm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if harm == "zeros":
        monkeypatch.setattr("portrayal.models.loading._MOST_ARRAYS", 10**6)
    path = tmp_path / "linear.npz"
    HARM[harm](path)
    for read in (read_arrays, read_linear):
        with pytest.raises(DataError, match=r"linear\.npz"):
            read(path)


@TAMPERED
@pytest.mark.parametrize("seed", range(3))
def test_random_damage_to_a_linear_classifier_is_said(tmp_path: Path, seed: int) -> None:
    draw, path = random.Random(seed), tmp_path / "linear.npz"
    whole = LINEAR.read_bytes()
    refused = 0
    for _ in range(12):
        content = bytearray(whole)
        for _ in range(draw.randint(1, 20)):
            content[draw.randrange(len(content))] = draw.randrange(256)
        path.write_bytes(content)
        try:
            read_linear(path)
        except DataError:
            refused += 1
    assert refused > 8  # the others hit what nothing reads, such as the dates of an archive


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the reader that ships."""
    needs("onnxruntime", "tokenizers")
    folder = tmp_path_factory.mktemp("reader") / "weights"
    shutil.copytree(WEIGHTS, folder, ignore=shutil.ignore_patterns("pronouns"))
    return folder


def _flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 3] ^= 255
    path.write_bytes(content)


@TAMPERED
@pytest.mark.parametrize("name", ["encoder.onnx", "heads.npz", "words.npz", "tokenizer.json"])
def test_a_changed_reader_is_read_by_no_library(
    reader: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = (reader / name).read_bytes()
    monkeypatch.setattr(network, "load_onnx", lambda *_, **__: pytest.fail("it was read"))
    monkeypatch.setattr(network, "read_arrays", lambda _: pytest.fail("it was read"))
    try:
        _flip(reader / name)
        with pytest.raises(DataError, match="not those that the card names"):
            network.load_network(reader)
    finally:
        (reader / name).write_bytes(whole)


@TAMPERED
@pytest.mark.parametrize("name", ["encoder.onnx", "heads.npz", "words.npz", "tokenizer.json"])
def test_a_card_that_was_forged_as_well_ends_in_words(reader: Path, name: str) -> None:
    whole, card = (reader / name).read_bytes(), (reader / "reader.json").read_bytes()
    try:
        (reader / name).write_bytes(whole[: len(whole) // 2])
        facts = json.loads(card) | {"sha256": network.digest_of(reader)}
        (reader / "reader.json").write_text(json.dumps(facts), encoding="utf-8")
        with pytest.raises(DataError):
            network.load_network(reader)
    finally:
        (reader / name).write_bytes(whole)
        (reader / "reader.json").write_bytes(card)


@TAMPERED
@pytest.mark.parametrize("card", ["", "[]", "{}", '{"sha256": 1}', "[" * 100_000])
def test_a_card_that_is_none_ends_in_words(reader: Path, card: str) -> None:
    whole = (reader / "reader.json").read_bytes()
    try:
        (reader / "reader.json").write_text(card, encoding="utf-8")
        with pytest.raises(DataError):
            network.load_network(reader)
    finally:
        (reader / "reader.json").write_bytes(whole)


@TAMPERED
def test_the_shipped_transformer_is_read_after_its_digest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    needs("onnxruntime", "tokenizers")
    folder = shutil.copytree(AGENCY_WEIGHTS, tmp_path / "w")
    _flip(folder / ENCODER)
    monkeypatch.setattr(
        "portrayal.annotate.agency.loading.load_onnx", lambda *_, **__: pytest.fail("it was read")
    )
    with pytest.raises(DataError, match="not those that the card names"):
        shipped_logit(folder)
    (folder / CARD).write_text("[]")
    with pytest.raises(DataError, match="no model could be read"):
        shipped_logit(folder)


@TAMPERED
@pytest.mark.parametrize("content", [b"", b"\x08\x01garbage", b"\x00" * 10_000])
def test_an_exported_classifier_that_is_none_is_refused(tmp_path: Path, content: bytes) -> None:
    needs("onnxruntime", "tokenizers")
    (tmp_path / "model.onnx").write_bytes(content)
    with pytest.raises(DataError, match="no exported classifier could be read"):
        load_onnx(tmp_path / "model.onnx", WEIGHTS / "tokenizer.json")
