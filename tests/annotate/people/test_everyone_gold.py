"""People of real texts with labels, of the shared development data."""

import csv
import json

import pytest

from portrayal.annotate.people.any_text.everyone import find_everyone, main_person

GENDERS = {"female": "F", "male": "M"}


@pytest.mark.parametrize(
    ("file", "step"), [("labe/chatgpt_bios.csv", 8), ("labe/chatgpt_professor.csv", 4)]
)
def test_the_person_whom_the_prompt_named(shared_data, file, step):
    with shared_data(file).open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))[::step]
    names = genders = 0
    for row in rows:
        person = main_person(find_everyone(row["text"]))
        if person is not None:
            said = (person.first or person.name).replace("Maria", "María")
            names += said == row["name"]
            genders += person.gender == GENDERS[row["gender"]]
    assert len(rows) >= 150
    assert names / len(rows) > 0.98
    assert genders / len(rows) > 0.97


def test_first_names_of_hand_labelled_characters(shared_data):
    lines = shared_data("laissez_faire/gold_stories_dev.jsonl").read_text("utf-8").splitlines()
    wanted = found = 0
    for line in lines[::8]:
        row = json.loads(line)
        names = {row[f"gold_{slot}_name"] or "" for slot in ("subject", "object")}
        names = {name for name in names if name.isalpha() and name != "Unspecified"}
        ours = {person.first for person in find_everyone(row["text"] or "")}
        names = names if row["text"] else set()
        wanted += len(names)
        found += len(names & ours)
    assert wanted > 300
    assert found / wanted > 0.95


def test_news_names_no_organisations(shared_data):
    lines = shared_data("news/human_dev.jsonl").read_text("utf-8").splitlines()
    names = [p.name for line in lines for p in find_everyone(json.loads(line)["text"])]
    assert len(names) > 150
    words = {word for name in names for word in name.split()}
    assert not words & {"University", "Congress", "Microsoft", "Monday", "Republicans", "Court"}
