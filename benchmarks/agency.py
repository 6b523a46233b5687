"""Speed of agency classifiers: sentences per core-second, and 8-bit ONNX against the float model.

    python -m benchmarks.agency --texts FILE [--group NAME ...] [--transformer FOLDER]

FILE is a CSV with a column `text`. With --group, the whole command `portrayal audit agency` is also
timed, start and report included, in CPU seconds of its process. FOLDER is what `portrayal train
agency --onnx` writes; both its models are timed in turn on one core in the same process, so that
the ratio holds on a busy machine.
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
    parser.add_argument("--transformer", type=Path)
    parser.add_argument("--sentences", type=int, default=400, help="for the transformers")
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
    if asked.transformer:
        transformers(asked.transformer, given[: asked.sentences])


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


def transformers(folder: Path, given: Sequence[str]) -> None:
    """Print the speed of the float and the 8-bit model, and their ratio."""
    import torch

    from portrayal.annotate.agency.loading import OnnxClassifier

    torch.set_num_threads(1)
    whole = per_core_second(load_classifier(str(folder)), given)
    small = per_core_second(OnnxClassifier(folder / "onnx", threads=1), given)
    print(json.dumps({"what": "transformer", "sentences_per_core_s": round(whole, 1)}))
    print(json.dumps({"what": "onnx", "sentences_per_core_s": round(small, 1)}))
    print(json.dumps({"what": "onnx / transformer", "ratio": round(small / whole, 2)}))


if __name__ == "__main__":
    main()
