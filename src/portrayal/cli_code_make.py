"""The command `code make`: parse, call, print."""

from pathlib import Path
from typing import Annotated

import typer

from portrayal import show
from portrayal.cli_audit import Json

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
        cue_list,
        in_sentences,
        make_project,
        project_folder,
        sample_items,
    )
    from portrayal.coding import codebook as read_codebook
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
