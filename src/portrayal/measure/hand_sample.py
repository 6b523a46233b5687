"""Hand sample: the characters that people labelled, beside what the annotator made of them.

Prediction-powered inference (Angelopoulos et al. 2023, Science 382) adds to a sum over all texts,
as the annotator labels them, its error on the hand-labelled ones, each weighted by the number of
texts it stands for. `HandSample.errors` are those errors, prompt by prompt.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from portrayal.annotate.hand import HandLabel, Sheet
from portrayal.errors import DataError
from portrayal.measure.features import Features, group_features, sums_by
from portrayal.measure.strata import Stratum
from portrayal.measure.tally import (
    DOMINANT,
    GENDER_CODES,
    NEUTRAL,
    NO_SLOT,
    SUBORDINATE,
    FloatArray,
    IntArray,
    Tally,
)
from portrayal.run.directory import Run
from portrayal.run.stages import Stage

Likelihoods = Callable[[Sequence[str]], FloatArray]

_COLUMNS = ["text_id", "subject_name", "subject_gender", "object_name", "object_gender", "error"]


@dataclass(frozen=True)
class HandSample:
    """Characters of the hand-labelled texts.

    Attributes
    ----------
    tally
        The run's tally, with the names that only people found added to it.
    prompt, model, role, weight
        Shape (n,): codes as in the tally, and how many texts of the run each one's text stands for.
    name, gender, gold_name, gold_gender
        Shape (n,): codes as the annotator and as people label them.
    n_texts
        Hand-labelled texts.
    """

    tally: Tally
    prompt: IntArray
    model: IntArray
    role: IntArray
    weight: FloatArray
    name: IntArray
    gender: IntArray
    gold_name: IntArray
    gold_gender: IntArray
    n_texts: int

    def features(self, *, gold: bool, crossed: bool) -> Features:
        """What each character adds to the sums of a measure, as people or annotator label it."""
        name, gender = (self.gold_name, self.gold_gender) if gold else (self.name, self.gender)
        return group_features(self.tally, name, gender, crossed=crossed)

    def inside(self, stratum: Stratum, role: int) -> Any:
        """Which characters lie in a stratum and have a role, shape (n,)."""
        return stratum.has(self.prompt, self.model) & (self.role == role)

    def errors(self, stratum: Stratum, role: int, values: FloatArray) -> FloatArray:
        """Sum weighted `values`, shape (n, k), per prompt of the stratum: (n_prompts, k)."""
        inside = self.inside(stratum, role)
        code = np.searchsorted(stratum.prompts, self.prompt[inside])
        weighted = values[inside] * self.weight[inside, np.newaxis]
        return sums_by(code, len(stratum.prompts), weighted)


def hand_sample(
    run: Run, annotations: Stage, sheet: Sheet, tally: Tally, likelihoods: Likelihoods
) -> HandSample:
    """Set hand labels beside the annotator's.

    Parameters
    ----------
    run, annotations
        A run and the stage of its people annotations.
    sheet
        Hand labels of texts that were drawn from this run.
    tally, likelihoods
        The run's tally, and what made its shares by race.

    Raises
    ------
    DataError
        When the sheet is of other texts, or a stratum of it has no labelled text.
    """
    _check(run, sheet)
    wanted = {label.text_id: label for label in sheet.labels}
    places = _places(run, wanted)
    unknown = wanted.keys() - places.keys()
    if unknown:
        raise DataError(
            f"{sheet.path}: row {wanted[min(unknown)].row}: this run has no text {min(unknown)!r}; "
            "hand labels correct the run that their sheet was drawn from."
        )
    rows = []
    for text_id, found in _annotated(annotations, wanted).items():
        label = wanted[text_id]
        weight = sheet.weights[label.stratum]
        for slot, said in (("subject", label.subject), ("object", label.object)):
            if said is not None:
                guess = found[f"{slot}_name"], found[f"{slot}_gender"]
                rows.append((*places[text_id], slot, weight, *guess, *said))
    return _coded(rows, tally, likelihoods, len(wanted))


def _check(run: Run, sheet: Sheet) -> None:
    if not sheet.labels:
        raise DataError(f"{sheet.path}: no row is filled in, so there is nothing to correct by.")
    if sheet.unlabelled_strata:
        raise DataError(
            f"{sheet.path}: no text of the stratum {sheet.unlabelled_strata[0]!r} is labelled, so "
            "nothing is known of the errors there. Label at least one text of every stratum."
        )
    readable = run.texts.note().get("outcomes", {}).get("ok")
    drawn_from = sum(sheet.stratum_sizes.values())
    if readable is not None and readable != drawn_from:
        raise DataError(
            f"{sheet.path} was drawn from {drawn_from:,} readable texts, but this run has "
            f"{readable:,}. Draw a new sheet with `portrayal label sheet`."
        )


def _places(run: Run, wanted: Mapping[str, HandLabel]) -> dict[str, tuple[str, str]]:
    """Prompt and model of each wanted text that the run has."""
    found = {}
    for row in _rows(run.texts, ["text_id", "prompt_id", "model"], wanted):
        found[row["text_id"]] = (row["prompt_id"], row["model"])
    return found


def _annotated(stage: Stage, wanted: Mapping[str, HandLabel]) -> dict[str, dict[str, Any]]:
    """Return the annotator's label of each wanted text that it did not fail on."""
    rows = _rows(stage, _COLUMNS, wanted)
    return {row["text_id"]: row for row in rows if row["error"] is None}


def _rows(stage: Stage, columns: list[str], wanted: Mapping[str, Any]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    keys = list(wanted)
    for part in stage.parts():
        rows += pq.read_table(part, columns=columns, filters=[("text_id", "in", keys)]).to_pylist()
    return rows


def _coded(
    rows: list[tuple[Any, ...]], tally: Tally, likelihoods: Likelihoods, n_texts: int
) -> HandSample:
    prompts = {prompt: i for i, prompt in enumerate(tally.prompt_ids)}
    models = {model: i for i, model in enumerate(tally.models)}
    names = {name.casefold(): i for i, name in enumerate(tally.names)}
    genders = {gender: i for i, gender in enumerate(GENDER_CODES)}
    added = sorted({row[6] for row in rows if row[6] and row[6].casefold() not in names})
    for name in added:
        names.setdefault(name.casefold(), len(names))
    kept = [name for i, name in enumerate(added) if names[name.casefold()] == len(tally.names) + i]
    shares = [tally.likelihood[:-1], *([likelihoods(kept)] if kept else []), tally.likelihood[-1:]]
    wider = replace(tally, names=(*tally.names, *kept), likelihood=np.concatenate(shares), cache={})
    laden = tally.prompt_laden

    def name_of(name: str | None) -> int:
        return names.get((name or "").casefold(), NO_SLOT)

    def role_of(prompt: int, slot: str) -> int:
        return (DOMINANT if slot == "subject" else SUBORDINATE) if laden[prompt] else NEUTRAL

    coded = [
        (
            prompts[prompt],
            models[model],
            role_of(prompts[prompt], slot),
            name_of(name),
            genders.get(gender, NO_SLOT),
            name_of(gold_name),
            genders[gold_gender],
        )
        for prompt, model, slot, _, name, gender, gold_name, gold_gender in rows
    ]
    columns = np.array(coded, dtype=np.int64).reshape(-1, 7).T
    weight = np.array([row[3] for row in rows], dtype=np.float64)
    prompt, model, role, name, gender, gold_name, gold_gender = columns
    return HandSample(
        wider, prompt, model, role, weight, name, gender, gold_name, gold_gender, n_texts
    )
