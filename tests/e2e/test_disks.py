"""Disks that fill up, or cannot be written, under the real command line."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import portrayal as toolkit
from e2e.conftest import QUICK, Portrayal
from portrayal import registry

AUDIT = ("audit", "laissez-faire", "--sample", *QUICK)


def _mount(*options: object) -> None:
    done = subprocess.run(["mount", *map(str, options)], check=False, capture_output=True)
    if done.returncode:
        pytest.skip("no file system may be mounted here")


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of the sample that nobody disturbed."""
    out = tmp_path_factory.mktemp("undisturbed") / "r"
    sample = registry.get("studies", "laissez_faire").sample()["texts"]
    toolkit.audit("laissez-faire", texts=sample, out=out, draws=100, permutations=20)
    return out


def _same(run: Path, other: Path) -> bool:
    names = ("estimates.parquet", "influences.parquet")
    return all((run / name).read_bytes() == (other / name).read_bytes() for name in names)


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A disk of its own, which `mount -o remount,size=` makes larger."""
    place = tmp_path / "small"
    place.mkdir()
    _mount("-t", "tmpfs", "-o", "size=16k", "tmpfs", place)
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


@pytest.mark.fault(
    "a disk that fills up at any moment of an audit",
    "one line that names it; with room the same command goes on to the same bytes",
)
def test_a_full_disk_in_an_audit(inside: Portrayal, small: Path, undisturbed: Path) -> None:
    size = sum(each.stat().st_size for each in undisturbed.rglob("*") if each.is_file())
    for share in (0.02, 0.2, 0.4):  # in the texts, the estimates, the page
        _mount("-o", f"remount,size={int(size * share)}", small)
        inside(*AUDIT, "--out", small / "r").refused("No space left")
    _mount("-o", "remount,size=64m", small)
    inside(*AUDIT, "--out", small / "r").ok()
    assert _same(small / "r", undisturbed)
    assert not list(small.rglob("*.tmp"))


@pytest.mark.fault(
    "a folder that cannot be written (mounted read-only)",
    "who writes there stops with one line that names it",
)
@pytest.mark.parametrize(
    "command",
    [
        ("audit", "laissez-faire", "--sample", *QUICK, "--out", "{run}"),
        ("report", "{run}"),
        ("report", "{run}", "--format", "md"),
    ],
    ids=lambda each: " ".join(each[:1]),
)
def test_a_folder_that_cannot_be_written(
    inside: Portrayal, tmp_path: Path, undisturbed: Path, command: tuple[str, ...]
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(undisturbed, copy)
    (copy / "estimates.parquet").touch()
    _mount("--bind", copy, copy)
    _mount("-o", "remount,bind,ro", copy)
    try:
        done = inside(*(each.format(run=copy, here=tmp_path) for each in command))
    finally:
        subprocess.run(["umount", "-l", str(copy)], check=True)
    done.refused("copy")
