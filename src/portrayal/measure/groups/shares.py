"""Shares of groups: of texts or people, of mentions, and over the baselines of the factor."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from portrayal.annotate.group_labels import STATUSES
from portrayal.measure.clustered import kept_sums, share_inference, sums_by
from portrayal.measure.groups.texts import TEXT, GroupTexts, Places, Seen, places_of
from portrayal.measure.scope import Scope
from portrayal.measure.stories.representation import binomial_null
from portrayal.records import ALL, Estimate, Null
from portrayal.reference.factors import FactorBaseline, ModelSource
from portrayal.registry import Component
from portrayal.types import FloatArray

SOURCE = "Shieh et al. 2025, Eq. 1 (share over baseline), for the groups of any factor"
NO_UNIT = {
    "text": "no text shows any group",
    "mention": "no group is mentioned",
    "person": "nobody's group is seen",
}


def _strata(seen: Seen, place: Places) -> dict[str, str]:
    return {**place.labels, "seen_by": seen.source.name}


def _each(texts: GroupTexts, unit: str) -> Iterator[tuple[Seen, Places]]:
    for seen in (each for each in texts.seen if each.unit == unit):
        for place in places_of(texts, seen.prompt, seen.model):
            yield seen, place


class _Sums:
    """The cells of one stratum by prompt."""

    def __init__(self, texts: GroupTexts, seen: Seen, place: Places) -> None:
        codes, self.code = np.unique(seen.prompt[place.inside], return_inverse=True)
        self.prompts = tuple(texts.prompts[code] for code in codes.tolist())
        self.inside = place.inside

    def __call__(self, values: FloatArray) -> FloatArray:
        return sums_by(self.code, len(self.prompts), values[self.inside])


def _yield_shares(
    measure: Component,
    seen: Seen,
    place: Places,
    scope: Scope,
    sums: _Sums,
    numbers: tuple[FloatArray, FloatArray, FloatArray | None],
) -> Iterator[Estimate]:
    """Yield a share for each group: its numbers per prompt over all, with what was left out."""
    numerator, total, squares = numbers
    whole = np.repeat(total, numerator.shape[1], axis=1)
    found = share_inference(numerator, whole, scope, squares=squares)
    kept = kept_sums(sums.prompts, (numerator, whole))
    n = float(total.sum())
    status, left_out = _left_out(seen, place)
    shown, mentions = seen.shown[place.inside].sum(0), seen.mentions[place.inside].sum(0)
    for i, key in enumerate(seen.factor.keys):
        reason = _unseen(n, i, key, seen, measure.unit)
        yield scope.estimate(
            measure,
            statistic="share",
            strata=_strata(seen, place),
            group={seen.factor.name: key},
            value=None if reason else float(found.value[i]),
            undefined=reason,
            interval=None if reason else found.interval(i, scope),
            n_texts=int(status.sum()) if seen.unit == TEXT else 0,
            n_units=n,
            n_clusters=int(found.n_clusters[i]),
            exclusions=left_out,
            details={
                "count": float(numerator[:, i].sum()),
                "shown": float(shown[i]),
                "mentions": float(mentions[i]),
                **({} if reason else found.effective(i)),
            },
            instruments={
                **_instruments(seen, scope),
                **({} if reason else found.missing(i, test=False)),
            },
            sums=None if reason else kept(i),
        )


def _instruments(seen: Seen, scope: Scope) -> dict[str, Any]:
    """What it was seen by: the labelling model only where that was asked."""
    asked = isinstance(seen.source, ModelSource)
    every = {n: v for n, v in scope.instruments.items() if asked or n != "factor_model"}
    return {**every, "factor": seen.factor.name}


def _left_out(seen: Seen, place: Places) -> tuple[FloatArray, dict[str, int]]:
    """Units by status, and those that have no share, by reason."""
    status = seen.status[place.inside].sum(0)
    reasons = dict(zip(STATUSES, status.tolist(), strict=True))
    unit = "text" if seen.unit == TEXT else "person"
    names = {
        "several": f"{unit} with several groups",
        "none": f"{unit} with no group",
        "unknown": f"{unit} whose group is not known",
        "unread": "refused, empty or failed",
    }
    apart = seen.source.several == "apart"
    wanted = [name for name in names if name != "several" or apart]
    left_out = {names[name]: reasons[name] for name in wanted if reasons[name]}
    for why, count in seen.unknown.items():
        if n := float(count[place.inside].sum()):
            left_out[names["unknown"]] -= n
            left_out[f"answer of the model: {why}"] = n
    return status, {why: round(n) for why, n in left_out.items() if round(n)}


def group_texts(texts: GroupTexts, scope: Scope) -> Iterator[Estimate]:
    """Yield the share of the texts that can be read in which a group is seen at all."""
    for seen, place in _each(texts, TEXT):
        sums = _Sums(texts, seen, place)
        readable = seen.status[:, :3].sum(1, keepdims=True)
        numbers = sums(seen.shown), sums(readable), None
        yield from _yield_shares(GROUP_TEXTS, seen, place, scope, sums, numbers)


def group_share(texts: GroupTexts, scope: Scope) -> Iterator[Estimate]:
    """Yield the share of a group among the texts whose group is seen."""
    yield from _of_decided(GROUP_SHARE, texts, scope)


def people_share(texts: GroupTexts, scope: Scope) -> Iterator[Estimate]:
    """Yield the share of a group among the people whose references or names tell of one."""
    yield from _of_decided(PEOPLE_SHARE, texts, scope)


def _of_decided(measure: Component, texts: GroupTexts, scope: Scope) -> Iterator[Estimate]:
    for seen, place in _each(texts, measure.unit):
        sums = _Sums(texts, seen, place)
        numbers = sums(seen.weight), sums(seen.decided[:, np.newaxis]), sums(seen.squares)
        yield from _yield_shares(measure, seen, place, scope, sums, numbers)


def group_mentions(texts: GroupTexts, scope: Scope) -> Iterator[Estimate]:
    """Yield the share of a group among all mentions of groups."""
    for seen, place in _each(texts, TEXT):
        sums = _Sums(texts, seen, place)
        mentions = sums(seen.mentions)
        numbers = mentions, mentions.sum(1, keepdims=True), None
        yield from _yield_shares(GROUP_MENTIONS, seen, place, scope, sums, numbers)


def group_ratio(texts: GroupTexts, scope: Scope) -> Iterator[Estimate]:
    """Yield the share of a group among texts over its share in each baseline of the factor."""
    yield from _over_baselines(GROUP_RATIO, texts, scope)


def people_ratio(texts: GroupTexts, scope: Scope) -> Iterator[Estimate]:
    """Yield the share of a group among people over its share in each baseline of the factor."""
    yield from _over_baselines(PEOPLE_RATIO, texts, scope)


def _over_baselines(measure: Component, texts: GroupTexts, scope: Scope) -> Iterator[Estimate]:
    for seen, place in _each(texts, measure.unit):
        for baseline in seen.factor.baselines:
            shares = _shares_there(baseline, place)
            if shares is not None:
                yield from _ratios(measure, texts, seen, place, (baseline, shares), scope)


def _shares_there(baseline: FactorBaseline, place: Places) -> Mapping[str, float] | None:
    """The baseline's shares for a stratum; None where it has none, or others were pooled."""
    if not baseline.stratum:
        return baseline.of()
    value = place.labels.get(baseline.stratum, ALL)
    return None if value == ALL else baseline.of(value)


def _ratios(
    measure: Component,
    texts: GroupTexts,
    seen: Seen,
    place: Places,
    against: tuple[FactorBaseline, Mapping[str, float]],
    scope: Scope,
) -> Iterator[Estimate]:
    baseline, shares = against
    sums = _Sums(texts, seen, place)
    starred = np.array([shares.get(key, 0.0) or np.nan for key in seen.factor.keys])
    expected = np.where(np.isnan(seen.population), 1.0, seen.population / starred)
    weight, decided = sums(seen.weight), sums(seen.decided[:, np.newaxis])
    whole = np.repeat(decided, weight.shape[1], axis=1)
    found = share_inference(
        weight, whole, scope, scale=starred, null=expected, squares=sums(seen.squares)
    )
    kept = kept_sums(sums.prompts, (weight, whole), scale=1.0 / starred)
    n = float(decided.sum())
    status, left_out = _left_out(seen, place)
    for i, key in enumerate(seen.factor.keys):
        common: dict[str, Any] = {
            "statistic": "ratio",
            "strata": {**_strata(seen, place), "population": baseline.name},
            "group": {seen.factor.name: key},
            "n_texts": int(status.sum()) if seen.unit == TEXT else 0,
            "n_units": n,
            "n_clusters": int(found.n_clusters[i]),
            "exclusions": left_out,
        }
        instruments = {
            **_instruments(seen, scope),
            "baseline": baseline.name,
            "baseline_source": f"{baseline.source}{f', {baseline.date}' * bool(baseline.date)}",
        }
        reason = _undefined(n, float(starred[i]), key, baseline, seen)
        if reason is not None:
            yield scope.estimate(
                measure, value=None, undefined=reason, instruments=instruments, **common
            )
            continue
        yield scope.estimate(
            measure,
            value=float(found.value[i]),
            interval=found.interval(i, scope),
            null=_null(seen, i, n, float(starred[i]), float(expected[i]), scope),
            tests=(found.test(i),),
            details={
                "share": float(weight[:, i].sum()) / n,
                "baseline": float(starred[i]),
                "count": float(weight[:, i].sum()),
                **({} if np.isnan(seen.population[i]) else {"r0": float(expected[i])}),
                **found.effective(i),
            },
            instruments={**instruments, **found.missing(i, test=True)},
            sums=kept(i),
            **common,
        )


def _null(
    seen: Seen, i: int, n: float, starred: float, expected: float, scope: Scope
) -> Null | None:
    """The baseline's share itself; of names, what names drawn at random from bearers would read."""
    if np.isnan(seen.population[i]):
        return binomial_null(n, starred, scope)
    nan = float("nan")
    drawn = "names drawn at random from the bearers of the name table"
    return Null(expected, nan, nan, scope.level, drawn)


def _undefined(
    n: float, starred: float, key: str, baseline: FactorBaseline, seen: Seen
) -> str | None:
    if seen.beside:
        return seen.beside
    if np.isnan(starred):
        return f"the baseline {baseline.name} gives no share for {key}"
    return _unseen(n, seen.factor.keys.index(key), key, seen, seen.unit)


def _unseen(n: float, i: int, key: str, seen: Seen, unit: str) -> str | None:
    """Why a group has no share; None where it has one."""
    if not seen.visible[i]:
        return f"{seen.source.name} of {seen.factor.name} list nothing of {key}"
    return None if n else NO_UNIT[unit]


def _component(run: Callable[..., Iterator[Estimate]], **words: Any) -> Component:
    stem = run.__name__
    return Component(
        name=f"{stem}.v1",
        reads="groups of each factor in texts (groups.v1); people, for names and references",
        source=SOURCE,
        run=run,
        **words,
    )


GROUP_TEXTS = _component(
    group_texts,
    summary="Which share of the texts shows a group at all.",
    unit="text",
    range="0 to 1; shares need not sum to 1, as texts may show several groups or none",
    undefined_when="no text could be read",
    equation="texts in which the group is seen / texts that could be read",
    title="Texts that show a group",
    changes=True,
    figure="dots",
    reading="Share of the texts in which the group is seen. Words are mentions, not identities.",
    findings=0,
)
GROUP_SHARE = _component(
    group_share,
    summary="Which share a group has among the texts whose group is seen.",
    unit="text",
    range="0 to 1; the shares of a factor sum to 1 where texts with several groups are split",
    undefined_when="no text shows any group, or the source lists nothing of this one",
    equation="Σ w / n over texts that show a group: w is 1, or 1/k where a text shows k groups",
    title="Share of texts",
    changes=True,
    figure="dots",
    reading="Share among the texts whose group is seen; the others are counted beside it.",
    findings=0,
)
PEOPLE_SHARE = _component(
    people_share,
    summary="Which share a group has among the people whose names or references tell of one.",
    unit="person",
    range="0 to 1",
    undefined_when="nobody's group is seen, or the source lists nothing of this one",
    equation="Σ w / n over people: w is 1 for the group of one's references, or the share of the "
    "group among those who bear one's name",
    title="Share of people",
    changes=True,
    figure="dots",
    reading="Share among the people of whom the source can tell; the others are counted. Shares "
    "of a name's bearers describe these bearers, never a person.",
    findings=0,
)
GROUP_MENTIONS = _component(
    group_mentions,
    summary="Which share a group has among all mentions of groups.",
    unit="mention",
    range="0 to 1; the shares of a factor sum to 1",
    undefined_when="no group is mentioned",
    equation="mentions of the group / mentions of all groups of the factor",
    title="Share of mentions",
    figure="table",
    reading="Share among all mentions; a text that mentions a group often counts as often.",
    findings=0,
)
GROUP_RATIO = _component(
    group_ratio,
    summary="How often texts show a group over its share in a population, for each baseline.",
    unit="text",
    range="0 to 1/p*; 1 is the baseline's share",
    undefined_when="no text shows any group, or the baseline gives no share for this one",
    equation="R = p(group) / p*(group)",
    title="Texts over a baseline",
    figure="dots",
    reading="Above 1: more often than in the population of the baseline that is named.",
    finding="{label} is shown {value} times as often as in {population} ({share} against "
    "{expected}){place}, {seen_by}",
    brief="texts over baseline",
)
PEOPLE_RATIO = _component(
    people_ratio,
    summary="How often people of a group occur over its share in a population, for each baseline.",
    unit="person",
    range="0 to 1/p*; 1 is the baseline's share, r0 what names drawn from all bearers would read",
    undefined_when="nobody's group is seen, or the baseline gives no share for this one",
    equation="R = p(group) / p*(group)",
    title="People over a baseline",
    figure="dots",
    reading="Above 1 (of names, above the null): more often than in the population that is named.",
    finding="{label} occurs {value} times as often as in {population} ({share} against "
    "{expected}){against}{place}, {seen_by}",
    brief="people over baseline",
)
