"""Scored units: one table of units with scores, from which the sums of every estimate are taken.

A *scored unit* is a text, a sentence, a person or a matched pair. It has a cluster, one score or
one for each of k groups, and is a part of the mean of each group: wholly, by a fraction, or not at
all. An estimate is such a mean, or a difference or ratio of two. A score may be 0 or 1, such as
whether a text shows a group; then the mean is a share. What people say of some of the units is a
table of the same columns, from which the corrected sums come.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from portrayal.stats.clustered import sums_by
from portrayal.stats.two_phase import Labelled
from portrayal.types import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class ScoredUnits:
    """Units with scores; units that are alike may be one row.

    Attributes
    ----------
    cluster
        Code of the independent unit of each row, shape (n,).
    weight
        How many units each row stands for, shape (n,).
    score
        Shape (n,), or (n, k) where it is another one for each group; NaN where a unit has none.
    members
        Which part of the mean of each group one unit is, shape (n, k), or (n, 1) where it is the
        same part of all; then that of the second means, of differences and ratios. A unit without a
        score is part of none.

    Examples
    --------
    >>> cluster, score = np.array([0, 0, 7]), np.array([0.5, np.nan, 3.0])
    >>> first = np.array([[1.0], [1.0], [0.0]])
    >>> units = ScoredUnits(cluster, np.ones(3), score, (first, 1.0 - first))
    >>> total, n, *_ = units.sums()
    >>> units.clusters.tolist(), total.tolist(), n.tolist()
    ([0, 7], [[0.5], [0.0]], [[1.0], [0.0]])
    """

    cluster: IntArray
    weight: FloatArray
    score: FloatArray
    members: tuple[FloatArray, ...]

    def take(self, rows: BoolArray | IntArray) -> "ScoredUnits":
        """Return the units of these rows."""
        members = tuple(member[rows] for member in self.members)
        return ScoredUnits(self.cluster[rows], self.weight[rows], self.score[rows], members)

    def scored(self, score: FloatArray) -> "ScoredUnits":
        """Return the same units with another score, such as what people say of them."""
        return replace(self, score=score)

    @cached_property
    def clusters(self) -> IntArray:
        """Codes of the clusters that occur, sorted."""
        return np.unique(self.cluster)

    @property
    def terms(self) -> tuple[FloatArray, ...]:
        """What one unit adds to the numerator and the denominator of each mean, shape (n, k)."""
        score = self.score[:, np.newaxis] if self.score.ndim == 1 else self.score
        valid = (~np.isnan(score)).astype(np.float64)
        number = np.nan_to_num(score)
        return tuple(term for part in self.members for term in (part * number, part * valid))

    def sums(self, clusters: IntArray | None = None) -> tuple[FloatArray, ...]:
        """Sum the terms of all units by these clusters, or those that occur, (n_clusters, k)."""
        return self._by_cluster(self.terms, clusters)

    def squares(self, clusters: IntArray | None = None) -> FloatArray:
        """Sum the squares of what units add to the first numerators, as `sums`."""
        (squares,) = self._by_cluster([self.terms[0] ** 2], clusters)
        return squares

    def _by_cluster(
        self, terms: Sequence[FloatArray], clusters: IntArray | None
    ) -> tuple[FloatArray, ...]:
        # Clusters are looked up once for all terms.
        codes = self.clusters if clusters is None else clusters
        code, weight = np.searchsorted(codes, self.cluster), self.weight[:, np.newaxis]
        return tuple(sums_by(code, len(codes), term * weight) for term in terms)

    def labelled(self, clusters: IntArray) -> Labelled:
        """Return the units as two-phase sampling takes them; clusters by their index in these."""
        return Labelled(np.searchsorted(clusters, self.cluster), self.weight, self.terms)
