"""The commands `build …`: a data set of labelled sentences step by step, then a classifier."""

import json as json_module
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

import portrayal.cli.asking as ask
import portrayal.cli.options as opt
import portrayal.cli.printing as show
from portrayal.errors import OptionError
from portrayal.validate import check_choice, check_count

if TYPE_CHECKING:
    from portrayal.annotate.agency.training import Epoch

Out = Annotated[Path, Parameter(help="Folder of the data set.")]
Paraphrases = Annotated[
    Path | None,
    Parameter(name="--texts", help="File of paraphrases; default paraphrases.csv of --out."),
]
PARAPHRASING = opt.record(ask.asking_options("model"))
FOLDER = Path("agency-data")
FACTS = "facts.json"


def sentences(
    *, texts: Path, out: Out = FOLDER, column: opt.Columns = None, format: opt.Format = "table"
) -> None:
    """Split biographies into sentences, without the first two and the last.

    Example: portrayal build sentences --texts biographies.csv

    Parameters
    ----------
    texts
        File of biographies.
    """
    from portrayal.raters.sentences import seed_sentences

    path = out / "sentences.csv"
    # The name alone: the data card is published, and a path tells of the machine
    facts = {"source": texts.name, **seed_sentences(texts, path, columns=column or ())}
    after = f"portrayal build paraphrases --out {out} --model SERVICE:MODEL"
    _tell(out, "sentences", facts, path, after, format)


def paraphrases(
    *,
    texts: Path | None = None,
    out: Out = FOLDER,
    column: opt.Columns = None,
    model_options: Annotated[Any, opt.ONE_BY_ONE] = PARAPHRASING,
    format: opt.Format = "table",
) -> None:
    """Have a model write each sentence in agentic and in communal language.

    Example: portrayal build paraphrases --model openai:gpt-5-mini

    Parameters
    ----------
    texts
        File of sentences; default sentences.csv of --out.
    """
    from portrayal.annotate.llm import ModelReader
    from portrayal.raters.sentences import paraphrase as run_paraphrase
    from portrayal.raters.sentences import unread_path

    path = out / "paraphrases.csv"

    with ask.asking(model_options, format) as settings:
        outcomes = run_paraphrase(
            texts or out / "sentences.csv",
            partial(ModelReader(ask.asking_of(settings), "paraphrases").ask, out),
            path,
            columns=column or (),
        )
    facts = {"model": model_options.model, "sentences": outcomes, "unread": unread_path(path).name}
    after = f"portrayal build sheets --out {out}"
    _tell(out, "paraphrases", facts, path, after, format)


def sheets(
    *,
    texts: Paraphrases = None,
    out: Out = FOLDER,
    raters: int = 2,
    seed: opt.Seed = 0,
    format: opt.Format = "table",
) -> None:
    """Write a sheet for each rater, without the targets, and the instructions.

    Example: portrayal build sheets --raters 2

    Parameters
    ----------
    raters
        People who label.
    """
    from portrayal.raters.sentences import BOOK, sentences_to_label
    from portrayal.raters.sheets import codebook, write_sheets

    check_count("raters", raters, minimum=1)
    items = sentences_to_label(texts or out / "paraphrases.csv", seed)
    names = [str(number) for number in range(1, raters + 1)]
    written = write_sheets(items, codebook(Path(str(BOOK))), out / "sheets", names)
    facts = {"raters": raters, "rows": len(items), "seed": seed}
    after = f"portrayal build labels {' '.join(map(str, written[:raters]))} --out {out}"
    _tell(out, "sheets", facts, written[-1], after, format)


def labels(
    filled: list[Path],
    /,
    *,
    texts: Paraphrases = None,
    third: Path | None = None,
    out: Out = FOLDER,
    draws: opt.Draws = 2000,
    seed: opt.Seed = 0,
    format: opt.Format = "table",
) -> None:
    """Put raters and targets to a vote, and measure Fleiss' kappa.

    Example: portrayal build labels sheets/1.csv sheets/2.csv

    Parameters
    ----------
    filled
        Filled in.
    third
        The third rater's sheet, filled in.
    """
    from portrayal.raters.sentences import BOOK, merge_labels
    from portrayal.raters.sheets import codebook, write_sheets

    from_texts, labelled = texts or out / "paraphrases.csv", out / "labelled.csv"
    merged = merge_labels(from_texts, filled, labelled, third=third, draws=draws, seed=seed)
    facts: dict[str, Any] = {"counts": dict(merged.counts)}
    for name, kappa in (("kappa_all", merged.kappa_all), ("kappa_kept", merged.kappa_kept)):
        bounds = {end: getattr(kappa.interval, end, None) for end in ("low", "high")}
        counts = {"n_entries": kappa.n_items, "n_raters": len(kappa.raters)}
        reason = kappa.undefined or kappa.no_interval
        facts[name] = {"value": kappa.value, **bounds, **counts, "why": reason}
    after = f"portrayal build split --out {out}"
    # Raters differ somewhere: the next step is a third one's sheet, not the split
    if merged.undecided:
        third = out / "undecided" / "third.csv"
        # A sheet that the third rater may have begun is not written over
        if not third.exists():
            write_sheets(merged.undecided, codebook(Path(str(BOOK))), third.parent, ["third"])
        sheet_paths = " ".join(map(str, filled))
        after = f"portrayal build labels {sheet_paths} --third {third} --out {out}"
    _tell(out, "labels", facts, merged.path, after, format)


def split(
    *,
    hand_labels: Path | None = None,
    out: Out = FOLDER,
    together: opt.Flag = False,
    seed: opt.Seed = 0,
    format: opt.Format = "table",
) -> None:
    """Split 0.8, 0.1, 0.1 at random, and write the data card.

    Example: portrayal build split --together

    Parameters
    ----------
    hand_labels
        File of labels; default labelled.csv of --out.
    together
        Both paraphrases of a sentence in one part.
    """
    from portrayal.raters.sentences import CARD, PARTS, split_labelled

    folder = out / "split"
    counts = split_labelled(
        hand_labels or out / "labelled.csv",
        folder,
        together=together,
        seed=seed,
        # Its own earlier facts are left out, as the card is about this split
        facts={step: step_facts for step, step_facts in _facts(out).items() if step != "split"},
    )
    train, validation, _ = (folder / f"{part}.jsonl" for part in PARTS)
    after = f"portrayal build classifier --hand-labels {train} --validation {validation} --out mine"
    _tell(out, "split", {"seed": seed, **counts}, folder / CARD, after, format)


def classifier(
    *,
    hand_labels: opt.LabelledSentences,
    out: Path,
    encoder: str | None = None,
    validation: Path | None = None,
    masked: opt.Masked = True,
    recipe: str | None = None,
    seed: Annotated[tuple[int, ...], Parameter(show_default=False)] = (0,),
    licence: str = "not stated",
    column: opt.Columns = None,
    format: opt.Format = "table",
) -> None:
    """Train an agency classifier on labelled sentences, and write it with its model card.

    Example: portrayal build classifier --hand-labels agency-data/split/train.jsonl --out mine

    Parameters
    ----------
    out
        Folder to write the classifier to.
    encoder
        "linear" (default), or folder or hub id of an encoder to fine-tune.
    validation
        File of labelled sentences for early stopping and scores; without one nothing is scored.
    recipe
        wan-2024: the paper's settings (BERT, sentences as they stand, 10 epochs, batches of 6,
        learning rate 5e-5), which takes --seed 0 --seed 1 --seed 2; wan-2024-roberta: RoBERTa's.
    seed
        Start of a training of an encoder, default 0; repeatable: each then has a folder of --out.
    licence
        Of the data, for the model card.
    """
    from portrayal.annotate.agency.labelled import over_seeds, read_labelled, score_rows
    from portrayal.annotate.agency.training import PRESETS, Fitting, train_agency, train_seeds
    from portrayal.recognise import text_column

    json = format == "json"
    usual, settings = "linear", Fitting()
    if recipe is not None:
        usual, settings = PRESETS[check_choice("recipe", recipe, PRESETS)]
    if len(seed) > 1 and (encoder or usual) == "linear":
        raise OptionError("the linear classifier is the same from every seed: name an --encoder.")

    def show_epoch(epoch: "Epoch") -> None:
        right = "" if epoch.accuracy is None else f", validation {100 * epoch.accuracy:.2f} %"
        show.line(f"seed {epoch.seed}, epoch {epoch.number}: loss {epoch.loss:.4f}{right}")

    read = partial(read_labelled, columns=column or (), by_content=text_column)
    train = partial(
        train_agency,
        read(hand_labels),
        encoder or usual,
        validation=read(validation) if validation else None,
        # The paper trained on sentences as they stand
        masked=masked and recipe is None,
        licence=licence,
        on_epoch=None if json else show_epoch,
    )
    scores = train_seeds(seed, settings, out, train)
    spreads = over_seeds(scores)
    parts: list[show.Part] = [score_rows(scores, spreads)] if scores else []
    parts.append(f"classifier: {out} (model card: {out / 'README.md'})")
    facts = {"folder": out, "scores": [score.as_json() for score in scores], "over_seeds": spreads}
    show.give(format, facts, parts)


def _facts(out: Path) -> dict[str, Any]:
    try:
        facts = json_module.loads((out / FACTS).read_text(encoding="utf-8"))
    except (OSError, ValueError):  # a step may be run without the ones before it
        return {}
    return facts if isinstance(facts, dict) else {}


def _tell(out: Path, step: str, facts: dict[str, Any], path: Path, after: str, format: str) -> None:
    """Keep what a step did for the data card, and print it."""
    from portrayal.raters.sentences import fact_words
    from portrayal.run.files import write_atomically

    all_facts = _facts(out) | {step: facts}
    write_atomically(out / FACTS, json_module.dumps(all_facts, ensure_ascii=False, indent=1) + "\n")
    parts = [f"{name.replace('_', ' ')}: {fact_words(value)}" for name, value in facts.items()]
    show.give(format, {"path": path, **facts}, [*parts, str(path), f"next: {after}"])
