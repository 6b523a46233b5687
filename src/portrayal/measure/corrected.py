"""Corrected by hand: what all measures share whose labels people checked on a sample.

A measure gives what each unit adds to its sums as the scorer and as people label it
(`HandSums.of`); `stats/two_phase.py` corrects the sums, and `clustered.estimates_of` makes the
corrected estimate of each group beside the raw one.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from portrayal.annotate.scores import AGENCY, SENTIMENT, TOXICITY
from portrayal.errors import DataError
from portrayal.measure.scored import ScoredUnits
from portrayal.raters.labels import HandTable
from portrayal.records import BY_HAND
from portrayal.run.directory import Run, read_chosen
from portrayal.run.files import read_parquet
from portrayal.stats import upper_of_none
from portrayal.stats.design_effect import effective_number
from portrayal.stats.tails import normal_sf
from portrayal.stats.two_phase import TwoPhase, two_phase
from portrayal.types import FloatArray, IntArray

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
    null
        What a share over a baseline is tested against, shape (k,), NaN for no test; None for 1.
    roles
        Names of the two sides of a ratio.
    by, cluster
        Who labelled: "by hand", or "by" a second classifier; and what the sums' clusters are.
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
    null: FloatArray | None = None
    roles: Sequence[str] = ()
    by: str = BY_HAND
    cluster: str = "prompt"

    @classmethod
    def of(
        cls,
        everyone: ScoredUnits,
        hand: ScoredUnits,
        truth: ScoredUnits,
        note: str,
        *,
        clusters: IntArray | None = None,
        unit: str = "text",
        two_sides: bool = False,
        slope: float = 1.0,
    ) -> "HandSums":
        """Correct the sums of all units by what people say of some of them.

        Parameters
        ----------
        everyone, hand
            All units as they are scored, and the labelled ones, whose weight says how many units
            each stands for.
        truth
            The labelled ones as people score them.
        note
            Who labelled.
        clusters
            Codes of the clusters that the sums are of; those of `everyone` by default.
        unit, slope
            As the attributes.
        two_sides
            Whether the second means are of other groups, which need labels as well.
        """
        codes = everyone.clusters if clusters is None else clusters
        sample, by_people = hand.labelled(codes), truth.terms
        sums = two_phase(everyone.labelled(codes), sample, by_people, len(codes))
        labelled = np.full(by_people[0].shape[1], float(len(sample.prompt)))
        fewer = labelled
        # By either label, as a group that the scorer misses altogether can still be corrected
        either = [np.maximum(*both) for both in zip(by_people, sample.terms, strict=True)]
        carried = effective_number(either[0])
        if two_sides:
            sides = either[1] > 0, either[3] > 0
            labelled = (sides[0] | sides[1]).sum(0).astype(np.float64)
            # The side with fewer labels is what limits a difference
            carried = fewer = np.minimum(*(side.sum(0) for side in sides)).astype(np.float64)
        return cls(sums, labelled, carried, fewer, two_sides, unit, note, slope=slope)

    @classmethod
    def of_ratio(cls, upper: "HandSums", lower: "HandSums", roles: Sequence[str]) -> "HandSums":
        """Join two corrected shares as sides of a ratio; the one with fewer labels limits it."""
        sums, fewer = upper.sums.beside(lower.sums), np.minimum(upper.labelled, lower.labelled)
        unit = upper.unit if (upper.labelled <= lower.labelled).all() else lower.unit
        # By either side: a group that is in one role alone has a ratio of 0, or an infinite one
        carried = upper.carried + lower.carried
        return cls(sums, fewer, carried, fewer, False, unit, upper.note, roles=roles)

    def too_few(self, i: int, group: Mapping[str, str]) -> str | None:
        """Return why group `i` cannot be corrected; None where it can."""
        n = int(self.fewer[i])
        if self.two_sides and int(self.labelled[i]) >= FEWEST and n < FEWEST // 2:
            return (
                f"{n} {self.unit}s of one of the groups are labelled {self.by}, and a correction "
                f"needs {FEWEST // 2} or more of each"
            )
        n = int(self.labelled[i])
        if n < FEWEST:
            unit = f"{n} {self.unit}s"
            return f"{unit} are labelled {self.by} here, and a correction needs {FEWEST} or more"
        if not self.carried[i] > 0:
            # A bound above 0 would leave out samples that by chance have few, and bend the mean.
            name, most = " ".join(group.values()), 100.0 * float(upper_of_none(n, 0.95))
            rare = f"too few labels for so rare a group: no {name} is among them"
            return f"{rare}, as may be where up to {most:.1f} % are"
        return None


@dataclass(frozen=True, eq=False)
class HandUnits:
    """Units that people labelled, beside what the scorer says of them, both in 0–1.

    Attributes
    ----------
    row
        Which row of a measure's table each is of, such as its text or half, shape (n,).
    guess, truth
        What the scorer and people say, shape (n,); NaN where there is no number.
    weight
        How many units each stands for, shape (n,).
    note
        Who labelled them, in words.
    by
        As of `HandSums`.
    """

    row: IntArray
    guess: FloatArray
    truth: FloatArray
    weight: FloatArray
    note: str
    by: str = BY_HAND

    def sums(
        self,
        of_rows: Callable[[IntArray, FloatArray, FloatArray], ScoredUnits],
        everyone: tuple[IntArray, FloatArray, FloatArray],
        *,
        two_sides: bool,
        unit: str = "text",
        slope: float = 1.0,
    ) -> HandSums:
        """Correct the sums of all units by these.

        Parameters
        ----------
        of_rows
            Makes scored units of rows, how many units each stands for, and their scores.
        everyone
            All rows, as `of_rows` takes them. Labels of other rows say nothing.
        two_sides, unit, slope
            As of `HandSums`.
        """
        inside = np.isin(self.row, everyone[0])
        labelled = of_rows(self.row[inside], self.weight[inside], self.guess[inside])
        sums = HandSums.of(
            *(of_rows(*everyone), labelled, labelled.scored(self.truth[inside]), self.note),
            unit=unit,
            two_sides=two_sides,
            slope=slope,
        )
        return replace(sums, by=self.by)


ORIGINAL = "original:"
"""Stands before the name of a text that people wrote, where a run has such texts beside its own."""


def labelled_texts(
    run: Run, table: HandTable, field: str, columns: Sequence[str], *, originals: bool = False
) -> dict[str, dict[str, Any]]:
    """Return the rows of the texts that are labelled for a field, by what the labels call them.

    As `texts_named`; texts on which raters differ are looked for and left out.
    """
    names, source = table.text_ids(field), table.path
    rows = texts_named(run, names, columns, source, originals=originals)
    settled_texts = {text_id for text_id, _ in table.labels.get(field, ())}
    return {name: row for name, row in rows.items() if name in settled_texts}


def texts_named(
    run: Run,
    names: Collection[str],
    columns: Sequence[str],
    source: str,
    *,
    originals: bool = False,
) -> dict[str, dict[str, Any]]:
    """Return the rows of the texts that labels of `source` are of, by what the labels call them.

    A label names a text as the run does (`text_id`), or as the user's file did; with `originals`
    one of the reference with `ORIGINAL` before that, and each row says so as `side`.

    Raises
    ------
    DataError
        Where the run has no such text.
    """
    rows: dict[str, dict[str, Any]] = {}
    needed = [*dict.fromkeys(("text_id", "source_id", *columns))]
    for side, stage in (("", run.texts), *([(ORIGINAL, run.reference)] if originals else [])):
        ids = {name.removeprefix(side) for name in names if name.startswith(side)}
        # People labelled their own file, or a sheet of the run: either name is understood
        for by in ("source_id", "text_id"):
            for row in read_chosen(stage.parts(), needed, ids, by=by):
                first = rows.setdefault(side + row[by], {**row, "side": side})
                if first["text_id"] != row["text_id"]:
                    raise DataError(
                        f"{source}: two texts of this run are called {row[by]!r}; name them by "
                        "the text_id that the run gave them (portrayal find)."
                    )
    # Labels of another run would otherwise be dropped in silence.
    if strange := set(names) - rows.keys():
        raise DataError(
            f"{source}: this run has no text {min(strange)!r}; labels by hand correct the run "
            "whose texts were labelled."
        )
    return rows


def sentence_number(table: HandTable, name: str, unit: str, n: int) -> int:
    """Return the number of a labelled sentence in its text of `n`, from 0.

    Raises
    ------
    DataError
        Where the text has no such sentence.
    """
    if not unit.isdigit() or not 1 <= int(unit) <= n:
        raise DataError(
            f"{table.path}: {name!r} has sentences 1 to {n}, and the column 'unit' says {unit!r}; "
            "give the number of the sentence."
        )
    return int(unit) - 1


@dataclass(frozen=True)
class Marks:
    """What people may say of a text that gets a number: `low` to `high`, or a word for one."""

    low: float
    high: float
    words: Mapping[str, float]

    @property
    def scale(self) -> tuple[float, float]:
        """The least number, and how far the greatest lies above it."""
        return self.low, self.high - self.low

    def number(self, label: str) -> float:
        """Return a label as a number in 0–1; NaN where it is none."""
        word = " ".join(label.casefold().replace("_", " ").split())
        try:
            value = self.words[word] if word in self.words else float(word)
        except ValueError:
            return np.nan
        in_range = self.low <= value <= self.high
        return (value - self.low) / (self.high - self.low) if in_range else np.nan


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
        The texts' own columns; `position` is the index among all texts of the run, or of its
        reference where `side` is `ORIGINAL`; `named` and `unit` are what the label is of.
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
    run: Run,
    table: HandTable | None,
    field: str,
    columns: Sequence[str],
    *,
    sentences: bool = False,
) -> HandMarks | None:
    """Return the texts that people labelled for a field of `MARKS`; None where there are none.

    With `sentences` labels are of these, in texts of the run and of its reference.

    Raises
    ------
    DataError
        Where a label says nothing that the field has, or is of a text that the run has not, or of a
        sentence where whole texts have a score.
    """
    if table is None or not table.labels.get(field):
        return None
    marks = MARKS[field]
    by_name = labelled_texts(run, table, field, columns, originals=sentences)
    # Where each text stands in its stage, so that labels come in the order of the scores.
    position: dict[str, int] = {}
    refused: set[str] = set()
    for side, stage in (("", run.texts), (ORIGINAL, run.reference)):
        tables = [read_parquet(part, columns=["text_id", "outcome"]) for part in stage.parts()]
        texts = [row for part in tables for row in part.to_pylist()]
        position |= {side + row["text_id"]: i for i, row in enumerate(texts)}
        refused |= {side + row["text_id"] for row in texts if row["outcome"] == "refused"}
    rows, truth = [], []
    # What people say, as numbers on the scale of the field.
    values = {label: marks.number(label) for label in table.answers[field]}
    if strange := [label for label, value in values.items() if np.isnan(value)]:
        words = f"{', '.join(marks.words)}, or a number from {marks.low:g} to {marks.high:g}"
        raise DataError(f"{table.path}: of {field} expected {words}; got {strange[0]!r}.")
    for (name, unit), label in table.labels[field].items():
        if unit and not sentences:
            raise DataError(
                f"{table.path}: {name!r}: of {field} whole texts are labelled here, and the column "
                f"'unit' says {unit!r}; leave it empty."
            )
        of_text = by_name[name]
        place = position[of_text["side"] + of_text["text_id"]]
        rows.append({**of_text, "position": place, "named": name, "unit": unit})
        truth.append(values[label])
    n_texts = sum(not name.startswith(ORIGINAL) for name in position)
    weight = table.weights(field, table.labels[field], n_texts / len(by_name))
    # In the order of the run, so that sums do not depend on that of the labels
    order = np.argsort([row["position"] for row in rows], kind="stable")
    by_position = [rows[i] for i in order]
    note = table.note(field)
    # Labels without known chances are taken as drawn at random, which may be seen not to hold
    if field == OUTCOME and field not in table.chance:
        guess = np.array([[float(row["text_id"] in refused)] for row in by_position])
        note += picked(guess, len(refused) / n_texts)
    return HandMarks(by_position, np.array(truth)[order], weight[order], marks, note)


SURE_OF_CHANCE = 0.001
"""p below which labelled texts are said not to have been drawn at random."""


def picked(rows: FloatArray, mean: FloatArray | float, sd: FloatArray | float | None = None) -> str:
    """Return what speaks against labelled units being drawn at random; "" where nothing does.

    `rows` are scores of the labelled, shape (n, k); `mean` and `sd` those of all, shape (k,), of
    shares the mean alone. P is of units that differ so from all in what the scorer says of them
    (Bonferroni).
    """
    n, mean = len(rows), np.atleast_1d(mean)
    square = np.maximum(mean * (1.0 - mean), 0.0) if sd is None else np.atleast_1d(sd) ** 2
    # At least half a unit, or a single text of a rare kind would speak against the draw.
    spread = np.sqrt(np.maximum(n * square, 0.25))
    # Less half a unit, as marks add up to whole numbers (continuity correction).
    off = np.maximum(np.abs(rows.sum(0) - n * mean) - 0.5, 0.0)
    p = min(1.0, float(len(mean) * (2.0 * normal_sf(off / spread)).min(initial=0.5)))
    if p >= SURE_OF_CHANCE:
        return ""
    return f"; these were not drawn at random (p {p:.1g}), and correct such texts alone"
