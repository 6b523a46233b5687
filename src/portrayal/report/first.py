"""First screen: what was read, what was found and how surely, and what cannot be said.

Every report opens with it, also one of two runs beside each other.
"""

import hashlib
import json
import shlex
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

import portrayal.report.about as about
import portrayal.report.formats as fmt
from portrayal._version import __version__
from portrayal.annotate.scores import AGENCY
from portrayal.measure.corrected import MARKS
from portrayal.records import (
    ALL,
    ERROR_LOW,
    FEW_PEOPLE,
    FEW_PROMPTS,
    THESE,
    Estimate,
    finite,
)
from portrayal.registry import form_of
from portrayal.report.figures.generic import glance
from portrayal.report.findings import (
    STATISTICS,
    corrections,
    doubted,
    findings,
    headline_measures,
    in_these_prompts,
    nearest,
)
from portrayal.report.headline import as_facts, facts, headline, hypotheses, label_of
from portrayal.report.passages import rows_of
from portrayal.report.planted import planted
from portrayal.report.questions import answers
from portrayal.report.remedies import remedies
from portrayal.report.strength import CANNOT, UNCLEAR, FirstScreen, strength_of, units
from portrayal.report.study import report_of
from portrayal.report.view import View, no_baseline, place_of
from portrayal.report.words import group_label
from portrayal.run.directory import Run
from portrayal.run.files import read_parquet, write_atomically

AS_READ = "as the scorer reads"
MOST_NAMED = 4
"""Groups that one line names."""
FINDINGS, SCHEMA = "findings.json", 2
"""What a run keeps of what it found, and the version of its form."""


def first_screen(view: View) -> FirstScreen:
    """Return the first screen of a run; where nothing could be seen, nothing is stated."""
    strongest = findings(view)
    chart = glance(view, [*strongest, *([] if strongest else nearest(view))])
    screen = FirstScreen(read_line(view), tuple(strongest), "", cannot_lines(view), chart)
    # What the run leads with is decided by what it could have seen, not by findings alone.
    lead, answered = headline(view, screen.stated), answers(view)
    screen = replace(screen, corrected=corrections(view))
    if lead.kind == "not measured":
        # Findings in copies, or in a language that nobody here reads, would mislead.
        bare = replace(screen, stated=(), here=(), chart=None)
        bare = replace(bare, remedies=remedies(view, ()))
        return replace(bare, none=lead.sentence, lead=lead, asked=answered)
    local = tuple(in_these_prompts(view, screen.stated))
    screen = replace(screen, asked=answered, remedies=remedies(view, local))
    planted_rows = planted(view, screen.stated, local)
    # What a scorer reads whose errors nobody knows is called so.
    populations = (screen.stated, local)
    fields = dict.fromkeys(
        name for some in populations for x in some if (name := unchecked(x.first))
    )
    general, local = (
        tuple(replace(x, facts=(*x.facts, AS_READ)) if unchecked(x.first) else x for x in some)
        for some in populations
    )
    cannot = screen.cannot
    if fields:
        cannot += (
            f"What is stated of {fmt.listed(list(fields))} is as the scorer reads: how far its "
            "errors move it is not known. Labels of a sample by hand tell (--hand-labels).",
        )
    units = report_of(view).wording.clusters
    general, local = (tuple(replace(x, units=units) for x in some) for some in (general, local))
    screen = replace(screen, stated=general, here=local, cannot=cannot, planted=planted_rows)
    return replace(screen, none=lead.sentence or screen.none, lead=lead)


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


def finding_facts(run: Run) -> dict[str, Any]:
    """Return what a run found, or could have found, JSON-like (`headline.as_facts`)."""
    with run.speaking():
        view = View.of(run)
        screen = first_screen(view)
        return as_facts(view, screen.lead, (*screen.stated, *screen.here))


def kept_findings(run: Run) -> dict[str, Any]:
    """Return what a run found as it keeps it in `findings.json`, anew where its numbers changed.

    `findings` is what `finding_facts` gives, `title` that of the study, `read` the line of what was
    read, `prompts` a digest of their words, and `questions` a row for each number of a model that
    the report may state: its label, measure, strata, group, statistic, value, bounds and units.
    """
    run.check()
    path = run.path / FINDINGS
    mark = {"schema": SCHEMA, "portrayal": __version__}
    # Kept findings hold while the numbers they were made of stay as they are.
    if run.manifest.vouches(FINDINGS):
        facts_of_run: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if facts_of_run.items() >= mark.items():
            return facts_of_run
    with run.speaking():
        view = View.of(run)
        screen = first_screen(view)
        shown_findings = (*screen.stated, *screen.here)
        questions = (
            *hypotheses(view),
            *(e for finding in shown_findings for e in finding.estimates),
        )
        # Questions over all models, so that boards can set the same ones side by side.
        labels = {_question(e): label_of(view, e) for e in questions}
        words = read_parquet(run.prompts_path, columns=["text"])["text"].to_pylist()
        facts_of_run = {
            **mark,
            "findings": as_facts(view, screen.lead, shown_findings),
            "title": getattr(view.study, "title", str(view.settings.get("study", ""))),
            "read": screen.read,
            "prompts": hashlib.sha256(repr(sorted(words)).encode()).hexdigest(),
            "level": view.level,
            "questions": [
                {
                    "label": labels[_question(e)],
                    "model": view.main if e.strata.get("model", ALL) == ALL else e.strata["model"],
                    "statistic": e.statistic,
                    "form": form_of(e),
                    "n_clusters": e.n_clusters,
                    **facts(e),
                }
                for e in view.estimates
                if _question(e) in labels and (len(view.models) < 2 or e.strata.get("model") != ALL)
            ],
        }
    facts_of_run = finite(facts_of_run)
    # A run that cannot be written to is read all the same.
    with suppress(OSError), run.manifest.recording(path):
        write_atomically(path, json.dumps(facts_of_run, ensure_ascii=False, indent=1))
    return facts_of_run


def _question(e: Any) -> tuple[object, ...]:
    """What an estimate is of, whichever the model."""
    return e.measure, e.statistic, *sorted(place_of(e).items()), *sorted(e.group.items())


def finding_lines(run: Run, most: int | None = None) -> Iterator[str]:
    """Yield what a terminal says of a run: headline or findings, then what comes nearest.

    Of `most` findings, where it is given, what stands behind them and comes nearest is left out.
    """
    with run.speaking():
        screen = first_screen(View.of(run))
    if screen.planted:
        yield screen.planted.sentence
    if screen.none:
        yield screen.none
    # A short list has one fact each, and that a scorer's reading is unchecked.
    for rank, finding in enumerate(screen.stated[:most], start=1):
        details = [f for i, f in enumerate(finding.facts) if most is None or i < 1 or f == AS_READ]
        yield f"{rank}. {finding.headline}."
        yield f"   {finding.sure}; {'; '.join(details)}"
    for finding in screen.here if most is None or not screen.stated else ():
        yield f"In these {finding.of_units}: {finding.headline}."
        yield f"   {'; '.join(finding.facts)}"
    for line in screen.asked:
        yield f"asked beforehand: {line}"
    yield from screen.remedies
    if most is None:  # an audit says it before its report
        yield from screen.corrected
    if most is not None:
        more = len(screen.stated) - most
        if more > 0:
            yield f"and {more} more: portrayal list findings {shlex.quote(str(run.path))}"
        return
    if screen.lead.candidates:
        yield "nearest to a finding (value, interval, p, q, what would establish it):"
    for finding in screen.lead.candidates:
        yield "  " + "  ".join(finding.cells)


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
    if noun != "prompt":
        # Prompts of several halves, or of one source, are one independent unit
        inferred = [e.n_clusters for e in view.estimates if e.population != THESE]
        n = max(inferred, default=n) or n
    return " · ".join(
        part for part in (models_words, readable, fmt.plural(n, noun) if n else "") if part
    )


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
    lines, in_doubt = [], doubted(view)
    if (
        in_doubt is not None and in_doubt.lines
    ):  # chance does not explain it, the reader's errors could
        more = len(in_doubt.lines) + in_doubt.more - 1
        also = f", and {more} more" if more else ""
        lines.append(
            f"Not stated, as the reader’s own errors could make it: {in_doubt.lines[0]}{also}."
        )
    # Groups of which no number could be measured.
    groups: dict[str, bool] = {}
    for e, strength in judged:
        if len(e.group) == 1 and "pair" not in e.group and not no_baseline(e):
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
    single = [e for e, _ in judged if len(e.group) == 1]
    compared = {group_label(e.group) for e in single if not no_baseline(e)}
    bare = dict.fromkeys(group_label(e.group) for e in single if no_baseline(e))
    names = [name for name in bare if name not in compared]
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
