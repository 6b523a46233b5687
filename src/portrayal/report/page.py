"""The page: what the sections give, put into the template with every word escaped."""

import base64
import hashlib
import os
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

from portrayal.report import about as asked
from portrayal.report import certainty, downloads
from portrayal.report import coding as coded
from portrayal.report.about import methods
from portrayal.report.figures import CONFIG, figures
from portrayal.report.figures.glance import glance
from portrayal.report.findings import absent_groups, cannot_say, findings, leads
from portrayal.report.inert import script_json, short
from portrayal.report.passages import readings
from portrayal.report.view import View
from portrayal.report.words import colour_rules
from portrayal.run.directory import Run
from portrayal.run.files import replacing, write_atomically
from portrayal.run.pages import templates, trusted
from portrayal.studies.agency.report.head import Head, agency_head
from portrayal.studies.agency.report.texts import agency_reading
from portrayal.studies.news.report.head import compared, interval_table, interval_words
from portrayal.studies.news.report.texts import examples

_START, _END = "(function(){", "})();"


@cache
def vega() -> str:
    """Return the script, which sets `window.vegaEmbed`."""
    try:
        path = _cache_folder() / f"vega-{version('vl-convert-python')}.js"
    except RuntimeError:
        return _made()
    kept = _kept(path)
    if kept is None:
        kept = _made()
        _keep(path, kept)
    return kept


def _cache_folder() -> Path:
    """$XDG_CACHE_HOME/portrayal, or ~/.cache/portrayal; a RuntimeError without a home."""
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path("~/.cache").expanduser()) / "portrayal"


def _made() -> str:
    import vl_convert

    bundle: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    return f"{_START}{bundle}{_END}"


def _kept(path: Path) -> str | None:
    """Return the script of a file; None where there is none, or not a whole one."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return None
    return text if text.startswith(_START) and text.endswith(_END) else None


def _keep(path: Path, text: str) -> None:
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, text)


def write_report(run: Run, path: Path) -> Path:
    """Write the report of `run` to `path` in one step and return the path.

    Parameters
    ----------
    run
        A run with estimates.
    path
        The HTML file; its folder is made where it is missing.

    Raises
    ------
    RunError
        When the run has no estimates yet.
    """
    text = render(View.of(run))
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8", errors="replace")
    return path


def render(view: View) -> str:
    """Return the page of a view as HTML."""
    return templates("portrayal.report").get_template("report.html.j2").render(_context(view))


@dataclass(frozen=True)
class _Script:
    """A script of our own, and the hash by which the page's policy lets it run."""

    text: str

    @property
    def digest(self) -> str:
        raw = hashlib.sha256(self.text.encode()).digest()
        return f"'sha256-{base64.b64encode(raw).decode()}'"


def _context(view: View) -> dict[str, Any]:
    drawn = figures(view)
    found, near = findings(view), leads(view)
    head, apart = agency_head(view), compared(view)
    reading = agency_reading(view) if head else None
    shown = examples(view) if apart else None
    overview = glance(view, found or near)
    charts = [{"key": figure.key, "label": figure.label, "spec": figure.spec} for figure in drawn]
    data = {
        "charts": [chart for chart in [overview, *charts] if chart and chart["spec"]],
        "config": CONFIG,
        "table": downloads.headline_rows(view),
    }
    needed = {"table.js": True, "charts.js": True, "agency.js": reading, "pairs.js": shown}
    scripts = [_Script(vega())] if data["charts"] else []
    scripts += [_Script(_read(name)) for name, wanted in needed.items() if wanted]
    return {
        **_asked(view, head),
        "agency": head,
        "reading": reading,
        "findings": found,
        "leads": near,
        "glance": overview,
        "absent": absent_groups(view),
        "cannot_say": cannot_say(view),
        "figures": drawn,
        "compared": apart,
        "examples": shown,
        "readings": [] if apart or head else readings(view, found or near),
        "coded": coded.sections(view),
        "naive": interval_words(view) if apart else certainty.naive_sentence(view),
        "comparison": interval_table(view) if apart else certainty.comparison(view),
        "multiplicity": certainty.multiplicity(view),
        "instruments": head.instruments if head else certainty.instruments(view),
        "methods": methods(view),
        "n_estimates": len(view.estimates),
        "version": str(view.settings.get("portrayal", "")),
        "style": trusted(_read("style.css") + colour_rules()),
        "scripts": [trusted(script.text) for script in scripts],
        "policy": " ".join(script.digest for script in scripts),
        "data": trusted(script_json(data)),
        "csv": downloads.packed_csv(view),
    }


def _asked(view: View, head: Head | None) -> dict[str, Any]:
    """Return what the page says of the study and of what was asked."""
    study = view.study
    return {
        "title": study.title if study else str(view.settings.get("study", "Audit")),
        "paper": study.paper if study else "",
        "question": study.question if study else "",
        "models": [short(model, 60) for model in view.models],
        "models_line": asked.models_line(view),
        "main": short(view.called(view.main), 60),
        "n_texts": int(view.note.get("n_texts", 0)),
        "facts": head.facts if head else asked.facts(view),
        "readable": asked.readable(view),
        "matched": asked.matched(view),
    }


def _read(name: str) -> str:
    return files("portrayal.report").joinpath("templates", name).read_text(encoding="utf-8")
