"""The paired table: every generated text beside the original it is compared with.

A *pair* is a pairing key, such as a headline, under which there is one original. A *row* is one
generated text with its original, so a pair has a row for each model, prompt form and sample. A
*level* holds what is compared: shares of groups among group words or topics, or mean scores of the
sentences about each group.

`portrayal.measure.paired_texts.pair_texts(run, …)` reads a run into a `Paired` without levels;
`paired_levels.word_levels` and `paired_levels.sentence_levels` turn it into levels, and
`paired.with_levels(levels)` joins them. Measures of a paired audit take that and a scope.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from portrayal.measure.tally import BoolArray, FloatArray, IntArray
from portrayal.records import ALL

Draw = Callable[[np.random.Generator], tuple[FloatArray, FloatArray]]

SHARE, SCORE = "share", "score"
DOCUMENT = "document"
FULL, EQUAL = "full", "equal"
PAIRED = "paired"
"""The fate of a text that has its original, both readable."""

NO_KEY = "no pairing key"
NO_ORIGINAL = "no original"
NO_TEXT = "no generated text"
UNREADABLE = "annotation failed"
DUPLICATE = "second original of a pair"
REFERENCE = "reference"
"""The "model" of the originals, in fates and lengths."""
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
        shorter.
    generated, reference
        Values of the generated text and of its original, shape (n_rows, M); NaN where undefined.
    mentioned
        Whether the original mentions the group, shape (n_rows, M).
    draw
        Returns `generated` and `reference` of one draw of the null, in which what a pair's two
        texts hold was dealt to them again at random; None where there is no null.
    null_method
        What `draw` does, in words.
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
    mentioned: BoolArray
    draw: Draw | None = None
    null_method: str = "dealt again at random within each pair"

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
    text_id
        Names of the texts in the run.
    pair, model, form, outcome
        Codes, shape (n_texts,): of `Paired.pairs` (-1 where the text names no pair), of
        `Paired.models` and `forms` (0 for originals), and of `portrayal.records.OUTCOMES`.
    words
        Words of each text, shape (n_texts,); NaN where it could not be read.
    sentence_text
        Which text each sentence belongs to, shape (n_sentences,), sorted.
    sentence_words
        Words of each sentence, shape (n_sentences,).
    counts
        Group words of each sentence, shape (n_sentences, n_columns).
    scores
        Score of each sentence by kind ("sentiment", "toxicity"); NaN where there is none.
    """

    text_id: tuple[str, ...]
    pair: IntArray
    model: IntArray
    form: IntArray
    outcome: IntArray
    words: FloatArray
    sentence_text: IntArray
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
    fates
        How many texts of each (model, form) were paired, and how many not, by reason; those of
        the originals stand under (REFERENCE, ALL).
    generated, reference
        Every text of either side, and its sentences.
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
    fates: Mapping[tuple[str, str], Mapping[str, int]]
    generated: Texts
    reference: Texts
    columns: tuple[tuple[str, str, str], ...] = ()
    levels: tuple[Level, ...] = ()

    @property
    def n_rows(self) -> int:
        """Number of generated texts that have an original."""
        return len(self.pair)

    @property
    def text_id(self) -> tuple[str, ...]:
        """Names of the generated texts of the rows."""
        return tuple(self.generated.text_id[i] for i in self.text.tolist())

    @property
    def reference_id(self) -> tuple[str, ...]:
        """Names of the originals of the rows."""
        return tuple(self.reference.text_id[i] for i in self.original.tolist())

    @property
    def model_labels(self) -> tuple[str, ...]:
        """What estimates are made for: all models together, then each; only itself if alone."""
        return self.models if len(self.models) == 1 else (ALL, *self.models)

    def of_model(self, model: str) -> BoolArray:
        """Whether each row is of the model, or of any for "all", shape (n_rows,)."""
        if model == ALL:
            return np.ones(self.n_rows, dtype=bool)
        return np.asarray(self.model == self.models.index(model))

    def base_form(self, wanted: str | None = None) -> str:
        """Return the form others are compared with: `wanted`, the paper's plain one, the first."""
        return wanted or (PLAIN_FORM if PLAIN_FORM in self.forms else self.forms[0])

    def with_levels(self, levels: Iterable[Level]) -> "Paired":
        """Return the same rows with these levels."""
        return replace(self, levels=tuple(levels))
