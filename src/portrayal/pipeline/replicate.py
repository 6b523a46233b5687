"""Replication: the authors' own files, audited, and every published figure beside ours.

A study says in its `replicate.toml` how the authors' files look: `[[files]]` are kinds of them,
each told by the columns that it `has`, with the `columns` of fields and the `values` that all its
rows have; `[names]` are patterns of file names with the values they stand for; `[models]` are the
names that models go by in files and in the tables. `options` are those of the audit. `tables` are
published tables, and `compare` is SQL over them and `estimates` that yields, for each published
figure, `place`, `domain`, `model`, `who`, `printed`, and `ours`, `low`, `high` (null where these
files say nothing of it). `[reading]` is a published table of how right the authors' labeler was:
ours is how far the rules agree with the labels in the files, in at most about `most` stories. `why`
says in sentences why both may differ.
"""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import portrayal.registry as registry
from portrayal.collect.sources import open_source
from portrayal.errors import DataError, OptionError
from portrayal.pipeline.audit import audit
from portrayal.pipeline.config import AuditConfig
from portrayal.reference import published
from portrayal.run import Run, flatten_estimates
from portrayal.run.directory import MARKS
from portrayal.run.files import check_folder, replacing
from portrayal.types import Say


@dataclass(frozen=True)
class PublishedFigure:
    """A published figure beside ours.

    Attributes
    ----------
    place, domain, model, who
        Table or figure of the paper, and what it is of.
    printed, ours
        Both values, in the unit of the paper; ours is None where the files say nothing of it.
    low, high
        Our interval, at the level of the audit; None where there is none.
    """

    place: str
    domain: str
    model: str
    who: str
    printed: float
    ours: float | None
    low: float | None
    high: float | None

    @property
    def inside(self) -> bool | None:
        """Whether the published figure lies in our interval; None where there is none."""
        if self.low is None or self.high is None:
            return None
        return self.low <= self.printed <= self.high


@dataclass(frozen=True)
class Replication:
    """What `replicate` returns: the run, each figure, why they may differ, and files left out."""

    run: Run
    figures: tuple[PublishedFigure, ...]
    why: tuple[str, ...]
    left_out: tuple[str, ...]


def replicate(
    study: str,
    data: str | Path,
    out: str | Path,
    *,
    models: Mapping[str, str] | None = None,
    say: Say | None = None,
    **options: Any,
) -> Replication:
    """Audit the authors' files in a folder, and set every published figure beside ours.

    Parameters
    ----------
    study
        A study with published tables: laissez-faire, news or agency.
    data
        Folder of the files, as the authors publish them.
    out
        Directory of the run.
    models
        Name of a model in the files → its name in the tables, before those of the study.
    say
        Called with a line about each stage.
    **options
        Of the audit, over those of the study.

    Raises
    ------
    OptionError
        When the study has no published tables.
    DataError
        When the folder holds none of the authors' files.
    """
    folder = registry.folder("studies", registry.resolve("studies", study))
    if folder is None or not (folder / "replicate.toml").is_file():
        raise OptionError(f"{study} has no published tables to set beside ours.")
    spec = tomllib.loads((folder / "replicate.toml").read_text(encoding="utf-8"))
    names = {**spec.get("models", {}), **(models or {})}  # the user's names win
    # Before files are read, which may be gigabytes
    check_folder(Path(out), *MARKS)
    kept, left_out = Path(out) / "given", list[str]()
    kept.mkdir(parents=True, exist_ok=True)
    written = {"texts": kept / "texts.jsonl", "reference": kept / "reference.jsonl"}
    counts = dict.fromkeys(written, 0)
    with ExitStack() as stack:
        files = {}
        for part, path in written.items():
            temporary = stack.enter_context(replacing(path))
            files[part] = stack.enter_context(temporary.open("w", encoding="utf-8"))
        # Into two files of one form, as the authors' files differ and an audit takes one
        for row, part in _rows(Path(data), spec, names, left_out):
            if part in files:
                counts[part] += 1
                files[part].write(json.dumps(row, default=str) + "\n")
    if not counts["texts"]:
        kinds = "; ".join(", ".join(file_kind["has"]) for file_kind in spec["files"])
        unread = f" Not read: {'; '.join(left_out[:5])}." if left_out else ""
        raise DataError(
            f"{data}: none of the authors' files, which have the columns {kinds}.{unread}"
        )
    study_record = registry.get("studies", study)
    config = AuditConfig.of(
        # The rows are written anew each time, so the texts of an earlier try may go
        {"replace": True, **spec.get("options", {}), **options},
        study_record.options,
        study_record.name,
    )
    reference = written["reference"] if counts["reference"] else None
    run = audit(
        study=study, texts=written["texts"], reference=reference, out=out, config=config, say=say
    )
    figures = _figures(run, spec)
    if reading := spec.get("reading"):
        # How a reader agrees with the authors' own labels, on stories from all over the files.
        from portrayal.raters.people import read_gold, score_people

        columns = [f"gold_{name}={name}" for name in reading["columns"]]
        gold_rows = list(read_gold(written["texts"], columns))
        score = score_people(gold_rows[:: 1 + len(gold_rows) // reading["most"]])
        for name, printed in reading["printed"].items():
            rate, label = score.rates[name], name.replace("_", " ")
            percents = [None if v is None else 100 * v for v in (rate.value, rate.low, rate.high)]
            of = reading["place"], "All", reading["model"], label
            figures.append(PublishedFigure(*of, printed, *percents))
    return Replication(run, tuple(figures), tuple(spec["why"]), tuple(left_out))


def _rows(
    data: Path, spec: dict[str, Any], models: Mapping[str, str], left_out: list[str]
) -> Iterator[tuple[dict[str, Any], str]]:
    """Each row of the authors' files under the names of our fields, and whether it is a reference.

    Files that are none of theirs are added to `left_out`.
    """
    if not data.is_dir():
        raise DataError(f"{data}: there is no such folder; name the one that holds the files.")
    for path in sorted(path_there for path_there in data.rglob("*") if path_there.is_file()):
        try:
            source = open_source(path)
        except DataError as error:
            left_out.append(str(error))
            continue
        fitting = (kind for kind in spec["files"] if {*kind["has"]} <= {*source.columns})
        kind = next(fitting, None)
        if kind is None:
            left_out.append(f"{path}: columns {', '.join(source.columns)}")
            continue
        constants = dict(kind.get("values", {}))
        # Some files say the model or the part only in their names
        for pattern, values in spec.get("names", {}).items():
            if re.search(pattern, path.stem, re.IGNORECASE):
                constants |= values
        part = constants.pop("part", "texts")
        columns = {column: field for field, column in kind.get("columns", {}).items()}
        for row in source.rows():
            cells = constants | {columns.get(name, name): row[name] for name in row if name}
            if "model" in cells:
                cells["model"] = models.get(str(cells["model"]), cells["model"])
            yield cells, part


def _figures(run: Run, spec: dict[str, Any]) -> list[PublishedFigure]:
    import duckdb

    # One thread, so that rows without an order come in the same one each time
    with duckdb.connect(config={"threads": 1}) as db:
        for name in spec["tables"]:
            db.from_arrow(published(name)).create(name)
        db.from_arrow(flatten_estimates(run.records)).create("estimates")
        answer = db.execute(spec["compare"])
        names = [column[0] for column in answer.description or ()]
        rows = [dict(zip(names, row, strict=True)) for row in answer.fetchall()]
    return [PublishedFigure(**row) for row in rows]
