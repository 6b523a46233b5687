"""`portrayal gate`: may this run be shipped?"""

from pathlib import Path
from typing import Annotated

import typer

import portrayal.cli.printing as show
from portrayal.cli.options import formats
from portrayal.errors import OptionError


def gate(
    run: Annotated[
        Path | None, typer.Argument(metavar="[RUN]", help="Directory of the run that is judged.")
    ] = None,
    against: Annotated[
        Path | None, typer.Option(metavar="BASE", help="Run that changes are counted from.")
    ] = None,
    policy: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Policy (TOML); see --init.")
    ] = None,
    format: Annotated[str, formats("table", "json", "junit", "markdown")] = "table",
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write there, and print one line.")
    ] = None,
    init: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a commented policy, and no more.")
    ] = None,
) -> None:
    """Judge a run by a policy: exits 0 pass, 1 fail, 3 inconclusive, 4 unreadable.

    Example: portrayal gate runs/new --against runs/old --policy gate.toml
    """
    from portrayal.gating import FORMATS, write_example
    from portrayal.gating import gate as judge
    from portrayal.run.files import write_atomically

    if init is not None:
        write_example(init)
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
    raise typer.Exit(verdict.exit_code)
