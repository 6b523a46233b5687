"""Scores of two tables or logs: paired by sample, clustered, with equivalence and power."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from portrayal.collect.sources import TextSource, open_source
from portrayal.collect.tables import has_decimal_commas, missing, missing_column, number_of
from portrayal.comparison.result import CHANGED, Change, Comparison, Prompts, verdict
from portrayal.comparison.sums import ENOUGH, Sums, changes_against, known
from portrayal.errors import DataError, OptionError
from portrayal.run.pages import number
from portrayal.shown import counted
from portrayal.stats import benjamini_hochberg, divide
from portrayal.types import FloatArray, Tabular
from portrayal.validate import check_level

IDS = (
    *("id", "sample_id", "doc_id", "custom_id", "question_id", "sample"),
    *("prompt_id", "prompt", "question", "input", "request"),
)
"""Columns that name a sample; of those that both files have, the one that pairs most is taken."""
_RIGHT = ("acc", "correct", "exact_match", "right")


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
    sums
        Sums by cluster of both files.
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
    sums: tuple[Sums, ...] = field(default=(), compare=False, repr=False)

    @property
    def n_sides(self) -> tuple[int, int]:
        """Clusters, or samples, of each file."""
        return len(self.sums[0].prompts), len(self.sums[1].prompts)


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
    column, note = _pairing(sides, pair_by)
    rows = [_change(sides, name, column, margin, level) for name in names]
    q = benjamini_hochberg([math.nan if row.p is None else row.p for row in rows])
    rows = [replace(row, q=known(value)) for row, value in zip(rows, q.tolist(), strict=True)]
    labels = _names(sides)
    notes = [*(_sentence(row, labels, level) for row in rows), note]
    if cluster:
        notes.append(f"clustered by `{cluster}`: {counted(rows[0].n_prompts, 'cluster')}")
    notes += [line for row in rows for line in _left_out(row, labels)]
    first = rows[0]
    prompts = Prompts(first.n_samples if column else 0, first.n_only_a, first.n_only_b)
    return Comparison("", *labels, tuple(rows), level, (), prompts, notes=tuple(notes))


def _read(
    texts: Tabular, score: Sequence[str], pair_by: str | None, cluster: str | None
) -> _Scores:
    """Read the columns of a file that a comparison needs, in one pass."""
    source = open_source(texts, score)
    for column in (*score, pair_by, cluster):
        if column is not None and column not in source.columns:
            option = (
                "--score" if column in score else "--pair-by" if column == pair_by else "--cluster"
            )
            raise missing_column(source, column, option)
    id_columns = IDS if pair_by is None else (pair_by,)
    # Of each row what is needed alone, as its other columns may hold long texts.
    rows = [{n: row.get(n) for n in (*id_columns, *score, cluster)} for row in source.rows()]

    def labels_of(name: str | None) -> list[str]:
        cells = (row[name] if name else None for row in rows)
        return ["" if missing(cell) else str(cell) for cell in cells]

    ids = {name: labels_of(name) for name in id_columns if name in source.columns}
    arrays: dict[str, FloatArray] = {}
    for name in score:
        values = [row[name] for row in rows]
        is_comma = has_decimal_commas(values)
        array = np.array([number_of(value, decimal_comma=is_comma) for value in values])
        arrays[name] = array
        if not np.isfinite(array).any():
            unread = np.flatnonzero(np.isinf(array))
            example = f", such as {values[unread[0]]!r:.60}" if len(unread) else ": all are missing"
            raise DataError(
                f"{source.name}: no value of {name!r} is a number or yes or no{example}."
            )
    return _Scores(source, ids, labels_of(cluster), arrays)


def _pairing(sides: tuple[_Scores, _Scores], pair_by: str | None) -> tuple[str | None, str]:
    """Return the column whose samples pair, None where too few do, and a note."""
    one, two = sides
    shared = {
        name: len({*one.ids[name]} & {*two.ids[name]} - {""}) for name in one.ids if name in two.ids
    }
    column = max(shared, key=shared.__getitem__, default=None)
    if column is None:
        return None, "not paired: both have no column that names samples (--pair-by)"
    fewest = min(len({*side.ids[column]} - {""}) for side in sides)
    words = f"`{column}` names {counted(shared[column], 'sample')} of both, of {fewest:,}"
    if pair_by is not None and not shared[column]:
        raise DataError(f"{one.source.name} and {two.source.name} cannot be paired: {words}.")
    # A few common samples would leave out most of what both files have.
    if not shared[column] or shared[column] < ENOUGH * fewest:
        return None, f"not paired, compared as two samples: {words}"
    return column, f"paired by `{column}`"


def _change(
    sides: tuple[_Scores, _Scores],
    score: str,
    column: str | None,
    margin: float | None,
    level: float,
) -> ScoreChange:
    """Infer the difference of one score; `column` names the samples that are paired."""
    samples: dict[str, int] = {}
    clusters: list[str] = []
    codes: list[list[int]] = [[], []]
    values = [side.values[score] for side in sides]
    for i, side in enumerate(sides):
        for row in np.flatnonzero(np.isfinite(values[i])).tolist():
            # A row without a name is a sample of its own; NUL keeps it apart from all names.
            name = (side.ids[column][row] if column else "") or f"\0{i} {row}"
            if name not in samples:
                clusters.append(side.clusters[row] or f"\0{name}")
            codes[i].append(samples.setdefault(name, len(samples)))
    read = [value[np.isfinite(value)] for value in values]
    n_answers = np.stack([np.bincount(code, minlength=len(samples)) for code in codes])
    total = np.stack([np.bincount(*x, len(samples)) for x in zip(codes, read, strict=True)])
    present = n_answers > 0  # (2, n_samples), as the two above
    used = present & (present.all(0) if column else True)
    # Each sample counts once, however many answers it has.
    means = np.where(used, divide(total, n_answers), 0.0)
    cluster = np.unique(np.array(clusters), return_inverse=True)[1]
    sums = tuple(Sums.of_means(cluster, *x) for x in zip(means, used, strict=True))
    margins = np.nan if margin is None else margin
    (fields,) = changes_against(sums[1], sums[0], level, margin=margins)
    is_share = all(bool(np.isin(value, (0.0, 1.0)).all()) for value in read)
    for i, mark in enumerate("ab"):
        fields |= {
            f"n_{mark}": int(n_answers[i, used[i]].sum()),
            f"yes_{mark}": int(total[i, used[i]].sum()) if is_share else None,
            f"n_only_{mark}": int((present[i] & ~present.all(0)).sum()),
            f"missing_{mark}": int(np.isnan(values[i]).sum()),
            f"unread_{mark}": int(np.isinf(values[i]).sum()),
        }
    unit = "cluster" if any(side.clusters[0] for side in sides) else "sample"
    reason = fields["undefined"]
    fields["undefined"] = reason and reason.replace("the group", "it").replace("prompt", unit)
    fields["n_prompts"] = len(np.union1d(sums[0].prompts, sums[1].prompts))
    kind = "share" if is_share else "mean"
    return ScoreChange(
        *(score, kind, {}, {}, "difference"),
        margin=margin,
        **fields,
        n_samples=int(used.any(0).sum()),
        stated=True,
        sums=sums,
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

    def words(size: float, *, signed: bool = False) -> str:
        return number(100.0 * size if row.statistic == "share" else size, signed=signed)

    unit = " points" if row.statistic == "share" else ""
    # Of several scores, q decides.
    name, value = ("p", row.p) if row.q in (None, row.p) else ("q", row.q or 0.0)
    p = f"{name} < .001" if value < 0.001 else f"{name} {value:.3f}".replace("0.", ".", 1)
    if verdict(row, level) == CHANGED:
        low, high = sorted((abs(row.low), abs(row.high)))
        direction = "more" if row.change > 0 else "less"
        result = f"{words(abs(row.change))}{unit} {direction} ({words(low)} to {words(high)}; {p})"
    else:
        low_words, high_words = (words(bound, signed=True) for bound in (row.low, row.high))
        result = f"no difference shown ({low_words} to {high_words}{unit}; {p})"
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
        (only if row.paired else [0, 0], "samples with a value in one file alone, not compared"),
        (absent, "values missing"),
        (unread, "values that are neither a number nor yes or no, left out"),
    ):
        if any(counts):
            sides = " and ".join(f"{n:,} in {name}" for n, name in zip(counts, names, strict=True))
            yield f"`{row.measure}`: {words}: {sides}"
