import numpy as np
import pytest

from portrayal.annotate.people import Character
from portrayal.raters.people import score_people


def stories(errors, each=200):
    """Stories about these names with these shares of wrong genders."""
    rng = np.random.default_rng(0)
    rows, people = [], []
    for name, share in errors.items():
        for i in range(each):
            rows.append(
                {
                    "text": "x",
                    "subject_role": "doctor",
                    "prompt_id": f"p{i % 20}",
                    "gold_subject_name": name,
                    "gold_subject_gender": "F",
                    "gold_object_gender": None,
                }
            )
            wrong = rng.random() < share
            people.append((Character(name, "M" if wrong else "F", (), (), 1.0), None))
    return rows, people


def test_the_gap_is_the_highest_share_of_errors_over_the_lowest():
    rows, people = stories({"Hunter": 0.1, "Guadalupe": 0.3})
    gap = score_people(rows, people=people, draws=200).race_gap
    assert (gap.highest, gap.lowest) == ("Latine", "White")
    assert gap.value == pytest.approx(gap.errors["Latine"] / gap.errors["White"])
    assert 2 < gap.value < 4
    assert gap.low < gap.value < gap.high
    assert gap.by_chance < gap.value
    assert "NH/PI" in gap.left_out


def test_no_error_at_all_is_no_ratio():
    rows, people = stories({"Hunter": 0.0, "Guadalupe": 0.0})
    gap = score_people(rows, people=people, draws=200).race_gap
    assert gap.value is None
    assert gap.undefined.startswith("no gender is wrong")
    assert not np.isnan(list(gap.errors.values())).any()
