"""How many topics: the grid of K that is tried, and each one's held-out perplexity."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from portrayal.annotate.topics.bags import Bags
from portrayal.annotate.topics.infer import infer, log_bound

if TYPE_CHECKING:
    from gensim.models import LdaModel

GRID = (200, 250, 300)
"""The numbers of topics that the paper tried."""

PER_TOPIC = 10
"""Documents that a topic of the grid needs at least."""

SEEN = 20_000
"""Documents a fit reads at least, repetitions counted, within `MAX_PASSES`."""
MAX_PASSES = 20


def choose_grid(n_documents: int, asked: Sequence[int] = ()) -> tuple[tuple[int, ...], str | None]:
    """Return the numbers of topics to try, and why they are not the paper's.

    The paper's grid where every topic can have ten documents; else a quarter, a half and the whole
    of a tenth of the documents, at least two topics.
    """
    if asked:
        return tuple(asked), None
    if n_documents >= PER_TOPIC * GRID[-1]:
        return GRID, None
    most = max(2, n_documents // PER_TOPIC)
    grid = tuple(sorted({max(2, most // 4), max(2, most // 2), most}))
    why = (
        f"{n_documents:,} documents are too few for the paper's K of {GRID[0]} to {GRID[-1]} "
        f"({PER_TOPIC} documents a topic would need {PER_TOPIC * GRID[-1]:,}); "
        f"tried K = {', '.join(map(str, grid))} instead. Topics of so few documents are coarse."
    )
    return grid, why


def passes_for(n_documents: int) -> int:
    """Return how often a fit reads all documents: until it has read 20,000, at most 20 times."""
    return max(1, min(MAX_PASSES, -(-SEEN // max(1, n_documents))))


def perplexity(lda: "LdaModel", held_out: Bags) -> float:
    """Return the perplexity of documents that the model was not fitted to.

    exp(-bound / words), Blei, Ng and Jordan 2003, Section 7.1, by the variational bound.
    """
    weights = np.ascontiguousarray(lda.expElogbeta.T)
    gamma = infer(held_out, weights, lda.alpha)
    bound = log_bound(held_out, gamma, weights, lda.alpha)
    return float(np.exp(-bound.sum() / held_out.words.sum()))
