"""The commands `report`, `replicate`, `evidence`: documents of runs or papers."""

from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

import portrayal.cli.printing as show
import portrayal.registry as registry
from portrayal.cli.options import Every, RunPath, Texts
from portrayal.errors import OptionError

_REASONS = 5
"""Reasons why figures are not computable that are shown unasked, the commonest."""

if TYPE_CHECKING:
    from collections.abc import Iterator

    from portrayal.pipeline.replicate import PublishedFigure, Replication
    from portrayal.studies.checks import Row


def report(run: RunPath, /, *, out: Path | None = None) -> None:
    """Write the page of a run again; a browser prints it as PDF.

    Example: portrayal report runs/laissez-faire --out page.html

    Parameters
    ----------
    out
        File to write; default in the run.
    """
    from portrayal.report import write_report
    from portrayal.run import Run

    show.line(f"report: {write_report(Run.open(run), out)}")


def replicate(
    study: str,
    /,
    *,
    data: Path | None = None,
    texts: Texts = None,
    reference: Path | None = None,
    out: Path | None = None,
    model_alias: Annotated[list[str] | None, Parameter(metavar="NAME=NAME")] = None,
    show_all: Every = False,
    format: Literal["table", "csv", "json"] = "table",
) -> None:
    """Recompute the published tables of a study, and set a model of yours beside them.

    Example: portrayal replicate laissez-faire --data laissez-faire-prompts

    Parameters
    ----------
    study
        laissez-faire, news or agency.
    data
        Folder of the authors' files as they publish them, which are audited: every published figure
        is printed beside ours. With neither data nor texts the printed tables are checked against
        each other.
    texts
        Texts of your own models that answer the study's prompts, or the directory of an audit of
        them: each published figure stands beside theirs.
    reference
        Originals of these texts, of news.
    out
        Run directory; default runs/replicate-STUDY.
    model_alias
        Name of a model in the authors' files=its name in the tables; repeatable.
    format
        table, csv or json.
    """
    from portrayal.collect.fields import parse_columns
    from portrayal.pipeline.replicate import beside_published
    from portrayal.pipeline.replicate import replicate as replicated

    say = show.line if format == "table" else show.nothing
    place = out or Path(f"runs/replicate-{study}")
    most = None if show_all else show.ROWS
    if data is not None and texts is not None:
        raise OptionError("--data is the authors' files, --texts are yours; give one of them.")
    if data is not None:
        replication = replicated(study, data, place, models=parse_columns(model_alias), say=say)
    elif texts is not None:
        replication = beside_published(study, texts, place, reference=reference, say=say)
    else:
        # Only the printed tables are compared, which needs no run
        if out or model_alias or format == "csv":
            raise OptionError("--out, --model-alias and csv are of files; give --data or --texts.")
        _reproduction(study, format, list_rows=show_all)
        return
    parts = [*_figures(replication, most)]
    parts += [f"why they may differ: {reason}" for reason in replication.why]
    parts += [f"left out: {text}" for text in replication.left_out[:3]]
    if len(replication.left_out) > 3:
        parts.append(f"and {len(replication.left_out) - 3:,} files more")
    flat = [{**asdict(figure), "verdict": figure.verdict} for figure in replication.figures]
    facts = {"study": study, "run": replication.run.path, "figures": flat, "why": replication.why}
    show.give(format, facts, parts, flat)


def _figures(replication: "Replication", most: int | None) -> "Iterator[show.Part]":
    """Published figures beside ours, or those of each model, and how many of each table agree."""
    from portrayal.pipeline.replicate import APART, NONE, VERDICTS
    from portrayal.run.pages import number, spread

    for writer in dict.fromkeys(figure.writer for figure in replication.figures):
        figures = [figure for figure in replication.figures if figure.writer == writer]
        if writer:
            yield show.text_table(*_by_model(figures), most)
        else:
            rows = [
                (
                    " · ".join((figure.place, figure.domain, figure.model, figure.who)),
                    number(figure.printed),
                    number(figure.ours),
                    spread(None if figure.low is None else figure),
                    figure.verdict,
                )
                for figure in figures
                if figure.ours is not None
            ]
            heads = ("figure", "published", "ours", "interval", "published is")
            yield show.text_table(heads, rows, most)
        counts: dict[tuple[bool, str], Counter[str]] = {}
        for figure in figures:
            # Levels that the reader decides stand after what it does not
            by_reader = f", level of the {figure.reader}" if figure.reader else ""
            table = bool(by_reader), figure.place + by_reader
            counts.setdefault(table, Counter())[figure.verdict] += 1
        verdicts = [verdict for verdict in VERDICTS if any(of[verdict] for of in counts.values())]
        yield (
            ("table", "figures", *verdicts),
            [
                (
                    table,
                    f"{of.total():,}",
                    *(f"{of[name]:,}" if of[name] else "" for name in verdicts),
                )
                for (_, table), of in sorted(counts.items(), key=lambda item: item[0][0])
            ],
        )
        if writer:
            yield (
                f"{writer}: {sum(f.verdict == APART for f in figures):,} of "
                f"{sum(f.q is not None for f in figures):,} published figures are told apart from "
                "it (*), at a false discovery rate of 5 % over all; one without an interval counts "
                "as exact"
            )
        lacking = Counter(figure.lacking for figure in figures if figure.verdict == NONE)
        for reason, n in lacking.most_common(most and _REASONS):
            yield f"{NONE}: {n:,} figures: {reason}"


def _by_model(figures: "list[PublishedFigure]") -> tuple[list[str], list[list[str]]]:
    """A model of one's own as one more column beside the published models; * is told apart."""
    from portrayal.pipeline.replicate import APART
    from portrayal.run.pages import number, spread

    models = list(dict.fromkeys(figure.model for figure in figures))
    by_name: dict[str, dict[str, PublishedFigure]] = {}
    for figure in figures:
        if figure.ours is not None:
            name = " · ".join((figure.place, figure.domain, figure.who))
            by_name.setdefault(name, {})[figure.model] = figure
    rows = []
    for name, of in by_name.items():
        first = next(iter(of.values()))
        row = [name, number(first.ours), spread(None if first.low is None else first)]
        for model in models:
            mark = " *" if model in of and of[model].verdict == APART else ""
            row.append(number(of[model].printed) + mark if model in of else "")
        rows.append(row)
    return ["figure", figures[0].writer, "interval", *models], rows


def _reproduction(study: str, format: str, *, list_rows: bool) -> None:
    """Print how many published figures reproduce, and which do not."""
    from portrayal.studies.checks import run_checks

    checks = run_checks(study)
    if not checks:
        raise OptionError(f"{study} has no published table to reproduce; its card says why.")
    names = ("table", "statistic", "checked", "reproduced")
    facts: list[dict[str, Any]] = []
    lines: list[str] = []
    for check in checks:
        facts.append({name: getattr(check, name) for name in names})
        # Figures that a check goes through, where it lists them, and those not reproduced.
        for name in ("figures", "rows") if list_rows else ():
            if name == "rows" or check.figures:
                facts[-1][name] = getattr(check, name)
    for row in (row for check in checks for row in check.figures):
        lines.append(f"{_place(row)}: printed {row.printed}; recomputed {row.ours}")
    for row in (row for check in checks for row in check.rows):
        lines.append(f"{_place(row)}: printed {row.printed}, ours {row.ours}. {row.explanation}")
    cells = [(check.table, check.statistic, check.reproduced, check.checked) for check in checks]
    table = ("table", "statistic", "reproduced", "checked"), cells
    name = registry.resolve("studies", study)
    show.give(format, {"study": name, "checks": facts}, [table, *(lines if list_rows else ())])


def _place(row: "Row") -> str:
    return " ".join(part for part in (row.table, row.domain, row.model, row.group) if part)


def evidence(run: RunPath, /, *, out: Path | None = None) -> None:
    """Write the model card of a run, of which every byte is as its manifest says.

    Example: portrayal evidence runs/first

    Parameters
    ----------
    out
        File to write; default RUN/evidence/model-card.md.
    """
    from portrayal.pipeline.model_card import write_model_card
    from portrayal.run import Run
    from portrayal.run.manifest import digest

    opened = Run.open(run)
    show.line(f"wrote {write_model_card(opened, out)}")
    show.line(f"sha256 of {opened.manifest.path}: {digest(opened.manifest.path)}")
