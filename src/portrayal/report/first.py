"""First screen: what was read, what was found and how surely, and what cannot be said.

Every report opens with it, also one of two runs beside each other.
"""

import hashlib
import html
import shlex
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import portrayal.report.about as about
import portrayal.report.formats as fmt
from portrayal.errors import PortrayalError, UnknownNameError
from portrayal.measure.matched.differences import FIRST
from portrayal.measure.scope import Question
from portrayal.records import ALL, ERROR_VALUE, FEW_PEOPLE, FEW_PROMPTS, MINUS, THESE, Estimate
from portrayal.registry import form_of
from portrayal.report.corrected import corrections
from portrayal.report.figures.figure import Figure
from portrayal.report.figures.generic import glance
from portrayal.report.findings import (
    AS_READ,
    STATISTICS,
    Finding,
    described_lines,
    doubt_words,
    doubted,
    findings,
    headline_measures,
    in_these_prompts,
    label_of,
    nearest,
    q_words,
    unchecked,
)
from portrayal.report.headline import NO_GROUPS, Headline, headline
from portrayal.report.passages import rows_of
from portrayal.report.schemas import SCHEMAS
from portrayal.report.study import report_of
from portrayal.report.view import (
    CANNOT,
    UNCLEAR,
    Strength,
    View,
    clusters_of,
    domain_of,
    no_baseline,
    q_of,
    strength_of,
    when_asked,
)
from portrayal.report.words import capital, group_label, stem
from portrayal.run.directory import Run
from portrayal.run.pages import templates
from portrayal.shown import visible

MOST_NAMED = 4
"""Groups that one line names."""
ANY = "any"
"""Group of an estimate whose attribute has one group alone."""


@dataclass(frozen=True)
class Report:
    """What the report of a run says, in sentences: what a reader sees first.

    Attributes
    ----------
    run
        The run.
    read
        What was read, in one line.
    lead
        Which headline it is, what could have been found, and the candidates below it.
    cannot
        What cannot be said, in sentences.
    described
        Who is in the texts and the like, whatever is tested, in sentences.
    hypotheses
        A line for each question that was asked beforehand: when, and what came out.
    remedies
        Options that would answer what is left open, each with its command.
    corrected
        What labels of a sample corrected, by how much, and what they did not and why, a line each.
    findings
        What the report states, those that stand in front first; `folded` says which a page folds.
    in_these_prompts
        What holds in these prompts, were they fixed, though not in prompts like them.
    chart
        The findings, or what comes nearest, as a chart of at most five rows; None where there is
        nothing to draw.
    planted
        What was planted in a sample, and found; None in others.

    Examples
    --------
    >>> text = "Maria was a star student. She helped her classmate Juan, and he thanked her."
    >>> stories = [{"prompt_id": "learning-neutral-arts", "text": text}] * 3
    >>> run = portrayal.audit(study="laissez-faire", texts=stories, report=False)
    >>> Report.of(run).findings
    ()
    """

    run: Run
    read: str
    lead: Headline
    cannot: tuple[str, ...]
    described: tuple[str, ...]
    hypotheses: tuple[str, ...]
    remedies: tuple[str, ...]
    corrected: tuple[str, ...]
    findings: tuple[Finding, ...] = ()
    in_these_prompts: tuple[Finding, ...] = ()
    chart: Figure | None = None
    planted: "Planted | None" = None

    @classmethod
    def of(cls, run: Run | View) -> "Report":
        """Read a run with estimates."""
        view = View.of(run)
        with view.run.speaking():
            return first_screen(view)

    @property
    def stated(self) -> tuple[Finding, ...]:
        """All findings, those of these prompts alone last."""
        return (*self.findings, *self.in_these_prompts)

    @property
    def leads(self) -> tuple[str, ...]:
        """The sentences before the findings."""
        planted = (self.planted.sentence,) if self.planted else ()
        return (*planted, *filter(None, (" ".join(self.described), self.lead.sentence)))

    @property
    def alike(self) -> tuple[str, ...]:
        """What shows no difference beside findings, and what is excluded, by question."""
        return tuple(
            f"{capital(reach.sentence)}; {fmt.plural(reach.comparisons, 'comparison')}."
            for reach in self.lead.alike
            if reach.excluded and reach.in_reach
        )

    @property
    def folded(self) -> tuple[Finding, ...]:
        """The findings that a page folds."""
        return tuple(finding for finding in self.stated if finding.folded)

    def _repr_html_(self) -> str:
        # As on the page, without the marks of its words, which take its script.
        page = templates("portrayal.report").get_template("first_screen.html.j2")
        markup = page.render(first=self, notebook=True, terms=str)
        if not self.run.report_path.is_file():
            return markup
        path = html.escape(visible(str(self.run.report_path)))
        return f"{markup}<p>The whole report: <code>{path}</code></p>"


@lru_cache(maxsize=1)
def first_screen(view: View) -> Report:
    """Return the first screen of a run; where nothing could be seen, nothing is stated."""
    general = tuple(findings(view))
    # What the run leads with is decided by what it could have seen, not by findings alone.
    lead = headline(view, general)
    # Findings in copies, or in a language that nobody here reads, would mislead.
    is_measured = lead.kind != "not measured"
    local = tuple(in_these_prompts(view, general)) if is_measured else ()
    screen = Report(
        view.run,
        read_line(view),
        lead,
        cannot_lines(view),
        described_lines(view),
        hypotheses=answers(view),
        remedies=remedies(view, local),
        corrected=corrections(view),
    )
    if not is_measured:
        return screen
    # What a scorer reads whose errors nobody knows is called so.
    fields = dict.fromkeys(unchecked(finding.first) for finding in (*general, *local))
    if of_scorers := [name for name in fields if name]:
        line = (
            f"What is stated of {fmt.listed(of_scorers)} is as the scorer reads: how far its "
            "errors move it is not known. Labels of a sample by hand tell (--hand-labels)."
        )
        screen = replace(screen, cannot=(*screen.cannot, line))
    chart = glance(view, general or nearest(view))
    sample = planted(view, (*general, *local))
    return replace(screen, findings=general, in_these_prompts=local, chart=chart, planted=sample)


def finding_facts(run: Run) -> dict[str, Any]:
    """Return what a run found, or could have found, JSON-like, by `schema("findings")`."""
    view, screen = View.of(run), Report.of(run)
    lead = screen.lead
    first = next(iter(screen.stated), None)
    sentence = f"{first.headline}." if first else next(iter(screen.described), "")
    sizes = ("question", "statistic", "size", "comparisons")
    return {
        "schema": SCHEMAS["findings"],
        "headline": lead.kind,
        "sentence": lead.sentence or sentence,
        "detectable": [{name: getattr(reach, name) for name in sizes} for reach in lead.detectable],
        "models": list(view.models) or [ALL],
        "findings": [{"rank": i, **f.record} for i, f in enumerate(screen.stated, start=1)],
        "candidates": [candidate.record for candidate in lead.candidates],
    }


def finding_lines(run: Run | View) -> Iterator[str]:
    """Yield all that a terminal says of a run: what leads, findings, what comes nearest."""
    screen = Report.of(run)
    yield from screen.leads
    for rank, finding in enumerate(screen.findings, start=1):
        yield f"{rank}. {finding.headline}."
        yield f"   {finding.sure}; {'; '.join(finding.facts)}"
    for finding in screen.in_these_prompts:
        yield f"In these {finding.units}: {finding.headline}."
        yield f"   {'; '.join(finding.facts)}"
    yield from (f"asked beforehand: {line}" for line in screen.hypotheses)
    yield from (*screen.remedies, *screen.corrected)
    if candidates := screen.lead.candidates:
        yield "nearest to a finding (value, interval, p, q, what would establish it):"
        yield from ("  " + "  ".join(candidate.cells) for candidate in candidates)


def answer_lines(run: Run | View) -> Iterator[str]:
    """Yield what an audit ends with: one sentence with how sure it is, and the next command."""
    screen = Report.of(run)
    yield from screen.leads
    yield from about.unread(View.of(run))
    findings = screen.stated
    # Of like strength, one with counts can be repeated by anybody.
    counted = [
        finding
        for finding in findings
        if finding.strength == findings[0].strength
        and (finding.first.counts or FIRST in finding.first.details)
    ]
    for finding in (*counted, *findings)[:1]:
        # One fact, and that nobody checked the scorer's reading of these texts.
        facts = [f for i, f in enumerate(finding.facts) if i < 1 or f == AS_READ]
        yield f"{finding.headline}. {capital(finding.sure)}: {', '.join(facts)}."
    yield from (f"asked beforehand: {line}" for line in screen.hypotheses)
    # What would answer a question that is open comes before more of what is answered.
    if not findings and screen.remedies:
        yield screen.remedies[0]
        return
    following = shlex.join(("portrayal", "list", "findings", str(screen.run.path)))
    more = f"{fmt.plural(len(findings) - 1, 'more finding')}. " if len(findings) > 1 else ""
    yield f"{more}Next: {following}"


def read_line(view: View) -> str:
    """Return in one line what was read: models, texts that could be read, and prompts or units."""
    words = report_of(view).wording
    outcomes: dict[str, int] = view.note.get("outcomes", {})
    total, ok = sum(outcomes.values()), outcomes.get("ok", 0)
    parts = [str(path) for path in view.run.texts.parts()]
    n = int(rows_of(_COUNT, {"texts": parts})[0]["n"]) if parts else 0
    models = len(view.models)
    models_words = about.models_line(view) if models < 2 else fmt.plural(models, "model")
    readable = f"{ok:,} of {total:,} {words.texts} readable" if total else f"no {words.texts}"
    noun = words.clusters.removesuffix("s")
    units_words = fmt.plural(n, noun) if n else ""
    if noun != "prompt":
        # Prompts of several halves, or of one source, are one independent unit
        inferred = [e for e in view.estimates if e.population != THESE and e.n_clusters]
        most = max(inferred, key=lambda e: e.n_clusters, default=None)
        units_words = units_words if most is None else clusters_of(most, noun=noun)
    # Texts that are their own units are counted already.
    units_words = "" if units_words.endswith((" text", " texts")) else units_words
    sides = [
        v for e in view.estimates for v in (*e.group.values(), *e.strata.values()) if MINUS in v
    ]
    # A difference counts once, though one stratum may have it the other way round
    unique = {frozenset(side.split(MINUS)): side for side in reversed(sides)}
    compared = [side.replace(MINUS, " with ") for side in reversed(unique.values())]
    pairs = f"compared: {fmt.listed(compared, MOST_NAMED)}" if compared else ""
    return " · ".join(part for part in (models_words, readable, units_words, pairs) if part)


def cannot_lines(view: View) -> tuple[str, ...]:
    """Return what cannot be said: what the reader could have made, rare groups, open numbers."""
    judged = [
        (e, strength_of(view, e))
        for measure in headline_measures(view)
        for e in view.of_main(measure)
        if e.statistic in STATISTICS
    ]
    if not judged:
        return ("No difference between groups was measured in this run.",)
    lines = []
    # Chance does not explain it, the reader's errors could.
    if in_doubt := doubted(view):
        also = f", and {len(in_doubt) - 1} more" if len(in_doubt) > 1 else ""
        words = doubt_words(in_doubt[0])
        lines.append(f"Not stated, as the reader’s own errors could make it: {words}{also}.")
    single = [(e, strength) for e, strength in judged if len(e.group) == 1]
    # An attribute of one group is compared with nothing.
    lone = dict.fromkeys(next(iter(e.group)) for e, _ in single if ANY in e.group.values())
    if lone:
        lines.append(
            f"Differences between groups of {fmt.listed(lone)} cannot be measured, as there is "
            "only one."
        )
    # Groups of which no number could be measured: one that could is enough for a group to be seen.
    groups: dict[str, list[tuple[Estimate, Strength]]] = {}
    bare: dict[str, None] = {}
    for e, strength in single:
        if ANY not in e.group.values() and not {"pair", *NO_GROUPS}.intersection(e.group):
            label = group_label(e.group)
            # What no baseline gives a share of has shares, but no comparison.
            if no_baseline(e):
                bare[label] = None
            else:
                groups.setdefault(label, []).append((e, strength))
    rare = {
        name: rows
        for name, rows in groups.items()
        if all(strength is CANNOT for _, strength in rows)
    }
    if rare:
        of_people = any(e.unit != "text" for rows in rare.values() for e, _ in rows)
        lines.append(
            f"Cannot be measured here: {fmt.listed(rare, MOST_NAMED)}. There are fewer than "
            f"{FEW_PEOPLE} {'people' if of_people else 'texts'} of them or {FEW_PROMPTS} prompts, "
            "or the reader cannot see them."
        )
    if names := [name for name in bare if name not in groups]:
        lines.append(
            f"No baseline gives a share of {fmt.listed(names, MOST_NAMED)}: how often they occur "
            "stands in the figures, compared with nothing."
        )
    if unclear := sum(strength is UNCLEAR for _, strength in judged):
        lines.append(
            f"For {unclear:,} of {fmt.plural(len(judged), 'number')} these texts do not settle "
            "whether groups differ. That is no evidence that they are treated alike."
        )
    return tuple(lines)


_COUNT = """
    select count(distinct prompt_id) as n from read_parquet($texts) where outcome = 'ok'
"""


@dataclass(frozen=True)
class Planted:
    """Planted differences, and the findings that state them.

    Attributes
    ----------
    writer
        Who wrote the sample.
    rows
        Each planted difference in words, with the ranks of the findings that state it.
    n_others
        How many findings state nothing that was planted.
    """

    writer: str
    rows: tuple[tuple[str, tuple[int, ...]], ...]
    n_others: int

    @property
    def sentence(self) -> str:
        """How many were found, and what else was."""
        n_found = sum(bool(ranks) for _, ranks in self.rows)
        more = f"{fmt.plural(self.n_others, 'finding')} that nobody planted"
        return (
            f"{n_found} of {fmt.plural(len(self.rows), 'planted difference')} found, and "
            f"{more if self.n_others else 'nothing else'}."
        )


def planted(view: View, findings: Sequence[Finding]) -> Planted | None:
    """Return what was planted in the texts of a run, and found; None unless they are a sample."""
    try:
        texts = view.study.sample().get("texts") if view.study else None
    except PortrayalError:
        return None  # a study of one's own may have none
    file = None if texts is None else texts.with_name("planted.toml")
    if texts is None or file is None or not file.is_file():
        return None
    digest = hashlib.blake2b(texts.read_bytes(), digest_size=16).hexdigest()
    # The very sample: other texts of the study were given no differences.
    if view.note.get("source_digest") != digest:
        return None
    plan = tomllib.loads(file.read_text(encoding="utf-8"))
    # By measure, place and attribute: which of its groups states the difference is open.
    places = [(stem(f.first.measure), domain_of(f.first), {*f.first.group}) for f in findings]
    rows = []
    for row in plan["planted"]:
        place = row["measure"], row["domain"], {row["attribute"]}
        rows.append((row["words"], tuple(i for i, p in enumerate(places, start=1) if p == place)))
    n_stating = len({rank for _, ranks in rows for rank in ranks})
    return Planted(plan["who"], tuple(rows), len(findings) - n_stating)


def answers(view: View) -> tuple[str, ...]:
    """Return a line for each question that was asked of a run beforehand: when, and what came out.

    The settings of the run keep what was asked, and when.
    """
    texts = [str(record["text"]) for record in view.settings.get("questions", ())]
    return tuple(f"“{text}” ({when_asked(view, text)}): {_answer(view, text)}" for text in texts)


def _answer(view: View, text: str) -> str:
    """What came out of a question; no number of it is an answer too, and must be said."""
    try:
        question = Question.of(text)
    except UnknownNameError as error:  # of a measure that is not installed here
        return str(error)
    matching = [e for e in view.estimates if question.names(e, view.main)]
    if matching:
        return f"{'; '.join(_result(view, e) for e in matching)}."
    rows = view.by_measure.get(question.measure, [])
    keys = list(dict.fromkeys(key for e in rows for key in (*e.strata, *e.group)))
    unknown = [key for key in question.where if key not in keys]
    if keys and unknown:
        return f"{question.measure} has no {unknown[0]} here; it has {fmt.listed(keys)}."
    return "no number of this run answers it."


def _result(view: View, e: Estimate) -> str:
    """The number, its interval, p and q, and how sure it is; or why there is none."""
    label = label_of(view, e)
    if e.value is None:
        return f"{label} has no value, as {e.undefined}"
    value = f"{label} is {fmt.number(e.value, form_of(e))}"
    if e.interval is not None:
        value += f" ({fmt.interval(e.interval, form_of(e))})"
    # Of the questions asked beforehand alone: a family of its own, and a small one.
    q = q_of(e)
    if q is None:
        return f"{value} without a test: {e.status.no_test or 'there is none of it'}"
    sure: str = strength_of(view, e)
    if sure == UNCLEAR:
        sure = "not settled by these texts"
    elif sure == CANNOT and e.n_clusters < FEW_PROMPTS:
        sure = f"not stated, as {clusters_of(e)} are fewer than {FEW_PROMPTS}"
    elif sure == CANNOT and not e.enough:
        sure = f"not stated, as fewer than {FEW_PEOPLE} people are expected in a role"
    elif sure == CANNOT:
        sure = "not stated, as errors of who read the texts could have made it"
    return f"{value}, {q_words(e.tests[0].p, 'p')}, {q_words(q)} among the questions asked: {sure}"


def remedies(view: View, local: Sequence[Finding]) -> tuple[str, ...]:
    """Return a line for each option that would tell more of the same texts.

    Also of `local`, which holds in its very prompts, and not in prompts like them.
    """
    lines = []
    if local and view.options.get("population") != THESE:
        units = local[0].units
        lines.append(
            f"To state {fmt.plural(len(local), 'difference')} of these very {units}, which tells "
            f"nothing of others: {again(view, '--population', THESE)}"
        )
    # One line, though many estimates would gain by the same option.
    sharper = next((e.status.sharper for e in view.estimates if e.status.sharper), "")
    if sharper:
        option, _, gain = sharper.partition(": ")
        lines.append(f"Comparing texts that are alike gives {gain}: {again(view, *option.split())}")
    # Errors of who reads people were measured on other texts.
    erring = [e for e in doubted(view) if ERROR_VALUE in e.details or e.status.reader_error]
    if erring and "hand_labels" not in view.options:
        sheet = shlex.join(("portrayal", "label", "sheet", str(view.run.path)))
        unstated = fmt.plural(len(erring), "number")
        lines.append(
            f"To know the reader’s errors on these texts, which leave {unstated} unstated, label a "
            f"sample by hand ({sheet}), then audit anew with --hand-labels"
        )
    rests_on = {name for e in view.estimates for name in e.instruments}
    lines += [
        f"{remedy['words']}: {again(view, *remedy['option'].split())}"
        for remedy in report_of(view).remedies
        if remedy["instrument"] in rests_on
    ]
    return tuple(lines)


def again(view: View, *options: str) -> str:
    """Return the command that makes the audit of a run anew with other options."""
    study = view.run.study_path if view.run.study_path.is_file() else view.settings["study"]
    folder, config = view.run.path, view.run.settings_path
    words = ["portrayal", "audit", study, "--out", folder, "--config", config, *options]
    return shlex.join(map(str, words))
