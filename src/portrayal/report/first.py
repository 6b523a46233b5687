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
from portrayal.records import (
    ERROR_VALUE,
    FEW_PEOPLE,
    FEW_PROMPTS,
    MINUS,
    THESE,
    Estimate,
)
from portrayal.registry import form_of
from portrayal.report.figures.figure import Figure
from portrayal.report.figures.generic import glance
from portrayal.report.findings import (
    AS_READ,
    STATISTICS,
    corrections,
    described_lines,
    doubt_words,
    doubted,
    findings,
    headline_measures,
    in_these_prompts,
    nearest,
    q_words,
    unchecked,
)
from portrayal.report.headline import (
    NO_GROUPS,
    as_facts,
    headline,
    label_of,
)
from portrayal.report.passages import rows_of
from portrayal.report.study import report_of
from portrayal.report.view import (
    CANNOT,
    UNCLEAR,
    Finding,
    View,
    clusters_of,
    domain_of,
    no_baseline,
    q_of,
    strength_of,
    unit_words,
    units,
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
"""What a run keeps of what it found, and the version of its form."""


@dataclass(frozen=True)
class Report:
    """What the report of a run says, in sentences: what a reader sees first.

    Attributes
    ----------
    read
        What was read, in one line.
    findings
        What the report states, those that stand in front first; each with its `headline`,
        `strength`, `facts`, `evidence` and the estimates behind it; `folded` says which a page
        folds.
    none
        What it leads with where nothing is stated: what could have been; or "".
    described
        Who is in the texts and the like, whatever is tested, in sentences.
    cannot
        What cannot be said, in sentences.
    chart
        The findings, or what comes nearest, as a chart of at most five rows; None where there is
        nothing to draw.
    here
        What holds in these prompts, were they fixed, though not in prompts like them.
    lead
        Which headline it is, and the candidates below it; None where runs are compared.
    planted
        What was planted in a sample, and found; None in others.
    asked
        A line for each question that was asked beforehand: when, and what came out.
    remedies
        Options that would answer what is left open, each with its command.
    corrected
        What labels by hand corrected, by how much, and what they did not and why, a line each.
    run
        The run; None where two are compared.

    Examples
    --------
    >>> text = "Maria was a star student. She helped her classmate Juan, and he thanked her."
    >>> stories = [{"prompt_id": "learning-neutral-arts", "text": text}] * 3
    >>> run = portrayal.audit(study="laissez-faire", texts=stories, report=False)
    >>> Report.of(run).findings
    ()
    """

    read: str
    findings: tuple[Finding, ...]
    none: str
    cannot: tuple[str, ...]
    described: tuple[str, ...] = ()
    chart: Figure | None = None
    here: tuple[Finding, ...] = ()
    lead: Any = None
    planted: "Planted | None" = None
    asked: tuple[str, ...] = ()
    remedies: tuple[str, ...] = ()
    corrected: tuple[str, ...] = ()
    run: Run | None = None

    @classmethod
    def of(cls, run: Run | View) -> "Report":
        """Read a run with estimates."""
        view = View.of(run)
        with view.run.speaking():
            return first_screen(view)

    @property
    def leads(self) -> tuple[str, ...]:
        """The sentences before the findings."""
        planted = (self.planted.sentence,) if self.planted else ()
        return (*planted, *filter(None, (" ".join(self.described), self.none)))

    @property
    def alike(self) -> tuple[str, ...]:
        """What shows no difference beside findings, and what is excluded, by question."""
        reaches = self.lead.alike if self.lead else ()
        return tuple(
            f"{capital(reach.sentence)}; {fmt.plural(reach.comparisons, 'comparison')}."
            for reach in reaches
            if reach.excluded and reach.in_reach
        )

    @property
    def folded(self) -> tuple[Finding, ...]:
        """The findings that a page folds."""
        return tuple(finding for finding in (*self.findings, *self.here) if finding.folded)

    def _repr_html_(self) -> str:
        # As on the page, without the marks of its words, which take its script.
        page = templates("portrayal.report").get_template("first_screen.html.j2")
        markup = page.render(first=self, notebook=True, terms=str)
        if self.run is None or not self.run.report_path.is_file():
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
        read_line(view),
        (),
        lead.sentence,
        cannot_lines(view),
        described_lines(view),
        lead=lead,
        asked=answers(view),
        remedies=remedies(view, local),
        corrected=corrections(view),
        run=view.run,
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
    return replace(
        screen,
        findings=general,
        here=local,
        chart=glance(view, general or nearest(view)),
        planted=planted(view, general, local),
    )


def finding_facts(run: Run) -> dict[str, Any]:
    """Return what a run found, or could have found, JSON-like (`headline.as_facts`)."""
    with run.speaking():
        view = View.of(run)
        screen = first_screen(view)
        return as_facts(view, screen.lead, (*screen.findings, *screen.here))


def finding_lines(run: Run | View) -> Iterator[str]:
    """Yield all that a terminal says of a run: what leads, findings, what comes nearest."""
    screen = Report.of(run)
    yield from screen.leads
    for rank, finding in enumerate(screen.findings, start=1):
        yield f"{rank}. {finding.headline}."
        yield f"   {finding.sure}; {'; '.join(finding.facts)}"
    for finding in screen.here:
        yield f"In these {finding.of_units}: {finding.headline}."
        yield f"   {'; '.join(finding.facts)}"
    yield from (f"asked beforehand: {line}" for line in screen.asked)
    yield from (*screen.remedies, *screen.corrected)
    candidates = screen.lead.candidates
    if candidates:
        yield "nearest to a finding (value, interval, p, q, what would establish it):"
    yield from ("  " + "  ".join(candidate.cells) for candidate in candidates)


def answer_lines(run: Run | View) -> Iterator[str]:
    """Yield what an audit ends with: one sentence with how sure it is, and the next command."""
    view = View.of(run)
    screen = Report.of(view)
    yield from screen.leads
    findings_stated = (*screen.findings, *screen.here)
    # Of like strength, one with counts can be repeated by anybody.
    counted = [
        finding
        for finding in findings_stated
        if finding.strength == findings_stated[0].strength
        and (finding.first.counts or FIRST in finding.first.details)
    ]
    for finding in (*counted, *findings_stated)[:1]:
        # One fact, and that nobody checked the scorer's reading of these texts.
        facts = [f for i, f in enumerate(finding.facts) if i < 1 or f == AS_READ]
        yield f"{finding.headline}. {capital(finding.sure)}: {', '.join(facts)}."
    yield from (f"asked beforehand: {line}" for line in screen.asked)
    # What would answer a question that is open comes before more of what is answered.
    following = shlex.join(("portrayal", "list", "findings", str(view.run.path)))
    more = len(findings_stated) - 1
    lead = f"{fmt.plural(more, 'more finding')}. " if more > 0 else ""
    if not findings_stated and screen.remedies:
        yield screen.remedies[0]
    else:
        yield f"{lead}Next: {following}"


def read_line(view: View) -> str:
    """Return in one line what was read: models, texts that could be read, and prompts or units."""
    words = report_of(view).wording
    outcomes: dict[str, int] = view.note.get("outcomes", {})
    total, ok = sum(outcomes.values()), outcomes.get("ok", 0)
    parts = [str(path) for path in view.run.texts.parts()]
    n = int(rows_of(_COUNT, {"texts": parts})[0]["n"]) if parts else 0
    models = len(view.models)
    models_words = about.models_line(view) if models < 2 else fmt.plural(models, "model")
    models_words = "" if models_words == "unnamed" else models_words
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
    compared = [side.replace(MINUS, " with ") for side in dict.fromkeys(sides)]
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
    unclear = sum(strength is UNCLEAR for _, strength in judged)
    lines = []
    # Chance does not explain it, the reader's errors could.
    if in_doubt := doubted(view):
        also = f", and {len(in_doubt) - 1} more" if len(in_doubt) > 1 else ""
        words = doubt_words(in_doubt[0])
        lines.append(f"Not stated, as the reader’s own errors could make it: {words}{also}.")
    # An attribute of one group is compared with nothing.
    single = [(e, strength) for e, strength in judged if len(e.group) == 1]
    of_one_group = dict.fromkeys(
        name for e, _ in single for name, value in e.group.items() if value == ANY
    )
    if of_one_group:
        lines.append(
            f"Differences between groups of {fmt.listed(of_one_group)} cannot be measured, as "
            "there is only one."
        )
    single = [
        (e, strength)
        for e, strength in single
        if not {"pair", *NO_GROUPS}.intersection(e.group) and ANY not in e.group.values()
    ]
    # Groups of which no number could be measured.
    groups: dict[str, bool] = {}
    for e, strength in single:
        if not no_baseline(e):
            name = group_label(e.group)
            # One number that could be measured is enough for a group to be seen.
            groups[name] = groups.get(name, True) and strength is CANNOT
    rare = [name for name, no_value in groups.items() if no_value]
    if rare:
        counted = {units(e.unit, 2.0) for e, _ in judged if group_label(e.group) in rare}
        unit = "people" if counted - {"texts"} else "texts"
        lines.append(
            f"Cannot be measured here: {fmt.listed(rare, MOST_NAMED)}. There are fewer than "
            f"{FEW_PEOPLE} {unit} of them or {FEW_PROMPTS} prompts, or the reader cannot see them."
        )
    # Groups of a factor that no baseline gives a share of: they have shares, but no comparison.
    bare = dict.fromkeys(group_label(e.group) for e, _ in single if no_baseline(e))
    names = [name for name in bare if name not in groups]
    if names:
        lines.append(
            f"No baseline gives a share of {fmt.listed(names, MOST_NAMED)}: how often they occur "
            "stands in the figures, compared with nothing."
        )
    if unclear:
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
    who
        Who wrote the sample.
    rows
        Each planted difference in words, with the ranks of the findings that state it.
    others
        How many findings state nothing that was planted.
    """

    who: str
    rows: tuple[tuple[str, tuple[int, ...]], ...]
    others: int

    @property
    def sentence(self) -> str:
        """How many were found, and what else was."""
        n_found = sum(bool(ranks) for _, ranks in self.rows)
        more = f"{fmt.plural(self.others, 'finding')} that nobody planted"
        return (
            f"{n_found} of {fmt.plural(len(self.rows), 'planted difference')} found, and "
            f"{more if self.others else 'nothing else'}."
        )


def planted(view: View, general: Sequence[Finding], local: Sequence[Finding]) -> Planted | None:
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

    def states(row: dict[str, Any], finding: Finding) -> bool:
        e = finding.first
        # By measure, place and attribute: which of its groups states the difference is open.
        place = stem(e.measure), domain_of(e), {*e.group}
        return place == (row["measure"], row["domain"], {row["attribute"]})

    findings = [*general, *local]
    ranks = [
        tuple(rank for rank, finding in enumerate(findings, start=1) if states(row, finding))
        for row in plan["planted"]
    ]
    n_others = len(findings) - len({rank for row_ranks in ranks for rank in row_ranks})
    words = (row["words"] for row in plan["planted"])
    return Planted(plan["who"], tuple(zip(words, ranks, strict=True)), n_others)


def answers(view: View) -> tuple[str, ...]:
    """Return a line for each question that was asked of a run beforehand.

    Parameters
    ----------
    view
        The run, whose settings keep what was asked, and when.
    """
    return tuple(_answer(view, record) for record in view.settings.get("questions", ()))


def _answer(view: View, record: dict[str, Any]) -> str:
    """What a question was, when it was asked, and what came out."""
    text = record["text"]
    try:
        question = Question.of(text)
    except UnknownNameError as error:  # of a measure that is not installed here
        return f"“{text}” ({when_asked(view, text)}): {error}"
    # No number of it is an answer too, and must be said.
    matching = [e for e in view.estimates if question.names(e, view.main)]
    results = [_result(view, e) for e in matching] or [_nothing_named(view, question)]
    return f"“{text}” ({when_asked(view, text)}): {'; '.join(results)}."


def _nothing_named(view: View, question: Question) -> str:
    """Why no number of a run is of what a question names."""
    rows = view.by_measure.get(question.measure, [])
    keys = list(dict.fromkeys(key for e in rows for key in (*e.strata, *e.group)))
    unknown = [key for key in question.where if key not in keys]
    if keys and unknown:
        return f"{question.measure} has no {unknown[0]} here; it has {fmt.listed(keys)}"
    return "no number of this run answers it"


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
    strength = strength_of(view, e)
    sure = {UNCLEAR: "not settled by these texts", CANNOT: f"not stated, as {_why_not(e)}"}.get(
        strength, strength
    )
    return f"{value}, {q_words(e.tests[0].p, 'p')}, {q_words(q)} among the questions asked: {sure}"


def _why_not(e: Estimate) -> str:
    """Why a number is not stated whatever its test says."""
    if e.n_clusters < FEW_PROMPTS:
        return f"{clusters_of(e)} are fewer than {FEW_PROMPTS}"
    if not e.enough:
        return f"fewer than {FEW_PEOPLE} people are expected in a role"
    return "errors of who read the texts could have made it"


def remedies(view: View, local: Sequence[Finding]) -> tuple[str, ...]:
    """Return a line for each option that would tell more of the same texts.

    Parameters
    ----------
    view
        The run.
    local
        What holds in its very prompts, and not in prompts like them.
    """
    lines = []
    if local and view.options.get("population") != THESE:
        units = unit_words(local[0].first, report_of(view).wording.clusters)
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
