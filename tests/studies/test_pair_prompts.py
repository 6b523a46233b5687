"""The prompts of pairs: a grid of cases, wordings and persons, checked before anything is asked."""

from pathlib import Path

import pytest

import portrayal.registry as registry
from portrayal.collect.ask.asking import prompts_of
from portrayal.errors import DataError, OptionError
from portrayal.records import Prompt
from portrayal.reference.names import names_of

CASES = 'source,note,ward\nn1,"fell, {name} at home",A\nn2,felt dizzy,B\n'
GROUPS = """
[groups.female]
name = ["Emily", "Anne"]
title = "Ms."
pronoun = "F"
age = 18
[groups.male]
name = ["Greg", "Todd"]
title = "Mr."
pronoun = "M"
age = [18, 82]
"""


def made(tmp_path: Path, text: str) -> tuple[Prompt, ...]:
    (tmp_path / "cases.csv").write_text(CASES, encoding="utf-8")
    (tmp_path / "pairs.toml").write_text(text, encoding="utf-8")
    return prompts_of("pairs", tmp_path / "pairs.toml")


def test_every_case_in_every_wording_with_every_person(tmp_path: Path) -> None:
    found = made(
        tmp_path,
        """
        group = "gender"
        table = "cases.csv"
        [[template]]
        text = ["{Note}. {Pronoun.subject} is a {age}-year-old; write to {title} {name}.",
                "Describe {pronoun.object} and {pronoun.possessive} case as {\\"x\\": 1}: {note}"]
        system = "You help {name}."
        """
        + GROUPS,
    )
    assert len(found) == 2 * 2 * 2 * 2
    first, second = found[:2]
    assert first.asked == (
        "Fell, {name} at home. She is an 18-year-old; write to Ms. Emily.",
        "You help Emily.",
    )
    assert first.strata == {
        "gender": "female", "name": "Emily", "system": "You help Emily.", "source": "n1",
        "pair": "n1, 1, Emily / Greg", "wording": "1", "names": "Emily / Greg", "ward": "A",
        "note": "fell, {name} at home", "age": "18", "title": "Ms.",
    }  # fmt: skip
    assert second.strata["pair"] == first.strata["pair"]
    assert "He is an 18-year-old; write to Mr. Greg." in second.text
    assert found[3].text.endswith("Mr. Todd.")
    assert "an 82-year-old" in found[3].text
    assert found[4].text.endswith('Describe her and her case as {"x": 1}: fell, {name} at home')
    assert {p.strata["wording"] for p in found} == {"1", "2"}
    assert {p.strata["source"] for p in found} == {"n1", "n2"}
    pairs = {p.strata["pair"] for p in found}
    assert len(pairs) == 8
    assert len({p.prompt_id for p in found}) == 16


def test_without_a_table_requests_are_the_sources_and_of_one_request_the_persons(
    tmp_path: Path,
) -> None:
    one = made(tmp_path, '[[template]]\ntext = "Write about {name}."' + GROUPS)
    assert [p.strata["source"] for p in one] == ["Emily / Greg"] * 2 + ["Anne / Todd"] * 2
    assert "wording" not in one[0].strata
    two = made(
        tmp_path,
        '[[template]]\ntext = "Write about {name}."\nname = "essay"\n'
        '[[template]]\ntext = "Praise {name}."' + GROUPS,
    )
    assert [p.strata["source"] for p in two] == ["essay"] * 4 + ["2"] * 4
    assert two[0].strata["template"] == "essay"


def test_persons_differ_in_any_slot_and_may_have_no_words_for_it(tmp_path: Path) -> None:
    found = made(
        tmp_path,
        """
        template = [{ text = "Rate the candidate{aid}." }]
        groups.with = { aid = ", who uses a wheelchair" }
        groups.without = { aid = "" }
        """,
    )
    assert [p.text for p in found] == [
        "Rate the candidate, who uses a wheelchair.",
        "Rate the candidate.",
    ]
    assert found[0].strata == {
        "group": "with", "pair": "1", "source": "1", "aid": ", who uses a wheelchair"
    }  # fmt: skip


def test_a_source_with_several_rows_gives_pairs_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "notes.csv").write_text("source,note\na,x\na,y\n", encoding="utf-8")
    found = made(
        tmp_path,
        'table = "notes.csv"\n[[template]]\ntext = "{note} {title}"\n'
        '[groups.a]\ntitle = "Ms."\n[groups.b]\ntitle = "Mr."',
    )
    assert [p.strata["pair"] for p in found] == ["a (row 1)"] * 2 + ["a (row 2)"] * 2
    assert {p.strata["source"] for p in found} == {"a"}


def test_names_that_bear_a_group(tmp_path: Path) -> None:
    found = made(
        tmp_path,
        """
        template = [{ text = "Write about {name}." }]
        groups.Black.names = { factor = "race", group = "Black", gender = "F", n = 3 }
        groups.White.names = { group = "White", gender = "F", n = 3 }
        """,
    )
    names = [p.strata["name"] for p in found if p.strata["group"] == "Black"]
    assert names == list(names_of("African American", gender="F", n=3))
    assert names == ["Latoya", "Ebony", "Latasha"]
    assert not set(names_of("Asian", gender="M")) & set(names_of("Asian", gender="F"))
    assert names_of(gender="M", n=2, least=0.95) == ("Michael", "John")
    with pytest.raises(OptionError, match=r"^0 first names have 80% of bearers who are AI/AN;"):
        names_of("AI/AN")
    with pytest.raises(OptionError, match="no table of names of the factor age lists"):
        names_of("old", factor="age")


def test_prompts_as_they_are_name_their_pair(tmp_path: Path) -> None:
    (tmp_path / "own.csv").write_text(
        "id,text,pair,gender\na,About her.,1,F\nb,About him.,1,M\n", encoding="utf-8"
    )
    own = prompts_of("pairs", tmp_path / "own.csv")
    assert [p.strata for p in own] == [{"pair": "1", "gender": "F"}, {"pair": "1", "gender": "M"}]
    (tmp_path / "own.toml").write_text(
        '[[prompt]]\nid = "a"\ntext = "About her."\npair = "1"', encoding="utf-8"
    )
    assert len(prompts_of("pairs", str(tmp_path / "own.toml"))) == 1
    with pytest.raises(OptionError, match="needs --prompts"):
        prompts_of("pairs")
    assert registry.get("prompts", "pairs").options == ("prompts",)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[[template]]\ntext = "{nmae}"' + GROUPS, "line 2: template.text: nothing fills {nmae};"),
        ('[[template]]\ntext = "Hello."' + GROUPS, "line 1: template: the request about male is"),
        ('[[template]]\ntext = "{x}"\n[groups.a]\nx = []\n[groups.b]\nx = "1"',
         "line 4: groups.a.x: expected at least one value"),
        ('[[template]]\ntext = "{x}"\n[groups.a]\nx = "2"\n[groups.b]\ny = "1"',
         "line 5: groups.b: {x}, in the template of line 2, has no value here"),
        ('[[template]]\ntext = "{x}"\n[groups.a]\nx = ["1", "2"]\n[groups.b]\nx = ["3", "4", "5"]',
         "line 4: groups.a.x: 2 values, and 3 of groups.b.x"),
        ('[[template]]\ntext = "{x}"\n[groups.a]\nx = "2"', "groups: a pair needs two groups"),
        ('[[template]]\ntext = "{x}"\n[groups.a]\npronoun = "X"\n[groups.b]\nx = "1"',
         "line 4: groups.a.pronoun: expected one of F, M, NB; got 'X'"),
        ('[[template]]\ntext = "{x}"\n[groups.a]\npronoun = ["F"]\n[groups.b]\nx = "1"',
         "line 4: groups.a.pronoun: expected one of F, M, NB; got ['F']"),
        ('group = "pair"\n[[template]]\ntext = "{name}"' + GROUPS, "line 1: group: 'pair' is kept"),
        ('table = "no.csv"\n[[template]]\ntext = "{name}"' + GROUPS, "line 1: table: 'no.csv'"),
        ('table = "blank.csv"\n[[template]]\ntext = "{name} {note}"' + GROUPS,
         "blank.csv, row 2: note: the cell is blank"),
        ('table = "twice.csv"\n[[template]]\ntext = "{name}"' + GROUPS,
         "line 1: table: its column 'title' has the name of a slot"),
        ('[[template]]\ntext = "{name}"\n[groups.a.names]\ngroup = "X"\nn=2\n[groups.b]\nx="x"',
         "line 3: groups.a.names: the factor race has no group 'X'"),
        ('[[template]]\ntxt = "{name}"' + GROUPS, "line 1: template: the key 'text' is missing"),
        ('[groups.a]\nx = "1"', "the key 'template' is missing"),
    ],
)  # fmt: skip
def test_what_cannot_be_asked_is_refused_with_file_line_and_key(
    tmp_path: Path, text: str, said: str
) -> None:
    (tmp_path / "blank.csv").write_text("source,note\na,x\nb,\n", encoding="utf-8")
    (tmp_path / "twice.csv").write_text("source,title\na,x\n", encoding="utf-8")
    with pytest.raises(DataError) as error:
        made(tmp_path, text)
    assert said in str(error.value)
    assert "pairs.toml" in str(error.value) or "blank.csv" in str(error.value)
