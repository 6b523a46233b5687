"""Rows of the people of Indian stories that were judged by hand, and names that are nobody's."""

import csv
import gzip
import json
from pathlib import Path

import pytest

from portrayal.annotate.people import find_everyone

FILE = Path(__file__).with_name("judged_rows.csv")
PLACES = {"Tamil Nadu", "Uttar Pradesh", "Madurai", "Lucknow", "Nature", "Bara Imambara"}
RITES = {"Kashi Yatra", "Ram Naam Satya Hai", "Kalyana Mandapam", "Gulab Jamun", "Chole Bhature"}


@pytest.fixture
def rows():
    with FILE.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


@pytest.mark.parametrize("sample", ["third", "fourth"])
def test_at_most_one_row_in_a_hundred_is_no_person(rows, sample):
    part = [row["person"] for row in rows if row["sample"] == sample]
    assert len(part) == 300
    assert part.count("0") <= 0.01 * len(part)


def test_indian_stories_name_no_places_and_rites(rows, shared_data):
    lines = gzip.decompress(shared_data("india/stories_dev.jsonl.gz").read_bytes()).splitlines()
    texts = {row["id"]: row["text"] for row in map(json.loads, lines)}
    listed = {
        story: {person.name for person in find_everyone(texts[story])}
        for story in list(texts)[::12]
    }
    assert not (PLACES | RITES).intersection(*[set().union(*listed.values())])
    people = [row for row in rows if row["person"] == "1" and row["story"] in listed]
    assert len(people) > 30
    assert all(row["name"] in listed[row["story"]] for row in people)
