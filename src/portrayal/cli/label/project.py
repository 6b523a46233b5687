"""A project of raters: its page served, and who has labelled."""

import os
from contextlib import closing
from getpass import getpass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

import portrayal.cli.printing as show
from portrayal.cli.label.read import ProjectPath, find_project
from portrayal.cli.options import Flag, Format
from portrayal.errors import OptionError

if TYPE_CHECKING:
    from portrayal.coding.server import Address


PASSWORD = "PORTRAYAL_CODE_PASSWORD"  # noqa: S105
"""Environment variable that gives the password without a terminal."""


def serve(
    project: ProjectPath,
    /,
    *,
    host: str = "127.0.0.1",
    port: int | None = None,
    password: Flag = False,
    adjudicator: list[str] | None = None,
    ssl_certfile: Path | None = None,
    ssl_keyfile: Path | None = None,
    new_address: Flag = False,
) -> None:
    """Serve the page on which raters code, until Ctrl-C.

    Example: portrayal label serve runs/laissez-faire/coding/first

    Parameters
    ----------
    host
        Address to listen on; other machines only with --password.
    port
        Port; default the last one, else a free one.
    password
        Ask for a password that raters enter, or read PORTRAYAL_CODE_PASSWORD.
    adjudicator
        Who may adjudicate, by name; repeatable.
    ssl_certfile
        Certificate (PEM): the page is served encrypted, as https.
    ssl_keyfile
        Key of the certificate (PEM).
    new_address
        Make a new token: the old address ends.
    """
    opened = find_project(project)
    from portrayal.coding.server import check_certificate, check_password, serve, take_address

    # No option takes the password itself: other users of the machine see command lines
    word = os.environ.get(PASSWORD) if password else None
    if password and word is None:
        try:
            word = getpass("Password: ")
            if word != getpass("Repeat for confirmation: "):
                raise OptionError("the two passwords are not the same.")
        except EOFError:
            raise OptionError(
                f"--password asks on a terminal; without one set the variable {PASSWORD}."
            ) from None
    # Before an address is taken, which writes to the project
    check_password(host, word)
    pair = check_certificate(ssl_certfile, ssl_keyfile)
    address = take_address(opened.folder, host, port, renew=new_address, tls=pair is not None)

    # Told when the page listens: a browser that is faster would find nothing
    def ready(address: "Address") -> None:
        show.line(f"{len(opened.items):,} texts of {opened.folder}. Open in a browser:")
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
        show.line(f"then: portrayal label merge {opened.folder} --out labels.csv")

    serve(
        opened,
        address,
        password=word,
        adjudicators=adjudicator or (),
        certificate=pair,
        ready=ready,
    )


def raters(
    project: ProjectPath,
    /,
    *,
    reset: Annotated[str | None, Parameter(metavar="NAME")] = None,
    format: Format = "table",
) -> None:
    """List who has coded, or let a rater who lost the personal code have a new one.

    Example: portrayal label raters runs/laissez-faire/coding/first

    Parameters
    ----------
    reset
        Forget the personal code of this rater, who lost it.
    """
    from portrayal.coding.store import Store, rater_key

    opened = find_project(project)
    if not opened.codes_path.is_file():
        raise OptionError(f"no one has coded in {opened.folder} yet.")
    with closing(Store(opened.codes_path)) as store:
        if reset is not None:
            # The labels stay; only the code that guards the name is forgotten
            if not store.forget_code(rater_key(reset)):
                raise OptionError(f"no rater called {reset!r} has a personal code here.")
            show.line(f"{reset}: whoever enters this name next is given a new code.")
            return
        rows = [
            {"rater": name, "kind": kind, "n_done": len(store.done(key))}
            for kind in ("human", "adjudicated", "llm")
            for key, name in store.raters(kind).items()
        ]
    parts = [
        f"{row['rater']}{' (language model)' if row['kind'] == 'llm' else ''}: "
        f"done with {row['n_done']:,} texts"
        for row in rows
    ]
    show.give(format, {"project": str(opened.folder), "raters": rows}, parts)
