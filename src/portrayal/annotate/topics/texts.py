"""Texts and their sentences as topics: what a fitted model says of one side of a run."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

import numpy as np
import pyarrow.parquet as pq

from portrayal.annotate.topics.arrays import Floats, Ints
from portrayal.annotate.topics.bags import bags_of
from portrayal.annotate.topics.infer import assign, expected
from portrayal.annotate.topics.model import TopicModel
from portrayal.run.directory import Run

SENTENCES = "group_words.v1"
"""The annotator whose sentences are used."""

_LEAST = 1e-4  # words of a sentence that a topic needs to be kept
_BLOCK = 500  # texts that are worked on together

Spans = list[tuple[int, int]]


@dataclass(frozen=True, eq=False)
class TopicTexts:
    """The sentences of one side of a run, in the order of its texts.

    Attributes
    ----------
    sentence_text
        Which text each sentence belongs to, shape (n_sentences,), sorted.
    topic
        The most likely topic of each sentence, by the sentence alone; -1 where it holds no word of
        the model.
    words
        Words of the model in each sentence, shape (n_sentences,).
    start
        Where the entries of each sentence begin in `entry_topic` and `entry_mass`, and the end;
        shape (n_sentences + 1,).
    entry_topic, entry_mass
        Words of a sentence that the inference of its whole text gives to a topic.
    n_texts
        Texts of this side, read or not.
    """

    sentence_text: Ints
    topic: Ints
    words: Floats
    start: Ints
    entry_topic: Ints
    entry_mass: Floats
    n_texts: int


def read_topic_texts(run: Run, model: TopicModel, *, reference: bool = False) -> TopicTexts:
    """Infer the topics of every readable text of one side, and of its sentences.

    Parameters
    ----------
    run
        A run whose side is annotated by `group_words.v1`, which says where sentences stand.
    model
        A fitted model.
    reference
        Whether to read the reference in place of the texts.
    """
    found = [_topics(model, block) for block in _blocks(run, reference)]
    sizes = [n for _, _, _, _, n in found]
    before = np.cumsum([0, *sizes])
    joined = [
        np.concatenate([np.zeros(0, kind), *(block[i] for block in found)])
        for i, kind in ((1, np.int64), (2, np.float64))
    ]
    entries = [block[3] for block in found]
    counts = np.concatenate([np.zeros(0, np.int64), *(entry[0] for entry in entries)])
    text = [block[0] + low for block, low in zip(found, before.tolist(), strict=False)]
    return TopicTexts(
        sentence_text=np.concatenate([np.zeros(0, np.int64), *text]),
        topic=joined[0],
        words=joined[1],
        start=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        entry_topic=np.concatenate([np.zeros(0, np.int64), *(entry[1] for entry in entries)]),
        entry_mass=np.concatenate([np.zeros(0), *(entry[2] for entry in entries)]),
        n_texts=int(before[-1]),
    )


def _blocks(run: Run, reference: bool) -> Iterator[list[tuple[str, Spans]]]:
    """Yield texts with their sentences; unreadable ones have none."""
    stage = run.reference if reference else run.texts
    made = run.reference_annotations(SENTENCES) if reference else run.annotations(SENTENCES)
    for part in stage.parts():
        texts = pq.read_table(part, columns=["text"])["text"].to_pylist()
        spans = pq.read_table(made.folder / part.name, columns=["sentences"])["sentences"]
        rows = [
            (text or "", [(span["start"], span["end"]) for span in found or ()])
            for text, found in zip(texts, spans.to_pylist(), strict=True)
        ]
        for low in range(0, len(rows), _BLOCK):
            yield rows[low : low + _BLOCK]


def _topics(
    model: TopicModel, rows: list[tuple[str, Spans]]
) -> tuple[Ints, Ints, Floats, tuple[Ints, Ints, Floats], int]:
    """Text, topic, words and (sizes, topics, masses) of the sentences of a block; its texts."""
    read = [[model.read(text[a:b]) for a, b in spans] for text, spans in rows]
    owner = np.repeat(np.arange(len(rows)), [len(sentences) for sentences in read])
    pieces = bags_of(chain.from_iterable(read))
    whole = bags_of(list(chain.from_iterable(sentences)) for sentences in read)
    theta = expected(model.infer(whole))
    mass = assign(pieces, model.weights, theta.astype(model.weights.dtype), owner)
    known = np.diff(pieces.start) > 0
    topic = np.where(known, model.infer(pieces).argmax(axis=1), -1)
    sentence, column = np.nonzero(mass >= _LEAST)
    sizes = np.bincount(sentence, minlength=len(pieces))
    entries = sizes, column.astype(np.int64), mass[sentence, column].astype(np.float64)
    return owner, topic.astype(np.int64), pieces.words, entries, len(rows)
