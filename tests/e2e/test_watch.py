"""The commands `audit --append` and `watch`, from files of texts to tables and JSON."""

import json
import re
import shlex
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from comparison.rounds import audit, stories
from guards.tree import ROOT


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made") / "rounds"
    for month, share in ((1, 0.15), (2, 0.15), (3, 0.95)):
        audit(folder / f"2026-0{month}-01", stories(share, month))
    return folder


def test_append_names_the_run_by_the_day_and_a_second_call_is_the_same_round(inside, tmp_path):
    rows = stories(0.4, 1, n=4)
    (tmp_path / "texts.jsonl").write_text("\n".join(map(json.dumps, rows)))
    call = ("audit", "laissez-faire", "--texts", "texts.jsonl", "--append", "rounds")
    days = {datetime.now(tz=UTC).date().isoformat()}
    for _ in range(2):
        done = inside(*call)
        assert done.status == 0, done.err
    days.add(datetime.now(tz=UTC).date().isoformat())
    assert {path.name for path in (tmp_path / "rounds").iterdir()} <= days
    seen = inside("watch", "rounds", "--fail")
    assert seen.status == 0, seen.err
    assert "a change takes two" in seen.out
    both = inside(*call, "--out", "elsewhere")
    assert both.status == 2
    assert both.err == "error: give either --out or --append, not both.\n"


def test_a_change_is_printed_and_fails_where_asked(inside, made, tmp_path):
    shown = inside("watch", str(made), "--fail")
    assert shown.status == 1, shown.err
    assert "tested numbers changed in 3 rounds" in shown.out.partition("\n")[0]
    assert "round 3" in shown.out
    page = ("--format", "markdown", "--out", "watch.md")
    assert inside("watch", str(made), *page).ok().out.count("\n") == 1
    assert "| round | date |" in (tmp_path / "watch.md").read_text(encoding="utf-8")
    found = inside("watch", str(made), "--format", "json")
    assert found.status == 0
    facts = json.loads(found.out)
    women = [r for r in facts["rows"] if r["group"] == {"gender": "F"}]
    assert women[0]["alarm"] == 3
    assert [each["when"] for each in facts["rounds"]] == ["2026-01-01", "2026-02-01", "2026-03-01"]


def test_bad_input_is_one_line_and_writes_nothing(inside, made, tmp_path):
    (tmp_path / "empty").mkdir()
    old = tmp_path / "old"
    shutil.copytree(made, old)
    (old / "2026-02-01" / "influences.parquet").unlink()
    for folder, words in (
        ("none", "is not a folder"),
        ("empty", "holds no run"),
        ("old", "is missing"),
    ):
        done = inside("watch", folder, "--out", "page.md")
        assert done.status == 2
        assert words in done.err
        assert done.err.count("\n") == 1
        assert done.out == ""
    assert not (tmp_path / "page.md").exists()


def test_a_comparison_has_a_page(inside, made, tmp_path):
    runs = [str(made / f"2026-0{month}-01") for month in (1, 2, 3)]
    done = inside("compare", *runs[::2], "--format", "html", "--out", "page.html")
    assert done.status == 0, done.err
    assert "Prompts that moved most" in (tmp_path / "page.html").read_text(encoding="utf-8")
    three = inside("compare", *runs, "--format", "html", "--out", "three.html")
    assert three.status == 2
    assert "two sides" in three.err
    assert not (tmp_path / "three.html").exists()


def test_the_example_workflow_says_what_the_commands_take(inside, made, tmp_path):
    """Its audit is refused for its key alone, and its watch runs."""
    text = (ROOT / "examples" / "watch" / "watch.yml").read_text(encoding="utf-8")
    audit_call, watch_call = (
        shlex.split(line)[1:] for line in re.findall(r"run: (portrayal .*)", text)
    )
    asked = inside(*audit_call, "--help")
    assert asked.status == 0, asked.err
    (tmp_path / "rounds").symlink_to(made)
    assert inside(*watch_call).status == 1
    assert (tmp_path / "watch.md").exists()
