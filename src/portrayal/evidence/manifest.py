"""Manifests: SHA-256 digests of a run's files, its instruments and a pack, and their check.

A manifest is no signature: whoever can change the files can write another. Keep its own digest,
which `portrayal evidence` prints, where others cannot change it.
"""

import hashlib
import json
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from portrayal._version import __version__
from portrayal.errors import DataError, RunError
from portrayal.run import Run

MANIFEST = "manifest.json"
PACK = ("evidence.md", "evidence.json")
PARTS: dict[str, tuple[str, ...]] = {
    "texts": ("texts", "reference", "prompts.parquet", "reference-prompts.parquet"),
    "instruments": (
        *("annotations", "reference-annotations", "given", "labels", "classifier", "topics"),
        "study",
        "audit.toml",
    ),
    "estimates": ("estimates", "estimates.parquet", "influences.parquet"),
    "report": ("report.html", "datasheet.md"),
    "rest": (),
}
"""Files and folders of a run, by what they are; the rest is whatever else there is."""
EXCEPTIONS = ("evidence", "coding", ".lock")
"""What of a run goes on after a pack was written: packs, pages of raters, the lock."""
LINK = "a link"
"""What stands for the digest of a link, which is not followed."""
CODE = ("annotate", "measure", "models", "reference", "stats", "studies")
"""Parts of the package that make the numbers: readers, name tables, lexicons, measures."""


def manifest_of(run: Run, folder: Path, form: str) -> str:
    """Return the manifest of a run and the pack in `folder` as JSON."""
    held = parts_of(run)
    links = [name for part in held.values() for name, value in part.items() if value == LINK]
    if links:
        raise RunError(
            f"{run.path / links[0]} is a link: a pack says what a run holds. Put the file itself "
            "in its place."
        )
    content = {
        "what": "SHA-256 digests of a run and its evidence; see `portrayal evidence --verify`",
        "portrayal": __version__,
        "form": form,
        "run": held,
        "outside": outside_of(run),
        "package": package_digests(),
        "pack": digests(folder, PACK),
    }
    return json.dumps(content, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def digest(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal digits; of a link, that it is one."""
    if path.is_symlink():
        return LINK
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def digests(folder: Path, names: tuple[str, ...]) -> dict[str, str]:
    """Digests of files and of what folders hold, by their path in `folder`."""
    found = [path for name in names for path in _files(folder / name)]
    return {path.relative_to(folder).as_posix(): digest(path) for path in found}


def _files(path: Path) -> Iterator[Path]:
    """A file or link, or every one of a folder, in order; no link is followed."""
    if path.is_symlink() or path.is_file():
        yield path
    elif path.is_dir():
        for each in sorted(path.iterdir()):
            yield from _files(each)


def outside_of(run: Run) -> dict[str, str]:
    """Digests of what options name outside the run: tables, lexicons, labels, readers, locales."""
    found: dict[str, str] = {}
    settings = run.settings() if run.settings_path.is_file() else {}
    for value in settings.get("options", {}).values():
        for name in value if isinstance(value, list) else [value]:
            path = Path(name) if isinstance(name, str) and name else None
            if path is not None and not path.is_relative_to(run.path):
                found |= {str(each): digest(each.resolve()) for each in _files(path)}
    return found


def parts_of(run: Run) -> dict[str, dict[str, str]]:
    """Digests of all that a run holds but `EXCEPTIONS`, by part."""
    known = {name for names in PARTS.values() for name in (*names, *EXCEPTIONS)}
    there = run.path.iterdir() if run.path.is_dir() else ()
    rest = tuple(sorted(path.name for path in there if path.name not in known))
    return {part: digests(run.path, names or rest) for part, names in PARTS.items()}


@cache
def package_digests() -> dict[str, str]:
    """One digest for each part of the installed package that makes numbers."""
    found = {}
    for part in CODE:
        folder = Path(str(files("portrayal").joinpath(part)))
        every = [p for p in _files(folder) if "__pycache__" not in p.parts]
        named = [f"{p.relative_to(folder).as_posix()} {digest(p)}" for p in every]
        found[f"portrayal/{part}"] = hashlib.sha256("\n".join(named).encode()).hexdigest()
    return found


def packs_of(run: Run) -> list[Path]:
    """Return the folders of the packs in a run.

    Raises
    ------
    RunError
        When there is none.
    """
    found = sorted(path.parent for path in (run.path / "evidence").glob(f"*/{MANIFEST}"))
    if not found:
        raise RunError(
            f"{run.path} has no evidence to check. Write a pack with "
            "`portrayal evidence RUN --for model-card`, or name its folder with --out."
        )
    return found


def read_manifest(path: Path) -> dict[str, Any]:
    """Return a manifest, every part of it checked to be names with digests.

    Raises
    ------
    RunError, DataError
        When there is none, or it is no manifest.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        parts = [content["run"][part] for part in PARTS]
        for each in (*parts, content["outside"], content["package"], content["pack"]):
            if not all(isinstance(value, str) for value in dict(each).values()):
                raise TypeError("a digest is a text")
    except FileNotFoundError:
        raise RunError(f"{path.parent} holds no {MANIFEST}: it is no evidence pack.") from None
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise DataError(f"{path}: not a manifest that Portrayal wrote ({error!r}).") from error
    return dict(content)
