"""A reader with a vocabulary of words and states that are drawn, so that nothing is downloaded."""

from types import SimpleNamespace

import numpy as np
import pytest

from portrayal.annotate.people.reader.network import Embeddings, Network, Vocabulary, vocabulary_of

WIDTH, ATTENDED = 12, 128


class Words:
    """Every word and mark is one token."""

    def __init__(self) -> None:
        self.ids: dict[str, int] = {"[PAD]": 0, "[CLS]": 1, "[SEP]": 2}

    def __call__(self, text: str) -> list[int]:
        pieces = "".join(c if c.isalnum() else f" {c} " for c in text.lower()).split()
        return [self.ids.setdefault(piece, len(self.ids)) for piece in pieces]


class Session:
    """An encoder whose states are the embeddings that it reads; with "needed", of those alone."""

    def __init__(self, *inputs: str) -> None:
        self.inputs = inputs or ("words", "attention_mask", "token_type_ids")
        self.batches: list[int] = []

    def get_inputs(self) -> list[SimpleNamespace]:
        return [SimpleNamespace(name=name) for name in self.inputs]

    def run(self, _: object, given: dict[str, np.ndarray]) -> list[np.ndarray]:
        assert set(given) == set(self.inputs)
        assert given["words"].shape[:2] == given["token_type_ids"].shape
        self.batches.append(len(given["words"]))
        needed = given.get("needed", [slice(None)])
        return [given["words"][:, needed[0]]]


def words() -> Embeddings:
    table = np.random.default_rng(0).integers(0, 256, size=(5000, WIDTH), dtype=np.uint8)
    return Embeddings(table, np.float32(0.02), np.float32(128))


def heads() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(1)
    shapes = {
        "role.0": (WIDTH, 2 * WIDTH),
        "role.2": (2, WIDTH),
        "null": (2, WIDTH),
        "pk": (ATTENDED, WIDTH),
        "pq": (ATTENDED, WIDTH),
        "pn": (1, WIDTH),
        "gen.0": (WIDTH, 2 * WIDTH + 3),
        "gen.3": (4, WIDTH),
        "slot": (2 * WIDTH, WIDTH),
    }
    made = {f"{name}.weight": rng.normal(size=shape) for name, shape in shapes.items()}
    return made | {f"{name}.bias": rng.normal(size=shape[0]) for name, shape in shapes.items()}


@pytest.fixture
def vocabulary() -> Vocabulary:
    return vocabulary_of(Words(), 1, 2)


@pytest.fixture
def network(vocabulary: Vocabulary) -> Network:
    return Network(Session(), vocabulary, words(), heads(), {})
