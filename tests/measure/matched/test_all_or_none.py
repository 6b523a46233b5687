"""A phrase that all answers of one group have, and none of the other, is found."""

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
