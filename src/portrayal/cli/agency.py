"""The command `score agency`, and what it prints."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

import portrayal.cli.printing as show
from portrayal.cli.asking import (
    BATCH,
    LIMITS,
    How,
    Offers,
    asking_progress,
    classifier_settings,
    offering,
    under_way,
)
from portrayal.cli.options import Columns, Format, LabelledSentences, Seed
from portrayal.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from portrayal.annotate.agency import AgencyClassifier
    from portrayal.annotate.agency.labelled import AgencyScore, Labelled, Score
    from portrayal.collect.ask.replies import Reply
    from portrayal.records import Prompt


DEFAULT = ("lexicon", "sentiment", "linear")


@offering
def score(
    hand_labels: LabelledSentences,
    classifier: Annotated[
        list[str] | None,
        typer.Option(
            help="linear, lexicon[:FILE], sentiment, a trained folder, or "
            "llm:PROVIDER:MODEL[:FORM]; repeatable. Default: the first three."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Folder in which the answers of llm: classifiers are kept."
        ),
    ] = None,
    *,
    how: Annotated[How, Offers((*LIMITS, *BATCH), of="classifier")],
    masked: Annotated[
        bool | None,
        typer.Option("--masked/--unmasked", help="One kind of sentences only; default both."),
    ] = None,
    column: Columns = None,
    seed: Seed = 0,
    format: Format = "table",
) -> None:
    """Say how agency classifiers agree with labels, beside the published Table 12.

    Example: portrayal score agency --hand-labels test.csv --classifier linear
    """
    from portrayal.annotate.agency.classifier import Checkpoints
    from portrayal.annotate.agency.labelled import read_labelled, score_all

    json = format == "json"
    kinds = (True, False) if masked is None else (masked,)
    asked = classifier or DEFAULT
    with under_way(out or hand_labels, as_object=json), asking_progress(quiet=json) as answered:
        settings = classifier_settings(asked, how, answered, "classifier-")
        labelled = read_labelled(hand_labels, column or ())
        tell = show.nothing if json else show.line
        loaded = _classifiers(asked, kinds, labelled, out, settings, tell)
    scores = score_all(labelled, [each for _, each in loaded], seed)
    sets: dict[str, list[AgencyScore]] = {}
    for (spec, one), made in zip(loaded, scores, strict=True):
        if not isinstance(one, Checkpoints):
            sets.setdefault(spec, []).append(made)
    print_scores(scores, labelled.n_left_out, means_of(sets), as_object=json)


def _classifiers(
    specs: "Sequence[str]",
    kinds: tuple[bool, ...],
    labelled: "Labelled",
    out: Path | None,
    settings: dict[str, Any],
    tell: "Callable[[str], None]",
) -> "list[tuple[str, AgencyClassifier]]":
    """Load every classifier with its name: the checkpoints of a set one by one, then as one.

    A model is asked about all sentences, of both kinds, at once.
    """
    from portrayal.annotate.agency import load_classifier
    from portrayal.annotate.agency.asked import classifying_of
    from portrayal.annotate.agency.classifier import Checkpoints
    from portrayal.annotate.agency.labelled import shown
    from portrayal.collect.ask.replies import kept
    from portrayal.run import Run

    models = {spec: classifying_of(spec, settings) for spec in specs}
    if out is None and any(models.values()):
        raise OptionError(
            "a model's answers are kept in a folder, so that none is paid for twice: give --out."
        )
    loaded: list[tuple[str, AgencyClassifier]] = []
    for spec in (spec for spec in specs if models[spec] is None):
        for kind in kinds:
            made = load_classifier(spec, kind)
            each = (*made.members, made) if isinstance(made, Checkpoints) else (made,)
            loaded += [(spec, one) for one in each]
    for model in filter(None, models.values()):
        model.check()
    for model in filter(None, models.values()):
        folder = Run(out or Path())
        with folder.lock():
            model.ask(folder.path, (s for kind in kinds for s in shown(labelled, kind)), tell)
        replies = kept(folder.path / model.kept_in)
        for kind in kinds:
            asked = load_classifier(model.spec, kind, ask=partial(_same, replies))
            loaded.append((model.spec, asked))
    return loaded


def _same(replies: "Mapping[str, Reply]", _: "Iterable[Prompt]") -> "Mapping[str, Reply]":
    """Answer by what was asked before."""
    return replies


_METRICS = ("accuracy", "f1_macro", "f1_micro", "f1_weighted")
_HEADERS = ("accuracy", "F1 macro", "F1 micro", "F1 weighted")


def means_of(sets: "Mapping[str, Sequence[AgencyScore]]") -> list[dict[str, Any]]:
    """Mean and standard deviation of each metric over the checkpoints of a set, by masking."""
    from statistics import mean, stdev

    found = []
    for name, scores in sets.items():
        for masked in sorted({score.masked for score in scores}, reverse=True):
            own = [score for score in scores if score.masked == masked]
            if len(own) < 2:
                continue
            row: dict[str, Any] = {"classifier": name, "masked": masked, "checkpoints": len(own)}
            for metric in _METRICS:
                values = [score.metrics[metric].value for score in own]
                row[metric] = {"mean": mean(values), "sd": stdev(values)}
            found.append(row)
    return found


def print_means(rows: "Sequence[Mapping[str, Any]]") -> None:
    """Print the mean and standard deviation of each metric over checkpoints."""
    for row in rows:
        kind = "masked" if row["masked"] else "as they stand"
        cells = (
            f"{header} {100 * row[metric]['mean']:.2f} (SD {100 * row[metric]['sd']:.2f})"
            for metric, header in zip(_METRICS, _HEADERS, strict=True)
        )
        show.line(
            f"mean of {row['checkpoints']} checkpoints of {row['classifier']}, {kind}: "
            f"{', '.join(cells)}"
        )


def print_scores(
    found: "Sequence[AgencyScore]",
    n_left_out: int,
    means: "Sequence[Mapping[str, Any]]" = (),
    *,
    as_object: bool,
) -> None:
    """Print scores in percent with intervals, the published rows, and means over checkpoints."""
    if as_object:
        made = [score.as_json() for score in found]
        more = {"checkpoints": list(means)} if means else {}
        known = {"scores": made, "n_left_out": n_left_out, "published": _published()}
        show.as_json(known | more)
        return
    scores_table(found, published=True)
    print_means(means)
    first = found[0]
    show.line(
        f"{first.n:,} sentences; {100 * first.level:g} % percentile bootstrap intervals over "
        "sentences; silent: nothing said, counted as wrong."
    )
    if n_left_out:
        show.line(f"left out: {n_left_out:,} labelled neutral or na.")
    show.line("Published: Wan & Chang 2024, Table 12, on LAC's test sentences, as they stand.")


def scores_table(found: "Sequence[AgencyScore]", *, published: bool) -> None:
    """Print a row of metrics for each classifier and kind of sentences."""
    headers = ("classifier", "sentences", "silent", *_HEADERS)
    table = show.table(*headers)
    for score in found:
        cells = [_cell(score.metrics[name]) for name in _METRICS]
        kind = "masked" if score.masked else "as they stand"
        table.add_row(score.classifier, kind, f"{score.n_silent:,}", *cells)
    for row in _published() if published else ():
        name = f"published: {row['model']}, {row['setting']}"
        table.add_row(name, "", "", *(f"{row[metric]:.2f}" for metric in _METRICS))
    Console(emoji=False).print(table)


def _cell(score: "Score") -> str:
    return f"{100 * score.value:.2f} \\[{100 * score.low:.1f}, {100 * score.high:.1f}]"


def _published() -> "list[dict[str, float]]":
    from portrayal.reference import published

    rows: list[dict[str, float]] = published("wan_classifiers").to_pylist()
    return rows
