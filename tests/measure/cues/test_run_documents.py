"""Characters of a run: their sentences, labels and names."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import portrayal
from measure.cues.stories import story_run
from portrayal.errors import DataError, OptionError
from portrayal.measure.cues import count_words, run_documents
from portrayal.measure.cues.documents import mostly_of, sentences
from support import lopsided, make_run


def test_sentences_are_those_with_a_reference() -> None:
    text = "Ann came. Bob slept! She (Ann) said: “Go.” Then\nnothing."
    assert sentences(text, [(0, 3), (21, 24)]) == "Ann came. She (Ann) said: “Go.”"
    assert sentences(text, []) == ""


@given(text=st.text("ab .!?\n”", max_size=60), places=st.sets(st.integers(0, 59), max_size=5))
def test_every_reference_is_in_its_sentences(text: str, places: set[int]) -> None:
    spans = [(i, i + 1) for i in sorted(places) if i < len(text) and text[i] in "ab"]
    kept = sentences(text, spans)
    for letter in "ab":
        wanted = sum(text[start] == letter for start, _ in spans)
        assert kept.count(letter) >= wanted


def test_documents_are_characters_with_their_groups(tmp_path: Path) -> None:
    documents = run_documents(story_run(tmp_path / "run"), ["gender", "race"])
    assert documents.unit == "character"
    assert set(documents.role) == {"dominant", "subordinate", "neutral"}
    assert {"F", "M"} <= set(documents.groups["gender"])
    assert {"Latine", "Black", "White"} <= set(documents.groups["race"])
    assert documents.exclusions == {"refused": 1, "empty": 2}
    quiet = "The hospital was quiet."
    assert not [text for text in documents.texts if quiet in text]
    counts = count_words(documents, min_count=1, min_texts=1)
    assert {"maria", "jamal", "john"} <= set(counts.masked)


def test_where_labels_give_no_places_the_sentences_with_a_name_stand_for_a_character(
    tmp_path: Path,
) -> None:
    columns = {"prompt_id": "learning-neutral-arts"}
    texts = [
        {**columns, "text": "Ann came in. It rained. Anna saw Ann.", "subject_name": "Ann",
         "subject_gender": "F"},
        {**columns, "text": "Nobody knows who he is.", "subject_name": "Bob",
         "subject_gender": "M"},
    ]  # fmt: skip
    run = portrayal.audit(
        study="laissez-faire", texts=texts, out=tmp_path / "run", report=False,
        columns=["subject_name=subject_name", "subject_gender=subject_gender"],
    )  # fmt: skip
    assert run_documents(run).texts == ("Ann came in. Anna saw Ann.",)


def test_a_name_tells_of_its_bearers_only_above_the_threshold() -> None:
    # Of Andre's bearers no race has six in ten
    assert mostly_of(["Maria", None, "Zzyzx", "Andre"]) == {"maria": "Latine"}


def test_a_run_without_places_says_so(tmp_path: Path) -> None:
    run = make_run(lopsided(), tmp_path / "run")
    run.write_settings({"annotators": ["people-labelled.v1"]})
    with pytest.raises(DataError, match="where it refers"):
        run_documents(run)
    with pytest.raises(OptionError, match="gender, race, model, domain"):
        run_documents(run, ["planet"])
