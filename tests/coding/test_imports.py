from dataclasses import replace

import pytest

from coding.coded import CODES, code_all, random_codes, small_project, write_codes
from portrayal.coding import Codebook, CodebookField, CodingItem, make_project, read_labels
from portrayal.coding.files import export_labels, import_labels
from portrayal.errors import DataError, OptionError
from portrayal.raters import Label


def facts(project):
    return {replace(label, at="") for label in read_labels(project).rows}


@pytest.fixture
def project(tmp_path):
    return small_project(tmp_path / "p", 8)


def test_codes_survive_the_way_out_and_in(project, tmp_path):
    code_all(project, "Ana", random_codes(project, 1))
    code_all(project, "server:m", random_codes(project, 2), kind="llm")
    code_all(project, "judge", random_codes(project, 3), kind="adjudicated", items=["t1", "t4"])
    notes = [("t0", '=1+1, "quoted"\nand a line'), ("t1", "'=x"), ("t2", "  -5"), ("t3", "plain")]
    write_codes(project, "Bo", [("t0", "savage", True)], notes=notes[:1], kind="human")
    for item, note in notes[1:]:
        write_codes(project, "Bo", [(item, "savage", False)], notes=[(item, note)], kind="human")
    path = export_labels(project, tmp_path / "codes.csv")
    other = small_project(tmp_path / "q", 8)
    done = import_labels(other, path)
    assert facts(other) == facts(project)
    assert dict(done.raters) == {"ana": 8, "bo": 4, "server:m": 8, "judge": 2}
    assert (done.n_texts, dict(done.left_out)) == (8, {})


def test_fields_survive_too(tmp_path):
    book = Codebook(
        "f",
        "F",
        "",
        fields=(
            CodebookField("who", "Who", "text"),
            CodebookField("sex", "G", "choice", ("F", "M")),
        ),
    )
    one, two = (make_project(tmp_path / name, [CodingItem("a", "T.")], book) for name in "pq")
    write_codes(one, "Ana", [], replies=[("a", "who", "Maria"), ("a", "sex", "F")], kind="human")
    import_labels(two, export_labels(one))
    assert facts(two) == facts(one)
    bad = tmp_path / "bad.csv"
    bad.write_text("item_id,rater,code,value\na,Bo,sex,Q\n")
    with pytest.raises(DataError, match="sex is one of F, M"):
        import_labels(two, bad)


def test_texts_of_another_project_are_left_out_and_counted(project, tmp_path):
    path = tmp_path / "codes.csv"
    path.write_text("item_id,rater,code,value\nt0,Ana,savior,1\nx9,Ana,savior,1\n")
    done = import_labels(project, path)
    assert dict(done.left_out) == {"of texts that are not in this project": 1}
    given = {d.code: d.value == "1" for d in read_labels(project).rows}
    assert given == {key: key == "savior" for key in CODES}
    path.write_text("item_id,rater,code,value\nx9,Ana,savior,1\n")
    with pytest.raises(DataError, match="no codes of this project's texts"):
        import_labels(project, path)


def test_codes_that_are_there_are_not_written_over_unasked(project, tmp_path):
    code_all(project, "Ana", {"t0": {"savior"}})
    path = tmp_path / "codes.csv"
    path.write_text("item_id,rater,code,value\nt0,ANA,savior,0\n")
    before = facts(project)
    with pytest.raises(OptionError, match="--replace"):
        import_labels(project, path)
    assert facts(project) == before
    import_labels(project, path, replace=True)
    assert Label("ana", "t0", "savior", "0") in facts(project)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("item_id,rater,code\nt0,Ana,savior\n", "no column value; found item_id"),
        ("item_id,rater,code,value\nt0,Ana,savior,yes\n", "value of a code is 1 or 0"),
        ("item_id,rater,code,value\nt0,Ana,hero,1\n", "'hero' is not a code"),
        ("item_id,rater,code,value,kind\nt0,Ana,savior,1,god\n", "line 2: kind is one of"),
        ("", "the file is empty"),
    ],
)
def test_what_cannot_be_read_is_told(project, tmp_path, text, said):
    path = tmp_path / "codes.csv"
    path.write_text(text)
    with pytest.raises(DataError, match=said):
        import_labels(project, path)
    assert read_labels(project).raters == ()


def test_a_file_that_is_no_text_is_told(project, tmp_path):
    path = tmp_path / "codes.csv"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DataError, match="UTF-8"):
        import_labels(project, path)
