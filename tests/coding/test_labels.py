"""What raters said, as rows: only of texts they are done with, every code of those."""

from pathlib import Path

from coding.coded import write_codes
from coding.raters import project
from portrayal.coding import project_labels
from portrayal.coding.store import Click, Store

CODE = "noble_savage"


def test_nobody_has_begun(tmp_path: Path) -> None:
    made = project(tmp_path / "p")
    found = project_labels(made)
    assert (found.rows, found.raters) == ((), ())
    assert not made.codes_path.exists()


def test_a_text_that_is_done_has_every_code_and_one_that_is_not_is_counted(tmp_path: Path) -> None:
    made = project(tmp_path / "p")
    store = Store(made.codes_path)
    store.enrol("Ann")
    store.save(Click("a" * 16, "ann", "t1", "code", CODE, "1"))
    store.save(Click("b" * 16, "ann", "t1", "note", "", "why"))
    store.save(Click("c" * 16, "ann", "t1", "done", "", "1"))
    store.save(Click("d" * 16, "ann", "t2", "code", CODE, "1"))
    store.close()
    found = project_labels(made)
    assert found.raters == ("ann",)
    assert found.started == 1
    assert [(d.text_id, d.field) for d in found.rows] == [
        ("t1", code.key) for code in made.codebook.codes
    ]
    assert {d.field for d in found.rows if d.value == "1"} == {CODE}
    assert {d.note for d in found.rows} == {"why"}
    assert all(d.at.endswith("+00:00") for d in found.rows)


def test_codes_of_models_are_kept_apart(tmp_path: Path) -> None:
    made = project(tmp_path / "p")
    write_codes(made, "gpt", [("t2", CODE, True), ("t1", CODE, False)], notes=[("t2", "said so")])
    write_codes(made, "Bo", [("t1", CODE, True)], kind="human")
    found = project_labels(made)
    assert list(dict.fromkeys((d.text_id, d.rater) for d in found.rows)) == [
        ("t1", "bo"),
        ("t1", "gpt"),
        ("t2", "gpt"),
    ]
    assert found.of("llm").raters == ("gpt",)
    assert found.of("human").raters == ("bo",)
    assert {d.text_id for d in found.of("llm").rows if d.value == "1"} == {"t2"}
    assert {d.note for d in found.of("llm").rows if d.text_id == "t2"} == {"said so"}


def test_codes_of_texts_that_are_gone_are_left_out(tmp_path: Path) -> None:
    made = project(tmp_path / "p")
    write_codes(made, "gpt", [("elsewhere", CODE, True)])
    assert project_labels(made).rows == ()
