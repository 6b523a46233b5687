import re
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

import portrayal.reference as reference
from portrayal.errors import UnknownNameError
from portrayal.reference.groups import GENDERS, RACES, countries, gender_words
from portrayal.reference.names import mena_nhpi_table, name_table
from portrayal.reference.shipped import data_file, published, published_tables

DATA = Path(str(data_file("README.md"))).parent
FILES = sorted(p.relative_to(DATA).as_posix() for p in DATA.rglob("*") if p.is_file())
LISTED = {
    cells[0].strip("` "): [cell.strip() for cell in cells[1:]]
    for line in data_file("README.md").read_text(encoding="utf-8").splitlines()
    if line.startswith("| `") and (cells := line.strip("|\n ").split(" | "))
}


@pytest.mark.parametrize("file", [file for file in FILES if file != "README.md"])
def test_every_file_has_source_and_licence(file: str) -> None:
    what, rows, source, licence, made = LISTED[file]
    assert all((what, source, licence, made))
    if file.startswith("published/"):
        assert int(rows) == published(Path(file).stem).num_rows
    elif file.endswith(".csv"):
        lines = (DATA / file).read_text(encoding="utf-8").splitlines()
        assert int(rows) == len(lines) - 1
    if file.endswith(".parquet"):
        assert int(rows.replace(",", "")) == pq.read_metadata(DATA / file).num_rows


def test_the_readme_lists_nothing_else() -> None:
    assert set(LISTED) == set(FILES) - {"README.md"}


@pytest.mark.parametrize("file", [file for file in FILES if file.endswith(".parquet")])
def test_shares_are_fractions(file: str) -> None:
    table = pq.ParquetFile(DATA / file).read()
    assert table["name"].null_count == 0
    assert len(set(table["name"].to_pylist())) == table.num_rows
    for column in sorted(set(table.column_names) - {"name", "count"}):
        values = np.array(table[column].to_pylist())
        assert values.min() >= 0
        assert values.max() <= 1


def test_the_census_fits_in_the_package() -> None:
    assert (DATA / "census_2020_first_names.parquet").stat().st_size < 1_200_000


def test_race_shares_of_the_census_sum_to_one_with_several_races() -> None:
    table = pq.ParquetFile(DATA / "census_2020_first_names.parquet").read()
    columns = ("white", "latine", "black", "asian", "aian", "multiracial")
    total = sum(np.array(table[column].to_pylist()) for column in columns)
    np.testing.assert_allclose(total, 1.0, atol=3e-4)


def test_every_published_name_is_in_the_census_table() -> None:
    rows = published("shieh_common_names").to_pylist()
    five = {row["name"] for row in rows if row["race"] != "MENA"}
    every = sorted({row["name"] for row in rows})
    assert (len(five), len(every)) == (91, 105)
    assert not np.isnan(name_table().likelihoods(every)).any()


def test_documented_differences_from_the_published_likelihoods() -> None:
    rows = published("shieh_common_names").to_pylist()
    pairs = {(row["race"], row["name"]): row["racial_likelihood_percent"] for row in rows}
    found = {}
    for table in (name_table(), mena_nhpi_table()):
        for k, race in enumerate(table.races):
            printed = {name: share for (group, name), share in pairs.items() if group == race}
            ours = 100 * table.likelihoods(list(printed))[:, k]
            off = np.abs(ours - np.array(list(printed.values())))
            if len(off):
                found[race] = (round(float(np.nanmean(off)), 1), int(np.sum(~np.isnan(off))))
    assert found == {
        "White": (4.6, 23),
        "Latine": (11.6, 17),
        "Black": (12.9, 26),
        "Asian": (19.0, 25),
        "MENA": (18.6, 11),
    }


def test_published_tables_are_listed_and_unknown_ones_refused() -> None:
    assert "shieh_representation_ratios" in published_tables()
    with pytest.raises(UnknownNameError, match="shieh_common_names"):
        published("shieh_everything")


def test_gender_words_are_lower_case_and_disjoint() -> None:
    words = gender_words()
    assert tuple(words) == GENDERS
    assert words["NB"] == {"they", "them", "their", "theirs", "themselves", "mx"}
    assert len(words["F"] | words["M"] | words["NB"]) == sum(map(len, words.values())) == 35
    assert all(re.fullmatch("[a-z]+", word) for group in words.values() for word in group)


def test_countries_cover_the_races_no_self_report_lists() -> None:
    lists = countries()
    assert set(lists) == {"MENA", "NH/PI"} < set(RACES)
    assert {race: len(names) for race, names in lists.items()} == {"MENA": 26, "NH/PI": 30}


def test_the_door_is_complete_and_documented() -> None:
    modules = {path.stem for path in DATA.parent.glob("*.py")}
    seen = {name for name in vars(reference) if name[0] not in "_@"}  # "@" is pytest's
    assert set(reference.__all__) <= seen <= set(reference.__all__) | modules
    for name in reference.__all__:
        if callable(getattr(reference, name)):
            assert getattr(reference, name).__doc__
