import sys
from collections.abc import Callable
from typing import Any

import pytest

from portrayal.annotate.people.shared.words import given_names


@pytest.fixture(autouse=True, scope="session")
def _names_are_read_once():
    given_names()  # takes longer than Hypothesis allows an example


def lines_run(read: Callable[[], Any]) -> int:
    """How many lines of Python a call runs: its work, whatever the machine has to do besides."""
    n = 0

    def count(frame: Any, event: str, _: Any) -> Any:
        nonlocal n
        n += event == "line"
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        read()
    finally:
        sys.settrace(before)
    return n


@pytest.fixture
def grows_with_length() -> Callable[[Callable[[str], Any], str], bool]:
    """Whether a text eight times as long takes a reader no more than 24 times the work."""

    def grows(read: Callable[[str], Any], piece: str) -> bool:
        short, long = (piece * (size // len(piece)) for size in (1_000, 8_000))
        return lines_run(lambda: read(long)) < 8 * 3 * lines_run(lambda: read(short)) + 1_000

    return grows
