"""Scores of two tables or logs: paired by sample, clustered, with equivalence and power."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from portrayal.collect.sources import TextSource, open_source
from portrayal.collect.tables import missing
from portrayal.comparison.result import Change, Comparison, Prompts
from portrayal.comparison.sums import ENOUGH, fields_of, known
from portrayal.errors import DataError, OptionError
from portrayal.run.pages import number
from portrayal.shown import counted
from portrayal.stats import benjamini_hochberg, divide
from portrayal.stats.clustered import NO_SPREAD, NO_UNITS, ONE_PROMPT, infer_influences, sums_by
from portrayal.stats.paired import clustered_changes
from portrayal.stats.tails import t_isf
from portrayal.types import FloatArray, IntArray, Tabular
from portrayal.validate import check_level

IDS = (
    *("id", "sample_id", "doc_id", "custom_id", "question_id", "sample"),
    *("prompt_id", "prompt", "question", "input", "request"),
)
"""Columns that name a sample; of those that both files have, the one that pairs most is taken."""
POWER = 0.8
"""Part of the comparisons that find a difference of the size `ScoreChange.detectable`."""
PAIRED = "t on differences within samples, by cluster (CR2, Satterthwaite)"
APART = "t on two samples, by cluster (CR2, Satterthwaite)"
_WORDS = {
    **dict.fromkeys(("yes", "true", "correct", "right", "pass", "passed", "c", "y"), 1.0),
    **dict.fromkeys(("no", "false", "incorrect", "wrong", "fail", "failed", "i", "n"), 0.0),
}
"""Yes and no as tables write them, and C and I, the letters of Inspect."""
_RIGHT = ("acc", "correct", "exact_match", "right")
_REASONS = {
    NO_UNITS: "no sample has a value on both sides",
    ONE_PROMPT: "one cluster alone says nothing about others",
    NO_SPREAD: "the samples do not differ from each other",
}


@dataclass(frozen=True, slots=True)
class ScoreChange(Change):
    """The difference of a score between two files, the second less the first.

    Attributes
    ----------
    n_samples
        Samples that are compared: of both files where they are paired, else of either.
    n_a, n_b, yes_a, yes_b
        Answers behind them, and how many are 1; the latter None where values are other than 0 or 1.
    missing_a, missing_b, unread_a, unread_b
        Values of each file that are missing, and that are neither a number nor yes or no.
    detectable
        Size of a difference that four in five such comparisons would find at 1 − level; None
        where there is no test.
    """

    n_samples: int = 0
    n_a: int = 0
    n_b: int = 0
    yes_a: int | None = None
    yes_b: int | None = None
    missing_a: int = 0
    missing_b: int = 0
    unread_a: int = 0
    unread_b: int = 0
    detectable: float | None = None


@dataclass(frozen=True, eq=False)
class _Scores:
    """One file: columns that may name its samples, clusters (""  for none), and scores by row.

    A score is NaN where it is missing, and infinite where it cannot be read.
    """

    source: TextSource
    ids: Mapping[str, list[str]]
    clusters: list[str]
    values: Mapping[str, FloatArray]


def compare_scores(
    a: Tabular,
    b: Tabular,
    score: str | Sequence[str],
    *,
    pair_by: str | None = None,
    cluster: str | None = None,
    margin: float | None = None,
    level: float = 0.95,
) -> Comparison:
    """Compare numbers, or yes and no, of two tables or logs; see `portrayal.compare`.

    Answers to one sample are averaged, samples that both files have are paired, and samples of a
    cluster may depend on each other. Where fewer than half of the samples are in both, all of them
    count as two samples.

    Raises
    ------
    DataError, OptionError
        Where a file or column is missing, a column holds neither numbers nor yes and no, or the
        files share no value of `pair_by`.

    Examples
    --------
    >>> old = [{"id": i, "accuracy": int(i % 3 > 0)} for i in range(60)]
    >>> new = [{"id": i, "accuracy": int(i % 5 > 0)} for i in range(60)]
    >>> (row,) = compare_scores(old, new, "accuracy").rows
    >>> row.yes_a, row.yes_b, round(row.change, 3), round(row.p, 3)
    (40, 48, 0.133, 0.103)
    """
    names = [score] if isinstance(score, str) else list(dict.fromkeys(score))
    check_level(level)
    if margin is not None and not 0 <= margin < math.inf:
        raise OptionError(f"the margin of a score is 0 or more, in its unit; got {margin!r}.")
    sides = _read(a, names, pair_by, cluster), _read(b, names, pair_by, cluster)
    column, paired, note = _pairing(sides, pair_by)
    pairing = column, paired
    rows = [_change(sides, name, pairing, margin, level) for name in names]
    q = benjamini_hochberg([math.nan if row.p is None else row.p for row in rows])
    rows = [replace(row, q=known(value)) for row, value in zip(rows, q.tolist(), strict=True)]
    labels = _names(sides)
    notes = [*(_sentence(row, labels, level) for row in rows), note]
    if cluster:
        notes.append(f"clustered by `{cluster}`: {counted(rows[0].n_prompts, 'cluster')}")
    notes += [line for row in rows for line in _left_out(row, labels)]
    first = rows[0]
    prompts = Prompts(first.n_samples if paired else 0, first.n_only_a, first.n_only_b)
    return Comparison("", *labels, tuple(rows), level, (), prompts, notes=tuple(notes))


def _read(
    texts: Tabular, score: Sequence[str], pair_by: str | None, cluster: str | None
) -> _Scores:
    """Read the columns of a file that a comparison needs, in one pass."""
    source = open_source(texts)
    for column in (*score, pair_by, cluster):
        if column is not None and column not in source.columns:
            names = ", ".join(source.columns)
            raise DataError(f"{source.name}: there is no column {column!r}; it has {names}.")
    named = IDS if pair_by is None else (pair_by,)
    ids: dict[str, list[str]] = {name: [] for name in named if name in source.columns}
    clusters: list[str] = []
    values: dict[str, list[float]] = {name: [] for name in score}
    unread: dict[str, Any] = {}

    def label(row: Mapping[str, Any], name: str | None) -> str:
        cell = row.get(name) if name else None
        return "" if missing(cell) else str(cell)

    for row in source.rows():
        for name, labels in ids.items():
            labels.append(label(row, name))
        for name, column_values in values.items():
            column_values.append(_value(row.get(name)))
            if column_values[-1] == math.inf:
                unread.setdefault(name, row.get(name))
        clusters.append(label(row, cluster))
    arrays = {name: np.array(x, dtype=np.float64) for name, x in values.items()}
    for name, array in arrays.items():
        if not np.isfinite(array).any():
            example = f", such as {unread[name]!r:.60}" if name in unread else ": all are missing"
            raise DataError(
                f"{source.name}: no value of {name!r} is a number or yes or no{example}."
            )
    return _Scores(source, ids, clusters, arrays)


def _value(cell: Any) -> float:
    """Return a cell as a number: NaN where there is none, infinite where it is no number."""
    if isinstance(cell, str):
        text = cell.strip()
        cell = _WORDS.get(text.casefold(), text or None)
    if missing(cell):
        return math.nan
    try:
        value = float(cell)
    except (TypeError, ValueError, OverflowError):
        return math.inf
    return value if math.isfinite(value) else math.inf


def _pairing(sides: tuple[_Scores, _Scores], pair_by: str | None) -> tuple[str | None, bool, str]:
    """Return the column that names samples, whether it pairs those of both files, and a note."""
    one, two = sides
    shared = {
        name: len({*one.ids[name]} & {*two.ids[name]} - {""}) for name in one.ids if name in two.ids
    }
    column = max(shared, key=shared.__getitem__, default=None)
    if column is None:
        return None, False, "not paired: both have no column that names samples (--pair-by)"
    fewest = min(len({*side.ids[column]} - {""}) for side in sides)
    words = f"`{column}` names {counted(shared[column], 'sample')} of both, of {fewest:,}"
    if pair_by is not None and not shared[column]:
        raise DataError(f"{one.source.name} and {two.source.name} cannot be paired: {words}.")
    # A few common samples would leave out most of what both files have.
    if pair_by is None and (not shared[column] or shared[column] < ENOUGH * fewest):
        return column, False, f"not paired, compared as two samples: {words}"
    return column, True, f"paired by `{column}`"


def _by_sample(
    sides: tuple[_Scores, _Scores], score: str, column: str | None
) -> tuple[list[FloatArray], IntArray]:
    """Return sum, number of answers and number of ones by sample, and the cluster of each.

    Shapes (n_samples, 3) for each file, where a sample may be in one alone, and (n_samples,).
    """
    samples: dict[str, int] = {}
    clusters: list[str] = []
    codes: list[list[int]] = [[], []]
    cells: list[FloatArray] = []
    for i, side in enumerate(sides):
        read = np.isfinite(side.values[score])
        for row in np.flatnonzero(read).tolist():
            # A row without a name is a sample of its own; NUL keeps it apart from all names.
            name = (side.ids[column][row] if column else "") or f"\0{i} {row}"
            if name not in samples:
                clusters.append(side.clusters[row] or f"\0{name}")
            codes[i].append(samples.setdefault(name, len(samples)))
        value = side.values[score][read]
        cells.append(np.stack([value, np.ones(len(value)), value == 1.0], axis=1))
    sums = [
        sums_by(np.array(code, dtype=np.int64), len(samples), x)
        for code, x in zip(codes, cells, strict=True)
    ]
    return sums, np.unique(np.array(clusters), return_inverse=True)[1]


def _change(
    sides: tuple[_Scores, _Scores],
    score: str,
    pairing: tuple[str | None, bool],
    margin: float | None,
    level: float,
) -> ScoreChange:
    """Infer the difference of one score; `pairing` is the column of samples, and if it pairs."""
    column, paired = pairing
    by_sample, cluster = _by_sample(sides, score, column)
    values = [side.values[score] for side in sides]
    is_share = all(bool(np.isin(x[np.isfinite(x)], (0.0, 1.0)).all()) for x in values)
    both = (by_sample[0][:, 1] > 0) & (by_sample[1][:, 1] > 0)
    fields: dict[str, Any] = {}
    means, influences, totals = [], [], []
    for mark, sums, value in zip("ab", by_sample, values, strict=True):
        present = sums[:, 1] > 0
        used = both if paired else present
        # Each sample counts once, however many answers it has.
        sample_mean = np.where(used, divide(sums[:, 0], sums[:, 1]), 0.0)
        pair = np.stack([sample_mean, used], axis=1)
        total, n = np.hsplit(sums_by(cluster, int(cluster.max()) + 1, pair), 2)
        means.append(divide(total.sum(0), n.sum(0)))
        influences.append(divide(total - means[-1] * n, n.sum(0)))
        totals.append(n)
        fields |= {
            f"value_{mark}": known(means[-1][0]),
            f"n_{mark}": int(sums[used, 1].sum()),
            f"yes_{mark}": int(sums[used, 2].sum()) if is_share else None,
            f"n_only_{mark}": int((present & ~both).sum()),
            f"missing_{mark}": int(np.isnan(value).sum()),
            f"unread_{mark}": int(np.isinf(value).sum()),
        }
    # What a sample, or a cluster, of both files does to both cancels in the joint influence.
    change, influence = means[1] - means[0], influences[1] - influences[0]
    margins = np.nan if margin is None else margin
    changed = clustered_changes(change, influence, totals[0], totals[1], level, margins)
    df = infer_influences(change, influence, (totals[0], totals[1]), level).df
    # Half the interval is a quantile of t times the error; power adds its own quantile.
    reached, power = (t_isf(tail, df) for tail in ((1.0 - level) / 2.0, 1.0 - POWER))
    reason = str(changed.reason[0])
    return ScoreChange(
        score,
        "share" if is_share else "mean",
        {},
        {},
        "difference",
        margin=margin,
        **fields_of(changed, 0, level),
        **fields,
        n_prompts=int(changed.n_prompts[0]),
        n_samples=int((both if paired else cluster >= 0).sum()),
        paired=paired,
        method=PAIRED if paired else APART,
        stated=True,
        undefined=_REASONS.get(reason, reason) or None,
        detectable=known(float(((changed.high - change) * (1.0 + divide(power, reached)))[0])),
    )


def _names(sides: tuple[_Scores, _Scores]) -> tuple[str, str]:
    """Return the names of the files without their folders, where these differ."""
    one, two = (side.source.name for side in sides)
    if one == two:
        return "A", "B"
    short = Path(one).name, Path(two).name
    return short if short[0] != short[1] else (one, two)


def _sentence(row: ScoreChange, names: tuple[str, str], level: float) -> str:
    """Return the difference in one sentence, counts first."""
    one, two = names
    if row.yes_a is None or row.yes_b is None:
        values = f"{number(row.value_a)} in {one} and {number(row.value_b)} in {two}"
        lead = f"`{row.measure}` is {values} on average"
    else:
        is_right = any(word in row.measure.casefold() for word in _RIGHT)
        verb = "right" if is_right else f"`{row.measure}`"
        of_second = f" of {row.n_b:,}" if row.n_b != row.n_a else ""
        lead = f"{one} is {verb} in {row.yes_a:,} of {row.n_a:,}, {two} in {row.yes_b:,}{of_second}"
    if row.change is None or row.low is None or row.high is None or row.p is None:
        return f"{lead}: no test, as {row.undefined}."

    def words(size: float) -> str:
        return number(100.0 * size if row.statistic == "share" else size)

    unit = " points" if row.statistic == "share" else ""
    p = "p < .001" if row.p < 0.001 else f"p {row.p:.3f}".replace("0.", ".", 1)
    if row.p < 1.0 - level:
        ends = sorted((abs(row.low), abs(row.high)))
        direction = "more" if row.change > 0 else "less"
        span = f"({words(ends[0])} to {words(ends[1])}; {p})"
        result = f"{words(abs(row.change))}{unit} {direction} {span}"
    else:
        result = f"no difference shown ({words(row.low)} to {words(row.high)}{unit}; {p})"
        if row.detectable is not None and not row.equivalent:
            result += f"; four such comparisons in five find one of {words(row.detectable)}{unit}"
    if row.equivalent and row.margin is not None:
        result += f"; alike within {words(row.margin)}{unit}"
    return f"{lead}: {result}."


def _left_out(row: ScoreChange, names: tuple[str, str]) -> Iterator[str]:
    """Say what of a score was averaged, and what is not compared."""
    only, absent, unread = (
        [getattr(row, f"{field}_{mark}") for mark in "ab"]
        for field in ("n_only", "missing", "unread")
    )
    if row.n_a > row.n_samples or row.n_b > row.n_samples:
        yield f"`{row.measure}`: {row.n_a:,} and {row.n_b:,} answers, averaged by sample"
    for counts, words in (
        (only if row.paired else [0, 0], "samples of one file alone, not compared"),
        (absent, "values missing"),
        (unread, "values that are neither a number nor yes or no, left out"),
    ):
        if any(counts):
            sides = " and ".join(f"{n:,} in {name}" for n, name in zip(counts, names, strict=True))
            yield f"`{row.measure}`: {words}: {sides}"
