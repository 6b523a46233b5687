"""Headline: what a run found, what it could have found, or why nothing could be seen in it.

A page never says "nothing" where nothing could be seen. So there are three headlines: something was
found; nothing was, although a difference of a given size could have been; or nothing could be seen,
with the reason and what would help.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import portrayal.report.formats as fmt
from portrayal.annotate.language import is_english
from portrayal.collect.tables import UNNAMED
from portrayal.measure.matched.differences import AT_MOST
from portrayal.records import (
    ALL,
    BEYOND_MARGINS,
    FEW_PEOPLE,
    FEW_PROMPTS,
    MINUS,
    TEXT_SD,
    THESE,
    Estimate,
)
from portrayal.registry import described, form_of
from portrayal.report.findings import described_lines
from portrayal.report.passages import rows_of
from portrayal.report.schemas import SCHEMAS
from portrayal.report.sentences import where_words
from portrayal.report.study import report_of
from portrayal.report.view import (
    SURE,
    Finding,
    View,
    beyond_chance,
    clusters_of,
    holds_here,
    no_difference,
    q_of,
    unit_words,
    units,
)
from portrayal.report.words import capital, group_label, group_words, measure_title
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
    "sd": (0.2, "one of 0.2 standard deviations"),
}
"""Ratio, difference of shares, and difference in standard deviations (Cohen 1988) of which a
headline says in how many texts they would be found."""
LEAST_ENGLISH = 0.3
"""Share of texts below which the language is another one."""

_LABELLED = "people-labelled."  # people told who is in a text, not our rules for English
_TEXTS = 300  # texts whose language is looked at
_LONG = 20  # words from which on a text shows its language
_FARTHEST = 100.0  # times as many prompts beyond which no number is named


@dataclass(frozen=True)
class Hypothesis:
    """A hypothesis that was not established, with what it would take.

    Attributes
    ----------
    label
        Measure, group and place, in words.
    estimate
        The number.
    detectable
        Ratio (or difference) furthest from none that would have been found in 80 % of such runs.
    prompts
        Prompts that would establish it, were it as large as it looks; None where too many.
    noun
        What the study calls a prompt.
    """

    label: str
    estimate: Estimate
    detectable: float | None
    prompts: int | None
    noun: str

    @property
    def form(self) -> str:
        """How its numbers are written."""
        return form_of(self.estimate)

    @property
    def cells(self) -> tuple[str, ...]:
        """Label, value, interval, p, q and prompts needed, as a page shows them."""
        e = self.estimate
        times = None if self.prompts is None else self.prompts / max(e.n_clusters, 1)
        needed = "too many" if times is None else clusters_of(e, times, self.noun)
        if times is not None and e.n_texts and e.population != THESE:
            needed += f", {fmt.count(math.ceil(times * e.n_texts))} texts"
        return (
            self.label,
            fmt.number(e.value, self.form),
            fmt.interval(e.interval, self.form),
            fmt.probability(e.tests[0].p),
            fmt.probability(q_of(e)),
            needed,
        )


@dataclass(frozen=True)
class Reach:
    """What could have been found of one question.

    Attributes
    ----------
    question
        Title of its measure, within a sentence.
    statistic, size
        What would be found in 80 % of such runs in half of its comparisons, or in the only one.
    words
        The size as a page writes it.
    comparisons
        How many there are.
    excluded
        The size above which all comparisons exclude a difference, in words; "" where they do not.
    needed
        A small difference, and the texts that would find it in 80 % of such runs; "" where these
        texts do.
    """

    question: str
    statistic: str
    size: float
    words: str
    comparisons: int
    excluded: str
    needed: str

    @property
    def in_reach(self) -> bool:
        """Whether it is a difference that somebody may expect."""
        return self.statistic != "ratio" or self.size <= WIDEST

    @property
    def sentence(self) -> str:
        """The question with the size, in words."""
        if not self.in_reach:
            return f"{self.question}, only ratios above {WIDEST:g}"
        more = f" in half of {self.comparisons} comparisons" * (self.comparisons > 1)
        # What is excluded is of these texts; what could have been shown, of any like them.
        noun = {"variance": "spread"}.get(self.statistic, self.statistic)
        detectable = f"a {noun} of {self.words} would have shown four times in five{more}"
        excluded = f"a {noun} above {self.excluded} is excluded"
        return f"of {self.question}, {excluded if self.excluded else detectable}{self.needed}"


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
    candidates: tuple[Hypothesis, ...]
    alike: tuple[Reach, ...] = ()


def headline(view: View, findings: Sequence[Finding]) -> Headline:
    """Return what a run leads with, beside its findings."""
    words = report_of(view).wording
    readable = int(view.note.get("outcomes", {}).get("ok", 0))
    judged = [e for e in view.estimates if e.population == THESE]
    reach_words = f" to these {unit_words(judged[0], words.clusters)}" if judged else ""
    counted = f"{readable:,} {words.texts}{reach_words}"
    # Detectable sizes are of every hypothesis, also of those that were established.
    tested = hypotheses(view)
    stated_ids = {id(e) for finding in findings for e in finding.estimates}
    hypotheses_by_p = [_hypothesis(view, e, tested) for e in tested]
    questions = _by_question(hypotheses_by_p, readable)
    hypotheses_by_p.sort(key=lambda hypothesis: (hypothesis.estimate.tests[0].p, hypothesis.label))
    # What chance does not explain is either stated, or more prompts would not help to state it.
    chance = [
        hypothesis for hypothesis in hypotheses_by_p if not beyond_chance(hypothesis.estimate)
    ]
    unstated = [h for h in chance if id(h.estimate) not in stated_ids]
    candidates = tuple(unstated)[:SHOWN]
    # Texts first: what is wrong with them makes every number void.
    unseen = _unreadable(view, readable)
    if findings and not unseen:
        alike = _by_question(unstated, readable)
        return Headline("found", "", questions, candidates, alike)
    # Then numbers: without a test, or with tests that find only the absurd, nothing was seen.
    if not unseen and not questions and described_lines(view):
        return Headline("described", "", (), ())
    if not unseen and not questions:
        unseen = _untested(view, readable)
    elif not unseen and not any(reach.in_reach for reach in questions):
        more_units = unit_words(tested[0], words.clusters)
        unseen = f"only ratios above {WIDEST:g} could have been found; it takes more {more_units}"
    if unseen:
        return Headline("not measured", f"Nothing could be seen in {counted}: {unseen}.", (), ())
    local = next(filter(holds_here, tested), None)
    beyond = f" beyond these very {unit_words(local, words.clusters)}" if local else ""
    sizes = "; ".join(reach.sentence for reach in questions[:QUESTIONS])
    if (more := len(questions) - QUESTIONS) > 0:
        sizes += f"; and {fmt.plural(more, 'more question')}"
    sentence = f"No difference shown{beyond} in {counted}: {sizes}."
    return Headline("nothing found", sentence, questions, candidates)


def _by_question(hypotheses: Sequence[Hypothesis], readable: int) -> tuple[Reach, ...]:
    """What could have been found of each question, in one unit each, as half of it could show."""
    sizes: dict[tuple[object, ...], list[Hypothesis]] = {}
    for hypothesis in hypotheses:
        if hypothesis.detectable is not None:
            crossed = BEYOND_MARGINS in hypothesis.estimate.details
            sizes.setdefault((hypothesis.estimate.measure, crossed, *_kind(hypothesis)), []).append(
                hypothesis
            )
    reaches = []
    for members in sizes.values():
        # The middle one: half of the comparisons could show a difference of this size.
        members.sort(key=_seen)
        middle = members[len(members) // 2]
        e = middle.estimate
        crossed = BEYOND_MARGINS in e.details
        title = measure_title(e.measure, inside=True) + ", groups crossed" * crossed
        of_shares = " in shares" if middle.form == "points" else " in scores"

        in_sd = TEXT_SD in e.details
        form = "difference" if in_sd else middle.form

        def words(size: float, form: str = form, in_sd: bool = in_sd) -> str:
            if form == "variance":  # squared points say nothing to a reader
                return f"{math.sqrt(size):.0f} points between groups (standard deviation)"
            return fmt.number(size, form).lstrip("+") + " standard deviations" * in_sd

        # All exclude what the widest excludes: each is tested at its level (intersection-union).
        widest, size = max(map(_excluded, members)), _seen(middle)
        small, small_words = SMALL.get("sd" if in_sd else form, (math.inf, ""))
        times = (_scaled(size, e) / _scaled(small, e)) ** 2
        texts = fmt.count(float(f"{times * readable:.2g}"))
        needed = f"; {small_words} would be shown by about {texts} texts"
        reach = Reach(
            title,
            e.statistic,
            size,
            words(size),
            len(members),
            words(widest) if math.isfinite(widest) else "",
            needed if times > 1.0 else "",
        )
        reaches.append((reach, of_shares))
    # A question that is asked of shares and of scores says which of them it means.
    titles = Counter(reach.question for reach, _ in reaches)
    return tuple(
        replace(reach, question=reach.question + of_shares * (titles[reach.question] > 1))
        for reach, of_shares in reaches
    )


def hypotheses(view: View) -> list[Estimate]:
    """Return the tests that the findings of a run are chosen from."""
    return [
        e
        for e in view.only_primary(view.only_main(view.estimates))
        if e.value is not None and e.tests and e.tests[0].audit_q is not None
    ]


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
    return f"{writer}{group}{where_words(e)}: {brief}"


def _hypothesis(view: View, e: Estimate, tested: Sequence[Estimate]) -> Hypothesis:
    """How large a difference would have been found, and what would establish this one."""
    # What a difference must be, in standard errors, to be found with that power among those of its
    # question and as many questions, if nothing else differs.
    questions = Counter((other.measure, BEYOND_MARGINS in other.details) for other in tested)
    family = questions[e.measure, BEYOND_MARGINS in e.details] * len(questions)
    errors_needed = float(normal_isf(SURE / 2.0 / max(family, 1)) + normal_isf(1.0 - POWER))
    label = label_of(view, e)
    noun = report_of(view).wording.clusters.removesuffix("s")
    error = _standard_error(e)
    if error is None:
        return Hypothesis(label, e, None, None, noun)
    if e.statistic == "ratio":
        size = math.exp(min(errors_needed * error, 50.0))
    else:
        # A distance is never 0: its size is what it must be.
        size = no_difference(e) + errors_needed * error
    away = _away(e)
    # Standard errors shrink with the root of the number of prompts.
    times = (errors_needed * error / away) ** 2 if away > 0 else math.inf
    prompts = math.ceil(e.n_clusters * max(times, 1.0)) if times <= _FARTHEST else None
    return Hypothesis(label, e, size, prompts, noun)


def _kind(hypothesis: Hypothesis) -> tuple[str, str]:
    """Statistic and unit; differences in units of several scorers are in standard deviations."""
    return (
        hypothesis.estimate.statistic,
        TEXT_SD if TEXT_SD in hypothesis.estimate.details else hypothesis.form,
    )


def _seen(hypothesis: Hypothesis) -> float:
    """What could have been found; of differences in several units, in standard deviations."""
    return (hypothesis.detectable or 0.0) / (hypothesis.estimate.details.get(TEXT_SD) or 1.0)


def _excluded(hypothesis: Hypothesis) -> float:
    """The least size above which a comparison excludes a difference; infinite where it does not.

    By the 90 % interval where it is kept, as two one-sided tests at .05 do, else by its own.
    """
    e, bounds = hypothesis.estimate, hypothesis.estimate.interval
    if AT_MOST in e.details or e.statistic != "difference" or bounds is None:
        size = e.details.get(AT_MOST, math.inf)
        if e.statistic == "ratio" and bounds is not None and bounds.low > 0.0:
            none = no_difference(e)
            size = max(bounds.high / none, none / bounds.low)
    else:
        size = max(abs(bounds.low), abs(bounds.high))
    return size / (e.details.get(TEXT_SD) or 1.0)


def _scaled(size: float, e: Estimate) -> float:
    """A size by its logarithm where it is a ratio: what shrinks with the root of the texts."""
    return math.log(size) if e.statistic == "ratio" and size > 0.0 else size


def _away(e: Estimate) -> float:
    """How far a value lies from no difference: by its logarithm where it is a ratio."""
    value, none = e.value or 0.0, no_difference(e)
    if e.statistic != "ratio":
        return abs(value - none)
    if value <= 0.0 or math.isinf(value):
        return 0.0
    return abs(math.log(value / none))


def _standard_error(e: Estimate) -> float | None:
    """Half of the interval over the normal quantile, on the scale of `_away`; None without one."""
    bounds, value = e.interval, e.value
    if bounds is None or value is None:
        return None
    ends = [bounds.low, bounds.high]
    if e.statistic == "ratio":
        if not 0.0 < value < math.inf:
            return None
        value, ends = math.log(value), [math.log(x) if x > 0 else -math.inf for x in ends]
    reach = [abs(x - value) for x in ends if math.isfinite(x)]
    if not reach:
        return None
    error = sum(reach) / len(reach) / float(normal_isf((1.0 - bounds.level) / 2.0))
    return error or None


def _unreadable(view: View, readable: int) -> str:
    """Why texts say nothing, whatever the numbers: none, copies, another language; "" otherwise."""
    if not readable:
        return "no text could be read"
    texts = {"texts": [str(path) for path in view.run.texts.parts()]}
    if any(name.startswith(_LABELLED) for name in view.settings.get("annotators", ())):
        return ""
    different = int(rows_of(_DIFFERENT, texts)[0]["n"])
    # Copies make intervals narrow without telling anything new.
    if different < FEWEST_TEXTS <= readable:
        return f"they are copies of {fmt.plural(different, 'text')}; it takes different answers"
    if view.options.get("locale"):
        return ""
    texts_of_run = (str(row["text"]).lower() for row in rows_of(_SOME, texts | {"most": _TEXTS}))
    # Short texts do not show their language.
    long = [text for text in texts_of_run if len(text.split()) >= _LONG]
    if sum(map(is_english, long)) < LEAST_ENGLISH * len(long):
        return "the texts are not in English, the language of the annotators"
    return ""


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
        if view.study.matched and largest.population != THESE:
            return (
                f"a comparison rests on {clusters_of(largest, noun=noun)} at most, and it takes "
                f"{FEW_PROMPTS}; `portrayal plan difference` says how many find a difference of "
                "which size"
            )
        if any(e.population == THESE for e in valued):
            return f"a comparison rests on {fmt.plural(most, 'text')}, and it takes {FEW_PROMPTS}"
        missing = FEW_PROMPTS + 1 - most
        texts = max(math.ceil(readable / max(most, 1)), 4 * FEW_PEOPLE)
        return (
            f"a comparison rests on {clusters_of(largest, noun=noun)} at most, and it takes "
            f"{FEW_PROMPTS}: about {texts} texts to each of {missing} more {noun}s would do"
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
_SOME = (
    "select text from read_parquet($texts) where outcome = 'ok' order by hash(text_id) limit $most"
)


def facts(e: Estimate) -> dict[str, object]:
    """Return what is kept of an estimate that a report may state, JSON-like."""
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


def as_facts(view: View, lead: Headline, findings: Sequence[Finding]) -> dict[str, object]:
    """Return the headline with findings and candidates, JSON-like, by `schema("findings")`.

    A finding has `id`, `rank`, `strength`, `population`, `sentence`, `measure`, `strata`, `group`,
    `value`, `interval`, `null`, `p` and `q`, of that population; `also` has the same of the mirror
    image that the sentence states too. A candidate has it without rank and strength, and
    `detectable` and `prompts_needed`. A page, the terminal and every export are written of these.
    """
    return {
        "schema": SCHEMAS["findings"],
        "headline": lead.kind,
        "sentence": lead.sentence
        or (findings[0].headline + "." if findings else next(iter(described_lines(view)), "")),
        "detectable": [
            {
                name: getattr(reach, name)
                for name in ("question", "statistic", "size", "comparisons")
            }
            for reach in lead.detectable
        ],
        "models": list(view.models) or [ALL],
        "findings": [
            {
                "rank": rank,
                "strength": finding.strength,
                "population": "these prompts" if finding.of_these else "prompts like these",
                "units": finding.of_units,
                "sentence": finding.headline,
                **(facts(finding.first) if finding.estimates else {}),
                **({"also": list(map(facts, also))} if (also := finding.estimates[1:]) else {}),
            }
            for rank, finding in enumerate(findings, start=1)
        ],
        "candidates": [
            {
                "units": unit_words(candidate.estimate, f"{candidate.noun}s"),
                "sentence": candidate.label,
                **facts(candidate.estimate),
                "detectable": candidate.detectable,
                "prompts_needed": None
                if candidate.estimate.population == THESE
                else candidate.prompts,
            }
            for candidate in lead.candidates
        ],
    }
