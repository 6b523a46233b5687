"""Factors as data: what ships, and one line with file, line and key for whatever is wrong."""

from pathlib import Path
from typing import Any

import pytest

from portrayal.errors import DataError, UnknownNameError
from portrayal.reference.factors import ColumnSource, WordSource, factors, load_factor

GOOD = """\
name = "faith"
label = "Faith"
note = "Mentions."
[groups.sun]
label = "Sun"
[groups.moon]
also = ["luna"]
[[sources]]
kind = "words"
words = { sun = ["sunny"], moon = [
  "moonlit",
  "lunar"] }
[[sources]]
kind = "column"
column = "faith"
separator = ";"
values = { sun = ["solar"] }
none = ["neither"]
[[baselines]]
name = "here"
source = "counted"
shares = { sun = 0.4, moon = 0.6 }
[[baselines]]
name = "there"
source = "counted"
stratum = "state"
[baselines.of.North]
sun = 0.5
moon = 0.5
"""


SENTENCES = Path(__file__).parent / "lexicons"


@pytest.mark.parametrize("path", sorted(SENTENCES.glob("*.tsv")), ids=lambda path: path.stem)
def test_sentences_that_measure_a_lexicon_are_labelled_with_its_groups(path: Path) -> None:
    factor = load_factor(path.stem)
    rows = [line.split("\t") for line in path.read_text("utf-8").splitlines()]
    texts = [text for _, text, _ in rows]
    assert len(texts) == len(set(texts))
    for which, least in (("dev", 20), ("test", 60)):
        groups = [groups.split(";") if groups else [] for kept, _, groups in rows if kept == which]
        assert len(groups) >= least
        assert {group for listed in groups for group in listed} == set(factor.keys)
        assert groups.count([]) >= least // 4


def read(folder: Path, text: str) -> Any:
    path = folder / "faith.toml"
    path.write_text(text, encoding="utf-8")
    return load_factor(path)


@pytest.mark.parametrize("name", factors())
def test_every_factor_that_ships_reads_and_says_how_to_misread_it(name: str) -> None:
    factor = load_factor(name)
    assert factor.name == name
    assert all((factor.groups, factor.sources or name == "pair", factor.note, factor.source))
    assert len({group.color for group in factor.groups if group.color}) in (0, len(factor.groups))


def test_a_good_file_says_all(tmp_path: Path) -> None:
    factor = read(tmp_path, GOOD)
    assert factor.keys == ("sun", "moon")
    assert [factor.find(x) for x in ("SUN", " Luna", "mars")] == ["sun", "moon", None]
    words, column = factor.sources
    assert isinstance(words, WordSource)
    assert isinstance(column, ColumnSource)
    assert words.words == {"sun": ("sunny",), "moon": ("moonlit", "lunar")}
    assert column.values == {"sun": "sun", "moon": "moon", "luna": "moon", "solar": "sun"}
    assert (column.none, column.separators) == ({"neither"}, (";",))
    assert factor.columns == ("faith",)
    assert factor.baselines[0].of() == {"sun": 0.4, "moon": 0.6}
    assert factor.baselines[1].of("North") == {"sun": 0.5, "moon": 0.5}
    assert factor.baselines[1].of("South") is None


WRONG = {
    "a syntax error": ("sun = 0.5", "sun = ", "line 28: not TOML: Invalid value"),
    "an unknown key": ('label = "Sun"', 'lable = "Sun"', "line 5: groups.sun.lable: unknown key; "),
    "an unknown key of a source": (
        'separator = ";"',
        'seperator = ";"',
        "line 16: sources.seperator: unknown key; .* Is 'separator' meant?",
    ),
    "a name in two groups": ('"lunar"', '"Sunny"', "line 12: sources.words.moon: 'Sunny' stands"),
    "overlapping groups": ('"luna"', '"SUN"', "line 7: groups.moon.also: 'SUN' stands for"),
    "a value of two groups": ('"solar"', '"Luna"', "line 17: sources.values.sun: 'Luna' stands"),
    "an empty group": ('["sunny"]', "[]", "line 10: sources.words.sun: the group 'sun' is empty"),
    "a group of no name": (
        'sun = ["sunny',
        'mars = ["sunny',
        "line 10: sources.words.mars: 'mars' is no group",
    ),
    "shares that do not sum to 1": ("0.6 }", "0.5 }", "line 22: .*shares: the shares sum to 0.9, "),
    "a percentage": ("sun = 0.5", "sun = 50", "line 28: .*sun: expected a share of 0 to 1; got 50"),
    "a baseline without a group": (
        "sun = 0.5\n",
        "",
        "line 27: .*North: no share for the .* 'sun'",
    ),
    "a stratum without a name": ('stratum = "state"\n', "", "line 23: baselines: 'stratum' says"),
    "two sources of one name": (
        'column = "faith"',
        'column = "faith"\nname = "words"',
        "line 13: sources: another one of the sources is called 'words'",
    ),
    "a kind that is none": (
        'kind = "column"',
        'kind = "colour"',
        "line 14: sources.kind: expected",
    ),
    "a note that is missing": ('note = "Mentions."', "", "line 1: the key 'note' is missing"),
    "text that is a number": ('label = "Faith"', "label = 3", "line 2: label: expected text"),
    "a value that is none too": ('["neither"]', '["Solar"]', "line 18: .*none: 'Solar' stands for"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_is_said_in_one_line_with_file_line_and_key(
    what: str, tmp_path: Path
) -> None:
    old, new, said = WRONG[what]
    assert GOOD.count(old) == 1
    with pytest.raises(DataError, match=rf"faith\.toml, {said}") as error:
        read(tmp_path, GOOD.replace(old, new))
    assert "\n" not in str(error.value)


ASKED = '[[sources]]\nkind = "model"\nquestion = "Which?"\n'


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('question = "Which?"\n', "", "line 19: sources: the key 'question' is missing"),
        ('"Which?"', '"Which?"\nunit = "story"', "line 22: sources.unit: expected one of text"),
        ('"Which?"', '"Which?"\nmodel = "a:b"', "line 22: .*unknown key"),
        ('"Sun"', '"Sun; star"', "line 4: groups.sun: semicolons part the labels"),
    ],
)
def test_a_model_source_is_checked_as_the_others_are(
    old: str, new: str, said: str, tmp_path: Path
) -> None:
    asked = ASKED + 'answer = "several"\n'
    text = GOOD.replace("[[baselines]]", f"{asked}[[baselines]]", 1)
    assert read(tmp_path, text).sources[-1].question == "Which?"
    with pytest.raises(DataError, match=rf"faith\.toml, {said}"):
        read(tmp_path, text.replace(old, new, 1))


def test_a_group_that_no_source_can_see_is_refused(tmp_path: Path) -> None:
    only_words = GOOD[: GOOD.index('[[sources]]\nkind = "column"')]
    text = only_words.replace('words = { sun = ["sunny"], moon', "words = { moon")
    with pytest.raises(DataError, match=r"line 4: groups.sun: the group is empty"):
        read(tmp_path, text)


def test_shares_need_not_be_whole_where_a_note_says_why(tmp_path: Path) -> None:
    partial = GOOD.replace("0.6 }", "0.5 }\nwhole = false")
    with pytest.raises(DataError, match="need a 'note'"):
        read(tmp_path, partial)
    factor = read(
        tmp_path, partial.replace("whole = false", 'whole = false\nnote = "Some are in none."')
    )
    assert factor.baselines[0].of() == {"sun": 0.4, "moon": 0.5}


def test_a_name_that_is_none_lists_what_ships() -> None:
    with pytest.raises(UnknownNameError, match="religion"):
        load_factor("faiths")


def test_all_that_is_wrong_with_a_file_is_said_at_once(tmp_path: Path) -> None:
    path = tmp_path / "f.toml"
    text = GOOD.replace('label = "Faith"\n', 'colour = "x"\n').replace(
        'separator = ";"', "none = 3"
    )
    path.write_text(text.replace('none = ["neither"]\n', "").replace("0.4", "1.4"), "utf-8")
    with pytest.raises(DataError) as raised:
        load_factor(path)
    lines = str(raised.value).splitlines()
    assert [line.partition("toml, line ")[2].partition(" ")[0] for line in lines] == [
        "2:", "1:", "16:", "21:",
    ]  # fmt: skip
    wrong = GOOD.replace("sunny", "lunar").replace("moon = 0.6", "mars = 0.6")
    path.write_text(wrong.replace("North]\nsun = 0.5", "North]\nsun = 0.1"), "utf-8")
    with pytest.raises(DataError) as raised:
        load_factor(path)
    said = ["'lunar' stands for the group 'sun' already", "'mars' is no group", "sum to 0.6"]
    lines = str(raised.value).splitlines()
    assert len(lines) == 3
    assert all(words in line for words, line in zip(said, lines, strict=True))


def test_groups_that_are_no_tables_are_shown_their_form(tmp_path):
    (tmp_path / "own.toml").write_text('name = "own"\ngroups = ["A"]\n', encoding="utf-8")
    with pytest.raises(DataError, match=r"line 2: groups: .*each headed \[groups\.NAME\]"):
        load_factor(str(tmp_path / "own.toml"))
