"""Simulate repeated audits: alarms without change over many looks, and changes that are seen.

    python -m benchmarks.watch [--reps N] [--seed N]

Prompts have shares of their own, rounds answer the same prompts anew. A wobble moves the logit of
all prompts of a round together by a normal number. Prints Markdown tables: alarms of ten watched
estimates without change, and changes that are seen in families of the size that audits have.
"""

import argparse
from collections.abc import Iterator

import numpy as np
from scipy.special import expit, logit

from portrayal.comparison import Sums
from portrayal.comparison.watch import Looks, looks
from portrayal.types import FloatArray

SHARES = np.array([0.5, 0.3, 0.1, 0.05, 0.02])
WORLDS = ((15, 20), (15, 100), (60, 10))
LOOKS = 100
WOBBLES = (0.0, 0.15, 0.3)
RATIO = 1.6
FAMILIES = (10, 96, 264)
ALPHA = 0.05


def counts(
    rng: np.random.Generator,
    world: tuple[int, int],
    shares: FloatArray,
    rounds: tuple[int, int],
    wobble: float,
) -> FloatArray:
    """Counts of each group by round and prompt; the first share is RATIO times as high later."""
    prompts, texts = world
    own = rng.beta(20 * shares, 20 * (1 - shares), size=(prompts, len(shares)))
    later = np.minimum(own * np.where(np.arange(len(shares)) == 0, RATIO, 1.0), 1.0 - 1e-9)
    share = np.concatenate(
        [np.repeat(x[np.newaxis], n, 0) for x, n in zip((own, later), rounds, strict=True)]
    )
    moved = logit(np.clip(share, 1e-9, 1 - 1e-9)) + rng.normal(0, wobble, (len(share), 1, 1))
    return rng.binomial(texts, expit(moved)).astype(float)


def estimates(a: FloatArray, b: FloatArray, texts: int) -> Iterator[Looks]:
    """Sums of each share, and of its ratio to the same share of others who never change."""
    n_rounds, prompts, k = a.shape
    for group in range(k):
        for other in (None, b):
            every, none = np.full((prompts, 1), float(texts)), np.full((prompts, 1), np.nan)
            sums = [
                Sums(
                    "mean" if other is None else "ratio",
                    True,
                    (
                        a[t, :, [group]].T,
                        every,
                        none if other is None else other[t, :, [group]].T,
                        none if other is None else every,
                    ),
                    np.ones(1),
                    np.ones(1),
                    np.arange(prompts),
                )
                for t in range(n_rounds)
            ]
            yield Looks(sums, np.full(n_rounds, float(prompts * texts)), range(n_rounds))


def alarms(rng: np.random.Generator, world: tuple[int, int], wobble: float) -> bool:
    """Whether any of ten estimates is called changed in LOOKS looks without change."""
    a, b = (counts(rng, world, SHARES, (LOOKS + 1, 0), wobble) for _ in range(2))
    found = looks(list(estimates(a, b, world[1])), LOOKS + 1, ALPHA)
    return any(each.get("alarm") for each in found)


def seen(
    rng: np.random.Generator, world: tuple[int, int], share: float, rounds: tuple[int, int]
) -> tuple[list[bool], float]:
    """Whether a change of one share is seen beside none, in each family; what could be in 96."""
    n = sum(rounds)
    moved = counts(rng, world, np.array([share]), rounds, WOBBLES[0])
    still = counts(rng, world, np.array([share]), (n, 0), WOBBLES[0])
    one, same = (next(estimates(a, a, world[1])) for a in (moved, still))
    found = [looks([one], n, ALPHA / k)[0]["alarm"] is not None for k in FAMILIES]
    return found, looks([same], n, ALPHA / FAMILIES[1])[0]["findable"]


def level(rng: np.random.Generator, reps: int) -> None:
    """Print alarms without change."""
    print(f"Any alarm of ten estimates in {LOOKS} looks without change, {reps} folders:\n")
    print("| prompts × texts | " + " | ".join(f"wobble {w}" for w in WOBBLES) + " |")
    print("|---|" + "---:|" * len(WOBBLES))
    for world in WORLDS:
        hits = [np.mean([alarms(rng, world, w) for _ in range(reps)]) for w in WOBBLES]
        shown = " | ".join(f"{x:.3f}" for x in hits)
        print(f"| {world[0]} × {world[1]} | {shown} |", flush=True)


def power(rng: np.random.Generator, reps: int) -> None:
    """Print how often a change is seen, and what would be in rounds without one."""
    print(f"\nA share that becomes {RATIO} times as high, seen among {FAMILIES} numbers:\n")
    print("| prompts × texts | share | rounds before + since | seen | of 96, could be seen |")
    print("|---|---:|---:|---:|---:|")
    for world in WORLDS:
        for share in (0.3, 0.1):
            for rounds in ((3, 3), (6, 3), (12, 3), (12, 12)):
                got = [seen(rng, world, share, rounds) for _ in range(reps)]
                shown = "; ".join(f"{x:.2f}" for x in np.mean([yes for yes, _ in got], axis=0))
                print(
                    f"| {world[0]} × {world[1]} | {share} | {rounds[0]} + {rounds[1]} | {shown} | "
                    f"×{np.median([x for _, x in got]):.2f} |",
                    flush=True,
                )


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reps", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    level(np.random.default_rng(given.seed), given.reps)
    power(np.random.default_rng(given.seed + 1), given.reps)


if __name__ == "__main__":
    main()
