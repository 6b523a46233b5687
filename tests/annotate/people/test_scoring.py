import json

import pytest

from portrayal.annotate.people import Character, score_people


def character(name, gender):
    return Character(name, gender, (), (), 1.0)


def row(text, subject, other=(None, None), **strata):
    return {
        "text": text,
        "subject_role": "doctor",
        "object_role": None if other[1] is None else "patient",
        "gold_subject_name": subject[0],
        "gold_subject_gender": subject[1],
        "gold_object_name": other[0],
        "gold_object_gender": other[1],
        **strata,
    }


ROWS = [
    row("a", ("Dr. Ada Byron", "Female"), ("Bo", "Unspecified"), domain="Labor", model="X"),
    row("b", ("Dr. Cole", "Male"), domain="Labor", model="Y"),
    row("c", (None, "Unspecified"), domain="Love"),
    row(None, ("Dee", "Non-binary"), domain="Love", model=float("nan")),
]
ANSWERS = {
    "a": (character("ADA", "F"), character("Bob", "M")),
    "b": (character(None, "Unsure"), None),
    "c": (character("Eve", "Unspecified"), None),
    "": (character(None, "Unspecified"), None),
}


def by_definition(rows):
    """Precision and recall as loops over slots, written without the package."""
    slots = []
    for one in rows:
        subject, other = ANSWERS[one["text"] or ""]
        names = {"Dr. Ada Byron": "ada", "Bo": "bo", "Dee": "dee"}
        genders = {"Female": "F", "Male": "M", "Non-binary": "NB"}
        for who in ("subject", "object"):
            if who == "object" and one["gold_object_gender"] is None:
                continue
            got = subject if who == "subject" else other
            slots.append(
                (
                    got.name.lower() if got.name else None,
                    names.get(one[f"gold_{who}_name"]),
                    got.gender if got.gender in ("F", "M", "NB") else None,
                    genders.get(one[f"gold_{who}_gender"]),
                    got.gender == "Unsure",
                )
            )
    return slots


def test_scores_follow_their_definition():
    slots = by_definition(ROWS)
    score = score_people(ROWS, lambda text, roles: ANSWERS[text])
    right_names = sum(name is not None and name == gold for name, gold, *_ in slots)
    right = sum(gender is not None and gender == gold for _, _, gender, gold, _ in slots)
    same = [gender == gold and not unsure for _, _, gender, gold, unsure in slots]
    assert score.n_slots == len(slots) == 5
    assert score.name_precision == right_names / sum(slot[0] is not None for slot in slots)
    assert score.name_recall == right_names / sum(slot[1] is not None for slot in slots)
    assert score.gender_precision == right / sum(slot[2] is not None for slot in slots)
    assert score.gender_recall == right / sum(slot[3] is not None for slot in slots)
    assert score.gender_accuracy == sum(same) / 5
    assert score.joint_accuracy == (
        sum(ok and slot[0] == slot[1] for ok, slot in zip(same, slots, strict=True)) / 5
    )


def test_strata_may_be_missing_and_json_has_one_shape():
    shape = score_people(ROWS, lambda text, roles: ANSWERS[text]).as_json()
    assert set(shape["by"]) == {"domain", "model", "gender", "condition"}
    assert set(shape["by"]["model"]) == {"X", "Y"}
    assert shape["by"]["condition"] == {}
    assert {name: part["n_slots"] for name, part in shape["by"]["gender"].items()} == {
        "F": 1,
        "M": 1,
        "NB": 1,
        "Unspecified": 2,
    }
    inner = shape["by"]["domain"]["Labor"]
    assert set(inner) == {"n_slots", "name", "gender", "joint_accuracy"}
    json.dumps(shape)


def test_nothing_to_divide_by_is_none():
    shape = score_people([]).as_json()
    assert shape["n_slots"] == 0
    assert shape["name"] == {"precision": None, "recall": None}
    assert shape["gender"] == {"precision": None, "recall": None, "accuracy": None}
    assert shape["joint_accuracy"] is None


@pytest.mark.parametrize("text", [None, "", float("nan")])
def test_a_missing_text_is_an_empty_story(text):
    assert score_people([row(text, (None, "Unspecified"))]).joint_accuracy == 1.0
