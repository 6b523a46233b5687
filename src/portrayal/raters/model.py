"""A language model as a rater: the codebook is the prompt, and every code needs a passage.

A model is a rater of its own kind. Its labels have no vote in what people settle on and enter no
figure of people.
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from portrayal.annotate.llm import ModelReader, counted_words, read_replies
from portrayal.collect.ask.asking import Asking
from portrayal.collect.ask.replies import plain_key, prompt_of, read_fields
from portrayal.collect.tables import read_table
from portrayal.errors import OptionError
from portrayal.raters.labels import DRAWN, NO, YES, Label, Labels, majority, write_labels
from portrayal.raters.sheets import CODEBOOK, Codebook, codebook
from portrayal.records import Prompt
from portrayal.types import Say

_QUOTES = str.maketrans({"“": '"', "”": '"', "‘": "'", "’": "'", "…": "..."})


@dataclass(frozen=True, slots=True)
class CoderResult:
    """What a model did.

    Attributes
    ----------
    path
        The label file.
    rater
        Its name among the raters.
    n_texts, n_labelled
        Texts it was asked about, and texts with a usable answer.
    failed
        Why a text has no labels of this model, by text_id.
    removed
        Codes taken out of answers, by reason.
    unusable
        Answers that could not be used, by reason.
    """

    path: Path
    rater: str
    n_texts: int
    n_labelled: int
    failed: Mapping[str, str]
    removed: Mapping[str, int]
    unusable: Mapping[str, int]


def label_by_model(folder: Path, asking: Asking, tell: Say = lambda _: None) -> CoderResult:
    """Let a model give the codes of every text of a folder of sheets, in a label file beside them.

    A code is given to a text where more than half of the model's usable answers give it with a
    passage that stands in the text. The same call continues after it was stopped, and asks nothing
    twice.

    Parameters
    ----------
    folder
        What `write_sheets` wrote, with a codebook that has codes.
    asking
        Whom, how often, within which limits.
    tell
        Told what is asked.

    Raises
    ------
    OptionError
        Where the codebook has no codes, or the model cannot be asked as wanted.
    StopError, RunError
        As asking a model does; what was answered before is kept.
    """
    book = codebook(folder / CODEBOOK)
    if not book.codes:
        raise OptionError(f"{folder / CODEBOOK} has no codes: its questions are for people.")
    texts = {
        (row["text_id"], row["unit"]): row["text"]
        for row in read_table(folder / DRAWN, ("text_id", "unit", "text"))
    }
    prompts = {unit: model_prompt(book, text) for unit, text in texts.items()}
    reader = ModelReader(asking, "codes", answer_tokens=120)
    replies = reader.ask(folder, prompts.values(), tell)
    labels, failed = list[Label](), dict[str, str]()
    removed, unusable = Counter[str](), Counter[str]()
    for unit, text in texts.items():
        # Answers that are malformed are left out, not taken as "no code"
        answers, reasons = read_replies(
            replies.get(prompts[unit].prompt_id, ()),
            asking.samples,
            lambda reply: read_answer(reply, text, book, removed),  # noqa: B023
        )
        unusable.update(reasons)
        if not answers:
            failed[unit[0]] = counted_words(reasons)
            continue
        for code in book.codes:
            passages = [passage for answer in answers if (passage := answer.get(code.key))]
            is_given = majority(code.key in answer for answer in answers) is True
            note = f"“{passages[0]}”" if is_given else ""
            value = YES if is_given else NO
            labels.append(Label(*unit, code.key, value, asking.model, note=note, kind="llm"))
    path = folder / (re.sub(r"[^\w.-]+", "-", asking.model) + ".csv")
    write_labels(path, Labels(tuple(labels)))
    n_labelled = len(texts) - len(failed)
    return CoderResult(path, asking.model, len(texts), n_labelled, failed, removed, unusable)


def model_prompt(book: Codebook, text: str) -> Prompt:
    """Return what a model is asked about one text."""
    codes = "\n".join(
        f"- {code.key}: {code.name}. {code.definition}"
        + "".join(f"\n  Example: {example}" for example in code.examples)
        for code in book.codes
    )
    request = files(__package__).joinpath("coder.md").read_text("utf-8")
    return prompt_of(request.format(instructions=book.instructions, codes=codes, story=text))


def read_answer(
    reply: str, text: str, book: Codebook, removed: Counter[str]
) -> dict[str, str] | None:
    """Return the codes of an answer, each with the passage of `text` that shows it.

    None where it has no list of codes. Passages are compared without regard to case, spaces and the
    form of quotes; `removed` counts the codes that are taken out, by reason.
    """
    entries = read_fields(reply).get("codes")
    if entries is None or isinstance(entries, str):
        return None
    keys_by_name = {
        plain_key(name): code.key for code in book.codes for name in (code.name, code.key)
    }
    # A passage that is not in the text was made up, and the code with it
    within = _plain(text)
    passages: dict[str, str] = {}
    for entry in entries if isinstance(entries, list) else [entries]:
        # A bare word in the list is a code without a passage.
        pairs = entry.items() if isinstance(entry, dict) else (("code", entry),)
        cells = {plain_key(str(name)): value for name, value in pairs}
        key = keys_by_name.get(plain_key(str(cells.get("code", ""))))
        passage = " ".join(str(cells.get("passage") or "").split())
        if key is None:
            removed["not a code of the codebook"] += 1
        elif not passage:
            removed["without a passage"] += 1
        elif _plain(passage) not in within:
            removed["passage not in the text"] += 1
        else:
            passages.setdefault(key, passage)  # the first passage; a model may repeat a code
    return passages


def _plain(text: str) -> str:
    return " ".join(text.translate(_QUOTES).split()).casefold()
