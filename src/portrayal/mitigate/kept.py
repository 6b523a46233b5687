"""What a mitigation did to texts: what was kept, what got worse, and the page that shows both."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

from portrayal.annotate.agency.rows import agency_sentences
from portrayal.mitigate.compare import Change, Comparison
from portrayal.mitigate.edits import Facts, facts_of
from portrayal.mitigate.passages import Passage, Reading
from portrayal.mitigate.rewriting import Rewritten
from portrayal.run.pages import templates

LISTED = 50
"""Texts that are named in a list; all of them are counted."""
SHOWN = 100
"""Texts that the page shows, the least alike first; the file of texts holds all."""


@dataclass(frozen=True, slots=True)
class Kept:
    """How alike one text is to what it was.

    Attributes
    ----------
    similarity
        Share of words that stand in both in the same order, 0–1 (Ratcliff & Obershelp).
    length
        Words after over words before.
    names, numbers
        Whether each sentence has the names and numbers it had; False where sentences differ in
        number.
    """

    similarity: float
    length: float
    names: bool
    numbers: bool


def kept(before: str, after: str, names: Sequence[str] = ()) -> Kept:
    """Compare a text before and after, sentence by sentence."""
    words = before.split(), after.split()
    spans = agency_sentences(before), agency_sentences(after)
    same = len(spans[0]) == len(spans[1])
    facts = Facts.of(before, spans[0], names)
    pairs = (
        [
            (facts_of(before[a:b], facts), facts_of(after[c:d], facts))
            for (a, b), (c, d) in zip(*spans, strict=True)
        ]
        if same
        else []
    )
    return Kept(
        SequenceMatcher(None, *words, autojunk=False).ratio(),
        len(words[1]) / max(len(words[0]), 1),
        same and all(old.names == new.names for old, new in pairs),
        same and all(old.numbers == new.numbers for old, new in pairs),
    )


def preserved(passages: Sequence[Passage], done: Rewritten) -> tuple[dict[int, Kept], Any]:
    """Return what was kept of each text that changed, and a summary as plain values."""
    found = {
        i: kept(passage.text, done.texts[i], passage.names)
        for i, passage in enumerate(passages)
        if passage.text != done.texts[i]
    }
    if not found:
        return found, {"n_changed": 0}
    similarity = [each.similarity for each in found.values()]
    length = [each.length for each in found.values()]
    return found, {
        "n_changed": len(found),
        "similarity_mean": sum(similarity) / len(found),
        "similarity_least": min(similarity),
        "length_mean": sum(length) / len(found),
        "length_least": min(length),
        "length_most": max(length),
        "n_names_changed": sum(not each.names for each in found.values()),
        "n_numbers_changed": sum(not each.numbers for each in found.values()),
    }


def worse(
    passages: Sequence[Passage],
    before: Sequence[Reading | None],
    done: Rewritten,
    comparison: Comparison,
    found: dict[int, Kept],
    least_similarity: float,
) -> dict[str, Any]:
    """Return what got worse: groups, gaps, variances and texts, as plain values.

    A text got worse where its share of agentic sentences moved against the direction in which it
    was rewritten (down, where it was asked again), or where it is less alike than it should be.
    """
    against = []
    for i, old in enumerate(before):
        new = done.readings[i]
        if old is None or new is None or i not in found:
            continue
        moved = new.share - old.share
        if moved > 0 if done.direction.get(i) == "down" else moved < 0:
            against.append(i)
    unlike = [i for i, each in found.items() if each.similarity < least_similarity]
    return {
        "groups_fell": [_told(each) for each in comparison.groups if _moved(each) < 0],
        "gaps_grew": [_told(each) for each in comparison.gaps if _grew(each)],
        "variances_rose": [_told(each) for each in comparison.variances if _moved(each) > 0],
        "n_texts_against": len(against),
        "texts_against": [_name(passages[i], i) for i in against[:LISTED]],
        "least_similarity": least_similarity,
        "n_texts_unlike": len(unlike),
        "texts_unlike": [_name(passages[i], i) for i in unlike[:LISTED]],
    }


def _name(passage: Passage, number: int) -> str:
    return str(passage.row.get("text_id") or f"row {number + 1}")


def _moved(change: Change) -> float:
    return change.change.value or 0.0


def _grew(change: Change) -> bool:
    return abs(change.after.value or 0.0) > abs(change.before.value or 0.0)


def _told(change: Change) -> dict[str, Any]:
    moved = change.change
    clear = moved.low is not None and moved.high is not None and moved.low * moved.high > 0
    return {
        "attribute": change.attribute,
        "what": change.what,
        "change": moved.value,
        "low": moved.low,
        "high": moved.high,
        "beyond_noise": clear,
    }


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


def _pieces(old: list[str], new: list[str]) -> Iterator[tuple[str, str]]:
    """Yield (kind, words): "same", "gone" and "new"."""
    for tag, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            yield "same", " ".join(old[a:b])
            continue
        if b > a:
            yield "gone", " ".join(old[a:b])
        if d > c:
            yield "new", " ".join(new[c:d])
