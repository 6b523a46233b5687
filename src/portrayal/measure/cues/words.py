"""Marked words: what the texts of a group say more often than other texts do.

Weighted log odds with an informative Dirichlet prior (Monroe, Colaresi & Quinn 2008), per group and
intersection of groups, within each role, against the rest or against an unmarked group.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations, product

import numpy as np

from portrayal.errors import OptionError
from portrayal.measure.cues.documents import Counts, Documents
from portrayal.measure.scope import Scope
from portrayal.records import ALL
from portrayal.stats import benjamini_hochberg, divide, shuffle_within
from portrayal.stats.log_odds import clustered_log_odds, informative_prior, log_odds
from portrayal.stats.tails import t_isf, t_sf
from portrayal.types import BoolArray, FloatArray

SOURCE = "Monroe, Colaresi & Quinn 2008, Fightin' Words, section 3"
PRIOR = 500.0
"""Words of the Dirichlet prior, spread as the words of all texts; counts beyond it outweigh it."""
REST = "the rest"


@dataclass(frozen=True, slots=True)
class MarkedWord:
    """One word in one comparison.

    Attributes
    ----------
    word
        The word, case folded.
    count, count_others
        Occurrences in the group's texts, and in the texts they are compared with.
    texts, clusters
        The group's texts that have it, and the clusters on either side that do.
    log_odds, low, high
        Difference in log odds, and its interval clustered as the documents are (Student's t with
        the word's clusters less 1); NaN bounds where a single cluster has the word.
    z, z_clustered
        Log odds over its error with words independent (the published method), and clustered.
    q
        Benjamini–Hochberg over all words of all comparisons, from the clustered z.
    p_shuffled
        How often any word gets as far when groups are shuffled between texts (within clusters that
        hold both sides), each word's z from its mean over the shuffles in units of its spread:
        corrected for all words, and free of either error's assumptions.
    """

    word: str
    count: int
    count_others: int
    texts: int
    clusters: int
    log_odds: float
    low: float
    high: float
    z: float
    z_clustered: float
    q: float
    p_shuffled: float


@dataclass(frozen=True)
class WordComparison:
    """The words of one group against others, those that mark it most first.

    Attributes
    ----------
    group, role, against
        Attribute to label, the role ("all": any), and "the rest" or the unmarked group.
    n_texts, n_others, n_clusters
        Texts of either side, and independent clusters in both.
    whole_clusters
        Clusters of several texts between which groups are shuffled, where none holds texts of both
        sides, so that `p_shuffled` is of these few units; else 0.
    words
        Words in enough of the group's texts; empty where `undefined` says why.
    """

    group: Mapping[str, str]
    role: str
    against: str
    n_texts: int
    n_others: int
    n_clusters: int
    words: tuple[MarkedWord, ...]
    undefined: str | None = None
    whole_clusters: int = 0

    @property
    def title(self) -> str:
        """The group in words, with its role."""
        name = " ".join(self.group.values())
        return name if self.role == ALL else f"{name}, {self.role}"


def marked_words(
    documents: Documents,
    counts: Counts,
    scope: Scope,
    *,
    unmarked: Mapping[str, str] | None = None,
) -> list[WordComparison]:
    """Compare each group's words with the others'.

    Parameters
    ----------
    documents, counts
        Grouped texts and their words.
    scope
        Level, seed, and permutations of the null.
    unmarked
        Attribute to label of the group to compare with, such as `{"race": "White"}`; a group is
        then compared with the texts that have these labels in the attributes it is made of, and
        without it with every other text. Attributes not named are compared with the rest.

    Returns
    -------
    list
        One comparison per role, and label or combination of labels; two attributes give both single
        ones and the intersection.

    Raises
    ------
    OptionError
        For an unmarked label that no text has.
    """
    for name, label in (unmarked or {}).items():
        if name not in documents.groups:
            group_names = ", ".join(documents.groups)
            raise OptionError(
                f"--reference-group names {name!r}, which is not a group; groups: {group_names}."
            )
        labels = sorted(set(documents.groups[name]) - {""})
        if label not in labels:
            raise OptionError(f"no text has {name}={label}; labels: {', '.join(labels[:20])}.")
    totals = np.asarray(counts.matrix.sum(axis=0)).ravel()
    alpha = informative_prior(totals, PRIOR)
    compared = [
        _compare(documents, counts, alpha, pair, scope)
        for pair in _pairs(documents, unmarked or {})
    ]
    # The family of q is all words of all comparisons.
    words = [word for one in compared for word in one.words]
    z = np.array([word.z_clustered for word in words])
    df = np.array([max(word.clusters - 1, 1) for word in words])
    q = iter(benjamini_hochberg(2 * t_sf(np.abs(z), df)).tolist() if words else [])
    return [
        replace(one, words=tuple(replace(word, q=next(q)) for word in one.words))
        for one in compared
    ]


@dataclass(frozen=True)
class _Pair:
    group: Mapping[str, str]
    role: str
    against: str
    first: BoolArray
    second: BoolArray


def _pairs(documents: Documents, unmarked: Mapping[str, str]) -> Iterator[_Pair]:
    """Each label, or combination of labels, in each role, with the texts it is compared with."""
    columns = {name: np.array(labels) for name, labels in documents.groups.items()}
    roles = np.array(documents.role)
    sizes = range(1, len(columns) + 1)
    attributes = [names for size in sizes for names in combinations(columns, size)]
    for role, names in product((ALL, *sorted(set(documents.role) - {"", ALL})), attributes):
        # Texts without one of the labels are on neither side.
        comparable = np.all([columns[name] != "" for name in names], axis=0)
        comparable &= (roles == role) | (role == ALL)
        base = {name: unmarked[name] for name in names if name in unmarked}
        labels = [sorted(set(columns[name].tolist()) - {""}) for name in names]
        for values in product(*labels):
            group = dict(zip(names, values, strict=True))
            first = comparable & np.all([columns[n] == v for n, v in group.items()], axis=0)
            # Against the rest, unless each attribute has an unmarked label to compare with
            second, against = comparable & ~first, REST
            if len(base) == len(names) and group != base:
                second = comparable & np.all([columns[n] == v for n, v in base.items()], axis=0)
                against = " ".join(base.values())
            yield _Pair(group, role, against, first, second)


def _compare(
    documents: Documents, counts: Counts, alpha: FloatArray, pair: _Pair, scope: Scope
) -> WordComparison:
    """Compare the words of two sides, and both with groups that are shuffled."""
    n_texts, n_others = int(pair.first.sum()), int(pair.second.sum())
    common = (pair.group, pair.role, pair.against, n_texts, n_others)
    if not n_texts or not n_others:
        empty = " ".join(pair.group.values()) if not n_texts else pair.against
        return WordComparison(*common, 0, (), f"no text of {empty} in role {pair.role}")
    odds = clustered_log_odds(counts.matrix, pair.first, pair.second, documents.cluster, alpha)
    # Groups are shuffled within clusters where clusters hold texts of both sides, else between
    # whole clusters, as shuffling within prompts would then move nothing
    rng = scope.rng("marked words", pair.role, pair.against, *pair.group.values())
    either = np.flatnonzero(pair.first | pair.second)
    label, cluster = pair.first[either].astype(np.int64), documents.cluster[either]
    _, code, size = np.unique(cluster, return_inverse=True, return_counts=True)
    mixed = np.bincount(code, weights=label)
    by_cluster = bool(np.all((mixed == 0) | (mixed == size)))
    n_whole = len(size) if by_cluster and len(size) < len(either) else 0
    of_cluster = (mixed > 0).astype(np.int64)
    matrix = counts.matrix[either]
    total = np.asarray(matrix.sum(axis=0)).ravel()
    labels = np.empty((scope.permutations, len(either)))
    for row in labels:
        if by_cluster:
            row[:] = rng.permutation(of_cluster)[code]
        else:
            row[:] = shuffle_within(label, code, rng)
    shuffled_counts = (matrix.T @ labels.T).T
    delta, error = log_odds(shuffled_counts, np.maximum(total - shuffled_counts, 0.0), alpha)
    z = delta / error  # (permutations, n_words)
    # From its own mean and spread, so that no word sets the largest by its scale alone
    middle, spread = z.mean(axis=0), z.std(axis=0)
    spread = np.where(spread > 0, spread, np.nan)
    top = np.nanmax(np.abs((z - middle) / spread), axis=1, initial=0.0)
    scaled = np.abs(divide(odds.z - middle, spread))
    # Plus 1, as the arrangement that was seen is one of those possible: p is never 0
    shuffled = (1 + (top[:, np.newaxis] >= scaled - 1e-9).sum(0)) / (1 + len(top))
    first = counts.matrix[pair.first]
    count = np.asarray(first.sum(axis=0)).ravel()
    other_count = np.asarray(counts.matrix[pair.second].sum(axis=0)).ravel()
    texts = np.diff(first.tocsc().indptr)
    # Student's t, as a word may stand in few clusters; the normal's interval would be too short
    df = np.maximum(odds.word_clusters - 1, 1)
    half = odds.clustered * t_isf((1 - scope.level) / 2, df)
    counts_of_words = (count, other_count, texts, odds.word_clusters)
    unknown = np.full(len(odds.z), np.nan)  # q is of all comparisons
    low, high = odds.delta - half, odds.delta + half
    real = (odds.delta, low, high, odds.z, odds.z_clustered, unknown, shuffled)
    # One long text can repeat a word often: it has to stand in several of the group's
    enough = (texts >= counts.min_texts) & (count + other_count >= counts.min_count)
    words = []
    # Most marked first; ties in the order of the words
    for i in np.lexsort((np.arange(len(odds.z)), -odds.z)):
        if enough[i]:
            n_of_word = (int(n[i]) for n in counts_of_words)
            words.append(MarkedWord(counts.words[i], *n_of_word, *(float(x[i]) for x in real)))
    return WordComparison(*common, odds.n_clusters, tuple(words), None, n_whole)
