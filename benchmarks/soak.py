"""Audits whose workers are killed at random for a long time; and workers that outlive their parent.

    python -m benchmarks.soak                          # 320,000 stories, a kill every 20 s, 600 s
    python -m benchmarks.soak --stories 20000 --every 5 --seconds 60
    python -m benchmarks.soak orphans --kills 50
    python -m benchmarks.soak halfway --stories 40000 --kills 6   # kill -9 amid annotating
    python -m benchmarks.soak pythons --stories 500 --python PATH --python PATH   # and this one

The stories are the packaged sample's with other names. The audit is made again and again, each time
into a new run, until the time is over; a call that several kills in a row have ended is made again,
as its message asks. All runs must end with the bytes of one that nobody disturbed. Needs /proc.
"""

import argparse
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from functools import partial
from pathlib import Path

from benchmarks.audit import MODELS

SEED = 20
NAME = re.compile(r"\b[A-Z][a-z]+\b")
AUDIT = """
import sys
import portrayal

if __name__ == "__main__":
    texts, out, rows, workers = sys.argv[1:]
    portrayal.audit(study="laissez-faire", texts=texts, out=out, shard_rows=int(rows),
                    workers=int(workers), draws=200, permutations=50, report=False)
"""

COMMAND = """
import sys
import portrayal.pipeline.audit
from portrayal.cli import main

if __name__ == "__main__":
    portrayal.pipeline.audit.SHARD_ROWS = int(sys.argv.pop(1))
    main()
"""


def stories(target: Path, n: int, seed: int) -> None:
    """Write `n` of the sample's stories, each with first names drawn from the name table."""
    from portrayal.reference.names import name_table
    from portrayal.studies.laissez_faire import sample

    rng = random.Random(seed)
    names = sorted(name_table().listed[0])
    known = {name.casefold() for name in names}
    rows = [json.loads(line) for line in sample().read_text(encoding="utf-8").splitlines()]
    with target.open("w", encoding="utf-8") as stream:
        for number in range(n):
            row = rows[number % len(rows)]
            words = sorted({word for word in NAME.findall(row["text"]) if word.casefold() in known})
            new = {word: rng.choice(names).title() for word in words}
            text = NAME.sub(partial(_renamed, new), row["text"])
            model = MODELS[number % len(MODELS)]
            line = {"prompt": row["prompt"], "model": model, "text": text}
            stream.write(json.dumps(line, ensure_ascii=False) + "\n")


def _renamed(new: dict[str, str], found: re.Match[str]) -> str:
    return new.get(found[0], found[0])


def started(
    texts: Path, out: Path, rows: int, workers: int, python: str = sys.executable
) -> subprocess.Popen[str]:
    """Start one audit."""
    command = [python, "-c", AUDIT, str(texts), str(out), str(rows), str(workers)]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True)


def workers_of(parent: int) -> list[int]:
    """Numbers of the worker processes of an audit."""
    found = []
    for children in Path(f"/proc/{parent}/task").glob("*/children"):
        try:
            numbers = children.read_text().split()
            found += [int(each) for each in numbers if b"spawn_main" in _command(int(each))]
        except OSError:
            continue
    return found


def _command(number: int) -> bytes:
    return Path(f"/proc/{number}/cmdline").read_bytes()


def alive(number: int) -> bool:
    """Whether a process runs; one that has ended and is not yet waited for does not."""
    try:
        stat = Path(f"/proc/{number}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


def kill(number: int) -> bool:
    """Kill a process at once; False where it had ended."""
    try:
        os.kill(number, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


class Killer:
    """Kills a worker of the audit in hand at a fixed pace, as long as there is one."""

    def __init__(self, every: float, seed: int) -> None:
        self.every, self.rng = every, random.Random(seed)
        self.kills = 0
        self.audit: subprocess.Popen[str] | None = None
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._work)
        self._thread.start()

    def _work(self) -> None:
        while not self._over.wait(self.every):
            victims = workers_of(self.audit.pid) if self.audit else []
            while not victims and not self._over.wait(0.05):  # measuring has no workers
                victims = workers_of(self.audit.pid) if self.audit else []
            self.kills += bool(victims) and kill(self.rng.choice(victims))

    def end(self) -> None:
        """Kill no more."""
        self._over.set()
        self._thread.join()


def files(run: Path) -> dict[str, bytes]:
    """Return what a run holds: annotations, estimates and sums by prompt."""
    paths = [*run.glob("annotations/*/part-*.parquet"), *run.glob("*.parquet")]
    return {str(path.relative_to(run)): path.read_bytes() for path in sorted(paths)}


def disturbed(
    texts: Path, out: Path, given: argparse.Namespace, killer: Killer
) -> tuple[int, list[str]]:
    """Audit until it is done; return how many calls that took, and how those before ended."""
    endings: list[str] = []
    while True:
        killer.audit = started(texts, out, given.shard_rows, given.workers)
        _, error = killer.audit.communicate()
        if killer.audit.returncode == 0:
            return len(endings) + 1, endings
        endings.append(error.strip().splitlines()[-1][:200])
        if "the worker process was lost" not in error:
            raise SystemExit(f"an audit ended otherwise than by kills:\n{error}")


def undisturbed(texts: Path, out: Path, given: argparse.Namespace) -> dict[str, bytes]:
    """Audit once without a kill; return the files."""
    audit = started(texts, out, given.shard_rows, given.workers)
    _, error = audit.communicate()
    if audit.returncode:
        raise SystemExit(error)
    return files(out)


def soak(given: argparse.Namespace) -> dict[str, object]:
    """Disturb audits for a while and compare each with an undisturbed one."""
    with tempfile.TemporaryDirectory() as folder:
        texts = Path(folder) / "stories.jsonl"
        stories(texts, given.stories, given.seed)
        expected = undisturbed(texts, Path(folder) / "quiet", given)
        begun = time.monotonic()
        killer = Killer(given.every, given.seed)
        runs = calls = same = 0
        endings: list[str] = []
        try:
            while time.monotonic() - begun < given.seconds:
                out = Path(folder) / f"run-{runs}"
                took, ended = disturbed(texts, out, given, killer)
                runs, calls, endings = runs + 1, calls + took, endings + ended
                same += files(out) == expected and not list(out.rglob("*.tmp"))
        finally:
            killer.end()
        return {
            "stories": given.stories,
            "shards": -(-given.stories // given.shard_rows),
            "seconds": round(time.monotonic() - begun),
            "kills": killer.kills,
            "runs": runs,
            "byte_identical": same,
            "calls_ended_by_kills": calls - runs,
        }


def orphans(given: argparse.Namespace) -> dict[str, object]:
    """Kill audits at random moments and count workers that still run ten seconds later."""
    rng = random.Random(given.seed)
    left, workers, slowest = 0, 0, 0.0
    with tempfile.TemporaryDirectory() as folder:
        texts = Path(folder) / "stories.jsonl"
        stories(texts, given.stories, given.seed)
        for number in range(given.kills):
            audit = started(texts, Path(folder) / f"run-{number}", 50, given.workers)
            while len(workers_of(audit.pid)) < given.workers and audit.poll() is None:
                time.sleep(0.01)
            time.sleep(rng.uniform(0, 1.5))  # from the start of workers to their work
            seen = workers_of(audit.pid)
            kill(audit.pid)
            audit.wait()  # not for its standard error, which its workers hold as well
            killed = time.monotonic()
            while any(map(alive, seen)) and time.monotonic() - killed < 10:
                time.sleep(0.01)
            slowest = max(slowest, time.monotonic() - killed)
            outlived = [each for each in seen if alive(each)]
            workers, left = workers + len(seen), left + len(outlived)
            for each in outlived:
                kill(each)
            if audit.stderr is not None:
                audit.stderr.close()
    return {
        "kills": given.kills,
        "workers": workers,
        "orphans_after_10_s": left,
        "slowest_end_s": round(slowest, 2),
    }


def halfway(given: argparse.Namespace) -> dict[str, object]:
    """Kill whole audits with some shards annotated and others not; the same call goes on.

    Each run is killed twice: the first moment lies in the first half of the shards, the second in
    the other.
    """
    rng = random.Random(given.seed)
    shards = -(-given.stories // given.shard_rows)
    with tempfile.TemporaryDirectory() as folder:
        texts = Path(folder) / "stories.jsonl"
        stories(texts, given.stories, given.seed)
        expected = undisturbed(texts, Path(folder) / "quiet", given)
        done_at: list[int] = []
        runs = same = made_again = 0
        while len(done_at) < given.kills:
            out = Path(folder) / f"run-{runs}"
            kept: dict[Path, int] = {}
            for low, high in ((1, shards // 2), (shards // 2, shards - 1)):
                audit = started(texts, out, given.shard_rows, given.workers)
                until = rng.randint(low, high)
                while len(parts := list(out.glob("annotations/*/part-*.parquet"))) < until:
                    if audit.poll() is not None:
                        raise SystemExit("an audit ended before it was killed")
                    time.sleep(0.005)
                kill(audit.pid)
                audit.wait()
                if audit.stderr is not None:
                    audit.stderr.close()
                parts = list(out.glob("annotations/*/part-*.parquet"))
                done_at.append(len(parts))
                made_again += sum(each.stat().st_mtime_ns != was for each, was in kept.items())
                kept = {each: each.stat().st_mtime_ns for each in parts}
            last = started(texts, out, given.shard_rows, given.workers)
            _, error = last.communicate()
            if last.returncode:
                raise SystemExit(error)
            made_again += sum(each.stat().st_mtime_ns != was for each, was in kept.items())
            same += files(out) == expected and not list(out.rglob("*.tmp"))
            runs += 1
    return {
        "stories": given.stories,
        "shards": shards,
        "kills": len(done_at),
        "shards_done_at_kills": done_at,
        "shards_made_again": made_again,
        "runs": runs,
        "byte_identical": same,
    }


def pythons(given: argparse.Namespace) -> dict[str, object]:
    """Audit with 1, 2 and 4 workers under each Python; all must end with the same bytes.

    Each has the numpy that was installed with it, which is said beside its version.
    """
    say = "import sys, numpy; print(sys.version.split()[0], 'numpy', numpy.__version__)"
    with tempfile.TemporaryDirectory() as folder:
        texts = Path(folder) / "stories.jsonl"
        stories(texts, given.stories, given.seed)
        expected: dict[str, bytes] = {}
        differ: dict[str, list[str]] = {}
        for number, python in enumerate([sys.executable, *given.python]):
            about = subprocess.run([python, "-c", say], capture_output=True, text=True, check=True)
            for workers in (1, 2, 4):
                out = Path(folder) / f"run-{number}-{workers}"
                audit = started(texts, out, max(1, given.stories // 8), workers, python)
                _, error = audit.communicate()
                if audit.returncode:
                    raise SystemExit(error)
                made = files(out)
                expected = expected or made
                other = [name for name in made if made[name] != expected.get(name)]
                differ[f"{about.stdout.strip()}, {workers} workers"] = other
        same = sum(not each for each in differ.values())
        return {"runs": len(differ), "byte_identical": same, "differ": differ}


WHAT = {
    "soak": soak,
    "orphans": orphans,
    "halfway": halfway,
    "pythons": pythons,
}


def main() -> int:
    """Print one JSON object with the figures; 1 where bytes differ or a worker was left."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", nargs="?", choices=list(WHAT), default="soak")
    parser.add_argument("--stories", type=int, help="320,000; for orphans 20,000")
    parser.add_argument("--python", action="append", default=[], help="another interpreter")
    parser.add_argument("--every", type=float, default=20, help="seconds between kills")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--kills", type=int, default=50, help="of parents, for orphans")
    parser.add_argument("--shard-rows", type=int, default=1_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seed", type=int, default=SEED)
    given = parser.parse_args()
    given.stories = given.stories or (20_000 if given.what == "orphans" else 320_000)
    figures = WHAT[given.what](given)
    print(json.dumps(figures))
    return int(
        bool(figures.get("orphans_after_10_s"))
        or figures.get("runs") != figures.get("byte_identical")
    )


if __name__ == "__main__":
    sys.exit(main())
