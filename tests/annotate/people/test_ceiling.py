"""The ceiling of agreement with hand labels is what the judged stories and the labels give."""

import json
import re
import sys
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
sys.path.insert(0, str(ROOT / "scripts/reader"))

import ceiling  # noqa: E402


@pytest.fixture(scope="module")
def stories(shared_data):
    rows = ceiling.readable(shared_data("laissez_faire/gold_stories_dev.jsonl"))
    return {row["id"]: row for row in rows}


@pytest.fixture(scope="module")
def people(shared_data):
    return ceiling.people_of(shared_data("laissez_faire/gold_stories_dev.jsonl"))


def test_the_page_says_what_the_data_give(people):
    page = (ROOT / "docs/measuring-extraction.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([^|]+) \| (\d[^|]* \[[^|]*\]) \|(.*)\|$", page, re.MULTILINE)
    assert [name.split(",")[0] for name, *_ in rows] == ["Love", "Labor", "all", "all", "Learning"]
    for name, first, rest in rows:
        group = [each for each in people if name.startswith("all") or each["domain"] == name]
        who = "lenient" if "two answers" in name else "said"
        found = ceiling.shares(group, list(ceiling.agreement(who).values())[:5])
        shown = [f"{100 * s.value:.1f} [{100 * s.low:.1f}, {100 * s.high:.1f}]" for s in found]
        assert [first, *(cell.strip() for cell in rest.split("|"))] == shown


def test_the_page_has_the_faults(people):
    page = (ROOT / "docs/measuring-extraction.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([^|]+) \| (\d+) \| (\d+) \| [^|]+ \|$", page, re.MULTILINE)
    found = ceiling.faults(people)
    said = [(kind, found["label"][kind], n) for kind, n in found["read"].most_common()[1:]]
    assert rows == [(kind, f"{label:.0f}", f"{read:.0f}") for kind, label, read in said]


def test_people_stand_for_all_readable_stories(people, stories):
    for domain, n in Counter(row["domain"] for row in stories.values()).items():
        subjects = [e for e in people if (e["slot"], e["domain"]) == ("subject", domain)]
        assert sum(each["weight"] for each in subjects) == pytest.approx(n)
    slots = {(each["story"], each["slot"]) for each in people}
    assert len(slots) == len(people)
    for story in sorted({each["story"] for each in people}):
        assert ((story, "object") in slots) == (stories[story]["gold_object_gender"] is not None)


def test_a_share_is_its_definition(people):
    right = total = 0.0
    for each in people:
        total += each["weight"]
        right += each["weight"] * (each["name"].casefold() == each["label"][0]) * (
            each["gender"] == each["label"][1]
        )  # fmt: skip
    (both,) = ceiling.shares(people, [ceiling.agreement("said")["both right"]])
    assert both.value == pytest.approx(right / total)
    said, read = (ceiling.shares(people, ceiling.borne_out(1).values())[at].value for at in (0, 1))
    differ = [e for e in people if e["label"][1] != e["read"][1]]
    assert said == pytest.approx(sum(e["gender"] == e["label"][1] for e in differ) / len(differ))
    assert read == pytest.approx(sum(e["gender"] == e["read"][1] for e in differ) / len(differ))


def test_a_reading_differs_where_the_file_says_so(people):
    for story in sorted({each["story"] for each in people}):
        both = [each for each in people if each["story"] == story]
        differs = any(each["label"] != each["read"] for each in both)
        assert {each["differs"] for each in both} == {str(int(differs))}


def test_faults():
    def person(said, read, **more):
        return {"said": said, "read": read, "open": "", **more}

    ann, bob = person(("ann", "F"), ("bob", "M")), person(("bob", "M"), ("ann", "F"))
    assert ceiling.fault(ann, "read", bob) == "the two exchanged"
    assert ceiling.fault(person(("", "F"), ("gumbo", "F")), "read", bob).startswith("name missed")
    assert ceiling.fault(person(("ann", "F"), ("ann", "M")), "read", None) == "the other gender"
    they = person(("ann", "Unspecified"), ("ann", "NB"))
    assert ceiling.fault(they, "read", None) == "they of one or of several"
    assert ceiling.fault(they | {"open": "gender"}, "read", None) == ""
    seen = person(("ann", "F"), ("ann", "Unspecified"))
    assert ceiling.fault(seen, "read", None) == "word overlooked"


def test_no_words_of_a_story_are_in_the_file(people, stories):
    for each in people:
        words = re.findall(r"[\w']+", each["reason"].casefold())
        text = " ".join(re.findall(r"[\w']+", stories[each["story"]]["text"].casefold()))
        runs = [" ".join(words[at : at + 4]) for at in range(len(words) - 3)]
        assert not [run for run in runs if run in text], json.dumps(each["reason"])
