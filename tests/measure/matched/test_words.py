"""Words that nobody asked for: proposed on half of the sources, tested on the other half."""

import numpy as np
import pytest

from matched_pairs import pairs
from portrayal.measure.matched.words import ALSO, features, words_of


def planted(share, seed=2, n=60):
    rng = np.random.default_rng(seed)
    rows = pairs(n_sources=n, per_source=2, seed=seed)
    for row in rows:
        row["text"] = row["text"].replace(" She needs care.", "").replace(" He needs care.", "")
        if row["gender"] == "male" and rng.random() < share:
            row["text"] += " It was done with great vigour."
    return rows


def words(run):
    return [e for e in run.records if e.measure.startswith("pair_words") and e.tests]


def test_a_phrase_of_one_half_is_found(audited):
    found = [e for e in words(audited(planted(0.4))) if e.tests[0].audit_q < 0.05]
    assert found
    assert len(found) == 1  # the words of one sentence are one finding, with more of it beside
    assert any(name.startswith(ALSO) for name in found[0].details)
    said = {"it", "was", "done", "do", "with", "great", "vigour"}
    assert all(set(e.strata["word"].split()) <= said for e in found)
    assert all(e.value < 0 for e in found)


def test_nothing_is_found_where_nothing_was_planted(audited):
    assert not [e for e in words(audited(planted(0.0))) if e.tests[0].audit_q < 0.05]


def test_tests_rest_on_other_sources_than_proposals(audited):
    found = words(audited(planted(0.4)))
    (estimate, *_) = found
    assert 0 < estimate.n_clusters < 60
    # The value is the plain difference of shares among the sources that test: whole answers.
    with_second = estimate.details["with_first"] - estimate.value * estimate.n_units
    assert with_second == pytest.approx(round(with_second))
    assert 0 <= round(with_second) <= estimate.n_units


def test_sets_that_were_refused_whole_leave_the_others_as_they_are(audited):
    """What the sets behind a refused one say is not counted as of their neighbours."""
    rows = planted(0.4)
    refused = {f"n{source}" for source in range(8)}
    others = [row for row in rows if row["note"] not in refused]
    for row in rows:
        if row["note"] in refused:
            row["text"] = "I'm sorry, but I cannot help with that."
    found, expected = (
        {(e.strata["kind"], e.strata["word"]): e.value for e in words(audited(each))}
        for each in (rows, others)
    )
    assert expected
    assert found == pytest.approx(expected)


def test_words_of_the_persons_and_their_names_are_joined():
    neutral = {"she": "he/she", "he": "he/she"}
    woman, man = (
        features(words_of("She met Ann Lee.", neutral, [(8, 15)])),
        features(words_of("He met Bo.", neutral, [(7, 9)])),
    )
    assert woman == man
    assert "^ he/she met [name]" in woman


def test_halves_exchanged_by_coins_find_nothing_more_often_than_they_may(audited):
    """Half of the words differ within pairs; which half says them is a coin."""
    rng = np.random.default_rng(4)
    rows = pairs(n_sources=40, per_source=1, seed=9)
    for i in range(0, len(rows), 2):
        texts = [rows[i]["text"].replace("She", "It"), rows[i + 1]["text"].replace("He", "It")]
        texts[0] += " A tall clock rang."
        rng.shuffle(texts)
        rows[i]["text"], rows[i + 1]["text"] = texts
    run = audited(rows)
    assert not [e for e in run.records if e.tests and (e.tests[0].audit_q or 1.0) < 0.05]


def test_words_of_a_few_prompts_are_found_no_more_often_than_they_may_be(audited):
    """Answers to three prompts of words drawn alike for both halves: most audits state nothing."""
    rng, words_of_all = np.random.default_rng(5), np.array([f"w{chr(97 + i)}" for i in range(26)])
    false = seen = 0
    for world in range(20):
        rows = [
            {"case": str(case), "gender": gender, "text": f"Answer {i}. {' '.join(drawn)}."}
            for case in range(3)
            for gender in ("female", "male")
            for i, drawn in enumerate(rng.choice(words_of_all, (40, 12)))
        ]
        run = audited(rows, source=None, scorers=("length",), seed=world)
        q = [e.tests[0].audit_q for e in words(run)]
        seen += bool(q)
        false += any(one is not None and one < 0.05 for one in q)
    assert seen >= 5
    assert false <= 3
