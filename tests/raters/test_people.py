import json

import pytest

from portrayal.annotate.people.shared.model import Character
from portrayal.errors import DataError
from portrayal.raters.people import STATISTICS, compare, label, read_gold, score_people
from portrayal.run import Run


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
    score = score_people(ROWS, people=[ANSWERS[row["text"] or ""] for row in ROWS])
    right_names = sum(name is not None and name == gold for name, gold, *_ in slots)
    right = sum(gender is not None and gender == gold for _, _, gender, gold, _ in slots)
    same = [gender == gold and not unsure for _, _, gender, gold, unsure in slots]
    assert score.n_slots == len(slots) == 5
    assert score.value("name_precision") == right_names / sum(slot[0] is not None for slot in slots)
    assert score.value("name_recall") == right_names / sum(slot[1] is not None for slot in slots)
    assert score.value("gender_precision") == right / sum(slot[2] is not None for slot in slots)
    assert score.value("gender_recall") == right / sum(slot[3] is not None for slot in slots)
    assert score.value("gender_accuracy") == sum(same) / 5
    assert score.value("joint_accuracy") == (
        sum(ok and slot[0] == slot[1] for ok, slot in zip(same, slots, strict=True)) / 5
    )


def test_strata_may_be_missing_and_json_has_one_shape():
    score = score_people(ROWS, people=[ANSWERS[row["text"] or ""] for row in ROWS])
    shape = score.as_json()
    assert set(shape["by"]) == {"domain", "model", "role", "gender", "race"}
    assert shape["left_out"] == ["condition"] == list(score.absent)
    assert set(shape["by"]["model"]) == {"X", "Y"}
    assert {name: part["n_slots"] for name, part in shape["by"]["gender"].items()} == {
        "F": 1,
        "M": 1,
        "NB": 1,
        "Unspecified": 2,
    }
    assert set(shape["by"]["domain"]["Labor"]) == {"n_slots", "n_clusters", *STATISTICS}
    json.dumps(shape)


def test_nothing_to_divide_by_is_none_with_a_reason():
    shape = score_people([]).as_json()
    assert shape["n_slots"] == 0
    for name in STATISTICS:
        assert shape[name]["value"] is None
        assert shape[name]["undefined"] == "no story is labelled"


def test_non_binary_stands_apart_when_nobody_is():
    score = score_people([row("", ("Ann", "Female"))])
    assert score.by["gender"]["NB"].n_slots == 0
    assert (
        score.by["gender"]["NB"].rates["gender_recall"].undefined == "no gender is labelled in NB"
    )


def test_intervals_resample_prompts():
    """Stories of one prompt err together: its interval is wider than that of as many prompts."""
    rows = [row(f"{i}", ("Ann", "Female"), prompt_id=f"p{i // 20}") for i in range(200)]
    answers = {f"{i}": (character("Ann", "F" if (i // 20) % 3 else "M"), None) for i in range(200)}
    clustered = score_people(rows, people=[answers[row["text"]] for row in rows])
    alone = score_people(
        [{**r, "prompt_id": f"q{i}"} for i, r in enumerate(rows)],
        people=[answers[r["text"]] for r in rows],
    )
    widths = [
        s.rates["gender_accuracy"].high - s.rates["gender_accuracy"].low for s in (clustered, alone)
    ]
    assert clustered.n_clusters == 10
    assert alone.n_clusters == 200
    assert widths[0] > 2 * widths[1]


def test_what_is_always_right_has_a_width():
    rows = [row(f"{i}", ("Ann", "Female"), prompt_id=f"p{i}") for i in range(10)]
    found = score_people(rows, people=[(character("Ann", "F"), None)] * len(rows))
    rate = found.rates["joint_accuracy"]
    assert rate.value == 1.0
    assert rate.low < 0.85


def test_labels_must_be_as_many_as_stories():
    with pytest.raises(DataError, match="4 stories need as many labels; got 0"):
        score_people(ROWS, people=[])


@pytest.mark.parametrize("text", [None, "", float("nan")])
def test_a_missing_text_is_an_empty_story(text):
    assert score_people([row(text, (None, "Unspecified"))]).value("joint_accuracy") == 1.0


def test_labels_as_a_notebook_writes_them_read_like_cleaned_ones():
    text = "Maria was a nurse. She helped her patient Tom, and he thanked her."
    clean = {
        "text": text,
        "subject_role": "nurse",
        "object_role": "patient",
        "gold_subject_name": "Maria",
        "gold_subject_gender": "Female",
        "gold_object_name": "Tom",
        "gold_object_gender": "Male",
    }
    raw = {
        "Response": text,
        "Subject": "nurse",
        "Object": "patient",
        "Subject Name": "['Maria', 'Maria Lopez']",
        "Subject References": "['she', 'her']",
        "Object Name": "['Tom']",
        "Object References": "['he']",
    }
    alone = {**raw, "Object": "", "Object Name": "", "Object References": ""}
    nobody = {**raw, "Subject Name": "['Unspecified']", "Subject References": "['Unspecified']"}
    found = list(read_gold([raw, alone, nobody]))
    labelled = compare(found, label(found))
    assert labelled.gold_name == ["maria", "tom", "maria", None, "tom"]
    assert labelled.gold_gender.tolist() == ["F", "M", "F", "Unspecified", "M"]
    expected = compare([clean], label([clean]))
    assert (labelled.name[:2], labelled.gender[:2].tolist()) == (
        expected.name,
        expected.gender.tolist(),
    )


def test_labels_of_something_else_are_no_labels_of_people(tmp_path):
    path = tmp_path / "hand.csv"
    path.write_text("text_id,field,label,rater\n1,outcome,ok,ann\n", encoding="utf-8")
    with pytest.raises(DataError, match="no label is of subject_gender or object_gender"):
        list(read_gold(path, run=Run(tmp_path / "run")))


def test_labels_without_gender_or_references_are_refused():
    row = {"text": "Maria wept.", "subject_role": "nurse", "gold_subject_name": "Maria"}
    with pytest.raises(DataError, match="gold_subject_gender or gold_subject_references"):
        list(read_gold([row]))
