"""CPU seconds of a cue search.

    python -m benchmarks.coding_cues [--stories 500000] [--texts FILE]

FILE is any story file; the packaged sample is used without one. Stories are drawn with replacement
and written as the shards of a run; one in 5,000 gets a sentence with a cue.
"""

import argparse
import json
import random
import tempfile
import time
from pathlib import Path

import pyarrow as pa

from portrayal.collect.corpus import Corpus, file_corpus
from portrayal.measure.cues.lists import cue_list
from portrayal.measure.cues.search import cue_counts, find_cues
from portrayal.measure.scope import Scope
from portrayal.run.files import write_parquet
from portrayal.studies.laissez_faire import sample

SHARD = 5_000
EVERY = 5_000


def shards(texts: list[str], n: int, folder: Path) -> list[Path]:
    """Write `n` texts drawn with replacement as shards of a run."""
    draw = random.Random(0)
    cues = [cue.term for cue in cue_list().cues]
    paths = []
    for first in range(0, n, SHARD):
        rows = []
        for i in range(first, min(first + SHARD, n)):
            more = f" She met {cues[i // EVERY % len(cues)]} neighbours." if i % EVERY == 0 else ""
            rows.append(
                {
                    "text_id": f"{i:09d}",
                    "prompt_id": f"p{i % 100}",
                    "model": f"m{i % 5}",
                    "outcome": "ok",
                    "text": draw.choice(texts) + more,
                }
            )
        paths.append(folder / f"part-{first:09d}.parquet")
        write_parquet(pa.Table.from_pylist(rows), paths[-1])
    return paths


def cues(texts: list[str], n: int) -> dict[str, float]:
    """Time the search over `n` texts, and the counting."""
    import pyarrow.parquet as pq

    with tempfile.TemporaryDirectory() as folder:
        parts = shards(texts, n, Path(folder))
        domains = ("Learning", "Labor", "Love")
        prompts = {f"p{i}": {"domain": domains[i % 3]} for i in range(100)}
        corpus = Corpus("texts", prompts, lambda: (pq.ParquetFile(p).read() for p in parts))
        start = time.process_time()
        hits = find_cues(corpus, cue_list())
        searched = time.process_time()
        estimates = list(cue_counts(hits, Scope("coding")))
        counted = time.process_time()
    return {
        "stories": n,
        "characters": round(sum(map(len, texts)) / len(texts)),
        "mentions": len(hits.mentions),
        "estimates": len(estimates),
        "search_cpu_s": round(searched - start, 2),
        "count_cpu_s": round(counted - searched, 2),
    }


def main() -> None:
    """Print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stories", type=int, default=500_000)
    parser.add_argument("--texts", type=Path, default=sample())
    given = parser.parse_args()
    tables = file_corpus(given.texts).tables()
    texts = [text for table in tables for text in table["text"].to_pylist() if text]
    print(json.dumps(cues(texts, given.stories)))


if __name__ == "__main__":
    main()
