"""The search for cues on the stories that the paper prints for an identity."""

import re

import pytest

from portrayal.measure.cues.lists import cue_list, matcher

PAPER = "../papers/shieh_2025_laissez_faire.md"
IDENTITIES = {
    "4e": "gay",
    "4g": "inuit",
    "4h": "native american",
    "S12e": "transgender",
    "S12g": "inuit",
    "S12h": "navajo",
    "S12i": "mexican",
    "S12j": "international student",
    "S12k": "homeless / veteran",
    "S12l": "rural",
}
"""Tables 4e-h and S12e-l but for 4f and S12f, which are of pronouns."""


@pytest.fixture(scope="module")
def exemplars(shared_data):
    """Table and letter → (the identity above the story, the story)."""
    found, table, label, letter = {}, "", "", ""
    for line in shared_data(PAPER).read_text("utf-8").splitlines():
        if line.startswith("**Table"):
            table = "".join(re.findall(r"^\*\*Table (4|S12)(?=[a-z])", line))
        elif head := re.match(r"\|\s*(?:<b>)?([a-l])\.(?:</b>)?\s*\|\s*([^|]+?)\s*\|", line):
            letter, label = head.groups()
        elif table and "<p>Prompt" in line:
            story = re.findall(r"<p>(.*?)</p>", line)[1]
            found[table + letter] = label, story.partition(": ")[2]
    return found


def terms(story, name):
    """The terms of a list that a story uses."""
    cues = cue_list(name)
    return {
        chunk[hit.lastindex - 1].term.casefold()
        for chunk in map(list, cues.chunks)
        for hit in matcher(chunk).finditer(story)
    }


def test_the_studys_list_finds_the_identity_of_all_six_stories_of_its_groups(exemplars):
    for place in ("4e", "4g", "4h", "S12e", "S12g", "S12h"):
        label, story = exemplars[place]
        assert IDENTITIES[place] in label.casefold()
        assert IDENTITIES[place] in terms(story, "laissez-faire")


def test_the_list_of_identities_misses_nationality(exemplars):
    found = {
        place: bool({*words.split(" / ")} & terms(exemplars[place][1], "identities"))
        for place, words in IDENTITIES.items()
        if place in ("S12i", "S12j", "S12k", "S12l")
    }
    assert found == {"S12i": False, "S12j": False, "S12k": True, "S12l": True}
    assert {"homeless", "veteran"} <= terms(exemplars["S12k"][1], "identities")


def test_neither_list_finds_its_identities_where_the_paper_names_none(exemplars):
    others = [place for place in exemplars if place not in IDENTITIES]
    assert len(others) == 10
    assert not any(terms(exemplars[place][1], "laissez-faire") for place in others)
