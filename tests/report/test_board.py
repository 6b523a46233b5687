"""The board: what it says of many runs, what it withholds, what it survives, and how it reads."""

import json
import re
import shutil
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import portrayal
from portrayal.errors import OptionError, RunError
from portrayal.report.board import write_board
from portrayal.report.first import kept_findings
from portrayal.run import Run, write_parquet
from portrayal.run.estimates import estimates_to_table
from portrayal.run.manifest import MEASURED

from .conftest import estimate
from .test_browser import opened
from .test_limits import AXE, OPEN_ALL, RUN_AXE

HOSTILE = "<script>window.hit = 1</script>"
MOST_BYTES = 1_000_000
Maker = Callable[..., Run]


@pytest.fixture(scope="module")
def runs(sample_run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample under hostile names, a study of two models, a series, and what is no run."""
    folder = tmp_path_factory.mktemp("many")
    for name in ("zebra", HOSTILE.replace("/", "∕"), "okapi/2026-04", "okapi/2026-05"):
        shutil.copytree(sample_run.path, folder / name)
    pairs: Any = portrayal.registry.get("studies", "pairs")
    portrayal.audit("pairs", **pairs.sample(), out=folder / "pairs", report=False, permutations=40)
    shutil.copytree(sample_run.path, folder / "cut")
    whole = (folder / "cut" / "estimates.parquet").read_bytes()
    (folder / "cut" / "estimates.parquet").write_bytes(whole[:300])
    shutil.copytree(sample_run.path, folder / "odd")
    (folder / "odd" / "audit.toml").write_text('models = 3\nstudy = ["x"]\n', encoding="utf-8")
    (folder / "photos").mkdir()
    (folder / "notes.txt").write_text("x", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def site(runs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("site")
    board = write_board(runs, place)
    assert board.n_runs == 5
    assert set(board.left_out) == {"cut", "odd", "photos"}
    return place


def page(place: Path) -> str:
    return " ".join((place / "index.html").read_text(encoding="utf-8").split())


def test_a_board_has_headlines_tables_series_and_answers(site: Path, runs: Path) -> None:
    said = page(site)
    found = kept_findings(Run.open(runs / "zebra"))["findings"]["findings"]
    assert " ".join(found[0]["sentence"].split()) in said
    assert "3 other folders are not shown" in said
    assert "Teller B" in said
    assert re.search(r"place 1</span>", said)  # of two models that can be told apart
    assert said.count('class="strength">found in a run') > 2
    (watched,) = (site / "watched").glob("*.html")
    assert f'href="watched/{watched.name}"' in said
    assert "2 rounds, 2026-04-01 to 2026-05-01" in said
    answers = list((site / "answers").glob("*.html"))
    assert len(answers) == said.count('href="answers/')
    assert any(page_.read_text("utf-8").count("<article>") == 2 for page_ in answers)


def test_names_and_texts_are_escaped(site: Path) -> None:
    every = [path.read_text("utf-8") for path in site.rglob("*.html")]
    assert not any("<script>window.hit" in text for text in every)
    assert any("&lt;script&gt;window.hit" in text for text in every)


def test_links_lead_to_reports(runs: Path, site: Path, tmp_path: Path) -> None:
    (runs / "zebra" / "report.html").write_text("a report", encoding="utf-8")
    write_board(runs, tmp_path / "site")
    links = re.findall(r'href="([^"]+)"', page(tmp_path / "site"))
    link = next(each for each in links if "zebra/report" in each)
    assert (tmp_path / "site" / link).resolve().read_text("utf-8") == "a report"


def test_a_private_board_holds_no_prompt_text_or_folder(runs: Path, tmp_path: Path) -> None:
    place = tmp_path / "site"
    write_board(runs, place)
    write_board(runs, place, private=True)
    files = [path for path in place.rglob("*") if path.is_file()]
    assert {path.name for path in files} == {"index.html", "board.json"}
    shown = " ".join(page(place).split())
    import pyarrow.parquet as pq

    for path in [*runs.glob("*/prompts.parquet"), *runs.glob("*/texts/part-*.parquet")]:
        for text in pq.read_table(path, columns=["text"])["text"].to_pylist():
            words = " ".join((text or "").split())
            for start in range(0, max(len(words) - 24, 1), 12):
                assert words[start : start + 24] not in shown or not words
    for name in ("zebra", "okapi", "photos", "window.hit", str(runs)):
        assert name not in shown
    assert len(re.findall(r"SHA-256 <code>[0-9a-f]{64}</code>", shown)) == 5


def test_a_private_board_withholds_sentences_that_quote(make_run: Maker, tmp_path: Path) -> None:
    run = make_run([estimate(group={"word": "sesame"}), estimate()])
    kept = kept_findings(run)
    quoting = {"sentence": "“Open sesame” stands more often", "strength": "strong",
               "group": {"word": "sesame"}, "strata": {}, "measure": "m.v1"}  # fmt: skip
    kept["findings"] |= {
        "headline": "found",
        "findings": [quoting, {"sentence": "sesame", "strength": "strong"}],
    }
    path = run.path / "findings.json"
    with run.manifest.recording(path):
        path.write_text(json.dumps(kept), encoding="utf-8")
    write_board(run.path.parent, tmp_path / "open")
    write_board(run.path.parent, tmp_path / "closed", private=True)
    assert "sesame" in page(tmp_path / "open")
    assert "sesame" not in page(tmp_path / "closed").lower()
    assert "2 findings withheld, as it may quote a text" in page(tmp_path / "closed")


def test_findings_are_kept_until_numbers_change(make_run: Maker) -> None:
    run = make_run([estimate(0.3, 0.2, 0.4, q=0.001)])
    first = kept_findings(run)
    assert (run.path / "findings.json").is_file()
    assert kept_findings(run) == first
    (run.path / "findings.json").write_text("[1]", encoding="utf-8")
    with pytest.raises(RunError, match=r"findings\.json is not as it was written"):
        kept_findings(Run(run.path))
    (run.path / "findings.json").unlink()
    with run.manifest.step(MEASURED):
        write_parquet(
            estimates_to_table([replace(estimate(2.5, 2.1, 3.3, q=0.001))]), run.estimates_path
        )
    with run.manifest.recording(run.path / "findings.json"):
        pass  # of other estimates, it left the manifest
    (row,) = kept_findings(Run(run.path))["questions"]
    assert row["value"] == 2.5


def test_a_damaged_file_of_findings_costs_its_run_alone(sample_run: Run, tmp_path: Path) -> None:
    for name in ("good", "bad"):
        shutil.copytree(sample_run.path, tmp_path / "runs" / name)
    kept = kept_findings(Run(tmp_path / "runs" / "bad"))
    for broken in ({"level": None}, {"questions": [1]}, {"findings": {"findings": [{}]}}):
        text = json.dumps(kept | broken)
        (tmp_path / "runs" / "bad" / "findings.json").write_text(text, encoding="utf-8")
        board = write_board(tmp_path / "runs", tmp_path / "site")
        assert (board.n_runs, set(board.left_out)) == (1, {"bad"})


def test_what_is_no_folder_of_runs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="not a folder"):
        write_board(tmp_path / "none", tmp_path / "site")
    with pytest.raises(OptionError, match="no finished run"):
        write_board(tmp_path, tmp_path / "site")


def test_sixty_runs_are_one_small_page(sample_run: Run, tmp_path: Path) -> None:
    kept_findings(sample_run)
    for n in range(60):
        shutil.copytree(sample_run.path, tmp_path / "runs" / f"run-{n}")
        settings = sample_run.settings() | {"models": [f"model {n}"]}
        run = Run(tmp_path / "runs" / f"run-{n}")
        run.write_settings(settings)
        with run.manifest.recording(run.path / "findings.json"):
            pass
    write_board(tmp_path / "runs", tmp_path / "warm")
    start = time.process_time()
    board = write_board(tmp_path / "runs", tmp_path / "site")
    assert time.process_time() - start < 6  # a third of a second on a quiet machine
    assert board.path.stat().st_size <= MOST_BYTES


@pytest.mark.browser
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark"), (390, "light")])
def test_a_board_reads_well(browser: Any, site: Path, width: int, scheme: str) -> None:
    media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    try:
        answers = next((site / "answers").glob("*.html"))
        for path in (site / "index.html", answers):
            opened(browser, path, width)
            browser.set_script_timeout(120)
            browser.execute_script(AXE)
            browser.execute_script(OPEN_ALL)
            assert browser.execute_async_script(RUN_AXE) == []
            assert browser.execute_script("return document.documentElement.scrollWidth") <= width
            assert browser.execute_script("return window.hit") is None
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


@pytest.mark.browser
def test_filters_leave_the_runs_of_a_study_and_a_model(browser: Any, site: Path) -> None:
    opened(browser, site / "index.html")
    choose = (
        "const it = document.getElementById(arguments[0]);"
        "it.value = [...it.options].find(o => o.text.startsWith(arguments[1])).value;"
        "it.dispatchEvent(new Event('change')); return document.getElementById('shown').textContent"
    )
    assert browser.execute_script(choose, "by-study", "Pairs") == "1 of 5 runs"
    assert browser.execute_script(choose, "by-model", "Teller B") == "1 of 5 runs"
    assert browser.execute_script(choose, "by-study", "Laissez") == "0 of 5 runs"
    assert browser.execute_script(choose, "by-model", "all") == "4 of 5 runs"
