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

from portrayal.annotate.people.labeler.answer import plain_key, read_fields
from portrayal.coding.labels import store_labels
from portrayal.coding.project import CodingItem, Project
from portrayal.collect.ask import CollectReport
from portrayal.collect.ask.asking import Asking
from portrayal.collect.ask.replies import ask_prompts, kept_samples, prompt_of
from portrayal.errors import OptionError
from portrayal.raters import Codebook
from portrayal.raters.labels import YES, Label, majority
from portrayal.records import Prompt
from portrayal.run.directory import Run
from portrayal.run.files import write_atomically
from portrayal.run.stages import fingerprint

CODERS = "coders"
"""Folder of a project in which the answers of models are kept, one folder for each."""
NOTE = "coder.json"


def coder_notes(project: Project) -> list[dict[str, Any]]:
    """Return what each model did: its rater, texts coded and failed, and what was removed."""
    paths = sorted((project.folder / CODERS).glob(f"*/{NOTE}"))
    return [json.loads(path.read_text("utf-8")) for path in paths]


LONGEST_NAME = 60
ANSWER_TOKENS = 120
"""Tokens of an answer, about; for the cost that is shown beforehand."""
_QUOTES = str.maketrans({"“": '"', "”": '"', "‘": "'", "’": "'", "…": "..."})


@dataclass(frozen=True, slots=True)
class CoderAnswer:
    """One usable answer: the passage that shows each code it gives, and what was removed."""

    passages: Mapping[str, str]
    removed: Mapping[str, int]


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
    report
        What the asking did and cost; None where nothing was left to ask.
    """

    rater: str
    n_items: int
    n_coded: int
    failed: Mapping[str, str]
    removed: Mapping[str, int]
    unusable: Mapping[str, int]
    report: CollectReport | None = None


def code_by_model(project: Project, asking: Asking) -> CoderResult:
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
    book, folder = project.codebook, project.folder / CODERS / asking.folder_name
    prompts = {item.item_id: coder_prompt(book, item) for item in project.items}
    rater, labels = rater_of(asking.model), []
    failed: dict[str, str] = {}
    removed, unusable = Counter[str](), Counter[str]()
    with Run(folder).lock():
        report = ask_prompts(asking, prompts.values(), folder, ANSWER_TOKENS)
        prompt_ids = {prompt.prompt_id for prompt in prompts.values()}
        answers = kept_samples(folder, asking.samples, prompt_ids)
        for item in project.items:
            usable: list[CoderAnswer] = []
            reasons_of = Counter[str]()
            # Answers that are malformed are left out, not taken as "no code"
            for reply in answers.get(prompts[item.item_id].prompt_id, ()):
                answer = read_answer(reply.text, item.text, book) if reply.outcome == "ok" else None
                if answer is None:
                    reasons_of["malformed" if reply.outcome == "ok" else reply.outcome] += 1
                else:
                    usable.append(answer)
                    removed.update(answer.removed)
            unusable.update(reasons_of)
            if not usable:
                reasons = ", ".join(f"{n} {reason}" for reason, n in reasons_of.items())
                failed[item.item_id] = reasons or "not asked yet"
                continue
            # The codes that more than half of the answers give, with the first passage of each.
            keys = dict.fromkeys(key for answer in usable for key in answer.passages)
            agreed_keys = [key for key in keys if majority(key in one.passages for one in usable)]
            passages = (next(a.passages[k] for a in usable if k in a.passages) for k in agreed_keys)
            pairs = zip(agreed_keys, passages, strict=True)
            note = "; ".join(f"{key}: “{words}”" for key, words in pairs)
            # The empty key says that the text is done, also where no code is given
            for key in ("", *agreed_keys):
                labels.append(Label(item.item_id, "", key, YES, rater, note=note, kind="llm"))
        store_labels(project, labels)
        n_items, n_failed = len(project.items), len(failed)
        counts = {"removed": dict(removed), "unusable": dict(unusable)}
        facts = {"rater": rater, "model": asking.model, "samples": asking.samples}
        facts |= {"n_items": n_items, "n_coded": n_items - n_failed, "n_failed": n_failed}
        write_atomically(folder / NOTE, json.dumps(facts | counts, indent=1))
    return CoderResult(rater, n_items, n_items - n_failed, failed, **counts, report=report)


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


def read_answer(reply: str, text: str, book: Codebook) -> CoderAnswer | None:
    """Return the codes of an answer whose passages stand in `text`; None where it has no list.

    Passages are compared without regard to case, spaces and the form of quotes.
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
    removed: Counter[str] = Counter()
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
    return CoderAnswer(passages, dict(removed))


def rater_of(model: str) -> str:
    """Return the name of a model among the raters, shortened where it is too long for one."""
    if len(model) <= LONGEST_NAME:
        return model
    # With a digest, as long names of models often differ only at their end
    return f"{model[: LONGEST_NAME - 9]}~{fingerprint(model=model)[:8]}"


def _plain(text: str) -> str:
    return " ".join(text.translate(_QUOTES).split()).casefold()
