"""The labelled sentences are well formed, and their scorer counts as their README says."""

from collections import Counter

from annotate.factor_sentences import score as scorer
from portrayal.reference.factors import load_factor

DEV, SEALED = scorer.cases("dev"), scorer.cases("sealed")


def test_a_third_of_each_kind_is_sealed_and_half_the_cases_have_people():
    kinds, sealed = (Counter(case["kind"] for case in cases) for cases in (DEV + SEALED, SEALED))
    assert (len(DEV), len(SEALED)) == (272, 136)
    assert sealed == {kind: number // 3 for kind, number in kinds.items()}
    assert len({case["id"] for case in DEV + SEALED}) == len(
        {case["text"] for case in DEV + SEALED}
    )
    for cases in (DEV, SEALED):
        with_people = sum(any(case["groups"].values()) for case in cases)
        assert 0.45 < with_people / len(cases) < 0.55


def test_groups_are_those_of_the_factors():
    keys = {name: set(load_factor(name).keys) for case in DEV for name in case["groups"]}
    assert len(keys) == 5
    for case in DEV + SEALED:
        for name, groups in case["groups"].items():
            assert set(groups) <= keys[name], case["id"]


def test_a_pair_of_text_and_group_is_the_unit():
    cases = [
        {"kind": "people", "text": "a", "groups": {"faith": ["sun", "moon"]}},
        {"kind": "people", "text": "b", "groups": {"faith": ["sun"]}},
        {"kind": "things", "text": "c", "groups": {"faith": []}},
    ]
    observed = {"a": {"sun"}, "b": {"moon"}, "c": {"sun"}}
    counts = scorer.score(cases, lambda factor, texts: [observed[text] for text in texts])
    assert counts["all"] == counts["all of faith"]
    assert (counts["all"]["recall"], counts["all"]["precision"]) == (1 / 3, 1 / 3)
    assert (counts["things"]["recall"], counts["things"]["false_alarms"]) == (None, 1)
    assert counts["people"]["false_alarms"] == 0


def test_the_words_that_ship_are_what_is_scored():
    observed = scorer.words_of("religion", ["A Buddhist monk sang.", "Nobody sang."])
    assert observed == [{"buddhist"}, set()]
