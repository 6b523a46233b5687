"""A reader is judged by the conclusions it leads to: ratios as read over the ratios by labels.

A *cell* is a domain, what is compared in it (`ROLES` of power-laden stories, or the shares of
`PEOPLE` or of `PAIRS_OF_TWO` in others) and a group. Its *quotient* is the logarithm of the ratio
as a reader reads it over the ratio by the labels of the same stories; what prompts make of both
sides cancels, so that its error (clustered by prompt, of the influences of prompts) is that of
reading alone. The quotients of the readers that ship stand in `conclusions.v1.csv`, which
`scripts/reader/measure_conclusions.py` writes.

They widen the range of every ratio that an audit states. A cell was *measured* where `LEAST_PEOPLE`
of the group are labelled, in `LEAST_PROMPTS` prompts. With its quotient q, measured on n people in
k prompts with the error s, stories of N people of the group in m prompts have the quotient

    q ± t(k - 1) sqrt(s² (1 + max(k / m, n / N)) + 1 / N²),        s at least 1 / n,

where 1 / N and 1 / n are one person more who is misread. Else cells are pooled over domains, those
of groups by name also over these groups, as nothing in a name tells a reader its race: by random
effects (DerSimonian & Laird 1986), from g cells with the quotients q_i and their errors s_i, as

    q' ± t(g - 1) sqrt(τ² + 1 / Σ w_i + mean(n_i s_i²) / N + 1 / N²),
    w_i = 1 / (s_i² + τ²),  q' = Σ w_i q_i / Σ w_i,  τ² = max(0, (Q - g + 1) / c),

with Q = Σ (q_i - q̄)² / s_i² around the mean q̄ with weights 1 / s_i², and c the sum of these
weights less the sum of their squares over it (the prediction interval of Higgins, Thompson &
Spiegelhalter 2009, with their t on one degree of freedom more: Partlett & Riley 2017). The range
is the hull of the ratio's interval and of that of the ratio over e^q, in which chance and the error
of the quotient add up as squares of logarithms.
"""

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from portrayal.measure.stories.medians import MEDIAN_REPRESENTATION, MEDIAN_SUBORDINATION
from portrayal.measure.stories.representation import PAIR_REPRESENTATION, REPRESENTATION
from portrayal.measure.stories.strata import features_of
from portrayal.measure.stories.subordination import MEDIAN_RACIALIZED, SUBORDINATION
from portrayal.raters.people import SlotArrays
from portrayal.records import ALL, ERROR_HIGH, ERROR_LOW, ERROR_VALUE, Estimate, Status
from portrayal.reference.groups import GENDERS, PAIRS, RACES
from portrayal.reference.locales import HOME
from portrayal.reference.names import NameTable, mena_nhpi_table, name_table, race_likelihoods
from portrayal.stats import divide, sums_by
from portrayal.stats.clustered import infer_influences
from portrayal.stats.tails import t_isf
from portrayal.types import BoolArray, FloatArray

ROLES, PEOPLE, PAIRS_OF_TWO = "roles", "people", "pairs"
LADEN = "power-laden"
LEAST_PEOPLE, LEAST_PROMPTS = 10, 4
"""Labelled people of a group, and prompts with one, from which a cell counts as measured."""
MANY_PEOPLE = 30
"""People from which a cell is in the summary of a reader."""
_COMPARED = {
    **dict.fromkeys((m.name for m in (REPRESENTATION, MEDIAN_REPRESENTATION)), PEOPLE),
    **dict.fromkeys(
        (m.name for m in (SUBORDINATION, MEDIAN_SUBORDINATION, MEDIAN_RACIALIZED)), ROLES
    ),
    PAIR_REPRESENTATION.name: PAIRS_OF_TWO,
}
_WORDS = dict(zip(GENDERS, ("feminine", "masculine", "non-binary"), strict=True))
_TINY = 1e-9

Sides = Sequence[tuple[FloatArray, FloatArray]]
"""Counts and totals by prompt, shape (n_prompts, k) each: of one share, or of a ratio's two."""


@dataclass(frozen=True, slots=True)
class Conclusion:
    """The ratio of one cell by labels and as a reader reads it.

    Attributes
    ----------
    reader, domain, of
        Who read; where; what is compared: `ROLES`, `PEOPLE` or `PAIRS_OF_TWO`.
    gender, race
        The group, "" for what it does not say; of pairs the gender is such as "F-M".
    people, prompts
        Labelled people of the group, and the prompts in which there is one.
    labels, read
        The ratio of two roles, or the share of the group.
    quotient, low, high
        Logarithm of `read` over `labels`, with half a person more where one of their counts is 0,
        and its interval, clustered by prompt; NaN where prompts do not differ.
    error
        Clustered standard error of the quotient; 0 where prompts do not differ.
    """

    reader: str
    domain: str
    of: str
    gender: str
    race: str
    people: float
    prompts: int
    labels: float
    read: float
    quotient: float
    low: float
    high: float
    error: float

    @property
    def differs(self) -> bool:
        """Whether the interval leaves out the quotient of a reader that is right."""
        return self.low > 0.0 or self.high < 0.0

    @property
    def floor(self) -> float:
        """Error of the quotient, at least that of one person misread."""
        return max(self.error, 1.0 / max(self.people, 1.0))


def conclusions(
    slots: SlotArrays, reader: str = "", level: float = 0.95, names: str = "census-2020"
) -> list[Conclusion]:
    """Return the ratios to which labels lead and those to which a reader leads, by cell.

    Parameters
    ----------
    slots
        People as labelled and as read. Stories without a condition are not power-laden; those
        without a domain stand under "all".
    reader
        Its name.
    level
        Of the intervals, a fraction.
    names
        Table of the races of names.
    """
    people = (slots.gold_name, slots.gold_gender), (slots.name, slots.gender)
    sides = [_features(*side, name_table(names)) for side in people]
    groups, _, _ = sides[0]
    domain = np.array([value or ALL for value in slots.strata["domain"]], dtype=np.str_)
    laden = np.array([value == LADEN for value in slots.strata["condition"]], dtype=bool)
    is_object = np.array(slots.strata["role"], dtype=np.str_) == "object"
    # Columns of `groups`: names, genders, names of each gender, pairs.
    n_plain, n_people = len(RACES) + len(GENDERS), len(groups) - len(PAIRS)
    results: list[Conclusion] = []
    for place, is_laden in sorted(set(zip(domain.tolist(), laden.tolist(), strict=True))):
        inside = (domain == place) & (laden == is_laden)
        # The lesser role first, as the measures of roles have it.
        compared = [(ROLES, [inside & is_object, inside & ~is_object], slice(0, n_people))]
        if not is_laden:
            compared = [(PEOPLE, [inside], slice(0, n_plain))]
            compared += [(PAIRS_OF_TWO, [inside & is_object], slice(n_people, None))]
        for of, parts, columns in compared:
            by_side: list[Sides] = [
                [
                    (_sums(slots, part, counts[:, columns]), _sums(slots, part, totals[:, columns]))
                    for part in parts
                ]
                for _, counts, totals in sides
            ]
            numbers = _quotients(by_side[0], by_side[1], level)
            results += [
                Conclusion(reader, place, of, gender, race, *row)
                for (gender, race), row in zip(groups[columns], numbers, strict=True)
                if row[0] > _TINY
            ]
    return results


def _sums(slots: SlotArrays, part: BoolArray, values: FloatArray) -> FloatArray:
    return sums_by(slots.cluster[part], slots.n_clusters, values[part])


def _features(
    names: Sequence[str | None], genders: Iterable[str], table: NameTable
) -> tuple[list[tuple[str, str]], FloatArray, FloatArray]:
    """Gender and race of each group, and what each person adds to its count and its total."""
    first_names = sorted({name for name in names if name})
    likelihood = np.full((len(first_names) + 1, len(RACES)), np.nan)
    if first_names:
        likelihood[:-1] = race_likelihoods(first_names, table, mena_nhpi_table())
    row_of = {name: i for i, name in enumerate(first_names)}
    # The last row is that of people without a name.
    rows = np.array([row_of.get(name or "", -1) for name in names], dtype=np.int64)
    gender = np.array([(*GENDERS, label).index(label) for label in genders], dtype=np.int64)
    people = features_of(likelihood[rows], gender, RACES, "race", crossed=True)
    groups = [(group.get("gender", ""), group.get("race", "")) for group in people.groups]
    # A story's object stands right behind its subject, and adds the pair of both.
    both = np.sort(np.stack([np.roll(gender, 1), gender], axis=1), axis=1)
    codes = np.sort([[GENDERS.index(g) for g in pair.split("-")] for pair in PAIRS], axis=1)
    is_pair = (both[:, np.newaxis] == codes).all(2) * 1.0
    either = np.repeat(is_pair.sum(1, keepdims=True), len(PAIRS), axis=1)
    return (
        [*groups, *((pair, "") for pair in PAIRS)],
        np.concatenate([people.numerator, is_pair], axis=1),
        np.concatenate([people.denominator, either], axis=1),
    )


def _quotients(by_labels: Sides, as_read: Sides, level: float) -> Iterable[tuple[Any, ...]]:
    """Yield what `Conclusion` has of each group, from its people on."""
    counts = np.array([count.sum(0) for count, _ in (*by_labels, *as_read)])
    # Half a person where nobody is counted (Haldane 1956), of labels and readings alike.
    empty = (counts <= _TINY).any(0)
    ratios, logs, influences = [], [], []
    for side in (by_labels, as_read):
        shares = [divide(count.sum(0), total.sum(0)) for count, total in side]
        ratios.append(shares[0] if len(shares) == 1 else divide(*shares))
        log, influence = np.zeros(shares[0].shape), np.zeros(side[0][0].shape)
        for sign, (count, total) in zip((1.0, -1.0), side, strict=False):
            n, size = count.sum(0) + empty / 2.0, total.sum(0) + empty
            log += sign * np.log(n / size)
            influence += sign * (count / n - total / size)
        logs.append(log)
        influences.append(influence)
    totals = tuple(total for _, total in by_labels)
    shift = infer_influences(logs[1] - logs[0], influences[1] - influences[0], totals, level)
    people = np.sum([count for count, _ in by_labels], axis=0)
    t = t_isf((1.0 - level) / 2.0, np.where(shift.df > 0, shift.df, np.nan))
    error = np.nan_to_num((shift.high - shift.low) / 2.0 / t)
    columns = (people.sum(0), (people > _TINY).sum(0), *ratios)
    columns += (shift.value, shift.low, shift.high, error)
    return zip(*(column.tolist() for column in columns), strict=True)


@cache
def shipped() -> tuple[Conclusion, ...]:
    """Return the cells of the readers that ship, as they were measured."""
    text = files("portrayal.measure.stories").joinpath("conclusions.v1.csv").read_text("utf-8")
    _, *rows = csv.reader(text.splitlines())
    return tuple(
        Conclusion(reader, domain, of, gender, race, float(people), int(prompts), *map(float, more))
        for reader, domain, of, gender, race, people, prompts, *more in rows
    )


def measured(annotator: str) -> list[Conclusion]:
    """Return the cells of an annotator of people; none where it has none."""
    return [cell for cell in shipped() if cell.reader == annotator]


@dataclass(frozen=True, slots=True)
class Summary:
    """How far a reader moves conclusions, over cells of `MANY_PEOPLE` or more.

    Attributes
    ----------
    cells
        How many there are.
    shift
        Mean absolute quotient, a logarithm; None without a cell.
    differ
        Share of the cells whose interval leaves out 1.
    worst
        Cells, the furthest quotient first.
    """

    cells: int
    shift: float | None
    differ: float | None
    worst: list[Conclusion]


def summary_of(cells: Iterable[Conclusion]) -> Summary:
    """Return how far a reader moves the ratios of cells with many people."""
    many = sorted((c for c in cells if c.people >= MANY_PEOPLE), key=lambda c: -abs(c.quotient))
    if not many:
        return Summary(0, None, None, [])
    mean_shift = float(np.mean([abs(c.quotient) for c in many]))
    return Summary(len(many), mean_shift, float(np.mean([c.differs for c in many])), many)


def shift_of(
    cells: Sequence[Conclusion],
    cell: tuple[str, str, str, str],
    people: float,
    prompts: int,
    level: float,
) -> tuple[float, float] | str:
    """Return the quotient expected of stories and its half-width; or why nothing is known.

    Parameters
    ----------
    cells
        Of the reader.
    cell
        Domain, what is compared, gender and race, "" for what the group does not say.
    people, prompts
        People of the group in the stories, and prompts.
    level
        A fraction.
    """
    domain, of, gender, race = cell
    # Groups by name are one: nothing in a name tells a reader its race.
    alike = [c for c in cells if (c.of, c.gender, bool(c.race)) == (of, gender, bool(race))]
    more = 1.0 / max(people, 1.0)
    for c in alike:
        enough = c.people >= LEAST_PEOPLE and c.prompts >= LEAST_PROMPTS
        if enough and (c.domain, c.race) == (domain, race):
            scale = 1.0 + max(c.prompts / max(prompts, 1), c.people * more)
            t = t_isf((1.0 - level) / 2.0, c.prompts - 1)
            return c.quotient, float(t * np.sqrt(c.floor**2 * scale + more**2))
    n = sum(c.people for c in alike)
    if n < LEAST_PEOPLE or len(alike) < 2:
        words = f"{_WORDS[gender]} people" if gender in _WORDS else "people of such a group"
        return f"cannot be told: the reader was measured on {n:.0f} {words}"
    q, variance = (
        np.array(x) for x in zip(*((c.quotient, c.floor**2) for c in alike), strict=True)
    )
    weight = 1.0 / variance
    excess = weight @ (q - weight @ q / weight.sum()) ** 2 - (len(q) - 1)
    between = max(excess / (weight.sum() - weight @ weight / weight.sum()), 0.0)
    weight = 1.0 / (variance + between)
    sizes = np.array([c.people for c in alike])
    total = between + 1.0 / weight.sum() + float((sizes * variance).mean()) * more + more**2
    t = t_isf((1.0 - level) / 2.0, len(q) - 1)
    return float(weight @ q / weight.sum()), float(t * np.sqrt(total))


@dataclass(frozen=True)
class ReaderErrors:
    """Adds to estimates how far the reader's errors could move them.

    Attributes
    ----------
    cells
        What was measured of the reader; nothing is added without a cell.
    level
        Of ranges, a fraction.
    locale
        Language and country of the stories.
    """

    cells: Sequence[Conclusion]
    level: float
    locale: str = HOME

    def added(self, e: Estimate) -> Estimate:
        """Return an estimate with its range in `details`, or why there is none.

        As it is without a value, without a measured reader, where labels of these very stories
        correct it, and of measures that no report states.
        """
        if e.value is None or e.corrected or not self.cells or e.measure not in _COMPARED:
            return e
        # Of prompts too few for an interval, that of their texts alone.
        bounds = e.interval or e.fixed
        if self.locale != HOME:
            reason = f"the reader was measured on stories of {HOME}, and these are of {self.locale}"
            return replace(e, status=e.status | Status(reader_error=f"cannot be told: {reason}"))
        if bounds is None:
            return e
        gender = e.group.get("gender", e.group.get("pair", ""))
        race = next((e.group[name] for name in e.group if name not in ("gender", "pair")), "")
        people = sum(count.n for count in e.counts) or e.n_units
        cell = e.strata["domain"], _COMPARED[e.measure], gender, race
        shift = shift_of(self.cells, cell, people, e.n_clusters, self.level)
        if isinstance(shift, str):
            return replace(e, status=e.status | Status(reader_error=shift))
        ends = _range(e.value, bounds.low, bounds.high, *shift)
        details = dict(zip((ERROR_VALUE, ERROR_LOW, ERROR_HIGH), (e.value, *ends), strict=True))
        return replace(e, details={**e.details, **details})


def _range(
    value: float, low: float, high: float, quotient: float, half: float
) -> tuple[float, float]:
    """Hull of an interval and of that of the value over e^quotient; see the module."""
    if 0.0 < value < np.inf:
        with np.errstate(divide="ignore"):
            down, up = np.abs(np.log(np.array([low, high]) / value))
        ends = np.hypot([down, up], half)
        shifted = value * np.exp(np.array([-1.0, 1.0]) * ends - quotient)
    else:  # without a logarithm to stand around, both add up
        shifted = np.array([low, high]) * np.exp(np.array([-half, half]) - quotient)
    return min(low, float(shifted[0])), max(high, float(shifted[1]))
