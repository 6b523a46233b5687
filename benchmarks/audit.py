"""The whole audit of resampled stories: stories per core-second, and peak memory of all processes.

    python -m benchmarks.audit --stories 500000 --workers 2 [--texts FILE]

FILE is any labelled or plain story file; the packaged sample is used without one. Stories are drawn
with replacement and get five model names in turn, so the tally is as wide as a real audit's.
"""

import argparse
import itertools
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

MODELS = ("model-a", "model-b", "model-c", "model-d", "model-e")


def resample(source: Path, target: Path, n: int, seed: int = 0) -> None:
    """Write `n` stories drawn with replacement, with five model names in turn."""
    rows = [json.loads(line) for line in source.read_text(encoding="utf-8").splitlines()]
    rng = random.Random(seed)
    with target.open("w", encoding="utf-8") as stream:
        for model in itertools.islice(itertools.cycle(MODELS), n):
            row = rng.choice(rows)
            kept = {key: value for key, value in row.items() if not key.startswith("gold_")}
            stream.write(json.dumps({**kept, "model": model}, ensure_ascii=False) + "\n")


def resident_bytes(pid: int) -> int:
    """Resident memory of a process and its descendants, shared pages counted in each."""
    total = 0
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and pid in _ancestry(int(entry.name)):
            try:
                pages = int((entry / "statm").read_text().split()[1])
            except (OSError, IndexError):
                continue
            total += pages * os.sysconf("SC_PAGE_SIZE")
    return total


def _ancestry(pid: int) -> list[int]:
    line = [pid]
    while pid > 1:
        try:
            stat = Path(f"/proc/{pid}/stat").read_text()
        except OSError:
            break
        pid = int(stat.rpartition(")")[2].split()[1])
        line.append(pid)
    return line


def measure(command: list[str]) -> dict[str, float]:
    """Run `command`; return wall seconds, CPU seconds of all its processes, and peak memory."""
    before = os.times()
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    peak = [0]

    def watch() -> None:
        while process.poll() is None:
            peak[0] = max(peak[0], resident_bytes(process.pid))
            time.sleep(0.2)

    watcher = threading.Thread(target=watch)
    watcher.start()
    code = process.wait()
    watcher.join()
    wall = time.perf_counter() - start
    after = os.times()
    if code:
        raise SystemExit(f"{' '.join(command)} ended with status {code}")
    cpu = (after.children_user + after.children_system) - (
        before.children_user + before.children_system
    )
    return {"wall_s": wall, "cpu_s": cpu, "peak_mb": peak[0] / 1e6}


def main() -> None:
    """Print one JSON object with the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stories", type=int, default=500_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--texts", type=Path)
    parser.add_argument("--keep", type=Path, help="run directory to keep")
    given = parser.parse_args()
    from portrayal.studies.laissez_faire import sample

    with tempfile.TemporaryDirectory() as folder:
        texts = Path(folder) / "stories.jsonl"
        resample(given.texts or sample(), texts, given.stories)
        out = given.keep or Path(folder) / "run"
        figures = measure(
            [sys.executable, "-m", "portrayal", "audit", "laissez-faire", "--texts", str(texts),
             "--out", str(out), "--workers", str(given.workers)]
        )  # fmt: skip
    figures["stories"] = given.stories
    figures["stories_per_core_second"] = given.stories / figures["cpu_s"]
    figures["stories_per_wall_second_and_worker"] = (
        given.stories / figures["wall_s"] / given.workers
    )
    print(json.dumps({name: round(value, 1) for name, value in figures.items()}))


if __name__ == "__main__":
    main()
