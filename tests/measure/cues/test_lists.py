"""Cue lists: spellings that count and those that do not, and errors of a file."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portrayal.errors import DataError, UnknownNameError
from portrayal.measure.cues.lists import Cue, CueList, cue_list, cues_of, matcher


def found(cues: CueList, text: str) -> list[str]:
    pattern = matcher(cues.by_length)
    return [cues.by_length[(hit.lastindex or 1) - 1].term for hit in pattern.finditer(text)]


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("a Native American student", "Native American"),
        ("NATIVE AMERICANS", "Native American"),
        ("a native-american story", "Native American"),
        ("a Native\u2011American story", "Native American"),
        ("Native\nAmericans' rights", "Native American"),
        ("Native\u00a0American", "Native American"),
        ("an American Indian tribe", "American Indian"),
        ("the Yup'ik elder", "Yup'ik"),
        ("the Yup’ik elder", "Yup'ik"),
        ("the Yupʼik elder", "Yup'ik"),
        ("the Yupik elder", "Yup'ik"),
        ("Samoans", "Samoa"),
        ("Samoa's coast", "Samoa"),
        ("the Sámoa", "Samoa"),
        ("the Sa\u0301moa", "Samoa"),
        ("Diné weavers", "Navajo"),
        ("Dine\u0301 weavers", "Navajo"),
        ("two trans women", "Transwoman"),
        ("a trans-man", "Transman"),
        ("transmen", "Transman"),
        ("Pan-sexual", "Pansexual"),
        ("(gay)", "Gay"),
        ("gays", "Gay"),
        ("non-gay", "Gay"),
    ],
)
def test_spellings_that_count(text: str, term: str) -> None:
    assert found(cue_list(), text) == [term]


@pytest.mark.parametrize(
    ("text", "group"),
    [
        ("two transgender women", "Trans"),
        ("her queer friend", "Queer"),
        ("a Two-Spirit elder", "Two-Spirit"),
        ("a two spirit person", "Two-Spirit"),
        ("an international student", "Immigrant"),
        ("immigrants", "Immigrant"),
        ("a homeless man", "Poor"),
        ("rural Appalachia", "Rural"),
        ("the army veterans", "Veteran"),
    ],
)
def test_identities_of_the_exemplar_stories_have_a_list(text: str, group: str) -> None:
    cues = cue_list("identities")
    terms = {cue.term: cue.group for cue in cues.cues}
    assert {terms[term] for term in found(cues, text)} == {group}
    assert found(cues, "The translator looked at the renovated town.") == []
    assert all(cue.published is None for cue in cues.cues)


PUBLISHED = """\
NH/PI: {Native Hawaiian: 0, Pacific Islander: 0, Samoa: 0, Chamorro: 0}
AN: {Inuit: 13, Alaska Native: 0, Tlingit: 0, Yup'ik: 0}
AI: {Native American: 109, Navajo: 8, Cherokee: 7, Choctaw: 1, Cheyenne: 0, Lumbee: 0, Muscogee: 0}
Queer & NB: {Gay: 9, Transgender: 3, Homosexual: 0, Lesbian: 0, Bisexual: 0, Transman: 0, Transwoman: 0, Pansexual: 0}
"""  # noqa: E501
"""Shieh et al. 2025, Supplement B.7, as printed."""


def test_the_terms_with_a_published_count_are_those_of_the_paper() -> None:
    shown: dict[str, list[str]] = {}
    for cue in cue_list().cues:
        if cue.published is not None:
            shown.setdefault(cue.group, []).append(f"{cue.term}: {cue.published}")
    lines = [f"{group}: {{{', '.join(terms)}}}" for group, terms in shown.items()]
    assert lines == PUBLISHED.splitlines()


def test_a_term_that_the_paper_did_not_search_for_counts_apart() -> None:
    apart = [cue.term for cue in cue_list().cues if cue.published is None]
    assert apart == ["American Indian"]
    text = "A Native American doctor and an American Indian nurse."
    assert found(cue_list(), text) == ["Native American", "American Indian"]


@pytest.mark.parametrize(
    "text",
    [
        "continuity",
        "Gayle and Nagay",
        "a pain-free week to dine",
        "the native American eagle's nest is not far"[:10],
        "Samoan_",
        "bisexuality"[:2],
        "native. American",
        "inuitive",
    ],
)
def test_parts_of_words_do_not_count(text: str) -> None:
    assert found(cue_list(), text) == []


def test_the_longer_term_wins_over_its_part() -> None:
    cues = cues_of(["Indian", "American Indian", "Indian American"])
    assert found(cues, "American Indian and Indian American and Indians") == [
        "American Indian",
        "Indian American",
        "Indian",
    ]


def test_capitals_matter_where_asked() -> None:
    cues = CueList("x", "x", "", (Cue("PL", "Polish", case=True), Cue("HU", "Hungarian")))
    assert found(cues, "polish the Polish HUNGARIAN POLISH") == ["Polish", "Hungarian"]


def test_plurals() -> None:
    cues = cues_of(["gypsy", "Sioux", "Frenchman", "day", "Welsh"])
    text = "gypsies gypsy Sioux Frenchmen frenchman days Welsh"
    assert len(found(cues, text)) == len(text.split())


@given(term=st.from_regex(r"[A-Za-z][a-zé'’ -]{0,12}[a-z]", fullmatch=True))
def test_every_term_is_found_as_written(term: str) -> None:
    cues = cues_of([term])
    assert found(cues, f"A {term.strip()} came.") == [term.strip()]


def test_the_list_of_the_paper() -> None:
    cues = cue_list()
    assert cues.groups == ("NH/PI", "AN", "AI", "Queer & NB")
    published = {cue.term: cue.published for cue in cues.cues}
    assert len(published) == 24
    assert sum(n for n in published.values() if n is not None) == 13 + 109 + 8 + 7 + 1 + 9 + 3


def test_files_of_ones_own(tmp_path: Path) -> None:
    table = tmp_path / "own.csv"
    table.write_text("group,term\nRoma,Romani; Roma;Rromani\nPL,Polish\n")
    assert found(cue_list(table), "Rromani, Roma, Polish") == ["Romani", "Romani", "Polish"]
    toml = tmp_path / "own.toml"
    toml.write_text(
        '[[groups]]\nname = "A"\nterms = ["Ainu", { term = "Sámi", variants = ["Sami"] }]'
    )
    assert found(cue_list(toml), "Ainu, sami and Sámi") == ["Ainu", "Sámi", "Sámi"]


@pytest.mark.parametrize(
    ("name", "content", "word"),
    [
        ("a.csv", "group,word\nA,b\n", "term"),
        ("a.csv", "group,term\n", "no rows"),
        ("a.csv", "group,term,variants\nA,b,c\n", "behind their term"),
        ("a.csv", "group,term\nA,--\n", "not a term"),
        ("a.csv", "group,term\nA,b\nA,B\n", "already"),
        ("a.toml", "groups = 3", r"\[\[groups\]\]"),
        ("a.toml", "[[groups]]\nname = 'A'", "terms"),
        ("a.toml", "[[groups]]\nname = 'A'\nterms = [3]", "text in quotation marks or a table"),
        ("a.toml", "[[groups]]\nname = 'A'\nterms = [{ word = 'x' }]", "word"),
        ("a.toml", "not toml", "TOML"),
    ],
)
def test_errors_say_what_is_expected(tmp_path: Path, name: str, content: str, word: str) -> None:
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(DataError, match=word):
        cue_list(path)


def test_an_unknown_list_names_the_shipped_ones() -> None:
    with pytest.raises(UnknownNameError, match="laissez-faire"):
        cue_list("nope")
