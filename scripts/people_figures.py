"""Scores of the people extractor on labelled slots, with intervals clustered by prompt."""

import numpy as np

from portrayal.annotate.people.shared.model import UNSPECIFIED
from portrayal.reference.groups import RACES
from portrayal.reference.names import mena_nhpi_table, name_table, race_likelihoods

DRAWS, SEED = 400, 0


def figures(slots: dict[str, np.ndarray], weight: np.ndarray) -> dict[str, float]:
    """Scores in percent, each slot counting `weight` times."""
    gold, found = slots["gold_gender"], slots["gender"]
    names = slots["name"] == slots["gold_name"]
    right = (gold == found) & (gold != UNSPECIFIED)

    def share(part: np.ndarray, whole: np.ndarray) -> float:
        total = weight[whole].sum()
        return 100.0 * weight[part & whole].sum() / total if total else np.nan

    every = np.ones(len(gold), bool)
    return {
        "gender precision": share(right, found != UNSPECIFIED),
        "gender recall": share(right, gold != UNSPECIFIED),
        "gender accuracy": share(gold == found, every),
        "joint accuracy": share((gold == found) & names, every),
        "name accuracy": share(names, every),
        "non-binary precision": share(right, found == "NB"),
        "non-binary recall": share(right, gold == "NB"),
    }


def draws_of(slots: dict[str, np.ndarray]) -> list[np.ndarray]:
    """Bootstrap weights of the slots, drawn by prompt."""
    prompts, place = np.unique(slots["prompt"], return_inverse=True)
    generator = np.random.default_rng(SEED)
    n = len(prompts)
    return [np.bincount(generator.integers(n, size=n), minlength=n)[place] for _ in range(DRAWS)]


def show(title: str, slots: dict[str, np.ndarray]) -> None:
    """Print scores with 95 % intervals clustered by prompt."""
    print(f"\n{title}: {len(slots['name'])} slots, {len(set(slots['prompt']))} prompts")
    for domain in (None, *sorted(set(slots["domain"]))):
        keep = slots["domain"] == domain if domain else np.ones(len(slots["name"]), bool)
        part = {key: value[keep] for key, value in slots.items()}
        drawn = [figures(part, weight) for weight in draws_of(part)]
        print(f"  {domain or 'all'}")
        for key, value in figures(part, np.ones(keep.sum())).items():
            low, high = np.nanpercentile([one[key] for one in drawn], [2.5, 97.5])
            print(f"    {key:22s} {value:5.1f}  [{low:.1f}, {high:.1f}]")


def show_risk(slots: dict[str, np.ndarray], sure: list[np.ndarray]) -> None:
    """Print accuracy among the surest slots, and how well the confidences are calibrated."""
    names = slots["name"] == slots["gold_name"]
    genders = slots["gender"] == slots["gold_gender"]
    print("  coverage   name  gender  joint (each by its own confidence)")
    for coverage in (1.0, 0.95, 0.9, 0.8, 0.7, 0.5):
        cells = []
        for confidence, right in zip(sure, (names, genders, names & genders), strict=True):
            order = np.argsort(-confidence, kind="stable")[: round(coverage * len(right))]
            cells.append(f"{100 * right[order].mean():6.2f}")
        print(f"     {100 * coverage:3.0f} %  {' '.join(cells)}")
    for title, confidence, right in zip(
        ("name", "gender", "joint"), sure, (names, genders, names & genders), strict=True
    ):
        edges = np.quantile(confidence, np.linspace(0, 1, 11))
        cell = np.clip(np.searchsorted(edges, confidence, side="right") - 1, 0, 9)
        gaps = [
            abs(confidence[cell == c].mean() - right[cell == c].mean()) * (cell == c).mean()
            for c in range(10)
            if (cell == c).any()
        ]
        print(f"  expected calibration error, {title}: {100 * sum(gaps):.2f} points")


def show_races(slots: dict[str, np.ndarray]) -> None:
    """Print the gender error by race of the labelled name, names counted fractionally."""
    shares = race_likelihoods(list(slots["gold_name"]), name_table(), mena_nhpi_table())
    shares = np.nan_to_num(np.asarray(shares, float)) * (slots["gold_name"] != "")[:, None]
    wrong = (slots["gender"] != slots["gold_gender"]).astype(float)
    white = RACES.index("White")

    def errors(weight: np.ndarray) -> np.ndarray:
        table = shares * weight[:, None]
        return (table * wrong[:, None]).sum(0) / table.sum(0)

    observed = errors(np.ones(len(wrong)))
    with np.errstate(invalid="ignore", divide="ignore"):
        drawn = np.array([errors(weight) for weight in draws_of(slots)])
    ratio = drawn / drawn[:, [white]]
    print("  gender error by race of the name (fractional counting)")
    for place, race in enumerate(RACES):
        low, high = np.nanpercentile(100 * drawn[:, place], [2.5, 97.5])
        r_low, r_high = np.nanpercentile(ratio[:, place], [2.5, 97.5])
        print(
            f"    {race:12s} names {shares[:, place].sum():7.1f}  error"
            f" {100 * observed[place]:4.1f} % [{low:.1f}, {high:.1f}]"
            f"  to White {observed[place] / observed[white]:.2f} [{r_low:.2f}, {r_high:.2f}]"
        )
    print(f"    largest to smallest {observed.max() / observed.min():.2f}")
