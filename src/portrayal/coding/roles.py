"""Roles: how often a name is cast in each role in a whole run, as in Tables 3 and 4."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from portrayal.coding.project import Project
from portrayal.collect.corpus import people_parts
from portrayal.measure import ROLES, Scope
from portrayal.measure.clustered import share_inference
from portrayal.records import ALL, Interval
from portrayal.run.directory import SETTINGS, Run


@dataclass(frozen=True, slots=True)
class RoleCount:
    """How many characters of a name a run has in one role.

    Attributes
    ----------
    n
        The count.
    interval
        Of the count, by resampling the prompts that could have cast somebody in this role; None
        where they are fewer than two.
    """

    n: int
    interval: Interval | None = None


RoleCounts = dict[str, RoleCount]
"""Counts by role: neutral, dominant, subordinate."""

_TOLD = """
    create temp table told as
    select p.prompt_id, a.subject_name as subject, a.object_name as object,
           coalesce(p.strata['condition'] = 'power-laden', false) as laden,
           coalesce(p.strata['domain'], $all) as domain
    from read_parquet($people) a
    join read_parquet($texts) t using (text_id)
    join read_parquet($prompts) p on p.prompt_id = t.prompt_id
    where t.outcome = 'ok' and a.error is null
"""
_CAST = """
    with cast_ as (
        select lower(subject) as name, domain, prompt_id,
               case when laden then 'dominant' else 'neutral' end as role from told
        union all
        select lower(object), domain, prompt_id,
               case when laden then 'subordinate' else 'neutral' end from told
    )
    select name, domain, prompt_id, role, count(*) as n from cast_
    where list_contains($names, name) group by all order by all
"""
_TEXTS = "select domain, prompt_id, laden, count(*) from told group by all order by all"


def run_of(project: Project) -> Run | None:
    """Return the run that a project lies in (RUN/coding/NAME); None where it lies in none."""
    folder = project.folder.resolve().parent.parent
    return Run(folder) if (folder / SETTINGS).is_file() else None


def role_counts(
    run: Run, names: Iterable[str], *, level: float = 0.95, seed: int = 0
) -> dict[tuple[str, str], RoleCounts]:
    """Return how many characters of each name a run has in each role, by (name, domain).

    Names are compared without regard to case, and given so; the domain "all" pools the domains.
    Characters of readable texts count, as in Table 3 of Shieh et al. (2025). Empty where the run's
    people were not annotated.

    Parameters
    ----------
    run
        The run.
    names
        First names.
    level, seed
        Confidence level, a fraction, and start of the random streams of the intervals.
    """
    people, texts = people_parts(run), run.texts.parts()
    wanted = sorted({name.casefold() for name in names if name})
    if not (people and texts and wanted):
        return {}
    import duckdb

    given = {
        "people": [str(path) for path in people],
        "texts": [str(path) for path in texts],
        "prompts": str(run.prompts_path),
        "all": ALL,
    }
    with duckdb.connect() as connection:
        connection.execute(_TOLD, given)
        cast = connection.execute(_CAST, {"names": wanted}).fetchall()
        told = connection.execute(_TEXTS).fetchall()
    scope = Scope("coding", level=level, seed=seed)
    found: dict[tuple[str, str], RoleCounts] = {}
    for domain in dict.fromkeys((ALL, *(row[0] for row in told))):
        inside = [row for row in told if domain in (ALL, row[0])]
        named = [row for row in cast if domain in (ALL, row[1])]
        known = wanted if domain == ALL else sorted({row[0] for row in named})
        found |= _of_domain(domain, known, named, inside, scope)
    return found


def _of_domain(
    domain: str,
    names: Sequence[str],
    cast: Sequence[tuple[str, str, str, str, int]],
    told: Sequence[tuple[str, str, bool, int]],
    scope: Scope,
) -> dict[tuple[str, str], RoleCounts]:
    """Counts of one domain: a share of the texts that have such a role, times their number."""
    columns = [(name, role) for name in names for role in ROLES]
    place = {prompt: i for i, prompt in enumerate(sorted({row[1] for row in told}))}
    counts, texts = np.zeros((len(place), len(columns))), np.zeros((len(place), len(columns)))
    at = {column: i for i, column in enumerate(columns)}
    for name, _, prompt, role, n in cast:
        counts[place[prompt], at[name, role]] += n
    for _, prompt, laden, n in told:
        texts[place[prompt]] += [n if laden != (role == "neutral") else 0 for _, role in columns]
    part = share_inference(counts, texts, np.ones(len(columns)), scope, scope.rng("roles", domain))
    found: dict[tuple[str, str], RoleCounts] = {}
    for i, (name, role) in enumerate(columns):
        bounds, total = part.interval(i, scope), float(texts[:, i].sum())
        if bounds is not None:
            bounds = replace(bounds, low=bounds.low * total, high=bounds.high * total)
        found.setdefault((name, domain), {})[role] = RoleCount(int(counts[:, i].sum()), bounds)
    return found
