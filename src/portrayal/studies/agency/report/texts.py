"""Agency texts: texts with each sentence coloured by its class, for reading beside the numbers.

For each group texts are taken at even steps of rank, from the most agentic to the most communal,
so that what is shown is no choice of the worst.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any

from portrayal.report.formats import short
from portrayal.report.passages import texts_by_id
from portrayal.report.view import View
from portrayal.run.pages import visible
from portrayal.run.reading import read_prompts
from portrayal.studies.agency.report.series import MASKED, other, points, primary

ANNOTATORS = {True: "agency.v1", False: "agency-unmasked.v1"}
EACH, MOST = 6, 48
"""Texts of one group at most; texts in all."""
LONGEST = 4000
"""Characters shown of one text."""
SHORT = {"m": "male", "f": "female"}


@dataclass(frozen=True)
class Piece:
    """A stretch of text: its class ("agentic", "communal" or ""), and its probabilities."""

    text: str
    kind: str
    told: str


@dataclass(frozen=True)
class FactorLabels:
    """One text: its heading, group code, ratio gap, pieces and how it was shortened."""

    title: str
    model: str
    group: int
    gap: str
    pieces: tuple[Piece, ...]
    cut: str


@dataclass(frozen=True)
class AgencyReading:
    """Texts of every group, with the labels of the groups and how they were chosen."""

    texts: tuple[FactorLabels, ...]
    groups: tuple[str, ...]
    how: str


def agency_reading(view: View) -> AgencyReading | None:
    """Return texts to read; None where the run has none."""
    if not view.run.texts.parts():
        return None
    rows = _rows(view)
    if not rows:
        return None
    groups = tuple(sorted({row["group"] for row in rows}))
    chosen = _chosen(rows, groups)
    ids = [row["text_id"] for row in chosen]
    words = texts_by_id(view.run.texts, ids, "text")
    first, second = (
        texts_by_id(view.run.annotations(ANNOTATORS[masking == MASKED]), ids, "sentences, agentic")
        for masking in (primary(view), other(view))
    )
    texts = tuple(
        FactorLabels(
            short(row["title"], 120),
            short(row["model"], 60),
            groups.index(row["group"]),
            points(row["gap"]),
            *_pieces(view, words[name]["text"], first[name], second.get(name)),
        )
        for row, name in zip(chosen, ids, strict=True)
    )
    how = (
        f"{len(texts)} of {len(rows):,} texts; for each group they are taken at even steps from "
        "the most agentic to the most communal."
    )
    return AgencyReading(texts, tuple(short(g, 60) for g in groups), how)


def _rows(view: View) -> list[dict[str, Any]]:
    """Every readable text with its ratio gap, group and title."""
    import pyarrow.parquet as pq

    strata = read_prompts(view.run.prompts_path)
    keys = list(dict.fromkeys(k for e in view.estimates for k in e.group))
    keys = [k for k in keys if k not in ("attribute", "beside")]
    stage = view.run.annotations(ANNOTATORS[primary(view) == MASKED])
    found = []
    for part in view.run.texts.parts():
        texts = pq.read_table(part, columns=["text_id", "prompt_id", "model", "outcome"])
        made = pq.read_table(stage.folder / part.name, columns=["agentic"])["agentic"].to_pylist()
        for text, agentic in zip(texts.to_pylist(), made, strict=True):
            told = [p for p in agentic or () if p is not None and not isnan(p)]
            about = strata[text["prompt_id"]]
            if text["outcome"] == "ok" and told and all(key in about for key in keys):
                gap = 2 * sum(p >= 0.5 for p in told) / len(told) - 1
                found.append({**text, "gap": gap, **_about(about, keys)})
    return found


def _about(strata: Mapping[str, str], keys: Sequence[str]) -> dict[str, str]:
    ordered = sorted(keys, key=lambda key: (key == "gender", key))
    group = " ".join(_value(key, strata[key]) for key in ordered)
    rest = [strata[k] for k in ("name", "age", "occupation", "department") if k in strata]
    return {"group": group, "title": ", ".join([*rest, group] if rest else [group])}


def _value(key: str, value: str) -> str:
    return SHORT.get(value.casefold(), value) if key == "gender" else value


def _chosen(rows: Sequence[dict[str, Any]], groups: Sequence[str]) -> list[dict[str, Any]]:
    each = max(1, min(EACH, MOST // max(len(groups), 1)))
    kept: list[dict[str, Any]] = []
    for group in groups[:MOST]:
        own = sorted(
            (r for r in rows if r["group"] == group), key=lambda r: (-r["gap"], r["text_id"])
        )
        steps = {round(i * (len(own) - 1) / max(each - 1, 1)) for i in range(min(each, len(own)))}
        kept += [own[i] for i in sorted(steps)]
    return kept


def _pieces(
    view: View, text: str, first: Mapping[str, Any], second: Mapping[str, Any] | None
) -> tuple[tuple[Piece, ...], str]:
    pieces: list[Piece] = []
    at = 0
    beside = (second or {}).get("agentic") or []
    for i, (where, p) in enumerate(zip(first["sentences"], first["agentic"], strict=True)):
        low, high = where["start"], where["end"]
        if high > LONGEST and pieces:
            break
        if low > at:
            pieces.append(Piece(visible(text[at:low]), "", ""))
        kind = "" if p is None or isnan(p) else "agentic" if p >= 0.5 else "communal"
        told = f"agentic {_chance(p)} {primary(view)}"
        if i < len(beside):
            told += f", {_chance(beside[i])} {other(view)}"
        pieces.append(Piece(visible(text[low:high]), kind, told))
        at = high
    cut = ""
    if at < len(text.rstrip()):
        cut = f"Shortened: {at:,} of {len(text):,} characters."
    return tuple(pieces), cut


def _chance(p: float | None) -> str:
    return "not told" if p is None or isnan(p) else f"{p:.2f}"
