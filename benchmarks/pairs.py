"""Level and power of the study of pairs on real texts, and what it costs.

    python -m benchmarks.pairs --texts care.csv --source note [--worlds 200] [--model NAME]
    python -m benchmarks.pairs --texts care.csv --source note --cost [--pairs 100000]
    python -m benchmarks.pairs --fair 20

Level: halves of whole sources are exchanged by coins, scores and words alike, and the audit states
what it states. Power: into such a world a difference is planted in one half. Fair: answers that
greet who asks by name, drawn from one distribution, with requests and without, and with a planted
difference (tests/fair_answers.py).
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

import portrayal
from portrayal.measure.matched import MatchedSets, MatchedTexts
from portrayal.measure.matched.differences import pair_difference
from portrayal.measure.matched.sets import REFUSED
from portrayal.measure.matched.words import Halves, pair_words
from portrayal.measure.scope import Scope, with_q_values
from portrayal.records import ALL, Estimate
from portrayal.registry import get
from portrayal.studies.pairs import PairOptions

SURE = 0.05
PLANTED = "quite remarkably so"


@dataclass(frozen=True, eq=False)
class Remembered(MatchedTexts):
    """Texts whose words are read once; `turned` sets have their halves exchanged."""

    known: dict[int, Halves] = field(default_factory=dict)
    turned: frozenset[int] = frozenset()
    planted: frozenset[int] = frozenset()

    def load(self, numbers: Iterable[int]) -> None:
        """Read nothing: the words of all sets are known."""

    def halves(
        self, numbers: Sequence[int], side: int | None = None
    ) -> Iterator[tuple[int, Halves]]:
        for i in sorted(set(numbers)):
            halves = self.known.get(i, {})
            if i in self.turned:
                halves = {1 - half: answers for half, answers in halves.items()}
            if i in self.planted and 0 in halves:
                halves = halves | {0: [each | {PLANTED} for each in halves[0]]}
            if side is not None:
                every_second = ((half, answers[side::2]) for half, answers in halves.items())
                halves = {half: answers for half, answers in every_second if answers}
            if halves:
                yield i, halves


def worlds(texts: Remembered, n: int, seed: int, sources: int | None) -> Iterator[Remembered]:
    """Yield worlds whose sources changed halves by coins, of so many sources drawn with return."""
    every = texts.sets
    rng = np.random.default_rng(seed)
    of_source = [np.flatnonzero(every.source == i) for i in range(len(every.sources))]
    for _ in range(n):
        coins = rng.integers(0, 2, len(every.sources)).astype(bool)
        if sources is None:
            turned = coins[every.source]
            value, neutral = (_turned(x, turned) for x in (every.value, every.neutral))
            sets = replace(every, value=value, neutral=neutral)
            yield replace(texts, sets=sets, turned=frozenset(np.flatnonzero(turned).tolist()))
            continue
        drawn = rng.integers(0, len(of_source), sources)
        index = np.concatenate([of_source[i] for i in drawn])
        owner = np.repeat(np.arange(sources), [len(of_source[i]) for i in drawn])
        turned = rng.integers(0, 2, sources).astype(bool)[owner]
        names = tuple(f"{i} {every.sources[s]}" for i, s in enumerate(drawn.tolist()))
        sets = part_of(every, index, source=owner, sources=names, answers=every.answers[:0])
        value, neutral = (_turned(x, turned) for x in (sets.value, sets.neutral))
        known = {i: texts.known.get(int(old), {}) for i, old in enumerate(index.tolist())}
        yield replace(
            texts,
            sets=replace(sets, value=value, neutral=neutral),
            known=known,
            turned=frozenset(np.flatnonzero(turned).tolist()),
        )


def part_of(sets: MatchedSets, index: np.ndarray, **fields: Any) -> MatchedSets:
    """These sets, in this order, with their sources and answers among the fields."""
    return replace(
        sets,
        model=sets.model[index],
        split={name: codes[index] for name, codes in sets.split.items()},
        value=sets.value[:, index],
        written=sets.written[:, index],
        neutral=sets.neutral[:, index],
        n_answers=sets.n_answers[index],
        squares=sets.squares[:, index],
        df=sets.df[:, index],
        names=tuple(sets.names[i] for i in index.tolist()),
        **fields,
    )


def _turned(x: np.ndarray, turned: np.ndarray) -> np.ndarray:
    return np.where(turned[None, :, None], x[:, :, ::-1], x)


def stated(texts: MatchedTexts, scope: Scope) -> list[Estimate]:
    """What an audit states of these texts."""
    found = [*pair_difference(texts.sets, scope), *pair_words(texts, scope)]
    every = with_q_values(found, {"part": ALL}, scope.seed)
    return [
        e for e in every
        if e.tests and e.tests[0].audit_q is not None and e.tests[0].audit_q < SURE and e.enough
    ]  # fmt: skip


def read(path: str, source: str, model: str | None) -> Remembered:
    """Audit the texts, and remember their words."""
    run = portrayal.audit(
        study="pairs", texts=path, source=source, out=tempfile.mkdtemp(), report=False, workers=2
    )
    options = PairOptions(source=source)
    offered = get("studies", "pairs").tables(run, options).offered
    texts: MatchedTexts = offered["matched_texts"]()
    sets: MatchedSets = texts.sets
    if model is not None:
        inside = sets.model == sets.models.index(model)
        at = np.flatnonzero(inside)
        used, source_code = np.unique(sets.source[inside], return_inverse=True)
        place = np.full(len(inside), -1)
        place[at] = np.arange(len(at))
        answers = sets.answers.filter(pa.array(inside[sets.answers["set"].to_numpy()]))
        moved = pa.array(place[answers["set"].to_numpy()])
        sets = part_of(
            sets,
            at,
            source=source_code,
            sources=tuple(sets.sources[i] for i in used.tolist()),
            answers=answers.set_column(answers.column_names.index("set"), "set", moved),
        )
        sets = replace(sets, models=(model,), model=np.zeros(len(at), dtype=np.int64))
        texts = replace(texts, sets=sets)
    known = dict(texts.halves(list(range(len(sets.model)))))
    return Remembered(texts.sets, texts.run, texts.locale, known=known)


def plant(texts: Remembered, score: str, amount: float) -> Remembered:
    """Add so much of a score to the first half of each pair."""
    sets = texts.sets
    at = [each.name for each in sets.scores].index(score)
    value, neutral = sets.value.copy(), sets.neutral.copy()
    value[at, :, 0] += amount
    neutral[at, :, 0] += amount
    return replace(texts, sets=replace(sets, value=value, neutral=neutral))


def refuse(texts: Remembered, share: float, rng: np.random.Generator) -> Remembered:
    """Let the first half of each pair be refused so often more than the second (.05)."""
    sets = texts.sets
    value, neutral = sets.value.copy(), sets.neutral.copy()
    at, n = [each.name for each in sets.scores].index(REFUSED), value.shape[1]
    value[at] = np.stack([rng.random(n) < 0.05 + share, rng.random(n) < 0.05], axis=1)
    neutral[at] = value[at]
    return replace(texts, sets=replace(sets, value=value, neutral=neutral))


def power(texts: Remembered, n: int, sources: int | None, scope: Scope) -> None:
    """Print how often each planted difference is stated."""
    rng = np.random.default_rng(7)
    spread = {s.name: float(np.nanstd(v)) for s, v in zip(texts.sets.scores, texts.sets.value,
              strict=True)}  # fmt: skip
    cases = {
        "1 word in 50 (warmth)": lambda w: plant(w, "warmth", 2.0),
        ".1 SD of sentiment": lambda w: plant(w, "sentiment", 0.1 * spread["sentiment"]),
        "10 points of refusals": lambda w: refuse(w, 0.10, rng),
        "a phrase in 10 % of one half": lambda w: replace(
            w, planted=frozenset(np.flatnonzero(rng.random(len(w.sets.model)) < 0.1).tolist())
        ),
    }
    wanted = {"1 word": "warmth", ".1 SD": "sentiment", "10 points": "refused", "a phrase": PLANTED}
    for name, made in cases.items():
        target = next(value for key, value in wanted.items() if name.startswith(key))
        hits = 0
        for world in worlds(texts, n, 3, sources):
            found = stated(made(world), scope)
            hits += any(target in (e.strata.get("score"), e.strata.get("word")) for e in found)
        print(f"{name}: found in {hits} of {n} ({sources or len(texts.sets.sources)} sources)")


def resampled(path: str, source: str, n: int, folder: Path) -> str:
    """Write `n` pairs drawn with replacement from a table, each with a source of its own."""
    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    rng = np.random.default_rng(1)
    whole = list(table.groupby(["pair", "model"]).indices.values())
    rows = [whole[i] for i in rng.integers(len(whole), size=n)]
    drawn = table.iloc[np.concatenate(rows)].copy()
    number = np.repeat(np.arange(n), list(map(len, rows))).astype(str)
    # Otherwise a pair drawn twice would be copies, which the audit leaves out.
    drawn["text"] += pd.Series(" " + number + ".", index=drawn.index)
    drawn["pair"], drawn[source] = number, number
    out = folder / "pairs.csv"
    drawn.to_csv(out, index=False)
    return str(out)


def cost(path: str, source: str, n: int | None) -> None:
    """Print CPU seconds and memory of the audit."""
    command = [sys.executable, "-m", "portrayal"]
    with tempfile.TemporaryDirectory() as folder:
        texts = resampled(path, source, n, Path(folder)) if n else path
        runs = {
            "audit pairs": ["audit", "pairs", "--texts", texts, "--source", source, "--workers",
                            "1", "--out", str(Path(folder) / "run")],
        }  # fmt: skip
        for name, given in runs.items():
            child = subprocess.Popen([*command, *given], stdout=subprocess.DEVNULL)
            _, status, used = os.wait4(child.pid, 0)
            assert status == 0, f"{name} ended with status {status}"
            seconds, memory = used.ru_utime + used.ru_stime, used.ru_maxrss / 1024
            print(f"{name}: {seconds:.1f} CPU seconds, {memory:,.0f} MiB", flush=True)


def fair(n: int) -> None:
    """Print how often anything is stated of answers that greet by name, and what is planted."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    from fair_answers import LONG, MEN, PHRASE, SHORT, WOMEN, fair_answers

    cases: dict[str, tuple[dict[str, Any], set[str]]] = {
        "nothing planted": ({}, set()),
        "one half 10 % longer": ({"longer": 0.1}, {"length"}),
        "a phrase in 30 % of one half": ({"phrase": 0.3}, set(PHRASE.split())),
    }
    for label, names in {"greetings": (WOMEN, MEN), "long names": (LONG, SHORT)}.items():
        for planted, (options, wanted) in cases.items():
            for requests in (True, False):
                hits = 0
                for seed in range(n):
                    rows = fair_answers(seed, names=names, **options)
                    if not requests:
                        rows = [{k: v for k, v in row.items() if k != "prompt"} for row in rows]
                    run = portrayal.audit(
                        study="pairs", texts=rows, out=tempfile.mkdtemp(), report=False, workers=1
                    )
                    words = {
                        word
                        for e in run.records
                        if e.tests and e.tests[0].audit_q is not None
                        if e.tests[0].audit_q < SURE and e.enough
                        for word in e.strata.get("word", e.strata.get("score", e.measure)).split()
                    }
                    hits += bool(words & wanted if wanted else words)
                said = "with requests" if requests else "without"
                print(f"{label}, {planted}, {said}: stated in {hits} of {n}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts")
    parser.add_argument("--fair", type=int, metavar="SEEDS")
    parser.add_argument("--source", default="source")
    parser.add_argument("--worlds", type=int, default=200)
    parser.add_argument("--sources", type=int)
    parser.add_argument("--model")
    parser.add_argument("--power", action="store_true")
    parser.add_argument("--cost", action="store_true")
    parser.add_argument("--pairs", type=int, help="with --cost: as many, drawn with replacement")
    given = parser.parse_args()
    if given.fair:
        fair(given.fair)
        return
    if given.texts is None:
        parser.error("give --texts FILE, or --fair SEEDS")
    if given.cost:
        cost(given.texts, given.source, given.pairs)
        return
    scope, start = Scope("pairs"), time.process_time()
    texts = read(given.texts, given.source, given.model)
    if given.power:
        power(texts, given.worlds, given.sources, scope)
        return
    kinds = dict.fromkeys(("score", "word", "phrase", "opening"), 0)
    any_stated = 0
    for world in worlds(texts, given.worlds, 1, None):
        found = stated(world, scope)
        any_stated += bool(found)
        for kind in kinds:
            kinds[kind] += any(e.strata.get("kind", "score") == kind for e in found)
    print(f"halves exchanged by coins: anything stated in {any_stated} of {given.worlds}; {kinds}")
    print(f"{time.process_time() - start:.0f} CPU seconds")


if __name__ == "__main__":
    main()
