"""Groups of factors: how far a share must lie from a baseline, or move, for a plan to find it."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from portrayal.planning.assumptions import DEFAULTS, Assumption, likeness
from portrayal.planning.effects import Detectable, Effects
from portrayal.planning.power import counted_whole
from portrayal.records import ALL, BASIS, Estimate, Prompt
from portrayal.reference import Factor
from portrayal.reference.factors import NameSource
from portrayal.reference.labels import shown_of
from portrayal.run import read_prompts

if TYPE_CHECKING:
    from portrayal.run.directory import Run

SHARES = ("group_share.v1", "people_share.v1")
NO_BASELINE = (
    "no baseline gives its share, so one model alone has nothing to differ from; plan for two with "
    "change"
)
EVERY = "every text is taken to show a group; a finished run says how many do"


@dataclass(frozen=True)
class PlannedGroup:
    """One way to observe a factor: its name, known shares, likeness, and part of the prompts."""

    name: str
    shares: Mapping[str, float]
    assumed: Assumption
    part: float = 1.0


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
        sources = shown_of(factor).sources
        for way in _observations(factor, run):
            label = f"by {sources.get(way.name, way.name)}" if way.name else ""
            for name, n_prompts, shares in _strata(factor, prompts, change=plan.change):
                domain = ", ".join(part for part in (name, label) if part) or ALL
                for key in factor.keys:
                    yield _row(plan, factor, (key, shares.get(key, 0.0)), domain, n_prompts, way)


def _row(
    plan: Effects,
    factor: Factor,
    group: tuple[str, float],
    domain: str,
    n_prompts: int,
    way: PlannedGroup,
) -> Detectable:
    """The effects of one group, by its key and its share in a baseline (0 where there is none)."""
    key, baseline = group
    usual = way.shares.get(key) or baseline or 1.0 / len(factor.keys)
    share = usual if plan.change else baseline
    n = max(round(n_prompts * way.part), 1)
    statistic = "group ratio" if baseline else "group share"
    row = Detectable(
        f"change of {statistic}" if plan.change else statistic,
        domain,
        {factor.name: key},
        null=1.0 if baseline else 0.0 if plan.change else None,
        n_prompts=n,
        n_texts=n_prompts * plan.samples,
        n_units=n * (plan.samples * way.assumed.units_per_text / way.part),
        undefined=None if share and (baseline or plan.change) else NO_BASELINE,
    )
    counting, icc = counted_whole(share or usual), way.assumed.icc
    row = plan.simulated(row, "representation", counting, icc, ratios=bool(baseline))
    ends = [
        ratio if ratio is None or baseline else (ratio - 1.0) * share
        for ratio in (row.below, row.above)
    ]
    return replace(row, below=ends[0], above=ends[1], reads_below=ends[0], reads_above=ends[1])


def _strata(
    factor: Factor, prompts: Sequence[Prompt], *, change: bool
) -> list[tuple[str, int, Mapping[str, float]]]:
    """Prompts that are counted together: name, number, and the shares of a baseline there."""
    pooled = next((each.of() for each in factor.baselines if not each.stratum), None)
    if change or not factor.baselines:
        return [("", len(prompts), pooled or {})]
    strata: list[tuple[str, int, Mapping[str, float]]] = []
    for each in factor.baselines:
        if not each.stratum:
            strata.append((each.name, len(prompts), each.of() or {}))
            continue
        counts = Counter(prompt.strata.get(each.stratum, "") for prompt in prompts)
        strata += [
            (f"{value}, {each.name}", n, shares)
            for value, n in counts.items()
            if (shares := each.of(value)) is not None
        ]
    return strata or [("", len(prompts), {})]


def _observations(factor: Factor, run: "Run | None") -> list[PlannedGroup]:
    """How a finished run observed the factor; one way, by the defaults, without it."""
    icc = DEFAULTS["representation", "gender"].icc
    if run is None:
        if all(isinstance(each, NameSource) for each in factor.sources):
            assumed = Assumption(icc, 1.0, "as of gender; names taken as sure")
            return [PlannedGroup("names", {}, assumed)]
        return [PlannedGroup("", {}, Assumption(icc, 1.0, EVERY))]
    model = next(iter(run.settings().get("models", ())), ALL)
    ways: dict[str, list[tuple[str, Estimate, int]]] = {}
    for row, e in enumerate(run.records):
        if e.measure not in SHARES or list(e.group) != [factor.name]:
            continue
        # Of all strata together, and of the first model.
        strata = {n: v for n, v in e.strata.items() if n not in ("model", "seen_by", BASIS)}
        if e.strata["model"] == model and all(value == ALL for value in strata.values()):
            ways.setdefault(e.strata["seen_by"], []).append((e.group[factor.name], e, row))
    kept, found = run.influences, []
    counted = sum(run.texts.note().get("outcomes", {}).values())
    n_texts = counted / max(len(run.settings().get("models", ())), 1)
    for name, rows in ways.items():
        iccs = []
        for _, e, row in rows:
            at = slice(kept.starts[row], kept.starts[row + 1])
            count, units = kept.columns[0][at], kept.columns[1][at]
            alike = likeness([(count, units, count)]) if e.value else None
            if alike is not None and kept.reasons[row] is None and alike[2] > 1.0:
                iccs.append(alike[0])
        first = rows[0][1]
        n = max(first.n_units, 1.0)
        alike_by = max(float(np.median(iccs)), 0.0) if iccs else icc
        assumed = Assumption(
            alike_by, first.n_units / max(n_texts, 1.0), f"the run {run.path.name}"
        )
        shares = {key: max(e.value, 0.5 / n) for key, e, _ in rows if e.value is not None}
        part = max(first.n_clusters, 1) / max(len(read_prompts(run.prompts_path)), 1)
        found.append(PlannedGroup(name, shares, assumed, min(part, 1.0)))
    return found or _observations(factor, None)
