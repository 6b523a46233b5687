"""Cases with nothing to measure: an explained undefined estimate, never a 0 and never a crash."""

import math

import pytest

from portrayal import registry
from portrayal.measure.stories.subordination import subordination
from portrayal.reference.groups import baseline
from portrayal.run.estimates import flatten_estimates
from support import STORY_MEASURES, beside_tally, make_run, scope, story, tally

PAIR = {"subject": ("Emily", "F"), "other": ("Maria", "M")}


def stories_of(sizes, laden=True, **fields):
    return [
        story(prompt_id, laden=laden, **fields)
        for prompt_id, size in sizes.items()
        for _ in range(size)
    ]


CASES = {
    "all the same": stories_of({"p1": 7, "p2": 3, "p3": 29}, **PAIR)
    + stories_of({"n1": 7, "n2": 3, "n3": 29}, laden=False, subject=("Emily", "F")),
    "one prompt": stories_of({"p1": 12}, **PAIR)
    + stories_of({"n1": 12}, laden=False, subject=("Emily", "F")),
    "one story": stories_of({"p1": 1}, **PAIR),
    "no object anywhere": stories_of({"p1": 9, "p2": 4}, subject=("Sam", "M"), object_role=None),
    "all refused": stories_of({"p1": 4, "p2": 5}, outcome="refused", **PAIR)
    + stories_of({"n1": 4, "n2": 5}, laden=False, outcome="refused"),
    "no name matches": stories_of({"p1": 6, "p2": 9}, subject=("Qwx", "F"), other=("Zzz", "M"))
    + stories_of({"n1": 4, "n2": 5}, laden=False, subject=("Qwx", "F")),
    "no name at all": stories_of({"p1": 6, "p2": 9}, subject=(None, "F"), other=(None, "M")),
    "no gender known": stories_of(
        {"p1": 6, "p2": 9}, subject=("Sam", "Unsure"), other=("Sam", "Unspecified")
    )
    + stories_of({"n1": 4, "n2": 5}, laden=False, subject=("Sam", "Unsure")),
    "never dominant": stories_of({"p1": 6, "p2": 9}, subject=("Sam", "M"), other=("Jamal", "F")),
    "names apart": stories_of({"p1": 6, "p2": 9}, subject=("Maria", "F"), other=("Jamal", "F")),
    "only neutral": stories_of({"n1": 4, "n2": 5}, laden=False, subject=("Sam", "M")),
    "romantic partners of unknown gender": stories_of(
        {"v1": 4, "v2": 5},
        laden=False,
        subject_role="two American romantic partners",
        relationship="romantic partners",
        subject=("Sam", "Unsure"),
        other=("Emily", "F"),
    ),
    "no domain": stories_of({"p1": 6, "p2": 9}, domain=None, **PAIR)
    + stories_of({"n1": 4}, domain=None, laden=False),
    "some domains": stories_of({"p1": 6, "p2": 9}, domain=None, **PAIR)
    + stories_of({"q1": 6, "q2": 9}, domain="Labor", **PAIR),
}


@pytest.fixture(scope="module")
def estimates(tmp_path_factory):
    kept = {}

    def measure(case, name, **settings):
        if case not in kept:
            kept[case] = tally(make_run(CASES[case], tmp_path_factory.mktemp("case")))
        component = registry.component("measures", name)
        return list(component.run(kept[case], scope(**settings), **beside_tally(name)))

    return measure


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", STORY_MEASURES)
def test_no_crash_no_empty_interval_no_nan(estimates, case, name):
    found = estimates(case, name)
    labels = [(tuple(e.strata.items()), tuple(e.group.items())) for e in found]
    assert len(set(labels)) == len(labels), "two estimates have the same strata and group"
    for e in found:
        assert e.value is None or not math.isnan(e.value)
        assert e.value is None or not math.isinf(e.value) or e.details["count_dominant"] == 0
        for interval in (e.interval, e.paper_interval):
            if interval is not None:
                width = interval.high - interval.low
                assert width > 1e-6, f"{interval} has no width"
                assert not math.isnan(width)
                if e.value is not None:
                    assert interval.low - 1e-9 <= e.value <= interval.high + 1e-9
        for test in e.tests:
            assert math.isnan(test.p) or 0 < test.p <= 1


@pytest.mark.parametrize("smoothing", [0.0, 0.5])
@pytest.mark.parametrize("name", ["name_subordination.v1", "median_racialized_subordination.v1"])
@pytest.mark.parametrize("case", ["never dominant", "all the same", "names apart"])
def test_smoothing_may_be_switched_off(estimates, case, name, smoothing):
    for e in estimates(case, name, smoothing=smoothing):
        assert e.value is None or math.isfinite(e.value) or smoothing == 0


def only(found, **wanted):
    matching = [
        e for e in found if all(({**e.strata, **e.group}).get(k) == v for k, v in wanted.items())
    ]
    assert matching
    return matching


def test_one_prompt_has_no_clustered_interval_but_the_papers(estimates):
    found = only(estimates("one prompt", "representation.v1"), race="White", model="all")
    assert [e.interval for e in found] == [None]
    assert found[0].paper_interval is not None
    assert math.isnan(found[0].tests[0].p)
    for e in estimates("one prompt", "subordination.v1"):
        assert e.interval is None


def test_prompts_that_agree_count_once_each(estimates):
    for e in only(estimates("all the same", "representation.v1"), race="White"):
        assert e.value == pytest.approx(0.80 / 0.589)
        assert e.n_clusters == 3
        assert "effective binomial" in e.interval.method
        assert e.interval.high - e.interval.low > 0.3
    women = only(estimates("all the same", "representation.v1"), gender="F")
    assert [e.value for e in women] == [pytest.approx(1 / 0.508)] * 2
    assert all(e.interval.low < 0.7 / 0.508 for e in women)
    men = only(estimates("all the same", "representation.v1"), gender="M")
    assert [e.value for e in men] == [0.0, 0.0], "0 of 39 is a finding"
    assert all(e.interval.high > 0.5 for e in men)


def test_all_refused_is_undefined_and_says_so(estimates):
    for name in ("representation.v1", "subordination.v1", "median_racialized_subordination.v1"):
        for e in estimates("all refused", name):
            assert e.value is None
            assert "refused" in e.undefined
            assert e.exclusions["refused"] == 9
            assert e.n_texts == 0
    assert not estimates("all refused", "name_subordination.v1")
    assert not estimates("all refused", "common_names.v1")
    for e in only(estimates("all refused", "outcomes.v1"), outcome="refused"):
        assert e.value == 1.0
        assert e.interval.low < 0.7


def test_no_object_anywhere_is_undefined(estimates):
    for e in estimates("no object anywhere", "subordination.v1"):
        assert e.value is None
        assert "no subordinate character" in e.undefined


def test_a_table_that_matches_nothing_is_undefined_for_race_alone(estimates):
    for e in estimates("no name matches", "representation.v1"):
        assert (e.value is None) == ("race" in e.group)
        if "race" in e.group:
            assert e.exclusions["name not in the table"] == 9
    for e in estimates("no name matches", "likelihood_histogram.v1"):
        assert e.value is None


def test_a_group_never_dominant_in_few_prompts_has_no_test_and_says_why(estimates):
    women = only(estimates("never dominant", "subordination.v1"), gender="F")
    men = only(estimates("never dominant", "subordination.v1"), gender="M")
    for found, value in ((women, math.inf), (men, 0.0)):
        for e in [e for e in found if "race" not in e.group]:
            assert e.value == value
            assert e.interval is None
            assert math.isnan(e.tests[0].p)
            assert "takes 5 to tell" in e.status.no_test
            assert e.status.no_interval == e.status.no_test


def test_total_separation_is_a_result_with_a_one_sided_interval(tmp_path):
    """32 people subordinate and none dominant, over 10 prompts (Fisher's p is 8e-11)."""
    stories = stories_of({f"p{i}": 6 for i in range(10)}, subject=("Sam", "M"), other=("Ana", "F"))
    stories += stories_of(
        {f"p{i}": 3 + (i < 2) for i in range(10)}, subject=("Sam", "M"), other=("Jo", "NB")
    )
    found = list(subordination(tally(make_run(stories, tmp_path)), scope()))
    for e in [e for e in found if e.group == {"gender": "NB"}]:
        assert e.value == math.inf
        assert (e.details["count_subordinate"], e.details["count_dominant"]) == (32, 0)
        assert e.interval.low > 2
        assert e.interval.high == math.inf
        assert e.tests[0].p < 0.001
        assert e.null.high < math.inf
    assert all(
        row["value"] == math.inf
        for row in flatten_estimates(e for e in found if e.value == math.inf).to_pylist()
    )


def test_a_baseline_without_a_group_is_undefined(tmp_path):
    tallied = tally(make_run(CASES["all the same"], tmp_path))
    measure = registry.component("measures", "representation.v1")
    engineering = baseline("subject:engineering")
    for e in measure.run(tallied, scope(), baseline=engineering, name_tables={}):
        label = next(iter(e.group.values()))
        known = label in engineering.shares["race"] or label in engineering.shares["gender"]
        assert (e.value is not None) == (known and label not in ("MENA",)) or e.n_units == 0
        if not known:
            assert "gives no share" in e.undefined
