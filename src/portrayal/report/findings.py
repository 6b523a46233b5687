"""Findings: plain sentences about the ratios that stand out, the strongest and largest first.

A ratio is a finding when its clustered interval excludes the null, its q over all that the audit
may state is below 0.05, it lies outside the null's range, it rests on at least five prompts and ten
whole people, and the errors of who read the texts could not have made it; so is a difference. The
same group in several places is one finding; a median over models stands beside what it sums up. The
measure itself says how it is put in words (`Component.finding`) and how many of its findings a
report shows at most.
"""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import portrayal.report.formats as fmt
from portrayal.annotate.scores import AGENCY
from portrayal.measure.corrected import MARKS
from portrayal.records import (
    BASIS,
    ERROR_HIGH,
    ERROR_LOW,
    ERROR_VALUE,
    MINUS,
    TEXT_SD,
    THESE,
    Estimate,
)
from portrayal.registry import described, form_of
from portrayal.report.formats import short
from portrayal.report.sentences import (
    place_phrase,
    ratio_facts,
    ratio_words,
    sentence_of,
    where_words,
)
from portrayal.report.study import report_of
from portrayal.report.view import (
    HERE,
    SOME,
    STRONG,
    Finding,
    View,
    agreement,
    base_of,
    beyond_chance,
    clusters_of,
    holds_here,
    no_difference,
    place_of,
    place_words,
    q_of,
    reader_could,
    strength_of,
    units,
    when_asked,
)
from portrayal.report.words import capital, corrected_from, group_words, measure_title, stem
from portrayal.run.directory import Run

AS_READ = "as the scorer reads"
MOST, EACH = 5, 3
"""Findings in front at most; and of a measure that is not registered here."""
HERE_MOST = 3
"""Differences in these prompts alone in front, at most."""
MIRRORED = 0.9
"""Share of everybody that two groups make up together whose findings are mirror images."""
MOST_MOVED = 3
"""Corrected numbers that are printed, those that labels moved furthest."""
MOST_PLACES = 4
"""Places or groups that one reason names."""
_LATER = 1000
STATISTICS = ("ratio", "difference", "distance", "variance")
"""Statistics that can be findings, in this order: those with a value without a difference."""


def findings(view: View) -> list[Finding]:
    """Return all that is established, each once: the strongest of each question first.

    A question is what one measure says of the groups of one attribute in one place. Up to five
    findings stand in front, groups before their intersections; a page folds the others.
    """
    ranked: list[tuple[int, Finding]] = []
    for measure in headline_measures(view):
        sure = [e for e in _headline(view, measure) if strength_of(view, e) in (STRONG, SOME)]
        of_measure = _strongest_first([_finding(view, card) for card in _cards(sure)])
        # The sort keeps the order by strength among groups of as many attributes.
        of_measure.sort(key=lambda finding: len(finding.first.group) > 1)
        questions: set[tuple[object, ...]] = set()
        by_model: Counter[str] = Counter()
        for finding in of_measure:
            question, model = _question(finding.first), finding.first.strata.get("model", "")
            # Where no model is pooled, each of them has its turn.
            ranked.append((_LATER if question in questions else by_model[model], finding))
            by_model[model] += question not in questions
            questions.add(question)
    order = {id(f): i for i, f in enumerate(_strongest_first([f for _, f in ranked]))}
    # By the rank of their question: the first of each measure before the second of any.
    ranked.sort(key=lambda pair: (pair[0], order[id(pair[1])]))
    return [
        replace(finding, folded=rank == _LATER or position >= MOST)
        for position, (rank, finding) in enumerate(ranked)
    ]


def described_lines(view: View) -> tuple[str, ...]:
    """Return what measures say of the texts whatever is tested (`Component.described`)."""
    components = ((described(name), name) for name in view.by_measure)
    return tuple(
        line
        for component, name in components
        if component is not None and component.described is not None
        for line in component.described(view.of_main(name))
    )


def doubted(view: View) -> list[Estimate]:
    """Return what would be findings but for the reader's errors, the furthest of each first."""
    strongest: list[Estimate] = []
    for measure in headline_measures(view):
        # Enough people too: what is too rare is not left unsaid because of the reader alone.
        in_doubt = [e for e in _headline(view, measure) if beyond_chance(e) and e.enough]
        strongest += [card[0] for card in _cards([e for e in in_doubt if reader_could(e)])]
    return sorted(strongest, key=lambda e: (e.statistic != "ratio", -distance(e), e.measure))


def doubt_words(e: Estimate) -> str:
    """Return a number that the reader's errors could have made, and how far they move it."""
    return (
        f"{capital(group_words(e.group))}{where_words(e)}, {measure_title(e.measure).lower()}: "
        f"{fmt.number(e.value, form_of(e))} as read{reader_words(e)}"
    )


def reader_words(e: Estimate) -> str:
    """Return how far the reader's errors could move a value, in words; empty where not known."""
    if e.status.reader_error is not None:
        return f"; how far the reader’s errors move it {e.status.reader_error}"
    if ERROR_LOW not in e.details:
        return ""
    low, high = e.details[ERROR_LOW], e.details[ERROR_HIGH]
    if ERROR_VALUE not in e.details:
        return f"; {fmt.span(low, high, form_of(e))} by other readings of the same texts"
    # Some errors are known by their size and no direction, so the value stays where it is.
    value = e.details[ERROR_VALUE]
    if value == e.value:
        reach = fmt.span(low, high, form_of(e))
        return f"; with chance, the reader’s errors could move it to {reach}"
    return (
        f"; without the reader’s errors about {fmt.number(value, form_of(e))} "
        f"({fmt.span(low, high, form_of(e))})"
    )


def in_these_prompts(view: View, findings: Sequence[Finding]) -> list[Finding]:
    """Return what holds in these prompts alone, judged there: the surest of each question first.

    Nothing that is stated already. Up to three of questions that nothing stated answers stand in
    front; a page folds the others.
    """
    # By id: the same estimate judged in another population is another object.
    established = {e.id for finding in findings for e in finding.estimates}
    judged = [
        e.of_population(THESE, view.level)
        for e in _every_headline(view)
        if e.fixed is not None and e.id not in established and holds_here(e)
    ]
    judged.sort(key=lambda e: (len(e.group), e.tests[0].p))
    answered = {_question(e) for finding in findings for e in finding.estimates}
    findings_here: list[Finding] = []
    in_front = 0
    for card in _cards(judged, key=lambda e: (len(e.group), e.tests[0].p)):
        e = card[0]
        folded = _question(e) in answered or in_front == HERE_MOST
        # A card in front uses up its question and one of the places.
        in_front += not folded
        answered.add(_question(e))
        findings_here.append(replace(_finding(view, card), strength=HERE, folded=folded))
    return sorted(findings_here, key=lambda finding: finding.folded)


def _question(e: Estimate) -> tuple[object, ...]:
    """Which groups, of one attribute or crossed, a measure compares in which place."""
    return e.measure, frozenset(e.strata.items()), frozenset(e.group)


def nearest(view: View) -> list[Finding]:
    """Return what comes nearest to a finding, though chance explains it; the nearest first."""
    rows = [e for e in _every_headline(view) if e.tests and not math.isnan(e.tests[0].p)]
    # By p, not q: many have the same q.
    rows.sort(key=lambda e: (e.tests[0].p, -distance(e), e.measure))
    return [_finding(view, [e]) for e in rows[:MOST] if strength_of(view, e) not in (STRONG, SOME)]


def distance(estimate: Estimate) -> float:
    """Distance from no difference, of a ratio on a log scale; 0 is as far as its interval reaches.

    An infinite ratio is as far as its interval reaches, too.
    """
    value = estimate.value
    if estimate.statistic != "ratio":
        # Scores in several units are compared by the spread of the texts.
        spread = estimate.details.get(TEXT_SD) or 1.0
        return abs((value or 0.0) - no_difference(estimate)) / spread
    # An empty side has no logarithm; the end of its interval that is finite has one.
    if value == math.inf and estimate.interval is not None:
        value = estimate.interval.low
    elif not value and estimate.interval is not None:
        value = estimate.interval.high
    if value is None or value <= 0 or math.isinf(value):
        return 0.0
    return abs(math.log(value / no_difference(estimate)))


def headline_measures(view: View) -> list[str]:
    """Measures of ratios or differences that sentences speak of."""
    return [
        name
        for name, rows in view.by_measure.items()
        if _limit(name) and any(e.statistic in STATISTICS for e in rows)
    ]


def _limit(measure: str) -> int:
    component = described(measure)
    return EACH if component is None else component.findings


def _headline(view: View, measure: str) -> list[Estimate]:
    """What may be said in a sentence; not where the estimate itself says that it may not."""
    candidates = [
        e for e in view.of_main(measure) if e.statistic in STATISTICS and e.value is not None
    ]
    # A measure may know of its own number that it must not be said.
    candidates = [e for e in candidates if e.status.may_be_stated]
    # What is no hypothesis of the audit is no finding, however small its p.
    return [e for e in candidates if not e.tests or e.tests[0].audit_q is not None]


def _every_headline(view: View) -> list[Estimate]:
    return [e for measure in headline_measures(view) for e in _headline(view, measure)]


def _cards(
    estimates: Sequence[Estimate], key: Callable[[Estimate], Any] | None = None
) -> list[list[Estimate]]:
    """One card for each estimate, or for two that are mirror images; the first by `key` leads."""
    cards: list[list[Estimate]] = []
    for e in sorted(estimates, key=key or (lambda e: (-distance(e), place_words(e), e.id))):
        # Where women are more, men are fewer: one finding, said from the stronger side.
        mirrored = next((c for c in cards if len(c) == 1 and _are_mirrored(c[0], e)), None)
        if mirrored is None:
            cards.append([e])
        else:
            mirrored.append(e)
    return cards


def _are_mirrored(one: Estimate, other: Estimate) -> bool:
    """Whether one group is more often what the other is less often, and there is hardly a third."""
    if _question(one) != _question(other) or not one.counts:
        return False
    above = [(e.value or 0.0) > no_difference(e) for e in (one, other)]
    # Two groups that make up nearly everybody in each count.
    pairs = list(zip(one.counts, other.counts, strict=False))
    both = all(a.n + b.n >= MIRRORED * max(a.of, b.of) for a, b in pairs)
    return above[0] != above[1] and both and len(one.group) == 1


def _strongest_first(findings: list[Finding]) -> list[Finding]:
    """The strong ones first; ratios before differences, whose distances are on another scale."""

    def key(f: Finding) -> tuple[bool, int, float, str]:
        kind = STATISTICS.index(f.first.statistic)
        return f.strength != STRONG, kind, -distance(f.first), f.headline

    return sorted(findings, key=key)


def _finding(view: View, estimates: list[Estimate]) -> Finding:
    first = estimates[0]
    # The median over models of the same number, over the reference of the sentence.
    null_value = first.null.value if len(first.counts) == 1 and first.null is not None else 1.0
    scale = 1.0 if math.isnan(null_value) or first.statistic != "ratio" else null_value
    medians = [
        f" In the median model {ratio_words(e.value, e.interval, form_of(e), scale)}."
        for name in view.by_measure
        if base_of(name) == stem(first.measure) != stem(name)
        for e in view.of_main(name)
        if e.group == first.group and place_of(e) == place_of(first) and e.value is not None
    ]
    # The evidence names what else the card stands for.
    mirrored = [f" The mirror image: {sentence_of(e)}." for e in estimates[1:]]
    return Finding(
        sentence_of(first),
        facts_of(view, first),
        _evidence(view, first) + "".join(mirrored + medians),
        strength_of(view, first),
        tuple(estimates),
        units=report_of(view).wording.clusters,
    )


def unchecked(e: Estimate) -> str:
    """Return the field whose labels would check the scorer that an estimate rests on.

    "" where it rests on none, where people checked it, or where its errors are known.
    """
    # A measured error is in the strength already, so nothing is left to warn of.
    errors_known = ERROR_LOW in e.details or e.status.reader_error is not None
    if errors_known or e.corrected:
        return ""
    if e.strata.get("seen_by", "column") not in ("column", "codes", "names"):
        return next(iter(e.group), "")
    score = e.strata.get("score") or e.strata.get("level", "").removeprefix("sentence_")
    if score in MARKS:
        return score
    return AGENCY if "masking" in e.strata else ""


def facts_of(view: View, e: Estimate) -> tuple[str, ...]:
    """Return the line below a sentence: the ratio or range, how many models agree, and q."""
    agreeing, n_models = agreement(view, e)  # before it is turned, as those of the models are not
    e = turned(e)
    words = list(ratio_facts(e))
    if TEXT_SD in e.details and e.value is not None:
        words.append(f"{fmt.signed(e.value / e.details[TEXT_SD])} standard deviations of the texts")
    if e.corrected:
        words.append(corrected_from(e).removeprefix(", "))
    # Counts stand in the sentence itself where they are known.
    if not e.counts:
        words.append(units_of(e))
    if n_models:
        words.append(agreement_words(agreeing, n_models))
    if q_of(e) is not None:
        words.append(q_words(q_of(e)))
    if unchecked(e):
        words.append(AS_READ)
    return tuple(words)


def turned(e: Estimate) -> Estimate:
    """Return a difference as that of the group with more, which sentences name first."""
    component = described(e.measure)
    # Only sentences of a measure's own name the group with more first.
    is_pair = component is not None and component.finding and e.statistic == "difference"
    sides = (*e.group.values(), *e.strata.values())
    if not is_pair or (e.value or 0.0) >= 0 or not any(MINUS in x for x in sides):
        return e
    bounds = e.interval and replace(e.interval, low=-e.interval.high, high=-e.interval.low)
    return replace(e, value=-(e.value or 0.0), interval=bounds)


def agreement_words(agreeing: int, n_models: int) -> str:
    """Return how many of the models with a value point the same way, in words."""
    if agreeing == n_models:
        return f"all {n_models} models agree" if n_models > 2 else "both models agree"
    return f"{agreeing} of {fmt.plural(n_models, 'model')} agree"


def units_of(e: Estimate) -> str:
    """Return how many units an estimate rests on, in words."""
    return f"{fmt.count(e.n_units)} {units(e.unit, e.n_units)}"


def _evidence(view: View, e: Estimate) -> str:
    """Prompts, null, p and the reader's error of an estimate."""
    parts = [f"{fmt.level(view.level)} interval over {clusters_of(e)}"]
    if e.population == THESE:
        parts[0] += " of these prompts"
    if e.null is not None and not math.isnan(e.null.low):
        # On the scale of the sentence, whose reference is what chance gives.
        scale = e.null.value if e.statistic == "ratio" and len(e.counts) == 1 else 1.0
        reach = fmt.span(e.null.low / scale, e.null.high / scale, form_of(e))
        parts.append(
            f"if nothing differed, {fmt.level(e.null.level)} of such audits would read {reach} "
            f"({e.null.method})"
        )
    if e.tests and not math.isnan(e.tests[0].p):
        parts.append(q_words(e.tests[0].p, "p"))
    if e.status.question is not None:
        when = when_asked(view, e.status.question)
        parts.append(f"{when}, and judged among such questions alone")
    reasons = (e.status.no_interval, e.status.no_test)
    more = "".join(f" {capital(short(reason, 240))}." for reason in reasons if reason)
    return f"{'; '.join(parts)}{reader_words(e)}.{more}"


def q_words(q: float | None, name: str = "q") -> str:
    """Return "q = 0.012" or "q <0.001"."""
    written = fmt.probability(q)
    return f"{name} {written}" if written.startswith("<") else f"{name} = {written}"


def correction_lines(run: Run) -> tuple[str, ...]:
    """Return what a terminal says of a run's labels by hand; none where it has none."""
    with run.speaking():
        return corrections(View.of(run))


def corrections(view: View) -> tuple[str, ...]:
    """Return how many numbers labels by hand corrected, the furthest moved, and which not and why.

    None where a run has no labels by hand.
    """
    # Whatever labels were meant to correct, also where they could not.
    tried = [e for e in view.only_main(view.estimates) if "hand_labels" in e.instruments]
    if not tried:
        return ()
    notes = fmt.listed(list(dict.fromkeys(e.instruments["hand_labels"] for e in tried)))
    corrected = [e for e in tried if e.value is not None and "naive" in e.details]
    if not corrected:
        counted = f"none of {fmt.plural(len(tried), 'number')}"
        return (f"By hand: {notes}; they correct {counted}.", *_reasons(tried))
    # How often the scorer alone would have misled.
    outside = sum(_is_outside(e) for e in corrected)
    lines = [
        f"By hand: {notes}; they correct {len(corrected):,} of "
        f"{fmt.plural(len(tried), 'number')}. What the scorer saw lies outside the interval of "
        f"the corrected number in {outside or 'none'} of them."
    ]
    by_distance = [e for e in corrected if _moved_by(e) > 0]
    by_distance.sort(key=lambda e: (-_moved_by(e), e.measure, e.id))
    lines += [_moved_words(e) for e in by_distance[:MOST_MOVED]]
    if (more := len(by_distance) - MOST_MOVED) > 0:
        lines.append(f"{fmt.plural(more, 'more number')} moved less.")
    if not by_distance:
        lines.append("People say of these texts what the scorer saw: no number moved.")
    return (*lines, *_reasons([e for e in tried if e not in corrected]))


def _is_outside(e: Estimate) -> bool:
    return e.interval is not None and not e.interval.low <= e.details["naive"] <= e.interval.high


def _moved_by(e: Estimate) -> float:
    """How far labels moved a number, in widths of its interval: so all units can be compared."""
    assert e.value is not None
    if e.interval is None or not math.isfinite(e.value):
        return 0.0
    width, distance_moved = e.interval.high - e.interval.low, abs(e.value - e.details["naive"])
    # What reads the same before and after did not move for any reader.
    written = {fmt.number(x, form_of(e)) for x in (e.value, e.details["naive"])}
    return distance_moved / width if width > 0 and len(written) == 2 else 0.0


def _moved_words(e: Estimate) -> str:
    """One corrected number: what the scorer saw, and what people say, with the interval."""
    form = form_of(e)
    naive, value = (fmt.number(x, form) for x in (e.details["naive"], e.value))
    bounds = f" ({fmt.interval(e.interval, form)})" if e.interval is not None else ""
    title = measure_title(e.measure, inside=True)
    place = f"{capital(group_words(e.group))}{_place_by_hand(e)}, {title}"
    return f"{place}: the scorer saw {naive}, people say {value}{bounds}."


def _place_by_hand(e: Estimate) -> str:
    strata = {name: value for name, value in e.strata.items() if name != BASIS}
    return place_phrase(strata, e.group, e.study)


def _reasons(uncorrected: Sequence[Estimate]) -> list[str]:
    """Why numbers were not corrected, a line for each reason, the most frequent first."""
    by_reason: dict[tuple[str, bool], list[Estimate]] = {}
    for e in uncorrected:
        # What stands behind a colon tells of one group, so groups of one reason share a line.
        reason, colon, _ = (e.undefined or "the scorer's number is undefined").partition(":")
        by_reason.setdefault((reason, bool(colon)), []).append(e)
    lines = []
    ranked = sorted(by_reason.items(), key=lambda pair: (-len(pair[1]), pair[0]))
    for (reason, of_group), rows in ranked:
        places = [place for e in rows if (place := _place_by_hand(e).strip())]
        places = list(dict.fromkeys(places))
        words = f" in {len(places)} places" if len(places) > MOST_PLACES else ""
        if of_group:
            groups = list(dict.fromkeys(group_words(e.group) for e in rows))
            words = f" ({fmt.listed(groups, MOST_PLACES)})"
        elif places and not words:
            words = f" {fmt.listed(places)}"
        lines.append(f"Not corrected: {fmt.plural(len(rows), 'number')}{words}, as {reason}.")
    return lines
