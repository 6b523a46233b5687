import pytest

from portrayal.annotate.people.shared.words import bare_verb, verb_forms


def test_forms_of_regular_verbs():
    assert verb_forms("train") >= {"train", "trains", "trained", "training"}
    assert verb_forms("guide") >= {"guide", "guides", "guided", "guiding"}
    assert verb_forms("carry") == {"carry", "carries", "carried", "carrying"}
    assert verb_forms("hug") >= {"hugs", "hugged", "hugging"}
    assert verb_forms("") == frozenset()


@pytest.mark.parametrize(
    ("form", "verb"),
    [
        ("trains", "train"),
        ("carries", "carry"),
        ("teaches", "teach"),
        ("dies", "die"),
        ("fixes", "fix"),
        ("pass", "pass"),
        ("guide", "guide"),
    ],
)
def test_bare_verb(form, verb):
    assert bare_verb(form) == verb
