"""Pools: sentences of a block of rows as bags of words, and topic shares of texts made of them."""

from dataclasses import dataclass

import numpy as np

from portrayal.annotate.topics import Bags, TopicModel, TopicTexts
from portrayal.measure.paired_sentences import Sides, runs
from portrayal.measure.tally import BoolArray, FloatArray, IntArray

OUT, OURS, THEIRS = -1, 0, 1
"""Where a sentence goes: to neither text, to the generated one, to the original."""


@dataclass(frozen=True, eq=False)
class Pool:
    """Sentences of some rows and of both sides, rows sorted.

    Attributes
    ----------
    order
        Number of each sentence among the generated texts' sentences and then the originals'.
    row, ours
        Its row, and whether it is the generated text's; shape (n_sentences,).
    sentence, word, count
        Words: the sentence they stand in, their number, and how often; shape (n_words,).
    """

    order: IntArray
    row: IntArray
    ours: BoolArray
    sentence: IntArray
    word: IntArray
    count: FloatArray


def pool_of(texts: tuple[TopicTexts, TopicTexts], sides: Sides) -> Pool:
    """Put the sentences of both sides together; `texts` are the generated and the originals."""
    both = (sides.generated, sides.reference)
    row = np.concatenate([side.row for side in both])
    order = np.argsort(row, kind="stable")
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    found = [_words(each, side.at) for each, side in zip(texts, both, strict=True)]
    sentence = np.concatenate([found[0][0], found[1][0] + len(sides.generated.row)])
    return Pool(
        order=order,
        row=row[order],
        ours=order < len(sides.generated.row),
        sentence=place[sentence],
        word=np.concatenate([found[0][1], found[1][1]]),
        count=np.concatenate([found[0][2], found[1][2]]),
    )


def _words(texts: TopicTexts, at: IntArray) -> tuple[IntArray, IntArray, FloatArray]:
    """Words of the sentences `at`: which of them, the word, how often."""
    known, which = np.unique(at, return_inverse=True)
    sizes, words, counts = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], [np.zeros(0)]
    for piece in runs(known):
        start = texts.start[piece.start : piece.stop + 1]
        sizes.append(np.diff(start))
        words.append(texts.word[int(start[0]) : int(start[-1])].astype(np.int64))
        counts.append(texts.count[int(start[0]) : int(start[-1])].astype(np.float64))
    size = np.concatenate(sizes)
    first = np.cumsum(size) - size
    size = size[which]
    sentence = np.repeat(np.arange(len(at)), size)
    entry = np.repeat(first[which] - (np.cumsum(size) - size), size) + np.arange(len(sentence))
    return sentence, np.concatenate(words)[entry], np.concatenate(counts)[entry]


def topic_shares(model: TopicModel, pool: Pool, n_rows: int, goes: IntArray) -> FloatArray:
    """Infer the topic distribution t_d of both texts of each row.

    Parameters
    ----------
    model
        The fitted model.
    pool, n_rows
        Sentences of so many rows.
    goes
        `OURS`, `THEIRS` or `OUT` for each sentence, in D arrangements; shape (D, n_sentences).

    Returns
    -------
    array
        Shape (D, n_rows, 2, K); 0 for a text without a word of the model.
    """
    n_texts, span = len(goes) * n_rows * 2, len(model.words)
    arrangement = np.arange(len(goes))[:, np.newaxis]
    text = np.where(goes < 0, -1, (arrangement * n_rows + pool.row) * 2 + goes)
    owner = text[:, pool.sentence]
    inside = owner >= 0
    key = (owner * span + pool.word)[inside]
    known, which = np.unique(key, return_inverse=True)
    count = np.bincount(which, np.broadcast_to(pool.count, owner.shape)[inside], len(known))
    start = np.searchsorted(known, np.arange(n_texts + 1) * span)
    bags = Bags(start, (known % span).astype(np.int32), count.astype(np.float32))
    gamma = model.infer(bags).astype(np.float64)
    shares = gamma / gamma.sum(axis=1, keepdims=True)
    shares[np.diff(start) == 0] = 0.0
    return np.asarray(shares.reshape(len(goes), n_rows, 2, model.n_topics))
