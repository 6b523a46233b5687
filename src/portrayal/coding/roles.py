"""Roles: how often a name is cast in each role in a whole run, as in Tables 3 and 4."""

from collections.abc import Iterable

from portrayal.coding.corpus import people_parts
from portrayal.coding.project import Project
from portrayal.measure import ROLES
from portrayal.records import ALL
from portrayal.run.directory import SETTINGS, Run

RoleCounts = dict[str, int]
"""Texts by role: neutral, dominant, subordinate."""

_QUERY = """
    with told as (
        select a.subject_name as subject, a.object_name as object,
               coalesce(p.strata['condition'] = 'power-laden', false) as laden,
               coalesce(p.strata['domain'], $all) as domain
        from read_parquet($people) a
        join read_parquet($texts) t using (text_id)
        join read_parquet($prompts) p on p.prompt_id = t.prompt_id
        where t.outcome = 'ok' and a.error is null
    ), cast_ as (
        select lower(subject) as name, domain,
               case when laden then 'dominant' else 'neutral' end as role from told
        union all
        select lower(object), domain,
               case when laden then 'subordinate' else 'neutral' end from told
    )
    select name, domain, role, count(*) as n from cast_
    where list_contains($names, name) group by all order by all
"""


def run_of(project: Project) -> Run | None:
    """Return the run that a project lies in (RUN/coding/NAME); None where it lies in none."""
    folder = project.folder.resolve().parent.parent
    return Run(folder) if (folder / SETTINGS).is_file() else None


def role_counts(run: Run, names: Iterable[str]) -> dict[tuple[str, str], RoleCounts]:
    """Return how many characters of each name a run has in each role, by (name, domain).

    Names are compared without regard to case, and given so; the domain "all" pools the domains.
    Characters of readable texts count, as in Table 3 of Shieh et al. (2025). Empty where the run's
    people were not annotated.
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
        "names": wanted,
        "all": ALL,
    }
    found: dict[tuple[str, str], RoleCounts] = {}
    with duckdb.connect() as connection:
        for name, domain, role, n in connection.execute(_QUERY, given).fetchall():
            for place in {(name, domain), (name, ALL)}:
                counts = found.setdefault(place, dict.fromkeys(ROLES, 0))
                counts[role] += n
    for name in wanted:
        found.setdefault((name, ALL), dict.fromkeys(ROLES, 0))
    return found
