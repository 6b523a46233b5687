"""Lexicon and sentence level of the news audit: sentences per core-second, without toxicity.

    python -m benchmarks.news_levels [--texts FILE] [--sentences 30000]

FILE is any JSON lines file of news texts with a column `text`; without one, the texts of the
packaged sample of stories are used. Texts are drawn with replacement until there are enough
sentences. What is timed is the annotation of one shard, reading and writing Parquet included: group
words of the default lexicons, then sentiment; and for comparison TextBlob's own function on the
same sentences and texts in memory.

    python -m benchmarks.news_levels --pairs 8629 [--models 7] [--texts FILE] [--originals FILE]

runs the whole audit at word and sentence level, without report, on so many headlines with a text of
each model: the first 200 words of an original and the first 100 of a text, drawn with replacement.
It prints CPU seconds and peak memory of each stage (Linux), what the interpreter and its libraries
take included.
"""

import argparse
import json
import random
import resource
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import portrayal
from portrayal import registry
from portrayal.annotate.annotator import annotate_shard
from portrayal.annotate.group_words import group_word_settings
from portrayal.annotate.sentences import sentences
from portrayal.annotate.sentiment import sentiment_settings
from portrayal.collect import import_texts
from portrayal.run import Run
from portrayal.studies.news.audit import FIELDS


def texts_of(path: Path | None, n_sentences: int, seed: int = 0) -> list[str]:
    """Draw texts until they hold `n_sentences`."""
    source = path or registry.get("studies", "laissez-faire").sample()["texts"]
    known = [json.loads(line)["text"] for line in source.read_text(encoding="utf-8").splitlines()]
    rng, found, total = random.Random(seed), [], 0
    sizes = {text: len(sentences(text)) for text in known if text}
    while total < n_sentences:
        text = rng.choice(known)
        if text:
            found.append(text)
            total += sizes[text]
    return found


def cpu_seconds(work: Callable[[], object]) -> float:
    """CPU seconds of this process for `work`, best of three."""
    times = []
    for _ in range(3):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def measure(texts: list[str]) -> dict[str, float]:
    """Sentences per core-second of each annotator and of both together."""
    from textblob.en import sentiment

    pieces = [text[a:b] for text in texts for a, b in sentences(text)]
    settings = {"group_words.v2": group_word_settings(), "sentiment.v1": sentiment_settings()}
    with tempfile.TemporaryDirectory() as folder:
        run = Run(Path(folder))
        rows = [{"pair": str(i), "model": "m", "text": text} for i, text in enumerate(texts)]
        import_texts(run, rows, FIELDS, (), shard_rows=len(rows))
        (part,) = run.texts.parts()
        seconds = {
            name: cpu_seconds(
                partial(
                    annotate_shard,
                    part,
                    run.path / "made.parquet",
                    annotator=name,
                    prompts=run.prompts_path,
                    settings=chosen,
                )
            )
            for name, chosen in settings.items()
        }
    sentiment("warm")
    theirs = cpu_seconds(lambda: [sentiment(piece) for piece in pieces])
    theirs += cpu_seconds(lambda: [sentiment(text) for text in texts])
    n = len(pieces)
    return {
        "sentences": n,
        "group_words_sentences_per_core_s": round(n / seconds["group_words.v2"]),
        "sentiment_sentences_per_core_s": round(n / seconds["sentiment.v1"]),
        "both_sentences_per_core_s": round(n / sum(seconds.values())),
        "textblob_itself_sentences_per_core_s": round(n / theirs),
    }


def _first_words(path: Path, n: int) -> list[str]:
    rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return [" ".join(row["text"].split()[:n]) for row in rows if row["text"]]


def write_pairs(folder: Path, pairs: int, models: int, texts: Path, originals: Path) -> None:
    """Write `reference.jsonl` and `texts.jsonl`, seven domains of headlines."""
    rng = random.Random(0)
    human, made = _first_words(originals, 200), _first_words(texts, 100)
    with (
        (folder / "reference.jsonl").open("w", encoding="utf-8") as left,
        (folder / "texts.jsonl").open("w", encoding="utf-8") as right,
    ):
        for i in range(pairs):
            row = {"headline": f"Headline {i}", "category": f"domain {i % 7}"}
            left.write(json.dumps(row | {"text": rng.choice(human)}) + "\n")
            for m in range(models):
                text = {"model": f"model {m}", "text": rng.choice(made)}
                right.write(json.dumps(row | text) + "\n")


def peak_mb() -> float:
    """Peak resident memory since `forget_peak`, in MB; of the whole process elsewhere."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(x for x in status.read_text().splitlines() if x.startswith("VmHWM"))
        return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def forget_peak() -> None:
    """Begin a new peak, where the system can."""
    clear = Path("/proc/self/clear_refs")
    if clear.exists():
        clear.write_text("5")


def audit_pairs(pairs: int, models: int, texts: Path, originals: Path) -> dict[str, object]:
    """CPU seconds and peak memory of each stage of an audit."""
    stages: dict[str, dict[str, float]] = {}
    last = time.process_time()

    def say(line: str) -> None:
        nonlocal last
        now = time.process_time()
        stages[line] = {"cpu_s": round(now - last, 1), "peak_mb": round(peak_mb())}
        last = now
        forget_peak()

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_pairs(folder, pairs, models, texts, originals)
        say("files")
        portrayal.audit(
            study="news",
            texts=folder / "texts.jsonl",
            reference=folder / "reference.jsonl",
            pair_by="headline",
            out=folder / "run",
            levels=("word", "sentiment"),
            report=False,
            say=say,
        )
        say("end")
    total = sum(stage["cpu_s"] for stage in stages.values())
    return {"pairs": pairs, "models": models, "cpu_s": round(total), "stages": stages}


def main() -> None:
    """Print one JSON object."""
    sample = registry.get("studies", "news").sample()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=Path)
    parser.add_argument("--sentences", type=int, default=30_000)
    parser.add_argument("--pairs", type=int)
    parser.add_argument("--models", type=int, default=7)
    parser.add_argument("--originals", type=Path, default=sample["reference"])
    given = parser.parse_args()
    if given.pairs:
        texts = given.texts or sample["texts"]
        print(json.dumps(audit_pairs(given.pairs, given.models, texts, given.originals)))
    else:
        print(json.dumps(measure(texts_of(given.texts, given.sentences))))


if __name__ == "__main__":
    main()
