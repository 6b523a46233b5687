"""Which texts people should label: drawn with known chances so that the interval gets narrow.

Texts are in classes by what the scorer says of them; those of which it is less sure have more
errors. Each class is drawn from at random, in proportion to its size and to the spread of its
errors (Neyman 1934), and every class gets some. What is not known of the errors before anybody has
labelled is taken from a table; labels given so far tell more.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from portrayal.annotate.group_labels import said_of
from portrayal.annotate.groups import text_sources
from portrayal.annotate.scores import TEXT_SCORES, scores_of
from portrayal.collect.tables import read_table, write_table
from portrayal.errors import OptionError
from portrayal.measure.corrected import MARKS, OUTCOME
from portrayal.raters import HandTable
from portrayal.raters.sheets import check_new
from portrayal.reference.factors import ColumnSource, load_factor
from portrayal.run.directory import Run
from portrayal.run.reading import read_chosen, read_shards
from portrayal.stats.tails import normal_isf

COLUMNS = ("text_id", "field", "label", "rater", "text")
CHANCE = "chance"
EXPECTED = {"unsure": 0.35}
USUAL = 0.15
"""Share of errors expected where the scorer is unsure, and elsewhere, before labels tell."""
LEAST = 8
"""Texts of each class that are drawn, where there are so many."""


@dataclass(frozen=True)
class LabelDraw:
    """A sample of texts to label.

    Attributes
    ----------
    field
        What is labelled.
    texts
        text_id → chance with which it was drawn, in the order of the sheet.
    classes
        Class → texts in it, and how many were drawn.
    width
        Expected width of a 95 % interval of a share of these very texts, by these labels alone.
    """

    field: str
    texts: Mapping[str, float]
    classes: Mapping[str, tuple[int, int]]
    width: float


def label_fields(run: Run) -> list[str]:
    """Return the fields that people can label of whole texts of a run."""
    factors = [load_factor(each).name for each in run.settings()["options"].get("factor", ())]
    return [*factors, OUTCOME, *(name for name in MARKS if name in _scores(run))]


def field_for(run: Run, wanted: str) -> str:
    """Return the field of labels that a measure, a finding or a field is about.

    Raises
    ------
    OptionError
        Naming the fields that texts of this run have.
    """
    known = label_fields(run)
    factors = known[: known.index(OUTCOME)]
    words = {part for each in wanted.split() for part in each.split("=")}
    stem = wanted.strip().partition(" ")[0].partition(".v")[0]
    named = [name for name in known if name in words]
    if stem in ("outcomes", "refusals") or "refused" in words:
        named = [OUTCOME]
    if stem.startswith(("group_", "association")) and not named and len(factors) == 1:
        named = factors
    if len(named) != 1:
        raise OptionError(
            f"--for {wanted!r} names {len(named) or 'no'} fields that people can label; name one "
            f"of {', '.join(known)}."
        )
    return named[0]


def _scores(run: Run) -> list[str]:
    parts = run.annotations(TEXT_SCORES.name).note().get("settings")
    return [] if not parts else [each.name for each in scores_of(parts)]


def classes_of(run: Run, field: str, *, unsure: bool = True) -> dict[str, str]:
    """Return the class of each readable text of a run by what the scorer says of it, by text_id.

    With `unsure` texts near the middle of a scale, and those on which the sources of a factor
    differ, are a class of their own; else the first source alone speaks.
    """
    if field == OUTCOME:
        every = (rows for (rows,) in read_shards(run.texts, ["text_id", "outcome"]))
        return {row["text_id"]: row["outcome"] for rows in every for row in rows.to_pylist()}
    made: dict[str, str] = {}
    if field in MARKS:
        number, marks = _scores(run).index(field), MARKS[field]
        stage = run.annotations(TEXT_SCORES.name)
        for _, rows in read_shards(run.texts, ["text_id"], (stage, ["text_id", "scores"])):
            for row in rows.to_pylist():
                if row["scores"] is None or row["scores"][number] is None:
                    continue
                share = (row["scores"][number] - marks.low) / (marks.high - marks.low)
                near = unsure and 1 / 3 <= share <= 2 / 3
                made[row["text_id"]] = "unsure" if near else ("low", "high")[share > 0.5]
        return made
    factors = [load_factor(each) for each in run.settings()["options"]["factor"]]
    own = [
        (place, factor)
        for place, (factor, source) in enumerate(text_sources(factors))
        if factor.name == field and not isinstance(source, ColumnSource)
    ]
    if not own:
        raise OptionError(f"no words or model see {field} in texts; there is nothing to correct.")
    stage = run.annotations("groups.v1")
    for _, rows in read_shards(run.texts, ["text_id"], (stage, ["text_id", "said", "error"])):
        for row in rows.to_pylist():
            if row["error"] is None:
                said = said_of(row["said"])
                told = [tuple(said[place][0].places) for place, _ in own if said[place]]
                first = [own[0][1].keys[i] for i in (told or [()])[0]]
                several = unsure and len(set(told)) > 1
                made[row["text_id"]] = "unsure" if several else " and ".join(first) or "none"
    return made


def class_of_label(field: str, label: str) -> str:
    """Return the class of a text of which people say this."""
    if field not in MARKS:
        return label.casefold()
    high = MARKS[field].number(label) > 0.5
    return ("ok", "refused")[high] if field == OUTCOME else ("low", "high")[high]


def draw_for(
    run: Run,
    field: str,
    n: int,
    *,
    seed: int = 0,
    labels: HandTable | None = None,
    target_width: float | None = None,
) -> LabelDraw:
    """Draw the texts of a run that narrow the interval of a field's shares most.

    Parameters
    ----------
    run, field
        An audited run, and what is labelled (`field_for`).
    n, target_width
        Texts to draw; the least number that reaches the width where one is given.
    seed
        Of the draw.
    labels
        Labels given so far, which say how often the scorer errs in each class. A larger draw with
        the same seed holds the texts of a smaller one.

    Raises
    ------
    OptionError
        Where no number of texts reaches the width.
    """
    known = classes_of(run, field)
    names = sorted(set(known.values()))
    members = {name: sorted(t for t, own in known.items() if own == name) for name in names}
    size = np.array([len(members[name]) for name in names], dtype=np.float64)
    expected = np.array([EXPECTED.get(name, USUAL) for name in names])
    if labels is not None:
        done = {text_id: label for (text_id, _), label in labels.labels.get(field, {}).items()}
        for i, name in enumerate(names):
            said = [label for text_id, label in done.items() if known.get(text_id) == name]
            wrong = sum(class_of_label(field, label) != name.casefold() for label in said)
            expected[i] = (wrong + 0.5) / (len(said) + 1.0) if said else expected[i]
    spread = np.sqrt(expected * (1.0 - expected))

    def allotted(total: int) -> Any:
        share = total * size * spread / (size * spread).sum()
        return np.minimum(np.maximum(np.round(share), LEAST), size).astype(np.int64)

    def width(of: Any) -> float:
        free = 1.0 - of / size
        variance = float(((size / size.sum() * spread) ** 2 * free / np.maximum(of, 1)).sum())
        return float(2.0 * normal_isf(0.025) * np.sqrt(variance))

    if target_width is not None:
        n = next((m for m in range(20, len(known) + 1) if width(allotted(m)) <= target_width), 0)
        if not n:
            raise OptionError(f"--target-width {target_width:g}: expected a width above 0.")
    chosen = allotted(n)
    texts: dict[str, float] = {}
    for i, of in enumerate(chosen.tolist()):
        own = members[names[i]]
        for at in np.random.default_rng([seed, i]).permutation(len(own))[:of].tolist():
            texts[own[at]] = of / len(own)
    every = list(texts)
    order = [every[i] for i in np.random.default_rng(seed).permutation(len(every)).tolist()]
    counts = {name: (len(members[name]), int(of)) for name, of in zip(names, chosen, strict=True)}
    return LabelDraw(field, {t: texts[t] for t in order}, counts, width(chosen))


def write_sheets(run: Run, drawn: LabelDraw, out: Path, raters: Sequence[str]) -> list[Path]:
    """Write a sheet for each rater, blind to what the scorer says, and the chances beside them.

    The chances tell of the classes, so they stand in a file of their own, which `join_sheets` adds.

    Raises
    ------
    OptionError
        Where a file is there, as it may hold labels.
    """
    *paths, chances = (out.with_name(f"{out.stem}-{name}.csv") for name in (*raters, CHANCE))
    check_new(*paths, chances)
    rows = read_chosen(run.texts.parts(), ["text_id", "text"], drawn.texts)
    words = {row["text_id"]: row["text"] for row in rows}
    for path, rater in zip(paths, raters, strict=True):
        own = {"field": drawn.field, "rater": rater}
        lines = ({**own, "text_id": t, "label": "", "text": words[t]} for t in drawn.texts)
        write_table(path, COLUMNS, lines)
    own_chances = ({"text_id": t, CHANCE: repr(p)} for t, p in drawn.texts.items())
    return [*paths, write_table(chances, ("text_id", CHANCE), own_chances)]


def join_sheets(sheets: Sequence[Path], out: Path) -> int:
    """Write the sheets of several raters, filled in, as one table with the chances of the draw.

    Returns the number of labels; texts without one are left out. Of sheets of two draws with one
    seed the larger stands last: it holds the texts of the first, and its chances count.
    """
    check_new(out)
    chances = sheets[-1].with_name(f"{sheets[-1].stem.rpartition('-')[0]}-{CHANCE}.csv")
    known: dict[str, str] = {}
    if chances.is_file():
        known = {row["text_id"]: row[CHANCE] for row in read_table(chances, ["text_id", CHANCE])}
    needed = ["text_id", "field", "label", "rater"]
    rows = [row for sheet in sheets for row in read_table(sheet, needed) if row["label"].strip()]
    lines = ({**row, CHANCE: known.get(row["text_id"], "")} for row in rows)
    write_table(out, (*needed, CHANCE), lines)
    return len(rows)
