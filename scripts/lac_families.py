"""Which sentences of LAC are paraphrases of one source, so that no fold parts them."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from portrayal.annotate.agency.linear import tokens

IntArray = NDArray[np.int64]
ALIKE = 0.2
_ROWS = 512


def families(texts: Sequence[str], alike: float = ALIKE) -> IntArray:
    """Number sentences so that paraphrases of one source share a number, shape (n,).

    Two sentences are linked where the Jaccard overlap of their words is at least `alike`, words
    counting by how rare they are, log(n / sentences that hold it). LAC's two paraphrases of a
    sentence share names, dates and places; of the sentences that most likely have their pair in the
    file, this links 95 in 100. What is linked by chance is only kept together without need.

    Examples
    --------
    >>> families(["She led the firm in Lyon.", "In Lyon she helped the firm.", "He sang."]).tolist()
    [0, 0, 1]
    """
    # Which words stand in which sentence
    words = [set(tokens(text)) for text in texts]
    place = {word: k for k, word in enumerate(sorted(set().union(*words)))}
    rows = np.repeat(np.arange(len(words)), [len(word_set) for word_set in words])
    columns = np.array(
        [place[word] for word_set in words for word in sorted(word_set)], dtype=np.int64
    )
    incidence = sparse.csr_matrix((np.ones(len(rows)), (rows, columns)), (len(words), len(place)))
    # A word of every sentence weighs nothing
    rarity = np.log(len(texts) / np.maximum(np.bincount(columns, minlength=len(place)), 1))
    weighted = incidence @ sparse.diags(rarity)
    total = np.asarray(weighted.sum(axis=1)).ravel()
    # Overlap of all pairs, some rows at a time: all at once would fill the memory
    turned = incidence.T.tocsc()
    firsts, right = [], []
    for start in range(0, len(words), _ROWS):
        shared = (weighted[start : start + _ROWS] @ turned).tocoo()
        row, overlap = start + shared.row, shared.data
        close = (overlap > 0) & (overlap >= alike * (total[row] + total[shared.col] - overlap))
        firsts.append(row[close])
        right.append(shared.col[close])
    ends = np.concatenate(firsts), np.concatenate(right)
    # Links chain: A with B and B with C are one family
    links = sparse.coo_matrix((np.ones(len(ends[0])), ends), (len(words), len(words)))
    return np.asarray(sparse.csgraph.connected_components(links)[1], dtype=np.int64)
