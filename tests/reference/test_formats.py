"""Name tables of the user's own, in each format, good and bad."""

import gzip
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from portrayal.errors import DataError, OptionError
from portrayal.reference.factors import load_factor
from portrayal.reference.formats import OTHER, race_group, share_columns
from portrayal.reference.names import mena_nhpi_table, name_table

Write = Callable[[str, str], Path]


def voter(first: str, race: str, county: str = "ALA") -> str:
    fields = [""] * 38
    fields[0], fields[2], fields[4], fields[20] = county, "Núñez", first, race
    fields[7] = '12 "odd street'  # a lone quotation mark must not swallow lines
    return "\t".join(fields)


def test_shares_without_counts_have_no_population(write: Write) -> None:
    path = write("mine.csv", "Name,White,Hispanic,Black\nAna,0.2,0.7,0.1\nBo,0.5,0.25,0.25\n")
    table = name_table(path)
    assert table.races == ("White", "Latine", "Black")
    assert (table.name, table.version, table.min_count) == ("mine.csv", "shares", 0)
    np.testing.assert_allclose(
        table.likelihoods(["ANA", "bo"]), [[0.2, 0.7, 0.1], [0.5, 0.25, 0.25]]
    )
    assert table.population == {}
    assert np.isnan(table.n_people)
    with pytest.raises(OptionError, match="Add a column 'count'"):
        name_table(path, min_count=5)


def test_headers_are_the_spellings_of_the_factor(write: Write) -> None:
    race = load_factor("race")
    for group in race.groups:
        for spelling in (group.key, group.label, *group.also):
            assert share_columns([spelling, spelling.upper(), f"pct_{spelling}"]) == dict.fromkeys(
                (spelling, spelling.upper(), f"pct_{spelling}"), group.key
            )
    assert {race_group(spelling) for spelling in race.rest} == {OTHER}
    path = write("t.csv", 'Name,Caucasian,"Middle Eastern and North African"\nAna,0.6,0.4\n')
    assert name_table(path).races == ("White", "MENA")


def test_percentages_with_counts(write: Write) -> None:
    text = (
        "firstname\tobs\tpcthispanic\tpctwhite\tpct2prace\nANA\t40\t70\t20\t10\nBO\t10\t0\t99\t1\n"
    )
    table = name_table(write("t.tab", text))
    assert (table.version, table.min_count, table.n_names) == ("percentages", 30, 1)
    np.testing.assert_allclose(table.likelihoods(["Ana", "Bo"]), [[0.2, 0.7], [np.nan] * 2])
    assert table.population == pytest.approx({"White": 0.2, "Latine": 0.7})
    assert table.notes == ("1 names with fewer than 30 bearers left out",)
    every = name_table(write("t.tab", text), min_count=1)
    assert every.population["White"] == pytest.approx((40 * 0.2 + 10 * 0.99) / 50)


def test_counts_by_race_include_the_others_in_the_whole(write: Write) -> None:
    text = "name,white,black,asian,other,unknown\nAna,150,20,10,15,5\nBo,5,0,0,0,0\n"
    table = name_table(write("counts.csv", text))
    np.testing.assert_allclose(table.likelihoods(["Ana"]), [[0.75, 0.1, 0.05]])
    assert (table.version, table.n_names, table.n_people) == ("counts", 1, 200)


def test_counts_with_a_total(write: Write) -> None:
    path = write("counts.csv", "name,count,count_mena,count_nhpi\nAli,200,150,0\nTui,120,0,90\n")
    table = mena_nhpi_table(path)
    assert table.races == ("MENA", "NH/PI")
    np.testing.assert_allclose(table.likelihoods(["Ali", "Tui"]), [[0.75, 0], [0, 0.75]])


def test_spellings_of_one_name_merge_by_count(write: Write) -> None:
    path = write("dup.csv", "name,count,white,black\nANA,300,1,0\nAna,100,0,1\n ana ,100,0,1\n")
    table = name_table(path)
    np.testing.assert_allclose(table.likelihoods(["Ana"]), [[0.6, 0.4]])
    assert table.notes == ("2 spellings merged with another by count",)


def test_rosenman_probabilities(write: Write) -> None:
    header = "name,whi,bla,his,asi,oth\n"
    path = write("first_nameRaceProbs.csv", header + "ANA,0.2,0.1,0.6,0.05,0.05\n"
                 "ALL OTHER NAMES,0.5,0.2,0.2,0.05,0.05\n")  # fmt: skip
    table = name_table(path)
    assert table.races == ("White", "Latine", "Black", "Asian")
    assert table.n_names == 1
    np.testing.assert_allclose(table.likelihoods(["Ana"]), [[0.2, 0.6, 0.1, 0.05]])
    rows = [f"N{'abcdefghijklmnopqrstuvwxy'[k]},0.04,0.04,0.04,0.04,0.04" for k in range(25)]
    wrong = write("first_raceNameProbs.csv", header + "\n".join(rows) + "\n")
    with pytest.raises(DataError, match="first_nameRaceProbs"):
        name_table(wrong)


def test_the_census_file_as_released(tmp_path: Path) -> None:
    text = (
        "name,rank,count,prop100k,cum_prop100k,pctwhite,pctblack,pctapi,pctaian,pct2prace,"
        "pcthispanic,pctmale,pctfemale\nMICHAEL,1.0,3476715,1151.12,1151.12,79.02,7.89,1.91,0.53,"
        "2.86,7.79,99.79,0.21\nALL OTHER NAMES,,18794703,6222.81,100000.0,25.09,28.86,23.54,0.88,"
        "3.85,17.78,41.34,58.66\n"
    )
    path = tmp_path / "census.csv.gz"
    path.write_bytes(gzip.compress(text.encode()))
    table = name_table(path)
    assert table.n_names == 1
    shipped = name_table().likelihoods(["Michael"])
    np.testing.assert_allclose(table.likelihoods(["Michael"]), shipped, atol=1e-12)


def test_parquet_of_the_users_own(tmp_path: Path) -> None:
    path = tmp_path / "mine [1].parquet"
    columns = {"name": ["Zoë", "Bo"], "count": [50, 60], "share_white": [0.5, 1.0]}
    pq.write_table(pa.table(columns), path)
    np.testing.assert_allclose(name_table(path).likelihoods(["zoe", "Bo"]), [[0.5], [1.0]])


def test_one_row_per_voter(write: Write) -> None:
    rows = ["Diaz,,Ana,,hispanic"] * 30 + ["Diaz,,ANA,,nh_white"] * 9 + ["Diaz,,Ana,,native_indian"]
    random.Random(7).shuffle(rows)
    header = "name_last,name_suffix,name_first,name_middle,race\n"
    table = name_table(write("fl_reg_name_race.csv", header + "\n".join(rows) + "\n"))
    assert table.version == "one row per person"
    assert table.races == ("White", "Latine", "AI/AN")
    np.testing.assert_allclose(table.likelihoods(["Ana"]), [[0.225, 0.75, 0.025]])


def test_aggregated_rows_give_the_same_as_single_ones(write: Write) -> None:
    rows = ["ana,White (Not Hispanic),9", "Ana,Hispanic,30", "ANA,Asian Or Pacific Islander,0",
            "ana,American Indian or Alaskan Native,1", "Bo,,40", ",Hispanic,5"]  # fmt: skip
    table = name_table(write("agg.csv", "first_name,race,n\n" + "\n".join(rows) + "\n"))
    assert table.version == "counts by name and race"
    shares = dict(zip(table.races, table.likelihoods(["Ana"])[0], strict=True))
    assert shares == pytest.approx({"White": 0.225, "Latine": 0.75, "Asian": 0, "AI/AN": 0.025})
    assert table.likelihoods(["Bo"]).sum() == 0
    assert table.n_people == 80


def test_a_changed_file_is_read_again(write: Write) -> None:
    path = write("mine.csv", "name,white,black\nAna,0.2,0.8\nBo,0.5,0.5\n")
    assert name_table(path) is name_table(str(path))
    before = name_table(path).likelihoods(["Ana"])[0, 0]
    write("mine.csv", "name,white,black\nAna,0.25,0.75\nBo,0.5,0.5\n")
    assert (before, name_table(path).likelihoods(["Ana"])[0, 0]) == (0.2, 0.25)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.csv", "first,last\nAna,Diaz\n", "expected a column 'name'.*found first, last"),
        ("a.csv", "name,white,black\nAna,0.2,(S)\n", r"column 'black' has no number for 'Ana'"),
        ("a.csv", "name,white,black\nAna,0.7,0.8\nBo,0.5,0.25\n", "sum to more than 1 "),
        ("a.csv", "name,white,black\nAna,70.5,80.5\nBo,50,25\n", "not whole"),
        ("a.csv", "name,pctwhite,pctblack\nAna,80,70\n", "sum to more than 100"),
        ("a.csv", "name,share_white\nAna,1.5\n", "sum to more than 1 "),
        ("a.csv", "name,white,black\nAna,1.2,-0.2\n", "below 0"),
        ("a.csv", "name,n,white,black\nAna,5,40,200\n", "more than the count column"),
        ("a.csv", "name,white,nh_white\nAna,0.5,0.5\n", "all name White; keep one"),
        ("a.csv", "name,white\n", "no rows"),
        ("a.csv", "name,race\nAna,martian\n", "'martian'"),
        ("a.csv", "name,race\n,white\n", "no row has both"),
        ("a.csv", "name,race,count\nAna,white,many\n", "'count' should hold"),
        ("a.xlsx", "", "Save the table as CSV"),
        ("a.json", "{}", "docs/name-tables.md"),
        ("empty/readme.md", "", "found '.md'"),
        ("a.parquet", "not parquet", "cannot be read as a table"),
    ],
)
def test_bad_files_say_what_is_wrong(write: Write, name: str, text: str, message: str) -> None:
    path = write(name, text)
    with pytest.raises(DataError, match=message) as caught:
        name_table(path)
    assert path.name in str(caught.value)
