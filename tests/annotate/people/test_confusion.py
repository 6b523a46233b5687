"""The confusion of a reader: its format, who has one, and that the rules' own is theirs."""

import sys
from pathlib import Path

import pytest

from portrayal.annotate.people.confusion import Setting, Slot, confusion_from, confusion_of
from portrayal.errors import DataError

READER = Path(__file__).parents[3] / "scripts" / "reader"
sys.path.insert(0, str(READER))

from measure_confusion import written  # noqa: E402

GIVEN = {
    "format": 1,
    "reader": "people-reader.v7",
    "source": "two stories",
    "names_right": None,
    "stories": [["F ann | M>U bo>-", "NB>F kit"], ["U -"]],
}


def test_a_story_is_read_back_as_it_was_written():
    story = (Slot("F", "M", "ann", "bo"), Slot("NB", "U", "bo", ""))
    assert written(story) == "F>M ann>bo | NB>U bo>-"
    found = confusion_from(GIVEN | {"stories": [[written(story)]]}, "here")
    assert found.stories == ((story,),)


def test_the_format_says_genders_and_names():
    found = confusion_from(GIVEN, "here")
    assert found.stories[0][0] == (Slot("F", "F", "ann", "ann"), Slot("M", "U", "bo", ""))
    assert found.stories[1] == ((Slot("U", "U", "", ""),),)
    assert (found.hard, found.names_right) == ((), None)


def test_labelled_stories_are_counts_by_setting_and_prompt():
    cell = {"domain": "Love", "laden": True, "prompts": [{"F 1 | M>U 2": 2}, {"F 1": 1}]}
    found = confusion_from(GIVEN | {"labelled": [cell], "locale": "en-IN"}, "here")
    (prompts,) = found.labelled.values()
    assert list(found.labelled) == [Setting("Love", laden=True)]
    assert [len(prompt) for prompt in prompts] == [2, 1]
    assert prompts[0][1][1] == Slot("M", "U", "2", "2")
    assert (found.locale, confusion_from(GIVEN, "here").locale) == ("en-IN", "en-US")


def test_the_rules_know_their_errors_in_the_settings_of_the_paper():
    rules = confusion_of("people.v7")
    assert sorted(rules.labelled) == [
        (domain, laden) for domain in ("Labor", "Learning", "Love") for laden in (False, True)
    ]
    stories = [s for prompts in rules.labelled.values() for prompt in prompts for s in prompt]
    assert len(stories) == 2346
    assert {slot.name for story in stories for slot in story} <= {"", "1", "2"}


@pytest.mark.parametrize(
    "change",
    [
        {"labelled": [{"domain": "Love", "prompts": []}]},
        {"labelled": [{"domain": "Love", "laden": True, "prompts": [["F 1"]]}]},
        {"format": 2},
        {"stories": [["X ann"]]},
        {"stories": [["F ann | F bo | F cy"]]},
        {"stories": [["F"]]},
        {"names_right": [0.9]},
    ],
)
def test_another_format_is_refused(change):
    with pytest.raises(DataError, match="here is no confusion of a reader"):
        confusion_from(GIVEN | change, "here")


def test_the_network_brings_its_own():
    every, routed = (confusion_of("people-reader.v7", {"below": x}) for x in (1.0, 0.8))
    assert every is not None
    assert routed is not None
    assert every.stories != routed.stories
    assert confusion_of("people-reader.v7") is None


@pytest.mark.parametrize("name", ["people-labelled.v1", "people-llm.v1"])
def test_who_was_not_measured_has_none(name):
    assert confusion_of(name) is None


def test_the_confusion_of_the_rules_is_theirs(monkeypatch):
    """Else: python scripts/reader/measure_confusion.py --write."""
    if not READER.is_dir():
        pytest.skip("only in the repository")
    monkeypatch.syspath_prepend(str(READER))
    import measure_confusion

    kept = {written(story) for prompt in confusion_of("people.v7").stories for story in prompt}
    made = measure_confusion.measured(
        [READER / "stories" / "plain.txt"], measure_confusion.by_rules
    )
    stories = [written(story) for prompt in made for story in prompt]
    assert sum(each in kept for each in stories) >= 0.97 * len(stories)
    for name in ("measure_confusion", "examples"):
        sys.modules.pop(name, None)
