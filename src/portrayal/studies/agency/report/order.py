"""Order: which groups stand above which, as far as the texts can tell."""

from portrayal.records import ALL, Estimate
from portrayal.report.formats import listed, probability
from portrayal.report.view import SURE, View, q_of
from portrayal.studies.agency.report.series import Where, at, called, group_name, of, primary

CHANCE = 0.05
"""p of the variance from which chance alone explains the differences."""


def order_words(view: View, where: Where, masking: str = "") -> str:
    """Return which groups of a place can be ranked, one sentence for each set of groups."""
    masking = masking or primary(view)
    scores = at(of(view, "agency_variance", stratum=ALL, masking=masking), where)
    said = []
    for score in scores:
        name = score.group["attribute"]
        if name != "overall" and score.value is not None:
            said.append(_ranked(view, where, masking, name, score))
    return f"{called(where)}: {' '.join(said)}" if said else ""


def _ranked(view: View, where: Where, masking: str, name: str, score: Estimate) -> str:
    groups = _means(view, where, masking, name)
    ordered = sorted(groups, key=lambda key: -groups[key][0])
    if len(ordered) < 2:
        return ""
    if not score.tests:
        return f"{name}: ranking not resolved, as shuffled groups all give the same variance."
    p = score.tests[0].p
    q = q_of(score)
    if (p if q is None else q) >= CHANCE:
        return (
            f"{name}: ranking not resolved, as chance alone puts groups as far apart "
            f"(p {probability(p)}, q {probability(q)})."
        )
    told = _told_apart(view, where, masking)
    marks = [_apart(told, groups, ordered[i], ordered[i + 1]) for i in range(len(ordered) - 1)]
    if len(ordered) == 2:
        verdict = (
            "are more agentic than those about" if marks[0] else "cannot be told from those about"
        )
        return f"{name}: texts about {ordered[0]} people {verdict} {ordered[1]} people."
    if all(marks):
        return f"{name}: {' > '.join(ordered)}."
    ends = _ends(told, groups, ordered)
    return (
        f"{name}: groups differ (p {probability(p)}), ranking not resolved: "
        f"{_tied(ordered, marks)} cannot be told apart as neighbours{ends}."
    )


Groups = dict[str, tuple[float, frozenset[tuple[str, str]]]]
Told = set[frozenset[str]]


def _means(view: View, where: Where, masking: str, name: str) -> Groups:
    rows = at(of(view, "agency_share", stratum=ALL, masking=masking), where)
    return {
        group_name(e.group): (e.value, frozenset(e.group.items()))
        for e in rows
        if e.statistic == "ratio_gap"
        and e.value is not None
        and (len(e.group) > 1 if name == "intersectional" else list(e.group) == [name])
    }


def _told_apart(view: View, where: Where, masking: str) -> Told:
    """Pairs of groups whose interval leaves out 0 and whose q is below 0.05."""
    found: Told = set()
    for e in at(of(view, "agency_gap", stratum=ALL, masking=masking), where):
        q, bounds = q_of(e), e.interval
        if e.value is None or bounds is None or "beside" in e.group or q is None or q >= SURE:
            continue
        if not bounds.low <= 0.0 <= bounds.high:
            upper, _, lower = group_name(e.group).partition(" − ")
            found.add(frozenset((upper, lower)))
    return found


def _apart(told: Told, groups: Groups, one: str, two: str) -> bool:
    return one in groups and two in groups and frozenset((one, two)) in told


def _tied(ordered: list[str], marks: list[bool]) -> str:
    pairs = [f"{a} and {b}" for a, b, m in zip(ordered, ordered[1:], marks, strict=False) if not m]
    shown = pairs if len(pairs) <= 4 else [*pairs[:3], f"{len(pairs) - 3} other pairs"]
    return listed(shown)


def _ends(told: Told, groups: Groups, ordered: list[str]) -> str:
    """From how many groups the highest and the lowest can be told apart."""
    said = []
    for word, one in (("highest", ordered[0]), ("lowest", ordered[-1])):
        n = sum(_apart(told, groups, one, two) for two in ordered if two != one)
        said.append(f"{one} is {word}, told apart from {n} of {len(ordered) - 1}")
    return f"; {' and '.join(said)}"
