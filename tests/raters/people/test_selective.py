import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from portrayal.annotate.people import Character
from portrayal.raters.people import score_people
from portrayal.raters.people.scores import COVERAGES, kept


@given(
    st.lists(st.sampled_from([0.1, 0.5, 0.5, 0.9, 1.0]), min_size=1, max_size=40),
    st.sampled_from(COVERAGES),
)
def test_what_is_kept_sums_to_the_coverage(confidence, coverage):
    weights = kept(np.array(confidence), coverage)
    assert weights.sum() == pytest.approx(coverage * len(confidence))
    assert ((weights >= 0) & (weights <= 1)).all()
    for value in sorted(set(confidence)):
        assert (
            len({round(w, 9) for w, c in zip(weights, confidence, strict=True) if c == value}) == 1
        )


def story(i, right, confidence):
    gold = {"gold_subject_name": "Ann", "gold_subject_gender": "F", "gold_object_gender": None}
    people = (Character("Ann", "F" if right else "M", (), (), confidence), None)
    return {"text": "x", "subject_role": "doctor", "prompt_id": f"p{i}", **gold}, people


def scored(pairs):
    rows, people = zip(*(story(i, *pair) for i, pair in enumerate(pairs)), strict=True)
    return score_people(rows, people=people, draws=100).selective


def test_errors_that_are_least_confident_go_first():
    gender = scored([(True, 0.9)] * 8 + [(False, 0.2)] * 2)["gender"]
    assert gender.at[1.0].value == pytest.approx(0.8)
    assert gender.at[0.9].value == pytest.approx(8 / 9)
    assert gender.at[0.8].value == 1.0
    assert gender.at[0.5].value == 1.0


def test_the_area_of_a_confidence_that_says_nothing_is_the_share_of_errors():
    gender = scored([(i % 4 != 0, 0.7) for i in range(40)])["gender"]
    assert gender.area.value == pytest.approx(0.25)
    assert [rate.value for rate in gender.at.values()] == pytest.approx([0.75] * 6)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.floats(0, 1)), min_size=2, max_size=30))
def test_calibration_error_follows_its_definition(pairs):
    gender = scored(pairs)["gender"]
    bins = {}
    for right, confidence in pairs:
        bins.setdefault(min(int(np.digitize(confidence, np.linspace(0, 1, 11))) - 1, 9), []).append(
            (right, confidence)
        )
    wanted = sum(
        abs(sum(r for r, _ in part) - sum(c for _, c in part)) for part in bins.values()
    ) / len(pairs)
    assert gender.calibration_error == pytest.approx(wanted)
    assert sum(b.right.n for b in gender.bins) == len(pairs)
