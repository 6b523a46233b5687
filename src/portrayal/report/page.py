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

import portrayal.report.about as about
import portrayal.report.certainty as certainty
import portrayal.report.coding as coded
import portrayal.report.downloads as downloads
from portrayal.report.about import methods
from portrayal.report.figures import CONFIG, figures
from portrayal.report.findings import Doubted, absent_groups, cannot_say, doubted, leads
from portrayal.report.first import first_screen
from portrayal.report.inert import script_json, short
from portrayal.report.passages import random_texts
from portrayal.report.stated import Stated
from portrayal.report.study import Section, report_of
from portrayal.report.view import View
from portrayal.report.words import colour_rules
from portrayal.run.directory import Run
from portrayal.run.files import replacing, write_atomically
from portrayal.run.pages import templates, trusted

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


def write_report(run: Run, path: str | Path | None = None) -> Path:
    """Write the report of `run` in one step and return its path.

    Parameters
    ----------
    run
        A run with estimates.
    path
        The HTML file, `report.html` of the run by default; its folder is made where it is missing.

    Raises
    ------
    RunError
        When the run has no estimates yet.
    """
    target = run.report_path if path is None else Path(path)
    text = render(View.of(run))
    target.parent.mkdir(parents=True, exist_ok=True)
    with replacing(target) as temporary:
        temporary.write_text(text, encoding="utf-8", errors="replace")
    return target


def render(view: View) -> str:
    """Return the page of a view as HTML."""
    environment = templates("portrayal.report")
    if report_of(view).package:
        from jinja2 import ChoiceLoader, PackageLoader, PrefixLoader

        own = PrefixLoader({"study": PackageLoader(report_of(view).package, "templates")})
        shared = PackageLoader("portrayal.report", "templates")
        environment = environment.overlay(loader=ChoiceLoader([shared, own]))
    return environment.get_template("report.html.j2").render(_context(view))


@dataclass(frozen=True)
class Script:
    """A script of our own, and the hash by which the page's policy lets it run."""

    text: str

    @property
    def digest(self) -> str:
        """The hash of the script as the policy names it."""
        raw = hashlib.sha256(self.text.encode()).digest()
        return f"'sha256-{base64.b64encode(raw).decode()}'"


@dataclass(frozen=True)
class _Filled:
    """A section with what it prints; None of its own where the study has no such section."""

    template: str
    own: Any
    script: str = ""


@dataclass(frozen=True)
class Found:
    """What stands behind the findings: what the reader may have made, leads, and limits."""

    leads: list[Stated]
    doubted: Doubted | None
    absent: str
    cannot_say: str

    @classmethod
    def of(cls, view: View) -> "Found":
        """Return what else stands out in any run."""
        return cls(leads(view), doubted(view), absent_groups(view), cannot_say(view))


def _filled(view: View, section: Section | None, template: str, content: Any = None) -> _Filled:
    """Fill the study's section, or a generic one by `content`."""
    if section is None:
        return _Filled(template, content(view) if content is not None else None)
    own = section.content(view)
    script = section.script if own is not None else ""
    return _Filled(f"study/{section.template}", own, script)


def _context(view: View) -> dict[str, Any]:
    report = report_of(view)
    found = _filled(view, report.found, "findings.html.j2", Found.of)
    texts = _filled(view, report.texts, "texts.html.j2", random_texts)
    below = _filled(view, report.asked, "nothing.html.j2")
    drawn = figures(view)
    first = first_screen(view)
    charts = [{"key": figure.key, "label": figure.label, "spec": figure.spec} for figure in drawn]
    table = downloads.headline_rows(view)
    data = {
        "charts": [chart for chart in [first.chart, *charts] if chart and chart["spec"]],
        "config": CONFIG,
        "table": table,
    }
    scripts = [Script(vega())] if data["charts"] else []
    scripts += [
        Script(read_template("portrayal.report", name)) for name in ("table.js", "charts.js")
    ]
    own = [section.script for section in (below, found, texts) if section.script]
    scripts += [Script(read_template(report.package, name)) for name in own]
    names = ("style.css", "first_screen.css")
    style = "".join(read_template("portrayal.report", name) for name in names) + colour_rules()
    compared, comparison = certainty.intervals(view)
    return {
        **_asked(view),
        "wording": report.wording,
        "first": first,
        "below": below,
        "found": found,
        "figures": drawn,
        "texts": texts,
        "coded": coded.sections(view),
        "compared": compared,
        "comparison": comparison,
        "multiplicity": certainty.multiplicity(view),
        "instruments": certainty.instruments(view),
        "methods": methods(view),
        "n_estimates": len(view.estimates),
        "version": str(view.settings.get("portrayal", "")),
        "style": trusted(
            style + (read_template(report.package, report.style) if report.style else "")
        ),
        "scripts": [trusted(script.text) for script in scripts],
        "policy": " ".join(script.digest for script in scripts),
        "example": _example(table["rows"]),
        "data": trusted(script_json(data)),
        "csv": downloads.packed_csv(view),
    }


def _asked(view: View) -> dict[str, Any]:
    """Return what the page says of the study and of what was asked."""
    study = view.study
    return {
        "title": study.title if study else str(view.settings.get("study", "Audit")),
        "paper": study.paper if study else "",
        "question": study.question if study else "",
        "models": [short(model, 60) for model in view.models],
        "models_line": about.models_line(view),
        "main": short(view.called(view.main), 60),
        "n_texts": int(view.note.get("n_texts", 0)),
        "facts": about.facts(view),
        "readable": about.readable(view),
    }


def _example(rows: list[list[str]]) -> str:
    """Words to filter the table of estimates by: a group and a place of its own."""
    words = [next((row[column] for row in rows if row[column]), "") for column in (3, 2)]
    return ", ".join([*(short(word, 20) for word in words if word), "…"])


def read_template(package: str, name: str) -> str:
    """Return a file of a package's folder of templates."""
    return files(package).joinpath("templates", name).read_text(encoding="utf-8")
