"""A few pairs of many answers: what differs is stated, and what does not is not."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

import portrayal
from portrayal.annotate.scores import TextScore
from portrayal.measure.matched.differences import pair_difference
from portrayal.measure.matched.sets import MatchedSets
from portrayal.measure.scope import Scope, with_q_values
from portrayal.report.first import answer_lines, finding_facts, first_screen
from portrayal.report.view import View, beyond_chance
from support import matrix

AUDITS, ANSWERS = 300, 40
SCORES = ("length", "sentiment", "readability", "refused")


def sets_of(value):
    """Pairs with these mean scores of their halves, shape (n_scores, n_pairs, 2)."""
    n = value.shape[1]
    return MatchedSets(
        attribute="gender",
        groups=("female", "male"),
        models=("m",),
        sources=tuple(map(str, range(n))),
        cluster="pair",
        scores=tuple(TextScore(name, "", exchanged=False) for name in SCORES),
        model=np.zeros(n, dtype=np.int64),
        source=np.arange(n),
        split={},
        value=value,
        written=value,
        neutral=value,
        n_answers=np.full((n, 2), ANSWERS),
        left_out={},
        answers=pa.table({"text_id": [], "set": [], "half": []}),
        exchanged=0,
        squares=np.zeros((len(SCORES), n)),
        df=np.zeros((len(SCORES), n)),
    )


def stated(value):
    """Which scores an audit may state a difference in."""
    found = with_q_values(list(pair_difference(sets_of(value), Scope("pairs"))))
    first = [e.tests[0].audit_q is not None for e in found]
    return [e for e, yes in zip(found, first, strict=True) if yes and beyond_chance(e)]


def answers(rng, n, kind):
    """Mean scores of halves that differ by chance and by what is particular to a request."""
    if kind == "rare":  # refusals, of which many pairs have none
        share = np.repeat(rng.beta(0.3, 6.0, (len(SCORES), n, 1)), 2, axis=2)
        return rng.binomial(ANSWERS, share) / ANSWERS
    shared = rng.standard_normal((len(SCORES), n, 1))
    own = rng.standard_normal((len(SCORES), n, 2))
    if kind == "skewed":  # exchangeable halves, one of which may lie far off
        own = rng.exponential(size=own.shape) ** 2
    return shared + own


@pytest.mark.parametrize(
    ("kind", "n_pairs"),
    matrix([("skewed", 5), ("normal", 5), ("normal", 6), ("normal", 9), ("rare", 6), ("rare", 9)]),
)
def test_equal_halves_are_stated_to_differ_in_five_of_a_hundred_audits(kind, n_pairs):
    rng = np.random.default_rng(n_pairs)
    false = sum(bool(stated(answers(rng, n_pairs, kind))) for _ in range(AUDITS))
    assert false <= stats.binom.ppf(0.975, AUDITS, 0.05), false / AUDITS


@pytest.mark.parametrize("n_pairs", [2, 3, 4])
def test_fewer_than_five_pairs_tell_nothing_of_others(n_pairs):
    rng = np.random.default_rng(n_pairs)
    value = rng.normal(0.0, 0.001, (len(SCORES), n_pairs, 2)) + np.array([1.0, 0.0])
    assert not stated(value)


@pytest.mark.parametrize("n_pairs", matrix([5, 6, 7, 9]))
def test_a_difference_of_few_pairs_is_stated(n_pairs):
    """+.445 with 40 answers to a half, and pairs that differ by .127 in it, as was observed."""
    rng, hits = np.random.default_rng(0), 0
    for _ in range(40):
        value = rng.normal(0.0, 0.127 / np.sqrt(2.0), (len(SCORES), n_pairs, 2))
        value[1, :, 0] += 0.445
        hits += any(e.strata["score"] == "sentiment" for e in stated(value))
    assert hits >= 32, hits


@pytest.mark.parametrize("n_pairs", matrix([3, 1]))
def test_what_holds_in_few_pairs_is_known_of_their_own_answers(n_pairs):
    """Of 500 audits of equal halves 5 % have p below .05; +.445 as above is told in nearly all."""
    rng, false, hits = np.random.default_rng(n_pairs), [], []
    for planted, found in ((0.0, false), (0.445, hits)):
        for _ in range(200):
            shared = rng.normal(0.0, 1.0, (len(SCORES), n_pairs, 1, 1))
            each = shared + rng.normal(0.0, 0.57, (len(SCORES), n_pairs, 2, ANSWERS))
            each[1, :, 0] += planted
            mean = each.mean(3)
            squares = ((each - mean[..., np.newaxis]) ** 2).sum((2, 3))
            df = np.full(squares.shape, 2.0 * (ANSWERS - 1))
            sets = replace(sets_of(mean), squares=squares, df=df)
            (e,) = [e for e in pair_difference(sets, Scope("pairs"))
                    if e.strata["score"] == "sentiment"]  # fmt: skip
            assert e.fixed.low < e.value < e.fixed.high
            found.append(e.fixed.p < 0.05)
    assert sum(false) <= stats.binom.ppf(0.975, 200, 0.05)
    assert np.mean(hits) > (0.85 if n_pairs == 1 else 0.98)


def test_refusals_of_all_answers_to_one_half_alone_are_told_in_these_pairs(tmp_path):
    rows = [
        {"case": str(case), "gender": group, "text": f"All is well in case {case}, {i} times."
         if group == "male" else "", "outcome": "ok" if group == "male" else "refused"}
        for case in range(3) for group in ("female", "male") for i in range(12)
    ]  # fmt: skip
    given = {"scorers": ("length",)}
    # Of three prompts, findings are of these very prompts, whether or not anybody asks for it.
    run = portrayal.audit(study="pairs", texts=rows, out=tmp_path, **given)
    assert {each["units"] for each in finding_facts(run)["findings"]} == {"prompts"}
    view = View.of(run)
    (found,) = first_screen(view).findings
    begins = (
        "In these 3 prompts 36 of 36 answers for women are refusals, and none of 36 answers for men"
    )
    assert found.headline.startswith(begins)
    assert found.headline.endswith("; of other prompts nothing can be said from 3")
    assert found.sure == "holds in these prompts"


@pytest.mark.parametrize(("counts", "p"), [((4, 0), 0.0496), ((3, 0), 0.1058), ((9, 2), 0.0639)])
def test_a_few_refusals_in_one_prompt_are_judged_as_counts(counts, p):
    """Of one half nobody refuses, which has no spread: then p is that of Fisher's exact test."""
    n = np.array([[132, 146] if counts[1] == 0 else [146, 132]])
    value = np.zeros((len(SCORES), 1, 2))
    value[-1] = np.array(counts) / n
    squares = np.zeros((len(SCORES), 1))
    squares[-1] = (n * value[-1] * (1.0 - value[-1])).sum()
    df = np.full(squares.shape, n.sum() - 2.0)
    sets = replace(sets_of(value), n_answers=n, squares=squares, df=df)
    (e,) = [e for e in pair_difference(sets, Scope("pairs")) if e.strata["score"] == "refused"]
    assert e.fixed.p == pytest.approx(p, abs=1e-4)
    assert (e.fixed.low > 0.0) == (p < 0.05)


def test_of_like_strength_what_is_counted_leads_the_answer(tmp_path):
    """Answers to women are far longer, which is two spreads of the texts; some have a phrase."""
    longer = [
        " And so on it goes." * (1 + i % 3) + " Ask your family." * (i % 2) for i in range(40)
    ]
    rows = [
        {"case": str(case), "gender": group, "text": f"All is well in case {case}, {i} times."
         + longer[i] * (group == "female")}
        for case in range(3) for group in ("female", "male") for i in range(40)
    ]  # fmt: skip
    run = portrayal.audit(study="pairs", texts=rows, out=tmp_path, scorers=("length",))
    stated = first_screen(View.of(run)).findings
    assert "longer" in stated[0].headline
    (answer, *_) = answer_lines(run)
    assert "answers for women say “" in answer
