"""Measure the raters' page: `python -m benchmarks.coding [--stories N] [--kills N]`.

The page runs as its command does, in a process of its own; each action is timed at the client over
loopback, so a figure holds the server's work and the way there and back.
"""

import argparse
import json
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from portrayal.coding import CodingItem, make_project, project_labels
from portrayal.coding.project import open_project
from portrayal.coding.store import Store
from portrayal.raters import codebook

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from servers.raters_page import Client, Page, killed_while_coding

SENTENCE = "Ms. Grant showed Linh the ledger, and Linh thanked her. "
CODES = [code.key for code in codebook("stereotypes").codes]


def made(folder: Path, n: int) -> Path:
    """Write a project of n stories of 100 words."""
    items = [CodingItem(f"t{i}", SENTENCE * 10, f"Labor, story {i}") for i in range(1, n + 1)]
    return make_project(folder, items, codebook("stereotypes")).folder


def coded(folder: Path, raters: int, seed: int = 0) -> None:
    """Let raters be done with all stories but one, as late in a project as can be."""
    draw = random.Random(seed)
    project = open_project(folder)
    store = Store(project.codes_path)
    for rater in range(raters):
        key = store.enrol(f"rater {rater}")
        rows = {}
        for item in project.items[:-1]:
            rows[item.item_id, "done", ""] = "1"
            rows |= {(item.item_id, "code", c): "1" for c in CODES if draw.random() < 0.2}
        store.write_all(rows, key)
    store.close()


def _cpu(pid: int) -> float:
    """CPU milliseconds that a process has taken."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return 1000 * (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def timed(act: Callable[[], object], times: int, pid: int) -> dict[str, float]:
    """Milliseconds of an action at the client, median and largest, and of CPU at the server."""
    found, before = [], _cpu(pid)
    for _ in range(times):
        start = time.perf_counter()
        act()
        found.append(1000 * (time.perf_counter() - start))
    return {
        "median_ms": round(statistics.median(found), 1),
        "max_ms": round(max(found), 1),
        "server_cpu_ms": round((_cpu(pid) - before) / times, 1),
    }


def actions(folder: Path, times: int) -> dict[str, dict[str, float]]:
    """Time every action of a rater and of an adjudicator."""
    page, draw = Page(folder, "--adjudicator", "Judge"), random.Random(1)
    n = len(open_project(folder).items)
    try:
        rater = Client(page.port).begin(page.token, "rater 0")
        judge = Client(page.port).begin(page.token, "Judge", "adjudicate")
        some = lambda: draw.randint(1, n)  # noqa: E731
        disputed = judge.ask("GET", "/next")[1]["location"]
        place = int(disputed.rpartition("/")[2])
        acts: dict[str, Callable[[], object]] = {
            "set a code": lambda: rater.click(some(), "code", draw.choice(CODES)),
            "done": lambda: rater.click(some(), "done"),
            "note": lambda: rater.click(some(), "note", "", "word " * 200),
            "undo": lambda: rater.click(1, "", path="/undo"),
            "next text": lambda: rater.ask("GET", "/next"),
            "show a text": lambda: rater.ask("GET", f"/text/{some()}"),
            "first page": lambda: rater.ask("GET", "/"),
            "adjudicate: next": lambda: judge.ask("GET", "/next"),
            "adjudicate: show": lambda: judge.ask("GET", disputed),
            "adjudicate: set a code": lambda: judge.click(place, "code", draw.choice(CODES)),
            "adjudicate: done": lambda: judge.click(place, "done"),
        }
        return {name: timed(act, times, page.process.pid) for name, act in acts.items()}
    finally:
        page.kill()


def main() -> None:
    """Print one JSON object for the actions and one for the kills."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--stories", type=int, default=10_000)
    parser.add_argument("--raters", type=int, default=5)
    parser.add_argument("--times", type=int, default=200)
    parser.add_argument("--kills", type=int, default=200)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = made(Path(place) / "large", asked.stories)
        coded(folder, asked.raters)
        print(json.dumps({"stories": asked.stories, "raters": asked.raters}))
        for name, figures in actions(folder, asked.times).items():
            print(json.dumps({"action": name, **figures}))
        start = time.process_time()
        decisions = len(project_labels(open_project(folder)).rows)
        taken = round(time.process_time() - start, 2)
        print(json.dumps({"read_labels_rows": decisions, "read_labels_cpu_s": taken}))
        if asked.kills:
            small = made(Path(place) / "small", 50)
            acknowledged, lost = killed_while_coding(small, asked.kills, 50, CODES)
            found = {"kills": asked.kills, "acknowledged": acknowledged, "lost": lost}
            print(json.dumps(found))


if __name__ == "__main__":
    main()
