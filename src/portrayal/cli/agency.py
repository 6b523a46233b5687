"""The commands `train agency` and `score agency`, and what they print."""

from dataclasses import replace
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
from portrayal.cli.options import Json
from portrayal.errors import OptionError
from portrayal.validate import check_choice, check_count

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
        str | None,
        typer.Option(help='"linear" (default), or folder or hub id of an encoder to fine-tune.'),
    ] = None,
    validation: Annotated[
        Path | None, typer.Option(help="File for early stopping; default a tenth of --labelled.")
    ] = None,
    whole: Annotated[
        bool,
        typer.Option("--whole", help="Train on all sentences for all epochs, and score none."),
    ] = False,
    unmasked: Annotated[
        bool, typer.Option("--unmasked", help="Train on sentences as they stand, as the paper.")
    ] = False,
    preset: Annotated[
        str | None,
        typer.Option(
            help="wan-2024: the paper's settings (BERT, sentences as they stand, 10 epochs, "
            "batches of 6, learning rate 5e-5, 3 seeds); options that you give win."
        ),
    ] = None,
    epochs: Annotated[
        int | None, typer.Option(help="Most passes over the sentences; default 6.")
    ] = None,
    learning_rate: Annotated[float | None, typer.Option(help="Of AdamW; default 1e-4.")] = None,
    batch_size: Annotated[int | None, typer.Option(help="Sentences in a step; default 32.")] = None,
    seed: Annotated[int, typer.Option(help="Start of every random stream.")] = 0,
    seeds: Annotated[
        int | None, typer.Option(help="Checkpoints to train, from --seed on, to folders in --out.")
    ] = None,
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
    from portrayal.annotate.agency.training import PRESETS, train_agency, train_checkpoints

    usual, settings = "linear", Fitting()
    if preset is not None:
        usual, settings = PRESETS[check_choice("preset", preset, PRESETS)]
    fitting = replace(
        settings,
        seed=seed,
        epochs=settings.epochs if epochs is None else epochs,
        learning_rate=settings.learning_rate if learning_rate is None else learning_rate,
        batch_size=settings.batch_size if batch_size is None else batch_size,
    )
    texts = read_labelled(labelled, column or ())
    how: dict[str, Any] = {
        "validation": read_labelled(validation, column or ()) if validation else None,
        "whole": whole,
        "masked": not (unmasked or preset),
        "licence": licence,
        "export": onnx,
        "on_epoch": None if json else print_epoch,
        "resume": resume,
    }
    n = seeds if seeds is not None else 3 if preset else 1
    if n == 1:
        done = train_agency(texts, base or usual, out, fitting=fitting, **how)
        print_trained(done, as_object=json)
        return
    check_count("seeds", n, minimum=1)
    every = train_checkpoints(texts, base or usual, out, n, fitting, **how)
    print_checkpoints(every, out, as_object=json)


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
    from portrayal.annotate.agency.checkpoints import Checkpoints
    from portrayal.annotate.agency.labelled import read_labelled
    from portrayal.annotate.agency.scoring import score_all

    kinds = (True, False) if masked is None else (masked,)
    asked = classifier or DEFAULT
    with under_way(out or gold, as_object=json), asking_progress(quiet=json) as answered:
        settings = classifier_settings(asked, how, answered)
        labelled = read_labelled(gold, column or ())
        tell = show.nothing if json else show.line
        loaded = _classifiers(asked, kinds, labelled, out, settings, tell)
    scores = score_all(labelled, [each for _, each in loaded], seed)
    sets: dict[str, list[AgencyScore]] = {}
    for (spec, one), made in zip(loaded, scores, strict=True):
        if not isinstance(one, Checkpoints):
            sets.setdefault(spec, []).append(made)
    print_scores(scores, labelled.n_left_out, _means(sets), as_object=json)


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
    from portrayal.annotate.agency.checkpoints import Checkpoints
    from portrayal.annotate.agency.scoring import shown
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


def print_epoch(done: "Epoch") -> None:
    """Print one pass of a training."""
    held = "" if done.accuracy is None else f", validation accuracy {100 * done.accuracy:.2f} %"
    show.line(f"epoch {done.number}: loss {done.loss:.4f}{held}")


def print_trained(done: "Trained", *, as_object: bool) -> None:
    """Print where a classifier lies and how it scores on the validation sentences."""
    if as_object:
        scores = [score.as_json() for score in done.scores]
        show.as_json({"folder": str(done.folder), "scores": scores})
        return
    if done.scores:
        _table(done.scores, published=False)
    show.line(f"classifier: {done.folder} (model card: {done.folder / 'README.md'})")


def print_checkpoints(every: "Sequence[Trained]", out: Path, *, as_object: bool) -> None:
    """Print the scores of checkpoints on their validation sentences, and their mean and SD."""
    scores = [score for each in every for score in each.scores]
    if as_object:
        made = [score.as_json() for score in scores]
        means = _means({str(out): scores})
        show.as_json({"folder": str(out), "scores": made, "checkpoints": means})
        return
    if scores:
        _table(scores, published=False)
        _print_means(_means({str(out): scores}))
    show.line(f"checkpoints: {out} (give this folder as --classifier)")


def _means(sets: "Mapping[str, Sequence[AgencyScore]]") -> list[dict[str, Any]]:
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


def _print_means(rows: "Sequence[Mapping[str, Any]]") -> None:
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
    _table(found, published=True)
    _print_means(means)
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
