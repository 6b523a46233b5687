"""Options that many commands share, each under one name."""

from typing import Annotated

import typer

Columns = Annotated[
    list[str] | None,
    typer.Option(
        "--column", metavar="FIELD=NAME", help="Column NAME holds FIELD; several may follow."
    ),
]
More = Annotated[
    list[str] | None, typer.Argument(metavar="[FIELD=NAME]...", help="Further columns.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
