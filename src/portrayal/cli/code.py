"""The commands of `portrayal code` that make and serve a project, and the door to the others."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

import portrayal.cli.code_cues as code_cues
import portrayal.cli.code_read as code_read
import portrayal.cli.printing as show
from portrayal.cli.code_read import ProjectPath, find_project
from portrayal.cli.options import Json
from portrayal.errors import OptionError

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
    ssl_certfile: Annotated[
        Path | None, typer.Option(help="Certificate (PEM): the page is served encrypted, as https.")
    ] = None,
    ssl_keyfile: Annotated[Path | None, typer.Option(help="Key of the certificate (PEM).")] = None,
    new_address: Annotated[
        bool, typer.Option("--new-address", help="Make a new token: the old address ends.")
    ] = False,
) -> None:
    """Serve the raters' page until Ctrl-C."""
    found = find_project(project)
    from portrayal.coding.server import check_certificate, check_password, serve, take_address

    word = _password() if password else None
    check_password(host, word)
    pair = check_certificate(ssl_certfile, ssl_keyfile)
    address = take_address(found.folder, host, port, renew=new_address, tls=pair is not None)
    serve(
        found,
        address,
        password=word,
        adjudicators=adjudicator or (),
        certificate=pair,
        ready=_say(found),
    )


def _say(project: "Project") -> "Callable[[Address], None]":
    def ready(address: "Address") -> None:
        show.line(f"{len(project.items):,} texts of {project.folder}. Open in a browser:")
        show.line(address.url)
        if not address.is_loopback:
            show.line(
                "Other machines can reach this page"
                + (
                    "."
                    if address.tls
                    else ", and what passes is not encrypted: use it in a network "
                    "you trust, behind a tunnel, or with --ssl-certfile and --ssl-keyfile."
                )
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


RunPath = Annotated[Path, typer.Argument(metavar="RUN", help="Directory of a run.")]


def make(
    run: RunPath,
    project: Annotated[str, typer.Option(help="Name of the project, its folder in the run.")],
    by: Annotated[str, typer.Option(help="names, cue, group or random.")] = "names",
    n: Annotated[int, typer.Option(help="Texts of each stratum; of all for random.")] = 3,
    names: Annotated[int, typer.Option(help="Names of each race, for names.")] = 5,
    threshold: Annotated[
        float, typer.Option(help="Share of its bearers that a name needs to stand for a race.")
    ] = 0.6,
    per: Annotated[
        list[str] | None, typer.Option(help="Stratify by model or domain too; repeatable.")
    ] = None,
    cues: Annotated[
        str, typer.Option("--list", help="Cue list, for cue: a shipped one, or a file.")
    ] = "laissez-faire",
    codebook: Annotated[
        str, typer.Option(help="stereotypes, people, agency, or a TOML file of your own.")
    ] = "stereotypes",
    sentences: Annotated[
        bool, typer.Option("--sentences", help="Code each sentence of the texts by itself.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Start of the draw.")] = 0,
    json: Json = False,
) -> None:
    """Draw texts of a run to read and code."""
    from portrayal.coding import (
        Sampling,
        in_sentences,
        make_project,
        project_folder,
        sample_items,
    )
    from portrayal.coding import codebook as read_codebook
    from portrayal.measure.cues import cue_list
    from portrayal.run import Run

    book, opened = read_codebook(codebook), Run.open(run)
    folder = project_folder(opened.path, project)
    sampling = Sampling(
        by=by,
        n=n,
        names=names,
        threshold=threshold,
        per=tuple(per or ()),
        seed=seed,
        cues=cue_list(cues) if by == "cue" else None,
    )
    items = sample_items(opened, sampling)
    items = in_sentences(items) if sentences else items
    how = {
        "by": by,
        "n": n,
        "names": names if by == "names" else None,
        "threshold": threshold if by in ("names", "group") else None,
        "per": list(per or ()),
        "list": cues if by == "cue" else None,
        "sentences": sentences or None,
        "run": str(run),
    }
    how = {key: value for key, value in how.items() if value is not None}
    made = make_project(folder, items, book, seed=seed, how=how)
    strata = sorted({name for item in items for name in item.strata["sampled_as"].split("; ")})
    facts = {"project": str(made.folder), "n_items": len(items), "n_strata": len(strata)}
    if json:
        show.as_json({**facts, "codebook": book.name, "seed": seed, "how": how})
        return
    what = "sentences" if sentences else "texts"
    show.line(f"{len(items):,} {what} from {len(strata):,} strata in {made.folder}")
    show.line(f"next: portrayal code serve {made.folder}")


def raters(
    project: ProjectPath,
    reset: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Forget the personal code of this rater, who lost it."),
    ] = None,
    json: Json = False,
) -> None:
    """List who has coded, or let a rater who lost the personal code have a new one."""
    from portrayal.coding.store import Store, rater_key

    found = find_project(project)
    if not found.codes_path.is_file():
        raise OptionError(f"no one has coded in {found.folder} yet.")
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


app.command()(make)
app.command()(code_cues.cues)
app.command()(raters)
for name, read in code_read.COMMANDS.items():
    app.command(name)(read)
