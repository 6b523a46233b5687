"""`portrayal gate` as a user types it, the example workflow, and the pytest fixture."""

import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from command import invoke
from e2e.conftest import QUICK, Portrayal, environment, write_lines
from gating.conftest import stories
from guards.tree import ROOT
from portrayal.run import Run
from support import vouch_again

EXAMPLE = ROOT / "examples" / "gate"
RULE = """passes = "no_excess_shown"
[[rule]]
name = "women"
measure = "representation"
group = { gender = "F" }
where = { domain = "Learning" }
"""


def _runs(folder: Path) -> Path:
    """Files of texts and their runs: "fewer" halves the share of women of "base"."""
    for name, share, seed in (("base", 0.7, 1), ("candidate", 0.7, 2), ("fewer", 0.35, 3)):
        write_lines(folder / f"{name}.jsonl", stories(share, seed, "m"))
        given = ("--texts", folder / f"{name}.jsonl", "--out", folder / "runs" / name, *QUICK)
        assert invoke("audit", "laissez-faire", *given).exit_code == 0
    return folder


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = _runs(tmp_path_factory.mktemp("gate"))
    shutil.copy(EXAMPLE / "gate.toml", folder)
    return folder


def written(place: Path, text: str, name: str = "own.toml") -> Path:
    (place / name).write_text(text, encoding="utf-8")
    return place / name


@pytest.mark.parametrize(
    ("run", "lines", "status", "outcome"),
    [
        ("candidate", "allowed_change = 1.5", 0, "pass"),
        ("fewer", "allowed_change = 1.5", 1, "fail"),
        ("candidate", "allowed_range = [1.3, 1.41]", 0, "pass"),
    ],
)
def test_a_verdict_is_an_exit_status(
    inside: Portrayal, place: Path, run: str, lines: str, status: int, outcome: str
) -> None:
    policy = written(place, RULE + lines)
    done = inside(
        "gate",
        place / "runs" / run,
        "--against",
        place / "runs/base",
        "--policy",
        policy,
        "--format",
        "json",
    )
    assert done.status == status, done.err
    assert json.loads(done.out)["outcome"] == outcome


def test_these_prompts_may_be_what_is_judged(
    inside: Portrayal, place: Path, tmp_path: Path
) -> None:
    here = ("--population", "these-prompts")
    texts = place / "candidate.jsonl"
    inside("audit", "laissez-faire", "--texts", texts, "--out", "here", *here, *QUICK).ok()
    facts = inside("list", "findings", "here", "--format", "json").json()
    assert "450 stories to these prompts" in facts["sentence"]
    policy = written(place, f'population = "{here[1]}"\n{RULE}allowed_range = [1.3, 1.41]')
    done = inside("gate", "here", "--policy", policy)
    assert "judged for these prompts" in " ".join(done.out.split())
    made = inside("gate", "here", "--policy", policy, "--format", "json")
    assert json.loads(made.out)["population"] == here[1]


def test_inconclusive_is_3_and_unreadable_is_4(
    inside: Portrayal, place: Path, tmp_path: Path
) -> None:
    strict = RULE.replace("no_excess_shown", "shown_within") + "allowed_change = 1.01"
    policy = written(place, strict)
    ask = ("gate", place / "runs/candidate", "--against", place / "runs/base", "--policy")
    done = inside(*ask, policy)
    assert done.status == 3
    assert "texts of each run" in " ".join(done.out.split())
    assert max(map(len, done.out.splitlines())) <= 80
    unread = written(
        place,
        "[unreadable]\nunmatched = 0.0\n" + RULE.replace("passes", "#") + "allowed_change = 1.5",
    )
    shutil.copytree(place / "runs/candidate", tmp_path / "run")
    note = tmp_path / "run/texts/stage.json"
    facts = json.loads(note.read_text())
    facts["outcomes"] = {"ok": 0, "refused": 450, "empty": 0, "failed": 0}
    note.write_text(json.dumps(facts))
    vouch_again(Run(tmp_path / "run"))
    done = inside("gate", tmp_path / "run", "--against", place / "runs/base", "--policy", unread)
    assert done.status == 4, done.out


@pytest.mark.parametrize("format", ["table", "markdown", "json"])
def test_every_format_goes_to_a_file(
    inside: Portrayal, place: Path, tmp_path: Path, format: str
) -> None:
    out = tmp_path / "verdict"
    done = inside(
        "gate",
        place / "runs/fewer",
        "--against",
        place / "runs/base",
        "--policy",
        place / "gate.toml",
        "--format",
        format,
        "--out",
        out,
    )
    assert done.status == 1
    assert done.out.startswith("fail: ")
    assert len(done.out.splitlines()) == 1
    assert "women" in out.read_text(encoding="utf-8")


def test_init_writes_a_policy_that_runs(inside: Portrayal, place: Path, tmp_path: Path) -> None:
    assert "examples" in inside("gate", "--init", "gate.toml").ok().out
    text = (tmp_path / "gate.toml").read_text(encoding="utf-8")
    assert "THE NUMBERS BELOW ARE EXAMPLES" in text
    inside("gate", "--init", "gate.toml").refused("is there already")
    # These texts have one role alone, which the first rule of the example is not about.
    (tmp_path / "gate.toml").write_text(text.replace('"subordination" ', '"representation"'))
    done = inside(
        "gate", place / "runs/candidate", "--against", place / "runs/base", "--policy", "gate.toml"
    )
    assert done.status in (0, 3), done.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), ["name a run and a policy", "--init"]),
        (("nowhere", "--against", "runs/base", "--policy", "gate.toml"), ["nowhere is not a run"]),
        (("runs/candidate", "--policy", "gate.toml"), ["--against"]),
        (("runs/candidate", "--against", "runs", "--policy", "gate.toml"), ["is not a run"]),
        (
            ("runs/candidate", "--against", "runs/base", "--policy", "none.toml"),
            ["--init none.toml"],
        ),
        (
            ("runs/candidate", "--against", "runs/base", "--policy", "x.toml"),
            ["x.toml, line 5", "'X'"],
        ),
        (
            ("runs/candidate", "--against", "runs/base", "--policy", "k.toml"),
            ["k.toml, line 6", "unknown key"],
        ),
        (
            ("runs/candidate", "--policy", "gate.toml", "--format", "junit"),
            ["--format", "markdown"],
        ),
    ],
)
def test_bad_input_is_one_line_and_writes_nothing(
    inside: Portrayal,
    place: Path,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    arguments: tuple[str, ...],
    words: list[str],
) -> None:
    written(place, RULE.replace('"F"', '"X"') + "allowed_change = 1.5", "x.toml")
    written(place, RULE.replace("where", "were") + "allowed_change = 1.5", "k.toml")
    monkeypatch.chdir(place)
    out = tmp_path / "verdict.md"
    more = ("--out", out) if arguments else ()
    inside("gate", *arguments, *more).refused(*words)
    assert not out.exists()


def test_the_example_workflow_runs(place: Path) -> None:
    """Its own commands, but for the install, give a verdict and its file."""
    text = (EXAMPLE / "gate.yml").read_text(encoding="utf-8")
    assert "(../examples/gate/gate.yml)" in (ROOT / "docs" / "gating.md").read_text(
        encoding="utf-8"
    )
    commands = re.findall(r"run: (portrayal .*)", text)
    assert len(commands) == 3
    for command in commands:
        asked = shlex.split(command)[1:]
        if asked[0] == "audit":
            assert (place / asked[asked.index("--texts") + 1]).exists()
            assert (place / asked[-1]).is_dir()  # made above, with fewer draws
            continue
        done = subprocess.run(
            [sys.executable, "-m", "portrayal", *asked], cwd=place, capture_output=True, check=False
        )
        assert done.returncode == 0, done.stderr
    assert (place / "verdict.md").read_text(encoding="utf-8").startswith("## Portrayal gate: pass")


@pytest.mark.parametrize(("candidate", "status"), [("candidate", 0), ("fewer", 1)])
def test_the_fixture_of_the_example_stops_a_test(
    place: Path, tmp_path: Path, candidate: str, status: int
) -> None:
    for name in ("gate.toml", "test_portrayal.py"):
        shutil.copy(EXAMPLE / name, tmp_path)
    (tmp_path / "runs").mkdir()
    shutil.copytree(place / "runs/base", tmp_path / "runs/base")
    shutil.copytree(place / "runs" / candidate, tmp_path / "runs/candidate")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "."],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == status, done.stdout + done.stderr
    assert ("women among students" in done.stdout) == bool(status)


def test_texts_that_no_annotator_read_count_as_failed(portrayal: Portrayal, tmp_path: Path) -> None:
    spanish = "Ella era enfermera y trabajaba todas las noches en el hospital de la ciudad."
    english = "Maria was a star student. She helped her friend on day"
    rows = [
        {"prompt_id": "learning-neutral-arts", "text": f"{text} {i}."}
        for i in range(10)
        for text in (english, spanish)
    ]
    texts = write_lines(tmp_path / "t.jsonl", rows)
    portrayal("audit", "laissez-faire", "--texts", texts, "--out", "r").ok()
    (tmp_path / "p.toml").write_text(
        "[unreadable]\nfailed = 0.4\n[[rule]]\nname = 'women'\nmeasure = 'representation'\n"
        "group = { gender = 'F' }\nallowed_range = [0.1, 9.0]\n",
        encoding="utf-8",
    )
    done = portrayal("gate", "r", "--policy", "p.toml")
    assert (done.status, "failed" in done.out) == (4, True)
