"""The document level: shares of each group among a text's pertinent topics, Eq. 7–9.

Where texts do not differ from originals, each of them might as well have been the original, so
that any arrangement of the whole texts of a pool is as likely as the observed one. Unlike dealing
it asks nothing of the sentences within a text, which hang together where a text has a subject. A
text in another's place is read by the topics and groups of that place's corpus.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
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
from portrayal.measure.pairs.dealing import Pools, rank_within, slots_of
from portrayal.measure.pairs.levels import (
    LexiconColumns,
    Made,
    Sides,
    equally_long,
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
    SHARE,
    Block,
    Deal,
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
    pertinent_shares,
    pool_of,
    standardized_residuals,
    topic_shares,
)
from portrayal.records import ALL, REFERENCE
from portrayal.run import Run
from portrayal.run.files import Kept, Shelf, write_atomically
from portrayal.run.manifest import MEASURED
from portrayal.types import BoolArray, FloatArray, IntArray

NULL = "originals exchanged at random with their texts; topics and their groups as fitted"
MOVING = 20
"""Texts of a pool that change places with the original, at most: the first ones."""


@dataclass(frozen=True, eq=False)
class Couples:
    """Pairs of generated texts of one original, which an exchange may set beside one another.

    Attributes
    ----------
    one, other
        Rows of the two, counted from the block's first, `one` below `other`; sorted, shape (n,).
    n_rows
        Rows of the block.
    """

    one: IntArray
    other: IntArray
    n_rows: int

    def number(self, first: IntArray, second: IntArray) -> IntArray:
        """Return which couple these are, in either order."""
        low, high = np.minimum(first, second), np.maximum(first, second)
        return np.searchsorted(self.one * self.n_rows + self.other, low * self.n_rows + high)


def couples_of(paired: Paired, rows: slice) -> Couples:
    """Return the couples of some rows, of one model and of several."""
    n, keys = rows.stop - rows.start, [np.zeros(0, dtype=np.int64)]
    for all_models in (False, True):
        pools = paired.pools(rows, all_models=all_models)
        for row in np.flatnonzero(~_staying(pools)).tolist():
            mates = np.flatnonzero(pools.of == pools.of[row])
            mates = mates[mates != row]
            keys.append(np.minimum(mates, row) * n + np.maximum(mates, row))
    # A couple may meet in a pool of its model and in that of all models; it is read once.
    key = np.unique(np.concatenate(keys))
    return Couples(key // max(n, 1), key % max(n, 1), n)


def _staying(pools: Pools) -> BoolArray:
    """Texts of a pool that stay where they are, as `MOVING` others change places, shape (n,)."""
    return rank_within(pools.of) >= MOVING


def exchanged_block(
    rows: slice,
    corpus: IntArray,
    observed: FloatArray,
    values: FloatArray,
    mates: FloatArray | None = None,
    couples: Couples | None = None,
) -> Block:
    """Return a block whose null exchanges whole texts.

    Parameters
    ----------
    rows
        Which n rows of the paired table.
    corpus
        Corpus of each row's generated text, shape (n,); that of the originals is the last.
    observed
        Values of generated texts and of their originals, shape (2, S, n, M).
    values
        The same in some samples, as if each text were of each corpus: (n_corpora, 2, S', n, M).
    mates, couples
        At equal length: values of either text of each couple, each cut to the other's length, as if
        of each corpus, shape (n_corpora, 2, 1, n_couples, M). At full length a text is the same
        beside any other, and both are None.
    """
    n = rows.stop - rows.start

    def dealer(pools: Pools) -> Deal:
        slots = slots_of(pools, np.arange(n), np.arange(n))
        # A text in a cell of its own changes places with nothing.
        single = len(slots.cell) + np.arange(n)
        cell = slots.cell.copy()
        cell[:n] = np.where(_staying(pools), single, cell[:n])
        slots = replace(slots, cell=cell)

        def deal(rng: np.random.Generator, draw: int) -> tuple[FloatArray, FloatArray]:
            texts = slots.deal(rng)  # below n the text of that row, from n on the original of one
            # Draws take the samples of sentences in turn.
            shares = values[:, :, draw % values.shape[2]]
            if mates is None or couples is None:
                first, second = ((texts[i : i + n] >= n, texts[i : i + n] % n) for i in (0, n))
                return shares[corpus, first[0] * 1, first[1]], shares[-1, second[0] * 1, second[1]]
            side, row = _readings(couples, texts[:n], texts[n:])
            # Couples follow the rows, so that one index finds either
            shares = np.concatenate([shares, mates[:, :, 0]], axis=2)
            return shares[corpus, side, row], shares[-1, 1 - side, row]

        return deal

    # Both texts of a row are read twice: as its corpus reads texts, and as the originals are read.
    as_text = values[corpus, :, :, np.arange(n)].transpose(1, 2, 0, 3)
    readings = np.stack([as_text, values[-1]], axis=3)
    return Block(rows, observed[0], observed[1], dealer, readings)


def _readings(couples: Couples, mine: IntArray, theirs: IntArray) -> tuple[IntArray, IntArray]:
    """Where the two texts of each row were read beside one another: side of the first, and row.

    A generated text and its original stand in the text's row, two generated texts as a couple.
    """
    n = couples.n_rows
    row, side = np.where(theirs >= n, mine, theirs), (mine >= n).astype(np.int64)
    both = (mine < n) & (theirs < n)
    row[both] = n + couples.number(mine[both], theirs[both])
    # A couple is stored with the lower row first.
    side[both] = mine[both] > theirs[both]
    return side, row


LEVEL = DOCUMENT
THINNED = 4
"""Draws of sentences for equal length that the null reads."""
_STREAM = 0xD0
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
    # A mismatch here would give each sentence the topic of another, without any error
    for topic_texts, texts in ((generated, paired.generated), (reference, paired.reference)):
        if not np.array_equal(topic_texts.text_start, texts.start):
            raise RunError(f"{run.path}: annotations and texts are out of step; audit it again.")
    topics = topics_of(paired, model, generated, reference, settings)
    path = topics_stage(run).folder / TABLES
    run.manifest.open(MEASURED)
    write_atomically(path, json.dumps(_shown(topics), ensure_ascii=False, indent=1))
    return topics


def topics_of(
    paired: Paired,
    model: TopicModel,
    generated: TopicTexts,
    reference: TopicTexts,
    settings: TopicSettings,
) -> Topics:
    """Tell which topics go with which group in each corpus, by the topics of its sentences."""
    shelf = Shelf(paired.folder)
    tables = tuple(
        _table(model, lexicon, corpus, settings.threshold, shelf)
        for lexicon in lexicon_columns(paired)
        for corpus in _corpora(paired, generated, reference)
    )
    return Topics(model, generated, reference, tables)


def document_levels(
    run: Run, paired: Paired, settings: TopicSettings, seed: int = 0, topics: Topics | None = None
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
        topics. A text without pertinent topic has no shares (NaN). The null exchanges whole texts:
        any text of an original may be the original. The topic model, and which topics go with which
        group of each corpus, stay as they are.
    """
    topics = read_topics(run, paired, settings) if topics is None else topics
    if topics.model is None or topics.generated is None or topics.reference is None:
        return []
    shelf = Shelf(paired.folder)
    groups = [_Groups.of(paired, topics, settings, column) for column in lexicon_columns(paired)]
    makers = {(group, length): Made() for group in groups for length in (FULL, EQUAL)}
    for sides in row_sentences(paired, seed):
        couples = couples_of(paired, sides.rows)
        mates = _beside(paired, topics, sides.rows, couples, seed)
        for length, theta in _read(topics, sides).items():
            pairs = couples if length == EQUAL else None
            for group in groups:
                parts = group.own(theta, sides.rows), group.all(theta[:THINNED]), group.all(mates)
                stored = tuple(map(shelf.put, parts))
                corpus = group.corpus[sides.rows]
                makers[group, length].add(partial(_block, shelf, sides.rows, corpus, stored, pairs))
    return [
        replace(
            level_of(
                group.lexicon, length, blocks, name=LEVEL, kind=SHARE, worse=-1, null_method=NULL
            ),
            whole_texts=True,
            without_shares={(t.model, t.form): t.without_shares for t in group.tables},
        )
        for (group, length), blocks in makers.items()
    ]


def _read(topics: Topics, sides: Sides) -> dict[str, FloatArray]:
    """Topic shares of both texts of each row at each length, shape (S, n, 2, K)."""
    assert topics.generated is not None
    assert topics.reference is not None
    pool = pool_of((topics.generated, topics.reference), sides)
    return {
        length: _inferred(topics, pool, sides, np.concatenate(both, axis=1)[:, pool.order])
        for length, both in sides.kept.items()
    }


def _inferred(topics: Topics, pool: Pool, sides: Sides, keep: BoolArray) -> FloatArray:
    """Topic shares of both texts of each row in S samples, shape (S, n, 2, K)."""
    assert topics.model is not None
    goes = np.where(keep, np.where(pool.ours, OURS, THEIRS), OUT)
    # Some samples at a time, as word counts of all would not fit in memory
    step = max(1, _TEXTS // max(2 * sides.n_rows, 1))
    parts = [goes[first : first + step] for first in range(0, len(goes), step)]
    chunks = [topic_shares(topics.model, pool, sides.n_rows, part) for part in parts]
    return np.concatenate(chunks)


def _beside(paired: Paired, topics: Topics, rows: slice, couples: Couples, seed: int) -> FloatArray:
    """Topic shares of two generated texts at equal length, shape (1, n_couples, 2, K)."""
    assert topics.model is not None
    assert topics.generated is not None
    n = len(couples.one)
    if n == 0:
        return np.zeros((1, 0, 2, topics.model.n_topics))
    text = paired.text[rows]
    ours, theirs = (
        read_sentences(paired.generated, text[index]) for index in (couples.one, couples.other)
    )
    keep = equally_long(ours, theirs, n, np.random.default_rng([seed, _STREAM, rows.start]), 1)
    sides = Sides(slice(0, n), ours, theirs, {EQUAL: keep})
    pool = pool_of((topics.generated, topics.generated), sides)
    return _inferred(topics, pool, sides, np.concatenate(keep, axis=1)[:, pool.order])


def _block(
    shelf: Shelf, rows: slice, corpus: IntArray, stored: tuple[Kept, ...], couples: Couples | None
) -> Block:
    observed, values, mates = map(shelf.take, stored)
    return exchanged_block(rows, corpus, observed, values, mates, couples)


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
    model: TopicModel, lexicon: LexiconColumns, corpus: _Corpus, threshold: float, shelf: Shelf
) -> TopicTable:
    observed = np.zeros((model.n_topics, len(lexicon.groups) + 1), dtype=np.int64)
    pieces, with_words, unread = Pieces(shelf), np.zeros(corpus.texts.n_texts, dtype=bool), 0
    for first in range(0, len(corpus.inside), BLOCK):
        # Topic, group and text of the sentences of these texts; how many have no topic
        texts = corpus.inside[first : first + BLOCK]
        m = len(lexicon.groups)
        side = read_sentences(corpus.texts, texts)
        about = sentence_groups(side.counts[:, lexicon.columns])
        topic = taken(corpus.topics.topic, side.at).astype(np.int64)
        valid = topic >= 0
        group = np.where(about < 0, m, about)[valid]  # no group or a tie: the neutral column
        piece, left_out = Piece(topic[valid], group, texts[side.row][valid]), int((~valid).sum())
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
    association
        Group of each topic in each corpus, shape (n_corpora, K); the reference comes last.
    tables
        The tables of these corpora.
    """

    lexicon: LexiconColumns
    least: float
    corpus: IntArray
    association: IntArray
    tables: Sequence[TopicTable]

    @classmethod
    def of(
        cls, paired: Paired, topics: Topics, settings: TopicSettings, lexicon: LexiconColumns
    ) -> "_Groups":
        """Return the groups of one lexicon."""
        tables = [t for t in topics.tables if (t.lexicon, t.attribute) == lexicon_key(lexicon)]
        codes = {code: i for i, code in enumerate(_answered(paired))}
        pairs = zip(paired.model.tolist(), paired.form.tolist(), strict=True)
        return cls(
            lexicon=lexicon,
            least=settings.min_share,
            corpus=np.array([codes[pair] for pair in pairs], dtype=np.int64),
            association=np.stack([table.association for table in tables]),
            tables=tables,
        )

    def own(self, theta: FloatArray, rows: slice) -> FloatArray:
        """Return g of Eq. 8 of generated texts and of originals: shape (2, D, n, M).

        `theta` are their topic distributions, shape (D, n, 2, K).
        """
        corpus, shares = (
            self.corpus[rows],
            np.zeros((2, *theta.shape[:2], len(self.lexicon.groups))),
        )
        for code in np.unique(corpus).tolist():
            inside = corpus == code
            shares[0][:, inside] = self._of(theta[:, inside, OURS], code)
        shares[1] = self._of(theta[:, :, THEIRS], -1)
        return shares

    def all(self, theta: FloatArray) -> FloatArray:
        """Return g of both texts as if of each corpus: shape (n_corpora, 2, D, n, M)."""
        texts = np.moveaxis(theta, 2, 0)
        return np.stack([self._of(texts, code) for code in range(len(self.association))])

    def _of(self, theta: FloatArray, code: int) -> FloatArray:
        return pertinent_shares(theta, self.association[code], len(self.lexicon.groups), self.least)


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
