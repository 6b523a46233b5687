"""Corrected by hand: what all measures share whose labels people checked on a sample.

A measure gives what each unit adds to its sums as the scorer and as people label it
(`HandSums.of`); `stats/two_phase.py` corrects the sums, and `clustered.estimates_of` makes the
corrected estimate of each group beside the raw one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from portrayal.annotate.scores import AGENCY, SENTIMENT, TOXICITY
from portrayal.errors import DataError
from portrayal.raters import HandTable
from portrayal.run.directory import Run
from portrayal.run.files import read_parquet
from portrayal.run.reading import read_chosen
from portrayal.stats import upper_of_none
from portrayal.stats.design_effect import effective_number
from portrayal.stats.tails import normal_sf
from portrayal.stats.two_phase import Labelled, TwoPhase, two_phase
from portrayal.types import FloatArray

IMPOSSIBLE = "after the correction the share lies outside 0–1, or nobody is left"
FEWEST = 20
"""Hand-labelled units below which nothing is corrected."""


@dataclass(frozen=True, eq=False)
class HandSums:
    """Sums of one stratum, corrected by labels by hand, and how many labels there are.

    Attributes
    ----------
    sums
        The corrected sums of k groups: two of a share, four of a difference or a ratio of shares.
    labelled, carried
        Units that are labelled, shape (k,), and how many of them are of the group by either label.
    fewer, two_sides
        Of differences the labels of the group that has fewer, shape (k,); else all of them.
    unit
        What is labelled: "text", "sentence", ….
    note
        Who labelled, for instruments and reports.
    start, slope
        The value is start + slope × the corrected share or difference of shares, as numbers are
        mapped to 0–1.
    """

    sums: TwoPhase
    labelled: FloatArray
    carried: FloatArray
    fewer: FloatArray
    two_sides: bool
    unit: str
    note: str
    start: float = 0.0
    slope: float = 1.0

    @classmethod
    def of(
        cls,
        everyone: Labelled,
        hand: Labelled,
        truth: tuple[FloatArray, ...],
        n_prompts: int,
        note: str,
        *,
        unit: str = "text",
        two_sides: bool = False,
        start: float = 0.0,
        slope: float = 1.0,
    ) -> "HandSums":
        """Correct sums; arguments as of `two_phase`.

        With `two_sides` the third and fourth sums are of another group, and both need labels.
        """
        sums = two_phase(everyone, hand, truth, n_prompts)
        labelled = np.full(truth[0].shape[1], float(len(hand.prompt)))
        fewer = labelled
        carried = effective_number(np.maximum(truth[0], hand.terms[0]))
        if two_sides:
            sides = [np.maximum(truth[at], hand.terms[at]) > 0 for at in (1, 3)]
            labelled = (sides[0] | sides[1]).sum(0).astype(np.float64)
            carried = fewer = np.minimum(*(side.sum(0) for side in sides)).astype(np.float64)
        return cls(sums, labelled, carried, fewer, two_sides, unit, note, start, slope)

    def too_few(self, i: int, group: Mapping[str, str]) -> str | None:
        """Return why group `i` cannot be corrected; None where it can."""
        n = int(self.fewer[i])
        if self.two_sides and int(self.labelled[i]) >= FEWEST and n < FEWEST // 2:
            return (
                f"{n} {self.unit}s of one of the groups are labelled by hand, and a correction "
                f"needs {FEWEST // 2} or more of each"
            )
        return too_few({self.unit: int(self.labelled[i])}, group, float(self.carried[i]))


def labelled_texts(
    run: Run, table: HandTable, field: str, columns: Sequence[str]
) -> dict[str, dict[str, Any]]:
    """Return the rows of the texts that are labelled for a field, by what the labels call them.

    A label names a text as the run does (`text_id`), or as the user's file did.

    Raises
    ------
    DataError
        Where the run has no such text.
    """
    wanted = {text_id for text_id, _ in table.labels.get(field, ())}
    found: dict[str, dict[str, Any]] = {}
    for by in ("source_id", "text_id"):
        needed = [*dict.fromkeys(("text_id", "source_id", *columns))]
        for row in read_chosen(run.texts.parts(), needed, wanted, by=by):
            if found.setdefault(row[by], row)["text_id"] != row["text_id"]:
                raise DataError(
                    f"{table.path}: two texts of this run are called {row[by]!r}; name them by the "
                    "text_id that the run gave them (portrayal find)."
                )
    if strange := wanted - found.keys():
        raise DataError(
            f"{table.path}: this run has no text {min(strange)!r}; labels by hand correct the run "
            "whose texts were labelled."
        )
    return found


def too_few(labelled: Mapping[str, int], group: Mapping[str, str], carried: float) -> str | None:
    """Return why nothing can be corrected; None where there are hand labels enough.

    Parameters
    ----------
    labelled
        How many are labelled, by what they are ("text", "dominant character").
    group
        The group, and `carried`, how many of it are among them, by either label.
    carried
        As said.
    """
    for unit, n in labelled.items():
        if n < FEWEST:
            return f"{n} {unit}s are labelled by hand here, and a correction needs {FEWEST} or more"
    if not carried > 0:
        # A bound above 0 would leave out samples that by chance have few, and bend the mean.
        name = " ".join(group.values())
        most = 100.0 * float(upper_of_none(min(labelled.values()), 0.95))
        rare = f"too few hand labels for so rare a group: no {name} is among them"
        return f"{rare}, as may be where up to {most:.1f} % are"
    return None


@dataclass(frozen=True)
class Marks:
    """What people may say of a text that gets a number: `low` to `high`, or a word for one."""

    low: float
    high: float
    words: Mapping[str, float]

    def number(self, label: str) -> float:
        """Return a label as a number in 0–1; NaN where it is none."""
        said = " ".join(label.casefold().replace("_", " ").split())
        try:
            value = self.words[said] if said in self.words else float(said)
        except ValueError:
            return np.nan
        known = self.low <= value <= self.high
        return (value - self.low) / (self.high - self.low) if known else np.nan


_NO = ("no", "not toxic", "0")
OUTCOME = "outcome"
MARKS = {
    OUTCOME: Marks(0.0, 1.0, {"ok": 0.0, "answered": 0.0, "refused": 1.0, "refusal": 1.0}),
    SENTIMENT: Marks(-1.0, 1.0, {"negative": -1.0, "neutral": 0.0, "positive": 1.0}),
    AGENCY: Marks(-1.0, 1.0, {"communal": -1.0, "neither": 0.0, "agentic": 1.0}),
    TOXICITY: Marks(0.0, 1.0, {**dict.fromkeys(_NO, 0.0), "toxic": 1.0, "yes": 1.0}),
}
"""What labels of whole texts may say, by field: an outcome, or a score and its words."""


@dataclass(frozen=True, eq=False)
class HandMarks:
    """Texts that people gave a number, beside what the run knows of them.

    Attributes
    ----------
    rows
        The texts' own columns; `position` is the index among all texts of the run.
    truth
        What people say, in 0–1, shape (n,).
    weight
        How many texts each stands for, shape (n,).
    marks, note
        What could be said, and who said it.
    """

    rows: Sequence[Mapping[str, Any]]
    truth: FloatArray
    weight: FloatArray
    marks: Marks
    note: str


def hand_marks(
    run: Run, table: HandTable | None, field: str, columns: Sequence[str]
) -> HandMarks | None:
    """Return the texts that people labelled for a field of `MARKS`; None where there are none.

    Raises
    ------
    DataError
        Where a label says nothing that the field has, or is of a text that the run has not.
    """
    if table is None or not table.labels.get(field):
        return None
    marks, named = MARKS[field], labelled_texts(run, table, field, columns)
    position: dict[str, int] = {}
    for part in run.texts.parts():
        for each in read_parquet(part, columns=["text_id"])["text_id"].to_pylist():
            position[each] = len(position)
    rows, truth, weight = [], [], []
    for (name, _), label in table.labels[field].items():
        value = marks.number(label)
        if np.isnan(value):
            words = f"{', '.join(marks.words)}, or a number from {marks.low:g} to {marks.high:g}"
            raise DataError(f"{table.path}: of {field} expected {words}; got {label!r}.")
        rows.append({**named[name], "position": position[named[name]["text_id"]]})
        truth.append(value)
        weight.append(1.0 / table.chance[name] if table.chance else len(position) / len(named))
    order = np.argsort([row["position"] for row in rows])
    by_position = [rows[i] for i in order]
    return HandMarks(
        by_position, np.array(truth)[order], np.array(weight)[order], marks, table.note(field)
    )


SURE_OF_CHANCE = 0.001
"""p below which labelled texts are said not to have been drawn at random."""


def picked(said: FloatArray, mean: FloatArray, sd: FloatArray) -> str:
    """Return what speaks against labelled units being drawn at random; "" where nothing does.

    `said` are scores of the labelled, shape (n, k); `mean` and `sd` those of all, shape (k,). P is
    of units that differ so from all in what the scorer says of them (Bonferroni).
    """
    n = len(said)
    spread = np.sqrt(np.maximum(n * sd**2, 0.25))
    off = np.maximum(np.abs(said.sum(0) - n * mean) - 0.5, 0.0)
    p = min(1.0, float(len(mean) * (2.0 * normal_sf(off / spread)).min(initial=0.5)))
    if p >= SURE_OF_CHANCE:
        return ""
    return f"; these were not drawn at random (p {p:.1g}), and correct such texts alone"
