"""Order of prompt forms: whether it is another one at equal length, as far as that can be told."""

from portrayal.records import ALL, Estimate
from portrayal.report import formats as fmt
from portrayal.report.figures.paired.forms import MINUS, resolved
from portrayal.report.figures.paired.series import LEVEL_TITLES, lexicons, of
from portrayal.report.inert import short
from portrayal.report.view import View, q_of

SAME = "same headlines"
SHOWN = 0.0005
"""Differences below this are shown as 0.000, and change no order."""
Turn = tuple[Estimate, Estimate]


def turned(view: View) -> str:
    """Return a sentence on forms that change places at equal length; "" where none does.

    The differences between forms are read, on the same headlines where they are known. The order is
    said to reverse only where the difference can be told from 0 at full and at equal length.
    """
    found = sorted(_turns(view), key=lambda turn: -_sure(turn))
    if not found:
        return ""
    said = f" {_said(view, *found[0])}"
    if len(found) > 1:
        sure = sum(_sure(turn) == 2 for turn in found[1:])
        said += (
            f" The sign changes in {fmt.plural(len(found) - 1, 'other comparison')} of forms; "
            f"{sure or 'none'} of these can be told from 0 at both lengths."
        )
    return said


def _turns(view: View) -> list[Turn]:
    """Differences in distance at full and at equal length whose signs differ."""
    first = lexicons(view)
    own = [
        e
        for e in of(view, "prompt_effect")
        if e.value is not None
        and e.strata.get("of") == "paired_distance"
        and e.strata.get("lexicon") == first.get(e.strata.get("attribute", ""))
        and all(e.strata.get(name, ALL) == ALL for name in ("domain", "source"))
    ]
    own = [e for e in own if e.strata.get("matched") == SAME] or own
    names = ("level", "attribute", "model", "contrast", "matched")
    known = {(*(e.strata.get(n) for n in names), e.strata.get("length")): e for e in own}
    pairs = [
        (e, known[*key[:-1], "equal"])
        for key, e in known.items()
        if key[-1] == "full" and (*key[:-1], "equal") in known
    ]
    return [
        (full, equal)
        for full, equal in pairs
        if (full.value or 0) * (equal.value or 0) < 0
        and min(abs(full.value or 0), abs(equal.value or 0)) >= SHOWN
    ]


def _sure(turn: Turn) -> int:
    return sum(resolved(e) for e in turn)


def _said(view: View, full: Estimate, equal: Estimate) -> str:
    form, _, base = (short(part, 28) for part in full.strata["contrast"].partition(MINUS))
    level = full.strata["level"]
    place = f"{LEVEL_TITLES.get(level, level)}, {full.strata['attribute']}"
    who = (
        f", {short(view.called(full.strata.get('model', '')), 28)}" if len(view.models) > 1 else ""
    )
    return (
        f"{place}{who}: texts of the form “{form}” stand {_way(view, full)} than those of “{base}” "
        f"at full length, and {_way(view, equal)} at equal length: {_verdict(full, equal)}."
    )


def _way(view: View, e: Estimate) -> str:
    way = "closer to" if (e.value or 0) < 0 else "further from"
    q = q_of(e)
    tail = "" if q is None else f", q {'' if q < 0.001 else '= '}{fmt.probability(q)}"
    return (
        f"{fmt.distance(abs(e.value or 0))} {way} their originals (difference with "
        f"{fmt.level(view.level)} interval {fmt.interval(e.interval, e.statistic)}{tail})"
    )


def _verdict(full: Estimate, equal: Estimate) -> str:
    number = fmt.plural(equal.n_clusters, "headline")
    if resolved(full) and resolved(equal):
        return "the order of the two reverses"
    if resolved(equal):
        return "only the second can be told from 0, so it is not said that the order reverses"
    return f"not resolved with {number}, so it is not said that the order reverses"
