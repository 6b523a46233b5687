"""Texts that people labelled for a factor, beside what its sources see in them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from portrayal.annotate.group_labels import GROUP, NONE, SEVERAL, UNKNOWN, GroupResponse, said_of
from portrayal.annotate.groups import of_cell, text_sources
from portrayal.errors import DataError
from portrayal.measure.corrected import labelled_texts, picked
from portrayal.measure.groups.association import Crossed
from portrayal.measure.groups.texts import (
    TEXT,
    DistinctRows,
    GroupTexts,
    HandTexts,
    Observation,
    by_stratum,
    seen_in_texts,
)
from portrayal.raters import HandTable
from portrayal.reference.factors import ColumnSource, Factor, spelling_key
from portrayal.run.directory import Run
from portrayal.run.reading import read_chosen
from portrayal.run.stages import Stage
from portrayal.types import IntArray


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
    prompts, models = (
        {name: i for i, name in enumerate(names)} for names in (texts.prompts, texts.models)
    )
    hand: dict[tuple[str, str], HandTexts] = {}
    for observed in texts.observed:
        factor, source = observed.factor, observed.source
        labels = table.labels.get(factor.name, {})
        # A column is what the user says already, and has no errors that people could correct
        if not labels or observed.unit != TEXT or isinstance(source, ColumnSource):
            continue
        columns = ["text_id", "prompt_id", "model"]
        by_name = labelled_texts(run, table, factor.name, columns)
        name_of = {row["text_id"]: name for name, row in by_name.items()}
        # What the source says of the same texts; failures say nothing and are left out.
        for row in read_chosen(groups.parts(), ["text_id", "said", "error"], name_of):
            by_name[name_of[row["text_id"]]] |= {"said": row["said"], "error": row["error"]}
        # Sorted, so that sums do not depend on the order of the labels
        names = [name for name in sorted(by_name) if by_name[name].get("error") is None]
        readable = [by_name[name] for name in names]
        place = places[factor.name, source.name]
        rows: dict[str, list[Any]] = {name: [row[name] for row in readable] for name in columns}
        rows["n"] = [1.0] * len(readable)
        rows["said"] = [said_of(row["said"]) for row in readable]
        cells = DistinctRows((prompts, models), rows, by_row=True)
        guess = seen_in_texts(cells, place, factor, source)
        answers = [_of_label(factor, labels[name, ""], table.path) for name in names]
        # Labels are read as a source is, so that both sides count alike: as the only one, number 0.
        cells.rows["said"] = [[(answer,)] for answer in answers]
        truth = replace(
            # People see every group, also those that the source has no words for.
            seen_in_texts(cells, 0, factor, source),
            visible=np.ones(len(factor.keys), dtype=bool),
        )
        # all texts that could be read: what the labels stand for
        size = observed.status[:, :4].sum()
        units = [(name, "") for name in names]
        weight = table.weights(factor.name, units, size / max(len(readable), 1))
        note = table.note(factor.name)
        # Without chances of the draw labels count as drawn at random, so what speaks against that
        # is said.
        if factor.name not in table.chance:
            population, sample = (np.c_[side.shown, side.decided] for side in (observed, guess))
            mean = population.sum(0) / max(observed.status.sum(), 1.0)
            note += picked(sample, mean)
        hand[factor.name, source.name] = HandTexts(guess, truth, weight, note, tuple(names))
    crossed = tuple(_with_hand(crossing, hand, texts) for crossing in texts.crossed)
    return replace(texts, hand=hand, crossed=crossed)


def _with_hand(
    crossed: Crossed, hand: Mapping[tuple[str, str], HandTexts], texts: GroupTexts
) -> Crossed:
    """The crossing with the texts of which people labelled both factors, or its only one."""
    sides = [hand[key] for key in crossed.sources if key in hand]
    if len(sides) < len(crossed.sources):  # one of the factors has no labels
        return crossed
    if len(sides) == 1:
        (one,) = sides
        cells = [by_stratum(side, crossed.group, texts.strata) for side in (one.said, one.truth)]
        return replace(crossed, hand=(cells[0], cells[1], one.weight, one.note))
    first, second = sides
    # Only texts of which people labelled both factors say how these go together
    names = sorted({*first.names} & {*second.names})
    rows = [np.array([side.names.index(n) for n in names], dtype=np.int64) for side in sides]
    pairs = (first.said, second.said), (first.truth, second.truth)
    cells = [_both(crossed, *pair, *rows) for pair in pairs]
    note = " and ".join(dict.fromkeys((first.note, second.note)))
    return replace(crossed, hand=(cells[0], cells[1], first.weight[rows[0]], note))


def _both(
    crossed: Crossed, one: Observation, other: Observation, rows: IntArray, other_rows: IntArray
) -> Crossed:
    """The crossing of single texts, by what is observed of both factors in them."""
    decided = (one.status[rows, :3].sum(1) * other.status[other_rows, :3].sum(1))[:, np.newaxis]
    group, attribute = one.shown[rows] * decided, other.shown[other_rows] * decided
    both = group[:, :, np.newaxis] * attribute[:, np.newaxis]
    cells = {"prompt": one.prompt[rows], "model": one.model[rows], "total": decided[:, 0]}
    return replace(crossed, both=both, of_group=group, of_attribute=attribute, **cells)


def _of_label(factor: Factor, label: str, path: str) -> GroupResponse:
    """What a label by hand says; several groups stand with "and", "/" or ";" between them."""
    # The spellings of the factor's own column first: raters often write as the file does
    column = next((s for s in factor.sources if isinstance(s, ColumnSource)), None)
    if column is not None:
        cell = of_cell(column, label, factor.keys)
        in_column = cell["status"] != UNKNOWN or spelling_key(label) in column.unknown
        if in_column:
            return GroupResponse(cell["status"], tuple(map(factor.keys.index, cell["groups"])))
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
    places = tuple(sorted({factor.keys.index(str(key)) for key in keys}))
    return GroupResponse(GROUP if len(places) == 1 else SEVERAL, places)
