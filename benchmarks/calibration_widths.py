"""Other intervals of a share with five prompts, for `benchmarks.calibration`."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import numpy as np
from scipy import special
from scipy import stats as distributions

from benchmarks import calibration_worlds as worlds
from benchmarks.calibration_worlds import Cell
from portrayal import stats
from portrayal.stats.design_effect import evidence_interval, share_evidence
from portrayal.types import FloatArray

MEANS = special.expit(np.linspace(-7.0, 4.0, 140))
ICCS = np.array([0.0005, 0.005, 0.01, 0.02, 0.035, 0.05, 0.075, 0.1, 0.15, 0.2, 0.275, 0.35, 0.5])
Bounds = tuple[FloatArray, FloatArray]


def intervals(count: FloatArray, total: FloatArray, icc: float) -> dict[str, Bounds]:
    """95 % bounds by each method, of counts and equal totals (prompts, reps)."""
    prompts, texts = len(count), int(total[0, 0])
    n, share = total.sum(0), count.sum(0) / total.sum(0)
    ours = stats.infer_shares(count, total, 0.95)
    no_lean = replace(share_evidence(count, total, count), tilt=np.zeros_like(share))
    between = texts * ((count / texts - share) ** 2).sum(0) / (prompts - 1)
    within = (count * (1.0 - count / texts)).sum(0) / (prompts * (texts - 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        own = np.nan_to_num((between - within) / (between + (texts - 1) * within))
        error = np.sqrt(prompts / (prompts - 1) * ((count - share * total) ** 2).sum(0)) / n
        half = distributions.t.isf(0.025, prompts - 1) * error / (share * (1.0 - share))
        logit = (
            special.expit(special.logit(share) - half),
            special.expit(special.logit(share) + half),
        )
    shrunk = ((prompts - 1) * np.clip(own, 0.0, 1.0) + 4 * 0.1) / (prompts + 3)
    effects = {"ICC known": icc, "ICC shrunken to .1": shrunk}
    found = {
        "ours": (ours.low, ours.high),
        "ours, no lean to large design effects": evidence_interval(no_lean, 0.95),
        "logit, CR2, t": logit,
    }
    for name, each in effects.items():
        size = 1.0 + (texts - 1) * each
        found[f"Wilson, {name}"] = stats.wilson(count.sum(0) / size, n / size, 0.95)
    for name, critical in {"χ²": 3.84, "4.6": 4.6, "F": distributions.f.isf(0.05, 1, 4)}.items():
        found[f"beta-binomial profile, {name}"] = _profile(count.astype(int), texts, critical)
    return found


def _profile(count: FloatArray, texts: int, critical: float) -> Bounds:
    """Means whose profile likelihood over ICC is within `critical` / 2 of the highest."""
    a, b = (part[:, np.newaxis] * (1.0 / ICCS - 1.0) for part in (MEANS, 1.0 - MEANS))
    k = np.arange(texts + 1)[:, np.newaxis, np.newaxis]
    log = special.betaln(k + a, texts - k + b) - special.betaln(a, b)
    best = np.array([log[row].sum(0).max(1) for row in count.T])
    inside = best >= best.max(1, keepdims=True) - critical / 2.0
    return MEANS[inside.argmax(1)], MEANS[len(MEANS) - 1 - inside[:, ::-1].argmax(1)]


def rows(reps: int, seed: int) -> Iterator[tuple[object, ...]]:
    """Per method: coverage and width at 5 × 20, .1 by ICC; lowest coverage to ICC .2, and at .5."""
    lowest: dict[str, tuple[list[float], list[float]]] = {}
    shown: dict[str, list[float]] = {}
    grid = product((20, 100), (0.1, 0.2, 0.5), (0, 0.05, 0.2, 0.5))
    for number, (texts, share, icc) in enumerate(grid):
        cell, rng = Cell(5, texts, icc, share), np.random.default_rng([seed, 19, number])
        count, total = worlds.share_world(rng, cell, reps)
        for name, (low, high) in intervals(count, total, icc).items():
            coverage = float(np.mean((low <= share) & (share <= high)))
            lowest.setdefault(name, ([], []))[icc == 0.5].append(coverage)
            if (texts, share) == (20, 0.1) and icc < 0.5:
                shown.setdefault(name, []).extend([coverage, float(np.nanmedian(high - low))])
    for name, known in shown.items():
        yield name, *known, *map(min, lowest[name])
