"""Texts that people labelled for a factor, beside what its sources see in them."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from portrayal.annotate.group_labels import GROUP, NONE, SEVERAL, UNKNOWN, GroupResponse, said_of
from portrayal.annotate.groups import of_cell, text_sources
from portrayal.errors import DataError
from portrayal.measure.corrected import labelled_texts
from portrayal.measure.groups.texts import (
    TEXT,
    DistinctRows,
    GroupTexts,
    HandTexts,
    Observation,
    seen_in_texts,
)
from portrayal.raters import HandTable
from portrayal.reference.factors import ColumnSource, Factor, spelling_key
from portrayal.run.directory import Run
from portrayal.run.reading import read_chosen
from portrayal.run.stages import Stage
from portrayal.stats.tails import normal_sf

SURE_OF_CHANCE = 0.001
"""p below which labelled texts are said not to have been drawn at random."""


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
        named = table.labels.get(factor.name, {})
        if not named or observed.unit != TEXT or isinstance(source, ColumnSource):
            continue
        columns = ["text_id", "prompt_id", "model"]
        found = labelled_texts(run, table, factor.name, columns)
        own = {row["text_id"]: name for name, row in found.items()}
        for row in read_chosen(groups.parts(), ["text_id", "said", "error"], own):
            found[own[row["text_id"]]] |= {"said": row["said"], "error": row["error"]}
        names = [name for name in sorted(found) if found[name].get("error") is None]
        kept = [found[name] for name in names]
        place = places[factor.name, source.name]
        rows: dict[str, list[Any]] = {name: [row[name] for row in kept] for name in columns}
        rows["n"] = [1.0] * len(kept)
        rows["said"] = [said_of(row["said"]) for row in kept]
        cells = DistinctRows((prompts, models), rows, apart=True)
        said = seen_in_texts(cells, place, factor, source)
        answers = [_of_label(factor, named[name, ""], table.path) for name in names]
        cells.rows["said"] = [[(answer,)] for answer in answers]
        truth = replace(
            seen_in_texts(cells, 0, factor, source), visible=np.ones(len(factor.keys), dtype=bool)
        )
        size = observed.status[:, :4].sum()
        weight = np.full(len(kept), size / max(len(kept), 1))
        if table.chance:
            weight = np.array([1.0 / table.chance[name] for name in names])
        note = table.note(factor.name)
        if not table.chance and (p := _by_chance(observed, said)) < SURE_OF_CHANCE:
            note += f"; these were not drawn at random (p {p:.1g}), and correct such texts alone"
        hand[factor.name, source.name] = HandTexts(said, truth, weight, note)
    return replace(texts, hand=hand)


def _by_chance(observed: Observation, said: Observation) -> float:
    """P of labelled texts that differ so from all in what the source says of them (Bonferroni)."""
    n, size = len(said.prompt), observed.status.sum()
    every = np.append(observed.shown.sum(0), observed.decided.sum()) / max(size, 1.0)
    drawn = np.append(said.shown.sum(0), said.decided.sum())
    spread = np.sqrt(np.maximum(n * every * (1.0 - every), 0.25))
    tails = 2.0 * normal_sf(np.maximum(np.abs(drawn - n * every) - 0.5, 0.0) / spread)
    return float(min(1.0, len(tails) * tails.min()))


def _of_label(factor: Factor, label: str, path: str) -> GroupResponse:
    """What a label by hand says; several groups stand with "and", "/" or ";" between them."""
    column = next((s for s in factor.sources if isinstance(s, ColumnSource)), None)
    if column is not None:
        cell = of_cell(column, label, factor.keys)
        known = cell["status"] != UNKNOWN or spelling_key(label) in column.unknown
        if known:
            return GroupResponse(cell["status"], tuple(map(factor.keys.index, cell["groups"])))
    if spelling_key(label) in ("none", "no group"):
        return GroupResponse(NONE)
    if spelling_key(label) in ("unknown", "unsure", "uncertain"):
        return GroupResponse(UNKNOWN)
    found = [factor.find(part) for part in re.split(r"\s+and\s+|[/;,]", label)]
    if None in found:
        raise DataError(
            f"{path}: no group of {factor.name} is called {label!r}; its groups are "
            f"{', '.join(factor.keys)}, beside none and unknown."
        )
    places = tuple(sorted({factor.keys.index(str(key)) for key in found}))
    return GroupResponse(GROUP if len(places) == 1 else SEVERAL, places)
