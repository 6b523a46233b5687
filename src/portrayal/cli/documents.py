"""The commands `report`, `replicate`, `evidence`: documents of runs or papers."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

import portrayal.cli.printing as show
import portrayal.registry as registry
from portrayal.cli.options import Every, RunPath
from portrayal.errors import OptionError

if TYPE_CHECKING:
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
    out: Path | None = None,
    model_alias: Annotated[list[str] | None, Parameter(metavar="NAME=NAME")] = None,
    show_all: Every = False,
    format: Literal["table", "csv", "json"] = "table",
) -> None:
    """Recompute the published tables of a study, from one another or from the authors' own files.

    Example: portrayal replicate laissez-faire --data laissez-faire-prompts

    Parameters
    ----------
    study
        laissez-faire, news or agency.
    data
        Folder of the files, as the authors publish them, which are audited: every published figure
        is printed beside ours. Without it the printed tables are checked against each other.
    out
        Run directory; default runs/replicate-STUDY.
    model_alias
        Name of a model in the files=its name in the tables; repeatable.
    format
        table, csv or json.
    """
    from portrayal.collect.fields import parse_columns
    from portrayal.pipeline.replicate import replicate as replicated
    from portrayal.run.pages import number, spread

    # Without files only the printed tables are compared, which needs no run
    if data is None:
        if out or model_alias or format == "csv":
            raise OptionError(
                "--out, --model-alias and csv are of the authors' files; give --data."
            )
        _reproduction(study, format, list_rows=show_all)
        return
    say = show.line if format == "table" else show.nothing
    place = out or Path(f"runs/replicate-{study}")
    replication = replicated(study, data, place, models=parse_columns(model_alias), say=say)
    figures = replication.figures
    rows, inside = [], {True: "inside", False: "outside", None: "–"}
    for figure in (figure for figure in figures if figure.ours is not None):
        name = " · ".join((figure.place, figure.domain, figure.model, figure.who))
        interval = spread(None if figure.low is None else figure)
        values = number(figure.printed), number(figure.ours)
        rows.append((name, *values, interval, inside[figure.inside]))
    heads = ("figure", "published", "ours", "interval", "published is")
    parts: list[show.Part] = [show.text_table(heads, rows, None if show_all else show.ROWS)]
    for table in dict.fromkeys(figure.place for figure in figures):
        table_figures = [figure for figure in figures if figure.place == table]
        with_interval = [f.inside for f in table_figures if f.inside is not None]
        n_ours = sum(figure.ours is not None for figure in table_figures)
        parts.append(
            f"{table}: {n_ours:,} of {len(table_figures):,} published figures have one of ours; "
            f"{sum(with_interval):,} of {len(with_interval):,} lie in our interval"
        )
    parts += [f"why they may differ: {reason}" for reason in replication.why]
    parts += [
        f"left out, as none of the authors' kinds: {text}" for text in replication.left_out[:3]
    ]
    if len(replication.left_out) > 3:
        parts.append(f"and {len(replication.left_out) - 3:,} files more")
    flat = [{**asdict(figure), "inside": figure.inside} for figure in figures]
    facts = {"study": study, "run": place, "figures": flat, "why": replication.why}
    show.give(format, facts, parts, flat)


def _reproduction(study: str, format: str, *, list_rows: bool) -> None:
    """Print how many published figures reproduce, and which do not."""
    checks = registry.get("studies", study).reproduce()
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
