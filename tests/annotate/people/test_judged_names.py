"""Rows of the people of Indian stories that were judged by hand, and names that are nobody's."""

import gzip
import json
from pathlib import Path

import pytest

from portrayal.annotate.people import find_everyone

JUDGED = json.loads(Path(__file__).with_name("judged_names.json").read_text(encoding="utf-8"))
PLACES = {"Tamil Nadu", "Uttar Pradesh", "Madurai", "Lucknow", "Nature", "Bara Imambara"}
RITES = {"Kashi Yatra", "Ram Naam Satya Hai", "Kalyana Mandapam", "Gulab Jamun", "Chole Bhature"}


@pytest.mark.parametrize("part", JUDGED.values(), ids=["looked at", "held out"])
def test_every_row_was_judged(part):
    assert len(part["people"]) + len(part["no people"]) == part["rows"]
    assert len(part["no people"]) / part["rows"] < 0.05


def test_indian_stories_name_no_places_and_rites(shared_data):
    lines = gzip.decompress(shared_data("india/stories_dev.jsonl.gz").read_bytes()).splitlines()
    texts = [json.loads(line)["text"] for line in lines[::12]]
    names = [person.name for text in texts for person in find_everyone(text)]
    assert len(names) > 400
    assert not (PLACES | RITES).intersection(names)
