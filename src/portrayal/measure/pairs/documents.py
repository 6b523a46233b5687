"""The document level: shares of each group among a text's pertinent topics, Eq. 7–9.

Where texts do not differ from originals, each of them might as well have been the original, so
that any arrangement of the whole texts of a pool is as likely as the observed one. Unlike words
sentences of a text hang together, where a text has a subject. A text in another's place is read by
the topics and groups of that place's corpus.
"""

from functools import partial

import numpy as np

from portrayal.annotate.topics import TopicModel, TopicTexts
from portrayal.annotate.topics.model import count_words
from portrayal.measure.pairs.exchange import Pools, exchange_within
from portrayal.measure.pairs.levels import lexicon_columns
from portrayal.measure.pairs.table import DOCUMENT, Deal, Level, Paired
from portrayal.measure.pairs.topics import Topics
from portrayal.stats import divide
from portrayal.types import FloatArray, IntArray

NULL = "originals exchanged at random with their texts; topics and their groups as fitted"


def document_levels(paired: Paired, topics: Topics, least: float = 0.01) -> list[Level]:
    """Return shares of each group among the pertinent topics of a text, Eq. 8, for each lexicon.

    Parameters
    ----------
    paired
        The paired table.
    topics
        From `read_topics`.
    least
        Share of a text below which a topic does not count; what gensim, and so the paper, reports.

    Returns
    -------
    list of Level
        Named "document"; one for each lexicon, none where there are no topics. A text without
        pertinent topic has no shares (NaN). The null exchanges whole texts: any text of an original
        may be the original. The topic model, and which topics go with which group of each corpus,
        stay as they are.
    """
    model, generated, reference = topics.model, topics.generated, topics.reference
    if model is None or generated is None or reference is None:
        return []
    # Which corpus each row is of; that of the originals is the last
    code_of = {code: i for i, code in enumerate(paired.generated.corpora)}
    codes = zip(paired.model.tolist(), paired.form.tolist(), strict=True)
    corpus = np.array([code_of[key] for key in codes], dtype=np.int64)
    rows, levels = np.arange(len(corpus)), []
    of_texts = topic_shares(model, generated)[paired.text]
    of_originals = topic_shares(model, reference)[paired.original]
    for lexicon in lexicon_columns(paired):
        key, m = (lexicon.name, lexicon.attribute), len(lexicon.groups)
        tables = [t for t in topics.tables if (t.lexicon, t.attribute) == key]
        # Both sides' texts read as if of each corpus, shape (n_corpora, n_rows, M) each
        ours, theirs = (
            np.stack([pertinent_shares(shares, t.association, m, least) for t in tables])
            for shares in (of_texts, of_originals)
        )
        level = Level(
            name=DOCUMENT,
            attribute=lexicon.attribute,
            lexicon=lexicon.name,
            groups=lexicon.groups,
            generated=ours[corpus, rows],
            reference=theirs[-1],
            null_method=NULL,
            without_shares={(t.model, t.form): t.without_shares for t in tables},
            dealer=partial(_deal_texts, corpus, ours, theirs),
            readings=np.stack([[ours[corpus, rows], theirs[corpus, rows]], [ours[-1], theirs[-1]]]),
        )
        levels.append(level)
    return levels


def topic_shares(model: TopicModel, texts: TopicTexts) -> FloatArray:
    """Return the topic distribution of each text, (n_texts, K); 0 without a word of the model."""
    sizes = np.diff(texts.text_start)
    of_sentence = np.repeat(np.arange(len(sizes)), sizes), np.arange(texts.words.shape[0])
    bags = count_words(*of_sentence, (len(sizes), texts.words.shape[0])) @ texts.words
    bags.sort_indices()
    theta = model.infer(bags).astype(np.float64)
    # Without a word of the model a text gets the prior's topics, none of its own.
    theta[np.diff(bags.indptr) == 0] = 0.0
    return np.nan_to_num(divide(theta, theta.sum(axis=1, keepdims=True)))


def _deal_texts(corpus: IntArray, ours: FloatArray, theirs: FloatArray, pools: Pools) -> Deal:
    """Return the function that exchanges whole texts.

    Parameters
    ----------
    corpus
        Corpus of each row's generated text, shape (n,); that of the originals is the last.
    ours, theirs
        Values of generated texts and of originals as if of each corpus, (n_corpora, n, M).
    pools
        Pools of the rows.
    """
    values = np.concatenate([ours, theirs[:, pools.first]], axis=1)
    reader = np.concatenate([corpus, np.full(len(pools.first), -1)])
    exchange = exchange_within(pools.places)
    return lambda rng: pools.by_row(values[reader, exchange(rng)])


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
