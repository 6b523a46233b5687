"""Every reader of a run comes through one door, which holds its files to the manifest."""

import ast
from pathlib import Path

from guards.tree import module_name, modules, parse

NOT_OPENED = {
    "pipeline.audit": "makes the run; mends what does not fit",
    "cli.audit": "asks a model into it",
    "mitigate.mitigation": "calls check: no estimates yet; holds a folder that is no run",
    "collect.corpus": "calls check: answers that nothing was measured in yet",
    "collect.ask.replies": "answers in a folder of their own",
    "annotate.groups": "is at work in the run that an audit holds",
}
"""Modules that make a `Run` and do not open it, and why."""


def made_unopened(tree: ast.Module) -> list[int]:
    """Return the lines that make a Run without `Run.open`."""
    return [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Run"
    ]


def test_no_reader_passes_the_door() -> None:
    made = {module_name(path) for path in modules() if made_unopened(parse(path))}
    assert {name.removeprefix("portrayal.") for name in made} == NOT_OPENED.keys()


def test_what_reads_estimates_is_the_run_alone() -> None:
    """Estimates and sums are read by `Run.records` and `Run.influences`, which check."""
    for name in ("read_estimates", "read_influences"):
        texts = {module_name(path): path.read_text("utf-8") for path in modules()}
        calls = [module for module, text in texts.items() if f"{name}(" in text]
        readers = [module for module in calls if f"def {name}(" not in texts[module]]
        assert readers == ["portrayal.run.directory"]


def test_the_guard_sees_a_run_that_is_not_opened(tmp_path: Path) -> None:
    path = tmp_path / "reader.py"
    path.write_text("def f(path):\n    return Run(path).settings(), Run.open(path)\n")
    assert made_unopened(parse(path)) == [2]
