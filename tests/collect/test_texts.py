"""Importing: prompts are recognised, outcomes told, labels kept, and errors leave nothing done."""

import json

import pandas as pd
import pyarrow.parquet as pq
import pytest

from portrayal import registry
from portrayal.collect import import_texts
from portrayal.collect.texts import said_left_out
from portrayal.errors import DataError, RunError
from portrayal.pipeline.audit import _oddities
from portrayal.run import Run
from portrayal.studies.laissez_faire import FIELDS, prompts

KNOWN = prompts()
TEXT = "Uma fixed the clock, and the square had its hours again."


@pytest.fixture
def run(tmp_path):
    return Run(tmp_path)


def bring(run, texts, **options):
    return import_texts(run, texts, FIELDS, KNOWN, **options)


def texts_of(run):
    return [row for part in run.texts.parts() for row in pq.read_table(part).to_pylist()]


def prompts_of(run):
    rows = pq.read_table(run.prompts_path).to_pylist()
    return {row["prompt_id"]: dict(row["strata"]) for row in rows}


def labelled(**more):
    return {"condition": "laden", "subject_role": "cook", "object_role": "guest"} | more


PEOPLE = {"subject_name": "who", "subject_gender": "sex"}


def test_known_prompts_give_prompt_id_and_strata(run):
    asked = KNOWN[17]
    rows = [
        {"prompt": asked.text, "text": TEXT, "domain": "ignored"},
        {"prompt": asked.text.upper().replace(",", "").rstrip("."), "text": TEXT},
        {"prompt": f"  {asked.text}\n", "text": TEXT},
    ]
    note = bring(run, rows)
    assert [row["prompt_id"] for row in texts_of(run)] == [asked.prompt_id] * 3
    assert [row["sample"] for row in texts_of(run)] == [0, 1, 2]
    assert prompts_of(run) == {asked.prompt_id: dict(asked.strata)}
    assert note["cluster_unit"] == "prompt"
    assert note["n_texts"] == 3


def test_prompts_may_be_given_by_their_id(run):
    bring(run, [{"prompt_id": KNOWN[3].prompt_id, "text": TEXT}])
    assert prompts_of(run) == {KNOWN[3].prompt_id: dict(KNOWN[3].strata)}


def test_unknown_prompts_take_their_strata_from_columns(run):
    rows = [
        {"condition": "neutral", "subject_role": "baker", "domain": "Mine", "text": TEXT},
        {"condition": "neutral", "subject_role": "baker", "domain": "Mine", "text": TEXT},
        {"condition": "neutral", "subject_role": "smith", "domain": "Mine", "text": TEXT},
    ]
    note = bring(run, rows)
    found = prompts_of(run)
    assert len(found) == 2
    baker = {"domain": "Mine", "condition": "power-neutral", "subject_role": "baker"}
    assert baker in found.values()
    first, second, third = (row["prompt_id"] for row in texts_of(run))
    assert first == second != third
    assert note["cluster_unit"] == "prompt strata"


def test_unknown_prompts_with_other_words_are_other_prompts(run):
    rows = [
        {"prompt": words, "condition": "neutral", "subject_role": "baker", "text": TEXT}
        for words in ("Tell of a baker.", "Tell me of a baker.")
    ]
    bring(run, rows)
    assert len(prompts_of(run)) == 2


def test_a_prompt_id_means_the_same_in_every_row(run):
    rows = [
        {"prompt_id": "1", "condition": "neutral", "subject_role": "baker", "text": TEXT},
        {"prompt_id": "1", "condition": "neutral", "subject_role": "smith", "text": TEXT},
    ]
    with pytest.raises(DataError, match=r"row 2: the prompt '1' has .*smith.*baker"):
        bring(run, rows)
    assert not run.texts.note()["complete"]


@pytest.mark.parametrize(
    ("row", "missing"),
    [
        ({"text": TEXT}, "lacks condition"),
        ({"text": TEXT, "condition": "neutral"}, "lacks subject_role"),
        (
            {"text": TEXT, "condition": "laden", "subject_role": "cook"},
            "lacks object_role",
        ),
    ],
)
def test_unknown_prompts_without_columns_are_explained(run, row, missing):
    with pytest.raises(DataError, match=rf"row 2: it {missing}.*--column"):
        bring(run, [{"text": TEXT, "prompt": KNOWN[0].text}, row])


def test_prompts_that_the_study_does_not_know_are_left_out_and_counted(run):
    rows = [
        {"text": TEXT, "prompt": KNOWN[0].text},
        *[{"text": TEXT, "prompt": "Tell a tale."}] * 3,
        {"text": TEXT, "prompt": "Sing."},
        {"text": TEXT, "prompt": "Draw.", "condition": "neutral", "subject_role": "baker"},
    ]
    note = bring(run, rows)
    assert note["n_texts"] == 2
    assert note["left_out"] == {
        "n_texts": 4,
        "n_prompts": 2,
        "prompts": {"Tell a tale.": 3, "Sing.": 1},
    }
    assert said_left_out(note["left_out"]).startswith("4 texts of 2 prompts: 'Tell a tale.' (3)")
    with pytest.raises(DataError, match="none of its prompts is the study's: 3 texts of 1"):
        bring(run, rows[1:4], replace=True)


@pytest.mark.parametrize("words", FIELDS.variants)
def test_known_variants_of_a_prompt_are_that_prompt(run, words):
    bring(run, [{"text": TEXT, "prompt": words.upper()}])
    assert list(prompts_of(run)) == [FIELDS.variants[words]]
    assert words not in {prompt.text for prompt in KNOWN}


def test_labelled_people_need_the_condition_alone(run):
    bring(run, [{"condition": "laden", "who": "Uma"}], columns={"subject_name": "who"})
    assert prompts_of(run).popitem()[1] == {"condition": "power-laden"}


def test_outcomes_are_told_from_the_text_or_given(run):
    told = {
        "ok": {"text": TEXT},
        "refused": {"text": "I'm sorry, but I can't write that."},
        "empty": {"text": " "},
        "failed": {"text": "Uma fi", "outcome": " Failed "[1:-1]},
    }
    rows = [labelled(**row) for row in told.values()]
    rows += [
        labelled(text="I'm sorry, but I can't write that.", outcome="ok"),
        labelled(text=TEXT, outcome="REFUSED"),
        labelled(text=float("nan"), outcome=float("nan")),
    ]
    note = bring(run, rows)
    assert [row["outcome"] for row in texts_of(run)] == [*told, "ok", "refused", "empty"]
    assert note["outcomes"] == {"ok": 2, "refused": 2, "empty": 2, "failed": 1}


def test_labelled_rows_were_read_whatever_their_text_says(run):
    refusal = "I'm sorry, but I can't write that."
    rows = [
        labelled(text=refusal, who="Uma", sex=None),
        labelled(text=refusal, who=None, sex="F"),
        labelled(text=refusal, who=None, sex=""),
        labelled(text=refusal, who="nan", sex=float("nan")),
        labelled(text="", who="Uma", sex="F"),
    ]
    bring(run, rows, columns=PEOPLE)
    assert [row["outcome"] for row in texts_of(run)] == ["ok", "ok", "refused", "refused", "empty"]


def test_texts_may_be_absent_when_people_are_labelled(run):
    note = bring(run, [labelled(who="Uma", sex="F")], columns=PEOPLE)
    assert note["labelled"]
    (row,) = texts_of(run)
    assert (row["text"], row["outcome"]) == ("", "ok")
    assert (row["subject_name"], row["subject_gender"]) == ("Uma", "F")


def test_labels_are_kept_as_they_are_given(run):
    rows = [
        labelled(text=TEXT, who="Dr. Uma Chen", sex="['her', 'she']"),
        labelled(text=TEXT, who=float("nan"), sex=["she", "her"]),
        labelled(text=TEXT, who="  ", sex=None),
    ]
    bring(run, rows, columns={"subject_name": "who", "subject_references": "sex"})
    found = [(row["subject_name"], row["subject_references"]) for row in texts_of(run)]
    assert found == [("Dr. Uma Chen", "['her', 'she']"), (None, "she, her"), (None, None)]


def test_the_published_columns_are_read_by_their_preset(run, tmp_path):
    frame = pd.DataFrame(
        {
            "Model": ["ChatGPT4", "Claude2.0"],
            "Domain": ["Learning", "Labor"],
            "Power Dynamic": ["Power-Laden", "Power-Neutral"],
            "Subject": ["star student", "cook"],
            "Object": ["struggling student", None],
            "Query": [KNOWN[40].text, "Write a story of a cook."],
            "Response": ["Uma helped Ravi.", "Ines cooked."],
            "Subject Name": ["Uma", "Ines"],
            "Subject References": ["['her']", "['she', 'her']"],
            "Object Name": ["Ravi", None],
            "Object References": ["['his']", None],
        }
    )
    path = tmp_path / "labels.csv"
    frame.to_csv(path, index=False)
    note = bring(run, path, preset="laissez-faire-dataverse")
    assert note["labelled"]
    assert note["models"] == ["ChatGPT4", "Claude2.0"]
    first, second = texts_of(run)
    assert first["prompt_id"] == KNOWN[40].prompt_id
    assert first["object_references"] == "['his']"
    assert (second["object_name"], second["subject_name"]) == (None, "Ines")
    assert prompts_of(run)[second["prompt_id"]]["condition"] == "power-neutral"


def test_models_have_names_and_none_is_called_all(run):
    rows = [labelled(text=TEXT, model=name) for name in (None, "", " a ", "a")]
    assert bring(run, rows)["models"] == ["a", "unnamed"]
    with pytest.raises(DataError, match="row 1: a model cannot be called 'all'"):
        bring(run, [labelled(text=TEXT, model="all")], replace=True)


def test_ids_of_the_source_are_kept_and_may_repeat(run):
    rows = [labelled(text=TEXT, id=name, model=model) for name in ("x", "y") for model in "ab"]
    note = bring(run, [*rows, rows[0]])
    found = texts_of(run)
    assert [row["source_id"] for row in found] == ["x", "x", "y", "y", "x"]
    assert len({row["text_id"] for row in found}) == note["n_texts"] == 5


@pytest.mark.parametrize("shard_rows", [1, 2, 5, 100])
def test_shards_hold_every_row_in_order(run, shard_rows):
    rows = [labelled(text=f"{TEXT} {i}", id=str(i)) for i in range(5)]
    note = bring(run, rows, shard_rows=shard_rows)
    assert [row["source_id"] for row in texts_of(run)] == list("01234")
    assert len(run.texts.parts()) == note["n_parts"] == -(-5 // shard_rows)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (labelled(text=TEXT, condition="odd"), "row 61: condition has the value 'odd'"),
        (labelled(text=TEXT, outcome="maybe"), "row 61: outcome is 'maybe'; expected ok, refused"),
        ({"text": TEXT}, "row 61: it lacks condition"),
    ],
)
def test_after_an_error_nothing_counts_as_done(run, row, message):
    rows = [labelled(text=TEXT)] * 60
    with pytest.raises(DataError, match=message):
        bring(run, [*rows, row], shard_rows=10)
    assert not run.texts.note()["complete"]
    assert not run.prompts_path.exists()
    note = bring(run, rows, shard_rows=50)
    assert note["n_texts"] == len(texts_of(run)) == 60


def test_an_import_that_was_stopped_starts_over_with_shards_of_any_size(run, monkeypatch):
    from portrayal.collect import texts

    rows = [labelled(text=TEXT, id=str(i)) for i in range(30)]
    written = texts.write_parquet

    def stop_at_the_third(table, path):
        if path.name == "part-00002.parquet":
            raise KeyboardInterrupt
        written(table, path)

    monkeypatch.setattr(texts, "write_parquet", stop_at_the_third)
    with pytest.raises(KeyboardInterrupt):
        bring(run, rows, shard_rows=3)
    monkeypatch.undo()
    assert len(run.texts.parts()) == 2
    bring(run, rows, shard_rows=100)
    assert [row["source_id"] for row in texts_of(run)] == [str(i) for i in range(30)]


def test_the_same_texts_are_not_read_again(run):
    rows = [labelled(text=TEXT, id="a")]
    note = bring(run, rows)
    before = {path: path.stat().st_mtime_ns for path in run.texts.folder.iterdir()}
    assert bring(run, rows) == note
    assert bring(run, rows, shard_rows=1) == note
    assert {path: path.stat().st_mtime_ns for path in run.texts.folder.iterdir()} == before


def test_other_columns_of_the_same_texts_are_read_anew(run):
    rows = [labelled(text=TEXT, tale="Another.")]
    bring(run, rows)
    bring(run, rows, columns={"text": "tale"})
    assert texts_of(run)[0]["text"] == "Another."


def test_other_texts_are_refused_unless_they_replace(run):
    bring(run, [labelled(text=TEXT)] * 12, shard_rows=5)
    with pytest.raises(RunError, match=r"already holds other texts.*--replace"):
        bring(run, [labelled(text="Other.")])
    assert len(texts_of(run)) == 12
    bring(run, [labelled(text="Other.")], replace=True)
    assert [row["text"] for row in texts_of(run)] == ["Other."]


def test_the_note_names_the_file_and_not_its_folder(run, tmp_path):
    path = tmp_path / "in" / "tales.jsonl"
    path.parent.mkdir()
    path.write_text(json.dumps(labelled(text=TEXT)) + "\n")
    bring(run, path)
    note = (run.texts.folder / "stage.json").read_text()
    assert run.texts.note()["source"] == "tales.jsonl"
    assert str(tmp_path) not in note


def test_reasoning_is_removed_from_texts_and_counted(run):
    asked = {"prompt": KNOWN[17].text}
    came = [f"<think>Hm.</think>{TEXT}", TEXT, "<think>Hm, and then", f"Hm.</think>\n{TEXT}"]
    note = bring(run, [asked | {"text": each} for each in came])
    assert [row["text"] for row in texts_of(run)] == [TEXT, TEXT, "", TEXT]
    assert [row["outcome"] for row in texts_of(run)] == ["ok", "ok", "empty", "ok"]
    assert note["n_reasoned"] == 3


def test_a_column_of_reasoning_is_no_text(run):
    asked = {"prompt": KNOWN[17].text}
    rows = [asked | {"content": TEXT, "reasoning_content": each} for each in ("Hm.", None, "So.")]
    bring(run, rows)
    assert {row["text"] for row in texts_of(run)} == {TEXT}


def test_models_of_two_names_are_one_by_an_alias(run):
    asked = {"prompt": KNOWN[17].text, "text": TEXT}
    rows = [asked | {"model": name} for name in ("Claude2", "Claude", "Claude2")]
    assert bring(run, rows)["models"] == ["Claude", "Claude2"]
    note = bring(run, rows, aliases={"Claude2": "Claude"})  # another import
    assert note["models"] == ["Claude"]
    assert [(row["model"], row["sample"]) for row in texts_of(run)] == [
        ("Claude", 0), ("Claude", 1), ("Claude", 2),
    ]  # fmt: skip


@pytest.mark.parametrize("mark", ["<THINK >", "< think>", "<think\n>"])
def test_marks_of_reasoning_may_hold_blanks(run, mark):
    texts = [{"prompt": KNOWN[0].text, "text": f"{mark}A nurse.</ think >Maria."}]
    assert bring(run, texts)["n_reasoned"] == 1
    assert texts_of(run)[0]["text"] == "Maria."


@pytest.mark.fault("many rows with one text_id", "each is a text; how many there are is said")
def test_rows_of_one_id_are_counted(run):
    one = {"prompt": KNOWN[0].text, "text": "Maria was a nurse."}
    texts = [one | {"text_id": "same"} for _ in range(30)] + [one | {"text_id": "other"}, one]
    note = bring(run, texts)
    assert (note["n_texts"], note["n_repeated_ids"]) == (32, 29)
    lines = [*_oddities(registry.get("studies", "laissez-faire"), note)]
    assert "29 rows with the text_id of an earlier row; each is a text of its own" in lines


def test_later_rows_that_name_a_column_otherwise_are_refused_by_their_row(run):
    first = {"prompt": KNOWN[0].text, "answer": "Ann ran home."}
    for other in ("Answer", "response"):
        rows = [first] * 3 + [{"prompt": KNOWN[0].text, other: "Bob ran home."}]
        with pytest.raises(DataError, match=f"row 4: it has no column 'answer'.* but '{other}'"):
            bring(run, rows, columns={"text": "answer"})
    rows = [first] * 3 + [{"Prompt": KNOWN[0].text, "answer": "Bob ran home."}]
    with pytest.raises(DataError, match=r"row 4: it has no column 'prompt'.* but 'Prompt'"):
        bring(run, rows, columns={"prompt": "prompt"})


def test_rows_without_a_column_of_texts_are_counted_and_the_first_is_named(run):
    rows = [{"prompt": KNOWN[0].text, "text": "Ann ran."}, {"prompt": KNOWN[0].text, "x": "?"}] * 2
    note = bring(run, rows)
    assert note["outcomes"]["empty"] == 2
    lacking = {"row": 2, "column": "text", "columns": ["prompt", "x"], "n": 2}
    assert note["without_column"] == lacking
