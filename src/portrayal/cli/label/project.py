"""A coding project: its texts drawn, its page served, its raters."""

import os
from contextlib import closing
from getpass import getpass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

import portrayal.cli.printing as show
from portrayal.cli.label.read import ProjectPath, find_project
from portrayal.cli.options import CueListName, Flag, Format, RunPath, Seed
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
        if "for" in opened.settings.get("how", {}):
            show.line(f"then: portrayal audit … --hand-labels {opened.folder / 'hand-labels.csv'}")

    serve(
        opened,
        address,
        password=word,
        adjudicators=adjudicator or (),
        certificate=pair,
        ready=ready,
    )


def draw(
    run: RunPath,
    /,
    *,
    project: str,
    how: str = "names",
    n: int = 3,
    names: int = 5,
    threshold: float = 0.6,
    by: Annotated[list[str] | None, Parameter(metavar="STRATUM")] = None,
    cues: CueListName = "laissez-faire",
    codebook: str = "stereotypes",
    sentences: Flag = False,
    seed: Seed = 0,
    format: Format = "table",
) -> None:
    """Draw texts of a run into a project, for raters to read and code.

    Example: portrayal label draw runs/laissez-faire --project first --how names

    Parameters
    ----------
    project
        Name of the project, its folder in the run.
    how
        names, cue, group or random.
    n
        Texts of each stratum; of all for random.
    names
        Names of each race, for names.
    threshold
        Share of its bearers that a name needs to stand for a race.
    by
        Draw as many of each: model or domain; repeatable.
    codebook
        stereotypes, people, agency, or a TOML file of your own.
    sentences
        Code each sentence of the texts by itself.
    """
    import portrayal.coding as coding
    from portrayal.measure.cues import cue_list
    from portrayal.report.formats import plural
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
    # Texts are drawn first, and then split: sentences of one text share its weight
    items = coding.in_sentences(items) if sentences else items
    # Only what this way of drawing used, so that project.toml claims nothing else
    sampling_options = {
        "how": how,
        "n": n,
        "names": names if how == "names" else None,
        "threshold": threshold if how in ("names", "group") else None,
        "by": list(by or ()),
        "list": cues if how == "cue" else None,
        "sentences": sentences or None,
        "run": str(run),
    }
    draw_settings = {key: value for key, value in sampling_options.items() if value is not None}
    new_project = coding.make_project(folder, items, book, seed=seed, how=draw_settings)
    strata = sorted({name for item in items for name in item.strata["sampled_as"].split("; ")})
    facts = {"project": str(new_project.folder), "n_items": len(items), "n_strata": len(strata)}
    if json:
        show.as_json({**facts, "codebook": book.name, "seed": seed, "how": draw_settings})
        return
    counted = plural(len(items), "sentence" if sentences else "text")
    show.line(f"{counted} from {plural(len(strata), 'stratum', 'strata')} in {new_project.folder}")
    show.line(f"next: portrayal label serve {new_project.folder}")


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

    json = format == "json"
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
            {"rater": name, "kind": kind, "n_done": len(store.marked(key)[1])}
            for kind in ("human", "adjudicated", "llm")
            for key, name in store.raters(kind).items()
        ]
    if json:
        show.as_json({"project": str(opened.folder), "raters": rows})
        return
    for row in rows:
        called = f"{row['rater']} (language model)" if row["kind"] == "llm" else row["rater"]
        show.line(f"{called}: done with {row['n_done']:,} texts")
