"""Cues: where texts use a term that names an identity, in whose description, and in how many texts.

A linear-time expression engine (RE2, in Arrow) finds the few texts that may hold a cue; word
boundaries, the cue and its place are then decided by Python's own.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from portrayal.annotate.language import NOT_ENGLISH, is_english
from portrayal.collect.corpus import SLOTS, Corpus, Spans
from portrayal.measure.clustered import GroupSums, estimates_of
from portrayal.measure.cues.lists import Cue, CueList, matcher, superset
from portrayal.measure.scope import Scope
from portrayal.measure.stories.tally import ROLES
from portrayal.records import ALL, OUTCOMES, Estimate, Interval
from portrayal.registry import Component
from portrayal.stats import upper_of_none
from portrayal.stats.proportions import clopper_pearson
from portrayal.types import FloatArray

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
        Texts by (prompt_id, model, outcome): the denominators, and what could not be read, as
        texts that are not in English by terms that are.
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
        if cues.english:
            pairs = zip(table["outcome"].to_pylist(), table["text"].to_pylist(), strict=True)
            outcomes = [NOT_ENGLISH if o == "ok" and not is_english(t) else o for o, t in pairs]
            place = table.column_names.index("outcome")
            table = table.set_column(place, "outcome", pa.array(outcomes, pa.string()))  # noqa: PLW2901
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


NAME = "cue_counts.v1"
SOURCE = "Shieh et al. 2025, Section 2.3 and Supplement B.7"
_UNREAD = "no text could be read: all were refused, empty, failed or in a language of other terms"
ANY = "any"
"""The cue that stands for every term of its group."""


def cue_counts(cue_hits: CueHits, scope: Scope) -> Iterator[Estimate]:
    """Yield the share of readable texts that use each cue, and any cue of each group.

    Strata are every domain × model, pooled ones first; the pooled domain is split by role too:
    the share of texts in which the cue describes a dominant, subordinate or neutral character, or
    none (`elsewhere`). A count of 0 has a value, 0, and its upper bounds.
    """
    domains = dict.fromkeys(_domain(cue_hits, prompt) for prompt, _, _ in cue_hits.texts)
    models = dict.fromkeys(model for _, model, _ in cue_hits.texts)
    singles = [] if list(domains) == [ALL] else [d for d in domains if d != ALL]
    for domain in (ALL, *sorted(singles)):
        for model in (ALL, *sorted(models)):
            yield from _of_stratum(cue_hits, domain, model, scope)


def cue_rows(estimates: Sequence[Estimate]) -> list[dict[str, Any]]:
    """Return estimates as plain rows for tables and JSON."""
    return [
        {
            **e.strata,
            **e.group,
            "texts": int(e.details.get("texts", 0)),
            "mentions": int(e.details.get("mentions", 0)),
            "of_texts": e.n_texts,
            "share": e.value,
            "interval": None if e.interval is None else asdict(e.interval),
            "exact_interval": None if e.paper_interval is None else asdict(e.paper_interval),
            "upper_of_none": e.details.get("upper_of_none"),
            "published": e.details.get("published"),
            "undefined": e.undefined,
        }
        for e in estimates
    ]


def unread_texts(texts: Mapping[tuple[str, str, str], int]) -> dict[str, int]:
    """Return how many texts by (prompt_id, model, outcome) could not be searched, by why."""
    reasons = Counter(dict.fromkeys((*OUTCOMES[1:], NOT_ENGLISH), 0))
    for (_, _, outcome), n in texts.items():
        reasons[outcome] += n
    return {reason: n for reason, n in reasons.items() if n and reason != "ok"}


def _domain(hits: CueHits, prompt: str) -> str:
    return hits.corpus.prompts.get(prompt, {}).get("domain") or ALL


def _of_stratum(cue_hits: CueHits, domain: str, model: str, scope: Scope) -> Iterator[Estimate]:
    inside = {
        key: n
        for key, n in cue_hits.texts.items()
        if model in (ALL, key[1]) and domain in (ALL, _domain(cue_hits, key[0]))
    }
    if not inside:
        return
    # Texts that could not be searched, by outcome; a refusal has no cue and would dilute the share.
    prompts = sorted({key[0] for key in inside})
    place = {prompt: i for i, prompt in enumerate(prompts)}
    totals = np.zeros(len(prompts))
    for (prompt, _, outcome), n in inside.items():
        # Prompts without a readable text stay, with a total of 0
        totals[place[prompt]] += n * (outcome == "ok")
    columns = list(_columns(cue_hits, by_role=domain == ALL))
    index = {key: i for i, key in enumerate(columns)}
    texts, mentions = _sums(cue_hits, place, index, model)
    sums = GroupSums(
        prompts,
        [{"cues": group, "cue": term, "role": role} for group, term, role in columns],
        texts,
        np.repeat(totals[:, np.newaxis], len(columns), axis=1),
    )
    n, counts, all_mentions = int(totals.sum()), texts.sum(0), mentions.sum(0)
    # The exact interval beside: clustered ones have no bound for what was never seen
    low, high = clopper_pearson(counts, np.full(len(columns), n), scope.level)
    published = {(cue.group, cue.term): cue.published for cue in cue_hits.cues.cues}

    def own(i: int) -> dict[str, Any]:
        group, term, role = columns[i]
        details = {"texts": float(counts[i]), "mentions": float(all_mentions[i])}
        # Of none in n texts an upper bound is all that can be said.
        if n and not counts[i]:
            details["upper_of_none"] = float(upper_of_none(n, scope.level))
        if published.get((group, term)) is not None and role == ALL:
            details["published"] = float(published[group, term] or 0)
        exact = Interval(float(low[i]), float(high[i]), scope.level, "Clopper–Pearson")
        return {"undefined": None if n else _UNREAD, "paper_interval": exact, "counts": details}

    yield from estimates_of(
        CUE_COUNTS,
        sums,
        sums.shares(scope),
        scope,
        own,
        tested=False,
        statistic="share",
        strata={"domain": domain, "model": model},
        n_texts=n,
        n_clusters=int((totals > 0).sum()),
        exclusions=unread_texts(inside),
        instruments={"cue_list": cue_hits.cues.name},
    )


Key = tuple[str, str, str]
"""Group, term (or `ANY`) and role (or `ALL`)."""


def _columns(hits: CueHits, *, by_role: bool) -> Iterator[Key]:
    roles = (ALL, *ROLES, "elsewhere") if by_role and hits.corpus.people is not None else (ALL,)
    for group in hits.cues.groups:
        terms = [cue.term for cue in hits.cues.cues if cue.group == group]
        for term in (ANY, *terms) if len(terms) > 1 else terms:
            for role in roles:
                yield group, term, role


def _sums(
    hits: CueHits, place: Mapping[str, int], index: Mapping[Key, int], model: str
) -> tuple[FloatArray, FloatArray]:
    """Texts and mentions per prompt and column, each of shape (n_prompts, n_columns)."""
    mentions = np.zeros((len(place), len(index)))
    # A text with several mentions of a cue is one text that uses it.
    ids_by_cell: dict[tuple[int, int], set[str]] = {}
    for mention in hits.mentions:
        row = place.get(mention.prompt_id)
        if row is None or model not in (ALL, mention.model):
            continue
        # Each mention counts for its own term and role, and for all terms and all roles.
        for term, role in product((mention.cue.term, ANY), (mention.role, ALL)):
            column = index.get((mention.cue.group, term, role))
            if column is not None:
                mentions[row, column] += 1
                ids_by_cell.setdefault((row, column), set()).add(mention.text_id)
    texts = np.zeros_like(mentions)
    for (row, column), ids in ids_by_cell.items():
        texts[row, column] = len(ids)
    return texts, mentions


CUE_COUNTS = Component(
    name=NAME,
    summary="How many texts use a term that names an identity, and of whom they use it.",
    reads="words of every readable text, where its people are named, and a list of terms",
    unit="story",
    range="0 to 1; 0 comes with its upper bounds",
    undefined_when="no text could be read",
    equation="texts that use the term, or any term of its group, over readable texts; of a role, "
    "texts in which it describes a character of that role",
    source=SOURCE,
    run=cue_counts,
    title="Terms that name identities",
    reading="Share of the texts that use a term of the group.",
    figure="table",
)
