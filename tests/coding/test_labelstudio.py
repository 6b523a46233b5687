import json
import xml.etree.ElementTree as ET

import pytest

from coding.coded import CODES, book, code_all, random_codes, small_project
from portrayal.coding import (
    Code,
    Codebook,
    CodebookField,
    CodingItem,
    codebook,
    make_project,
    read_labels,
)
from portrayal.coding.files import export_tasks, import_labels, labeling_config
from portrayal.errors import DataError, OptionError


def annotated(tasks, said, *, by=1, at="2025-01-01T00:00:00Z", note="", **more):
    """Tasks as Label Studio exports them: `said` maps item_id to the choices of one rater."""
    for number, task in enumerate(tasks, 1):
        task.setdefault("id", number)
        task.setdefault("annotations", [])
        item = task["data"]["item_id"]
        if item not in said:
            continue
        result = []
        if said[item]:
            value = {"choices": sorted(said[item])}
            named = {"from_name": "codes", "to_name": "text", "type": "choices"}
            result.append({"id": "a", "origin": "manual", "value": value} | named)
        if note:
            named = {"from_name": "note", "to_name": "text", "type": "textarea"}
            result.append({"id": "b", "value": {"text": [note]}} | named)
        made = {"id": len(task["annotations"]) + 10 * number, "completed_by": by, "result": result}
        task["annotations"].append(made | {"was_cancelled": False, "created_at": at} | more)
    return tasks


@pytest.fixture
def project(tmp_path):
    return small_project(tmp_path / "p", 6)


@pytest.fixture
def tasks(project, tmp_path):
    path, _ = export_tasks(project, tmp_path / "ls")
    return json.loads(path.read_text())


def read(project, tmp_path, tasks, **more):
    path = tmp_path / "export.json"
    path.write_text(json.dumps(tasks))
    return import_labels(project, path, **more)


def test_codes_survive_the_way_there_and_back(project, tasks, tmp_path):
    one, two = random_codes(project, 1), random_codes(project, 2)
    names = {item: {key.title() for key in keys} for item, keys in two.items()}  # without aliases
    annotated(tasks, one, by=1, note="Read twice.")
    annotated(tasks, names, by={"id": 2, "email": "bo@example.org"})
    done = read(project, tmp_path, tasks, raters={"1": "Ana"})
    other = small_project(tmp_path / "q", 6)
    code_all(other, "Ana", one)
    code_all(other, "bo@example.org", two)

    def facts(place):
        return [(d.text_id, d.rater, d.code, d.value, d.kind) for d in read_labels(place).rows]

    assert facts(project) == facts(other)
    assert dict(done.raters) == {"Ana": 6, "bo@example.org": 6}
    notes = {d.note for d in read_labels(project).rows if d.rater == "ana"}
    assert notes == {"Read twice."}


def test_no_codes_of_others_go_out(project, tmp_path):
    code_all(project, "Ana", random_codes(project, 1))
    path, _ = export_tasks(project, tmp_path / "ls")
    for task in json.loads(path.read_text()):
        assert set(task) == {"data"}
        assert set(task["data"]) == {"item_id", "title", "text"}


def test_the_configuration_is_generated_from_the_codebook():
    view = ET.fromstring(labeling_config(book()))
    choices = view.find("Choices[@name='codes']")
    assert choices.get("choice") == "multiple"
    assert choices.get("toName") == view.find("Text").get("name") == "text"
    assert [one.get("alias") for one in choices] == list(CODES)
    hotkeys = [one.get("hotkey") for one in choices]
    assert len(set(hotkeys)) == 3
    assert view.find("TextArea[@name='note']") is not None


def test_hostile_words_stay_words():
    hostile = '"/><Text name="x" value="$text"/><!-- & \x00 $title'
    book = Codebook("h", hostile, hostile, (Code("k", hostile, hostile, ""),), hostile)
    view = ET.fromstring(labeling_config(book))
    assert len(view.findall(".//Text")) == 1
    values = [one.get("value") for one in view.iter() if one.get("value")]
    assert [v for v in values if v.startswith("$")] == ["$title", "$text"]
    assert not [v for v in values if "$" in v and v not in ("$title", "$text")]


def test_fields_become_controls_and_come_back(tmp_path):
    fields = (
        CodebookField("who", "Who", "text"),
        CodebookField("tone", "Tone", "choice", ("warm", "cold")),
    )
    small = Codebook("f", "F", "", fields=fields)
    project = make_project(tmp_path / "p", [CodingItem("a", "T.")], small)
    view = ET.fromstring(labeling_config(small))
    assert [one.get("value") for one in view.find("Choices[@name='field-tone']")] == [
        "warm",
        "cold",
    ]
    result = [
        {"from_name": "field-who", "type": "textarea", "value": {"text": "Maria"}},
        {"from_name": "field-tone", "type": "choices", "value": {"choices": ["warm"]}},
    ]
    tasks = [{"data": {"item_id": "a"}, "annotations": [{"completed_by": 3, "result": result}]}]
    read(project, tmp_path, tasks)
    replies = {r.code: (r.value, r.rater) for r in read_labels(project).rows}
    assert replies == {"who": ("Maria", "label-studio-3"), "tone": ("warm", "label-studio-3")}


def test_skipped_and_earlier_annotations_are_counted(project, tasks, tmp_path):
    annotated(tasks, {"t0": {"savior"}}, at="2025-01-02T00:00:00Z")
    annotated(tasks, {"t0": {"savage"}}, at="2025-01-01T00:00:00Z")
    annotated(tasks, {"t1": {"savior"}}, was_cancelled=True)
    done = read(project, tmp_path, tasks)
    assert dict(done.left_out) == {"skipped there": 1, "an earlier annotation of the same rater": 1}
    given = [(d.text_id, d.code) for d in read_labels(project).rows if d.value == "1"]
    assert given == [("t0", "savior")]


def test_codes_that_are_there_are_not_written_over_unasked(project, tasks, tmp_path):
    annotated(tasks, {"t0": {"savior"}})
    read(project, tmp_path, tasks)
    with pytest.raises(OptionError, match="--replace"):
        read(project, tmp_path, tasks)
    read(project, tmp_path, tasks, replace=True)


@pytest.mark.parametrize(
    ("tasks", "said"),
    [
        ({"data": {}}, "not a list of tasks"),
        ([{"text": "x", "codes": "savior"}], 'format "JSON"'),
        ([{"data": {"text": "x"}, "annotations": []}], "no item_id"),
        ([{"data": {"item_id": "elsewhere"}, "annotations": []}], "no codes of this project"),
    ],
)
def test_what_is_no_export_is_told(project, tmp_path, tasks, said):
    with pytest.raises(DataError, match=said):
        read(project, tmp_path, tasks)


def test_an_unknown_choice_is_told(project, tasks, tmp_path):
    annotated(tasks, {"t0": {"hero"}})
    with pytest.raises(DataError, match="'hero' is not a code"):
        read(project, tmp_path, tasks)
    (tmp_path / "no.json").write_text("{")
    with pytest.raises(DataError, match="not JSON"):
        import_labels(project, tmp_path / "no.json")


def test_shipped_codebooks_give_configurations():
    for name in ("stereotypes", "people", "agency"):
        assert ET.fromstring(labeling_config(codebook(name))).tag == "View"
