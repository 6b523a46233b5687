"""Checking packs: whether texts, instruments, estimates, report and pack are as they were."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from portrayal._version import __version__
from portrayal.errors import PortrayalError
from portrayal.evidence.manifest import (
    MANIFEST,
    PACK,
    PARTS,
    digest,
    digests,
    package_digests,
    packs_of,
    read_manifest,
)
from portrayal.evidence.pack import pack_of
from portrayal.evidence.writing import FORMATS
from portrayal.run import Run


@dataclass(frozen=True, slots=True)
class Problem:
    """A file that is not as a manifest says.

    Attributes
    ----------
    part
        "texts", "instruments", "estimates", "report", "pack" or "package".
    file
        Its path in the run; for a part of the package or an outside file, its name.
    what
        "changed", "missing", "not in the manifest" or "is not what this run gives".
    """

    part: str
    file: str
    what: str

    def __str__(self) -> str:
        """Say it: "texts: texts/part-00000.parquet changed"."""
        return f"{self.part}: {self.file} {self.what}"


@dataclass(frozen=True, slots=True)
class Checked:
    """What a check of a run against its packs gave.

    Attributes
    ----------
    problems
        What is not as the manifests say; none where all is.
    notes
        What could not be compared, and why.
    n_files
        Digests that were compared.
    manifests
        Manifest → its own SHA-256, to compare with the one that you kept.
    """

    problems: tuple[Problem, ...]
    notes: tuple[str, ...]
    n_files: int
    manifests: Mapping[str, str]

    @property
    def ok(self) -> bool:
        """Whether nothing differs."""
        return not self.problems


def verify_evidence(run: Run, folder: str | Path | None = None) -> Checked:
    """Check a run against the manifests of its packs.

    Every file is digested again, and where the package is of the same version its parts are
    compared as well, and each pack is made again and compared with the one that is there.

    Parameters
    ----------
    run
        The run.
    folder
        Folder of one pack; every pack in the run's folder `evidence` by default.

    Raises
    ------
    RunError
        When there is no manifest.
    DataError
        When a manifest cannot be read.
    """
    problems: dict[Problem, None] = {}
    notes: dict[str, None] = {}
    n_files, manifests = 0, {}
    for each in [Path(folder)] if folder is not None else packs_of(run):
        said = read_manifest(each / MANIFEST)
        problems |= dict.fromkeys(_differing_files(run, each, said))
        if said["portrayal"] == __version__:
            problems |= dict.fromkeys(_differing("package", said["package"], package_digests()))
        else:
            notes[
                f"made by Portrayal {said['portrayal']}, and this is {__version__}: the parts of "
                "the package were not compared, and the pack was not made again"
            ] = None
        if not problems and said["portrayal"] == __version__:
            problems |= dict.fromkeys(_made_again(run, each, said["form"]))
        n_files += sum(map(len, (*said["run"].values(), said["outside"], said["pack"])))
        manifests[str(each / MANIFEST)] = digest(each / MANIFEST)
    return Checked(tuple(problems), tuple(notes), n_files, manifests)


def _differing_files(run: Run, folder: Path, said: Mapping[str, Any]) -> Iterator[Problem]:
    for part, names in PARTS.items():
        yield from _differing(part, said["run"][part], digests(run.path, names))
    pack = {f"{folder.name}/{name}": value for name, value in said["pack"].items()}
    held = {f"{folder.name}/{name}": value for name, value in digests(folder, PACK).items()}
    yield from _differing("pack", pack, held)
    there = {name: digest(Path(name)) for name in said["outside"] if Path(name).is_file()}
    yield from _differing("instruments", said["outside"], there)


def _differing(part: str, said: Mapping[str, str], held: Mapping[str, str]) -> Iterator[Problem]:
    for name in sorted({*said, *held}):
        if name not in held:
            yield Problem(part, name, "missing")
        elif name not in said:
            yield Problem(part, name, "not in the manifest")
        elif said[name] != held[name]:
            yield Problem(part, name, "changed")


def _made_again(run: Run, folder: Path, form: str) -> Iterator[Problem]:
    """Whether the pack says what the run says, also where someone wrote the manifest again."""
    try:
        pack = pack_of(run, form)
    except PortrayalError as error:
        yield Problem("pack", folder.name, f"cannot be made again ({error})")
        return
    for kind, write in FORMATS.items():
        path = folder / f"evidence.{kind}"
        if path.is_file() and path.read_bytes() != write(pack).encode():
            yield Problem("pack", f"{folder.name}/{path.name}", "is not what this run gives")
