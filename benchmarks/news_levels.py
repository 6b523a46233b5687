"""Lexicon and sentence level of the news audit: sentences per core-second, without toxicity.

    python -m benchmarks.news_levels [--texts FILE] [--sentences 30000]

FILE is any JSON lines file of news texts with a column `text`; without one, the texts of the
packaged sample of stories are used. Texts are drawn with replacement until there are enough
sentences. What is timed is the annotation of one shard, reading and writing Parquet included: group
words of the default lexicons, then sentiment; and for comparison TextBlob's own function on the
same sentences and texts in memory.
"""

import argparse
import json
import random
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from portrayal import registry
from portrayal.annotate.annotator import annotate_shard
from portrayal.annotate.group_words import group_word_settings
from portrayal.annotate.sentences import sentences
from portrayal.annotate.sentiment import sentiment_settings
from portrayal.collect import import_texts
from portrayal.run import Run
from portrayal.studies.news.prompts import FIELDS


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
    settings = {"group_words.v1": group_word_settings(), "sentiment.v1": sentiment_settings()}
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
        "group_words_sentences_per_core_s": round(n / seconds["group_words.v1"]),
        "sentiment_sentences_per_core_s": round(n / seconds["sentiment.v1"]),
        "both_sentences_per_core_s": round(n / sum(seconds.values())),
        "textblob_itself_sentences_per_core_s": round(n / theirs),
    }


def main() -> None:
    """Print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=Path)
    parser.add_argument("--sentences", type=int, default=30_000)
    given = parser.parse_args()
    print(json.dumps(measure(texts_of(given.texts, given.sentences))))


if __name__ == "__main__":
    main()
