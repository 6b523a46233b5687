"""How much longer do three factors take than one, and words with contexts than without?

    python -m benchmarks.factors [--stories 500000] [--texts FILE] [--rounds 1]

Stories are drawn with replacement from FILE, or from the packaged sample. Annotation (groups.v3)
and measures of one factor and of three are timed in turns, in this process; CPU seconds are
printed, the smallest of the rounds. Then the words alone are matched in the first stories, as the
factors have them and with every word counting wherever it stands. Zero exits say that three take at
most 1.5 times as long as one, whichever of them is the one, and contexts at most 1.3 times as long.
"""

import argparse
import json
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.people import stories_of
from portrayal import registry
from portrayal.annotate import annotate_run
from portrayal.annotate.groups import GROUPS, group_reader, group_settings
from portrayal.collect import import_texts
from portrayal.measure.groups import read_group_texts
from portrayal.measure.scope import Scope
from portrayal.reference.factors import Factor, WordSource, load_factor
from portrayal.run import Run
from portrayal.studies.groups import MEASURES

THREE = ("religion", "disability", "age")
TARGET, CONTEXT_TARGET = 1.5, 1.3
MATCHED = 5_000
"""Stories in which words are matched with and without contexts."""


def imported(stories: Sequence[str], folder: Path) -> Run:
    """A run that holds the stories, of five models and the study's prompts in turn."""
    study = registry.get("studies", "laissez-faire")
    prompts = [prompt.prompt_id for prompt in study.prompts()]
    rng = np.random.default_rng(0)
    chosen = rng.integers(len(prompts), size=len(stories)).tolist()
    rows = (
        {"prompt_id": prompts[at], "model": f"model {i % 5}", "text": text}
        for i, (at, text) in enumerate(zip(chosen, stories, strict=True))
    )
    run = Run(folder)
    with run.lock():
        import_texts(run, rows, study.fields, study.prompts())
    return run


def seconds(run: Run, factors: Sequence[str]) -> dict[str, float]:
    """CPU seconds of annotation, of counting and of the measures."""
    start = time.process_time()
    stage = annotate_run(run, GROUPS.name, settings=group_settings(factors))
    annotated = time.process_time()
    texts = read_group_texts(run, [load_factor(name) for name in factors], stage, None, ("domain",))
    counted = time.process_time()
    scope = Scope("laissez-faire")
    n = sum(1 for name in MEASURES for _ in registry.component("measures", name).run(texts, scope))
    measured = time.process_time()
    return {
        "annotate": annotated - start,
        "count": counted - annotated,
        "measure": measured - counted,
        "all": measured - start,
        "estimates": n,
    }


def plain(factor: Factor) -> Factor:
    """The factor with its words counting wherever they stand."""
    sources = [
        replace(source, words=source.listed, contexts=(), lists={})
        if isinstance(source, WordSource)
        else source
        for source in factor.sources
    ]
    return replace(factor, sources=tuple(sources))


def match_seconds(stories: Sequence[str], rounds: int) -> dict[str, dict[str, float]]:
    """CPU seconds of matching the words of the three, by whether contexts are read."""
    rows = [{"text_id": "", "text": text, "outcome": "ok"} for text in stories[:MATCHED]]
    best: dict[str, dict[str, float]] = {}
    for names in (*((name,) for name in THREE), THREE):
        factors = [load_factor(name) for name in names]
        for kind, read in (("plain", [*map(plain, factors)]), ("contexts", factors)):
            reader = group_reader(read)
            reader(rows[:500], [{}] * 500)
            for _ in range(max(rounds, 3)):
                start = time.process_time()
                reader(rows, [{}] * len(rows))
                took = time.process_time() - start
                held = best.setdefault(" ".join(names), {})
                held[kind] = min(held.get(kind, took), took)
    return best


def main() -> None:
    """Print one JSON object for each set of factors, and the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stories", type=int, default=500_000)
    parser.add_argument("--texts", type=Path, default=None)
    parser.add_argument("--rounds", type=int, default=1)
    given = parser.parse_args()
    best: dict[tuple[str, ...], dict[str, float]] = {}
    stories = [text for text, _ in stories_of(given.texts, given.stories)]
    with tempfile.TemporaryDirectory() as folder:
        run = imported(stories, Path(folder))
        for _ in range(given.rounds):
            for factors in (*((name,) for name in THREE), THREE):
                found = seconds(run, factors)
                held = best.setdefault(factors, found)
                best[factors] = min(held, found, key=lambda each: each["all"])
    for factors, found in best.items():
        print(json.dumps({"factors": factors, **{k: round(v, 2) for k, v in found.items()}}))
    ratios = {name: round(best[THREE]["all"] / best[(name,)]["all"], 2) for name in THREE}
    print(json.dumps({"stories": given.stories, "three over one": ratios}))
    matched = match_seconds(stories, given.rounds)
    slower = {name: round(took["contexts"] / took["plain"], 2) for name, took in matched.items()}
    print(json.dumps({"stories": len(stories[:MATCHED]), "contexts over plain words": slower}))
    raise SystemExit(max(ratios.values()) > TARGET or max(slower.values()) > CONTEXT_TARGET)


if __name__ == "__main__":
    main()
