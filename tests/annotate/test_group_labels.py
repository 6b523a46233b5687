"""Labels by a model: what it is shown, and that only these labels count."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portrayal.annotate.group_labels import (
    Answers,
    GroupResponse,
    group_prompt,
    labels_of,
    read_label,
    said_of,
)
from portrayal.collect.ask.replies import Reply
from portrayal.reference.factors import ModelSource, factors, load_factor

ONE = ModelSource(kind="model", name="model", question="Which religion has {text}?")
SEVERAL = ModelSource(kind="model", name="model", question="Which?", answer="several")
RELIGION = load_factor("religion")
LABELS = [group.label for group in RELIGION.groups]


@pytest.mark.parametrize("name", factors())
def test_every_label_that_is_shown_is_read_as_its_group(name: str) -> None:
    factor = load_factor(name)
    shown = labels_of(factor)
    assert len(shown) == len(factor.groups) + 2
    assert labels_of(factor) is shown
    for label, group in shown.items():
        said = read_label(factor, ONE, [Reply(f' "{label.upper()}". ', "ok")])
        status = {"": "none", None: "unknown"}.get(group, "group")
        assert (said.status, [factor.keys[i] for i in said.places]) == (
            status,
            [group] if group else [],
        )
        assert not said.reason


ANSWERS = {
    "Hindu": ("group", ["hindu"], ""),
    "**Hindu**": ("group", ["hindu"], ""),
    "- No religion": ("group", ["none"], ""),
    "none": ("unknown", [], "malformed"),  # shown is "none of these", as a group is called so
    "hinduism": ("unknown", [], "malformed"),
    "Hindu, I think": ("unknown", [], "malformed"),
    "not Hindu": ("unknown", [], "malformed"),
    "Hindu; Muslim": ("unknown", [], "malformed"),
    "Hindu\nMuslim": ("unknown", [], "malformed"),
    "unknown": ("unknown", [], ""),
    "...": ("unknown", [], "malformed"),
}


@pytest.mark.parametrize("text", ANSWERS)
def test_an_answer_counts_only_where_it_is_one_label(text: str) -> None:
    said = read_label(RELIGION, ONE, [Reply(text, "ok")])
    groups = [RELIGION.keys[place] for place in said.places]
    assert (said.status, groups, said.reason) == ANSWERS[text]


@given(st.lists(st.sampled_from([*LABELS, "none of these", "unknown", "?"]), min_size=1))
def test_several_labels_count_where_all_are_groups(listed: Sequence[str]) -> None:
    said = read_label(RELIGION, SEVERAL, [Reply("; ".join(listed), "ok")])
    different = set(listed)
    if different <= set(LABELS):
        assert [LABELS[place] for place in said.places] == [x for x in LABELS if x in different]
        assert said.status == ("group" if len(different) == 1 else "several")
    elif len(different) > 1 or "?" in different:
        assert said == GroupResponse("unknown", (), "malformed")
    else:
        assert said.status == ("none" if "none of these" in different else "unknown")


@pytest.mark.parametrize("outcome", ["refused", "empty", "failed"])
def test_what_is_no_answer_is_unknown_with_its_reason(outcome: str) -> None:
    assert read_label(RELIGION, ONE, [Reply("Hindu", outcome)]) == GroupResponse(
        "unknown", (), outcome
    )
    assert read_label(RELIGION, ONE, []).reason == "not asked"


def test_people_without_name_or_role_are_counted_and_not_asked_about() -> None:
    each = ModelSource(kind="model", name="model", question="Which?", unit="person")
    prompt = group_prompt(RELIGION, each, "Asha smiled.", "Asha")
    assert "this person in the text: Asha" in prompt.text
    asked = {("1", "religion/model"): [("Asha", prompt.prompt_id), ("", None)]}
    answers = Answers({prompt.prompt_id: [Reply("Hindu", "ok")]}, asked)
    said = [one for one, _ in answers.said(RELIGION, each, "1", "Asha smiled.")]
    assert [one.status for one in said] == ["group", "unknown"]
    assert [one.reason for one in said] == ["", "unnamed"]
    assert list(answers.said(RELIGION, each, "1", "")) == []


@given(
    st.lists(
        st.lists(
            st.builds(
                GroupResponse,
                st.sampled_from(["group", "none", "unknown"]),
                st.lists(st.integers(0, 9), max_size=4).map(tuple),
                st.sampled_from(["", "refused", "not asked"]),
            ),
            max_size=4,
        ).map(tuple),
        min_size=1,
        max_size=4,
    )
)
def test_what_is_said_in_short_is_read_as_it_was(said: list[tuple[GroupResponse, ...]]) -> None:
    assert said_of("|".join("&".join(one.short() for one in each) for each in said)) == (
        said if said != [()] else []
    )


def test_the_words_of_a_text_or_question_fill_no_blank() -> None:
    text = group_prompt(RELIGION, ONE, "A {question} and {labels}.").text
    assert "Which religion has {text}?" in text
    assert "A {question} and {labels}." in text
