"""Labels of a measure on the raters' page: its project, the table it keeps, and how they narrow.

The table is the one that `--hand-labels` reads. What the labels and the scorer say together of all
texts is reckoned again after each text, so that raters see when it is worth while to stop.
"""

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from portrayal.coding.codebook import Codebook, CodebookField
from portrayal.coding.labels import read_labels
from portrayal.coding.project import CodingItem, Project, make_project, project_folder
from portrayal.collect.tables import write_table
from portrayal.measure.clustered import corrected_inference
from portrayal.measure.corrected import FEWEST, MARKS, ORIGINAL, HandSums
from portrayal.measure.drawing import (
    BESIDE,
    CHANCE,
    LabelDraw,
    choices_of,
    class_of_label,
    classes_of,
    units_of,
)
from portrayal.measure.scope import Scope
from portrayal.raters.labels import Label, majority
from portrayal.run.directory import Run
from portrayal.run.reading import read_shards
from portrayal.stats.two_phase import Labelled

TABLE = "hand-labels.csv"
FOR = "for"
"""Key of a project's description under which the field of its labels stands."""
STEPS = 12
"""Numbers of labels, at most, at which the interval is shown."""
COLUMNS = ("text_id", "unit", "field", "label", "rater", CHANCE)
_WORDS = (
    "Say what each text is, as you read it; you see nothing of what the scorer says, nor of what "
    "other raters do. {raters} people label every text. Where none of the answers fits, write a "
    "note and go on."
)


def labelling_project(run: Run, label_draw: LabelDraw, name: str, raters: int = 2) -> Project:
    """Make a project of what was drawn, whose page asks for the field alone.

    Raises
    ------
    OptionError
        When the run has a project of this name.
    """
    choices = tuple(choices_of(run, label_draw.field))
    field = CodebookField(
        "label", label_draw.field.replace("_", " "), "choice", choices, needed=True
    )
    # The page shows no people and nothing of the scorer: raters must not be led
    words = _WORDS.format(raters="Two" if raters == 2 else str(raters))
    book = Codebook(name, f"Labels of {field.label}", words, fields=(field,), show_people=False)
    items = [
        CodingItem(
            # A text can have several units, such as people, and each is labelled by itself
            "#".join(filter(None, (unit["text_id"], unit["unit"]))),
            unit["text"],
            strata={part: unit[part] for part in ("text_id", "unit")},
            weight=1.0 / float(unit[CHANCE]),  # by the chance of this draw: the correction needs it
        )
        for unit in units_of(run, label_draw)
    ]
    settings = {FOR: label_draw.field, "raters": raters, "width": label_draw.width}
    return make_project(project_folder(run.path, name), items, book, how=settings)


@dataclass(frozen=True)
class NarrowedShare:
    """What labels and scorer say of all texts after some labels: a share and its interval."""

    n: int
    value: float
    low: float
    high: float


class HandProject:
    """A project that `labelling_project` made: its table, and the share that labels correct."""

    def __init__(self, project: Project) -> None:
        self.project, self.field = project, str(project.settings["how"][FOR])
        self.path = project.folder / TABLE
        self._writing = threading.Lock()
        run = Run.open(project.folder.parent.parent)  # RUN/coding/NAME
        classes = classes_of(run, self.field, unsure=False)
        prompt: dict[str, str] = {}
        # Texts and what they are compared with, told apart by a prefix: ids may be the same
        for side, stage in (("", run.texts), (ORIGINAL, run.reference)):
            for (rows,) in read_shards(stage, ["text_id", "prompt_id"]):
                prompt |= {side + row["text_id"]: row["prompt_id"] for row in rows.to_pylist()}
        # Prompts are the clusters: texts of one prompt are alike
        names = {name: i for i, name in enumerate(dict.fromkeys(prompt[t] for t, _ in classes))}
        choices = project.codebook.fields[0].choices
        # One class is shown narrowing: the marked one, or the most common of a field of several
        groups = [name for name in classes.values() if name in choices and name not in BESIDE]
        # Sorted first, so that a tie does not hang on the order of the texts
        common = max(sorted(set(groups)), key=groups.count, default=choices[0])
        self.target = choices[-1] if self.field in MARKS else common
        self._names, self._prompt, self._said = names, prompt, classes
        cells = [
            (names[prompt[text]], self._is(class_name)) for (text, _), class_name in classes.items()
        ]
        # Equal rows once, with their number: a run may have a million texts
        distinct, n = np.unique(np.array(cells, dtype=np.int64), axis=0, return_counts=True)
        shows = distinct[:, 1:].astype(np.float64)
        self._every = Labelled(distinct[:, 0], n.astype(np.float64), (shows, np.ones_like(shows)))

    def _is(self, class_name: str) -> bool:
        # a text about two groups counts for each
        return self.target.casefold() in class_name.casefold().split(" and ")

    def labels(self) -> list[Label]:
        """Return the labels of people, as they were given."""
        rows = read_labels(self.project).of("human", "adjudicated").rows
        return sorted((one for one in rows if one.code == "label"), key=lambda one: one.at)

    def write(self) -> Path:
        """Write the table that `--hand-labels` reads."""
        items = {item.item_id: item for item in self.project.items}

        def lines() -> Iterator[dict[str, str]]:
            for one in self.labels():
                item, fields = items[one.text_id], {"field": self.field, "label": one.value}
                yield {**item.strata, **fields, "rater": one.rater, CHANCE: repr(1.0 / item.weight)}

        # Two clicks at once would each replace the other's half of the table
        with self._writing:
            return write_table(self.path, COLUMNS, lines())

    def narrowed(self) -> list[NarrowedShare]:
        """Return the corrected share as labels came in; empty with too few of them."""
        labels = self.labels()
        of = {item.item_id: item for item in self.project.items}
        # A few numbers of labels: the curve shows when to stop, and is reckoned after every click
        steps = np.unique(np.linspace(FEWEST, len(labels), STEPS).round().astype(int)).tolist()
        shares = []
        for step in steps if len(labels) >= FEWEST else ():
            labels_by_unit: dict[str, list[str]] = {}
            # The first labels in the order of time, as if coding had stopped there
            for one in labels[:step]:
                labels_by_unit.setdefault(one.text_id, []).append(
                    class_of_label(self.field, one.value)
                )
            rows = []
            for name, unit_labels in labels_by_unit.items():
                unit, settled = (
                    (of[name].strata["text_id"], of[name].strata["unit"]),
                    majority(unit_labels),
                )
                # A tie of raters settles nothing; a unit that the scorer did not read cannot be
                # compared
                if settled is not None and unit in self._said:
                    pair = self._is(settled), self._is(self._said[unit])
                    rows.append((*pair, self._names[self._prompt[unit[0]]], of[name].weight))
            if len(rows) < FEWEST:
                continue
            truth, shows, prompt, weight = np.array(rows, dtype=np.float64).reshape(-1, 4).T
            ones = np.ones((len(rows), 1))
            hand = Labelled(prompt.astype(np.int64), weight, (shows[:, np.newaxis], ones))
            people = truth[:, np.newaxis], ones
            sums = HandSums.of(self._every, hand, people, len(self._names), "")
            share = corrected_inference(sums.sums, Scope(""))
            assert share.fixed is not None
            # With the run's prompts fixed: labels narrow this interval, not what other prompts add
            ends = (share.value, *share.fixed[:2])
            shares.append(NarrowedShare(len(rows), *(float(end[0]) for end in ends)))
        return [one for one in shares if not np.isnan([one.value, one.low, one.high]).any()]
