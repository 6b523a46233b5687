"""Codebooks: the shipped ones, files of one's own, and errors that say where."""

from dataclasses import asdict
from pathlib import Path

import pytest
import tomli_w
from hypothesis import given
from hypothesis import strategies as st

from portrayal.errors import PortrayalError, UnknownNameError
from portrayal.raters.sentences import BOOK
from portrayal.raters.sheets import CODEBOOKS, Codebook, CodebookQuestion, codebook, read_codebook
from portrayal.reference.datafile import parse_toml

PLAIN = (
    'title = "T"\n[[questions]]\nkey = "a"\nname = "A"\ndefinition = "What."\nsource = "Somebody"\n'
)


def test_the_stereotypes_of_the_paper_are_shipped_with_their_sources() -> None:
    book = codebook("stereotypes")
    assert [code.key for code in book.codes] == [
        "white_savior",
        "perpetual_foreigner",
        "noble_savage",
        "model_minority",
        "frozen_in_time",
        "glass_ceiling",
    ]
    assert book.warning
    for code in book.codes:
        assert "Shieh et al. 2025" in code.source
        assert code.examples
        assert len(code.definition.split()) > 15


def test_hand_labels_use_fields() -> None:
    assert CODEBOOKS.names == ("people", "stereotypes")
    assert [field.key for field in codebook("people").questions] == [
        "subject_name",
        "subject_gender",
        "object_name",
        "object_gender",
    ]
    (agency,) = codebook(Path(str(BOOK))).questions
    assert agency.choices == ("agentic", "neutral", "communal", "na")


@pytest.mark.parametrize("name", ["people", "stereotypes"])
def test_a_codebook_survives_its_file(name: str, tmp_path: Path) -> None:
    path = tmp_path / f"{name}.toml"
    path.write_text(tomli_w.dumps(asdict(codebook(name))))
    assert codebook(path) == codebook(name)


words = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), min_size=1).filter(
    str.strip
)


@given(name=words, definition=words, examples=st.lists(words, max_size=3), label=words)
def test_any_words_survive(name: str, definition: str, examples: list[str], label: str) -> None:
    code = CodebookQuestion("k", name, definition, "", tuple(examples))
    book = Codebook("b", name, "Read.", (code, CodebookQuestion("f", label, kind="text")))
    assert read_codebook("b", parse_toml(tomli_w.dumps(asdict(book)), "b.toml")) == book


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("title = 3", "title"),
        ('title = "T"', "asks nothing"),
        (PLAIN + 'shortcut = "a"', "shortcut"),
        (PLAIN.replace('"a"', '"A B"'), "small letters"),
        (PLAIN.replace('definition = "What."\n', ""), "definition"),
        (PLAIN + PLAIN.partition("\n")[2], "'a'"),
        ('title = "T"\nquestions = 3', "questions"),
        ('title = "T"\n[[questions]]\nkey = "f"\nname = "F"\nkind = "number"', "kind"),
        ('title = "T"\n[[questions]]\nkey = "f"\nname = "F"\nkind = "choice"', "choices"),
        ("title = ", "TOML"),
    ],
)
def test_errors_say_what_is_wrong(text: str, word: str, tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text(text)
    with pytest.raises(PortrayalError, match=word):
        codebook(path)


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(UnknownNameError, match="people, stereotypes"):
        codebook("nope")
