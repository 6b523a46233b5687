"""What pairs were made from: by a column, by their names, by texts that stand twice."""

import pytest

from matched_pairs import pairs
from portrayal.annotate.scores import TEXT_SCORES
from portrayal.errors import DataError
from portrayal.measure.matched.units import units_of


def units(run, source="source"):
    return units_of(run, run.annotations(TEXT_SCORES.name), source, "en-US")


def length(run):
    return next(e for e in run.records if e.strata.get("score") == "length")


def number(row):
    source, version = map(int, row["pair"].split("-"))
    return 3 * source + version


def unnamed(name=lambda row: str(number(row))):
    """Rows without a column of sources, whose pairs are called otherwise."""
    return [{**{k: v for k, v in r.items() if k != "note"}, "pair": name(r)} for r in pairs()]


def test_pairs_that_are_named_after_their_source_are_of_it(audited):
    run = audited(unnamed(lambda row: row["pair"]), source=None)
    found = units(run)
    assert found.noun == "source"
    assert found.of_pair["m", "3-1"] == "3"
    assert found.lines[0].startswith("36 pairs of 12 sources, which their names begin with")
    named = length(audited(pairs()))
    assert length(run).n_clusters == named.n_clusters == 12
    assert length(run).tests[0].p == named.tests[0].p
    alone = length(audited(unnamed(lambda row: row["pair"]), source="pair"))
    assert alone.n_clusters == 36


@pytest.mark.parametrize(
    "name",
    [
        lambda row: str(number(row)),
        lambda row: f"p-{number(row)}",  # one beginning
        lambda row: f"{number(row) // 9}-{number(row) % 9}",  # four beginnings, as of conditions
        lambda row: f"{number(row) // 3}-{number(row)}",  # endings of one pair each
    ],
)
def test_other_names_of_pairs_tell_no_source(audited, name):
    run = audited(unnamed(name), source=None)
    assert units(run).noun == "pair"
    assert not units(run).lines
    assert length(run).n_clusters == 36


def test_pairs_of_one_text_are_one_unit_whether_or_not_a_column_says_so(audited):
    rows = unnamed()
    for i in range(0, len(rows), 6):  # the woman's text of the first two pairs of three is the same
        words = f"She saw house {i} and walked down the long road to the river again."
        rows[i]["text"], rows[i + 2]["text"] = words, words
        # And the man's text of the third pair says it of him.
        rows[i + 5]["text"] = words.replace("She", "He")
    run = audited(rows, source=None)
    assert length(run).n_clusters == 12
    (line,) = units(run).lines
    assert line.startswith("m: 36 pairs share a text with another one")
    assert line.endswith("such pairs are one unit: 12 in place of 36 pairs")
    told = [r | {"note": f"n{number(r)}"} for r in map(dict, pairs())]
    for row, same in zip(told, rows, strict=True):
        row["text"] = same["text"]
    assert length(audited(told)).n_clusters == 12


def test_short_texts_and_what_is_always_said_join_nothing(audited):
    rows = unnamed()
    for row in rows[::2][:6]:
        row["text"] = "She is very well today."
    for row in rows[::2][6:]:
        row["text"] = "Please call our team on any working day and she will get help."
    assert length(audited(rows, source=None)).n_clusters == 36


def test_of_many_answers_one_that_is_another_requests_too_joins_nothing(audited):
    rows = [
        {"pair": str(n), "gender": group, "text": f"They saw the old house and the road, {n} {i}."}
        for n in range(8)
        for group in ("female", "male")
        for i in range(8)
    ]
    for n in range(8):
        rows[16 * n]["text"] = "They saw the old house and then the river and the bridge."
    assert length(audited(rows, source=None)).n_clusters == 8
    for n in range(8):
        for i in range(4):
            rows[16 * n + i]["text"] = f"They saw the old house and then the river bridge, {i}."
    assert length(audited(rows, source=None)).n_clusters == 1


def test_pairs_with_the_same_requests_are_one_unit(audited):
    rows = unnamed()
    for row in rows:
        request = f"Write about {'her' if row['gender'] == 'female' else 'him'} in case"
        row["prompt"] = f"{request} {int(row['pair']) // 2}."
    run = audited(rows, source=None)
    assert length(run).n_clusters == 18
    assert units(run).lines[0].startswith("m: 36 pairs have the requests of another one")


def test_a_unit_is_called_as_its_column(audited):
    run = audited(pairs())
    assert units(run, "note").noun == "note"
    assert length(run).interval.method.endswith("over notes, Satterthwaite degrees of freedom")


def test_a_template_or_a_name_that_both_halves_have_is_the_unit(audited):
    rows = [r | {"template": f"t{int(r['pair']) % 6}"} for r in unnamed()]
    run = audited(rows, source=None)
    assert (units(run).noun, length(run).n_clusters) == ("template", 6)
    one = [r | {"template": "the same"} for r in unnamed()]
    assert length(audited(one, source=None)).n_clusters == 36
    taught = [r | {"professor_name": f"Prof. {int(r['pair']) % 9}"} for r in unnamed()]
    run = audited(taught, source=None)
    assert (units(run).noun, length(run).n_clusters) == ("professor", 9)
    persons = [r | {"name": f"{r['gender']} {int(r['pair']) % 9}"} for r in unnamed()]
    assert length(audited(persons, source=None)).n_clusters == 36


def test_two_columns_of_units_are_asked_about(audited):
    rows = [r | {"template": "a", "note": "b"} for r in unnamed()]
    with pytest.raises(DataError, match=r"'note', 'template' can all be read as source.*source="):
        audited(rows, source=None)
    assert units(audited(rows, source="note"), "note").noun == "note"
