"""No value changes unseen: every estimate against the stored one, value by value.

Values, counts, what is left out and why, and all published statistics are compared to 1e-9, those
that rest on a fitted topic model to half the digits of the floats that it is fitted in. Our own
intervals, tests and nulls may get better methods (tests/measure and benchmarks/calibration.py hold
what they promise). A change of a value on purpose is stored again, and the commit says which
measures moved and why:

    python tests/acceptance/test_unchanged.py
"""

import dataclasses
import gzip
import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

import portrayal
from command import invoke
from portrayal import registry
from portrayal.annotate.people.reader import read_people
from portrayal.run import Run
from portrayal.studies import laissez_faire

STORED = Path(__file__).parent / "unchanged"
QUICK: dict[str, Any] = {"report": False, "draws": 200, "permutations": 50}
GOLD = {
    f"{slot}_{part}": f"gold_{slot}_{part}"
    for slot in ("subject", "object")
    for part in ("name", "gender")
}
AUDITS: dict[str, tuple[str, dict[str, Any]]] = {
    "laissez-faire-sample": ("laissez-faire", {}),
    "news-sample": ("news", {}),
    "agency-sample": ("agency", {}),
    "laissez-faire-dev": ("laissez-faire", {"texts": "laissez_faire/gold_stories_dev.jsonl"}),
    "laissez-faire-gold": (
        "laissez-faire",
        {"texts": "laissez_faire/gold_stories_dev.jsonl", "columns": GOLD},
    ),
    "news-dev": (
        "news",
        {
            "texts": "news/gpt35_dev.jsonl",
            "reference": "news/human_dev.jsonl",
            "pair_by": "headline",
        },
    ),
    "agency-bios": ("agency", {"texts": "labe/chatgpt_bios.csv"}),
    "agency-professor": ("agency", {"texts": "labe/chatgpt_professor.csv"}),
}
"""Case → study and what it is given; without texts, the study's own sample."""

COMMANDS = {
    "reproduce-laissez-faire": ("replicate", "laissez-faire", "--all", "--format", "json"),
    "reproduce-news": ("replicate", "news", "--all", "--format", "json"),
    "reproduce-agency": ("replicate", "agency", "--all", "--format", "json"),
    "score-people": (
        *("score", "people", "--format", "json"),
        *("--hand-labels", "laissez_faire/gold_stories_dev.jsonl"),
    ),
    "score-agency": ("score", "agency", "--format", "json", "--hand-labels", "lac/validation.csv"),
}
FILES = ("texts", "reference")
COMPARED = (
    *("study", "measure", "statistic", "unit", "strata", "group", "value", "paper_interval"),
    *("n_texts", "n_units", "n_clusters", "exclusions", "details", "undefined", "source"),
)
PUBLISHED = ("score test", "exact", "Altman", "McNemar", "t test of independent", "Welch")
"""Tests by the published methods, texts or characters as independent."""
NOTES = ("no_interval", "no_test", "no_finding", "named people", "reader_error")
"""Instruments that say why a value has no interval or test, or how often a list applied."""


EXACT = 1e-9
"""Rounding of sums of 64-bit floats, in whatever order they are added."""
FITTED = math.sqrt(2.0**-23)
"""Rounding of what a topic model gives, relative or absolute (shares and distances in 0-1): it is
fitted in 32-bit floats, step upon step, so half of their digits hold (3.5e-4). OpenBLAS's kernels
for Haswell, Zen and SkylakeX differ by up to 1.5e-5; a topic more or less of a text moves its
distance by some hundredths."""


@contextmanager
def rules_alone() -> Iterator[None]:
    """Read stories without the network, which rounds otherwise on other processors."""
    by_rules = partial(read_people, below=0.0)
    with ExitStack() as stack:
        for module in ("annotate.people.stories.rows", "raters.people"):
            stack.enter_context(patch(f"portrayal.{module}.read_people", by_rules))
        yield


@rules_alone()
def estimates_of(case: str, find: Any, out: Path) -> list[dict[str, Any]]:
    """Run the audit of a case; one dictionary for each estimate, NaN and infinity as words."""
    study, given = AUDITS[case]
    chosen = dict(given) or dict(registry.get("studies", study).sample())
    chosen |= {name: find(chosen[name]) for name in FILES if name in given}
    return as_stored(portrayal.audit(study=study, out=out, **QUICK, **chosen))


def as_stored(run: Run) -> list[dict[str, Any]]:
    """One dictionary for each estimate of a run."""
    return [plain(row) for row in run.records]


@rules_alone()
def printed_by(case: str, find: Any) -> Any:
    """What a command prints as JSON."""
    words = [find(word) if "/" in word else word for word in COMMANDS[case]]
    done = invoke(*words)
    assert done.exit_code == 0, done.stderr
    return plain(json.loads(done.stdout))


def plain(value: Any) -> Any:
    """`value` as JSON can hold it, with numbers that JSON lacks as words and maps in one order."""
    if isinstance(value, Mapping):
        return {str(key): plain(value[key]) for key in sorted(value)}
    if dataclasses.is_dataclass(value):
        return {each.name: plain(getattr(value, each.name)) for each in dataclasses.fields(value)}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)
    return value.item() if hasattr(value, "item") else value


def differences(old: Any, new: Any, where: str = "", tolerance: float = EXACT) -> Iterator[str]:
    """Say where two values differ; floats may differ by `tolerance`, relative to the larger."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted(set(old) | set(new)):
            yield from differences(old.get(key), new.get(key), f"{where}.{key}", tolerance)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for i, (one, other) in enumerate(zip(old, new, strict=True)):
            yield from differences(one, other, f"{where}[{i}]", tolerance)
    elif isinstance(old, float) and isinstance(new, float):
        if not math.isclose(
            old, new, rel_tol=tolerance, abs_tol=max(1e-12, tolerance if tolerance > EXACT else 0.0)
        ):
            yield f"{where}: {old!r} became {new!r}"
    elif old != new and not where.endswith(("path", "file", "files")):
        yield f"{where}: {old!r} became {new!r}"


def named(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The estimates by what they are of, so that their order does not matter."""
    keys = ("measure", "statistic", "strata", "group")
    return {
        json.dumps([*(row[key] for key in keys), _used(row)], sort_keys=True): _kept(row)
        for row in rows
    }


def _used(row: dict[str, Any]) -> dict[str, str]:
    """The instruments of an estimate without the reasons why something is missing."""
    return {name: value for name, value in row["instruments"].items() if name not in NOTES}


def _kept(row: dict[str, Any]) -> dict[str, Any]:
    """What of an estimate is compared."""
    tests = [t for t in row["tests"] if any(name in t["method"] for name in PUBLISHED)]
    return {
        **{key: row[key] for key in COMPARED},
        "tests": [{"p": test["p"], "method": test["method"]} for test in tests],
    }


def _tolerance(key: str) -> float:
    """By how much the values of an estimate may differ: those of the document level are fitted."""
    return FITTED if json.loads(key)[2].get("level") == "document" else EXACT


def stored(case: str) -> Any:
    """What is stored of a case."""
    with gzip.open(STORED / f"{case}.json.gz", "rt", encoding="utf-8") as stream:
        return json.load(stream)


@pytest.mark.parametrize("case", AUDITS)
def test_no_estimate_of_an_audit_changed(
    case: str, shared_data: Any, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    # Of these what is compared does not depend on the number of draws; the reader's error, which
    # all stories as the reader reads them have, does.
    shared = {"laissez-faire-gold": "gold_run"}
    if case in shared:
        made = as_stored(request.getfixturevalue(shared[case]))
    else:
        made = estimates_of(case, shared_data, tmp_path / "run")
    old, new = named(stored(case)), named(made)
    assert len(old) > 10
    for key, row in new.items():
        if key in old:  # a detail may be added, none may change
            row["details"] = {name: row["details"].get(name) for name in old[key]["details"]}
    found = [
        line
        for key in sorted({*old, *new})
        for line in differences(old.get(key), new.get(key), key, _tolerance(key))
    ]
    assert not found, f"{len(found)} differences:\n" + "\n".join(found[:20])


@pytest.mark.parametrize("case", COMMANDS)
def test_no_printed_figure_changed(case: str, shared_data: Any) -> None:
    found = list(differences(stored(case), printed_by(case, shared_data)))
    assert not found, f"{len(found)} differences:\n" + "\n".join(found[:20])


def test_a_change_is_seen() -> None:
    old = {"value": 1.25, "tests": [{"p": 0.04}], "n": 3}
    assert not list(differences(old, {"value": 1.25 + 1e-13, "tests": [{"p": 0.04}], "n": 3}))
    new = {"value": 1.2500001, "tests": [{"p": 0.05}], "n": 4}
    assert len(list(differences(old, new))) == 3


def _store() -> None:
    shared = Path(__file__).parents[3] / "shared" / "data"
    STORED.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        for case in (*AUDITS, *COMMANDS):
            find = shared.joinpath
            if case in AUDITS:
                made = estimates_of(case, find, Path(folder) / case)
            else:
                made = printed_by(case, find)
            path = STORED / f"{case}.json.gz"
            with path.open("wb") as raw, gzip.GzipFile("", "wb", 9, raw, 0) as stream:
                stream.write(json.dumps(made).encode())
            print(f"{case}: {len(made)}, {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    _store()


def test_the_command_line_and_python_give_the_same_bytes(tmp_path: Path) -> None:
    """BLAS has two threads in Python here; kernels of another processor move the last digits."""
    clean = {name: value for name, value in os.environ.items() if "NUM_THREADS" not in name}
    few = ("--set", "report=false", "--set", "draws=100", "--set", "permutations=20")
    lines = laissez_faire.sample().read_text("utf-8").splitlines(keepends=True)[::4]
    (tmp_path / "texts.jsonl").write_text("".join(lines), encoding="utf-8")
    texts = ("--texts", "texts.jsonl")
    command = ("-m", "portrayal", "audit", "laissez-faire", *texts, *few, "--out")
    python = (
        "import portrayal\n"
        "options = {'draws': 100, 'permutations': 20, 'report': False}\n"
        "portrayal.audit(study='laissez-faire', texts='texts.jsonl', out='python', **options)\n"
    )
    for words, variables in (
        ((*command, "command"), clean),
        (("-c", python), clean | {"OPENBLAS_NUM_THREADS": "2"}),
        ((*command, "older"), clean | {"OPENBLAS_CORETYPE": "Nehalem"}),
    ):
        subprocess.run(
            [sys.executable, *words], cwd=tmp_path, env=variables, check=True, capture_output=True
        )
    runs = {name: Run(tmp_path / name) for name in ("command", "python", "older")}
    assert runs["command"].estimates_path.read_bytes() == runs["python"].estimates_path.read_bytes()
    stored = as_stored(runs["command"])
    assert not [*differences(stored, as_stored(runs["older"]), tolerance=1e-12)]
