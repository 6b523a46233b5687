"""Names of six origins, written by a language model, each named once in ten sentences."""

import json
from pathlib import Path

import pytest

from portrayal.annotate.people.any_text.everyone import find_everyone

GIVEN = json.loads(Path(__file__).with_name("origins.json").read_text(encoding="utf-8"))
NOBODY = "of nobody (places, teams, companies)"


def share(names):
    hits = [
        any(person.name == name for person in find_everyone(template.format(name)))
        for name in names
        for template in GIVEN["templates"]
    ]
    return sum(hits) / len(hits)


def test_the_names_say_who_wrote_them():
    assert "language model" in GIVEN["written_by"]
    assert all(len(names) >= 15 for names in GIVEN["names"].values())


@pytest.mark.parametrize("origin", [origin for origin in GIVEN["names"] if origin != NOBODY])
def test_names_of_every_origin_are_found(origin):
    assert share(GIVEN["names"][origin]) >= 0.8


def test_names_of_places_and_companies_are_seldom_taken_for_people():
    assert share(GIVEN["names"][NOBODY]) <= 0.15
