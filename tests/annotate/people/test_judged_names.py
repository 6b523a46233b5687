"""Rows of the people of Indian stories that were judged by hand, and names that are nobody's."""

import csv
import gzip
import json
from pathlib import Path

import pytest

from portrayal.annotate.people.any_text.everyone import find_everyone
from portrayal.reference.locales import load_locale

FILE = Path(__file__).with_name("judged_rows.csv")
PLACES = {"Tamil Nadu", "Uttar Pradesh", "Madurai", "Lucknow", "Nature", "Bara Imambara"}
RITES = {"Kashi Yatra", "Ram Naam Satya Hai", "Kalyana Mandapam", "Gulab Jamun", "Chole Bhature"}


@pytest.fixture
def rows():
    with FILE.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


@pytest.mark.parametrize(("sample", "n"), [("third", 300), ("fourth", 300), ("en-IN", 900)])
def test_at_most_one_row_in_a_hundred_is_no_person(rows, sample, n):
    part = [row["person"] for row in rows if row["sample"] == sample]
    assert len(part) == n
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
    people = [row for row in people if row["sample"] != "en-IN"]
    assert len(people) > 30
    assert sum(row["name"] in listed[row["story"]] for row in people) > 0.95 * len(people)


def test_the_locale_loses_nobody_and_keeps_names_without_titles(rows, shared_data):
    lines = gzip.decompress(shared_data("india/stories_dev.jsonl.gz").read_bytes()).splitlines()
    texts = {row["id"]: row["text"] for row in map(json.loads, lines)}
    india = load_locale("en-IN")
    part = [row for row in rows if row["sample"] == "en-IN" and row["person"] == "1"][::10]
    listed = {
        story: {person.name for person in find_everyone(texts[story], locale=india)}
        for story in dict.fromkeys(row["story"] for row in part)
    }
    assert len(part) == 90
    assert sum(row["name"] in listed[row["story"]] for row in part) >= 87
    assert not any(str(name).startswith("Pandit ") for names in listed.values() for name in names)
