"""Matched sets: the texts of each set with their scores, and what was left out of them."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from portrayal.annotate.exchange import gender_sides
from portrayal.annotate.scores import SIDES, TextScore
from portrayal.collect.tables import has_decimal_commas, number_of
from portrayal.collect.texts import KEPT
from portrayal.errors import DataError, OptionError
from portrayal.measure.corrected import MARKS, OUTCOME, HandUnits, hand_marks, picked
from portrayal.measure.matched.units import FEWEST_WORDS, PAIR, SOURCE, noun_of, units_of
from portrayal.measure.places import places
from portrayal.raters.labels import HandTable
from portrayal.records import ALL
from portrayal.reference.locales import HOME
from portrayal.run.directory import Run, read_chosen, read_prompts, read_shards
from portrayal.run.files import Stage
from portrayal.stats import divide
from portrayal.stats.clustered import sums_by
from portrayal.types import BoolArray, FloatArray, IntArray

MOST_GROUPS = 50
"""Values of a column from which on it names no groups."""
REFUSED = "refused"
"""The score that is 1 for an answer that refuses, 0 for one that does not."""
REQUEST, TWICE, OTHER, HALF = (
    "equal to its request",
    "stands twice",
    "names the other person's gender",
    "the other half of its pair is missing",
)
_MOST_OTHER = 3.0
"""Times as many words of the other gender as of its own make a text one about another person."""
NO_NUMBER = "no number in {}"
"""Why a text has no score of a column."""
MANY_ANSWERS = 2
"""Answers to each request, on average, above which a pair is called a prompt."""
BLOCK, SAME_TEXT = "+block", "+text"
"""What the strata of a set hold beside those of its prompt: its name, and that of its text."""


@dataclass(frozen=True, eq=False)
class MatchedSets:
    """The matched sets of an audit.

    Attributes
    ----------
    attribute, groups
        The column in which texts of a set differ, and its values.
    apart
        Whether nothing blocks: each set is one text, of one group, and groups are compared as means
        over clusters. A cluster is then a source, or a text with those that repeat it.
    models, sources
        Labels of the codes below; sources are what sets were made from: the clusters.
    cluster, recognised
        What a source is called, such as "note" or "pair", and how sources were recognised where no
        column says it (`PairUnits`).
    scores
        What each number of a text is; the last one is `REFUSED`.
    model, source
        Codes of each set, shape (n_sets,).
    split
        Values of further columns by which sets are split, shape (n_sets,) each; "" where a set has
        none.
    value
        Mean score over the answers of a half, names hidden, shape (n_scores, n_sets, n_groups); NaN
        where none.
    written
        The same of the answers as they are written.
    neutral
        The same in one wording: with the text's own words and with the other person's, averaged,
        or without words that one of them lacks; NaN where the exchanged text was not scored.
    n_answers
        Answers of each half, shape (n_sets, n_groups).
    left_out
        Texts by model and reason.
    answers
        Columns `text_id`, `set` (index of the set) and `half` (code of the group) of every text
        that counts.
    exchanged
        Texts in which the exchange changed something; of none a reaction is not known.
    squares, df
        Sums of squares of answers off the mean of their half, and their degrees of freedom, shape
        (n_scores, n_sets) each.
    names
        Name of the pair of each set.
    hand
        By score, the texts to which people gave a number, by their half: set × groups + group.
    siblings
        The sets of the same run by its other columns of groups.
    """

    attribute: str
    groups: tuple[str, ...]
    models: tuple[str, ...]
    sources: tuple[str, ...]
    cluster: str
    scores: tuple[TextScore, ...]
    model: IntArray
    source: IntArray
    split: Mapping[str, npt.NDArray[np.str_]]
    value: FloatArray
    written: FloatArray
    neutral: FloatArray
    n_answers: IntArray
    left_out: Mapping[str, Mapping[str, int]]
    answers: pa.Table
    exchanged: int
    squares: FloatArray
    df: FloatArray
    names: tuple[str, ...] = ()
    recognised: tuple[str, ...] = ()
    hand: Mapping[str, HandUnits] = field(default_factory=dict)
    apart: bool = False
    siblings: tuple["MatchedSets", ...] = ()

    @property
    def all(self) -> tuple["MatchedSets", ...]:
        """Return these sets, and those by the other columns of groups."""
        return (self, *self.siblings)

    @property
    def half(self) -> IntArray:
        """Code of the group of each set that has one half, shape (n_sets,)."""
        return np.asarray(self.n_answers.argmax(axis=1))

    def places(self) -> Iterator[tuple[str, str, BoolArray]]:
        """Yield model, part ("all" or "column = value") and its sets, shape (n_sets,)."""
        for code, model in enumerate(self.models):
            inside = self.model == code
            columns = {name: np.where(inside, cells, "") for name, cells in self.split.items()}
            for labels, rows in places(len(inside), columns):
                part = "".join(f"{column} = {value}" for column, value in labels.items())
                yield model, part or ALL, inside & rows

    def floor(self, model: str, score: int) -> float:
        """Standard deviation of the difference of two answers to one request; NaN if none has two.

        Pooled over the requests of a model.
        """
        inside = self.model == self.models.index(model)
        squares, df = (float(x[score, inside].sum()) for x in (self.squares, self.df))
        return math.sqrt(2.0 * squares / df) if df else math.nan


def with_hand_scores(
    sets: MatchedSets, run: Run, annotated: Stage, table: HandTable | None
) -> MatchedSets:
    """Return the sets with what people say of some of their texts."""
    if table is None:
        return sets
    ids = {name: i for i, name in enumerate(sets.answers["text_id"].to_pylist())}
    slot = sets.answers["set"].to_numpy() * len(sets.groups) + sets.answers["half"].to_numpy()
    hand: dict[str, HandUnits] = {}
    for column, score in enumerate(sets.scores):
        name = OUTCOME if score.name == REFUSED else score.name
        marks = hand_marks(run, table, name, ["outcome"]) if name in MARKS else None
        if marks is None:
            continue
        row_of = {str(row["text_id"]): i for i, row in enumerate(marks.rows)}
        guess = np.array([float(row["outcome"] == "refused") for row in marks.rows])
        if score.name != REFUSED:
            for row in read_chosen(annotated.parts(), ["text_id", *SIDES], row_of):
                # People correct what the difference is made of: the mean of a text and its
                # exchanged twin.
                twin = "exchanged" if sets.exchanged and score.exchanged else "masked"
                both = [row[side][column] if row[side] else np.nan for side in ("masked", twin)]
                guess[row_of[row["text_id"]]] = np.mean(np.array(both, dtype=np.float64))
        # Labels of texts outside of sets, or without a score, correct nothing
        rows = [i for name, i in row_of.items() if name in ids and not np.isnan(guess[i])]
        index = [ids[str(marks.rows[i]["text_id"])] for i in rows]
        note, values = marks.note, (sets.neutral if sets.exchanged else sets.value)[column]
        if name not in table.chance and name != OUTCOME:
            note += picked(guess[rows][:, np.newaxis], np.nanmean(values), np.nanstd(values))
        low, span = marks.marks.scale
        hand[score.name] = HandUnits(
            slot[index], (guess[rows] - low) / span, marks.truth[rows], marks.weight[rows], note
        )
    return replace(sets, hand=hand)


def matched_sets(
    run: Run,
    annotated: Stage,
    scores: Sequence[TextScore],
    *,
    group: str,
    source: str = SOURCE,
    columns: Sequence[str] = (),
    locale: str = HOME,
    alike: Sequence[str] = (),
    measured: Sequence[str] = (),
    apart: bool = False,
) -> MatchedSets:
    """Read a run with scores of its texts.

    Parameters
    ----------
    run, annotated
        A run with texts, and their annotation by `text_scores.v2`.
    scores
        What its numbers are.
    group
        Stratum in which the texts of a set differ.
    source
        Stratum of what sets were made from.
    columns
        Further strata by which sets are split.
    locale
        Whose words of a person count as one, where a text stands twice.
    alike
        Further strata in which the texts of a set are alike: other columns of groups.
    measured
        Columns that are kept with the texts, and are scores of theirs.
    apart
        Whether nothing blocks, so that each text is a set.

    Raises
    ------
    OptionError
        Where the column has one value, or more than `MOST_GROUPS`.
    DataError
        Where no set has two groups.
    """
    prompts = read_prompts(run.prompts_path, words="+prompt")
    values = _group_values(prompts, group)
    needed = (*(() if apart else (PAIR,)), group, *alike)
    codes = {value: i for i, value in enumerate(values)}
    reader = _SetReader(prompts, group, codes, len(scores), needed, _score_columns(run, measured))
    sides = {} if apart else gender_sides(values)
    fields = ["text_id", "prompt_id", "model", "outcome", "text", *[KEPT] * bool(measured)]
    read = read_shards(run.texts, fields, (annotated, [*SIDES, "gendered", "weight"]))
    # Shard by shard: codes of texts stay in memory, their words do not
    shards = [reader.read(texts, score_rows, sides) for texts, score_rows in read]
    set_code, half, ids = (np.concatenate(x) for x in list(zip(*shards, strict=True))[:3])
    wordings = np.concatenate([shard[3] for shard in shards], axis=1)
    n, k = len(reader.about), len(values)
    slot = set_code * k + half
    n_answers = np.bincount(slot, minlength=n * k).reshape(n, k)
    full = (n_answers > 0).sum(1) > (0 if apart else 1)
    if not full.any() or (n_answers[full] > 0).any(0).sum() < 2:
        raise DataError(_no_comparison(reader))
    for i in np.flatnonzero(~full).tolist():
        reader.left_out[reader.about[i]["model"]][HALF] += int(n_answers[i].sum())
    about = [reader.about[i] for i in np.flatnonzero(full).tolist()]
    unit, noun, lines = _units(run, annotated, about, source, locale, apart=apart)
    # What was asked about many times, or of more than two groups, the field calls a prompt.
    many = n_answers.sum() > MANY_ANSWERS * (n_answers > 0).sum()
    if noun == PAIR and (many or (n_answers > 0).sum(1).max() > 2):
        noun = "prompt"
    models = sorted({one["model"] for one in reader.about})
    value, written, neutral = (_means(wording, slot, (n, k))[:, full] for wording in wordings)
    squares, df = _scatter(wordings[0], slot, (n, k))
    inside = full[set_code]
    in_set = (np.cumsum(full) - 1)[set_code[inside]]
    every_score = _scores(scores, reader.measured, wordings[0])
    return MatchedSets(
        attribute=group,
        groups=tuple(values),
        models=tuple(models),
        sources=tuple(sorted({*unit})),
        cluster=noun,
        recognised=lines,
        scores=every_score,
        model=np.searchsorted(models, [one["model"] for one in about]).astype(np.int64),
        source=np.searchsorted(sorted({*unit}), unit).astype(np.int64),
        split={name: np.array([one.get(name, "") for one in about]) for name in columns},
        value=value,
        written=written,
        # What is scored in one wording alone is neutral in it
        neutral=np.where([[[s.exchanged]] for s in every_score], neutral, value),
        n_answers=n_answers[full],
        squares=squares[:, full],
        df=df[:, full],
        left_out={name: dict(counts) for name, counts in reader.left_out.items()},
        answers=pa.table({"text_id": ids[inside].tolist(), "set": in_set, "half": half[inside]}),
        exchanged=reader.exchanged,
        names=tuple(one[BLOCK] for one in about),
        apart=apart,
    )


def _score_columns(run: Run, columns: Sequence[str]) -> dict[str, bool]:
    """Columns that are scores, and whether commas in each stand before decimals."""
    with_comma: dict[str, set[str]] = {name: set() for name in columns}
    for (texts,) in read_shards(run.texts, [KEPT]) if columns else ():
        for cells in map(dict, filter(None, texts[KEPT].to_pylist())):
            for name in columns:
                if "," in (cells.get(name) or ""):
                    with_comma[name].add(cells[name])
    return {name: has_decimal_commas(cells) for name, cells in with_comma.items()}


def _no_comparison(reader: "_SetReader") -> str:
    """Why no texts of two groups can be compared."""
    counts = sum(reader.left_out.values(), Counter[str]())
    reasons = ", ".join(f"{n:,} ({reason})" for reason, n in counts.most_common())
    lacking = (
        f"no pair has texts of two values of {reader.group!r}: the halves of a pair must have one "
        "value in the column of pairs. Name it with --pair-by."
    )
    if reader.apart:
        lacking = f"texts of two values of {reader.group!r} are needed, and fewer can be read."
    return f"{lacking}{f' Left out: {reasons}.' if reasons else ''}"


def _scores(
    text_scores: Sequence[TextScore], columns: Sequence[str], values: FloatArray
) -> tuple[TextScore, ...]:
    """What each number of a text is, of values (n, n_scores): shares where all are yes or no."""
    scores = list(text_scores)
    for column, cells in zip(columns, values.T[len(text_scores) :], strict=False):
        numbers = cells[~np.isnan(cells)]
        if not len(numbers):
            raise OptionError(
                f"--score {column}: no text has a number there, nor yes or no. Name a column of "
                "numbers, or one of true and false."
            )
        kind: Literal["number", "share"] = "share" if {*numbers} <= {0.0, 1.0} else "number"
        # A column may be called as a score that is made here.
        name = f"{column} (column)" if column in {score.name for score in text_scores} else column
        scores.append(TextScore(name, "", exchanged=False, column=kind))
    return *scores, TextScore(REFUSED, "share of answers", exchanged=False)


def _units(
    run: Run,
    annotated: Stage,
    about: Sequence[Mapping[str, str]],
    source: str,
    locale: str,
    *,
    apart: bool,
) -> tuple[list[str], str, tuple[str, ...]]:
    """The independent unit of each set, what units are called, and how they were recognised."""
    if not apart:
        units = units_of(run, annotated, source, locale)
        return [units.of_pair[one["model"], one[PAIR]] for one in about], units.noun, units.lines
    if len({one.get(source, "") for one in about} - {""}) > 1:
        column = run.texts.note().get("mapping", {}).get(source, source)
        return [one.get(source) or one[BLOCK] for one in about], noun_of(column), ()
    return [one[SAME_TEXT] for one in about], "text", ()


def _group_values(prompts: Mapping[str, Mapping[str, str]], group: str) -> list[str]:
    """The values of the column of groups, which are few."""
    values = sorted({about[group] for about in prompts.values() if about.get(group)})
    if len(values) < 2:
        actual = f"only {values[0]!r}" if values else "no value"
        raise OptionError(
            f"--group {group}: the texts have {actual} there; a pair needs two. Name the column in "
            "which the two halves differ."
        )
    if len(values) > MOST_GROUPS:
        raise OptionError(
            f"--group {group} has {len(values):,} values, which are no groups (at most "
            f"{MOST_GROUPS}). Name the column that says which person stands in a request."
        )
    return values


@dataclass
class _SetReader:
    """Reads the texts of a run: which set and half each is of, and why some are left out."""

    prompts: Mapping[str, Mapping[str, str]]
    group: str
    code: Mapping[str, int]
    k: int
    needed: Sequence[str]
    columns: Mapping[str, bool] = field(default_factory=dict)
    set_of: dict[tuple[str, ...], int] = field(default_factory=dict)
    about: list[Mapping[str, str]] = field(default_factory=list)  # strata of each set, with model
    left_out: dict[str, Counter[str]] = field(default_factory=dict)
    digests: set[bytes] = field(default_factory=set)
    exchanged: int = 0

    @property
    def apart(self) -> bool:
        """Whether each text is a set, as no pair is needed."""
        return PAIR not in self.needed

    @property
    def measured(self) -> list[str]:
        """Columns that are scores beside refusals; one of refusals stands in their place."""
        return [name for name in self.columns if name != REFUSED]

    def read(
        self, texts: pa.Table, score_rows: pa.Table, sides: Mapping[int, int]
    ) -> tuple[IntArray, IntArray, npt.NDArray[np.str_], FloatArray]:
        """Return set, half and id of each text that counts, and its scores in three wordings.

        Shapes are (n,) each, and (3, n, k + 1): masked, as written, and neutral; columns that are
        scores stand before the last score, which is `REFUSED`.
        """
        rows, indices, numbers = [], [], []
        text_rows, gendered = texts.to_pylist(), score_rows["gendered"].to_pylist()
        for i, (row, counts) in enumerate(zip(text_rows, gendered, strict=True)):
            about, model = self.prompts[row["prompt_id"]], row["model"]
            left_out = self.left_out.setdefault(model, Counter())
            reason = self._reason(row, about, counts, sides)
            # Refusals are a score of their own, so they stay
            if reason or row["outcome"] == "refused":
                left_out[reason or "refused"] += 1
            if reason:
                continue
            block = [about[name] for name in self.needed if name != self.group]
            key = (model, row["text_id"]) if self.apart else (model, *block)
            number = self.set_of.setdefault(key, len(self.set_of))
            if number == len(self.about):
                names = {BLOCK: " · ".join(key[1:]), SAME_TEXT: _same_text(row)}
                self.about.append({**about, "model": model, **names})
            cells = dict(row.get(KEPT) or ())
            values = {name: self._number(name, cells.get(name)) for name in self.columns}
            refused = values.get(REFUSED, float(row["outcome"] == "refused"))
            left_out.update(NO_NUMBER.format(n) for n, x in values.items() if math.isnan(x))
            numbers.append([*(values[name] for name in self.measured), refused])
            rows.append((number, self.code[about[self.group]], row["text_id"]))
            indices.append(i)
        sets, half, ids = (np.array([row[j] for row in rows]) for j in range(3))
        further = np.array(numbers, dtype=np.float64).reshape(len(rows), len(self.measured) + 1)
        weight = score_rows["weight"].to_numpy()[indices].astype(np.float64)[:, np.newaxis]
        self.exchanged += int((weight > 0).sum())
        written, masked, twin = (_matrix(score_rows[side], self.k)[indices] for side in SIDES)
        # What the scorer makes of the gendered words themselves cancels between a text and its
        # exchanged twin.
        neutral = np.where(weight > 0, masked * (1.0 - weight) + twin * weight, masked)
        wordings = [np.column_stack([side, further]) for side in (masked, written, neutral)]
        return sets.astype(np.int64), half.astype(np.int64), ids.astype(object), np.stack(wordings)

    def _number(self, column: str, cell: str | None) -> float:
        """The score in a cell; NaN where it has none."""
        number = number_of(cell, decimal_comma=self.columns[column])
        return number if math.isfinite(number) else math.nan

    def _reason(
        self,
        row: Mapping[str, str],
        about: Mapping[str, str],
        counts: Sequence[int] | None,
        sides: Mapping[int, int],
    ) -> str:
        """Why a text is left out; "" where it is not."""
        value = about.get(self.group, "")
        for column in self.needed:
            if not about.get(column):
                return f"no value in {column}"
        if row["outcome"] == "refused":
            return ""
        if row["outcome"] != "ok" or counts is None:
            return row["outcome"] if row["outcome"] != "ok" else "failed"
        plain = " ".join(row["text"].split())
        if plain and plain == " ".join(about.get("+prompt", "").split()):
            return REQUEST
        # Of texts of which a column alone is known, nothing tells whether one stands twice.
        if plain and not self.apart:
            # Digests of all texts fit into memory where the texts do not.
            block = (about[name] for name in self.needed if name != self.group)
            key = "\x1f".join((row["model"], *block, value, plain))
            digest = blake2b(key.encode("utf-8", "replace"), digest_size=12).digest()
            if digest in self.digests:
                return TWICE
            self.digests.add(digest)
        # A text far more about the other gender is not about the person of this half.
        side = sides.get(self.code[value])
        is_other = side is not None and counts[1 - side] > _MOST_OTHER * counts[side]
        return OTHER if is_other else ""


def _same_text(row: Mapping[str, str]) -> str:
    """Name of a text that all its copies share; short ones are alike by chance, and are their own.

    Copies are no independent texts, whichever group they stand in.
    """
    words = row["text"].split()
    if len(words) < FEWEST_WORDS:
        return row["text_id"]
    return blake2b(" ".join(words).encode("utf-8", "replace"), digest_size=12).hexdigest()


def _means(scores: FloatArray, slot: IntArray, shape: tuple[int, int]) -> FloatArray:
    """Mean scores of halves, (n_scores, n_sets, n_groups), of texts (n, n_scores); NaN of none."""
    valid, size = ~np.isnan(scores), shape[0] * shape[1]
    total = sums_by(slot, size, np.where(valid, scores, 0.0))
    return divide(total, sums_by(slot, size, valid * 1.0)).T.reshape(-1, *shape)


def _scatter(
    scores: FloatArray, slot: IntArray, shape: tuple[int, int]
) -> tuple[FloatArray, FloatArray]:
    """Squares off the means of the halves of each set, and how many are free, (n_scores, n_sets).

    That is what answers to the same request differ by: the noise of asking again.
    """
    mean = _means(scores, slot, shape).reshape(scores.shape[1], -1).T
    off = np.nan_to_num((scores - mean[slot]) ** 2)
    set_code, n_sets = slot // shape[1], shape[0]
    n = sums_by(slot, shape[0] * shape[1], ~np.isnan(scores) * 1.0)
    free = np.maximum(n - 1.0, 0.0).reshape(*shape, -1).sum(axis=1)
    return sums_by(set_code, n_sets, off).T, free.T


def _matrix(column: pa.ChunkedArray, k: int) -> FloatArray:
    """A column of lists as an array, shape (n, k); NaN where a row has none."""
    lists = column.combine_chunks()
    matrix = np.full((len(lists), k), np.nan)
    valid = np.asarray(lists.is_valid())
    flat = lists.flatten().to_numpy(zero_copy_only=False).astype(np.float64)
    matrix[valid] = flat.reshape(-1, k)
    return matrix
