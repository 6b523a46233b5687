"""Agency texts: texts with each sentence coloured by its class, for reading beside the numbers.

For each group texts are taken at even steps of rank, from the most agentic to the most communal,
so that what is shown is no choice of the worst.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from math import isnan
from typing import Any

from portrayal.report.formats import points, short
from portrayal.report.passages import rows_of, texts_by_id
from portrayal.report.view import View
from portrayal.shown import visible
from portrayal.studies.agency.report.series import MASKED, other, primary

ANNOTATORS = {True: "agency.v1", False: "agency-unmasked.v1"}
EACH, MOST = 6, 48
"""Texts of one group at most; texts in all."""
LONGEST = 4000
"""Characters shown of one text."""


@dataclass(frozen=True)
class ShownSentence:
    """A stretch of text: its class ("agentic", "communal" or ""), and its probabilities."""

    text: str
    kind: str
    told: str


@dataclass(frozen=True)
class ShownText:
    """One text: its heading, group code, ratio gap, pieces and how it was shortened."""

    title: str
    model: str
    group: int
    gap: str
    pieces: tuple[ShownSentence, ...]
    cut: str


@dataclass(frozen=True)
class ShownReading:
    """Texts of every group, with the labels of the groups and how they were chosen."""

    texts: tuple[ShownText, ...]
    groups: tuple[str, ...]
    how: str


def agency_reading(view: View) -> ShownReading | None:
    """Return texts to read; None where the run has none."""
    # Texts are ordered by the result that comes first.
    stage = view.run.annotations(ANNOTATORS[primary(view) == MASKED])
    if not (view.run.texts.parts() and stage.parts()):
        return None
    attributes = dict.fromkeys(k for e in view.estimates for k in e.group)
    # Names of estimates' own parts are no groups of people.
    keys = [k for k in attributes if k not in ("attribute", "beside")]
    parameters = {
        "texts": [str(path) for path in view.run.texts.parts()],
        "annotated": [str(path) for path in stage.parts()],
        "prompts": str(view.run.prompts_path),
        "keys": sorted(keys, key=lambda key: (key == "gender", key)),
        "each": EACH,
        "most": MOST,
    }
    rows = rows_of(files(__package__).joinpath("texts.sql").read_text("utf-8"), parameters)
    if not rows:
        return None
    groups = tuple(dict.fromkeys(row["group"] for row in rows))
    ids = [row["text_id"] for row in rows]
    words = texts_by_id(view.run.texts, ids, "text")
    # Both readings of a sentence are shown, as the words that masking hides may decide it.
    first, second = (
        texts_by_id(view.run.annotations(ANNOTATORS[masking == MASKED]), ids, "sentences, agentic")
        for masking in (primary(view), other(view))
    )
    texts = tuple(
        ShownText(
            short(row["title"], 120),
            short(row["model"], 60),
            groups.index(row["group"]),
            points(row["gap"]),
            *_pieces(view, words[name]["text"], first[name], second.get(name)),
        )
        for row, name in zip(rows, ids, strict=True)
    )
    selection = (
        f"{len(texts)} of {rows[0]['n_all']:,} texts; for each group they are taken at even steps "
        "from the most agentic to the most communal."
    )
    return ShownReading(texts, tuple(short(g, 60) for g in groups), selection)


def _pieces(
    view: View, text: str, first: Mapping[str, Any], second: Mapping[str, Any] | None
) -> tuple[tuple[ShownSentence, ...], str]:
    pieces: list[ShownSentence] = []
    shown_to = 0
    other_chances = (second or {}).get("agentic") or []
    for i, (span, p) in enumerate(zip(first["sentences"], first["agentic"], strict=True)):
        low, high = span["start"], span["end"]
        if high > LONGEST and pieces:
            break
        if low > shown_to:
            pieces.append(ShownSentence(visible(text[shown_to:low]), "", ""))
        # A sentence that the classifier could not tell has no colour.
        kind = "" if p is None or isnan(p) else "agentic" if p >= 0.5 else "communal"
        chances = f"agentic {_chance(p)} {primary(view)}"
        if i < len(other_chances):
            chances += f", {_chance(other_chances[i])} {other(view)}"
        pieces.append(ShownSentence(visible(text[low:high]), kind, chances))
        shown_to = high
    cut = ""
    if shown_to < len(text.rstrip()):
        cut = f"Shortened: {shown_to:,} of {len(text):,} characters."
    return tuple(pieces), cut


def _chance(p: float | None) -> str:
    return "not told" if p is None or isnan(p) else f"{p:.2f}"
