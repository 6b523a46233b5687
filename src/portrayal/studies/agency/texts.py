"""Texts with each sentence coloured by its class, from the most agentic to the most communal."""

from collections.abc import Mapping
from importlib.resources import files
from math import isnan
from typing import Any

from portrayal.report.formats import points, short
from portrayal.report.passages import Reading, Readings, Sentence, rows_of, shown_text, texts_by_id
from portrayal.report.view import View

ANNOTATORS = {"masked": "agency.v1", "unmasked": "agency-unmasked.v1"}
PER_GROUP, MOST = 4, 24
"""Texts of one group at most; texts in all."""


def texts_to_read(view: View) -> Readings | None:
    """Return texts to read; None where the run has none."""
    masked = view.options.get("masked", True)
    order = ("masked", "unmasked") if masked else ("unmasked", "masked")
    first, second = (view.run.annotations(ANNOTATORS[masking]) for masking in order)
    if not (view.run.texts.parts() and first.parts()):
        return None
    attributes = dict.fromkeys(k for e in view.estimates for k in e.group)
    # Names of estimates' own parts are no groups of people.
    keys = [k for k in attributes if k != "attribute"]
    parameters = {
        "texts": [str(path) for path in view.run.texts.parts()],
        "annotated": [str(path) for path in first.parts()],
        "prompts": str(view.run.prompts_path),
        "keys": sorted(keys, key=lambda key: (key == "gender", key)),
        "each": PER_GROUP,
        "most": MOST,
    }
    rows = rows_of(files(__package__).joinpath("texts.sql").read_text("utf-8"), parameters)
    ids = [row["text_id"] for row in rows]
    texts = texts_by_id(view.run.texts, ids, "text")
    # Both readings of a sentence are shown, as the words that masking hides may decide it.
    one, two = (texts_by_id(stage, ids, "sentences, agentic") for stage in (first, second))
    readings = []
    for row, text_id in zip(rows, ids, strict=True):
        sentences = _sentences(one[text_id], two.get(text_id, {}), order)
        passage = shown_text(short(row["model"], 60), texts[text_id]["text"], (), sentences)
        title = f"{short(row['title'], 120)} · ratio gap {points(row['gap'])}"
        readings.append(Reading(title, "", (passage,)))
    n = rows[0]["n_all"] if rows else 0
    selection = (
        f"{len(readings)} of {n:,} texts; for each group they are taken at even steps from the "
        "most agentic to the most communal. Hold the pointer over a sentence for its probability."
    )
    key = (("agentic", "agentic sentence"), ("communal", "communal sentence"))
    return Readings(selection, tuple(readings), key) if readings else None


def _sentences(
    first: Mapping[str, Any], second: Mapping[str, Any], names: tuple[str, str]
) -> list[Sentence]:
    """The sentences of a text with their class, and the probabilities of both readings."""
    other_chances = second.get("agentic") or []
    sentences = []
    for i, (span, p) in enumerate(zip(first["sentences"], first["agentic"], strict=True)):
        # A sentence that the classifier could not tell has no colour.
        shade = "" if p is None or isnan(p) else "agentic" if p >= 0.5 else "communal"
        words = f"agentic {_chance(p)} {names[0]}"
        words += f", {_chance(other_chances[i])} {names[1]}" if i < len(other_chances) else ""
        sentences.append(Sentence(span["start"], span["end"], shade, words))
    return sentences


def _chance(p: float | None) -> str:
    return "unclassified" if p is None or isnan(p) else f"{p:.2f}"
