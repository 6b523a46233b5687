"""Which column says whom a text is about: by its name, by its values, or it is asked."""

import pytest

from matched_pairs import pairs
from portrayal import audit
from portrayal.errors import OptionError


def audited(rows, **options):
    given = {"source": "note", "scorers": ("length",), "report": False} | options
    return audit(study="pairs", texts=rows, **given)


def renamed(change):
    return [{k: v for k, v in r.items() if k != "gender"} | change(r) for r in pairs()]


SIDES = [
    ("female", "male"),
    ("woman", "man"),
    ("she/her", "he/him"),
    ("F", "M"),
    ("Ms.", "Mr."),
    ("Black", "White"),
    ("elderly", "young"),
]


@pytest.mark.parametrize("sides", SIDES)
def test_groups_are_known_by_their_values(sides):
    run = audited(renamed(lambda r: {"wording B": sides[r["gender"] == "male"], "seed": "man"}))
    (found,) = {tuple(e.group) for e in run.records}
    assert found == ("wording B",)


def test_a_usual_name_that_is_the_same_within_pairs_gives_way_to_one_that_differs():
    women = {"gender": "woman"}
    rows = renamed(lambda r: women | {"race": {"female": "Black", "male": "White"}[r["gender"]]})
    assert {tuple(e.group) for e in audited(rows).records} == {("race",)}


def test_columns_that_tell_the_same_are_one_choice():
    rows = [r | {"pronouns": "she" if r["gender"] == "female" else "he"} for r in pairs()]
    assert {tuple(e.group) for e in audited(rows).records} == {("gender",)}


def test_where_two_columns_could_be_meant_they_are_named_with_what_to_pass():
    rows = pairs(groups=("female", "male", "x", "y"))
    sides = {"female": "woman Black", "male": "woman White", "x": "man Black", "y": "man White"}
    split = [dict(zip(("who", "origin"), sides[r["gender"]].split(), strict=True)) for r in rows]
    both = [{k: v for k, v in r.items() if k != "gender"} | s for r, s in zip(rows, split,
            strict=True)]  # fmt: skip
    message = r"who \(man, woman\) and in origin \(Black, White\).*--group who"
    with pytest.raises(OptionError, match=message):
        audited(both)
    assert {tuple(e.group) for e in audited(both, group="origin").records} == {("origin",)}


def test_without_such_a_column_usual_names_and_values_are_said():
    with pytest.raises(OptionError, match="woman and man or she/her and he/him"):
        audited(renamed(lambda r: {"x": r["gender"] + "ish"}))
