"""Labels of a measure on the raters' page: its table corrects the run, its progress narrows."""

import shutil
from pathlib import Path

import numpy as np
import pytest

import portrayal
from command import invoke
from measure.test_by_hand import FACTOR, QUICK, stories
from portrayal.coding import open_project, write_labels
from portrayal.coding.by_hand import HandProject
from portrayal.collect.tables import read_table
from portrayal.raters import Label, read_hand_labels
from portrayal.run import Run, read_shards


def drawn_project(folder: Path) -> Path:
    """Make a run whose words miss half of one faith, and a project of 150 of its texts."""
    (folder / "faith.toml").write_text(FACTOR.format(name="faith"), encoding="utf-8")
    texts = [{k: row[k] for k in ("text_id", "prompt_id", "text")} for row in stories()]
    given = {"texts": texts, "factor": [str(folder / "faith.toml")], "out": folder / "run"}
    portrayal.audit("laissez-faire", **given, **QUICK)
    asked = ("label", "sheet", folder / "run", "--for", "faith", "--n", "150", "--project", "hand")
    shown = invoke(*asked)
    assert shown.exit_code == 0, shown.output
    assert "labels: one; two; none; unknown" in shown.stdout
    assert f"label serve {folder / 'run' / 'coding' / 'hand'}" in shown.stdout
    assert "holds a coding project already" in invoke(*asked).output
    return folder


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return drawn_project(tmp_path_factory.mktemp("page"))


@pytest.fixture
def project(drawn: Path, tmp_path: Path) -> HandProject:
    shutil.copytree(drawn, tmp_path / "all")
    return HandProject(open_project(tmp_path / "all" / "run" / "coding" / "hand"))


def give(project: HandProject, raters: tuple[str, ...], n: int) -> dict[str, str]:
    """Label the first n texts as people would, all raters alike; by text_id."""
    run = Run.open(project.project.folder.parent.parent)
    ids = [row["text_id"] for (t,) in read_shards(run.texts, ["text_id"]) for row in t.to_pylist()]
    truth = dict(zip(ids, (row["faith"] for row in stories()), strict=True))
    items = project.project.items[:n]
    rows = [Label(r, i.item_id, "label", truth[i.item_id]) for r in raters for i in items]
    write_labels(project.project, rows)
    return {item.item_id: truth[item.item_id] for item in items}


def test_the_page_is_blind_and_asks_for_the_field_alone(project: HandProject) -> None:
    book = project.project.codebook
    assert [(one.key, one.choices) for one in book.fields] == [
        ("label", ("one", "two", "none", "unknown"))
    ]
    assert not book.codes
    assert "Two people label every text" in book.instructions
    assert {part for item in project.project.items for part in item.strata} == {"text_id", "unit"}
    order = [project._said[item.strata["text_id"], ""] for item in project.project.items]
    assert sorted(order) != order  # the order does not tell what the scorer says


def test_what_the_page_saves_is_the_table_that_audits_read(project: HandProject) -> None:
    said = give(project, ("ann", "ben"), 150)
    table = read_hand_labels(str(project.write()), ["faith"])
    assert {name: label for (name, _), label in table.labels["faith"].items()} == said
    assert table.raters["faith"] == ["ann", "ben"]
    weights = table.weights("faith", [(name, "") for name in said], 0.0)
    assert weights == pytest.approx([item.weight for item in project.project.items])
    run = project.project.folder.parent.parent
    factor = [str(run.parent / "faith.toml")]
    again = portrayal.audit(
        "laissez-faire", out=run, factor=factor, hand_labels=str(project.path), **QUICK
    )
    corrected = [e for e in again.records if e.corrected]
    assert {e.details["n_labelled"] for e in corrected if e.strata.get("domain") == "all"} == {150}


def test_the_interval_narrows_as_labels_come_in(project: HandProject) -> None:
    give(project, ("ann",), 19)
    assert project.narrowed() == []
    give(project, ("ann",), 150)
    found = project.narrowed()
    assert [one.n for one in found] == sorted({one.n for one in found})
    assert found[0].n == 20
    assert found[-1].n == 150
    widths = [one.high - one.low for one in found]
    assert widths[-1] < 0.6 * widths[0]
    true = np.mean([row["faith"] == project.target for row in stories()])
    assert found[-1].low < true < found[-1].high


def test_a_rater_who_is_not_done_and_raters_who_differ_settle_nothing(
    project: HandProject,
) -> None:
    said = give(project, ("ann",), 40)
    other = {name: "two" if label == "one" else "one" for name, label in said.items()}
    write_labels(project.project, [Label("ben", t, "label", x) for t, x in other.items()])
    assert all(20 <= one.n <= 40 for one in project.narrowed())
    assert len(read_table(project.write(), ["label"])) == 80


def test_a_page_without_a_measure_is_refused(drawn: Path) -> None:
    shown = invoke("label", "sheet", drawn / "run", "--project", "more")
    assert "go with --for" in shown.output
