"""Findings: what a run says of its numbers, the strongest and largest first.

A *finding* is one number with its words: the sentence, the line below it, what stands behind it,
and how strongly it may be said. It is made once; page, terminal, model card and file print it.

A ratio is established when its clustered interval excludes the null, its q over all that the
audit may state is below 0.05, it lies outside the null's range, it rests on at least five prompts
and ten whole people, and the errors of who read the texts could not have made it; so is a
difference. The same group in several places is one finding; a median over models stands beside what
it sums up. The measure itself says how it is put in words (`Component.finding`) and how many of its
findings a report shows at most.
"""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import portrayal.report.formats as fmt
from portrayal.annotate.scores import AGENCY
from portrayal.collect.tables import UNNAMED
from portrayal.measure.corrected import MARKS
from portrayal.measure.matched.differences import states_interval
from portrayal.records import (
    ALL,
    ERROR_HIGH,
    ERROR_LOW,
    ERROR_VALUE,
    MINUS,
    TEXT_SD,
    THESE,
    Estimate,
)
from portrayal.reference.labels import subject_of
from portrayal.registry import described, form_of
from portrayal.report.figures.figure import NUMBERS
from portrayal.report.formats import short
from portrayal.report.sentences import ratio_facts, ratio_words, sentence_of, where_words
from portrayal.report.study import report_of
from portrayal.report.view import (
    CANNOT,
    HERE,
    SOME,
    STRONG,
    UNCLEAR,
    Strength,
    View,
    agreement,
    away,
    base_of,
    beyond_chance,
    clusters_of,
    counted_unit,
    holds_here,
    no_difference,
    place_of,
    place_words,
    q_of,
    reader_could,
    strength_of,
    unit_words,
    units,
    when_asked,
)
from portrayal.report.words import (
    capital,
    corrected_from,
    group_label,
    group_words,
    measure_title,
    stem,
)

AS_READ = "as the scorer reads"
MOST, EACH = 5, 3
"""Findings in front at most; and of a measure that is not registered here."""
HERE_MOST = 3
"""Differences in these prompts alone in front, at most."""
MIRRORED = 0.9
"""Share of everybody that two groups make up together whose findings are mirror images."""
_LATER = 1000
STATISTICS = ("ratio", "difference", "distance", "variance")
"""Statistics that can be findings, in this order: those with a value without a difference."""


@dataclass(frozen=True)
class Finding:
    """A number of a run in words, and how strongly it may be said.

    Attributes
    ----------
    headline
        The sentence, without a full stop.
    label
        What it is of in a few words: group, place and measure.
    facts
        The line below the sentence: number and range, counts, how many models agree, and q.
    evidence
        What else is known of it, in sentences.
    strength
        One of the words of `portrayal.report.view`.
    estimates
        The number, and after it that of the mirror image that the sentence states too.
    folded
        Whether a page folds it: it answers a question that a stronger one answers, or is one of
        many.
    units
        What the study calls its independent units.
    detectable
        Of what is not established: the ratio (or difference) furthest from none that would have
        been found in 80 % of such runs; None where that is not known.
    prompts
        Of what is not established: prompts that would establish it, were it as large as it looks;
        None where too many.
    """

    headline: str
    label: str
    facts: tuple[str, ...]
    evidence: str
    strength: Strength
    estimates: tuple[Estimate, ...]
    folded: bool = False
    units: str = "prompts"
    detectable: float | None = None
    prompts: int | None = None

    @classmethod
    def of(
        cls,
        view: View,
        estimates: Sequence[Estimate],
        strength: Strength | None = None,
        **more: Any,
    ) -> "Finding":
        """Put a number of a run into words; `strength` as the report judges it unless given."""
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
        mirrored = [f" The mirror image: {sentence_of(e)}." for e in estimates[1:]]
        return cls(
            sentence_of(first),
            label_of(view, first),
            facts_of(view, first),
            _evidence(view, first) + "".join(mirrored + medians),
            strength or strength_of(view, first),
            tuple(estimates),
            units=unit_words(first, report_of(view).wording.clusters),
            **more,
        )

    @property
    def first(self) -> Estimate:
        """The estimate the sentence is about."""
        return self.estimates[0]

    @property
    def clear(self) -> bool:
        """Whether chance does not explain it."""
        return self.strength in (STRONG, SOME)

    @property
    def of_these(self) -> bool:
        """Whether it holds in these very prompts, which says nothing of others."""
        return self.strength == HERE or (self.clear and self.first.population == THESE)

    @property
    def sure(self) -> str:
        """How sure the sentence is, in words ("holds for prompts like these")."""
        if self.of_these:
            return f"holds in these {self.units}"
        if self.clear:
            return f"holds for {self.units} like these"
        return CANNOT if self.strength == CANNOT else "not settled"

    @property
    def cells(self) -> tuple[str, ...]:
        """Label, value, interval, p, q and the prompts that would settle it, as a page has them."""
        e = self.first
        if self.prompts is None:
            needed = "too many"
        else:
            times = self.prompts / max(e.n_clusters, 1)
            needed = clusters_of(e, times, self.units.removesuffix("s"))
            if e.n_texts and e.population != THESE:
                texts = f"{fmt.count(math.ceil(times * e.n_texts))} texts"
                needed = texts if self.units == "texts" else f"{needed}, {texts}"
        return self.label, *(NUMBERS[name](e) for name in ("Value", "Interval", "p", "q")), needed

    @property
    def record(self) -> dict[str, object]:
        """It as a file has it (`schema("findings")`): one that is stated, or a candidate."""
        common = {"units": self.units, **_record(self.first)}
        if self.strength == UNCLEAR:
            prompts = None if self.first.population == THESE else self.prompts
            return {
                "sentence": self.label,
                **common,
                "detectable": self.detectable,
                "prompts_needed": prompts,
            }
        also = list(map(_record, self.estimates[1:]))
        return {
            "strength": self.strength,
            "population": "these prompts" if self.of_these else "prompts like these",
            "sentence": self.headline,
            **common,
            **({"also": also} if also else {}),
        }


def _record(e: Estimate) -> dict[str, object]:
    return {
        "id": e.id,
        "measure": e.measure,
        "strata": dict(e.strata),
        "group": dict(e.group),
        "value": e.value,
        "interval": e.interval and [e.interval.low, e.interval.high],
        "null": e.null and {"value": e.null.value, "low": e.null.low, "high": e.null.high},
        "p": e.tests[0].p if e.tests else None,
        "q": q_of(e),
    }


def findings(view: View) -> list[Finding]:
    """Return all that is established, each once: the strongest of each question first.

    A question is what one measure says of the groups of one attribute in one place. Up to five
    findings stand in front, groups before their intersections; a page folds the others.
    """
    ranked: list[tuple[int, Finding]] = []
    for measure in headline_measures(view):
        sure = [e for e in _headline(view, measure) if strength_of(view, e) in (STRONG, SOME)]
        of_measure = _strongest_first([Finding.of(view, card) for card in _cards(sure)])
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
    answered = {_question(e) for finding in findings for e in finding.estimates}
    findings_here: list[Finding] = []
    in_front = 0
    for card in _cards(judged, key=lambda e: (len(e.group), e.tests[0].p)):
        question = _question(card[0])
        folded = question in answered or in_front == HERE_MOST
        # A card in front uses up its question and one of the places.
        in_front += not folded
        answered.add(question)
        findings_here.append(Finding.of(view, card, HERE, folded=folded))
    return sorted(findings_here, key=lambda finding: finding.folded)


def nearest(view: View) -> list[Finding]:
    """Return what comes nearest to a finding, though chance explains it; the nearest first."""
    rows = [e for e in _every_headline(view) if e.tests and not math.isnan(e.tests[0].p)]
    # By p, not q: many have the same q.
    rows.sort(key=lambda e: (e.tests[0].p, -distance(e), e.measure))
    return [finding for e in rows[:MOST] if not (finding := Finding.of(view, [e])).clear]


def doubted(view: View) -> list[Estimate]:
    """Return what would be findings but for the reader's errors, the furthest of each first."""
    strongest: list[Estimate] = []
    for measure in headline_measures(view):
        # Enough people too: what is too rare is not left unsaid because of the reader alone.
        in_doubt = [e for e in _headline(view, measure) if beyond_chance(e) and e.enough]
        strongest += [card[0] for card in _cards([e for e in in_doubt if reader_could(e)])]
    return sorted(strongest, key=lambda e: (e.statistic != "ratio", -distance(e), e.measure))


def described_lines(view: View) -> tuple[str, ...]:
    """Return what measures say of the texts whatever is tested (`Component.described`)."""
    components = ((described(name), name) for name in view.by_measure)
    return tuple(
        line
        for component, name in components
        if component is not None and component.described is not None
        for line in component.described(view.of_main(name))
    )


def headline_measures(view: View) -> list[str]:
    """Measures of ratios or differences that sentences speak of."""
    components = {name: described(name) for name in view.by_measure}
    return [
        name
        for name, rows in view.by_measure.items()
        if (EACH if (component := components[name]) is None else component.findings)
        and any(e.statistic in STATISTICS for e in rows)
    ]


def _headline(view: View, measure: str) -> list[Estimate]:
    """What may be said in a sentence: no detail, whatever its p, and no number without a value."""
    return [
        e
        for e in view.of_main(measure)
        if e.statistic in STATISTICS
        and e.value is not None
        and e.status.may_be_stated
        and (not e.tests or e.tests[0].audit_q is not None)
    ]


def _every_headline(view: View) -> list[Estimate]:
    return [e for measure in headline_measures(view) for e in _headline(view, measure)]


def _question(e: Estimate) -> tuple[object, ...]:
    """Which groups, of one attribute or crossed, a measure compares in which place."""
    return e.measure, frozenset(e.strata.items()), frozenset(e.group)


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


def distance(e: Estimate) -> float:
    """Return how far a value lies from no difference, on the scale of `away`.

    An empty side has no logarithm: its ratio is as far as the finite end of its interval.
    """
    size = 0.0 if e.value is None else away(e, e.value)
    if math.isinf(size) and e.interval is not None:
        size = away(e, e.interval.low if size > 0 else e.interval.high)
    return abs(size) if math.isfinite(size) else 0.0


def label_of(view: View, e: Estimate) -> str:
    """Return what an estimate is of: its group, place and measure, and its model if by itself."""
    component = described(e.measure)
    brief = (component.brief if component else "") or measure_title(e.measure, inside=True)
    model = e.strata.get("model", ALL)
    writer = "" if model in (view.main, UNNAMED, ALL) else f"{model}, "
    if not e.group:
        return f"{writer}{capital(brief)}{where_words(e)}"
    of_pair = any(MINUS in value for value in e.group.values())
    group = group_label(e.group) if of_pair else capital(group_words(e.group))
    place = f" in “{e.strata['word']}”" if "word" in e.strata else where_words(e)
    return f"{writer}{group}{place}: {brief}"


def doubt_words(e: Estimate) -> str:
    """Return a number that the reader's errors could have made, and how far they move it."""
    return (
        f"{capital(group_words(e.group))}{where_words(e)}, {measure_title(e.measure).lower()}: "
        f"{fmt.number(e.value, form_of(e))} as read{_reader_words(e)}"
    )


def _reader_words(e: Estimate) -> str:
    """How far the reader's errors could move a value, in words; empty where not known."""
    if e.status.reader_error is not None:
        return f"; how far the reader’s errors move it {e.status.reader_error}"
    if ERROR_LOW not in e.details:
        return ""
    reach = fmt.span(e.details[ERROR_LOW], e.details[ERROR_HIGH], form_of(e))
    if ERROR_VALUE not in e.details:
        return f"; {reach} by other readings of the same texts"
    # Some errors are known by their size and no direction, so the value stays where it is.
    value = e.details[ERROR_VALUE]
    if value == e.value:
        return f"; with chance, the reader’s errors could move it to {reach}"
    return f"; without the reader’s errors about {fmt.number(value, form_of(e))} ({reach})"


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
    e = _turned(e)
    # Of these very prompts the sentence has the interval already.
    words = [] if states_interval(e) else list(ratio_facts(e))
    if TEXT_SD in e.details and e.value is not None:
        words.append(f"{fmt.signed(e.value / e.details[TEXT_SD])} standard deviations of the texts")
    if e.corrected:
        words.append(corrected_from(e).removeprefix(", "))
    # Counts stand in the sentence itself where they are known.
    if not e.counts:
        words.append(f"{fmt.count(e.n_units)} {units(counted_unit(e), e.n_units)}")
    if n_models:
        agree = f"{agreeing} of {fmt.plural(n_models, 'model')} agree"
        if agreeing == n_models:
            agree = f"all {n_models} models agree" if n_models > 2 else "both models agree"
        words.append(agree)
    if q_of(e) is not None:
        words.append(q_words(q_of(e)))
    if unchecked(e):
        words.append(AS_READ)
    return tuple(words)


def _turned(e: Estimate) -> Estimate:
    """A difference as that of the group which its sentence names first."""
    component = described(e.measure)
    # Only sentences of a measure's own turn a difference round.
    is_pair = component is not None and component.finding and e.statistic == "difference"
    pairs = [x for x in (*e.group.values(), *e.strata.values()) if MINUS in x]
    if not is_pair or not pairs or subject_of(pairs[0], e.value or 0.0) == 0:
        return e
    bounds = e.interval and replace(e.interval, low=-e.interval.high, high=-e.interval.low)
    details = {name: -x if name == "naive" else x for name, x in e.details.items()}
    return replace(e, value=-(e.value or 0.0), interval=bounds, details=details)


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
    return f"{'; '.join(parts)}{_reader_words(e)}.{more}"


def q_words(q: float | None, name: str = "q") -> str:
    """Return "q = 0.012" or "q <0.001"."""
    written = fmt.probability(q)
    return f"{name} {written}" if written.startswith("<") else f"{name} = {written}"
