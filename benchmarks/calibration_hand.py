"""Estimates corrected by hand labels, for `benchmarks.calibration hand_labels`.

Every row draws the hand labels anew. Coverage is of the interval for prompts like these where
prompts are drawn too, and of these very texts (the draw alone) where the texts are given.
"""

import csv
import gzip
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.calibration_worlds import Rng
from portrayal.annotate.group_labels import said_of
from portrayal.annotate.groups import group_reader, of_cell
from portrayal.measure.drawing import allotted
from portrayal.measure.judging import AgreedShare
from portrayal.reference.factors import ColumnSource, load_factor
from portrayal.stats import infer_shares, upper_of_none
from portrayal.stats.clustered import Clustered
from portrayal.stats.two_phase import (
    Contrast,
    Labelled,
    TwoPhase,
    infer_two_phase,
    infer_two_phase_contrast,
    two_phase,
)
from portrayal.types import BoolArray, FloatArray, IntArray

INDIA = Path(__file__).parents[1] / "examples" / "india"
NO_NULL = np.array([np.nan])
FEWEST = 20
JUDGES = ("prompts", "ICC", "recall: coverage", "kappa: coverage")
HEAD = (
    *("what", "by hand", "estimates", "coverage", "lowest cell", "error of the scorer"),
    *("error left", "width over that of the labels alone", "refused"),
)


def corrected(
    prompt: IntArray, weight: FloatArray, drawn: IntArray, said: Any, truth: Any
) -> TwoPhase:
    """Corrected sums; `said` and `truth` are the terms of all units, `weight` of those drawn."""
    column = [tuple(each[:, np.newaxis] for each in terms) for terms in (said, truth)]
    every = Labelled(prompt, np.ones(len(prompt)), column[0])
    hand = Labelled(prompt[drawn], weight, tuple(each[drawn] for each in column[0]))
    return two_phase(every, hand, tuple(each[drawn] for each in column[1]), prompt.max() + 1)


def holds(found: Clustered, truth: float) -> bool:
    """Whether the first interval holds the truth."""
    return bool(found.low[0] <= truth <= found.high[0])


def width(found: Clustered | tuple[FloatArray, ...]) -> float:
    """Width of the first interval."""
    low, high = found[:2] if isinstance(found, tuple) else (found.low, found.high)
    return float(high[0] - low[0])


def summed(what: str, n: int, cells: Sequence[FloatArray], refused: float) -> tuple[Any, ...]:
    """A row from the draws of each cell: held, error of the scorer, of the estimate, widths."""
    each = np.array([np.nanmean(cell, axis=0) for cell in cells])
    wide = float(np.nansum(each[:, 3]) / np.nansum(each[:, 4]))
    scorer, left = np.nanmean(np.abs(each[:, 1:3]), axis=0).tolist()
    held = each[:, 0]
    return what, n, len(cells), float(held.mean()), float(held.min()), scorer, left, wide, refused


def india(path: Path, seed: int, reps: int) -> Iterator[tuple[Any, ...]]:
    """Shares of stories that show a group: words against labels, all, by stratum and by prompt."""
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        every = [json.loads(line) for line in stream]
    found: dict[str, list[tuple[float, list[FloatArray]]]] = {}
    for asked, name in (("religion", "religion"), ("caste", "legal_class")):
        rows = [row for row in every if row["factor"] == asked]
        factor = load_factor(INDIA / f"{name}.toml")
        column = next(s for s in factor.sources if isinstance(s, ColumnSource))
        reader = group_reader([factor])
        place = [own.kind for _, own in reader.sources].index("words")
        texts = [
            {"text_id": row["id"], "text": row["text"], "outcome": "ok" if row["text"] else "empty"}
            for row in rows
        ]
        words = [said_of(each["said"])[place][0] for each in reader(texts, [{} for _ in rows])]
        labels = [of_cell(column, str(row[name]), factor.keys).places for row in rows]
        said, truth = np.zeros((2, len(rows), len(factor.keys)))
        for i, (seen, known) in enumerate(zip(words, labels, strict=True)):
            said[i, list(seen.places)] = 1.0
            truth[i, list(known)] = 1.0
        keys = [(row["state"], row["ritual"], row["form"]) for row in rows]
        prompt = np.unique(np.array([" ".join(key) for key in keys]), return_inverse=True)[1]
        told = [" and ".join(factor.keys[i] for i in sorted({*seen.places})) for seen in words]
        classes = np.unique(told, return_inverse=True)[1]
        inside = {"all stories": [np.ones(len(rows), bool)]}
        for axis in range(3):
            values = np.array([key[axis] for key in keys])
            inside.setdefault("by state, ritual or form", []).extend(
                values == value for value in np.unique(values)
            )
        inside["36 prompts, commonest group"] = [prompt == code for code in range(18)]
        for what, strata in inside.items():
            for at, members in enumerate(strata):
                groups = [int(truth.sum(0).argmax())] if "36" in what else [*range(truth.shape[1])]
                groups = [group for group in groups if truth[members, group].any()]
                rng = np.random.default_rng([seed, len(what), at, len(asked)])
                found.setdefault(f"{name}, {what}", []).extend(
                    _india_cells(rng, (prompt, classes), said, truth, (groups, members), reps)
                )
    for what, some in found.items():
        cells = [np.array(draws) for _, draws in some if len(draws) >= reps / 4]
        refused = float(np.mean([refused for refused, _ in some]))
        if cells:
            yield summed(f"India by words, {what}", 200, cells, refused)


def _india_cells(
    rng: Rng,
    of: tuple[IntArray, IntArray],
    said: FloatArray,
    truth: FloatArray,
    where: tuple[list[int], BoolArray],
    reps: int,
) -> list[tuple[float, list[FloatArray]]]:
    """Draws of 200 labels, as the sheet draws them; those with too few labels are refused.

    `of` are prompt and class of each story by the words. Where nobody of a group is labelled there
    is a bound alone, which holds what is below it. The labels alone are weighed by their chances.
    """
    (prompt, classes), (groups, inside), refused = of, where, 0
    draws: list[list[FloatArray]] = [[] for _ in groups]
    least = 0 if len(np.unique(prompt[inside])) == 1 else FEWEST
    size = np.bincount(classes).astype(float)
    n = allotted(size, np.ones(len(size)), 200)
    at = np.flatnonzero(inside)
    codes, one = np.unique(prompt[at], return_inverse=True)[1], np.ones(len(at))
    ones, true, by_words = np.ones_like(said), truth[at].mean(0), said[at].mean(0)
    for _ in range(reps):
        order = rng.permutation(len(prompt))
        drawn = np.sort(np.concatenate([order[classes[order] == c][:m] for c, m in enumerate(n)]))
        here = drawn[inside[drawn]]
        if len(here) < max(least, 1):
            refused += 1
            continue
        own, weight, found = codes[np.searchsorted(at, here)], (size / n)[classes[here]], []
        for scorer, prompts in ((said, 1), (0.0 * said, 0)):
            every = Labelled(codes * prompts, one, (scorer[at], ones[at]))
            hand = Labelled(own * prompts, weight, (scorer[here], ones[here]))
            sums = two_phase(every, hand, (truth[here], ones[here]), int(codes.max()) + 1)
            found.append(infer_two_phase(sums, 0.95, NO_NULL, over="these texts"))
        some = truth[here].any(0) | said[here].any(0)
        below = true <= float(upper_of_none(len(here), 0.95))
        held = (found[0].low <= true) & (true <= found[0].high)
        wide = [each.high - each.low for each in found]
        row = np.stack([held, by_words - true, found[0].value - true, *wide], axis=1)
        for group, into in zip(groups, draws, strict=True):
            bound = np.array([below[group], row[group, 1], *[np.nan] * 3])
            into.append(row[group] if some[group] else bound)
    return [(refused / reps, each) for each in draws]


def agency(path: Path, seed: int, reps: int) -> Iterator[tuple[Any, ...]]:
    """Difference of agentic sentences between two groups, by a classifier worse for the second."""
    with path.open(encoding="utf-8", newline="") as stream:
        truth = np.array([float(row["label"]) for row in csv.DictReader(stream)])
    rng = np.random.default_rng([seed, 40])
    first = rng.permutation(len(truth)) < len(truth) / 2
    right = np.where(first, 0.85, np.where(truth > 0, 0.55, 0.75))  # 75 % over all
    for n in (150, 300):
        draws = []
        for _ in range(reps):
            said = np.where(rng.random(len(truth)) < right, truth, 1.0 - truth)
            draws.append(_difference(rng, np.arange(len(truth)), said, truth, first, n))
        yield summed("agency, difference of two groups", n, [np.array(draws)], 0.0)


def _difference(
    rng: Rng, prompt: IntArray, said: FloatArray, truth: FloatArray, first: BoolArray, n: int
) -> FloatArray:
    """One draw of labels of texts that are given: the difference of the first group's share."""
    drawn = rng.permutation(len(truth))[:n]
    one, two = first.astype(float), (~first).astype(float)
    weight = np.full(n, len(truth) / n)
    terms = [(x * one, one, x * two, two) for x in (said, truth)]
    found = infer_two_phase_contrast(
        corrected(prompt, weight, drawn, *terms), 0.95, over="these texts"
    )
    bare = corrected(prompt, weight, drawn, (0 * one, one, 0 * two, two), terms[1])
    alone = infer_two_phase_contrast(bare, 0.95, over="these texts")
    true = truth[first].mean() - truth[~first].mean()
    scorer = said[first].mean() - said[~first].mean()
    left = float(found.value[0]) - true
    return np.array([holds(found, true), scorer - true, left, width(found), width(alone)])


def simulated(seed: int, reps: int) -> Iterator[tuple[Any, ...]]:
    """Shares, differences and lifts over prompts that are drawn, 18 prompts × 100 texts."""
    for number, (share, icc, n) in enumerate(
        (s, i, n) for s in (0.05, 0.2, 0.5) for i in (0.0, 0.1) for n in (100, 200)
    ):
        for recall, wrong in ((0.33, 0.02), (0.8, 0.1)):
            rng = np.random.default_rng([seed, 41, number, int(100 * recall)])
            draws = [_share(rng, share, icc, recall, wrong, n) for _ in range(reps)]
            what = f"share {share:g}, ICC {icc:g}, recall {recall:g}, false {wrong:g}"
            some = [draw for draw in draws if draw is not None]
            yield summed(what, n, [np.array(some)], 1 - len(some) / reps)
    for number, icc in enumerate((0.0, 0.1)):
        forms: dict[str, Contrast] = {
            "factor by a model, wrong for 20 % of a group, unlike on 10 % of repeats": "difference",
            "association, lexicon of recall .5, lift 1.4": "ratio",
        }
        for what, form in forms.items():
            rng = np.random.default_rng([seed, 42, number, len(what)])
            draws = [_contrast(rng, form, icc, 300) for _ in range(reps)]
            yield summed(f"{what}, ICC {icc:g}", 300, [np.array(draws)], 0.0)


def _world(rng: Rng, share: float, icc: float) -> tuple[IntArray, FloatArray]:
    """Prompt and truth of 1,800 texts."""
    own = np.full(18, share)
    if icc:
        own = rng.beta(share * (1 / icc - 1), (1 - share) * (1 / icc - 1), 18)
    prompt = np.repeat(np.arange(18), 100)
    return prompt, (rng.random(1800) < own[prompt]).astype(float)


def _share(
    rng: Rng, share: float, icc: float, recall: float, wrong: float, n: int
) -> FloatArray | None:
    prompt, truth = _world(rng, share, icc)
    said = (rng.random(1800) < np.where(truth > 0, recall, wrong)).astype(float)
    drawn, one = rng.permutation(1800)[:n], np.ones(1800)
    if not (truth[drawn].any() or said[drawn].any()):
        return None
    sums = corrected(prompt, np.full(n, 1800 / n), drawn, (said, one), (truth, one))
    found = infer_two_phase(sums, 0.95, NO_NULL)
    counts = [np.bincount(prompt[drawn], w, 18)[:, np.newaxis] for w in (truth[drawn], one[drawn])]
    alone = infer_shares(counts[0], counts[1], 0.95)
    scorer, left = said.mean() - share, float(found.value[0]) - share
    return np.array([holds(found, share), scorer, left, width(found), width(alone)])


READERS = {
    "finds 9 of 10": ((0.9, 0.01), (0.9, 0.01)),
    "finds a third, never wrong": ((0.33, 0.0), (0.33, 0.0)),
    "finds half": ((0.5, 0.005), (0.5, 0.005)),
    "finds 9 of 10 in half of the prompts, 4 in the others": ((0.9, 0.005), (0.4, 0.04)),
}
"""Recall and share of others taken for the group, in one half of the prompts and in the other."""
RARE_HEAD = (
    *("reader", "share", "by hand", "coverage, these texts", "width", "coverage, prompts"),
    *("width of those", "nobody labelled"),
)


def rare(seed: int, reps: int) -> Iterator[tuple[Any, ...]]:
    """Shares down to .01, labels drawn by class as a sheet draws, ICC .05, 18 prompts × 100 texts.

    Draws with nobody of the group among the labels have no interval and are counted.
    """
    for number, (reader, halves) in enumerate(READERS.items()):
        for share in (0.01, 0.03, 0.1, 0.3):
            for n in (50, 100, 200, 500):
                rng, draws = np.random.default_rng([seed, 44, number, int(100 * share), n]), []
                for _ in range(reps):
                    prompt, truth = _world(rng, share, 0.05)
                    recall, wrong = np.array(halves)[prompt % 2].T
                    said = (rng.random(1800) < np.where(truth > 0, recall, wrong)).astype(float)
                    size, classes = np.bincount(said.astype(int), minlength=2), said.astype(int)
                    some = size > 0
                    chosen = np.zeros(2, dtype=int)
                    chosen[some] = allotted(size[some].astype(float), np.ones(some.sum()), n)
                    drawn = np.concatenate(
                        [rng.permutation(np.flatnonzero(classes == c))[: chosen[c]] for c in (0, 1)]
                    )
                    if not (truth[drawn].any() or said[drawn].any()):
                        continue
                    weight, one = (size / np.maximum(chosen, 1))[classes[drawn]], np.ones(1800)
                    sums = corrected(prompt, weight, drawn, (said, one), (truth, one))
                    here = infer_two_phase(sums, 0.95, NO_NULL, over="these texts")
                    like = infer_two_phase(sums, 0.95, NO_NULL)
                    row = [holds(here, truth.mean()), width(here), holds(like, share), width(like)]
                    draws.append(row)
                mean = np.array(draws, dtype=float).mean(0).tolist()
                yield reader, share, n, *mean, 1 - len(draws) / reps


def _contrast(rng: Rng, form: Contrast, icc: float, n: int) -> FloatArray:
    """A difference of two groups that a model labels, or the lift of words with a group."""
    shares = (0.6, 0.4) if form == "difference" else (0.35, 0.15)
    (prompt, one), (_, two) = (_world(rng, share, icc) for share in shares)
    first = rng.random(1800) < 0.5
    truth = np.where(first, one, two)
    if form == "difference":
        wrong = first & (rng.random(1800) < 0.2)
        wrong ^= rng.random(1800) < 0.1 / 2  # two repeats differ in 10 %
        said = np.where(wrong, 1.0 - truth, truth)
    else:
        said = (rng.random(1800) < np.where(truth > 0, 0.5, 0.01)).astype(float)
    a, whole, drawn = first.astype(float), np.ones(1800), rng.permutation(1800)[:n]

    def terms(x: FloatArray) -> tuple[FloatArray, ...]:
        return (x * a, a, x * (1 - a), 1 - a) if form == "difference" else (x * a, a, x, whole)

    def value(x: FloatArray) -> float:
        p, q, b, m = (each.sum() for each in terms(x))
        return float(p / q - b / m if form == "difference" else (p / q) / (b / m))

    weight = np.full(n, 1800 / n)
    sums = corrected(prompt, weight, drawn, terms(said), terms(truth))
    found = infer_two_phase_contrast(sums, 0.95, form)
    bare = corrected(prompt, weight, drawn, terms(0.0 * said), terms(truth))
    alone = infer_two_phase_contrast(bare, 0.95, form)
    true = shares[0] - shares[1] if form == "difference" else shares[0] / (sum(shares) / 2)
    left = float(found.value[0]) - true
    return np.array([holds(found, true), value(said) - true, left, width(found), width(alone)])


def judges(seed: int, reps: int) -> Iterator[tuple[Any, ...]]:
    """Coverage of a judge's recall of .8 and kappa of .8, 120 labels, by prompts.

    How right the judge is varies between prompts.
    """
    for number, (prompts, icc) in enumerate((p, i) for p in (18, 40) for i in (0.0, 0.1, 0.3)):
        rng, found = np.random.default_rng([seed, 43, number]), []
        prompt = (np.arange(120) % prompts).astype(str)
        for _ in range(reps):
            row = []
            for what, right in (("recall", 0.8), ("kappa", 0.9)):
                own = np.full(prompts, right)
                if icc:
                    own = rng.beta(right * (1 / icc - 1), (1 - right) * (1 / icc - 1), prompts)
                hit, truth = rng.random(120) < own[np.arange(120) % prompts], rng.random(120) < 0.5
                sides = [truth.astype(str), (truth == hit).astype(str)]
                one = np.ones(120)
                if what == "recall":
                    of = AgreedShare.of(hit, one, prompt, 0.95)
                else:
                    of = AgreedShare.of_kappa(sides, one, prompt, 0.95)
                row.append(of.low <= 0.8 <= of.high)
            found.append(row)
        yield prompts, icc, *np.array(found, dtype=float).mean(0).tolist()


def rows(seed: int, reps: int, data: Path | None) -> Iterator[tuple[Any, ...]]:
    """Rows of simulated worlds or, with the folder of data, of real texts."""
    if data is None:
        yield from simulated(seed, reps)
        return
    for part in ("validation", "train"):
        for row in agency(data / "lac" / f"{part}.csv", seed, reps):
            yield f"{row[0]}, LAC {part}", *row[1:]
    yield from india(data / "india" / "stories_dev.jsonl.gz", seed, reps)
