"""Commands of reading and coding: parse, call, print."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from portrayal import cli_code_cues, cli_code_make, cli_code_raters, cli_code_read, show
from portrayal.errors import OptionError, RunError

if TYPE_CHECKING:
    from portrayal.coding import Project
    from portrayal.coding.server import Address


class _Code(TyperGroup):
    """`portrayal code RUN` is `portrayal code serve RUN`."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Take a folder in place of a command as one to serve."""
        if args and args[0] not in self.commands and Path(args[0]).is_dir():
            args = ["serve", *args]
        return super().resolve_command(ctx, args)


app = typer.Typer(
    cls=_Code,
    help="Read and code texts: find, sample, code, agree. `portrayal code RUN` serves the page.",
    no_args_is_help=True,
)

PASSWORD = "PORTRAYAL_CODE_PASSWORD"  # noqa: S105
"""Environment variable that gives the password without a terminal."""

ProjectPath = Annotated[
    Path, typer.Argument(metavar="PROJECT", help="Folder of a coding project, or a run with one.")
]


def find_project(path: Path) -> "Project":
    """Return the project in a folder, or the only one of a run.

    Raises
    ------
    RunError
        When there is none, or a run has several.
    """
    from portrayal.coding import open_project

    found = sorted(one.parent for one in path.glob("coding/*/project.toml"))
    if (path / "project.toml").is_file() or not (path / "audit.toml").is_file():
        return open_project(path)
    if not found:
        raise RunError(f"{path} has no texts to code yet. Draw some: portrayal code make {path}")
    if len(found) > 1:
        names = ", ".join(str(one) for one in found)
        raise RunError(f"{path} has several coding projects; name one of {names}.")
    return open_project(found[0])


@app.command()
def serve(
    project: ProjectPath,
    host: Annotated[
        str, typer.Option(help="Address to listen on; other machines only with --password.")
    ] = "127.0.0.1",
    port: Annotated[
        int | None, typer.Option(help="Port; default the last one, else a free one.")
    ] = None,
    password: Annotated[
        bool,
        typer.Option(
            "--password", help=f"Ask for a password that raters enter, or read {PASSWORD}."
        ),
    ] = False,
    adjudicator: Annotated[
        list[str] | None,
        typer.Option(help="Who may adjudicate while others still code; repeatable."),
    ] = None,
    new_address: Annotated[
        bool, typer.Option("--new-address", help="Make a new token: the old address ends.")
    ] = False,
) -> None:
    """Serve the raters' page until Ctrl-C."""
    found = find_project(project)
    from portrayal.coding.server import check_password, serve, take_address

    word = _password() if password else None
    check_password(host, word)
    address = take_address(found.folder, host, port, renew=new_address)
    serve(found, address, password=word, adjudicators=adjudicator or (), ready=_say(found))


def _say(project: "Project") -> "Callable[[Address], None]":
    def ready(address: "Address") -> None:
        show.line(f"{len(project.items):,} texts of {project.folder}. Open in a browser:")
        show.line(address.url)
        if not address.is_loopback:
            show.line(
                "Other machines can reach this page, and what passes is not encrypted: use it in a "
                "network you trust, or behind a tunnel."
            )
        show.line("Every answer is saved as it is given. Ctrl-C stops the page.")

    return ready


def _password() -> str:
    given = os.environ.get(PASSWORD)
    if given is not None:
        return given
    try:
        return str(typer.prompt("Password", hide_input=True, confirmation_prompt=True, err=True))
    except typer.Abort:
        raise OptionError(
            f"--password asks on a terminal; without one set the variable {PASSWORD}."
        ) from None


app.command()(cli_code_make.make)
app.command()(cli_code_cues.cues)
app.command()(cli_code_raters.raters)
for name, read in cli_code_read.COMMANDS.items():
    app.command(name)(read)
