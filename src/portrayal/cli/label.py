"""The commands `label …`: who is in texts and what they say, by people or by a model.

People fill in sheets (CSV); a language model writes the same label file. Both lead to the same
agreement, shares of codes and corrections.
"""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

import portrayal.cli.asking as ask
import portrayal.cli.options as opt
import portrayal.cli.printing as show
from portrayal.errors import OptionError, RunError
from portrayal.validate import check_different_files

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from portrayal.raters.labels import Labels
    from portrayal.report.coding import Block

_SHORT = 6
"""Places that a draw cannot correct of which a terminal says so."""
Sheets = Annotated[
    list[Path], Parameter(help="Filled-in sheets or other label files, or a folder of them.")
]
LABELLING = opt.record(ask.asking_options("model", "samples", whose="labeler", samples=1))


def labels_at(paths: list[Path]) -> "Labels":
    """Return the labels of label files, or of all those in a folder."""
    from portrayal.raters.labels import label_files, read_labels

    files = [file for path in paths for file in (label_files(path) if path.is_dir() else [path])]
    if not files:
        raise RunError(
            f"{paths[0]}: no sheet holds a label yet. `portrayal label sheet RUN --for WHAT` draws "
            "texts; fill in the sheets that it writes."
        )
    check_different_files(files)
    return read_labels(*files)


def sheet(
    run: opt.RunPath,
    /,
    *,
    about: Annotated[str, Parameter(name="--for", metavar="WHAT")] = "people",
    n: int = 300,
    by: Annotated[list[str] | None, Parameter(metavar="STRATUM")] = None,
    rater: Annotated[list[str] | None, Parameter(metavar="NAME")] = None,
    target_width: float | None = None,
    hand_labels: Annotated[Path | None, Parameter(metavar="FILE")] = None,
    out: Path | None = None,
    seed: opt.Seed = 0,
    format: opt.Format = "table",
) -> None:
    """Draw texts at random for people to label on sheets (CSV).

    Example: portrayal label sheet runs/laissez-faire --for religion --n 300

    Parameters
    ----------
    about
        A measure, finding or field that labels correct, whose interval the texts narrow; or a
        codebook: people (of stories), stereotypes, or a TOML file of your own.
    n
        Texts to draw.
    by
        With a codebook, draw as many of each, such as domain or race; repeatable. Default: domain,
        condition, model.
    rater
        Who labels, a sheet for each; repeatable. Default: first, second.
    target_width
        With a field, as many texts as a 95 % interval of this width needs.
    hand_labels
        With a field, labels given so far: they tell how often the scorer errs, and how wide it is.
    out
        Folder of the sheets; default labels/WHAT in the run.
    """
    from portrayal.measure.drawing import (
        PEOPLE,
        draw_for,
        draw_texts,
        field_book,
        field_for,
        is_of_people,
        items_of,
        short_of_people,
        short_strata,
    )
    from portrayal.raters.labels import read_hand_labels
    from portrayal.raters.sheets import CODEBOOKS, codebook, write_sheets
    from portrayal.run import Run

    opened, raters = Run.open(run), rater or ["first", "second"]
    if is_of_people(opened, about):
        about = PEOPLE
    if about in CODEBOOKS.names or about.endswith(".toml"):
        if target_width is not None or hand_labels is not None:
            raise OptionError("--target-width and --hand-labels go with --for a field or measure.")
        book = codebook(about)
        sample = draw_texts(opened, book.name, n, by=by, seed=seed)
        short = short_of_people(opened, sample) if book.name == PEOPLE else []
    else:
        if by:
            raise OptionError("--by goes with --for a codebook; a field is drawn by its scorer.")
        field = field_for(opened, about)
        labels = hand_labels and read_hand_labels(hand_labels)
        sample = draw_for(
            opened, field, n, seed=seed, labels=labels or None, target_width=target_width
        )
        book, short = field_book(opened, field, len(raters)), short_strata(opened, sample)
    items = items_of(opened, sample, with_prompt=sample.width is None)
    folder = out or opened.path / "labels" / sample.about
    files = write_sheets(items, book, folder, raters)
    width = sample.width
    facts = {"for": sample.about, "n_drawn": len(items), "expected_width": width}
    facts |= {"files": [*map(str, files)], "strata": dict(sample.strata), "too_few": short}
    words = "" if width is None else f"; expected width of a share of these texts: {width:.3f}"
    parts = [f"{name}: {n:,} of {of:,} texts" for name, (of, n) in sample.strata.items()]
    fewest = sorted(short, key=lambda place: place.n_drawn)[:_SHORT]
    parts += [f"{len(items):,} texts{words}", *(f"warning: {place.sentence}" for place in fewest)]
    parts += [f"and {len(short) - _SHORT} more such"] if len(short) > _SHORT else []
    after = f"then: portrayal label merge {folder} --out {sample.about}.csv"
    show.give(format, facts, [*parts, *(f"wrote {path}" for path in files), after])


def merge(sheets: Sheets, /, *, out: Path, format: opt.Format = "table") -> None:
    """Join the labels of several raters in one label file.

    Example: portrayal label merge anna.csv ben.csv --out labels.csv

    Parameters
    ----------
    out
        CSV file to write.
    """
    from portrayal.raters.labels import settled, write_labels

    if out.exists():
        raise OptionError(f"{out} is there already and may hold labels; give another --out.")
    labels = labels_at(sheets)
    write_labels(out, labels)
    # A row for each label, also where raters differ: who reads the file settles it, and says so
    n_open = sum(answer is None for answer in settled(labels).values())
    n_labels, raters = len(labels.rows), labels.raters
    facts = {"table": str(out), "n_labels": n_labels, "raters": raters, "n_undecided": n_open}
    parts = [f"{out}: {n_labels:,} labels by {', '.join(raters)}"]
    if n_open:
        parts.append(f"left open, as no more than half of the raters agree: {n_open:,}")
    after = (
        f"then: portrayal audit … --hand-labels {out}, or of codes: portrayal label codes RUN {out}"
    )
    show.give(format, facts, [*parts, after])


def agreement(
    sheets: Sheets,
    /,
    *,
    level: opt.Level = 0.95,
    draws: opt.Draws = 2000,
    seed: opt.Seed = 0,
    format: opt.Format = "table",
) -> None:
    """Say how far people agree beyond chance, and each language model with them.

    Example: portrayal label agreement anna.csv ben.csv

    """
    from portrayal.raters.agreement import agreement as agreement_of
    from portrayal.report.coding import agreement_blocks

    labels = labels_at(sheets)
    agreed = agreement_of(labels, level=level, draws=draws, seed=seed)
    facts = {"labels": labels.source, "people": agreed.people}
    facts |= {"language_models_against_people": agreed.models}
    show.give(format, facts, _parts(agreement_blocks(agreed)))


def _parts(blocks: "Iterable[Block]") -> "Iterator[show.Part]":
    """Tables under their titles, with the sentences before and after them."""
    for block in blocks:
        yield f"\n{block.title}"
        yield from block.before
        if block.table is not None:
            yield block.table.columns, block.table.rows
        yield from block.after


def model(
    sheets: Annotated[Path, Parameter(help="Folder of sheets, whose codebook is used.")],
    /,
    *,
    model_options: Annotated[Any, opt.ONE_BY_ONE] = LABELLING,
    format: opt.Format = "table",
) -> None:
    """Let a language model label by a codebook, as a rater apart from people.

    The same command asks again what failed.

    Example: portrayal label model runs/coded/labels/stereotypes --labeler-model openai:gpt-5-mini
    """
    from portrayal.raters.model import label_by_model

    tell = show.nothing if format == "json" else show.line
    if not model_options.labeler_model:
        raise OptionError("say who labels: --labeler-model SERVICE:MODEL.")
    with ask.asking(model_options, format) as settings:
        result = label_by_model(sheets, ask.asking_of(settings), tell)
    parts = [f"{result.path}: {result.n_labelled:,} of {result.n_texts:,} texts are labelled."]
    removed = {"answers not used": result.unusable, "codes removed": result.removed}
    for title, reasons in removed.items():
        if reasons:
            parts.append(f"{title}: {', '.join(f'{n:,} {x}' for x, n in reasons.items())}")
    if n_failed := len(result.failed):
        parts.append(
            f"{n_failed:,} texts have no label of it. The same command asks again about those "
            "that no answer came for."
        )
    show.give(format, asdict(result) | {"path": str(result.path)}, parts)


def codes(
    run: opt.RunPath,
    sheets: Sheets,
    /,
    *,
    by: Annotated[str | None, Parameter(metavar="STRATUM")] = None,
    merge: Annotated[list[str] | None, Parameter(metavar="GROUP=GROUP")] = None,
    out: Path | None = None,
    level: opt.Level = 0.95,
    format: opt.Format = "table",
) -> None:
    """List how often each code occurs in each group of a run's texts.

    Where a model coded as well, its shares are corrected by the texts that people coded.

    Example: portrayal label codes runs/laissez-faire labels.csv --by race

    Parameters
    ----------
    by
        Stratum or label of people that groups texts; default group or race.
    merge
        Count the first with the second; repeatable.
    out
        CSV file to write: the texts with a column for each code, whose groups an audit compares.
    """
    from portrayal.collect.tables import write_table
    from portrayal.measure.codes import code_shares, code_table, coded_texts
    from portrayal.report.coding import code_block
    from portrayal.run import Run

    if out and out.exists():
        raise OptionError(f"{out} is there already; give another --out.")
    merged = opt.pairs("--merge", merge, "Inuit=AN")
    coded = coded_texts(Run.open(run), labels_at(sheets), by=by, merge=merged)
    shares = code_shares(coded, level)
    parts = [*_parts([code_block(shares)])]
    if out:
        rows = code_table(coded)
        write_table(out, list(dict.fromkeys(name for row in rows for name in row)), rows)
        code = coded.labels.codes[0]
        parts.append(f"wrote {out}; then: portrayal audit {out} --by group --score {code}")
    table = str(out) if out else None
    show.give(format, {"labels": coded.labels.source, "shares": shares, "table": table}, parts)
