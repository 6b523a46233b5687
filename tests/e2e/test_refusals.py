"""What cannot be done is said in one line with exit status 2, and leaves nothing half-written."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from e2e.conftest import LABELLED, QUICK, Portrayal, labelled, write_lines
from portrayal.run import Run


def _made(out: Path) -> set[str]:
    """Names of what an audit made, apart from its lock."""
    return {p.name for p in out.iterdir()} - {".lock"} if out.exists() else set()


@pytest.mark.parametrize(
    ("content", "name", "words"),
    [
        ("", "stories.jsonl", ["stories.jsonl", "empty"]),
        ("text,model\n", "stories.csv", ["stories.csv", "no rows"]),
        ('{"foo": "x"}\n', "stories.jsonl", ["'foo'", "--column text=NAME"]),
        ('{"text": "Maria sat."}\n', "stories.jsonl", ["row 1", "condition", "subject_role"]),
        ('{"text": "Maria sat."\n', "stories.jsonl", ["line 1", "not valid JSON"]),
        ("[1, 2]\n", "stories.jsonl", ["line 1", "expected a JSON object"]),
        ('text,model\n"a,b\n', "stories.csv", ["stories.csv", "line"]),
        ("not a table", "stories.parquet", ["stories.parquet", "not a readable Parquet file"]),
        ("not a book", "stories.xlsx", ["stories.xlsx", "not a readable spreadsheet"]),
        ("text", "stories.docx", [".docx", ".jsonl"]),
        (None, "stories.csv", ["stories.csv", "no such file"]),
    ],
)
def test_files(
    inside: Portrayal, tmp_path: Path, content: str | None, name: str, words: list[str]
) -> None:
    if content is not None:
        (tmp_path / name).write_text(content, encoding="utf-8")
    inside("audit", "laissez-faire", "--texts", name, "--out", "r").refused(*words)
    # A manifest that vouches for nothing, and no table.
    assert not _made(tmp_path / "r") - {"texts", "manifest.json", ".manifest.json.lock"}
    assert not list(tmp_path.glob("r/**/*.parquet"))
    inside("list", "estimates", "r").refused("r is not a run")


AUDIT = ("audit", "laissez-faire", "--out", "r", "--texts")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("audit", "nothing", "--sample"), ["'nothing'", "laissez-faire"]),
        (("audit", "laissez-faire"), ["no texts"]),
        (("audit",), None),
        (("nothing",), ['"nothing"']),
        (("audit", "laissez-faire", "--sample", "--nothing"), ["--nothing"]),
        (("audit", "laissez-faire", "--sample", "--texts", "x.csv"), ["--texts", "--sample"]),
        ((*AUDIT, "stories.jsonl", "--level", "high"), ["--level"]),
        ((*AUDIT, "stories.jsonl", "--workers", "0"), ["workers", "at least 1"]),
        ((*AUDIT, "stories.jsonl", "--set", "preset=x"), ["'x'", "laissez-faire-dataverse"]),
        ((*AUDIT, "stories.jsonl", "--column", "text"), ["FIELD=NAME", "'text'"]),
        ((*AUDIT, "stories.jsonl", "--column", "text=x"), ["'x'", "'story'"]),
        ((*AUDIT, "stories.jsonl", "--column", "x=story"), ["'x'", "subject_name"]),
        ((*AUDIT, "stories.jsonl", "subject_name"), ["unexpected", "subject_name"]),
        (("audit", "pairs", "stories.jsonl"), ["unexpected", "--texts FILE"]),
        (("list", "estimates", "."), [". is not a run"]),
        (("list", "estimates", "missing"), ["missing is not a run"]),
        (("report", "missing"), ["missing is not a run"]),
        (("list", "prompts", "nothing"), ["'nothing'"]),
        (("replicate", "nothing"), ["'nothing'"]),
        (("replicate", "news", "--format", "csv"), ["--data"]),
        (("score", "people", "--hand-labels", "missing.csv"), ["missing.csv"]),
        (("score", "people", "--hand-labels", "stories.jsonl"), ["gold_subject_name"]),
        (("score", "people"), ["--hand-labels"]),
    ],
)
def test_arguments(
    inside: Portrayal,
    hospital: Path,
    tmp_path: Path,
    arguments: tuple[str, ...],
    words: list[str] | None,
) -> None:
    done = inside(*arguments)
    if words is None:
        assert (done.status, done.err) == (2, "")
        assert "Usage: portrayal" in done.out
        return
    folded = [word for word in words if word != "STUDY"]
    done.refused(*folded)
    assert "STUDY" not in words or "study" in done.err.casefold()
    assert not _made(tmp_path / "r")


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("level", "2", ["level", "0.95"]),
        ("seed", "-1", ["seed"]),
        ("set", "draws=5", ["draws", "100"]),
        ("set", "permutations=1", ["permutations", "20"]),
        ("permutations", "1", ["permutations", "20"]),
        ("set", "smoothing=-1", ["smoothing must"]),
        ("set", "min_count=-1", ["min_count must"]),
        ("smoothing", "-1", ["smoothing must"]),
        ("baseline", "mars", ["'mars'", "census-2022"]),
        ("name-table", "mars", ["'mars'", "census-2020"]),
    ],
)
def test_option_values(
    inside: Portrayal, hospital: Path, option: str, value: str, words: list[str]
) -> None:
    done = inside(*AUDIT, hospital, *LABELLED, f"--{option}", value)
    done.refused(*words)
    inside("list", "estimates", "r").refused("r is not a run")


@pytest.mark.parametrize("option", ["--level=2", "--baseline=mars"])
def test_an_option_is_checked_before_any_text_is_read(
    inside: Portrayal, hospital: Path, tmp_path: Path, option: str
) -> None:
    inside(*AUDIT, hospital, *LABELLED, option).refused()
    assert not _made(tmp_path / "r")


def test_questions_to_a_run_that_has_no_answer(inside: Portrayal, hospital_run: Path) -> None:
    for arguments, words in (
        (("--measure", "x"), ["'x'", "subordination.v1"]),
        (("--where", "domain"), ["KEY=VALUE"]),
        (("--where", "x=y"), ["'x'", "domain"]),
        (("--where", "domain=labor"), ["domain=labor", "Labor"]),
        (("--format", "xml"), ["format", "csv"]),
    ):
        inside("list", "estimates", hospital_run, *arguments).refused(*words)


def test_a_run_with_other_texts_is_kept(inside: Portrayal, hospital: Path, tmp_path: Path) -> None:
    inside(*AUDIT, hospital, *QUICK, *LABELLED).ok()
    before = (tmp_path / "r" / "estimates.parquet").read_bytes()
    rows = [labelled("p1", "n", ("John", "M"), ("Emily", "F"))]
    other = write_lines(tmp_path / "other.jsonl", rows)
    inside(*AUDIT, other, *QUICK, *LABELLED).refused("other texts", "--replace")
    assert (tmp_path / "r" / "estimates.parquet").read_bytes() == before
    facts = inside(*AUDIT, other, *QUICK, "--replace", "--format", "json", *LABELLED).json()
    assert facts["models"] == ["n"]


def test_a_process_of_its_own_refuses_alike(portrayal: Portrayal) -> None:
    portrayal("audit", "nothing", "--sample").refused("'nothing'", "laissez-faire")
    portrayal("audit", "laissez-faire", "--level", "high").refused("--level")


def test_a_run_that_another_process_holds(
    portrayal: Portrayal, hospital: Path, tmp_path: Path
) -> None:
    with Run(tmp_path / "r").lock():
        done = portrayal(*AUDIT, hospital, *LABELLED)
    done.refused("another process", "--out")
    assert not _made(tmp_path / "r")


def test_a_process_that_dies_frees_its_run(tmp_path: Path) -> None:
    code = (
        "import os, sys; from pathlib import Path; from portrayal.run import Run\n"
        "with Run(Path(sys.argv[1])).lock(): os._exit(1)"
    )
    subprocess.run([sys.executable, "-c", code, tmp_path / "r"], check=False)
    with Run(tmp_path / "r").lock():
        pass


def test_an_out_that_is_a_file(inside: Portrayal, hospital: Path, tmp_path: Path) -> None:
    (tmp_path / "r").write_text("mine", encoding="utf-8")
    inside(*AUDIT, hospital, *LABELLED).refused("r")
    assert (tmp_path / "r").read_text(encoding="utf-8") == "mine"


def test_an_out_that_cannot_be_written(inside: Portrayal, hospital: Path, tmp_path: Path) -> None:
    locked = tmp_path / "locked"
    locked.mkdir()
    locked.chmod(0o555)
    out = locked / "r" if os.geteuid() else Path("/proc/portrayal")  # root may write anywhere else
    inside("audit", "laissez-faire", "--texts", hospital, "--out", out).refused(str(out))
    assert not out.exists()
