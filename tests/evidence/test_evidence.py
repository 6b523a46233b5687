"""Packs: each field is filled from the run or says that it is not; manifests name what changed."""

import datetime
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import portrayal
from portrayal import registry
from portrayal.errors import DataError, OptionError, RunError, UnknownNameError
from portrayal.evidence import (
    NOT_MEASURED,
    form,
    forms,
    pack_of,
    to_json,
    to_markdown,
    verify_evidence,
    write_evidence,
)
from portrayal.evidence.pack import FILLS, NOTES
from portrayal.report.first import first_screen
from portrayal.report.view import View
from portrayal.run import Run
from portrayal.studies.own import write_start

LOCALE = Path(portrayal.__file__).parent / "reference" / "data" / "locales" / "en-IN"
HOSTILE = "<img src=x onerror=alert(1)>|`a` **b** [c](javascript:d) @everyone"
STORY = "Maria was a star student. She helped her classmate Juan, and he thanked her."


@pytest.fixture(scope="session")
def measured(sample_run: Run, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A copy of the sample's run with two packs."""
    path = tmp_path_factory.mktemp("evidence") / "run"
    shutil.copytree(sample_run.path, path)
    run = Run.open(path)
    portrayal.write_report(run)
    for name in ("model-card", "eu-ai-act"):
        write_evidence(run, name)
    return run


@pytest.fixture
def copied(measured: Run, tmp_path: Path) -> Run:
    """The same, to be tampered with."""
    shutil.copytree(measured.path, tmp_path / "run")
    return Run(tmp_path / "run")


@pytest.mark.parametrize("name", forms())
def test_a_form_names_its_text_and_knows_its_fills(name: str) -> None:
    told = form(name)
    assert re.search(r"\b(19|20)\d\d\b", told.follows), "no version of the text"
    assert told.url.startswith("https://")
    measures = {each.rpartition(".v")[0] for each in registry.names("measures")}
    for field in told.fields:
        assert {*field.fill} <= {*FILLS}, field.key
        assert {*field.measures} <= measures, field.key
        assert bool(field.measures) == ("estimates" in field.fill), field.key


DATE = re.compile(r"\b\d{1,2}(?: [A-Z][a-z]+ |\.\d{1,2}\.)20\d\d\b")


@pytest.mark.parametrize("name", ["colorado", "eu-ai-act"])
def test_every_legal_date_has_a_source_and_the_day_it_was_checked(name: str, measured: Run) -> None:
    law = form(name)
    sourced = " ".join(date.says for date in law.dates)
    for words in (law.changes, *law.notes):
        assert not DATE.search(words), "a date that no source stands beside"
    for date in DATE.findall(law.follows):
        assert date.replace("12.7.2024", "12 July 2024") in sourced
    for date in law.dates:
        assert date.source.startswith("https://")
        assert datetime.date.fromisoformat(date.checked).year >= 2026
    page, told = to_markdown(pack_of(measured, name)), json.loads(to_json(pack_of(measured, name)))
    assert page.count("last checked 20") == len(law.dates) == len(told["form"]["dates"]) > 0
    assert "proposed on 19 November 2025" not in page


def test_the_forms_cover_what_they_follow() -> None:
    ai_act = {field.answers for field in form("eu-ai-act").fields}
    for point in range(1, 10):
        assert any(re.match(rf"Annex IV\({point}\)", each) for each in ai_act) or point == 8
    assert {"Article 10(2)(f)", "Article 11(1)", "Article 15(5)"} <= ai_act
    controls = [field.answers for field in form("iso-42001").fields]
    assert len(controls) == 38
    assert [sum(c.startswith(f"A.{n}.") for c in controls) for n in range(2, 11)] == [
        *(3, 2, 5, 4, 9, 5, 4, 3, 3),
    ]
    assert "30 June 2026" in form("colorado").follows
    assert "SB25B-004" in form("colorado").follows


@pytest.mark.parametrize("name", forms())
def test_a_pack_fills_each_field_or_says_that_it_is_not_measured(name: str, measured: Run) -> None:
    pack = pack_of(measured, name)
    told = json.loads(to_json(pack))
    page = to_markdown(pack)
    assert [field["key"] for field in told["fields"]] == [f.key for f in form(name).fields]
    for field in told["fields"]:
        assert field["status"] in (NOT_MEASURED, "filled", "filled in part")
        assert bool(field["says"]) == (field["status"] != NOT_MEASURED)
        assert all(said["source"] and said["text"] for said in field["says"])
    assert 0 < pack.n_measured < len(pack.answers)
    assert page.count(f"\n**{NOT_MEASURED}**") >= len(pack.answers) - pack.n_measured
    assert form(name).follows.split(",")[0] in page.replace("\\", "")
    for note in NOTES:
        assert note in told["notes"]
    assert "Local Law 144" in page
    assert "no legal advice" in page


def test_every_number_of_a_pack_is_that_of_the_run(measured: Run) -> None:
    by_id = {e.id: e for e in measured.records}
    told = json.loads(to_json(pack_of(measured, "model-card")))
    page = to_markdown(pack_of(measured, "model-card"))
    listed = [e for f in told["fields"] for said in f["says"] for e in said["estimates"]]
    assert len(listed) > 10
    # Nothing is found in the sample: what comes nearest stands for it.
    nearest = first_screen(View.of(measured)).lead.candidates[0].estimate
    assert nearest.id in {row["id"] for row in listed}
    for row in listed:
        e = by_id[row["id"]]
        assert row["value"] == (e.value if e.value != float("inf") else "inf")
        assert (row["n_clusters"], row["undefined"]) == (e.n_clusters, e.undefined)
        assert e.id in page
        if e.interval is not None and row["interval"]["high"] != "inf":
            assert row["interval"]["high"] == e.interval.high
    assert {name for row in listed for name in row["group"]} >= {"race", "gender"}


def test_what_was_not_measured_is_not_filled(tmp_path: Path) -> None:
    """One story of one prompt: no difference between groups has a value with a test."""
    texts = [{"prompt_id": "learning-neutral-arts", "text": STORY, "model": HOSTILE}] * 3
    run = portrayal.audit("laissez-faire", texts=texts, out=tmp_path / "r", report=False)
    told = json.loads(to_json(pack_of(run, "eu-ai-act")))
    (robust,) = (f for f in told["fields"] if f["key"] == "art-15-4-consistency")
    assert [said["source"] for said in robust["says"]] == ["texts/"]
    (groups,) = (f for f in told["fields"] if f["key"] == "annex-iv-3-groups")
    assert groups["status"] == NOT_MEASURED


def test_hostile_names_of_models_have_no_effect_in_markdown(tmp_path: Path) -> None:
    texts = [{"prompt_id": "learning-neutral-arts", "text": STORY, "model": HOSTILE}] * 3
    run = portrayal.audit("laissez-faire", texts=texts, out=tmp_path / "r", report=False)
    page = to_markdown(pack_of(run, "model-card"))
    assert "<img" not in page.replace("\\<", "")
    assert HOSTILE not in page
    for sign in ("<", "|", "`", "*", "[", "@"):
        for at in re.finditer(r"onerror|everyone|javascript", page):
            line = page[page.rfind("\n", 0, at.start()) : page.find("\n", at.start())]
            held = line[line.find("img") - 2 : line.find("everyone") + 8]
            assert all(held[m.start() - 1] == "\\" for m in re.finditer(re.escape(sign), held))
    tables = [line for line in page.splitlines() if line.startswith("  |")]
    assert tables
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in tables} == {13}


def test_the_same_run_gives_the_same_pack(measured: Run, tmp_path: Path) -> None:
    one = write_evidence(measured, "iso-42001", tmp_path / "one")
    two = write_evidence(Run.open(measured.path), "iso-42001", tmp_path / "two")
    for path in one.iterdir():
        assert path.read_bytes() == (two / path.name).read_bytes()


def test_a_pack_in_one_format_leaves_no_other_behind(measured: Run, tmp_path: Path) -> None:
    write_evidence(measured, "model-card", tmp_path / "model-card")
    card = write_evidence(measured, "model-card", tmp_path / "model-card", formats=("md",))
    assert [path.name for path in card.iterdir()] == ["evidence.md"]
    assert verify_evidence(measured, card).ok
    with pytest.raises(OptionError, match="format takes md or json; got 'pdf'"):
        write_evidence(measured, "model-card", tmp_path, formats=("pdf",))


def _append(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b" ")


def _swap(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("strong", "weak").replace("0.", "1."), encoding="utf-8")


TAMPERED: list[tuple[str, Callable[[Path], None], str]] = [
    ("texts/part-00000.parquet", _append, "texts/part-00000.parquet is not as it was written"),
    ("prompts.parquet", Path.unlink, "prompts.parquet is missing"),
    ("texts/part-00009.parquet", Path.touch, "texts/part-00009.parquet is in no manifest"),
    ("annotations/people.v4/part-00000.parquet", _append, "annotations/people.v4/part-00000"),
    ("audit.toml", _append, "audit.toml is not as it was written"),
    ("estimates.parquet", _append, "estimates.parquet is not as it was written"),
    ("influences.parquet", Path.unlink, "influences.parquet is missing"),
    ("report.html", _swap, "report.html is not as it was written"),
    ("evidence/model-card/evidence.md", _append, "model-card/evidence.md is not what this run"),
    ("evidence/eu-ai-act/evidence.json", _swap, "eu-ai-act/evidence.json is not what this run"),
]


@pytest.mark.parametrize(("file", "tamper", "said"), TAMPERED, ids=[t[0] for t in TAMPERED])
def test_what_was_tampered_with_is_named(
    copied: Run, file: str, tamper: Callable[[Path], None], said: str
) -> None:
    tamper(copied.path / file)
    checked = verify_evidence(copied)
    assert not checked.ok
    (problem,) = map(str, checked.problems)
    assert problem.startswith(said)


def _signed_again(run: Path, version: str = portrayal.__version__) -> None:
    """Whoever can write the run writes the manifest again, too."""
    steps = Run(run).manifest.steps()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("portrayal.run.manifest.__version__", version)
        Run(run).manifest.close(*steps)


def test_a_manifest_that_was_written_again_does_not_hide_a_changed_pack(copied: Run) -> None:
    before = verify_evidence(copied).manifest
    _swap(copied.path / "evidence" / "model-card" / "evidence.md")
    _swap(copied.report_path)
    _signed_again(copied.path)
    after = verify_evidence(copied)
    (problem,) = map(str, after.problems)
    assert problem == "model-card/evidence.md is not what this run gives"
    assert before != after.manifest


def test_another_version_of_the_package_is_said_and_not_compared(copied: Run) -> None:
    _signed_again(copied.path, "9.9")
    checked = verify_evidence(copied)
    assert (checked.ok, checked.problems, checked.recomputed) == (False, (), False)
    assert "recomputed: no. The run was measured by Portrayal 9.9" in checked.notes[0]


def test_another_package_of_the_same_version_is_said(
    copied: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = {"portrayal/annotate": "0" * 64}
    monkeypatch.setattr("portrayal.run.manifest.package_digests", lambda: now)
    said = "\n".join(map(str, verify_evidence(copied).problems))
    assert "portrayal/annotate is not as it was written" in said


def _better(folder: Path) -> None:
    page = folder / "evidence.md"
    page.write_text(page.read_text(encoding="utf-8") + "All is well.\n", encoding="utf-8")


def _linked(run: Path, name: str) -> None:
    moved = run.parent / Path(name).name
    (run / name).rename(moved)
    (run / name).symlink_to(moved)


def _older(run: Path) -> None:
    _better(run / "evidence" / "model-card")
    _signed_again(run, "0.0.9")


def _older_report(run: Path) -> None:
    _swap(run / "report.html")
    _signed_again(run, "0.0.9")


def _renewed_report(run: Path) -> None:
    _swap(run / "report.html")
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


FORGED: dict[str, Callable[[Path], None]] = {
    "an older version and a changed sentence": _older,
    "an older version and a changed report": _older_report,
    "another sentence": lambda run: _better(run / "evidence" / "model-card"),
    "another sentence, manifest written again": lambda run: (
        _better(run / "evidence" / "model-card"),
        _signed_again(run),
    )[1],
    "another report, manifest written again": _renewed_report,
    "texts taken out, manifest written again": _renewed_texts,
    "a file more among the texts": _added("texts/part-00077.parquet"),
    "a hidden file among the texts": _added("texts/.part-00077.parquet"),
    "a file of no stage among the texts": _added("texts/notes.txt"),
    "a database more": _added("cache.duckdb"),
    "a folder more": _added("more/inside/a.csv"),
    "a hidden folder more": _added(".more/a.csv"),
    "annotations more": _added("annotations/people.v9/part-00000.parquet"),
    "labels more": _added("hand-labels.csv"),
    "a study more": _added("study/card.md"),
    "a link in place of the texts": lambda run: _linked(run, "texts"),
    "a link in place of a part": lambda run: _linked(run, "texts/part-00000.parquet"),
    "a link in place of the estimates": lambda run: _linked(run, "estimates.parquet"),
    "a page more in the pack": _added("evidence/model-card/more.md"),
    "a link in place of the pack": lambda run: _linked(run, "evidence/model-card"),
    "a link in place of the options": lambda run: _linked(run, "audit.toml"),
}


@pytest.fixture(scope="module")
def published(measured: Run, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A run with one pack, both as they were made, and the digest of its manifest."""
    run = tmp_path_factory.mktemp("published") / "run"
    shutil.copytree(measured.path, run)
    assert verify_evidence(Run(run)).ok
    shutil.rmtree(run / "evidence" / "eu-ai-act")
    digest = verify_evidence(Run(run)).manifest
    assert verify_evidence(Run(run), None, digest).ok
    return run, digest


@pytest.mark.fault(
    "a run, its pack or its manifest was forged (21 kinds)",
    "none is verified; those who write the manifest again are told by its published digest",
)
@pytest.mark.parametrize("kind", FORGED)
def test_no_forgery_is_verified(published: tuple[Path, str], tmp_path: Path, kind: str) -> None:
    made, digest = published
    copied = Run(shutil.copytree(made, tmp_path / "run"))
    FORGED[kind](copied.path)
    assert not verify_evidence(copied, None, digest).ok
    told_by_digest = ("report, manifest written again", "texts taken out")
    if not any(each in kind for each in told_by_digest):
        assert not verify_evidence(copied).ok


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
    (problem,) = map(str, verify_evidence(copied).problems)
    assert problem.startswith("manifest.json is not as it was written")


def test_what_is_no_pack_and_no_run_is_said(sample_run: Run, tmp_path: Path) -> None:
    (problem,) = map(str, verify_evidence(sample_run, tmp_path / "absent").problems)
    assert problem.startswith("absent cannot be made again")
    with pytest.raises(RunError, match=r"has no manifest\.json"):
        verify_evidence(Run(tmp_path))


OWN = """
title = "Ours"
follows = "House rules of 2026"
[[section]]
title = "One"
[[section.field]]
key = "a"
answers = "Rule 1"
asks = "Who is in the texts?"
fill = ["groups"]
"""


def test_a_form_of_ones_own_is_filled_and_checked(measured: Run, tmp_path: Path) -> None:
    path = tmp_path / "ours.toml"
    path.write_text(OWN, encoding="utf-8")
    folder = write_evidence(measured, str(path), tmp_path / "out")
    page = (folder / "evidence.md").read_text(encoding="utf-8")
    assert "### Rule 1" in page
    assert "Groups by gender" in page
    assert verify_evidence(measured, folder).ok


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('key = "a"', "", "line 6: section.field: the key 'key' is missing"),
        ('["groups"]', '["magic"]', "a is filled by 'magic'; known: crossed"),
        ('["groups"]', "3", "line 10: section.field.fill: expected a list of texts"),
        ('asks = "Who', 'wishes = "Who', "line 6: section.field: the key 'asks' is missing"),
        (
            'key = "a"',
            'key = "a"\nhow = "b"',
            "line 8: section.field.how: unknown key; expected one of",
        ),
        ("[[section]]", "[[sections]]", "section: expected tables, each headed [[section]]"),
        ("title", "title title", "line 2: not TOML"),
    ],
)
def test_a_broken_form_is_named_with_its_place(
    measured: Run, tmp_path: Path, old: str, new: str, said: str
) -> None:
    path = tmp_path / "ours.toml"
    path.write_text(OWN.replace(old, new), encoding="utf-8")
    with pytest.raises(DataError, match=re.escape(said)):
        pack_of(measured, str(path))


def test_an_unknown_form_names_those_there_are(measured: Run) -> None:
    with pytest.raises(UnknownNameError, match="colorado, eu-ai-act, iso-42001, model-card"):
        pack_of(measured, "ll144")


@pytest.mark.parametrize("study", ["news", "agency"])
def test_every_study_fills_every_form(study: str, tmp_path: Path) -> None:
    quick = {"draws": 100, "permutations": 20, "report": False}
    sample = registry.get("studies", study).sample()
    run = portrayal.audit(study, out=tmp_path / "r", **quick, **sample)
    for name in forms():
        pack = pack_of(run, name)
        assert pack.n_measured
        assert to_markdown(pack)
        json.loads(to_json(pack))


def test_a_study_of_ones_own_is_part_of_the_manifest(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    write_start(folder)
    quick = {"draws": 100, "permutations": 20}
    run = portrayal.audit(str(folder), texts=folder / "texts.csv", out=tmp_path / "r", **quick)
    assert "study/study.toml" in run.manifest.steps()["estimates"]["made"]
    _append(run.path / "study" / "study.toml")
    (problem,) = map(str, verify_evidence(run).problems)
    assert problem.startswith("study/study.toml is not as it was written")
