"""Sums by prompt of estimates: read from runs, and compared with those of something else."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from portrayal.measure.clustered import BUCKETS, bucket, is_bucket, sums_by
from portrayal.records import FEW_PEOPLE, TEXTS_ALONE, Form, PromptScores
from portrayal.run import Run
from portrayal.stats import divide
from portrayal.stats.clustered import within_variance
from portrayal.stats.contrasts import Contrasts
from portrayal.stats.paired import (
    Changed,
    clustered_changes,
    difference_parts,
    fixed_changes,
    paired_changes,
    paired_shares,
    ratio_parts,
)
from portrayal.stats.tails import normal_isf
from portrayal.types import BoolArray, FloatArray, IntArray

SCORED = "score of the pooled ratio by prompt (CR2, Satterthwaite), inverted"
PAIRED = "score of the change by prompt (Student's t), inverted"
APART = "t on clustered influences of two samples of prompts"
ENOUGH = 0.5
"""Part of the prompts of the smaller side that both must have, for prompts to be paired."""
POWER = 0.8
"""Part of the comparisons that find a change of the size `Change.detectable`."""
_CELLS = {"mean": 2, "ratio": 4}


@dataclass(frozen=True, eq=False)
class Sums:
    """Sums by prompt of k estimates of one form, (n_prompts, k) each.

    Attributes
    ----------
    form, log
        Form, and whether values are compared by their logarithm.
    cells
        Upper, n_upper, lower and n_lower.
    scale, value
        Of each estimate, shape (k,); the value only counts where the form is "influence".
    prompts
        Code of each prompt, shape (n_prompts,), every one once.
    """

    form: Form
    log: bool
    cells: tuple[FloatArray, ...]
    scale: FloatArray
    value: FloatArray
    prompts: IntArray

    @classmethod
    def of_means(cls, prompts: IntArray, total: FloatArray, count: FloatArray) -> "Sums":
        """Return the sums of one mean, Σ total / Σ count, of units in prompts; (n_units,) each."""
        codes = np.unique(prompts)
        sums = [np.bincount(prompts, x)[codes, np.newaxis] for x in (total, count)]
        has_units, none = sums[1][:, 0] > 0, np.full((int((sums[1] > 0).sum()), 1), np.nan)
        cells = (*(x[has_units] for x in sums), none, none)
        return cls("mean", False, cells, np.ones(1), np.full(1, np.nan), codes[has_units])

    @property
    def are_shares(self) -> bool:
        """Whether these are counts of some of the units."""
        a, n = self.cells[:2]
        return self.form == "mean" and bool(np.all((a >= 0) & (a <= n * (1 + 1e-9))))

    def at(self, prompts: IntArray) -> "Sums":
        """Return the sums of these prompts alone; 0 for a prompt without any."""
        _, rows, into = np.intersect1d(self.prompts, prompts, return_indices=True)
        cells = [np.zeros((len(prompts), cell.shape[1])) for cell in self.cells]
        for cell, source in zip(cells, self.cells, strict=True):
            cell[into] = source[rows]
        return replace(self, cells=tuple(cells), prompts=prompts)

    def joined(self, codes: IntArray) -> "Sums":
        """Return the sums of prompts with the same code together; `codes` are of each prompt."""
        prompts, code = np.unique(codes, return_inverse=True)
        cells = tuple(sums_by(code, len(prompts), cell) for cell in self.cells)
        return replace(self, cells=cells, prompts=prompts)


def sums_of(run: Run, rows: Sequence[int], recode: IntArray | None = None) -> Sums:
    """Return the sums that a run keeps of estimates with the same prompts.

    Parameters
    ----------
    run, rows
        The run, and the rows of its estimates, all of one form.
    recode
        Code of each of the run's prompts, where prompts of several runs are numbered together
        (`codes_of`); prompts of one code are joined.
    """
    store, index = run.influences, np.asarray(rows, dtype=np.int64)
    prompts = store.prompts_of(rows[0])
    cells = store.starts[index] + np.arange(len(prompts))[:, np.newaxis]
    records = [run.records[row] for row in rows]
    sums = Sums(
        store.forms[rows[0]] or "mean",
        records[0].statistic == "ratio",
        tuple(column[cells] for column in store.columns),
        store.scales[index],
        np.array([record.value for record in records], dtype=np.float64),
        prompts,
    )
    if recode is None:
        return sums
    codes = recode[sums.prompts]
    # Nothing to add up where each prompt keeps a code of its own, which is the rule.
    once = len(np.unique(codes)) == len(codes)
    return replace(sums, prompts=codes) if once else sums.joined(codes)


def codes_of(runs: Sequence[Run]) -> tuple[list[IntArray], IntArray]:
    """Number the prompts of several runs together, so that sums of the same prompt meet.

    Where a run keeps many prompts joined in buckets, those of the other runs are joined alike.

    Returns
    -------
    list of array, array
        Code of each prompt of each run, and the bucket of each code.
    """
    labels = [run.influences.labels for run in runs]
    # What one run keeps in buckets can be paired with the same buckets only.
    joined = any(is_bucket(name) for names in labels for name in names)
    codes: dict[str | int, int] = {}
    codes_by_run = [
        np.array(
            [codes.setdefault(bucket(name) if joined else name, len(codes)) for name in names],
            dtype=np.int64,
        )
        for names in labels
    ]
    buckets = [key if isinstance(key, int) else bucket(key) for key in codes]
    return codes_by_run, np.array(buckets, dtype=np.int64)


def why_not(runs: Sequence[Run], rows: Sequence[int]) -> str | None:
    """Return why estimates of several runs cannot be compared by sums; None where they can."""
    for run, row in zip(runs, rows, strict=True):
        if run.influences.reasons[row] is not None:
            return run.influences.reasons[row]
    pairs = list(zip(runs, rows, strict=True))
    if len({run.records[row].within_prompts for run, row in pairs}) > 1:
        return "one side compares texts within prompts, the other over all prompts"
    forms = {run.influences.forms[row] for run, row in pairs}
    return None if len(forms) == 1 else "the sides keep sums of other forms"


@dataclass(frozen=True, eq=False)
class Measured:
    """Values of k estimates on the scale of their comparison, and what each prompt adds.

    Attributes
    ----------
    value
        Shape (k,): a logarithm where ratios are compared; NaN where it has none.
    influence, weight
        Of each prompt, (n_prompts, k); the first sum to 0, the second to 1.
    occurs
        Whether the group occurs in the prompt, (n_prompts, k).
    """

    value: FloatArray
    influence: FloatArray
    weight: FloatArray
    occurs: BoolArray


def measured(sums: Sums) -> Measured:
    """Compute values and influences from sums.

    The influence of a prompt with sums a, n on Σa / Σn is (a − v n) / Σn, and on its logarithm
    a / Σa − n / Σn (Binder 1983).
    """
    a, n, b, m = sums.cells
    with np.errstate(divide="ignore", invalid="ignore"):
        if sums.form == "influence":
            value = np.log(sums.value) if sums.log else sums.value
            weight, inside = n / n.sum(0), n > 0
            shift = divide(a.sum(0), n.sum(0))
            value, influence = value + shift, a / n.sum(0) - shift * weight
        else:
            sides = [(a, n)] if sums.form == "mean" else [(a, n), (b, m)]
            log = sums.log or sums.form == "ratio"
            # Ratios of sums, not means of prompts' ratios, as long texts count for more.
            means = [x.sum(0) / y.sum(0) for x, y in sides]
            weights = [y / y.sum(0) for _, y in sides]
            influences = [
                x / x.sum(0) - w if log else (x - mean * y) / y.sum(0)
                for (x, y), mean, w in zip(sides, means, weights, strict=True)
            ]
            value, influence, weight = means[0], influences[0], np.mean(weights, axis=0)
            if len(sides) > 1:
                value = value / means[1] if log else value - means[1]
                influence = influence - influences[1]
            else:
                value, influence = value * sums.scale, influence * (1.0 if log else sums.scale)
            value = np.log(value) if log else value
            inside = np.any([y > 0 for _, y in sides], axis=0)
            # A prompt in which nobody of the group is counted does not carry it, however large.
            if all(bool(np.all(x >= 0)) for x, _ in sides):
                inside = inside & (np.sum([x for x, _ in sides], axis=0) > 0)
    value = np.where(np.isfinite(value), value, np.nan)
    return Measured(value, np.nan_to_num(influence), np.nan_to_num(weight), inside)


def _scores_of(contrasts: Contrasts, k: int, prompts: IntArray) -> PromptScores | None:
    """What each prompt says against no change of an estimate; None where it has no test."""
    if np.isnan(contrasts.p[k]):
        return None
    counted = contrasts.scores[:, k] != 0.0
    names = tuple(str(code) for code in prompts[counted].tolist())
    within, df = float(contrasts.within[k]), float(contrasts.df[k])
    return PromptScores(names, contrasts.scores[counted, k], within, len(prompts), df)


def _inferred(
    sides: Sequence[Sums],
    measured_sides: tuple[Measured, Measured],
    paired: bool,
    level: float,
    margin: FloatArray | float,
    part: FloatArray | float,
    fixed: bool,
) -> tuple[Changed, Contrasts | None]:
    """Infer the changes between two sides by the score of what their sums say."""
    one, two = measured_sides
    value, influence = two.value - one.value, two.influence - one.influence
    sums, inside = sides[0], one.occurs | two.occurs
    if not paired:
        return clustered_changes(value, influence, one.weight, two.weight, level, margin), None
    if sums.log and all(side.are_shares for side in sides):
        (b, m), (a, n) = ((side.cells[0], side.cells[1]) for side in sides)
        return paired_shares((b, m), (a, n), level, margin, part, these_prompts=fixed)
    by_counts = sums.log and sums.form in _CELLS
    if by_counts:
        # Ratios of counts are compared by counts, as logarithms of rare ones are skewed.
        parts = ratio_parts(*(side.cells[: _CELLS[sums.form]] for side in sides))
    else:
        parts = difference_parts(value, influence, (one.weight + two.weight) / 2.0)
    return paired_changes(*parts, inside, level, margin, log=by_counts), None


def _within(sides: Sequence[Sums]) -> FloatArray:
    """Variance of changes between sides of the same prompts that texts alone give, shape (k,).

    NaN where values are no shares or ratios of them, and where one counts fewer than `FEW_PEOPLE`.
    """
    form, log = sides[0].form, sides[0].log
    n_cells = _CELLS.get(form, 0)
    total = np.zeros(sides[0].cells[0].shape[1])
    if not n_cells:
        return total * np.nan
    for side in sides:
        for a, n in zip(side.cells[:n_cells:2], side.cells[1:n_cells:2], strict=True):
            share, n_other = divide(a.sum(0), n.sum(0)), (n - a).sum(0)
            # Within a fixed prompt only counts have a known variance (binomial), and few of them a
            # poor one.
            valid = np.all((a >= 0) & (a <= n * (1 + 1e-9)), axis=0)
            valid &= np.minimum(a.sum(0), n_other) >= FEW_PEOPLE
            scale = divide(1.0, np.where(valid, share, np.nan)) if log else side.scale
            part = within_variance(a, n, a) * scale**2
            total = total + np.where(valid, part, np.nan)
    return total


def known(x: float) -> float | None:
    """Return a number, and None for NaN."""
    return None if np.isnan(x) else float(x)


def _pair(ends: FloatArray) -> tuple[float, float] | None:
    return None if np.isnan(ends).any() else (float(ends[0]), float(ends[1]))


def changes_against(
    sums: Sums,
    against: Sums,
    level: float,
    *,
    margin: FloatArray | float = np.nan,
    buckets: IntArray | None = None,
    part: FloatArray | float = 1.0,
    fixed: bool = False,
    within: FloatArray | float = np.nan,
) -> list[dict[str, Any]]:
    """Infer what changed between sums and those that they are compared against.

    Prompts are paired where the side with fewer shares at least `ENOUGH` of them with the other;
    otherwise all prompts of both count, as two samples.

    Parameters
    ----------
    sums, against
        Of the same k estimates: of a run, a model or rewritten texts, and of an earlier run,
        another model or the texts as they were; prompts of both are numbered together.
    level, margin
        Confidence level, and largest change that counts as none on the scale of the comparison.
    buckets
        Bucket of each prompt by its code: more than `BUCKETS` paired prompts are joined by these.
    part
        Of shares, the mean contribution of a unit (`stats.paired_shares`).
    fixed
        Whether paired prompts are fixed, so that chance is in their texts alone; where that is not
        known of an estimate, its prompts stay a sample.
    within
        Variance of each change that texts alone give, for what the sums do not know it of.

    Returns
    -------
    list of dict
        For each estimate the fields of `Change` from `value_a` (the value of `against`) on; numbers
        on the scale of the change, None where undefined.
    """
    prompts = against.prompts, sums.prompts
    both = np.intersect1d(*prompts)
    # Pairing over a few common prompts would leave out most of what both runs have.
    paired = len(both) >= ENOUGH * min(map(len, prompts))
    used = both if paired else np.union1d(*prompts)
    sides = [against.at(used), sums.at(used)]
    # Beyond so many, prompts joined at random say nearly as much and cost far less.
    if paired and buckets is not None and len(both) > BUCKETS:
        sides = [side.joined(buckets[both]) for side in sides]
    one, two = (measured(side) for side in sides)
    # Pairing takes out what is difficult about a prompt, so it is used wherever it can be.
    change, scores = _inferred(sides, (one, two), paired, level, margin, part, fixed)
    method = APART if not paired else PAIRED if scores is None else SCORED
    texts_alone = np.full(len(change.value), False)
    if fixed and scores is not None:
        texts_alone = ~np.isnan(change.p)
    elif fixed and paired:
        # Of these prompts alone, how prompts differ from each other is no chance any more.
        variance = _within(sides)
        variance = np.where(np.isnan(variance), within, variance)
        texts_alone = ~np.isnan(variance)
        change = fixed_changes(change, variance, level, margin)

    def shown(x: float) -> float | None:
        return known(np.exp(x) if sums.log else x)

    # Half the interval is a quantile of the error; power adds its own quantile.
    power = 1.0 + float(normal_isf(1.0 - POWER) / normal_isf((1.0 - level) / 2.0))
    detectable = (change.high - change.low) / 2.0 * power
    rows: list[dict[str, Any]] = []
    for k, value in enumerate(change.value):
        reason = str(change.reason[k]) or None
        if np.isnan(value):
            zero = "a" if np.isnan(one.value[k]) else "b"
            reason = f"the value of side {zero} is 0 or infinite over these prompts, or undefined"
        p_same = known(change.p_equivalent[k])
        rows.append(
            {
                "change": shown(value),
                "low": shown(change.low[k]),
                "high": shown(change.high[k]),
                "detectable": shown(detectable[k]),
                "p": known(change.p[k]),
                "p_inside": _pair(change.p_inside[:, k]),
                "p_beyond": _pair(change.p_beyond[:, k]),
                "p_equivalent": p_same,
                "equivalent": None if p_same is None else p_same <= 1.0 - level + 1e-12,
                "value_a": shown(one.value[k]),
                "value_b": shown(two.value[k]),
                "n_prompts": len(both),
                "n_only_a": len(prompts[0]) - len(both),
                "n_only_b": len(prompts[1]) - len(both),
                "paired": paired,
                "method": TEXTS_ALONE if texts_alone[k] else method,
                "scores": None if scores is None else _scores_of(scores, k, sides[0].prompts),
                "undefined": reason,
            }
        )
    return rows
