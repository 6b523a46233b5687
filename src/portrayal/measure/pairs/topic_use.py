"""Whether topics are used alike in sentences about each group: the chi-squared test per corpus."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from portrayal.measure.pairs.documents import LEVEL, Topics
from portrayal.measure.pairs.levels import lexicon_columns
from portrayal.measure.pairs.table import FULL, Paired
from portrayal.measure.pairs.topics import TopicTable, chi_squared, contingency
from portrayal.measure.scope import Scope
from portrayal.records import ALL, REFERENCE, Estimate, Null, Test
from portrayal.registry import Component
from portrayal.stats import permutation_range, shuffle_within

SHUFFLED = "groups of sentences shuffled within each text"
PEARSON = "Pearson chi-squared, sentences as independent (the paper's)"
EMPTY = "fewer than two groups, or two topics, have sentences in this corpus"


def topic_use(paired: Paired, scope: Scope, *, topics: Topics) -> Iterator[Estimate]:
    """Yield the chi-squared of topic × group for each lexicon and corpus.

    A chi-squared has a null rather than an interval: that of groups shuffled within each text,
    which keeps what a text is about and tests whether its sentences about one group differ in
    topic from its others. The paper's own p treats sentences as independent.

    Parameters
    ----------
    paired
        The paired table.
    scope
        Settings of the audit.
    topics
        From `read_topics`.
    """
    if topics.undefined is not None:
        for lexicon in lexicon_columns(paired):
            for model, form in sorted({*paired.fates, (REFERENCE, ALL)}):
                strata = _strata(lexicon.attribute, lexicon.name, model, form)
                yield _estimate(strata, scope, undefined=topics.undefined)
    for table in topics.tables:
        yield _of_table(table, scope)


def _of_table(table: TopicTable, scope: Scope) -> Estimate:
    strata = _strata(table.attribute, table.lexicon, table.model, table.form)
    value, df, p = chi_squared(table.observed)
    counted = {"sentence without a word of the topic model": table.unread} if table.unread else {}
    if np.isnan(value):
        return _estimate(strata, scope, undefined=EMPTY, exclusions=counted)
    n = int(table.observed.sum())
    rng = scope.rng(TOPIC_USE.name, *strata.values())
    observed = np.zeros((scope.permutations, *table.observed.shape), dtype=np.int32)
    for piece in table.pieces:
        for draw in range(scope.permutations):
            # Within each text, as texts are about something, and so their sentences share topics
            group = shuffle_within(piece.group, piece.text, rng)
            observed[draw] += contingency(piece.topic, group, table.observed.shape)
    shuffled = np.array([chi_squared(one)[0] for one in observed])
    low, high = permutation_range(shuffled, scope.level)
    null = Null(float(shuffled.mean()), float(low), float(high), scope.level, SHUFFLED, scope.seed)
    # What was observed counts as one of the draws, so that p is never 0 (Phipson & Smyth 2010).
    above = (1 + int((shuffled >= value).sum())) / (1 + len(shuffled))
    # Cramér's V, the size of the association in 0–1, does not grow with the number of sentences.
    least = min(int((table.observed.sum(axis=axis) > 0).sum()) for axis in (0, 1))
    cramers_v = float(np.sqrt(value / (table.observed.sum() * (least - 1))))
    # Sentences of each group, and topics associated with it
    by_group: dict[str, float] = {}
    sentences = table.observed.sum(axis=0).tolist()
    for code, label in enumerate((*table.groups, "neutral")):
        by_group[f"sentences_{label}"] = float(sentences[code])
        by_group[f"topics_{label}"] = float((table.association == code).sum())
    return _estimate(
        strata,
        scope,
        value=value,
        null=null,
        tests=(Test(above, f"permutation: {SHUFFLED}, one-sided"), Test(p, PEARSON)),
        n_texts=table.n_texts,
        n_units=float(n),
        n_clusters=table.n_pairs,
        exclusions=counted,
        details={"df": float(df), "cramers_v": cramers_v, **by_group},
    )


def _strata(attribute: str, lexicon: str, model: str, form: str) -> dict[str, str]:
    return {
        "level": LEVEL,
        "attribute": attribute,
        "lexicon": lexicon,
        "model": model,
        "form": form,
        "domain": ALL,
        "source": ALL,
        "length": FULL,
    }


def _estimate(
    strata: Mapping[str, str], scope: Scope, *, value: float | None = None, **fields: Any
) -> Estimate:
    return scope.estimate(
        TOPIC_USE, statistic="chi2", strata=strata, group={}, value=value, **fields
    )


TOPIC_USE = Component(
    name="topic_use.v1",
    summary="Whether topics are used alike in sentences about each group, in each corpus.",
    reads="sentences with their group words; a topic model",
    unit="sentence",
    range="0 and up; 0 is no difference, and the expected value by chance is near df",
    undefined_when="the texts share too few words for a topic model, or fewer than two groups or "
    "topics have sentences",
    equation="chi-squared = sum of (O - E)^2 / E over topics and groups with the neutral one; "
    "SR = (O - E) / sqrt(E (1 - row share) (1 - column share)); a topic goes with the group of its "
    "largest SR above 3",
    source="Fang et al. 2024, Eq. 7 and Table 4",
    run=topic_use,
    title="Topics by group",
    reading="The larger χ², the less alike the topics of sentences about the groups.",
    figure="topic-use",
    listed=False,
)
