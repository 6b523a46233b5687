"""Group texts: what each source of each factor saw in texts and people, as one table of units.

Equal units of one prompt and model are one row with their number; measures read sums by prompt.
Texts that people labelled for a factor stand beside what its sources see in them.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from portrayal.annotate.group_labels import (
    GROUP,
    NONE,
    STATUSES,
    UNKNOWN,
    UNREAD,
    GroupResponse,
    said_of,
)
from portrayal.annotate.groups import of_cell, text_sources
from portrayal.errors import DataError, OptionError
from portrayal.measure.corrected import labelled_texts, picked
from portrayal.measure.places import places
from portrayal.raters.labels import HandTable
from portrayal.records import ALL
from portrayal.reference.factors import (
    ColumnSource,
    Factor,
    ModelSource,
    NameSource,
    ReferenceSource,
    Source,
    WordSource,
    spelling_key,
)
from portrayal.reference.matching import name_key
from portrayal.reference.names import name_table
from portrayal.run.directory import Run, distinct_rows, read_chosen, read_prompts
from portrayal.run.files import Stage
from portrayal.types import BoolArray, FloatArray, IntArray

TEXT, PERSON = "text", "person"
_CROSSED = 60
"""Strata at most that several strata are crossed to."""


@dataclass(frozen=True, eq=False)
class UnitRows:
    """Codes of the prompt and model of each row, and how many units it stands for, shape (n,)."""

    prompt: IntArray
    model: IntArray
    count: FloatArray

    @classmethod
    def of(cls, table: Mapping[str, Sequence[Any]], codes: "Codes") -> "UnitRows":
        """Return the rows of a table with the columns `prompt_id`, `model` and `n`."""
        prompt, model = (
            np.array([code[name] for name in table[column]], dtype=np.int64)
            for column, code in zip(("prompt_id", "model"), codes, strict=True)
        )
        return cls(prompt, model, np.array(table["n"], dtype=np.float64))

    def take(self, index: Sequence[int] | IntArray) -> "UnitRows":
        """Return the rows at `index`; one may come several times."""
        rows = np.asarray(index, dtype=np.int64)
        return UnitRows(self.prompt[rows], self.model[rows], self.count[rows])


Codes = tuple[Mapping[str, int], Mapping[str, int]]
"""Names of prompts, and of models, with their codes."""


@dataclass(frozen=True, eq=False)
class GroupUnits:
    """What one source of one factor saw in n rows of units, of k groups.

    Attributes
    ----------
    factor, source
        Whose groups, and how they were seen.
    unit
        "text" or "person": what is counted.
    rows
        Prompt, model and number of the units of each row.
    weight
        Part of a unit that counts for each group, shape (n, k): 1/k where a unit has k groups, and
        of a name the shares of its bearers.
    mentions
        How often a unit mentions each group, shape (n, k); above 0 where it shows the group at all.
    status
        Index in `STATUSES`, shape (n,).
    reasons
        Why a unit is unknown, of a model's answer, or unread, if it is not in English, shape (n,);
        "" elsewhere.
    visible
        Whether the source can see each group at all, shape (k,): lists words or names of it.
    population
        Share of each group among the bearers of the name table, shape (k,); NaN where it is not
        known, or no names were read.
    """

    factor: Factor
    source: Source
    unit: str
    rows: UnitRows
    weight: FloatArray
    mentions: FloatArray
    status: IntArray
    reasons: Sequence[str]
    visible: BoolArray
    population: FloatArray

    @property
    def name(self) -> str:
        """What estimates call the factor."""
        return self.factor.name

    @property
    def keys(self) -> tuple[str, ...]:
        """The groups."""
        return self.factor.keys

    @property
    def indicators(self) -> FloatArray:
        """1 for each group that a unit shows, else 0, shape (n, k)."""
        return (self.mentions > 0).astype(np.float64)

    @property
    def is_known(self) -> BoolArray:
        """Whether the source can tell of a unit which groups it shows, shape (n,)."""
        return self.status < STATUSES.index(UNKNOWN)

    @property
    def readable(self) -> BoolArray:
        """Whether a unit could be read, shape (n,)."""
        return self.status < STATUSES.index(UNREAD)

    @property
    def decided(self) -> BoolArray:
        """Whether a unit has a group that counts, shape (n,)."""
        return self.status < STATUSES.index(NONE)


@dataclass(frozen=True, eq=False)
class GroupStratum:
    """One stratum: its labels, which prompts are in it, shape (n_prompts,), and its models."""

    labels: Mapping[str, str]
    prompts: BoolArray
    models: Sequence[int]

    def has(self, rows: UnitRows) -> BoolArray:
        """Whether each row is in it, shape (n,)."""
        return np.asarray(self.prompts[rows.prompt] & np.isin(rows.model, self.models))


@dataclass(frozen=True, eq=False)
class HandTexts:
    """Texts that people labelled for a factor, each a row of its own.

    Attributes
    ----------
    guess, truth
        What the source and what people see in them; the rows say how many texts each stands for.
    note
        Who labelled them, and what speaks against their being drawn at random.
    names
        What the labels call them, shape (n,).
    """

    guess: GroupUnits
    truth: GroupUnits
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
        By factor and source; sources that read the same texts share their rows.
    by
        Strata that estimates are split by.
    hand
        (Factor, source) → the texts that people labelled.
    """

    prompts: tuple[str, ...]
    strata: tuple[Mapping[str, str], ...]
    models: tuple[str, ...]
    observed: tuple[GroupUnits, ...]
    by: tuple[str, ...] = ()
    hand: Mapping[tuple[str, str], HandTexts] = field(default_factory=dict)

    @property
    def codes(self) -> Codes:
        """Codes of prompts and models."""
        prompts, models = ({n: i for i, n in enumerate(x)} for x in (self.prompts, self.models))
        return prompts, models

    def places(self, *, split: bool = True) -> Iterator[GroupStratum]:
        """Yield all texts together and by model, then each value of the strata, and all crossed."""
        by = self.by if split else ()
        columns = {name: [prompt.get(name, "") for prompt in self.strata] for name in by}
        models = [(ALL, [*range(len(self.models))])]
        models += [(name, [code]) for code, name in enumerate(self.models)]
        for part, inside in places(len(self.prompts), columns, crossed=_CROSSED):
            for model, codes in models:
                labels = dict.fromkeys(by, ALL) | part | {"model": model}
                yield GroupStratum(labels, inside, codes)


_TEXTS = """
    select t.prompt_id, t.model, a.said, count(*)::bigint as n
    from read_parquet($texts) t join read_parquet($annotations) a using (text_id)
    where a.error is null
    group by all order by all
"""
_MET = """
    with met as (
        select t.prompt_id, t.model,
               case when a.error is null and t.outcome = 'ok' then {people} end as people
        from read_parquet($texts) t join read_parquet($annotations) a using (text_id)
    ), people as (select prompt_id, model, unnest(people) as p from met)
"""
_PERSON = "{{'name': {0}_name, 'last': null::varchar, 'gender': {0}_gender}}"
_LISTED = (
    "[{'name': p.first, 'last': p.last, 'gender': p.gender} for p in a.people if not p.writer]"
)
_SLOTS = "[p for p in [{}, {}] if p.gender is not null]".format(
    *(_PERSON.format(f"a.{slot}") for slot in ("subject", "object"))
)
"""The people of a text: of a stage with a list of people, or with two slots."""
_PEOPLE = """
    select prompt_id, model, p.name as name, p.last as last, p.gender as gender,
           count(*)::bigint as n
    from people group by all order by all
"""


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
        The stage of `groups.v3`.
    people
        A stage of people, for names and references; without one these sources see nothing.
    by
        Strata of the prompts that estimates are split by.

    Returns
    -------
    GroupTexts
        The same for any shard size and number of workers.

    Raises
    ------
    OptionError
        Where the texts have nothing that the sources of a factor read.
    """
    facts = read_prompts(run.prompts_path)
    prompts = tuple(sorted(facts))
    strata = tuple(facts[name] for name in prompts)
    models = tuple(run.texts.note()["models"])
    texts = GroupTexts(prompts, strata, models, (), tuple(by))
    columns = {*run.texts.note().get("mapping", ()), *(name for about in strata for name in about)}
    table = distinct_rows(run.texts, groups, _TEXTS)
    # Distinct answers are read once, however many texts gave them
    responses_by_row, rows = (
        [said_of(answer) for answer in table["said"]],
        UnitRows.of(table, texts.codes),
    )
    observed = [
        units_of(factor, source, rows, [responses[place] for responses in responses_by_row])
        for place, (factor, source) in enumerate(text_sources(factors))
        if not isinstance(source, ColumnSource) or source.column in columns
    ]
    # Names and references are of people, so they need a stage that found some
    if people is not None:
        observed += _of_people(run, people, factors, texts.codes)
    for factor in factors:
        if not any(units.factor is factor for units in observed):
            needed = ", ".join(f"the column {column!r}" for column in factor.columns) or "people"
            raise OptionError(
                f"nothing shows the factor {factor.name}: the texts have not what its sources read "
                f"({needed}). Give texts that have it, or a factor with another source."
            )
    # In the order of the user's factors; within a factor its sources keep their order.
    order = {factor.name: i for i, factor in enumerate(factors)}
    observed.sort(key=lambda units: order[units.factor.name])
    return GroupTexts(prompts, strata, models, tuple(observed), tuple(by))


def units_of(
    factor: Factor,
    source: Source,
    rows: UnitRows,
    responses: Sequence[Sequence[GroupResponse]],
) -> GroupUnits:
    """Return what a source said in each row: of its text, or of each person in it."""
    unit = TEXT
    if isinstance(source, ReferenceSource):
        unit = PERSON
    elif isinstance(source, ModelSource):
        unit = source.unit
    if unit == PERSON:  # a text with three people gives three units
        rows = rows.take([i for i, of_row in enumerate(responses) for _ in of_row])
    answers = [answer for of_row in responses for answer in of_row]
    k = len(factor.keys)
    mentions = np.zeros((len(answers), k))
    for row, answer in enumerate(answers):
        np.add.at(mentions[row], list(answer.places), 1.0)
    present = (mentions > 0).astype(np.float64)
    n_groups = np.maximum(present.sum(1, keepdims=True), 1.0)
    # Words show only groups that the list has words for; a share of 0 of others would mislead.
    visible_keys = source.words if isinstance(source, WordSource) else factor.keys
    return GroupUnits(
        factor,
        source,
        unit,
        rows,
        present / n_groups,
        mentions,
        np.array([STATUSES.index(answer.status) for answer in answers], dtype=np.int64),
        [answer.reason for answer in answers],
        np.array([key in visible_keys for key in factor.keys]),
        np.full(k, np.nan),
    )


def _of_people(
    run: Run,
    people: Stage,
    factors: Sequence[Factor],
    codes: Codes,
) -> Iterator[GroupUnits]:
    """Yield what names and references tell of people."""
    import pyarrow.parquet as pq

    lists_people = "people" in pq.read_schema(people.parts()[0]).names
    met = _MET.format(people=_LISTED if lists_people else _SLOTS)
    persons = distinct_rows(run.texts, people, met + _PEOPLE)
    rows = UnitRows.of(persons, codes)
    sources = [(factor, source) for factor in factors for source in factor.sources]
    for factor, source in sources:
        if isinstance(source, NameSource):
            names = persons["name" if source.part == "first" else "last"]
            yield _of_names(factor, source, rows, names)
        elif isinstance(source, ReferenceSource):
            answers = [(_of_gender(factor, gender),) for gender in persons["gender"]]
            yield units_of(factor, source, rows, answers)


def _of_gender(factor: Factor, gender: str | None) -> GroupResponse:
    group = factor.find(gender) if gender else None
    if group is not None:
        return GroupResponse(GROUP, (factor.keys.index(group),))
    # words of several: not known which
    return GroupResponse(UNKNOWN if gender == "Unsure" else NONE)


def _of_names(
    factor: Factor, source: NameSource, rows: UnitRows, names: Sequence[str | None]
) -> GroupUnits:
    """Return people by the groups of those who bear their names."""
    keys = factor.keys
    shares = np.full((len(names), len(keys)), np.nan)
    population = np.full(len(keys), np.nan)
    if source.table:
        filters = [f"{column}={value}" for column, value in source.by.items()]
        table = name_table(source.table, columns=filters)
        # The table's races that the factor has; its other groups stay unseen.
        places = {label: group for label in table.races if (group := factor.find(label))}
        if not places:
            raise DataError(
                f"the name table {source.table} speaks of {', '.join(table.races)}; none is a "
                f"group of the factor {factor.name} ({', '.join(keys)}). Add its labels to a "
                "group's 'also'."
            )
        read = table.likelihoods(list(names))
        # A name that the table has tells of all groups: those that it does not list are 0, not NaN.
        shares[~np.isnan(read).all(axis=1)] = 0.0
        for label, group in places.items():
            shares[:, keys.index(group)] = read[:, table.races.index(label)]
            population[keys.index(group)] = table.population.get(label, np.nan)
        visible = np.array([key in places.values() for key in keys])
    else:  # a user's own list says one group of each name, with certainty
        groups = {name_key(n): g for g, members in source.names.items() for n in members}
        for row, name in enumerate(names):
            if name and (group := groups.get(name_key(name))) is not None:
                shares[row] = [float(key == group) for key in keys]
        visible = np.array([key in source.names for key in keys])
    # A name that the table lacks is unknown; without a name there is nothing to know
    lacking = [STATUSES.index(UNKNOWN if name else NONE) for name in names]
    status = np.where(np.isnan(shares).all(axis=1), np.array(lacking, dtype=np.int64), 0)
    weight, no_reason = np.nan_to_num(shares), [""] * len(names)
    return GroupUnits(
        factor, source, PERSON, rows, weight, weight, status, no_reason, visible, population
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


def with_hand_labels(
    texts: GroupTexts, run: Run, factors: Sequence[Factor], groups: Stage, table: HandTable
) -> GroupTexts:
    """Return the group texts with what people say of some of them.

    Labels of a factor are of all its sources that tell of texts, but columns.

    Raises
    ------
    DataError
        Where a label is of a text that the run has not, or of a group that the factor has not.
    """
    places = {
        (factor.name, source.name): place
        for place, (factor, source) in enumerate(text_sources(factors))
    }
    hand: dict[tuple[str, str], HandTexts] = {}
    for observed in texts.observed:
        factor, source = observed.factor, observed.source
        labels, key = table.labels.get(factor.name, {}), (factor.name, source.name)
        # A column is what the user says already, and has no errors that people could correct
        if (
            not labels
            or key not in places
            or observed.unit != TEXT
            or isinstance(source, ColumnSource)
        ):
            continue
        columns = ["text_id", "prompt_id", "model"]
        by_name = labelled_texts(run, table, factor.name, columns)
        name_of = {row["text_id"]: name for name, row in by_name.items()}
        # What the source says of the same texts; failures say nothing and are left out.
        for row in read_chosen(groups.parts(), ["text_id", "said", "error"], name_of):
            by_name[name_of[row["text_id"]]] |= {"said": row["said"], "error": row["error"]}
        # Sorted, so that sums do not depend on the order of the labels
        names = [name for name in sorted(by_name) if by_name[name].get("error") is None]
        columns_read: dict[str, list[Any]] = {c: [by_name[n][c] for n in names] for c in columns}
        # all texts that could be read: what the labels stand for
        count = observed.rows.count
        size = count[observed.readable].sum() / max(len(names), 1)
        weight = table.weights(factor.name, [(name, "") for name in names], size)
        rows = UnitRows.of({**columns_read, "n": weight.tolist()}, texts.codes)
        guesses = [said_of(by_name[name]["said"])[places[key]] for name in names]
        guess = units_of(factor, source, rows, guesses)
        # Labels are read as the source is, so that both sides count alike
        label_responses = {x: _of_label(factor, x, table.path) for x in table.answers[factor.name]}
        answers = [(label_responses[labels[name, ""]],) for name in names]
        truth = units_of(factor, source, rows, answers)
        note = table.note(factor.name)
        # Without chances of the draw labels count as drawn at random, so what speaks against that
        # is said.
        if factor.name not in table.chance:
            population, sample = (
                np.c_[side.indicators, side.decided] for side in (observed, guess)
            )
            note += picked(sample, count @ population / max(count.sum(), 1.0))
        hand[key] = HandTexts(guess, truth, note, tuple(names))
    return replace(texts, hand=hand)


def _of_label(factor: Factor, label: str, path: str) -> GroupResponse:
    """What a label by hand says; several groups stand with "and", "/" or ";" between them."""
    # The spellings of the factor's own column first: raters often write as the file does
    column = next((s for s in factor.sources if isinstance(s, ColumnSource)), None)
    if column is not None:
        cell = of_cell(column, label, factor.keys)
        if cell.status != UNKNOWN or spelling_key(label) in column.unknown:
            return cell
    if spelling_key(label) in ("none", "no group"):
        return GroupResponse(NONE)
    if spelling_key(label) in ("unknown", "unsure", "uncertain"):
        return GroupResponse(UNKNOWN)
    keys = [factor.find(part) for part in re.split(r"\s+and\s+|[/;,]", label)]
    if None in keys:
        raise DataError(
            f"{path}: no group of {factor.name} is called {label!r}; its groups are "
            f"{', '.join(factor.keys)}, beside none and unknown."
        )
    return GroupResponse.of({factor.keys.index(str(key)) for key in keys})
