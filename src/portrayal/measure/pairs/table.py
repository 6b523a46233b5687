"""The paired table: generated texts beside their originals, read from a run and joined by key.

A *pool* is an original with the generated texts that are compared with it in one stratum. Without a
difference all of them draw words (or sentences) from one source, so any exchange that keeps their
sizes is as likely as what was observed. All rows of a pool read the same exchanged original, as
they read the same original: one that happens to hold many male words moves all its rows.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from portrayal.errors import RunError
from portrayal.measure.corrected import HandMarks
from portrayal.records import ALL, OUTCOMES, REFERENCE
from portrayal.run import Run, read_prompts, read_shards
from portrayal.stats import shuffle_within
from portrayal.stats.tails import pearson3_sf
from portrayal.types import BoolArray, FloatArray, IntArray

_CLOSE = 1e-9
FEWEST_TO_EXCHANGE = 6
"""Pairs whose exchanges can reach p < .05: 2⁶ of them, half of which are the others in reverse."""


class Pools(NamedTuple):
    """The pools of some rows.

    Attributes
    ----------
    of
        Pool of each row, shape (n_rows,).
    first
        A row of each pool, shape (n_pools,).
    """

    of: IntArray
    first: IntArray

    @property
    def places(self) -> IntArray:
        """Pool of each place: the text of each row, then the original of each pool."""
        return np.concatenate([self.of, np.arange(len(self.first))])

    def by_row(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Split the values of places into those of the texts and originals of each row."""
        n = len(self.of)
        return values[:n], values[n + self.of]


def pools_of(labels: Sequence[npt.ArrayLike]) -> Pools:
    """Number the pools of rows that agree in every label.

    For a stratum of one model the labels are pair, form and model; for all models together pair and
    form. The texts of another model must not be in a model's pool: if that model differs from the
    originals, its words would be given to a model that does not.

    Parameters
    ----------
    labels
        Codes of each row, shape (n_rows,) each.

    Examples
    --------
    >>> pools = pools_of([[0, 0, 1], [5, 6, 5]])
    >>> pools.of.tolist(), pools.first.tolist(), pools.places.tolist()
    ([0, 1, 2], [0, 1, 2], [0, 1, 2, 0, 1, 2])
    """
    rows = np.stack([np.asarray(column, dtype=np.int64) for column in labels], axis=1)
    _, first, pool = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    return Pools(pool.reshape(-1).astype(np.int64), first.astype(np.int64))


def exchange_within(block: IntArray) -> Callable[[np.random.Generator], IntArray]:
    """Return the function that permutes units at random within their blocks, shape (n,).

    What that one returns is the number of the unit that stands where each stood.
    """
    # In the order of the blocks once, or every draw would sort them again
    order = np.argsort(block, kind="stable")
    sorted_block, rank = block[order], np.argsort(order)
    return lambda rng: shuffle_within(order, sorted_block, rng)[rank]


def null_p(
    value: float,
    draws: FloatArray,
    *,
    greater: bool = False,
    n_pairs: int = 0,
    level: float = 0.95,
) -> float:
    """Return p of a value against draws of its null, shape (n_draws,).

    One-sided where only larger values speak against the null; else twice the smaller tail, which
    unlike the distance from the mean of the draws is right for skewed nulls too. Each tail counts
    the observed value among the draws (Phipson and Smyth 2010), and those that are NaN, since what
    is undefined may have been as far out.

    What 200 draws refuse has p of 0.005 or more, and so no lone difference among ten could ever be
    stated. Where they refuse the null at the level, p is that of a Pearson type III curve, if
    smaller: with their mean, their standard deviation as of one more draw, and their skewness and
    two standard errors more, which keeps the level. `n_pairs` that change sides say no more than
    2^-n; with none of them there is no curve.

    Source of tails by a curve: Knijnenburg et al. (2009), Fewer permutations, more accurate
    p-values.

    >>> null_p(3.0, np.array([0.0, 1.0, 2.0]), greater=True)
    0.25
    """
    n, unknown = 1 + len(draws), np.isnan(draws)
    # Values equal but for rounding are ties, and count as extreme.
    up = (1 + int((unknown | (draws >= value - _CLOSE)).sum())) / n
    down = (1 + int((unknown | (draws <= value + _CLOSE)).sum())) / n
    counted = up if greater else min(1.0, 2.0 * min(up, down))
    # The curve is only for how small a small p is: whether it is small, draws decide
    if counted >= 1.0 - level or unknown.any() or n_pairs == 0:
        return counted
    spread = float(draws.std(ddof=1))
    if spread <= _CLOSE:
        return counted
    z = (value - draws.mean()) / (spread * np.sqrt(1.0 + 1.0 / len(draws)))
    skew = float((((draws - draws.mean()) / spread) ** 3).mean())
    # The standard error of a skewness is about sqrt(6 / n); two more of it err on the safe side.
    more = 2.0 * np.sqrt(6.0 / len(draws))
    sides = [float(pearson3_sf(s * z, s * skew + more)) for s in (1.0, -1.0)]
    curve = sides[0] if greater else 2.0 * min(sides)
    return min(counted, max(curve, (2.0 - greater) * 0.5**n_pairs))


def gap_beyond_pairs(generated: FloatArray, original: FloatArray) -> FloatArray:
    """Return how much further texts lie from originals of other pairs than each from its own kind.

    Parameters
    ----------
    generated, original
        Shares of each group, one row for each pair, shape (..., n, M).

    Returns
    -------
    array
        Mean of d(fᵢ, oⱼ) less half the means of d(fᵢ, fⱼ) and d(oᵢ, oⱼ) over i ≠ j, with d of Eq. 9
        (½ Σ |f − o|), shape (...); NaN with fewer than `FEWEST_TO_EXCHANGE` pairs. Half the
        energy distance of Székely and Rizzo (2013), 0 on average where originals and texts could be
        exchanged. Computed as ∫ (F − G)² of each group, from which the pairs are taken out.

    Examples
    --------
    >>> float(gap_beyond_pairs(np.array([[1.0, 0.0]] * 6), np.array([[0.5, 0.5]] * 6)))
    0.5
    """
    n = generated.shape[-2]
    if n < FEWEST_TO_EXCHANGE:
        return np.full(generated.shape[:-2], np.nan)
    both = np.concatenate([generated, original], axis=-2)
    order = np.argsort(both, axis=-2)
    # n (F - G) between two neighbouring values
    cdf_gap = np.where(order < n, 1, -1).cumsum(axis=-2)[..., :-1, :]
    steps = np.diff(np.take_along_axis(both, order, axis=-2), axis=-2)
    everything = (cdf_gap**2 * steps).sum(axis=(-2, -1)) / 2
    of_pairs = np.abs(generated - original).sum(axis=(-2, -1)) / 2
    return np.asarray((everything - of_pairs) / (n * (n - 1)))


Deal = Callable[[np.random.Generator], tuple[FloatArray, FloatArray]]
Dealer = Callable[[Pools], Deal]

WORD, SENTENCE, DOCUMENT = "word", "sentence_", "document"
"""Names of the levels of words and of topics, and what stands before a score of sentences."""
UNREADABLE = "annotation failed"
PLAIN_FORM = "un" + "biased"
"""Fang et al.'s name of the prompt form that adds nothing to the headline; the default."""


@dataclass(frozen=True, eq=False)
class Level:
    """What is compared within each row, for one attribute and one lexicon.

    Attributes
    ----------
    name
        "word" or "document", whose values are shares of the groups, and rows sum to 1; or
        "sentence_sentiment" or "sentence_toxicity", whose values are mean scores by group.
    attribute, lexicon
        What the groups are groups of ("gender"), and the word list that tells them.
    groups
        Labels of the M groups.
    generated, reference
        Values of the generated texts and of their originals, shape (n_rows, M); NaN where
        undefined.
    dealer
        Function of the pools of the rows to a function of a random stream. That one returns both
        values, shape (n_rows, M), after what each original and its texts hold was exchanged among
        them; None where there is no null.
    null_method
        What is exchanged, in words.
    readings
        Where the null exchanges whole texts, which leaves the distance of two texts as it is:
        values of the generated texts and of their originals, both read as the text of the row, then
        both as an original, (2, 2, n_rows, M).
    without_shares
        Why no text of a corpus has shares, or None, for each (model, form) and the originals.
    """

    name: str
    attribute: str
    lexicon: str
    groups: tuple[str, ...]
    generated: FloatArray
    reference: FloatArray
    dealer: Dealer | None = None
    null_method: str = "exchanged at random between each original and its texts"
    readings: FloatArray | None = None
    without_shares: Mapping[tuple[str, str], str | None] = field(default_factory=dict)

    @property
    def is_share(self) -> bool:
        """Whether values are shares of groups, and not scores."""
        return not self.name.startswith(SENTENCE)

    @property
    def worse(self) -> int:
        """Direction of prejudice: -1 where a fall is (shares, sentiment), 1 where a rise is."""
        return 1 if self.name.endswith("toxicity") else -1

    @property
    def strata(self) -> dict[str, str]:
        """The level's strata: level, attribute and lexicon."""
        return {"level": self.name, "attribute": self.attribute, "lexicon": self.lexicon}

    def undefined(self, model: str, form: str) -> str | None:
        """Why no pair of a model, or of all, has shares in a form; None where some may have."""
        corpora = self.without_shares.items()
        reasons = [reason for (m, f), reason in corpora if f == form and model in (ALL, m)]
        # Without shares of the originals there is nothing to compare any text with
        originals = self.without_shares.get((REFERENCE, ALL))
        return originals or (next(iter(reasons), None) if all(reasons) else None)


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
    counts: FloatArray
    scores: Mapping[str, FloatArray] = field(default_factory=dict)

    @property
    def faults(self) -> list[str]:
        """Why each text cannot be read; "" where it can."""
        ok, unreadable = OUTCOMES.index("ok"), np.isnan(self.words)
        return [
            OUTCOMES[outcome] if outcome != ok else UNREADABLE * bad
            for outcome, bad in zip(self.outcome.tolist(), unreadable.tolist(), strict=True)
        ]

    @property
    def corpora(self) -> list[tuple[int, int]]:
        """Codes of each model and form that has texts, in order."""
        return sorted(set(zip(self.model.tolist(), self.form.tolist(), strict=True)))

    @property
    def text(self) -> IntArray:
        """Text of each sentence, shape (n_sentences,)."""
        return np.repeat(np.arange(len(self.pair)), np.diff(self.start))

    def sentences_of(self, texts: IntArray) -> tuple[IntArray, IntArray]:
        """Return whose each sentence of these texts is, by index in `texts`, and its number."""
        sizes = self.start[texts + 1] - self.start[texts]
        owner = np.repeat(np.arange(len(texts)), sizes)
        within = np.arange(len(owner)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return owner, self.start[texts[owner]] + within


@dataclass(frozen=True, eq=False)
class Paired:
    """Generated texts beside their originals.

    Attributes
    ----------
    pairs, models, forms
        Labels; `pairs` are the pairing keys, the independent units of every interval.
    pair, model, form
        Codes of each row, shape (n_rows,).
    text, original
        Which of `generated` and `reference` a row compares, shape (n_rows,).
    unpaired
        Why each generated text is in no row; "" where it is in one.
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
    pair: IntArray
    model: IntArray
    form: IntArray
    text: IntArray
    original: IntArray
    unpaired: Sequence[str]
    generated: Texts
    reference: Texts
    columns: tuple[tuple[str, str, str], ...] = ()
    levels: tuple[Level, ...] = ()
    hand: Mapping[str, HandMarks] = field(default_factory=dict)

    def pools(self, *, all_models: bool = False) -> Pools:
        """Return the pools of the rows: each original with its texts of one model, or of all."""
        labels = [self.pair, self.form]
        return pools_of(labels if all_models else [*labels, self.model])

    @property
    def model_labels(self) -> tuple[str, ...]:
        """What estimates are made for: all models together, then each; only itself if alone."""
        return self.models if len(self.models) == 1 else (ALL, *self.models)

    def strata(self, texts: Texts | None = None) -> Iterator[tuple[dict[str, str], BoolArray]]:
        """Yield model and form, and which rows, or which of these texts, are theirs.

        Models are pooled first where there are several; forms never are, since they ask for
        different texts.
        """
        units = self if texts is None else texts
        for model in self.model_labels:
            of_model = np.ones(len(units.pair), dtype=bool)
            if model != ALL:
                of_model = units.model == self.models.index(model)
            for number, form in enumerate(self.forms):
                inside = of_model & (units.form == number)
                if inside.any():
                    yield {"model": model, "form": form}, inside

    def base_form(self, form: str | None = None) -> str:
        """Return the form others are compared with: `form`, the paper's plain one, the first."""
        return form or (PLAIN_FORM if PLAIN_FORM in self.forms else self.forms[0])

    def with_levels(self, levels: Iterable[Level]) -> "Paired":
        """Return the same rows with these levels."""
        return replace(self, levels=tuple(levels))


WORDS, SENTIMENT, TOXICITY = "group_words.v2", "sentiment.v1", "toxicity.v1"
_SCORES = {SENTIMENT: ("sentiment", "polarity"), TOXICITY: ("toxicity", "toxicity")}


def pair_texts(run: Run, *, sentiment: bool = True, toxicity: bool = False) -> Paired:
    """Join every generated text of a run with its original, without levels yet.

    Parameters
    ----------
    run
        A run with texts and reference, both annotated by `group_words.v2`.
    sentiment, toxicity
        Whether both were annotated by `sentiment.v1` and `toxicity.v1`.

    Returns
    -------
    Paired
        Rows of a pair together, otherwise in the order of the texts; no number depends on shards.
        Of several originals of one pair the first readable one is kept. A text without readable
        original, or unreadable itself, is in no row, and counted.

    Raises
    ------
    RunError
        When an annotation is missing or not complete.
    """
    scores = [name for name, flag in ((SENTIMENT, sentiment), (TOXICITY, toxicity)) if flag]
    sides = [_read(run, scores, reference=reference) for reference in (True, False)]
    (originals, _, reference_arrays, columns), (texts, text_models, arrays, text_columns) = sides
    if columns != text_columns:
        raise RunError(
            f"{run.path}: texts and reference were annotated by {WORDS} with other lexicons. "
            "Run the audit again."
        )
    # Originals first: their labels come first, and texts look theirs up
    both, n = [*originals, *texts], len(originals)
    pairs, pair = _coded(s.get("pair") for s in both)
    models, model = _coded(text_models)
    forms, form = _coded(s.get("form", PLAIN_FORM) for s in texts)
    none = np.zeros(n, dtype=np.int64)
    reference = Texts(pair=pair[:n], model=none, form=none, **reference_arrays)
    generated = Texts(pair=pair[n:], model=model, form=form, **arrays)
    text, original, unpaired = _match(generated, reference, len(pairs))
    return Paired(
        pairs=pairs,
        models=models,
        forms=forms,
        pair=generated.pair[text],
        model=model[text],
        form=form[text],
        text=text,
        original=original,
        unpaired=unpaired,
        generated=generated,
        reference=reference,
        columns=tuple((a, b, c) for a, b, c in (name.split("/", 2) for name in columns)),
    )


def _coded(labels: Iterable[str | None]) -> tuple[tuple[str, ...], IntArray]:
    """Labels in the order of their first occurrence, and the code of each; -1 for None."""
    codes: dict[str, int] = {}
    of_rows = [-1 if label is None else codes.setdefault(label, len(codes)) for label in labels]
    return tuple(codes), np.array(of_rows, dtype=np.int64)


def _read(
    run: Run, scores: list[str], *, reference: bool
) -> tuple[list[Mapping[str, str]], list[str], dict[str, Any], list[str]]:
    """Strata and model of each text of a side, the numbers of `Texts`, and names of the counts."""
    annotations = run.reference_annotations if reference else run.annotations
    stages = [annotations(name) for name in (WORDS, *scores)]
    for stage in stages:
        if not stage.note().get("complete"):
            raise RunError(
                f"{stage.folder} is not complete: run the audit again to annotate the rest."
            )
    columns = (stages[0].note().get("settings") or {}).get("columns", [])
    needed = [["words", "counts"], *([_SCORES[name][1]] for name in scores)]
    shards = read_shards(
        run.reference if reference else run.texts,
        ["prompt_id", "model", "outcome"],
        *zip(stages, needed, strict=True),
    )
    texts, words, *scored = map(pa.concat_tables, zip(*shards, strict=True))
    lengths = _lengths(words["counts"])
    arrays: dict[str, Any] = {
        "outcome": np.array([OUTCOMES.index(name) for name in texts["outcome"].to_pylist()]),
        "words": _flat(words["words"]),
        "start": np.concatenate([[0], np.cumsum(lengths)]),
        "counts": _flat(words["counts"]).reshape(-1, len(columns)),
        "scores": {},
    }
    for name, table in zip(scores, scored, strict=True):
        kind, column = _SCORES[name]
        n_scores = _lengths(table[column])
        sentence_scores = np.full(int(lengths.sum()), np.nan)
        # With a score too few or too many it is not known which sentence has which.
        same = n_scores == lengths
        repeated = _flat(table[column])[np.repeat(same, n_scores)]
        sentence_scores[np.repeat(same, lengths)] = repeated
        arrays["scores"][kind] = sentence_scores
    path = run.reference_prompts_path if reference else run.prompts_path
    prompts = read_prompts(path, only=("pair", "form"))
    strata: list[Mapping[str, str]] = [prompts[n] for n in texts["prompt_id"].to_pylist()]
    return strata, texts["model"].to_pylist(), arrays, columns


def _lengths(column: pa.ChunkedArray) -> IntArray:
    return np.asarray(pc.fill_null(pc.list_value_length(column), 0), dtype=np.int64)


def _flat(column: pa.ChunkedArray) -> FloatArray:
    """Every number of a column, also of lists, or of lists of lists, in order."""
    while pa.types.is_list(column.type):
        column = pc.list_flatten(column)
    return np.asarray(column.cast(pa.float64()).to_numpy(), dtype=np.float64)


def _match(
    generated: Texts, reference: Texts, n_pairs: int
) -> tuple[IntArray, IntArray, list[str]]:
    """Rows as (text, original), those of an original together; why each text is in none, or ""."""
    original_of = np.full(n_pairs, -1, dtype=np.int64)
    # Readable ones last, and of these the first of the file, as the last that is set stays
    order = np.argsort(np.isnan(reference.words), kind="stable")[::-1]
    order = order[reference.pair[order] >= 0]
    original_of[reference.pair[order]] = order
    original = np.where(generated.pair >= 0, original_of[generated.pair], -1)
    unpaired = generated.faults  # what is wrong with a text itself comes before what its pair lacks
    faults = reference.faults
    for text, fault in enumerate(unpaired):
        if not fault and original[text] < 0:
            unpaired[text] = "no pairing key" if generated.pair[text] < 0 else "no original"
        elif not fault and faults[original[text]]:
            unpaired[text] = f"original: {faults[original[text]]}"
    text_of_row = np.array([i for i, fault in enumerate(unpaired) if not fault], dtype=np.int64)
    _, first, code = np.unique(original[text_of_row], return_index=True, return_inverse=True)
    text_of_row = text_of_row[np.argsort(first[code], kind="stable")]
    return text_of_row, original[text_of_row], unpaired
