"""Asking models: client CPU per request beside the bare client, and memory over many requests.

    python -m benchmarks.collect --requests 100000 --concurrency 32

A local server in a process of its own answers every request with 200 words after a few
milliseconds. CPU is measured in turns (bare client, then a whole collection with its journal and
parts), so that both meet the same machine; memory is resident memory during one long collection.
"""

import argparse
import asyncio
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from portrayal.collect.ask.asking import Asking
from portrayal.collect.ask.collection import CollectReport
from portrayal.collect.ask.loop import collect
from portrayal.records import Prompt
from portrayal.run import Run

SERVER = Path(__file__).parents[1] / "tests" / "servers" / "openai_server.py"
PROMPTS = [Prompt(f"p{i}", f"Write a story about person {i}.", {}) for i in range(100)]


def cpu_seconds() -> float:
    """CPU of this process, user and system."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def resident_bytes() -> int:
    """Resident memory of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@contextmanager
def server(delay: float) -> Iterator[str]:
    """The address of a model server in its own process."""
    process = subprocess.Popen(
        [sys.executable, str(SERVER), "--delay", str(delay)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.communicate()


async def _bare(url: str, count: int, concurrency: int) -> None:
    import openai

    client = openai.AsyncOpenAI(base_url=url, max_retries=0)
    numbers = iter(range(count))

    async def work() -> None:
        for number in numbers:
            answer = await client.chat.completions.create(
                model="test",
                messages=[{"role": "user", "content": PROMPTS[number % len(PROMPTS)].text}],
            )
            assert answer.choices[0].message.content

    await asyncio.gather(*(work() for _ in range(concurrency)))
    await client.close()


def bare(url: str, count: int, concurrency: int) -> float:
    """CPU seconds of `count` requests of the bare client; answers are thrown away."""
    before = cpu_seconds()
    asyncio.run(_bare(url, count, concurrency))
    return cpu_seconds() - before


def ours(
    url: str, count: int, concurrency: int, seen: list[tuple[int, int]] | None = None
) -> tuple[float, float]:
    """CPU and wall seconds of a whole collection; `seen` gathers (rows, resident bytes)."""

    def watch(progress: CollectReport) -> None:
        if seen is not None:
            seen.append((progress.done, resident_bytes()))

    with tempfile.TemporaryDirectory() as folder:
        run = Run(Path(folder) / "run")
        before, began = cpu_seconds(), time.monotonic()
        with run.lock():
            asking = Asking(
                "openai:test",
                count // len(PROMPTS),
                base_url=url,
                concurrency=concurrency,
                progress=watch,
            )
            report = collect(run, PROMPTS, asking)
        assert report.outcomes == {"ok": count}
        return cpu_seconds() - before, time.monotonic() - began


def growth(seen: list[tuple[int, int]], start: float, end: float) -> float:
    """Bytes of resident memory per request between two shares of the way, 0–1."""
    total = seen[-1][0]
    inside = [(n, size) for n, size in seen if start * total <= n <= end * total]
    (first, low), (last, high) = inside[0], inside[-1]
    return (high - low) / max(1, last - first)


def main() -> None:
    """Print one JSON object with the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=100_000)
    parser.add_argument("--concurrency", type=int, default=32)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--per-turn", type=int, default=3_000)
    given = parser.parse_args()
    os.environ.setdefault("OPENAI_API_KEY", "sk-benchmark")
    with server(0.005) as url:
        bare(url, 300, given.concurrency)
        ours(url, 300, given.concurrency)
        turns = [
            (
                bare(url, given.per_turn, given.concurrency),
                ours(url, given.per_turn, given.concurrency)[0],
            )
            for _ in range(given.turns)
        ]
        seen: list[tuple[int, int]] = []
        cpu, wall = ours(url, given.requests, given.concurrency, seen)
    figures = {
        "bare_cpu_ms_per_request": statistics.median(b for b, _ in turns) / given.per_turn * 1e3,
        "ours_cpu_ms_per_request": statistics.median(o for _, o in turns) / given.per_turn * 1e3,
        "cpu_ratio_median_of_turns": statistics.median(o / b for b, o in turns),
        "requests": given.requests,
        "requests_per_second": given.requests / wall,
        "cpu_ms_per_request_long": cpu / given.requests * 1e3,
        "resident_mb_start": seen[0][1] / 1e6,
        "resident_mb_peak": max(size for _, size in seen) / 1e6,
        "bytes_per_request_whole": growth(seen, 0.0, 1.0),
        "bytes_per_request_second_half": growth(seen, 0.5, 1.0),
    }
    print(json.dumps({name: round(value, 3) for name, value in figures.items()}))


if __name__ == "__main__":
    main()
