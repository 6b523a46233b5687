"""The manifest of a run: the SHA-256 digest of every file, by the step of the audit that made it.

A step leaves the manifest before its files change, and comes back when they are written with the
digests of what it read. A process that is killed therefore leaves a step that is open, never a file
that contradicts its digest: what does was changed by somebody else, or is of another run.
"""

import hashlib
import json
import os
import re
import shutil
import stat
import time
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from portrayal._version import __version__
from portrayal.run.files import NOTE, Stage, is_whole, write_atomically

MANIFEST, ASIDE = "manifest.json", "damaged"
SETTINGS, LOCK = "audit.toml", ".lock"
TEXTS, REFERENCE, GIVEN, ANSWERS = "texts", "reference", "given", "answers"
ANNOTATED, REFERENCE_ANNOTATED = "annotations", "reference-annotations"
TOPICS, MEASURED, REPORTED = "topics", "estimates", "report"

_STEP_OF = {
    **dict.fromkeys(("texts", "prompts.parquet", "journal.jsonl", "journal.damaged"), TEXTS),
    **dict.fromkeys(("reference", "reference-prompts.parquet"), REFERENCE),
    **dict.fromkeys(
        ("estimates", "estimates.parquet", "influences.parquet", "study", SETTINGS), MEASURED
    ),
    **{"given": GIVEN, "answers": ANSWERS, "topics": TOPICS, "topics/topics.json": MEASURED},
}
_READS = {
    ANNOTATED: (TEXTS,),
    REFERENCE_ANNOTATED: (REFERENCE,),
    TOPICS: (TEXTS, REFERENCE),
    MEASURED: (TEXTS, REFERENCE, GIVEN, ANNOTATED, REFERENCE_ANNOTATED, TOPICS),
    REPORTED: (MEASURED,),
}
"""Family of steps → the families that it reads; texts, tables and answers come from outside."""
_BESIDE = ("evidence", "labels", ASIDE, MANIFEST, f".{MANIFEST}.lock")
"""What is in no manifest: a model card, which says of which run it is; labels of raters, who go on;
and what was set aside."""
_PART = re.compile(r".*/part-[^/]*\.parquet")
_TEMPORARY = re.compile(r"(.*/)?\.[^/]*\.tmp")
_SETTLED = 2_000_000_000
"""Nanoseconds after a change within which a disk may give another change the same time (FAT)."""


def step_of(name: str) -> str | None:
    """Return the step that makes a file, by its path in the run; None for what no step makes.

    >>> step_of("texts/part-00000.parquet"), step_of("annotations/people.v8/stage.json")
    ('texts', 'annotations/people.v8')
    """
    first, _, inner = name.partition("/")
    if first in (ANNOTATED, REFERENCE_ANNOTATED) and inner:
        return f"{first}/{inner.partition('/')[0]}"
    is_page = first.startswith(("report.", "report-"))
    return REPORTED if is_page else _STEP_OF.get(name, _STEP_OF.get(first))


def _family(step: str | None) -> str:
    return (step or "").partition("/")[0]


@dataclass(frozen=True, slots=True)
class Problem:
    """A file that is not as the manifest says.

    Attributes
    ----------
    file
        Its path in the run; of what is outside it, its name.
    fault
        The rest of a sentence that begins with the file.
    """

    file: str
    fault: str

    def __str__(self) -> str:
        """Say it: "texts/part-00000.parquet is not as it was written: …"."""
        return f"{self.file} {self.fault}"


CHANGED = "is not as it was written: it was changed, or is of another run"
MISSING = "is missing"
CUT_OFF = "is damaged: it was cut off"
LINK = "is a link, or no file: a run holds its files itself"
UNLISTED = "is in no manifest: no step of the audit wrote it; keep it elsewhere"
STALE = "was made from other files than there are now"
UNMADE = "is missing, as in runs of older versions: nothing vouches for the other files"


@dataclass(frozen=True)
class Manifest:
    """The manifest in a folder of a run.

    Attributes
    ----------
    folder
        The run.
    """

    folder: Path

    @property
    def path(self) -> Path:
        """`manifest.json`."""
        return self.folder / MANIFEST

    def content(self) -> dict[str, Any] | None:
        """Return what it holds; None where it is missing, or any byte is not as it was written."""
        try:
            written = self.path.read_bytes()
            content: dict[str, Any] = json.loads(written)
            for step in content["steps"].values():
                # Raises where a part is missing or is something else.
                _ = [dict(step[part]).items() for part in ("made", "read", "outside")]
            return content if _rendered(content) == written else None
        except (OSError, ValueError, LookupError, TypeError, RecursionError):
            return None

    def steps(self) -> dict[str, dict[str, Any]]:
        """Return what each closed step made and read, as digests; none without a manifest."""
        content = self.content()
        return {} if content is None else content["steps"]

    def made(self, *names: str) -> dict[str, str]:
        """Return one digest of all that each of these steps made; not of those that are open."""
        steps = self.steps()
        return {name: _digest_of(steps[name]) for name in names if name in steps}

    @property
    def first_measured(self) -> str | None:
        """The day (UTC) on which the run was measured first; None before that."""
        return (self.content() or {}).get("first_measured")

    @contextmanager
    def step(self, name: str, source: str = "") -> Iterator[None]:
        """Open a step, and close it where the block ends well: its files may change meanwhile.

        `source` is the digest of what it reads that is no file of the run.
        """
        self.open(name)
        yield
        self.close(name, source=source)

    def open(self, name: str) -> None:
        """Take a step out of the manifest, before any of its files changes."""
        with self._changing() as content:
            content["steps"].pop(name, None)

    def close(self, *names: str, source: str = "", options: Iterable[Any] = ()) -> None:
        """Write the digests of steps and of what they read; also of files that `options` name."""
        statuses = self._held()
        with self._changing() as content:
            steps = content["steps"]
            for name in names:
                shas = {
                    file: _digest_as_is(self.folder / file, status)
                    for file, status in statuses.items()
                    if step_of(file) == name and status is not None and not _TEMPORARY.match(file)
                }
                steps[name] = {
                    **{"made": shas, "outside": self._outside(options), "portrayal": __version__},
                    "read": {
                        other: _digest_of(entry)
                        for other, entry in steps.items()
                        if _family(other) in _READS.get(_family(name), ())
                    },
                    **({"source": source} if source else {}),
                }
            if MEASURED in names:
                if REPORTED in steps and _is_stale(REPORTED, steps):
                    del steps[REPORTED]  # pages of other estimates
                content.setdefault("first_measured", datetime.now(tz=UTC).date().isoformat())

    def settle(self, used: Collection[str]) -> None:
        """Close the steps in use that a killed process left open; open others that are stale.

        These are annotations of other audits of other texts, for which nothing vouches any more.
        """
        steps, statuses = self.steps(), self._held()
        present = sorted({step for file in statuses if (step := step_of(file)) in used and step})
        # Of a step that is as its stage wants it, other inputs than before were no other inputs.
        if old := [name for name in present if name not in steps or _is_stale(name, steps)]:
            self.close(*old)
        for name in sorted(steps.keys() - {*used, MEASURED, REPORTED}):
            if _is_stale(name, steps):
                self.open(name)

    @contextmanager
    def recording(self, path: Path) -> Iterator[None]:
        """Record a page of the run, or a folder of its charts, that the block writes."""
        inside = path.is_relative_to(self.folder)
        start = path.relative_to(self.folder).as_posix() if inside else ""
        if step_of(start) != REPORTED:
            yield
            return
        # Out of the manifest first: a process killed while it writes leaves no false digest
        self._forget(start)
        yield
        read = self.made(MEASURED)
        paths = [path, *(file for file in path.glob("*"))]
        blank = {"made": {}, "outside": {}, "portrayal": __version__, "read": read}
        with self._changing() as content:
            shas = content["steps"].setdefault(REPORTED, blank)["made"]
            for file in filter(Path.is_file, paths):
                shas[file.relative_to(self.folder).as_posix()] = digest(file)

    def _forget(self, start: str) -> None:
        """Take a page, or a folder of its charts, out of the manifest."""
        with self._changing() as content:
            if REPORTED in content["steps"]:
                shas = content["steps"][REPORTED]["made"]
                for file in [f for f in shas if f == start or f.startswith(f"{start}/")]:
                    del shas[file]

    def problems(self, *, strict: bool = False) -> list[Problem]:
        """Return what is not as the manifest says, by file; every file is digested.

        With `strict`, files that no step made are named as well, also where nothing reads them.
        """
        content = self.content()
        if content is None:
            return [Problem(MANIFEST, CHANGED if self.path.exists() else UNMADE)]
        steps, statuses = content["steps"], self._held()
        wrong = {file: LINK for file, status in statuses.items() if status is None}
        shas = {file: sha for entry in steps.values() for file, sha in entry["made"].items()}
        for file, expected in shas.items():
            status = statuses.get(file)
            if file not in statuses:
                wrong[file] = MISSING
            elif status is not None and _digest_as_is(self.folder / file, status) != expected:
                wrong[file] = CHANGED
        # A page of other estimates is found as a file below, with words of its own
        for name in sorted(steps.keys() - {REPORTED}):
            if _is_stale(name, steps):
                wrong.setdefault(next(iter(steps[name]["made"]), name), STALE)
        for file in sorted(statuses.keys() - shas.keys() - wrong.keys()):
            # Readers take every part of a folder.
            if strict or (_PART.fullmatch(file) and step_of(file) in steps):
                is_old_page = step_of(file) == REPORTED and REPORTED not in steps
                wrong[file] = STALE if is_old_page else UNLISTED
            elif file.endswith(".parquet") and not is_whole(self.folder / file):
                wrong[file] = CUT_OFF
        return [Problem(file, wrong[file]) for file in sorted(wrong)]

    def outside(self, options: Iterable[Any]) -> list[Problem]:
        """Return which files that options name, outside the run, are not as they were."""
        expected = dict(self.steps().get(MEASURED, {"outside": {}})["outside"])
        actual = self._outside(options)
        return [
            Problem(file, CHANGED if file in actual else MISSING)
            for file in sorted({*expected, *actual})
            if expected.get(file) != actual.get(file)
        ]

    def _outside(self, options: Iterable[Any]) -> dict[str, str]:
        run = self.folder.resolve()
        return digests(p for p in files_named(options) if not p.resolve().is_relative_to(run))

    def mend(self, makes: Collection[str], *, by_user: bool = False) -> list[str]:
        """Take away what does not fit of the steps that an audit makes, so that it makes it anew.

        Parameters
        ----------
        makes
            Families of steps: the first part of their names.
        by_user
            Whether the texts are answers of a model. These are not removed but set aside, in
            `damaged/`, as all paid answers are.

        Returns
        -------
        list of str
            A line for each file.
        """
        if self.content() is None:
            has_run = self.path.exists() or (self.folder / SETTINGS).exists()
            # Nothing vouches for what is there: what was made of the texts is made anew.
            for folder in (f"{ANNOTATED}/*", f"{REFERENCE_ANNOTATED}/*", TOPICS, MEASURED):
                for note in self.folder.glob(f"{folder}/{NOTE}"):
                    note.unlink()
            write_atomically(self.path, _rendered({"steps": {}}).decode())
            line = f"nothing vouches for {self.folder}: all but its texts is made anew"
            return [line] if has_run else []
        lines, closed = [], {*self.steps()}
        for problem in self.problems(strict=True):
            file, step = problem.file, step_of(problem.file)
            if problem.fault == UNLISTED and step and step not in closed:
                continue  # an open step goes on with the parts that it has
            if _TEMPORARY.fullmatch(file) and problem.fault == UNLISTED:
                (self.folder / file).unlink()  # of a process that was killed
            elif _family(step) in makes and _can_go(problem):
                lines.append(self._take_away(problem, str(step), by_user=by_user))
            elif file.startswith("study/"):
                self.open(MEASURED)
        return lines

    def _take_away(self, problem: Problem, step: str, *, by_user: bool) -> str:
        """Take away a file of a step, so that the step is made anew, and return a line on it."""
        path, is_part = self.folder / problem.file, _PART.fullmatch(problem.file)
        line = f"{problem}; made anew"
        # Answers were paid for, so that what is left of a part is set aside.
        if is_part and (step == ANSWERS or (step == TEXTS and by_user)) and path.is_file():
            aside = self.folder / ASIDE / problem.file
            aside.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, aside)
            line = f"{problem}; set aside in {ASIDE}/"
        gone = [path]
        if step in (TEXTS, REFERENCE):
            of = ANNOTATED if step == TEXTS else REFERENCE_ANNOTATED
            gone += self.folder.glob(f"{of}/*/{path.name}") if is_part else ()
        elif not is_part and problem.file != SETTINGS:
            gone.append(self.folder / step / NOTE)
        for file in gone:
            Stage(file.parent).reopen()
            # The note of an import says of which file it was; it is written over.
            if by_user or step not in (TEXTS, REFERENCE) or file.name != NOTE:
                file.unlink(missing_ok=True)
        if step == REPORTED:
            self._forget(problem.file)
        for file in gone if step != REPORTED else ():
            other = str(step_of(file.relative_to(self.folder).as_posix()))
            if other not in (TEXTS, REFERENCE):  # which are read before anything is checked
                self.open(other)
        return line

    def _held(self) -> dict[str, os.stat_result | None]:
        """Every file of the run by its path, with its size and times; None for a link, or no file.

        No link is followed.
        """
        statuses: dict[str, os.stat_result | None] = {}
        for folder, folders, files_in_it in os.walk(self.folder):
            start = Path(folder).relative_to(self.folder).as_posix().removeprefix(".")
            names = {name: f"{start}/{name}".removeprefix("/") for name in (*folders, *files_in_it)}
            folders[:] = sorted(name for name in folders if names[name] not in _BESIDE)
            # A link could lead out of the run, to files whose changes nobody would see.
            for name, file in sorted(names.items()):
                status = Path(folder, name).lstat()
                if not (name == LOCK or file in _BESIDE or stat.S_ISDIR(status.st_mode)):
                    statuses[file] = status if stat.S_ISREG(status.st_mode) else None
        return statuses

    @contextmanager
    def _changing(self) -> Iterator[dict[str, Any]]:
        """Yield the content, and write it where the block changed it; one process at a time."""
        from filelock import FileLock

        with FileLock(self.folder / f".{MANIFEST}.lock"):
            content = self.content() or {"steps": {}}
            before = _rendered(content)
            yield content
            after = _rendered(content)
            if after != before or not self.path.exists():
                write_atomically(self.path, after.decode())


_DIGESTS: dict[tuple[Path, int, int, int, int], str] = {}
"""Digests that this process took, by path, size, both times and inode of the file."""


def _digest_as_is(path: Path, status: os.stat_result) -> str:
    """Return the digest of a file, which is taken once a process unless the file changes."""
    # No ordinary change of a file leaves size, both times and inode as they were
    key = (path, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)
    now = time.time_ns()
    value = _DIGESTS.get(key) or digest(path)
    # What was written a moment ago may be written again without a change of its time.
    if max(status.st_mtime_ns, status.st_ctime_ns) + _SETTLED < now:
        _DIGESTS[key] = value
    return value


def _can_go(problem: Problem) -> bool:
    """Whether an audit may take a file away to make it anew.

    Journals have sums of their own, and a copied study is written over. What nobody here wrote is
    left alone.
    """
    name = problem.file.rpartition("/")[2]
    if problem.fault == STALE or (problem.fault == UNLISTED and not _PART.fullmatch(problem.file)):
        return False
    return not problem.file.startswith("study/") and not name.startswith("journal.")


def _rendered(content: dict[str, Any]) -> bytes:
    """A manifest as it is written; its last entry is a digest of the others."""
    plain = {name: value for name, value in content.items() if name not in ("what", "whole")}
    plain["what"] = "SHA-256 of the files of a run, by step; see docs/run-directory.md"
    text = json.dumps(plain, ensure_ascii=False, sort_keys=True)
    # Names of files may hold bytes that are no UTF-8.
    plain["whole"] = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return (json.dumps(plain, indent=1, sort_keys=True) + "\n").encode()


def _digest_of(entry: dict[str, Any]) -> str:
    """One digest of all that a step made."""
    text = json.dumps(entry["made"], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _is_stale(name: str, steps: dict[str, dict[str, Any]]) -> bool:
    """Whether a step read something else than other steps have made now."""
    read = steps[name]["read"]
    # By digest, not by time: a step that made the same files again makes nothing stale
    return any(other not in steps or _digest_of(steps[other]) != read[other] for other in read)


def digest(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal digits."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def digests(paths: Iterable[Path]) -> dict[str, str]:
    """Return the digests of those of these files that are there, by their paths."""
    return {str(path): digest(path) for path in paths if path.is_file()}


def files_named(options: Iterable[Any]) -> Iterator[Path]:
    """Yield the files that options of an audit name, alone, in lists, or by a folder of them.

    A word that is by chance the name of a folder where the command runs names none.
    """
    for value in options:
        if isinstance(value, (list, tuple)):
            yield from files_named(value)
        elif isinstance(value, (str, Path)) and str(value):
            path = Path(value)
            if path.is_file():
                yield path
            elif len(path.parts) > 1 and path.is_dir():
                yield from sorted(file for file in path.rglob("*") if file.is_file())
