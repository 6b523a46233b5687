"""Train who is subject and who is object of two named people; print errors on prompts left out.

    python scripts/train_pairs.py STORIES.jsonl [--check HELD_OUT.jsonl ...] [--write]

STORIES are labelled as `portrayal score people` reads them. Models name the subject first in more
than nine of ten stories; stories that name the object first count `SECOND` times, so that the
weights lean less on order than these models do.
"""

import argparse
import json
from pathlib import Path

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from portrayal.annotate.people import clean_name
from portrayal.annotate.people.shared.model import Roles
from portrayal.annotate.people.shared.scan import scan
from portrayal.annotate.people.stories.extract import story_start
from portrayal.annotate.people.stories.names import find_people
from portrayal.annotate.people.stories.pair import SIGNS, WEIGHTS_FILE, rivals, weights
from portrayal.annotate.people.stories.scene import look, role_words

GOLD = ("gold_subject_name", "gold_object_name")
FOLDS, SEED = 10, 0
SECOND, PENALTY, SCALE = 3.0, 3.3, 100


def pairs(path: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Signs (n, len(SIGNS)), whether the first is the subject (n,), and prompts (n,) of pairs."""
    signs, first, prompts = [], [], []
    for line in Path(path).read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        roles = Roles(row["subject_role"], row["object_role"])
        if roles.object is None or roles.paired:
            continue
        text = row["text"] or ""
        tokens = scan(text, story_start(text))
        scene = look(text, tokens, find_people(tokens), role_words(roles), paired=False)
        found = rivals(scene)
        if found is None:
            continue
        a, b, told = found
        named = [(scene.people[index].first or "").casefold() for index in (a, b)]
        gold = [(clean_name(row[key]) or "").casefold() for key in GOLD]
        straight, crossed = _agree(named, gold), _agree(named[::-1], gold)
        if straight != crossed:
            signs.append(told)
            first.append(straight > crossed)
            prompts.append(row["prompt"])
    return np.array(signs), np.array(first), np.array(prompts)


def _agree(names: list[str], gold: list[str]) -> int:
    """How many names are as labelled."""
    return sum(one == two for one, two in zip(names, gold, strict=True) if two)


def fit(signs: np.ndarray, first: np.ndarray) -> np.ndarray:
    """Rounded weights in `SCALE`ths; all but that of being first have an L2 penalty."""
    weight = np.where(first, 1.0, SECOND)
    penalties = np.full(signs.shape[1], PENALTY)
    penalties[0] = 0.0

    def loss(guess: np.ndarray) -> tuple[float, np.ndarray]:
        score = signs @ guess
        value = (weight * (np.logaddexp(0.0, score) - first * score)).sum()
        slope = signs.T @ (weight * (expit(score) - first))
        return float(value + penalties @ guess**2 / 2), slope + penalties * guess

    found = minimize(loss, np.zeros(signs.shape[1]), jac=True, method="L-BFGS-B").x
    return np.rint(SCALE * found).astype(int)


def left_out(signs: np.ndarray, first: np.ndarray, prompts: np.ndarray) -> np.ndarray:
    """Scores of each pair by weights trained without its prompt. Shape (n,)."""
    names = np.unique(prompts)
    fold = np.random.default_rng(SEED).permutation(len(names)) % FOLDS
    fold = fold[np.searchsorted(names, prompts)]
    scores = np.zeros(len(first))
    for number in range(FOLDS):
        test = fold == number
        scores[test] = signs[test] @ fit(signs[~test], first[~test])
    return scores


def report(label: str, scores: np.ndarray, first: np.ndarray) -> None:
    """Print how many pairs are the wrong way round."""
    wrong = (scores >= 0) != first
    print(
        f"{label}: {wrong.sum()} of {len(first)} pairs the wrong way round; {(~first).sum()} name "
        f"the object first, of these {(wrong & ~first).sum()}"
    )


def main() -> None:
    """Train, print and, where asked, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("stories")
    parser.add_argument("--check", nargs="*", default=[])
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    signs, first, prompts = pairs(asked.stories)
    report("prompts left out", left_out(signs, first, prompts), first)
    learned = fit(signs, first)
    report("in sample", signs @ learned, first)
    for path in asked.check:
        held, held_first, _ = pairs(path)
        report(f"{path}, new", held @ learned, held_first)
        report(f"{path}, shipped", held @ np.array(weights()), held_first)
    told = dict(zip(SIGNS, learned.tolist(), strict=True))
    print(json.dumps(told))
    if asked.write:
        WEIGHTS_FILE.write_text(json.dumps({"weights": told}, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
