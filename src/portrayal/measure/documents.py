"""The document level: shares of each group among a text's pertinent topics, Eq. 7–9."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
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
from portrayal.measure.paired import REFERENCE, SHARE, Level, Paired, Texts
from portrayal.measure.paired_levels import (
    LexiconColumns,
    RowSentences,
    lexicon_columns,
    sentence_groups,
    sides_by_length,
)
from portrayal.measure.tally import BoolArray, FloatArray, IntArray
from portrayal.measure.topic_tables import (
    TopicTable,
    associations,
    contingency,
    standardized_residuals,
)
from portrayal.records import ALL
from portrayal.run import Run
from portrayal.run.stages import write_atomically
from portrayal.stats import divide

LEVEL = "document"
_DEALT = "sentences, with the topics of their words, dealt again at random to each pair's two texts"


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
        if not np.array_equal(found.sentence_text, known.sentence_text):
            raise RunError(f"{run.path}: annotations and texts are out of step; audit it again.")
    tables = tuple(
        _table(model, lexicon, corpus, settings.threshold)
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
        Start of the random stream that draws sentences for equal length, as for the other levels.
    topics
        What `read_topics` returned, where it was called before.

    Returns
    -------
    list of Level
        Named "document"; for each lexicon at full, then at equal length; none where there are no
        topics. A text without pertinent topic has no shares (NaN). At equal length a text is the
        sentences kept, with the topics that the whole text's inference gives their words. The null
        deals the sentences of a pair to its two texts again, each keeping its number.
    """
    topics = read_topics(run, paired, settings) if topics is None else topics
    if topics.model is None or topics.generated is None or topics.reference is None:
        return []
    both = sides_by_length(paired, seed)
    return [
        _level(paired, topics, settings, lexicon, length, sides)
        for lexicon in lexicon_columns(paired)
        for length, sides in both.items()
    ]


@dataclass(frozen=True, eq=False)
class _Corpus:
    """The sentences of one corpus, by number, of one side."""

    model: str
    form: str
    texts: Texts
    topics: TopicTexts
    inside: IntArray


def _corpora(paired: Paired, generated: TopicTexts, reference: TopicTexts) -> Iterator[_Corpus]:
    texts = paired.generated
    model, form = texts.model[texts.sentence_text], texts.form[texts.sentence_text]
    for i, j in _answered(paired):
        inside = np.flatnonzero((model == i) & (form == j))
        yield _Corpus(paired.models[i], paired.forms[j], texts, generated, inside)
    everything = np.arange(len(paired.reference.sentence_text))
    yield _Corpus(REFERENCE, ALL, paired.reference, reference, everything)


def _answered(paired: Paired) -> list[tuple[int, int]]:
    """Codes of each (model, form) that has texts, in order."""
    codes = zip(paired.generated.model.tolist(), paired.generated.form.tolist(), strict=True)
    return sorted(set(codes))


def _table(
    model: TopicModel, lexicon: LexiconColumns, corpus: _Corpus, threshold: float
) -> TopicTable:
    m = len(lexicon.groups)
    about = sentence_groups(corpus.texts.counts[corpus.inside, lexicon.columns])
    topic = corpus.topics.topic[corpus.inside].astype(np.int64)
    known = topic >= 0
    group = np.where(about < 0, m, about)[known]
    text = corpus.texts.sentence_text[corpus.inside][known]
    observed = contingency(topic[known], group, (model.n_topics, m + 1))
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
        topic=topic[known],
        group=group,
        text=text,
        pair=corpus.texts.pair[text],
        unread=int((~known).sum()),
    )


@dataclass(frozen=True, eq=False)
class _Pool:
    """Sentences of all rows and of both sides, with the words they give to pertinent topics.

    `row`, `ours`, `words` by sentence; `sentence`, `cell`, `mass` by entry, where a cell is
    row × K' + topic.
    """

    row: IntArray
    ours: BoolArray
    words: FloatArray
    sentence: IntArray
    cell: IntArray
    mass: FloatArray


def _level(
    paired: Paired,
    topics: Topics,
    settings: TopicSettings,
    lexicon: LexiconColumns,
    length: str,
    sides: tuple[RowSentences, RowSentences],
) -> Level:
    groups = _Groups.of(paired, topics, settings, lexicon)
    pool = _pool(topics, sides, groups.number)
    order = np.argsort(pool.row, kind="stable")
    kept = np.bincount(pool.row[pool.ours], minlength=paired.n_rows)

    def draw(rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        dealt = _deal(pool.row, order, kept, rng)
        ours, theirs = groups.sums(pool, dealt)
        return _shares(ours), _shares(theirs)

    ours, theirs = groups.sums(pool, pool.ours)
    return Level(
        name=LEVEL,
        attribute=lexicon.attribute,
        lexicon=lexicon.name,
        groups=lexicon.groups,
        kind=SHARE,
        worse=-1,
        length=length,
        generated=_shares(ours),
        reference=_shares(theirs),
        mentioned=theirs > 0,
        draw=draw,
        null_method=_DEALT,
    )


def _shares(sums: FloatArray) -> FloatArray:
    """Eq. 8: shape (n_rows, M), NaN where a text has no pertinent topic."""
    return divide(sums, sums.sum(axis=1, keepdims=True))


def _deal(row: IntArray, order: IntArray, kept: IntArray, rng: np.random.Generator) -> BoolArray:
    """Draw which sentences of each row are the generated text's; `order` sorts them by row."""
    shuffled = np.lexsort((rng.random(len(row)), row))
    inside = row[order]
    rank = np.arange(len(row)) - np.searchsorted(inside, inside)
    ours = np.zeros(len(row), dtype=bool)
    ours[shuffled] = rank < kept[row[shuffled]]
    return ours


@dataclass(frozen=True, eq=False)
class _Groups:
    """Which topics count for which group, in the corpus of each row and in the reference.

    `number` maps K topics to K' pertinent ones (-1: others); `corpus` is the table of each row.
    """

    number: IntArray
    prior: FloatArray
    total: float
    least: float
    corpus: IntArray
    belongs: FloatArray

    @classmethod
    def of(
        cls, paired: Paired, topics: Topics, settings: TopicSettings, lexicon: LexiconColumns
    ) -> "_Groups":
        """Return the groups of one lexicon; `belongs` has shape (n_corpora, K', M)."""
        assert topics.model is not None
        m = len(lexicon.groups)
        tables = [t for t in topics.tables if (t.lexicon, t.attribute) == lexicon_key(lexicon)]
        linked = np.stack([table.association for table in tables])
        pertinent = np.flatnonzero(((linked >= 0) & (linked < m)).any(axis=0))
        number = np.full(linked.shape[1], -1, dtype=np.int64)
        number[pertinent] = np.arange(len(pertinent))
        codes = {code: at for at, code in enumerate(_answered(paired))}
        pairs = zip(paired.model.tolist(), paired.form.tolist(), strict=True)
        alpha = topics.model.alpha.astype(np.float64)
        return cls(
            number=number,
            prior=alpha[pertinent],
            total=float(alpha.sum()),
            least=settings.min_share,
            corpus=np.array([codes[pair] for pair in pairs], dtype=np.int64),
            belongs=(linked[:, pertinent, np.newaxis] == np.arange(m)).astype(np.float64),
        )

    def sums(self, pool: _Pool, ours: BoolArray) -> tuple[FloatArray, FloatArray]:
        """Return Σ t_k over each group's topics, of both sides: two of shape (n_rows, M)."""
        mine = self._topic_shares(pool, ours)
        other = self._topic_shares(pool, ~ours)
        found = np.zeros((len(self.corpus), self.belongs.shape[2]))
        for code in np.unique(self.corpus).tolist():
            rows = self.corpus == code
            found[rows] = mine[rows] @ self.belongs[code]
        return found, other @ self.belongs[-1]

    def _topic_shares(self, pool: _Pool, chosen: BoolArray) -> FloatArray:
        """t_k of the chosen sentences of each row, shape (n_rows, K'); small shares are 0."""
        n, k = len(self.corpus), len(self.prior)
        inside = chosen[pool.sentence]
        mass = np.bincount(pool.cell[inside], pool.mass[inside], minlength=n * k)
        words = np.bincount(pool.row[chosen], pool.words[chosen], minlength=n)
        share = (self.prior + mass.reshape(n, k)) / (self.total + words)[:, np.newaxis]
        return np.where((share >= self.least) & (words > 0)[:, np.newaxis], share, 0.0)


def lexicon_key(lexicon: LexiconColumns) -> tuple[str, str]:
    """Return what tells one lexicon from another: its name and attribute."""
    return lexicon.name, lexicon.attribute


def _pool(topics: Topics, sides: tuple[RowSentences, RowSentences], number: IntArray) -> _Pool:
    assert topics.generated is not None
    assert topics.reference is not None
    parts: dict[str, list[Any]] = {name: [] for name in _Pool.__annotations__}
    k, before = int((number >= 0).sum()), 0
    for side, texts in zip(sides, (topics.generated, topics.reference), strict=True):
        size = np.diff(texts.start)[side.at]
        sentence = np.repeat(np.arange(len(side.at)), size)
        first = np.repeat(texts.start[side.at] - (np.cumsum(size) - size), size)
        entry = first + np.arange(len(sentence))
        topic = number[texts.entry_topic[entry]]
        pertinent = topic >= 0
        parts["row"].append(side.row)
        parts["ours"].append(np.full(len(side.row), before == 0 and texts is topics.generated))
        parts["words"].append(texts.words[side.at])
        parts["sentence"].append(sentence[pertinent] + before)
        parts["cell"].append(side.row[sentence[pertinent]] * k + topic[pertinent])
        parts["mass"].append(texts.entry_mass[entry[pertinent]])
        before += len(side.at)
    return _Pool(**{name: np.concatenate(found) for name, found in parts.items()})


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
                "sentences_without_words": table.unread,
            }
            for table in topics.tables
        ],
    }
