"""The paired table: generated texts beside their originals, its levels, and where measures look."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from portrayal.measure.corrected import HandMarks
from portrayal.measure.pairs.dealing import Pools, pools_of
from portrayal.records import ALL, REFERENCE
from portrayal.types import BoolArray, FloatArray, IntArray

Deal = Callable[[np.random.Generator, int], tuple[FloatArray, FloatArray]]
Dealer = Callable[[Pools], Deal]

SHARE, SCORE = "share", "score"
DOCUMENT = "document"
FULL, EQUAL = "full", "equal"
BOTH, GENERATED, ORIGINAL = 1, 2, 3
PAIRED = "paired"
"""The disposition of a text that has its original, both readable."""

NO_KEY = "no pairing key"
NO_ORIGINAL = "no original"
NO_TEXT = "no generated text"
UNREADABLE = "annotation failed"
DUPLICATE = "second original of a pair"
PLAIN_FORM = "un" + "biased"
"""Fang et al.'s name of the prompt form that adds nothing to the headline; the default."""


@dataclass(frozen=True, eq=False)
class Level:
    """What is compared within each row, for one attribute and one lexicon.

    Attributes
    ----------
    name
        "word", "sentence_sentiment", "sentence_toxicity" or "document".
    attribute, lexicon
        What the groups are groups of ("gender"), and the word list that tells them.
    groups
        Labels of the M groups.
    kind
        "share": distributions over the groups, rows sum to 1; "score": mean scores by group.
    worse
        Direction of prejudice: -1 where a fall is (shares, sentiment), +1 where a rise is
        (toxicity).
    length
        "full" texts, or "equal": sentences of the longer one drawn at random to the words of the
        shorter, several times over.
    generated, reference
        Values of the generated texts and of their originals, shape (n_samples, n_rows, M); NaN
        where undefined. At full length there is one sample, at equal length one for each draw of
        sentences.
    dealer
        Function of the pools of the rows to a function of a random stream and the number of a draw.
        That one returns both values, shape (n_rows, M), after what each original and its texts hold
        was dealt to them again, in one of the samples; None where there is no null.
    null_method
        What dealing does, in words.
    readings
        Where the null exchanges whole texts, which leaves the distance of two texts as it is:
        values of the generated texts and of their originals, each read as the text of its row and
        as an original, (2, n_rows, 2, M).
    without_shares
        Why no text of a corpus has shares, or None, for each (model, form) and the originals.
    """

    name: str
    attribute: str
    lexicon: str
    groups: tuple[str, ...]
    kind: str
    worse: int
    length: str
    generated: FloatArray
    reference: FloatArray
    dealer: Dealer | None = None
    null_method: str = "dealt again at random to each original and its texts"
    readings: FloatArray | None = None
    without_shares: Mapping[tuple[str, str], str | None] = field(default_factory=dict)

    @property
    def n_samples(self) -> int:
        """How often sentences were drawn; 1 at full length."""
        return len(self.generated)

    @cached_property
    def lacking(self) -> IntArray:
        """Which text of a row has no value of any group: `BOTH`, …, or 0; shape (n_rows,)."""
        sides = self.generated, self.reference
        ours, theirs = (np.isnan(side).all(axis=(0, 2)) for side in sides)
        return np.select([ours & theirs, ours, theirs], [BOTH, GENERATED, ORIGINAL], 0)

    def undefined(self, model: str, form: str) -> str | None:
        """Why no pair of a model, or of all, has shares in a form; None where some may have."""
        corpora = self.without_shares.items()
        reasons = [reason for (m, f), reason in corpora if f == form and model in (ALL, m)]
        # Without shares of the originals there is nothing to compare any text with
        originals = self.without_shares.get((REFERENCE, ALL))
        return originals or next(iter(reasons), None) if originals or all(reasons) else None

    @property
    def labels(self) -> dict[str, str]:
        """The level's strata: level, attribute, lexicon and length."""
        return {
            "level": self.name,
            "attribute": self.attribute,
            "lexicon": self.lexicon,
            "length": self.length,
        }


@dataclass(frozen=True, eq=False)
class Texts:
    """All texts of one side, paired or not, in the order of the run.

    Attributes
    ----------
    pair, model, form, outcome
        Codes, shape (n_texts,): of `Paired.pairs` (-1 where the text names no pair), of
        `Paired.models` and `forms` (0 for originals), and of `portrayal.records.OUTCOMES`.
    words
        Words of each text, shape (n_texts,); NaN where it could not be read.
    start
        Where the sentences of each text begin, and the end; shape (n_texts + 1,).
    sentence_words
        Words of each sentence, shape (n_sentences,).
    counts
        Group words of each sentence, shape (n_sentences, n_columns).
    scores
        Score of each sentence by kind ("sentiment", "toxicity"); NaN where there is none.
    """

    pair: IntArray
    model: IntArray
    form: IntArray
    outcome: IntArray
    words: FloatArray
    start: IntArray
    sentence_words: FloatArray
    counts: FloatArray
    scores: Mapping[str, FloatArray] = field(default_factory=dict)

    @property
    def n_texts(self) -> int:
        """Number of texts."""
        return len(self.pair)


@dataclass(frozen=True, eq=False)
class Paired:
    """Generated texts beside their originals.

    Attributes
    ----------
    pairs, models, forms, domains, sources
        Labels; `pairs` are the pairing keys, the independent units of every interval.
    pair, model, form, domain, source
        Codes of each row, shape (n_rows,).
    text, original
        Which of `generated` and `reference` a row compares, shape (n_rows,).
    dispositions
        How many texts of each (model, form) were paired, and how many not, by reason; those of
        the originals stand under (REFERENCE, ALL).
    generated, reference
        Every text of either side, and its sentences.
    hand
        Sentences that people gave a number, by kind of score.
    columns
        What is counted in the sentences: (lexicon, attribute, group) of each column.
    levels
        What is compared.
    """

    pairs: tuple[str, ...]
    models: tuple[str, ...]
    forms: tuple[str, ...]
    domains: tuple[str, ...]
    sources: tuple[str, ...]
    pair: IntArray
    model: IntArray
    form: IntArray
    domain: IntArray
    source: IntArray
    text: IntArray
    original: IntArray
    dispositions: Mapping[tuple[str, str], Mapping[str, int]]
    generated: Texts
    reference: Texts
    columns: tuple[tuple[str, str, str], ...] = ()
    levels: tuple[Level, ...] = ()
    hand: Mapping[str, HandMarks] = field(default_factory=dict)

    @property
    def n_rows(self) -> int:
        """Number of generated texts that have an original."""
        return len(self.pair)

    def pools(self, *, all_models: bool = False) -> Pools:
        """Return the pools of the rows: each original with its texts of one model, or of all."""
        labels = [self.pair, self.form]
        return pools_of(labels if all_models else [*labels, self.model])

    @property
    def model_labels(self) -> tuple[str, ...]:
        """What estimates are made for: all models together, then each; only itself if alone."""
        return self.models if len(self.models) == 1 else (ALL, *self.models)

    def of_model(self, model: str) -> BoolArray:
        """Whether each row is of the model, or of any for "all", shape (n_rows,)."""
        if model == ALL:
            return np.ones(self.n_rows, dtype=bool)
        return np.asarray(self.model == self.models.index(model))

    def base_form(self, form: str | None = None) -> str:
        """Return the form others are compared with: `form`, the paper's plain one, the first."""
        return form or (PLAIN_FORM if PLAIN_FORM in self.forms else self.forms[0])

    def with_levels(self, levels: Iterable[Level]) -> "Paired":
        """Return the same rows with these levels."""
        return replace(self, levels=tuple(levels))


FEWEST_PAIRS = 5
"""Pairs that a domain or source needs for estimates of its own; it counts in "all" anyway."""


@dataclass(frozen=True, eq=False)
class PairStratum:
    """Rows of one model (or of all) under one prompt form, in one domain or source (or all).

    Attributes
    ----------
    labels
        Its strata: model, form, domain and source; "all" pools.
    rows
        Which rows of the paired table lie there, shape (n_rows,).
    """

    labels: Mapping[str, str]
    rows: BoolArray

    @property
    def is_whole(self) -> bool:
        """Whether all domains and sources are taken together."""
        return self.labels["domain"] == self.labels["source"] == ALL

    def has(self, level: Level) -> bool:
        """Whether the level is reported here: equal length only over all domains and sources."""
        return self.is_whole or level.length == FULL


def places(paired: Paired) -> Iterator[PairStratum]:
    """Yield all domains and sources, then each domain, then each source, for model and form.

    Models are pooled first where there are several; forms never are, since they ask for different
    texts.
    """
    parts = (("domain", paired.domains, paired.domain), ("source", paired.sources, paired.source))
    for model in paired.model_labels:
        for number, form in enumerate(paired.forms):
            inside = paired.of_model(model) & (paired.form == number)
            labels = {"model": model, "form": form, "domain": ALL, "source": ALL}
            if inside.any():
                yield PairStratum(labels, inside)
            for name, values, code in parts:
                for i, value in enumerate(values):
                    rows = inside & (code == i)
                    # A part that is the whole would give every estimate twice.
                    enough = len(np.unique(paired.pair[rows])) >= FEWEST_PAIRS
                    if enough and rows.sum() < inside.sum():
                        yield PairStratum(labels | {name: value}, rows)
