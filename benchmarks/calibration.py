"""Simulate what intervals and tests promise; prints the tables of docs/calibration.json.

    python -m benchmarks.calibration [SECTION ...] [--reps N] [--seed N] [--gold FILE]
        [--data FOLDER] [--json FILE]

Sections: shares, widths, ratios, roles, effects_that_differ, joint, means, naming, corrected,
hand_labels, rare, medians, models, effects, procedures, plan, news, units; with --gold also
real_prompts, gold and nothing. Prompts are drawn first and texts within them: truth is that of all
prompts.
"""

import argparse
import json
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from scipy import stats as distributions

from benchmarks import calibration_audits as audits
from benchmarks import calibration_hand as of_hand
from benchmarks import calibration_models as of_models
from benchmarks import calibration_procedures as of_procedures
from benchmarks import calibration_stories as stories
from benchmarks import calibration_units as of_units
from benchmarks import calibration_widths as of_widths
from benchmarks import calibration_worlds as worlds
from benchmarks.calibration_news import ALIKE, MEASURES, News, rejections
from benchmarks.calibration_worlds import Bearers, Cell, Rng
from portrayal import planning, stats
from portrayal.planning.design import Kind
from portrayal.reference.groups import RACES, baseline
from portrayal.stats import contrasts, divide
from portrayal.stats.contrasts import RatioScore, TwoSides
from portrayal.stats.naming import fair_naming, infer_fair_shares
from portrayal.stats.paired import paired_shares
from portrayal.types import FloatArray

PROMPTS, TEXTS, CORRELATIONS = (5, 10, 15, 25, 50), (5, 20, 100), (0.0, 0.05, 0.2, 0.5)
SHARES = (0.01, 0.02, 0.04, 0.1, 0.2, 0.5)
ZONES: dict[str, Callable[[Cell], bool]] = {
    "share ≥ .04, ICC ≤ .2, ≥ 10 prompts": lambda c: (
        c.share >= 0.04 and c.icc <= 0.2 and c.prompts >= 10
    ),
    "share < .04, ICC ≤ .2, ≥ 10 prompts": lambda c: (
        c.share < 0.04 and c.icc <= 0.2 and c.prompts >= 10
    ),
    "ICC .5, ≥ 10 prompts": lambda c: c.icc == 0.5 and c.prompts >= 10,
    "5 prompts": lambda c: c.prompts == 5,
}
Row = Sequence[object]


TABLES: list[dict[str, Any]] = []
"""What `show` printed, for --json."""


def show(title: str, head: Row, rows: Iterable[Row]) -> None:
    """Print a Markdown table as its rows come."""
    print(f"\n### {title}\n\n| {' | '.join(map(str, head))} |\n|{'---|' * len(head)}")
    table: dict[str, Any] = {"table": title, "columns": list(head), "rows": []}
    TABLES.append(table)
    for row in rows:
        table["rows"].append([round(x, 3) if isinstance(x, float) else x for x in row])
        cells = (f"{x:.3f}" if isinstance(x, float) else str(x) for x in row)
        print(f"| {' | '.join(cells)} |", flush=True)


def zones(found: dict[str, dict[Cell, float]], worst: Callable[..., Cell]) -> Iterable[Row]:
    """Summarise each method's cells by zone; `worst` is min for coverage, max for errors."""
    for zone, inside in ZONES.items():
        for method, cells in found.items():
            some = {cell: x for cell, x in cells.items() if inside(cell)}
            if some:
                lows, values = worst(some, key=some.__getitem__), np.array(list(some.values()))
                low, middle, high = np.quantile(values, [0.1, 0.5, 0.9]).tolist()
                yield zone, method, len(some), some[lows], low, middle, high, str(lows)


# ---------------------------------------------------------------------------- shares


def share_coverage(rng: Rng, cell: Cell, reps: int) -> dict[str, float]:
    """Coverage of 95 % intervals of the share: ours, and three others."""
    count, total = worlds.share_world(rng, cell, reps)
    ours = stats.infer_shares(count, total, 0.95)
    k, n = count.sum(0), total.sum(0)
    return {
        "ours": _covers(ours.low, ours.high, cell.share),
        "Wilson, texts as if independent": _covers(*stats.wilson(k, n, 0.95), cell.share),
        "log t": _covers(*_log_t_bounds(count, total), cell.share),
        "percentile bootstrap of prompts": _covers(*_percentile(rng, count, total), cell.share),
    }


def _covers(low: FloatArray, high: FloatArray, truth: float) -> float:
    """Share of the intervals that hold the truth; those that are NaN do not."""
    return float(np.mean((low <= truth) & (truth <= high)))


def _log_t_bounds(count: FloatArray, total: FloatArray) -> tuple[FloatArray, FloatArray]:
    prompts = len(count)
    with np.errstate(divide="ignore", invalid="ignore"):
        influence = count / count.sum(0) - total / total.sum(0)
        error = np.sqrt(prompts / (prompts - 1) * (influence**2).sum(0))
        centre = np.log(count.sum(0) / total.sum(0))
        half = distributions.t.isf(0.025, prompts - 1) * error
    return np.exp(centre - half), np.exp(centre + half)


def _percentile(
    rng: Rng, count: FloatArray, total: FloatArray, draws: int = 300
) -> tuple[FloatArray, FloatArray]:
    weights = rng.multinomial(len(count), np.full(len(count), 1 / len(count)), size=draws)
    low, high = np.quantile((weights @ count) / (weights @ total), [0.025, 0.975], axis=0)
    return low, high


def shares(options: argparse.Namespace) -> None:
    """Coverage of intervals of shares."""
    found: dict[str, dict[Cell, float]] = {}
    reps = options.reps or 400
    grid = [Cell(*cell) for cell in product(PROMPTS, TEXTS, CORRELATIONS, SHARES)]
    grid += [Cell(p, 20, icc, s, True) for p, icc, s in product(PROMPTS, CORRELATIONS, SHARES)]
    for number, cell in enumerate(grid):
        rng = np.random.default_rng([options.seed, 1, number])
        for method, coverage in share_coverage(rng, cell, reps).items():
            found.setdefault(method, {})[cell] = coverage
    head: Row = ("zone", "method", "cells", "lowest", "10 %", "median", "90 %", "lowest cell")
    show(f"Coverage of 95 % intervals of shares, {reps} audits a cell", head, zones(found, min))
    few = sorted(found["ours"].items(), key=lambda item: item[1])[:8]
    show("Lowest cells of ours", ("cell", "coverage"), few)
    head = ("texts per prompt", "ICC", "true share", *(f"{g} prompts" for g in PROMPTS))
    title = f"Coverage where units count fractionally, {reps} audits a cell"
    show(title, head, fractional(options.seed, reps))


def fractional(seed: int, reps: int) -> Iterable[Row]:
    """Coverage of intervals of shares of parts, as counting by name has them."""
    for number, (texts, icc, share) in enumerate(product((20, 100), (0.0, 0.2, 0.5), (0.05, 0.3))):
        rng, row = np.random.default_rng([seed, 12, number]), []
        for prompts in PROMPTS:
            cell = Cell(prompts, texts, icc, share)
            count, total, squares, truth = worlds.fractional_world(rng, cell, reps)
            found = stats.infer_shares(count, total, 0.95, squares=squares)
            row.append(_covers(found.low, found.high, truth))
        yield texts, icc, truth, *row


def widths(options: argparse.Namespace) -> None:
    """Coverage and width of other intervals of a share with five prompts."""
    reps = options.reps or 600
    head = [f"{what}, ICC {icc}" for icc in (0, 0.05, 0.2) for what in ("coverage", "width")]
    title = f"Shares, 5 prompts × 20 texts, share .1, {reps} audits a cell"
    last = ("lowest coverage to ICC .2, share .1 to .5, 20 or 100 texts", "the same at ICC .5")
    show(title, ("method", *head, *last), of_widths.rows(reps, options.seed))


# ---------------------------------------------------------------------------- two roles


def ratio_errors(rng: Rng, cell: Cell, reps: int) -> dict[str, float]:
    """Type I error at .05 of ratio 1 where roles mean nothing."""
    sums = worlds.role_world(rng, cell, reps)
    return {
        "score of the pooled ratio": float(np.mean(stats.infer_contrasts(sums).p < 0.05)),
        "t of the log ratio": float(np.mean(_log_ratio_p(sums) < 0.05)),
    }


def _log_ratio_p(sums: TwoSides) -> FloatArray:
    prompts = len(sums.upper)
    with np.errstate(divide="ignore", invalid="ignore"):
        a, n, b, m = (x.sum(0) for x in (sums.upper, sums.n_upper, sums.lower, sums.n_lower))
        influence = sums.upper / a - sums.n_upper / n - sums.lower / b + sums.n_lower / m
        error = np.sqrt(prompts / (prompts - 1) * (influence**2).sum(0))
        t = np.abs(np.log(a / n) - np.log(b / m)) / error
        return np.asarray(2.0 * distributions.t.sf(t, prompts - 1))


def ratios(options: argparse.Namespace) -> None:
    """Type I error of tests of ratios of two shares."""
    found: dict[str, dict[Cell, float]] = {}
    reps = options.reps or 400
    for number, cell in enumerate(product(PROMPTS, TEXTS, CORRELATIONS, (0.01, 0.04, 0.14, 0.5))):
        rng = np.random.default_rng([options.seed, 2, number])
        for method, error in ratio_errors(rng, Cell(*cell), reps).items():
            found.setdefault(method, {})[Cell(*cell)] = error
    head = ("zone", "test", "cells", "highest", "10 %", "median", "90 %", "highest cell")
    show(f"Type I error at .05 of ratio 1, {reps} audits a cell", head, zones(found, max))


def role_sums(rng: Rng, cell: Cell, ratio: float, reps: int, *, shared: bool) -> TwoSides:
    """Counts of both roles, whose shares are drawn apart, or are alike but for the ratio."""
    sums = worlds.role_world(rng, cell, reps, ratio)
    if not shared:
        return sums
    own = np.minimum(worlds.prompt_shares(rng, sums.upper.shape, cell.share, cell.icc), 1 / ratio)
    counts = [rng.binomial(cell.texts, own * each).astype(float) for each in (ratio, 1.0)]
    return TwoSides(counts[0], sums.n_upper, counts[1], sums.n_lower)


def role_coverage(rng: Rng, cell: Cell, ratio: float, reps: int, *, shared: bool) -> Row:
    """Coverage, share with an interval, power of prompts like these, power of a t of shares."""
    sums = role_sums(rng, cell, ratio, reps, shared=shared)
    found = stats.infer_contrasts(sums)
    some = ~np.isnan(found.low)
    inside = (found.low <= ratio) & (ratio <= found.high)
    apart = divide(sums.upper, sums.n_upper) - divide(sums.lower, sums.n_lower)
    error = apart.std(0, ddof=1) / np.sqrt(cell.prompts)
    paired = 2 * distributions.t.sf(np.abs(divide(apart.mean(0), error)), cell.prompts - 1)
    wrong = some & ((found.p < 0.05) != ((found.low > 1) | (found.high < 1)))
    return (
        float(np.mean(inside[some])) if some.any() else "–",
        float(some.mean()),
        float(np.mean(found.p < 0.05)),
        float(np.mean(paired < 0.05)),
        float(np.mean(found.fixed_p < 0.05)),
        int(wrong.sum()),
    )


def roles(options: argparse.Namespace) -> None:
    """Level, coverage and power of ratios of two roles."""
    reps = options.reps or 1_000
    designs = [
        *((5, 100, 0.05, 0.14), (5, 100, 0.2, 0.14), (8, 20, 0.05, 0.14), (8, 100, 0.2, 0.14)),
        *((14, 100, 0.2, 0.05), (14, 20, 0.05, 0.14), (25, 20, 0.2, 0.02), (50, 20, 0.2, 0.14)),
    ]

    def rows() -> Iterable[Row]:
        for number, (design, shared) in enumerate(product(designs, (True, False))):
            for ratio in (1.0, 3.0):
                rng = np.random.default_rng([options.seed, 3, number, int(ratio)])
                cell = Cell(*design)
                found = [*role_coverage(rng, cell, ratio, reps, shared=shared)]
                more = RatioScore(role_sums(rng, cell, ratio, 10 * reps, shared=shared))
                found[2] = float(np.mean(more.p(np.ones(10 * reps)) < 0.05))
                yield str(cell), "alike" if shared else "apart", ratio, *found

    head = ("cell", "roles of a prompt", "true ratio", "coverage", "has an interval", "p < .05",
            "paired t of shares", "these prompts", "disagree")  # fmt: skip
    show(f"Ratios of two roles, {reps} audits a cell, p < .05 in ten times as many", head, rows())


def effects_that_differ(options: argparse.Namespace) -> None:
    """Ratios of two roles whose prompts differ in effect; unequal prompts; what a change says."""
    reps = options.reps or 10_000

    def rows() -> Iterable[Row]:
        for kind, prompts, texts in product(("weak", "unequal"), (8, 16, 50, 200), (40,)):
            rng = np.random.default_rng([options.seed, 21, prompts, kind == "weak"])
            draw = partial(worlds.uneven_world, rng, kind, prompts, texts)
            counts = np.zeros(8)
            for _ in range(max(reps // 1_000, 1)):
                null, margin, large = (draw(1_000, ratio) for ratio in (1.0, 1.25, 2.5))
                one, ones = np.ones(1_000), np.ones(10_000)
                counts[0] += (RatioScore(draw(10_000, 1.0)).p(ones) < 0.05).mean() * 1_000
                counts[1] += (RatioScore(null).p(one, these_prompts=True) < 0.05).sum()
                changed, _ = paired_shares(*_pairs(margin), 0.95, np.log(1.25))
                counts[2] += (changed.p_equivalent <= 0.05).sum()
                counts[3] += (RatioScore(large).p(2.5 * one) < 0.05).sum()
                counts[4] += (RatioScore(large).p(one) < 0.05).sum()
                for i, weighted in ((5, null.weighted()), (6, large.weighted())):
                    counts[i] += (RatioScore(weighted).p(one) < 0.05).sum()
                counts[7] += 1_000
            null, these, same, uncovered, *powers = (counts[:7] / counts[7]).tolist()
            # Of unequal prompts the ratio is of odds, so that the pooled one is another number.
            of_ratio = (same, uncovered) if kind == "weak" else ("–", "–")
            yield kind, prompts, texts, null, these, *of_ratio, *powers

    head = ("world", "prompts", "texts a prompt", "ratio 1: p < .05", "these prompts (not true)",
            "a change at the margin: the same", "ratio 2.5: not covered", "power at 2.5",
            "weighted by prompt: p < .05", "weighted: power")  # fmt: skip
    title = f"Pooled ratios of prompts that differ in effect, {reps} audits a cell"
    show(f"{title}, ratio 1 ten times as many", head, rows())


def joint(options: argparse.Namespace) -> None:
    """Families of ratios, adjusted by changes of signs and by joint normals: level and power."""
    reps, n_ratios = options.reps or 2_000, 12
    effects = {"common": 3.0, "rare": 5.0, "weak": 2.0}

    def rejected(rng: Rng, kind: str, prompts: int, first: float) -> list[bool]:
        sides = worlds.family_world(rng, kind, prompts, n_ratios, first)
        result = stats.infer_contrasts(sides, bounds=False)
        tested = np.flatnonzero(~np.isnan(result.p))
        scores, within, p = result.scores[:, tested], result.within[tested], result.p[tested]
        n, adjusted = np.full(len(tested), float(prompts)), [p * len(tested)]
        for least in (2, prompts + 1):
            with mock.patch.multiple(contrasts, SIGNS_FROM=least, JOINT_DRAWS=499):
                adjusted.append(stats.joint_p(scores, within, n, result.df[tested], p, rng))
        wanted = tested == 0 if first > 1.0 else tested >= 0
        return [bool(np.any(each[wanted] < 0.05)) for each in adjusted]

    def rows() -> Iterable[Row]:
        for kind, prompts in product(effects, (8, 12, 16, 20, 50)):
            rng = np.random.default_rng([options.seed, 23, prompts, len(kind)])
            level, power = (
                np.mean([rejected(rng, kind, prompts, x) for _ in range(reps)], axis=0).tolist()
                for x in (1.0, effects[kind])
            )
            yield kind, prompts, *level, effects[kind], *power

    ways = ("Bonferroni", "signs", "joint normals")
    head = ("world", "prompts", *(f"anything false: {way}" for way in ways))
    head += ("one true ratio", *(f"stated: {way}" for way in ways))
    show(f"Families of {n_ratios} ratios at .05, {reps} audits a cell", head, rows())


def _pairs(sums: TwoSides) -> tuple[tuple[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]:
    return (sums.lower, sums.n_lower), (sums.upper, sums.n_upper)


def real_prompts(options: argparse.Namespace) -> None:
    """Coverage where the prompts of human-labelled stories are the population."""
    if options.gold is None:
        raise SystemExit("section real_prompts needs --gold FILE, stories with human labels")
    stories, reps = worlds.gold_stories(options.gold), options.reps or 2_000
    columns = {**{race: i for i, race in enumerate(RACES[:4])}, "F": 7, "M": 8}

    def rows() -> Iterable[Row]:
        for (number, domain), prompts in product(enumerate(stories.domains), (8, 16, 50)):
            rng = np.random.default_rng([options.seed, 22, number, prompts])
            inside = stories.strata[number * (len(stories.models) + 1)]
            sums, truth = stories.resampled(rng, inside, list(columns.values()), prompts, reps)
            test = RatioScore(sums)
            low, high = test.interval(0.95)
            expected = np.repeat(truth, reps)
            held = ~((low > expected) | (high < expected))  # no interval excludes nothing
            covered = held.reshape(len(columns), reps).mean(1)
            yield domain, prompts, *covered.round(3).tolist()

    head = ("domain", "prompts drawn", *columns)
    show(f"Coverage of the pooled ratio of roles, {reps} draws a cell", head, rows())


# ---------------------------------------------------------------------------- means


def mean_errors(rng: Rng, cell: Cell, reps: int) -> dict[str, float]:
    """Coverage of a mean, a paired difference and one between prompts of one group each."""
    y, n = worlds.score_world(rng, cell, reps)
    z, m = worlds.score_world(rng, cell, reps)
    none = np.zeros_like(n)
    apart = [np.concatenate(pair) for pair in ((y, none), (n, none), (none, z), (none, m))]
    found = {
        "mean": stats.infer_means(y, n, 0.95),
        "difference, paired": stats.infer_differences((y, n), (z, m), 0.95),
        "difference, prompts of one group": stats.infer_differences(
            (apart[0], apart[1]), (apart[2], apart[3]), 0.95
        ),
    }
    return {name: _covers(each.low, each.high, 0.0) for name, each in found.items()}


def means(options: argparse.Namespace) -> None:
    """Coverage of intervals of means and their differences."""
    found: dict[str, dict[Cell, float]] = {}
    reps = options.reps or 800
    for number, (prompts, texts, icc) in enumerate(product((3, *PROMPTS), TEXTS, CORRELATIONS)):
        cell = Cell(prompts, texts, icc, 0.0)
        rng = np.random.default_rng([options.seed, 4, number])
        for name, coverage in mean_errors(rng, cell, reps).items():
            found.setdefault(name, {})[cell] = coverage

    def rows() -> Iterable[Row]:
        for name, cells in found.items():
            values, low = np.array(list(cells.values())), min(cells, key=cells.__getitem__)
            lowest = str(low).rsplit(",", 1)[0]
            middle = float(np.median(values))
            yield name, len(values), values.min(), middle, values.max(), lowest

    head = ("quantity", "cells", "lowest", "median", "highest", "lowest cell")
    show(f"Coverage of means of scores, {reps} audits a cell", head, rows())


# ---------------------------------------------------------------------------- names


def naming_errors(
    rng: Rng, people: Bearers, prompts: int, texts: int, icc: float, reps: int
) -> tuple[FloatArray, FloatArray, int]:
    """Type I of seven races against fair naming and against p*; and disagreements."""
    fair = fair_naming(people.weight, people.likelihood)
    starred = np.array([baseline().shares["race"][race] for race in RACES])
    names = worlds.clustered_names(rng, people.weight, prompts, texts, reps, icc)
    ours, other, wrong = np.empty((reps, 7)), np.empty((reps, 7)), 0
    for i in range(reps):
        values = people.likelihood[names[:, :, i]]
        count, units = np.nansum(values, axis=1), (~np.isnan(values)).sum(1).astype(float)
        same = worlds.repetition_of(names[:, :, i])
        squares = np.nansum(values**2, axis=1)
        found = infer_fair_shares(count, units, fair, same, squares=squares)
        holds = (found.low <= fair.share) & (fair.share <= found.high)
        wrong += int(np.sum((found.p < 0.05) & holds))
        low, high = _log_t_bounds(count, units)
        ours[i], other[i] = found.p < 0.05, (starred < low) | (starred > high)
    return ours.mean(0), other.mean(0), wrong


def naming(options: argparse.Namespace) -> None:
    """Type I error of race representation with names drawn from the Census table's bearers."""
    reps, people = options.reps or 200, worlds.bearers()

    def rows() -> Iterable[Row]:
        for number, (prompts, texts, icc) in enumerate(product(PROMPTS, TEXTS, CORRELATIONS)):
            if prompts * texts <= 1_500:
                rng = np.random.default_rng([options.seed, 5, number])
                ours, other, wrong = naming_errors(rng, people, prompts, texts, icc, reps)
                shown = [*ours[[0, 1, 2, 3, 5]].tolist(), *other[2:4].tolist()]
                yield prompts, texts, icc, *shown, wrong

    head: Row = ("prompts", "texts", "ICC", "White", "Latine", "Black", "Asian", "MENA",
                 "Black against p*", "Asian against p*",
                 "p < .05 inside its null or interval")  # fmt: skip
    show(f"Type I error of fair naming, {reps} audits a cell", head, rows())
    title = f"Type I error of fair naming where prompts deal races, {reps} audits a cell"
    head = ("prompts × 60 texts", "ICC of races", "White", "Latine", "Black", "Asian")
    show(title, head, dealt_errors(people, reps, options.seed))


def dealt_errors(people: Bearers, reps: int, seed: int) -> Iterable[Row]:
    """Type I error against fair naming where each prompt has races of its own, no names."""
    shares, fair = people.with_others(), fair_naming(people.weight, people.likelihood)
    race, weights = people.weight @ shares, people.weight[:, np.newaxis] * shares
    for number, (prompts, icc) in enumerate(product((8, 25), (0.0, 0.05, 0.2))):
        rng, p = np.random.default_rng([seed, 18, number]), np.empty((reps, 4))
        for i in range(reps):
            names = worlds.names_of_races(rng, race, weights, prompts, 60, icc)
            values = people.likelihood[names]
            units, same = (~np.isnan(values)).sum(1), worlds.repetition_of(names)
            count, squares = (np.nansum(x, axis=1) for x in (values, values**2))
            found = infer_fair_shares(count, units + 0.0, fair, same, squares=squares)
            p[i] = found.p[:4]
        yield prompts, icc, *np.mean(p < 0.05, axis=0).tolist()


def audits_row(found: FloatArray) -> Row:
    """Audits with a value; mean, median and coverage of a value over the truth, p < .05, and how
    often p and interval disagree."""
    value, holds, refused, agrees, some = found.T
    finite = value[np.isfinite(value)]
    rates = [float(np.nanmean(x)) if np.isfinite(x).any() else "–" for x in (holds, refused)]
    wrong = int(np.nansum(1.0 - agrees))
    return float(some.mean()), float(finite.mean()), float(np.nanmedian(value)), *rates, wrong


AUDITS = ("has a value", "mean / truth", "median / truth", "coverage", "p < .05", "disagree")


def corrected(options: argparse.Namespace) -> None:
    """Ratios corrected by hand labels for a group that the annotator finds half of."""
    reps = options.reps or 200
    cells = ((0.01, 600), (0.02, 200), (0.02, 400), (0.05, 300), (0.3, 300))

    def rows() -> Iterable[Row]:
        for number, ((share, by_hand), icc) in enumerate(product(cells, (0.05, 0.2))):
            rng = np.random.default_rng([options.seed, 10, number])
            cell, annotator = Cell(15, 200, icc, share), stories.Annotator(0.5, 0.75, by_hand)
            for name, found in stories.corrected_audits(rng, cell, 2.0, annotator, reps).items():
                yield share, icc, by_hand, name, *audits_row(found)

    head = ("share", "ICC", "by hand", "estimate", *AUDITS)
    title = "Corrected by hand labels, 15 prompts × 200 stories, recall .5, precision .75"
    show(f"{title}, {reps} audits a cell", head, rows())


def median_errors(
    rng: Rng, people: Bearers, prompts: int, icc: float, reps: int
) -> tuple[int, float]:
    """Audits with a test, and type I error of the median over thresholds (Black, 20 texts)."""
    thresholds, black = np.arange(1, 101) / 100.0, people.likelihood[:, 2]
    total, p = np.full((prompts, 1, 1), 20.0), []
    for _ in range(reps):
        names = worlds.clustered_names(rng, people.weight, prompts, 20, 2, icc)
        above = (black[names][..., np.newaxis] > thresholds).sum(1).astype(float)
        cells = above[:, :1], total, above[:, 1:], total
        sides = stats.median_sides(cells, smoothing=1.0)[1]
        p.append(float(stats.infer_contrasts(sides, bounds=False).p[0]))
    return int(np.sum(~np.isnan(p))), float(np.mean(np.array(p) < 0.05))


def medians(options: argparse.Namespace) -> None:
    """Type I error of the median racialized subordination ratio."""
    reps, people = options.reps or 200, worlds.bearers()

    def rows() -> Iterable[Row]:
        for number, (prompts, icc) in enumerate(product((5, 6, 10, 15, 25), (0.0, 0.2, 0.5))):
            rng = np.random.default_rng([options.seed, 7, number])
            yield prompts, icc, *median_errors(rng, people, prompts, icc, reps)

    head = ("prompts", "ICC", "audits with a test", "p < .05")
    show(f"Median over thresholds, {reps} audits a cell", head, rows())


def models(options: argparse.Namespace) -> None:
    """Medians over five models, of shares and of ratios of roles."""
    reps = options.reps or 200
    head: Row
    head = ("prompts", "ICC", "cells", "lowest coverage", "median", "highest", "highest type I")
    title = f"Median share of five models, {reps} audits a cell"
    show(title, head, of_models.share_rows(options, reps))
    head = ("prompts", "ICC", "White", "Latine", "Black", "Asian", "MENA")
    title = f"Type I error of fair naming, median of five models, {reps} audits a cell"
    show(title, head, of_models.fair_rows(options, reps))
    head = ("prompts", "ICC", "prompts shared", "has a test", "type I", "coverage at 1",
            "coverage at 2", "coverage, ratios .5 to 2", "power at 2")  # fmt: skip
    title = f"Median subordination of five models, {reps} audits a cell"
    show(title, head, of_models.role_rows(options, reps))


# ---------------------------------------------------------------------------- whole audits


Hypothesis = tuple[FloatArray, float, float, float, float]
"""Of a group that is tested, its scores by prompt, and their `within`, prompts, df and p."""


def gold_audit(
    gold: worlds.Gold, swapped: np.ndarray, rng: Rng
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, int]:
    """p, low, high and p by the t of the log ratio of 31 groups in every stratum; what is stated.

    Stated are groups and intersections of the domains, all models together, of whom ten people are
    expected in each role, adjusted by joint changes of roles and for being two questions.
    """
    hypotheses: tuple[list[Hypothesis], list[Hypothesis]] = ([], [])
    found, stated = [], 0
    for number, inside in enumerate(gold.strata):
        sums = gold.sums(inside, swapped)
        each = stats.infer_contrasts(sums)
        found.append(np.stack([each.p, each.low, each.high, _log_ratio_p(sums)]))
        domain, model = divmod(number, len(gold.models) + 1)
        if model or domain == len(gold.domains):
            continue
        people, of = (sums.upper + sums.lower).sum(0), sums.n_upper.sum(0) + sums.n_lower.sum(0)
        expected = people * divide(np.minimum(sums.n_upper.sum(0), sums.n_lower.sum(0)), of)
        for k in np.flatnonzero((expected >= 10) & ~np.isnan(each.p)):
            scores = np.zeros(gold.prompt.max() + 1)
            scores[np.unique(gold.prompt[inside])] = each.scores[:, k]
            n_prompts = float(len(each.scores))
            row = scores, each.within[k], n_prompts, each.df[k], each.p[k]
            hypotheses[int(k >= 10)].append(row)
    for question in hypotheses:
        if question:
            scores, within, n, df, p = (np.array(part) for part in zip(*question, strict=True))
            stated += int(np.sum(2.0 * stats.joint_p(scores.T, within, n, df, p, rng) < 0.05))
    return (*np.concatenate(found, axis=1), stated)


def gold(options: argparse.Namespace) -> None:
    """False findings in audits of hand-labelled stories whose roles were dealt by coins."""
    if options.gold is None:
        raise SystemExit("section gold needs --gold FILE, stories with columns of hand labels")
    stories, n_audits = worlds.gold_stories(options.gold), options.reps or 40

    def rows() -> Iterable[Row]:
        for number, by in enumerate(("stories", "prompts")):
            rng, out = np.random.default_rng([options.seed, 8, number]), []
            for _ in range(n_audits):
                coins = rng.random(len(stories.prompt)) < 0.5
                if by == "prompts":
                    coins = coins[: stories.prompt.max() + 1][stories.prompt]
                p, low, high, old, stated = gold_audit(stories, coins, rng)
                tested = ~np.isnan(p)
                beside = np.sum((p < 0.05) & (low <= 1) & (high >= 1))
                old_q = stats.benjamini_hochberg(old)
                out.append(
                    (tested.mean(), np.mean(p[tested] < 0.05), stated > 0, beside,
                     np.nanmean(np.where(np.isnan(old), np.nan, old < 0.05)),
                     np.any(old_q < 0.05))
                )  # fmt: skip
            yield by, *np.mean(np.array(out, dtype=float), axis=0).tolist()

    head = ("coins by", "rows with a test", "p < .05", "audits with anything stated",
            "p < .05 beside an interval with 1", "log t: p < .05",
            "log t: any q < .05")  # fmt: skip
    title = f"{n_audits} audits of {len(stories.prompt)} stories, {len(stories.strata)} strata"
    show(f"{title} × 31 groups", head, rows())


def effects(options: argparse.Namespace) -> None:
    """Whole audits with one effect: is it stated, and is a main effect told as an intersection?"""
    people, reps = worlds.bearers(), options.reps or 200
    head: Row
    head = ("domains × prompts × texts", "share of women, dominant and subordinate", "Latine among",
            "an intersection leads", "is stated", "is told of these prompts",
            "gender is stated")  # fmt: skip
    title = f"A gender effect alone, {reps} audits a row"
    show(title, head, audits.alone_rows(people, reps, options.seed))
    head = ("domains × prompts × texts", "ICC", "share, dominant and subordinate")
    title = f"One true effect in a whole audit, {reps} audits a row"
    show(
        title,
        (*head, "stated", "roles elsewhere", "neutral stories"),
        audits.separate_rows(people, reps, options.seed),
    )


def nothing(options: argparse.Namespace) -> None:
    """Whole audits of hand-labelled stories in which nothing differs any more."""
    if options.gold is None:
        raise SystemExit("section nothing needs --gold FILE, stories with columns of hand labels")
    people, reps = worlds.bearers(), options.reps or 200
    head = ("stories", "audits", "prompts like these: anything stated", "95 % interval",
            "audits of these prompts", "these prompts: anything stated",
            "its interval")  # fmt: skip
    title = f"Audits in which nothing differs, {reps} a row"
    show(title, head, audits.null_rows(options.gold, people, reps, options.seed))


def procedures(options: argparse.Namespace) -> None:
    """Three ways to adjust the tests of an audit: what they state of nothing, one and three."""
    reps, head = options.reps or 40, ["procedure"]
    head += ["null audits with anything"] if options.gold else []
    for name, _ in of_procedures.WORLDS:
        head += [f"{name}: any true", "true ones", "false ones"]
    title = f"q below .05 by three procedures, {reps} audits a world"
    show(title, head, of_procedures.rows(worlds.bearers(), options.gold, reps, options.seed))


def plan(options: argparse.Namespace) -> None:
    """Prompts that plans say an effect needs, and power there with other random numbers."""

    def rows() -> Iterable[Row]:
        designs: list[tuple[Kind, float, dict[str, Any]]] = [
            ("share", 1.5, {"share": 0.5, "texts": 20}),
            ("ratio", 1.5, {"share": 0.2, "texts": 20}),
            ("difference", 0.2, {}),
            ("difference", 0.5, {"texts": (1, 5)}),
            ("difference", 0.5, {"apart": True}),
        ]
        for kind, effect, more in designs:
            [found] = planning.plan(kind, [effect], seed=options.seed, **more)
            there = planning.power(found.design, options.seed + 1)
            described = ", ".join(f"{name} {value}" for name, value in more.items())
            yield kind, effect, described or "pairs", found.design.blocks, there

    head = ("estimand", "true effect", "design", "prompts needed", "power, other random numbers")
    show("Plans for 80 % power among the tests of an audit", head, rows())


# ---------------------------------------------------------------------------- news


NEWS = (
    *(News(texts=m) for m in (1, 7, 10)),
    News(subject=0.0),
    *(News(texts=m, length=0.4) for m in (1, 7)),
    News(style=0.7),
    *(News(texts=m, bias=0.6) for m in (1, 7)),
    News(bias=0.6, pairs=120),
)
FITTED = (*(News(texts=m, fitted=True) for m in (1, 7)), News(bias=0.6, fitted=True))


DEALS = 20
"""Audits by the same fitted topics, where originals and texts could change places."""


def news(options: argparse.Namespace) -> None:
    """Rejections at the document level of the news, with topics known and with topics fitted."""
    head = ("pairs", "texts each", "differ in", "audits with a null")
    of = ("distance", "rate", "change", "mean distance, its null", "mean rate, its null")
    for title, cells, fewer in (("known", NEWS, 1), ("fitted", FITTED, 2)):
        reps = (options.reps or 200) // fewer

        def rows(cells: Sequence[News] = cells, reps: int = reps) -> Iterable[Row]:
            for number, cell in enumerate(cells):
                rng = np.random.default_rng([options.seed, 8, number])
                # A fit takes longer than many audits by its topics
                deals = DEALS if cell.fitted and str(cell) == ALIKE else 1
                n_fits = max(1, reps // (4 if deals > 1 else 1))
                found = rejections(rng, cell, n_fits, deals=deals)
                some = [found.get(measure.name) for measure in MEASURES]
                means = [_beside(one) for one in some[:2]]
                errors = ["–" if one is None else float(one[0]) for one in some]
                n = max((int(one[3]) for one in some if one is not None), default=0)
                yield cell.pairs, cell.texts, str(cell), n, *errors, *means

        show(f"Rejections at .05, topics {title}", (*head, *of), rows())


def _beside(found: FloatArray | None) -> str:
    return "–" if found is None else f"{found[1]:.3f}, {found[2]:.3f}"


def units(options: argparse.Namespace) -> None:
    """Level and power of differences between groups of names over topics."""
    reps = options.reps or 2_000
    title = f"Rejections of no difference at .05, power at 1 SD of a text, {reps} audits a row"
    show(title, of_units.HEAD, of_units.rejections(options.seed, reps))


def hand_labels(options: argparse.Namespace) -> None:
    """Any estimate corrected by hand labels, beside the labels alone."""
    reps = options.reps or 200
    title = f"Corrected by hand labels, beside the labels alone, {reps} draws a row"
    show(title, of_hand.HEAD, of_hand.rows(options.seed, reps, None))
    title = f"A judge that agrees as much as is asked for, level .025 on each side, {reps} draws"
    show(title, of_hand.JUDGES, of_hand.judges(options.seed, reps))
    if options.data is not None:
        title = f"Real texts corrected by hand labels, {reps} draws a cell"
        show(title, of_hand.HEAD, of_hand.rows(options.seed, reps, options.data))


def rare(options: argparse.Namespace) -> None:
    """Rare shares corrected by hand labels."""
    reps = options.reps or 300
    title = f"Rare shares corrected by hand labels, {reps} draws a row"
    show(title, of_hand.RARE_HEAD, of_hand.rare(options.seed, reps))


SECTIONS = {
    f.__name__: f
    for f in (
        *(shares, widths, ratios, roles, effects_that_differ, joint, means, naming),
        *(corrected,),
        *(hand_labels, rare, medians, models, effects, procedures, plan, news, units),
    )
}


def main() -> None:
    """Print the tables of the sections that were named, or of all."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sections", nargs="*", metavar="SECTION", help="all where none is named")
    parser.add_argument("--reps", type=int, help="simulated audits a cell, over every default")
    parser.add_argument("--seed", type=int, default=20261122)
    parser.add_argument("--gold", type=Path, help="stories with columns of hand labels")
    parser.add_argument("--data", type=Path, help="folder of texts with labels by hand")
    parser.add_argument("--json", type=Path, help="file in which to replace these tables")
    options = parser.parse_args()
    of_gold = {f.__name__: f for f in (real_prompts, gold, nothing)}
    known = SECTIONS | of_gold
    every = [*SECTIONS, *(of_gold if options.gold else [])]
    for name in options.sections or every:
        if name not in known:
            parser.error(f"there is no section {name!r}; sections are {', '.join(known)}.")
        start, first = time.process_time(), len(TABLES)
        known[name](options)
        for table in TABLES[first:]:
            table["section"], table["reps"] = name, options.reps
        print(f"\n({name}: {time.process_time() - start:.0f} CPU seconds)")
    if options.json:
        new = {table["section"] for table in TABLES}
        old = json.loads(options.json.read_text("utf-8")) if options.json.exists() else []
        tables = [table for table in old if table["section"] not in new] + TABLES
        text = ",\n".join(_table_json(**table) for table in tables)
        options.json.write_text(f"[{text}]\n", encoding="utf-8")


def _table_json(rows: list[Row], **table: Any) -> str:
    """Return a table with a row a line, so that changes can be read."""
    dumped = partial(json.dumps, ensure_ascii=False, default=str)
    lines = ",\n".join(dumped(row) for row in rows)
    return f'{dumped(table)[:-1]}, "rows": [\n{lines}\n]}}'


if __name__ == "__main__":
    main()
