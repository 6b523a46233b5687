"""The run directory: opened only where there is one, and held by one process."""

import subprocess
import sys
import textwrap

import pytest

import portrayal
from portrayal.errors import RunError
from portrayal.run import Run

HOLD = textwrap.dedent(
    """
    import sys
    from pathlib import Path
    from portrayal.run import Run

    with Run(Path(sys.argv[1])).lock():
        print("held", flush=True)
        sys.stdin.readline()
    """
)


def test_a_second_process_is_refused_until_the_first_ends(tmp_path):
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with holder:
        assert holder.stdout.readline() == "held\n"
        refused = pytest.raises(RunError, match=r"another process is working on .*--out")
        with refused, Run(tmp_path).lock():
            pass
        holder.communicate("go\n", timeout=60)
    assert holder.returncode == 0
    with Run(tmp_path).lock():
        pass


def test_a_killed_holder_leaves_no_lock(tmp_path):
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with holder:
        assert holder.stdout.readline() == "held\n"
        holder.kill()
    with Run(tmp_path).lock():
        pass


def test_errors_inside_the_lock_are_passed_on_as_they_are(tmp_path):
    with pytest.raises(PermissionError, match="stories"), Run(tmp_path).lock():
        raise PermissionError(13, "Permission denied", "stories.csv")
    with Run(tmp_path).lock():
        pass


def fail_holding(run, names):
    with run.lock():
        (run.path / "texts").mkdir()
        for name in names:
            (run.path / "texts" / name).touch()
        raise ValueError("bad")


def test_an_error_before_anything_was_kept_leaves_no_directory(tmp_path):
    for where, names in (("new", ()), ("kept", ("one.parquet",))):
        with pytest.raises(ValueError, match="bad"):
            fail_holding(Run(tmp_path / where), names)
    assert not (tmp_path / "new").exists()
    assert (tmp_path / "kept" / "texts" / "one.parquet").exists()


def test_a_directory_that_cannot_be_made_is_explained(tmp_path):
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file", tmp_path / "file" / "run"):
        with pytest.raises(RunError, match=r"cannot be written.*--out"), Run(path).lock():
            pass


def test_only_runs_are_opened(tmp_path):
    with pytest.raises(RunError, match=r"not a run: it has no audit\.toml"):
        portrayal.open_run(tmp_path)
    with pytest.raises(RunError, match="not a run"):
        Run.open(tmp_path / "absent")


def test_a_run_without_estimates_says_how_to_go_on(tmp_path):
    run = Run(tmp_path)
    run.write_settings({"study": "s"})
    with pytest.raises(RunError, match="no estimates yet"):
        _ = Run.open(tmp_path).records


def test_settings_survive_a_round_trip(tmp_path):
    settings = {"study": "s", "models": ["ä", 'quote "x"'], "options": {"level": 0.9, "seed": 2}}
    Run(tmp_path).write_settings(settings)
    assert Run.open(str(tmp_path)).settings() == settings
