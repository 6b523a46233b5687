"""The commands `agency-data …`, which build a data set of sentences, and what they print."""

import json as json_module
from pathlib import Path
from typing import Annotated, Any

import typer

import portrayal.cli.printing as show
from portrayal.cli.asking import (
    BATCH,
    LIMITS,
    How,
    Offers,
    asking_progress,
    offering,
    under_way,
)
from portrayal.cli.options import Json

app = typer.Typer(
    help="Build a data set of agentic and communal sentences, step by step.", no_args_is_help=True
)

Out = Annotated[Path, typer.Option(help="Folder of the data set.")]
FOLDER = Path("agency-data")
FACTS = "facts.json"


@app.command()
def sentences(
    texts: Annotated[Path, typer.Argument(metavar="TEXTS", help="File of biographies.")],
    out: Out = FOLDER,
    text_column: Annotated[str, typer.Option(help="Column of the texts.")] = "text",
    first: Annotated[int, typer.Option(help="Sentences to leave out at the beginning.")] = 2,
    last: Annotated[int, typer.Option(help="Sentences to leave out at the end.")] = 1,
    json: Json = False,
) -> None:
    """Split biographies into sentences, without the first two and the last."""
    from portrayal.raters.sentences import seed_sentences

    done = seed_sentences(
        texts, out / "sentences.csv", text_column=text_column, first=first, last=last
    )
    _tell(
        out,
        "sentences",
        {
            "source": texts.name,
            "left_out": f"{first} first, {last} last",
            "texts": done.n_texts,
            "texts_too_short": done.n_short,
            "sentences": done.n_sentences,
        },
        done.path,
        f"portrayal agency-data paraphrase --out {out} --model SERVICE:MODEL",
        as_object=json,
    )


@app.command()
@offering
def paraphrase(
    sentences: Annotated[
        Path | None, typer.Argument(metavar="[SENTENCES]", help="Default: sentences.csv of --out.")
    ] = None,
    out: Out = FOLDER,
    sentence_column: Annotated[str, typer.Option(help="Column of the sentences.")] = "sentence",
    *,
    how: Annotated[How, Offers(("model", *LIMITS, *BATCH))],
    json: Json = False,
) -> None:
    """Have a model write each sentence in agentic and in communal language."""
    from portrayal.collect.ask.replies import asker
    from portrayal.raters.sentences import paraphrase as run_paraphrase
    from portrayal.run.directory import Run

    with (
        under_way(out, as_object=json),
        Run(out).lock(),
        asking_progress(quiet=json or how.batch) as answered,
    ):
        done = run_paraphrase(
            sentences or out / "sentences.csv",
            asker(how.asking(answered), out / "asked"),
            out / "paraphrases.csv",
            sentence_column=sentence_column,
        )
    _tell(
        out,
        "paraphrases",
        {
            "model": how.model,
            "sentences": dict(done.outcomes),
            "unread": str(done.unread_path.name),
        },
        done.path,
        f"portrayal agency-data sheet --out {out}",
        as_object=json,
    )


@app.command()
def sheet(
    paraphrases: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="Default: paraphrases.csv of --out.")
    ] = None,
    out: Out = FOLDER,
    raters: Annotated[int, typer.Option(help="People who label.")] = 2,
    seed: Annotated[int, typer.Option(help="Of the order of the rows.")] = 0,
    json: Json = False,
) -> None:
    """Write a sheet for each rater, without the targets, and the instructions."""
    from portrayal.raters.sentences import write_sheets

    done = write_sheets(
        paraphrases or out / "paraphrases.csv", out / "sheets", raters=raters, seed=seed
    )
    names = " ".join(map(str, done.paths))
    _tell(
        out,
        "sheets",
        {"raters": raters, "rows": done.n_rows, "seed": seed},
        done.instructions,
        f"portrayal agency-data merge {names} --out {out}",
        as_object=json,
    )


@app.command()
def merge(
    sheets: Annotated[list[Path], typer.Argument(metavar="SHEET...", help="Filled in.")],
    paraphrases: Annotated[
        Path | None, typer.Option(help="What they were made from; default in --out.")
    ] = None,
    third: Annotated[Path | None, typer.Option(help="The third rater's sheet, filled in.")] = None,
    out: Out = FOLDER,
    draws: Annotated[int, typer.Option(help="Bootstrap replicates of the kappas.")] = 2000,
    seed: Annotated[int, typer.Option(help="Of the replicates.")] = 0,
    json: Json = False,
) -> None:
    """Put raters and targets to a vote, and measure Fleiss' kappa."""
    from portrayal.raters.sentences import merge_labels

    done = merge_labels(
        paraphrases or out / "paraphrases.csv",
        sheets,
        out / "labelled.csv",
        third=third,
        draws=draws,
        seed=seed,
    )
    made = done.as_json()
    facts = {name: made[name] for name in ("counts", "kappa_all", "kappa_kept")}
    after = f"portrayal agency-data split --out {out}"
    if done.third_path is not None:
        given = " ".join(map(str, sheets))
        after = f"portrayal agency-data merge {given} --third {done.third_path} --out {out}"
    _tell(out, "labels", facts, done.path, after, as_object=json)


@app.command()
def split(
    labelled: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="Default: labelled.csv of --out.")
    ] = None,
    out: Out = FOLDER,
    together: Annotated[
        bool, typer.Option("--together", help="Both paraphrases of a sentence in one part.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Of the order.")] = 0,
    json: Json = False,
) -> None:
    """Split 0.8, 0.1, 0.1 at random, and write the data card."""
    from portrayal.raters.sentences import split_labelled

    done = split_labelled(
        labelled or out / "labelled.csv",
        out / "split",
        together=together,
        seed=seed,
        facts={step: known for step, known in _facts(out).items() if step != "split"},
    )
    counts = {name: dict(part) for name, part in done.counts.items()}
    after = f"portrayal train agency --labelled {done.paths['train']}"
    _tell(out, "split", {"seed": seed, **counts}, done.card, after, as_object=json)


def _facts(out: Path) -> dict[str, Any]:
    try:
        found = json_module.loads((out / FACTS).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _tell(
    out: Path, step: str, facts: dict[str, Any], path: Path, after: str, *, as_object: bool
) -> None:
    """Keep what a step did for the data card, and print it."""
    from portrayal.run.files import write_atomically

    known = _facts(out) | {step: facts}
    write_atomically(out / FACTS, json_module.dumps(known, ensure_ascii=False, indent=1) + "\n")
    if as_object:
        show.as_json({"path": str(path), **facts})
        return
    for name, value in facts.items():
        show.line(f"{name.replace('_', ' ')}: {_words(value)}")
    show.line(f"{path}")
    show.line(f"next: {after}")


def _words(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_words(item)}" for name, item in value.items()) or "none"
    return f"{value:,}" if isinstance(value, int) else str(value)
