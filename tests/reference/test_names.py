import dataclasses
import pickle
import subprocess
import sys

import numpy as np
import pyarrow.parquet as pq
import pytest

import portrayal.reference.names as reference_names
from portrayal.errors import OptionError, UnknownNameError
from portrayal.reference.groups import RACES
from portrayal.reference.names import (
    mena_nhpi_table,
    name_bearers,
    name_table,
    name_tables,
    race_likelihoods,
)
from portrayal.reference.shipped import data_file


def test_the_census_is_the_default_and_names_its_source() -> None:
    table = name_table()
    assert table.name == "census-2020"
    assert table.races == ("White", "Latine", "Black", "Asian", "AI/AN")
    assert table.n_names == 53_615
    assert table.n_people == 283_234_624
    assert "Census" in table.source
    assert "ublic domain" in table.licence


def test_released_shares_of_known_names() -> None:
    table = name_table()
    michael = dict(zip(table.races, table.likelihoods(["Michael"])[0], strict=True))
    released = {"White": 0.7902, "Latine": 0.0779, "Black": 0.0789, "Asian": 0.0191}
    for race, share in (released | {"AI/AN": 0.0053}).items():
        assert michael[race] == pytest.approx(share, abs=1e-7)


def test_case_accents_apostrophes_and_hyphens() -> None:
    table = name_table()
    same = [["Maria", "MARIA", "maría", "Marı\u0301a"], ["DeAndre", "De'Andre", "de’andre"]]
    for spellings in same:
        rows = table.likelihoods(spellings)
        assert not np.isnan(rows).any()
        assert (rows == rows[0]).all()
    assert not np.isnan(table.likelihoods(["Mary-Kate", "O'Neil", "Jean-Luc"])).any()


def test_the_row_for_all_other_names_is_not_a_name() -> None:
    with data_file("census_2020_first_names.parquet").open("rb") as stream:
        names = pq.ParquetFile(stream).read(["name"])["name"].to_pylist()
    assert "ALL OTHER NAMES" not in names
    assert len(names) == 53_615


def test_unmatched_names_are_nan_and_order_does_not_matter() -> None:
    table = name_table()
    names = ["Xqzzt", "Sarah", "", None, "Juan", "Sarah"]
    rows = table.likelihoods(names)
    assert rows.shape == (6, 5)
    assert np.isnan(rows[[0, 2, 3]]).all()
    assert not np.isnan(rows[[1, 4, 5]]).any()
    order = [5, 3, 1, 0, 4, 2]
    np.testing.assert_array_equal(table.likelihoods([names[k] for k in order]), rows[order])
    assert table.likelihoods([]).shape == (0, 5)


def test_a_single_name_is_refused() -> None:
    with pytest.raises(OptionError, match="never one person"):
        name_table().likelihoods("Sarah")


def test_nothing_public_turns_a_name_into_a_race() -> None:
    offered = {name for name, value in vars(reference_names).items() if callable(value)}
    assert not {name for name in offered if name.startswith(("predict", "classify", "infer"))}
    result = name_table().likelihoods(["Sarah"])
    assert result.dtype == np.float64


@pytest.mark.parametrize("name", name_tables())
def test_population_matches_its_definition(name: str) -> None:
    table = name_table(name, min_count=0)
    index = table._index
    listed = index.shares[: len(index.keys)].tolist()
    counts = index.counts.tolist()
    total = sum(counts)
    for k, race in enumerate(table.races):
        mean = sum(c * row[k] for c, row in zip(counts, listed, strict=True)) / total
        assert table.population[race] == pytest.approx(mean, rel=1e-9)
    assert 0 < sum(table.population.values()) <= 1


def test_population_shares_as_documented() -> None:
    census, wikipedia = name_table().population, mena_nhpi_table().population
    expected = {"White": 62.15, "Latine": 18.24, "Black": 10.64, "Asian": 5.05, "AI/AN": 0.66}
    assert {race: round(100 * share, 2) for race, share in census.items()} == expected
    assert {r: round(100 * s, 2) for r, s in wikipedia.items()} == {"MENA": 2.18, "NH/PI": 0.09}


def test_bearers_of_names_have_the_shares_of_the_population() -> None:
    table = name_table()
    bearers, likelihood = name_bearers(table, mena_nhpi_table())
    assert bearers.sum() == table.n_people
    black = likelihood[:, RACES.index("Black")]
    assert bearers @ black / bearers.sum() == pytest.approx(table.population["Black"])
    assert 0.7 < bearers[~np.isnan(likelihood[:, RACES.index("MENA")])].sum() / bearers.sum() < 0.9


def test_min_count_leaves_rare_names_out_and_says_so() -> None:
    every, common = name_table(min_count=0), name_table(min_count=100_000)
    assert common.n_names < every.n_names
    assert common.min_count == 100_000
    assert "fewer than 100000 bearers left out" in common.notes[0]
    assert np.isnan(common.likelihoods(["Zyriah"])).all()
    assert not np.isnan(every.likelihoods(["Zyriah"])).any()
    with pytest.raises(OptionError, match="min_count"):
        name_table(min_count=-1)


def test_two_sources_stay_independent() -> None:
    census, wikipedia = name_table(), mena_nhpi_table()
    names = ["Ahmed", "Keisha", "Xqzzt"]
    joined = race_likelihoods(names, census, wikipedia)
    assert joined.shape == (3, len(RACES))
    np.testing.assert_array_equal(joined[:, :5], census.likelihoods(names))
    np.testing.assert_array_equal(joined[:, 5:], wikipedia.likelihoods(names))
    assert joined[0].sum() > 1  # never renormalised together
    assert not np.isnan(joined[1, :5]).any()
    assert np.isnan(joined[1, 5:]).all()


def test_two_sources_of_one_race_are_refused() -> None:
    with pytest.raises(OptionError, match="both list"):
        race_likelihoods(["Sarah"], name_table(), name_table("tzioumis-2018"))


def test_unknown_tables_name_the_known_ones() -> None:
    with pytest.raises(UnknownNameError, match="census-2020"):
        name_table("census-1790")


def test_tables_are_cached_and_travel_to_other_processes() -> None:
    table = name_table()
    assert name_table("census-2020") is table
    copy = pickle.loads(pickle.dumps(table))
    np.testing.assert_array_equal(copy.likelihoods(["Sarah"]), table.likelihoods(["Sarah"]))
    with pytest.raises(dataclasses.FrozenInstanceError):
        table.name = "mine"  # type: ignore[misc]


def test_importing_loads_no_table_reader() -> None:
    heavy = "import sys, portrayal.reference; print({'pyarrow', 'duckdb'} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", heavy], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "set()"
