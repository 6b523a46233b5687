import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats import inter_rater

from coding.coded import CODES, book, code_all, random_codes, small_project
from portrayal.coding import CodingItem, make_project, project_labels
from portrayal.errors import OptionError
from portrayal.raters import STATISTICS, agreement
from portrayal.raters.agreement import ALL_CODES, PEOPLE, WHOLE_SET


def of(project, **more):
    return agreement(project_labels(project), **({"draws": 200} | more))


@pytest.fixture
def project(tmp_path):
    return small_project(tmp_path / "p", 30)


def given_by(project, *seeds):
    for seed in seeds:
        code_all(project, f"r{seed}", random_codes(project, seed))
    return [random_codes(project, seed) for seed in seeds]


def test_two_raters_against_plain_loops(project):
    one, two = given_by(project, 1, 2)
    found = of(project).people
    names = [item.item_id for item in project.items]
    observed, chance = [], []
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
        observed.append(same)
        chance.append(by_chance)
    pooled = (np.mean(observed) - np.mean(chance)) / (1 - np.mean(chance))
    assert found.get(ALL_CODES, "cohens_kappa").value == pytest.approx(pooled)
    whole = sum(one[name] == two[name] for name in names) / 30
    assert found.get(WHOLE_SET, "percent_agreement").value == pytest.approx(whole)


def test_three_raters_equal_a_library_and_stand_in_pairs(project):
    said = given_by(project, 1, 2, 3)
    found = of(project)
    assert found.people.raters == ("r1", "r2", "r3")
    for key in CODES:
        yes = [sum(key in codes[item.item_id] for codes in said) for item in project.items]
        table = np.array([[3 - n, n] for n in yes])
        value = found.people.get(key, "fleiss_kappa").value
        assert value == pytest.approx(inter_rater.fleiss_kappa(table))
        assert found.people.get(key, "cohens_kappa") is None
    assert [pair.raters for pair in found.pairs] == list(combinations(("r1", "r2", "r3"), 2))
    assert all(pair.get("savior", "cohens_kappa").value is not None for pair in found.pairs)


def test_every_figure_has_a_value_and_interval_or_says_why(project):
    given_by(project, 1, 2, 3)
    found = of(project).people
    assert {figure.statistic for figure in found.coefficients} <= set(STATISTICS)
    for figure in found.coefficients:
        assert (figure.value is None) == (figure.undefined is not None)
        if figure.value is not None:
            assert figure.interval.low <= figure.value <= figure.interval.high
            assert figure.interval.low < figure.interval.high
            assert figure.interval.n_clusters == figure.n_items == 30


def test_texts_of_some_raters_alone_count_for_alpha_not_for_fleiss(project):
    names = [item.item_id for item in project.items]
    for seed, part in ((1, names[:20]), (2, names[5:25]), (3, names[10:])):
        code_all(project, f"r{seed}", random_codes(project, seed), items=part)
    found = of(project).people
    assert found.get("savior", "fleiss_kappa").n_items == 10
    assert found.get("savior", "krippendorff_alpha").n_items == 20
    assert found.n_done == {"r1": 20, "r2": 20, "r3": 20}


def test_raters_without_a_common_text_are_undefined_with_a_reason(project):
    names = [item.item_id for item in project.items]
    code_all(project, "a", {}, items=names[:10])
    code_all(project, "b", {}, items=names[10:])
    for figure in of(project).people.coefficients:
        assert figure.value is None
        assert "no text was coded by two" in figure.undefined


def test_one_answer_only_is_undefined_never_zero(project):
    code_all(project, "a", {})
    code_all(project, "b", {})
    found = of(project).people
    assert found.get("savior", "percent_agreement").value == 1.0
    for statistic in ("cohens_kappa", "fleiss_kappa", "krippendorff_alpha"):
        figure = found.get("savior", statistic)
        assert figure.value is None
        assert "chance alone" in figure.undefined
    assert found.get("savior", "positive_agreement").undefined == "no one gives this code"


def test_full_agreement_has_no_interval_of_width_zero(project):
    said = random_codes(project, 5)
    code_all(project, "a", said)
    code_all(project, "b", said)
    figure = of(project).people.get("savior", "cohens_kappa")
    assert figure.value == 1.0
    assert figure.interval.method == "Wilson"
    assert figure.interval.low < 1.0 == figure.interval.high
    percent = of(project).people.get("savior", "percent_agreement").interval
    assert percent.low == pytest.approx(0.8865, abs=5e-4)  # 30 / (30 + 1.96²)


def test_nothing_in_common_has_an_upper_bound_and_no_kappa_interval(project):
    code_all(project, "a", {"t0": {"savior"}, "t1": {"savior"}})
    code_all(project, "b", {})
    found = of(project).people
    positive = found.get("savior", "positive_agreement")
    assert (positive.value, positive.interval.low) == (0.0, 0.0)
    assert positive.interval.high == pytest.approx(1.96**2 / (2 + 1.96**2), abs=1e-3)
    kappa = found.get("savior", "cohens_kappa")
    assert kappa.value == pytest.approx(0.0)
    assert kappa.interval is None
    assert "same answer throughout" in kappa.no_interval


def test_language_models_are_compared_with_people_and_never_among_them(project):
    one, _ = given_by(project, 1, 2)
    before = of(project).people
    code_all(project, "server:m", one, kind="llm")
    code_all(project, "server:n", {}, kind="llm")
    found = of(project)
    assert found.people == before
    assert [m.raters for m in found.models] == [(PEOPLE, "server:m"), (PEOPLE, "server:n")]
    model = found.models[0]
    for key in CODES:
        two = random_codes(project, 2)
        settled = [i for i in project.items if (key in one[i.item_id]) == (key in two[i.item_id])]
        assert model.get(key, "percent_agreement").value == 1.0
        assert model.get(key, "percent_agreement").n_items == len(settled)
    assert model.left_open == sum(
        (key in one[i.item_id]) != (key in random_codes(project, 2)[i.item_id])
        for i in project.items
        for key in CODES
    )


def test_an_adjudicator_settles_and_is_not_a_rater(project):
    one, _ = given_by(project, 1, 2)
    code_all(project, "judge", one, kind="adjudicated")
    code_all(project, "server:m", one, kind="llm")
    found = of(project)
    assert found.people.raters == ("r1", "r2")
    assert found.models[0].left_open == 0
    assert found.models[0].get("savior", "percent_agreement").n_items == 30


def test_no_people_and_one_person(project):
    assert of(project).people.coefficients == ()
    code_all(project, "a", {})
    assert of(project).people.n_done == {"a": 30}
    assert of(project).people.coefficients == ()


def test_the_first_paradox_is_told(project):
    names = [item.item_id for item in project.items]
    code_all(project, "a", {names[0]: {"savior"}, names[1]: {"savior"}})
    code_all(project, "b", {names[0]: {"savior"}, names[2]: {"savior"}, names[3]: {"savior"}})
    code_all(project, "c", {names[2]: {"savior"}})
    (said,) = of(project).people.warnings
    assert said.startswith("Savior: raters agree on")
    assert "first paradox" in said


def test_the_second_paradox_is_told(project):
    names = [item.item_id for item in project.items]
    code_all(project, "a", {name: {"savior"} for name in names[:18]})
    code_all(project, "b", {name: {"savior"} for name in names[10:18]})
    said = [w for w in of(project).people.warnings if "second paradox" in w]
    assert len(said) == 1
    assert "a in 60% of texts and b in 27%" in said[0]


def test_no_warning_where_raters_agree_beyond_chance(project):
    said = random_codes(project, 5, 0.5)
    code_all(project, "a", said)
    code_all(project, "b", said)
    assert of(project).people.warnings == ()


def test_seed_and_order_of_raters_decide_nothing_else(project):
    given_by(project, 1, 2, 3)
    assert of(project) == of(project)
    other = of(project, seed=7).people
    assert [f.value for f in other.coefficients] == [
        f.value for f in of(project).people.coefficients
    ]
    assert other.coefficients != of(project).people.coefficients


def test_texts_of_one_prompt_are_drawn_together(tmp_path):
    """Ten prompts with three equal texts each say no more than ten texts."""
    one = [{"savior"}, {"savior"}, {"savior"}, set(), set(), set(), set(), set(), {"savior"}, set()]
    two = [{"savior"}, set(), {"savior"}, set(), {"savior"}, set(), set(), set(), {"savior"}, set()]
    found = []
    for repeats in (1, 3):
        items = [
            CodingItem(f"{prompt}-{i}", "A text.", strata={"prompt_id": f"p{prompt}"})
            for prompt in range(10)
            for i in range(repeats)
        ]
        project = make_project(tmp_path / str(repeats), items, book())
        for rater, codes in (("a", one), ("b", two)):
            code_all(project, rater, {i.item_id: codes[int(i.item_id[0])] for i in items})
        found.append(of(project).people.get("savior", "cohens_kappa"))
    single, triple = found
    assert triple.value == pytest.approx(single.value)
    assert triple.interval.low == pytest.approx(single.interval.low)
    assert triple.interval.high == pytest.approx(single.interval.high)
    assert triple.interval.method == "bootstrap by prompt"
    assert (triple.interval.n_clusters, triple.n_items) == (10, 30)


def test_what_cannot_be_used_is_refused(project):
    with pytest.raises(OptionError, match="level"):
        of(project, level=95)
    with pytest.raises(OptionError, match="draws"):
        of(project, draws=0)


@settings(max_examples=15, deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=8))
def test_bounds(tmp_path_factory, pairs):
    project = small_project(tmp_path_factory.mktemp("bounds") / "p", len(pairs))
    for column, rater in enumerate("ab"):
        said = {f"t{i}": {"savage"} for i, pair in enumerate(pairs) if pair[column]}
        code_all(project, rater, said)
    for figure in of(project, draws=50).people.coefficients:
        if figure.value is not None:
            low = 0 if figure.statistic in ("percent_agreement", "positive_agreement") else -1
            assert low - 1e-9 <= figure.value <= 1 + 1e-9
            assert not math.isnan(figure.value)
