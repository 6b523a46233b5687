"""Files of what raters said: codes, sheets of people, sheets of sentences."""

import csv
from pathlib import Path

import pytest

from coding.coded import write_codes
from coding.raters import TEXT, project
from portrayal.coding import CodingItem, codebook, make_project
from portrayal.coding.files import CODE_COLUMNS, SHEET, export_labels, export_sheets
from portrayal.errors import DataError


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as stream:
        return list(csv.DictReader(stream))


def test_codes(tmp_path: Path) -> None:
    made = project(tmp_path / "p")
    notes = [("t1", "=HYPERLINK(1)\nand, more")]
    write_codes(made, "Ann", [("t1", "noble_savage", True)], notes=notes, kind="human")
    path = export_labels(made)
    assert path == made.folder / "codes.csv"
    found = rows(path)
    assert tuple(found[0]) == CODE_COLUMNS
    assert {(row["code"], row["value"]) for row in found} == {
        (code.key, "1" if code.key == "noble_savage" else "0") for code in made.codebook.codes
    }
    assert {row["note"] for row in found} == {"'=HYPERLINK(1)\nand, more"}
    assert {(row["rater"], row["kind"]) for row in found} == {("ann", "human")}
    with pytest.raises(DataError, match="codes alone"):
        export_sheets(made)


def test_a_sheet_of_people_for_each_rater(tmp_path: Path) -> None:
    made = project(tmp_path / "p", book="people")
    for name in ("Ann", "an/n", "an n"):
        replies = [("t2", "subject_name", "Grant"), ("t2", "subject_gender", "F")]
        write_codes(made, name, [], replies=replies, notes=[("t2", "sure")], kind="human")
    paths = export_sheets(made, tmp_path / "out")
    assert [path.name for path in paths] == [
        "labels-an-n.csv",
        "labels-an-n-2.csv",
        "labels-ann.csv",
    ]
    found = rows(paths[2])
    assert tuple(found[0]) == SHEET
    assert [row["text_id"] for row in found] == ["t1", "t2", "t3"]
    assert [row["subject_gender"] for row in found] == ["", "F", ""]
    row = found[1]
    assert (row["subject_name"], row["object_name"], row["notes"]) == ("Grant", "", "sure")
    assert (row["subject_role"], row["object_role"], row["characters"]) == (
        "mentor",
        "apprentice",
        "2",
    )
    assert (row["stratum"], row["stratum_size"], row["domain"]) == ("Labor", "6", "Labor")
    assert row["text"] == TEXT
    assert row["rater"] == "ann"


def test_the_stratum_is_what_a_text_was_drawn_as(tmp_path: Path) -> None:
    """Weights of one stratum differ where its texts could be drawn for others too."""
    drawn = (("F, dominant", 2.5), ("F, dominant", 1.5), ("F, dominant; Latine F, neutral", 1.0))
    items = [
        CodingItem(
            f"t{i}",
            "A text.",
            strata={"model": f"m{i}", "prompt_id": f"p{i}", "sampled_as": drawn_as},
            weight=weight,
        )
        for i, (drawn_as, weight) in enumerate(drawn)
    ]
    items.append(CodingItem("t3", "A text.", strata={"domain": "Labor", "prompt_id": "p3"}))
    items.append(CodingItem("t4", "A text.", strata={"prompt_id": "p3"}, weight=7))
    made = make_project(tmp_path / "p", items, codebook("people"))
    write_codes(made, "Ann", [], replies=[("t0", "subject_name", "A")], kind="human")
    (path,) = export_sheets(made)
    found = [(row["stratum"], row["stratum_size"]) for row in rows(path)]
    assert found == [
        ("F, dominant", "4"),
        ("F, dominant", "4"),
        ("F, dominant; Latine F, neutral", "1"),
        ("Labor", "1"),
        ("all", "7"),
    ]


def test_a_sheet_of_sentences(tmp_path: Path) -> None:
    items = [
        CodingItem("s1", "She led the team."),
        CodingItem("s2", "-He cared."),
        CodingItem("s3", "It rained."),
    ]
    made = make_project(tmp_path / "p", items, codebook("agency"))
    key = made.codebook.fields[0].key
    replies = [("s1", key, "agentic"), ("s2", key, "communal")]
    write_codes(made, "Ann", [], replies=replies, kind="human")
    (path,) = export_sheets(made)
    assert rows(path) == [
        {"sentence": "She led the team.", "label": "agentic"},
        {"sentence": "'-He cared.", "label": "communal"},
    ]
