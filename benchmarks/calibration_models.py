"""Simulate medians over five models: sections `share_medians` and `role_medians`.

Prompts are shared by the models: with `shared`, a prompt that has many of a group in one model has
many in all; without, each model's prompts are drawn apart.
"""

import argparse
from collections.abc import Iterable, Sequence
from itertools import product

import numpy as np
from scipy import stats as distributions

from benchmarks import calibration_worlds as worlds
from benchmarks.calibration_worlds import Bearers, Cell, Rng
from portrayal import stats
from portrayal.stats.naming import fair_naming, infer_fair_shares
from portrayal.types import FloatArray

ALIKE, APART = (1.0,) * 5, (0.5, 0.8, 1.0, 1.25, 2.0)
"""The models' shares, or ratios, over their median."""
PROMPTS, TEXTS = (5, 10, 15, 25), 20

Row = Sequence[object]


def counts(
    rng: Rng, cell: Cell, spread: Sequence[float], shared: bool, reps: int
) -> tuple[FloatArray, FloatArray]:
    """Counts and totals of the models, shape (prompts, models, reps)."""
    place = rng.random((cell.prompts, 1 if shared else len(spread), reps))
    mean = cell.share * np.array(spread)[:, np.newaxis]
    prompt: FloatArray = np.broadcast_to(mean, (cell.prompts, len(spread), reps))
    if cell.icc > 0:
        size = 1.0 / cell.icc - 1.0
        prompt = distributions.beta.ppf(place, mean * size, (1.0 - mean) * size)
    total = np.full(prompt.shape, float(cell.texts))
    return rng.binomial(cell.texts, prompt).astype(float), total


def by_column(sums: FloatArray) -> FloatArray:
    """Sums with models last, as medians take them; shape (prompts, reps, models)."""
    return np.moveaxis(sums, 1, -1)


def share_coverage(
    rng: Rng, cell: Cell, spread: Sequence[float], shared: bool, reps: int
) -> tuple[float, float]:
    """Coverage of the median's interval, and how often the truth is refused."""
    count, total = (by_column(x) for x in counts(rng, cell, spread, shared, reps))
    a, n, squares = stats.median_shares(count, total, count)
    found = stats.infer_shares(a, n, 0.95, cell.share, squares)
    covers = (found.low <= cell.share) & (cell.share <= found.high)
    return float(np.mean(covers)), float(np.mean(found.p < 0.05))


def fair_errors(rng: Rng, people: Bearers, prompts: int, icc: float, reps: int) -> FloatArray:
    """Type I of each race's median against fair naming, five models of the same prompts."""
    fair = fair_naming(people.weight, people.likelihood)
    refused = np.zeros((reps, 7))
    for i in range(reps):
        names = worlds.clustered_names(rng, people.weight, prompts, TEXTS, 5, icc)
        values = people.likelihood[names]
        sums = np.nansum(values, axis=1), (~np.isnan(values)).sum(1) + 0.0
        mixed = stats.median_shares(*(by_column(x) for x in (*sums, np.nansum(values**2, axis=1))))
        same = worlds.repetition_of(names.reshape(prompts, -1))
        found = infer_fair_shares(mixed[0], mixed[1], fair, same, squares=mixed[2])
        refused[i] = found.p < 0.05
    return np.asarray(refused.mean(0))


def role_errors(
    rng: Rng, cell: Cell, spread: Sequence[float], shared: bool, reps: int
) -> tuple[float, float, float]:
    """Share of audits with a test, coverage of the median ratio, and how often 1 is refused."""
    greater, total = (by_column(x) for x in counts(rng, cell, ALIKE, shared, reps))
    lesser = by_column(counts(rng, cell, spread, shared, reps)[0])
    _, sides = stats.median_sides((lesser, total, greater, total), (lesser, greater))
    found = stats.infer_contrasts(sides, bounds=False)
    tested, middle = ~np.isnan(found.p), np.full(reps, float(np.median(spread)))
    # The interval is what the test does not refuse.
    covers = found.test.p(middle) >= 0.05
    coverage = float(np.mean(covers[tested])) if tested.any() else float("nan")
    return float(tested.mean()), coverage, float(np.mean(found.p < 0.05))


def share_rows(options: argparse.Namespace, reps: int) -> Iterable[Row]:
    """One row for each number of prompts and correlation: over shares and spreads of models."""
    for prompts, icc in product(PROMPTS, (0.0, 0.05, 0.2, 0.5)):
        found = []
        for number, (share, spread, shared) in enumerate(
            product((0.02, 0.1, 0.4), (ALIKE, APART), (False, True))
        ):
            rng = np.random.default_rng([options.seed, 9, prompts, int(100 * icc), number])
            cell = Cell(prompts, TEXTS, icc, share)
            found.append(share_coverage(rng, cell, spread, shared, reps))
        coverage, error = np.array(found).T
        middle = float(np.median(coverage))
        yield prompts, icc, len(found), coverage.min(), middle, coverage.max(), error.max()


def fair_rows(options: argparse.Namespace, reps: int) -> Iterable[Row]:
    """Type I of races by number of prompts and how often names repeat."""
    people = worlds.bearers()
    for prompts, icc in product(PROMPTS, (0.0, 0.2)):
        rng = np.random.default_rng([options.seed, 10, prompts, int(100 * icc)])
        found = fair_errors(rng, people, prompts, icc, reps)
        yield prompts, icc, *found[[0, 1, 2, 3, 5]].tolist()


def role_rows(options: argparse.Namespace, reps: int) -> Iterable[Row]:
    """Type I where all ratios are 1, coverage where they are 2 or differ."""
    for prompts, icc, shared in product(PROMPTS, (0.0, 0.2, 0.5), (False, True)):
        cell, found = Cell(prompts, TEXTS, icc, 0.14), []
        for number, spread in enumerate((ALIKE, (2.0,) * 5, APART)):
            rng = np.random.default_rng([options.seed, 11, prompts, int(100 * icc), number, shared])
            found.append(role_errors(rng, cell, spread, shared, reps))
        (tested, at_one, error), (_, at_two, power), (_, differing, _) = found
        covered = (x if x == x else "–" for x in (at_one, at_two, differing))
        yield prompts, icc, "yes" if shared else "no", tested, error, *covered, power
