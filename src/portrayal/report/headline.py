"""Headline: what a run found, what it could have found, or why nothing could be seen in it.

A page never says "nothing" where nothing could be seen. So there are three headlines: something was
found; nothing was, although a difference of a given size could have been; or nothing could be seen,
with the reason and what would help.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Literal

import portrayal.report.formats as fmt
from portrayal.annotate.annotator import n_unread, unread_words
from portrayal.measure.matched.differences import N_FIRST
from portrayal.planning import plan
from portrayal.records import (
    BEYOND_MARGINS,
    FEW_PEOPLE,
    FEW_PROMPTS,
    TEXT_SD,
    THESE,
    UNITS,
    Estimate,
)
from portrayal.report.findings import Finding, described_lines, label_of
from portrayal.report.passages import rows_of
from portrayal.report.study import report_of
from portrayal.report.view import (
    SURE,
    UNCLEAR,
    View,
    away,
    beyond_chance,
    clusters_of,
    holds_here,
    no_difference,
    unit_of,
    unit_words,
    units,
)
from portrayal.report.words import group_label, measure_title
from portrayal.stats.tails import normal_isf

Kind = Literal["found", "described", "nothing found", "not measured"]
SHOWN, QUESTIONS = 5, 4
"""Candidates shown, and questions of which a headline says what could have been found."""
POWER = 0.8
"""Share of runs that should find a difference that counts as one that could have been found."""
WIDEST = 10.0
"""Ratio from which on only differences could be found that nobody expects."""
FEWEST_TEXTS = 20
"""Different texts below which a run is copies of a few."""
LEAST_PEOPLE = 0.2
"""People for each text below which texts are not about people."""
SMALL = {
    "ratio": (1.5, "one of 1.5 times"),
    "points": (0.1, "one of 10 points"),
    TEXT_SD: (0.2, "one of 0.2 standard deviations"),
}
"""Ratio, difference of shares, and difference in standard deviations (Cohen 1988) of which a
headline says in how many texts they would be found."""
_LABELLED = "people-labelled."  # people told who is in a text, not our rules for English
_FARTHEST = 100.0  # times as many prompts beyond which no number is named


@dataclass(frozen=True)
class Reach:
    """What could have been found of one question.

    Attributes
    ----------
    question
        Title of its measure, within a sentence.
    statistic, size
        What would be found in 80 % of such runs in half of its comparisons, or in the only one.
    comparisons
        How many there are.
    sentence
        The question with that size, or with one that all comparisons exclude, and how many texts
        would find a small one.
    excluded
        Whether all comparisons exclude a difference above some size.
    """

    question: str
    statistic: str
    size: float
    comparisons: int
    sentence: str
    excluded: bool

    @property
    def in_reach(self) -> bool:
        """Whether it is a difference that somebody may expect."""
        return self.statistic != "ratio" or self.size <= WIDEST


@dataclass(frozen=True)
class Headline:
    """What a run leads with.

    Attributes
    ----------
    kind
        Which of the three headlines it is.
    sentence
        What it says; "" where the findings say it.
    detectable
        What could have been found, by question; none where nothing could.
    candidates
        Hypotheses that are not established, the most probable first.
    alike
        Beside findings, what could have been found of the others, or is excluded, by question.
    """

    kind: Kind
    sentence: str
    detectable: tuple[Reach, ...]
    candidates: tuple[Finding, ...]
    alike: tuple[Reach, ...] = ()


def headline(view: View, findings: Sequence[Finding]) -> Headline:
    """Return what a run leads with, beside its findings."""
    clusters = report_of(view).wording.clusters
    answered = int(view.note.get("outcomes", {}).get("ok", 0))
    annotators = view.settings.get("annotators", ())
    # What one annotator reads is there to see
    readable = answered - (unread := n_unread(view.run, annotators))
    # Texts first: what is wrong with them makes every number void.
    texts = {"texts": [str(path) for path in view.run.texts.parts()]}
    by_hand = any(name.startswith(_LABELLED) for name in annotators)
    unseen = ""
    if not readable:
        words = unread_words(view.run.annotations(annotators[0]).note()) if unread else ""
        unseen = words or "no text could be read"
    # Copies make intervals narrow without telling anything new.
    elif not by_hand and (n := int(rows_of(_DIFFERENT, texts)[0]["n"])) < FEWEST_TEXTS <= readable:
        unseen = f"they are copies of {fmt.plural(n, 'text')}; it takes different answers"
    # Detectable sizes are of every hypothesis, also of those that were established.
    tested = hypotheses(view)
    errors = _errors_needed(tested)
    questions = _by_question(tested, errors, readable)
    if not unseen:
        stated_ids = {id(e) for finding in findings for e in finding.estimates}
        # What chance does not explain is either stated, or more prompts would not help to state it.
        unstated = [e for e in tested if not beyond_chance(e) and id(e) not in stated_ids]
        unstated.sort(key=lambda e: (e.tests[0].p, label_of(view, e)))
        candidates = tuple(_candidate(view, e, errors[id(e)]) for e in unstated[:SHOWN])
        if findings:
            alike = _by_question(unstated, errors, readable)
            return Headline("found", "", questions, candidates, alike)
        if not questions and described_lines(view):
            return Headline("described", "", (), ())
        # Without a test, or with tests that find only the absurd, nothing was seen.
        if not questions:
            unseen = _untested(view, readable)
        elif not any(reach.in_reach for reach in questions):
            more_units = unit_words(tested[0], clusters)
            unseen = (
                f"only ratios above {WIDEST:g} could have been found; it takes more {more_units}"
            )
    judged = [e for e in view.estimates if e.population == THESE]
    reach_words = f" to these {unit_words(judged[0], clusters)}" if judged else ""
    counted = f"{readable or answered:,} {report_of(view).wording.texts}{reach_words}"
    if unseen:
        return Headline("not measured", f"Nothing could be seen in {counted}: {unseen}.", (), ())
    local = next(filter(holds_here, tested), None)
    beyond = f" beyond these very {unit_words(local, clusters)}" if local else ""
    sizes = "; ".join(reach.sentence for reach in questions[:QUESTIONS])
    if (more := len(questions) - QUESTIONS) > 0:
        sizes += f"; and {fmt.plural(more, 'more question')}"
    sentence = f"No difference shown{beyond} in {counted}: {sizes}."
    return Headline("nothing found", sentence, questions, candidates)


def hypotheses(view: View) -> list[Estimate]:
    """Return the tests that the findings of a run are chosen from."""
    return [
        e
        for e in view.only_primary(view.only_main(view.estimates))
        if e.value is not None and e.tests and e.tests[0].audit_q is not None
    ]


def _errors_needed(tested: Sequence[Estimate]) -> dict[int, float | None]:
    """How far from none a value must lie to be found with `POWER`, by id, on the scale of `away`.

    Among the hypotheses of its question and as many questions, if nothing else differs; None where
    no standard error is known.
    """
    questions = Counter((e.measure, BEYOND_MARGINS in e.details) for e in tested)

    def needed(e: Estimate) -> float | None:
        family = questions[e.measure, BEYOND_MARGINS in e.details] * len(questions)
        quantiles = float(normal_isf(SURE / 2.0 / family) + normal_isf(1.0 - POWER))
        error = _standard_error(e)
        return None if error is None else quantiles * error

    return {id(e): needed(e) for e in tested}


def _standard_error(e: Estimate) -> float | None:
    """Half of the interval over the normal quantile, on the scale of `away`; None without one."""
    value = None if e.value is None else away(e, e.value)
    if e.interval is None or value is None or math.isinf(value):
        return None
    ends = (away(e, e.interval.low), away(e, e.interval.high))
    reach = [abs(end - value) for end in ends if math.isfinite(end)]
    # An interval without width, or without any end, bounds nothing.
    return fmean(reach or [0.0]) / float(normal_isf((1.0 - e.interval.level) / 2.0)) or None


def _candidate(view: View, e: Estimate, needed: float | None) -> Finding:
    """A hypothesis that was not established, with what it would take."""
    if needed is None or e.value is None:
        return Finding.of(view, [e], UNCLEAR)
    now = abs(away(e, e.value))
    # Standard errors shrink with the root of the number of prompts.
    times = (needed / now) ** 2 if now > 0 else math.inf
    prompts = math.ceil(e.n_clusters * max(times, 1.0)) if times <= _FARTHEST else None
    return Finding.of(view, [e], UNCLEAR, detectable=_detectable(e, needed), prompts=prompts)


def _detectable(e: Estimate, needed: float) -> float:
    """A distance on the scale of `away` as a ratio or in the unit of the number."""
    if e.statistic == "ratio":
        return math.exp(min(needed, 50.0))
    # A distance is never 0: its size is what it must be.
    return no_difference(e) + needed * (e.details.get(TEXT_SD) or 1.0)


def _by_question(
    tested: Sequence[Estimate], errors: Mapping[int, float | None], readable: int
) -> tuple[Reach, ...]:
    """What could have been found of each question, in one unit each, as half of it could show."""
    questions: dict[tuple[str, bool, tuple[str, str]], list[tuple[float, Estimate]]] = {}
    for e in tested:
        if (needed := errors[id(e)]) is not None:
            size = _detectable(e, needed) / (e.details.get(TEXT_SD) or 1.0)
            key = e.measure, BEYOND_MARGINS in e.details, unit_of(e)
            questions.setdefault(key, []).append((size, e))
    titles = Counter((measure, crossed) for measure, crossed, _ in questions)
    reaches = []
    for (measure, crossed, (_, unit)), members in questions.items():
        title = measure_title(measure, inside=True) + ", groups crossed" * crossed
        # A question that is asked of shares and of scores says which of them it means.
        if titles[measure, crossed] > 1:
            title += " in shares" if unit == "points" else " in scores"
        reaches.append(_reach(title, unit, members, readable))
    return tuple(reaches)


def _reach(
    question: str, unit: str, members: Sequence[tuple[float, Estimate]], readable: int
) -> Reach:
    """What could have been found in the comparisons of one question."""

    def words(size: float) -> str:
        if unit == "variance":  # squared points say nothing to a reader
            return f"{math.sqrt(size):.0f} points between groups (standard deviation)"
        if unit == TEXT_SD:
            return f"{fmt.difference(size, '')} standard deviations"
        return fmt.number(size, unit).lstrip("+")

    # The middle one: half of the comparisons could show a difference of this size.
    size, e = sorted(members, key=lambda member: member[0])[len(members) // 2]
    # All exclude what the widest excludes: each is tested at its level (intersection-union).
    widest = max(_excluded(member) for _, member in members)
    noun = "spread" if e.statistic == "variance" else e.statistic
    more = f" in half of {len(members)} comparisons" * (len(members) > 1)
    sentence = f"of {question}, a {noun} of {words(size)} would have shown four times in five{more}"
    if math.isfinite(widest):
        sentence = f"of {question}, a {noun} above {words(widest)} is excluded"
    small, small_words = SMALL.get(unit, (math.inf, ""))
    # What shrinks with the root of the texts is a ratio's logarithm.
    scaled = [math.log(x) if e.statistic == "ratio" else x for x in (size, small)]
    if (times := (scaled[0] / scaled[1]) ** 2) > 1.0:
        # Where as many do not show it, texts vary by more than a plan takes for granted
        if (texts := planned(e) or 0) <= readable:
            texts = round(float(f"{times * readable:.2g}"))
        sentence += f"; {small_words} would be shown by about {texts:,} texts"
    if e.statistic == "ratio" and size > WIDEST:
        sentence = f"{question}, only ratios above {WIDEST:g}"
    return Reach(question, e.statistic, size, len(members), sentence, math.isfinite(widest))


def planned(e: Estimate) -> int | None:
    """Return how many texts `plan` names for a small difference by a design as that of `e`.

    None of what a plan would simulate, or of which it takes for granted what does not hold: of
    ratios, phrases, and shares that are not of texts; and where no number will do.
    """
    unit, these = unit_of(e)[1], e.population == THESE
    blocks = next((n for name, n in e.details.items() if name.startswith(UNITS)), math.nan)
    is_share = unit == "points" and N_FIRST in e.details and "word" not in e.strata
    if not (is_share or unit == TEXT_SD) or (these and math.isnan(blocks)):
        return None
    n_blocks = int(blocks) if these else max(e.n_clusters, 1)
    unpaired = e.unit == "text" and "within" not in (e.interval.method if e.interval else "")
    # Clusters of one group each are counted as the smaller group has them
    n_texts = max(round(e.n_texts / n_blocks / 2), 1)
    design: dict[str, Any] = {"unit": "points" if is_share else "sd", "texts": n_texts}
    design |= {"blocks": n_blocks} if these else {"apart": unpaired}
    needed = plan("difference", [SMALL[unit][0]], **design)[-1]
    return None if needed.undefined else needed.design.n_texts


def _excluded(e: Estimate) -> float:
    """The least size above which a comparison excludes a difference; infinite where it does not."""
    bounds, size = e.interval, math.inf
    if bounds is not None and e.statistic == "ratio" and bounds.low > 0.0:
        none = no_difference(e)
        size = max(bounds.high / none, none / bounds.low)
    elif bounds is not None and e.statistic == "difference":
        size = max(abs(bounds.low), abs(bounds.high))
    return size / (e.details.get(TEXT_SD) or 1.0)


def _untested(view: View, readable: int) -> str:
    """Why no number of a run can be told from no difference, and what would help."""
    compared = [e for e in view.only_main(view.estimates) if e.statistic in ("ratio", "difference")]
    # From the plainest reason to the most technical: the first that holds is said.
    people = [e.n_units for e in compared if e.unit == "character" and "gender" in e.group]
    if people and max(people) < LEAST_PEOPLE * readable:
        return (
            f"hardly anybody of known gender or name occurs in them ({fmt.count(max(people))} "
            f"{units('character', max(people))}); the audit is of texts about people"
        )
    valued = [e for e in compared if e.value is not None]
    most = max((e.n_clusters for e in valued), default=0)
    noun = report_of(view).wording.clusters.removesuffix("s")
    if valued and most < FEW_PROMPTS:
        largest = max(valued, key=lambda e: e.n_clusters)
        if any(e.population == THESE for e in valued):
            return f"a comparison rests on {fmt.plural(most, 'text')}, and it takes {FEW_PROMPTS}"
        small_words = f"`portrayal plan {largest.statistic}` says how many find one of which size"
        if (n := planned(largest)) is not None:
            small_words = f"{SMALL[unit_of(largest)[1]][1]} would be shown by about {n:,} texts"
        return (
            f"a comparison rests on {clusters_of(largest, noun=noun)} at most, and it takes "
            f"{FEW_PROMPTS}; {small_words}"
        )
    if valued and not any(e.enough for e in valued):
        return (
            f"no group is expected {FEW_PEOPLE} times in a place where it is compared; more texts "
            f"of the same {noun}s would do"
        )
    reasons = Counter(e.status.no_test or e.undefined for e in compared)
    reasons.pop(None, None)
    values_by_attribute = {
        name: values for name, values in view.values.items() if name not in NO_GROUPS
    }
    if reasons:
        reason = str(reasons.most_common(1)[0][0])
    elif values_by_attribute and all(len(values) == 1 for values in values_by_attribute.values()):
        only = [group_label({name: value}) for name, (value,) in values_by_attribute.items()]
        reason = (
            f"the texts are about one group only ({', '.join(only)}), and a difference takes two"
        )
    elif any(e.statistic == "distance" for e in view.estimates):
        reason = "no number of this run has a null to hold it against"
    else:
        reason = "no measure of this run compares groups with each other or with a population"
    return reason


NO_GROUPS = ("outcome", "attribute", "factor")
"""Attributes of estimates that are no groups of people."""
_DIFFERENT = "select count(distinct text) as n from read_parquet($texts) where outcome = 'ok'"
