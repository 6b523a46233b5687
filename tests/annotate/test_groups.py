"""Groups in texts (groups.v3): words by their boundaries, cells by their spellings."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portrayal.annotate.group_labels import said_of
from portrayal.annotate.groups import group_reader, group_settings
from portrayal.errors import OptionError
from portrayal.reference.factors import Factor, load_factor
from portrayal.reference.labels import shown_of, speaking_of, strata_words

FAITH = """\
name = "faith"
label = "Faith"
note = "Mentions."
[groups.sun]
[groups.moon]
also = ["luna"]
[[sources]]
kind = "words"
words = { sun = ["sunny", "solar-priest", "Sol", "lady of light"], moon = ["moon", "moon child"] }
not = ["moon landing", "blue moon"]
as_written = ["Sol"]
[[sources]]
kind = "column"
column = "faith"
separator = [";", " and "]
none = ["neither"]
values = { sun = ["Sun and Sky"] }
"""


@pytest.fixture
def faith(tmp_path: Path) -> Factor:
    path = tmp_path / "faith.toml"
    path.write_text(FAITH, encoding="utf-8")
    return load_factor(path)


def read(factor: Factor, text: str = "", cell: str | None = None, **row: Any) -> dict[str, Any]:
    given = {"text_id": "1", "source_id": None, "outcome": "ok" if text else "empty", "text": text}
    kept = {} if cell is None else {"columns": [("faith", cell)]}
    (found,) = group_reader([factor])([given | kept | row], [{}])
    seen = {each["source"]: each for each in found["seen"]}
    for source, ((status, *_),) in zip(factor.sources, said_of(found["said"]), strict=True):
        seen.setdefault(source.name, {"status": status, "groups": [], "value": None, "spans": []})
        assert seen[source.name]["status"] == status
    return seen


WORDS = {
    "Sunny days": ("group", ["sun"]),
    "THE MOONS rose, moon after moon": ("group", ["moon"] * 3),
    "moonlight and unsunny Solar": ("none", []),
    "A sol sang to Sol's moon.": ("several", ["sun", "moon"]),
    "a solar priest; solar-priests": ("group", ["sun", "sun"]),
    "the moon landing, once in a blue moon": ("none", []),
    "a moon child": ("group", ["moon"]),
    "ladies of light; lady of lights": ("group", ["sun"]),
    "the lady of. Light": ("none", []),
    "the moon_child": ("group", ["moon"]),
    "Straße: MOON": ("group", ["moon"]),
}


@pytest.mark.parametrize("text", WORDS)
def test_words_count_by_boundaries_in_any_case_and_plural(faith: Factor, text: str) -> None:
    seen = read(faith, text)["words"]
    assert (seen["status"], seen["groups"]) == WORDS[text]
    spans = [(text[span["start"] : span["end"]], span["group"]) for span in seen["spans"]]
    assert sorted(group for _, group in spans) == sorted(seen["groups"])
    assert "; ".join(dict.fromkeys(word for word, _ in spans)) == (seen["value"] or "")


CELLS = {
    "SUN": ("group", ["sun"]),
    " Luna ;luna": ("group", ["moon", "moon"]),
    "sun and moon": ("several", ["sun", "moon"]),
    "Sun and Sky": ("group", ["sun"]),
    "Neither": ("none", []),
    "comet": ("unknown", []),
    "comet and sun": ("group", ["sun"]),
    "": ("unknown", []),
}


@pytest.mark.parametrize("cell", CELLS)
def test_a_cell_says_a_group_several_none_or_nothing_known(faith: Factor, cell: str) -> None:
    seen = read(faith, "", cell)
    assert (seen["column"]["status"], seen["column"]["groups"]) == CELLS[cell]
    assert seen["words"]["status"] == "unread"


def test_a_column_is_named_only_beside_other_ways_of_seeing(faith: Factor) -> None:
    both = shown_of(faith)
    alone = replace(both, sources={"column": "the column faith"})
    with speaking_of([both]):
        assert (
            strata_words({"state": "Goa", "seen_by": "words"}, {"faith": "sun"}) == "Goa, by words"
        )
    with speaking_of([alone]):
        assert strata_words({"state": "Goa", "seen_by": "column"}, {"faith": "sun"}) == "Goa"


def test_two_factors_of_one_name_are_refused(faith: Factor) -> None:
    with pytest.raises(OptionError, match="'faith'"):
        group_settings([faith.path, faith.path])


def test_couples_are_no_factor_of_texts() -> None:
    with pytest.raises(OptionError, match="the factor pair names groups that only studies"):
        group_settings(["religion", "pair"])


def test_a_changed_file_changes_the_settings(faith: Factor) -> None:
    before = group_settings([faith.path])
    path = Path(faith.path)
    path.write_text(FAITH.replace('"sunny"', '"sunlit"'), encoding="utf-8")
    assert group_settings([faith.path]) != before


def test_factors_are_read_together_as_alone(faith: Factor) -> None:
    text = "A sunny Muslim boy and the moon over the church, with elderly poor Polish deaf women."
    together = [faith, load_factor("religion")]
    row = {"text_id": "1", "source_id": None, "outcome": "ok", "text": text}
    (found,) = group_reader(together)([row], [{}])
    alone = [each for f in together for each in group_reader([f])([row], [{}])[0]["seen"]]
    assert found["seen"] == alone
    said = [group_reader([f])([row], [{}])[0]["said"] for f in together]
    assert found["said"] == "|".join(said)


LETTERS = st.lists(st.sampled_from(("moon", "sunny", "sun", "moons", "and", "child,", ".", "Ünë")))


@given(LETTERS)
def test_words_are_those_that_a_plain_expression_finds(words: list[str]) -> None:
    text = " ".join(words)
    factor = load_factor("religion")
    source = factor.sources[0]
    bare = source.__class__(
        kind="words", name="words", words={"hindu": ("moon",), "muslim": ("sunny",)}
    )
    table = group_reader([])._table
    table.add(0, bare, ("hindu", "muslim"))
    expected = [m.span() for m in re.finditer(r"\b(?:moons?|sunn(?:y|ys|ies))\b", text)]
    assert [(seen.start, seen.end) for seen in table.find(text)] == expected
