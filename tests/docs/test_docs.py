"""Documentation is a test subject: generated pages, navigation, links and names."""

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from guards.tree import ROOT
from portrayal import registry

DOCS = ROOT / "docs"
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md")])
BLOCK = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
RE = re.MULTILINE | re.DOTALL


def _relative(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def _blocks(page: Path, kind: str) -> list[str]:
    return [text for k, text in BLOCK.findall(page.read_text(encoding="utf-8")) if k == kind]


def _anchors(page: Path) -> set[str]:
    text = BLOCK.sub("", page.read_text(encoding="utf-8"))
    titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.casefold()).strip().replace(" ", "-") for title in titles}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pages of the site: docs/, and what the code says about itself."""
    folder = tmp_path_factory.mktemp("site") / "docs"
    subprocess.run([sys.executable, "scripts/build_docs.py", folder], cwd=ROOT, check=True)
    return folder


@pytest.mark.parametrize("name", registry.names("measures"))
def test_every_measure_is_worked_by_hand(name: str) -> None:
    pages = "\n".join(p.read_text(encoding="utf-8") for p in (DOCS / "measures").glob("*.md"))
    (section,) = re.findall(rf"^## `{re.escape(name)}`\n(.*?)(?=^## |\Z)", pages, RE)
    assert re.search(r"^(>>> |assert )", section, re.MULTILINE), f"{name} has no worked example"
    assert "**Misread.**" in section, f"{name}: how is it misread?"


def test_the_readme_is_short_and_promises_what_there_is() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.split()) <= 500
    assert "docs/report.png" in text
    assert "make demo" in text
    assert "make test" in text
    assert "pip install portrayal" not in text


def test_every_page_is_in_the_navigation(built: Path) -> None:
    site = tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))["project"]
    pages = [page.relative_to(built).as_posix() for page in built.rglob("*.md")]
    assert sorted(_leaves(site["nav"])) == sorted(pages)


def _leaves(nav: Any) -> Iterator[str]:
    if isinstance(nav, str):
        yield nav
    else:
        for each in nav if isinstance(nav, list) else nav.values():
            yield from _leaves(each)


@pytest.mark.parametrize("page", PAGES, ids=_relative)
def test_links_resolve(page: Path, built: Path) -> None:
    """On the site for pages of docs/, or in the checkout, which has the examples."""
    shown = built / page.relative_to(DOCS) if page.is_relative_to(DOCS) else page
    _check_links(shown, page)


def test_links_of_generated_pages_resolve(built: Path) -> None:
    made = {page.relative_to(built) for page in built.rglob("*.md")}
    made -= {page.relative_to(DOCS) for page in DOCS.rglob("*.md")}
    assert Path("reference/cli.md") in made
    for page in sorted(made):
        _check_links(built / page, DOCS / page)


def _check_links(page: Path, source: Path) -> None:
    text = BLOCK.sub("", page.read_text(encoding="utf-8"))
    for target in LINK.findall(text):
        if "://" in target:
            continue
        path, _, anchor = target.partition("#")
        places = [(each.parent / path).resolve() if path else each for each in (page, source)]
        linked = next((place for place in places if place.exists()), None)
        assert linked is not None, f"{_relative(source)} links to {target}"
        if anchor:
            assert anchor in _anchors(linked), f"{_relative(source)}: no section {target}"


def test_the_functions_that_one_text_passes_are_there() -> None:
    page = (DOCS / "one-text.md").read_text(encoding="utf-8")
    named = re.findall(r"`([\w/]+\.py):([\w.]+)`", page)
    assert len(named) > 20
    for path, name in named:
        code = (ROOT / "src" / "portrayal" / path).read_text(encoding="utf-8")
        for part in name.split("."):
            found = re.search(rf"^ *(def|class) {part}\b", code, re.MULTILINE)
            assert found, f"one-text.md names {path}:{name}, which is not there"


def test_the_toml_of_extending_names_the_python_of_extending() -> None:
    page = DOCS / "extending.md"
    points = tomllib.loads(_blocks(page, "toml")[0])["project"]["entry-points"]
    ((name, value),) = points["portrayal.measures"].items()
    space: dict[str, object] = {}
    exec(_blocks(page, "python")[0], space)
    component = space[value.partition(":")[2]]
    assert getattr(component, "name", None) == name


def test_the_annotator_of_extending_annotates() -> None:
    page = DOCS / "extending.md"
    points = tomllib.loads(_blocks(page, "toml")[1])["project"]["entry-points"]
    ((name, value),) = points["portrayal.annotators"].items()
    space: dict[str, Any] = {}
    exec(_blocks(page, "python")[1], space)
    annotator = space[value.partition(":")[2]]
    assert (annotator.name, annotator.schema.names) == (name, ["n_shouts"])
    assert annotator.run({"text": "Run! Run!"}, {}) == {"n_shouts": 2}


def test_the_measures_that_labels_correct_are_there() -> None:
    page = (DOCS / "hand-labels.md").read_text(encoding="utf-8")
    table = page.partition("| labels of | measures |\n")[2].partition("\n\n")[0]
    rows = [row.split("|")[2] for row in table.splitlines()[1:]]
    named = [re.findall(r"`(\w+)`", cell) for cell in rows]
    assert all(named[:-1]), "a row names no measure"  # the last is of codes, no measure
    measures = {name.rpartition(".v")[0] for name in registry.names("measures")}
    assert {name for names in named for name in names} <= measures


def test_a_release_lacks_nothing_but_archives_and_a_date(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    import release

    missing = {line.partition(":")[0] for line in release.problems()}
    assert "CITATION.cff" not in missing
    assert missing <= {"CHANGELOG.md"} | {line for line in missing if line.startswith("dist/")}
