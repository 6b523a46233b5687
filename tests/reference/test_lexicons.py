"""Lexicons: those that ship, those of the user, and files that are none."""

from pathlib import Path

import pytest

from portrayal.errors import DataError, UnknownNameError
from portrayal.reference.lexicons import lexicon, lexicons
from portrayal.reference.shipped import occupations

GOOD = 'attribute = "age"\n[groups]\nyoung = ["Child", "young  person"]\nold = ["pensioner"]\n'


def _file(folder: Path, content: str, name: str = "own.toml") -> Path:
    path = folder / name
    path.write_text(content, encoding="utf-8")
    return path


def test_the_papers_gender_words() -> None:
    found = lexicon("liang-2022")
    assert (found.attribute, found.groups, found.followed_by) == ("gender", ("F", "M"), None)
    assert [len(words) for words in found.words] == [20, 20]
    assert {"hers", "nieces"} <= set(found.words[0])
    assert {"himself", "nephews"} <= set(found.words[1])
    assert "2022" in found.source


def test_race_words_need_an_occupation() -> None:
    found = lexicon("race-occupations")
    assert found.groups == ("White", "Black", "Asian")
    assert found.words == (("white",), ("black",), ("asian",))
    assert found.followed_by == occupations()
    assert {"teacher", "teachers", "nurse midwives", "fireman"} & occupations() >= {
        "teacher",
        "teachers",
    }
    assert "ball" not in occupations()


def test_every_registered_lexicon_reads() -> None:
    for name in lexicons():
        found = lexicon(name)
        assert found.name == name
        assert len(found.words) == len(found.groups)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("own.toml", GOOD),
        (
            "own.json",
            '{"attribute": "age", "groups": {"young": ["child", "young person"],'
            ' "old": ["pensioner"]}}',
        ),
    ],
)
def test_own_files(tmp_path: Path, name: str, content: str) -> None:
    found = lexicon(_file(tmp_path, content, name))
    assert (found.name, found.attribute, found.groups) == ("own", "age", ("young", "old"))
    assert found.words == (("child", "young person"), ("pensioner",))


def test_own_words_may_have_to_be_followed(tmp_path: Path) -> None:
    found = lexicon(_file(tmp_path, 'followed_by = ["Voter", "city dweller"]\n' + GOOD))
    assert found.followed_by == {"voter", "city dweller"}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("attribute = ", "line 1: not TOML"),
        ('[groups]\na = ["x"]', "line 1: the key 'attribute' is missing"),
        ('attribute = "age"', "line 1: the key 'groups' is missing"),
        (
            'attribute = "age"\n[groups]\na = []',
            "line 2: groups: expected two groups or more, each with words",
        ),
        (
            'attribute = "age"\n[groups]\na = [1]',
            "line 3: groups.a: expected text in quotation marks; got 1",
        ),
        (
            'attribute = "age"\n[groups]\na = ["--"]',
            "line 3: groups.a: expected words or names; got '--'",
        ),
        ('attribute = "age"\n[groups]\na = ["x"]', "groups: expected two groups or more"),
        (
            'attribute = "age"\n[groups]\na = ["x"]\nb = ["X"]',
            "line 4: groups.b: 'x' is listed for 'a' and 'b'",
        ),
        (
            "followed_by = 3\n" + GOOD,
            "line 1: followed_by: expected text in quotation marks or a list",
        ),
        ("words = 3\n" + GOOD, "line 1: words: unknown key"),
    ],
)
def test_files_that_are_no_lexicon(tmp_path: Path, content: str, words: str) -> None:
    with pytest.raises(DataError, match=r"own\.toml") as error:
        lexicon(_file(tmp_path, content))
    assert words in str(error.value)


def test_neither_a_name_nor_a_file(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="neither a registered lexicon"):
        lexicon("liang-2021")
    with pytest.raises(DataError, match=r"own\.csv, line 1: not TOML"):
        lexicon(_file(tmp_path, "attribute,group,word\nage,a,x\n", "own.csv"))
