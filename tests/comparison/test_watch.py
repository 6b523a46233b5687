"""The same audit over time: what changed, when, and what is refused."""

import shutil
from datetime import date

import pytest

import portrayal
from portrayal.comparison import watch
from portrayal.errors import OptionError, RunError
from portrayal.run import Run
from support import vouch_again

from .rounds import LEARNING, audit, stories, women


def until(series, month, tmp_path):
    """The first rounds of the series in a folder of their own."""
    for n in range(1, month + 1):
        name = f"2026-0{n}-01"
        shutil.copytree(series / name, tmp_path / name, dirs_exist_ok=True)
    return tmp_path


@pytest.fixture(scope="module")
def watched(series):
    return watch(series)


def test_a_change_is_seen_with_its_round_and_size(watched):
    found = watched
    row = women(found)
    assert row.start == 4
    assert row.alarm in (4, 5)
    assert row.p < 0.05
    assert row.q < 0.05
    assert row.low < 2.3 < row.high
    assert row.low > 1
    assert row.change == pytest.approx(2.3, abs=0.3)
    assert found.alarms[0].alarm in (4, 5)
    assert [each.when for each in found.rounds] == [date(2026, n, 1) for n in range(1, 6)]
    assert found.n_prompts == 15


def test_nothing_is_seen_before_it(series, tmp_path):
    found = watch(until(series, 3, tmp_path))
    assert found.alarms == ()
    row = women(found)
    assert row.low <= 1 <= row.high
    assert row.p > 0.05
    assert row.findable > 2
    assert f"of these {found.n_prompts} prompts" in found.summary
    assert found.population == "these-prompts"


def test_a_folder_named_by_a_month_is_its_first_day(series, tmp_path):
    for n, name in enumerate(("2026-04", "2026-05-20", "before-2026-03", "12026-042"), start=1):
        shutil.copytree(series / f"2026-0{n}-01", tmp_path / name)
    named = {each.name: each.when for each in watch(tmp_path).rounds}
    assert named["2026-04"] == date(2026, 4, 1)
    assert named["before-2026-03"] == date(2026, 3, 1)
    assert named["2026-05-20"] == date(2026, 5, 20)
    assert named["12026-042"] not in (date(2026, 4, 1), date(2026, 4, 2))


def test_values_are_those_of_the_audits(series, watched):
    row = women(watched)
    for number, value in enumerate(row.values, 1):
        records = Run.open(series / f"2026-0{number}-01").records
        (same,) = [
            e
            for e in records
            if e.measure == row.measure
            and e.group == row.group
            and {**row.strata, "model": "all"} == dict(e.strata)
        ]
        assert value == same.value


def test_the_change_is_that_of_the_pooled_values(watched):
    """With rounds of one size, the ratio of the mean value since to the mean value before."""
    row = women(watched)
    before, since = row.values[:3], row.values[3:]
    pooled = (sum(since) / 2) / (sum(before) / 3)
    assert row.change == pytest.approx(pooled, rel=1e-6)


def test_the_model_of_each_round_is_said(watched):
    assert [each.models for each in watched.rounds] == [("writer-1",)] * 3 + [("writer-2",)] * 2


def test_one_round_is_no_error(series, tmp_path):
    found = watch(until(series, 1, tmp_path))
    assert len(found.rounds) == 1
    assert women(found).undefined == "a change takes two rounds"


def test_what_is_not_finished_is_left_out_and_named(series, tmp_path):
    folder = until(series, 2, tmp_path)
    (folder / "2026-03-01").mkdir()
    assert watch(folder).left_out == ("2026-03-01",)


def test_reworded_prompts_do_not_count(series, tmp_path):
    """Prompts of other words under an old name are left out of the test."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder = until(series, 2, tmp_path)
    path = folder / "2026-02-01" / "prompts.parquet"
    table = pq.read_table(path)
    words = table["text"].to_pylist()
    at = table["prompt_id"].to_pylist().index(LEARNING[0])
    words[at] = "Write something else."
    place = table.column_names.index("text")
    pq.write_table(table.set_column(place, "text", pa.array(words)), path)
    vouch_again(portrayal.Run(path.parent))
    found = watch(folder)
    assert found.n_prompts == 14
    assert women(found).n_prompts == 14


def test_other_instruments_are_refused(series, tmp_path):
    folder = until(series, 1, tmp_path)
    audit(folder / "2026-02-01", stories(0.4, 9), baseline="subject:core")
    with pytest.raises(OptionError, match="baseline: census-2022 and subject:core"):
        watch(folder)
    assert watch(folder, despite=["baseline"]).instruments


def test_bad_folders_say_what_to_do(series, tmp_path):
    with pytest.raises(RunError, match=r"is not a folder of runs.*--append DIR"):
        watch(tmp_path / "none")
    with pytest.raises(RunError, match=r"holds no run.*--append DIR"):
        watch(tmp_path)
    with pytest.raises(RunError, match="is a run itself"):
        watch(series / "2026-01-01")


def test_several_studies_are_refused(series, tmp_path):
    folder = until(series, 1, tmp_path)
    texts = [
        {"text": f"{who} is a bold leader.", "gender": g} for who, g in (("She", "F"), ("He", "M"))
    ]
    portrayal.audit("agency", texts=texts * 5, out=folder / "2026-02-01", report=False)
    with pytest.raises(OptionError, match=r"several studies \(agency, laissez-faire\)"):
        watch(folder)


def test_runs_without_sums_are_refused(series, tmp_path):
    folder = until(series, 2, tmp_path)
    (folder / "2026-02-01" / "influences.parquet").unlink()
    vouch_again(portrayal.Run(folder / "2026-02-01"))
    with pytest.raises(RunError, match="keeps no sums by prompt"):
        watch(folder)


def test_other_prompts_are_refused(series, tmp_path):
    folder = until(series, 1, tmp_path)
    made = [row for row in stories(0.4, 3) if row["prompt_id"] in LEARNING[:4]]
    audit(folder / "2026-02-01", made)
    with pytest.raises(OptionError, match="share 4 prompts"):
        watch(folder)
