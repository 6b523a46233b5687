"""Hand labels on sheets: drawn, filled in by people, put to a vote, and written for fine-tuning."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

import portrayal.cli.printing as show
from portrayal.cli.options import Columns, Format, HandLabels, RunPath, Seed
from portrayal.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from portrayal.raters.people import ShortPlace


def finetune(
    *,
    hand_labels: HandLabels,
    out: Path,
    column: Columns = None,
    validation_share: float = 0.0,
    system: str | None = None,
    seed: Seed = 0,
    format: Format = "table",
) -> None:
    """Write hand labels as chats with messages, the file that a service fine-tunes a labeler on.

    Example: portrayal label finetune --hand-labels labelled.csv --out chats.jsonl

    Parameters
    ----------
    out
        JSON lines file to write.
    validation_share
        Fraction of the prompts that goes to a second file.
    system
        A system message before each chat; none by default.
    """
    from portrayal.annotate.people.labeler import export_finetune

    json = format == "json"
    exported = export_finetune(
        hand_labels,
        out,
        columns=column or (),
        validation_share=validation_share,
        system=system,
        seed=seed,
    )
    if json:
        second = None if exported.validation is None else str(exported.validation)
        facts = {"train": str(exported.train), "n_train": exported.n_train, "validation": second}
        more = {"n_validation": exported.n_validation, "refused": dict(exported.refused)}
        show.as_json(facts | more)
        return
    show.line(f"{exported.train}: {exported.n_train:,} chats")
    if exported.validation is not None:
        show.line(f"{exported.validation}: {exported.n_validation:,} chats of other prompts")
    for reason, n in exported.refused.items():
        show.line(f"left out: {n:,} rows {reason}")


Sheets = Annotated[list[Path], Parameter(help="Sheets of one sample, filled in.")]


def sheet(
    run: RunPath,
    /,
    *,
    n: int = 300,
    by: Annotated[list[str] | None, Parameter(metavar="STRATUM")] = None,
    out: Path | None = None,
    about: Annotated[str | None, Parameter(name="--for", metavar="MEASURE|FINDING")] = None,
    rater: Annotated[list[str] | None, Parameter(metavar="NAME")] = None,
    target_width: float | None = None,
    hand_labels: Annotated[Path | None, Parameter(metavar="FILE")] = None,
    project: Annotated[str | None, Parameter(metavar="NAME")] = None,
    seed: Seed = 0,
    format: Format = "table",
) -> None:
    """Draw texts at random for people to label, as a CSV file with instructions beside it.

    Example: portrayal label sheet runs/laissez-faire --n 300

    Parameters
    ----------
    n
        Texts to draw.
    about
        Measure, finding or field that labels correct: draws the texts that narrow its interval.
    rater
        With --for, who labels, a sheet for each; repeatable. Default: first, second.
    target_width
        With --for, as many texts as a 95 % interval of this width needs.
    hand_labels
        With --for, labels given so far: they tell how often the scorer errs, and how wide it is.
    project
        With --for, a page in the browser in place of sheets: a coding project of this name.
    by
        Draw as many of each, such as domain; repeatable. Default: domain, condition, model.
    out
        CSV file; default in the run.
    """
    from portrayal.measure.corrected import FEWEST
    from portrayal.measure.drawing import (
        choices_of,
        draw_for,
        field_for,
        label_fields,
        short_strata,
        write_sheets,
    )
    from portrayal.raters import read_hand_labels
    from portrayal.raters.people import draw, readable_texts, short_places, write_sheet
    from portrayal.run import Run

    json = format == "json"
    opened = Run.open(run)
    if about is not None:
        field, label_names = field_for(opened, about), label_fields(opened)
        labels = None if hand_labels is None else read_hand_labels(str(hand_labels), label_names)
        sample = draw_for(opened, field, n, seed=seed, labels=labels, target_width=target_width)
        short = short_strata(opened, sample)
        place, raters = out or opened.path / f"{field}.csv", rater or ["first", "second"]
        if project is None:
            paths = write_sheets(opened, sample, place, raters)
            after = f"portrayal label merge {' '.join(map(str, paths[:-1]))} --out {place}"
        else:
            from portrayal.coding.by_hand import labelling_project

            paths = [labelling_project(opened, sample, project, len(raters)).folder]
            after = f"portrayal label serve {paths[0]}"
        if json:
            facts = {"field": field, "n_drawn": len(sample.texts), "expected_width": sample.width}
            facts |= {"sheets": [*map(str, paths)], "classes": dict(sample.classes)}
            show.as_json(facts | {"too_few": [asdict(place) for place in short]})
            return
        show.line("\n".join(f"{k}: {n:,} of {of:,} texts" for k, (of, n) in sample.classes.items()))
        width = f"expected width of a share of these texts: {sample.width:.3f}"
        show.line(f"{len(sample.texts):,} texts; {width}")
        _warn(short)
        if labels is not None:
            show.line(f"by {len(labels.labels.get(field, {})):,} labels so far")
        show.line("\n".join(f"wrote {path}" for path in paths))
        show.line(f"labels: {'; '.join(choices_of(opened, field))}")
        show.line(f"then: {after}")
        return
    if rater or project or target_width is not None or hand_labels is not None:
        raise OptionError("--rater, --project, --target-width and --hand-labels go with --for.")
    texts = list(readable_texts(opened))
    sampled = draw(texts, n, by=by or None, seed=seed)
    short = short_places(texts, n, FEWEST, by=by or None, seed=seed)
    path = write_sheet(out or opened.path / "hand-labels.csv", sampled)
    strata = {one.stratum: one.stratum_size for one in sampled}
    if json:
        files = {"sheet": str(path), "instructions": str(path.with_suffix(".md"))}
        sizes = {"n_drawn": len(sampled), "n_texts": sum(strata.values()), "strata": strata}
        show.as_json({**files, **sizes, "too_few": [asdict(place) for place in short]})
        return
    show.line(f"{path}: {len(sampled):,} of {sum(strata.values()):,} texts, {len(strata)} strata")
    _warn(short)
    show.line(f"{path.with_suffix('.md')}: how to fill it in")
    show.line(f"then: portrayal score people --hand-labels {path}")


def _warn(short: "Sequence[ShortPlace]") -> None:
    for place in short:
        show.line(f"warning: {place.sentence}")


def merge(sheets: Sheets, /, *, out: Path, format: Format = "table") -> None:
    """Put the sheets of several raters to a vote; of sheets drawn --for a measure, into one table.

    Example: portrayal label merge anna.csv ben.csv --out agreed.csv

    Parameters
    ----------
    out
        CSV file to write.
    """
    from portrayal.collect.sources import open_source
    from portrayal.measure.drawing import join_sheets
    from portrayal.raters.people import is_sheet, merge_sheets

    json = format == "json"
    if not is_sheet(open_source(sheets[0]).columns):
        n = join_sheets(sheets, out)
        if json:
            show.as_json({"table": str(out), "n_labels": n})
        else:
            show.line(f"{out}: {n:,} labels; then: portrayal audit … --hand-labels {out}")
        return
    merged = merge_sheets(sheets, out)
    if json:
        facts = {"sheet": str(merged.path), "n_labelled": merged.n_labelled}
        show.as_json(facts | {"n_undecided": merged.n_undecided})
        return
    show.line(f"{merged.path}: {merged.n_labelled:,} texts with a label of the majority")
    if merged.n_undecided:
        show.line(f"undecided, left empty for you to settle: {merged.n_undecided:,} texts")
