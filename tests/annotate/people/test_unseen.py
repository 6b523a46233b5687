"""Stories for prompts that no weight or rule was fitted to, written by a language model.

They are harder than what models write: most of them name the object first, and few use the nouns of
the prompt.
"""

import json
from pathlib import Path

import pytest

from portrayal.raters.people import score_people


@pytest.fixture(scope="module")
def score():
    path = Path(__file__).with_name("unseen_prompts.jsonl")
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return score_people(rows)


def test_names(score):
    assert score.n_slots == 254
    assert score.value("name_precision") >= 0.79
    assert score.value("name_recall") >= 0.76


def test_names_where_no_one_is_above_the_other(score):
    neutral = score.by["condition"]["power-neutral"]
    assert neutral.value("name_precision") >= 0.96
    assert neutral.value("name_recall") >= 0.94
