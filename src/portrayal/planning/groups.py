"""Groups of factors: how far a share must lie from a baseline, or move, for a plan to find it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isnan, nan
from typing import TYPE_CHECKING

import numpy as np

from portrayal.planning.assumptions import DEFAULTS, Assumption
from portrayal.planning.effects import (
    ONE_PROMPT,
    OUT_OF_REACH,
    Detectable,
    Effects,
    both_sides,
    design_effect,
)
from portrayal.planning.power import Design, counted_whole
from portrayal.records import ALL, Estimate, Prompt
from portrayal.reference import Factor
from portrayal.reference.factors import NameSource
from portrayal.reference.labels import shown_of
from portrayal.run import read_prompts
from portrayal.stats import divide, fewest_prompts, log_share_influence, no_test_reason
from portrayal.types import FloatArray

if TYPE_CHECKING:
    from portrayal.run.directory import Run

SHARES = ("group_share.v1", "people_share.v1")
NO_BASELINE = (
    "no baseline gives its share, so one model alone has nothing to differ from; plan for two with "
    "change"
)
EVERY = "every text is taken to show a group; a finished run says how many do"


@dataclass(frozen=True)
class _Seen:
    """One way of seeing a factor: its name, known shares, likeness, and part of the prompts."""

    name: str
    shares: Mapping[str, float]
    assumed: Assumption
    part: float = 1.0


@dataclass(frozen=True)
class _Place:
    """Prompts that are counted together, and the shares of a baseline there."""

    name: str
    n_prompts: int
    shares: Mapping[str, float]


def group_effects(
    prompts: Sequence[Prompt], factors: Sequence[Factor], plan: Effects, run: "Run | None"
) -> Iterator[Detectable]:
    """Yield the smallest differences of the groups of each factor that are found.

    Of one model: the ratio of a group's share to its share in each baseline. Of two models
    (`plan.change`): the ratio of their shares where a baseline gives the group's share, else the
    difference.

    Parameters
    ----------
    prompts, factors
        What is asked, and by what texts are grouped.
    plan
        The settings of the plan.
    run
        A finished run with these factors, which says how many texts show a group, how alike texts
        of one prompt are, and which shares groups without a baseline have; else every text is taken
        to show a group, texts to be as alike as for gender, and such groups to be equally frequent.
    """
    for factor in factors:
        ways, sources = _ways(factor, run), shown_of(factor).sources
        for seen in ways:
            label = f"by {sources.get(seen.name, seen.name)}" if seen.name else ""
            for place in _places(factor, prompts, change=plan.change):
                for key in factor.keys:
                    yield _row(factor, key, label, seen, place, plan)


def _places(factor: Factor, prompts: Sequence[Prompt], *, change: bool) -> list[_Place]:
    whole = next((each.of() for each in factor.baselines if not each.stratum), None)
    if change or not factor.baselines:
        return [_Place(ALL, len(prompts), whole or {})]
    places = []
    for each in factor.baselines:
        if not each.stratum:
            places.append(_Place(each.name, len(prompts), each.of() or {}))
            continue
        counts: dict[str, int] = {}
        for prompt in prompts:
            value = prompt.strata.get(each.stratum, "")
            counts[value] = counts.get(value, 0) + 1
        places += [
            _Place(f"{value}, {each.name}", n, shares)
            for value, n in counts.items()
            if (shares := each.of(value)) is not None
        ]
    return places or [_Place(ALL, len(prompts), {})]


def _row(
    factor: Factor, key: str, label: str, seen: _Seen, place: _Place, plan: Effects
) -> Detectable:
    starred = place.shares.get(key, 0.0)
    ratio = bool(starred)
    usual = seen.shares.get(key) or starred or 1.0 / len(factor.keys)
    share = usual if plan.change else starred
    one = seen.assumed
    n = max(round(place.n_prompts * seen.part), 1)
    units = plan.samples * one.units_per_text / seen.part
    reason = None if share and (ratio or plan.change) else NO_BASELINE
    reason = reason or _too_few(n, plan)
    below = above = nan
    if reason is None:
        design = Design(n, max(round(units), 1), one.icc, plan.level, plan.replicates)
        counting = counted_whole(share)
        below, above = both_sides(
            "representation", counting, design, plan.power, plan.change, ratio
        )
        reason = OUT_OF_REACH if isnan(below) and isnan(above) else None
    null: float | None = 1.0
    if not ratio:
        below, above = (below - 1.0) * share, (above - 1.0) * share
        null = 0.0 if plan.change else None
    statistic = "group ratio" if ratio else "group share"
    place_words = [label] if place.name == ALL else [place.name, *([label] if label else [])]
    return Detectable(
        f"change of {statistic}" if plan.change else statistic,
        ", ".join(part for part in place_words if part) or ALL,
        {factor.name: key},
        *(_known(below), _known(above), _known(below), _known(above)),
        null,
        n,
        place.n_prompts * plan.samples,
        n * units,
        design_effect(n * units, n, one.icc),
        reason,
    )


def _too_few(n_prompts: int, plan: Effects) -> str | None:
    if n_prompts < 2:
        return ONE_PROMPT
    if plan.change and n_prompts < fewest_prompts(plan.level):
        return f"no change is found: {no_test_reason(n_prompts, plan.level)}"
    return None


def _ways(factor: Factor, run: "Run | None") -> list[_Seen]:
    """How a finished run saw the factor; one way, by the defaults, without it."""
    if run is None:
        icc = DEFAULTS["representation", "gender"].icc
        if all(isinstance(each, NameSource) for each in factor.sources):
            return [_Seen("names", {}, Assumption(icc, 1.0, "as of gender; names taken as sure"))]
        return [_Seen("", {}, Assumption(icc, 1.0, EVERY))]
    found: dict[str, list[tuple[str, Estimate, int]]] = {}
    for row, e in enumerate(run.records):
        if e.measure in SHARES and list(e.group) == [factor.name] and _is_whole(e, run):
            found.setdefault(e.strata["seen_by"], []).append((e.group[factor.name], e, row))
    return [_measured(name, rows, run) for name, rows in found.items()] or _ways(factor, None)


def _is_whole(e: Estimate, run: "Run") -> bool:
    """Whether an estimate is of all strata, and of the first model."""
    strata = {n: v for n, v in e.strata.items() if n not in ("model", "seen_by")}
    return all(value == ALL for value in strata.values()) and e.strata["model"] == next(
        iter(run.settings().get("models", ())), ALL
    )


def _measured(name: str, rows: list[tuple[str, Estimate, int]], run: "Run") -> _Seen:
    """Shares of a run, and the median likeness of its texts of one prompt."""
    kept, iccs = run.influences, []
    for _, e, row in rows:
        at = slice(kept.starts[row], kept.starts[row + 1])
        if e.value and kept.reasons[row] is None:
            iccs.append(_icc(kept.columns[0][at], kept.columns[1][at]))
    known = [icc for icc in iccs if not isnan(icc)]
    icc = max(float(np.median(known)), 0.0) if known else DEFAULTS["representation", "gender"].icc
    n_texts = sum(run.texts.note().get("outcomes", {}).values()) / max(
        len(run.settings().get("models", ())), 1
    )
    units = rows[0][1].n_units / max(n_texts, 1.0)
    n = max(rows[0][1].n_units, 1.0)
    shares = {key: max(e.value, 0.5 / n) for key, e, _ in rows if e.value is not None}
    n_prompts = len(read_prompts(run.prompts_path))
    part = max(rows[0][1].n_clusters, 1) / max(n_prompts, 1)
    return _Seen(name, shares, Assumption(icc, units, f"the run {run.path.name}"), min(part, 1.0))


def _icc(count: FloatArray, units: FloatArray) -> float:
    """Likeness ρ from counts of 0 and 1 by prompt; NaN where there are too few of them.

    What the design effect of the logarithm of the share comes to (Binder 1983), as in
    `assumptions`.
    """
    n, clusters = float(units.sum()), int((units > 0).sum())
    share = float(count.sum()) / n if n else 0.0
    size = n / max(clusters, 1)
    if not 0.02 <= share <= 0.98 or clusters < 4 or n < 30 or size <= 1.0:
        return nan
    influence = log_share_influence(count, units)
    between = clusters / (clusters - 1) * float((influence**2).sum())
    independent = (1.0 - share) / (n * share)
    return float(divide(between / independent - 1.0, size - 1.0))


def _known(value: float) -> float | None:
    return None if isnan(value) else value
