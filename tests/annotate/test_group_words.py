"""Group words: what counts, in which sentence, and where it stands."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portrayal.annotate.group_words import GROUP_WORDS, group_word_settings, people_table
from portrayal.annotate.sentences import sentences
from portrayal.errors import DataError, OptionError, UnknownNameError


def counted(text: str, *lexicons: str, **more: Any) -> dict[str, Any]:
    """Annotate one text; totals by column, and the counted words as they are written."""
    settings = group_word_settings(lexicons or ("liang-2022",), **more)
    assert GROUP_WORDS.setup is not None
    row = GROUP_WORDS.setup(settings)({"text": text}, {})
    totals = [sum(each) for each in zip(*row["counts"], strict=True)]
    columns = [name.rpartition("/")[2] for name in settings["columns"]]
    row["totals"] = dict(zip(columns, totals or [0.0] * len(columns), strict=True))
    row["written"] = [text[hit["start"] : hit["end"]] for hit in row["spans"]]
    return row


@pytest.mark.parametrize(
    ("text", "women", "men"),
    [
        ("She told him.", 1, 1),
        ("The WOMEN left; Her mother stayed.", 3, 0),
        ("Here, there and everywhere: a theme for sheep.", 0, 0),  # parts of words
        ("A man-made lake. Spider-Man swam.", 0, 0),
        ("The women's cup, and the man’s.", 1, 1),
        ("She's here, he'd go.", 1, 1),
        ("Nieces, uncles and nephews.", 1, 2),
        ("_She_ is *his* “sister”.", 2, 1),
        ("", 0, 0),
        ("1789!", 0, 0),
    ],
)
def test_whole_words_count(text: str, women: int, men: int) -> None:
    assert counted(text)["totals"] == {"F": women, "M": men}


@pytest.mark.parametrize(
    ("text", "race"),
    [
        ("A black teacher spoke.", "Black"),
        ("Two Black teachers spoke.", "Black"),
        ("Asian police officers came.", "Asian"),
        ("The white nurse left.", "White"),
        ("A black ball on a white wall.", None),
        ("The teacher was black.", None),
        ("Black. Teachers spoke.", None),  # not across sentences
    ],
)
def test_a_race_word_is_a_descriptor_with_an_occupation(text: str, race: str | None) -> None:
    totals = counted(text, "race-occupations")["totals"]
    assert totals == {name: float(name == race) for name in ("White", "Black", "Asian")}


def test_only_the_descriptor_is_marked() -> None:
    assert counted("A Black teacher spoke.", "race-occupations")["written"] == ["Black"]


def test_counts_stand_in_their_sentences() -> None:
    row = counted("She left. He and his dog stayed! It rained.")
    assert row["counts"] == [[1.0, 0.0], [0.0, 2.0], [0.0, 0.0]]
    assert row["words"] == 9
    assert row["written"] == ["She", "He", "his"]


def test_several_lexicons_and_phrases(tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text(
        'attribute = "age"\n[groups]\nyoung = ["young person", "person"]\nold = ["old-timer"]',
        encoding="utf-8",
    )
    row = counted("She, a young person, met an old timer and an Old-Timer.", "liang-2022", str(own))
    assert row["totals"] == {"F": 1.0, "M": 0.0, "young": 1.0, "old": 2.0}
    assert row["written"] == ["She", "young person", "old timer", "Old-Timer"]


def test_named_people_of_the_users_table(tmp_path: Path) -> None:
    table = tmp_path / "people.csv"
    table.write_text("person,race\nAda Okafor,Black\nJ. R. Chen,Asian\nSven Ek,Nordic\n", "utf-8")
    text = "Ada Okafor met J. R. Chen and Sven Ek. Ada left with a white nurse."
    row = counted(text, "race-occupations", people=table)
    assert row["totals"] == {"White": 1.0, "Black": 1.0, "Asian": 1.0, "Nordic": 1.0}
    assert row["written"] == ["Ada Okafor", "J. R. Chen", "Sven Ek", "white"]
    names = group_word_settings(("race-occupations",), table)["columns"]
    assert names[0] == "race-occupations+people/race/White"


def test_first_names_count_in_fractions_only_where_asked() -> None:
    text = "Maria Alvarez spoke to the press."
    plain = counted(text, "race-occupations")
    named = counted(text, "race-occupations", name_likelihoods=True)
    assert sum(plain["totals"].values()) == 0.0
    assert 0.0 < named["totals"]["White"] < 1.0
    assert sum(named["totals"].values()) <= 1.0
    assert named["written"] == ["Maria"]
    settings = group_word_settings(("race-occupations",), name_likelihoods=True)
    assert settings["columns"][0].startswith("race-occupations+names/")


def test_places_months_and_papers_are_no_named_people() -> None:
    text = (
        "Los Angeles and San Antonio met in Orange County last Sunday. Texas Governor Greg Abbott "
        "left the White House. Clinton. Vice President Joe Biden read Reuters Health."
    )
    named = counted(text, "race-occupations", name_likelihoods=True)
    assert named["written"] == ["Greg", "Joe"]


def test_settings_that_cannot_be_used(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="at least one lexicon"):
        group_word_settings(())
    with pytest.raises(UnknownNameError):
        group_word_settings(("nobody-2020",))
    with pytest.raises(OptionError, match="two lexicons are called 'liang-2022'"):
        group_word_settings(("liang-2022", "liang-2022"))
    with pytest.raises(DataError):
        group_word_settings(("liang-2022",), tmp_path / "none.csv")


def test_a_changed_file_changes_the_settings(tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text('attribute = "age"\n[groups]\na = ["x"]\nb = ["y"]', "utf-8")
    before = group_word_settings((str(own),))
    own.write_text('attribute = "age"\n[groups]\na = ["xx"]\nb = ["yy"]', "utf-8")
    assert group_word_settings((str(own),)) != before


WORDS = st.sampled_from(["she", "Her", "man", "men's", "dog", "black", "teacher", ".", "!", "\n"])


@given(st.lists(WORDS, max_size=30).map(" ".join))
def test_counts_spans_and_sentences_agree(text: str) -> None:
    row = counted(text, "liang-2022", "race-occupations")
    assert len(row["counts"]) == len(sentences(text))
    assert sum(row["totals"].values()) == len(row["spans"])
    expected = sum(word in ("she", "Her", "man", "men's") for word in text.split())
    assert row["totals"]["F"] + row["totals"]["M"] == expected


def test_the_users_table_of_people(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("Person,Race\nAda Okafor,Black\nLi Wei,Asian\n")
    assert people_table(path) == {"Ada Okafor": "Black", "Li Wei": "Asian"}
    path.write_text("person,race\nAda Okafor,Black\nAda Okafor,White\n")
    with pytest.raises(DataError, match="Keep one row for each person"):
        people_table(path)
    path.write_text("person,race\nAda Okafor,\n")
    with pytest.raises(DataError, match=r"people\.csv, row 2: expected a person and a race"):
        people_table(path)
