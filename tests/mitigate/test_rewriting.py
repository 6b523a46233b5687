"""Rounds of rewriting: what is asked, applied, counted, and when it stops."""

from collections import Counter

import pytest

from mitigate.conftest import LEADS, WARM, Model, crowd, passage, read
from portrayal.collect.ask.replies import Reply
from portrayal.mitigate import rewrite
from portrayal.mitigate.mitigation import (
    ALL_REFUSED,
    DONE,
    EDITED,
    STALLED,
)


def test_all_communal_sentences_are_rewritten(bold: Model) -> None:
    passages = crowd()
    (done,), stopped = rewrite(passages, read, bold, rounds=2)
    assert not any("warm" in each.text for each in passages)
    assert stopped == DONE
    assert done.chosen == done.edits["applied"] == 80


def test_texts_without_a_communal_sentence_are_not_asked_about(bold: Model) -> None:
    passages = crowd(warm=(0, 2))
    rewrite(passages, read, bold)
    assert len(bold.asked) == 20
    assert [i for i, each in enumerate(passages) if each.outcome] == list(range(1, 40, 2))


BAD = {
    "malformed": "Certainly! Here are the edits.",
    "refused": Reply("", "refused"),
    "empty": Reply("", "empty"),
    "failed": Reply("", "failed", "500"),
    "not asked": None,
    ALL_REFUSED: '{"original": "nobody said so", "edited": "x"}',
}


@pytest.mark.parametrize("why", BAD)
def test_a_bad_answer_loses_no_text(why: str) -> None:
    passages = crowd(10)
    rounds, stopped = rewrite(passages, read, Model(lambda _: BAD[why]), rounds=2)
    assert [each.text for each in passages] == [each.text for each in crowd(10)]
    assert stopped == STALLED
    assert [each.texts for each in rounds] == [{why: 10}]
    assert Counter(each.disposition for each in passages) == {f"unchanged: {why}": 10}


def test_a_text_that_failed_is_asked_again_under_a_prompt_id_of_its_own() -> None:
    edit = '{"original": "is warm to all", "edited": "directs everyone"}'
    model = Model(lambda text: "no" if "Text: She" in text else f"[{edit}]")
    rewrite([passage(f"She {WARM}", "a"), passage(f"He {WARM}", "b")], read, model, rounds=3)
    assert len({each.text for each in model.asked}) == 2
    assert len({each.prompt_id for each in model.asked}) == len(model.asked) == 3


def test_texts_that_are_not_read_are_left_alone(bold: Model) -> None:
    passages = crowd()
    refused = passage(f"He {WARM} He {LEADS}", "p99")
    refused.unread = "refused"
    (done,), _ = rewrite([*passages, refused], read, bold)
    assert refused.text == f"He {WARM} He {LEADS}"
    assert not refused.spans
    assert done.texts == {EDITED: 40}


def test_the_sentences_to_rewrite_are_marked_in_the_list(bold: Model) -> None:
    rewrite(crowd(2, warm=(0, 1)), read, bold)
    (prompt,) = bold.asked
    assert f"Text: She {WARM} She {LEADS}" in prompt.text
    assert prompt.text.endswith(
        "Agency List: ['communal', 'agentic', 'agentic', 'agentic']. List of edits (json format):"
    )
