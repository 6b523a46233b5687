"""Files: the one way to write an output, and folders that say what they were made from.

Writing destroys nothing that is no output; a rerun redoes only the stages whose sources changed.
"""

import hashlib
import json
import os
import re
import secrets
import shutil
import stat
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from portrayal.errors import OptionError, PortrayalError, RunError

if TYPE_CHECKING:
    import pyarrow as pa


@contextmanager
def replacing(path: Path, *, flush: bool = False) -> Iterator[Path]:
    """Yield a path to write to, which becomes `path` when the block ends well.

    It lies beside `path` and is renamed; its name is of this attempt alone, as two containers may
    both be process 1. A symbolic link stays, and the file that it names is replaced. What is no
    regular file (a terminal, a pipe, `/dev/null`) is opened and written, never replaced.
    With `flush`, file and rename are on the disk before this returns, and outlive a power cut.

    Raises
    ------
    OptionError
        When `path` is a folder or a disk, or a symbolic link of another user.
    """
    target, is_stream = _target(path)
    temporary = target.with_name(f".{target.name}.{os.getpid()}-{secrets.token_hex(4)}.tmp")
    scratch = None
    if is_stream:  # there may be no right to write beside a device
        scratch = tempfile.TemporaryDirectory(prefix="portrayal-")
        temporary = Path(scratch.name) / temporary.name
    try:
        yield temporary
        if is_stream:
            # A file that standard output goes to is added to.
            handle = os.open(target, os.O_WRONLY | os.O_APPEND)
            with temporary.open("rb") as source, os.fdopen(handle, "wb") as stream:
                shutil.copyfileobj(source, stream)
            return
        # Content before name: after a power cut the name must not stand for an empty file
        if flush:
            _flush(temporary)
        temporary.replace(target)
        # The rename is an entry of the folder, which Windows cannot flush.
        if flush and os.name == "posix":
            _flush(target.parent)
    except OSError as error:
        if error.errno is not None:  # a full disk names no file
            error.filename = error.filename or str(path)
        raise
    finally:
        temporary.unlink(missing_ok=True)
        if scratch is not None:
            scratch.cleanup()


_SYSTEM = ("/dev", "/proc")
"""Folders of the system, whose links (`/dev/stdout`) name what a process has open."""


def _target(path: Path) -> tuple[Path, bool]:
    """The file that a path names through links of this user, and whether it is a stream."""
    is_system = path.absolute().as_posix().startswith(tuple(f"{name}/" for name in _SYSTEM))
    try:
        mode = path.stat().st_mode
    except OSError:  # it is not there yet; what else is wrong, writing says
        mode = stat.S_IFREG
    if stat.S_ISDIR(mode) or stat.S_ISBLK(mode):
        kind = "a folder" if stat.S_ISDIR(mode) else "a disk"
        raise OptionError(f"{path} is {kind}, and would be written over; name a file.")
    if is_system or not stat.S_ISREG(mode):
        return path, True
    for _ in range(_MOST_LINKS):
        if not path.is_symlink():
            return path, False
        if os.name == "posix" and path.lstat().st_uid != os.geteuid():
            raise OptionError(
                f"{path} is a symbolic link that another user made; name the file itself."
            )
        path = path.parent / path.readlink()  # followed by hand, as the owner of each link counts
    raise OptionError(f"{path} is one of a circle of symbolic links; name a file.")


_MOST_LINKS = 40
"""Links in a row that are followed, as Linux does."""


@contextmanager
def replacing_files(folder: Path) -> Iterator[Path]:
    """Yield an empty folder whose files come into `folder` in the end, as `replacing` writes."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".saving-", dir=folder) as scratch:
        yield Path(scratch)
        for path in sorted(Path(scratch).iterdir()):
            with replacing(folder / path.name) as temporary:
                path.replace(temporary)


def check_folder(path: Path, *marks: str) -> None:
    """Refuse to write into a folder that is not this tool's: `/`, the home folder, others' files.

    Parameters
    ----------
    path
        The folder, which need not be there.
    marks
        Names, one of which every folder of this kind holds.

    Raises
    ------
    OptionError
        When it is one of these, or a link that another user made.

    >>> check_folder(Path.home())
    Traceback (most recent call last):
    portrayal.errors.OptionError: ... is your home folder; name a new folder inside it.
    """
    if path.is_symlink() and os.name == "posix" and path.lstat().st_uid != os.geteuid():
        raise OptionError(f"{path} is a symbolic link that another user made; name the folder.")
    # Resolved, as a relative path or a link may lead to the root or the home folder.
    place = path.resolve()
    if place == Path(place.anchor):
        raise OptionError(f"{path} is the root of all folders; name a new folder.")
    with suppress(RuntimeError):  # a user without one
        if place == Path.home().resolve():
            raise OptionError(f"{path} is your home folder; name a new folder inside it.")
    if not path.is_dir():
        return
    inside = {entry.name for entry in path.iterdir()}
    if inside and inside.isdisjoint(marks):
        raise OptionError(
            f"{path} holds other files ({min(inside)}) and nothing that this command writes; "
            "name a new folder."
        )


def write_atomically(path: Path, text: str) -> None:
    """Write `text` in UTF-8 in one step."""
    with replacing(path, flush=True) as temporary:
        temporary.write_text(text, encoding="utf-8")


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn what damage to a file of a run raises, whatever it is, into words that name the file."""
    try:
        yield
    except PortrayalError:
        raise
    except (OSError, LookupError, TypeError, ValueError, RuntimeError, ArithmeticError) as error:
        raise RunError(
            f"{path} is damaged, or of another version of Portrayal ({error}). Run the same "
            "`portrayal audit` command again, which writes it anew."
        ) from error


def write_parquet(table: "pa.Table", path: Path, *, flush: bool = False) -> None:
    """Write an Arrow table in one step."""
    import pyarrow.parquet as pq

    with replacing(path, flush=flush) as temporary:
        pq.write_table(table, temporary, compression="zstd")


def read_parquet(path: Path, columns: Sequence[str] | None = None) -> "pa.Table":
    """Return a file of a run as an Arrow table: all columns, or those named, in this order.

    `pyarrow.parquet.read_table` does the same by way of data sets, and loads pandas for it.

    Raises
    ------
    KeyError
        When the file has no such column.
    """
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        table = file.read(columns=None if columns is None else list(columns))
    return table if columns is None else table.select(list(columns))


def is_whole(path: Path) -> bool:
    """Whether a Parquet file is there with both of its ends; one that was cut off is not."""
    try:
        with path.open("rb") as stream:
            first = stream.read(4)
            # Parquet begins and ends with these letters; its end is written last.
            stream.seek(-4, os.SEEK_END)
            return first == stream.read() == b"PAR1"
    except OSError:
        return False


def _flush(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


NOTE = "stage.json"
_OURS = re.compile(r"stage\.json|part-.*\.parquet|\..*\.tmp")


def fingerprint(**parts: Any) -> str:
    """Return a short, stable digest of everything a stage depends on (JSON-like values)."""
    text = json.dumps(parts, sort_keys=True, default=str, ensure_ascii=False)
    return hashlib.blake2b(text.encode(), digest_size=12).hexdigest()


@dataclass(frozen=True, slots=True)
class Stage:
    """A folder with a note that says what it was made from and whether it is complete."""

    folder: Path

    def note(self) -> dict[str, Any]:
        """Return the folder's note; empty when there is none or it cannot be read."""
        try:
            note = json.loads((self.folder / NOTE).read_text(encoding="utf-8"))
        except (OSError, ValueError):  # a note that cannot be read vouches for nothing
            return {}
        return note if isinstance(note, dict) else {}

    def is_complete(self, mark: str) -> bool:
        """Whether the folder was completed from exactly `mark`, and no part was cut off since."""
        note = self.note()
        is_same = note.get("fingerprint") == mark and bool(note.get("complete"))
        return is_same and not self.damaged()

    def damaged(self) -> list[Path]:
        """Return the parts that were cut off, as by a full disk or a copy that stopped."""
        return [part for part in self.parts() if not is_whole(part)]

    def begin(self, mark: str, *, base: str | None = None, keep: bool = False) -> None:
        """Keep the folder's whole parts if made from `mark` or the same `base`; else empty it.

        `base` is a mark of all but the list of parts, for a folder that follows a growing one.
        With `keep` all whole parts stay, as they were paid for.

        Raises
        ------
        RunError
            When the folder holds files that no stage writes; they are left alone.
        """
        note = self.note()
        # Parts of other settings would be taken for those of these.
        keeps = keep or note.get("fingerprint") == mark
        keeps = keeps or (base is not None and note.get("base") == base)
        if self.folder.exists() and not keeps:
            self._empty()
        self.folder.mkdir(parents=True, exist_ok=True)
        # Whoever makes parts passes over those that are there, whole or not.
        for part in self.damaged():
            part.unlink()
        self._write({"fingerprint": mark, "base": base, "complete": False})

    def finish(self, mark: str, facts: Mapping[str, Any]) -> None:
        """Mark the folder complete and keep `facts` about it (counts, versions).

        What workers that were killed had begun to write is removed.
        """
        for begun in self.folder.glob(".part-*.tmp"):
            begun.unlink(missing_ok=True)
        base = self.note().get("base")
        self._write({"fingerprint": mark, "base": base, "complete": True, **facts})

    def reopen(self) -> None:
        """Say that the folder is not complete, as a part of it was taken away."""
        if note := self.note():
            self._write({**note, "complete": False})

    def keep_parts(self, names: Collection[str]) -> None:
        """Delete the parts that are not among `names`."""
        for part in self.parts():
            if part.name not in names:
                part.unlink()

    def _empty(self) -> None:
        """Remove the folder, unless it holds something that is not ours to remove."""
        # Nothing is removed that this tool did not write, whatever folder was named
        foreign = [path.name for path in self.folder.iterdir() if not _OURS.fullmatch(path.name)]
        if foreign:
            raise RunError(
                f"{self.folder} holds files that Portrayal did not write ({foreign[0]}), and would "
                "be emptied. Give another directory with --out."
            )
        shutil.rmtree(self.folder)

    def _write(self, note: Mapping[str, Any]) -> None:
        fields = {name: value for name, value in note.items() if value is not None}
        write_atomically(self.folder / NOTE, json.dumps(fields, indent=1, ensure_ascii=False))

    def parts(self) -> list[Path]:
        """Return the Parquet parts of the folder in their order."""
        return sorted(self.folder.glob("part-*.parquet"))
