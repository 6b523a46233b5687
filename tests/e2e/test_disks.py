"""Disks that fill up or cannot be written, two audits into one folder, and series under kills."""

import contextlib
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import portrayal as toolkit
from e2e.conftest import QUICK, Portrayal, command_line, environment
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
    for share in (0.02, 0.4, 0.8):
        _mount("-o", f"remount,size={int(size * share)}", small)
        inside(*AUDIT, "--out", small / "r").refused("No space left")
    _mount("-o", "remount,size=64m", small)
    inside(*AUDIT, "--out", small / "r").ok()
    assert _same(small / "r", undisturbed)
    assert not list(small.rglob("*.tmp"))


@pytest.mark.fault(
    "a folder that cannot be written (mounted read-only)",
    "who writes there stops with one line that names it; who reads goes on",
)
@pytest.mark.parametrize(
    ("command", "reads"),
    [
        (("audit", "laissez-faire", "--sample", *QUICK, "--out", "{run}"), False),
        (("report", "{run}"), False),
        (("report", "{run}", "--format", "md"), False),
        (("evidence", "{run}", "--for", "model-card"), False),
        (("compare", "{run}", "{run}", "--format", "html", "--out", "{run}/c.html"), False),
        (("list", "estimates", "{run}"), True),
        (("compare", "{run}", "{run}"), True),
        (("report", "{run}", "--out", "{here}/report.html"), True),
    ],
    ids=lambda each: " ".join(each[:2]) if isinstance(each, tuple) else "",
)
def test_a_folder_that_cannot_be_written(
    inside: Portrayal, tmp_path: Path, undisturbed: Path, command: tuple[str, ...], reads: bool
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
    if reads:
        done.ok()
    else:
        done.refused("copy")


@pytest.mark.fault(
    "two audits into one folder at once", "the second is refused in one line; the first is whole"
)
def test_two_audits_into_one_folder(inside: Portrayal, tmp_path: Path, undisturbed: Path) -> None:
    out = tmp_path / "r"
    with subprocess.Popen(
        command_line(*AUDIT, "--out", out), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as first:
        until = time.monotonic() + 60
        while not list(out.glob("texts/part-*.parquet")):
            assert time.monotonic() < until
            time.sleep(0.01)
        first.send_signal(signal.SIGSTOP)  # it holds the folder while the second comes
        try:
            for _ in range(2):
                inside(*AUDIT, "--out", out).refused("another process is working on", "--out")
        finally:
            first.send_signal(signal.SIGCONT)
        _, error = first.communicate(timeout=120)
    assert first.returncode == 0, error
    assert _same(out, undisturbed)


@pytest.mark.fault(
    "kill -9 of `audit --append` and of `watch`",
    "the same commands go on; a round that is not whole is said or left out",
)
def test_a_series_under_kills(inside: Portrayal, tmp_path: Path, undisturbed: Path) -> None:
    series = tmp_path / "series"
    for day in ("2024-01-01", "2024-01-08", "2024-01-15"):
        shutil.copytree(undisturbed, series / day)
    before = inside("watch", series, "--format", "json").ok().out
    rng = random.Random(7)
    append = command_line(*AUDIT, "--append", series)
    look = command_line("watch", series, "--out", tmp_path / "watch.html")
    states = set()
    for n in range(3):
        command = look if n % 3 == 2 else append
        with subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment()
        ) as process:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(rng.uniform(2.0, 8.0))
            states.add(process.poll())
            process.kill()
        done = inside("watch", series, "--format", "json")
        assert "Traceback" not in done.err
        assert done.status in (0, 2), done.err
        if done.status == 2:
            assert len(done.err.strip().splitlines()) == 1, done.err
        page = tmp_path / "watch.html"
        assert not page.exists() or page.read_text(encoding="utf-8").rstrip().endswith("</html>")
    assert None in states  # something was killed
    inside(*AUDIT, "--append", series).ok()
    (new,) = (each for each in series.iterdir() if not each.name.startswith("2024"))
    assert _same(new, undisturbed)
    assert not list(series.rglob("*.tmp"))
    for day in ("2024-01-01", "2024-01-08", "2024-01-15"):
        assert _same(series / day, undisturbed)
    shutil.rmtree(new)
    assert inside("watch", series, "--format", "json").ok().out == before
