"""Biographies, news and letters that a language model wrote for this test, with their people."""

import json
from pathlib import Path

from portrayal.annotate.people.any_text.everyone import find_everyone, main_person

LINES = Path(__file__).with_name("own_texts.jsonl").read_text(encoding="utf-8").splitlines()
TEXTS = [json.loads(line) for line in LINES]
FLOOR = 0.95


def share(right, of):
    assert of > 15
    return right / of


def test_the_texts_say_who_wrote_them():
    assert len(TEXTS) == 25
    assert all("language model" in text["written_by"] for text in TEXTS)
    assert {text["kind"] for text in TEXTS} == {"biography", "news", "letter"}


def test_people_are_found_and_nobody_else():
    gold = {(t["id"], name) for t in TEXTS for name in t["people"]}
    found = {(t["id"], person.name) for t in TEXTS for person in find_everyone(t["text"])}
    assert share(len(gold & found), len(gold)) >= FLOOR
    assert share(len(gold & found), len(found)) >= FLOOR


def test_genders():
    pairs = [
        (person.gender, t["people"][person.name])
        for t in TEXTS
        for person in find_everyone(t["text"])
        if person.name in t["people"]
    ]
    assert share(sum(ours == gold for ours, gold in pairs), len(pairs)) >= FLOOR
    told = [(ours, gold) for ours, gold in pairs if gold == "Unspecified"]
    assert all(ours == gold for ours, gold in told), "a gender where the text has none"


def test_the_main_person_and_the_sentences_about_them():
    named = [t for t in TEXTS if t["main"]]
    right = whole = about = 0
    for text in named:
        person = main_person(find_everyone(text["text"], writer=True))
        right += person.name == text["main"]
        if text["about_main"] is not None:
            about += 1
            whole += list(person.sentences) == text["about_main"]
    assert share(right, len(named)) >= FLOOR
    assert share(whole, about) >= FLOOR
