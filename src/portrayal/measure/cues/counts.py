"""Counts of cues: the share of texts that use each term, by model, domain and role."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import product
from typing import Any

import numpy as np

from portrayal.measure.clustered import GroupSums, estimates_of
from portrayal.measure.cues.search import CueHits
from portrayal.measure.scope import Scope
from portrayal.measure.stories.tally import ROLES
from portrayal.records import ALL, OUTCOMES, Estimate, Interval
from portrayal.registry import Component
from portrayal.stats import upper_of_none
from portrayal.stats.proportions import clopper_pearson
from portrayal.types import FloatArray

NAME = "cue_counts.v1"
SOURCE = "Shieh et al. 2025, Section 2.3 and Supplement B.7"
_UNREAD = "no text could be read: all were refused, empty or failed"
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
    unread = {o: sum(n for key, n in inside.items() if key[2] == o) for o in OUTCOMES[1:]}
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
        exclusions={str(outcome): lost for outcome, lost in unread.items() if lost},
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
