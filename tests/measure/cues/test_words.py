"""Marked words against an implementation of their own, planted words, and shuffled groups."""

import math
import random
from collections import Counter

import numpy as np
import pytest

from portrayal.errors import OptionError
from portrayal.measure import Scope
from portrayal.measure.cues import count_words, marked_words, read_documents

SCOPE = Scope("words", permutations=60)
FILL = ["the", "story", "went", "on", "while", "many", "people", "came", "and", "talked", "plain"]


def world(n=120, seed=0, planted=True):
    """Texts of two crossed groups and two roles; F says "gentle" more, B F says "drum" more."""
    draw = random.Random(seed)
    rows = []
    for i in range(n):
        gender, race, role = "FM"[i % 2], "BW"[i // 2 % 2], ("up", "down")[i // 4 % 2]
        words = draw.choices(FILL, k=40)
        if planted and gender == "F":
            words += ["gentle"] * 3
        if planted and gender == "F" and race == "B":
            words += ["drum"] * 3
        words += draw.choices(["gentle", "drum", "kettle"], k=2)
        draw.shuffle(words)
        text = " ".join(words)
        rows.append({"text": text, "gender": gender, "race": race, "role": role, "prompt": f"p{i}"})
    return rows


def compare(rows, groups=("gender", "race"), **options):
    role = options.pop("role", None)
    documents = read_documents(rows, groups, columns={"role": role} if role else ())
    counts = count_words(documents, min_count=3, min_texts=2)
    return documents, counts, marked_words(documents, counts, SCOPE, **options)


def find(compared, role="all", **group):
    (found,) = [c for c in compared if c.group == group and c.role == role]
    return found


def naive(rows, label, vocabulary, prior=500.0):
    """z of each word for gender == label against the rest, from the definition, in loops."""
    first, second = Counter(), Counter()
    for row in rows:
        side = first if row["gender"] == label else second
        side.update(w for w in row["text"].split() if w in vocabulary)
    n1, n2 = sum(first.values()), sum(second.values())
    found = {}
    for w in vocabulary:
        a = prior * (first[w] + second[w]) / (n1 + n2)
        odds1 = (first[w] + a) / (n1 + prior - first[w] - a)
        odds2 = (second[w] + a) / (n2 + prior - second[w] - a)
        error = math.sqrt(1 / (first[w] + a) + 1 / (second[w] + a))
        found[w] = (math.log(odds1 / odds2), math.log(odds1 / odds2) / error)
    return found


def test_z_equals_an_independent_implementation() -> None:
    rows = world()
    _, counts, compared = compare(rows)
    expected = naive(rows, "F", counts.words)
    found = find(compared, gender="F")
    assert {word.word for word in found.words} == set(counts.words)
    for word in found.words:
        assert (word.log_odds, word.z) == pytest.approx(expected[word.word])


def test_planted_words_are_found_where_they_were_planted() -> None:
    *_, compared = compare(world())
    assert find(compared, gender="F").words[0].word == "gentle"
    assert find(compared, gender="F", race="B").words[0].word == "drum"
    top = find(compared, gender="F", race="B").words[0]
    assert top.q < 0.001
    assert top.p_shuffled == pytest.approx(1 / 61)
    assert top.low > 0
    last = find(compared, gender="M").words[-1]
    assert last.word == "gentle"
    assert last.z < -3


def test_without_a_difference_nothing_is_found() -> None:
    *_, compared = compare(world(planted=False))
    words = [word for c in compared for word in c.words]
    assert min(word.q for word in words) > 0.05
    assert np.mean([word.p_shuffled < 0.05 for word in words]) < 0.05


def test_the_unmarked_group_is_compared_with_the_rest() -> None:
    *_, compared = compare(world(), unmarked={"race": "W", "gender": "M"})
    assert {c.title: c.against for c in compared} == {
        "F": "M",
        "M": "the rest",
        "B": "W",
        "W": "the rest",
        "F B": "M W",
        "F W": "M W",
        "M B": "M W",
        "M W": "the rest",
    }
    assert find(compared, gender="F", race="B").n_others == 30


def test_roles_are_compared_each_on_its_own() -> None:
    documents, _, compared = compare(world(), groups=("gender",), role="role")
    assert [c.role for c in compared] == ["all", "all", "down", "down", "up", "up"]
    assert find(compared, "up", gender="F").n_texts == 30
    assert len(documents.texts) == 120


def test_groups_that_the_prompts_decide_are_no_finding_within_prompts() -> None:
    rows = world(planted=False)
    for i, row in enumerate(rows):
        row["prompt"] = f"p{i % 4}"
        row["text"] += " kitchen kitchen" if i % 4 == 0 else ""
        row["gender"] = "F" if (i % 4 == 0) != (i % 10 == 0) else "M"
    *_, compared = compare(rows, groups=("gender",))
    kitchen = next(w for w in find(compared, gender="F").words if w.word == "kitchen")
    assert kitchen.z > 4
    assert kitchen.p_shuffled > 0.2


def test_a_word_of_one_cluster_has_no_clustered_error() -> None:
    rows = world()
    for row in rows[:4]:
        row["text"] += " zither zither"
        row["prompt"] = "p0"
    *_, compared = compare(rows)
    zither = next(w for w in find(compared, gender="F").words if w.word == "zither")
    assert zither.clusters == 1
    assert math.isnan(zither.z_clustered)
    assert math.isnan(zither.q)


def test_a_group_without_others_says_why() -> None:
    rows = [row for row in world() if row["gender"] == "F"]
    *_, compared = compare(rows, groups=("gender",))
    assert compared[0].words == ()
    assert "no text of the rest" in str(compared[0].undefined)


def test_the_seed_decides_the_shuffles() -> None:
    first, second = (compare(world())[2] for _ in range(2))
    assert [c.words for c in first] == [c.words for c in second]


def test_options_that_cannot_be_are_refused() -> None:
    with pytest.raises(OptionError, match="race=X"):
        compare(world(), unmarked={"race": "X"})
    with pytest.raises(OptionError, match="not a group"):
        compare(world(), unmarked={"age": "X"})
