"""Texts that people labelled for a factor, beside what its sources see in them."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from portrayal.annotate.group_labels import GROUP, NONE, SEVERAL, UNKNOWN, GroupResponse, said_of
from portrayal.annotate.groups import of_cell, text_sources
from portrayal.errors import DataError
from portrayal.measure.corrected import labelled_texts, picked
from portrayal.measure.groups.texts import TEXT, GroupTexts, HandTexts, UnitRows, units_of
from portrayal.raters import HandTable
from portrayal.reference.factors import ColumnSource, Factor, spelling_key
from portrayal.run.directory import Run
from portrayal.run.reading import read_chosen
from portrayal.run.stages import Stage


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
        said = {x: _of_label(factor, x, table.path) for x in table.answers[factor.name]}
        answers = [(said[labels[name, ""]],) for name in names]
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
