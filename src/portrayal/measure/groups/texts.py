"""Group texts: how often each group was seen, by prompt and model, for each way of seeing it.

Texts and people are counted once by the combinations that occur; measures read sums, so that half a
million texts cost them what two thousand do.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from itertools import combinations, product
from typing import Any

import numpy as np

from portrayal.annotate.group_labels import (
    GROUP,
    NONE,
    STATUSES,
    UNKNOWN,
    GroupResponse,
    said_of,
)
from portrayal.annotate.groups import text_sources
from portrayal.errors import DataError, OptionError
from portrayal.measure.groups.association import Crossed
from portrayal.records import ALL
from portrayal.reference import name_table
from portrayal.reference.factors import (
    ColumnSource,
    Factor,
    ModelSource,
    NameSource,
    ReferenceSource,
    Source,
    WordSource,
    load_factor,
)
from portrayal.reference.matching import name_key
from portrayal.run.directory import Run
from portrayal.run.reading import distinct_rows, read_prompts
from portrayal.run.stages import Stage
from portrayal.types import BoolArray, FloatArray, IntArray

TEXT, PERSON = "text", "person"
_PLACES = 60
"""Strata at most that several strata are crossed to."""


@dataclass(frozen=True, eq=False)
class Observation:
    """What one source of one factor saw, in cells of one prompt and one model.

    Attributes
    ----------
    factor, source
        Whose groups, and how they were seen.
    unit
        "text" or "person": what is counted.
    prompt, model
        Codes of each cell, shape (n,).
    weight, squares
        Units of each group, and sums of their squares, shape (n, k): a unit with several groups
        counts as the source says, and a name by the shares of its bearers.
    shown, mentions
        Units that show each group at all, and how often it is mentioned, shape (n, k).
    status
        Units by status, shape (n, 5), in the order of `STATUSES`.
    population
        Share of each group among the bearers of the name table, shape (k,); NaN where it is not
        known, or no names were read.
    visible
        Whether the source can see each group at all, shape (k,): lists words or names of it.
    unknown
        Reason → units of the status "unknown" that have it, shape (n,); of a model's answers.
    beside
        Why no baseline says anything of these units; "" where baselines do.
    """

    factor: Factor
    source: Source
    unit: str
    prompt: IntArray
    model: IntArray
    weight: FloatArray
    squares: FloatArray
    shown: FloatArray
    mentions: FloatArray
    status: FloatArray
    population: FloatArray
    visible: BoolArray
    unknown: Mapping[str, FloatArray] = field(default_factory=dict)
    beside: str = ""

    @property
    def decided(self) -> FloatArray:
        """Units in which a group was seen that counts, shape (n,)."""
        # Kept apart, a unit with several groups is of none of them.
        several = 0.0 if self.source.several == "apart" else self.status[:, 1]
        return np.asarray(self.status[:, 0] + several, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class HandTexts:
    """Texts that people labelled for a factor, each a cell of its own.

    Attributes
    ----------
    said, truth
        What the source and what people see in them.
    weight
        How many texts each stands for, shape (n,).
    note
        Who labelled them, and what speaks against their being drawn at random.
    names
        What the labels call them, shape (n,).
    """

    said: Observation
    truth: Observation
    weight: FloatArray
    note: str
    names: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class GroupTexts:
    """Everything that the measures of groups read.

    Attributes
    ----------
    prompts, strata, models
        Names of prompts, what is known of each, and names of models.
    observed
        By factor and source.
    by
        Strata that estimates are split by.
    crossed
        By the groups of two factors, and of a factor and each of these strata.
    hand
        (Factor, source) → the texts that people labelled.
    """

    prompts: tuple[str, ...]
    strata: tuple[Mapping[str, str], ...]
    models: tuple[str, ...]
    observed: tuple[Observation, ...]
    by: tuple[str, ...] = ()
    crossed: tuple[Crossed, ...] = ()
    cache: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)
    hand: Mapping[tuple[str, str], HandTexts] = field(default_factory=dict)

    def model_strata(self) -> list[tuple[str, list[int]]]:
        """Return the pooled stratum, where there are several models, then each, with codes."""
        single = [(name, [code]) for code, name in enumerate(self.models)]
        return [(ALL, list(range(len(self.models)))), *single]


@dataclass(frozen=True, eq=False)
class GroupStratum:
    """One stratum: its labels, which cells are in it, shape (n,), its prompts and its models."""

    labels: Mapping[str, str]
    inside: BoolArray
    prompts: BoolArray
    models: Sequence[int]

    def has(self, prompt: IntArray, model: IntArray) -> BoolArray:
        """Whether cells of these prompts and models are in it, shape (n,)."""
        return np.asarray(self.prompts[prompt] & np.isin(model, self.models))


def strata_of(texts: GroupTexts, prompt: IntArray, model: IntArray) -> Iterator[GroupStratum]:
    """Yield the strata that have cells: all together, each value of each stratum, and all crossed.

    Parameters
    ----------
    texts
        The group texts.
    prompt, model
        Codes of the cells, shape (n,).
    """
    columns = {name: [stratum.get(name, "") for stratum in texts.strata] for name in texts.by}
    values = {name: sorted({v for v in column if v}) for name, column in columns.items()}
    splits: list[dict[str, str]] = [{}]
    splits += [{name: value} for name in texts.by for value in values[name]]
    n_crossed = int(np.prod([len(labels) for labels in values.values()])) if values else 0
    # More would leave a handful of texts at each place
    if len(texts.by) > 1 and n_crossed <= _PLACES:
        crossed = product(*values.values())
        splits += [dict(zip(texts.by, labels, strict=True)) for labels in crossed]
    for split in splits:
        in_split = np.ones(len(texts.prompts), dtype=bool)
        for name, value in split.items():
            in_split &= np.array([cell == value for cell in columns[name]])
        for label, codes in texts.model_strata():
            inside = in_split[prompt] & np.isin(model, codes)
            if inside.any():
                place = {name: split.get(name, ALL) for name in texts.by}
                yield GroupStratum({**place, "model": label}, np.asarray(inside), in_split, codes)


_TEXTS = """
    select t.prompt_id, t.model, a.said, count(*)::bigint as n
    from read_parquet($texts) t join read_parquet($annotations) a using (text_id)
    where a.error is null
    group by all order by all
"""
_PEOPLE = """
    with people as ({people})
    select prompt_id, model, name, last, gender, count(*)::bigint as n
    from people group by all order by all
"""
_SLOT = """
    select t.prompt_id, t.model, a.{slot}_name as name, null::varchar as last,
           a.{slot}_gender as gender
    from read_parquet($texts) t join read_parquet($annotations) a using (text_id)
    where a.error is null and t.outcome = 'ok' and a.{slot}_gender is not null
"""
_ANY = """
    select prompt_id, model, p.first as name, p.last as last, p.gender as gender from (
        select t.prompt_id, t.model, unnest(a.people) as p
        from read_parquet($texts) t join read_parquet($annotations) a using (text_id)
        where a.error is null and t.outcome = 'ok'
    ) where not p.writer
"""

_PAIRS = """
    with pairs as (
        select t.prompt_id, t.model,
               case when a.error is null and t.outcome = 'ok' then {genders} end as genders
        from read_parquet($texts) t join read_parquet($annotations) a using (text_id)
    )
    select prompt_id, model, genders, count(*)::bigint as n from pairs group by all order by all
"""
_GENDERS = {
    True: "[p.gender for p in a.people if not p.writer]",
    False: "[g for g in [a.subject_gender, a.object_gender] if g is not null]",
}
"""Genders of the people of a text: of a stage with a list of people, or with two slots."""


def read_group_texts(
    run: Run,
    factors: Sequence[Factor],
    groups: Stage,
    people: Stage | None = None,
    by: Sequence[str] = (),
) -> GroupTexts:
    """Count what was seen in the texts of a run.

    Parameters
    ----------
    run
        A run with texts.
    factors
        The factors that `groups` was made from, in its order.
    groups
        The stage of `groups.v2`.
    people
        A stage of people, for names and references; without one these sources see nothing.
    by
        Strata of the prompts that estimates are split by.

    Returns
    -------
    GroupTexts
        The same for any shard size and number of workers.
    """
    facts = read_prompts(run.prompts_path)
    prompts = tuple(sorted(facts))
    models = tuple(run.texts.note()["models"])
    codes = {name: i for i, name in enumerate(prompts)}, {name: i for i, name in enumerate(models)}
    all_obs: list[Observation] = []
    crossed: list[Crossed] = []
    rows = distinct_rows(run.texts, groups, _TEXTS)
    # Distinct answers are read once, however many texts gave them
    rows["said"] = [said_of(answer) for answer in rows["said"]]
    cells = DistinctRows(codes, rows)
    columns = {
        *run.texts.note().get("mapping", ()),
        *(name for prompt in facts.values() for name in prompt),
    }
    answered = [
        (place, factor, source)
        for place, (factor, source) in enumerate(text_sources(factors))
        if not isinstance(source, ColumnSource) or source.column in columns
    ]
    for place, factor, source in answered:
        all_obs.append(seen_in_texts(cells, place, factor, source))
    # Every two sources that see texts, by which attributes are set against groups.
    for one, other in combinations(answered, 2):
        # Two sources of one factor would be associated with themselves.
        if one[1] is not other[1] and _unit(one[2]) == _unit(other[2]) == TEXT:
            crossed.append(_crossed(cells, one, other))
    # Names and references are of people, so they need a stage that found some
    if people is not None:
        slots = " union all ".join(_SLOT.format(slot=slot) for slot in ("subject", "object"))
        query = _PEOPLE.format(people=_ANY if _lists_people(people) else slots)
        met = DistinctRows(codes, distinct_rows(run.texts, people, query))
        for factor in factors:
            all_obs += [_seen_in_people(met, factor, source) for source in _of_people(factor)]
        for factor in factors:
            all_obs += _seen_in_pairs(run, people, factor, codes, facts)
    for factor in factors:
        if not any(obs.factor is factor for obs in all_obs):
            needed = ", ".join(f"the column {column!r}" for column in factor.columns) or "people"
            raise OptionError(
                f"nothing shows the factor {factor.name}: the texts have not what its sources read "
                f"({needed}). Give texts that have it, or a factor with another source."
            )
    # In the order of the user's factors, whatever their sources.
    order = {factor.name: i for i, factor in enumerate(factors)}
    # Stable: within a factor its sources keep their order
    all_obs.sort(key=lambda obs: order[obs.factor.name])
    strata = tuple(facts[name] for name in prompts)
    crossed += [by_stratum(obs, name, strata) for name in by for obs in all_obs if obs.unit == TEXT]
    return GroupTexts(prompts, strata, models, tuple(all_obs), tuple(by), tuple(crossed))


def _lists_people(people: Stage) -> bool:
    """Whether a stage of people lists them, or has two slots for them."""
    import pyarrow.parquet as pq

    return "people" in pq.read_schema(people.parts()[0]).names


class DistinctRows:
    """Distinct rows with their numbers, and the cells of one prompt and model that they are in."""

    def __init__(
        self,
        codes: tuple[Mapping[str, int], Mapping[str, int]],
        rows: dict[str, list[Any]],
        *,
        by_row: bool = False,
    ) -> None:
        self.rows = rows
        self.count = np.array(rows["n"], dtype=np.float64)
        prompt = np.array([codes[0][name] for name in rows["prompt_id"]], dtype=np.int64)
        model = np.array([codes[1][name] for name in rows["model"]], dtype=np.int64)
        # Prompt and model together as one number, for one pass of unique.
        size = max(len(codes[1]), 1)
        cells, self.cell = np.unique(prompt * size + model, return_inverse=True)
        self.prompt, self.model = cells // size, cells % size
        if by_row:  # each row a cell of its own
            self.prompt, self.model, self.cell = prompt, model, np.arange(len(prompt))

    def taking(self, rows: Sequence[int]) -> "DistinctRows":
        """The same cells, with these of the rows; one may come several times."""
        cells = copy(self)
        cells.count, cells.cell = self.count[rows], self.cell[rows]
        return cells

    def sums(self, values: FloatArray) -> FloatArray:
        """Sum the rows of `values`, shape (n_rows, k), by cell, each as often as it occurs."""
        total = np.zeros((len(self.prompt), *values.shape[1:]))
        shape = (-1, *[1] * (values.ndim - 1))
        # Not +=, which would add one row to a cell however many are in it.
        np.add.at(total, self.cell, values * self.count.reshape(shape))
        return total


def seen_in_texts(cells: DistinctRows, place: int, factor: Factor, source: Source) -> Observation:
    """Return what the source at `place` of what is said sees in the texts of these cells."""
    units = [(i, unit) for i, answers in enumerate(cells.rows["said"]) for unit in answers[place]]
    # A text with three people gives three units of the same cell
    cells = cells.taking([i for i, _ in units])
    n, k = len(units), len(factor.groups)
    mentions, status = np.zeros((n, k)), np.zeros((n, len(STATUSES)))
    for row, (_, answer) in enumerate(units):
        status[row, STATUSES.index(answer.status)] = 1.0
        for group in answer.places:
            mentions[row, group] += 1.0
    present = np.zeros((n, k))
    present[mentions > 0] = 1.0
    how_many = np.maximum(present.sum(1, keepdims=True), 1.0)
    # Words show only groups that the list has words for; a share of 0 of others would mislead.
    visible = np.ones(k, dtype=bool)
    if isinstance(source, WordSource):
        visible = np.array([key in source.words for key in factor.keys])
    # How a unit of several groups counts: by parts, for each of them, or for none.
    if source.several == "split":
        weight = present / how_many
    elif source.several == "each":
        weight = present.copy()
    else:
        weight = present * (how_many == 1.0)
    obs = _of_cells(
        cells, factor, source, _unit(source), weight, present, mentions, status, visible
    )
    reasons = sorted({unit.why for _, unit in units if unit.why})
    has = {cause: np.array([[unit.why == cause] for _, unit in units], float) for cause in reasons}
    return replace(obs, unknown={cause: cells.sums(flags)[:, 0] for cause, flags in has.items()})


def _unit(source: Source) -> str:
    """What a source tells of."""
    if isinstance(source, ReferenceSource):
        return PERSON
    return source.unit if isinstance(source, ModelSource) else TEXT


def _of_people(factor: Factor) -> list[Source]:
    """The sources that people answer."""
    kinds = (NameSource, ReferenceSource)
    sources = [source for source in factor.sources if isinstance(source, kinds)]
    return [s for s in sources if not (isinstance(s, ReferenceSource) and s.pairs_of)]


def _seen_in_people(cells: DistinctRows, factor: Factor, source: Source) -> Observation:
    n, k = len(cells.count), len(factor.groups)
    status, population = np.zeros((n, len(STATUSES))), np.full(k, np.nan)
    visible = np.ones(k, dtype=bool)
    if isinstance(source, NameSource):
        names = cells.rows["name" if source.part == "first" else "last"]
        weight, population, visible = _of_names(source, factor, names)
        in_table = ~np.isnan(weight).all(axis=1)
        status[in_table, 0] = 1.0
        # A name that the table lacks is unknown; without a name there is nothing to know
        for row in np.flatnonzero(~in_table).tolist():
            status[row, 3 if names[row] else 2] = 1.0
        weight = np.nan_to_num(weight)
    else:
        weight = np.zeros((n, k))
        for row, gender in enumerate(cells.rows["gender"]):
            answer = _of_references(factor, gender)
            weight[row, list(answer.places)] = status[row, STATUSES.index(answer.status)] = 1.0
    return _of_cells(
        cells, factor, source, PERSON, weight, weight, weight, status, visible, population
    )


def _of_references(factor: Factor, gender: str | None) -> GroupResponse:
    group = factor.find(gender) if gender else None
    if group is not None:
        return GroupResponse(GROUP, (factor.keys.index(group),))
    return GroupResponse(
        UNKNOWN if gender == "Unsure" else NONE
    )  # words of several: not known which


def _seen_in_pairs(
    run: Run,
    people: Stage,
    factor: Factor,
    codes: tuple[Mapping[str, int], Mapping[str, int]],
    facts: Mapping[str, Mapping[str, str]],
) -> Iterator[Observation]:
    """Yield the pairs of the two people of each text, for the sources of a factor of pairs."""
    for source in factor.sources:
        if not (isinstance(source, ReferenceSource) and source.pairs_of):
            continue
        rows = distinct_rows(
            run.texts, people, _PAIRS.format(genders=_GENDERS[_lists_people(people)])
        )
        # Baselines are of couples, so only prompts that speak of couples are compared with them
        among = [_says(facts[name], source.among) for name in rows["prompt_id"]]
        if any(among):
            rows = {
                name: [value for value, keep in zip(column, among, strict=True) if keep]
                for name, column in rows.items()
            }
        cells, find = DistinctRows(codes, rows), load_factor(source.pairs_of).find
        n, k = len(cells.count), len(factor.groups)
        weight, status = np.zeros((n, k)), np.zeros((n, len(STATUSES)))
        for row, genders in enumerate(rows["genders"]):
            both = [find(gender) or "" for gender in genders or ()]
            # A pair has no order
            keys = ("-".join(both), "-".join(reversed(both)))
            group = next((key for key in keys if key in factor.keys), None)
            if group is not None and len(both) == 2:
                weight[row, factor.keys.index(group)] = status[row, 0] = 1.0
            else:
                # Of STATUSES: unread; unknown, for two people of no listed pair; none, for fewer or
                # more people.
                status[row, 4 if genders is None else 3 if len(both) == 2 else 2] = 1.0
        obs = _of_cells(
            cells, factor, source, TEXT, weight, weight, weight, status, np.ones(k, dtype=bool)
        )
        reason = f"no prompt says that its people are {factor.label.casefold()}, as baselines do"
        yield replace(obs, beside="" if any(among) or not source.among else reason)


def _says(strata: Mapping[str, str], words: Iterable[str]) -> bool:
    """Whether roles or relationship of a prompt have one of these words."""
    roles = " ".join(strata.get(k, "") for k in ("relationship", "subject_role", "object_role"))
    return not set(re.findall(r"\w+", roles.casefold())).isdisjoint(words)


def _of_names(
    source: NameSource, factor: Factor, names: Sequence[str | None]
) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Shares of each name's bearers by group, of all bearers, and the groups that are listed.

    Shares are NaN where the name is not listed, and 0 for groups that are not.
    """
    shares = np.full((len(names), len(factor.groups)), np.nan)
    population = np.full(len(factor.groups), np.nan)
    # A user's own list says one group of each name, with certainty.
    if not source.table:
        groups = {name_key(n): g for g, members in source.names.items() for n in members}
        for row, name in enumerate(names):
            group = groups.get(name_key(name)) if name else None
            if group is not None:
                shares[row] = [float(key == group) for key in factor.keys]
        return shares, population, np.array([key in source.names for key in factor.keys])
    filters = [f"{column}={value}" for column, value in source.by.items()]
    table = name_table(source.table, columns=filters)
    # The table's races that the factor has; its other groups stay unseen.
    places = {label: group for label in table.races if (group := factor.find(label)) is not None}
    if not places:
        raise DataError(
            f"the name table {source.table} speaks of {', '.join(table.races)}; none is a group of "
            f"the factor {factor.name} ({', '.join(factor.keys)}). Add its labels to a group's "
            "'also'."
        )
    read = table.likelihoods(list(names))
    # A name that the table has tells of all groups: those that it does not list are 0, not NaN.
    shares[~np.isnan(read).all(axis=1)] = 0.0
    for label, group in places.items():
        place = factor.keys.index(group)
        shares[:, place] = read[:, table.races.index(label)]
        population[place] = table.population.get(label, np.nan)
    return shares, population, np.array([key in places.values() for key in factor.keys])


def _of_cells(
    cells: DistinctRows,
    factor: Factor,
    source: Source,
    unit: str,
    weight: FloatArray,
    present: FloatArray,
    mentions: FloatArray,
    status: FloatArray,
    visible: BoolArray,
    population: FloatArray | None = None,
) -> Observation:
    return Observation(
        factor=factor,
        source=source,
        unit=unit,
        prompt=cells.prompt,
        model=cells.model,
        weight=cells.sums(weight),
        squares=cells.sums(weight**2),
        shown=cells.sums((present > 0).astype(np.float64)),
        mentions=cells.sums(mentions),
        status=cells.sums(status),
        population=np.full(weight.shape[1], np.nan) if population is None else population,
        visible=visible,
    )


_Answered = tuple[int, Factor, Source]


def _shown(cells: DistinctRows, one: _Answered) -> tuple[FloatArray, BoolArray]:
    """Which groups each row shows, shape (n_rows, k), and of which rows the source can tell."""
    place, factor, _ = one
    present = np.zeros((len(cells.count), len(factor.groups)))
    for row, answers in enumerate(cells.rows["said"]):
        present[row, list(answers[place][0].places)] = 1.0
    decided = [answers[place][0].status in STATUSES[:3] for answers in cells.rows["said"]]
    return present, np.array(decided, dtype=bool)


def _crossed(cells: DistinctRows, one: _Answered, other: _Answered) -> Crossed:
    """Texts by the groups of two factors, where both can be told."""
    (group, first), (attribute, second) = _shown(cells, one), _shown(cells, other)
    # A text that one of the sources cannot tell would count as one without the group
    decided = (first & second).astype(np.float64)[:, np.newaxis]
    group, attribute = group * decided, attribute * decided
    return Crossed(
        one[1].name,
        one[1].keys,
        other[1].name,
        other[1].keys,
        cells.prompt,
        cells.model,
        cells.sums(group[:, :, np.newaxis] * attribute[:, np.newaxis]),
        cells.sums(group),
        cells.sums(attribute),
        cells.sums(decided)[:, 0],
        f"{one[2].name} and {other[2].name}",
        ((one[1].name, one[2].name), (other[1].name, other[2].name)),
    )


def by_stratum(obs: Observation, name: str, strata: Sequence[Mapping[str, str]]) -> Crossed:
    """Return texts by the groups of a factor and the values of a stratum of their prompts."""
    values = tuple(sorted({stratum[name] for stratum in strata if stratum.get(name)}))
    labels = [strata[code].get(name, "") for code in obs.prompt.tolist()]
    inside = np.array([[value == label for value in values] for label in labels], dtype=np.float64)
    # The first three statuses: readable texts of one group, several or none.
    total = obs.status[:, :3].sum(1) * inside.any(axis=1)
    return Crossed(
        name,
        values,
        obs.factor.name,
        obs.factor.keys,
        obs.prompt,
        obs.model,
        inside[:, :, np.newaxis] * obs.shown[:, np.newaxis],
        inside * total[:, np.newaxis],
        obs.shown * inside.any(axis=1, keepdims=True),
        total,
        obs.source.name,
        ((obs.factor.name, obs.source.name),),
    )


def attributes_of(strata: Iterable[Mapping[str, str]], names: Sequence[str]) -> tuple[str, ...]:
    """Return those of `names` that every prompt has, with two to twelve values."""
    rows = list(strata)
    attributes = []
    for name in names:
        values = {row.get(name, "") for row in rows}
        # A prompt without a value would be a group of its own; many values are names, not kinds.
        if "" not in values and 1 < len(values) <= 12:
            attributes.append(name)
    return tuple(attributes)
