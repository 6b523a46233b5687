"""Inspect evaluations that answer offline, from a list of texts."""

import gc
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from support import needs


@pytest.fixture(scope="session")
def inspect_ai() -> Any:
    """The installed Inspect; skips without it, fails where every extra was promised."""
    needs("inspect_ai")
    import inspect_ai

    return inspect_ai


@pytest.fixture(autouse=True)
def _own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Inspect keeps traces and its cache here, not in the tester's home."""
    for kind in ("DATA", "CACHE", "CONFIG", "STATE"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture(autouse=True)
def _inspects_own_warnings() -> Iterator[None]:
    """Inspect calls tenacity by a former argument and leaves streams to the garbage collector.

    The streams are collected here, so that no later test meets their warnings.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The 'initial' parameter is dep", DeprecationWarning)
        warnings.filterwarnings("ignore", "Unclosed <MemoryObject", ResourceWarning)
        yield
        gc.collect()


Answers = Sequence[str | Exception | tuple[str, str]]


@pytest.fixture
def model(inspect_ai: Any) -> Callable[..., Any]:
    """A mock model that gives these answers in turn, over and over.

    An answer is a text, a text with a stop reason, or an exception to raise.
    """
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    def make(answers: Answers, name: str = "mockllm/model", **settings: Any) -> Any:
        turns: Iterator[int] = iter(range(10**9))

        def answer(*_: Any) -> Any:
            found = answers[next(turns) % len(answers)]
            if isinstance(found, Exception):
                raise found
            text, reason = (found, "stop") if isinstance(found, str) else found
            output = ModelOutput.from_content(name, text, stop_reason=reason)
            output.usage = ModelUsage()
            return output

        return get_model(name, custom_outputs=answer, memoize=False, **settings)

    return make


@pytest.fixture
def evaluate(inspect_ai: Any, model: Callable[..., Any], tmp_path: Path) -> Callable[..., Any]:
    """Run a task over answers one after another, and return the log of it."""

    def run(task: Any, answers: Answers, name: str = "mockllm/model", **options: Any) -> Any:
        settings = {"log_dir": str(tmp_path / "logs"), "display": "none", "max_samples": 1}
        return inspect_ai.eval(task, model=model(answers, name), **(settings | options))[0]

    return run
