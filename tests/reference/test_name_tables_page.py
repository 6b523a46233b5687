"""The page on name tables says what the tables say."""

import re
from pathlib import Path

import numpy as np
import pytest

from portrayal.reference.groups import RACES
from portrayal.reference.names import mena_nhpi_table, name_table, name_tables
from portrayal.reference.shipped import published

PAGE = (Path(__file__).parents[2] / "docs" / "name-tables.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip(" `") for cell in line.strip("|\n").split("|")]
    for line in PAGE.splitlines()
    if line.startswith("| ")
]


@pytest.mark.parametrize("name", name_tables())
def test_names_people_and_population(name: str) -> None:
    table = name_table(name)
    first = next(row for row in ROWS if row[0].split("`")[0] == name)
    assert first[-2:] == [f"{table.n_names:,}", f"{table.n_people:,.0f}"]
    # One sentence of the page gives the shares of all name bearers
    for share in table.population.values():
        assert f"{100 * share:.2f}".lstrip("0") in PAGE


def test_differences_from_the_paper() -> None:
    rows = published("shieh_common_names").to_pylist()
    pairs = {(row["race"], row["name"]): row["racial_likelihood_percent"] for row in rows}
    for group, table_name, *figures in (row for row in ROWS if row[0] in RACES):
        table = name_table(table_name)
        printed = {name: share for (race, name), share in pairs.items() if race == group}
        ours = 100 * table.likelihoods(list(printed))[:, table.races.index(group)]
        off = (ours - np.array(list(printed.values())))[~np.isnan(ours)]
        sign = "+" if off.mean() > 0 else "−"
        below = int(np.sum(ours < 60))
        mean, absolute = f"{sign}{abs(off.mean()):.1f}", f"{np.abs(off).mean():.1f}"
        assert figures == [str(len(off)), absolute, mean, str(below)]


def test_coverage() -> None:
    names = sorted({row["name"] for row in published("shieh_common_names").to_pylist()})
    for table, words in (
        (name_table(), "has all 105"),
        (mena_nhpi_table(), "has 85"),
        (name_table("tzioumis-2018"), "80"),
    ):
        assert f"`{table.name}` {words}" in PAGE
        matched = int(np.sum(~np.isnan(table.likelihoods(names)[:, 0])))
        assert str(matched) in words


def test_the_example_runs() -> None:
    code = re.search(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert code
    space: dict[str, object] = {}
    exec(code[1], space)
    assert np.shape(space["shares"]) == (3, len(RACES))
