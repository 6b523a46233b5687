"""What a run's manifest costs: in an audit, and in each opening of the run.

    python -m benchmarks.manifest --stories 20000 [--texts FILE]

One audit in this process (`benchmarks.audit` says of which stories), in which the time inside the
manifest is taken beside that of the whole; then the run is opened, with every file digested.
"""

import argparse
import functools
import json
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.audit import resample
from portrayal import audit, open_run
from portrayal.run import manifest
from portrayal.run.manifest import Manifest
from portrayal.studies.laissez_faire import sample

METHODS = ("open", "close", "settle", "mend", "problems", "made", "content")
FUNCTIONS = ("write_atomically", "digest", "digests", "_rendered")


class Clock:
    """Seconds, of the wall and of the processor, in methods of the manifest; an inner one once."""

    def __init__(self) -> None:
        self.wall_s, self.cpu_s, self._depth = 0.0, 0.0, 0

    def timed(self, method: Any) -> Any:
        """Return the method with its time taken."""

        @functools.wraps(method)
        def call(*given: Any, **named: Any) -> Any:
            self._depth += 1
            start = time.perf_counter(), time.process_time()
            try:
                return method(*given, **named)
            finally:
                self._depth -= 1
                if not self._depth:
                    self.wall_s += time.perf_counter() - start[0]
                    self.cpu_s += time.process_time() - start[1]

        return call


def seconds(path: Path) -> float:
    """Processor seconds of opening a run, smallest of five."""
    times = []
    for _ in range(5):
        manifest._DIGESTS.clear()  # as in a new process
        start = time.process_time()
        open_run(path)
        times.append(time.process_time() - start)
    return min(times)


def main() -> None:
    """Print one JSON object with the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stories", type=int, default=20_000)
    parser.add_argument("--texts", type=Path)
    given = parser.parse_args()
    clock = Clock()
    for name in METHODS:
        setattr(Manifest, name, clock.timed(getattr(Manifest, name)))
    for name in FUNCTIONS:
        setattr(manifest, name, clock.timed(getattr(manifest, name)))
    with tempfile.TemporaryDirectory() as folder:
        texts, out = Path(folder) / "stories.jsonl", Path(folder) / "run"
        resample(given.texts or sample(), texts, given.stories)
        start = time.perf_counter(), time.process_time()
        run = audit(study="laissez-faire", texts=texts, out=out)
        figures = {
            "stories": given.stories,
            "audit_wall_s": time.perf_counter() - start[0],
            "audit_cpu_s": time.process_time() - start[1],
            "manifest_wall_s": clock.wall_s,
            "manifest_cpu_s": clock.cpu_s,
        }
        files = [path for path in run.path.rglob("*") if path.is_file()]
        figures |= {"n_files": len(files), "mb": sum(p.stat().st_size for p in files) / 1e6}
        figures["open_cpu_s"] = seconds(run.path)
    figures["share_of_cpu"] = figures["manifest_cpu_s"] / figures["audit_cpu_s"]
    figures["share_of_wall"] = figures["manifest_wall_s"] / figures["audit_wall_s"]
    print(json.dumps({name: round(value, 4) for name, value in figures.items()}))


if __name__ == "__main__":
    main()
