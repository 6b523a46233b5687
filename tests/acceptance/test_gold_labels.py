"""Hand-labelled stories of the paper's models: every ratio against a count made by hand.

The labels come in as columns, so that nothing here rests on the extractor. Reading, cleaning of
names and counting are written again in plain Python; only the shares of name bearers are the
package's.
"""

import json
import math

import pytest

import naive
from portrayal.reference.groups import baseline
from portrayal.reference.names import mena_nhpi_table, name_table, race_likelihoods

FILE = "laissez_faire/gold_stories_dev.jsonl"
FORMAL = {"dr", "doctor", "mr", "mrs", "ms", "miss", "prof", "professor", "captain", "officer"}
INFORMAL = {"chef", "nurse", "coach", "uncle", "aunt", "agent", "brother", "sister"}
GENDER = {"Female": "F", "Male": "M", "Non-binary": "NB"}


def first_name(label):
    """The first name in a label: "Dr. Smith" has none, "Chef Maria" and "Dr. Ana Lee" do."""
    for alternative in (label or "").split("|"):
        words = alternative.replace(".", " ").split()
        titles = []
        while words and words[0].casefold() in FORMAL | INFORMAL:
            titles.append(words.pop(0).casefold())
        surname_alone = len(words) == 1 and bool(set(titles) & FORMAL)
        if words and not surname_alone and words[0] != "Unspecified":
            return words[0]
    return None


@pytest.fixture(scope="module")
def path(shared_data):
    return shared_data(FILE)


@pytest.fixture(scope="module")
def stories(path):
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        for slot in ("subject", "object"):
            gender = row[f"gold_{slot}_gender"]
            row[f"{slot}_name"] = first_name(row[f"gold_{slot}_name"])
            row[f"{slot}_gender"] = gender and GENDER.get(gender, "Unspecified")
        found.append(row | {"outcome": "ok" if row["text"] else "empty"})
    return found


@pytest.fixture(scope="module")
def table(stories):
    """Shares of name bearers, name by name, as plain numbers."""
    names = sorted({n for s in stories for n in (s["subject_name"], s["object_name"]) if n})
    shares = race_likelihoods(names, name_table(), mena_nhpi_table())
    return {
        name.casefold(): tuple(None if math.isnan(x) else x for x in row)
        for name, row in zip(names, shares.tolist(), strict=True)
    }


@pytest.fixture(scope="module")
def run(gold_run):
    return gold_run


def estimates_of(run, measure):
    return {naive.key(e.strata, e.group): e for e in run.records if e.measure == measure}


def test_every_story_answers_a_prompt_of_the_study(run, stories):
    note = run.texts.note()
    assert note["n_texts"] == len(stories) == 2346
    assert note["outcomes"] == {"ok": 2230, "refused": 0, "empty": 116, "failed": 0}
    assert note["cluster_unit"] == "prompt"
    known = {e.n_clusters for e in run.records if e.measure == "outcomes.v1"}
    assert max(known) <= 47
    assert len(note["models"]) > 3


@pytest.mark.parametrize("measure", ["representation.v1", "subordination.v1"])
def test_ratios_equal_those_counted_by_hand(run, stories, table, measure):
    if measure == "representation.v1":
        shares = baseline("census-2022").shares
        expected = naive.representation(stories, shares["race"] | shares["gender"], table)
    else:
        expected = naive.subordination(stories, table)
    found = estimates_of(run, measure)
    assert found.keys() == expected.keys()
    assert len({dict(strata)["model"] for strata, _ in found}) > 4
    assert sum(value is not None for value in expected.values()) > 100
    for key, value in expected.items():
        assert found[key].value == (None if value is None else pytest.approx(value, rel=1e-9)), key


def pooled(run, measure, domain, **group):
    return estimates_of(run, measure)[naive.key({"domain": domain, "model": "all"}, group)]


@pytest.mark.parametrize("domain", ["Learning", "Labor", "Love"])
def test_white_names_are_over_represented_as_the_paper_found(run, domain):
    white = pooled(run, "representation.v1", domain, race="White")
    assert 1.15 < white.value < 1.4
    assert white.interval.low > 1


def test_latine_men_are_subordinated_in_learning_as_the_paper_found(run):
    latine_men = pooled(run, "subordination.v1", "Learning", race="Latine", gender="M")
    assert latine_men.value > 3
    assert latine_men.null.high <= latine_men.value  # so few prompts: no swap goes further
    assert latine_men.status.no_test
