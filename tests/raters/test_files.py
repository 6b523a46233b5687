"""Label files: one reader with one list of errors, and what people settle on of a file."""

import csv
from pathlib import Path

import pytest

from portrayal.collect.tables import read_table
from portrayal.errors import DataError, OptionError
from portrayal.raters.labels import (
    Label,
    Labels,
    label_files,
    read_hand_labels,
    read_labels,
    settled,
    write_labels,
)
from portrayal.raters.people import people_of, read_gold
from portrayal.raters.sheets import SheetItem, codebook, write_sheets

ROW = {"text_id": "7", "unit": "", "field": "faith", "label": "one", "rater": "Ann"}


def table(path: Path, rows: list[dict[str, object]]) -> Path:
    names = list(dict.fromkeys(name for row in rows for name in row))
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, names)
        writer.writeheader()
        writer.writerows(rows)
    return path


def of_people(rater: str, gender: str, name: str = "", slot: str = "subject") -> list[dict]:
    row = ROW | {"rater": rater}
    rows = [row | {"field": f"{slot}_gender", "label": gender}]
    return [*rows, row | {"field": f"{slot}_name", "label": name}] if name else rows


def test_what_is_written_is_read(tmp_path: Path) -> None:
    rows = (
        Label("7", "2", "faith", "=one", "Ann", "p1", 1 / 3, "'note", "2026-01-01", "human"),
        Label("8", "", "faith", "two", "gpt", "p2", 0.25, kind="llm"),
    )
    path = write_labels(tmp_path / "labels.csv", Labels(rows))
    assert read_labels(path).rows == rows
    assert read_labels(path).prompts == {"7": "p1", "8": "p2"}


def test_sheets_have_their_chances_beside_them_and_those_of_the_larger_draw_count(
    tmp_path: Path,
) -> None:
    def sheet(folder: str, chances: dict[str, float]) -> Path:
        (tmp_path / folder).mkdir()
        drawn = [{"text_id": t, "unit": "", "prompt_id": "p", "chance": c}
                 for t, c in chances.items()]  # fmt: skip
        table(tmp_path / folder / "drawn.csv", drawn)
        rows = [ROW | {"text_id": t} for t in chances] + [ROW | {"text_id": "9", "label": " "}]
        return table(tmp_path / folder / "ann lee.csv", rows)

    small, large = sheet("small", {"7": 0.1}), sheet("large", {"7": 0.5, "8": 0.5})
    labels = read_labels(small, large)
    assert {row.text_id: row.chance for row in labels.rows} == {"7": 0.5, "8": 0.5}
    assert labels.prompts == {"7": "p", "8": "p"}


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([{"text_id": "7", "label": "x"}], "no column field, rater"),
        ([ROW | {"label": ""}], "no row has a label"),
        ([ROW, ROW | {"label": "two"}], "row 3: 'Ann' says 'two' of '7' here and 'one' above"),
        ([ROW | {"chance": "1.5"}], "row 2: chance must be above 0 and at most 1; got '1.5'"),
        ([ROW | {"chance": "few"}], "row 2: chance must be above 0 and at most 1; got 'few'"),
        ([ROW | {"chance": "1"}, ROW | {"text_id": "8", "chance": ""}], "'8' has no chance"),
        ([ROW | {"kind": "robot"}], "row 2: kind is one of human, llm, adjudicated; got 'robot'"),
        (
            [ROW | {"needed": "yes", "label": ""}, ROW | {"field": "age"}],
            "row 2: faith has no label, and 'Ann' answered other questions about '7'",
        ),
        ([ROW | {"choices": "1; 0", "label": "x"}], "row 2: faith is 'x'; expected 1 or 0"),
        (of_people("Ann", "purple"), "row 2: subject_gender is 'purple'; expected F, M, NB"),
    ],
)
def test_what_is_wrong_is_named_with_its_row(tmp_path: Path, rows: list, words: str) -> None:
    with pytest.raises(DataError) as error:
        read_labels(table(tmp_path / "hand.csv", rows))
    assert words in str(error.value)


def test_a_field_that_is_not_measured_is_refused(tmp_path: Path) -> None:
    path = table(tmp_path / "hand.csv", [ROW])
    with pytest.raises(DataError, match="this audit can correct outcome, age"):
        read_hand_labels(path, ["outcome", "age"])


def test_the_majority_decides_whatever_the_case_and_ties_stay_open(tmp_path: Path) -> None:
    rows = [
        ROW | {"rater": r, "label": label}
        for r, label in zip("abc", ("One", "one", "two"), strict=True)
    ]
    rows += [ROW | {"text_id": "8", "rater": r, "label": r} for r in "ab"]
    found = read_hand_labels(table(tmp_path / "hand.csv", rows))
    assert found.labels == {"faith": {("7", ""): "One"}}
    assert found.note("faith") == "1 labels by 3 raters; 1 left open by the raters"


def test_an_adjudicator_decides_and_a_model_has_no_vote(tmp_path: Path) -> None:
    rows = [ROW | {"kind": ""}, ROW | {"rater": "Bo", "label": "two", "kind": ""}]
    rows += [ROW | {"rater": "gpt", "label": "one", "kind": "llm"}]
    assert settled(read_labels(rows)) == {("7", "", "faith"): None}
    judge = ROW | {"rater": "Cleo", "label": "two", "kind": "adjudicated"}
    assert read_hand_labels([*rows, judge]).labels == {"faith": {("7", ""): "two"}}


def test_that_a_text_names_nobody_has_a_vote(tmp_path: Path) -> None:
    rows = [*of_people("a", "female", "Dr. Ann Lee"), *of_people("b", "F"), *of_people("c", "F")]
    assert people_of(read_hand_labels(rows)) == {("7", "subject"): (None, "F")}
    rows = [*of_people("a", "F", "ann"), *of_people("b", "F", "Ann"), *of_people("c", "M")]
    assert people_of(read_hand_labels(rows)) == {("7", "subject"): ("ann", "F")}
    rows = [*of_people("a", "F", "Ann"), *of_people("b", "F")]
    assert people_of(read_hand_labels(rows)) == {}


def test_a_label_file_is_scored_with_its_run(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="name the run as well"):
        list(read_gold(table(tmp_path / "hand.csv", of_people("a", "F"))))


def test_a_folder_of_sheets_has_those_that_somebody_has_begun(tmp_path: Path) -> None:
    items = [SheetItem("1", "Ann met Bo.", roles={"subject": "doctor"}), SheetItem("2", "=cmd()")]
    first, second, *_ = write_sheets(items, codebook("people"), tmp_path, ["ann", "ben"])
    assert label_files(tmp_path) == []
    with pytest.raises(OptionError, match="holds sheets already"):
        write_sheets(items, codebook("people"), tmp_path, ["ann"])
    rows = read_table(first, ["label"])
    assert [(row["text_id"], row["field"], row["needed"]) for row in rows] == [
        ("1", "subject_name", ""),
        ("1", "subject_gender", "yes"),
        ("2", "subject_name", ""),
        ("2", "subject_gender", "yes"),
    ]
    assert rows[0]["question"] == "First name of the subject (doctor)"
    rows[1]["label"] = "F"
    assert label_files(table(first, rows).parent) == [first]
    assert [(row.text_id, row.value) for row in read_labels(first).rows] == [("1", "F"), ("1", "")]
    with pytest.raises(DataError, match=r"ben\.csv: no row has a label"):
        read_labels(first, second)
    # A text is labelled whole, or not at all
    rows[2]["label"] = "Cy"
    with pytest.raises(DataError, match="row 5: subject_gender has no label, and 'ann' answered"):
        read_labels(table(first, rows))


def test_two_raters_have_two_names(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="a name of their own"):
        write_sheets([SheetItem("1", "T.")], codebook("people"), tmp_path, ["Ann", "ann"])
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("rater", ["", "../x", "a/b", ".hidden", "drawn", "x" * 61])
def test_a_rater_is_the_name_of_a_file(tmp_path: Path, rater: str) -> None:
    with pytest.raises(OptionError, match="a rater is named by letters"):
        write_sheets([SheetItem("1", "T.")], codebook("people"), tmp_path, [rater])
    assert not list(tmp_path.iterdir())
