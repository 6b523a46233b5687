"""Options that many commands share, each under one name."""

from pathlib import Path
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
PromptFile = Annotated[
    Path | None, typer.Option("--prompts", help="Prompt file of your own (TOML, CSV, JSON lines).")
]
Labeler = Annotated[
    str,
    typer.Option(
        help="Who finds the people: embedded (rules), reader (rules and a small network), llm, or "
        "routed (reader or llm where the rules are unsure)."
    ),
]
RouteShare = Annotated[
    float, typer.Option(help="Fraction of the texts, the least sure ones, that routed sends to it.")
]
