"""Texts drawn for people to label, and their labels joined."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

import portrayal.cli.printing as show
from portrayal.cli.label.read import Sheets, labels_at
from portrayal.cli.options import Format, RunPath, Seed
from portrayal.errors import OptionError


def sheet(
    run: RunPath,
    /,
    *,
    about: Annotated[str, Parameter(name="--for", metavar="WHAT")] = "people",
    n: int = 300,
    by: Annotated[list[str] | None, Parameter(metavar="STRATUM")] = None,
    rater: Annotated[list[str] | None, Parameter(metavar="NAME")] = None,
    project: Annotated[str | None, Parameter(metavar="NAME")] = None,
    target_width: float | None = None,
    hand_labels: Annotated[Path | None, Parameter(metavar="FILE")] = None,
    out: Path | None = None,
    seed: Seed = 0,
    format: Format = "table",
) -> None:
    """Draw texts at random for people to label, on sheets (CSV) or on a page in the browser.

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
    project
        A page in the browser in place of sheets: a project of this name in the run.
    target_width
        With a field, as many texts as a 95 % interval of this width needs.
    hand_labels
        With a field, labels given so far: they tell how often the scorer errs, and how wide it is.
    out
        CSV file after which the sheets are named; default in the run.
    """
    from portrayal.coding import field_book, items_of, make_project, project_folder, write_sheets
    from portrayal.coding.sampling import draw_texts, short_of_people
    from portrayal.measure.drawing import draw_for, field_for, short_strata
    from portrayal.raters import codebook, read_hand_labels
    from portrayal.raters.codebook import CODEBOOKS
    from portrayal.run import Run

    opened, raters = Run.open(run), rater or ["first", "second"]
    if about in CODEBOOKS.names or about.endswith(".toml"):
        if target_width is not None or hand_labels is not None:
            raise OptionError("--target-width and --hand-labels go with --for a field or measure.")
        book = codebook(about)
        sample = draw_texts(opened, book.name, n, by=by, seed=seed)
        short = short_of_people(opened, sample) if book.name == "people" else []
    else:
        if by:
            raise OptionError("--by goes with --for a codebook; a field is drawn by its scorer.")
        field = field_for(opened, about)
        labels = hand_labels and read_hand_labels(hand_labels)
        sample = draw_for(
            opened, field, n, seed=seed, labels=labels or None, target_width=target_width
        )
        book, short = field_book(opened, field, len(raters)), short_strata(opened, sample)
    items = items_of(opened, sample, with_people=sample.width is None)
    if project is not None:
        draw = {"for": sample.about, "n": n, "by": by or [], "raters": raters}
        folder = project_folder(opened.path, project)
        make_project(folder, items, book, seed=seed, how=draw)
        files, after = [folder], f"portrayal label serve {folder}"
    else:
        out = out or opened.path / f"{sample.about}.csv"
        files = write_sheets(items, book, out, raters)
        after = f"portrayal label merge {' '.join(map(str, files[: len(raters)]))} --out {out}"
    width = sample.width
    facts = {"for": sample.about, "n_drawn": len(items), "expected_width": width}
    facts |= {"files": [*map(str, files)], "strata": dict(sample.strata), "too_few": short}
    words = "" if width is None else f"; expected width of a share of these texts: {width:.3f}"
    parts = [f"{name}: {n:,} of {of:,} texts" for name, (of, n) in sample.strata.items()]
    parts += [f"{len(items):,} texts{words}", *(f"warning: {place.sentence}" for place in short)]
    show.give(format, facts, [*parts, *(f"wrote {path}" for path in files), f"then: {after}"])


def merge(sheets: Sheets, /, *, out: Path, format: Format = "table") -> None:
    """Join the labels of several raters, or of a project, in one label file.

    Example: portrayal label merge anna.csv ben.csv --out labels.csv

    Parameters
    ----------
    out
        CSV file to write.
    """
    from portrayal.raters import settled, write_labels

    if out.exists():
        raise OptionError(f"{out} is there already and may hold labels; give another --out.")
    labels = labels_at(sheets)
    write_labels(out, labels)
    # A row for each label, also where raters differ: who reads the file settles it, and says so
    n_open = sum(answer is None for answer in settled(labels).values())
    n_labels, raters = len(labels.rows), labels.raters
    facts = {"table": str(out), "n_labels": n_labels, "raters": raters, "n_undecided": n_open}
    parts = [f"{out}: {n_labels:,} labels by {', '.join(raters) or 'nobody'}"]
    if n_open:
        parts.append(f"left open, as no more than half of the raters agree: {n_open:,}")
    show.give(format, facts, [*parts, f"then: portrayal audit … --hand-labels {out}"])
