"""The run directory: where each stage keeps its files, who may write to it, and how it is read."""

import sys
import tomllib
from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

import portrayal.registry as registry
from portrayal.errors import RunError
from portrayal.records import Estimate
from portrayal.reference.labels import FactorLabels, read_words, speaking_of
from portrayal.run.estimates import (
    ESTIMATES,
    INFLUENCES,
    Estimates,
    Influences,
    read_estimates,
    read_influences,
)
from portrayal.run.files import Stage, check_folder, read_parquet, reading, write_atomically
from portrayal.run.manifest import LOCK, MANIFEST, MEASURED, SETTINGS, STALE, Manifest

NOTHING_KEPT = (LOCK, MANIFEST, f".{MANIFEST}.lock")
"""What stands in a run before anything is kept."""
MARKS = (LOCK, SETTINGS, MANIFEST, "texts", "prompts.parquet", "facts.json", "given")
"""Names, one of which every folder holds that a stage of Portrayal wrote."""


@dataclass(frozen=True)
class Run:
    """One audit on disk.

    Attributes
    ----------
    path
        The directory; see the documentation page "A run is a directory" for its files.
    """

    path: Path

    def __post_init__(self) -> None:
        """Take a path as text, too."""
        object.__setattr__(self, "path", Path(self.path))

    @classmethod
    def open(cls, path: str | Path) -> "Run":
        """Open an existing run, all of whose files are as they were written (`check`).

        Raises
        ------
        RunError
            When `path` is not a run directory, or a file of it was changed.
        """
        run = cls(Path(path))
        content = run.manifest.content()
        is_measured = content is not None and MEASURED in content["steps"]
        if not run.settings_path.is_file() and not is_measured:
            raise RunError(
                f"{run.path} is not a run: it has no {SETTINGS}. "
                "Name a directory that `portrayal audit … --out DIR` made."
            )
        # Half an audit would be read as a whole one of fewer estimates
        if content is not None and not is_measured:
            raise RunError(
                f"the audit of {run.path} was stopped before it ended. Run the same "
                "`portrayal audit` command again to continue."
            )
        run.check()
        return run

    def check(self, *, under_way: bool = False) -> None:
        """Hold the run's files to its manifest; every reader comes through here.

        Parameters
        ----------
        under_way
            Whether an audit is at work, which makes anew what was made from other files.

        Raises
        ------
        RunError
            Naming the first file that is not as it was written, and what to do.
        """
        wrong = self.manifest.problems()
        if wrong := [problem for problem in wrong if not (under_way and problem.fault == STALE)]:
            more = f" ({len(wrong) - 1:,} more files)" if len(wrong) > 1 else ""
            raise RunError(
                f"{self.path / wrong[0].file} {wrong[0].fault}{more}. Run the same "
                "`portrayal audit` command again, with its --texts or --model: what does not fit "
                "is made anew."
            )

    @property
    def manifest(self) -> Manifest:
        """Digests of all files of the run, by the step that made them."""
        return Manifest(self.path)

    @property
    def settings_path(self) -> Path:
        """`audit.toml`: what was asked."""
        return self.path / SETTINGS

    @property
    def study_path(self) -> Path:
        """`study/study.toml`: a study of the user's own, as it was asked."""
        return self.path / "study" / "study.toml"

    @property
    def study(self) -> str:
        """How the registry looks up the study of this run: its name, or the copy in the run."""
        # The copy: the user's own file may have changed since, or be elsewhere
        copy = self.study_path
        return str(copy) if copy.is_file() else str(self.settings().get("study", ""))

    @property
    def prompts_path(self) -> Path:
        """`prompts.parquet`: prompt_id, text and strata of every prompt."""
        return self.path / "prompts.parquet"

    @property
    def estimates_path(self) -> Path:
        """`estimates.parquet`: every number of the audit."""
        return self.path / ESTIMATES

    @property
    def influences_path(self) -> Path:
        """`influences.parquet`: what each prompt adds to every estimate."""
        return self.path / INFLUENCES

    @property
    def report_path(self) -> Path:
        """`report.html`."""
        return self.path / "report.html"

    @property
    def texts(self) -> Stage:
        """The folder of texts, in shards."""
        return Stage(self.path / "texts")

    def annotations(self, name: str) -> Stage:
        """Return the folder of one annotator's output, sharded like the texts."""
        return Stage(self.path / "annotations" / name)

    @property
    def reference(self) -> Stage:
        """The folder of the texts that the audited ones are compared with, in shards."""
        return Stage(self.path / "reference")

    @property
    def reference_prompts_path(self) -> Path:
        """`reference-prompts.parquet`: what each reference text answers or is about."""
        return self.path / "reference-prompts.parquet"

    def reference_annotations(self, name: str) -> Stage:
        """Return the folder of one annotator's output on the reference texts."""
        return Stage(self.path / "reference-annotations" / name)

    def settings(self) -> dict[str, Any]:
        """Return `audit.toml` as a dictionary.

        Raises
        ------
        RunError
            When it cannot be read.
        """
        try:
            return tomllib.loads(self.settings_path.read_text("utf-8"))
        except (ValueError, RecursionError) as error:
            raise RunError(
                f"{self.settings_path} is damaged ({error}). Run the same `portrayal audit` "
                "command again, which writes it anew."
            ) from error

    @property
    def is_by_prompt(self) -> bool:
        """Whether its texts say their prompt; else each text is a unit, and its prompt made up."""
        note = self.texts.note()
        return note.get("cluster_unit") == "prompt" or "prompt_id" in note.get("mapping", {})

    @cached_property
    def factors(self) -> tuple[FactorLabels, ...]:
        """How the groups of the run's factors are called and coloured."""
        return read_words(self.settings().get("factors", ()))

    def speaking(self) -> AbstractContextManager[None]:
        """Name groups, places and roles as the run does, inside a `with` block."""
        return speaking_of(self.factors, self.study)

    def write_settings(self, settings: dict[str, Any]) -> None:
        """Write `audit.toml`, the last file of what was measured, and close that step."""
        import tomli_w

        write_atomically(self.settings_path, tomli_w.dumps(settings))
        # The digests last, when all files of the step are as they stay
        self.manifest.close(MEASURED, options=settings.get("options", {}).values())

    @cached_property
    def records(self) -> list[Estimate]:
        """Every estimate of the run, as records."""
        if not self.estimates_path.is_file():
            raise RunError(
                f"{self.path} has no estimates yet: the audit was stopped before it measured. "
                "Run the same `portrayal audit` command again to continue."
            )
        self.check()
        with reading(self.estimates_path):
            return read_estimates(self.estimates_path)

    @cached_property
    def influences(self) -> Influences:
        """What each prompt adds to every estimate, in the order of `records`."""
        if not self.influences_path.is_file():
            raise RunError(
                f"{self.path} keeps no sums by prompt, as runs of older versions do not. Run the "
                "same `portrayal audit` command again; it reads no text a second time."
            )
        self.check()
        return read_influences(self.influences_path, self.records)

    @cached_property
    def estimates(self) -> Estimates:
        """Every estimate as a table; `.to_pandas()` gives a DataFrame, `.where(…)` some of them."""
        return Estimates(tuple(self.records))

    @property
    def findings(self) -> list[dict[str, Any]]:
        """What the report states: `sentence`, `value`, `interval`, `p`, `q`, `strength`, … of each.

        The strongest first; the keys are those of `portrayal list findings --format json`.
        """
        findings: list[dict[str, Any]] = registry.get("views", "findings")(self)
        return findings

    def plot(self, measure: str = "", *, figure: int = 0) -> Any:
        """Return the report's chart of a measure, which a notebook shows; its `svg` is a file.

        Parameters
        ----------
        measure
            Its name, whose version may be left out, such as "representation"; by default the chart
            that the report opens with: its findings, or what comes nearest.
        figure
            Which, where the report draws several of a measure.

        Raises
        ------
        OptionError
            When the run has no such measure, or none of its values can be drawn.
        """
        return registry.get("views", "plot")(self, measure, figure)

    def _repr_html_(self) -> str:
        page: str = registry.get("views", "run")(self)
        return page

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Hold the run for this process; a second process is refused, not queued.

        A directory made for it is removed again where an error comes before anything was kept.

        Raises
        ------
        OptionError
            When the directory is not one that Portrayal wrote (`check_folder`).
        RunError
            When another process holds the run, or the directory cannot be written.
        """
        from filelock import FileLock, Timeout

        # Before the lock, which would itself be a file in a folder of others.
        check_folder(self.path, *MARKS)
        lock = FileLock(self.path / LOCK, timeout=0)  # refused at once: an audit may take days
        is_new = not self.path.exists()
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            lock.acquire()
        except Timeout:
            raise RunError(
                f"another process is working on {self.path}. Wait for it to end, "
                "or give another directory with --out."
            ) from None
        except OSError as error:
            raise RunError(
                f"{self.path} cannot be written ({error.strerror}). Give another --out."
            ) from error
        try:
            yield
        except BaseException:
            if is_new:
                # Leave no directory behind for a run that kept nothing.
                below = list(self.path.rglob("*"))
                if all(path.is_dir() or path.name in NOTHING_KEPT for path in below):
                    # the files of a folder before the folder
                    for path in sorted(below, reverse=True):
                        path.rmdir() if path.is_dir() else path.unlink()
                    self.path.rmdir()
            raise
        finally:
            lock.release()


def read_prompts(
    path: Path, *, words: str | None = None, only: Collection[str] | None = None
) -> dict[str, dict[str, str]]:
    """Return the strata of each prompt by its prompt_id, in the order of the file.

    Parameters
    ----------
    path
        `Run.prompts_path` or `Run.reference_prompts_path`.
    words
        Name under which the words of the prompt stand among its strata; None leaves them out.
    only
        Strata to keep; None keeps all.
    """
    columns = ["prompt_id", "strata", *(["text"] if words else [])]
    prompts: dict[str, dict[str, str]] = {}
    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(columns=columns):
            for row in batch.to_pylist():
                strata = {
                    # Few values come again and again: each is in memory once, however many prompts
                    # there are.
                    name: sys.intern(value)
                    for name, value in row["strata"]
                    if only is None or name in only
                }
                prompts[row["prompt_id"]] = {words: row["text"]} | strata if words else strata
    return prompts


def read_shards(
    texts: Stage, columns: Sequence[str], *annotations: tuple[Stage, Sequence[str]]
) -> Iterator[tuple[pa.Table, ...]]:
    """Yield each shard of texts, and beside it the same rows of every annotation.

    Parameters
    ----------
    texts, columns
        `Run.texts` or `Run.reference`, and which of their columns.
    annotations
        Stages of annotations, and which of their columns.
    """
    for part in texts.parts():
        yield (
            read_parquet(part, columns=list(columns)),
            # Shards of annotations are named as those of the texts, and hold the same rows
            *(read_parquet(s.folder / part.name, columns=list(c)) for s, c in annotations),
        )


def read_rows(
    run: Run, columns: Sequence[str], *, words: str | None = None
) -> Iterator[dict[str, Any]]:
    """Yield each text of a run as the strata of its prompt, then its own columns.

    `columns` must hold "prompt_id"; `words` is as in `read_prompts`.
    """
    prompts = read_prompts(run.prompts_path, words=words)
    for (table,) in read_shards(run.texts, columns):
        for row in table.to_pylist():
            yield {**prompts[row["prompt_id"]], **row}


def read_chosen(
    parts: Sequence[Path], columns: Sequence[str], text_ids: Collection[str], *, by: str = "text_id"
) -> Iterator[dict[str, Any]]:
    """Yield the rows of these texts from files of texts or annotations, in their order.

    `by` is "text_id", or of texts "source_id", the name that the user's file gives them.
    """
    ids = pa.array(list(text_ids), pa.string())
    for part in parts:
        table = read_parquet(part, list(dict.fromkeys([*columns, by])))
        rows = table.filter(pc.is_in(table[by], value_set=ids))
        yield from rows.select(list(columns)).to_pylist()


_SHARDS_AT_ONCE = 40
"""Shards whose texts and annotations are joined at once: with all, memory would grow with texts."""


def distinct_rows(texts: Stage, annotations: Stage, query: str) -> dict[str, list[Any]]:
    """Return the distinct rows of a query and how many there are of each, by column.

    Memory grows with the distinct rows, not with the texts.

    Parameters
    ----------
    texts, annotations
        `Run.texts`, and annotations of them, with the same texts in each shard.
    query
        DuckDB's SQL over `$texts` and `$annotations`, grouped by all but `n`, their number.
    """
    import duckdb

    parts = texts.parts()
    with duckdb.connect() as connection:
        tables = []
        for start in range(0, max(len(parts), 1), _SHARDS_AT_ONCE):
            names = [part.name for part in parts[start : start + _SHARDS_AT_ONCE]]
            paths = {
                "texts": [str(texts.folder / name) for name in names],
                "annotations": [str(annotations.folder / name) for name in names],
            }
            tables.append(connection.sql(query, params=paths).to_arrow_table())
        # Each batch was counted by itself, so equal rows of two are added up
        connection.register("counted", pa.concat_tables(tables))
        total = "select * replace (sum(n)::bigint as n) from counted group by all order by all"
        table = connection.sql(total).to_arrow_table()
    return {name: table[name].to_pylist() for name in table.column_names}
