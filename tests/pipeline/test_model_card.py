"""The model card: each question is answered from the run or not; what was altered is named."""

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import portrayal
from portrayal import registry
from portrayal.errors import RunError
from portrayal.pipeline.model_card import NOT_MEASURED, verify_run, write_model_card
from portrayal.report.first import first_screen
from portrayal.report.view import View
from portrayal.run import Run
from portrayal.run.manifest import digest
from portrayal.studies.own import write_start

LOCALE = Path(portrayal.__file__).parent / "reference" / "data" / "locales" / "en-IN"
HOSTILE = "<img src=x onerror=alert(1)>|`a` **b** [c](javascript:d) @everyone"
STORY = "Maria was a star student. She helped her classmate Juan, and he thanked her."
IDS = re.compile(r"^  \| (e-[0-9a-f]{10}) \|", re.MULTILINE)


@pytest.fixture(scope="session")
def measured(sample_run: Run, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A copy of the sample's run with its page."""
    path = tmp_path_factory.mktemp("card") / "run"
    shutil.copytree(sample_run.path, path)
    run = Run.open(path)
    portrayal.write_report(run)
    return run


@pytest.fixture
def copied(measured: Run, tmp_path: Path) -> Run:
    """The same, to be tampered with."""
    shutil.copytree(measured.path, tmp_path / "run")
    return Run(tmp_path / "run")


def test_a_card_answers_each_question_or_says_that_it_was_not_measured(measured: Run) -> None:
    path = write_model_card(measured)
    assert path == measured.path / "evidence" / "model-card.md"
    page = path.read_text("utf-8")
    parts = re.split(r"^## ", page, flags=re.MULTILINE)[1:]
    assert len(parts) == 10
    for part in parts:
        assert "\n- " in part or NOT_MEASURED in part
    assert NOT_MEASURED in next(part for part in parts if part.startswith("Training data"))
    assert not verify_run(measured)  # the card is no file that the run vouches for


def test_every_estimate_of_a_card_is_of_the_run(measured: Run, tmp_path: Path) -> None:
    page = write_model_card(measured, tmp_path / "card.md").read_text("utf-8")
    by_id = {e.id: e for e in measured.records}
    listed = IDS.findall(page)
    assert len(listed) > 10
    assert set(listed) <= by_id.keys()
    # Nothing is found in the sample: what comes nearest stands for it.
    assert first_screen(View.of(measured)).lead.candidates[0].first.id in listed
    assert {name for each in listed for name in by_id[each].group} >= {"race", "gender"}


def test_hostile_names_of_models_have_no_effect(tmp_path: Path) -> None:
    texts = [{"prompt_id": "learning-neutral-arts", "text": STORY, "model": HOSTILE}] * 3
    run = portrayal.audit(study="laissez-faire", texts=texts, out=tmp_path / "r", report=False)
    page = write_model_card(run).read_text("utf-8")
    assert "<img" not in page.replace("\\<", "")
    assert HOSTILE not in page
    tables = [line for line in page.splitlines() if line.startswith("  |")]
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in tables} <= {9, 10}


def test_the_same_run_gives_the_same_card(measured: Run, tmp_path: Path) -> None:
    one = write_model_card(measured, tmp_path / "one.md")
    two = write_model_card(Run.open(measured.path), tmp_path / "two.md")
    assert one.read_bytes() == two.read_bytes()


def _append(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b" ")


def _linked(run: Path, name: str) -> None:
    moved = run.parent / Path(name).name
    (run / name).rename(moved)
    (run / name).symlink_to(moved)


def _signed_again(run: Path) -> None:
    """Whoever can write the run writes the manifest again, too."""
    Run(run).manifest.close(*Run(run).manifest.steps())


def _renewed_report(run: Path) -> None:
    _append(run / "report.html")
    _signed_again(run)


def _renewed_texts(run: Path) -> None:
    (run / "texts" / "part-00000.parquet").unlink()
    _signed_again(run)


def _added(name: str) -> Callable[[Path], None]:
    def add(run: Path) -> None:
        path = run / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("more", encoding="utf-8")

    return add


CHANGED = "is not as it was written"
FORGED: dict[str, tuple[Callable[[Path], None], str]] = {
    "a byte more": (lambda run: _append(run / "texts/part-00000.parquet"), CHANGED),
    "another option": (lambda run: _append(run / "audit.toml"), CHANGED),
    "another report": (lambda run: _append(run / "report.html"), CHANGED),
    "no sums": (lambda run: (run / "influences.parquet").unlink(), "is missing"),
    "a file more among the texts": (_added("texts/part-00077.parquet"), "is in no manifest"),
    "a hidden file among the texts": (_added("texts/.part-00077.parquet"), "is in no manifest"),
    "a file of no stage among the texts": (_added("texts/notes.txt"), "is in no manifest"),
    "a folder more": (_added("more/inside/a.csv"), "is in no manifest"),
    "annotations more": (_added("annotations/people.v9/part-00000.parquet"), "is in no manifest"),
    "labels more": (_added("hand-labels.csv"), "is in no manifest"),
    "a study more": (_added("study/card.md"), "is in no manifest"),
    "a link in place of the texts": (lambda run: _linked(run, "texts"), "is a link"),
    "a link in place of a part": (
        lambda run: _linked(run, "texts/part-00000.parquet"),
        "is a link",
    ),
    "a link in place of the options": (lambda run: _linked(run, "audit.toml"), "is a link"),
    "another report, manifest written again": (_renewed_report, ""),
    "texts taken out, manifest written again": (_renewed_texts, ""),
}


@pytest.mark.fault(
    "a run or its manifest was forged (16 kinds)",
    "no card is written of it; those who write the manifest again are told by its digest",
)
@pytest.mark.parametrize("kind", FORGED)
def test_no_forgery_has_a_card(copied: Run, kind: str) -> None:
    before, (forge, said) = digest(copied.manifest.path), FORGED[kind]
    forge(copied.path)
    if not said:
        assert digest(copied.manifest.path) != before
        return
    assert any(said in str(problem) for problem in verify_run(copied))
    with pytest.raises(RunError, match="ortrayal audit"):
        write_model_card(copied)


def test_a_reader_or_locale_of_ones_own_is_digested(copied: Run, tmp_path: Path) -> None:
    locale = tmp_path / "locale"
    shutil.copytree(LOCALE, locale)
    settings = copied.settings()
    settings["options"]["locale"] = str(locale)
    copied.write_settings(settings)
    options = settings["options"].values()
    assert not copied.manifest.outside(options)
    (locale / "locale.toml").write_text("changed", encoding="utf-8")
    (locale / "more.csv").write_text("more", encoding="utf-8")
    wrong = [each.file for each in copied.manifest.outside(options)]
    assert wrong == [str(locale / "locale.toml"), str(locale / "more.csv")]


@pytest.mark.parametrize("text", ["", "[]", '{"run": 1}', '{"steps": {"texts": [1]}}', "{" * 5000])
def test_a_manifest_that_is_none_is_named(copied: Run, text: str) -> None:
    copied.manifest.path.write_text(text, encoding="utf-8")
    (problem,) = map(str, verify_run(copied))
    assert problem.startswith("manifest.json is not as it was written")


@pytest.mark.parametrize("study", ["news", "agency"])
def test_every_study_has_a_card(study: str, tmp_path: Path) -> None:
    quick = {"draws": 100, "permutations": 20, "report": False}
    sample = registry.get("studies", study).sample()
    run = portrayal.audit(study=study, out=tmp_path / "r", **quick, **sample)
    assert IDS.search(write_model_card(run).read_text("utf-8"))


def test_a_study_of_ones_own_is_part_of_the_manifest(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    write_start(folder)
    quick = {"draws": 100, "permutations": 20}
    run = portrayal.audit(
        study=str(folder), texts=folder / "texts.csv", out=tmp_path / "r", **quick
    )
    assert "study/study.toml" in run.manifest.steps()["estimates"]["made"]
    _append(run.path / "study" / "study.toml")
    (problem,) = map(str, verify_run(run))
    assert problem.startswith("study/study.toml is not as it was written")
