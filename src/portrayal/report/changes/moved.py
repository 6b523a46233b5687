"""Moved: the prompts that carry a change, each with one answer of both sides."""

from dataclasses import dataclass
from typing import Any

import numpy as np

import portrayal.report.formats as fmt
from portrayal.comparison import Change, Side
from portrayal.comparison.matching import matched, rows_of
from portrayal.comparison.sums import Sums, measured, sums_of
from portrayal.records import ALL
from portrayal.report.inert import short
from portrayal.report.passages import Passage, passage
from portrayal.report.passages import rows_of as queried
from portrayal.run import read_prompts

PROMPTS = 3
"""Prompts shown."""


@dataclass(frozen=True)
class Moved:
    """A prompt with what it added to a change, and one answer of each side to it."""

    prompt: str
    numbers: str
    passages: tuple[Passage, ...]


def moved_prompts(change: Change, sides: tuple[Side, Side], seed: int = 0) -> list[Moved]:
    """Return the prompts that moved most in the direction of a change, the first by far first.

    None where a run keeps no sums of it, where its units are no prompts, or where no text is kept.
    """
    rows = _rows(change, sides)
    if rows is None:
        return []
    sums, labels = [], []
    for side, row in zip(sides, rows, strict=True):
        kept = side.run.influences
        if kept.reasons[row] is not None:
            return []
        value = np.array([side.run.records[row].value], dtype=np.float64)
        log = change.scale == "ratio"
        sums.append(sums_of(kept, np.array([row]), value, log=log))
        at = slice(kept.starts[row], kept.starts[row + 1])
        labels.append([kept.labels[code] for code in kept.prompt[at].tolist()])
    shared = [name for name in labels[0] if name in set(labels[1])]
    words = [read_prompts(side.run.prompts_path, words="words", only=()) for side in sides]
    shared = [name for name in shared if all(name in each for each in words)]
    if not shared:
        return []
    parts = [
        each.at(np.array([own.index(name) for name in shared]))
        for each, own in zip(sums, labels, strict=True)
    ]
    one, two = (measured(each) for each in parts)
    moved = (two.influence - one.influence)[:, 0]
    total = two.value[0] - one.value[0]
    moved = moved + (one.weight + two.weight)[:, 0] / 2.0 * np.nan_to_num(total)
    direction = 1.0 if not total < 0 else -1.0
    order = np.argsort(-direction * moved, kind="stable")
    found: list[Moved] = []
    for i in order.tolist():
        if direction * moved[i] <= 0 or len(found) == PROMPTS:
            break
        passages = [
            _answer(side, model, shared[i], seed)
            for side, model in zip(sides, (change.model_a, change.model_b), strict=True)
        ]
        if all(each is not None for each in passages):
            own = [each for each in passages if each is not None]
            numbers = _numbers(parts[0], parts[1], i)
            prompt = short(words[1][shared[i]]["words"], 400)
            found.append(Moved(prompt, numbers, tuple(own)))
    return found


def _rows(change: Change, sides: tuple[Side, Side]) -> tuple[int, int] | None:
    """The rows of both runs that a change is between."""
    indices = [
        rows_of(side, model)
        for side, model in zip(sides, (change.model_a, change.model_b), strict=True)
    ]
    for i, j in matched(indices[0], indices[1]):
        e = sides[0].run.records[i]
        place = {name: value for name, value in e.strata.items() if name != "model"}
        same = e.measure == change.measure and e.statistic == change.statistic
        if same and e.group == change.group and place == change.strata:
            return i, j
    return None


def _numbers(one: Sums, two: Sums, i: int) -> str:
    """What the two sides have for one prompt, where it is a share of counts."""
    if one.form == "influence":
        return ""
    shares = []
    for side in (one, two):
        a, n = (float(cell[i, 0]) for cell in side.cells[:2])
        shares.append("nobody" if n <= 0 else f"{fmt.count(a)} of {fmt.count(n)}")
    return f"Before: {shares[0]}; after: {shares[1]}."


def _answer(side: Side, model: str, prompt_id: str, seed: int) -> Passage | None:
    """One readable answer to a prompt, drawn at random by the seed."""
    parts = [str(path) for path in side.run.texts.parts()]
    if not parts:
        return None
    given: dict[str, Any] = {"texts": parts, "id": prompt_id, "seed": str(seed), "model": model}
    found = queried(_QUERY.replace("$every", str(model == ALL).lower()), given)
    if not found:
        return None
    row = found[0] | {"prompt": ""}
    return passage(row | {"model": f"{side.run.path.name}: {row['model']}"})


_QUERY = """
    select model, left(text, 100000) as text, length(text) as size
    from read_parquet($texts)
    where outcome = 'ok' and prompt_id = $id and ($every or model = $model)
    order by md5(text_id || $seed), text_id limit 1
"""
