"""Every code block of the README and the documentation is run, or says why it cannot be."""

import csv
import json
import shutil
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest

import portrayal
from docs.blocks import DATA, SHELL, SHOWN, Block, blocks, run_page
from guards.tree import ROOT
from portrayal import registry
from servers.labeler import fields_of
from servers.openai_server import OpenAIServer

PAGES = [
    *(ROOT / "README.md", ROOT / "CONTRIBUTING.md"),
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "src").rglob("card.md")),
]
CODE = [block for page in PAGES for block in blocks(page) if block.kind not in SHOWN]
WITH_CODE = [page for page in PAGES if any(b.page == page and not b.reason for b in CODE)]


SENTENCES = [("He led the firm.", "agentic"), ("She cared for others.", "communal")] * 20


class Terminal(StringIO):
    """A terminal at which a person says yes."""

    def isatty(self) -> bool:
        return True


def _answer(prompt: str, number: int) -> str:
    """What the model says that the pages ask: labels, edits, a class, or a story."""
    if fields := fields_of(prompt):
        return json.dumps({f: "Maria" if f.endswith("name") else ["she"] for f in fields})
    if "Agency List" in prompt:
        return json.dumps({"edits": []})
    days = len(prompt)  # so that no two prompts have the same answer
    return f"Maria was kind. She helped John, and he thanked her, {number} times in {days} days."


@pytest.fixture(scope="module")
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer(write=_answer) as running:
        yield running


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files and runs that the pages speak of."""
    folder = tmp_path_factory.mktemp("reader")
    shutil.copytree(ROOT / "examples/assistant", folder / "examples/assistant")
    stories = registry.get("studies", "laissez-faire").sample()["texts"]
    lines = stories.read_text(encoding="utf-8").splitlines(True)
    (folder / "stories.jsonl").write_text("".join(lines[100::4]), encoding="utf-8")
    rows = [json.loads(line) for line in lines[100::4]]
    _write(folder / "stories.csv", rows)
    news = registry.get("studies", "news").sample()
    shutil.copy(news["texts"], folder / "generated.jsonl")
    shutil.copy(news["reference"], folder / "human.jsonl")
    bios = registry.get("studies", "agency").sample()["texts"].read_text(encoding="utf-8")
    _write(folder / "bios.csv", [json.loads(line) for line in bios.splitlines()])
    pairs = registry.get("studies", "pairs").sample()["texts"].read_text(encoding="utf-8")
    letters = [json.loads(line) for line in pairs.splitlines()]
    named = {"pair": "case", "source": "note"}
    letters = [{named.get(k, k): v for k, v in row.items()} | {"length": "1"} for row in letters]
    _write(folder / "answers.csv", letters)
    _write(folder / "sentences.csv", [{"text": s, "label": label} for s, label in SENTENCES])
    quick = {"draws": 100, "permutations": 20}
    runs = folder / "runs"
    portrayal.audit(
        study="laissez-faire", texts=folder / "stories.jsonl", out=runs / "first", **quick
    )
    others = [json.loads(line) for line in lines[101::4]]
    portrayal.audit(study="laissez-faire", texts=others, out=runs / "new", report=False, **quick)
    models = [row | {"model": name} for name in ("ChatGPT4", "Claude2.0") for row in rows]
    portrayal.audit(study="laissez-faire", texts=models, out=runs / "five", report=False, **quick)
    for name, of in (
        ("old", "first"),
        ("base", "first"),
        ("candidate", "new"),
        ("b", "new"),
        ("c", "new"),
    ):
        shutil.copytree(runs / of, runs / name)
    return folder


def _write(path: Path, rows: list[dict[str, str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


@pytest.mark.parametrize("page", WITH_CODE, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_the_blocks_of_a_page_run(
    page: Path,
    files: Path,
    server: OpenAIServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """In their order, in one folder and one namespace, as a reader would type them."""
    shutil.copytree(files, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "a-key")
    monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
    monkeypatch.setattr("sys.stdin", Terminal("y\n" * 100))
    assert run_page(page, capfd, server.base_url)


def test_every_block_is_of_a_kind_that_is_run() -> None:
    other = [f"{b}: {b.kind}" for b in CODE if b.kind not in (*SHELL, *DATA, "python", "pycon")]
    assert not other


def test_blocks_that_are_not_run_say_why_and_are_few() -> None:
    left: list[Block] = [block for block in CODE if block.reason]
    assert all(len(block.reason.split()) > 2 for block in left)
    assert len(left) <= 17, f"{len(left)} of {len(CODE)} blocks are not run: {list(map(str, left))}"


def test_no_command_hides_in_a_listing() -> None:
    shown = [b for page in PAGES for b in blocks(page) if b.kind in SHOWN]
    hidden = [b for b in shown for line in b.text.splitlines() if line.startswith("portrayal ")]
    assert [str(b) for b in hidden] == []
