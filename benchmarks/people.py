"""People of stories: stories per core-second of the annotator as the audit runs it.

    python -m benchmarks.people [--texts FILE] [--stories 5000] [--reader]

FILE is any story file with `text`, `subject_role` and `object_role`; without one, the packaged
sample is used. Stories are drawn with replacement into one shard. What is timed is the annotation
of that shard, reading and writing Parquet included, and apart from it the extraction in memory;
with --reader the learned reader instead, on every story and on those of which the rules are unsure.
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
from portrayal.annotate.people.reader import read_stories
from portrayal.annotate.people.reader.rows import UNSURE
from portrayal.annotate.people.shared.model import Roles
from portrayal.annotate.people.stories.extract import extract_people
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
    asked = [
        {"prompt_id": number, "text": "", "strata": [("subject_role", roles.subject)]}
        for roles, number in ids.items()
    ]
    for row, roles in zip(asked, ids, strict=True):
        if roles.object is not None:
            row["strata"].append(("object_role", roles.object))
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
        shard = partial(annotate_shard, texts, made, annotator="people.v7", prompts=asked)
        stage = cpu_seconds(shard)
    alone = cpu_seconds(lambda: [extract_people(text, roles) for text, roles in stories])
    return {
        "people_stories": len(stories),
        "people_stories_per_core_s": round(len(stories) / stage),
        "people_extraction_alone_per_core_s": round(len(stories) / alone),
    }


def measure_reader(stories: list[tuple[str, Roles]]) -> dict[str, float]:
    """Stories per core-second of the reader that ships, and of the routed one."""
    asked = [(text, roles, None) for text, roles in stories]
    speed = {}
    for name, below in (("reader", 1.0), ("routed", UNSURE)):
        read_stories(asked[:1])  # loads it
        seconds = cpu_seconds(partial(read_stories, asked, below=below))
        speed[f"{name}_stories_per_core_s"] = round(len(stories) / seconds, 1)
    return speed


def main() -> None:
    """Print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=Path)
    parser.add_argument("--stories", type=int, default=5_000)
    parser.add_argument("--reader", action="store_true")
    given = parser.parse_args()
    timed = measure_reader if given.reader else measure
    print(json.dumps(timed(stories_of(given.texts, given.stories))))


if __name__ == "__main__":
    main()
