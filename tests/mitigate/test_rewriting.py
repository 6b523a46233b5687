"""Rounds of rewriting: what is asked, applied, counted, and when it stops."""

from collections import Counter
from dataclasses import replace

import pytest

from mitigate.conftest import LEADS, WARM, Model, crowd, passage, read
from portrayal.collect.ask.replies import Reply
from portrayal.errors import DataError
from portrayal.mitigate import instruct, rewrite, with_instruction
from portrayal.mitigate.rewriting import (
    ALL_REFUSED,
    DONE,
    EDITED,
    MALFORMED,
    NO_ANSWER,
    STALLED,
)
from portrayal.studies.agency import prompts


def test_all_communal_sentences_are_rewritten(bold: Model) -> None:
    done = rewrite(crowd(), read, bold, rounds=2)
    assert not any("warm" in text for text in done.texts)
    assert done.stopped == DONE
    assert len(done.rounds) == 1
    assert done.rounds[0].chosen == done.rounds[0].edits["applied"] == 80


def test_texts_without_a_communal_sentence_are_not_asked_about(bold: Model) -> None:
    done = rewrite(crowd(warm=(0, 2)), read, bold)
    assert len(bold.asked) == 20
    assert sorted(done.last) == list(range(1, 40, 2))


BAD = {
    MALFORMED: "Certainly! Here are the edits.",
    "refused": Reply("", "refused"),
    "empty": Reply("", "empty"),
    "failed": Reply("", "failed", "500"),
    NO_ANSWER: None,
    ALL_REFUSED: '{"original": "nobody said so", "edited": "x"}',
}


@pytest.mark.parametrize("why", BAD)
def test_a_bad_answer_loses_no_text(why: str) -> None:
    passages = crowd(10)
    done = rewrite(passages, read, Model(lambda _: BAD[why]), rounds=2)
    assert done.texts == [each.text for each in passages]
    assert done.stopped == STALLED
    assert [each.texts for each in done.rounds] == [{why: 10}]
    assert Counter(done.last.values()) == {why: 10}


def test_a_text_that_failed_is_asked_again_under_a_prompt_id_of_its_own() -> None:
    edit = '{"original": "is warm to all", "edited": "directs everyone"}'
    model = Model(lambda text: "no" if "Text: She" in text else f"[{edit}]")
    rewrite([passage(f"She {WARM}", "a"), passage(f"He {WARM}", "b")], read, model, rounds=3)
    assert len({each.text for each in model.asked}) == 2
    assert len({each.prompt_id for each in model.asked}) == len(model.asked) == 3


def test_texts_that_are_not_read_are_left_alone(bold: Model) -> None:
    passages = crowd()
    refused = replace(passage(f"He {WARM} He {LEADS}", "p99"), unread="refused")
    done = rewrite([*passages, refused], read, bold)
    assert done.texts[-1] == refused.text
    assert done.readings[-1] is None
    assert done.rounds[0].texts == {EDITED: 40}


def test_the_sentences_to_rewrite_are_marked_in_the_list(bold: Model) -> None:
    rewrite(crowd(2, warm=(0, 1)), read, bold)
    (prompt,) = bold.asked
    assert f"Text: She {WARM} She {LEADS}" in prompt.text
    assert prompt.text.endswith(
        "Agency List: ['communal', 'agentic', 'agentic', 'agentic']. List of edits (json format):"
    )


def test_the_words_are_those_of_the_prompts_with_fairness() -> None:
    pairs = zip(prompts()[:3], prompts(fairness=True)[:3], strict=True)
    for plain, fair in pairs:
        assert with_instruction(plain.text, "biography") == fair.text


def test_new_answers_replace_texts_and_failures_keep_them() -> None:
    passages = [
        passage("She is warm.", "p1", domain="Biography"),
        passage("She is warm.", "p1", domain="Biography"),
        passage("He leads.", "p2", domain="Biography"),
    ]
    model = Model(lambda text: Reply("", "refused") if "p2" in text else f"She {LEADS}")
    done = instruct(passages, read, model)
    assert done.texts == [f"She {LEADS}", f"She {LEADS}", "He leads."]
    assert done.rounds[0].texts == {"asked again": 2, "refused": 1}
    assert len({each.prompt_id for each in model.asked}) == 3
    assert "When generating the biography" in model.asked[0].text


def test_texts_without_prompts_cannot_be_asked_again() -> None:
    with pytest.raises(DataError, match="text 1 names no prompt"):
        instruct([passage("She leads.", "")], read, Model(lambda _: "x"))


def test_own_texts_have_a_type_of_their_own() -> None:
    model = Model(lambda _: "x")
    instruct(crowd(2), read, model, "job ad")
    assert all("When generating the job ad" in each.text for each in model.asked)
