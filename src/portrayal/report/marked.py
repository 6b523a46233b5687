"""Marked words as a page of its own: a list for each comparison, with passages on click."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from portrayal.coding import Comparison, Counts, Documents, MarkedWord, places_of
from portrayal.measure import Scope
from portrayal.report.formats import short
from portrayal.run.pages import templates, visible

AROUND = 90
"""Characters of a passage on either side of the word."""
EACH = 3
"""Passages for each word."""


@dataclass(frozen=True)
class Marked:
    """A passage: what stands before the word, the word, and what follows."""

    before: str
    word: str
    after: str


def words_page(
    compared: Sequence[Comparison],
    documents: Documents,
    counts: Counts,
    scope: Scope,
    *,
    top: int = 20,
    passages: bool = True,
) -> str:
    """Return the comparisons as one HTML page that loads and runs nothing.

    Parameters
    ----------
    compared, documents, counts
        What `portrayal.coding.marked_words` gave, and what it was given.
    scope
        Level and seed; the passages are drawn by the seed.
    top
        Words of each comparison.
    passages
        Whether passages of the texts are in the page.
    """
    columns = counts.matrix.tocsc()
    place = {word: i for i, word in enumerate(counts.words)}
    sections = []
    for c in compared:
        rows = []
        for word in c.words[:top]:
            if word.z <= 0:
                continue
            has = columns.indices[slice(*columns.indptr[place[word.word] :][:2])]
            found = _passages(c, documents, word, has, scope) if passages else []
            rows.append({**_cells(word), "passages": found})
        sections.append(
            {
                "title": short(c.title, 120),
                "against": short(c.against, 80),
                "n_texts": c.n_texts,
                "n_others": c.n_others,
                "undefined": c.undefined,
                "rows": rows,
            }
        )
    return (
        templates("portrayal.report")
        .get_template("words.html.j2")
        .render(
            name=short(documents.name, 120),
            n_texts=len(documents.texts),
            unit=documents.unit,
            unread=sum(documents.exclusions.values()),
            clustered_by=short(documents.clustered_by, 60),
            masked=sum(counts.masked.values()),
            level=scope.level,
            permutations=scope.permutations,
            seed=scope.seed,
            sections=sections,
        )
    )


def _cells(word: MarkedWord) -> dict[str, Any]:
    return {
        "word": visible(word.word),
        "count": word.count,
        "count_others": word.count_others,
        "texts": word.texts,
        "log_odds": f"{word.log_odds:.2f}",
        "interval": "–" if np.isnan(word.low) else f"{word.low:.2f} to {word.high:.2f}",
        "z": f"{word.z:.1f}",
        "z_clustered": "–" if np.isnan(word.z_clustered) else f"{word.z_clustered:.1f}",
        "q": "–" if np.isnan(word.q) else f"{word.q:.2g}",
        "p_shuffled": f"{word.p_shuffled:.2g}",
    }


def _passages(
    c: Comparison, documents: Documents, word: MarkedWord, has: Any, scope: Scope
) -> list[Marked]:
    inside = has if c.members is None else has[c.members[has]]
    drawn = scope.rng("passages", c.title, word.word).permutation(np.sort(inside))[:EACH]
    found = []
    for i in sorted(drawn.tolist()):
        text = documents.texts[i]
        place = next(places_of(text, word.word), None)
        if place is None:
            continue
        start, end = place
        before = ("… " if start > AROUND else "") + text[max(0, start - AROUND) : start]
        after = text[end : end + AROUND] + (" …" if len(text) > end + AROUND else "")
        found.append(Marked(visible(before), visible(text[start:end]), visible(after)))
    return found
