"""Agency: the head of an agency report in plain words, and what it rests on."""

from collections import Counter
from dataclasses import dataclass, replace

import portrayal.report.formats as fmt
from portrayal.measure.agency.estimates import BY
from portrayal.records import (
    ALL,
    ERROR_HIGH,
    ERROR_LOW,
    UNITS,
    Estimate,
    Interval,
    Null,
)
from portrayal.reference.labels import people_words
from portrayal.report.figures.figure import Table
from portrayal.report.figures.generic import glance
from portrayal.report.figures.panels import LINE, Axis
from portrayal.report.findings import q_words, units_of
from portrayal.report.first import read_line
from portrayal.report.formats import points, short
from portrayal.report.sentences import short_share
from portrayal.report.strength import (
    SOME,
    STRONG,
    UNCLEAR,
    FirstScreen,
    Stated,
    clusters_of,
    strength_of,
)
from portrayal.report.study import Fact, words_of
from portrayal.report.view import SURE, View, beyond_chance, is_sure, q_of, reader_could
from portrayal.studies.agency.report.series import (
    FIGURES,
    MASKED,
    Where,
    at,
    beside_pairs,
    called,
    group_name,
    of,
    other,
    primary,
    span,
    variance,
    wheres,
)

MOST = 5
_ALIKE = 0.005
"""Difference of two gaps up to which one of all texts and one within prompts read alike."""
MOST_REASONS = 3


@dataclass(frozen=True)
class Head:
    """What stands behind the findings: what masking changes, and what was left out."""

    masking: Table
    limits: str


def agency_first(view: View) -> FirstScreen:
    """Return the first screen of an agency report: the differences that can be told from 0."""
    places = wheres(of(view, "agency_share", stratum=ALL))
    candidates = [finding for place in places for finding in _differences(view, place)]
    candidates += [finding for place in places for finding in _from_people(view, place)]
    # Variances come last: they are said only where no difference is.
    candidates += [finding for place in places for finding in _variances(view, place, candidates)]
    findings = sorted(
        (e for e in candidates if e.clear), key=lambda e: (e.strength != STRONG, -_size(e))
    )
    near = sorted(
        (e for e in candidates if e.strength == UNCLEAR), key=lambda candidate: candidate.p
    )
    folded_findings = [replace(e, folded=rank >= MOST) for rank, e in enumerate(findings)]
    charted = [e for e in (*findings[:MOST], *near) if e.first.measure.startswith("agency_gap")]
    chart = glance(
        view, charted, _row, Axis("percentage points", line=0.0, zero=True, form="points")
    )
    cannot = (
        *_contradicted(view),
        *_level(view),
        _limits(view),
        "Agentic is not better than communal: the audit asks whether groups are described alike.",
    )
    return FirstScreen(read_line(view), tuple(folded_findings), "", cannot, chart)


def _contradicted(view: View) -> list[str]:
    """Differences that chance does not explain, and that another reading has the other way."""
    gaps = _every(view)
    beyond = [e for e in gaps if beyond_chance(e)]
    in_doubt = [e for e in beyond if reader_could(e)]
    # A run without other readings cannot be contradicted.
    if not any(BY in name for e in gaps for name in e.details):
        return []
    if not beyond:
        turned = sum(map(reader_could, gaps))
        return [
            f"Another reading of the same sentences has {turned} of "
            f"{fmt.plural(len(gaps), 'difference')} the other way round; none is beyond chance."
        ]
    if not in_doubt:
        return [
            f"Of {fmt.plural(len(beyond), 'difference')} beyond chance, no other reading of the "
            "same sentences has any the other way round."
        ]
    names = fmt.listed([f"{group_name(e.group)} ({points(e.value)}{_other(e)})" for e in in_doubt])
    verb = "is" if len(in_doubt) == 1 else "are"
    return [
        f"{len(in_doubt)} of {fmt.plural(len(beyond), 'difference')} beyond chance {verb} not "
        f"stated, as another reading of the same sentences has {'it' if verb == 'is' else 'them'} "
        f"the other way round: {names}."
    ]


def _other(e: Estimate, turned: bool = False) -> str:
    """What other readings of the same sentences give, in words."""
    called = words_of(__package__)["readings"]
    sign = -1.0 if turned else 1.0
    readings = {k.removeprefix(BY): sign * x for k, x in e.details.items() if k.startswith(BY)}
    return "".join(f"; {called.get(name, name)} {points(x)}" for name, x in readings.items())


def _level(view: View) -> list[str]:
    """The level that each classifier which ships gives on LABE's own texts."""
    # The level hangs on the classifier: it is shown for each that ships, and is no finding.
    levels_by_name = dict(words_of(__package__)["levels"])
    sentence = levels_by_name.pop("said")
    level_words = [
        f"{' and '.join(points(x / 100.0) for x in levels[primary(view)])} by {name}"
        for name, levels in levels_by_name.items()
        if primary(view) in levels
    ]
    return [sentence.format(masking=primary(view), levels=fmt.listed(level_words))]


def doubt(view: View) -> str:
    """Return what the classifier decides, in a line for the terminal."""
    return " ".join([*_contradicted(view), *_level(view)])


def _size(finding: Stated) -> float:
    return abs(finding.first.value or 0.0) if finding.first.statistic == "difference" else 0.0


def _row(e: Estimate) -> str:
    return f"{group_name(e.group)}{LINE}{called(wheres([e])[0])}"


def agency_head(view: View) -> Head:
    """Return what stands behind the first screen of an agency report."""
    gaps = [e for e in of(view, "agency_gap", stratum=ALL) if e.value is not None]
    # Differences of one attribute with sentences masked and as they stand.
    pairs = beside_pairs(view, [e for e in gaps if len(e.group) == 1], MASKED)
    return Head(FIGURES.table("masking", view, pairs), _details(view))


def _variances(view: View, place: Where, differences: list[Stated]) -> list[Stated]:
    """The score of a place, overall or of its only attribute, where it alone can be told apart."""
    rows = at(of(view, "agency_variance", stratum=ALL, masking=primary(view)), place)
    rows = [e for e in rows if e.value is not None]
    # A run with one attribute has no overall score.
    first = next((e for e in rows if e.group["attribute"] == "overall"), rows[0] if rows else None)
    q = None if first is None else q_of(first)
    if (
        first is None
        or q is None
        or q >= SURE
        or any(e.clear and _at(e, place) for e in differences)
    ):
        return []
    headline = f"{called(place)}: the groups, taken together, lie further apart than by chance"
    facts = (
        f"variance of the groups’ ratio gaps: {variance(first.value)}, and up to "
        f"{fmt.number(first.null.high, 'variance')} by chance"
        if first.null
        else "",
        units_of(first),
        q_words(q),
    )
    evidence = f"No two groups can be told apart.{_reason(first)}"
    return [Stated(headline, facts, evidence, SOME, (first,))]


def _at(finding: Stated, place: Where) -> bool:
    return bool(at([finding.first], place))


def _differences(view: View, place: Where) -> list[Stated]:
    """One sentence for each attribute: its largest difference that can be told from 0, or none."""
    rows = at(of(view, "agency_gap", stratum=ALL, masking=primary(view)), place)
    findings = []
    for kind in dict.fromkeys(tuple(sorted(e.group)) for e in rows if "beside" not in e.group):
        gaps = [e for e in rows if tuple(sorted(e.group)) == kind and e.value is not None]
        if not gaps:
            continue
        # One sentence for each attribute, or all pairs of races would fill the screen.
        sure = [e for e in gaps if strength_of(view, e) in (STRONG, SOME)]
        e = max(sure or gaps, key=lambda gap: abs(gap.value or 0.0))
        upper, _, lower = group_name(e.group).partition(" − ")
        # Sentences put the more agentic group first, so numbers change their sign with it.
        turned = (e.value or 0.0) < 0
        if turned:
            upper, lower = lower, upper
        headline = f"{called(place)}: {_more_agentic(e, upper, lower)}"
        gap = points(abs(e.value or 0.0), sign="")
        facts = [
            # A gap is twice the difference of the agentic shares, as communal is the rest.
            f"{points(abs(e.value or 0.0) / 2.0)} points ({_span(e.interval, turned, 0.5)})",
            f"agentic less communal: {gap} points",
        ]
        if ERROR_LOW in e.details:
            ends = sorted((-1.0 if turned else 1.0) * e.details[k] for k in (ERROR_LOW, ERROR_HIGH))
            reach = f"{points(ends[0] / 2.0)} to {points(ends[1] / 2.0)}"
            facts.append(f"{reach} by other readings of the same sentences")
        facts.append(_texts(view, place, upper, lower) or units_of(e))
        if q_of(e) is not None:
            facts.append(q_words(q_of(e)))
        # What keeps it from being told from 0 where its own interval leaves out 0.
        unsure, q, bounds = "", q_of(e), e.interval
        excludes_0 = bounds is not None and not bounds.low <= 0.0 <= bounds.high
        if q is not None and excludes_0 and not is_sure(e):
            unsure = " The interval leaves out 0, but shuffled groups lie as far apart."
            if q >= SURE:
                unsure = (
                    " The interval leaves out 0, but q over all differences that were looked at is "
                    f"{fmt.probability(q)}, so it is not told from chance."
                )
        evidence = (
            f"{fmt.level(view.level)} interval over {clusters_of(e)}"
            f"{_chosen(gaps, sure)}{_other(e, turned)}.{_reason(e)}{unsure}"
            f"{_beside(view, place, e, turned)}"
        )
        findings.append(Stated(headline, tuple(facts), evidence, strength_of(view, e), (e,)))
    return findings


def _more_agentic(e: Estimate, upper: str, lower: str) -> str:
    """Which share of the sentences of two groups is agentic, and what the same prompts show.

    A gap is agentic less communal, and both add up to 1: a share is half of 1 and the gap.
    """
    more, fewer, size = _people(upper), _people(lower), abs(e.value or 0.0)
    if not e.value:
        return f"texts about {more} and {fewer} are equally agentic"
    agentic = "agentic (what a person achieves, over whom they help)"
    # Groups are compared within prompts, so two shares of all texts may differ by another amount.
    within = f"{points(size / 2.0, sign='')} points more"
    if "upper" not in e.details:
        return f"sentences about {more} are {within} often {agentic} than those about {fewer}"
    names = ("upper", "lower") if e.value > 0 else ("lower", "upper")
    first, second = (e.details[name] for name in names)
    one, other = (short_share((1.0 + gap) / 2.0) for gap in (first, second))
    both = f"{one} of the sentences about {more} are {agentic}, {other} of those about {fewer}"
    alike = abs(first - second - size) < _ALIKE
    return both if alike else f"{both}; in texts for the same prompts {within}"


def _people(name: str) -> str:
    """The people of a group as many ("women", "Black women", "“nurse”")."""
    before, _, last = name.rpartition(" ")
    word = people_words(last)
    return f"“{name}”" if word.startswith("“") else f"{before} {word}".strip()


def _from_people(view: View, place: Where) -> list[Stated]:
    """How far a model's differences lie from those in texts that people wrote, the largest."""
    rows = at(of(view, "agency_gap", stratum=ALL, masking=primary(view)), place)
    clear = [e for e in rows if "beside" in e.group and strength_of(view, e) in (STRONG, SOME)]
    if not clear:
        return []
    e = max(clear, key=lambda gap: abs(gap.value or 0.0))
    pair = group_name({name: value for name, value in e.group.items() if name != "beside"})
    headline = (
        f"{called(place)}: the difference {pair} lies {points(abs(e.value or 0.0), sign='')} "
        f"points {'above' if (e.value or 0.0) > 0 else 'below'} that in texts that people wrote"
    )
    facts = [f"{points(e.value)} points ({span(e.interval)})", units_of(e)]
    evidence = f"{fmt.level(view.level)} interval over {clusters_of(e)}."
    return [Stated(headline, tuple(facts), evidence, strength_of(view, e), (e,))]


def _texts(view: View, place: Where, upper: str, lower: str) -> str:
    """How many texts are about each of two groups, in words."""
    counts = [(_n_texts(view, place, name), name) for name in (upper, lower)]
    if any(n is None for n, _ in counts):
        return ""
    (one, first), (two, second) = counts
    return (
        f"{fmt.count(one)} texts about {_people(first)}, {fmt.count(two)} about {_people(second)}"
    )


def _n_texts(view: View, place: Where, name: str) -> float | None:
    rows = at(of(view, "agency_share", stratum=ALL, masking=primary(view)), place)
    same = [e.n_units for e in rows if e.statistic == "ratio_gap" and group_name(e.group) == name]
    return same[0] if same else None


def _chosen(gaps: list[Estimate], sure: list[Estimate]) -> str:
    """Among which differences the one that is said is the largest."""
    if len(gaps) < 2:
        return ""
    if not sure:
        return f", the largest of {len(gaps)} differences, none of which can be told from 0"
    of = "the only one" if len(sure) == 1 else f"the largest of the {len(sure)}"
    return f", {of} of {len(gaps)} differences that can be told from 0"


def _span(bounds: Interval | Null | None, turned: bool, times: float = 1.0) -> str:
    """Bounds of a difference so many times, or of the same with its groups in the other order."""
    if bounds is not None:
        ends = (times * bounds.low, times * bounds.high)
        # Turned round, the upper end becomes the lower.
        low, high = (-ends[1], -ends[0]) if turned else ends
        bounds = replace(bounds, low=low, high=high)
    return str(span(bounds))


def _reason(e: Estimate) -> str:
    """Why there is no interval, or no test."""
    kinds = (("interval", e.status.no_interval), ("test", e.status.no_test))
    reasons = [f"No {lack}: {reason}." for lack, reason in kinds if reason is not None]
    return "".join(f" {short(reason, 240)}" for reason in reasons)


def _beside(view: View, place: Where, e: Estimate, turned: bool) -> str:
    second = [
        b
        for b in at(of(view, "agency_gap", stratum=ALL, masking=other(view)), place)
        if b.group == e.group and b.value is not None
    ]
    sign = -1.0 if turned else 1.0
    name = other(view).capitalize()
    return "".join(
        f" {name}: {points(sign * (b.value or 0.0))} ({_span(b.interval, turned)})." for b in second
    )


def _limits(view: View) -> str:
    gaps = _every(view)
    unclear = [e for e in gaps if not is_sure(e)]
    if not gaps:
        return "No difference between groups could be measured."
    return (
        f"For {len(unclear)} of {len(gaps)} differences these texts do not settle whether there is "
        "one. That is no evidence that groups are treated alike."
    )


def _every(view: View) -> list[Estimate]:
    rows = of(view, "agency_gap", stratum=ALL, masking=primary(view))
    return [e for e in rows if e.value is not None]


def _details(view: View) -> str:
    """What was left out and why, in one sentence."""
    gaps, parts = _every(view), []
    undefined = Counter(short(e.undefined or "", 120) for e in view.estimates if e.value is None)
    commonest = undefined.most_common(MOST_REASONS)
    parts += [f"{n} estimates are undefined ({reason})" for reason, n in commonest]
    if len(undefined) > len(commonest):
        parts.append(f"{undefined.total() - sum(n for _, n in commonest)} more for other reasons")
    left_out: dict[str, int] = {}
    for e in of(view, "agency_share", stratum=ALL, masking=primary(view)):
        if not e.group and e.statistic == "ratio_gap":
            for reason, n in e.exclusions.items():
                left_out[reason] = left_out.get(reason, 0) + n
    parts += [f"{n:,} texts left out: {reason}" for reason, n in left_out.items()]
    bare = [e for e in gaps if e.status.no_interval is not None]
    if bare:
        no_interval = short(bare[0].status.no_interval or "", 200)
        parts.append(f"{len(bare)} of {len(gaps)} differences have no interval ({no_interval})")
    return f"{'; '.join(parts)}." if parts else ""


def instruments(view: View) -> tuple[str, ...]:
    """Return what is known of the error of what the numbers rest on."""
    name = _classifier(view)
    unit = "prompts" if view.note.get("cluster_unit") == "prompt" else "texts"
    if column := view.options.get("cluster"):
        unit_names = {"text": "texts", "prompt": "prompts"}
        unit = unit_names.get(str(column), f"values of {short(str(column), 40)}")
    ways = [k.removeprefix(UNITS) for e in view.estimates for k in e.details if k.startswith(UNITS)]
    unit = fmt.listed([f"{one}s" for one in dict.fromkeys(ways)] or [unit])
    lines = words_of(__package__)["instruments"]
    return tuple(line.format(classifier=name, unit=unit) for line in lines)


def _classifier(view: View) -> str:
    classifiers = (e.instruments.get("classifier", "") for e in view.estimates)
    return short(next(classifiers, ""), 80)


def facts(view: View) -> list[Fact]:
    """Return classifier and groups of the audit."""
    name = _classifier(view)
    groups = dict.fromkeys(k for e in view.estimates for k in e.group)
    attributes = [g for g in groups if g not in ("attribute", "beside")]
    return [
        ("Classifier", name),
        ("Result first", f"{primary(view)} sentences"),
        ("Groups", ", ".join(attributes)),
    ]
