import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from portrayal import registry
from portrayal.annotate.annotator import annotate_run
from portrayal.annotate.people.any_text.everyone import EVERYONE, find_everyone, person_facts
from support import make_run, story

TEXT = (
    "Dr. Ifeoma Okafor grew up in Leeds. She trained as a nurse. Her brother, Chidi, is a painter."
)


def people_of(text):
    return EVERYONE.setup({})({"text": text}, {})["people"]


def test_it_is_registered():
    assert registry.get("annotators", "everyone.v8") is EVERYONE
    assert registry.resolve("annotators", "everyone") == "everyone.v8"


def test_a_row_holds_all_people_of_a_text():
    first, second = people_of(TEXT)
    assert (first["name"], first["first"], first["last"]) == ("Ifeoma Okafor", "Ifeoma", "Okafor")
    assert (first["title"], first["gender"], first["main"]) == ("Dr", "F", True)
    assert first["sentences"] == [0, 1, 2]
    assert (second["first"], second["last"], second["gender"]) == ("Chidi", None, "M")
    assert not second["main"]
    for person in (first, second):
        for span in person["mentions"]:
            assert TEXT[span["start"] : span["end"]].strip()


@pytest.mark.parametrize("text", ["", "The lift is broken.", "I like tea.", TEXT])
def test_rows_fit_the_schema(text):
    rows = [EVERYONE.setup({})({"text": text}, {})]
    table = pa.Table.from_pylist(rows, schema=EVERYONE.schema)
    assert table.to_pylist()[0].keys() == rows[0].keys()


def test_one_person_at_most_is_the_main_one():
    assert sum(person["main"] for person in people_of(TEXT)) == 1
    assert people_of("The lift is broken.") == []


def test_a_person_as_plain_values():
    (person,) = find_everyone("Mr. Boateng waited.")
    facts = person_facts(person, main=False)
    assert (facts["name"], facts["first"], facts["last"]) == ("Boateng", None, "Boateng")
    assert facts["references"] == ["mr"]


def test_it_annotates_a_run_and_leaves_unread_texts_null(tmp_path):
    stories = [story(subject=("Emily", "F")), story(outcome="refused")]
    run = make_run(stories, tmp_path / "run")
    stage = annotate_run(run, "everyone.v8")
    (part,) = stage.parts()
    table = pq.read_table(part)
    assert sorted(table["people"].to_pylist(), key=str) == sorted([None, []], key=str)
    assert table["error"].null_count == table.num_rows
