"""Commands that train and score agency classifiers: parse, call, print."""

from pathlib import Path
from typing import Annotated

import typer

from portrayal import cli_ask, show_agency

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
    json: cli_ask.Json = False,
) -> None:
    """Train an agency classifier and write it with its model card."""
    from portrayal.annotate.agency.labelled import read_labelled
    from portrayal.annotate.agency.training import train_agency
    from portrayal.annotate.agency.transformer_training import Fitting

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
        on_epoch=None if json else show_agency.epoch,
        resume=resume,
    )
    show_agency.trained(done, as_object=json)


def score(
    gold: Annotated[Path, typer.Option(help="File of sentences with the columns text, label.")],
    classifier: Annotated[
        list[str] | None,
        typer.Option(
            help="linear, lexicon[:FILE], sentiment, a trained folder, or "
            "llm:PROVIDER:MODEL[:FORM]; repeatable. Default: the first three."
        ),
    ] = None,
    base_url: cli_ask.BaseUrl = None,
    masked: Annotated[
        bool | None,
        typer.Option("--masked/--unmasked", help="One kind of sentences only; default both."),
    ] = None,
    column: Annotated[
        list[str] | None, typer.Option(metavar="FIELD=NAME", help="text=NAME, label=NAME.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the bootstrap.")] = 0,
    json: cli_ask.Json = False,
) -> None:
    """Print how agency classifiers agree with labels, beside the published Table 12."""
    from portrayal.annotate.agency import load_classifier
    from portrayal.annotate.agency.labelled import read_labelled
    from portrayal.annotate.agency.scoring import score_all

    kinds = (True, False) if masked is None else (masked,)
    asked = classifier or DEFAULT
    loaded = [load_classifier(spec, kind, base_url=base_url) for spec in asked for kind in kinds]
    labelled = read_labelled(gold, column or ())
    scores = score_all(labelled, loaded, seed)
    show_agency.scores(scores, labelled.n_left_out, as_object=json)
