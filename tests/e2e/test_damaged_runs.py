"""Runs whose files were cut off or overwritten: said in one line, made anew by the same audit."""

from collections.abc import Callable
from pathlib import Path

import pytest

from e2e.conftest import LABELLED, PAGED, Portrayal

KEPT = ("estimates.parquet", "influences.parquet", "prompts.parquet", "report.html")
Damage = Callable[[bytes], bytes]
CUTS: tuple[Damage, ...] = (
    lambda _: b"",
    lambda content: content[:-1],
    lambda content: content[: len(content) // 2],
)
FILES = (
    "estimates.parquet",
    "influences.parquet",
    "prompts.parquet",
    "texts/part-00000.parquet",
    "annotations/people-labelled.v1/part-00000.parquet",
    "audit.toml",
)


@pytest.fixture
def again(inside: Portrayal, hospital: Path) -> Callable[[], dict[str, bytes]]:
    def audit() -> dict[str, bytes]:
        given = ("--texts", hospital, "--out", "r", "--workers", "1", *PAGED)
        inside("audit", "laissez-faire", *given, *LABELLED).ok()
        run = hospital.parent / "r"
        return {name: (run / name).read_bytes() for name in (*KEPT, *FILES)}

    return audit


def test_what_was_cut_off_is_said_and_made_anew(
    again: Callable[[], dict[str, bytes]], inside: Portrayal, tmp_path: Path
) -> None:
    whole = again()
    for name, damage in zip(FILES, CUTS * 2, strict=True):
        (tmp_path / "r" / name).write_bytes(damage(whole[name]))
        inside("report", "r").refused(name, "is not as it was written", "portrayal audit")
        after = again()
        assert [key for key in whole if after[key] != whole[key]] == [], name
    (tmp_path / "r" / FILES[3]).unlink()
    (tmp_path / "r" / FILES[4]).unlink()
    assert again() == whole


def test_what_was_overwritten_is_one_line(
    again: Callable[[], dict[str, bytes]], inside: Portrayal, tmp_path: Path
) -> None:
    whole = again()
    for name in FILES:
        content = whole[name]
        (tmp_path / "r" / name).write_bytes(
            content[:8] + b"\xff" * (len(content) - 16) + content[-8:]
        )
        for command in (("report", "r"), ("find", "cues", "r")):
            inside(*command).refused(name, "is not as it was written")
        (tmp_path / "r" / name).write_bytes(content)
