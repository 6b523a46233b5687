"""The page of a mitigation: what was compared, what got worse, and texts before and after."""

from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any

from portrayal.mitigate.kept import Kept
from portrayal.mitigate.passages import Passage, Reading
from portrayal.mitigate.rewriting import Rewritten
from portrayal.run.pages import templates

SHOWN = 100
"""Texts that the page shows, the least alike first; the file of texts holds all."""


def render(
    facts: Mapping[str, Any],
    passages: Sequence[Passage],
    before: Sequence[Reading | None],
    done: Rewritten,
    found: Mapping[int, Kept],
) -> str:
    """Return the page as HTML, every word of a text escaped."""
    shown = sorted(found, key=lambda i: (found[i].similarity, i))[:SHOWN]
    texts = [_text(i, passages[i], before[i], done, found[i]) for i in shown]
    return (
        templates("portrayal.mitigate")
        .get_template("mitigation.html.j2")
        .render(facts=facts, texts=texts, n_changed=len(found), number=number, span=span)
    )


def number(value: float | None, digits: int = 2) -> str:
    """Write a number, with a minus sign; an en dash where there is none."""
    return "–" if value is None else f"{value:.{digits}f}".replace("-", "−")


def span(cell: Mapping[str, Any], digits: int = 2, factor: float = 1.0) -> str:
    """Write a value with its interval; why there is none, else."""
    if cell["value"] is None:
        return str(cell["why"])
    value = number(factor * cell["value"], digits)
    if cell["low"] is None or cell["high"] is None:
        return value
    return (
        f"{value} [{number(factor * cell['low'], digits)}, {number(factor * cell['high'], digits)}]"
    )


def _text(
    i: int, passage: Passage, before: Reading | None, done: Rewritten, kept: Kept
) -> dict[str, Any]:
    after = done.readings[i]
    return {
        "number": i + 1,
        "group": " ".join(passage.group),
        "before": None if before is None else before.share,
        "after": None if after is None else after.share,
        "similarity": kept.similarity,
        "pieces": list(_pieces(passage.text.split(), done.texts[i].split())),
    }


def _pieces(old: list[str], new: list[str]) -> Any:
    """Yield (kind, words): "same", "gone" and "new"."""
    for tag, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            yield "same", " ".join(old[a:b])
            continue
        if b > a:
            yield "gone", " ".join(old[a:b])
        if d > c:
            yield "new", " ".join(new[c:d])
