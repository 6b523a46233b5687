"""Legal class from the texts alone, chosen on one state and tested on the other, by three methods.

    python examples/india/words.py stories_dev.jsonl.gz

*castes*: the words of `legal_class.toml`, written after the law's lists. A class is said of a story
where its mentions reach a part of those of the most mentioned class; mentions near the beginning
weigh more. Part and weight are chosen on one state.
*learned*: words and pairs of words of one state, by logistic regression with an L2 penalty, classes
weighted alike.
*castes, learned*: the same regression on the castes' mentions by class, in place of words.

Stories may have two classes (a bride's and a groom's); F1 is of each class over all stories with a
label and a text, and macro F1 the mean of the four.
"""

import re
import sys
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from india import HERE, read, seen_in
from scipy import sparse
from scipy.optimize import minimize

from portrayal.reference.factors import load_factor

STATES = ("Uttar Pradesh", "Tamil Nadu")
EARLY = 400
"""Characters from the beginning in which a mention weighs more."""
PARTS, WEIGHTS = (0.25, 0.34, 0.42, 0.5, 0.6, 0.7), (0.0, 1.0, 2.0)
PENALTY = 1.0
_WORD = re.compile(r"[a-z]+(?:-[a-z]+)*")


def stories(rows: Sequence[dict[str, Any]]) -> tuple[list[dict[str, Any]], np.ndarray, np.ndarray]:
    """Return stories with text and label, their classes (n, 4) and mentions (n, 4, 2).

    Mentions are counted in the whole text and in its beginning, the first of all once more.
    """
    factor = load_factor(HERE / "legal_class.toml")
    own = [row for row in rows if row["factor"] == "caste" and row["text"]]
    labels, words = seen_in(own, factor, "labels"), seen_in(own, factor, "words")
    known = [i for i, each in enumerate(labels) if each["groups"]]
    y = np.array([[key in labels[i]["groups"] for key in factor.keys] for i in known])
    mentions = np.zeros((len(known), len(factor.keys), 2))
    for row, i in enumerate(known):
        spans = sorted(words[i]["spans"], key=lambda span: span["start"])
        for place, span in enumerate(spans):
            at = factor.keys.index(span["group"])
            mentions[row, at] += [1.0, float(span["start"] < EARLY) + float(place == 0)]
    return [own[i] for i in known], y, mentions


def by_rule(mentions: np.ndarray, part: float, weight: float) -> np.ndarray:
    """Return the classes of each story, none where no caste is mentioned."""
    score = mentions[..., 0] + weight * mentions[..., 1]
    most = score.max(axis=1, keepdims=True)
    return (most > 0) & (score >= part * most)


def macro_f1(y: np.ndarray, said: np.ndarray) -> tuple[float, np.ndarray]:
    """Return macro F1, and F1 of each class."""
    hits = (y & said).sum(0)
    each = 2.0 * hits / np.maximum(y.sum(0) + said.sum(0), 1)
    return float(each.mean()), each


def words_of(rows: Sequence[dict[str, Any]]) -> list[set[str]]:
    """Return the words and pairs of words of each story."""
    found = []
    for row in rows:
        words = _WORD.findall(row["text"].lower())
        found.append({*words, *(f"{a} {b}" for a, b in pairwise(words))})
    return found


def matrix(texts: Sequence[set[str]], index: dict[str, int]) -> sparse.csr_array:
    """Return which words each story has, each row of length 1."""
    rows, columns = [], []
    for i, text in enumerate(texts):
        known = [index[word] for word in text if word in index]
        rows += [i] * len(known)
        columns += known
    size = np.bincount(rows, minlength=len(texts))
    values = 1.0 / np.sqrt(size[rows])
    return sparse.csr_array((values, (rows, columns)), shape=(len(texts), len(index)))


def fitted(x: Any, y: np.ndarray) -> np.ndarray:
    """Return slopes and intercept of an L2 logistic regression, both outcomes weighted alike."""
    sign = 2.0 * y - 1.0
    weight = len(y) / 2.0 / np.where(y, max(y.sum(), 1), max((~y).sum(), 1))

    def loss(w: np.ndarray) -> tuple[float, np.ndarray]:
        margin = sign * (x @ w[:-1] + w[-1])
        slope = -sign * weight / (1.0 + np.exp(np.clip(margin, -500, 500)))
        penalty = 0.5 / PENALTY * float(w[:-1] @ w[:-1])
        value = float((weight * np.logaddexp(0.0, -margin)).sum()) + penalty
        return value, np.append(x.T @ slope + w[:-1] / PENALTY, slope.sum())

    start = np.zeros(x.shape[1] + 1)
    return np.asarray(minimize(loss, start, jac=True, method="L-BFGS-B").x)


def learned(x: Any, y: np.ndarray, new: Any) -> np.ndarray:
    """Return the classes of new stories, each class by its own regression."""
    models = [fitted(x, y[:, i]) for i in range(y.shape[1])]
    return np.stack([new @ w[:-1] + w[-1] > 0 for w in models], axis=1)


def features(mentions: np.ndarray) -> np.ndarray:
    """Return what a regression reads of mentions: parts of all, of the beginning, and whether."""
    total = np.maximum(mentions.sum(axis=1, keepdims=True), 1.0)
    return np.concatenate([*np.moveaxis(mentions / total, 2, 0), mentions[..., 0] > 0], axis=1)


def compare(rows: Sequence[dict[str, Any]], *, words: bool = True) -> list[dict[str, Any]]:
    """Return each method's figures in both directions; `words` is the slow one."""
    own, y, mentions = stories(rows)
    state = np.array([row["state"] for row in own])
    texts = words_of(own) if words else []
    found = []
    for first, second in (STATES, STATES[::-1]):
        a, b = state == first, state == second
        part, weight = max(
            ((p, w) for p in PARTS for w in WEIGHTS),
            key=lambda pair: macro_f1(y[a], by_rule(mentions[a], *pair))[0],
        )
        said = {f"castes (part {part}, weight {weight:g})": by_rule(mentions[b], part, weight)}
        if words:
            kept = [text for text, inside in zip(texts, a, strict=True) if inside]
            often = Counter(word for text in kept for word in text)
            listed = sorted(w for w, n in often.items() if 4 <= n <= 0.8 * len(kept))
            x = matrix(texts, {word: i for i, word in enumerate(listed)})
            said["learned"] = learned(x[a], y[a], x[b])
        some = mentions[..., 0].sum(axis=1, keepdims=True) > 0
        x = features(mentions)
        said["castes, learned"] = learned(x[a], y[a], x[b]) & some[b]
        for method, classes in said.items():
            f1, each = macro_f1(y[b], classes)
            found.append(
                {
                    "chosen on": first,
                    "tested on": second,
                    "method": method,
                    "stories": int(b.sum()),
                    "macro F1": f1,
                    "decided": float(classes.any(axis=1).mean()),
                    "exact": float((classes == y[b]).all(axis=1).mean()),
                    **dict(zip(("general", "obc", "sc", "st"), each.tolist(), strict=True)),
                }
            )
    return found


def main() -> None:
    """Print the figures."""
    for row in compare(read(sys.argv[1])):
        print(" | ".join(f"{v:.3f}" if isinstance(v, float) else str(v) for v in row.values()))


if __name__ == "__main__":
    main()
