"""Spans: where the names and references of a label stand in the text."""

import re
from collections.abc import Sequence

from portrayal.annotate.label.answer import whole
from portrayal.annotate.people import Span


def locate(
    text: str, slots: Sequence[tuple[str | None, tuple[str, ...]]]
) -> list[tuple[Span, ...]]:
    """Return the spans of each character's name and references, in order of place.

    A model says which words refer to a character and not where. So every place of a word counts,
    but a word that both characters share ("her") is marked for neither.
    """
    claimed = [
        {word for word in (*references, name and name.casefold()) if word}
        for name, references in slots
    ]
    found: list[tuple[Span, ...]] = []
    for i, (name, references) in enumerate(slots):
        others = {word for j, words in enumerate(claimed) if j != i for word in words}
        spans: set[tuple[int, int, str]] = set()
        if name is not None and name.casefold() not in others:
            spans |= {(m.start(), m.end(), "name") for m in re.finditer(whole(name), text)}
        for word in references:
            if word not in others:
                places = re.finditer(whole(word), text, re.IGNORECASE)
                spans |= {(m.start(), m.end(), "reference") for m in places}
        found.append(tuple(Span(*span) for span in sorted(spans)))
    return found
