"""Legal class from the texts alone, by methods chosen on one state and tested on the other.

    python examples/india/words.py stories_dev.jsonl.gz

Castes are found by two lists: *law*, the words of `legal_class.toml`, and *orders*, those of
`orders.toml`, where each state has its own. A class is said of a story by

*rule*: where its mentions reach a part of those of the most mentioned class; mentions near the
beginning weigh more, and so do those in phrases such as "belonging to the X caste".
*regression*: one regression for all classes asks whether a class that is mentioned is that of the
people: its part of all mentions, of those near the beginning and in such phrases, whether it
comes first.
*phrases*: the same, and the words beside its mentions and beside those of others.

Parts, weights, penalties and thresholds are chosen on one state, by folds that keep prompts whole.
*all words*: words and pairs of words of one state, by logistic regression, without any list.

Stories may have two classes (a bride's and a groom's); F1 is of each class over all stories with a
label and a text, and macro F1 the mean of the four; its interval draws prompts of the tested
state. It is printed without the stories of the Paraiyar too, whom labels and law class differently.
"""

import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise, product
from typing import Any

import numpy as np
from india import HERE, read, seen_in
from scipy import sparse
from scipy.optimize import minimize

from portrayal.reference.factors import load_factor

STATES = ("Uttar Pradesh", "Tamil Nadu")
LISTS = ("law", "orders")
EARLY = 400
"""Characters from the beginning in which a mention weighs more."""
PARTS, WEIGHTS, PHRASES = (0.25, 0.34, 0.42, 0.5, 0.6, 0.7), (0.0, 1.0, 2.0), (0.0, 1.0, 3.0)
PENALTIES, CUTS = (0.1, 1.0, 10.0), tuple(np.arange(0.2, 0.81, 0.05))
FOLDS, DRAWS = 4, 1000
_PARTED = re.compile(r"para[iy]y?ar|parayan|paraiyan")
"""Labels of the caste on which labels and law part."""
_WORD = re.compile(r"[a-z]+(?:-[a-z]+)*")
_BEFORE = re.compile(r"\b(?:belong\w*|hail\w*|members?|born|from|of)\W+(?:\w+\W+){0,3}$")
_AFTER = re.compile(
    r"\W+(?:\w+\W+)?(?:sub-?caste|caste|communit(?:y|ies)|clan|famil(?:y|ies)|lineage|tribe|sect"
    r"|descent|heritage|roots|household|patriarch|matriarch|elder|man|woman|boy|girl|named)\b"
)


@dataclass(frozen=True)
class Stories:
    """Stories with a text and a label.

    `y` has their classes (n, 4); `mentions` how often castes of each class are mentioned, near the
    beginning (the first of all once more), and in phrases that say who belongs to it (n, 4, 3);
    `beside` the words beside mentions by class.
    """

    rows: list[dict[str, Any]]
    y: np.ndarray
    mentions: np.ndarray
    beside: list[list[set[str]]]

    @property
    def some(self) -> np.ndarray:
        """Which classes are mentioned."""
        return np.asarray(self.mentions[..., 0] > 0)

    def of(self, state: str) -> "Stories":
        """Return those of one state."""
        at = [i for i, row in enumerate(self.rows) if row["state"] == state]
        return Stories(
            [self.rows[i] for i in at], self.y[at], self.mentions[at], [self.beside[i] for i in at]
        )

    def prompts(self) -> np.ndarray:
        """Return the number of each story's prompt."""
        names = [(row["state"], row["ritual"], row["form"]) for row in self.rows]
        return np.unique(names, axis=0, return_inverse=True)[1].ravel()


def stories(rows: Sequence[dict[str, Any]], listed: str = "law") -> Stories:
    """Return the stories of the file with what a list finds in them."""
    factor = load_factor(HERE / "legal_class.toml")
    own = [row for row in rows if row["factor"] == "caste" and row["text"]]
    labels = seen_in(own, factor, "labels")
    if listed == "law":
        words = seen_in(own, factor, "words")
    else:
        orders = load_factor(HERE / "orders.toml")
        each = {
            state: iter(seen_in([row for row in own if row["state"] == state], orders, state))
            for state in STATES
        }
        words = [next(each[row["state"]]) for row in own]
    known = [i for i, each in enumerate(labels) if each["groups"]]
    y = np.array([[key in labels[i]["groups"] for key in factor.keys] for i in known])
    mentions = np.zeros((len(known), len(factor.keys), 3))
    beside: list[list[set[str]]] = []
    for row, i in enumerate(known):
        text = own[i]["text"]
        near: list[set[str]] = [set() for _ in factor.keys]
        spans = sorted(words[i]["spans"], key=lambda span: span["start"])
        for place, span in enumerate(spans):
            at = factor.keys.index(span["group"])
            before, after = (
                text[max(0, span["start"] - 60) : span["start"]],
                text[span["end"] :][:60],
            )
            told = bool(_BEFORE.search(before) or _AFTER.match(after))
            early = float(span["start"] < EARLY) + float(place == 0)
            mentions[row, at] += [1.0, early, float(told)]
            near[at] |= set(_beside(before, after))
        beside.append(near)
    return Stories([own[i] for i in known], y, mentions, beside)


def _beside(before: str, after: str) -> Iterator[str]:
    """Words and pairs of words before and behind a mention."""
    left, right = _WORD.findall(before.lower())[-2:], _WORD.findall(after.lower())[:2]
    yield from (f"<{word}" for word in left)
    yield from (f">{word}" for word in right)
    yield "<" + " ".join(left)
    yield ">" + " ".join(right)


def by_rule(mentions: np.ndarray, part: float, weight: float, phrase: float = 0.0) -> np.ndarray:
    """Return the classes of each story, none where no caste is mentioned."""
    score = mentions @ np.array([1.0, weight, phrase])
    most = score.max(axis=1, keepdims=True)
    return np.asarray((most > 0) & (score >= part * most))


def macro_f1(y: np.ndarray, said: np.ndarray) -> tuple[float, np.ndarray]:
    """Return macro F1, and F1 of each class."""
    hits = (y & said).sum(0)
    each = 2.0 * hits / np.maximum(y.sum(0) + said.sum(0), 1)
    return float(each.mean()), each


def interval(own: Stories, said: np.ndarray) -> tuple[float, float]:
    """Return the 95 % interval of macro F1, by drawing prompts."""
    prompts = own.prompts()
    n = prompts.max() + 1
    sums = np.zeros((n, 3, own.y.shape[1]))
    for kind, counted in enumerate((own.y & said, own.y, said)):
        np.add.at(sums[:, kind], prompts, counted)
    drawn = np.random.default_rng(0).multinomial(n, np.full(n, 1 / n), size=DRAWS)
    hits, real, told = np.moveaxis(np.einsum("dp,pkc->dkc", drawn, sums), 1, 0)
    values = (2.0 * hits / np.maximum(real + told, 1)).mean(axis=1)
    return tuple(np.percentile(values, [2.5, 97.5]))  # type: ignore[return-value]


def rule(train: Stories, test: Stories) -> np.ndarray:
    """Return the classes of stories by mentions alone, part and weights chosen on others."""
    best = max(
        product(PARTS, WEIGHTS, PHRASES),
        key=lambda chosen: macro_f1(train.y, by_rule(train.mentions, *chosen))[0],
    )
    return by_rule(test.mentions, *best)


def matrix(texts: Sequence[set[str]], index: dict[str, int]) -> sparse.csr_array:
    """Return which words each text has, each row of length 1."""
    rows, columns = [], []
    for i, text in enumerate(texts):
        known = [index[word] for word in text if word in index]
        rows += [i] * len(known)
        columns += known
    size = np.bincount(rows, minlength=len(texts)) if rows else np.zeros(len(texts))
    values = 1.0 / np.sqrt(size[rows])
    return sparse.csr_array((values, (rows, columns)), shape=(len(texts), len(index)))


def fitted(x: Any, y: np.ndarray, penalty: float = 1.0) -> np.ndarray:
    """Return slopes and intercept of an L2 logistic regression, both outcomes weighted alike."""
    sign = 2.0 * y - 1.0
    weight = len(y) / 2.0 / np.where(y, max(y.sum(), 1), max((~y).sum(), 1))

    def loss(w: np.ndarray) -> tuple[float, np.ndarray]:
        margin = sign * (x @ w[:-1] + w[-1])
        slope = -sign * weight / (1.0 + np.exp(np.clip(margin, -500, 500)))
        cost = 0.5 * penalty * float(w[:-1] @ w[:-1])
        value = float((weight * np.logaddexp(0.0, -margin)).sum()) + cost
        return value, np.append(x.T @ slope + w[:-1] * penalty, slope.sum())

    start = np.zeros(x.shape[1] + 1)
    return np.asarray(minimize(loss, start, jac=True, method="L-BFGS-B").x)


def features(own: Stories, index: dict[str, int]) -> Any:
    """Return what one regression reads of each class mentioned in each story, one row for each."""
    story, place = np.nonzero(own.some)
    total = np.maximum(own.mentions.sum(axis=1, keepdims=True), 1.0)
    parts = own.mentions / total
    most = parts / np.maximum(parts.max(axis=1, keepdims=True), 1e-9)
    rival = own.some.sum(axis=1)[story]
    plain = np.column_stack(
        [
            parts[story, place],
            most[story, place],
            rival == 1,
            rival > 2,
            own.mentions[story, place] > 0,
        ]
    ).astype(np.float64)
    near = [
        own.beside[i][k]
        | {f"~{w}" for j, other in enumerate(own.beside[i]) if j != k for w in other}
        for i, k in zip(story.tolist(), place.tolist(), strict=True)
    ]
    return sparse.hstack([sparse.csr_array(plain), matrix(near, index)], format="csr")


def chances(train: Stories, test: Stories, penalty: float, *, phrases: bool) -> np.ndarray:
    """Return, per story and class, the chance that people are of it; 0 where it is not named."""
    index: dict[str, int] = {}
    if phrases:
        often = Counter(word for near in train.beside for each in near for word in each)
        kept = sorted(word for word, n in often.items() if n >= 5)
        index = {w: i for i, w in enumerate([*kept, *(f"~{word}" for word in kept)])}
    w = fitted(features(train, index), train.y[train.some], penalty)
    found = np.zeros(test.y.shape)
    found[test.some] = 1.0 / (1.0 + np.exp(-(features(test, index) @ w[:-1] + w[-1])))
    return found


def cut_at(chance: np.ndarray, cut: float) -> np.ndarray:
    """Return the classes above a threshold, and the likeliest of those mentioned where none is."""
    best = chance.max(axis=1, keepdims=True)
    return np.asarray((chance > 0) & ((chance >= cut) | (chance == best)))


def regression(train: Stories, test: Stories, *, phrases: bool = False) -> np.ndarray:
    """Return the classes of stories; penalty and threshold by folds of the others' prompts."""
    folds = train.prompts() % FOLDS
    best = (-1.0, 0.0, 0.0)
    for penalty in PENALTIES:
        held = np.zeros(train.y.shape)
        for fold in range(FOLDS):
            inside = [_part(train, folds != fold), _part(train, folds == fold)]
            held[folds == fold] = chances(*inside, penalty, phrases=phrases)
        scores = [(macro_f1(train.y, cut_at(held, cut))[0], penalty, cut) for cut in CUTS]
        best = max(best, *scores)
    return cut_at(chances(train, test, best[1], phrases=phrases), best[2])


def _part(own: Stories, inside: np.ndarray) -> Stories:
    at = np.flatnonzero(inside).tolist()
    return Stories(
        [own.rows[i] for i in at], own.y[at], own.mentions[at], [own.beside[i] for i in at]
    )


def phrases(train: Stories, test: Stories) -> np.ndarray:
    """Return the classes of stories by a regression that also reads the words beside mentions."""
    return regression(train, test, phrases=True)


def all_words(train: Stories, test: Stories) -> np.ndarray:
    """Return the classes of stories by their words and pairs of words, without any list."""
    texts = [[_all(row["text"]) for row in own.rows] for own in (train, test)]
    often = Counter(word for text in texts[0] for word in text)
    listed = sorted(w for w, n in often.items() if 4 <= n <= 0.8 * len(texts[0]))
    index = {word: i for i, word in enumerate(listed)}
    x, new = matrix(texts[0], index), matrix(texts[1], index)
    models = [fitted(x, train.y[:, i]) for i in range(train.y.shape[1])]
    return np.stack([new @ w[:-1] + w[-1] > 0 for w in models], axis=1)


@cache
def _all(text: str) -> frozenset[str]:
    words = _WORD.findall(text.lower())
    return frozenset((*words, *(f"{a} {b}" for a, b in pairwise(words))))


Method = Callable[[Stories, Stories], np.ndarray]


def compare(rows: Sequence[dict[str, Any]], *, words: bool = True) -> list[dict[str, Any]]:
    """Return each method's figures in both directions; `words` adds the slow ones."""
    methods: list[tuple[str, str, Method]] = [(listed, "rule", rule) for listed in LISTS]
    if words:
        more: list[tuple[str, Method]] = [("regression", regression), ("phrases", phrases)]
        methods += [(listed, name, method) for listed in LISTS for name, method in more]
        methods.append(("law", "all words", all_words))
    seen = {listed: stories(rows, listed) for listed in LISTS}
    found = []
    for first, second in (STATES, STATES[::-1]):
        for listed, name, method in methods:
            train, test = seen[listed].of(first), seen[listed].of(second)
            said = method(train, test)
            f1, each = macro_f1(test.y, said)
            low, high = interval(test, said)
            other = np.array([not _PARTED.search(row["caste"].lower()) for row in test.rows])
            found.append(
                {
                    "chosen on": first,
                    "tested on": second,
                    "method": name if name == "all words" else f"{listed}, {name}",
                    "stories": len(said),
                    "macro F1": f1,
                    "low": low,
                    "high": high,
                    "without Paraiyar": macro_f1(test.y[other], said[other])[0],
                    "decided": float(said.any(axis=1).mean()),
                    "exact": float((said == test.y).all(axis=1).mean()),
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
