"""Worlds with a known truth for `benchmarks.calibration`: replicates stand in the last axis."""

import json
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import special

from portrayal.reference.groups import RACES
from portrayal.reference.names import mena_nhpi_table, name_bearers, name_table, race_likelihoods
from portrayal.stats import divide
from portrayal.stats._arguments import divide_or_zero
from portrayal.stats.contrasts import TwoSides
from portrayal.stats.naming import repetition
from portrayal.types import BoolArray, FloatArray, IntArray

Rng = np.random.Generator


class Cell(NamedTuple):
    """One cell of a grid: texts per prompt, correlation in prompts, and the true share."""

    prompts: int
    texts: int
    icc: float
    share: float
    unequal: bool = False

    def __str__(self) -> str:
        """Name the cell as the tables print it."""
        texts = f"{self.texts}{' unequal' if self.unequal else ''}"
        return f"{self.prompts} prompts × {texts}, ICC {self.icc:g}, share {self.share:g}"


def sizes(cell: Cell, reps: int) -> FloatArray:
    """Texts per prompt, shape (prompts, reps): all alike, or spread over a factor of 11."""
    if not cell.unequal:
        return np.full((cell.prompts, reps), float(cell.texts))
    spread = np.exp(np.linspace(-1.2, 1.2, cell.prompts))
    own = np.maximum(1.0, np.round(spread / spread.mean() * cell.texts))
    return np.repeat(own[:, np.newaxis], reps, axis=1)


def prompt_shares(
    rng: Rng, shape: tuple[int, ...], mean: float | FloatArray, icc: float
) -> FloatArray:
    """Beta distributed shares of prompts with this mean and correlation of two texts."""
    if icc == 0 or (np.ndim(mean) == 0 and mean in (0.0, 1.0)):
        return np.full(shape, mean, dtype=np.float64)
    total = 1.0 / icc - 1.0
    return rng.beta(mean * total, (1.0 - mean) * total, shape)


def share_world(rng: Rng, cell: Cell, reps: int) -> tuple[FloatArray, FloatArray]:
    """Counts and totals, shape (prompts, reps)."""
    n = sizes(cell, reps)
    share = prompt_shares(rng, n.shape, cell.share, cell.icc)
    return rng.binomial(n.astype(int), share).astype(float), n


def fractional_world(
    rng: Rng, cell: Cell, reps: int
) -> tuple[FloatArray, FloatArray, FloatArray, float]:
    """Sums of parts, totals and squared parts, (prompts, reps), and the true share of all parts.

    `cell.share` of the names are mostly the group's (parts near .75), all others hardly (.03).
    """
    shape = (cell.texts, cell.prompts, reps)
    own = rng.random(shape) < prompt_shares(rng, shape[1:], cell.share, cell.icc)
    part = np.where(own, rng.beta(6.0, 2.0, shape), rng.beta(0.3, 9.0, shape))
    truth = cell.share * 0.75 + (1.0 - cell.share) * 0.3 / 9.3
    return part.sum(0), np.full(shape[1:], float(cell.texts)), (part**2).sum(0), truth


def role_world(rng: Rng, cell: Cell, reps: int, ratio: float = 1.0) -> TwoSides:
    """Two roles whose shares are drawn apart; `cell.share` is the dominant one's."""
    greater, n = share_world(rng, cell, reps)
    lesser, m = share_world(rng, cell._replace(share=cell.share * ratio), reps)
    return TwoSides(lesser, m, greater, n)


def uneven_world(
    rng: Rng, kind: str, prompts: int, texts: int, reps: int, ratio: float | FloatArray
) -> TwoSides:
    """Two roles of prompts that differ in effect or in size; the pooled ratio is `ratio`.

    `weak`: a quarter of the prompts have shares of .4 below and .2 above, the others .1 and 1/6, so
    that the pooled ratio is 1 and no weighting by precision sees it so; above, all times `ratio`.
    `unequal`: prompts have log-normal numbers of texts (SD 1), their shares vary with ICC .2 and
    their log odds ratios with SD 1.
    """
    shape = (prompts, reps)
    if kind == "weak":
        n, first = np.full(shape, float(texts)), rng.random(shape) < 0.25
        lower, upper = np.where(first, 0.4, 0.1), np.where(first, 0.2, 1 / 6) * ratio
    else:
        sizes_drawn = np.round(texts * rng.lognormal(-0.5, 1.0, (prompts, 1)))
        n = np.maximum(sizes_drawn, 2.0) * np.ones(shape)
        logit = special.logit(np.clip(prompt_shares(rng, shape, 0.14, 0.2), 1e-9, 1 - 1e-9))
        half = rng.normal(0, 0.5, shape) + np.log(ratio) / 2
        upper, lower = special.expit(logit + half), special.expit(logit - half)
    a, b = (
        rng.binomial(n.astype(int), np.clip(share, 0, 1)).astype(float) for share in (upper, lower)
    )
    return TwoSides(a, n, b, n)


def family_world(rng: Rng, kind: str, prompts: int, ratios: int, first: float) -> TwoSides:
    """Two roles of many groups, (prompts, ratios); the first group's pooled ratio is `first`.

    `weak` as in `uneven_world`; else every role has its own shares (ICC .1, 20 texts), on average
    .14 (`common`), or from .01 to .06 (`rare`, the first .025).
    """
    ratio = np.where(np.arange(ratios) == 0, first, 1.0)
    if kind == "weak":
        return uneven_world(rng, kind, prompts, 40, ratios, ratio)
    share, n = np.full(ratios, 0.14), np.full((prompts, ratios), 20.0)
    if kind == "rare":
        share = np.roll(np.geomspace(0.01, 0.06, ratios), ratios // 2)
    lower, upper = (prompt_shares(rng, n.shape, share, 0.1) for _ in range(2))
    a, b = (rng.binomial(20, np.minimum(x, 1.0)).astype(float) for x in (upper * ratio, lower))
    return TwoSides(a, n, b, n)


def score_world(rng: Rng, cell: Cell, reps: int) -> tuple[FloatArray, FloatArray]:
    """Sums of normal scores with mean 0 and variance 1, and their numbers."""
    n = sizes(cell, reps)
    common = np.sqrt(cell.icc) * rng.standard_normal(n.shape)
    return n * common + np.sqrt((1 - cell.icc) * n) * rng.standard_normal(n.shape), n


@dataclass(frozen=True)
class Bearers:
    """Names of the Census table: share of all bearers (n,), and likelihoods by race (n, 7)."""

    weight: FloatArray
    likelihood: FloatArray

    def with_others(self) -> FloatArray:
        """White, Latine, Black, Asian and everyone else: shares that sum to 1, shape (n, 5)."""
        four = np.nan_to_num(self.likelihood[:, :4])
        shares = np.column_stack([four, np.clip(1.0 - four.sum(1), 0.0, None)])
        return shares / shares.sum(1, keepdims=True)


def bearers() -> Bearers:
    """Read the default tables."""
    count, likelihood = name_bearers(name_table(), mena_nhpi_table())
    return Bearers(count / count.sum(), likelihood)


def drawn(rng: Rng, weight: FloatArray, shape: tuple[int, ...]) -> IntArray:
    """Draw indices with these weights."""
    total = np.cumsum(weight)
    return np.minimum(np.searchsorted(total, rng.random(shape) * total[-1]), len(total) - 1)


def clustered_names(
    rng: Rng, weight: FloatArray, prompts: int, texts: int, reps: int, icc: float
) -> IntArray:
    """Names, shape (prompts, texts, reps); two of one prompt are the same draw with chance icc."""
    fresh = drawn(rng, weight, (prompts, texts, reps))
    own = drawn(rng, weight, (prompts, 1, reps))
    return np.where(rng.random(fresh.shape) < np.sqrt(icc), own, fresh)


def names_of_races(
    rng: Rng, share: FloatArray, weights: FloatArray, prompts: int, texts: int, icc: float
) -> IntArray:
    """Names of people whose races are dealt by prompt; weights of names by race (n_names, k)."""
    rows = np.tile(share, (prompts, 1))
    if icc > 0:
        rows = rng.dirichlet(share * (1.0 / icc - 1.0), prompts)
    race = np.stack([rng.choice(len(share), texts, p=row) for row in rows])
    names = np.empty(race.shape, dtype=np.int64)
    for k in range(len(share)):
        here = race == k
        names[here] = drawn(rng, weights[:, k], (int(here.sum()),))
    return names


def by_name(names: IntArray) -> tuple[IntArray, FloatArray]:
    """Names that occur, and counts by name and prompt, from names of shape (prompts, texts)."""
    used, code = np.unique(names, return_inverse=True)
    counts = np.zeros((len(used), len(names)))
    np.add.at(counts, (code.reshape(names.shape), np.arange(len(names))[:, np.newaxis]), 1.0)
    return used, counts


def repetition_of(names: IntArray) -> float:
    """How much oftener two characters of one prompt share their name, shape (prompts, texts)."""
    counts = by_name(names)[1]
    return repetition(float((counts**2).sum()), counts.sum(0), counts.sum(1))


@dataclass(frozen=True)
class Gold:
    """Power-laden stories with hand labels.

    `cells` holds what subject and object of each story add to counts, then totals, of 31 groups (7
    races, 3 genders, 21 of both), shape (2, n_stories, 62). `strata` are story masks: each domain
    and all of them, for all models and for each.
    """

    cells: FloatArray
    prompt: IntArray
    strata: tuple[BoolArray, ...]
    domains: tuple[str, ...]
    models: tuple[str, ...]

    def sums(self, inside: BoolArray, swapped: BoolArray) -> TwoSides:
        """Sums per prompt of one stratum, with the roles of some stories swapped."""
        subject, other = self.cells[:, inside]
        flip = swapped[inside, np.newaxis]
        lesser, greater = np.where(flip, subject, other), np.where(flip, other, subject)
        code = np.unique(self.prompt[inside], return_inverse=True)[1]
        k = self.cells.shape[2] // 2
        sums = np.zeros((2, int(code.max()) + 1, 2 * k))
        np.add.at(sums[0], code, lesser)
        np.add.at(sums[1], code, greater)
        squares = np.zeros((len(sums[0]), k))
        np.add.at(squares, code, subject[:, :k] ** 2 + other[:, :k] ** 2)
        return TwoSides(sums[0, :, :k], sums[0, :, k:], sums[1, :, :k], sums[1, :, k:], squares)

    def resampled(
        self, rng: Rng, inside: BoolArray, columns: list[int], prompts: int, reps: int
    ) -> tuple[TwoSides, FloatArray]:
        """Draw prompts of a stratum, and up to 40 of the texts of each, both with replacement.

        Returns sums of shape (prompts, columns × reps), and the pooled ratios of all its stories.
        """
        k = self.cells.shape[2] // 2
        index = [*columns, *(k + column for column in columns)]
        greater, lesser = self.cells[:, inside][:, :, index]
        width, code = len(columns), self.prompt[inside]
        texts = [np.flatnonzero(code == prompt) for prompt in np.unique(code)]
        total = np.stack([lesser, greater]).sum(1)
        truth = divide(total[0, :width] * total[1, width:], total[0, width:] * total[1, :width])
        cells = np.zeros((6, prompts, width, reps))
        for rep in range(reps):
            for row, prompt in enumerate(rng.integers(0, len(texts), prompts)):
                size = min(40, len(texts[prompt]))
                drawn = texts[prompt][rng.integers(0, len(texts[prompt]), size)]
                a, n = lesser[drawn, :width], lesser[drawn, width:]
                b, m = greater[drawn, :width], greater[drawn, width:]
                sums = np.stack([a, n, b, m]).sum(1)
                upper, lower = divide_or_zero(sums[0], sums[1]), divide_or_zero(sums[2], sums[3])
                cells[:4, row, :, rep] = sums
                cells[4, row, :, rep] = (a**2 + b**2).sum(0)
                cells[5, row, :, rep] = ((a - upper * n) * (b - lower * m)).sum(0)
        return TwoSides(*cells.reshape(6, prompts, -1)), truth


def gold_stories(path: Path) -> Gold:
    """Read the power-laden stories of a JSON Lines file with columns of hand labels."""
    lines = path.read_text(encoding="utf-8").splitlines()
    rows = [row for row in map(json.loads, lines) if row["condition"] == "power-laden"]
    cells = []
    for side in ("subject", "object"):
        names = [row[f"gold_{side}_name"] for row in rows]
        labels = np.array([row[f"gold_{side}_gender"] or "" for row in rows])
        gender = labels[:, np.newaxis] == np.array(["Female", "Male", "Non-binary"])
        shares = race_likelihoods(names, name_table(), mena_nhpi_table())
        cells.append(_features(shares, gender))
    (_, prompt), (models, model), (domains, domain) = (
        np.unique([row[key] for row in rows], return_inverse=True)
        for key in ("prompt", "model", "domain")
    )
    everyone = np.ones(len(rows), dtype=bool)
    of_domain = [domain == d for d in range(domain.max() + 1)] + [everyone]
    of_model = [everyone] + [model == m for m in range(model.max() + 1)]
    strata = tuple(one & other for one, other in product(of_domain, of_model))
    return Gold(np.stack(cells), prompt, strata, tuple(domains), tuple(models))


def _features(shares: FloatArray, gender: BoolArray) -> FloatArray:
    matched, known = ~np.isnan(shares), np.asarray(gender.any(1))[:, np.newaxis]
    share = np.where(matched, shares, 0.0)
    both = list(product(range(gender.shape[1]), range(len(RACES))))
    crossed = np.stack([share[:, r] * gender[:, g] for g, r in both], axis=1)
    total = np.stack([matched[:, r] & known[:, 0] for _, r in both], axis=1)
    count = np.concatenate([share, gender, crossed], axis=1)
    totals = np.concatenate([matched, np.repeat(known, gender.shape[1], 1), total], axis=1)
    return np.concatenate([count, totals], axis=1).astype(np.float64)
