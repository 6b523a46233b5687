"""Level, power and time of comparisons.

    python -m benchmarks.comparison [--texts FILE] [--stories 500000]

Simulated: 15 prompts with 100 texts in each of two runs; prompts have shares of their own that both
runs share (SD 1 on the logit scale), and each run moves each prompt a little (SD .3). Real: the
texts of FILE are dealt to two runs by a coin, so that nothing differs; and two runs of so many
stories are made from its counts and compared. Two cores are not needed.
"""

import argparse
import shutil
import tempfile
import time
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit

import portrayal
from portrayal.comparison.sums import Sums, changes_against
from portrayal.measure.scope import with_q_values
from portrayal.measure.stories.outcomes import outcomes
from portrayal.measure.stories.representation import representation
from portrayal.measure.stories.subordination import subordination
from portrayal.measure.stories.tally import tally_stories
from portrayal.reference.groups import RACES, baseline
from portrayal.reference.names import mena_nhpi_table, name_table, race_likelihoods
from portrayal.run import Run, estimates_to_table, write_parquet
from portrayal.run.estimates import influences_to_table
from portrayal.stats import infer_shares
from portrayal.studies.laissez_faire import prompt_facts
from portrayal.studies.stories import StoryOptions
from portrayal.types import FloatArray

MARGIN = float(np.log(1.25))
BASE, MOVED = 1.0, 0.3
"""SD of prompts' own shares, and of what each run adds to a prompt, on the logit scale."""


def logit_of(share: float, rng: np.random.Generator) -> float:
    """Return the mean logit at which prompts have this share on average."""
    spread = rng.normal(0, np.hypot(BASE, MOVED), 100_000)
    low, high = -9.0, 9.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if expit(middle + spread).mean() < share else (low, middle)
    return low


def simulate(
    shares: tuple[float, float], prompts: int, texts: int, draws: int, seed: int
) -> dict[str, float]:
    """Return how often two runs with these shares are told apart, and shown to be alike."""
    rng = np.random.default_rng([seed, prompts, texts])
    own = rng.normal(0, BASE, (prompts, draws))
    sides, counts = [], []
    total, none = np.full(own.shape, float(texts)), np.full(own.shape, np.nan)
    for share in shares:
        moved = rng.normal(0, MOVED, own.shape)
        counted = rng.binomial(texts, expit(logit_of(share, rng) + own + moved)).astype(float)
        counts.append(counted)
        cells, codes = (counted, total, none, none), np.arange(prompts)
        sides.append(Sums("mean", True, cells, np.ones(draws), np.zeros(draws), codes))
    found = changes_against(sides[1], sides[0], 0.95, margin=np.full(draws, MARGIN))
    p, low, high = (
        np.array([np.nan if row[name] is None else row[name] for row in found], dtype=np.float64)
        for name in ("p", "low", "high")
    )
    apart = [infer_shares(each, total, 0.95) for each in counts]
    true = shares[1] / shares[0]
    return {
        "paired p < .05": float(np.mean(p < 0.05)),
        "interval holds the truth": float(np.mean((low <= true) & (true <= high))),
        "equivalence declared": float(np.mean([bool(row["equivalent"]) for row in found])),
        "single intervals do not overlap": float(
            np.mean((apart[0].low > apart[1].high) | (apart[0].high < apart[1].low))
        ),
    }


def ratios(change: float, share: float, prompts: int, texts: int, draws: int = 2000) -> str:
    """Return how often a change of a ratio of two roles' shares is seen, and its interval holds."""
    rng = np.random.default_rng([1, prompts, texts])
    own, total = rng.normal(logit_of(share, rng), BASE, (prompts, draws)), float(texts)
    codes, totals = np.arange(prompts), np.full((prompts, draws), total)

    def drawn(times: float) -> FloatArray:
        moved = np.minimum(expit(own + rng.normal(0, MOVED, own.shape)) * times, 1.0)
        return rng.binomial(texts, moved).astype(float)

    sides = [
        Sums("ratio", True, (drawn(times), totals, drawn(1.0), totals), np.ones(draws),
             np.zeros(draws), codes)
        for times in (1.0, change)
    ]  # fmt: skip
    found = [row for row in changes_against(sides[1], sides[0], 0.95) if row["p"] is not None]
    seen = np.mean([row["p"] < 0.05 for row in found])
    holds = np.mean([row["low"] <= change <= row["high"] for row in found])
    return f"| ×{change}, {share}, {prompts} × {texts} | {seen:.3f} | {holds:.3f} |"


def simulations() -> None:
    """Print level, power and equivalence of simulated comparisons."""
    for case in product((1.0, 1.6), (0.4, 0.05), ((6, 100), (15, 20), (15, 100))):
        print(ratios(case[0], case[1], *case[2]))
    cases = (
        (".45 and .35, 15 prompts x 100", (0.45, 0.35), 15, 100, 1000),
        (".40 and .40, 15 prompts x 100", (0.40, 0.40), 15, 100, 2000),
        (".05 and .05, 15 prompts x 100", (0.05, 0.05), 15, 100, 2000),
        (".30 and .30, 7 prompts x 50", (0.30, 0.30), 7, 50, 2000),
        ("at the margin, .40 and .50, 15 prompts x 100", (0.40, 0.50), 15, 100, 2000),
        ("at the margin, .40 and .50, 30 prompts x 100", (0.40, 0.50), 30, 100, 2000),
    )
    for name, shares, prompts, texts, draws in cases:
        shown = ", ".join(
            f"{what} {value:.3f}"
            for what, value in simulate(shares, prompts, texts, draws, 1).items()
        )
        print(f"{name}: {shown}")


def real(texts: Path, stories: int, splits: int) -> None:
    """Deal real stories to two runs by coins, and compare runs of many stories."""
    folder = Path(tempfile.mkdtemp())
    try:
        whole = portrayal.audit(
            study="laissez-faire", texts=texts, out=folder / "whole", report=False
        )
        tally = _tally(whole)
        rng = np.random.default_rng(5)
        p: list[float] = []
        alarms = 0
        for _ in range(splits):
            half = rng.binomial(tally.count, 0.5)
            for name, count in (("a", half), ("b", tally.count - half)):
                _store(whole, folder / name, _with(tally, count))
            found = portrayal.compare(folder / "a", folder / "b")
            tested = [row for row in found.rows if row.p is not None and row.model != "all"]
            p += [row.p for row in tested if row.p is not None]
            alarms += any(row.audit_q is not None and row.audit_q < 0.05 for row in found.rows)
        shown = ", ".join(f"{np.mean(np.array(p) < a):.3f} below {a}" for a in (0.01, 0.05, 0.2))
        print(f"A/A, {splits} splits by a coin, {len(p):,} tests of single models: {shown}")
        print(f"splits with any audit_q < .05: {alarms} of {splits}")
        times = stories // int(tally.count.sum()) + 1
        for name in ("a", "b"):
            _store(whole, folder / name, _with(tally, rng.poisson(tally.count * times)))
        started, cpu = time.perf_counter(), time.process_time()
        found = portrayal.compare(folder / "a", folder / "b")
        print(
            f"two runs of {int(tally.count.sum()) * times:,} stories, {len(found.rows):,} changes: "
            f"{time.perf_counter() - started:.1f} s, {time.process_time() - cpu:.1f} s of CPU"
        )
    finally:
        shutil.rmtree(folder)


def _with(tally: Any, count: Any) -> Any:
    return replace(tally, count=np.asarray(count, dtype=np.int64), cache={})


def _tally(run: Run) -> Any:
    primary, secondary = name_table(), mena_nhpi_table()
    return tally_stories(
        run,
        run.annotations("people.v8"),
        likelihoods=lambda names: race_likelihoods(names, primary, secondary),
        races=RACES,
        n_primary=sum(race in primary.races for race in RACES),
        facts=prompt_facts,
    )


def _store(whole: Run, folder: Path, tally: Any) -> None:
    """Write a run with the main estimates of a tally."""
    keep = tally.count > 0
    names = (
        *("prompt", "model", "outcome", "subject_name", "subject_gender"),
        *("object_name", "object_gender", "count"),
    )
    tally = replace(tally, **{name: getattr(tally, name)[keep] for name in names})
    scope = StoryOptions(draws=100, permutations=20).scope("laissez-faire")
    primary, secondary = name_table(), mena_nhpi_table()
    tables = {race: table for table in (primary, secondary) for race in table.races}
    made = [
        *representation(tally, scope, baseline=baseline(), name_tables=tables),
        *subordination(tally, scope),
        *outcomes(tally, scope),
    ]
    folder.mkdir(exist_ok=True)
    run = Run(folder)
    shutil.copy(whole.prompts_path, run.prompts_path)
    estimates = with_q_values(made)
    write_parquet(estimates_to_table(estimates), run.estimates_path)
    write_parquet(influences_to_table(estimates), run.influences_path)
    # Last, as the digests of all other files are taken then
    run.write_settings(whole.settings())


def main() -> None:
    """Print every figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=Path)
    parser.add_argument("--stories", type=int, default=500_000)
    parser.add_argument("--splits", type=int, default=20)
    given = parser.parse_args()
    simulations()
    if given.texts is not None:
        real(given.texts, given.stories, given.splits)


if __name__ == "__main__":
    main()
