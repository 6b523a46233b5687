"""The commands `compare`, `watch` and `gate`, and what they print."""

import sys
from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

import portrayal.cli.printing as show
from portrayal.cli.options import Despite, Flag, Format, Level, Margin, Measure, Seed, Where
from portrayal.errors import OptionError

if TYPE_CHECKING:
    from portrayal.comparison import Change, Comparison, Several, Side, Summary, Timeline, Watch


def compare(
    runs: list[Path],
    /,
    *,
    by: Annotated[str | None, Parameter(metavar="model")] = None,
    against: Annotated[str | None, Parameter(metavar="MODEL")] = None,
    measure: Measure = None,
    where: Where = None,
    margin: Margin = 1.25,
    difference_margin: float | None = None,
    despite: Despite = None,
    every: Annotated[bool, Parameter(name="--all", show_default=False)] = False,
    format: Literal["table", "csv", "json", "markdown", "html"] = "table",
    out: Path | None = None,
    level: Level = 0.95,
    seed: Seed = 0,
) -> None:
    """Say what differs between runs, or models of one run, and what is shown not to.

    Example: portrayal compare runs/before runs/after --format html --out changes.html

    Parameters
    ----------
    runs
        Directories of runs; the first is the base.
    by
        Compare the models of one run: model.
    against
        Model that the others are compared with; with --by model.
    difference_margin
        Difference that counts as none; .05 for shares if it is left out.
    every
        Every estimate, not only what may be stated.
    format
        table, csv, json, markdown or html.
    out
        File to write in place of printing.
    """
    from portrayal.comparison import Side, compare_several, models_of
    from portrayal.run import Run

    opened = [Side(Run.open(path)) for path in runs]
    if by not in (None, "model"):
        raise OptionError(f"--by takes model; got {by!r}.")
    if (by is not None) != (len(opened) == 1):
        raise OptionError("give two runs or more, or one run with --by model.")
    if against is not None and by is None:
        raise OptionError(
            "--against names a model of --by model; the first run is the base of runs."
        )
    sides = models_of(opened[0], against) if by else opened
    if format == "html" and len(sides) > 2:
        raise OptionError("a page shows two sides: name two runs, or a run of two models.")
    with show.working("comparing", quiet=format != "table"):
        found = compare_several(
            sides,
            level=level,
            margin=margin,
            difference_margin=difference_margin,
            despite=despite or (),
            seed=seed,
        )
    with opened[0].run.speaking():
        _say(found, (sides[0], sides[1]), (measure, where or []), format, out, seed, every=every)


def _say(
    found: "Several",
    sides: "tuple[Side, Side]",
    chosen: tuple[str | None, list[str]],
    format: str,
    out: Path | None,
    seed: int,
    *,
    every: bool,
) -> None:
    """Print or write a comparison."""
    from portrayal.run import write_atomically

    measure, where = chosen
    if format == "html":
        from portrayal.report.changes import write_comparison

        page = _chosen(found.comparisons[0], measure, where)
        path = write_comparison(page, sides, out or Path("comparison.html"), seed)
        show.line(f"comparison: {path}")
        return
    text = _written(found, measure, where, format, every=every)
    if out is not None:
        write_atomically(out, text)
        show.line(f"comparison: {out}")
    else:
        (sys.stdout.write if format == "table" else show.data)(text)


def _written(
    found: "Several", measure: str | None, where: list[str], kind: str, *, every: bool
) -> str:
    """Return the comparisons in a format."""
    from portrayal.comparison.result import ordered, to_markdown

    chosen = [_chosen(each, measure, where) for each in found.comparisons]
    rows = [ordered(each, every=every) for each in chosen]
    if kind == "json":
        return show.json_text(_facts(found, chosen, rows))
    if kind == "csv":
        return _csv(chosen, rows)
    if kind == "markdown":
        parts = [to_markdown(each, own) for each, own in zip(chosen, rows, strict=True)]
        return "\n".join(parts)
    parts = [_table(each, own) for each, own in zip(chosen, rows, strict=True)]
    return "\n".join([*parts, *_summary_table(found, measure, where)])


def _chosen(found: "Comparison", measure: str | None, where: list[str]) -> "Comparison":
    """Keep the rows of a measure, stratum and group; an unknown one is refused."""
    from dataclasses import replace

    return replace(found, rows=tuple(show.select(found.rows, measure, where)))


def _facts(
    found: "Several", chosen: "Sequence[Comparison]", rows: "Sequence[Sequence[Change]]"
) -> dict[str, Any]:
    from dataclasses import asdict

    return {
        "base": found.base,
        "comparisons": [
            {
                "study": each.study,
                "a": each.a,
                "b": each.b,
                "level": each.level,
                "prompts": asdict(each.prompts),
                "instruments": [asdict(one) for one in each.instruments],
                "only_a": dict(each.only_a),
                "only_b": dict(each.only_b),
                "changes": [_plain(row) for row in own],
            }
            for each, own in zip(chosen, rows, strict=True)
        ],
        "summaries": [_plain(row) for row in found.summaries],
    }


def _plain(row: "Change | Summary") -> dict[str, Any]:
    fields = {name: getattr(row, name) for name in row.__dataclass_fields__}
    return fields | {"strata": dict(row.strata), "group": dict(row.group)}


def _csv(chosen: "Sequence[Comparison]", rows: "Sequence[Sequence[Change]]") -> str:
    from portrayal.collect.tables import write_rows
    from portrayal.comparison import flat_change

    flat = [
        {"a": each.a, "b": each.b, **flat_change(row)}
        for each, own in zip(chosen, rows, strict=True)
        for row in own
    ]
    columns = list(dict.fromkeys(name for row in flat for name in row))
    stream = StringIO()
    write_rows(stream, columns, flat)
    return stream.getvalue()


def _table(found: "Comparison", rows: "Sequence[Change]") -> str:
    from portrayal.comparison.result import HEADS, about, cells

    table = show.text_table(HEADS, [cells(row, found.level) for row in rows])
    return "\n".join([*about(found), table])


def _summary_table(found: "Several", measure: str | None, where: list[str]) -> list[str]:
    """Return the summary over models as a table; nothing for fewer than three."""
    from portrayal.comparison.result import number, words_of

    known = [row for row in found.summaries if row.undefined is None]
    rows = show.select(known, measure, where) if known else []
    if not rows:
        return []
    heads = (
        "over all models",
        "value",
        "interval",
        "a further model",
        "spread",
        "p",
        "q",
        "models",
    )
    cells = [
        (
            words_of(row.measure, row.strata, row.group),
            number(row.value),
            f"[{number(row.low)}, {number(row.high)}]",
            f"[{number(row.least)}, {number(row.most)}]",
            ("×" if row.scale == "ratio" else "") + number(row.spread),
            number(row.p),
            number(row.q),
            str(row.n_models),
        )
        for row in rows
    ]
    return [show.text_table(heads, cells)]


def watch(
    folder: Path,
    /,
    *,
    out: Path | None = None,
    level: Level = 0.95,
    despite: Despite = None,
    fail: Flag = False,
    format: Format = "table",
) -> None:
    """Test whether a repeated audit has changed since its first round, however often you look.

    The level holds for all looks together.

    Example: portrayal watch runs/weekly --fail

    Parameters
    ----------
    folder
        Folder of runs of one study, one a round.
    out
        Write an HTML page as well.
    fail
        Exit with status 1 where something has changed.
    """
    from portrayal.comparison import watch as watch_runs
    from portrayal.comparison import watch_values
    from portrayal.reference.labels import speaking_of

    json = format == "json"
    with show.working("reading rounds", quiet=json):
        found = watch_runs(folder, level=level, despite=despite or ())
    if out is not None:
        from portrayal.report.changes import write_watch

        write_watch(found, out)
    if json:
        show.as_json(watch_values(found))
    else:
        with speaking_of(found.factors):
            _print(found)
        if out is not None:
            show.line(f"page: {out}")
    if fail and found.alarms:
        raise SystemExit(1)


def _print(found: "Watch") -> None:
    rounds = [
        (number, each.when.isoformat(), each.name, ", ".join(each.models), f"{each.n_texts:,}")
        for number, each in enumerate(found.rounds, 1)
    ]
    show.table(("round", "date", "run", "models", "texts"), rounds)
    for text in found.differences:
        show.line(f"differs: {text}")
    for instrument in found.instruments:
        show.line(f"instruments differ: {instrument}")
    if found.left_out:
        show.line(f"left out, as no audit was finished there: {', '.join(found.left_out)}")
    tested = [row for row in found.rows if row.p is not None]
    if tested:
        rows = map(_cells, sorted(tested, key=lambda row: row.p or 0.0))
        show.table(("number", "first", "last", "change", "from", "p", "changed"), rows)
    show.line(_verdict(found, len(tested)))


def _cells(row: "Timeline") -> list[str]:
    from portrayal.comparison.result import words_of

    known = [value for value in row.values if value is not None]
    return [
        words_of(row.measure, row.strata, row.group),
        f"{known[0]:.3g}",
        f"{known[-1]:.3g}",
        f"{row.change:.3g} ({row.low:.3g}–{row.high:.3g})",
        str(row.start),
        f"{row.p:.2g}",
        "" if row.alarm is None else f"round {row.alarm}",
    ]


def _verdict(found: "Watch", tested: int) -> str:
    if len(found.rounds) < 2:
        return "one round: a change takes two."
    return (
        f"{len(found.alarms)} of {tested} tested numbers changed in {len(found.rounds)} rounds. "
        "Where nothing changes, chance says so of any number, at any look, in "
        f"{100 * (1 - found.level):.3g} % of folders at most."
    )


def gate(
    run: Path | None = None,
    /,
    *,
    against: Annotated[Path | None, Parameter(metavar="BASE")] = None,
    policy: Path | None = None,
    format: Literal["table", "json", "junit", "markdown"] = "table",
    out: Path | None = None,
    init: Path | None = None,
) -> None:
    """Judge a run by a policy: exits 0 pass, 1 fail, 3 inconclusive, 4 unreadable.

    Example: portrayal gate runs/new --against runs/old --policy gate.toml

    Parameters
    ----------
    run
        Directory of the run that is judged.
    against
        Run that changes are counted from.
    policy
        Policy (TOML); see --init.
    format
        table, json, junit or markdown.
    out
        Write there, and print one line.
    init
        Write a commented policy (for RUN, where it is named), and no more.
    """
    from portrayal.gating import FORMATS, write_example
    from portrayal.gating import gate as judge
    from portrayal.run import Run, write_atomically

    if init is not None:
        write_example(init, None if run is None else Run.open(run))
        show.line(f"policy: {init} (its numbers are examples: choose your own)")
        return
    if run is None or policy is None:
        raise OptionError(
            "name a run and a policy: portrayal gate RUN --against BASE --policy gate.toml; "
            "`portrayal gate --init gate.toml` writes one."
        )
    verdict = judge(run, against, policy)
    said = FORMATS[format](verdict)
    if out is None:
        show.data(said)
    else:
        write_atomically(out, said)
        show.line(verdict.summary)
    raise SystemExit(verdict.exit_code)
