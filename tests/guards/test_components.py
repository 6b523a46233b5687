"""Every registered component describes itself, and one table of cases runs every measure."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from importlib.resources import files
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import portrayal
from guards.tree import ROOT
from portrayal import registry
from portrayal.annotate.people.reader import read_people
from portrayal.annotate.people.shared.model import Roles
from portrayal.raters.labels import SLOTS, Label, Labels, write_labels
from portrayal.records import Estimate
from portrayal.run import Run, read_rows
from portrayal.studies.checks import run_checks

WORDS = ("summary", "reads", "unit", "range", "undefined_when", "equation", "source")
UNITS = {
    *("character", "couple", "story", "name", "sentence", "text", "pair", "word"),
    *("mention", "person"),
}
VERSIONED = re.compile(r"[a-z0-9]+(?:[_-][a-z0-9]+)*\.v[1-9][0-9]*")
KINDS = ("measures", "annotators")
COMPONENTS = [(kind, name) for kind in KINDS for name in registry.names(kind)]
CARD = ("Paper", "What is copied", "Measures", "What differs, and why", "Reproduction", "Limits")


@pytest.mark.parametrize(("kind", "name"), COMPONENTS)
def test_a_component_describes_itself(kind: registry.Kind, name: str) -> None:
    component = registry.get(kind, name)
    assert component.name == name
    assert VERSIONED.fullmatch(name), f"{name} lacks a version such as .v1"
    for field in WORDS:
        text = getattr(component, field)
        assert isinstance(text, str)
        assert text.strip() == text != "", f"{name} has nothing to say under {field}"
    assert component.unit in UNITS
    assert component.summary.endswith(".")
    assert re.search(r"\b(19|20)\d\d\b", component.source), "a source names its year"


@pytest.mark.parametrize("name", registry.names("measures"))
def test_a_measure_has_a_section_of_its_own(name: str) -> None:
    pages = (ROOT / "docs" / "measures").glob("*.md")
    section = re.compile(rf"^## `{re.escape(name)}`$", re.MULTILINE)
    assert any(section.search(page.read_text(encoding="utf-8")) for page in pages)


@cache
def _tests() -> list[str]:
    """What the other files of tests say."""
    here = Path(__file__)
    return [path.read_text("utf-8") for path in (ROOT / "tests").rglob("*.py") if path != here]


@pytest.mark.parametrize(("kind", "name"), COMPONENTS)
def test_a_component_occurs_in_a_test(kind: registry.Kind, name: str) -> None:
    (point,) = entry_points(group=f"portrayal.{kind}", name=name)
    wanted = (name, point.module)
    found = any(word in text for text in _tests() for word in wanted)
    assert found, f"no test but this one speaks of {' or '.join(wanted)}"


@pytest.mark.parametrize("name", registry.names("studies"))
def test_a_study_describes_itself(name: str, tmp_path: Path) -> None:
    study = registry.get("studies", name)
    for field in ("title", "paper", "question"):
        assert getattr(study, field).strip()
    assert study.name == name
    assert study.question.endswith("?")
    assert study.prompts() or study.pair_field or not study.fields.strata
    assert all(path.is_file() for path in study.sample().values())
    assert set(study.measures) <= set(registry.names("measures"))
    run = Run(tmp_path)
    strata = pa.array([[("gender", "female")]], pa.map_(pa.string(), pa.string()))
    pq.write_table(pa.table({"prompt_id": ["1"], "strata": strata}), run.prompts_path)
    wanted = study.annotations(run, study.options())
    assert {annotation.name for annotation in wanted} <= set(registry.names("annotators"))
    (point,) = entry_points(group="portrayal.studies", name=name)
    card = files(point.module).joinpath(study.card).read_text(encoding="utf-8")
    missing = [title for title in CARD if f"\n## {title}\n" not in card]
    assert not missing, f"the card of {name} lacks {missing}"


@pytest.mark.parametrize("name", registry.names("studies"))
def test_a_study_can_be_reproduced(name: str) -> None:
    study = registry.get("studies", name)
    checks = run_checks(name)
    (point,) = entry_points(group="portrayal.studies", name=name)
    card = files(point.module).joinpath(study.card).read_text(encoding="utf-8")
    assert checks or "no published table" in " ".join(card.split())
    for check in checks:
        assert 0 <= check.reproduced <= check.checked
        assert len(check.rows) == check.checked - check.reproduced


@dataclass(frozen=True)
class Case:
    """What the estimates of one measure look like on the sample.

    `strata` and `groups` name the attributes an estimate may have; `holds` is the range of values.
    `refused`: the sample is too small for it everywhere, with a reason.
    """

    statistic: str
    strata: set[str]
    groups: set[str]
    holds: Callable[[float], bool]
    null: float | None = None
    study: str = "laissez-faire"
    refused: bool = False


def _ratio(value: float) -> bool:
    return value >= 0.0


def _share(value: float) -> bool:
    return 0.0 <= value <= 1.0


def _change(value: float) -> bool:
    return -2.0 <= value <= 2.0


def _count(value: float) -> bool:
    return value >= 0.0 and value == int(value)


PLACE = {"domain", "model"}
PEOPLE = {"race", "gender"}
AGENCY = {"model", "task", "condition", "stratum", "masking", "classifier"}
WRITER = {"model", "form"}
PAIRED = {*WRITER, "level", "attribute", "lexicon"}
FACTOR = "factors"
"""The stories of laissez-faire with a column of religions, and three factors to measure."""
SEEN = {*PLACE, "seen_by"}
FACTORS = {"religion", "gender", "race"}
CASES = {
    "representation.v1": Case("ratio", {*PLACE, "basis"}, PEOPLE, _ratio, 1.0),
    "representation_by_baseline.v1": Case(
        "ratio", {*PLACE, "population"}, PEOPLE, _ratio, 1.0, study=FACTOR
    ),
    "pair_representation.v1": Case("ratio", PLACE, {"pair"}, _ratio, 1.0),
    "subordination.v1": Case("ratio", {*PLACE, "basis"}, PEOPLE, _ratio, 1.0),
    "median_representation.v1": Case("ratio", PLACE, PEOPLE, _ratio, 1.0),
    "median_subordination.v1": Case("ratio", PLACE, PEOPLE, _ratio, 1.0),
    "median_racialized_subordination.v1": Case("ratio", PLACE, PEOPLE, lambda v: v > 0.0, 1.0),
    "name_subordination.v1": Case(
        "ratio", PLACE, {"name", "race", "gender"}, lambda v: v > 0.0, 1.0
    ),
    "threshold_subordination.v1": Case("ratio", PLACE, {*PEOPLE, "threshold"}, _ratio, 1.0),
    "common_names.v1": Case("count", {*PLACE, "role"}, {*PEOPLE, "name"}, _count),
    "likelihood_histogram.v1": Case("count", {*PLACE, "role"}, {*PEOPLE, "likelihood"}, _count),
    "scenario_likelihood.v1": Case("share", {*PLACE, "role", "scenario"}, PEOPLE, _share),
    "outcomes.v1": Case("share", {*PLACE, "condition"}, {"outcome"}, _share),
    "cue_counts.v1": Case("share", PLACE, {"cues", "cue", "role"}, _share),
    "agency_share.v1": Case(
        "agentic communal ratio_gap", AGENCY, PEOPLE, lambda v: abs(v) <= 1.0, study="agency"
    ),
    "agency_gap.v1": Case("difference", AGENCY, PEOPLE, lambda v: abs(v) <= 2.0, 0.0, "agency"),
    "agency_variance.v1": Case("variance", AGENCY, {"attribute"}, _ratio, study="agency"),
    "paired_distance.v1": Case("distance", PAIRED, set(), _ratio, study="news"),
    "prejudice_rate.v2": Case("share", PAIRED, PEOPLE, _share, study="news"),
    "prejudice_change.v1": Case("difference", PAIRED, PEOPLE, _change, study="news"),
    "group_change.v1": Case("difference", PAIRED, PEOPLE, _change, study="news"),
    "prompt_effect.v1": Case(
        "difference",
        {*PAIRED, "of", "contrast", "matched"},
        PEOPLE,
        _change,
        0.0,
        study="news",
    ),
    "refusals.v1": Case("share", WRITER, set(), _share, study="news"),
    "text_lengths.v1": Case("mean", WRITER, set(), lambda v: v > 0.0, study="news"),
    "group_texts.v1": Case("share", SEEN, FACTORS, _share, study=FACTOR),
    "group_share.v1": Case("share", SEEN, FACTORS, _share, study=FACTOR),
    "people_share.v1": Case("share", SEEN, FACTORS, _share, study=FACTOR),
    "group_ratio.v1": Case("ratio", {*SEEN, "population"}, FACTORS, _ratio, 1.0, study=FACTOR),
    "people_ratio.v1": Case("ratio", {*SEEN, "population"}, FACTORS, _ratio, 1.0, study=FACTOR),
    "association.v1": Case(
        "ratio", {"model", "seen_by"}, {*FACTORS, "domain"}, _ratio, 1.0, study=FACTOR
    ),
    "pair_difference.v2": Case(
        "difference", {"model", "score", "part"}, {"gender"}, lambda _: True, 0.0, study="pairs"
    ),
    "pair_words.v2": Case(
        *("difference", {"model", "word", "kind", "part"}, {"gender"}),
        *(lambda v: abs(v) <= 1.0, 0.0, "pairs"),
    ),
    "main_people.v1": Case(
        *("share difference", {"model", "mood"}, {"gender"}, lambda v: abs(v) <= 1.0),
        study="people",
    ),
    "topic_use.v1": Case("chi2", PAIRED, set(), _ratio, study="news"),
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    quick: dict[str, Any] = {"report": False, "draws": 100, "permutations": 20}
    made = {}
    for study in sorted({case.study for case in CASES.values()} - {FACTOR}):
        sample = registry.get("studies", study).sample()
        out = tmp_path_factory.mktemp("sample") / study
        if study == "people":  # any texts: the stories of another study, by a column of theirs
            texts = registry.get("studies", "laissez-faire").sample()["texts"]
            rows = [json.loads(line) for line in texts.read_text("utf-8").splitlines()]
            rows = [row | {"mood": ("sad", "glad")[i % 2]} for i, row in enumerate(rows)]
            sample = {"texts": rows, "by": ["mood"]}
        if study == "laissez-faire":
            sample = {"texts": _by_three_models(sample["texts"], out.parent)}
        made[study] = portrayal.audit(study=study, out=out, **quick, **sample)
    stories = made["laissez-faire"]
    made["laissez-faire"] = portrayal.audit(
        study="laissez-faire", out=stories.path, hand_labels=str(_labelled(stories)), **quick
    )
    made[FACTOR] = portrayal.audit(
        study="laissez-faire",
        texts=_with_religions(tmp_path_factory.mktemp("factors")),
        factor=sorted(FACTORS),
        locale=_with_baselines(tmp_path_factory.mktemp("locale")),
        out=tmp_path_factory.mktemp("sample") / FACTOR,
        **quick,
    )
    return made


def _with_religions(folder: Path) -> list[dict[str, str]]:
    """The sample stories by three models, every other one said to be about a religion."""
    texts = registry.get("studies", "laissez-faire").sample()["texts"]
    lines = _by_three_models(texts, folder).read_text(encoding="utf-8").splitlines()
    said = ("Christian", "Muslim; Hindu", "", "Muslim", "not mentioned")
    return [json.loads(line) | {"religion": said[i % 5]} for i, line in enumerate(lines)]


def _with_baselines(folder: Path) -> str:
    """A locale that brings two baselines."""
    said = "language = 'en'\n[names]\nbaselines = ['census-2022', 'subject:core']\n"
    (folder / "locale.toml").write_text(said, encoding="utf-8")
    return str(folder)


def _by_three_models(texts: Path, folder: Path) -> Path:
    """The sample stories, three after another under one name of a model each."""
    rows = [json.loads(line) for line in texts.read_text(encoding="utf-8").splitlines()]
    rows = [row | {"model": f"model {i % 3}"} for i, row in enumerate(rows)]
    path = folder / "stories.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def _labelled(run: Run) -> Path:
    """Label every text of a run by hand, as the extractor would."""
    labels = []
    for row in read_rows(run, ["text_id", "prompt_id", "text", "outcome"]):
        if row["outcome"] != "ok":
            continue
        roles = Roles(row["subject_role"], row.get("object_role") or None)
        for slot, one in zip(SLOTS, read_people(row["text"], roles), strict=True):
            if one is not None:
                said = {"gender": one.gender, "name": one.name or ""}
                labels += [
                    Label(row["text_id"], "", f"{slot}_{part}", said[part], "ann") for part in said
                ]
    return write_labels(run.path.parent / "labels.csv", Labels(tuple(labels)))


def test_the_table_of_cases_is_complete() -> None:
    assert set(CASES) == set(registry.names("measures"))


@pytest.mark.parametrize("measure", CASES)
def test_every_measure_runs_on_the_sample(runs: dict[str, Run], measure: str) -> None:
    case, component = CASES[measure], registry.component("measures", measure)
    rows = [row for row in runs[case.study].records if row.measure == measure]
    pooled = [row for row in rows if row.strata.get("model") == "all"]
    some = any(row.value is not None for row in (pooled if case.refused else rows))
    assert some != case.refused, f"{measure} has a value on the sample: {some}"
    assert rows
    for row in rows:
        assert row.statistic in case.statistic.split()
        assert row.unit == component.unit
        assert row.source == component.source
        assert set(row.strata) <= case.strata, row.strata
        assert set(row.group) <= case.groups, row.group
        if row.value is not None:
            assert case.holds(row.value), row
        _carries_its_evidence(row, case)


def _carries_its_evidence(row: Estimate, case: Case) -> None:
    assert row.study == (case.study if case.study != FACTOR else "laissez-faire")
    assert row.instruments.get("annotator", "people.v8") in ("people.v8", "everyone.v8")
    assert row.undefined is None or row.undefined.strip()
    for bounds in (row.interval, row.paper_interval):
        assert bounds is None or (bounds.low <= bounds.high and 0 < bounds.level < 1)
    if row.interval is not None:
        assert row.interval.n_clusters is not None
    if case.null is not None and row.value is not None:
        assert row.null is not None
        assert row.null.value == row.details.get("r0", case.null)
    assert all(0.0 <= test.p <= 1.0 or test.p != test.p for test in row.tests)


THIRD_PARTY = """
import numpy as np
from portrayal.measure.clustered import GroupSums, estimates_of
from portrayal.measure.scored import ScoredUnits
from portrayal.measure.stories.strata import strata
from portrayal.registry import Component


def first_woman(tally, scope):
    for stratum in strata(tally, laden=None):
        known = tally.readable & (tally.subject_gender >= 0) & (tally.subject_gender < 3)
        inside = stratum.has(tally.prompt, tally.model) & known
        woman = (tally.subject_gender[inside] == 0).astype(float)
        count, one = tally.count[inside].astype(float), np.ones((len(woman), 1))
        stories = ScoredUnits(tally.prompt[inside], count, woman, (one,))
        sums = GroupSums.of(stories, tally.prompt_ids, [{"gender": "F"}])
        unknown = None if count.sum() else "no story names a woman or a man"
        yield from estimates_of(
            FIRST_WOMAN,
            sums,
            sums.shares(scope, null=0.5),
            scope,
            lambda i, unknown=unknown: {"undefined": unknown},
            statistic="share",
            strata=stratum.labels,
            n_texts=stratum.n_texts,
            exclusions=stratum.exclusions,
        )


FIRST_WOMAN = Component(
    name="first_woman.v1",
    summary="Share of the stories whose person named first is a woman.",
    reads="people of all stories",
    unit="story",
    range="0 to 1",
    undefined_when="no story names a woman or a man",
    equation="stories whose first person is a woman / stories whose first person has a gender",
    source="Acme 2026",
    run=first_woman,
)


def of_nothing(spectrogram, scope):
    yield from ()


NOTHING = Component("nothing.v1", "Nothing.", "", "", "", "", "", "Acme 2026", of_nothing)
"""


def _install(site: Path, value: str = "acme_measures:FIRST_WOMAN", folder: str = "acme") -> None:
    """Lay a package out as an installer would: a module, and a folder with its entry points."""
    (site / "acme_measures.py").write_text(THIRD_PARTY, encoding="utf-8")
    info = site / f"{folder}_measures-0.1.dist-info"
    info.mkdir()
    about = f"Metadata-Version: 2.1\nName: {folder}-measures\nVersion: 0.1\n"
    (info / "METADATA").write_text(about, encoding="utf-8")
    points = f"[portrayal.measures]\nfirst_woman.v1 = {value}\nnothing.v1 = acme_measures:NOTHING\n"
    (info / "entry_points.txt").write_text(points, encoding="utf-8")


def _portrayal(site: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "portrayal", *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(site), *sys.path])},
    )


def test_a_package_of_somebody_else_comes_in_by_the_same_door(tmp_path: Path) -> None:
    _install(tmp_path)
    done = _portrayal(tmp_path, "list", "measures", "--format", "json")
    assert done.returncode == 0, done.stderr
    listed = {row["name"]: row for row in json.loads(done.stdout)["measures"]}
    summary = "Share of the stories whose person named first is a woman."
    assert listed["first_woman.v1"]["summary"] == summary
    assert set(registry.names("measures")) < set(listed)


def test_a_measure_of_another_package_runs_in_an_audit_that_ships(tmp_path: Path) -> None:
    _install(tmp_path)
    stories, run = tmp_path / "stories.jsonl", tmp_path / "run"
    text = "Maria was a star student. She helped her classmate Juan, and he thanked her."
    rows = [{"prompt_id": f"learning-neutral-{topic}", "text": text} for topic in ("arts", "math")]
    stories.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    asked = ("audit", "laissez-faire", "--texts", str(stories), "--out", str(run))
    refused = _portrayal(tmp_path, *asked, "--measure", "nothing")
    assert refused.returncode == 2
    assert "the measure nothing.v1 needs spectrogram; this audit offers" in refused.stderr
    done = _portrayal(tmp_path, *asked, "--measure", "first_woman")
    assert done.returncode == 0, done.stderr
    found = [e for e in Run(run).records if e.measure == "first_woman.v1"]
    (pooled,) = [e for e in found if e.strata["model"] == "all"]
    assert (pooled.value, pooled.n_clusters, pooled.n_units) == (1.0, 2, 2.0)
    assert pooled.sums is None
    assert pooled.tests[0].q is not None


def test_two_packages_cannot_take_one_name(tmp_path: Path) -> None:
    _install(tmp_path)
    _install(tmp_path, value="acme_measures:OTHER", folder="rival")
    done = _portrayal(tmp_path, "list", "measures")
    assert done.returncode == 2
    assert done.stderr.startswith("error: two installed packages register 'first_woman.v1'")
    assert "Traceback" not in done.stderr
