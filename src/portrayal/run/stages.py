"""Stages: what a folder of a run was made from, so that a rerun redoes only what changed."""

import hashlib
import json
import re
import shutil
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from portrayal.errors import RunError
from portrayal.run.files import is_whole, write_atomically

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
