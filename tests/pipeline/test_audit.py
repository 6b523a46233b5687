"""The audit: the same numbers on any machine, and only what changed is done again."""

import dataclasses
import json
import re
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import tomli_w
from threadpoolctl import threadpool_info, threadpool_limits

import portrayal
from portrayal import registry
from portrayal.errors import DataError, OptionError, PortrayalError, RunError, UnknownNameError
from portrayal.measure.scope import with_q_values
from portrayal.pipeline.config import AuditConfig
from portrayal.records import REFERENCE, Estimate, PromptScores, Status, Test
from portrayal.run import Stage, fingerprint
from portrayal.stats import benjamini_hochberg
from portrayal.studies.laissez_faire import prompts
from support import LABEL_COLUMNS, lopsided, rows_of

QUICK = {"draws": 100, "permutations": 20, "report": False}
STORIES = [
    ("Uma baked before dawn. She let Omar, a loyal fan, hold the ladle.", "Uma", "Omar"),
    ("Ravi met Ines at the gate. He carried her bag and she thanked him.", "Ravi", "Ines"),
    ("The clock struck nine. Lena waited, and her brother never came.", "Lena", None),
    ("I'm sorry, but I can't write that story.", None, None),
    ("Marcus taught Priya the scales. She learned them, and he was proud.", "Marcus", "Priya"),
]


@pytest.fixture(scope="module")
def rows():
    """Labelled stories of one model in Labor and Love."""
    return rows_of(
        story
        for story in lopsided()
        if story["model"] == "zeta-7b" and story["prompt_id"] in ["b1", "b2", "b4", "b5", "v1"]
    )


def labelled(rows, out, **options):
    return portrayal.audit(
        study="laissez-faire", texts=rows, out=out, columns=LABEL_COLUMNS, **(QUICK | options)
    )


def as_text(run):
    """Estimates as text, in which NaN equals NaN."""
    return [repr(estimate) for estimate in run.records]


@pytest.fixture(scope="module")
def reference(rows, tmp_path_factory):
    return labelled(rows, tmp_path_factory.mktemp("reference") / "run")


@pytest.fixture(scope="module")
def numbers(reference):
    return as_text(reference)


def times(folder):
    return {path.name: path.stat().st_mtime_ns for path in Path(folder).rglob("*.parquet")}


@pytest.mark.parametrize("shard_rows", [7, 100])
def test_the_size_of_shards_changes_no_number(rows, numbers, tmp_path, shard_rows):
    run = labelled(rows, tmp_path, shard_rows=shard_rows)
    assert len(run.texts.parts()) == -(-len(rows) // shard_rows)
    assert as_text(run) == numbers


def test_an_executor_of_ones_own_changes_no_number(rows, numbers, tmp_path):
    with ThreadPoolExecutor(3) as executor:
        run = labelled(rows, tmp_path, shard_rows=50, executor=executor)
    assert as_text(run) == numbers


def extracted(out, **options):
    """Audit unlabelled texts, whose people the package finds itself."""
    asked = [prompt for prompt in prompts() if prompt.strata["condition"] == "power-laden"][::3]
    rows = [
        {"text": text, "prompt": prompt.text, "model": f"m{i % 2}"}
        for i, prompt in enumerate(asked)
        for text, *_ in STORIES
    ]
    return portrayal.audit(study="laissez_faire", texts=rows, out=out, **(QUICK | options))


class _Elsewhere(ThreadPoolExecutor):
    """Notes the paths that a worker with another working folder would be given."""

    def __init__(self):
        super().__init__(1)
        self.paths = []

    def submit(self, work, source, target):
        self.paths += [source, target, work.keywords["prompts"]]
        return super().submit(work, source, target)


def test_workers_elsewhere_are_given_absolute_paths(rows, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with _Elsewhere() as executor:
        labelled(rows, Path("relative"), executor=executor)
    assert executor.paths
    assert [path for path in executor.paths if not path.is_absolute()] == []


def test_processes_of_ones_own_change_no_number(tmp_path):
    progress = []
    one = extracted(tmp_path / "one")
    two = extracted(
        tmp_path / "two",
        shard_rows=20,
        workers=2,
        progress=lambda done, total: progress.append((done, total)),
    )
    assert as_text(one) == as_text(two)
    assert one.settings()["annotators"] == ["people.v8"]
    n_parts = len(two.texts.parts())
    assert n_parts > 2
    assert progress == [(n + 1, n_parts) for n in range(n_parts)]


def test_a_data_frame_gives_the_numbers_of_its_rows(rows, numbers, tmp_path):
    assert as_text(labelled(pd.DataFrame(rows), tmp_path)) == numbers


def test_every_registered_measure_of_the_study_is_there(reference):
    measures = {estimate.measure for estimate in reference.records}
    of_several_baselines = {"representation_by_baseline.v1"}
    assert measures == set(reference.settings()["measures"]) - of_several_baselines
    assert all(estimate.study == "laissez-faire" for estimate in reference.records)
    for estimate in reference.records:
        if estimate.measure != "outcomes.v1":
            assert estimate.instruments["name_table"] == "census-2020"
            assert estimate.instruments["annotator"] == "people-labelled.v1"


def test_the_flat_table_holds_every_estimate(reference):
    table = reference.estimates.table
    assert table.num_rows == len(reference.records)
    assert set(table.column_names) >= {"domain", "model", "race", "gender", "value", "low", "q"}
    frame = table.to_pandas()
    assert frame["value"].notna().sum() == sum(e.value is not None for e in reference.records)


def test_the_same_audit_does_nothing_again(rows, tmp_path):
    run = labelled(rows, tmp_path)
    before = times(tmp_path)
    assert as_text(labelled(rows, tmp_path)) == as_text(run)
    assert times(tmp_path) == before
    without_texts = portrayal.audit(study="laissez-faire", out=tmp_path, **QUICK)
    assert times(tmp_path) == before
    assert as_text(without_texts) == as_text(run)


def test_another_option_redoes_the_estimates_alone(rows, numbers, tmp_path):
    labelled(rows, tmp_path)
    for change in ({"baseline": "subject:core"}, {"level": 0.8}, {"seed": 5}):
        before = times(tmp_path)
        run = labelled(rows, tmp_path, **change)
        after = times(tmp_path)
        redone = {name for name in before if before[name] != after[name]}
        assert redone == {"estimates.parquet", "influences.parquet"}
        # Of these few prompts no number rests on a random draw
        assert (as_text(run) == numbers) == ("seed" in change)
        assert run.settings()["options"] | change == run.settings()["options"]
    assert as_text(labelled(rows, tmp_path)) == numbers, "and back again"


def test_another_level_changes_bounds_and_no_value(rows, reference, tmp_path):
    narrow = labelled(rows, tmp_path, level=0.5)
    assert [e.value for e in narrow.records] == [e.value for e in reference.records]
    pairs = [
        (a.interval, b.interval)
        for a, b in zip(narrow.records, reference.records, strict=True)
        if a.interval and b.interval and "binomial" in a.interval.method == b.interval.method
    ]
    for half, most in pairs:
        assert half.level == 0.5
        assert most.low <= half.low <= half.high <= most.high


def test_another_baseline_changes_representation_alone(rows, reference, tmp_path):
    core = labelled(rows, tmp_path, baseline="subject:core")
    for a, b in zip(core.records, reference.records, strict=True):
        if "baseline" not in a.instruments:
            assert repr(a) == repr(b)
    white = [
        next(e for e in run.records if e.group == {"race": "White"}).value
        for run in (core, reference)
    ]
    assert white[0] / white[1] == pytest.approx(0.589 / 0.4534)


def test_a_changed_name_table_of_ones_own_is_read_again(rows, tmp_path):
    table = tmp_path / "names.csv"
    head = "name,count,white,latine,black,asian,aian\n"

    def white(share):
        table.write_text(f"{head}Emily,900,{share},{1 - share},0,0,0\nSam,90,0.5,0.5,0,0,0\n")
        run = labelled(rows, tmp_path / "run", name_table=str(table))
        return next(e for e in run.records if e.group == {"race": "White"}).value

    assert white(0.25) < white(0.75)


def test_a_name_table_of_all_seven_races_stands_alone(rows, tmp_path):
    table = tmp_path / "names.csv"
    head = "name,count,white,latine,black,asian,aian,mena,nhpi\n"
    table.write_text(f"{head}Emily,900,0.2,0.1,0,0,0,0.7,0\nSam,90,0.3,0,0,0,0,0.7,0\n")
    run = labelled(rows, tmp_path / "run", name_table=str(table))
    mena = next(e for e in run.records if e.group == {"race": "MENA"})
    # Of bearers of both names .7: over the baseline of the default, .0379
    assert mena.value == pytest.approx(0.7 / 0.0379)


def test_other_texts_are_refused_unless_they_replace(rows, tmp_path):
    run = labelled(rows, tmp_path)
    numbers = as_text(run)
    with pytest.raises(RunError, match="--replace"):
        labelled(rows[:60], tmp_path)
    assert as_text(portrayal.open_run(tmp_path)) == numbers
    fewer = labelled(rows[:60], tmp_path, replace=True)
    assert sum(fewer.texts.note()["outcomes"].values()) == 60
    assert as_text(labelled(rows, tmp_path, replace=True)) == numbers


def test_texts_that_answer_other_prompts_replace_without_a_trace(tmp_path):
    """Prompts are read again in the same process, and no row fails for want of its prompt."""

    def rows(kind):
        fields = {"condition": "laden", "subject_role": kind, "object_role": "guest"}
        return [fields | {"text": STORIES[0][0]}, fields | {"text": STORIES[1][0]}]

    for kind in ("cook", "pilot"):
        run = portrayal.audit(
            study="laissez-faire", texts=rows(kind), out=tmp_path, replace=True, **QUICK
        )
        assert run.annotations("people.v8").note()["n_errors"] == 0
        failed = [e for e in run.records if e.group == {"outcome": "failed"}]
        assert {e.value for e in failed} == {0.0}


def test_an_interrupted_annotation_continues(rows, numbers, tmp_path):
    run = labelled(rows, tmp_path, shard_rows=60)
    stage = run.annotations("people-labelled.v1")
    kept, lost = stage.parts()[0], stage.parts()[1]
    before = kept.stat().st_mtime_ns
    run.manifest.open("annotations/people-labelled.v1")
    lost.unlink()
    stage.begin(stage.note()["fingerprint"])
    run.estimates_path.unlink()
    again = labelled(rows, tmp_path, shard_rows=60)
    assert lost.exists()
    assert kept.stat().st_mtime_ns == before
    assert as_text(again) == numbers


def test_an_audit_stopped_while_it_measured_is_not_taken_for_finished(
    rows, numbers, tmp_path, monkeypatch
):
    labelled(rows, tmp_path)

    def stop(stage, mark, facts):
        if stage.folder.name == "estimates":
            raise KeyboardInterrupt
        return finish(stage, mark, facts)

    finish = Stage.finish
    monkeypatch.setattr(Stage, "finish", stop)
    with pytest.raises(KeyboardInterrupt):
        labelled(rows, tmp_path, level=0.6)
    monkeypatch.undo()
    assert as_text(labelled(rows, tmp_path)) == numbers


def test_without_a_directory_a_new_one_is_made(rows, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    runs = [labelled(rows[:40], None) for _ in range(2)]
    assert runs[0].path != runs[1].path
    assert all(run.path.parent == tmp_path for run in runs)
    assert all(run.path.name.startswith("portrayal-") for run in runs)


def test_settings_say_what_was_asked_and_not_where(rows, tmp_path):
    path = tmp_path / "in" / "my tales.jsonl"
    path.parent.mkdir()
    path.write_text("".join(json.dumps(row) + "\n" for row in rows[:40]))
    run = labelled(path, tmp_path / "run", level=0.9)
    settings = run.settings()
    assert settings["source"] == "my tales.jsonl"
    assert settings["study"] == "laissez-faire"
    assert settings["options"]["level"] == 0.9
    assert settings["portrayal"] == portrayal.__version__
    for written in (run.settings_path, run.texts.folder / "stage.json"):
        assert str(tmp_path) not in written.read_text()


def test_each_stage_is_told_in_one_line(rows, tmp_path):
    told = []
    labelled(rows, tmp_path, say=told.append)
    assert [line.split(":")[0] for line in told] == ["texts", "annotated texts", "estimates"]
    assert f"{len(rows):,} of 1 model" in told[0]
    assert "refused" in told[0]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"colour": 1}, OptionError, "no option 'colour'.*Its options: level"),
        ({"lexel": 1}, OptionError, "Did you mean 'level'"),
        ({"llm_settings": {"budget": "1 USD"}}, OptionError, "nothing without --labeler-model"),
        ({"level": 95}, OptionError, "level must be a fraction"),
        ({"seed": -1}, OptionError, "seed"),
        ({"draws": 5}, OptionError, "draws"),
        ({"smoothing": -1}, OptionError, "smoothing"),
        ({"min_count": -1}, OptionError, "min_count"),
        ({"workers": 0}, OptionError, "workers"),
        ({"shard_rows": 0}, OptionError, "shard_rows"),
        ({"baseline": "moon"}, UnknownNameError, "no baseline 'moon'"),
        ({"name_table": "moon"}, UnknownNameError, "'moon' is neither a registered name table"),
        ({"columns": ["text"]}, OptionError, "FIELD=NAME"),
        ({"preset": "moon"}, OptionError, "no preset"),
    ],
)
def test_what_cannot_be_asked_is_refused_before_anything_is_done(
    rows, tmp_path, options, error, message
):
    out = tmp_path / "run"
    with pytest.raises(error, match=message):
        portrayal.audit(study="laissez-faire", texts=rows, out=out, **(QUICK | options))
    assert not list(out.rglob("*.parquet"))


def test_the_door_of_the_package_stays_a_function(tmp_path):
    """A module of the same name would take the function's place once it is imported."""
    import portrayal.pipeline.audit

    for _ in range(2):
        with pytest.raises(OptionError):
            portrayal.audit(study="laissez-faire", out=tmp_path, workers=0)
    assert portrayal.audit is portrayal.pipeline.audit.audit
    assert isinstance(portrayal.open_run, type(portrayal.audit))


@pytest.mark.parametrize("out", ["s3://bucket/run", Path("gs://bucket/run")])
def test_an_address_is_no_folder_of_a_run(rows, tmp_path, monkeypatch, out):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(OptionError, match=r"is an address; a run is a folder"):
        labelled(rows, out)
    assert not list(tmp_path.iterdir())


def test_an_unknown_study_is_named(rows):
    with pytest.raises(UnknownNameError, match="no study is called 'moon'"):
        portrayal.audit(study="moon", texts=rows)


def test_no_texts_at_all_are_asked_for(tmp_path):
    with pytest.raises(OptionError, match="there are no texts: give a file"):
        portrayal.audit(study="laissez-faire", out=tmp_path, **QUICK)


def test_a_failing_import_leaves_no_numbers(rows, tmp_path):
    with pytest.raises(DataError, match="row 1"):
        labelled([{"text": "Once."}, *rows], tmp_path)
    with pytest.raises(PortrayalError):
        portrayal.open_run(tmp_path)


def test_the_users_folder_of_texts_is_not_emptied(rows, tmp_path):
    """A user whose stories lie in texts/ may name the folder above it as the run."""
    mine = tmp_path / "texts" / "tales.jsonl"
    mine.parent.mkdir()
    mine.write_text("".join(json.dumps(row) + "\n" for row in rows[:40]))
    content = mine.read_text()
    with pytest.raises(RunError, match=r"tales\.jsonl"):
        labelled(mine, tmp_path)
    assert mine.read_text() == content


def estimate(measure, *p, model="all", **strata):
    tests = tuple(Test(each, f"test {i}") for i, each in enumerate(p))
    strata = {"model": model, **strata}
    enough = {"n_units": 50.0, "n_clusters": 20}
    return Estimate("s", measure, "ratio", "character", strata, {}, 1.0, tests=tests, **enough)


def audit_q(given, *more):
    return [e.tests[0].audit_q if e.tests else None for e in with_q_values(given, *more)]


def test_q_values_are_adjusted_within_each_measure_and_model():
    nan = float("nan")
    given = [
        estimate("a", 0.01, 0.5),
        estimate("b", 0.04),
        estimate("a", 0.03),
        estimate("a"),
        estimate("a", nan),
        estimate("a", 0.02, 0.001),
        estimate("a", 0.01, model="x"),
    ]
    adjusted = with_q_values(given)
    q = [e.tests[0].q if e.tests else None for e in adjusted]
    assert q[:3] == pytest.approx([0.03, 0.04, 0.03])
    assert q[3] is None
    assert q[4] != q[4], "a test that was not made is no member of the family"
    assert q[5] == pytest.approx(0.03)
    assert q[6] == pytest.approx(0.01), "one model's tests are a family of their own"
    for before, after in zip(given, adjusted, strict=True):
        assert after.tests[1:] == before.tests[1:]
        plain = dataclasses.replace(after, tests=())
        assert plain == dataclasses.replace(before, tests=())


def test_what_is_pooled_over_a_stratum_does_not_pay_for_its_parts():
    parts = [estimate("a", 0.5, field=str(i)) for i in range(15)]
    adjusted = with_q_values([estimate("a", 0.01, field="all"), *parts])
    assert adjusted[0].tests[0].q == pytest.approx(0.01)
    assert adjusted[1].tests[0].q == pytest.approx(0.5)


def test_originals_are_no_second_model():
    """Where a study tests originals as well, findings are about its only model all the same."""
    own = estimate("subordination.v1", 0.004, model="m", domain="Labor")
    originals = estimate("topic_use.v1", 0.2, model=REFERENCE)
    assert audit_q([own, originals])[0] == pytest.approx(0.004)
    assert audit_q([own, estimate("topic_use.v1", 0.2, model="n")])[0] is None


def test_each_measure_that_a_report_may_state_is_one_question():
    given = [
        estimate("subordination.v1", 0.004, domain="Labor"),
        estimate("representation.v1", 0.03, domain="Love"),
        estimate("name_subordination.v1", 0.001),
        estimate("subordination.v1", 0.02, model="x"),
        dataclasses.replace(estimate("representation.v1", 0.02), statistic="share"),
        estimate("unknown.v1", 0.5),
        estimate("unknown.v1", 0.01, model="y"),
    ]
    # Three questions, of which two are answered: p counts 3 / 2 times, and no less than theirs.
    assert benjamini_hochberg([0.004, 0.03, 0.5]).tolist() == pytest.approx([0.012, 0.045, 0.5])
    expected = [0.012, 0.045, None, None, None, 0.75, None]
    assert audit_q(given) == [None if q is None else pytest.approx(q) for q in expected]
    in_love = audit_q(given, {"domain": "Love"})
    assert in_love[0] is None
    assert in_love[1] == pytest.approx(0.06)


def test_within_a_question_tests_are_adjusted_for_each_other_and_for_what_was_answered():
    one = [estimate("a", p, place=str(p)) for p in (0.001, 0.02, 0.6)]
    others = [estimate(name, 0.9) for name in ("b", "c", "d")]
    # Alone in its question: Benjamini and Hochberg. Beside three without an answer: four times.
    assert audit_q(one) == pytest.approx([0.003, 0.03, 0.6])
    assert audit_q([*one, *others])[:3] == pytest.approx([0.012, 0.12, 1.0])


def test_more_tests_of_another_question_cost_nothing():
    few = [estimate("a", 0.01), estimate("b", 0.5)]
    many = [*few, *(estimate("b", 0.5, place=str(i)) for i in range(40))]
    assert audit_q(few)[0] == audit_q(many)[0] == pytest.approx(0.02)
    crossed = [dataclasses.replace(e, details={"p_beyond_margins": 0.4}) for e in many[2:]]
    own = [dataclasses.replace(e, measure="a") for e in crossed]
    assert audit_q([*few[:1], *own])[0] == pytest.approx(0.02), "intersections are another question"


@pytest.mark.parametrize(
    "more",
    [
        {"n_units": 9.9},
        {"n_clusters": 4},
        {"details": {"count_x": 3.0, "n_x": 90.0, "count_y": 12.0, "n_y": 90.0}},
        {"status": Status(detail="it is the other order of another")},
        {"status": Status(no_test="one prompt")},
        {"measure": "median_representation.v1"},
        {"tests": (Test(float("nan"), "t"),)},
        {"statistic": "share"},
    ],
)
def test_what_cannot_be_a_finding_is_no_hypothesis_and_costs_the_others_nothing(more):
    none = dataclasses.replace(estimate("c", 0.9), **more)
    found = audit_q([estimate("a", 0.01), estimate("b", 0.5), none, none])
    assert found[2:] == [None, None]
    assert found[:2] == pytest.approx([0.02, 1.0])
    assert audit_q([none]) == [None]


def scored(p, score, group):
    names = tuple(f"p{i:02}" for i in range(len(score)))
    says = PromptScores(names, np.asarray(score), 0.5, len(score), len(score) - 1.0)
    return dataclasses.replace(estimate("a", p), group=group, scores=says)


def test_ratios_that_say_the_same_of_two_groups_are_one_hypothesis():
    score = np.random.default_rng(4).normal(1.2, 1.0, 12)
    women, men = scored(0.001, score, {"gender": "F"}), scored(0.001, -score, {"gender": "M"})
    alone, both = audit_q([women]), audit_q([women, men])
    assert both == [alone[0]] * 2
    assert 0.001 <= alone[0] < 0.01
    other = scored(0.001, np.random.default_rng(5).permutation(score), {"race": "Black"})
    assert audit_q([women, other])[0] > alone[0], "another ratio is counted"


def test_one_model_and_all_models_together_are_each_a_family():
    given = [estimate("a", 0.01), estimate("a", 0.02), estimate("a", 0.02, model="x")]
    assert audit_q(given) == pytest.approx([0.02, 0.02, 0.02])


def test_q_values_of_an_audit_are_those_of_its_families(reference):
    tested = [e for e in reference.records if e.tests]
    keys = sorted({(e.measure, e.strata["model"]) for e in tested})
    assert len({model for _, model in keys}) > 1
    for key in keys:
        family = [e.tests[0] for e in tested if (e.measure, e.strata["model"]) == key]
        expected = benjamini_hochberg([test.p for test in family])
        found = [test.q for test in family]
        assert found == pytest.approx(expected.tolist(), nan_ok=True)


def test_every_option_is_part_of_the_mark(reference):
    """An option that the mark forgets would leave old numbers in place."""
    options = dataclasses.asdict(registry.get("studies", "laissez-faire").options())
    assert reference.settings()["options"].keys() == {
        name for name, value in options.items() if value is not None
    }
    marks = {fingerprint(options=options | {name: "other"}) for name in options}
    assert len(marks) == len(options)


@pytest.mark.parametrize(
    "columns", [LABEL_COLUMNS, tuple(f"{a}={b}" for a, b in LABEL_COLUMNS.items())]
)
def test_the_options_that_a_run_keeps_make_an_equal_run(rows, tmp_path, columns):
    study = registry.get("studies", "laissez-faire")
    options = QUICK | {"level": 0.9, "measure": ("outcomes",), "columns": columns}
    config = AuditConfig.of(options, study.options, study.name)
    first = portrayal.audit(study="laissez-faire", texts=rows, out=tmp_path / "a", config=config)
    read = AuditConfig.of({}, study.options, study.name, first.settings_path)
    assert dataclasses.replace(read, options={}) == dataclasses.replace(config, options={})
    assert study.options(**read.options) == study.options(**config.options)
    again = portrayal.audit(
        study="laissez-faire", texts=rows, out=tmp_path / "b", config=str(first.settings_path)
    )
    assert as_text(again) == as_text(first)
    assert again.settings() == first.settings()
    over = portrayal.audit(
        study="laissez-faire", texts=rows, out=tmp_path / "c", config=first.settings_path, level=0.8
    )
    assert over.settings()["options"] == first.settings()["options"] | {"level": 0.8}


def test_how_a_model_is_asked_is_read_back():
    study = registry.get("studies", "laissez-faire")
    given = {
        "model": "server:m",
        "base_url": "http://localhost:1/v1",
        "parameters": {"temperature": 0.5, "max_tokens": 9},
        "prompt_options": {"forms": ("power", "neutral")},
        "confirm": lambda _: True,
        "labeler": "llm",
        "labeler_model": "server:n",
        "llm_settings": {"base_url": "http://localhost:2/v1", "budget": "2M tokens"},
        "workers": 7,
    }
    config = AuditConfig.of(given, study.options, study.name)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "audit.toml"
        file.write_text(tomli_w.dumps({**config.tables(), "options": config.options}))
        read = AuditConfig.of({}, study.options, study.name, file)
    assert (read.asking.confirm, read.workers) == (None, 1)
    assert read.tables() == config.tables()
    assert read.options == config.options
    assert read.llm_settings["budget"] == "2M tokens"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[options]\nlvel = 1", "line 2: options.lvel: unknown key"),
        ("[options]\nlevel = 'x'", "line 2: options.level: expected a number; got 'x'"),
        ("[inputs]", "line 1: inputs: unknown key"),
        ("[audit]\ncolumns = 3", "line 2: audit.columns: expected a list of texts"),
        ("[audit.llm_settings]\nbudgt = 3", "audit.llm_settings.budgt: unknown key"),
        ("study = 'news'", "line 1: study: expected 'laissez-faire'; got 'news'"),
        ("[options", "not TOML"),
    ],
)
def test_what_is_wrong_in_a_file_of_options_is_said_with_its_line(tmp_path, text, said):
    file = tmp_path / "mine.toml"
    file.write_text(text)
    with pytest.raises(DataError, match=f"mine.toml.*{re.escape(said)}"):
        portrayal.audit(study="laissez-faire", texts=[], config=file)


def test_an_audit_multiplies_on_one_core_and_leaves_the_threads_of_others(rows, tmp_path):
    def threads(*_):
        return {
            library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"
        }

    seen = []
    with threadpool_limits(2, "blas"):
        before = threads()
        labelled(rows, tmp_path, say=lambda _: seen.append(threads()))
        assert threads() == before
    assert len(seen) >= 3
    assert all(number == {1} for number in seen)
