"""Rules of the code: sizes, no printing below the command line, nothing executed from data."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from guards.tree import PACKAGE, imports, module_name, modules, parse

MAX_FILE, MAX_BODY, MAX_DEPTH = 400, 50, 3
MAY_PRINT = ("cli.py", "show.py")
EXECUTES = ("pickle", "cPickle", "dill", "cloudpickle", "joblib", "marshal", "shelve")
MODULES = modules()


def _functions(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node


def body_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of a function's body without its docstring."""
    body = function.body[1:] if ast.get_docstring(function) else function.body
    if not body:
        return 0
    last = body[-1].end_lineno
    assert last is not None
    return last - body[0].lineno + 1


@pytest.mark.parametrize("path", MODULES, ids=module_name)
def test_sizes(path: Path) -> None:
    lines = len(path.read_text(encoding="utf-8").splitlines())
    assert lines <= MAX_FILE, f"{lines} lines; split the file"
    long = {f.name: n for f in _functions(parse(path)) if (n := body_lines(f)) > MAX_BODY}
    assert not long, f"function bodies over {MAX_BODY} lines: {long}"


def test_folders_are_at_most_three_deep() -> None:
    folders = [p for p in PACKAGE.rglob("*") if p.is_dir() and p.name != "__pycache__"]
    assert folders
    deep = [p for p in folders if len(p.relative_to(PACKAGE).parts) > MAX_DEPTH]
    assert not deep


@pytest.mark.parametrize("path", MODULES, ids=module_name)
def test_nothing_is_executed_or_unpickled(path: Path) -> None:
    bad = [name for name in imports(path) if name.split(".")[0] in EXECUTES]
    for node in ast.walk(parse(path)):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "id", None)
            if name in ("eval", "exec", "compile", "__import__"):
                bad.append(f"{name}() in line {node.lineno}")
            if any(
                k.arg == "allow_pickle" and getattr(k.value, "value", True) for k in node.keywords
            ):
                bad.append(f"allow_pickle in line {node.lineno}")
    assert not bad


@pytest.mark.parametrize("path", MODULES, ids=module_name)
def test_only_the_command_line_prints(path: Path) -> None:
    if path.relative_to(PACKAGE).as_posix() in MAY_PRINT:
        return
    bad = [
        node.lineno
        for node in ast.walk(parse(path))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("print", "breakpoint")
    ]
    assert not bad, f"print in lines {bad}"


def test_the_body_counter_counts() -> None:
    tree = ast.parse('def f():\n    """Say.\n\n    More.\n    """\n    x = 1\n\n    return x\n')
    (function,) = _functions(tree)
    assert body_lines(function) == 3
