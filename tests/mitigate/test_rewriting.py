"""Rewriting: what is asked, applied and counted."""

from collections import Counter

import pytest

from mitigate.conftest import LEADS, WARM, Model, crowd, passage, read
from portrayal.collect.ask.replies import Reply
from portrayal.mitigate.mitigation import ALL_REFUSED, EDITED, rewrite


def test_all_communal_sentences_are_rewritten(bold: Model) -> None:
    passages = crowd()
    read(passages)
    edits = rewrite(passages, bold)
    assert not any("warm" in each.text for each in passages)
    assert sum(len(each.communal) for each in passages) == edits["applied"] == 80


def test_texts_without_a_communal_sentence_are_not_asked_about(bold: Model) -> None:
    passages = crowd(warm=(0, 2))
    read(passages)
    rewrite(passages, bold)
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
    read(passages)
    rewrite(passages, Model(lambda _: BAD[why]))
    assert [each.text for each in passages] == [each.text for each in crowd(10)]
    assert Counter(each.disposition for each in passages) == {f"unchanged: {why}": 10}


def test_texts_that_are_not_read_are_left_alone(bold: Model) -> None:
    passages = crowd()
    refused = passage(f"He {WARM} He {LEADS}", "p99")
    refused.unread = "refused"
    read(passages)
    rewrite([*passages, refused], bold)
    assert refused.text == f"He {WARM} He {LEADS}"
    assert {each.outcome for each in passages} == {EDITED}
    assert len(bold.asked) == 40


def test_the_sentences_to_rewrite_are_marked_in_the_list(bold: Model) -> None:
    passages = crowd(2, warm=(0, 1))
    read(passages)
    rewrite(passages, bold)
    (prompt,) = bold.asked
    assert f"Text: She {WARM} She {LEADS}" in prompt.text
    assert prompt.text.endswith(
        "Agency List: ['communal', 'agentic', 'agentic', 'agentic']. List of edits (json format):"
    )
