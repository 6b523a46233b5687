"""`portrayal evidence`: what a run says to those who must document a model."""

from pathlib import Path
from typing import Annotated

import typer

import portrayal.cli.printing as show
from portrayal.cli.options import RunPath, formats
from portrayal.errors import OptionError


def evidence(
    run: RunPath,
    form: Annotated[
        str | None,
        typer.Option(
            "--for",
            metavar="FORM",
            help="eu-ai-act, colorado, iso-42001, model-card, or a form of your own (TOML).",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder of the pack; default RUN/evidence/FORM."),
    ] = None,
    format: Annotated[str, formats("both", "md", "json")] = "both",
    verify: Annotated[
        bool, typer.Option("--verify", help="Check run and packs against their manifests.")
    ] = False,
) -> None:
    """Fill a form of documentation from a run, or check one: exits 1 where a file differs.

    Example: portrayal evidence runs/first --for model-card
    """
    from portrayal.evidence import pack_of, verify_evidence, write_pack
    from portrayal.evidence.manifest import MANIFEST, digest
    from portrayal.run import Run

    if verify:
        own = None if form is None else run / "evidence" / Path(form).stem
        checked = verify_evidence(Run(run), out or own)
        for line in (*checked.problems, *checked.notes):
            show.line(str(line))
        for name, value in checked.manifests.items():
            show.line(f"sha256 of {name}: {value}")
        n = len(checked.problems)
        said = f"{n:,} not as they were" if n else "all as they were"
        show.line(f"{checked.n_files:,} files checked: {said}")
        raise typer.Exit(int(not checked.ok))
    if form is None:
        raise OptionError(
            "say what the evidence is for: --for eu-ai-act, colorado, iso-42001 or model-card; or "
            "--verify to check what is there."
        )
    pack = pack_of(Run.open(run), form)
    folder = write_pack(pack, out, formats=() if format == "both" else (format,))
    for path in sorted(folder.iterdir()):
        show.line(f"wrote {path}")
    n = len(pack.answers)
    show.line(f"{pack.n_measured} of {n} fields filled; the others: not measured by this audit")
    show.line(f"sha256 of {MANIFEST}: {digest(folder / MANIFEST)}")
