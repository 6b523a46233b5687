"""Speed of agency classifiers: sentences per core-second.

    python -m benchmarks.agency --texts FILE [--group NAME ...]

FILE is a CSV with a column `text`. With --group, the whole command `portrayal audit agency` is also
timed, start and report included, in CPU seconds of its process.
"""

import argparse
import csv
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from portrayal.annotate.agency import load_classifier, mask
from portrayal.annotate.sentences import sentences


def read(path: Path) -> list[str]:
    """Return the sentences of the texts of a file."""
    found = []
    with path.open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            found += [row["text"][low:high] for low, high in sentences(row["text"])]
    return found


def per_core_second(work: Callable[[Sequence[str]], object], given: Sequence[str]) -> float:
    """Return sentences per CPU second, the best of three."""
    best = 0.0
    for _ in range(3):
        start = time.process_time()
        work(given)
        best = max(best, len(given) / (time.process_time() - start))
    return best


def main() -> None:
    """Print one JSON object for each classifier."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--texts", type=Path, required=True)
    parser.add_argument("--group", action="append", default=[], help="time the whole audit too")
    asked = parser.parse_args()
    given = read(asked.texts)
    mask("")  # loads the lists
    speed = per_core_second(lambda each: [mask(sentence) for sentence in each], given)
    print(json.dumps({"what": "mask", "sentences_per_core_s": round(speed)}))
    for spec in ("linear", "lexicon"):
        speed = per_core_second(load_classifier(spec), given)
        print(json.dumps({"what": spec, "sentences_per_core_s": round(speed)}))
    if asked.group:
        seconds = [whole_audit(asked.texts, asked.group) for _ in range(3)]
        print(
            json.dumps({"what": "portrayal audit agency", "cpu_s": [round(s, 2) for s in seconds]})
        )


def whole_audit(texts: Path, group: Sequence[str]) -> float:
    """Return the CPU seconds, user and system, of one audit on one core with its report."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "portrayal", "audit", "agency", "--texts", str(texts)]
        command += [part for name in group for part in ("--by", name)]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [*command, "--out", f"{folder}/run"],
            check=True,
            capture_output=True,
            env=os.environ | {"OMP_NUM_THREADS": "1"},
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
