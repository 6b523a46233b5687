"""Cues: where texts use a term that names an identity, and in whose description.

A linear-time expression engine (RE2, in Arrow) finds the few texts that may hold a cue; word
boundaries, the cue and its place are then decided by Python's own.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from portrayal.collect.corpus import SLOTS, Corpus, Spans
from portrayal.measure.cues.lists import Cue, CueList, matcher, superset
from portrayal.measure.stories.tally import ROLES

ELSEWHERE = "elsewhere"
"""Role of a mention that no character is near, or in a text whose people are not known."""
NEAR = 30
"""Characters within which a mention beside a reference describes that character."""
WINDOW = 80
"""Characters of context on either side of a passage."""
_STOP = re.compile(r"[.!?;\n]")
_LADEN = "power-laden"


@dataclass(frozen=True, slots=True)
class Mention:
    """One cue in one text.

    Attributes
    ----------
    text_id, prompt_id, model
        Whose text.
    cue
        The term it counts as.
    found
        The words as the text has them.
    start, end
        Place in the text, in characters.
    slot
        "subject" or "object" where the mention describes that character, else "elsewhere".
    role
        dominant, subordinate or neutral, as the prompt casts that character; else "elsewhere".
    before, after
        Context of up to `WINDOW` characters.
    """

    text_id: str
    prompt_id: str
    model: str
    cue: Cue
    found: str
    start: int
    end: int
    slot: str
    role: str
    before: str
    after: str


@dataclass(frozen=True)
class CueHits:
    """What a search found.

    Attributes
    ----------
    cues
        The list that was searched.
    corpus
        Where.
    mentions
        Every mention, in the order of the texts.
    texts
        Texts by (prompt_id, model, outcome): the denominators, and what could not be read.
    """

    cues: CueList
    corpus: Corpus
    mentions: tuple[Mention, ...]
    texts: Mapping[tuple[str, str, str], int]

    @property
    def n_readable(self) -> int:
        """Texts with the outcome "ok"."""
        return sum(n for (_, _, outcome), n in self.texts.items() if outcome == "ok")


def find_cues(corpus: Corpus, cues: CueList) -> CueHits:
    """Search every readable text for the cues of a list.

    A longer term wins over a shorter one that it holds; mentions do not overlap.
    """
    totals: Counter[tuple[str, str, str]] = Counter()
    candidates: list[pa.Table] = []
    # RE2 knows no look-around: its patterns let too much through, never too little
    supersets = [superset(chunk) for chunk in cues.chunks]
    for table in corpus.tables():
        grouped = table.group_by(["prompt_id", "model", "outcome"]).aggregate([([], "count_all")])
        for row in grouped.to_pylist():
            totals[row["prompt_id"], row["model"], row["outcome"]] += row["count_all"]
        candidates.append(_candidates(table, supersets))
    texts = pa.concat_tables(candidates) if candidates else None
    mentions = tuple(_mentions(texts, corpus, cues)) if texts is not None else ()
    return CueHits(cues, corpus, mentions, dict(sorted(totals.items())))


def _candidates(table: pa.Table, supersets: Sequence[str]) -> pa.Table:
    """Readable texts with a cue, some in the middle of a word; `chunks` says of which chunks."""
    # Refusals and failures may quote a cue, but tell no story.
    table = table.filter(pc.equal(table["outcome"], "ok"))
    text = table["text"].combine_chunks()
    hits = np.array(
        [
            pc.match_substring_regex(text, pattern).to_numpy(zero_copy_only=False)
            for pattern in supersets
        ]
    )
    rows = np.flatnonzero(hits.any(axis=0)) if len(text) else np.zeros(0, dtype=np.int64)
    chunks = [np.flatnonzero(hits[:, row]).tolist() for row in rows]
    matches = table.take(pa.array(rows, pa.int64()))
    return matches.append_column("chunks", pa.array(chunks, pa.list_(pa.int32())))


def _mentions(table: pa.Table, corpus: Corpus, cues: CueList) -> Iterator[Mention]:
    searchers: dict[tuple[int, ...], tuple[list[Cue], re.Pattern[str]]] = {}
    ids = table["text_id"].combine_chunks()
    people = corpus.people(ids) if corpus.people is not None else {}
    for row in table.to_pylist():
        key = tuple(row["chunks"])
        if key not in searchers:
            # One pattern for each set of chunks, as most texts share a few sets
            order = [cue for number in key for cue in cues.chunks[number]]
            searchers[key] = order, matcher(order)
        order, pattern = searchers[key]
        text, spans = row["text"], people.get(row["text_id"], {})
        condition = corpus.prompts.get(row["prompt_id"], {}).get("condition", "")
        for hit in pattern.finditer(text):
            start, end = hit.span()
            slot = described(text, start, end, spans)
            yield Mention(
                row["text_id"],
                row["prompt_id"],
                row["model"],
                # Each cue is a group of the pattern, so its number says which one it was
                order[(hit.lastindex or 1) - 1],
                hit.group(),
                start,
                end,
                slot,
                role_of(slot, condition),
                # The words around, by which a reader can judge the mention.
                text[max(0, start - WINDOW) : start],
                text[end : end + WINDOW],
            )


def described(text: str, start: int, end: int, spans: Spans) -> str:
    """Return whom the mention at `start` to `end` describes: "subject", "object" or "elsewhere".

    The character whose reference holds it; else the nearest one whose reference stands in the same
    clause within `NEAR` characters ("Dale, a Native American"); none where both are as near.
    """
    nearest: dict[str, int] = {}
    # The gap is 0 where a reference holds the mention.
    for slot in SLOTS:
        for low, high in spans.get(slot, ()):
            gap = max(low - end, start - high, 0)
            between = text[min(high, end) : max(low, start)]
            # Past a full stop a reference belongs to another statement
            if gap <= NEAR and not (gap and _STOP.search(between)):
                nearest[slot] = min(gap, nearest.get(slot, NEAR + 1))
    if not nearest:
        return ELSEWHERE
    # Two people as near as each other: none is taken, since either would be a guess.
    best = min(nearest.values())
    closest = [slot for slot, gap in nearest.items() if gap == best]
    return closest[0] if len(closest) == 1 else ELSEWHERE


def role_of(slot: str, condition: str) -> str:
    """Return the role in which a prompt of that condition casts the character of a slot."""
    if slot not in SLOTS:
        return ELSEWHERE
    if condition != _LADEN:
        return ROLES[0]
    return ROLES[1 + SLOTS.index(slot)]  # the subject of a laden prompt is the dominant one
