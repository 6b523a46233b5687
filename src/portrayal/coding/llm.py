"""Language models as coders: the codebook is the prompt, and every code needs a passage.

A model is a rater of its own kind. Its codes stand apart from those of people everywhere: they have
no vote in what people settle on and enter no figure of people.
"""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from portrayal.annotate.llm import ModelReader, counted_words, read_replies
from portrayal.coding.labels import store_labels
from portrayal.coding.project import CodingItem, Project
from portrayal.collect.ask.asking import Asking
from portrayal.collect.ask.replies import plain_key, prompt_of, read_fields
from portrayal.errors import OptionError
from portrayal.raters import Codebook
from portrayal.raters.labels import YES, Label, majority
from portrayal.records import Prompt
from portrayal.run.files import write_atomically
from portrayal.run.stages import fingerprint
from portrayal.types import Say

PURPOSE, NOTE = "codes", "coder.json"


def coder_notes(project: Project) -> list[dict[str, Any]]:
    """Return what each model did: its rater, texts coded and failed, and what was removed."""
    paths = sorted((project.folder / "answers" / PURPOSE).glob(f"*/{NOTE}"))
    return [json.loads(path.read_text("utf-8")) for path in paths]


LONGEST_NAME = 60
_QUOTES = str.maketrans({"“": '"', "”": '"', "‘": "'", "’": "'", "…": "..."})


@dataclass(frozen=True, slots=True)
class CoderResult:
    """What a model did.

    Attributes
    ----------
    rater
        Its name among the raters.
    n_items, n_coded
        Texts it was asked about, and texts with a usable answer.
    failed
        Why a text has no codes of this model, by `item_id`.
    removed
        Codes taken out of answers, by reason.
    unusable
        Answers that could not be used, by reason.
    """

    rater: str
    n_items: int
    n_coded: int
    failed: Mapping[str, str]
    removed: Mapping[str, int]
    unusable: Mapping[str, int]


def code_by_model(project: Project, asking: Asking, tell: Say = lambda _: None) -> CoderResult:
    """Let a model code every text of a project, and store its codes as those of a rater.

    A code is given to a text where more than half of the model's usable answers give it with a
    passage that stands in the text. The same call continues after it was stopped, and asks nothing
    twice.

    Parameters
    ----------
    project
        A project whose codebook has codes.
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
    if not project.codebook.codes:
        raise OptionError(
            f"the codebook of {project.folder} has no codes: its questions are answered by people."
        )
    book, coder = project.codebook, ModelReader(asking, PURPOSE, answer_tokens=120)
    prompts = {item.item_id: coder_prompt(book, item) for item in project.items}
    rater, labels = rater_of(asking.model), []
    failed: dict[str, str] = {}
    removed, unusable = Counter[str](), Counter[str]()
    replies = coder.ask(project.folder, prompts.values(), tell)
    for item in project.items:
        # Answers that are malformed are left out, not taken as "no code"
        answers, reasons = read_replies(
            replies.get(prompts[item.item_id].prompt_id, ()),
            asking.samples,
            lambda reply: read_answer(reply, item.text, book, removed),  # noqa: B023
        )
        unusable.update(reasons)
        if not answers:
            failed[item.item_id] = counted_words(reasons)
            continue
        # The codes that more than half of the answers give, with the first passage of each
        keys = dict.fromkeys(key for passages in answers for key in passages)
        agreed_keys = [key for key in keys if majority(key in passages for passages in answers)]
        quotes = (next(p[key] for p in answers if key in p) for key in agreed_keys)
        pairs = zip(agreed_keys, quotes, strict=True)
        note = "; ".join(f"{key}: “{words}”" for key, words in pairs)
        # The empty key says that the text is done, also where no code is given
        for key in ("", *agreed_keys):
            labels.append(Label(item.item_id, "", key, YES, rater, note=note, kind="llm"))
    store_labels(project, labels)
    n_items, n_failed = len(project.items), len(failed)
    counts = {"removed": dict(removed), "unusable": dict(unusable)}
    facts = {"rater": rater, "model": asking.model, "samples": asking.samples}
    facts |= {"n_items": n_items, "n_coded": n_items - n_failed, "n_failed": n_failed}
    write_atomically(project.folder / coder.kept_in / NOTE, json.dumps(facts | counts, indent=1))
    return CoderResult(rater, n_items, n_items - n_failed, failed, **counts)


def coder_prompt(book: Codebook, item: CodingItem) -> Prompt:
    """Return what a model is asked about one text."""
    codes = "\n".join(
        f"- {code.key}: {code.name}. {code.definition}"
        + "".join(f"\n  Example: {example}" for example in code.examples)
        for code in book.codes
    )
    prompt = files(__package__).joinpath("coder.md").read_text("utf-8")
    request = prompt.format(instructions=book.instructions, codes=codes, story=item.text)
    return prompt_of(request)


def read_answer(
    reply: str, text: str, book: Codebook, removed: Counter[str] | None = None
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
    removed = Counter[str]() if removed is None else removed
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


def rater_of(model: str) -> str:
    """Return the name of a model among the raters, shortened where it is too long for one."""
    if len(model) <= LONGEST_NAME:
        return model
    # With a digest, as long names of models often differ only at their end
    return f"{model[: LONGEST_NAME - 9]}~{fingerprint(model=model)[:8]}"


def _plain(text: str) -> str:
    return " ".join(text.translate(_QUOTES).split()).casefold()
