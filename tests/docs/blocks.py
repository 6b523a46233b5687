"""The code blocks of the pages: what they are, and how one is run as a reader would run it."""

import csv
import doctest
import importlib.util
import json
import os
import re
import shlex
import signal
import sys
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent
from threading import Timer
from typing import Any

import pytest

import portrayal
from guards.tree import ROOT
from portrayal.cli import main

FENCE = re.compile(r"^( *)```(\w*)([^\n]*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
NOT_RUN = re.compile(r"\A# not run: (.+)\n")
EXTRAS = bool(os.environ.get("PORTRAYAL_ALL_EXTRAS"))
SHELL = ("sh", "bash", "console")
DATA: dict[str, Callable[[str], Any]] = {
    "toml": tomllib.loads,
    "json": json.loads,
    "jsonl": lambda text: [json.loads(line) for line in text.splitlines()],
    "csv": lambda text: list(csv.reader(text.splitlines(), strict=True)),
}
SHOWN = ("text", "", "yaml", "mermaid")  # listings and output; not for a reader to run
QUICK = {
    "audit": ("--set", "draws=100", "--set", "permutations=20", "--set", "report=false"),
}
"""Few draws, and no page, which takes half of an audit; other tests look at pages."""
SAMPLES = re.compile(r"--samples \d+(?=.* --out)")
SERVER = re.compile(r"http://localhost:\d+/v1")


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, what stands behind it (`title="gate.toml"`), and its lines."""

    page: Path
    line: int
    kind: str
    more: str
    text: str

    @property
    def reason(self) -> str:
        """Why it is not run, as the page says; what takes long is run with the extras."""
        found = NOT_RUN.match(self.text)
        return "" if not found or (EXTRAS and found[1].startswith("takes")) else found[1]

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT).as_posix()}:{self.line}"


def blocks(page: Path) -> list[Block]:
    """Return the fenced blocks of a page, in order."""
    text = page.read_text(encoding="utf-8")
    return [
        Block(page, text.count("\n", 0, found.start()) + 1, found[2], found[3], dedent(found[4]))
        for found in FENCE.finditer(text)
    ]


def run_page(page: Path, capfd: pytest.CaptureFixture[str], base_url: str) -> list[Block]:
    """Run all blocks of a page in the folder at hand, in one namespace; return those that ran."""
    space: dict[str, Any] = {"__name__": "page", "portrayal": portrayal}
    ran = []
    for block in blocks(page):
        if block.kind in SHOWN or block.reason:
            continue
        if block.kind == "python":
            code = "\n" * block.line + block.text
            exec(compile(code, str(page), "exec"), space)
        elif block.kind == "pycon":
            _doctest(block, space)
        elif block.kind in SHELL:
            for command in commands(block):
                _shell(command, block, capfd, base_url)
        else:
            DATA[block.kind](block.text)
            if title := re.search(r'title="([\w./-]+)"', block.more):
                Path(title[1]).parent.mkdir(parents=True, exist_ok=True)
                Path(title[1]).write_text(block.text, encoding="utf-8")
        ran.append(block)
    return ran


def commands(block: Block) -> Iterator[list[str]]:
    """Yield the commands of a shell block, each as its words."""
    text = block.text
    if block.kind == "console":
        text = "\n".join(re.findall(r"^\$ (.+)$", text, re.MULTILINE))
    for line in text.replace("\\\n", " ").splitlines():
        for part in re.split(r" && ", line):
            if words := shlex.split(part, comments=True):
                yield words


def _doctest(block: Block, space: dict[str, Any]) -> None:
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    test = doctest.DocTestParser().get_doctest(block.text, space, str(block), None, block.line)
    told: list[str] = []
    result = doctest.DocTestRunner(optionflags=flags).run(test, out=told.append, clear_globs=False)
    space.update(test.globs)
    assert result.attempted
    assert not result.failed, "".join(told)


def _shell(
    words: list[str], block: Block, capfd: pytest.CaptureFixture[str], base_url: str
) -> None:
    """Run `portrayal`; check that what other programs are asked for is there."""
    match words:
        case ["portrayal", *rest]:
            _portrayal(rest, block, capfd, base_url)
        case ["make", target]:
            made = re.search(rf"^{re.escape(target)}:", (ROOT / "Makefile").read_text(), re.M)
            assert made, f"{block}: the Makefile has no {target}"
        case ["pip", "install", *rest]:
            (extras,) = re.fullmatch(r"\.(?:\[([\w,]+)\])?", rest[-1]).groups()  # type: ignore[union-attr]
            known = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
            assert not extras or set(extras.split(",")) <= set(known["optional-dependencies"])
        case ["python", "-m", module, *_]:
            assert importlib.util.find_spec(module), f"{block}: there is no {module}"
        case ["export", _]:
            pass
        case _:
            pytest.fail(f"{block}: no test knows how to run {shlex.join(words)}")


def _portrayal(
    words: list[str], block: Block, capfd: pytest.CaptureFixture[str], base_url: str
) -> None:
    words = shlex.split(SAMPLES.sub("--samples 1", SERVER.sub(base_url, shlex.join(words))))
    stated = re.search(r"exit status (\d)", block.more)
    status = int(stated[1]) if stated else 0
    timer = Timer(300, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    quick = QUICK.get(words[0], ())
    out_folder = words[words.index("--out") + 1] if "--out" in words else ""
    if words[0] == "audit" and Path(out_folder, "report.html").exists():
        quick = quick[:-2]  # a page that is there would be one of other estimates
    before, sys.argv = sys.argv, ["portrayal", *words, *quick]
    try:
        with pytest.raises(SystemExit) as stop:
            main()
    finally:
        sys.argv = before
        timer.cancel()
    out, error = capfd.readouterr()
    assert stop.value.code in ((status,) if status else (0, None)), (
        f"{block}: {shlex.join(words)}\n{out[-2000:]}\n{error}"
    )
    assert out.strip(), f"{block}: {shlex.join(words)} says nothing"
