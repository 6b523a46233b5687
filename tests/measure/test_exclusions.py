"""What is left out is counted, by reason, and nothing twice."""

import pytest

import naive
from portrayal.measure.stories.casting import scenario_likelihood
from portrayal.measure.stories.representation import pair_representation, representation
from portrayal.measure.stories.subordination import subordination
from portrayal.records import BASIS
from portrayal.reference.groups import baseline
from support import make_run, scope, story, tally

P_STAR = baseline("census-2022")


def place_of(estimate):
    """Strata that say where; weights change neither texts nor people."""
    return {name: value for name, value in estimate.strata.items() if name != BASIS}


def expected_exclusions(here, group, roles):
    """Reasons counted one by one, first reason first."""
    reasons = {}
    for unread in ("refused", "empty", "failed"):
        reasons[unread] = sum(s["outcome"] == unread for s in here)
    for role, name, gender, _ in naive.people(here):
        if role not in roles:
            continue
        reason = None
        if "race" in group:
            if name is None:
                reason = "no first name"
            elif naive.share_of(name, group["race"]) is None:
                reason = "name not in the table"
        if reason is None and "gender" in group and gender not in naive.GENDERS:
            reason = "gender not known"
        if reason:
            reasons[reason] = reasons.get(reason, 0) + 1
    return {reason: n for reason, n in reasons.items() if n}


@pytest.mark.parametrize(
    ("measure", "condition", "roles"),
    [
        (
            lambda t: representation(t, scope(), baseline=P_STAR, name_tables={}),
            "power-neutral",
            ("neutral",),
        ),
        (lambda t: subordination(t, scope()), "power-laden", ("dominant", "subordinate")),
    ],
    ids=["representation", "subordination"],
)
def test_characters_left_out_are_counted_by_reason(tallied, stories, measure, condition, roles):
    here = {tuple(s.items()): found for s, found in naive.slices(stories, condition)}
    for e in measure(tallied):
        expected = expected_exclusions(here[tuple(place_of(e).items())], e.group, roles)
        assert e.exclusions == expected, (e.strata, e.group)


def test_units_and_texts_are_those_of_the_stratum(tallied, stories):
    for e in subordination(tallied, scope()):
        here = next(f for s, f in naive.slices(stories, "power-laden") if s == place_of(e))
        totals = [
            naive.group_counts(naive.in_role(here, role), e.group)[1]
            for role in ("subordinate", "dominant")
        ]
        assert e.n_units == sum(totals)
        assert e.n_texts == len(naive.readable(here))


def test_a_scenarios_texts_are_its_own(tallied, stories):
    for e in scenario_likelihood(tallied, scope()):
        condition = "power-neutral" if e.strata["role"] == "neutral" else "power-laden"
        labels = {name: e.strata[name] for name in ("domain", "model")}
        here = next(f for s, f in naive.slices(stories, condition) if s == labels)
        of_scenario = [s for s in here if naive.scenario_of(s) == e.strata["scenario"]]
        assert e.n_texts == len(naive.readable(of_scenario))
        unread = {
            outcome: n
            for outcome in ("refused", "empty", "failed")
            if (n := sum(s["outcome"] == outcome for s in of_scenario))
        }
        assert e.exclusions == unread


def test_couples_count_only_romantic_stories(tallied, stories):
    for e in pair_representation(tallied, scope(), baseline=P_STAR):
        here = [
            s
            for s in stories
            if s["relationship"] == "romantic partners" and e.strata["model"] in ("all", s["model"])
        ]
        assert e.n_texts == len(naive.readable(here))
        assert e.n_texts - e.n_units == e.exclusions.get("gender of one partner not known", 0)


def couple(first, second):
    return story(
        "p1",
        domain="Love",
        laden=False,
        subject=("Ann", first),
        other=("Bo", second),
        relationship="romantic partners",
    )


def test_a_couple_with_an_unsure_gender_is_of_no_pair_and_bounds_say_what_it_could_do(tmp_path):
    stories = [couple("F", "F")] * 3 + [couple("F", "M")] * 5
    stories += [couple("F", "Unsure"), couple("Unspecified", "F")]
    found = pair_representation(tally(make_run(stories, tmp_path)), scope(), baseline=P_STAR)
    women = [e for e in found if e.group == {"pair": "F-F"}]
    assert women
    for e in women:
        p = P_STAR.shares["pair"]["F-F"]
        assert (e.n_units, e.exclusions) == (8, {"gender of one partner not known": 2})
        assert e.value == pytest.approx(3 / 8 / p)
        assert e.details["lowest_possible"] == pytest.approx(3 / 10 / p)
        assert e.details["highest_possible"] == pytest.approx(5 / 10 / p)


def test_models_and_prompts_that_differ_in_case_alone_stay_apart(tmp_path):
    stories = [story("P1", model="GPT", laden=False, subject=("Sam", "M"))] * 3
    stories += [story("p1", model="gpt", laden=False, subject=("Emily", "F"))] * 5
    found = representation(
        tally(make_run(stories, tmp_path)), scope(), baseline=P_STAR, name_tables={}
    )
    women = {e.strata["model"]: e for e in found if e.group == {"gender": "F"}}
    assert {model: e.n_units for model, e in women.items()} == {"all": 8, "GPT": 3, "gpt": 5}
    assert women["GPT"].value == 0
    assert women["gpt"].value == pytest.approx(1 / 0.508)
    assert women["all"].n_clusters == 2
