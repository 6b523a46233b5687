"""Each promise of SECURITY.md names tests that are there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NAMED = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", (ROOT / "SECURITY.md").read_text("utf-8"))


@pytest.mark.parametrize(("file", "name"), NAMED)
def test_a_promise_has_its_test(file: str, name: str) -> None:
    assert re.search(rf"^def {name}\(", (ROOT / file).read_text("utf-8"), re.M)


def test_every_promise_names_one() -> None:
    lines = (ROOT / "SECURITY.md").read_text("utf-8").splitlines()
    promises = [line for line in lines if line.startswith("| ")][1:]
    assert len(promises) > 10
    assert all("::test_" in line for line in promises)


def test_an_option_or_a_variable_that_is_named_is_there() -> None:
    text = (ROOT / "SECURITY.md").read_text("utf-8")
    source = "\n".join(path.read_text("utf-8") for path in (ROOT / "src").rglob("*.py"))
    for name in re.findall(r"`(PORTRAYAL_[A-Z_]+|--[a-z-]+)", text):
        assert name in source or f"{name.strip('-').replace('-', '_')}:" in source, name
