"""Assumptions: how alike texts of one prompt are, and how many people one text gives.

Measured on a finished run where there is one; else the defaults, which were measured on the 2,346
hand-labelled stories that accompany Shieh et al. (2025): five models, 47 prompts. They vary between
groups, domains and models: half of the ρ lie in 0.01–0.12 (race) and 0.09–0.35 (gender) for
representation, and in -0.02–0.20 and -0.01–0.51 for subordination.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from portrayal.errors import RunError
from portrayal.records import ALL, Prompt
from portrayal.reference import NameTable, baseline, mena_nhpi_table, name_table
from portrayal.stats import divide, log_share_influence
from portrayal.types import FloatArray

if TYPE_CHECKING:
    from portrayal.run.directory import Run

Kind = Literal["representation", "subordination", "means"]
Key = tuple[Kind, str]


@dataclass(frozen=True, slots=True)
class Assumption:
    """What planning takes for granted about one kind of statistic and one attribute.

    Attributes
    ----------
    icc
        Correlation ρ of two units of one prompt, at least 0.
    units_per_text
        Units that one text gives: characters of matched name or known gender, in one role.
    source
        Where the numbers are from.
    """

    icc: float
    units_per_text: float
    source: str


_GOLD = "2,346 hand-labelled stories of Shieh et al. (2025)"
DEFAULTS: Mapping[Key, Assumption] = {
    ("representation", "race"): Assumption(0.03, 1.0, _GOLD),
    ("representation", "gender"): Assumption(0.18, 1.0, _GOLD),
    ("subordination", "race"): Assumption(0.05, 0.96, _GOLD),
    ("subordination", "gender"): Assumption(0.27, 0.94, _GOLD),
    ("means", "score"): Assumption(0.27, 1.0, f"the largest of the shares in {_GOLD}"),
}

_FEWEST_UNITS, _FEWEST_PROMPTS, _SMALLEST_SHARE = 30, 4, 0.02


def assumptions_from(run: "Run") -> dict[Key, Assumption]:
    """Measure the assumptions on a finished run of stories; the defaults where it says nothing.

    Each number is the median over groups, domains and models that have at least 30 units in 4
    prompts and a share of 2 %.

    Raises
    ------
    RunError
        When `run` is not one, or has no complete annotations.
    """
    from portrayal.measure.stories.strata import group_features, prompt_sums, strata
    from portrayal.measure.stories.tally import DOMINANT, NEUTRAL, SUBORDINATE, tally_stories
    from portrayal.reference import RACES, race_likelihoods

    settings = type(run).open(run.path).settings()
    annotations = run.annotations(next(iter(settings.get("annotators", ())), ""))
    if not annotations.note().get("complete"):
        raise RunError(f"{run.path} has no complete annotations; finish its audit first.")
    primary, secondary = tables_of(run)
    tally = tally_stories(
        run,
        annotations,
        likelihoods=lambda names: race_likelihoods(names, primary, secondary),
        races=RACES,
        n_primary=sum(race in primary.races for race in RACES),
        # What the tally asks of a prompt: two roles make it a prompt of roles.
        facts=lambda at: {
            **{"domain": at.get("domain", ALL), "laden": "object_role" in at},
            **{"couple": False, "scenario": ""},
        },
    )
    people = tally.characters
    features = group_features(tally, people.name, people.gender, crossed=False)
    kinds: tuple[tuple[Kind, bool, tuple[int, ...]], ...] = (
        ("representation", False, (NEUTRAL,)),
        ("subordination", True, (SUBORDINATE, DOMINANT)),
    )
    found: dict[Key, list[tuple[float, float]]] = {}
    for kind, laden, roles in kinds:
        for stratum in strata(tally, laden=laden):
            if stratum.model == ALL:
                continue  # models differ from each other; a plan is about one
            sums = [
                [prompt_sums(people, stratum, role, v) for v in features.moments] for role in roles
            ]
            for i, group in enumerate(features.groups):
                alike = likeness([[s[:, i] for s in role] for role in sums])
                if alike is not None:
                    numbers = alike[0], alike[1] / max(stratum.n_texts, 1)
                    found.setdefault((kind, next(iter(group))), []).append(numbers)
    made = dict(DEFAULTS)
    for key, rows in found.items():
        icc, units = (float(x) for x in np.median(np.array(rows), axis=0))
        made[key] = Assumption(max(icc, 0.0), units, f"the run {run.path.name}")
    shares = [made[key].icc for key in made if key[0] != "means"]
    if found:
        source = f"the largest of the shares in the run {run.path.name}"
        made["means", "score"] = Assumption(max(shares), 1.0, source)
    return made


def tables_of(run: "Run | None") -> tuple[NameTable, NameTable]:
    """Return the name tables that count a run's people; the default ones without a run."""
    options = {} if run is None else type(run).open(run.path).settings().get("options", {})
    primary = options.get("name_table", "census-2020")
    return name_table(primary, min_count=options.get("min_count")), mena_nhpi_table()


def likeness(roles: Sequence[Sequence[FloatArray]]) -> tuple[float, float, float] | None:
    """Return how alike units of one prompt are (ρ), units per role, and units per prompt.

    ρ is what the design effect of the log share, or log ratio, comes to: the variance that differs
    between prompts (Binder 1983) over the variance with independent units. None for a group that is
    too rare or too common in too few prompts.

    Parameters
    ----------
    roles
        Of one role or two, sums by prompt of what a unit adds, of units, and of its square.
    """
    independent = 0.0
    influence = np.zeros(len(roles[0][0]))
    for sign, (numerator, units, squares) in zip((1.0, -1.0), roles, strict=False):
        n = units.sum()
        if n < _FEWEST_UNITS or (units > 0).sum() < _FEWEST_PROMPTS:
            return None
        share = numerator.sum() / n
        variance = squares.sum() / n - share**2
        if not _SMALLEST_SHARE <= share <= 1 - _SMALLEST_SHARE or variance <= 0:
            return None
        independent += variance / (n * share**2)
        influence += sign * log_share_influence(numerator, units)
    clusters = int((roles[0][1] > 0).sum())
    between = clusters / (clusters - 1) * float((influence**2).sum())
    per_role = float(np.mean([units.sum() for _, units, _ in roles]))
    size = per_role / clusters
    icc = float(divide(between / independent - 1.0, size - 1.0)) if size > 1 else 0.0
    return icc, per_role, size


def cells_of(prompts: Sequence[Prompt]) -> dict[tuple[str, bool], list[Prompt]]:
    """Return prompts by domain, and by whether they have two roles."""
    cells: dict[tuple[str, bool], list[Prompt]] = {}
    for prompt in prompts:
        key = prompt.strata.get("domain", ALL), "object_role" in prompt.strata
        cells.setdefault(key, []).append(prompt)
    return cells


def census_shares() -> dict[str, Mapping[str, float]]:
    """Return the shares of races and genders that are planned for by default."""
    return {"race": baseline().race, "gender": baseline().gender}
