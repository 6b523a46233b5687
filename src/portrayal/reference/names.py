"""Name tables: which share of the bearers of a first name describe themselves as each race.

A *name table* is a function of first names that returns, per name, the shares of its bearers by
race. The shares describe a population of name bearers, never a person: a table takes a list of
names, and nothing here turns shares into a label.
"""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import numpy as np

from portrayal.errors import OptionError, UnknownNameError
from portrayal.reference.factors import NameSource, load_factor
from portrayal.reference.formats import NameColumns, RawTable, read_shipped, read_table
from portrayal.reference.groups import RACES
from portrayal.reference.matching import NameIndex, build_index, name_key
from portrayal.reference.shipped import read_toml, shipped_table
from portrayal.types import ArrowTable, FloatArray
from portrayal.validate import check_choice, check_count

DEFAULT_MIN_COUNT = 30
"""Bearers a name needs, where the user's own table gives counts and nothing else is asked for."""


@dataclass(frozen=True, eq=False)
class NameTable:
    """Shares of name bearers by race, from one source.

    Attributes
    ----------
    name
        "census-2020", or the file's name for a table of the user's own.
    source, licence
        Who published it, and under which terms.
    version
        Edition and time of release; for a user's file, the format it was read as.
    min_count
        Names with fewer bearers are left out.
    races
        The races this table speaks about, a subset of `RACES`, in that order.
    population
        Count-weighted mean (0–1) of the shares of each race: what drawing name bearers at random
        from this table would give. Empty where the source gives no counts.
    n_names, n_people
        Names that can be matched, and their bearers; `n_people` is NaN without counts.
    notes
        How columns were read, and what was merged or left out on reading.
    about
        What its groups are groups of: "race", or the column of the user's file that says them.
    """

    name: str
    source: str
    licence: str
    version: str
    min_count: int
    races: tuple[str, ...]
    population: Mapping[str, float]
    n_names: int
    n_people: float
    notes: tuple[str, ...] = ()
    about: str = "race"
    _index: NameIndex = field(kw_only=True, repr=False)

    def likelihoods(self, names: Sequence[str | None]) -> FloatArray:
        """Return the share of each name's bearers by race: ℓ_race(name), Shieh et al., Eq. 5.

        Parameters
        ----------
        names
            First names, in any case; None and "" match nothing.

        Returns
        -------
        Array of shape (len(names), len(races)), fractions in 0–1, a NaN row where the name does
        not match. A row need not sum to 1: other and several races are part of the whole.

        Raises
        ------
        OptionError
            If `names` is a single string.
        """
        # A string is a sequence of letters, which would be looked up one by one
        if isinstance(names, str):
            raise OptionError(
                f"names must be a list of first names; got the single name {names!r}. Race shares "
                "describe the bearers of names in a collection of texts, never one person."
            )
        return self._index.lookup(names)

    def frequencies(self, names: Sequence[str | None]) -> FloatArray:
        """Return the share of the table's bearers who bear each name, shape (len(names),).

        0 where the name is not in the table; NaN throughout where the source gives no counts.
        """
        counts = self._index.counts / self._index.counts.sum()
        rows = [self._index.find(name) for name in names]
        # Rows behind the names pool several spellings and have no count of their own.
        return np.array([counts[row] if 0 <= row < len(counts) else 0.0 for row in rows])

    def histogram(self, race: str, edges: FloatArray) -> FloatArray:
        """Return the share of the table's bearers whose name's share of `race` is in each bin.

        Bins hold edges[i] < share <= edges[i + 1], the first also its lower edge; shape
        (len(edges) - 1,). NaN where the source gives no counts.
        """
        shares = self._index.shares[: len(self._index.keys), self.races.index(race)]
        bins = np.maximum(np.searchsorted(edges, shares, side="left") - 1, 0)
        counts = np.bincount(bins, weights=self._index.counts, minlength=len(edges) - 1)
        return np.asarray(counts[: len(edges) - 1] / self._index.counts.sum(), dtype=np.float64)

    @property
    def listed(self) -> tuple[tuple[str, ...], FloatArray]:
        """The names that can be matched and their bearers, shape (n_names,); NaN without counts."""
        return self._index.keys, self._index.counts


def name_table(
    spec: str | Path | ArrowTable = "census-2020",
    *,
    min_count: int | None = None,
    columns: Sequence[str] = (),
) -> NameTable:
    """Return a registered name table, or read one from a file.

    Parameters
    ----------
    spec
        A name from `name_tables()`, a DataFrame, or the path of a CSV or Parquet table. See
        docs/name-tables.md for the formats.
    min_count
        Leave out names with fewer bearers. Default: a registered table's own, 30 for a file.
    columns
        What columns of a file hold, where headers do not tell: "FIELD=COLUMN" for name, count,
        group (of a long file) and groups (of a wide file, joined by "|"); "COLUMN=VALUE" keeps only
        such rows ("year=1980-2000").

    Raises
    ------
    UnknownNameError
        If `spec` is neither registered nor a path that exists.
    DataError
        If the file cannot be read as a name table.

    Examples
    --------
    >>> table = name_table("census-2020")
    >>> table.races
    ('White', 'Latine', 'Black', 'Asian', 'AI/AN')
    >>> table.likelihoods(["Maria", "José"]).round(2).tolist()
    [[0.14, 0.81, 0.01, 0.03, 0.0], [0.02, 0.96, 0.0, 0.01, 0.0]]
    """
    if min_count is not None:
        check_count("min_count", min_count)
    # Registered names before paths: a file of that name is given as "./name"
    if isinstance(spec, str) and spec in read_toml("name_tables.toml"):
        if columns:
            raise OptionError(f"{spec} is read as it ships; columns are named for a file.")
        return _registered(spec, min_count)
    if not isinstance(spec, (str, Path)):
        import pyarrow as pa
        import pyarrow.parquet as pq

        # A table in memory is read as the file that it would be
        with tempfile.TemporaryDirectory(prefix="portrayal-") as folder:
            path = Path(folder) / "the table.parquet"
            pq.write_table(pa.table(spec), path)
            # Past the cache, which would take the next table in memory for this one.
            return _from_path.__wrapped__(path, min_count, tuple(columns), ())
    path = Path(spec)
    if not path.exists():
        raise UnknownNameError(
            f"{str(spec)!r} is neither a registered name table ({', '.join(name_tables())}) nor a "
            "file that exists. Name one of them, or give the path of your own table."
        )
    # Its size and time, so that a changed file is read again.
    state = path.stat().st_size, path.stat().st_mtime_ns
    return _from_path(path.resolve(), min_count, tuple(columns), state)


def mena_nhpi_table(spec: str | Path = "nana-wikipedia") -> NameTable:
    """Return the independent table for MENA and NH/PI, which no self-report table lists."""
    return name_table(spec)


def name_tables() -> tuple[str, ...]:
    """Return the names of the registered tables.

    Examples
    --------
    >>> name_tables()
    ('census-2020', 'tzioumis-2018', 'nana-wikipedia')
    """
    return tuple(read_toml("name_tables.toml"))


def race_likelihoods(
    names: Sequence[str | None], primary: NameTable, secondary: NameTable
) -> FloatArray:
    """Join two independent sources: shape (len(names), 7) in `RACES` order.

    The two are never renormalised together (Shieh et al., Section 4.4), so a row may sum to more
    than 1. Columns of a source are NaN where the name does not match that source, and throughout
    for a race of which neither speaks.

    Raises
    ------
    OptionError
        If both tables speak about the same race.

    Examples
    --------
    >>> race_likelihoods(["Maria"], name_table(), mena_nhpi_table()).shape
    (1, 7)
    """
    shared = set(primary.races) & set(secondary.races)
    if shared:
        raise OptionError(
            f"the two name tables must cover different races; {primary.name} and {secondary.name} "
            f"both list {', '.join(sorted(shared))}. Use mena_nhpi_table() as the second."
        )
    # NaN, not 0: that a table does not list a race says nothing of its share
    result = np.full((len(names), len(RACES)), np.nan)
    for table in (primary, secondary):
        result[:, [RACES.index(race) for race in table.races]] = table.likelihoods(names)
    return result


@lru_cache(maxsize=4)
def name_bearers(primary: NameTable, secondary: NameTable) -> tuple[FloatArray, FloatArray]:
    """Return the population of name bearers of the first table, all races measured on it.

    Returns
    -------
    bearers, likelihood
        Bearers of each name of `primary`, shape (n_names,), NaN where it gives no counts; and the
        shares of both tables for those names, shape (n_names, 7) in `RACES` order, as
        `stats.fair_naming` takes them; of one table that is given twice, its own groups.

    Examples
    --------
    >>> bearers, likelihood = name_bearers(name_table(), mena_nhpi_table())
    >>> likelihood.shape == (len(bearers), 7)
    True
    """
    names, bearers = primary.listed
    if secondary is primary:
        likelihood = primary.likelihoods(names)
    else:
        likelihood = race_likelihoods(names, primary, secondary)
    likelihood.setflags(write=False)  # every caller has the same
    return bearers, likelihood


GENDERED = "census-2020"
"""The shipped table that says how many bearers of a first name are women and men."""


def names_of(
    group: str = "",
    *,
    factor: str | Path = "race",
    gender: str = "",
    n: int = 5,
    least: float = 0.8,
) -> tuple[str, ...]:
    """Return the most frequent first names most of whose bearers are of a group.

    Parameters
    ----------
    group
        A group of the factor, in any of its spellings; "" for any.
    factor
        A factor whose groups names tell: the first of its name tables that lists the group.
    gender
        Whether most bearers are women ("F") or men ("M"), by the census; "" for any.
    n
        How many.
    least
        Share of the bearers who are of the group, and of the gender, at least.

    Raises
    ------
    OptionError, UnknownNameError
        Where no table lists the group, or there are fewer such names; says how many.

    Examples
    --------
    >>> names_of("Black", gender="F", n=3)
    ('Latoya', 'Ebony', 'Latasha')
    """
    check_count("n", n, minimum=1)
    table, shares = name_table(GENDERED), list[FloatArray]()
    if group:
        record = load_factor(factor)
        if (key := record.find(group)) is None:
            raise UnknownNameError(
                f"the factor {record.name} has no group {group!r}; it has {', '.join(record.keys)}."
            )
        for source in record.sources:
            if isinstance(source, NameSource) and source.table:
                rows = [f"{name}={value}" for name, value in source.by.items()]
                table = name_table(source.table, columns=rows)
                if key in table.races:
                    break
        else:
            raise OptionError(f"no table of names of the factor {record.name} lists {key}.")
        shares.append(table.likelihoods(table.listed[0])[:, table.races.index(key)])
    names, bearers = table.listed
    if gender:
        of = gender_shares(gender)
        shares.append(np.array([of.get(name, np.nan) for name in names]))
    known_by = " and ".join(filter(None, (group, gender))) or "anyone"
    # Initials are no names.
    fits = np.array([len(name) > 1 for name in names])
    for share in shares:
        fits &= share >= least
    # Stable, so that names with as many bearers come in the order of the table
    order = np.flatnonzero(fits)[np.argsort(-bearers[fits], kind="stable")]
    if len(order) < n:
        raise OptionError(
            f"{len(order)} first names have {least:.0%} of bearers who are {known_by}; expected "
            f"{n}. Ask for fewer (n), or take a smaller share (least)."
        )
    return tuple(names[i].title() for i in order[:n])


@lru_cache(maxsize=2)
def gender_shares(gender: str) -> Mapping[str, float]:
    """Return the share of each first name's bearers who are women ("F") or men ("M"), by its key.

    >>> gender_shares("F")["kelly"] > 0.8
    True
    """
    card = read_toml("name_tables.toml")[GENDERED]
    column = card["genders"][check_choice("gender", gender, card["genders"])]
    counted = shipped_table(card["file"], ["name", column]).to_pydict()
    return dict(zip(map(name_key, counted["name"]), counted[column], strict=True))


_ORIGIN = ("source", "licence", "version")


@lru_cache(maxsize=16)
def _registered(name: str, min_count: int | None) -> NameTable:
    card = read_toml("name_tables.toml")[name]
    least = card["min_count"] if min_count is None else min_count
    return _build(read_shipped(card["file"]), name, least, **{k: card[k] for k in _ORIGIN})


@lru_cache(maxsize=4)
def _from_path(
    path: Path, min_count: int | None, columns: tuple[str, ...], _state: object
) -> NameTable:
    raw = read_table(path, NameColumns.parse(columns))
    if min_count and np.isnan(raw.counts).any():
        raise OptionError(
            f"min_count is {min_count}, but {path} does not say how many people bear a name. "
            "Add a column 'count', or leave min_count out."
        )
    least = DEFAULT_MIN_COUNT if min_count is None else min_count
    origin = "table supplied by the user", "as the supplier states", raw.format
    return _build(raw, path.name, least, *origin)


def _build(
    raw: RawTable, name: str, min_count: int, source: str, licence: str, version: str
) -> NameTable:
    """Leave out rare names, index the others, and describe their population."""
    has_counts = not np.isnan(raw.counts).any()
    # Shares of a few bearers are noise, and could tell of single people
    keep = raw.counts >= max(min_count, 1) if has_counts else np.ones(len(raw.names), dtype=bool)
    names = [name for name, keeps in zip(raw.names, keep.tolist(), strict=True) if keeps]
    index = build_index(names, raw.counts[keep], raw.shares[keep])
    notes = list(raw.notes)
    if not keep.all():
        notes.append(f"{np.sum(~keep):,} names with fewer than {min_count} bearers left out")
    if len(index.keys) < len(names):
        notes.append(f"{len(names) - len(index.keys):,} spellings merged with another by count")
    by_key = index.shares[: len(index.keys)]
    # By bearers, not by names: what drawing a person at random gives
    weights = index.counts / index.counts.sum()
    population = dict(zip(raw.races, (weights @ by_key).tolist(), strict=True))
    origin = name, source, licence, version, min_count if has_counts else 0, raw.races
    numbers = population if has_counts else {}, len(index.keys), float(index.counts.sum())
    return NameTable(*origin, *numbers, tuple(notes), raw.about, _index=index)
