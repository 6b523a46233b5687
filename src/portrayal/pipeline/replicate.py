"""Replication: every published figure of a study beside ours, from the authors' files or yours.

A study says in its `replicate.toml` how the authors' files look and what their papers print.
`[[files]]` are kinds of files: `columns` are the names that a field goes by, tried in turn, of
which those of `needs` must be there; `values` are what all rows of the kind have. `[names]` are
patterns of file names with the values they stand for; `[[rows]]` are patterns of a column's cells
with the values that such rows have; `[spelled]` are other spellings of a field's values, such as
of models, and `[only]` the values of a field that count, of texts by a `model`. A value of
`[names]` may name another in braces. `labels` are fields that say who is in a text, of files that
have them; other texts are read. `options` are those of the audit, and `[parts]` those of
further ones, of the rows that have such a `part`, or that SQL of `[selections]` takes from `texts`.

`[columns]` are those of estimates that not every run has, with their types. `[[tables]]` are the
published ones. `compare` is SQL over the tables that it `reads` and `estimates`, and yields for
every published figure `place`, `domain`, `model`, `who`, `printed`, `printed_low`, `printed_high`,
`ours`, `low`, `high`, and `lacking`: why there is no figure, or no interval, of texts that files
have. `neutral` is the value of no difference; `reader`, of the table or a column of it, is that
which decides how high figures lie. `[[readings]]` are published tables of how right a reader was.
`why` says in sentences why figures may differ.
"""

import json
import math
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import NormalDist
from typing import Any

import portrayal.registry as registry
from portrayal.collect.sources import open_source
from portrayal.collect.tables import missing
from portrayal.errors import DataError, OptionError
from portrayal.pipeline.audit import audit
from portrayal.records import Estimate
from portrayal.reference.shipped import published
from portrayal.run import Run, flatten_estimates
from portrayal.run.directory import MARKS
from portrayal.run.files import check_folder, replacing
from portrayal.stats import benjamini_hochberg
from portrayal.types import Say

INSIDE, OUTSIDE, OTHER_SIDE = "inside", "outside", "other side"
APART, NOT_APART = "told apart", "not told apart"
NO_INTERVAL, NONE = "no interval", "not computable"
VERDICTS = (INSIDE, OUTSIDE, OTHER_SIDE, APART, NOT_APART, NO_INTERVAL, NONE)
"""What is said of a published figure beside ours; those of a model beside the published ones are
the fourth and fifth."""
SURE = 0.05
"""Largest q (Benjamini and Hochberg 1995, over all figures) at which two figures are told apart."""


@dataclass(frozen=True, kw_only=True)
class PublishedFigure:
    """A published figure beside ours.

    Attributes
    ----------
    place, domain, model, who
        Table or figure of the paper, and what it is of.
    printed, ours
        Both values, in the unit of the paper; ours is None where there is none.
    printed_low, printed_high
        The printed interval; None where none is printed.
    low, high
        Our interval, at the level of the audit; None where there is none.
    neutral
        The value of no difference; None where the figure has none.
    lacking
        Why there is none of ours, or no interval.
    reader
        What reads the texts, where it decides how high the figure lies.
    writer
        The model of your own texts that stands beside the published one; "" of the authors' files.
    q
        Of the difference to the published model; None of the authors' files.
    """

    place: str
    domain: str
    model: str
    who: str
    printed: float
    printed_low: float | None = None
    printed_high: float | None = None
    ours: float | None = None
    low: float | None = None
    high: float | None = None
    neutral: float | None = None
    lacking: str = ""
    reader: str = ""
    writer: str = ""
    q: float | None = None

    @property
    def verdict(self) -> str:
        """One of `VERDICTS`."""
        if self.ours is None:
            return NONE
        if self.low is None or self.high is None or (self.writer and self.q is None):
            return NO_INTERVAL
        if self.writer:
            return APART if self.q is not None and self.q <= SURE else NOT_APART
        if self.low <= self.printed <= self.high:
            return INSIDE
        if (
            self.neutral is not None
            and (self.printed - self.neutral) * (self.ours - self.neutral) < 0
        ):
            return OTHER_SIDE
        return OUTSIDE

    @property
    def p_apart(self) -> float:
        """Two-sided normal p of no difference to the published figure; NaN without an interval.

        Of ratios their logarithms are compared. A published figure without an interval is taken as
        exact.
        """
        if self.ours is None or self.low is None or self.high is None:
            return math.nan
        numbers = [self.printed, self.ours, self.low, self.high]
        numbers += [self.printed if x is None else x for x in (self.printed_low, self.printed_high)]
        if self.neutral == 1.0:
            if min(numbers) <= 0.0:
                return math.nan
            numbers = [math.log(x) for x in numbers]
        printed, ours, low, high, printed_low, printed_high = numbers
        error = math.hypot(high - low, printed_high - printed_low) / 2.0
        if error == 0.0:
            return math.nan
        normal = NormalDist()
        return 2.0 * normal.cdf(-abs(ours - printed) / error * normal.inv_cdf(0.975))


@dataclass(frozen=True)
class Replication:
    """What `replicate` returns: the run, each figure, why they may differ, and files left out."""

    run: Run
    figures: tuple[PublishedFigure, ...]
    reasons: tuple[str, ...]
    left_out: tuple[str, ...] = ()


def replicate(
    study: str, data: str | Path, out: str | Path, *, say: Say | None = None, **options: Any
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
    say
        Called with a line about each stage.
    **options
        Of the audit, over those of the study; `model_alias` also says by which name of the tables a
        model of the files goes.

    Raises
    ------
    OptionError
        When the study has no published tables.
    DataError
        When the folder holds none of the authors' files.
    """
    spec = published_tables_of(study)
    # Before files are read, which may be gigabytes
    check_folder(Path(out), *MARKS)
    folder = Path(out) / "given"
    folder.mkdir(parents=True, exist_ok=True)
    files = _AuthorsFiles(spec)
    written: dict[str, Any] = {**files.written(Path(data), folder)}
    if "texts" not in written:
        kinds = "; ".join(
            " and ".join(names[0] for names in (kind["columns"][f] for f in kind["needs"]))
            for kind in spec["files"]
        )
        unread = f" Not read: {'; '.join(files.left_out[:5])}." if files.left_out else ""
        raise DataError(
            f"{data}: none of the authors' files, which have the columns {kinds}.{unread}"
        )
    for part, query in spec.get("selections", {}).items():
        import duckdb

        with duckdb.connect() as db:
            db.read_json(str(written["texts"])).create_view("texts")
            if selected := db.sql(query).to_arrow_table():
                written[part] = selected
    # The rows are written anew each time, so the texts of an earlier try may go
    labels = {name: name for name in spec.get("labels", ()) if name in files.fields}
    settings: dict[str, Any] = {"study": study, "say": say, "replace": True, "columns": labels}
    settings |= {**spec.get("options", {}), **options}
    run = audit(written["texts"], reference=written.get("reference"), out=out, **settings)
    records = [*run.records]
    for part, more in spec.get("parts", {}).items():
        if part in written:  # texts that an audit of the others cannot hold
            records += audit(written[part], out=Path(out) / part, **{**settings, **more}).records
    figures = _figures(records, spec)
    for reading in spec.get("readings", ()):
        has_labels = {*reading.get("columns", ())} <= files.fields
        path = written.get(reading["of"]) if has_labels else None
        figures += _READERS[reading["by"]](reading, path)
    return Replication(run, tuple(figures), tuple(spec["why"]), tuple(files.left_out))


def beside_published(run: Run) -> Replication:
    """Set the models of a run beside the published models, in the paper's own figures.

    Parameters
    ----------
    run
        An audit by a study with published tables, of texts that answer its prompts or of a model
        that was asked them.

    Returns
    -------
    Replication
        For each model of the run, each published figure beside that of the model, and whether the
        two are told apart (`SURE`).

    Raises
    ------
    OptionError
        When the study has no published tables.
    """
    spec = published_tables_of(run.study)
    figures = _figures(run.records, spec, by_writer=True)
    q = benjamini_hochberg([figure.p_apart for figure in figures]).tolist()
    pairs = zip(figures, q, strict=True)
    tested = [replace(f, q=None if math.isnan(value) else value) for f, value in pairs]
    return Replication(run, tuple(tested), tuple(spec["why"]))


def published_tables_of(study: str) -> dict[str, Any]:
    """Return what the `replicate.toml` of a study says.

    Raises
    ------
    OptionError
        When the study has none.
    """
    folder = registry.folder("studies", registry.resolve("studies", study))
    if folder is None or not (folder / "replicate.toml").is_file():
        raise OptionError(f"{study} has no published tables to set beside ours.")
    return tomllib.loads((folder / "replicate.toml").read_text(encoding="utf-8"))


@dataclass
class _AuthorsFiles:
    """The authors' files of a folder in one form, as they differ and an audit takes one."""

    spec: Mapping[str, Any]
    left_out: list[str] = field(default_factory=list)
    fields: set[str] = field(default_factory=set)

    def written(self, data: Path, folder: Path) -> dict[str, Path]:
        """Write the rows of each part to a file of the folder; return the files with rows."""
        if not data.is_dir():
            raise DataError(f"{data}: there is no such folder; name the one that holds the files.")
        paths: dict[str, Path] = {}
        with ExitStack() as stack:
            streams: dict[str, Any] = {}
            for path in sorted(path for path in data.rglob("*") if path.is_file()):
                if path.is_relative_to(folder.parent):  # a run of before
                    continue
                for row in self._rows(path):
                    part = row.pop("part", "texts")
                    if part not in streams:
                        paths[part] = folder / f"{part}.jsonl"
                        temporary = stack.enter_context(replacing(paths[part]))
                        stream = temporary.open("w", encoding="utf-8")
                        streams[part] = stack.enter_context(stream)
                    streams[part].write(json.dumps(row, default=str) + "\n")
        return paths

    def _rows(self, path: Path) -> Iterator[dict[str, Any]]:
        """Each row of a file under the names of our fields; files of no kind are `left_out`."""
        if path.suffix in (".pkl", ".pickle"):
            # Reading a stranger's pickle runs its code
            self.left_out.append(
                f"{path.name}: a pickle, which is never loaded, as that runs its code; in an "
                f"environment to throw away, read it with pandas and write it as CSV"
            )
            return
        try:
            source = open_source(path)
        except DataError as error:
            self.left_out.append(str(error))
            return
        for kind in self.spec["files"]:
            # The first column of the file that each field goes by
            columns = {
                name: next(column for column in names if column in source.columns)
                for name, names in kind["columns"].items()
                if {*names} & {*source.columns}
            }
            if columns.keys() >= {*kind["needs"]}:
                break
        else:
            self.left_out.append(f"{path}: columns {', '.join(source.columns)}")
            return
        self.fields |= columns.keys()
        constants = dict(kind.get("values", {}))
        # Some files say the model or the part only in their names
        for pattern, values in self.spec.get("names", {}).items():
            if re.search(pattern, path.stem, re.IGNORECASE):
                constants |= {name: value.format_map(constants) for name, value in values.items()}
        for row in source.rows():
            cells = {k: v for k, v in row.items() if k and k not in columns.values()}
            cells |= {name: row[column] for name, column in columns.items()}
            for rule in self.spec.get("rows", ()):
                if re.search(rule["pattern"], str(cells.get(rule["column"]) or "")):
                    cells |= rule["values"]
            if (one := self._spelled(cells, constants)) is not None:
                yield one

    def _spelled(
        self, cells: dict[str, Any], constants: Mapping[str, str]
    ) -> dict[str, Any] | None:
        """A row with the values that all rows of its file have, as the tables spell them."""
        cells = {k: v for k, v in cells.items() if v != "" and not missing(v)}
        cells = {"text": "", **constants, **cells}
        for name, spellings in self.spec.get("spelled", {}).items():
            if name in cells:
                cells[name] = spellings.get(cells[name], cells[name])
        for name, values in self.spec.get("only", {}).items():
            if cells.get("model") == values["model"] and cells.get(name) not in values["values"]:
                return None
        return cells


_AS_PRINTED = """
  create or replace table estimates as
  select audited.* replace (printed.model as model) from audited, printed where audited.model = ?
"""


def _figures(
    records: Iterable[Estimate], spec: Mapping[str, Any], *, by_writer: bool = False
) -> list[PublishedFigure]:
    """Every published figure beside that of the model of its name, or of each audited model."""
    import duckdb
    import pyarrow as pa

    estimates = flatten_estimates(records)
    # One thread, so that rows without an order come in the same one each time
    with duckdb.connect(config={"threads": 1}) as db:
        db.from_arrow(estimates).create("audited")
        for name, kind in spec.get("columns", {}).items():
            db.execute(f"alter table audited add column if not exists {name} {kind}")
        db.execute("create table estimates as from audited")
        for name in {name: None for table in spec["tables"] for name in table["reads"]}:
            db.from_arrow(published(name)).create(name)
        if not by_writer:
            return list(_compared(db, spec))
        printed_models = [*dict.fromkeys(figure.model for figure in _compared(db, spec))]
        db.from_arrow(pa.table({"model": printed_models})).create("printed")
        writers = sorted({*estimates["model"].to_pylist()} - {None, "all", "reference"})
        figures: list[PublishedFigure] = []
        for writer in writers:
            # A model of one's own goes by the name of each published one in turn
            db.execute(_AS_PRINTED, [writer])
            # A level that is not read as the paper's says nothing of a model
            figures += [f for f in _compared(db, spec, writer) if not f.reader]
        return figures


def _compared(db: Any, spec: Mapping[str, Any], writer: str = "") -> Iterator[PublishedFigure]:
    """Each published figure beside the estimates of the view `estimates`."""
    models = {model for (model,) in db.execute("select distinct model from audited").fetchall()}
    for table in spec["tables"]:
        answer = db.execute(table["compare"])
        names = [column[0] for column in answer.description or ()]
        for values in answer.fetchall():
            row = {name: table.get(name) for name in ("neutral", "reader")}
            row |= dict(zip(names, values, strict=True))
            if row["ours"] is not None:
                lacking = row["lacking"] if row["low"] is None else ""
            elif row["lacking"] or writer or row["model"] in models:
                lacking = row["lacking"] or table.get("lacking", "")
            else:
                lacking = f"no texts of {row['model']} in these files"
            row |= {"lacking": lacking or "", "reader": row["reader"] or ""}
            yield PublishedFigure(**row, writer=writer)


def _people_read(reading: Mapping[str, Any], path: Path | None) -> Iterator[PublishedFigure]:
    """How the readers of people agree with the labels in the files, on stories from all of them."""
    from portrayal.raters.people import read_gold, score_people

    printed = [
        PublishedFigure(
            place=reading["place"],
            domain="all",
            model=reading["model"],
            who=name.replace("_", " "),
            printed=value,
            lacking=reading.get("lacking", "no labels of people in these files"),
        )
        for name, value in reading["printed"].items()
    ]
    if path is None or "lacking" in reading:
        yield from printed
        return
    gold = list(read_gold(path, [f"gold_{name}={name}" for name in reading["columns"]]))
    stories = gold[:: 1 + len(gold) // reading["most"]]
    score = score_people(stories)
    for figure, name in zip(printed, reading["printed"], strict=True):
        rate = score.rates[name]
        yield _beside(figure, rate.value, rate)


def _sentences_read(reading: Mapping[str, Any], path: Path | None) -> Iterator[PublishedFigure]:
    """How classifiers of sentences agree with the authors' labelled ones."""
    from portrayal.annotate.agency import load_classifier
    from portrayal.annotate.agency.labelled import METRICS, read_labelled, score_agency

    labelled = None if path is None else read_labelled(path)
    for row in published(reading["table"]).to_pylist():
        model = f"{row['model']}, {row['setting']}"
        name = reading["classifiers"].get(model)
        lacking = reading["lacking"] if name is None else "no labelled sentences in these files"
        score = None
        if labelled is not None and name is not None:
            score = score_agency(labelled, load_classifier(name))
        for metric in METRICS:
            figure = PublishedFigure(
                place=reading["place"],
                domain="LAC",
                model=model,
                who=metric.replace("_", " "),
                printed=row[metric],
                lacking=lacking,
                reader=reading["reader"],
            )
            one = None if score is None else score.metrics[metric]
            yield figure if one is None else _beside(figure, one.value, one)


def _beside(figure: PublishedFigure, ours: float | None, bounds: Any) -> PublishedFigure:
    """The figure beside a share of ours with its interval, in per cent."""
    ours, low, high = (None if x is None else 100.0 * x for x in (ours, bounds.low, bounds.high))
    return replace(figure, lacking="", ours=ours, low=low, high=high)


_READERS = {"people": _people_read, "sentences": _sentences_read}
