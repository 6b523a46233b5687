"""What a command line waits for before it does anything: heavy libraries are imported where used.

`scipy.stats` alone takes longer to import than the package without it.
"""

import json
import subprocess
import sys
from pathlib import Path

HEAVY = ("scipy.stats", "scipy.optimize", "scipy.sparse", "pandas", "jinja2", "torch", "altair")
LOADED = f"print(json.dumps([name for name in {HEAVY!r} if name in sys.modules]))"


def loaded_after(code: str, cwd: Path) -> set[str]:
    """Which heavy libraries a fresh process has imported at the end of `code`."""
    done = subprocess.run(
        [sys.executable, "-c", f"import json, sys\n{code}\n{LOADED}"],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=True,
    )
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_importing_the_audit_loads_nothing_heavy(tmp_path: Path) -> None:
    assert not loaded_after("import portrayal.pipeline.audit", tmp_path)


def test_a_list_of_studies_loads_none(tmp_path: Path) -> None:
    code = """
from portrayal.cli import command_line
try:
    command_line(["audit", "--help"])(["audit", "--help"])
except SystemExit:
    pass
assert not {"numpy", "pyarrow", "duckdb"} & sys.modules.keys(), "a study was loaded"
"""
    assert not loaded_after(code, tmp_path)


def test_an_audit_with_its_report_does_without_scipy_stats(tmp_path: Path) -> None:
    code = """
import portrayal
from portrayal import registry
sample = registry.get("studies", "laissez-faire").sample()["texts"]
texts = [json.loads(line) for line in sample.read_text(encoding="utf-8").splitlines()[:90]]
portrayal.audit(texts, study="laissez-faire", out="run", draws=100, permutations=20, workers=1)
"""
    assert not loaded_after(code, tmp_path) & {"scipy.stats", "scipy.optimize", "scipy.sparse"}
    assert (tmp_path / "run" / "report.html").exists()
