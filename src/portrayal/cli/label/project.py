"""A coding project: its texts drawn, its page served, its raters."""

import os
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import portrayal.cli.printing as show
from portrayal.cli.label.read import ProjectPath, find_project
from portrayal.cli.options import CueListName, Format, RunPath, Seed
from portrayal.errors import OptionError

if TYPE_CHECKING:
    from portrayal.coding.server import Address


PASSWORD = "PORTRAYAL_CODE_PASSWORD"  # noqa: S105
"""Environment variable that gives the password without a terminal."""


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
    """Serve the page on which raters code, until Ctrl-C.

    Example: portrayal label serve runs/laissez-faire/coding/first
    """
    found = find_project(project)
    from portrayal.coding.server import check_certificate, check_password, serve, take_address

    word = os.environ.get(PASSWORD) if password else None
    if password and word is None:
        try:
            word = typer.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
        except typer.Abort:
            raise OptionError(
                f"--password asks on a terminal; without one set the variable {PASSWORD}."
            ) from None
    check_password(host, word)
    pair = check_certificate(ssl_certfile, ssl_keyfile)
    address = take_address(found.folder, host, port, renew=new_address, tls=pair is not None)

    def ready(address: "Address") -> None:
        show.line(f"{len(found.items):,} texts of {found.folder}. Open in a browser:")
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

    serve(
        found,
        address,
        password=word,
        adjudicators=adjudicator or (),
        certificate=pair,
        ready=ready,
    )


def draw(
    run: RunPath,
    project: Annotated[str, typer.Option(help="Name of the project, its folder in the run.")],
    how: Annotated[str, typer.Option(help="names, cue, group or random.")] = "names",
    n: Annotated[int, typer.Option(help="Texts of each stratum; of all for random.")] = 3,
    names: Annotated[int, typer.Option(help="Names of each race, for names.")] = 5,
    threshold: Annotated[
        float, typer.Option(help="Share of its bearers that a name needs to stand for a race.")
    ] = 0.6,
    by: Annotated[
        list[str] | None,
        typer.Option(metavar="STRATUM", help="Draw as many of each: model or domain; repeatable."),
    ] = None,
    cues: CueListName = "laissez-faire",
    codebook: Annotated[
        str, typer.Option(help="stereotypes, people, agency, or a TOML file of your own.")
    ] = "stereotypes",
    sentences: Annotated[
        bool, typer.Option("--sentences", help="Code each sentence of the texts by itself.")
    ] = False,
    seed: Seed = 0,
    format: Format = "table",
) -> None:
    """Draw texts of a run into a project, for raters to read and code.

    Example: portrayal label draw runs/laissez-faire --project first --how names
    """
    import portrayal.coding as coding
    from portrayal.measure.cues import cue_list
    from portrayal.run import Run

    json = format == "json"
    book, opened = coding.codebook(codebook), Run.open(run)
    folder = coding.project_folder(opened.path, project)
    sampling = coding.Sampling(
        how=how,
        n=n,
        names=names,
        threshold=threshold,
        by=tuple(by or ()),
        seed=seed,
        cues=cue_list(cues) if how == "cue" else None,
    )
    items = coding.sample_items(opened, sampling)
    items = coding.in_sentences(items) if sentences else items
    given = {
        "how": how,
        "n": n,
        "names": names if how == "names" else None,
        "threshold": threshold if how in ("names", "group") else None,
        "by": list(by or ()),
        "list": cues if how == "cue" else None,
        "sentences": sentences or None,
        "run": str(run),
    }
    drawn = {key: value for key, value in given.items() if value is not None}
    made = coding.make_project(folder, items, book, seed=seed, how=drawn)
    strata = sorted({name for item in items for name in item.strata["sampled_as"].split("; ")})
    facts = {"project": str(made.folder), "n_items": len(items), "n_strata": len(strata)}
    if json:
        show.as_json({**facts, "codebook": book.name, "seed": seed, "how": drawn})
        return
    what = "sentences" if sentences else "texts"
    show.line(f"{len(items):,} {what} from {len(strata):,} strata in {made.folder}")
    show.line(f"next: portrayal label serve {made.folder}")


def raters(
    project: ProjectPath,
    reset: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Forget the personal code of this rater, who lost it."),
    ] = None,
    format: Format = "table",
) -> None:
    """List who has coded, or let a rater who lost the personal code have a new one.

    Example: portrayal label raters runs/laissez-faire/coding/first
    """
    from portrayal.coding.store import Store, rater_key

    json = format == "json"
    found = find_project(project)
    if not found.codes_path.is_file():
        raise OptionError(f"no one has coded in {found.folder} yet.")
    with closing(Store(found.codes_path)) as store:
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
    if json:
        show.as_json({"project": str(found.folder), "raters": rows})
        return
    for row in rows:
        called = f"{row['rater']} (language model)" if row["kind"] == "llm" else row["rater"]
        show.line(f"{called}: done with {row['n_done']:,} texts")
