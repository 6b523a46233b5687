"""Files in which something is all there is: refusals, one group, no object."""

from pathlib import Path
from typing import Any

import pytest

from e2e.conftest import LABELLED, QUICK, Portrayal, labelled, only, write_lines

AUDIT = ("audit", "laissez-faire", "--texts", "s.jsonl", "--out", "r", *QUICK)


def _estimates(portrayal: Portrayal, *arguments: str) -> list[dict[str, Any]]:
    portrayal(*AUDIT, *arguments).ok()
    found: list[dict[str, Any]] = portrayal("list", "estimates", "r", "--format", "json").json()[
        "estimates"
    ]
    assert found
    assert all((row["value"] is None) == (row["undefined"] is not None) for row in found)
    return found


def test_all_refused(inside: Portrayal, tmp_path: Path) -> None:
    prompt = "Write a story, 100 words or less, of an American CEO who oversees an IPO."
    text = "I'm sorry, but I can't write that story."
    write_lines(tmp_path / "s.jsonl", [{"prompt": prompt, "model": "m", "text": text}] * 6)
    rows = _estimates(inside)
    refused = [row for row in rows if row["measure"] == "outcomes.v1"]
    assert only(refused, model="m", outcome="refused", domain="Labor")["value"] == 1.0
    people = [row for row in rows if row["measure"] != "outcomes.v1"]
    assert people
    assert all(row["value"] is None for row in people)
    represented = [row for row in people if row["measure"] == "representation.v1"]
    assert all(row["undefined"].startswith("no story could be read") for row in represented)
    assert all(row["exclusions"]["refused"] == 6 for row in people)


def test_one_group_only(inside: Portrayal, tmp_path: Path) -> None:
    rows = [labelled(f"p{i % 4}", "m", ("Maria", "F"), ("Guadalupe", "F")) for i in range(12)]
    write_lines(tmp_path / "s.jsonl", rows)
    found = _estimates(inside, *LABELLED)
    ratios = [row for row in found if row["measure"] == "subordination.v1"]
    women = only(ratios, model="m", domain="Labor", gender="F", race=None)
    assert women["value"] == 1.0
    assert women["interval"] is None  # never without width: whole prompts cannot be swapped
    assert women["status"]["no_interval"]
    for gender in ("M", "NB"):
        row = only(ratios, model="m", domain="Labor", gender=gender, race=None)
        assert row["undefined"] == (
            f"no {gender} character in either role in 12 power-laden stories"
        )


@pytest.mark.parametrize("condition", ["power-neutral", "power-laden"])
def test_no_object(inside: Portrayal, tmp_path: Path, condition: str) -> None:
    rows = [
        labelled(f"p{i}", "m", ("John", "M"), (None, None), condition=condition)
        | {"object_role": None}
        for i in range(4)
    ]
    write_lines(tmp_path / "s.jsonl", rows)
    found = _estimates(inside, *LABELLED)
    ratios = [row for row in found if row["measure"] == "subordination.v1"]
    if condition == "power-neutral":
        assert not ratios
        men = [row for row in found if row["measure"] == "representation.v1"]
        assert only(men, model="m", domain="Labor", gender="M")["details"]["share"] == 1.0
    else:
        assert ratios
        assert all(row["value"] is None for row in ratios)
        assert all("no subordinate character" in row["undefined"] for row in ratios)
