"""Table 3 as a figure: mean words of the generated texts, of the originals, and as published."""

from typing import Any

from portrayal.records import ALL, Estimate
from portrayal.report import formats as fmt
from portrayal.report.figures.figure import Figure
from portrayal.report.figures.paired.panels import WHOLE, datum, panel
from portrayal.report.figures.paired.printed import PAPER, printed_words
from portrayal.report.figures.paired.series import forms, numbers, rows_of, series
from portrayal.report.figures.parts import INK
from portrayal.report.view import View

ORIGINALS = "reference"
"""The model stratum of the originals."""
ORIGINAL_ROW = "the originals"


def text_lengths(view: View, estimates: list[Estimate]) -> list[Figure]:
    """Return the figure of lengths."""
    names = forms(view)
    whole = [
        e for e in estimates if all(e.strata.get(name, ALL) == ALL for name in ("domain", "source"))
    ]
    first = [e for e in whole if e.strata.get("model") == ORIGINALS][:1]
    own = [
        e
        for e in whole
        if e.strata.get("model") != ORIGINALS and (not names or e.strata.get("form") in names)
    ]
    if not own and not first:
        return []
    paper = printed_words()
    rows = [ORIGINAL_ROW] * len(first) + rows_of(view, own) + [name + PAPER for name in paper]
    data = [datum(view, e, "#1f4e79") | {"row": ORIGINAL_ROW, "s": True} for e in first]
    data += [datum(view, e, INK) | {"s": True} for e in own]
    data += [_printed(name, words) for name, words in paper.items()]
    spec = panel(
        data, rows, [WHOLE], title="Mean words", axis="words", form=",d", labels=True, width=440
    )
    return [
        Figure(
            "text-lengths",
            "Length of texts",
            _reading(view, own, first),
            "Mean words of readable texts with interval; grey: Table 3 of Fang et al. (2024). "
            "Compare levels at equal length before reading a distance as a choice of words.",
            spec,
            numbers(view, [*first, *own]),
            (("dot", "mean and interval"), ("dot paper", "published models, not rerun")),
        )
    ]


def _printed(name: str, words: int) -> dict[str, Any]:
    return {
        "row": name + PAPER,
        "g": WHOLE,
        "p": words,
        "model": f"{name}, as published",
        "group": "all",
        "value": fmt.whole(words),
        "ci": fmt.NOTHING,
        "n": fmt.NOTHING,
    }


def _reading(view: View, own: list[Estimate], first: list[Estimate]) -> str:
    known = [e for e in own if e.value is not None]
    if not known:
        return "No length is known."
    said = [f"{series(view, e)} {fmt.whole(e.value)}" for e in known[:6]]
    text = f"Mean words: {fmt.listed(said)}"
    if first and first[0].value:
        text += f"; the originals {fmt.whole(first[0].value)}"
    return text + "."
