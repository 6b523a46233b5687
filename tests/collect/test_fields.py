"""Columns: what the user maps wins, then the preset, then well-known names."""

import pytest

from portrayal.collect import LABELS
from portrayal.collect.fields import map_columns, parse_columns
from portrayal.errors import DataError, OptionError
from portrayal.studies.laissez_faire import FIELDS

DATAVERSE = [
    "Model", "Domain", "Power Dynamic", "Subject", "Object", "Query", "Response",
    "Subject Name", "Subject References", "Object Name", "Object References",
]  # fmt: skip


@pytest.mark.parametrize(
    ("column", "field"),
    [
        ("text", "text"),
        ("Story", "text"),
        ("response", "text"),
        ("OUTPUT", "text"),
        ("Model Name", "model"),
        ("model-id", "model"),
        ("query", "prompt"),
        ("Power Dynamic", "condition"),
        ("power_condition", "condition"),
        ("Subject", "subject_role"),
        ("object", "object_role"),
        ("custom_id", "text_id"),
        ("prompt_id", "prompt_id"),
        ("scenario", "scenario"),
    ],
)
def test_well_known_names_are_found(column, field):
    texts = () if field == "text" else ("answer",)
    mapping = map_columns(FIELDS, [column, *texts, "unrelated"])
    assert mapping[field] == column
    assert "unrelated" not in mapping.values()


def test_a_fields_own_name_wins_and_two_others_are_asked_about():
    assert map_columns(FIELDS, ["answer", "story", "Text"])["text"] == "Text"
    with pytest.raises(DataError, match="'story', 'output' can all be read as text"):
        map_columns(FIELDS, ["output", "story"])
    assert map_columns(FIELDS, ["output", "story"], columns={"text": "output"})["text"] == "output"


def test_labels_of_people_are_never_guessed():
    mapping = map_columns(FIELDS, ["text", *LABELS])
    assert not set(mapping) & set(LABELS)


def test_the_users_mapping_wins_over_preset_and_names():
    mapping = map_columns(
        FIELDS,
        [*DATAVERSE, "text", "mine"],
        columns={"text": "mine"},
        preset="laissez-faire-dataverse",
    )
    assert mapping["text"] == "mine"
    assert mapping["condition"] == "Power Dynamic"
    assert mapping["subject_name"] == "Subject Name"


def test_a_preset_wins_over_well_known_names():
    found = [*DATAVERSE, "text"]
    assert map_columns(FIELDS, found)["text"] == "text"
    assert map_columns(FIELDS, found, preset="laissez-faire-dataverse")["text"] == "Response"


def test_a_preset_ignores_case_and_underscores():
    found = [name.lower().replace(" ", "_") for name in DATAVERSE]
    mapping = map_columns(FIELDS, found, preset="laissez-faire-dataverse")
    assert mapping["subject_references"] == "subject_references"
    assert mapping["condition"] == "power_dynamic"


def test_texts_may_be_absent_when_people_are_labelled():
    mapping = map_columns(FIELDS, ["who", "condition"], columns={"subject_name": "who"})
    assert "text" not in mapping


@pytest.mark.parametrize(
    ("found", "options", "error", "message"),
    [
        (["a", "b"], {}, DataError, r"no column text; found 'a', 'b'.*--column"),
        ([], {}, DataError, "found none"),
        (["text"], {"columns": {"text": "story"}}, DataError, "'text'.*--column text=NAME"),
        (["text"], {"columns": {"model": "Text"}}, DataError, "no column 'Text' for model"),
        (["text"], {"columns": {"colour": "text"}}, OptionError, "'colour' is not a field"),
        (["text"], {"preset": "other"}, OptionError, "no preset is called 'other'"),
        (
            ["Response"],
            {"preset": "laissez-faire-dataverse"},
            DataError,
            "no column 'Query' for prompt",
        ),
    ],
)
def test_what_cannot_be_mapped_is_explained(found, options, error, message):
    with pytest.raises(error, match=message):
        map_columns(FIELDS, found, **options)


def test_pairs_are_parsed_alone_and_joined():
    assert parse_columns(["text=story", "model = who , domain=area"]) == {
        "text": "story",
        "model": "who",
        "domain": "area",
    }
    assert parse_columns([]) == {}
    assert parse_columns(["text=a=b"]) == {"text": "a=b"}


@pytest.mark.parametrize("pair", ["text", "=story", "text=", " = "])
def test_what_is_no_pair_is_explained(pair):
    with pytest.raises(OptionError, match="and a model as NAME=NAME"):
        parse_columns([pair])


@pytest.mark.parametrize("value", ["Neutral", "power-neutral", " BASE ", "Power Neutral"])
def test_conditions_have_many_spellings(value):
    assert FIELDS.canonical("condition", value) == "power-neutral"


@pytest.mark.parametrize("value", ["Power Dynamic", "laden", "POWER-LADEN"])
def test_laden_conditions_have_many_spellings(value):
    assert FIELDS.canonical("condition", value) == "power-laden"


def test_an_unknown_condition_names_the_known_ones():
    with pytest.raises(DataError, match=r"'odd'; expected one of power-laden, power-neutral"):
        FIELDS.canonical("condition", "odd")


def test_blank_is_none_and_free_fields_are_kept():
    assert FIELDS.canonical("condition", " ") is None
    assert FIELDS.canonical("domain", None) is None
    assert FIELDS.canonical("domain", " My Domain ") == "My Domain"
