"""The manifest: no byte of a run changes unseen; the same audit makes anew what does not fit."""

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from benchmarks.manifest import FUNCTIONS, METHODS
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import portrayal
from portrayal.errors import RunError
from portrayal.pipeline.model_card import verify_run
from portrayal.run import Run, manifest
from portrayal.run.manifest import (
    MEASURED,
    TEXTS,
    Manifest,
    files_named,
    step_of,
)
from support import matrix

STORY = "Maria was a star student. She helped her classmate Juan, and he thanked her."
OTHER = "Omar was a star student. He helped his classmate Anna, and she thanked him."
PROMPTS = ("learning-neutral-arts", "learning-neutral-english", "learning-neutral-health")
MANY = settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def audited(out: Path, story: str = STORY, seed: int = 0) -> Run:
    """The same audit; its page, which takes most of the time, is written by `made` alone."""
    texts = [{"prompt_id": prompt, "text": story} for prompt in PROMPTS for _ in range(2)]
    few = {"draws": 100, "permutations": 20, "report": False, "seed": seed}
    return portrayal.audit(study="laissez-faire", texts=texts, out=out, shard_rows=2, **few)


def settled(folder: Path) -> None:
    """Let every file look as if it were written an hour ago, and be known by size and time."""
    then = time.time() - 3600
    for path in folder.rglob("*"):
        if path.is_file():
            os.utime(path, (then, then))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = audited(tmp_path_factory.mktemp("made") / "run")
    portrayal.write_report(run)
    return run.path


@pytest.fixture
def run(made: Path, tmp_path: Path) -> Run:
    return Run(shutil.copytree(made, tmp_path / "run"))


def files_of(run: Run) -> list[str]:
    """Every file of a run but the locks, which say nothing."""
    paths = [path.relative_to(run.path).as_posix() for path in run.path.rglob("*")]
    beside = (".lock", ".manifest.json.lock")
    return sorted(p for p in paths if (run.path / p).is_file() and Path(p).name not in beside)


def contents(run: Run) -> dict[str, bytes]:
    """Every file but the page, which says where the run lies, and what is of it."""
    beside = ("report.html", "manifest.json")
    here = [file for file in files_of(run) if file not in beside]
    return {file: (run.path / file).read_bytes() for file in here}


def flip(path: Path, place: float, bit: int) -> None:
    content = bytearray(path.read_bytes())
    content[int(place * len(content))] ^= 1 << bit
    path.write_bytes(content)


READERS: dict[str, Callable[[Path], object]] = {
    "open_run": portrayal.open_run,
    "records of Run(path)": lambda path: portrayal.Run(path).records,
    "influences of Run(path)": lambda path: portrayal.Run(path).influences,
    "compare": lambda path: portrayal.compare(path, path),
}


def test_every_file_is_of_a_step(made: Path) -> None:
    run = Run(made)
    listed = {file for entry in run.manifest.steps().values() for file in entry["made"]}
    assert listed == {*files_of(run)} - {"manifest.json"}
    assert not run.manifest.problems(strict=True)
    measured = run.manifest.steps()[MEASURED]["read"]
    assert measured == run.manifest.made(TEXTS, "annotations/people.v8")


@pytest.mark.fault(
    "any one bit of any file of a run changes",
    "every reader names the file in one line, and the same audit makes anew what does not fit",
)
@MANY
@given(which=st.integers(0, 10**6), place=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
def test_a_flipped_bit_is_seen_by_every_reader(
    run: Run, made: Path, which: int, place: float, bit: int
) -> None:
    files = files_of(run)
    file = files[which % len(files)]
    flip(run.path / file, place, bit)
    try:
        for name, read in READERS.items():
            with pytest.raises(RunError, match=file.replace(".", r"\.")) as refused:
                read(run.path)
            assert "portrayal audit" in str(refused.value), name
            assert "\n" not in str(refused.value)
        assert verify_run(run)
    finally:
        shutil.copyfile(made / file, run.path / file)
    assert Run.open(run.path).records


@pytest.mark.fault(
    "any one bit of any file of a run changes",
    "every reader names the file in one line, and the same audit makes anew what does not fit",
)
@MANY
@given(which=st.integers(0, 10**6), place=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
def test_a_bit_that_was_flipped_with_all_times_kept_is_seen(
    run: Run, which: int, place: float, bit: int
) -> None:
    files = [file for file in files_of(run) if file != "manifest.json"]
    file = files[which % len(files)]
    path = run.path / file
    before, status = path.read_bytes(), path.stat()
    assert not run.manifest.problems()
    flip(path, place, bit)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    try:
        assert [problem.file for problem in run.manifest.problems()] == [file]
        with pytest.raises(RunError, match=file.replace(".", r"\.")):
            portrayal.open_run(run.path)
        assert verify_run(run)
    finally:
        path.write_bytes(before)


def test_a_file_is_digested_once_a_process_unless_it_changes(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    settled(run.path)
    time.sleep(2.1)  # the inode's own time cannot be set
    assert not run.manifest.problems()
    read: list[Path] = []
    monkeypatch.setattr("portrayal.run.manifest.digest", lambda path: read.append(path) or "x")
    assert not run.manifest.problems()
    assert not read
    os.utime(run.estimates_path)
    assert run.manifest.problems()
    assert read == [run.estimates_path]


def test_a_run_is_opened_elsewhere(run: Run, tmp_path: Path) -> None:
    moved = run.path.rename(tmp_path / "moved")
    assert portrayal.open_run(moved).records
    copied = shutil.copytree(moved, tmp_path / "copied", copy_function=shutil.copyfile)
    assert portrayal.open_run(copied).records


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return audited(tmp_path_factory.mktemp("other") / "run", OTHER).path


SWAPPED = (
    ("texts/part-00000.parquet",),
    ("annotations/people.v8/part-00001.parquet",),
    ("estimates.parquet", "influences.parquet"),
    ("estimates.parquet", "influences.parquet", "audit.toml", "estimates/stage.json"),
    ("prompts.parquet", "texts/stage.json", *(f"texts/part-0000{i}.parquet" for i in range(3))),
    ("manifest.json",),
)


@pytest.mark.fault(
    "files of another run in place of its files (6 kinds), one more, one less, or a link",
    "every reader names a file in one line; the same audit makes anew what does not fit",
)
@pytest.mark.parametrize("files", matrix([(each,) for each in SWAPPED]), ids=lambda files: files[0])
def test_files_of_another_run_are_seen(run: Run, other: Path, files: tuple[str, ...]) -> None:
    before = contents(run)
    here = run.path
    assert any((other / each).read_bytes() != (here / each).read_bytes() for each in files)
    for file in files:
        shutil.copyfile(other / file, run.path / file)
    with pytest.raises(RunError, match=r"is not as it was written|is missing"):
        portrayal.open_run(run.path)
    audited(run.path)
    assert not run.manifest.problems()
    after = contents(run)
    assert {file for file in before if after[file] != before[file]} == set()


def more(run: Run) -> None:
    parts = run.texts.parts()
    shutil.copyfile(parts[0], run.texts.folder / "part-00009.parquet")


def less(run: Run) -> None:
    run.texts.parts()[1].unlink()


def linked(run: Run) -> None:
    run.estimates_path.rename(run.path.parent / "estimates.parquet")
    run.estimates_path.symlink_to(run.path.parent / "estimates.parquet")


@pytest.mark.fault(
    "files of another run in place of its files (6 kinds), one more, one less, or a link",
    "every reader names a file in one line; the same audit makes anew what does not fit",
)
@pytest.mark.parametrize("change", [more, less, linked])
def test_files_more_or_less_are_seen_and_mended(run: Run, change: Callable[[Run], None]) -> None:
    before = contents(run)
    change(run)
    with pytest.raises(RunError, match=r"no step|is missing|is a link"):
        portrayal.open_run(run.path)
    audited(run.path)
    assert contents(run) == before


def remade(run: Run, before: dict[str, int]) -> set[str]:
    now = {file: (run.path / file).stat().st_mtime_ns for file in files_of(run)}
    return {file for file in now if now[file] != before.get(file)}


MENDED = {
    "estimates.parquet": {"estimates.parquet", "influences.parquet", "estimates/stage.json"},
    "annotations/people.v8/part-00001.parquet": {
        "annotations/people.v8/part-00001.parquet",
        "annotations/people.v8/stage.json",
    },
    "texts/part-00001.parquet": {
        *(f"texts/part-0000{i}.parquet" for i in range(3)),
        *("texts/stage.json", "prompts.parquet"),
        *("annotations/people.v8/part-00001.parquet", "annotations/people.v8/stage.json"),
    },
    "audit.toml": set(),
}
ALWAYS = {"audit.toml", "manifest.json"}


@pytest.mark.parametrize("file", MENDED)
def test_the_same_audit_makes_anew_what_does_not_fit_and_no_more(run: Run, file: str) -> None:
    settled(run.path)
    before = contents(run)
    flip(run.path / file, 0.5, 1)
    times = {name: (run.path / name).stat().st_mtime_ns for name in files_of(run) if name != file}
    audited(run.path)
    assert remade(run, times) - ALWAYS == MENDED[file] - ALWAYS
    assert contents(run) == before
    assert not run.manifest.problems(strict=True)


def test_a_page_that_does_not_fit_is_taken_away(run: Run) -> None:
    flip(run.report_path, 0.5, 1)
    with pytest.raises(RunError, match=r"report\.html is not as it was written"):
        portrayal.open_run(run.path)
    audited(run.path)
    assert not run.report_path.exists()
    assert portrayal.write_report(Run.open(run.path)).is_file()
    assert not run.manifest.problems(strict=True)


def test_without_the_texts_nothing_is_taken_away(run: Run) -> None:
    part = run.texts.parts()[0]
    flip(part, 0.5, 1)
    damaged = part.read_bytes()
    with pytest.raises(RunError, match=r"part-00000\.parquet is not as it was written.*--texts"):
        portrayal.audit(study="laissez-faire", out=run.path, draws=100, permutations=20)
    assert part.read_bytes() == damaged


@pytest.mark.parametrize("change", [Path.unlink, lambda path: flip(path, 0.5, 0)])
def test_a_run_that_nothing_vouches_for_is_made_anew(
    run: Run, change: Callable[[Path], None]
) -> None:
    before = contents(run)
    shutil.copyfile(run.texts.parts()[0], run.path / "kept")
    content = run.estimates_path.read_bytes()
    run.estimates_path.write_bytes(content[:-100] + b"\0" * 60 + content[-40:])
    change(run.manifest.path)
    with pytest.raises(RunError, match=r"manifest\.json is (missing|not as it was written)"):
        portrayal.open_run(run.path)
    (run.path / "kept").unlink()
    audited(run.path)
    assert contents(run) == before


def test_a_page_that_is_written_again_is_recorded(run: Run) -> None:
    portrayal.write_report(Run.open(run.path))
    assert not run.manifest.problems()
    portrayal.write_report(Run.open(run.path), run.path.parent / "elsewhere.html")
    assert not run.manifest.problems(strict=True)


def test_texts_that_came_later_are_told_until_the_next_audit(run: Run) -> None:
    with run.manifest.step(TEXTS):
        shutil.copyfile(run.texts.parts()[0], run.texts.folder / "part-00003.parquet")
    with pytest.raises(RunError, match="was made from other files than there are now"):
        portrayal.open_run(run.path)


def test_an_audit_that_was_stopped_is_told(run: Run) -> None:
    run.manifest.open(MEASURED)
    with pytest.raises(RunError, match="was stopped before it ended"):
        portrayal.open_run(run.path)


def test_a_file_is_of_the_step_that_makes_it() -> None:
    steps = {
        "journal.jsonl": "texts",
        "reference-prompts.parquet": "reference",
        "reference-annotations/words.v1/part-00000.parquet": "reference-annotations/words.v1",
        "topics/model.json": "topics",
        "topics/topics.json": "estimates",
        "answers/people/m-1/texts/part-00000.parquet": "answers",
        "report-short.md": "report",
        "reported.txt": None,
        "hand-labels.csv": None,
    }
    assert {file: step_of(file) for file in steps} == steps


def test_files_that_options_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "race").mkdir()
    (tmp_path / "race" / "in").mkdir()
    (tmp_path / "race" / "in" / "table.csv").touch()
    (tmp_path / "table.csv").touch()
    named = files_named(["race", "table.csv", ("race/in", 0.95), None, "", "absent"])
    assert [*named] == [Path("table.csv"), Path("race/in/table.csv")]


class Killed(BaseException):
    """Stands for kill -9: nothing changes on the disk from then on."""


def killed_at(number: int, patch: pytest.MonkeyPatch) -> list[str]:
    """Let the process die before its write of this number; return what was written before."""
    written: list[str] = []
    replace, unlink = Path.replace, Path.unlink

    def count(path: Path) -> None:
        if len(written) >= number:
            raise Killed
        written.append(path.name)

    def replacing(path: Path, target: Path) -> Path:
        count(Path(target))
        return replace(path, target)

    def unlinking(path: Path, missing_ok: bool = False) -> None:
        if path.exists() or path.is_symlink():
            count(path)
        unlink(path, missing_ok=missing_ok)

    patch.setattr(Path, "replace", replacing)
    patch.setattr(Path, "unlink", unlinking)
    return written


@pytest.mark.fault(
    "kill -9 between any two writes of an audit, of a first one and of one over another",
    "readers say that it was stopped; the same audit ends with the bytes of an undisturbed one",
)
@pytest.mark.parametrize(("over_another", "step"), matrix([(True, 5), (True, 1), (False, 1)]))
def test_killed_between_any_two_writes(tmp_path: Path, over_another: bool, step: int) -> None:
    expected = audited(tmp_path / "whole").path
    whole = contents(Run(expected))
    if over_another:
        audited(tmp_path / "before", seed=7)
        flip(tmp_path / "before" / "texts" / "part-00001.parquet", 0.5, 0)
    # Texts that were mended, and nothing else yet, leave the earlier run as it was.
    allowed = {path.read_bytes() for path in tmp_path.glob("*/estimates.parquet")}
    number, kills = 0, 0
    while True:
        out = tmp_path / str(number)
        if over_another:
            shutil.copytree(tmp_path / "before", out)
        with pytest.MonkeyPatch.context() as patch:
            killed_at(number, patch)
            try:
                audited(out)
            except Killed:
                kills += 1
            else:
                break
        said = ""
        try:
            read = portrayal.open_run(out).estimates_path.read_bytes()
        except RunError as error:
            said = str(error)
        assert "portrayal audit" in said or read in allowed
        after = contents(audited(out))
        assert {file for file in whole if after.get(file) != whole[file]} == set(), number
        assert portrayal.open_run(out).records
        shutil.rmtree(out)
        number += step
    assert kills > 15 / step


def test_the_benchmark_takes_the_time_of_what_there_is():
    assert all(hasattr(Manifest, name) for name in METHODS)
    assert all(hasattr(manifest, name) for name in FUNCTIONS)
