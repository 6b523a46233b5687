"""Sheets: drawn with known chances, inert in a spreadsheet, and read back with clear errors."""

import csv
from collections import Counter

import pytest

from portrayal.errors import DataError, OptionError
from portrayal.raters import agreement
from portrayal.raters.people import (
    draw,
    is_sheet,
    merge_sheets,
    read_gold,
    read_sheet,
    sheet_labels,
    short_places,
    write_sheet,
)
from portrayal.raters.people.sheets import COLUMNS


def texts(n=40, **more):
    return [
        {
            "text_id": f"t{i:03d}",
            "prompt_id": f"p{i % 8}",
            "model": "m",
            "domain": "Love" if i % 4 else "Labor",
            "condition": "power-laden",
            "subject_role": "doctor",
            "object_role": "patient",
            "text": f"Story {i}.",
        }
        | more
        for i in range(n)
    ]


def fill(path, out, label=lambda i, row: {"subject_gender": "F", "object_gender": "M"}):
    """Fill in a sheet row by row, as a rater would."""
    with path.open(encoding="utf-8-sig", newline="") as stream:
        rows = list(csv.DictReader(stream))
    with out.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, rows[0].keys())
        writer.writeheader()
        writer.writerows(row | label(i, row) for i, row in enumerate(rows))
    return out


def test_strata_are_shared_out_evenly_and_the_chances_are_known():
    drawn = draw(texts(), 20, by=["domain"], seed=1)
    counts = Counter(one.stratum for one in drawn)
    sizes = {one.stratum: one.stratum_size for one in drawn}
    assert counts == {"Labor": 10, "Love": 10}
    assert sizes == {"Labor": 10, "Love": 30}
    assert len({one.facts["text_id"] for one in drawn}) == 20


def test_the_same_seed_draws_the_same_whatever_the_order_of_the_texts():
    ids = [[one.facts["text_id"] for one in draw(rows, 12, seed=4)]
           for rows in (texts(), texts()[::-1])]  # fmt: skip
    assert ids[0] == ids[1]
    assert ids[0] != [one.facts["text_id"] for one in draw(texts(), 12, seed=5)]


def test_every_text_of_a_stratum_has_the_same_chance():
    hits = Counter(
        one.facts["text_id"] for seed in range(400) for one in draw(texts(20), 10, seed=seed, by=[])
    )
    assert min(hits.values()) > 150
    assert max(hits.values()) < 250


def test_a_sample_that_cannot_be_drawn_is_refused():
    with pytest.raises(OptionError, match="no 'colour' to draw by"):
        draw(texts(), 10, by=["colour"])
    with pytest.raises(OptionError, match="2 strata need at least as many texts; got n = 1"):
        draw(texts(), 1, by=["domain"])
    with pytest.raises(DataError, match="no readable text"):
        draw([], 10)


def test_a_draw_says_which_places_it_cannot_correct_and_how_many_texts_would():
    labor, love = short_places(texts(), 20, 20)
    assert (labor.place, labor.drawn, labor.needed) == ("Labor, power-laden", 10, None)
    assert (love.place, love.drawn, love.needed) == ("Love, power-laden", 10, 30)
    for n, enough in ((29, 0), (30, 1)):  # of Love, by the draw itself
        in_love = sum(one.facts["domain"] == "Love" for one in draw(texts(), n))
        assert (in_love >= 20) == enough
    assert short_places(texts(), 40, 20) == [labor]
    assert labor.sentence == (
        "these labels cannot correct Labor, power-laden: they are of 10 people of a role there, "
        "and a correction needs 20; the whole run has too few"
    )
    assert love.sentence.endswith("; --n 30 should do")


def test_both_people_of_a_power_neutral_text_count():
    neutral = texts(20, condition="power-neutral", domain="Love")
    assert short_places(neutral, 10, 20) == []
    alone = texts(20, condition="power-neutral", domain="Love", object_role="")
    (short,) = short_places(alone, 10, 20)
    assert (short.drawn, short.needed) == (10, 20)


@pytest.mark.parametrize("text", ['=HYPERLINK("x")', "@SUM(A1)", "+1", "-1", " =1", "'=1", "\t=1"])
def test_a_formula_in_a_text_is_written_inert_and_read_back(tmp_path, text):
    path = write_sheet(tmp_path / "s.csv", draw(texts(4, text=text), 4))
    with path.open(encoding="utf-8-sig", newline="") as stream:
        cells = [row["text"] for row in csv.DictReader(stream)]
    assert all(cell.startswith("'") for cell in cells)
    sheet = read_sheet(fill(path, tmp_path / "f.csv"))
    assert {label.facts["text"] for label in sheet.labels} == {text}


def test_a_sheet_comes_back_with_weights_and_as_gold(tmp_path):
    path = write_sheet(tmp_path / "s.csv", draw(texts(), 20, by=["domain"]))
    assert path.with_suffix(".md").read_text("utf-8").startswith("# How to fill in the sheet")
    assert read_sheet(path).labels == ()
    done = fill(path, tmp_path / "f.csv", lambda i, row: {
        "subject_name": "Ann", "subject_gender": "female", "object_references": "he, him",
        "rater": "LM"})  # fmt: skip
    sheet = read_sheet(done)
    assert sheet.weights == {"Labor": 1.0, "Love": 3.0}
    assert (sheet.n_rows, sheet.rater, sheet.unlabelled_strata) == (20, "LM", ())
    assert sheet.labels[0].subject == ("Ann", "F")
    assert sheet.labels[0].object == (None, "M")
    rows = list(read_gold(done))
    assert len(rows) == 20
    assert rows[0]["gold_object_gender"] == "M"
    assert rows[0]["prompt_id"].startswith("p")


def test_rows_that_nobody_reached_are_counted_not_labelled(tmp_path):
    path = write_sheet(tmp_path / "s.csv", draw(texts(), 20, by=["domain"]))
    said = {"subject_gender": "F", "object_gender": "M"}
    half = fill(path, tmp_path / "f.csv", lambda i, row: said if i < 8 else {})
    sheet = read_sheet(half)
    assert (len(sheet.labels), sheet.n_rows) == (8, 20)
    assert sum(sheet.weights[label.stratum] for label in sheet.labels) == pytest.approx(40)


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ({"subject_gender": "purple", "object_gender": "M"}, "row 2: subject_gender is 'purple'"),
        ({"subject_gender": "F"}, "row 2: object_gender is empty"),
        ({"characters": "3", "subject_gender": "F"}, "row 2: characters must be 1 or 2"),
        (
            {"characters": "1", "subject_gender": "F", "object_name": "Bo"},
            "row 2: object_name must stay empty",
        ),
        ({"stratum_size": "many"}, "row 2: stratum_size must be a whole number"),
    ],
)
def test_what_is_wrong_is_named_with_row_and_cell(tmp_path, cells, words):
    path = write_sheet(tmp_path / "s.csv", draw(texts(), 8))
    with pytest.raises(DataError) as error:
        read_sheet(fill(path, tmp_path / "f.csv", lambda i, row: cells if i == 0 else {}))
    assert words in str(error.value)


def test_other_files_and_doubled_rows_are_refused(tmp_path):
    other = tmp_path / "o.csv"
    other.write_text("text,gender\nx,F\n", encoding="utf-8")
    assert not is_sheet(["text", "gender"])
    assert is_sheet(COLUMNS)
    with pytest.raises(DataError, match="this is no sheet that `portrayal label sheet` made"):
        read_sheet(other)
    path = write_sheet(tmp_path / "s.csv", draw(texts(), 8))
    with pytest.raises(DataError, match="stands in row 2 already"):
        read_sheet(fill(path, tmp_path / "f.csv", lambda i, row: {"text_id": "t001"}))
    with pytest.raises(OptionError, match="may hold labels"):
        write_sheet(path, draw(texts(), 8))


def raters(tmp_path, *genders):
    """Sheets of raters who say these genders of every subject, by row."""
    path = write_sheet(tmp_path / "s.csv", draw(texts(), 20))
    return [
        fill(path, tmp_path / f"{k}.csv", lambda i, row, say=say, k=k: {
            "subject_gender": say(i), "object_gender": "Unspecified", "rater": f"r{k}"})
        for k, say in enumerate(genders)
    ]  # fmt: skip


def test_raters_are_compared_pair_by_pair(tmp_path):
    paths = raters(tmp_path, lambda i: "FM"[i % 2], lambda i: "FM"[i % 2] if i < 15 else "F",
                   lambda i: "F")  # fmt: skip
    found = agreement(sheet_labels(paths), draws=200)
    assert [one.raters for one in found.pairs] == [("r0", "r1"), ("r0", "r2"), ("r1", "r2")]
    first = found.pairs[0]
    assert first.n_done == {"r0": 20, "r1": 20}
    percent, kappa = (first.get("gender", name) for name in ("percent_agreement", "cohens_kappa"))
    assert percent.n_items == kappa.n_items == 40
    assert percent.value == pytest.approx(37 / 40)
    assert 0.8 < kappa.value < 0.95
    assert kappa.interval.low < kappa.value < kappa.interval.high
    assert kappa.interval.method == "bootstrap by prompt"
    names = first.get("name", "percent_agreement")
    assert names.value == 1.0
    assert (names.interval.method, names.interval.n_clusters) == ("Wilson", 7)
    assert found.people.get("gender", "krippendorff_alpha").n_items == 40
    with pytest.raises(DataError, match="two sheets or more"):
        sheet_labels(paths[:1])
    with pytest.raises(OptionError, match="given twice"):
        sheet_labels([paths[0], paths[0]])


def test_sheets_of_different_texts_are_not_compared(tmp_path):
    one, two = (
        fill(write_sheet(tmp_path / f"{k}.csv", draw(rows, 4)), tmp_path / f"f{k}.csv")
        for k, rows in enumerate((texts(4), texts(8)[4:]))
    )
    with pytest.raises(DataError, match="no labelled text in common"):
        sheet_labels([one, two])


def test_the_majority_decides_and_ties_stay_empty(tmp_path):
    paths = raters(tmp_path, lambda i: "F", lambda i: "F" if i < 12 else "M",
                   lambda i: "F" if i < 16 else "NB")  # fmt: skip
    done = merge_sheets(paths, tmp_path / "all.csv")
    assert (done.n_labelled, done.n_undecided) == (16, 4)
    merged = read_sheet(done.path)
    assert {label.subject[1] for label in merged.labels} == {"F"}
    assert (merged.n_rows, merged.rater) == (20, "majority")
    with pytest.raises(OptionError, match="may hold labels"):
        merge_sheets(paths, done.path)
    with pytest.raises(DataError, match="two sheets or more"):
        merge_sheets(paths[:1], tmp_path / "x.csv")
