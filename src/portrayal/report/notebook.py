"""Notebooks: what a report says, and its charts, as objects that a notebook shows."""

import html
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from portrayal.errors import MissingExtraError, OptionError
from portrayal.report.figures.generic import build, dots
from portrayal.report.figures.panels import CONFIG
from portrayal.report.first import first_screen
from portrayal.report.formats import plural
from portrayal.report.strength import Stated
from portrayal.report.view import View
from portrayal.run import Run, choose
from portrayal.run.pages import visible

if TYPE_CHECKING:
    import altair as alt

SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"


@dataclass(frozen=True)
class Report:
    """What the report of a run says, in sentences.

    Attributes
    ----------
    run
        The run.
    findings
        What the report states, the strongest first; each with its `headline`, `strength`, `facts`,
        `evidence` and the estimates behind it.
    none
        What the report leads with where it states nothing, and what came nearest; "" otherwise.
    cannot
        What cannot be said, in sentences.

    Examples
    --------
    >>> text = "Maria was a star student. She helped her classmate Juan, and he thanked her."
    >>> stories = [{"prompt_id": "learning-neutral-arts", "text": text}] * 3
    >>> run = portrayal.audit("laissez-faire", texts=stories, report=False)
    >>> Report.of(run).findings
    ()
    """

    run: Run
    findings: tuple[Stated, ...]
    none: str
    cannot: tuple[str, ...]

    @classmethod
    def of(cls, run: Run) -> "Report":
        """Read a run with estimates."""
        with run.speaking():
            first = first_screen(View.of(run))
        return cls(run, first.stated, f"{first.none} {first.near}".strip(), first.cannot)

    def _repr_html_(self) -> str:
        return "".join([*self._lines()])

    def _lines(self) -> Iterator[str]:
        yield f"<p>{_safe(_read(self.run))}</p>"
        if self.none:
            yield f"<p><strong>{_safe(self.none)}</strong></p>"
        for found in self.findings:
            facts = "; ".join((found.strength, *found.facts))
            yield f"<p><strong>{_safe(found.headline)}.</strong> {_safe(facts)}.</p>"
        for line in self.cannot:
            yield f"<p>{_safe(line)}</p>"
        if self.run.report_path.is_file():
            yield f"<p>The whole report: <code>{_safe(str(self.run.report_path))}</code></p>"


def run_html(run: Run) -> str:
    """Return a run as a notebook shows it: its findings, or how far it came."""
    if run.estimates_path.is_file():
        return Report.of(run)._repr_html_()
    return f"<p>{_safe(_read(run))}</p><p>It has no estimates yet.</p>"


def _read(run: Run) -> str:
    """What was read, in a sentence."""
    note = run.texts.note()
    study = run.settings().get("study", "no study") if run.settings_path.is_file() else "no study"
    texts = plural(int(note.get("n_texts", 0)), "text")
    models = ", ".join(note.get("models", ())) or "no model"
    return f"{run.path}: {study}, {texts} of {models}."


def _safe(text: str) -> str:
    return html.escape(visible(text))


def plot(run: Run, measure: str, figure: int = 0) -> "alt.TopLevelMixin":
    """Return the report's chart of a measure; see `Run.plot`."""
    try:
        import altair as alt
    except ImportError as error:
        raise MissingExtraError(
            'run.plot needs Altair: pip install altair, or the extra "notebook".'
        ) from error
    view = View.of(run)
    rows = choose(view.estimates, measure, {})
    name = rows[0].measure
    with run.speaking():
        drawn = [each.spec for each in build(view, name, rows) if each.spec is not None]
        drawn = drawn or [each.spec for each in dots(view, rows) if each.spec is not None]
    if not 0 <= figure < len(drawn):
        raise OptionError(
            f"{name} has {plural(len(drawn), 'chart')}, so there is no number {figure} (from 0). "
            "Its values: run.estimates."
        )
    spec: dict[str, Any] = {"$schema": SCHEMA, "config": CONFIG, **drawn[figure]}
    return alt.Chart.from_dict(spec)
