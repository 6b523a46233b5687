"""What the command line prints: one JSON object, or a table for people."""

import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from rich.console import Console

import portrayal.registry as registry
from portrayal.errors import OptionError
from portrayal.records import finite
from portrayal.shown import json_text, visible
from portrayal.shown import text_table as render_text

if TYPE_CHECKING:
    from portrayal.records import Estimate
    from portrayal.run import Run

ROWS = 20
"""Rows that a table has without --all."""
_Row = TypeVar("_Row")

Advance = Callable[[int, int], None]


def line(text: str) -> None:
    """Print one line of text, word for word."""
    # Without markup: "[red]" or ":smile:" in a text of a model is only text
    Console(soft_wrap=True, emoji=False).print(visible(text), markup=False, highlight=False)


def nothing(_: str) -> None:
    """Print nothing, where a line would go."""


def data(text: str) -> None:
    """Print CSV, JSON or the like in UTF-8 whatever the locale says, to be read again as it is."""
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", newline="")
    sys.stdout.write(text)


Part = str | tuple[Sequence[str], Sequence[Sequence[object]]]
"""A line, text of several lines, or heads and rows of a table."""


def give(
    format: str,
    facts: Any,
    parts: Iterable[Part],
    flat: Sequence[Mapping[str, Any]] = (),
    out: Path | None = None,
) -> None:
    """Print what a command has to say in a format, or write it to a file.

    Parameters
    ----------
    format
        "table", for people on a terminal; "json", or "csv".
    facts
        What JSON says: plain values and records; of infinite numbers "inf" or "-inf", of NaN null.
    parts
        What people read, in its order.
    flat
        What CSV says, a row each; its heads are those of all rows.
    out
        The file; None prints.
    """
    if format == "json":
        text = json_text(finite(facts))
    elif format == "csv":
        from portrayal.collect.tables import csv_text

        # Heads of all rows, as strata differ from measure to measure
        text = csv_text(list(dict.fromkeys(name for row in flat for name in row)), flat)
    else:
        texts = (x.rstrip("\n") if isinstance(x, str) else text_table(*x, None) for x in parts)
        text = "".join(visible(part).rstrip("\n") + "\n" for part in texts)
    if out is not None:
        from portrayal.run.files import write_atomically

        write_atomically(out, text)
    elif format == "table":
        sys.stdout.write(text)
    else:
        data(text)


def text_table(heads: Sequence[str], cells: Sequence[Sequence[object]], most: int | None) -> str:
    """Return `most` rows of a table as text, and how many others there are."""
    rows, more = shown(cells, most)
    return render_text(heads, rows) + (f"{more}\n" if more else "")


@contextmanager
def progress(*, quiet: bool) -> Iterator[Advance | None]:
    """Show a bar of shards on a terminal; nothing when `quiet` or not on a terminal."""
    # In a log a bar would be a thousand lines
    if quiet or not Console(stderr=True).is_terminal:
        yield None
        return
    from rich.progress import TimeRemainingColumn

    with bar("reading people", TimeRemainingColumn()) as draw:
        yield draw


@contextmanager
def bar(title: str, *columns: Any) -> Iterator[Callable[..., None]]:
    """Yield what draws a bar: it takes how much is done, of how much, and words beside it."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress

    console = Console(stderr=True, emoji=False, soft_wrap=True)
    shown_bar = Progress(title, BarColumn(), MofNCompleteColumn(), *columns, console=console)
    task = shown_bar.add_task("", total=None)

    def draw(n_done: int, total: int, words: str = "") -> None:
        shown_bar.start()  # only now: a question may have stood on the terminal before
        shown_bar.update(task, completed=n_done, total=total, description=words)

    try:
        yield draw
    finally:
        shown_bar.stop()


@contextmanager
def working(words: str, *, quiet: bool) -> Iterator[None]:
    """Show on a terminal that a command is at work; nothing when `quiet` or elsewhere."""
    console = Console(stderr=True, emoji=False)
    if quiet or not console.is_terminal:
        yield
        return
    with console.status(words):
        yield


def run_facts(run: "Run") -> dict[str, Any]:
    """Return what an audit made, as plain values."""
    note = run.texts.note()
    facts = {name: note[name] for name in ("n_texts", "outcomes", "models")}
    facts |= {"left_out": note.get("left_out", {}), "n_estimates": len(run.records)}
    return {"run": str(run.path), "report": str(run.report_path), **facts}


def select(rows: Iterable[_Row], measure: str | None, where: Iterable[str]) -> list[_Row]:
    """Return the estimates of one measure (or all) that match every KEY=VALUE.

    Raises
    ------
    OptionError
        When no estimate has such a key or value.
    """
    from portrayal.run.estimates import choose

    measure_name = None if measure is None else registry.resolve("measures", measure)
    pairs = {}
    for text in where:
        key, sign, value = text.partition("=")
        if not sign:
            raise OptionError(f"--where takes KEY=VALUE, such as domain=Love; got {text!r}.")
        pairs[key.strip()] = value.strip()
    return choose(rows, measure_name, pairs)


def estimate_facts(row: "Estimate") -> dict[str, Any]:
    """Return one estimate as plain values; group always names race and gender, null for neither."""
    facts: dict[str, Any] = {"id": row.id, **finite(row), "warning": row.warning}
    return facts | {"group": {"race": None, "gender": None} | dict(row.group)}


def shown(rows: Sequence[_Row], most: int | None = ROWS) -> tuple[Sequence[_Row], str]:
    """Return the rows that a table prints, and how many others there are; all for None."""
    more = 0 if most is None else len(rows) - most
    return (rows, "") if more <= 0 else (rows[:most], f"… and {more:,} more: --all")


def span(rate: Any, factor: float, digits: int) -> str:
    """Return a rate times `factor`, with its interval; a dash where it is None or NaN."""
    value, low, high = (
        # Adding 0 takes the sign from a zero
        "–" if x is None or math.isnan(x) else f"{round(factor * x, digits) + 0.0:.{digits}f}"
        for x in (rate.value, rate.low, rate.high)
    )
    between = " to " if "-" in low else "–"
    words = value if "–" in (value, low, high) else f"{value} ({low}{between}{high})"
    return words.replace("-", "−")
