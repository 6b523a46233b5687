"""The rows of labelled texts: the extractor's columns, and by whom."""

from portrayal import registry


def test_both_annotators_have_the_extractors_columns_and_two_more():
    own = registry.component("annotators", "people.v6").schema
    for name in ("people-llm.v1", "people-routed.v1"):
        schema = registry.component("annotators", name).schema
        assert schema.names == [*own.names, "labeler", "label_note"]
