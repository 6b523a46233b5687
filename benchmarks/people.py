"""People of stories: stories per core-second of the annotator as the audit runs it.

    python -m benchmarks.people [--texts FILE] [--stories 5000]

FILE is any story file with `text`, `subject_role` and `object_role`; without one, the packaged
sample is used. Stories are drawn with replacement into one shard. What is timed is the annotation
of that shard, reading and writing Parquet included; apart from it the reader in memory, and the
rules alone.
"""

import argparse
import json
import random
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pyarrow as pa

from portrayal.annotate.annotator import annotate_shard
from portrayal.annotate.people.reader import read_people
from portrayal.annotate.people.shared.model import Roles
from portrayal.run.files import write_parquet
from portrayal.studies.laissez_faire import prompts, sample

STRATA = pa.schema(
    [
        ("prompt_id", pa.string()),
        ("text", pa.string()),
        ("strata", pa.map_(pa.string(), pa.string())),
    ]
)
TIMES = 5


def stories_of(path: Path | None, n: int, seed: int = 0) -> list[tuple[str, Roles]]:
    """Draw `n` stories with their roles."""
    rows = [json.loads(line) for line in (path or sample()).read_text("utf-8").splitlines()]
    asked = {prompt.text: dict(prompt.strata) for prompt in prompts()}
    stories = []
    for row in rows:
        told = row if "subject_role" in row else asked[row["prompt"]]
        stories.append((row["text"] or "", Roles(told["subject_role"], told.get("object_role"))))
    return random.Random(seed).choices(stories, k=n)


def write_shard(stories: list[tuple[str, Roles]], folder: Path) -> tuple[Path, Path]:
    """Write stories as the texts and the prompts of a run."""
    ids = {roles: f"p{number}" for number, roles in enumerate({roles: 0 for _, roles in stories})}
    texts = [
        {"text_id": str(at), "prompt_id": ids[roles], "outcome": "ok", "text": text}
        for at, (text, roles) in enumerate(stories)
    ]
    asked = []
    for roles, number in ids.items():
        strata = {"subject_role": roles.subject}
        if roles.object is not None:
            strata["object_role"] = roles.object
        asked.append({"prompt_id": number, "text": "", "strata": list(strata.items())})
    write_parquet(pa.Table.from_pylist(texts), folder / "texts.parquet")
    write_parquet(pa.Table.from_pylist(asked, schema=STRATA), folder / "prompts.parquet")
    return folder / "texts.parquet", folder / "prompts.parquet"


def cpu_seconds(work: Callable[[], object]) -> float:
    """CPU seconds of this process for `work`, the fastest of `TIMES`."""
    times = []
    for _ in range(TIMES):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def measure(stories: list[tuple[str, Roles]]) -> dict[str, float]:
    """Stories per core-second, of the annotation of a shard and of the extraction alone."""
    with tempfile.TemporaryDirectory() as folder:
        texts, asked = write_shard(stories, Path(folder))
        made = Path(folder) / "made.parquet"
        shard = partial(annotate_shard, texts, made, annotator="people.v8", prompts=asked)
        stage = cpu_seconds(shard)
    alone = cpu_seconds(lambda: [read_people(*story) for story in stories])
    by_rules = cpu_seconds(lambda: [read_people(*story, below=0.0) for story in stories])
    return {
        "people_stories": len(stories),
        "people_stories_per_core_s": round(len(stories) / stage),
        "people_reading_alone_per_core_s": round(len(stories) / alone),
        "people_rules_alone_per_core_s": round(len(stories) / by_rules),
    }


def main() -> None:
    """Print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=Path)
    parser.add_argument("--stories", type=int, default=5_000)
    given = parser.parse_args()
    print(json.dumps(measure(stories_of(given.texts, given.stories))))


if __name__ == "__main__":
    main()
