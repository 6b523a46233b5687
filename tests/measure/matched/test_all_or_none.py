"""What all answers of one group have, and none of the other, is found: a phrase, a yes or no."""

import pytest

import portrayal
from answers_world import answers
from fair_answers import fair_answers

PLANTED = " Bring the blue folder along."


def words_stated(run):
    return {
        word
        for e in run.records
        if e.tests and e.tests[0].audit_q is not None and e.tests[0].audit_q < 0.05
        for word in e.strata.get("word", "").split()
    }


@pytest.mark.parametrize("paired", [True, False])
def test_what_every_answer_of_one_group_says_is_stated(tmp_path, paired):
    rows = fair_answers(3) if paired else answers(200)
    name, key = ("gender", "text") if paired else ("user_gender", "answer")
    for row in rows:
        row[key] += PLANTED if row[name] == "man" else ""
    options = {"study": "pairs"} if paired else {}
    run = portrayal.audit(rows, out=tmp_path / "r", report=False, **options)
    assert words_stated(run) & set(PLANTED.strip(" .").casefold().split())


@pytest.mark.parametrize("paired", [True, False])
def test_a_score_of_yes_for_one_group_alone_is_tested_by_counts(tmp_path, paired):
    """Nothing varies within groups, so that there is no standard error: counts tell them apart."""
    rows = fair_answers(1) if paired else answers(40)
    name = "gender" if paired else "user_gender"
    for i, row in enumerate(rows):
        row["helped"] = str(row[name] == "man")
        row["third"] = str(i % 3 == 0)
    options = {"study": "pairs"} if paired else {}
    asked = {"out": tmp_path / "r", "report": False, **options}
    run = portrayal.audit(rows, score=["helped", "third"], **asked)
    by_score = {e.strata["score"]: e for e in run.records if "score" in e.strata}
    helped = by_score["helped"]
    assert abs(helped.value) == 1.0
    p = [test.p for test in helped.tests]
    assert len(p) == 2
    assert max(p) < 0.001
    low, high = sorted((abs(helped.interval.low), abs(helped.interval.high)))
    assert 0.5 < low < high == 1.0
    assert all(test.p > 0.001 for test in by_score["third"].tests)
