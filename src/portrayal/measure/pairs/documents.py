"""The document level: shares of each group among a text's pertinent topics, Eq. 7–9.

Where texts do not differ from originals, each of them might as well have been the original, so
that any arrangement of the whole texts of a pool is as likely as the observed one. Unlike dealing
it asks nothing of the sentences within a text, which hang together where a text has a subject. A
text in another's place is read by the topics and groups of that place's corpus.
"""

from functools import partial

import numpy as np

from portrayal.annotate.topics.corpus import count_words
from portrayal.measure.pairs.dealing import Pools, dealing_of, rank_within
from portrayal.measure.pairs.levels import Sides, lexicon_columns
from portrayal.measure.pairs.table import DOCUMENT, EQUAL, FULL, SHARE, Deal, Level
from portrayal.measure.pairs.topics import Topics
from portrayal.stats import divide
from portrayal.types import FloatArray, IntArray

NULL = "originals exchanged at random with their texts; topics and their groups as fitted"
MOVING = 20
"""Texts of a pool that change places with the original, at most: the first ones."""


def document_levels(sides: Sides, topics: Topics, least: float = 0.01) -> list[Level]:
    """Return shares of each group among the pertinent topics of a text, Eq. 8, for each lexicon.

    Parameters
    ----------
    sides
        From `row_sentences`.
    topics
        From `read_topics`.
    least
        Share of a text below which a topic does not count; what gensim, and so the paper, reports.

    Returns
    -------
    list of Level
        Named "document"; for each lexicon at full, then at equal length; none where there are no
        topics. A text without pertinent topic has no shares (NaN). At full length the null
        exchanges whole texts: any text of an original may be the original. The topic model, and
        which topics go with which group of each corpus, stay as they are.
    """
    model, generated, reference = topics.model, topics.generated, topics.reference
    if model is None or generated is None or reference is None:
        return []
    paired, levels = sides.paired, []
    # Which corpus each row is of; that of the originals is the last
    code_of = {code: i for i, code in enumerate(paired.generated.corpora)}
    codes = zip(paired.model.tolist(), paired.form.tolist(), strict=True)
    corpus, rows = (
        np.array([code_of[key] for key in codes], dtype=np.int64),
        np.arange(len(paired.pair)),
    )
    # Shares of each side's texts as if of each corpus: (n_samples, n_rows, M), by table
    shares: dict[tuple[str, int], list[list[FloatArray]]] = {}
    for length in (FULL, EQUAL):
        for number, (side, texts) in enumerate(zip(sides, (generated, reference), strict=True)):
            by_table = shares[length, number] = [[] for _ in topics.tables]
            for keep in side.samples[length]:
                # Topics of one sample at a time, as those of all would not fit in memory
                rows_of = side.row[keep], side.sentence[keep]
                size = side.n_rows, texts.words.shape[0]
                bags = count_words(*rows_of, size) @ texts.words
                bags.sort_indices()
                theta = model.infer(bags).astype(np.float64)
                # Without a word of the model a text gets the prior's topics, none of its own.
                theta[np.diff(bags.indptr) == 0] = 0.0
                theta = np.nan_to_num(divide(theta, theta.sum(axis=1, keepdims=True)))
                for values, table in zip(by_table, topics.tables, strict=True):
                    m = len(table.groups)
                    values.append(pertinent_shares(theta, table.association, m, least))
    for lexicon in lexicon_columns(paired):
        key = lexicon.name, lexicon.attribute
        of = [i for i, t in enumerate(topics.tables) if (t.lexicon, t.attribute) == key]
        for length in (FULL, EQUAL):
            # As if of each corpus, shape (n_corpora, n_samples, n_rows, M) each
            ours, theirs = (np.stack([shares[length, side][i] for i in of]) for side in (0, 1))
            full_length = np.stack([ours[:, 0], theirs[:, 0]], axis=1) if length == FULL else None
            level = Level(
                name=DOCUMENT,
                attribute=lexicon.attribute,
                lexicon=lexicon.name,
                groups=lexicon.groups,
                kind=SHARE,
                worse=-1,
                length=length,
                generated=ours[corpus, :, rows].swapaxes(0, 1),
                reference=theirs[-1],
                null_method=NULL,
                without_shares={
                    (t.model, t.form): t.without_shares for t in (topics.tables[i] for i in of)
                },
                dealer=None if full_length is None else partial(_deal_texts, corpus, full_length),
                # Both texts of a row, read as its corpus reads texts and as originals are read
                readings=None
                if full_length is None
                else np.stack(
                    [full_length[corpus, :, rows].swapaxes(0, 1), full_length[-1]], axis=2
                ),
            )
            levels.append(level)
    return levels


def _deal_texts(corpus: IntArray, shares: FloatArray, pools: Pools) -> Deal:
    """Return the function that exchanges whole texts.

    Parameters
    ----------
    corpus
        Corpus of each row's generated text, shape (n,); that of the originals is the last.
    shares
        Values of generated texts and of originals as if of each corpus, (n_corpora, 2, n, M).
    pools
        Pools of the rows.
    """
    n = len(corpus)
    rows = np.arange(n)
    # Those that stay where they are have a cell of their own, as `MOVING` others change places
    staying = rank_within(pools.of) >= MOVING
    cell = np.concatenate([np.where(staying, 1 + rows, 0), np.zeros(n, dtype=np.int64)])
    dealing = dealing_of(pools, rows, rows, cell)

    def deal(rng: np.random.Generator, _: int) -> tuple[FloatArray, FloatArray]:
        # Below n the text of that row, from n on the original of one
        ours, theirs = np.split(dealing(rng), 2)
        return shares[corpus, ours // n, ours % n], shares[-1, theirs // n, theirs % n]

    return deal


def pertinent_shares(
    shares: FloatArray, association: IntArray, n_groups: int, least: float = 0.01
) -> FloatArray:
    """Return the share of each group among a text's pertinent topics, Fang et al. 2024, Eq. 8.

    Parameters
    ----------
    shares
        Topic distribution of each text, shape (..., K).
    association
        Group of each topic, shape (K,).
    n_groups
        M, without the neutral group.
    least
        Share below which a topic does not count.

    Returns
    -------
    array
        Shape (..., M). NaN where a text has no pertinent topic, and everywhere where the topics go
        with fewer than two groups: each share would be 1 or 0 by construction.

    Examples
    --------
    >>> pertinent_shares(np.array([[0.5, 0.25, 0.25]]), np.array([0, 1, -1]), 3).round(2).tolist()
    [[0.67, 0.33, 0.0]]
    """
    # Neither the neutral group (M) nor none (-1) is among these columns.
    belongs = association[:, np.newaxis] == np.arange(n_groups)
    sums = np.where(shares >= least, shares, 0.0) @ belongs.astype(np.float64)
    if belongs.any(axis=0).sum() < 2:
        sums[...] = 0.0
    return divide(sums, sums.sum(axis=-1, keepdims=True))
