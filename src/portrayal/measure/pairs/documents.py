"""The document level: shares of each group among a text's pertinent topics, Eq. 7–9."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from portrayal.annotate.topics import (
    TABLES,
    TopicModel,
    TopicSettings,
    TopicTexts,
    read_topic_texts,
    saved_topics,
    topics_stage,
)
from portrayal.errors import RunError
from portrayal.measure.pairs.levels import (
    LexiconColumns,
    Made,
    Sides,
    level_of,
    lexicon_columns,
    read_sentences,
    row_sentences,
    sentence_groups,
    taken,
)
from portrayal.measure.pairs.table import (
    BLOCK,
    DOCUMENT,
    EQUAL,
    FULL,
    REFERENCE,
    SHARE,
    Block,
    Level,
    Paired,
    Texts,
)
from portrayal.measure.pairs.topics import (
    OURS,
    OUT,
    THEIRS,
    Piece,
    Pieces,
    Pool,
    TopicTable,
    associations,
    contingency,
    pool_of,
    standardized_residuals,
    topic_shares,
)
from portrayal.records import ALL
from portrayal.run import Run
from portrayal.run.files import write_atomically
from portrayal.run.scratch import Kept, Shelf
from portrayal.stats import divide
from portrayal.types import BoolArray, FloatArray, IntArray

LEVEL = DOCUMENT
NO_NULL = (
    "no null of topics is known to keep its level: which topics go with which group hangs on which "
    "text holds a sentence"
)
_TEXTS = 8192  # texts whose topics are inferred together


@dataclass(frozen=True, eq=False)
class Topics:
    """What the topic model of a run says of its texts.

    Attributes
    ----------
    model
        The fitted model; None where the texts are too few for one.
    generated, reference
        Topics of both sides' sentences, in step with those of the paired table.
    tables
        One table for each lexicon and corpus: each model and form, then the reference.
    undefined
        Why there are no topics; None where there are.
    """

    model: TopicModel | None
    generated: TopicTexts | None = None
    reference: TopicTexts | None = None
    tables: tuple[TopicTable, ...] = ()
    undefined: str | None = None


def read_topics(run: Run, paired: Paired, settings: TopicSettings) -> Topics:
    """Infer the topics of all texts by the run's model, and tell which topics go with which group.

    Writes `topics/topics.json`: words, counts, residuals and associations of every topic.

    Parameters
    ----------
    run
        A run whose topics `fit_topics` has fitted.
    paired
        Its paired table, with group words of each sentence.
    settings
        Threshold of the residuals.

    Raises
    ------
    RunError
        When topics were not fitted, or sentences and texts are out of step.
    """
    model, undefined = saved_topics(run)
    if model is None:
        return Topics(None, undefined=undefined)
    generated, reference = (
        read_topic_texts(run, model),
        read_topic_texts(run, model, reference=True),
    )
    for found, known in ((generated, paired.generated), (reference, paired.reference)):
        if not np.array_equal(found.text_start, known.start):
            raise RunError(f"{run.path}: annotations and texts are out of step; audit it again.")
    shelf = Shelf(paired.folder)
    tables = tuple(
        _table(model, lexicon, corpus, settings.threshold, shelf)
        for lexicon in lexicon_columns(paired)
        for corpus in _corpora(paired, generated, reference)
    )
    topics = Topics(model, generated, reference, tables)
    path = topics_stage(run).folder / TABLES
    write_atomically(path, json.dumps(_shown(topics), ensure_ascii=False, indent=1))
    return topics


def document_levels(
    run: Run,
    paired: Paired,
    settings: TopicSettings,
    seed: int = 0,
    topics: Topics | None = None,
) -> list[Level]:
    """Return shares of each group among the pertinent topics of a text, Eq. 8, for each lexicon.

    Parameters
    ----------
    run, paired, settings
        As for `read_topics`.
    seed
        Start of the random streams that draw sentences for equal length, as for the other levels.
    topics
        What `read_topics` returned, where it was called before.

    Returns
    -------
    list of Level
        Named "document"; for each lexicon at full, then at equal length; none where there are no
        topics. A text without pertinent topic has no shares (NaN). There is no null: `NO_NULL`.
    """
    topics = read_topics(run, paired, settings) if topics is None else topics
    if topics.model is None or topics.generated is None or topics.reference is None:
        return []
    shelf, texts = Shelf(paired.folder), (topics.generated, topics.reference)
    groups = [_Groups.of(paired, topics, settings, each) for each in lexicon_columns(paired)]
    made = {(each, length): Made() for each in groups for length in (FULL, EQUAL)}
    for sides in row_sentences(paired, seed):
        pool = pool_of(texts, sides)
        for length, both in sides.kept.items():
            kept = np.concatenate(both, axis=1)[:, pool.order]
            found = _inferred(topics.model, pool, sides, _as_they_are(pool, kept), groups)
            for each, observed in zip(groups, found, strict=True):
                made[each, length].add(partial(_block, shelf, sides.rows, shelf.put(observed)))
    return [
        replace(
            level_of(
                each.lexicon, length, blocks, name=LEVEL, kind=SHARE, worse=-1, null_method=""
            ),
            no_null=NO_NULL,
        )
        for (each, length), blocks in made.items()
    ]


def _as_they_are(pool: Pool, kept: BoolArray) -> Iterator[IntArray]:
    """Where the sentences of each sample go: to the texts they stand in."""
    for chosen in kept:
        yield np.where(chosen, np.where(pool.ours, OURS, THEIRS), OUT)


def _inferred(
    model: TopicModel,
    pool: Pool,
    sides: Sides,
    goes: Iterator[IntArray],
    groups: Sequence["_Groups"],
) -> list[FloatArray]:
    """Shares of the groups of each lexicon in D arrangements: shape (2, D, n, M) each."""
    found: list[list[FloatArray]] = [[] for _ in groups]
    step = max(1, _TEXTS // max(2 * sides.n_rows, 1))
    while some := list(islice(goes, step)):
        shares = topic_shares(model, pool, sides.n_rows, np.stack(some))
        for each, made in zip(groups, found, strict=True):
            made.append(each.shares(shares, sides.rows))
    return [np.concatenate(made, axis=1) for made in found]


def _block(shelf: Shelf, rows: slice, stored: Kept) -> Block:
    generated, reference = shelf.take(stored)
    return Block(rows, generated, reference)


@dataclass(frozen=True, eq=False)
class _Corpus:
    """The texts of one corpus, by number, of one side."""

    model: str
    form: str
    texts: Texts
    topics: TopicTexts
    inside: IntArray


def _corpora(paired: Paired, generated: TopicTexts, reference: TopicTexts) -> Iterator[_Corpus]:
    texts = paired.generated
    for i, j in _answered(paired):
        inside = np.flatnonzero((texts.model == i) & (texts.form == j))
        yield _Corpus(paired.models[i], paired.forms[j], texts, generated, inside)
    everything = np.arange(paired.reference.n_texts)
    yield _Corpus(REFERENCE, ALL, paired.reference, reference, everything)


def _answered(paired: Paired) -> list[tuple[int, int]]:
    """Codes of each (model, form) that has texts, in order."""
    codes = zip(paired.generated.model.tolist(), paired.generated.form.tolist(), strict=True)
    return sorted(set(codes))


def _table(
    model: TopicModel,
    lexicon: LexiconColumns,
    corpus: _Corpus,
    threshold: float,
    shelf: Shelf,
) -> TopicTable:
    observed = np.zeros((model.n_topics, len(lexicon.groups) + 1), dtype=np.int64)
    pieces, with_words, unread = Pieces(shelf), np.zeros(corpus.texts.n_texts, dtype=bool), 0
    for first in range(0, len(corpus.inside), BLOCK):
        piece, left_out = _piece(corpus, corpus.inside[first : first + BLOCK], lexicon)
        observed += contingency(piece.topic, piece.group, observed.shape)
        with_words[piece.text] = True
        unread += left_out
        pieces.add(piece)
    residual = standardized_residuals(observed)
    return TopicTable(
        attribute=lexicon.attribute,
        lexicon=lexicon.name,
        groups=lexicon.groups,
        model=corpus.model,
        form=corpus.form,
        observed=observed,
        residual=residual,
        association=associations(residual, threshold),
        pieces=pieces,
        n_texts=int(with_words.sum()),
        n_pairs=len(np.unique(corpus.texts.pair[with_words])),
        unread=unread,
    )


def _piece(corpus: _Corpus, texts: IntArray, lexicon: LexiconColumns) -> tuple[Piece, int]:
    """Topic, group and text of the sentences of these texts; how many have no topic."""
    m = len(lexicon.groups)
    side = read_sentences(corpus.texts, texts)
    about = sentence_groups(side.counts[:, lexicon.columns])
    topic = taken(corpus.topics.topic, side.at).astype(np.int64)
    known = topic >= 0
    group = np.where(about < 0, m, about)[known]
    return Piece(topic[known], group, texts[side.row][known]), int((~known).sum())


@dataclass(frozen=True, eq=False)
class _Groups:
    """Which topics count for which group of a lexicon.

    Attributes
    ----------
    lexicon
        The lexicon.
    least
        Share below which a topic is not counted.
    corpus
        Which corpus each row is of, shape (n_rows,).
    belongs
        1 where a topic goes with a group, shape (n_corpora, K, M); the reference comes last.
    """

    lexicon: LexiconColumns
    least: float
    corpus: IntArray
    belongs: FloatArray

    @classmethod
    def of(
        cls, paired: Paired, topics: Topics, settings: TopicSettings, lexicon: LexiconColumns
    ) -> "_Groups":
        """Return the groups of one lexicon."""
        tables = [t for t in topics.tables if (t.lexicon, t.attribute) == lexicon_key(lexicon)]
        linked = np.stack([table.association for table in tables])
        codes = {code: at for at, code in enumerate(_answered(paired))}
        pairs = zip(paired.model.tolist(), paired.form.tolist(), strict=True)
        return cls(
            lexicon=lexicon,
            least=settings.min_share,
            corpus=np.array([codes[pair] for pair in pairs], dtype=np.int64),
            belongs=(linked[:, :, np.newaxis] == np.arange(len(lexicon.groups))).astype(float),
        )

    def shares(self, found: FloatArray, rows: slice) -> FloatArray:
        """Return g of Eq. 8, of generated texts and of originals: shape (2, D, n, M).

        `found` are their topic distributions, shape (D, n, 2, K). NaN where a text has no
        pertinent topic.
        """
        counted = np.where(found >= self.least, found, 0.0)
        sums = np.zeros((2, *found.shape[:2], self.belongs.shape[2]))
        corpus = self.corpus[rows]
        for code in np.unique(corpus).tolist():
            inside = corpus == code
            sums[0][:, inside] = counted[:, inside, OURS] @ self.belongs[code]
        sums[1] = counted[:, :, THEIRS] @ self.belongs[-1]
        return divide(sums, sums.sum(axis=-1, keepdims=True))


def lexicon_key(lexicon: LexiconColumns) -> tuple[str, str]:
    """Return what tells one lexicon from another: its name and attribute."""
    return lexicon.name, lexicon.attribute


def _shown(topics: Topics) -> Mapping[str, Any]:
    """What `topics.json` holds."""
    assert topics.model is not None
    model = topics.model
    return {
        "n_topics": model.n_topics,
        "facts": dict(model.facts),
        "words": [list(model.top_words(k)) for k in range(model.n_topics)],
        "tables": [
            {
                "attribute": table.attribute,
                "lexicon": table.lexicon,
                "groups": [*table.groups, "neutral"],
                "model": table.model,
                "form": table.form,
                "observed": table.observed.tolist(),
                "residual": [
                    [None if np.isnan(cell) else round(cell, 4) for cell in row]
                    for row in table.residual.tolist()
                ],
                "association": [
                    None if code < 0 else [*table.groups, "neutral"][code]
                    for code in table.association.tolist()
                ],
                "one_group_only": table.one_group_only.tolist(),
                "sentences_without_words": table.unread,
            }
            for table in topics.tables
        ],
    }
