"""Which texts are of a matched set, and why others are left out."""

import pytest

from matched_pairs import pairs
from portrayal.errors import DataError, OptionError
from portrayal.measure.matched.sets import HALF, OTHER, REQUEST, TWICE, gender_sides


def exclusions(run):
    return dict(run.records[0].exclusions)


def test_texts_that_do_not_count_are_counted_by_reason(audited):
    rows = pairs()
    rows[0]["text"] = rows[0]["prompt"] = "Write about her."  # equal to its request
    rows.append(dict(rows[3]))  # stands twice
    rows[4]["text"] = "He left. He had his hat."  # of the female half
    del rows[7]  # its other half is missing
    run = audited(rows)
    assert exclusions(run) == {REQUEST: 1, TWICE: 1, OTHER: 1, HALF: 3}
    found = next(e for e in run.records if e.strata.get("score") == "length")
    assert found.n_units == 36 - 3


def test_a_text_whose_pair_is_blank_is_left_out(audited):
    rows = pairs()
    rows[0]["pair"] = ""
    assert exclusions(audited(rows)) == {"no value in pair": 1, HALF: 1}


def test_columns_are_found_by_usual_names(audited):
    rows = [{"case_id": r["pair"], "person": r["gender"], "answer": r["text"]} for r in pairs()]
    run = audited(rows, source=None)
    found = next(e for e in run.records if e.strata.get("score") == "length")
    assert (found.n_clusters, found.n_units) == (12, 36)  # as pairs are named
    assert found.group == {"person": "female − male"}


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        (lambda r: r | {"gender": "female"}, OptionError, "only 'female' there; a pair needs two"),
        (lambda r: r | {"pair": r["pair"] + r["gender"]}, DataError, "no pair has texts of two"),
        (lambda r: {"text": r["text"], "pair": r["pair"]}, OptionError, "Name it with --group"),
        (lambda r: {"text": r["text"], "gender": "x"}, OptionError, "--pair-by pair: no text"),
        (
            lambda r: {"text": r["text"], "gender": "x", "prompt": "one"},
            OptionError,
            r"--pair-by pair: no text has a value for it.*--column pair=NAME\.$",
        ),
    ],
)
def test_files_that_hold_no_pairs_are_refused_in_one_line(audited, change, error, words):
    with pytest.raises(error, match=words) as raised:
        audited([change(row) for row in pairs()], source=None)
    assert "\n" not in str(raised.value)


def test_a_column_of_many_values_is_no_group(audited):
    rows = [r | {"gender": f"g{i}"} for i, r in enumerate(pairs())]
    with pytest.raises(OptionError, match="group and at most 50 values"):
        audited(rows)
    with pytest.raises(OptionError, match="72 values, which are no groups"):
        audited(rows, group="gender")


def test_groups_are_told_to_be_genders_by_any_spelling():
    assert gender_sides(["F", "M"]) == {0: 0, 1: 1}
    assert gender_sides(["Man", "woman", "unknown"]) == {0: 1, 1: 0}
    assert gender_sides(["female", "robot"]) == {}


def test_where_all_texts_are_left_out_the_reasons_are_said(audited):
    with pytest.raises(DataError, match=r"Left out: 72 \(failed\)"):
        audited([r | {"outcome": "failed"} for r in pairs()])
