"""What a mitigation did to texts: what was kept, what got worse, and the page that shows both."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

from portrayal.annotate.agency.rows import agency_sentences
from portrayal.mitigate.compare import GroupChange, GroupComparison
from portrayal.mitigate.edits import facts_of, known_names
from portrayal.mitigate.passages import AgencyReading, GroupedText
from portrayal.mitigate.rewriting import Rewritten
from portrayal.run.pages import templates

LISTED = 50
"""Texts that are named in a list; all of them are counted."""
SHOWN = 100
"""Texts that the page shows, the least alike first; the file of texts holds all."""


@dataclass(frozen=True, slots=True)
class Similarity:
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


def kept(before: str, after: str, names: Sequence[str] = ()) -> Similarity:
    """Compare a text before and after, sentence by sentence."""
    words = before.split(), after.split()
    spans = agency_sentences(before), agency_sentences(after)
    same = len(spans[0]) == len(spans[1])
    known = known_names(before, spans[0], names)
    pairs = (
        [
            (facts_of(before[a:b], known), facts_of(after[c:d], known))
            for (a, b), (c, d) in zip(*spans, strict=True)
        ]
        if same
        else []
    )
    return Similarity(
        SequenceMatcher(None, *words, autojunk=False).ratio(),
        len(words[1]) / max(len(words[0]), 1),
        same and all(old.names == new.names for old, new in pairs),
        same and all(old.numbers == new.numbers for old, new in pairs),
    )


def preserved(
    passages: Sequence[GroupedText], done: Rewritten
) -> tuple[dict[int, Similarity], Any]:
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
    passages: Sequence[GroupedText],
    before: Sequence[AgencyReading | None],
    done: Rewritten,
    comparison: GroupComparison,
    found: dict[int, Similarity],
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

    def named(which: Sequence[int]) -> list[str]:
        rows = ((i, passages[i].row.get("text_id")) for i in which[:LISTED])
        return [str(text_id or f"row {i + 1}") for i, text_id in rows]

    def listed(changes: Sequence[GroupChange]) -> list[dict[str, Any]]:
        names = ("attribute", "what", "change", "low", "high")
        return [
            {name: getattr(each, name) for name in names}
            | {"beyond_noise": (each.low or 0.0) * (each.high or 0.0) > 0}
            for each in changes
        ]

    rose = [each for each in comparison.variances if (each.change or 0.0) > 0]
    grew = [e for e in comparison.gaps if abs(e.value_b or 0.0) > abs(e.value_a or 0.0)]
    fell = [each for each in comparison.groups if (each.change or 0.0) < 0]
    return {
        "groups_fell": listed(fell),
        "gaps_grew": listed(grew),
        "variances_rose": listed(rose),
        "n_texts_against": len(against),
        "texts_against": named(against),
        "least_similarity": least_similarity,
        "n_texts_unlike": len(unlike),
        "texts_unlike": named(unlike),
    }


def render(
    facts: Mapping[str, Any],
    passages: Sequence[GroupedText],
    before: Sequence[AgencyReading | None],
    done: Rewritten,
    found: Mapping[int, Similarity],
) -> str:
    """Return the page as HTML, every word of a text escaped."""
    texts = []
    for i in sorted(found, key=lambda i: (found[i].similarity, i))[:SHOWN]:
        old, new = passages[i].text.split(), done.texts[i].split()
        pieces = []
        for tag, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
            parts = (("same" if tag == "equal" else "gone", old[a:b]), ("new", new[c:d]))
            pieces += [
                (kind, " ".join(words)) for kind, words in parts[: 1 if tag == "equal" else 2]
            ]
        readings = before[i], done.readings[i]
        texts.append(
            {
                "number": i + 1,
                "group": " ".join(passages[i].group),
                "before": None if readings[0] is None else readings[0].share,
                "after": None if readings[1] is None else readings[1].share,
                "similarity": found[i].similarity,
                "pieces": [piece for piece in pieces if piece[1]],
            }
        )
    page = templates("portrayal.mitigate").get_template("mitigation.html.j2")
    return page.render(facts=facts, texts=texts, n_changed=len(found), number=number, span=span)


def number(value: float | None, digits: int = 2) -> str:
    """Write a number, with a minus sign; an en dash where there is none."""
    return "–" if value is None else f"{value:.{digits}f}".replace("-", "−")


def span(row: Mapping[str, Any], what: str = "change", digits: int = 2, factor: float = 1.0) -> str:
    """Write a number of a change with its interval; why there is none, else.

    `row` is a `GroupChange` as plain values, and `what` is "value_a", "value_b" or "change".
    """
    if row[what] is None:
        return str(row["undefined"])
    bounds = (row["low"], row["high"]) if what == "change" else row[f"interval_{what[-1]}"]
    value = number(factor * row[what], digits)
    if bounds is None or None in bounds:
        return value
    low, high = (number(factor * bound, digits) for bound in bounds)
    return f"{value} [{low}, {high}]"
