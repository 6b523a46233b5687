"""One public door for each folder: `__init__.py` says what is public, and it is there."""

import ast
import importlib
from pathlib import Path

import pytest

from guards.tree import PACKAGE, module_name, modules, parse
from portrayal.errors import MissingExtraError

DOORS = [path for path in modules() if path.name == "__init__.py"]


def _all(tree: ast.Module) -> list[str] | None:
    for node in tree.body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
            return list(ast.literal_eval(node.value))
    return None


@pytest.mark.parametrize("path", DOORS, ids=module_name)
def test_the_door_says_what_the_folder_is(path: Path) -> None:
    assert ast.get_docstring(parse(path)), f"{module_name(path)} has no docstring"


def _makes_something(node: ast.stmt) -> bool:
    """Whether a statement defines something here, such as `REPORT = StudyReport(…)`."""
    if isinstance(node, ast.Assign):
        return isinstance(node.value, ast.Call)
    return isinstance(node, (ast.FunctionDef, ast.ClassDef))


@pytest.mark.parametrize("path", DOORS, ids=module_name)
def test_what_the_door_imports_is_public_and_exists(path: Path) -> None:
    tree = parse(path)
    public = _all(tree)
    imported = {
        alias.asname or alias.name
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("portrayal")
        for alias in node.names
    }
    if any(_makes_something(node) for node in tree.body):
        imported = set()  # a module with code of its own, which may import for itself
    if public is None:
        assert not imported, f"{module_name(path)} imports {sorted(imported)} but has no __all__"
        return
    assert len(set(public)) == len(public)
    assert imported <= set(public), (
        f"{sorted(imported - set(public))} of {module_name(path)} not listed"
    )
    try:
        module = importlib.import_module(module_name(path))
    except MissingExtraError as error:
        pytest.skip(str(error))
    missing = [name for name in public if not hasattr(module, name)]
    assert not missing, f"{module_name(path)} lists {missing}, which do not exist"


def test_every_folder_with_modules_is_a_package() -> None:
    for path in modules():
        assert (path.parent / "__init__.py").exists(), f"{path.parent.relative_to(PACKAGE)}"
