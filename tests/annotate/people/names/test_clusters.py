import pytest

from portrayal.annotate.people.any_text.everyone import find_everyone
from portrayal.annotate.people.names.candidates import find_candidates
from portrayal.annotate.people.names.clusters import name_clusters
from portrayal.annotate.people.shared.scan import scan


def clusters(text):
    tokens = scan(text)
    runs = find_candidates(tokens)
    found = name_clusters(tokens, runs)
    words = dict(enumerate(tokens.words))
    return {" ".join(c.words): (words.get(c.first_name(tokens)), len(c.mentions)) for c in found}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "I saw Angela Merkel. Then Merkel spoke, and Dr. Merkel left, and Angela laughed.",
            {"angela merkel": ("Angela", 4)},
        ),
        (
            "There Ann Lee met Bo Lee. Mr. Lee saw Ann.",
            {"ann lee": ("Ann", 2), "bo lee": ("Bo", 2)},
        ),
        ("We asked Mr. Boateng.", {"boateng": (None, 1)}),
        ("We asked Chef Maria.", {"maria": ("Maria", 1)}),
        (
            "He saw Devin Kelley. Later Devin Patrick Kelley fled.",
            {"devin patrick kelley": ("Devin", 2)},
        ),
        ("", {}),
    ],
)
def test_names_of_one_person(text, expected):
    assert clusters(text) == expected


def test_a_title_with_a_gender_finds_its_bearer():
    text = "Mr. Bo Lee met Mrs. Ann Lee. Then Bo Lee left. And Mrs. Lee stayed."
    assert clusters(text)["ann lee"] == ("Ann", 2)


def test_names_that_behave_like_no_person_are_left_out():
    text = "On the streets of Xqzt it rained."
    assert find_everyone(text) == []
