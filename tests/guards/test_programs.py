"""Benchmarks and scripts start: what they import is there, and `--help` says what they take."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

from guards.tree import ROOT

PROGRAMS = sorted([*ROOT.glob("benchmarks/[a-z]*.py"), *ROOT.glob("scripts/**/*.py")])
OPTIONAL = ("torch", "transformers", "safetensors", "onnx", "onnxscript")
"""Packages that training alone needs."""
START = """
import contextlib, io, runpy, sys

sys.path.insert(0, {root!r})
for path in sys.argv[1:]:
    program = open(path, encoding="utf-8").read()
    has_options = "ArgumentParser(" in program and "__main__" in program
    sys.argv = [path, "--help"]
    before, shown = list(sys.path), io.StringIO()
    # As a module of scripts finds those beside it, and `PYTHONPATH=scripts` those above
    sys.path[:0] = [path.rpartition("/")[0], {scripts!r}]
    try:
        with contextlib.redirect_stdout(shown):
            runpy.run_path(path, run_name="__main__" if has_options else "program")
        said = "does not read its command line" if has_options else ""
    except SystemExit as ended:
        said = str(ended.code or "") if "usage:" in shown.getvalue() else "prints no usage"
    except ModuleNotFoundError as missing:
        said = "" if str(missing.name).partition(".")[0] in {optional!r} else repr(missing)
    except Exception as error:
        said = repr(error)
    sys.path[:] = before
    if said:
        print(path, said)
"""


def faults(*programs: Path) -> str:
    """What is wrong with programs that are asked for help, or imported if they take no options."""
    code = START.format(root=str(ROOT), scripts=str(ROOT / "scripts"), optional=OPTIONAL)
    command = [sys.executable, "-c", code, *map(str, programs)]
    run = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    return run.stdout + (run.stderr if run.returncode else "")


def test_every_benchmark_and_script_starts():
    assert not faults(*PROGRAMS)


def test_a_program_that_does_not_start_is_named(tmp_path):
    path = tmp_path / "lost.py"
    path.write_text("from portrayal.annotate.people.reader import rows\n", encoding="utf-8")
    assert "cannot import name 'rows'" in faults(path)
    path.write_text(
        'import argparse\nif __name__ == "__main__":\n    print(argparse.ArgumentParser())\n',
        encoding="utf-8",
    )
    assert "does not read its command line" in faults(path)


def test_types_are_checked_wherever_style_is():
    """Of tests alone style is checked and types are not."""
    linted = re.search(r"ruff check (.+)", (ROOT / "Makefile").read_text("utf-8"))
    assert linted is not None
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["mypy"]
    assert {*settings["files"], "tests"} == {*linted[1].split()}
