"""The examples of docstrings: each is run, with warnings as errors, in an empty folder."""

import doctest
import importlib
from pathlib import Path

import pytest

import portrayal
from guards.tree import module_name, modules
from portrayal.errors import MissingExtraError

SHOWN = [path for path in modules() if ">>> " in path.read_text(encoding="utf-8")]
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


@pytest.mark.parametrize("path", SHOWN, ids=module_name)
def test_examples(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    try:
        module = importlib.import_module(module_name(path))
    except MissingExtraError as error:
        pytest.skip(str(error))
    monkeypatch.chdir(tmp_path)
    names = {**vars(module), "portrayal": portrayal}
    result = doctest.testmod(module, globs=names, optionflags=FLAGS)
    assert result.attempted
    assert not result.failed


def test_the_first_things_to_call_show_a_call() -> None:
    shown = {module_name(path) for path in SHOWN}
    wanted = {"", ".pipeline.audit", ".registry", ".run.estimates", ".validate"}
    assert {f"portrayal{name}" for name in wanted} <= shown
