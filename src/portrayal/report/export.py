"""The report in other forms: Markdown, and in a notebook.

Markdown is made from the page itself, so that a part which a study adds is in it too.
"""

import html
import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

from portrayal.errors import OptionError
from portrayal.report.figures.declared import default, dots
from portrayal.report.figures.figure import Figure
from portrayal.report.figures.generic import build
from portrayal.report.first import Report
from portrayal.report.formats import plural
from portrayal.report.page import drawn_page, write_report
from portrayal.report.view import View
from portrayal.run import Run, choose
from portrayal.run.files import write_atomically
from portrayal.shown import markdown, markdown_table, visible
from portrayal.validate import check_choice

FORMATS = ("html", "md")
"""What a report can be written as."""
ROWS = 20
"""Rows of a table at most; the page and the run have them all."""


def export_report(
    run: Run, path: str | Path | None = None, format: str = "html", *, short: bool = False
) -> Path:
    """Write the report of a run in a format and return its path.

    Parameters
    ----------
    run
        A run with estimates.
    path
        The file; `report`, or `report-short`, with the format's ending in the run by default.
    format
        html, which a browser prints as PDF; or md, with its charts as SVG in a folder beside it.
    short
        Whether only the findings are written, about two pages.

    Raises
    ------
    RunError
        When the run has no estimates yet.
    OptionError
        When there is no such format.
    """
    check_choice("format", format, FORMATS)
    default = run.report_path.with_name(f"report{'-short' * short}.{format}")
    target = default if path is None else Path(path)
    if format == "html":
        return write_report(run, target, short=short)
    # From the page, so that Markdown says nothing else.
    page, images = drawn_page(View.of(run), short=short)
    target.parent.mkdir(parents=True, exist_ok=True)
    charts = target.with_name(f"{target.stem}-charts")
    # A run knows which of its files are made by it, and may be made anew.
    with run.manifest.recording(target), run.manifest.recording(charts):
        return _markdown(blocks_of(page), images, target)


@dataclass
class ExportBlock:
    """A piece of a page: h1–h4, p, li, image (text: what it shows; key) or table (rows)."""

    kind: str
    text: str = ""
    key: str = ""
    rows: list[list[str]] = field(default_factory=list)


_SKIPPED = ("nav", "script", "style", "button", "svg", "label", "noscript", "caption", "title")
_ASIDE = ("controls", "offline", "save", "skip")
_VOID = ("meta", "link", "input", "br", "img")
_STARTS = {"li": "li", "h1": "h1", "h2": "h2", "h3": "h3", "h4": "h4"}
_BLOCKS = (
    "p",
    "div",
    "section",
    "summary",
    "figcaption",
    "blockquote",
    "dl",
    "ul",
    "ol",
    "details",
)


class _Reader(HTMLParser):
    """Reads a page of ours into blocks."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.blocks: list[ExportBlock] = []
        self._kind, self._text, self._term = "p", "", ""
        self._skipped: list[str] = []
        self._table: list[list[str]] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        if tag in _VOID:
            return
        # What only works on a screen, with all that is inside it.
        if self._skipped or tag in _SKIPPED or attributes.get("class") in _ASIDE:
            self._skipped.append(tag)
            return
        # A chart becomes its image, and its label the text for those who cannot see it.
        if "data-chart" in attributes:
            self._flush()
            label = attributes.get("aria-label") or ""
            self.blocks.append(ExportBlock("image", label, attributes["data-chart"] or ""))
            self._skipped.append(tag)
        elif tag == "table":
            self._flush()
            self._table = []
        elif tag == "tr" and self._table is not None:
            self._table.append([])
        elif tag in ("td", "th"):
            self._text = ""
        elif tag in _STARTS or tag in _BLOCKS or attributes.get("class") == "reading":
            # A paragraph inside a list item is still that item.
            inside_item = tag in _BLOCKS and self._kind == "li" and not self._text.strip()
            self._flush()
            self._kind = "li" if inside_item else _STARTS.get(tag, "p")

    def handle_endtag(self, tag: str) -> None:
        if self._skipped:
            if self._skipped[-1] == tag:
                self._skipped.pop()
            return
        if tag in ("td", "th") and self._table:
            self._table[-1].append(_line(self._text))
            self._text = ""
        elif tag == "table" and self._table is not None:
            # A heading without rows is no table.
            if len(self._table) > 1:
                self.blocks.append(ExportBlock("table", rows=self._table))
            self._table = None
        elif tag == "dt":
            self._term, self._text = _line(self._text), ""
        elif tag in _STARTS or tag in (*_BLOCKS, "dd"):
            self._flush()

    def handle_data(self, data: str) -> None:
        if not self._skipped:
            self._text += data

    def _flush(self) -> None:
        text = _line(self._text)
        if text and self._table is None:
            # A term of a list of definitions leads the line of what it means.
            line = f"{self._term}: {text}" if self._term else text
            self.blocks.append(ExportBlock(self._kind, line))
        self._kind, self._text, self._term = "p", "", ""


def _line(text: str) -> str:
    return " ".join(text.split())


def blocks_of(page: str) -> list[ExportBlock]:
    """Return what a page of ours says as blocks, in order.

    Examples
    --------
    >>> [(b.kind, b.text) for b in blocks_of("<h2>One</h2><ul><li>two</li></ul>")]
    [('h2', 'One'), ('li', 'two')]
    """
    reader = _Reader()
    reader.feed(page.partition("<body>")[2] or page)
    reader.close()
    return reader.blocks


def _markdown(blocks: list[ExportBlock], images: dict[str, str], target: Path) -> Path:
    folder = target.with_name(f"{target.stem}-charts")
    lines: list[str] = []
    for block in blocks:
        text = markdown(block.text)
        if block.kind == "image":
            # A chart that could not be drawn has its table all the same.
            if block.key not in images:
                continue
            folder.mkdir(exist_ok=True)
            write_atomically(folder / f"{block.key}.svg", images[block.key])
            lines += [f"![{text}]({folder.name}/{block.key}.svg)", ""]
        elif block.kind == "table":
            lines.append(markdown_table(block.rows[0], block.rows[1 : ROWS + 1]))
            if len(block.rows) > ROWS + 1:
                lines.append(f"\n{len(block.rows) - ROWS - 1} more rows are in the page.")
            lines.append("")
        else:
            mark = "- " if block.kind == "li" else ""
            mark = "#" * int(block.kind[1]) + " " if block.kind.startswith("h") else mark
            lines += [mark + text, *([] if block.kind == "li" else [""])]
    # Markdown needs an empty line after a list, or the next paragraph joins it.
    spaced = re.sub(r"(?m)^(- .*)\n(?!- |\n)", r"\1\n\n", "\n".join(lines))
    write_atomically(target, spaced.rstrip() + "\n")
    return target


def run_html(run: Run) -> str:
    """Return a run as a notebook shows it: what its report says, or how far it came."""
    if run.estimates_path.is_file():
        return Report.of(run)._repr_html_()
    note = run.texts.note()
    study = run.settings().get("study", "no study") if run.settings_path.is_file() else "no study"
    texts = plural(int(note.get("n_texts", 0)), "text")
    models = ", ".join(note.get("models", ())) or "no model"
    line = html.escape(visible(f"{run.path}: {study}, {texts} of {models}."))
    return f"<p>{line}</p><p>It has no estimates yet.</p>"


def plot(run: Run, measure: str, figure: int = 0) -> Figure:
    """Return the report's chart of a measure; see `Run.plot`."""
    view = View.of(run)
    rows = choose(view.estimates, measure, {})
    name = rows[0].measure
    with run.speaking():
        charts = [chart for chart in build(view, name, rows) if chart.chart is not None]
        # A measure whose own figure is a table still has values to draw.
        figures = charts or [dots(view, default(name, rows), rows)]
        charts = [chart for chart in figures if chart.chart is not None]
    if not 0 <= figure < len(charts):
        raise OptionError(
            f"{name} has {plural(len(charts), 'chart')}, so there is no number {figure} (from 0). "
            "Its values: run.estimates."
        )
    return charts[figure]
