"""Labels of a measure on the raters' page correct the run."""

import shutil
from pathlib import Path

import pytest

import portrayal
from command import invoke
from measure.test_by_hand import FACTOR, QUICK, stories
from portrayal.coding import Project, open_project, store_labels
from portrayal.measure.drawing import classes_of
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
    assert f"label serve {folder / 'run' / 'coding' / 'hand'}" in shown.stdout
    assert "holds a coding project already" in invoke(*asked).output
    return folder


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return drawn_project(tmp_path_factory.mktemp("page"))


@pytest.fixture
def project(drawn: Path, tmp_path: Path) -> Project:
    shutil.copytree(drawn, tmp_path / "all")
    return open_project(tmp_path / "all" / "run" / "coding" / "hand")


def give(project: Project, raters: tuple[str, ...], n: int) -> dict[str, str]:
    """Label the first n texts as people would, all raters alike; by text_id."""
    run = Run.open(project.folder.parent.parent)
    ids = [row["text_id"] for (t,) in read_shards(run.texts, ["text_id"]) for row in t.to_pylist()]
    truth = dict(zip(ids, (row["faith"] for row in stories()), strict=True))
    items = project.items[:n]
    rows = [Label(i.item_id, "", "faith", truth[i.item_id], r) for r in raters for i in items]
    store_labels(project, rows)
    return {item.item_id: truth[item.item_id] for item in items}


def test_the_page_is_blind_and_asks_for_the_field_alone(project: Project) -> None:
    book = project.codebook
    assert [(one.key, one.choices) for one in book.fields] == [
        ("faith", ("one", "two", "none", "unknown"))
    ]
    assert not book.codes
    assert "Two people label every text" in book.instructions
    assert {part for item in project.items for part in item.strata} == {"text_id", "prompt_id"}
    assert not any(item.people or item.title for item in project.items)
    said = classes_of(Run.open(project.folder.parent.parent), "faith")
    order = [said[item.item_id, ""] for item in project.items]
    assert sorted(order) != order  # the order does not tell what the scorer says


def test_what_the_page_saves_is_the_file_that_audits_read(project: Project, tmp_path: Path) -> None:
    said = give(project, ("ann", "ben"), 150)
    merged = invoke("label", "merge", project.folder, "--out", tmp_path / "hand.csv")
    assert merged.exit_code == 0, merged.output
    assert "300 labels by ann, ben" in merged.stdout
    table = read_hand_labels(str(tmp_path / "hand.csv"), ["faith"])
    assert {name: label for (name, _), label in table.labels["faith"].items()} == said
    assert table.raters["faith"] == ["ann", "ben"]
    weights = table.weights("faith", [(name, "") for name in said], 0.0)
    assert weights == pytest.approx([item.weight for item in project.items])
    run = project.folder.parent.parent
    factor = [str(run.parent / "faith.toml")]
    again = portrayal.audit(
        "laissez-faire", out=run, factor=factor, hand_labels=str(tmp_path / "hand.csv"), **QUICK
    )
    corrected = [e for e in again.records if e.corrected]
    assert {e.details["n_labelled"] for e in corrected if e.strata.get("domain") == "all"} == {150}


def test_raters_who_differ_settle_nothing(project: Project, tmp_path: Path) -> None:
    said = give(project, ("ann",), 40)
    other = {name: "two" if label == "one" else "one" for name, label in said.items()}
    store_labels(project, [Label(t, "", "faith", x, "ben") for t, x in other.items()])
    merged = invoke("label", "merge", project.folder, "--out", tmp_path / "hand.csv")
    assert "left open, as no more than half of the raters agree: 40" in merged.stdout


def test_options_of_the_other_kind_of_draw_are_refused(drawn: Path) -> None:
    shown = invoke("label", "sheet", drawn / "run", "--target-width", "0.1")
    assert "go with --for a field" in shown.output
    shown = invoke("label", "sheet", drawn / "run", "--for", "faith", "--by", "domain")
    assert "--by goes with --for a codebook" in shown.output
