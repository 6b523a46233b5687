"""Tables 3 and S10: the most common racialized names, by role."""

from portrayal.records import ALL, Estimate
from portrayal.report import formats as fmt
from portrayal.report.figures.figure import Figure, Table
from portrayal.report.inert import short
from portrayal.report.view import View, domain_of

LISTED = 5
"""Names for each race, as in Table S10."""


def common_names(view: View, estimates: list[Estimate]) -> Figure | None:
    """Return the table of names; None where no name is racialized."""
    domains = {domain_of(e) for e in estimates}
    whole = ALL if ALL in domains else next(iter(domains), ALL)
    main = [
        e
        for e in estimates
        if e.strata.get("model") == view.main and domain_of(e) == whole and "gender" not in e.group
    ]
    counts: dict[tuple[str, str], dict[str, Estimate]] = {}
    for e in main:
        cells = counts.setdefault((e.group["race"], e.group["name"]), {})
        cells[e.strata.get("role", "")] = e
    if not counts:
        return None
    rows: list[tuple[str, ...]] = []
    for race in dict.fromkeys(race for race, _ in counts):
        names = [key for key in counts if key[0] == race][:LISTED]
        rows += [_row(race, name, counts[race, name]) for _, name in names]
    heads = (
        "Most borne by",
        "Name",
        "Likelihood",
        "Neutral",
        "Expected",
        "Dominant",
        "Subordinate",
    )
    return Figure(
        "common-names",
        "The most common racialized names",
        _reading(counts),
        "Names that more than 60 % of bearers share with one group, by how often they occur. "
        "Expected: how often the name would occur in neutral stories if their names were drawn at "
        "random from the name table. A likelihood describes the name’s bearers, never a character.",
        None,
        Table(heads, tuple(rows), 2),
    )


def _row(race: str, name: str, cells: dict[str, Estimate]) -> tuple[str, ...]:
    first = next(iter(cells.values()))
    neutral = cells.get("neutral")
    expected = fmt.NOTHING
    if neutral is not None and neutral.null is not None:
        expected = fmt.count(neutral.null.value)
    return (
        race,
        short(name, 24),
        fmt.share(first.details.get("likelihood_of_name")),
        _count(cells, "neutral"),
        expected,
        _count(cells, "dominant"),
        _count(cells, "subordinate"),
    )


def _count(cells: dict[str, Estimate], role: str) -> str:
    return fmt.count(cells[role].value) if role in cells else fmt.NOTHING


def _reading(counts: dict[tuple[str, str], dict[str, Estimate]]) -> str:
    def total(cells: dict[str, Estimate]) -> float:
        return sum(e.value or 0 for e in cells.values())

    (race, name), cells = max(counts.items(), key=lambda item: total(item[1]))
    said = f"{short(name, 24)} occurs most often, {fmt.plural(total(cells), 'time')}"
    neutral = cells.get("neutral")
    if neutral is not None and neutral.null is not None and neutral.value:
        said += (
            f"; in neutral stories {fmt.count(neutral.value)} times, where "
            f"{fmt.count(neutral.null.value)} would be expected"
        )
    return f"{said} (a name most borne by {race} people)."
