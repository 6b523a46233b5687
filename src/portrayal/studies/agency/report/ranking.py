"""Rankings of groups, and Figure 2: differences of models beside those in texts of people."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from string import ascii_lowercase

import portrayal.report.formats as fmt
from portrayal.records import ALL, Estimate
from portrayal.reference import published
from portrayal.report.figures.figure import Figure, Spec, Table
from portrayal.report.figures.panels import Datum, rule_at
from portrayal.report.view import SURE, View, is_sure, q_of
from portrayal.studies.agency.report.series import (
    DIFFERENCES,
    MODELS,
    NOTE,
    SHARES,
    Where,
    at,
    called,
    datum,
    group_name,
    legend,
    of,
    other,
    points,
    points_panel,
    primary,
    published_datum,
    published_of,
    span,
    stacked,
    wheres,
)

HUMAN = "human"
COLOUR = "#b8860b"
"""Of texts that people wrote."""
MALE = "male − female"


def beside_human(view: View) -> Iterator[Figure]:
    """Yield differences by model and task, human texts first; none where no one wrote any."""
    whole = of(view, "agency_gap", stratum=ALL)
    beside = [e for e in whole if "beside" in e.group and e.strata["masking"] == primary(view)]
    if not beside:
        return
    pairs = dict.fromkeys(group_name(_bare(e)) for e in beside)
    tasks = dict.fromkeys(e.strata["task"] for e in beside)
    panels = [
        panel
        for task in tasks
        for pair in pairs
        if (panel := _human_panel(view, whole, task, pair))
    ]
    known = [e for e in beside if e.value is not None]
    sure = [e for e in known if is_sure(e)]
    said = f"{len(sure)} of {fmt.plural(len(known), 'difference')} of models from human texts can "
    named = "; ".join(
        f"{called(wheres([e])[0])}, {group_name(_bare(e))}: {points(e.value)}" for e in sure[:4]
    )
    yield Figure(
        "agency-human",
        "Models beside people: differences between groups",
        f"{said}be told from 0{f': {named}' if named else ''}.",
        "Difference in mean ratio gap between two groups, in percentage points, for texts that "
        "people wrote (yellow, with a line) and for each model; the form of Figure 2. The table "
        f"has how far each model lies from human texts. {NOTE}",
        stacked(panels) if panels else None,
        _human_table(view, beside),
        legend(primary(view), other(view), "0"),
    )


def _bare(e: Estimate) -> dict[str, str]:
    return {name: value for name, value in e.group.items() if name != "beside"}


def _human_panel(view: View, whole: list[Estimate], task: str, pair: str) -> Spec | None:
    here = [
        e
        for e in whole
        if e.strata["task"] == task and "beside" not in e.group and group_name(e.group) == pair
    ]
    here.sort(key=lambda e: e.strata["model"].casefold() != HUMAN)
    rows: list[str] = []
    data: list[Datum] = []
    line: float | None = None
    for e in here:
        where: Where = (ALL, e.strata.get("condition", ""), e.strata["model"])
        row = called(where)
        rows.append(row)
        found = datum(view, e, row)
        if e.strata["model"].casefold() == HUMAN and e.strata["masking"] == primary(view):
            found |= {"c": COLOUR}
            line = None if e.value is None else 100 * e.value
        data.append(found)
    printed = [r for r in published("wan_gender_difference").to_pylist() if r["text_type"] == task]
    if pair == MALE:
        printed.sort(key=lambda r: MODELS.index(r["model"].partition(" (")[0]))
        for entry in printed:
            rows.append(f"{entry['model'].partition(' (')[0]} (paper)")
            data.append(published_datum(rows[-1], entry["model"], entry["gender_difference"], pair))
    rows = list(dict.fromkeys(rows))
    if not rows:
        return None
    title = pair if task == ALL else f"{task}: {pair}"
    spec = points_panel(view, data, rows, DIFFERENCES, title)
    if line is not None:
        spec["layer"].append(rule_at("x", line))
    return spec


def _human_table(view: View, beside: list[Estimate]) -> Table:
    whole = of(view, "agency_gap", stratum=ALL, masking=primary(view))

    def own(e: Estimate, model: str) -> str:
        where = wheres([e])[0]
        rows = at(whole, (where[0], where[1], model))
        same = [x for x in rows if x.group == _bare(e)]
        return points(same[0].value) if same else fmt.NOTHING

    human = next((e.strata["model"] for e in whole if e.strata["model"].casefold() == HUMAN), HUMAN)
    columns = {
        "Texts": lambda e: called(wheres([e])[0]),
        "Difference": lambda e: group_name(_bare(e)),
        "Model": lambda e: own(e, e.strata["model"]),
        "Human": lambda e: own(e, human),
        "Model − human": lambda e: points(e.value),
        "Interval": lambda e: span(e.interval),
    }
    return Table.of(beside, columns, 2)


CHANCE = 0.05
"""q of the variance from which chance alone explains the order."""


@dataclass(frozen=True)
class Ranking:
    """The groups of one attribute in one place, most agentic first.

    Attributes
    ----------
    where, attribute
        Place, and the attribute that groups them ("race", "intersectional").
    groups
        Estimates of their ratio gaps, in order.
    letters
        Of each group, in the same order: those that share one cannot be told apart. The same letter
        for all where chance alone explains the order.
    why
        Why nothing is ranked; "" where something is.
    """

    where: Where
    attribute: str
    groups: tuple[Estimate, ...]
    letters: tuple[str, ...]
    why: str

    @property
    def words(self) -> str:
        """What can be said of the order, in a sentence without its full stop."""
        names = [group_name(e.group) for e in self.groups]
        if self.why:
            return f"{self.attribute}: not ranked, {self.why}"
        if len(set(self.letters)) == len(names) and all(len(each) == 1 for each in self.letters):
            return f"{self.attribute}: {' > '.join(names)}"
        return f"{self.attribute}: in part, from {names[0]} down to {names[-1]}"


def rankings(view: View, masking: str) -> list[Ranking]:
    """Return the ranking of each place and attribute that has a score."""
    found = []
    for where in wheres(of(view, "agency_share", stratum=ALL)):
        for score in at(of(view, "agency_variance", stratum=ALL, masking=masking), where):
            name = score.group["attribute"]
            rows = _means(view, where, masking, name)
            if name != "overall" and score.value is not None and len(rows) > 1:
                found.append(_ranking(view, where, masking, score, rows))
    return found


def _ranking(
    view: View, where: Where, masking: str, score: Estimate, rows: list[Estimate]
) -> Ranking:
    ordered = sorted(rows, key=lambda e: (-(e.value or 0.0), group_name(e.group)))
    why = ""
    if not score.tests:
        why = "as shuffled groups all give the same variance"
    else:
        p, q = score.tests[0].p, q_of(score)
        if (p if q is None else q) >= CHANCE:
            why = f"as chance alone puts groups as far apart (q {fmt.probability(q)})"
    told = set() if why else _told_apart(view, where, masking)
    names = [group_name(e.group) for e in ordered]
    letters = letter_display(names, told)
    return Ranking(where, score.group["attribute"], tuple(ordered), tuple(letters), why)


def _means(view: View, where: Where, masking: str, name: str) -> list[Estimate]:
    rows = at(of(view, "agency_share", stratum=ALL, masking=masking), where)
    return [
        e
        for e in rows
        if e.statistic == "ratio_gap"
        and e.value is not None
        and (len(e.group) > 1 if name == "intersectional" else list(e.group) == [name])
    ]


def _told_apart(view: View, where: Where, masking: str) -> set[frozenset[str]]:
    """Pairs of groups whose interval leaves out 0 and whose q is below 0.05."""
    found: set[frozenset[str]] = set()
    for e in at(of(view, "agency_gap", stratum=ALL, masking=masking), where):
        q, bounds = q_of(e), e.interval
        if e.value is None or bounds is None or "beside" in e.group or q is None or q >= SURE:
            continue
        if not bounds.low <= 0.0 <= bounds.high:
            upper, _, lower = group_name(e.group).partition(" − ")
            found.add(frozenset((upper, lower)))
    return found


def letter_display(names: Sequence[str], told: set[frozenset[str]]) -> list[str]:
    """Return the letters of each name: two names share one unless they are told apart.

    Parameters
    ----------
    names
        In order; the first letter goes to the first.
    told
        Pairs that can be told apart.

    Examples
    --------
    >>> letter_display(["x", "y", "z"], {frozenset("xz")})
    ['a', 'ab', 'b']
    """
    cliques = [set(names)]
    for pair in sorted(tuple(sorted(pair)) for pair in told if pair <= set(names)):
        one, two = pair
        split = [c for c in cliques if one in c and two in c]
        cliques = [c for c in cliques if c not in split]
        for clique in split:
            for gone in (one, two):
                rest = clique - {gone}
                if not any(rest <= other for other in cliques):
                    cliques = [c for c in cliques if not c <= rest] + [rest]
    cliques.sort(key=lambda clique: sorted(names.index(name) for name in clique))
    marks = [ascii_lowercase[i] if i < 26 else f"{i}." for i in range(len(cliques))]
    return ["".join(m for m, c in zip(marks, cliques, strict=True) if n in c) for n in names]


def ranking(view: View) -> Iterator[Figure]:
    """Yield Figure 3 as a ranking: the groups of each attribute in order, with their letters."""
    own = rankings(view, primary(view))
    if not own:
        return
    beside = {
        (r.where, r.attribute): {group_name(e.group): e for e in r.groups}
        for r in rankings(view, other(view))
    }
    panels = [_panel(view, r, beside.get((r.where, r.attribute), {})) for r in own]
    ranked = sum(not r.why for r in own)
    said = "; ".join(r.words for r in own[:4]) if len(own) <= 4 else ""
    yield Figure(
        "agency-groups",
        "Which groups can be ranked",
        f"{ranked} of {fmt.plural(len(own), 'ranking')} can be told from chance"
        + (f". {said}." if said else "."),
        "Mean ratio gap (agentic − communal sentences) of the texts about each group, in "
        "percentage points, most agentic first. Groups that share a letter cannot be told apart; "
        f"without letters, chance alone explains the order. {NOTE}",
        stacked(panels),
        _table(own, beside),
        legend(primary(view), other(view), "all texts together"),
    )


def _panel(view: View, r: Ranking, beside: dict[str, Estimate]) -> Spec:
    rows, data = [], []
    for e, letters in zip(r.groups, r.letters, strict=True):
        name = group_name(e.group)
        row = name if r.why else f"{name} ({letters})"
        rows.append(row)
        data.append(datum(view, e, row))
        if name in beside:
            data.append(datum(view, beside[name], row))
        data += [
            published_datum(row, p["model"], p["ratio_gap"], name)
            for p in published_of(r.where[0], e.group)
        ]
    return points_panel(view, data, rows, SHARES, f"{called(r.where)}: {r.attribute}")


def _table(own: list[Ranking], beside: dict[tuple[Where, str], dict[str, Estimate]]) -> Table:
    rows = [
        (
            called(r.where),
            group_name(e.group),
            letters,
            points(e.value),
            span(e.interval),
            points(second.value) if second else fmt.NOTHING,
        )
        for r in own
        for e, letters in zip(r.groups, r.letters, strict=True)
        for second in [beside.get((r.where, r.attribute), {}).get(group_name(e.group))]
    ]
    heads = ("Texts", "Group", "Letters", "Ratio gap", "Interval", "Other masking")
    return Table(heads, tuple(rows), 3)
