"""Characters of stories that people labelled, which correct what the annotator says of all.

The sums of a group are corrected by the errors of the hand-labelled characters, in three classes by
the annotator's label (`stats/two_phase.py`): those it puts into the group, those it does not, and
those it cannot tell.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from portrayal.measure.corrected import HandSums, labelled_texts
from portrayal.measure.scored import ScoredUnits
from portrayal.measure.stories.strata import Stratum, group_features
from portrayal.measure.stories.tally import (
    DOMINANT,
    GENDER_CODES,
    NEUTRAL,
    NO_SLOT,
    ROLES,
    SUBORDINATE,
    Characters,
    Likelihoods,
    Tally,
)
from portrayal.raters.labels import SLOTS, HandTable
from portrayal.raters.people import people_of
from portrayal.run.directory import Run, read_chosen
from portrayal.run.files import Stage
from portrayal.types import FloatArray, IntArray

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
    note
        Who labelled how many texts, for instruments and reports.
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
    note: str = ""

    def sums(self, stratum: Stratum, roles: tuple[int, ...], *, crossed: bool = False) -> HandSums:
        """Correct the sums of one role of a stratum, or of two as the sides of a ratio."""
        first, *second = (self._of_role(stratum, role, crossed) for role in roles)
        return HandSums.of_ratio(first, second[0], [ROLES[r] for r in roles]) if second else first

    def _of_role(self, stratum: Stratum, role: int, crossed: bool) -> HandSums:
        tally, people = self.tally, self.tally.characters

        def units(
            side: Characters | HandSample, weight: FloatArray, name: IntArray, gender: IntArray
        ) -> ScoredUnits:
            rows = stratum.has(side.prompt, side.model) & (side.role == role)
            features = group_features(tally, name[rows], gender[rows], crossed=crossed)
            return ScoredUnits(
                side.prompt[rows], weight[rows], features.numerator, (features.denominator,)
            )

        return HandSums.of(
            units(people, people.count.astype(np.float64), people.name, people.gender),
            units(self, self.weight.astype(np.float64), self.name, self.gender),
            units(self, self.weight.astype(np.float64), self.gold_name, self.gold_gender),
            self.note,
            clusters=stratum.prompts,
            unit=f"{ROLES[role]} character",
        )


def hand_sample(
    run: Run, annotations: Stage, table: HandTable, tally: Tally, likelihoods: Likelihoods
) -> HandSample:
    """Set hand labels beside the annotator's.

    Parameters
    ----------
    run, annotations
        A run and the stage of its people annotations.
    table
        Hand labels of people of texts that were drawn from this run.
    tally, likelihoods
        The run's tally, and what made its shares by race.

    Raises
    ------
    DataError
        When the labels are of other texts.
    """
    people = people_of(table)
    places = labelled_texts(run, table, f"{SLOTS[0]}_gender", ["prompt_id", "model"])
    names = {row["text_id"]: name for name, row in places.items()}
    n_texts = run.texts.note().get("outcomes", {}).get("ok", 0)
    rows = []
    for read in read_chosen(annotations.parts(), _COLUMNS, names):
        # an annotation that failed counts nowhere, so nor do its labels
        if read["error"] is not None:
            continue
        name = names[read["text_id"]]
        place = places[name]["prompt_id"], places[name]["model"]
        for slot in SLOTS:
            if gold := people.get((name, slot)):
                weight = table.weights(f"{slot}_gender", [(name, "")], n_texts / len(names))[0]
                guess = read[f"{slot}_name"], read[f"{slot}_gender"]
                rows.append((*place, slot, weight, *guess, *gold))
    n, raters = len(names), len(table.raters[f"{SLOTS[0]}_gender"])
    labeller = f"{raters} raters" if raters > 1 else "one rater, whose errors nobody can see"
    note = f"people of {n} texts labelled by {labeller}"
    return replace(_coded(rows, tally, likelihoods), note=note)


def _coded(rows: list[tuple[Any, ...]], tally: Tally, likelihoods: Likelihoods) -> HandSample:
    prompts = {prompt: i for i, prompt in enumerate(tally.prompt_ids)}
    models = {model: i for i, model in enumerate(tally.models)}
    names = {name.casefold(): i for i, name in enumerate(tally.names)}
    genders = {gender: i for i, gender in enumerate(GENDER_CODES)}
    # Names that only people found are in no row of the tally; their codes come after its own.
    added = sorted({row[6] for row in rows if row[6] and row[6].casefold() not in names})
    for name in added:
        names.setdefault(name.casefold(), len(names))
    new = [name for i, name in enumerate(added) if names[name.casefold()] == len(tally.names) + i]
    # The last row is that of characters without a name (code -1), so new names go before it.
    shares = [tally.likelihood[:-1], *([likelihoods(new)] if new else []), tally.likelihood[-1:]]
    wider = replace(tally, names=(*tally.names, *new), likelihood=np.concatenate(shares), cache={})
    laden = tally.prompt_laden

    def name_of(name: str | None) -> int:
        return names.get((name or "").casefold(), NO_SLOT)

    def role_of(prompt: int, slot: str) -> int:
        # Power-laden prompts name the one with power first.
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
    return HandSample(wider, prompt, model, role, weight, name, gender, gold_name, gold_gender)
