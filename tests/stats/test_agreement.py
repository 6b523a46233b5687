import itertools
import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats import inter_rater

from portrayal.stats import cluster_weights
from portrayal.stats.agreement import (
    beyond_chance,
    cohen_parts,
    fleiss_parts,
    krippendorff_parts,
    percent_agreement,
    specific_agreement,
)

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import simpledorff
    from nltk.metrics.agreement import AnnotationTask


def cohens_kappa(table):
    return beyond_chance(*cohen_parts(table))


def fleiss_kappa(counts, weights=None):
    return beyond_chance(*fleiss_parts(counts, weights))


def krippendorff_alpha(counts, weights=None):
    return beyond_chance(*krippendorff_parts(counts, weights))


FLEISS_1971 = """
00060 03003 01401 00006 03030 20400 00402 20310 20040 00006 10050 11040 03300 10050 02031
00501 30012 51000 02040 10203 00006 01050 02013 20040 10041 05010 40002 02040 10500 00006
"""
KRIPPENDORFF_2011 = """
1 2 3 3 2 1 4 1 2 * * *
1 2 3 3 2 2 4 1 2 5 * 3
* 3 3 3 2 3 4 2 2 5 1 *
1 2 3 3 2 4 4 1 2 5 1 *
"""
RATINGS = st.lists(
    st.lists(st.one_of(st.none(), st.integers(0, 2)), min_size=4, max_size=4),
    min_size=1,
    max_size=25,
)
WHOLE = st.lists(st.lists(st.integers(0, 2), min_size=3, max_size=3), min_size=1, max_size=25)


def counts_of(ratings, k=None):
    """Counts by item and category, from rows of ratings with None where one is missing."""
    k = k or 1 + max((r for row in ratings for r in row if r is not None), default=0)
    return np.array([[row.count(c) for c in range(k)] for row in ratings], dtype=float)


def table_of(pairs, k):
    table = np.zeros((k, k))
    for one, two in pairs:
        table[one, two] += 1
    return table


def naive_alpha(ratings):
    """Krippendorff's alpha from its definition: disagreeing pairs within items and at large."""
    rows = [[r for r in row if r is not None] for row in ratings]
    rows = [row for row in rows if len(row) >= 2]
    values = [r for row in rows for r in row]
    n = len(values)
    if len(set(values)) < 2:
        return math.nan
    within = sum(
        sum(a != b for a, b in itertools.permutations(row, 2)) / (len(row) - 1) for row in rows
    )
    at_large = sum(a != b for a, b in itertools.permutations(values, 2)) / (n * (n - 1))
    return 1 - within / n / at_large


def naive_fleiss(ratings):
    values = [r for row in ratings for r in row]
    shares = [values.count(v) / len(values) for v in sorted(set(values))]
    chance = sum(share**2 for share in shares)
    pairs = [[a == b for a, b in itertools.combinations(row, 2)] for row in ratings]
    observed = sum(sum(row) / len(row) for row in pairs) / len(pairs)
    return math.nan if chance == 1 else (observed - chance) / (1 - chance)


def triples(ratings):
    return [(f"r{j}", i, r) for i, row in enumerate(ratings) for j, r in enumerate(row)]


def test_fleiss_worked_example_of_1971():
    counts = [[int(digit) for digit in row] for row in FLEISS_1971.split()]
    assert np.shape(counts) == (30, 5)
    assert float(fleiss_kappa(counts)) == pytest.approx(0.430, abs=5e-4)
    assert float(percent_agreement(counts)) == pytest.approx(0.556, abs=5e-4)


def test_krippendorff_worked_examples_of_2011():
    rows = [line.split() for line in KRIPPENDORFF_2011.split("\n") if line]
    ratings = [[None if v == "*" else int(v) for v in item] for item in zip(*rows, strict=True)]
    assert float(krippendorff_alpha(counts_of(ratings))) == pytest.approx(0.743, abs=5e-4)
    binary = list(zip(map(int, "0100000010"), map(int, "1110010000"), strict=True))
    assert float(krippendorff_alpha(counts_of(binary))) == pytest.approx(0.095, abs=5e-4)
    letters = ["abcde".index(x) for x in "aabbdccceddababbbcccedd" + "d"]
    nominal = list(zip(letters[:12], letters[12:], strict=True))
    assert float(krippendorff_alpha(counts_of(nominal))) == pytest.approx(0.692, abs=5e-4)


def test_cohens_worked_example_of_1960():
    table = [[88, 14, 18], [10, 40, 10], [2, 6, 12]]
    observed, chance = cohen_parts(table)
    assert (float(observed), float(chance)) == pytest.approx((0.70, 0.41))
    assert float(cohens_kappa(table)) == pytest.approx(0.492, abs=5e-4)


def test_the_two_paradoxes_of_feinstein_and_cicchetti_1990():
    """First: 85 % agreement with kappa .70 or .32. Second: 60 % with .13 or .26."""
    balanced, skewed = [[40, 9], [6, 45]], [[80, 10], [5, 5]]
    assert float(cohen_parts(balanced)[0]) == float(cohen_parts(skewed)[0]) == 0.85
    assert float(cohens_kappa(balanced)) == pytest.approx(0.70, abs=5e-3)
    assert float(cohens_kappa(skewed)) == pytest.approx(0.32, abs=5e-3)
    alike, apart = [[45, 15], [25, 15]], [[25, 35], [5, 35]]
    assert float(cohens_kappa(alike)) == pytest.approx(0.13, abs=5e-3)
    assert float(cohens_kappa(apart)) == pytest.approx(0.26, abs=5e-3)


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=2, max_size=60))
def test_kappa_follows_its_definition(pairs):
    table = table_of(pairs, 3)
    n = len(pairs)
    same = sum(a == b for a, b in pairs) / n
    chance = sum(
        sum(a == k for a, _ in pairs) * sum(b == k for _, b in pairs) / n**2 for k in range(3)
    )
    value = float(cohens_kappa(table))
    if chance == pytest.approx(1.0):
        assert np.isnan(value)
    else:
        assert value == pytest.approx((same - chance) / (1 - chance))


@given(RATINGS)
def test_alpha_follows_its_definition(ratings):
    value = float(krippendorff_alpha(counts_of(ratings)))
    assert value == pytest.approx(naive_alpha(ratings), nan_ok=True)
    assert math.isnan(value) or -1 <= value <= 1


@given(WHOLE)
def test_fleiss_follows_its_definition(ratings):
    value = float(fleiss_kappa(counts_of(ratings)))
    assert value == pytest.approx(naive_fleiss(ratings), nan_ok=True)
    assert math.isnan(value) or -1 <= value <= 1


def test_equal_to_two_libraries():
    """statsmodels and NLTK for both kappas, NLTK and simpledorff for alpha."""
    rng = np.random.default_rng(3)
    for _ in range(20):
        true = rng.choice(4, size=30, p=[0.6, 0.25, 0.1, 0.05])
        ratings = np.where(rng.random((30, 5)) < 0.7, true[:, None], rng.integers(0, 4, (30, 5)))
        task = AnnotationTask(triples(ratings.tolist()))
        counts = counts_of(ratings.tolist(), 4)
        kappa, alpha = float(fleiss_kappa(counts)), float(krippendorff_alpha(counts))
        assert kappa == pytest.approx(inter_rater.fleiss_kappa(counts))
        assert kappa == pytest.approx(task.pi())
        assert alpha == pytest.approx(task.alpha())
        assert alpha == pytest.approx(_simpledorff(ratings.tolist()))
        assert float(percent_agreement(counts)) == pytest.approx(task.avg_Ao())
        pairs = ratings[:, :2].tolist()
        table = table_of(pairs, 4)
        cohen = float(cohens_kappa(table))
        assert cohen == pytest.approx(inter_rater.cohens_kappa(table, return_results=False))
        assert cohen == pytest.approx(AnnotationTask(triples(pairs)).kappa())


def test_alpha_with_missing_ratings_equals_two_libraries():
    rng = np.random.default_rng(4)
    for _ in range(20):
        ratings = rng.integers(0, 3, (25, 4)).tolist()
        holes = rng.random((25, 4)) < 0.3
        ratings = [
            [None if hole else r for r, hole in zip(row, gaps, strict=True)]
            for row, gaps in zip(ratings, holes, strict=True)
        ]
        alpha = float(krippendorff_alpha(counts_of(ratings)))
        rated = [row for row in ratings if sum(r is not None for r in row) >= 2]
        known = [t for t in triples(rated) if t[2] is not None]
        assert alpha == pytest.approx(AnnotationTask(known).alpha())
        assert alpha == pytest.approx(_simpledorff(rated))


def _simpledorff(ratings):
    import pandas as pd

    known = [t for t in triples(ratings) if t[2] is not None]
    frame = pd.DataFrame(known, columns=["rater", "item", "value"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return simpledorff.calculate_krippendorffs_alpha_for_df(
            frame, experiment_col="item", annotator_col="rater", class_col="value"
        )


def test_agreement_on_each_answer():
    """Cicchetti and Feinstein (1990): 2a / (2a + b + c), and likewise for d."""
    pairs = [(1, 1)] * 5 + [(1, 0)] * 10 + [(0, 1)] * 5 + [(0, 0)] * 80
    assert specific_agreement(counts_of(pairs)) == pytest.approx([160 / 175, 10 / 25])
    assert np.isnan(specific_agreement([[2, 0, 0], [1, 1, 0]])[2])
    three = specific_agreement([[0, 3], [1, 2], [3, 0], [1, 0]])
    assert three == pytest.approx([6 / 8, 8 / 10])


@given(WHOLE, st.permutations(range(3)), st.randoms(use_true_random=False))
def test_names_and_order_do_not_matter(ratings, names, random):
    renamed = [[names[r] for r in row] for row in ratings]
    random.shuffle(renamed)
    for row in renamed:
        random.shuffle(row)
    for statistic in (fleiss_kappa, krippendorff_alpha, percent_agreement):
        one, two = statistic(counts_of(ratings, 3)), statistic(counts_of(renamed, 3))
        assert float(one) == pytest.approx(float(two), nan_ok=True)


@given(WHOLE, st.integers(0, 99))
def test_weights_repeat_items(ratings, seed):
    counts = counts_of(ratings, 3)
    weights = cluster_weights(len(ratings), 4, np.random.default_rng(seed))
    for statistic in (fleiss_kappa, krippendorff_alpha, percent_agreement):
        once = [float(statistic(np.repeat(counts, row, axis=0))) for row in weights]
        np.testing.assert_allclose(statistic(counts, weights), once, atol=1e-9)


@given(WHOLE)
def test_alpha_of_complete_data_lies_just_above_fleiss(ratings):
    """Krippendorff (2011): chance without replacement, 1 - D_e is smaller by 1 / n."""
    kappa = float(fleiss_kappa(counts_of(ratings)))
    alpha = float(krippendorff_alpha(counts_of(ratings)))
    if not math.isnan(kappa):
        n = 3 * len(ratings)
        assert 1 - alpha == pytest.approx((1 - kappa) * (n - 1) / n)


def test_a_table_worked_by_hand():
    """Observed 0.7, by chance 0.5: (0.7 - 0.5) / (1 - 0.5)."""
    assert float(cohens_kappa([[20, 5], [10, 15]])) == pytest.approx(0.4)
    assert float(cohens_kappa([[10, 0], [0, 30]])) == pytest.approx(1.0)


def test_one_category_or_no_pair_is_undefined_never_zero():
    assert np.isnan(cohens_kappa(np.zeros((2, 2))))
    assert np.isnan(cohens_kappa([[9, 0], [0, 0]]))
    assert np.isnan(fleiss_kappa([[3, 0], [3, 0]]))
    assert np.isnan(krippendorff_alpha([[3, 0], [3, 0]]))
    assert np.isnan(krippendorff_alpha([[1, 0], [0, 1]]))
    assert np.isnan(percent_agreement([[1, 0], [0, 1]]))
    assert np.isnan(krippendorff_alpha(np.zeros((0, 2))))
    assert np.isnan(beyond_chance(1.0, 1.0))


def test_alpha_leaves_out_what_has_no_pair():
    with_single = [[2, 0], [0, 2], [1, 1], [1, 0], [0, 0]]
    assert krippendorff_parts(with_single) == krippendorff_parts(with_single[:3])


def test_what_cannot_be_is_refused():
    with pytest.raises(ValueError, match="square"):
        cohens_kappa(np.zeros((2, 3)))
    with pytest.raises(ValueError, match=r"negative|0 or more"):
        cohens_kappa([[1, -1], [0, 1]])
    with pytest.raises(ValueError, match="same two raters or more"):
        fleiss_kappa([[2, 0], [2, 1]])
    with pytest.raises(ValueError, match="axis of items"):
        krippendorff_alpha([1, 2])
