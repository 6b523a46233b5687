import numpy as np
import pytest

from coding.coded import book, code_all, random_codes, small_project
from portrayal.coding import CodingItem, ItemPerson, make_project, project_labels
from portrayal.coding.shares import EVERYONE, code_prevalence, code_shares
from portrayal.errors import OptionError


@pytest.fixture
def project(tmp_path):
    return small_project(tmp_path / "p", 12)  # even stories Latine, odd ones Asian


def codes(project, **more):
    return {one.group: one for one in code_shares(project, project_labels(project), **more)}


def counts(found):
    return {one.code: one.share.n for one in found.shares if one.share.n}


def test_each_text_counts_for_each_of_its_codes(project):
    both = {"savior", "foreigner"}
    code_all(project, "a", {"t0": both, "t2": both, "t4": {"savior"}, "t1": {"savage"}})
    found = codes(project)
    assert set(found) == {"Latine", "Asian"}
    latine = found["Latine"]
    assert counts(latine) == {"savior": 3, "foreigner": 2}
    assert counts(found["Asian"]) == {"savage": 1}
    assert (latine.n_items, latine.n_open) == (6, 0)
    for one in latine.shares:
        assert one.share.interval.low <= one.share.n / 6 <= one.share.interval.high
        assert one.share.interval.method == "Wilson"


def test_texts_on_which_people_are_divided_are_left_out_and_counted(project):
    code_all(project, "a", {"t0": {"savior"}, "t2": {"savior"}})
    code_all(project, "b", {"t2": {"savior"}})
    latine = codes(project)["Latine"]
    assert (latine.n_items, latine.n_open) == (5, 1)
    assert counts(latine) == {"savior": 1}
    code_all(project, "c", {"t0": {"savior"}, "t2": {"savior"}})
    assert counts(codes(project)["Latine"]) == {"savior": 2}


def test_models_have_no_vote_and_an_adjudicator_the_last_word(project):
    code_all(project, "a", {"t0": {"savior"}})
    code_all(project, "server:m", {"t0": {"savage"}, "t2": {"savage"}}, kind="llm")
    assert counts(codes(project)["Latine"]) == {"savior": 1}
    code_all(project, "judge", {"t0": {"foreigner"}}, kind="adjudicated", items=["t0"])
    assert counts(codes(project)["Latine"]) == {"foreigner": 1}


def test_groups_are_merged_where_asked(project):
    code_all(project, "a", random_codes(project, 1))
    (merged,) = codes(project, merge={"Asian": "Latine"}).values()
    assert merged.group == "Latine"
    assert merged.n_items == 12


def test_groups_come_from_labels_of_people_too(tmp_path):
    def person(slot, race):
        return ItemPerson(slot, "A", labels={"race": race} if race else {})

    items = [
        CodingItem("x", "A text.", people=(person("subject", "White"), person("object", "Black"))),
        CodingItem("y", "A text.", people=(person("subject", "White"), person("object", "White"))),
        CodingItem("z", "A text.", people=(person("subject", None),)),
    ]
    project = make_project(tmp_path / "q", items, book())
    code_all(project, "a", {"x": {"savior"}})
    found = codes(project)
    assert {group: one.n_items for group, one in found.items()} == {"White": 2, "Black": 1}
    with pytest.raises(OptionError, match="Known: race"):
        codes(project, by="gender")


def test_a_project_without_groups_is_one(tmp_path):
    project = make_project(tmp_path / "q", [CodingItem("x", "A text.")], book())
    code_all(project, "a", {})
    (only,) = codes(project).values()
    assert (only.group, counts(only)) == (EVERYONE, {})


def test_what_a_model_codes_is_corrected_by_what_people_code(tmp_path):
    """The model misses half of one group's code; people coded 120 of 600 texts at random."""
    rng = np.random.default_rng(3)
    project = small_project(tmp_path / "p", 600)
    true = [f"t{i}" for i in range(600) if rng.random() < (0.5, 0.3)[i % 2]]
    coded = [name for name in true if int(name[1:]) % 2 == 1 or rng.random() < 0.5]
    code_all(project, "server:m", {name: {"savior"} for name in coded}, kind="llm")
    drawn = [f"t{i}" for i in rng.permutation(600)[:120]]
    code_all(project, "a", {name: {"savior"} for name in true if name in drawn}, items=drawn)
    rows = code_prevalence(project, project_labels(project))
    found = {one.group: one for one in rows if one.code == "savior"}
    for at, group in enumerate(("Latine", "Asian")):
        one, own = found[group], [f"t{i}" for i in range(at, 600, 2)]
        share = np.mean([name in true for name in own])
        assert one.rater == "server:m"
        assert one.said == pytest.approx(np.mean([name in coded for name in own]))
        assert (one.n, one.n_hand) == (300, sum(int(name[1:]) % 2 == at for name in drawn))
        assert one.interval.low < share < one.interval.high
        assert abs(one.value - share) <= abs(one.said - share) + 1e-9
    # Post-stratified by hand: labels in each class of what the model says.
    own = [name for name in drawn if int(name[1:]) % 2 == 0]
    n = {hit: sum(((f"t{i}" in coded) == hit) for i in range(0, 600, 2)) for hit in (0, 1)}
    sides = [[name in true for name in own if (name in coded) == hit] for hit in (0, 1)]
    assert found["Latine"].value == pytest.approx(
        sum(n[hit] * np.mean(sides[hit]) for hit in (0, 1)) / 300
    )
    bare = next(one for one in rows if one.code == "savage")
    assert (bare.value, bare.interval) == (None, None)
    assert "no savage is among them" in bare.undefined


def test_without_a_model_or_with_few_labels_nothing_is_corrected(project):
    code_all(project, "a", {"t0": {"savior"}})
    assert code_prevalence(project, project_labels(project)) == []
    code_all(project, "server:m", {"t0": {"savior"}}, kind="llm")
    rows = code_prevalence(project, project_labels(project))
    assert {one.undefined for one in rows} == {
        "6 texts are labelled by hand here, and a correction needs 20 or more"
    }
