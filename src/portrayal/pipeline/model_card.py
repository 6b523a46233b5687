"""The model card of a run: what the run answers of Mitchell et al. (2019), and what it does not.

Every answer names the file of the run that says it and the ids of the estimates behind it; the
manifest of the run vouches for both. The same run gives the same card.
"""

import math
import tomllib
from collections.abc import Iterator, Sequence
from importlib.resources import files
from pathlib import Path

import pyarrow.parquet as pq

import portrayal.report.formats as fmt
from portrayal.collect.texts import said_left_out
from portrayal.errors import RunError
from portrayal.records import Estimate
from portrayal.report.about import methods, multiplicity, readable, reading_error
from portrayal.report.first import first_screen
from portrayal.report.study import report_of
from portrayal.report.view import CANNOT, SOME, STRONG, UNCLEAR, View, q_of, strength_of
from portrayal.report.words import values_of
from portrayal.run import Run, write_atomically
from portrayal.run.estimates import shown_cells
from portrayal.run.manifest import MISSING, Problem
from portrayal.shown import counted, markdown, markdown_table

__all__ = ["verify_run", "write_model_card"]

NOT_MEASURED = "not measured by this audit"
MOST = 12
"""Estimates that one answer lists; the run has all."""
BY_HAND = "Its errors on these texts were measured by hand labels."
NOTES = (
    "The audit read what the models wrote. It says nothing of how they were made.",
    "This card sets no threshold: no value here passes or fails. “Strong” and “some evidence” say "
    "how surely a difference is there, not whether it is acceptable.",
    f"What says “{NOT_MEASURED}” is for whoever knows the answer to fill.",
    "Race shares describe the populations that bear names, never a person.",
)
OF_SETTINGS = ("study", "readers", "metrics")
"""Lists whose statements rest on what was asked, in `audit.toml`; others on the estimates."""
Statement = tuple[str, Sequence[Estimate]]
"""What a run says, and the estimates that it rests on."""


def verify_run(run: Run) -> list[Problem]:
    """Return what of a run is not as its manifest says; empty where every byte is.

    Every file is digested, and no link is followed; so are the files outside the run that its
    options name, where they are here.
    """
    problems = run.manifest.problems(strict=True)
    if problems:
        return problems
    # Files outside only where the run itself is whole: one error at a time
    outside = run.manifest.outside(run.settings().get("options", {}).values())
    # A run is read elsewhere than it was made: what is not here cannot have changed here.
    return [problem for problem in outside if problem.fault != MISSING]


def write_model_card(run: Run, out: str | Path | None = None) -> Path:
    """Write the model card of a run as Markdown, and return its path.

    Parameters
    ----------
    run
        A run with estimates.
    out
        File; `evidence/model-card.md` in the run by default.

    Raises
    ------
    RunError
        When the run has no estimates yet, or is not as its manifest says.

    Examples
    --------
    >>> text = "Maria was a star student. She helped her classmate Juan, and he thanked her."
    >>> stories = [{"prompt_id": "learning-neutral-arts", "text": text}] * 3
    >>> run = portrayal.audit(study="laissez-faire", texts=stories, out="first")
    >>> portrayal.write_model_card(run).name
    'model-card.md'
    """
    # A card vouches for its numbers, so a run that has changed gets none
    if problems := verify_run(run):
        more = f", and {len(problems) - 1:,} more" if len(problems) > 1 else ""
        raise RunError(
            f"{run.path}: {problems[0]}{more}. The same `portrayal audit` command makes anew what "
            "does not fit."
        )
    view = View.of(run)
    with run.speaking():
        text = "\n".join(_lines(view)) + "\n"
    path = Path(out) if out is not None else run.path / "evidence" / "model-card.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, text)
    return path


def _lines(view: View) -> Iterator[str]:
    facts, lists = _facts(view), _lists(view)
    yield "# Model card"
    yield "\nFollows Mitchell et al. 2019, “Model Cards for Model Reporting”, Section 4"
    yield "(<https://doi.org/10.1145/3287560.3287596>).\n"
    yield f"From a run of Portrayal {facts['portrayal']}: {facts['study']}, {facts['models']}.\n"
    yield from (f"- {markdown(note)}" for note in NOTES)
    form = files("portrayal.pipeline").joinpath("model-card.toml").read_text("utf-8")
    for section in tomllib.loads(form)["section"]:
        yield f"\n## {section['title']}\n\n*{section['asks']}*\n"
        yield from (f"- {answer.format_map(facts)}" for answer in section.get("answers", ()))
        statements = [(name, *row) for name in section.get("lists", ()) for row in lists[name]]
        for name, text, estimates in statements:
            source = "audit.toml" if name in OF_SETTINGS else "estimates.parquet"
            yield f"- {markdown(text)} [{source}]"
            if estimates:
                heads, cells, _ = shown_cells(estimates)
                rows = [
                    (e.id, *row, strength_of(view, e))
                    for e, row in zip(estimates, cells, strict=True)
                ]
                yield f"\n{markdown_table(('id', *heads, 'how sure'), rows, indent='  ')}\n"
        blank = section.get("blank", "")
        if blank or not (statements or "answers" in section):
            yield f"\n**{NOT_MEASURED}**" + (f": {blank}" if blank else "")


def _facts(view: View) -> dict[str, str]:
    """What a run knows of its texts, by the names that the form gives it, as Markdown."""
    note = view.note
    collected = f"Imported from {note['source']}, which does not say how and when it was made."
    if requests := note.get("asked", {}):
        collected = "Asked by the interfaces of the models."
    for model, request in sorted(requests.items()):
        parameters = [f"{k} {v}" for k, v in sorted(request["parameters"].items())]
        names = f"; it names itself {', '.join(request['answered_by'])}"
        collected += f" {model}: {', '.join(parameters) or 'default parameters'}"
        collected += f"{names if request['answered_by'] else ''}."
    unread = readable(view)
    if left_out := note.get("left_out"):
        unread += f" Excluded, as their prompts are not the study's: {said_left_out(left_out)}."
    n_prompts = pq.read_metadata(view.run.prompts_path).num_rows
    sampling = f"{counted(note['n_texts'], 'answer')} to {counted(n_prompts, 'prompt')}"
    facts = {
        "study": str(view.settings.get("study")),
        "portrayal": str(view.settings.get("portrayal")),
        "models": ", ".join(note["models"]),
        "sampling": f"A sample: {sampling}, measured first on {view.run.manifest.first_measured}.",
        "collected": collected,
        "unread": unread,
    }
    return {name: markdown(text) for name, text in facts.items()}


def _judged(view: View) -> list[Estimate]:
    """What the report may state of the main models, the surest first."""
    tested = [e for e in view.only_main(view.estimates) if e.tests]
    # What the report may state; all that is tested where it may state nothing
    rows = [e for e in tested if e.tests[0].audit_q is not None] or tested
    order = (STRONG, SOME, UNCLEAR, CANNOT)
    # A q of 0 or none goes last: neither says how sure it is
    return sorted(rows, key=lambda e: (order.index(strength_of(view, e)), q_of(e) or math.inf))


def _lists(view: View) -> dict[str, list[Statement]]:
    """What a section of the form lists, by its name there, in the sentences of the report."""
    judged, wording, study = _judged(view), report_of(view).wording, view.study
    groups = values_of(e.group for e in judged)
    sections = [section for section in methods(view) if section["rows"]]
    lines: dict[str, list[str]] = {
        "study": [f"Study {study.name}: {study.question} After {study.paper}"] if study else [],
        "readers": [*reading_error(view), *([BY_HAND] if "hand_labels" in view.options else [])],
        "groups": [
            f"Groups by {name.replace('_', ' ')}: {fmt.listed(values, 20)}."
            for name, values in groups.items()
        ],
        "metrics": [
            f"{section['name']}: {section['summary']} "
            + " ".join(f"{label}: {words}" for label, words in section["rows"])
            for section in sections
        ],
        "uncertainty": [
            f"Intervals at {fmt.level(view.level)}. {wording.resampling} {multiplicity(view)}"
        ],
        "limits": [*first_screen(view).cannot, *filter(None, [wording.groups])],
    }
    lists: dict[str, list[Statement]] = {n: [(text, ()) for text in v] for n, v in lines.items()}
    first = first_screen(view)
    # Nothing found is a result too: shown with what came nearest
    near = [candidate.first for candidate in first.lead.candidates[:1]]
    lists["findings"] = [(first.lead.sentence, near)] if first.lead.sentence else []
    for finding in first.findings:
        sentence = f"{finding.headline} ({'; '.join((finding.sure, *finding.facts))})."
        lists["findings"].append((sentence, finding.estimates))
    for name, several in (("unitary", False), ("intersections", True)):
        lists[name] = _results([e for e in judged if (len(e.group) > 1) == several])
    return lists


def _results(rows: Sequence[Estimate]) -> list[Statement]:
    """The estimates of groups that say most, and how many there are."""
    valued = [e for e in rows if e.value is not None]
    if not valued:
        return []
    sentence = f"{fmt.plural(len(valued), 'estimate')} of groups"
    if len(valued) < len(rows):
        sentence += f", and {len(rows) - len(valued):,} more that are undefined"
    if len(valued) > MOST:
        sentence += f"; the {MOST} that say most are listed, and `portrayal list estimates` has all"
    return [(f"{sentence}.", valued[:MOST])]
