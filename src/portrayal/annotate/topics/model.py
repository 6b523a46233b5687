"""Documents as bags of words, and a fitted topic model: on disk, over documents and a run's texts.

On disk it is one file of plain arrays and JSON, so that loading one executes nothing. scikit-learn
infers a document's topics from equal weights on, so that they depend on nothing but the document.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.special import psi

from portrayal.errors import DataError
from portrayal.models.loading import read_arrays
from portrayal.run.directory import Run, read_prompts, read_shards
from portrayal.run.files import replacing
from portrayal.validate import from_extra

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
    with from_extra("news", f"topics need {LEMMATISER}"):
        from lemminflect import getAllLemmas
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


def allocation(n_topics: int, **settings: Any) -> Any:
    """Return scikit-learn's model of so many topics, which has read nothing yet.

    As in gensim, which the paper used, both priors are 1 / K, and a document is settled after 50
    updates or where its topics change by less than .001 on average.

    Raises
    ------
    MissingExtraError
        When scikit-learn is not installed.
    """
    with from_extra("news", "topics need scikit-learn"):
        from sklearn.decomposition import LatentDirichletAllocation
    # One process: several would add what documents give to topics in another order
    return LatentDirichletAllocation(
        n_topics, max_doc_update_iter=50, mean_change_tol=0.001, n_jobs=1, **settings
    )


RELEVANCE = 0.6
"""Weight of a word's probability against its lift, the optimum of Sievert and Shirley 2014."""


@dataclass(frozen=True, eq=False)
class TopicModel:
    """A latent Dirichlet allocation of K topics over V words.

    Attributes
    ----------
    words
        The vocabulary, sorted.
    topics
        lambda, the variational Dirichlet of each topic's words, shape (K, V).
    word_count
        How often each word stands in the texts that were fitted, shape (V,).
    facts
        How it was fitted: seed, documents, passes, each K tried with its perplexity, why this
        one, versions.
    """

    words: tuple[str, ...]
    topics: Floats
    word_count: Floats
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def n_topics(self) -> int:
        """K."""
        return len(self.topics)

    @cached_property
    def allocation(self) -> Any:
        """The model as scikit-learn would have fitted it."""
        fitted = allocation(self.n_topics)
        fitted.components_, fitted.n_features_in_ = self.topics, len(self.words)
        fitted.doc_topic_prior_ = fitted.topic_word_prior_ = 1.0 / self.n_topics
        # psi is sensitive to rounding: 64 bits here, whatever the type of the model
        lam = self.topics.astype(np.float64)
        weights = np.exp(psi(lam) - psi(lam.sum(axis=1, keepdims=True)))
        fitted.exp_dirichlet_component_ = weights.astype(self.topics.dtype)
        return fitted

    @cached_property
    def numbers(self) -> Mapping[str, int]:
        """Number of each word."""
        return {word: number for number, word in enumerate(self.words)}

    def read(self, text: str) -> list[int]:
        """Return the word numbers of a text in order; -1 for words outside the vocabulary."""
        return [self.numbers.get(lemma, -1) for lemma in lemmas_of(text)]

    def bags(self, texts: Sequence[str]) -> Bags:
        """Return texts as bags of the model's words."""
        return bags_of(map(self.read, texts), len(self.words))

    def infer(self, bags: Bags) -> Floats:
        """Return the topic distribution t_d of each document, shape (n, K); rows sum to 1.

        A document without a word of the model has every topic alike, as its prior.
        """
        if bags.shape[0] == 0:  # which scikit-learn refuses
            return np.zeros((0, self.n_topics), self.topics.dtype)
        return np.asarray(self.allocation.transform(bags))

    def shares(self, texts: Sequence[str]) -> Floats:
        """Return the topic distribution t_d of each text, shape (n, K); rows sum to 1."""
        return self.infer(self.bags(texts))

    def relevance(self, topic: int) -> Floats:
        """Return how relevant each word is to a topic, shape (V,).

        Sievert and Shirley 2014, Eq. 1: λ log p(w|k) + (1 - λ) log(p(w|k) / p(w)), λ `RELEVANCE`.
        """
        lam = self.topics[topic].astype(np.float64)
        overall = self.word_count / self.word_count.sum()
        return np.asarray(np.log(lam / lam.sum()) - (1.0 - RELEVANCE) * np.log(overall))

    def top_words(self, topic: int, n: int = 15) -> tuple[str, ...]:
        """Return the `n` most relevant words of a topic, most relevant first."""
        # A stable sort: of equally relevant words the first of the vocabulary
        order = np.argsort(-self.relevance(topic), kind="stable")
        return tuple(self.words[word] for word in order[:n])


FORMAT = "portrayal-topics.v4"
MODEL = "model.npz"
_ARRAYS = ("topics", "word_count")


def save_topics(model: TopicModel, folder: str | Path) -> Path:
    """Write a model into a folder, as `model.npz`: its arrays, and words and facts as JSON."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    about = {"format": FORMAT, "words": model.words, "facts": dict(model.facts)}
    content = np.frombuffer(json.dumps(about, ensure_ascii=False).encode(), dtype=np.uint8)
    with replacing(folder / MODEL) as temporary, temporary.open("wb") as stream:
        np.savez(stream, about=content, **{name: getattr(model, name) for name in _ARRAYS})
    return folder


def load_topics(folder: str | Path) -> TopicModel:
    """Read a saved model; the arrays are read without pickle.

    Raises
    ------
    DataError
        When the file is missing, or is of another format.
    """
    path = Path(folder) / MODEL
    if not path.is_file():
        raise DataError(
            f"{folder} holds no topic model: {MODEL} is missing. "
            "Give a folder that an audit wrote, such as RUN/topics."
        )
    arrays = read_arrays(path)
    try:
        about = json.loads(arrays.pop("about").tobytes())
        kind, words, facts = about["format"], tuple(about["words"]), dict(about["facts"])
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise DataError(f"{path} holds no topic model: {error!r}.") from error
    if kind != FORMAT or arrays.keys() != set(_ARRAYS):
        raise DataError(f"{path}: expected a topic model of format {FORMAT!r}; found {kind!r}.")
    return TopicModel(words, **arrays, facts=facts)


SENTENCES = "group_words.v2"
"""The annotator whose sentences are used."""


@dataclass(frozen=True, eq=False)
class TopicTexts:
    """The sentences of one side of a run, in the order of its texts.

    Attributes
    ----------
    text_start
        Where the sentences of each text begin, and the end; shape (n_texts + 1,). A text that was
        not read has none.
    topic
        The most likely topic of each sentence, by the sentence alone; -1 where it holds no word of
        the model.
    words
        The words of each sentence that the model knows: a bag for each.
    """

    text_start: Ints
    topic: Ints
    words: Bags


def read_topic_texts(run: Run, model: TopicModel, *, reference: bool = False) -> TopicTexts:
    """Infer the topics of every sentence of one side.

    Parameters
    ----------
    run
        A run whose side is annotated by `group_words.v2`, which says where sentences stand.
    model
        A fitted model.
    reference
        Whether to read the reference in place of the texts.
    """
    stage = run.reference if reference else run.texts
    annotations = run.reference_annotations if reference else run.annotations
    lengths, numbers = [0], list[list[int]]()
    for texts, spans in read_shards(stage, ["text"], (annotations(SENTENCES), ["sentences"])):
        both = zip(texts["text"].to_pylist(), spans["sentences"].to_pylist(), strict=True)
        for text, spans_of_text in both:
            # Unreadable texts have no sentences
            pieces = [text[span["start"] : span["end"]] for span in spans_of_text or ()]
            lengths.append(len(pieces))
            numbers += map(model.read, pieces)
    bags = bags_of(numbers, len(model.words))
    # Without a word of the model the prior would name a topic
    topic = np.where(np.diff(bags.indptr) > 0, model.infer(bags).argmax(axis=1), -1)
    return TopicTexts(np.cumsum(lengths), topic, bags)
