"""The commands `train agency` and `score agency`, and what they print."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from portrayal.cli import printing as show
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
from portrayal.cli.options import Json
from portrayal.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from portrayal.annotate.agency import AgencyClassifier
    from portrayal.annotate.agency.fine_tuning import Epoch
    from portrayal.annotate.agency.labelled import Labelled
    from portrayal.annotate.agency.scoring import AgencyScore, Score
    from portrayal.annotate.agency.training import Trained
    from portrayal.collect.ask.replies import Reply
    from portrayal.records import Prompt


train_app = typer.Typer(help="Train a classifier on labelled sentences.", no_args_is_help=True)

DEFAULT = ("lexicon", "sentiment", "linear")


@train_app.callback()
def _train() -> None:
    """Train a classifier on labelled sentences."""


@train_app.command("agency")
def train(
    labelled: Annotated[Path, typer.Option(help="File of sentences with the columns text, label.")],
    out: Annotated[Path, typer.Option(help="Folder to write the classifier to.")],
    base: Annotated[
        str, typer.Option(help='"linear", or folder or hub id of an encoder to fine-tune.')
    ] = "linear",
    validation: Annotated[
        Path | None, typer.Option(help="File for early stopping; default a tenth of --labelled.")
    ] = None,
    unmasked: Annotated[
        bool, typer.Option("--unmasked", help="Train on sentences as they stand, as the paper.")
    ] = False,
    epochs: Annotated[int, typer.Option(help="Most passes over the sentences.")] = 6,
    learning_rate: Annotated[float, typer.Option(help="Of AdamW.")] = 1e-4,
    batch_size: Annotated[int, typer.Option(help="Sentences in a step.")] = 32,
    seed: Annotated[int, typer.Option(help="Start of every random stream.")] = 0,
    onnx: Annotated[
        bool, typer.Option("--onnx", help="Also export to ONNX with 8 bits a weight.")
    ] = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with a training to --out that was stopped.")
    ] = False,
    licence: Annotated[str, typer.Option(help="Of the data, for the model card.")] = "not stated",
    column: Annotated[
        list[str] | None, typer.Option(metavar="FIELD=NAME", help="text=NAME, label=NAME.")
    ] = None,
    json: Json = False,
) -> None:
    """Train an agency classifier and write it with its model card."""
    from portrayal.annotate.agency.fine_tuning import Fitting
    from portrayal.annotate.agency.labelled import read_labelled
    from portrayal.annotate.agency.training import train_agency

    fitting = Fitting(epochs=epochs, learning_rate=learning_rate, batch_size=batch_size, seed=seed)
    done = train_agency(
        read_labelled(labelled, column or ()),
        base,
        out,
        validation=read_labelled(validation, column or ()) if validation else None,
        masked=not unmasked,
        fitting=fitting,
        licence=licence,
        export=onnx,
        on_epoch=None if json else print_epoch,
        resume=resume,
    )
    print_trained(done, as_object=json)


@offering
def score(
    gold: Annotated[Path, typer.Option(help="File of sentences with the columns text, label.")],
    classifier: Annotated[
        list[str] | None,
        typer.Option(
            help="linear, lexicon[:FILE], sentiment, a trained folder, or "
            "llm:PROVIDER:MODEL[:FORM]; repeatable. Default: the first three."
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder in which the answers of llm: classifiers are kept.")
    ] = None,
    *,
    how: Annotated[How, Offers((*LIMITS, *BATCH))],
    masked: Annotated[
        bool | None,
        typer.Option("--masked/--unmasked", help="One kind of sentences only; default both."),
    ] = None,
    column: Annotated[
        list[str] | None, typer.Option(metavar="FIELD=NAME", help="text=NAME, label=NAME.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the bootstrap.")] = 0,
    json: Json = False,
) -> None:
    """Print how agency classifiers agree with labels, beside the published Table 12."""
    from portrayal.annotate.agency.labelled import read_labelled
    from portrayal.annotate.agency.scoring import score_all

    kinds = (True, False) if masked is None else (masked,)
    asked = classifier or DEFAULT
    with under_way(out or gold, as_object=json), asking_progress(quiet=json) as answered:
        settings = classifier_settings(asked, how, answered)
        labelled = read_labelled(gold, column or ())
        tell = show.nothing if json else show.line
        loaded = _classifiers(asked, kinds, labelled, out, settings, tell)
    scores = score_all(labelled, loaded, seed)
    print_scores(scores, labelled.n_left_out, as_object=json)


def _classifiers(
    specs: "Sequence[str]",
    kinds: tuple[bool, ...],
    labelled: "Labelled",
    out: Path | None,
    settings: dict[str, Any],
    tell: "Callable[[str], None]",
) -> "list[AgencyClassifier]":
    """Load every classifier; a model is asked about all sentences, of both kinds, at once."""
    from portrayal.annotate.agency import load_classifier
    from portrayal.annotate.agency.asked import classifying_of
    from portrayal.annotate.agency.scoring import shown
    from portrayal.collect.ask.replies import kept
    from portrayal.run import Run

    models = {spec: classifying_of(spec, settings) for spec in specs}
    if out is None and any(models.values()):
        raise OptionError(
            "a model's answers are kept in a folder, so that none is paid for twice: give --out."
        )
    loaded = [
        load_classifier(spec, kind) for spec in specs if models[spec] is None for kind in kinds
    ]
    for model in filter(None, models.values()):
        model.check()
    for model in filter(None, models.values()):
        folder = Run(out or Path())
        with folder.lock():
            model.ask(folder.path, (s for kind in kinds for s in shown(labelled, kind)), tell)
        replies = kept(folder.path / model.kept_in)
        loaded += [load_classifier(model.spec, kind, ask=partial(_same, replies)) for kind in kinds]
    return loaded


def _same(replies: "Mapping[str, Reply]", _: "Iterable[Prompt]") -> "Mapping[str, Reply]":
    """Answer by what was asked before."""
    return replies


_METRICS = ("accuracy", "f1_macro", "f1_micro", "f1_weighted")
_HEADERS = ("accuracy", "F1 macro", "F1 micro", "F1 weighted")


def print_epoch(done: "Epoch") -> None:
    """Print one pass of a training."""
    share = f"{100 * done.accuracy:.2f} %"
    show.line(f"epoch {done.number}: loss {done.loss:.4f}, validation accuracy {share}")


def print_trained(done: "Trained", *, as_object: bool) -> None:
    """Print where a classifier lies and how it scores on the validation sentences."""
    if as_object:
        scores = [score.as_json() for score in done.scores]
        show.as_json({"folder": str(done.folder), "scores": scores})
        return
    _table(done.scores, published=False)
    show.line(f"classifier: {done.folder} (model card: {done.folder / 'README.md'})")


def print_scores(found: "Sequence[AgencyScore]", n_left_out: int, *, as_object: bool) -> None:
    """Print scores in percent with intervals, and the published rows below them."""
    if as_object:
        made = [score.as_json() for score in found]
        show.as_json({"scores": made, "n_left_out": n_left_out, "published": _published()})
        return
    _table(found, published=True)
    first = found[0]
    show.line(
        f"{first.n:,} sentences; {100 * first.level:g} % percentile bootstrap intervals over "
        "sentences; silent: nothing said, counted as wrong."
    )
    if n_left_out:
        show.line(f"left out: {n_left_out:,} labelled neutral or na.")
    show.line("Published: Wan & Chang 2024, Table 12, on LAC's test sentences, as they stand.")


def _table(found: "Sequence[AgencyScore]", *, published: bool) -> None:
    headers = ("classifier", "sentences", "silent", *_HEADERS)
    table = show.table(*headers)
    for score in found:
        cells = [_cell(score.metrics[name]) for name in _METRICS]
        kind = "masked" if score.masked else "as they stand"
        table.add_row(score.classifier, kind, f"{score.n_silent:,}", *cells)
    for row in _published() if published else ():
        name = f"published: {row['model']}, {row['setting']}"
        table.add_row(name, "", "", *(f"{row[metric]:.2f}" for metric in _METRICS))
    Console(emoji=False, width=max(120, Console().width)).print(table)


def _cell(score: "Score") -> str:
    return f"{100 * score.value:.2f} \\[{100 * score.low:.1f}, {100 * score.high:.1f}]"


def _published() -> "list[dict[str, float]]":
    from portrayal.reference import published

    rows: list[dict[str, float]] = published("wan_classifiers").to_pylist()
    return rows
