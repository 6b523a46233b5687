"""The command `code raters`: parse, call, print."""

from pathlib import Path
from typing import Annotated

import typer

from portrayal import show
from portrayal.cli_audit import Json
from portrayal.errors import OptionError


def raters(
    project: Annotated[
        Path,
        typer.Argument(metavar="PROJECT", help="Folder of a coding project, or a run with one."),
    ],
    reset: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Forget the personal code of this rater, who lost it."),
    ] = None,
    json: Json = False,
) -> None:
    """List who has coded, or let a rater who lost the personal code have a new one."""
    from portrayal.cli_code import find_project
    from portrayal.coding.store import Store, rater_key

    found = find_project(project)
    if not found.codes_path.is_file():
        raise OptionError(f"nobody has coded in {found.folder} yet.")
    store = Store(found.codes_path)
    try:
        if reset is not None:
            if not store.forget_code(rater_key(reset)):
                raise OptionError(f"no rater called {reset!r} has a personal code here.")
            show.line(f"{reset}: whoever enters this name next is given a new code.")
            return
        rows = [
            {"rater": name, "kind": kind, "n_done": len(store.marked(key)[1])}
            for kind in ("human", "adjudicated", "llm")
            for key, name in store.raters(kind).items()
        ]
    finally:
        store.close()
    if json:
        show.as_json({"project": str(found.folder), "raters": rows})
        return
    for row in rows:
        called = f"{row['rater']} (language model)" if row["kind"] == "llm" else row["rater"]
        show.line(f"{called}: done with {row['n_done']:,} texts")
