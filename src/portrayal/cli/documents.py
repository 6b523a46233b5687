"""The commands `report`, `replicate`, `evidence`: documents of runs or papers."""

import os
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import portrayal.cli.printing as show
import portrayal.registry as registry
from portrayal.cli.options import ONE_BY_ONE, Every, RunPath, given
from portrayal.errors import OptionError
from portrayal.shown import counted

_REASONS = 5
"""Reasons why there is no figure, or no interval, that are shown unasked: the commonest."""

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


def replicate_of(name: str) -> tuple[Callable[..., None], str]:
    """Return the command `replicate` of a study, and an example."""
    from portrayal.cli.audit import audit_by, study_options

    options = study_options(name)

    def replicate(
        *,
        data: Path | None = None,
        texts: Path | None = None,
        model_options: Annotated[Any, ONE_BY_ONE] = options,
        out: Path | None = None,
        show_all: Every = False,
        format: Literal["table", "csv", "json"] = "table",
    ) -> None:
        """Replicate.

        Parameters
        ----------
        data
            Folder of the authors' files; without texts of any kind printed tables are checked.
        texts
            Your own models' answers: a file or folder, or the directory of an audit of them.
        out
            Run directory; default runs/replicate-STUDY.
        format
            table, csv or json.
        """
        from portrayal.pipeline.replicate import beside_published, published_tables_of
        from portrayal.pipeline.replicate import replicate as replicated
        from portrayal.run import Run
        from portrayal.run.manifest import SETTINGS

        published_tables_of(name)  # or an error, before any model is asked
        audit_options = given(model_options)
        place = out or Path(f"runs/replicate-{registry.called(name)}")
        mine = [texts, *map(audit_options.get, ("model", "reference"))]
        if (data and any(mine)) or (texts and audit_options.get("model")):
            raise OptionError("give one of --data, --texts and --model: whose texts are compared.")
        if data is not None:
            audit_options = {"workers": os.cpu_count() or 1, **audit_options}
            say = show.line if format == "table" else None
            replication = replicated(name, data, place, say=say, **audit_options)
        elif any(mine):
            if texts is not None and (texts / SETTINGS).is_file():
                run = Run.open(texts)
            else:
                run = audit_by(name, model_options, format, texts, place)
            if run.study != name:
                raise OptionError(f"{texts} is a run of {run.study}; give one of {name}.")
            replication = beside_published(run)
        elif out or audit_options or format == "csv":
            raise OptionError("csv and options of an audit need --data, --texts or --model.")
        else:  # only the printed tables are compared, which needs no run
            _reproduction(name, format, list_rows=show_all)
            return
        _show_replication(replication, format, None if show_all else show.ROWS)

    return replicate, f"portrayal replicate {name} --data FOLDER"


def _show_replication(replication: "Replication", format: str, most: int | None) -> None:
    """Print every published figure beside ours, why they may differ, and what was not read."""
    parts = [*_figures(replication, most)]
    parts += [f"why they may differ: {reason}" for reason in replication.reasons]
    parts += [f"left out: {text}" for text in replication.left_out[:3]]
    if len(replication.left_out) > 3:
        parts.append(f"and {len(replication.left_out) - 3:,} files more")
    flat = [{**asdict(figure), "verdict": figure.verdict} for figure in replication.figures]
    facts: dict[str, Any] = {"study": replication.run.study, "run": replication.run.path}
    facts |= {"figures": flat, "why": replication.reasons}
    show.give(format, facts, parts, flat)


def _figures(replication: "Replication", most: int | None) -> "Iterator[show.Part]":
    """Published figures beside ours, or those of each model, and how many of each table agree."""
    from portrayal.pipeline.replicate import APART, NO_INTERVAL, NONE, VERDICTS
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
        for verdict in (NONE, NO_INTERVAL):
            reasons = Counter(f.lacking for f in figures if f.verdict == verdict and f.lacking)
            for reason, n in reasons.most_common(most and _REASONS):
                yield f"{verdict}: {counted(n, 'figure')}: {reason}"


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
