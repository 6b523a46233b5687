"""The user's own names are no finding, and what is planted beside them is one."""

import pytest

import portrayal
from fair_answers import LONG, MEN, PHRASE, SHORT, WOMEN, fair_answers
from support import matrix

GREETINGS, SYLLABLES = (WOMEN, MEN), (LONG, SHORT)


def audit(rows, folder, **options):
    return portrayal.audit(study="pairs", texts=rows, out=folder, report=False, **options)


def stated(run):
    """What an audit states: the words and scores, with their values."""
    return {
        e.strata.get("word", e.strata.get("score")): e.value
        for e in run.records
        if e.tests and e.tests[0].audit_q is not None and e.tests[0].audit_q < 0.05 and e.enough
    }


@pytest.mark.parametrize("names", matrix([(GREETINGS,), (SYLLABLES,)]))
@pytest.mark.parametrize("columns", matrix([(("prompt",),), ((),)]))
def test_who_is_greeted_by_name_is_no_finding(tmp_path, names, columns):
    rows = fair_answers(1, names=names)
    rows = [{k: v for k, v in row.items() if k != "prompt" or columns} for row in rows]
    assert not stated(audit(rows, tmp_path))


def test_what_is_planted_beside_names_is_stated(tmp_path):
    longer = stated(audit(fair_answers(2, longer=0.1), tmp_path / "longer"))
    assert longer["length"] < -3.0  # man − woman
    phrase = stated(audit(fair_answers(2, phrase=0.3, names=SYLLABLES), tmp_path / "phrase"))
    assert any(set(word.split()) & set(PHRASE.split()) for word in phrase)


def test_what_is_masked_stands_beside_untested(tmp_path):
    run = audit(fair_answers(0, names=SYLLABLES), tmp_path)
    (grades,) = [
        e
        for e in run.records
        if e.strata.get("score") == "readability" and e.strata["part"] == "all"
    ]
    assert abs(grades.value) < 0.2
    assert grades.details["unmasked"] < -0.7  # women have the longer names; man − woman is below 0
    names = {name.lower() for name in (*LONG, *SHORT)}
    assert names.isdisjoint(e.strata.get("word") for e in run.records)


def test_words_that_are_names_too_stay_words(tmp_path):
    """Half of the answers hope; nobody is called so, and no hope of the texts is hidden."""
    rows = fair_answers(3)
    for row in rows:
        row["text"] += " I will hope with joy." if row["gender"] == "man" else ""
    found = stated(audit(rows, tmp_path))
    assert any({"hope", "joy"} & set(word.split()) for word in found)
