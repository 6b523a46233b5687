"""Texts and their sentences as topics: what a fitted model says of one side of a run."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from portrayal.annotate.topics.bags import Ints, bags_of
from portrayal.annotate.topics.model import TopicModel
from portrayal.run.directory import Run
from portrayal.run.scratch import Column

SENTENCES = "group_words.v1"
"""The annotator whose sentences are used."""

_BLOCK = 500  # texts that are worked on together

Spans = list[tuple[int, int]]


Numbers = np.ndarray[Any, np.dtype[Any]] | Column


@dataclass(frozen=True, eq=False)
class TopicTexts:
    """The sentences of one side of a run, in the order of its texts.

    All but `text_start` is read in slices only; `read_topic_texts` keeps it on disk.

    Attributes
    ----------
    text_start
        Where the sentences of each text begin, and the end; shape (n_texts + 1,). A text that was
        not read has none.
    topic
        The most likely topic of each sentence, by the sentence alone; -1 where it holds no word of
        the model.
    start
        Where the words of each sentence begin in `word` and `count`, and the end; shape
        (n_sentences + 1,).
    word, count
        Numbers of the distinct words of each sentence that the model knows, and how often they
        occur.
    """

    text_start: Ints
    topic: Numbers
    start: Numbers
    word: Numbers
    count: Numbers


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
    topic, start = Column(run.path, np.int32), Column(run.path, np.int64)
    word, count = Column(run.path, np.int32), Column(run.path, np.float32)
    start.append(np.zeros(1))
    lengths = [np.zeros(1, np.int64)]
    for block in _blocks(run, reference):
        bags = bags_of(model.read(text[a:b]) for text, spans in block for a, b in spans)
        known = np.diff(bags.start) > 0
        lengths.append(np.array([len(spans) for _, spans in block], dtype=np.int64))
        topic.append(np.where(known, model.infer(bags).argmax(axis=1), -1))
        start.append(len(word) + bags.start[1:])
        word.append(bags.word)
        count.append(bags.count)
    return TopicTexts(np.cumsum(np.concatenate(lengths)), topic, start, word, count)


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
