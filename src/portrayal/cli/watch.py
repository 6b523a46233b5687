"""The command `watch`, and what it prints."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

import portrayal.cli.printing as show
from portrayal.cli.options import Despite, Format, Level

if TYPE_CHECKING:
    from portrayal.comparison import Watch, Watched


def watch(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="Folder of runs of one study, one a round.")
    ],
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write an HTML page as well.")
    ] = None,
    level: Level = 0.95,
    despite: Despite = None,
    fail: Annotated[
        bool, typer.Option("--fail", help="Exit with status 1 where something has changed.")
    ] = False,
    format: Format = "table",
) -> None:
    """Test whether a repeated audit has changed since its first round, however often you look.

    The level holds for all looks together.

    Example: portrayal watch runs/weekly --fail
    """
    from portrayal.comparison import watch as watch_runs
    from portrayal.comparison import watch_values

    json = format == "json"
    with show.working("reading rounds", quiet=json):
        found = watch_runs(folder, level=level, despite=despite or ())
    if out is not None:
        from portrayal.report.changes import write_watch

        write_watch(found, out)
    if json:
        show.as_json(watch_values(found))
    else:
        _print(found)
        if out is not None:
            show.line(f"page: {out}")
    if fail and found.alarms:
        raise typer.Exit(1)


def _print(found: "Watch") -> None:
    rounds = show.table("round", "date", "run", "models", "texts")
    for number, each in enumerate(found.rounds, 1):
        models = ", ".join(each.models)
        rounds.add_row(str(number), each.when.isoformat(), each.name, models, f"{each.n_texts:,}")
    console = Console(emoji=False)
    console.print(rounds)
    for text in found.differences:
        show.line(f"differs: {text}")
    for instrument in found.instruments:
        show.line(f"instruments differ: {instrument}")
    if found.left_out:
        show.line(f"left out, as no audit was finished there: {', '.join(found.left_out)}")
    tested = [row for row in found.rows if row.p is not None]
    shown = show.table("number", "first", "last", "change", "from", "p", "changed")
    for row in sorted(tested, key=lambda row: row.p or 0.0):
        shown.add_row(*_cells(row))
    if tested:
        console.print(shown)
    show.line(_verdict(found, len(tested)))


def _cells(row: "Watched") -> list[str]:
    known = [value for value in row.values if value is not None]
    return [
        ", ".join([row.measure, *row.strata.values(), *row.group.values()]),
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
