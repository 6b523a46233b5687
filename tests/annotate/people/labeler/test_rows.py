"""The rows of labelled texts: the extractor's columns, and by whom."""

import pyarrow as pa

from portrayal import registry
from portrayal.annotate.people import Character, Span
from portrayal.annotate.people.labeler.people import LabelledText
from portrayal.annotate.people.labeler.stage import label_row


def test_both_annotators_have_the_extractors_columns_and_two_more():
    own = registry.component("annotators", "people.v6").schema
    for name in ("people-llm.v1", "people-routed.v1"):
        schema = registry.component("annotators", name).schema
        assert schema.names == [*own.names, "labeler", "label_note"]


def test_a_row_holds_what_the_model_said():
    subject = Character("Ann", "F", ("she",), (Span(0, 3, "name"),), 0.5)
    row = label_row(LabelledText("llm", (subject, None)))
    schema = registry.component("annotators", "people-llm.v1").schema
    (kept,) = pa.Table.from_pylist([row], schema=schema).to_pylist()
    assert (kept["subject_name"], kept["subject_gender"]) == ("Ann", "F")
    assert kept["subject_spans"] == [{"start": 0, "end": 3, "kind": "name"}]
    assert kept["object_name"] is None
    assert (kept["labeler"], kept["label_note"]) == ("llm", None)


def test_a_failure_holds_only_why():
    row = label_row(LabelledText("embedded", None, "unlabelled: of 3 answers 3 failed"))
    assert row == {"labeler": "embedded", "label_note": "unlabelled: of 3 answers 3 failed"}
