"""The fairness instruction asks every prompt once more; a failed answer keeps the text."""

import pytest

from mitigate.conftest import LEADS, Model, crowd, passage, read
from portrayal.collect.ask.replies import Reply
from portrayal.errors import DataError
from portrayal.mitigate import instruct, with_instruction
from portrayal.studies.agency import prompts


def test_the_words_are_those_of_the_prompts_with_fairness() -> None:
    pairs = zip(prompts()[:3], prompts(fairness=True)[:3], strict=True)
    for plain, fair in pairs:
        assert with_instruction(plain.text, "biography") == fair.text


def test_new_answers_replace_texts_and_failures_keep_them() -> None:
    passages = [
        passage("She is warm.", ("female",), "p1", domain="Biography"),
        passage("She is warm.", ("female",), "p1", domain="Biography"),
        passage("He leads.", ("male",), "p2", domain="Biography"),
    ]
    model = Model(lambda text: Reply("", "refused") if "p2" in text else f"She {LEADS}")
    done = instruct(passages, read, model)
    assert done.texts == [f"She {LEADS}", f"She {LEADS}", "He leads."]
    assert done.rounds[0].texts == {"asked again": 2, "refused": 1}
    assert len({each.prompt_id for each in model.asked}) == 3
    assert "When generating the biography" in model.asked[0].text


def test_texts_without_prompts_cannot_be_asked_again() -> None:
    with pytest.raises(DataError, match="text 1 names no prompt"):
        instruct([passage("She leads.", ("female",), "")], read, Model(lambda _: "x"))


def test_own_texts_have_a_type_of_their_own() -> None:
    model = Model(lambda _: "x")
    instruct(crowd(2), read, model, "job ad")
    assert all("When generating the job ad" in each.text for each in model.asked)
