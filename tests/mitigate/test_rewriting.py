"""Rounds of rewriting: what is asked, applied, counted, and when it stops."""

import json
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
    NOISE,
    STALLED,
    USED,
)
from portrayal.mitigate.targets import Levels
from portrayal.studies.agency import prompts


def _rewrite(passages, model, **how):  # type: ignore[no-untyped-def]
    return rewrite(passages, ("gender",), read, model, permutations=199, **how)


def test_always_up_rewrites_all_communal_sentences_and_stops_inside_noise(bold: Model) -> None:
    done = _rewrite(crowd(), bold)
    assert not any("warm" in text for text in done.texts)
    assert done.stopped == NOISE
    assert len(done.rounds) == 1
    assert done.rounds[0].chosen == done.rounds[0].edits["applied"] == 80
    assert done.rounds[0].noise_p["gender"] < 0.05 < done.noise_p["gender"]


def test_nothing_is_asked_where_groups_do_not_differ(bold: Model) -> None:
    done = _rewrite(crowd(warm=(2, 2)), bold)
    assert (done.stopped, done.rounds, bold.asked) == (NOISE, [], [])
    done = _rewrite(crowd(warm=(2, 2)), bold, until_noise=False)
    assert done.stopped == DONE
    assert len(bold.asked) == 40


def test_toward_the_reference_raises_the_others_to_its_level_and_leaves_it_alone(
    bold: Model,
) -> None:
    passages = crowd()
    done = _rewrite(passages, bold, target="reference")
    assert (done.reference, done.levels) == (("male",), Levels(0.75))
    shares = {"male": [], "female": []}
    for each, reading in zip(passages, done.readings, strict=True):
        assert reading is not None
        shares[each.group[0]].append(reading.share)
    assert sum(shares["female"]) / 20 == pytest.approx(0.75)
    assert [done.texts[i] for i in range(0, 40, 2)] == [p.text for p in passages[::2]]


def test_toward_a_less_agentic_reference_asks_with_the_mirrored_prompt() -> None:
    edit = '{"original": "leads the work", "edited": "is warm to those at work"}'
    model = Model(lambda _: f"[{', '.join([edit] * 4)}]")
    done = _rewrite(crowd(), model, target="reference", reference={"gender": "female"})
    assert set(done.direction.values()) == {"down"}
    assert all("make each of them more communal" in each.text for each in model.asked)
    assert done.stopped == NOISE
    assert (done.reference, done.levels) == (("female",), Levels(0.25))


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
    done = _rewrite(passages, Model(lambda _: BAD[why]), rounds=2)
    assert done.texts == [each.text for each in passages]
    assert done.stopped == STALLED
    assert [each.texts for each in done.rounds] == [{why: 10}]
    done = _rewrite(passages, Model(lambda _: BAD[why]), rounds=2, until_noise=False)
    assert done.stopped == USED
    assert [each.texts for each in done.rounds] == [{why: 10}] * 2
    assert Counter(done.last.values()) == {why: 10}


def test_a_text_that_failed_is_asked_again_under_a_prompt_id_of_its_own() -> None:
    model = Model(lambda _: "no")
    alone = [passage(f"She {WARM}", ("female",), "a"), passage(f"He {LEADS}", ("male",), "b")]
    _rewrite(alone, model, rounds=3, until_noise=False)
    assert len({each.text for each in model.asked}) == 1
    assert len({each.prompt_id for each in model.asked}) == 3


def test_texts_that_are_not_read_are_left_alone(bold: Model) -> None:
    passages = crowd()
    refused = passage("I cannot.", ("male",), "p99")
    refused = type(refused)(
        refused.row, "text", f"He {WARM} He {LEADS}", "p99", ("male",), "", (), "refused"
    )
    done = _rewrite([*passages, refused], bold)
    assert done.texts[-1] == refused.text
    assert done.readings[-1] is None
    assert done.rounds[0].texts == {EDITED: 40}


def test_the_sentences_to_rewrite_are_marked_in_the_list(bold: Model) -> None:
    _rewrite(crowd(2, warm=(0, 1)), bold, until_noise=False, rounds=1)
    (prompt,) = bold.asked
    assert f"Text: She {WARM} She {LEADS}" in prompt.text
    assert prompt.text.endswith(
        "Agency List: ['communal', 'agentic', 'agentic', 'agentic']. List of edits (json format):"
    )


def test_opposite_differences_in_two_strata_are_no_noise_within_them() -> None:
    first = [replace(each, block="nurse") for each in crowd()]
    other = [
        replace(each, block="judge", cluster=f"o{i}") for i, each in enumerate(crowd(warm=(3, 1)))
    ]
    whole = [*first, *other]
    edits = [
        {"original": "is warm to all", "edited": "directs everyone"},
        {"original": "leads the work", "edited": "is warm to those at work"},
    ]
    model = Model(lambda _: json.dumps(edits * 4))
    how = {"target": "reference", "reference": {"gender": "male"}}
    assert _rewrite(whole, model, **how).stopped == NOISE
    assert model.asked == []
    done = _rewrite(whole, model, per_stratum=True, **how)
    assert done.levels == Levels(0.5, {"judge": 0.25, "nurse": 0.75})
    assert done.rounds[0].noise_p["gender"] < 0.05 < done.noise_p["gender"]
    assert [done.texts[i] for i, each in enumerate(whole) if each.group == ("male",)] == [
        each.text for each in whole if each.group == ("male",)
    ]
    shares: dict[tuple[str, str], list[float]] = {}
    for each, reading in zip(whole, done.readings, strict=True):
        assert reading is not None
        shares.setdefault((each.block, each.group[0]), []).append(reading.share)
    means = {key: sum(each) / len(each) for key, each in shares.items()}
    assert means["nurse", "female"] == pytest.approx(0.75)
    assert means["judge", "female"] == pytest.approx(0.25)


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
