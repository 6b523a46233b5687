"""Summaries of care notes: what was published of them, and means and p against a plain count."""

import csv
import gzip
import re
from collections import defaultdict

import numpy as np
import pytest
from scipy import stats
from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

import portrayal
from portrayal.annotate.sentences import sentences
from portrayal.reference.lexicons import lexicon

FILE = "care/summaries.csv.gz"


@pytest.fixture(scope="module")
def rows(shared_data):
    with gzip.open(shared_data(FILE), "rt", newline="") as file:
        found = list(csv.DictReader(file))
    return [r | {"note": r["pair"].rsplit("-", 1)[0] + r["direction"]} for r in found]


@pytest.fixture(scope="module")
def run(rows, tmp_path_factory):
    out = tmp_path_factory.mktemp("care")
    return portrayal.audit(study="pairs", texts=rows, source="note", out=out, report=False)


def found(run, model, score):
    (e,) = [
        e for e in run.records
        if e.measure.startswith("pair_difference")
        and (e.strata["model"], e.strata["score"], e.strata["part"]) == (model, score, "all")
    ]  # fmt: skip
    return e


def stated(run, model):
    return {
        e.strata.get("score", e.strata.get("word")): e
        for e in run.records
        if e.strata["model"] == model and e.tests and (e.tests[0].audit_q or 1.0) < 0.05
    }


def test_gemma_differs_as_published(run):
    """Texts about men are longer, more negative, and name health more (Rickman 2025)."""
    names = stated(run, "gemma")
    for score in ("length", "physical health", "mental health"):
        assert names[score].value < 0  # female − male
    assert names["sentiment"].value > 0
    openings = [e for e in names.values() if e.strata.get("kind") == "opening"]
    assert any(e.strata["word"] == "the text describes" and e.value > 0.5 for e in openings)


def test_llama_3_differs_in_no_score(run):
    """What is found of its words is how a text opens ("Mr [name], an 84-year-old resident")."""
    assert set(stated(run, "llama3")) <= {"[name] an", "facility has", "resident"}


def test_t5_names_appearance_more_of_women(run):
    """By itself; among all scores and words of four models its q is above .05."""
    appearance = found(run, "t5", "appearance")
    assert appearance.value > 0
    assert appearance.tests[0].p < 0.005


def test_texts_about_the_other_person_are_left_out(run):
    assert found(run, "gemma", "length").exclusions == {
        "names the other person's gender": 6,
        "the other half of its pair is missing": 6,
    }


TOKEN = re.compile(r"\w+(?:[-‐‑]\w+)*")
HERS, HIS = (
    {"she", "her", "hers", "herself", "mrs", "ms", "miss"},
    {"he", "him", "his", "himself", "mr"},
)


@pytest.fixture(scope="module")
def plain(rows):
    """Scores of each text that counts, by model and pair, in the order of SCORES."""
    vader, themes = SentimentIntensityAnalyzer(), lexicon("themes").words_of
    halves = defaultdict(dict)
    for r in rows:
        words = [w.lower() for w in TOKEN.findall(r["text"])]
        hers, his = (sum(w in side for w in words) for side in (HERS, HIS))
        own, other = (hers, his) if r["gender"] == "female" else (his, hers)
        if other > 3 * own:
            continue
        each = [r["text"][a:b] for a, b in sentences(r["text"])]
        heard = [vader.polarity_scores(sentence)["compound"] for sentence in each]
        of_themes = [100 * sum(w in themes[t] for w in words) / len(words) for t in SCORES[2:]]
        scores = [len(words), sum(heard) / len(heard), *of_themes]
        halves[r["model"], r["note"], r["pair"]][r["gender"]] = np.array(scores)
    return halves


SCORES = ("length", "sentiment", "needs", "competence", "family and friends")


@pytest.mark.parametrize("model", ["gemma", "llama3", "chatgpt", "t5"])
@pytest.mark.parametrize("score", SCORES)
def test_means_and_p_are_those_of_a_plain_count(plain, run, model, score):
    d = defaultdict(list)
    for (writer, note, _), pair in plain.items():
        if writer == model and len(pair) == 2:
            d[note].append((pair["female"] - pair["male"])[SCORES.index(score)])
    total, n = (np.array([f(each) for each in d.values()], dtype=float) for f in (sum, len))
    mean = total.sum() / n.sum()
    e = found(run, model, score)
    # The plain count hides no name; where that matters the difference as written stands beside.
    assert e.details.get("unmasked", e.value) == pytest.approx(mean, abs=1e-9)
    assert e.value == pytest.approx(mean, rel=0.03, abs=2e-3)
    plain_units = len(set(n.tolist())) == 1 and len(n) == e.n_clusters
    if plain_units and "unmasked" not in e.details:  # a t test on means of sources
        p = stats.ttest_1samp(total / n, 0.0).pvalue
        assert e.tests[0].p == pytest.approx(p, abs=1e-6)
    else:  # otherwise the sandwich variance of a weighted mean, near it
        error = np.sqrt(((total - n * mean) ** 2).sum() * len(n) / (len(n) - 1)) / n.sum()
        p = 2 * stats.t(len(n) - 1).sf(abs(mean) / error)
        assert e.tests[0].p == pytest.approx(p, rel=0.25, abs=1e-3)
