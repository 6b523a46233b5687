"""Simulate repeated audits: alarms without change over many looks, and changes that are seen.

    python -m benchmarks.watch [--reps N] [--seed N]

Prompts have shares of their own, rounds answer the same prompts anew; ten estimates are watched
together, five shares against a baseline and five ratios of two shares. Prints two Markdown tables.
"""

import argparse
from collections.abc import Iterator

import numpy as np

from portrayal.comparison import Sums
from portrayal.comparison.watch import looks
from portrayal.types import FloatArray

SHARES = np.array([0.5, 0.3, 0.1, 0.05, 0.02])
WORLDS = ((15, 20), (15, 100), (60, 10))
LOOKS = 100
RATIO = 1.5
WITHIN = 3


def counts(
    rng: np.random.Generator, world: tuple[int, int], shares: FloatArray, rounds: tuple[int, int]
) -> FloatArray:
    """Counts of each group by round and prompt; the first share is RATIO times as high later."""
    prompts, texts = world
    own = rng.beta(20 * shares, 20 * (1 - shares), size=(prompts, len(shares)))
    later = own * np.where(np.arange(len(shares)) == 0, RATIO, 1.0)
    before = rng.binomial(texts, own, size=(rounds[0], *own.shape))
    after = rng.binomial(texts, np.minimum(later, 1.0), size=(rounds[1], *own.shape))
    return np.concatenate([before, after]).astype(float)


def estimates(a: FloatArray, b: FloatArray, texts: int) -> Iterator[list[Sums]]:
    """Sums of each share, and of its ratio to the same share of others who never change."""
    for k in range(a.shape[2]):
        for other in (None, b):
            yield [
                Sums(
                    "mean" if other is None else "ratio",
                    True,
                    tuple(
                        np.full((a.shape[1], 1), np.nan) if x is None else x
                        for x in (
                            a[t, :, [k]].T,
                            np.full((a.shape[1], 1), float(texts)),
                            None if other is None else other[t, :, [k]].T,
                            None if other is None else np.full((a.shape[1], 1), float(texts)),
                        )
                    ),
                    np.ones(1),
                    np.ones(1),
                    np.arange(a.shape[1]),
                )
                for t in range(len(a))
            ]


def alarms(rng: np.random.Generator, world: tuple[int, int]) -> list[int | None]:
    """The first alarm of each estimate in LOOKS looks without change."""
    a, b = (counts(rng, world, SHARES, (LOOKS + 1, 0)) for _ in range(2))
    size = np.full(len(a), float(world[0] * world[1]))
    return [looks(s, size, 0.95, 2 * len(SHARES)).get("alarm") for s in estimates(a, b, world[1])]


def seen(
    rng: np.random.Generator, world: tuple[int, int], share: float, before: int
) -> tuple[bool, bool]:
    """Whether a change of one share is seen within WITHIN rounds: the share, and its ratio."""
    shares = np.array([share])
    a = counts(rng, world, shares, (before, WITHIN))
    b = counts(rng, world, shares, (before + WITHIN, 0))
    size = np.full(len(a), float(world[0] * world[1]))
    family = 2 * len(SHARES)
    found = [looks(s, size, 0.95, family).get("alarm") for s in estimates(a, b, world[1])]
    return found[0] is not None, found[1] is not None


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    rng = np.random.default_rng(given.seed)
    print(f"Any alarm of ten estimates in {LOOKS} looks without change, {given.reps} folders:\n")
    print("| prompts × texts | any alarm |\n|---|---:|")
    for world in WORLDS:
        hits = sum(any(alarms(rng, world)) for _ in range(given.reps))
        print(f"| {world[0]} × {world[1]} | {hits / given.reps:.3f} |", flush=True)
    print(f"\nA share that becomes {RATIO} times as high, seen within {WITHIN} rounds:\n")
    print("| prompts × texts | share | rounds before | seen, share | seen, ratio |")
    print("|---|---:|---:|---:|---:|")
    for world in WORLDS:
        for share in (0.3, 0.1):
            for before in (1, 3, 12):
                hits = np.mean([seen(rng, world, share, before) for _ in range(given.reps)], axis=0)
                print(
                    f"| {world[0]} × {world[1]} | {share} | {before} | {hits[0]:.2f} | "
                    f"{hits[1]:.2f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
