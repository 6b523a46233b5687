"""Documentation is a test subject: generated pages, commands, examples, links and names."""

import csv
import json
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from guards.tree import ROOT
from portrayal import registry
from portrayal.cli import main

DOCS = ROOT / "docs"
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md")])
WRITTEN = [page for page in PAGES if page.name != "name-tables.md"]  # that page has its own test
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
NOT_RUN = "# docs: not run"


def _relative(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def _blocks(page: Path, kind: str) -> list[str]:
    return [text for k, text in BLOCK.findall(page.read_text(encoding="utf-8")) if k == kind]


def _anchors(page: Path) -> set[str]:
    text = BLOCK.sub("", page.read_text(encoding="utf-8"))
    titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.casefold()).strip().replace(" ", "-") for title in titles}


def test_the_generated_pages_are_up_to_date() -> None:
    command = [sys.executable, "scripts/build_docs.py", "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("kind", ["studies", "measures", "annotators"])
def test_every_registered_name_has_a_section(kind: registry.Kind) -> None:
    page = (DOCS / "reference" / f"{kind}.md").read_text(encoding="utf-8")
    sections = set(re.findall(r"^## `(.+)`$", page, re.MULTILINE))
    assert sections == set(registry.names(kind))


def test_the_readme_lists_every_measure() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^\| \[`(\w+)`\]", text, re.MULTILINE))
    assert listed == {name.rpartition(".v")[0] for name in registry.names("measures")}


def test_every_page_is_reached_from_the_index() -> None:
    linked = set(LINK.findall((DOCS / "index.md").read_text(encoding="utf-8")))
    pages = {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")}
    assert pages - {"index.md"} <= linked


@pytest.mark.parametrize("page", PAGES, ids=_relative)
def test_links_resolve(page: Path) -> None:
    text = BLOCK.sub("", page.read_text(encoding="utf-8"))
    for target in LINK.findall(text):
        if "://" in target:
            continue
        path, _, anchor = target.partition("#")
        found = (page.parent / path).resolve() if path else page
        assert found.exists(), f"{_relative(page)} links to {target}"
        if anchor:
            assert anchor in _anchors(found), f"{_relative(page)}: no section {target}"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files that the pages speak of."""
    folder = tmp_path_factory.mktemp("reader")
    sample = registry.get("studies", "laissez-faire").sample()["texts"].read_text(encoding="utf-8")
    (folder / "stories.jsonl").write_text("".join(sample.splitlines(True)[::4]), encoding="utf-8")
    news = registry.get("studies", "news").sample()
    for name, kind in (("generated.jsonl", "texts"), ("human.jsonl", "reference")):
        (folder / name).write_text(news[kind].read_text(encoding="utf-8"), encoding="utf-8")
    rows = [
        {
            "answer": "Emily asked, and John told her.",
            "engine": "m",
            "condition": "power-laden",
            "domain": "Labor",
            "subject_role": "doctor",
            "object_role": "patient",
            "a": "Emily",
            "b": "F",
            "c": "John",
            "d": "M",
        }
    ]
    with (folder / "labelled.csv").open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return folder


COMMANDS = list(
    dict.fromkeys(
        line.removeprefix("$ ")
        for page in WRITTEN
        for block in _blocks(page, "console")
        for line in block.splitlines()
        if line.startswith("$ portrayal")
    )
)


def test_the_commands_of_the_pages_run(
    place: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """In the order of the pages, in one folder, as a reader would type them; in this process."""
    assert len(COMMANDS) > 8
    monkeypatch.chdir(place)
    for command in COMMANDS:
        words = shlex.split(command)
        quick = ["--draws", "100", "--permutations", "20"] if words[1] == "audit" else []
        monkeypatch.setattr(sys, "argv", [*words, *quick])
        with pytest.raises(SystemExit) as stop:
            main()
        out, error = capfd.readouterr()
        assert not stop.value.code, f"{command}\n{error}"
        assert out.strip(), f"{command} says nothing"


EXAMPLES = [
    (page, number, code)
    for page in WRITTEN
    for number, code in enumerate(_blocks(page, "python"))
    if NOT_RUN not in code
]


@pytest.mark.parametrize(
    ("page", "number", "code"), EXAMPLES, ids=[f"{p.stem}-{n}" for p, n, _ in EXAMPLES]
)
def test_the_python_examples_run(
    page: Path, number: int, code: str, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pandas")
    monkeypatch.chdir(place)
    exec(compile(code, f"{_relative(page)} {number}", "exec"), {"__name__": "example"})


def test_the_toml_of_extending_names_the_python_of_extending() -> None:
    page = DOCS / "extending.md"
    points = tomllib.loads(_blocks(page, "toml")[0])["project"]["entry-points"]
    ((name, value),) = points["portrayal.measures"].items()
    space: dict[str, object] = {}
    exec(_blocks(page, "python")[0], space)
    component = space[value.partition(":")[2]]
    assert getattr(component, "name", None) == name


def test_the_json_of_getting_started_is_a_row() -> None:
    (row,) = (json.loads(text) for text in _blocks(DOCS / "getting-started.md", "json"))
    assert set(row) == {"prompt", "model", "text"}
    assert row["prompt"] in {p.text for p in registry.get("studies", "laissez-faire").prompts()}
