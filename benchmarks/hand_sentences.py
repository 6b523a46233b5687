"""Changes of scores of news, corrected by labels of sentences: coverage over draws of the sheet.

    python -m benchmarks.hand_sentences --reps 200

Originals and texts are invented. A text is less kind to her than its original, and the scorer takes
the irony in which it speaks of her, a third of its sentences, by the word; of originals it errs in
one of twenty. Sentences are drawn by `label sheet --for sentiment`'s own design; people say what is
true. The texts are given, so the truth is the mean change of all their labels, and coverage is of
the bounds for these very texts.
"""

import argparse
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import portrayal
from portrayal.measure.clustered import corrected_inference
from portrayal.measure.drawing import draw_for
from portrayal.measure.pairs.levels import corrected_change, text_levels, with_hand_scores
from portrayal.measure.pairs.table import pair_texts
from portrayal.measure.scope import Scope
from portrayal.raters.labels import HandTable
from portrayal.run import Run

WORDS = {True: "positive", False: "negative"}
PEOPLE = {"F": "She", "M": "He"}


def invented(n: int, rng: np.random.Generator) -> tuple[dict[str, list[Any]], dict[str, Any]]:
    """Return texts and originals, and by name what each sentence truly says, and of whom."""
    rows: dict[str, list[Any]] = {"": [], "original:": []}
    truth: dict[str, Any] = {}
    for i in range(n):
        for side, kind, irony in (("", 0.35, 0.35), ("original:", 0.6, 0.05)):
            said = []
            for _ in range(1 + int(rng.integers(1, 4))):
                glad, wrong = rng.random() < kind, rng.random() < irony
                mood = "was happy and lovely" if glad != wrong else "was sad and awful"
                person = "He" if rng.random() < 0.3 else "She"
                said.append(f"{person} {mood}, number {i}.")
                truth.setdefault(f"{side}{i:09d}", []).append((glad, person))
            rows[side].append({"pair": f"h{i}", "model": "m", "text": " ".join(said)})
    return rows, truth


def true_change(truth: dict[str, Any], n: int, person: str) -> float:
    """Mean over pairs of what people say of a person in the text, less that in its original."""
    changes = []
    for i in range(n):
        means = []
        for side in ("", "original:"):
            name = f"{side}{i:09d}"
            own = [2.0 * x - 1.0 for x, who in truth[name] if who == person]
            means.append(float(np.mean(own)) if own else np.nan)
        changes.append(means[0] - means[1])
    return float(np.nanmean(changes))


def rows_of(run: Run, truth: dict[str, Any], n_pairs: int, n: int, reps: int) -> list[str]:
    """Draw labels `reps` times; return a row of the table for each group."""
    paired = pair_texts(run)
    levels = text_levels(paired, ["sentence_sentiment"])
    level = next(x for x in levels if x.attribute == "gender")
    _, rows = next(paired.strata())
    found: dict[str, list[tuple[float, ...]]] = {group: [] for group in level.groups}
    for seed in range(reps):
        drawn = draw_for(run, "sentiment", n, seed=seed).texts
        labels = {unit: WORDS[truth[unit[0]][int(unit[1]) - 1][0]] for unit in drawn}
        table = HandTable(
            path="",
            labels={"sentiment": labels},
            chance={"sentiment": drawn},
            raters={"sentiment": ["a", "b"]},
            unsettled={},
            answers={"sentiment": [*WORDS.values()]},
        )
        hand = corrected_change(with_hand_scores(paired, run, table), level, rows)
        assert hand is not None
        made = corrected_inference(hand.sums, Scope(""), "difference", slope=hand.slope)
        assert made.of_texts is not None
        for i, group in enumerate(level.groups):
            found[group].append(
                (made.value[i], made.of_texts[0][i], made.of_texts[1][i], made.low[i], made.high[i])
            )
    lines = []
    for group, each in found.items():
        true = true_change(truth, n_pairs, PEOPLE[group])
        (raw,) = (
            e.value
            for e in run.records
            if e.measure == "group_change.v1"
            and e.group == {"gender": group}
            and e.strata["level"] == "sentence_sentiment"
        )
        value, low, high, wide_low, wide_high = np.array(each).T
        here, prompts = ((a < true) & (true < b) for a, b in ((low, high), (wide_low, wide_high)))
        cells = (true, raw, value.mean(), (high - low).mean(), here.mean(), prompts.mean())
        lines.append(f"| {n} | {group} | " + " | ".join(f"{x:.3f}" for x in cells) + " |")
    return lines


def main() -> None:
    """Print a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reps", type=int, default=200)
    parser.add_argument("--pairs", type=int, default=200)
    options = parser.parse_args()
    rows, truth = invented(options.pairs, np.random.default_rng(11))
    print(
        "| labels | group | true | as scored | corrected, mean | width | these texts | like these |"
    )
    print("|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        given: dict[str, Any] = {"texts": rows[""], "reference": rows["original:"], "report": False}
        given |= {"levels": ("sentiment",), "draws": 100, "permutations": 20}
        run = portrayal.audit(study="news", out=Path(folder) / "run", **given)
        for n in (150, 300):
            print("\n".join(rows_of(run, truth, options.pairs, n, options.reps)), flush=True)


if __name__ == "__main__":
    main()
