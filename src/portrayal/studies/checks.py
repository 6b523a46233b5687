"""Checks: figures that a paper prints, recomputed from other figures that it prints.

No text and no model is needed. A study states its checks in `checks.toml`: `tables` are the
published tables that its queries read; `define` is SQL that prepares them; and each `[[check]]` has
the `table` and `statistic` that it is about and a `query`, which yields a row for each printed
figure: `place`, `domain`, `model`, `who`, `printed`, `ours`, and `good`, or else figures that
come out within the check's `slack`. Numbers are shown with `digits` decimals. `why`, of the check
or in a column, says what is known of a figure that does not come out; a check that is `listed`
keeps every figure, with the words of the column `note`.
"""

import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import portrayal.registry as registry
from portrayal.reference.groups import baseline
from portrayal.reference.shipped import published
from portrayal.stats import altman_bland_p, cohens_d, wilson, z_from_interval
from portrayal.stats.tails import t_isf, t_sf
from portrayal.types import FloatArray


@dataclass(frozen=True)
class Row:
    """A printed figure.

    `printed` and `ours` are the two figures as text, `explanation` what the tables say about a
    difference; it is empty where there is none.
    """

    table: str
    domain: str
    model: str
    group: str
    printed: str
    ours: str
    explanation: str


@dataclass(frozen=True)
class Check:
    """One statistic of one set of tables: `checked` figures, of which `rows` did not come out.

    `figures` lists what was checked, for checks that go through the published figures themselves.
    """

    table: str
    statistic: str
    checked: int
    rows: tuple[Row, ...]
    figures: tuple[Row, ...] = ()

    @property
    def reproduced(self) -> int:
        """Number of printed figures that came out."""
        return self.checked - len(self.rows)


LEVEL = 0.95
NEAR = 1e-9
FUNCTIONS: dict[str, Callable[..., FloatArray]] = {
    "wilson_low": lambda k, n: wilson(k, n, LEVEL)[0],
    "wilson_high": lambda k, n: wilson(k, n, LEVEL)[1],
    "cohens_d": cohens_d,
    "altman_bland_p": altman_bland_p,
    "z_from_interval": lambda *figures: z_from_interval(*figures, log=False),
    "z_from_log_interval": lambda *figures: z_from_interval(*figures, log=True),
    "t_sf": t_sf,
    "t_isf": t_isf,
}
"""Statistics that queries may call."""


def run_checks(study: str) -> list[Check]:
    """Return the checks of a study's published tables, in the order of its `checks.toml`."""
    import duckdb
    import pyarrow as pa

    folder = registry.folder("studies", registry.resolve("studies", study))
    if folder is None or not (folder / "checks.toml").is_file():
        return []  # a study without published tables
    declared = tomllib.loads((folder / "checks.toml").read_text(encoding="utf-8"))
    # One thread: rows come in the same order each time.
    with duckdb.connect(config={"threads": 1}) as db:
        # The statistics of the package itself, so that the checks test them too.
        for name, function in FUNCTIONS.items():
            db.create_function(name, _of_arrow(function), None, "DOUBLE", type="arrow")  # type: ignore[call-overload]
        for name in declared["tables"]:
            db.from_arrow(published(name)).create(name)
        # Ratios of representation are over a baseline, which queries join like any table.
        if "baseline" in declared:
            of = baseline(declared["baseline"])
            shares = {group: share for by in of.shares.values() for group, share in by.items()}
            columns = {"label": list(shares), "share": list(shares.values())}
            db.from_arrow(pa.table(columns)).create("baseline")
        db.execute(declared["define"])
        checks = []
        for check in declared["check"]:
            rows = db.sql(check["query"]).to_arrow_table().to_pylist()
            checks.append(_checked(check, rows))
    return checks


def _of_arrow(function: Callable[..., FloatArray]) -> Callable[..., Any]:
    """A statistic as a database calls it, with arrays of Arrow."""
    import pyarrow as pa

    return lambda *columns: pa.array(
        function(*(column.cast("float64").to_numpy() for column in columns))
    )


def _checked(check: dict[str, Any], rows: list[dict[str, Any]]) -> Check:
    """The result of a check, from the rows of its query."""
    figures, missed = [], []
    for row in rows:
        both = row["printed"], row["ours"]
        # Printed figures are rounded, so ours may lie within the check's slack.
        good = row["good"] if "good" in row else abs(both[0] - both[1]) <= check["slack"] + NEAR
        digits = check.get("digits", 2)
        printed, ours = (
            number if isinstance(number, str) else f"{number:.{digits}f}" for number in both
        )
        place = (row["place"], row["domain"], row["model"], row["who"])
        figures.append(Row(*place, printed, ours, row.get("note") or ""))
        if not good:
            # What does not come out must be explained: without any 'why' this ends in an error.
            reason = row["why"] if "why" in row else check["why"]
            missed.append(Row(*place, printed, ours, reason))
    figures_of_rows = tuple(figures) if check.get("listed") else ()
    return Check(check["table"], check["statistic"], len(rows), tuple(missed), figures_of_rows)
