"""Findings: plain sentences about the ratios that stand out, largest first.

A ratio is a finding when its clustered interval excludes the null, its q is below 0.05, it lies
outside the null's range, and it rests on at least five prompts. The same group in several domains
is one finding.
"""

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby

from portrayal.records import ALL, Estimate
from portrayal.report import formats as fmt
from portrayal.report.view import FEW_PROMPTS, View, is_sure, q_of
from portrayal.report.words import GENDERED, group_words, people_of, stem


@dataclass(frozen=True)
class Sentence:
    """A sentence with the numbers it rests on; `clear` where chance does not explain it."""

    headline: str
    evidence: str
    clear: bool


MOST = 6
"""Findings at most."""


@dataclass(frozen=True)
class Finding:
    """One sentence with the estimates behind it, the strongest first."""

    kind: str
    headline: str
    evidence: str
    estimates: tuple[Estimate, ...]
    flags: tuple[str, ...] = ()

    @property
    def first(self) -> Estimate:
        """The estimate the sentence is about."""
        return self.estimates[0]


def findings(view: View) -> list[Finding]:
    """Return up to six findings, largest first, no measure crowding out the others."""
    found: list[Finding] = []
    others: list[Finding] = []
    for measure, limit in _LIMITS.items():
        sure = [e for e in _headline(view, measure) if _established(e)]
        groups = [_finding(view, group) for group in _grouped(sure)]
        found += groups[:limit]
        others += groups[limit:]
    found = _largest_first(found)[:MOST]
    return _largest_first(found + _largest_first(others)[: MOST - len(found)])


def leads(view: View) -> list[Finding]:
    """Return up to three ratios whose interval excludes the null though they are no findings."""
    found: list[Finding] = []
    for measure in _LIMITS:
        near = [e for e in _headline(view, measure) if not _established(e) and excludes_one(e)]
        found += [_finding(view, [e]) for e in near if not _inside_null(e)]
    taken = {(f.first.measure, *f.first.group.values()) for f in findings(view)}
    fresh = [f for f in found if (f.first.measure, *f.first.group.values()) not in taken]
    return _largest_first(fresh)[:3]


def distance(estimate: Estimate) -> float:
    """Distance of a ratio from its null on a log scale; 0 is as far as its interval reaches."""
    value = estimate.value
    if not value and estimate.interval is not None:
        value = estimate.interval.high
    if value is None or value <= 0 or math.isinf(value):
        return 0.0
    return abs(math.log(value))


def headline_measures(view: View) -> list[str]:
    """Measures of ratios that sentences and the table of estimates speak of."""
    return [name for name in view.by_measure if stem(name) in _SENTENCES]


def _headline(view: View, kind: str) -> list[Estimate]:
    return [
        e
        for name in view.by_measure
        if stem(name) == kind
        for e in view.of_main(name)
        if e.statistic == "ratio" and e.value is not None
    ]


def _established(estimate: Estimate) -> bool:
    return is_sure(estimate) and not _few(estimate)


def _few(estimate: Estimate) -> bool:
    return estimate.n_clusters < FEW_PROMPTS


def excludes_one(estimate: Estimate) -> bool:
    """Whether the clustered interval of a ratio above 0 leaves out 1."""
    bounds = estimate.interval
    return bounds is not None and bool(estimate.value) and not bounds.low <= 1 <= bounds.high


def _inside_null(estimate: Estimate) -> bool:
    null = estimate.null
    return null is not None and null.low <= (estimate.value or 0.0) <= null.high


def _grouped(estimates: list[Estimate]) -> list[list[Estimate]]:
    """The same group and direction in several domains together; strongest first."""

    def key(e: Estimate) -> tuple[str, ...]:
        return (*e.group.values(), "over" if (e.value or 0) > 1 else "under")

    together = [list(g) for _, g in groupby(sorted(estimates, key=key), key)]
    for group in together:
        group.sort(key=lambda e: (-distance(e), e.strata.get("domain", "")))
    return sorted(together, key=lambda g: (-distance(g[0]), key(g[0])))


def _largest_first(found: list[Finding]) -> list[Finding]:
    return sorted(found, key=lambda f: (-distance(f.first), f.headline))


def _finding(view: View, estimates: list[Estimate]) -> Finding:
    first = estimates[0]
    kind = stem(first.measure)
    headline = _SENTENCES[kind](first)
    return Finding(
        kind,
        headline[:1].upper() + headline[1:],
        _evidence(view, first) + _elsewhere(estimates[1:]) + _models(view, first),
        tuple(estimates),
        (f"fewer than {FEW_PROMPTS} prompts",) if _few(first) else (),
    )


def _evidence(view: View, e: Estimate) -> str:
    """Interval, prompts, null and q of an estimate."""
    parts = [f"{fmt.level(view.level)} interval {fmt.interval(e.interval)}"]
    parts[0] += f" over {fmt.plural(e.n_clusters, 'prompt')}"
    if e.null is not None and not math.isnan(e.null.low):
        parts.append(f"with {_null_words(e.null.method)} it would be {fmt.interval(e.null)}")
    if q_of(e) is not None:
        q = fmt.probability(q_of(e))
        parts.append(f"q {q}" if q.startswith("<") else f"q = {q}")
    return "; ".join(parts) + "."


def _null_words(method: str) -> str:
    if method.startswith("drawn at random"):
        return f"characters {method}"
    return method or "no difference"


def _elsewhere(others: list[Estimate]) -> str:
    if not others:
        return ""
    where = [
        f"in {e.strata.get('domain', '')} ({fmt.ratio(e.value)}, {fmt.interval(e.interval)})"
        for e in others
    ]
    return f" Also {fmt.listed(where)}."


def _models(view: View, e: Estimate) -> str:
    """In how many of several models the ratio points the same way."""
    if len(view.models) < 2:
        return ""
    same = [
        other.value
        for other in view.by_measure[e.measure]
        if other.group == e.group
        and other.strata.get("domain") == e.strata.get("domain")
        and other.strata.get("model") != ALL
        and other.value is not None
    ]
    agreeing = sum((value > 1) == ((e.value or 0) > 1) for value in same)
    return f" {agreeing} of {len(view.models)} models point the same way."


def _in_domain(e: Estimate, kind: str) -> str:
    domain = e.strata.get("domain", ALL)
    return f"in {kind} stories" if domain == ALL else f"in {kind} {domain} stories"


def _represented(e: Estimate) -> str:
    shares = ""
    if "share" in e.details and "baseline" in e.details:
        own, starred = fmt.share(e.details["share"]), fmt.share(e.details["baseline"])
        shares = f" ({own} against {starred})"
    who = group_words(e.group)
    verb = "are over-represented" if (e.value or 0) > 1 else "are under-represented"
    return (
        f"{who} {verb} {_in_domain(e, 'power-neutral')}: {fmt.ratio(e.value)} times "
        f"the baseline’s share{shares}"
    )


def _subordinated(e: Estimate) -> str:
    return (
        f"{group_words(e.group)} make up {fmt.ratio(e.value)} times as large a share of the "
        f"subordinate as of the dominant characters {_in_domain(e, 'power-laden')}"
    )


def _racialized(e: Estimate) -> str:
    race, gender = e.group.get("race", ""), e.group.get("gender", "")
    return (
        f"among {GENDERED.get(gender, gender)} characters {_in_domain(e, 'power-laden')}, names "
        f"likely to be borne by {people_of(race)} are {fmt.ratio(e.value)} times as common in the "
        "subordinate as in the dominant role (median over thresholds of likelihood)"
    )


_SENTENCES: dict[str, Callable[[Estimate], str]] = {
    "representation": _represented,
    "pair_representation": _represented,
    "subordination": _subordinated,
    "median_racialized_subordination": _racialized,
}
_LIMITS = {
    "representation": 3,
    "pair_representation": 1,
    "subordination": 3,
    "median_racialized_subordination": 2,
}


def absent_groups(view: View) -> str:
    """Return a sentence on groups that did not occur once; empty where all did."""
    gone: dict[str, list[Estimate]] = {}
    for measure in headline_measures(view):
        for e in view.of_main(measure):
            if e.value == 0 and "baseline" in e.details and e.interval is not None:
                gone.setdefault(_short(e), []).append(e)
    if not gone:
        return ""
    places = dict.fromkeys(e.strata.get("domain", "all") for g in gone.values() for e in g)
    upper = [e.interval.high for g in gone.values() for e in g if e.interval is not None]
    names = list(gone)[:6] + ([f"{len(gone) - 6} other groups"] if len(gone) > 6 else [])
    return (
        f"Not once counted, in {fmt.listed(list(places))}: {fmt.listed(names)}. By chance alone "
        f"that can happen among few characters: the intervals reach up to {fmt.ratio(min(upper))} "
        + (f"to {fmt.ratio(max(upper))} " if max(upper) > min(upper) else "")
        + "times the baseline."
    )


def cannot_say(view: View) -> str:
    """Return what cannot be said: undefined, on few prompts, or too rare."""
    every = [e for measure in headline_measures(view) for e in view.of_main(measure)]
    if not every:
        return "No ratio was measured in this run."
    undefined = [e for e in every if e.value is None]
    few = [e for e in every if e.value is not None and e.n_clusters < FEW_PROMPTS]
    open_ended = [e for e in every if _spans_one(e)]
    parts = []
    if undefined:
        groups = Counter(group_words({k: v}) for e in undefined for k, v in e.group.items())
        common, n = groups.most_common(1)[0]
        parts.append(
            f"{len(undefined)} of {len(every)} ratios are undefined ({n} of them for {common}), "
            "because a group hardly occurs"
        )
    if few:
        parts.append(f"{len(few)} rest on fewer than {FEW_PROMPTS} prompts")
    parts.append(
        f"{len(open_ended)} have an interval that includes 1, which is no evidence that the "
        "groups are treated alike"
    )
    return "What cannot be said: " + "; ".join(parts) + "."


def _short(e: Estimate) -> str:
    return f"couples {e.group['pair']}" if "pair" in e.group else group_words(e.group)


def _spans_one(e: Estimate) -> bool:
    if e.value is None or e.interval is None:
        return False
    return e.interval.low <= 1 <= e.interval.high
