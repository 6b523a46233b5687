"""The documents of a run as bags of words: counts of word numbers, in flat arrays."""

import hashlib
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from portrayal.errors import DataError, MissingExtraError
from portrayal.run.directory import Run
from portrayal.run.reading import read_prompts, read_shards

Floats = npt.NDArray[np.floating[Any]]
Ints = npt.NDArray[np.integer[Any]]


Bags: TypeAlias = csr_array
"""Documents as bags of words: a row for each, a column for each word, how often it occurs."""


def bags_of(documents: Iterable[npt.ArrayLike], n_words: int) -> Bags:
    """Count the word numbers of each document; negative numbers are left out."""
    parts = [np.asarray(document, dtype=np.int64) for document in documents]
    word = np.concatenate([np.zeros(0, dtype=np.int64), *parts])
    owner = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    in_model = word >= 0
    return count_words(owner[in_model], word[in_model], (len(parts), n_words))


def count_words(owner: Ints, word: Ints, shape: tuple[int, int]) -> Bags:
    """Count words, shape (m,), by the document that holds them, (m,): a matrix of `shape`."""
    bags = csr_array((np.ones(len(word), np.float32), (owner, word)), shape=shape)
    bags.sum_duplicates()
    return bags


LEMMATISER = "lemminflect"
"""What turns a form into its lemma; its version is kept with every model."""

# Clitics are words: the paper keeps stop words
_TOKEN = re.compile(r"[^\W_]+|['’](?:s|t|re|ve|ll|d|m)(?![^\W_])")
_INFLECTED = ("ing", "ed", "s")
_PARTS_OF_SPEECH = ("VERB", "AUX", "NOUN", "ADJ", "ADV")


@cache
def lemmatiser() -> Callable[[str], dict[str, tuple[str, ...]]]:
    """Return the function of a form to its lemmas by part of speech.

    Raises
    ------
    MissingExtraError
        When lemminflect is not installed.
    """
    try:
        from lemminflect import getAllLemmas
    except ImportError as error:
        raise MissingExtraError(
            f"topics need {LEMMATISER}, which is not installed. "
            'Install it with: pip install "portrayal[news]"'
        ) from error
    return cast(Callable[[str], dict[str, tuple[str, ...]]], getAllLemmas)


@cache
def lemma_of(form: str) -> str:
    """Return one lemma of a form, without a tagger: a base form stays, others follow their verb.

    "number" stays though "numb" has it as its comparative; "running" follows "run" though it is
    a noun too; clitics stay, as "'s" is both "is" and a genitive.
    """
    lemmas = lemmatiser()(form)
    options = [lemmas[part][0] for part in _PARTS_OF_SPEECH if part in lemmas]
    stays = not options or form.startswith("'") or not form.isalpha()
    stays = stays or (form in options and not form.endswith(_INFLECTED))
    return form if stays else options[0]


def lemmas_of(text: str) -> list[str]:
    """Return the lemmas of a text, in order; marks and signs are left out."""
    return list(map(lemma_of, forms(text)))


def forms(text: str) -> list[str]:
    """Return the lower-cased forms of a text; "China's" gives "china" and "'s"."""
    return _TOKEN.findall(text.lower().replace("’", "'"))


MIN_DOCUMENTS = 2
"""Documents a word must stand in to be part of the vocabulary."""

MAX_WORDS = 100_000
"""Words of the vocabulary at most: those in most documents."""

_HELD_OUT = 0.2


class TooFewTextsError(DataError):
    """The texts share too few words for topics."""


@dataclass(frozen=True, eq=False)
class TopicCorpus:
    """The readable texts of a run and of its reference.

    Attributes
    ----------
    words
        The vocabulary, sorted.
    bags
        One bag for each text, in the order of a hash of its id: shuffled, and the same whatever the
        shards.
    held_out
        Whether the text belongs to a pair that is held out, shape (n,): a fifth of the pairs, so
        that no held-out text has its original, or another version of it, among the fitted.
    """

    words: tuple[str, ...]
    bags: Bags
    held_out: np.ndarray[tuple[int], np.dtype[np.bool_]]

    @property
    def word_count(self) -> Floats:
        """How often each word occurs, shape (V,)."""
        return np.asarray(self.bags.sum(axis=0, dtype=np.float64))


def read_corpus(run: Run, seed: int) -> TopicCorpus:
    """Read every text with the outcome "ok", the reference's too.

    Raises
    ------
    TooFewTextsError
        When there are fewer than two texts with words, or no word stands in two texts.
    """
    numbers: dict[str, int] = {}
    documents: list[Ints] = []
    keys: list[bytes] = []
    pairs: list[bytes] = []
    for side, stage, prompts in (
        ("text", run.texts, run.prompts_path),
        ("reference", run.reference, run.reference_prompts_path),
    ):
        strata = read_prompts(prompts, only=("pair",)) if stage.parts() else {}
        for (table,) in read_shards(stage, ["text_id", "prompt_id", "text", "outcome"]):
            for row in table.to_pylist():
                if row["outcome"] == "ok":
                    words = lemmas_of(row["text"])
                    codes = [numbers.setdefault(word, len(numbers)) for word in words]
                    documents.append(np.array(codes, dtype=np.int32))
                    # A hash shuffles the documents, in whose order topics are learnt
                    keys.append(_hash(seed, side, row["text_id"]))
                    # Prompts without a pair are pairs of their own
                    pair = strata[row["prompt_id"]].get("pair", row["prompt_id"])
                    pairs.append(_hash(seed, "pair", pair))
    bags = bags_of(documents, len(numbers))
    # Documents left without a word are no documents of the fit
    vocabulary, bags = _prune(list(numbers), bags)
    order = np.array(
        sorted(np.flatnonzero(np.diff(bags.indptr)).tolist(), key=keys.__getitem__), dtype=np.int64
    )
    if len(order) < 2 or not vocabulary:
        raise TooFewTextsError(
            f"topics need at least two texts that share words; {len(order)} of {len(keys)} "
            "readable texts hold a word that another holds"
        )
    # Of hashes the smallest are a random fifth
    held_pairs = set(sorted(set(pairs))[: max(1, round(_HELD_OUT * len(set(pairs))))])
    held_out = np.array([pairs[i] in held_pairs for i in order], dtype=bool)
    return TopicCorpus(vocabulary, bags[order], held_out)


def _hash(seed: int, *words: str) -> bytes:
    return hashlib.blake2b("\x1f".join((str(seed), *words)).encode(), digest_size=16).digest()


def _prune(words: list[str], bags: Bags) -> tuple[tuple[str, ...], Bags]:
    """Keep the words of the vocabulary, and number them in their sorted order."""
    in_documents = np.bincount(bags.indices, minlength=len(words))
    frequent = [i for i in range(len(words)) if in_documents[i] >= MIN_DOCUMENTS]
    # Ties go by spelling, as numbers depend on the order of texts
    frequent.sort(key=lambda i: (-int(in_documents[i]), words[i]))
    vocabulary = sorted(frequent[:MAX_WORDS], key=lambda i: words[i])
    pruned = bags[:, vocabulary]
    pruned.sort_indices()
    return tuple(words[i] for i in vocabulary), pruned
