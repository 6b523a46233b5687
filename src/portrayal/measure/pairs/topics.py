"""Which topics go with which group, and the document level: shares of groups among topics, Eq. 7–9.

Where texts do not differ from originals, each of them might as well have been the original, so
that any arrangement of the whole texts of a pool is as likely as the observed one. Unlike words
sentences of a text hang together, where a text has a subject. A text in another's place is read by
the topics and groups of that place's corpus.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from portrayal.annotate.topics.fit import TABLES, saved_topics, topics_stage
from portrayal.annotate.topics.model import TopicModel, TopicTexts, count_words, read_topic_texts
from portrayal.errors import RunError
from portrayal.measure.pairs.levels import lexicon_columns, sentence_groups
from portrayal.measure.pairs.table import DOCUMENT, Deal, Level, Paired, Pools, exchange_within
from portrayal.measure.scope import Scope
from portrayal.records import ALL, REFERENCE, Estimate
from portrayal.registry import Component
from portrayal.run import Run
from portrayal.run.files import write_atomically
from portrayal.run.manifest import MEASURED
from portrayal.stats import divide
from portrayal.types import FloatArray, IntArray

NONE = -1
EMPTY = "fewer than two groups, or two topics, have sentences in this corpus"


@dataclass(frozen=True, eq=False)
class TopicTable:
    """The sentences of one corpus by topic and group, for one lexicon.

    Attributes
    ----------
    attribute, lexicon, groups
        What the M groups are, and which word list tells them.
    model, form
        Whose sentences: a model's answers to one form of prompt, or the reference's.
    observed
        Matrix O, shape (K, M + 1): sentences by topic and group; the last column is neutral.
    association
        The group of each topic, shape (K,): M is neutral, -1 none.
    n_texts, n_pairs
        How many texts and pairs the sentences are of.
    unread
        Sentences without a word of the topic model, left out.
    """

    attribute: str
    lexicon: str
    groups: tuple[str, ...]
    model: str
    form: str
    observed: IntArray
    association: IntArray
    n_texts: int
    n_pairs: int
    unread: int

    @property
    def without_shares(self) -> str | None:
        """Why its texts have no shares: fewer than two groups have topics; None where two have."""
        groups = [group for code, group in enumerate(self.groups) if code in self.association]
        if len(groups) > 1:
            return None
        whose = "the originals" if self.model == REFERENCE else f"texts of {self.model}"
        whose = whose if self.form == ALL else f"{whose}, {self.form}"
        with_whom = f"{groups[0]} only" if groups else "no group"
        return f"topics in {whose} go with {with_whom}, and shares take topics of two groups"


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


def read_topics(run: Run, paired: Paired) -> Topics:
    """Infer the topics of all texts by the run's model, and tell which topics go with which group.

    Writes `topics/topics.json`: words, counts, residuals and associations of every topic.

    Parameters
    ----------
    run
        A run whose topics `fit_topics` has fitted.
    paired
        Its paired table, with group words of each sentence.

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
    topics = topics_of(paired, model, generated, reference)
    tables = []
    for table in topics.tables:
        labels = [*table.groups, "neutral"]
        residual = standardized_residuals(table.observed).round(4).astype(object)
        residual[np.isnan(residual.astype(np.float64))] = None
        cells = {
            "attribute": table.attribute,
            "lexicon": table.lexicon,
            "model": table.model,
            "form": table.form,
            "groups": labels,
            "observed": table.observed.tolist(),
            "residual": residual.tolist(),
            "association": [None if i < 0 else labels[i] for i in table.association.tolist()],
            "sentences_without_words": table.unread,
        }
        tables.append(cells)
    words = [list(model.top_words(k)) for k in range(model.n_topics)]
    facts_shown = {"n_topics": model.n_topics, "facts": dict(model.facts), "words": words}
    run.manifest.open(MEASURED)
    path = topics_stage(run).folder / TABLES
    write_atomically(
        path, json.dumps({**facts_shown, "tables": tables}, ensure_ascii=False, indent=1)
    )
    return topics


def topics_of(
    paired: Paired, model: TopicModel, generated: TopicTexts, reference: TopicTexts
) -> Topics:
    """Tell which topics go with which group in each corpus, by the topics of its sentences."""
    ours, tables = paired.generated, []
    corpora = [
        ((paired.models[i], paired.forms[j]), ours, generated, (ours.model == i) & (ours.form == j))
        for i, j in ours.corpora
    ]
    everything = np.ones(len(paired.reference.pair), dtype=bool)
    corpora.append(((REFERENCE, ALL), paired.reference, reference, everything))
    for lexicon in lexicon_columns(paired):
        m = len(lexicon.groups)
        for (name, form), texts, topic_texts, inside in corpora:
            text, topic = texts.text, np.asarray(topic_texts.topic, dtype=np.int64)
            valid = inside[text] & (topic >= 0)
            about = sentence_groups(texts.counts[:, lexicon.columns])
            group = np.where(about < 0, m, about)[valid]  # no group or a tie: the neutral column
            observed = contingency(topic[valid], group, (model.n_topics, m + 1))
            with_words = np.unique(text[valid])
            table = TopicTable(
                attribute=lexicon.attribute,
                lexicon=lexicon.name,
                groups=lexicon.groups,
                model=name,
                form=form,
                observed=observed,
                association=associations(standardized_residuals(observed)),
                n_texts=len(with_words),
                n_pairs=len(np.unique(texts.pair[with_words])),
                unread=int((inside[text] & ~valid).sum()),
            )
            tables.append(table)
    return Topics(model, generated, reference, tuple(tables))


def contingency(topic: IntArray, group: IntArray, shape: tuple[int, int]) -> IntArray:
    """Count sentences by topic and group, shapes (n,), (n,) -> `shape` (K, M + 1)."""
    k, m = shape
    return np.asarray(np.bincount(topic * m + group, minlength=k * m).reshape(k, m))


def standardized_residuals(observed: IntArray) -> FloatArray:
    """Return SR of each cell, shape (K, M + 1) -> (K, M + 1).

    NaN where a row or column is empty, or holds every sentence.

    Fang et al. 2024, Eq. 7.
    """
    n = float(observed.sum())
    row = observed.sum(axis=1, keepdims=True).astype(np.float64)
    column = observed.sum(axis=0, keepdims=True).astype(np.float64)
    spread = np.sqrt(row * (n - row) * column * (n - column))  # whole numbers: 0 where undefined
    return divide((n * observed - row * column) * np.sqrt(n), spread)


def associations(residual: FloatArray, threshold: float = 3.0) -> IntArray:
    """Return the group of each topic, shape (K, M + 1) -> (K,): largest residual, if above it."""
    # argmax would take NaN for the largest.
    filled = np.where(np.isnan(residual), -np.inf, residual)
    return np.where(filled.max(axis=1) > threshold, filled.argmax(axis=1), NONE)


def chi_squared(observed: IntArray) -> tuple[float, int]:
    """Return Pearson's chi-squared of a table without its empty rows and columns.

    Returns
    -------
    statistic, degrees of freedom
        NaN, 0 where fewer than two rows or columns are left.
    """
    # Empty rows and columns expect nothing, and must not count as degrees of freedom.
    table = observed[observed.sum(axis=1) > 0][:, observed.sum(axis=0) > 0]
    rows, columns = table.shape
    if rows < 2 or columns < 2:
        return float("nan"), 0
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0, keepdims=True) / table.sum()
    return float(((table - expected) ** 2 / expected).sum()), (rows - 1) * (columns - 1)


def topic_use(paired: Paired, scope: Scope, *, topics: Topics) -> Iterator[Estimate]:
    """Yield the chi-squared of topic × group for each lexicon and corpus.

    It is described, without p: sentences of one text are about one subject, so that the paper's p,
    which takes them as independent, is far too small. Cramér's V, in 0–1, stands beside.

    Parameters
    ----------
    paired
        The paired table.
    scope
        Settings of the audit.
    topics
        From `read_topics`.
    """

    def estimate(*place: str, **fields: Any) -> Estimate:
        strata = dict(zip(("attribute", "lexicon", "model", "form"), place, strict=True))
        strata |= {"level": DOCUMENT}
        return scope.estimate(TOPIC_USE, statistic="chi2", strata=strata, group={}, **fields)

    if topics.undefined is not None:
        for lexicon in lexicon_columns(paired):
            corpora = [(paired.models[i], paired.forms[j]) for i, j in paired.generated.corpora]
            for corpus in (*corpora, (REFERENCE, ALL)):
                place = lexicon.attribute, lexicon.name, *corpus
                yield estimate(*place, value=None, undefined=topics.undefined)
    for table in topics.tables:
        place = table.attribute, table.lexicon, table.model, table.form
        value, df = chi_squared(table.observed)
        unread = {"sentence without a word of the topic model": table.unread}
        fields: dict[str, Any] = {"exclusions": unread if table.unread else {}}
        if np.isnan(value):
            yield estimate(*place, value=None, undefined=EMPTY, **fields)
            continue
        # Cramér's V, the size of the association, does not grow with the number of sentences.
        n = float(table.observed.sum())
        least = min(int((table.observed.sum(axis=axis) > 0).sum()) for axis in (0, 1))
        yield estimate(
            *place,
            value=value,
            details={"df": float(df), "cramers_v": float(np.sqrt(value / (n * (least - 1))))},
            n_texts=table.n_texts,
            n_units=n,
            n_clusters=table.n_pairs,
            **fields,
        )


TOPIC_USE = Component(
    name="topic_use.v1",
    summary="Whether topics are used alike in sentences about each group, in each corpus.",
    reads="sentences with their group words; a topic model",
    unit="sentence",
    range="0 and up; 0 is no difference",
    undefined_when="the texts share too few words for a topic model, or fewer than two groups or "
    "topics have sentences",
    equation="chi-squared = sum of (O - E)^2 / E over topics and groups with the neutral one; "
    "SR = (O - E) / sqrt(E (1 - row share) (1 - column share)); a topic goes with the group of its "
    "largest SR above 3",
    source="Fang et al. 2024, Eq. 7 and Table 4",
    run=topic_use,
    title="Topics by group",
    reading="The larger χ², the less alike the topics of sentences about the groups.",
)


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
    shares = model.infer(bags).astype(np.float64)
    # Without a word of the model a text gets the prior's topics, none of its own.
    shares[np.diff(bags.indptr) == 0] = 0.0
    return shares


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
