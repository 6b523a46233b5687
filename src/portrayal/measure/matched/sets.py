"""Matched sets: the texts of each set with their scores, and what was left out of them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b

import numpy as np
import pyarrow as pa

from portrayal.annotate.exchange import gender_sides
from portrayal.annotate.scores import SIDES, TextScore
from portrayal.errors import DataError, OptionError
from portrayal.measure.corrected import MARKS, OUTCOME, HandMarks, hand_marks, picked
from portrayal.measure.matched.units import PAIR, SOURCE, PairUnits, units_of
from portrayal.raters import HandTable
from portrayal.records import ALL
from portrayal.reference.locales import HOME
from portrayal.run.directory import Run
from portrayal.run.reading import read_chosen, read_prompts, read_shards
from portrayal.run.stages import Stage
from portrayal.stats import divide
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


@dataclass(frozen=True, eq=False)
class MatchedSets:
    """The matched sets of an audit.

    Attributes
    ----------
    attribute, groups
        The column in which texts of a set differ, and its values.
    models, sources
        Labels of the codes below; sources are what sets were made from: the clusters.
    cluster, recognised
        What a source is called, such as "note" or "pair", and how sources were recognised where no
        column says it (`PairUnits`).
    columns
        Labels of further columns by which sets are split.
    scores
        What each number of a text is; the last one is `REFUSED`.
    model, source
        Codes of each set, shape (n_sets,).
    split
        Codes of each set by further column, shape (n_sets,) each; -1 where it has no value.
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
    within
        Variance between answers to the identical request, pooled, shape (n_scores, n_models); NaN
        where no half has two answers.
    left_out
        Texts by model and reason.
    answers
        Columns `text_id`, `set` (index of the set) and `half` (code of the group) of every text
        that counts.
    exchanged
        Texts in which the exchange changed something; of none a reaction is not known.
    scatter
        Sums of squares of answers off the mean of their half, and their degrees of freedom, shape
        (n_scores, n_sets) each; None where they are not known.
    names
        Name of the pair of each set.
    hand
        By score, the texts to which people gave a number.
    """

    attribute: str
    groups: tuple[str, ...]
    models: tuple[str, ...]
    sources: tuple[str, ...]
    cluster: str
    columns: Mapping[str, tuple[str, ...]]
    scores: tuple[TextScore, ...]
    model: IntArray
    source: IntArray
    split: Mapping[str, IntArray]
    value: FloatArray
    written: FloatArray
    neutral: FloatArray
    n_answers: IntArray
    within: FloatArray
    left_out: Mapping[str, Mapping[str, int]]
    answers: pa.Table
    exchanged: int
    scatter: tuple[FloatArray, FloatArray] | None = None
    names: tuple[str, ...] = ()
    recognised: tuple[str, ...] = ()
    hand: Mapping[str, "HandHalves"] = field(default_factory=dict)

    @property
    def places(self) -> tuple[tuple[str, str, BoolArray], ...]:
        """Model, part ("all" or "column = value") and its sets, shape (n_sets,), of each place."""
        places = []
        for code, model in enumerate(self.models):
            inside = self.model == code
            places.append((model, ALL, inside))
            for column, labels in self.columns.items():
                codes = [(i, label) for i, label in enumerate(labels)]
                parts = [(label, inside & (self.split[column] == i)) for i, label in codes]
                parts = [(label, part) for label, part in parts if part.any()]
                if len(parts) > 1:  # a column of one value splits nothing
                    places += [(model, f"{column} = {label}", part) for label, part in parts]
        return tuple(places)


@dataclass(frozen=True, eq=False)
class HandHalves:
    """Texts to which people gave a number of one score, each in its set and half.

    Attributes
    ----------
    at, half
        Index of the set and code of the group, shape (n,).
    said, marks
        The scorer's number, in its own unit, shape (n,); and what people say, in 0–1.
    """

    at: IntArray
    half: IntArray
    said: FloatArray
    marks: HandMarks


def with_hand_scores(
    sets: MatchedSets, run: Run, annotated: Stage, table: HandTable | None
) -> MatchedSets:
    """Return the sets with what people say of some of their texts."""
    if table is None:
        return sets
    ids = {name: i for i, name in enumerate(sets.answers["text_id"].to_pylist())}
    place, half = (sets.answers[name].to_numpy() for name in ("set", "half"))
    hand: dict[str, HandHalves] = {}
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
        hand_rows = [marks.rows[i] for i in rows]
        note, values = marks.note, (sets.neutral if sets.exchanged else sets.value)[column]
        if name not in table.chance and name != OUTCOME:
            note += picked(guess[rows][:, np.newaxis], np.nanmean(values), np.nanstd(values))
        own_truth, weight = marks.truth[rows], marks.weight[rows]
        marks = replace(marks, rows=hand_rows, truth=own_truth, weight=weight, note=note)
        hand[score.name] = HandHalves(place[index], half[index], guess[rows], marks)
    return replace(sets, hand=hand)


def matched_sets(
    run: Run,
    annotated: Stage,
    scores: Sequence[TextScore],
    *,
    group: str,
    source: str = SOURCE,
    columns: Sequence[str] = (),
    pronouns: bool = True,
    locale: str = HOME,
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
    pronouns
        Whether texts about a person of the other gender are left out.
    locale
        Whose words of a person count as one, where a text stands twice.

    Raises
    ------
    OptionError
        Where the column has one value, or more than `MOST_GROUPS`.
    DataError
        Where no set has two groups.
    """
    prompts = read_prompts(run.prompts_path, words="+prompt")
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
    rows = _Rows(prompts, group, {value: i for i, value in enumerate(values)}, len(scores))
    sides = gender_sides(values)
    fields = ["text_id", "prompt_id", "model", "outcome", "text"]
    read = read_shards(run.texts, fields, (annotated, [*SIDES, "gendered", "weight"]))
    for texts, score_rows in read:
        # Shard by shard: codes of texts stay in memory, their words do not
        rows.add(texts, score_rows, sides if pronouns else {})
    return rows.sets(values, tuple(scores), columns, units_of(run, annotated, source, locale))


class _Rows:
    """Texts of a run as they are read: codes and scores of each, and why some are left out."""

    def __init__(
        self, prompts: Mapping[str, Mapping[str, str]], group: str, code: Mapping[str, int], k: int
    ) -> None:
        self.prompts, self.group, self.code, self.k = prompts, group, code, k
        self.set_of: dict[tuple[str, str], int] = {}
        self.about: list[Mapping[str, str]] = []
        self.left_out: dict[str, Counter[str]] = {}
        self.seen: set[bytes] = set()
        self.exchanged = 0
        self.parts: list[tuple[list[IntArray], list[FloatArray], list[str]]] = []

    def add(self, texts: pa.Table, score_rows: pa.Table, gendered: Mapping[int, int]) -> None:
        """Read a shard of texts."""
        sets, groups, ids, places = [], [], [], []
        refused = []
        columns = [texts[name].to_pylist() for name in ("text_id", "prompt_id", "model", "outcome")]
        words, counts = texts["text"], score_rows["gendered"].to_pylist()
        scored = [_matrix(score_rows[side], self.k) for side in SIDES]
        for i, (text_id, prompt_id, model, outcome) in enumerate(zip(*columns, strict=True)):
            about = self.prompts[prompt_id]
            left_out = self.left_out.setdefault(model, Counter())
            pair, value = about.get(PAIR, ""), about.get(self.group, "")
            if not pair or not value:
                left_out[f"no value in {self.group if pair else PAIR}"] += 1
                continue
            code, reason = self.code[value], ""
            if outcome == "refused":  # refusals are a score of their own, so they stay
                left_out["refused"] += 1
            elif outcome != "ok" or counts[i] is None:
                reason = outcome if outcome != "ok" else "failed"
            else:
                reason = self._reason(words[i].as_py(), (model, pair, value), about)
                if not reason and code in gendered:
                    # A text far more about the other gender is not about the person of this half.
                    same, other = counts[i][gendered[code]], counts[i][1 - gendered[code]]
                    reason = OTHER if other > _MOST_OTHER * same else ""
            if reason:
                left_out[reason] += 1
                continue
            number = self.set_of.setdefault((model, pair), len(self.set_of))
            if number == len(self.about):
                self.about.append({**about, "model": model})
            sets.append(number)
            groups.append(code)
            ids.append(text_id)
            places.append(i)
            refused.append(outcome == "refused")
        no = np.array(refused, dtype=np.float64)[:, None]  # the last column, `REFUSED`
        written, masked, twin = (np.concatenate([side[places], no], axis=1) for side in scored)
        weight = score_rows["weight"].to_numpy()[places].astype(np.float64)[:, None]
        self.exchanged += int((weight > 0).sum())
        # What the scorer makes of the gendered words themselves cancels between a text and its
        # exchanged twin.
        neutral = np.where(weight > 0, masked * (1.0 - weight) + twin * weight, masked)
        codes = [np.array(sets, np.int64), np.array(groups, np.int64)]
        self.parts.append((codes, [masked, written, neutral], ids))

    def _reason(self, text: str, key: tuple[str, ...], about: Mapping[str, str]) -> str:
        """Why a readable text is left out; "" where it is not."""
        plain = " ".join(text.split())
        if plain == " ".join(about.get("+prompt", "").split()):
            return REQUEST
        # Digests of all texts fit into memory where the texts do not.
        mark = blake2b("\x1f".join((*key, plain)).encode("utf-8", "replace"), digest_size=12)
        if mark.digest() in self.seen:
            return TWICE
        self.seen.add(mark.digest())
        return ""

    def _why(self) -> str:
        """Which texts were left out, in a sentence after a space; "" where none was."""
        counts = sum(self.left_out.values(), Counter[str]())
        reasons = ", ".join(f"{n:,} ({reason})" for reason, n in counts.most_common())
        return f" Left out: {reasons}." if reasons else ""

    def sets(
        self,
        values: Sequence[str],
        scores: tuple[TextScore, ...],
        columns: Sequence[str],
        units: PairUnits,
    ) -> MatchedSets:
        """Return the sets of which two groups or more have answers."""
        set_code, group = (
            np.concatenate(codes) for codes in zip(*(p[0] for p in self.parts), strict=True)
        )
        masked, as_written, alike = (
            np.concatenate(read) for read in zip(*(p[1] for p in self.parts), strict=True)
        )
        ids = np.array([name for *_, names in self.parts for name in names], dtype=object)
        n, k = len(self.about), len(values)
        slot = set_code * k + group
        n_answers = np.bincount(slot, minlength=n * k).reshape(n, k)
        if not ((n_answers > 0).sum(1) > 1).any():
            raise DataError(
                f"no pair has texts of two values of {self.group!r}: the halves of a pair must "
                "have one value in the column of pairs. Name it with --pair-by."
                f"{self._why()}"
            )
        plain = [i for i, score in enumerate(scores) if not score.exchanged] + [len(scores)]
        alike[:, plain] = masked[:, plain]
        value, squares, spare = _halves(masked, slot, (n, k))
        written, neutral = (_halves(read, slot, (n, k))[0] for read in (as_written, alike))
        models = sorted({about["model"] for about in self.about})
        model = np.searchsorted(models, [about["model"] for about in self.about])
        within = [
            divide(*(np.bincount(model, x, len(models)) for x in pair))
            for pair in zip(squares, spare, strict=True)
        ]
        bare = (n_answers > 0).sum(1) < 2
        for i in np.flatnonzero(bare).tolist():
            self.left_out[self.about[i]["model"]][HALF] += int(n_answers[i].sum())
        full = np.flatnonzero(~bare)
        place = (np.cumsum(~bare) - 1)[set_code]
        counted = ~bare[set_code]
        unit_of = [units.of_pair[about["model"], about[PAIR]] for about in self.about]
        sources = sorted({unit_of[i] for i in full.tolist()})
        labels, split = self._parts(columns)
        return MatchedSets(
            attribute=self.group,
            groups=tuple(values),
            models=tuple(models),
            sources=tuple(sources),
            cluster=units.noun,
            recognised=units.lines,
            columns=labels,
            scores=(*scores, TextScore(REFUSED, "share of answers", exchanged=False)),
            model=model[full].astype(np.int64),
            source=np.searchsorted(sources, [unit_of[i] for i in full.tolist()]).astype(np.int64),
            split={name: codes[full] for name, codes in split.items()},
            value=value[:, full],
            written=written[:, full],
            neutral=neutral[:, full],
            n_answers=n_answers[full],
            within=np.stack(within),
            scatter=(squares[:, full], spare[:, full]),
            left_out={name: dict(counts) for name, counts in self.left_out.items()},
            answers=pa.table(
                {"text_id": ids[counted].tolist(), "set": place[counted], "half": group[counted]}
            ),
            exchanged=self.exchanged,
            names=tuple(self.about[i][PAIR] for i in full.tolist()),
        )

    def _parts(
        self, columns: Sequence[str]
    ) -> tuple[dict[str, tuple[str, ...]], dict[str, IntArray]]:
        """Labels of each further column, and its codes of the sets; -1 where it has no value."""
        labels, split = {}, {}
        for name in columns:
            values = [about.get(name, "") for about in self.about]
            labels[name] = tuple(sorted(set(values) - {""}, key=_natural))
            codes = {label: i for i, label in enumerate(labels[name])}
            split[name] = np.array([codes.get(value, -1) for value in values], dtype=np.int64)
        return labels, split


def _halves(
    scores: FloatArray, slot: IntArray, shape: tuple[int, int]
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Scores of texts (n_texts, k) by half: means (k, n_sets, n_groups); NaN where there is none.

    And of each set the squares off its halves' means, and how many are free, (k, n_sets) each.
    """
    means, squares, spare = [], [], []
    for values in scores.T:
        valid = ~np.isnan(values)
        cell, size = slot[valid], shape[0] * shape[1]
        count = np.bincount(cell, minlength=size)
        mean = divide(np.bincount(cell, values[valid], size), count)
        # What answers to the same request differ by: the noise of asking again
        off = np.bincount(cell, (values[valid] - mean[cell]) ** 2, size)
        means.append(mean.reshape(shape))
        squares.append(off.reshape(shape).sum(1))
        spare.append(np.maximum(count - 1, 0).reshape(shape).sum(1))
    return np.stack(means), np.stack(squares), np.stack(spare).astype(np.float64)


def _natural(label: str) -> tuple[bool, float, str]:
    """Numbers by size, before words."""
    try:
        return False, float(label), label
    except ValueError:
        return True, 0.0, label


def _matrix(column: pa.ChunkedArray, k: int) -> FloatArray:
    """A column of lists as an array, shape (n, k); NaN where a row has none."""
    lists = column.combine_chunks()
    matrix = np.full((len(lists), k), np.nan)
    valid = np.asarray(lists.is_valid())
    flat = lists.flatten().to_numpy(zero_copy_only=False).astype(np.float64)
    matrix[valid] = flat.reshape(-1, k)
    return matrix
