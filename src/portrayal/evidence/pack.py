"""Packs: what a run answers to each question of a form, and what it does not."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import portrayal.report.formats as fmt
from portrayal._version import __version__
from portrayal.errors import DataError
from portrayal.evidence.forms import Form, FormField, form
from portrayal.pipeline.datasheet import counted
from portrayal.records import ERROR_HIGH, ERROR_LOW, ERROR_VALUE, Estimate
from portrayal.registry import described, form_of
from portrayal.report.first import first_screen
from portrayal.report.strength import FirstScreen, strength_of
from portrayal.report.study import report_of
from portrayal.report.view import View, q_of
from portrayal.report.words import stem
from portrayal.run import Run

NOT_MEASURED = "not measured by this audit"
MOST = 12
"""Estimates that one answer lists; the run has all."""
NOTES = (
    "This pack is no legal advice and no statement of conformity. Whether the text applies, and "
    "whether what stands here is enough, is for people to judge.",
    "It is not a bias audit under New York City Local Law 144, which concerns automated tools for "
    "hiring and promotion decisions. Portrayal measures how texts portray people; it decides "
    "about no one.",
    "It sets no threshold: no value here passes or fails. “Strong” and “some evidence” say how "
    "surely a difference is there, not whether it is acceptable.",
    f"A field that says “{NOT_MEASURED}” is for whoever knows the answer to fill.",
    "Race shares describe the populations that bear names, never a person.",
)
"""What every pack says of itself."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One thing that a run says.

    Attributes
    ----------
    text
        In words.
    source
        File of the run that says it.
    estimates
        The estimates that it rests on or lists.
    """

    text: str
    source: str
    estimates: tuple[Estimate, ...] = ()


@dataclass(frozen=True, slots=True)
class FormAnswer:
    """A field with what the run says to it; no statements where it was not measured."""

    field: FormField
    statements: tuple[Statement, ...]

    @property
    def status(self) -> str:
        """Whether it is "filled", "filled in part" or "not measured by this audit"."""
        if not self.statements:
            return NOT_MEASURED
        return "filled in part" if self.field.left else "filled"


@dataclass(frozen=True)
class Pack:
    """The answers of a run to a form.

    Attributes
    ----------
    asked, form
        What was asked for, a name or a file, and the form.
    view
        The run as the report reads it.
    answers
        One for each field of the form.
    """

    asked: str
    form: Form
    view: View
    answers: tuple[FormAnswer, ...]

    @property
    def n_measured(self) -> int:
        """Fields that the run fills, also in part."""
        return sum(bool(answer.statements) for answer in self.answers)


def pack_of(run: Run, name: str) -> Pack:
    """Return what a run answers to a form, given by its name or its TOML file.

    Parameters
    ----------
    run
        A run with estimates.
    name
        One of `portrayal.evidence.forms()`, or the path of a form of your own.

    Raises
    ------
    RunError
        When the run has no estimates yet.
    UnknownNameError, DataError
        When the form is not known, is no form, or asks for a fill that there is not.
    """
    form_of = form(name)
    source = _Source(View.of(run))
    for field in form_of.fields:
        unknown = [fill for fill in field.fill if fill not in FILLS]
        if unknown:
            raise DataError(
                f"{form_of.name}: {field.key} is filled by {unknown[0]!r}; known: "
                f"{', '.join(FILLS)}."
            )
    with run.speaking():
        answers = tuple(
            FormAnswer(field, tuple(s for name in field.fill for s in FILLS[name](source, field)))
            for field in form_of.fields
        )
    return Pack(name, form_of, source.view, answers)


class _Source:
    """What a run says: what is read of it, counted once, and a method for each of `FILLS`."""

    def __init__(self, view: View) -> None:
        self.view = view

    @cached_property
    def counts(self) -> dict[str, Any]:
        """The counts of the run's texts."""
        return counted(self.view.run)

    @cached_property
    def first(self) -> FirstScreen:
        """What the report states."""
        return first_screen(self.view)

    @cached_property
    def judged(self) -> list[Estimate]:
        """What the report may state of the main models, the surest first."""
        every = [e for e in self.view.only_main(self.view.estimates) if e.tests]
        stated = [e for e in every if e.tests[0].audit_q is not None]
        return _surest_first(self.view, stated or every)

    def system(self, _: FormField) -> Iterator[Statement]:
        view, texts = self.view, self.counts
        named = [f"The texts are of {fmt.plural(len(texts['models']), 'model')}: "]
        named.append(fmt.listed(texts["models"]) + ".")
        if texts["answered_by"]:
            named.append(f" They name themselves {fmt.listed(texts['answered_by'])}.")
        yield Statement("".join(named), "texts/")
        if asked := view.note.get("asked", {}):
            for model, how in sorted(asked.items()):
                given = ", ".join(f"{k} {v}" for k, v in sorted(how.get("parameters", {}).items()))
                yield Statement(f"{model} was asked with: {given or 'no parameters'}.", "texts/")

    def study(self, _: FormField) -> Iterator[Statement]:
        study, settings = self.view.study, self.view.settings
        version = settings.get("portrayal", __version__)
        if study is None:
            yield Statement(f"Study {settings.get('study')}, Portrayal {version}.", "audit.toml")
            return
        yield Statement(
            f"Portrayal {version}, study {study.name}: {study.question} "
            f"After {study.paper.rstrip('.')}.",
            "audit.toml",
        )

    def texts(self, _: FormField) -> Iterator[Statement]:
        t = self.counts
        yield Statement(
            f"{fmt.plural(t['n_texts'], 'text')} in answer to "
            f"{fmt.plural(t['n_prompts'], 'prompt')}, "
            f"{t['fewest']:,} to {t['most']:,} of each model to each prompt.",
            "texts/",
        )
        strata = fmt.listed(t["strata"]) if t["strata"] else "nothing"
        yield Statement(f"The prompts vary {strata}.", "prompts.parquet")

    def origin(self, _: FormField) -> Iterator[Statement]:
        t, note = self.counts, self.view.note
        if t["first"] is None:
            name = note.get("source", "a file")
            yield Statement(f"The texts were read from {name}; it does not say when.", "texts/")
        else:
            yield Statement(
                f"The models were asked from {t['first']} to {t['last']} (UTC).", "texts/"
            )

    def refusals(self, _: FormField) -> Iterator[Statement]:
        outcomes = dict(self.counts["outcomes"])
        unread = ", ".join(f"{n:,} {name}" for name, n in outcomes.items() if name != "ok")
        text = f"{outcomes.get('ok', 0):,} of {self.counts['n_texts']:,} texts could be read"
        yield Statement(f"{text}; {unread}." if unread else f"{text}.", "texts/")

    def instruments(self, _: FormField) -> Iterator[Statement]:
        settings = self.view.settings
        for name in settings.get("annotators", ()):
            component = described(name, "annotators")
            if component is not None:
                yield Statement(f"{name}: {component.summary}", "audit.toml")
        used: dict[str, set[str]] = {}
        for e in self.judged:
            for name, value in e.instruments.items():
                if name not in ("annotator", "labeler"):
                    used.setdefault(name, set()).add(value)
        for name, values in sorted(used.items()):
            if len(values) <= 3:
                said = f"{name.replace('_', ' ')}: {fmt.listed(sorted(values))}."
                yield Statement(said, "estimates.parquet")

    def reader(self, _: FormField) -> Iterator[Statement]:
        view = self.view
        for name in view.settings.get("annotators", ()):
            accuracy = getattr(described(name, "annotators"), "accuracy", "")
            if accuracy:
                yield Statement(f"How right {name} is: {accuracy}", "audit.toml")
        if "hand_labels" in view.options:
            yield Statement("Its errors on these texts were measured by hand labels.", "audit.toml")
        known = [e for e in self.judged if ERROR_VALUE in e.details]
        if known:
            low, high, value = (known[0].details[n] for n in (ERROR_LOW, ERROR_HIGH, ERROR_VALUE))
            yield Statement(
                "How far its errors could move a value is stated for "
                f"{fmt.plural(len(known), 'value')}; the first: "
                f"{fmt.number(known[0].value, form_of(known[0]))} as read, "
                f"{fmt.number(value, form_of(known[0]))} without its errors "
                f"({fmt.span(low, high, form_of(known[0]))}).",
                "estimates.parquet",
                tuple(known[:1]),
            )

    def findings(self, _: FormField) -> Iterator[Statement]:
        first = self.first
        if first.none:
            near = tuple(each.estimate for each in first.lead.candidates[:1])
            yield Statement(first.none, "estimates.parquet", near)
        for found in first.stated:
            facts = "; ".join((found.sure, *found.facts))
            yield Statement(f"{found.headline} ({facts}).", "estimates.parquet", found.estimates)

    def limits(self, _: FormField) -> Iterator[Statement]:
        for line in self.first.cannot:
            yield Statement(line, "estimates.parquet")
        if groups := report_of(self.view).wording.groups:
            yield Statement(groups, "audit.toml")

    def groups(self, _: FormField) -> Iterator[Statement]:
        values: dict[str, dict[str, None]] = {}
        for e in self.judged:
            for name, value in e.group.items():
                values.setdefault(name, {})[value] = None
        for name, known in values.items():
            shown = list(known)[:20] + ["others"] * (len(known) > 20)
            text = f"Groups by {name.replace('_', ' ')}: {fmt.listed(shown)}."
            yield Statement(text, "estimates.parquet")

    def results(self, _: FormField) -> Iterator[Statement]:
        yield from _listed(self.judged, "differences between groups")

    def unitary(self, _: FormField) -> Iterator[Statement]:
        rows = [e for e in self.judged if len(e.group) == 1]
        yield from _listed(rows, "groups by one attribute")

    def crossed(self, _: FormField) -> Iterator[Statement]:
        rows = [e for e in self.judged if len(e.group) > 1]
        yield from _listed(rows, "groups by several attributes together")

    def estimates(self, field: FormField) -> Iterator[Statement]:
        view = self.view
        for name, rows in view.by_measure.items():
            if stem(name) in field.measures:
                component = described(name)
                what = f"{name}: {component.summary.rstrip('.')}" if component else name
                yield from _listed(_surest_first(view, view.only_main(rows)), what)

    def metrics(self, _: FormField) -> Iterator[Statement]:
        for name in dict.fromkeys(e.measure for e in self.judged):
            component = described(name)
            if component is not None:
                said = f"{name}: {component.summary} Definition: {component.equation}."
                yield Statement(f"{said} After {component.source}.", "audit.toml")

    def uncertainty(self, _: FormField) -> Iterator[Statement]:
        view = self.view
        methods = dict.fromkeys(e.interval.method for e in self.judged if e.interval is not None)
        if not methods:
            return
        yield Statement(
            f"Intervals at {fmt.level(view.level)}: {fmt.listed(list(methods)[:4])}. "
            f"{report_of(view).wording.resampling}",
            "estimates.parquet",
        )
        tests = dict.fromkeys(e.tests[0].method for e in self.judged)
        yield Statement(
            f"Tests: {fmt.listed(list(tests)[:4])}; q by Benjamini and Hochberg among all that the "
            "report may state.",
            "estimates.parquet",
        )

    def options(self, _: FormField) -> Iterator[Statement]:
        given = self.view.options
        said = ", ".join(f"{name} {value}" for name, value in sorted(given.items()) if value != [])
        yield Statement(f"Options of the audit: {said}.", "audit.toml")

    def logs(self, _: FormField) -> Iterator[Statement]:
        yield Statement(
            "The run keeps every text, what was read in it and every estimate; its manifest.json "
            "holds the SHA-256 digest of each file and of what each step read, which "
            "`portrayal evidence --verify` checks.",
            "manifest.json",
        )


def _surest_first(view: View, rows: list[Estimate]) -> list[Estimate]:
    order = ("strong", "some evidence", "no clear difference", "cannot be measured here")

    def key(e: Estimate) -> tuple[int, float]:
        q = q_of(e)
        return order.index(strength_of(view, e)), math.inf if q is None else q

    return sorted(rows, key=key)


def _listed(rows: list[Estimate], what: str) -> Iterator[Statement]:
    """A statement that lists the first of some estimates; none where none has a value."""
    known = [e for e in rows if e.value is not None]
    if not known:
        return
    text = f"{fmt.plural(len(known), 'estimate')} of {what}"
    if len(known) < len(rows):
        text += f", and {len(rows) - len(known):,} more that are undefined"
    if len(known) > MOST:
        text += f"; the {MOST} that say most are listed, and `portrayal list estimates` prints all"
    yield Statement(f"{text}.", "estimates.parquet", tuple(known[:MOST]))


FILLS: Mapping[str, Callable[[_Source, FormField], Iterator[Statement]]] = {
    "crossed": _Source.crossed,
    "estimates": _Source.estimates,
    "findings": _Source.findings,
    "groups": _Source.groups,
    "instruments": _Source.instruments,
    "limits": _Source.limits,
    "logs": _Source.logs,
    "metrics": _Source.metrics,
    "options": _Source.options,
    "origin": _Source.origin,
    "reader": _Source.reader,
    "refusals": _Source.refusals,
    "results": _Source.results,
    "study": _Source.study,
    "system": _Source.system,
    "texts": _Source.texts,
    "uncertainty": _Source.uncertainty,
    "unitary": _Source.unitary,
}
"""What can fill a field, by the name that a form gives it."""
