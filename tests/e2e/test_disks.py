"""Disks that fill up, or cannot be written, under the real command line."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import portrayal as toolkit
from e2e.conftest import PAGED, Portrayal
from portrayal import registry
from support import matrix

AUDIT = ("audit", "laissez-faire", "--sample", *PAGED)


def _mount(*options: object) -> None:
    done = subprocess.run(["mount", *map(str, options)], check=False, capture_output=True)
    if done.returncode:
        pytest.skip("no file system may be mounted here")


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of the sample that nobody disturbed."""
    out = tmp_path_factory.mktemp("undisturbed") / "r"
    sample = registry.get("studies", "laissez_faire").sample()["texts"]
    toolkit.audit(study="laissez-faire", texts=sample, out=out, draws=100, permutations=20)
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


WRITERS = (
    "audit laissez-faire --sample --set draws=100 --set permutations=20 --out {run}",
    "collect laissez-faire --model server:m --base-url http://127.0.0.1:9/v1 --out {run}",
    "report {run}",
    "evidence {run}",
    "evidence {run} --out {run}/new.md",
    "compare {run} {other} --format csv --out {run}/new.csv",
    "gate --init {run}/new.toml",
    "gate {run} --against {other} --policy {folder}/gate.toml --format json --out {run}/new.json",
    "label sheet {run}",
    "label sheet {run} --for stereotypes",
    "find cues {run} --list identities --out {run}/new.csv",
    "find people --texts {texts} --out {run}/new.csv",
    "build sentences --texts {texts} --out {run}/new.csv",
    "new {run}/new",
)
"""Commands that write somewhere; {run} is a run that cannot be written, {folder} is around it."""


@pytest.fixture(scope="module")
def read_only(
    undisturbed: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Path]]:
    """Folders and files that a command may name; the run is mounted read-only."""
    folder = tmp_path_factory.mktemp("series")
    run, other = folder / "run", folder / "other"
    shutil.copytree(undisturbed, run)
    shutil.copytree(undisturbed, other)
    _mount("--bind", run, run)
    _mount("-o", "remount,bind,ro", run)
    texts = registry.get("studies", "laissez_faire").sample()["texts"]
    yield {"run": run, "other": other, "folder": folder, "texts": texts}
    subprocess.run(["umount", "-l", str(run)], check=True)


@pytest.mark.fault(
    "a folder that cannot be written (mounted read-only)",
    "who writes there stops with one line that names it",
)
@pytest.mark.parametrize("command", matrix(WRITERS, 3))
def test_a_folder_that_cannot_be_written(
    inside: Portrayal, read_only: dict[str, Path], command: str
) -> None:
    if "{folder}/gate.toml" in command:
        inside("gate", "--init", read_only["folder"] / "gate.toml").ok()
    inside(*command.format_map(read_only).split()).refused(str(read_only["run"]))
