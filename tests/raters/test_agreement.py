import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats import inter_rater

from portrayal.errors import OptionError
from portrayal.raters.agreement import PEOPLE, agreement
from raters.coded import CODES, Sample


def of(sample, **more):
    return agreement(sample.labels, **({"draws": 200} | more))


@pytest.fixture
def sample():
    return Sample(30)


def given_by(sample, *seeds):
    for seed in seeds:
        sample.code(f"r{seed}", sample.random(seed))
    return [sample.random(seed) for seed in seeds]


def test_two_raters_against_plain_loops(sample):
    one, two = given_by(sample, 1, 2)
    found = of(sample).people
    names = sample.names
    for key in CODES:
        pairs = [(key in one[name], key in two[name]) for name in names]
        same = sum(a == b for a, b in pairs) / 30
        a, b = (sum(column) / 30 for column in zip(*pairs, strict=True))
        by_chance = a * b + (1 - a) * (1 - b)
        assert found.get(key, "percent_agreement").value == pytest.approx(same)
        kappa = (same - by_chance) / (1 - by_chance)
        assert found.get(key, "cohens_kappa").value == pytest.approx(kappa)
        both = sum(a and b for a, b in pairs)
        positive = 2 * both / sum(a + b for a, b in pairs)
        assert found.get(key, "positive_agreement").value == pytest.approx(positive)


def test_three_raters_equal_a_library(sample):
    said = given_by(sample, 1, 2, 3)
    found = of(sample)
    assert found.people.raters == ("r1", "r2", "r3")
    for key in CODES:
        yes = [sum(key in codes[name] for codes in said) for name in sample.names]
        table = np.array([[3 - n, n] for n in yes])
        value = found.people.get(key, "fleiss_kappa").value
        assert value == pytest.approx(inter_rater.fleiss_kappa(table))
        assert found.people.get(key, "cohens_kappa") is None


def test_every_figure_has_a_value_and_interval_or_says_why(sample):
    given_by(sample, 1, 2, 3)
    found = of(sample).people
    for figure in found.coefficients:
        assert (figure.value is None) == (figure.undefined is not None)
        if figure.value is not None:
            assert figure.interval.low <= figure.value <= figure.interval.high
            assert figure.interval.low < figure.interval.high
            assert figure.interval.n_clusters == figure.n_items == 30


def test_texts_of_some_raters_alone_count_for_alpha_not_for_fleiss(sample):
    names = sample.names
    for seed, part in ((1, names[:20]), (2, names[5:25]), (3, names[10:])):
        sample.code(f"r{seed}", sample.random(seed), texts=part)
    found = of(sample).people
    assert found.get("savior", "fleiss_kappa").n_items == 10
    assert found.get("savior", "krippendorff_alpha").n_items == 20
    assert found.n_done == {"r1": 20, "r2": 20, "r3": 20}


def test_raters_without_a_common_text_are_undefined_with_a_reason(sample):
    names = sample.names
    sample.code("a", {}, texts=names[:10])
    sample.code("b", {}, texts=names[10:])
    for figure in of(sample).people.coefficients:
        assert figure.value is None
        assert "no text was coded by two" in figure.undefined


def test_one_answer_only_is_undefined_never_zero(sample):
    sample.code("a", {})
    sample.code("b", {})
    found = of(sample).people
    assert found.get("savior", "percent_agreement").value == 1.0
    for statistic in ("cohens_kappa", "krippendorff_alpha"):
        figure = found.get("savior", statistic)
        assert figure.value is None
        assert "chance alone" in figure.undefined
    assert found.get("savior", "positive_agreement").undefined == "no one gives this code"


def test_full_agreement_has_no_interval_of_width_zero(sample):
    said = sample.random(5)
    sample.code("a", said)
    sample.code("b", said)
    figure = of(sample).people.get("savior", "cohens_kappa")
    assert figure.value == 1.0
    assert figure.interval.method == "Wilson"
    assert figure.interval.low < 1.0 == figure.interval.high
    percent = of(sample).people.get("savior", "percent_agreement").interval
    assert percent.low == pytest.approx(0.8865, abs=5e-4)  # 30 / (30 + 1.96²)


def test_nothing_in_common_has_an_upper_bound_and_no_kappa_interval(sample):
    sample.code("a", {"t0": {"savior"}, "t1": {"savior"}})
    sample.code("b", {})
    found = of(sample).people
    positive = found.get("savior", "positive_agreement")
    assert (positive.value, positive.interval.low) == (0.0, 0.0)
    assert positive.interval.high == pytest.approx(1.96**2 / (2 + 1.96**2), abs=1e-3)
    kappa = found.get("savior", "cohens_kappa")
    assert kappa.value == pytest.approx(0.0)
    assert kappa.interval is None
    assert "same answer throughout" in kappa.no_interval


def test_language_models_are_compared_with_people_and_never_among_them(sample):
    one, _ = given_by(sample, 1, 2)
    before = of(sample).people
    sample.code("server:m", one, kind="llm")
    sample.code("server:n", {}, kind="llm")
    found = of(sample)
    assert found.people == before
    assert [m.raters for m in found.models] == [(PEOPLE, "server:m"), (PEOPLE, "server:n")]
    model = found.models[0]
    for key in CODES:
        two = sample.random(2)
        settled = [name for name in sample.names if (key in one[name]) == (key in two[name])]
        assert model.get(key, "percent_agreement").value == 1.0
        assert model.get(key, "percent_agreement").n_items == len(settled)
    assert model.left_open == sum(
        (key in one[name]) != (key in sample.random(2)[name])
        for name in sample.names
        for key in CODES
    )


def test_an_adjudicator_settles_and_is_not_a_rater(sample):
    one, _ = given_by(sample, 1, 2)
    sample.code("judge", one, kind="adjudicated")
    sample.code("server:m", one, kind="llm")
    found = of(sample)
    assert found.people.raters == ("r1", "r2")
    assert found.models[0].left_open == 0
    assert found.models[0].get("savior", "percent_agreement").n_items == 30


def test_no_people_and_one_person(sample):
    assert of(sample).people.coefficients == ()
    sample.code("a", {})
    assert of(sample).people.n_done == {"a": 30}
    assert of(sample).people.coefficients == ()


def test_seed_and_order_of_raters_decide_nothing_else(sample):
    given_by(sample, 1, 2, 3)
    assert of(sample) == of(sample)
    other = of(sample, seed=7).people
    assert [f.value for f in other.coefficients] == [
        f.value for f in of(sample).people.coefficients
    ]
    assert other.coefficients != of(sample).people.coefficients


def test_texts_of_one_prompt_are_drawn_together():
    """Ten prompts with three equal texts each say no more than ten texts."""
    one = [{"savior"}, {"savior"}, {"savior"}, set(), set(), set(), set(), set(), {"savior"}, set()]
    two = [{"savior"}, set(), {"savior"}, set(), {"savior"}, set(), set(), set(), {"savior"}, set()]
    found = []
    for repeats in (1, 3):
        n = 10 * repeats
        sample = Sample(n, {f"t{i}": f"p{i % 10}" for i in range(n)})
        for rater, codes in (("a", one), ("b", two)):
            sample.code(rater, {f"t{i}": codes[i % 10] for i in range(n)})
        found.append(of(sample).people.get("savior", "cohens_kappa"))
    single, triple = found
    assert triple.value == pytest.approx(single.value)
    assert triple.interval.low == pytest.approx(single.interval.low)
    assert triple.interval.high == pytest.approx(single.interval.high)
    assert triple.interval.method == "bootstrap by prompt"
    assert (triple.interval.n_clusters, triple.n_items) == (10, 30)


def test_what_cannot_be_used_is_refused(sample):
    with pytest.raises(OptionError, match="level"):
        of(sample, level=95)
    with pytest.raises(OptionError, match="draws"):
        of(sample, draws=0)


@settings(max_examples=15, deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=8))
def test_bounds(pairs):
    sample = Sample(len(pairs))
    for column, rater in enumerate("ab"):
        said = {f"t{i}": {"savage"} for i, pair in enumerate(pairs) if pair[column]}
        sample.code(rater, said)
    for figure in of(sample, draws=50).people.coefficients:
        if figure.value is not None:
            low = 0 if figure.statistic in ("percent_agreement", "positive_agreement") else -1
            assert low - 1e-9 <= figure.value <= 1 + 1e-9
            assert not math.isnan(figure.value)
