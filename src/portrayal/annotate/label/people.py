"""Labelling people: texts and the roles of their prompts become characters, by a model's answers.

    label_people(rows, asking, folder, *, route=None) -> LabelResult

`rows` have `text`, `subject_role` and `object_role`; the result has one `LabelledText` for each row
in the same order. With `route=(share, confidences)` only the least confident rows are asked.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from portrayal.annotate.label.answer import read_answer
from portrayal.annotate.label.asking import LabelAsking, ask_labels, read_labels
from portrayal.annotate.label.prompts import LabelPrompt, label_prompt
from portrayal.annotate.label.routing import least_confident
from portrayal.annotate.label.vote import vote
from portrayal.annotate.people import Character, Roles
from portrayal.run.directory import Run

if TYPE_CHECKING:
    from portrayal.collect.ask import CollectReport

People = tuple[Character, Character | None]


@dataclass(frozen=True, slots=True)
class LabelledText:
    """The label of one text.

    Attributes
    ----------
    labeler
        "llm", or "embedded" where the text was not asked about or the model failed on it; then its
        label is the caller's own.
    people
        Subject and object as the model labels them; None unless `labeler` is "llm" and it did not
        fail.
    error
        Why the model gave no label: how many answers were refused, malformed, …; None otherwise.
    """

    labeler: str
    people: People | None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class LabelResult:
    """Labels in the order of the rows.

    Attributes
    ----------
    texts
        One for each row.
    removed
        What was removed from the answers, by kind.
    unusable
        Answers that could not be used, by reason.
    report
        What the asking did and cost; None where nothing was to be asked.
    """

    texts: tuple[LabelledText, ...]
    removed: Mapping[str, int]
    unusable: Mapping[str, int]
    report: "CollectReport | None"

    @property
    def n_llm(self) -> int:
        """Texts that the model labelled."""
        return sum(text.people is not None for text in self.texts)

    @property
    def n_without(self) -> int:
        """Texts that the model was asked about and gave no usable label."""
        return sum(text.error is not None for text in self.texts)


def label_people(
    rows: Sequence[Mapping[str, Any]],
    asking: LabelAsking,
    folder: str | Path,
    *,
    route: tuple[float, Sequence[float]] | None = None,
) -> LabelResult:
    """Label the characters of texts by a model.

    Parameters
    ----------
    rows
        Each with `text`, `subject_role` and `object_role` (None or missing where the prompt has
        none); `text_id`, where there is one, decides among equal confidences.
    asking
        Whom, how often, within which limits.
    folder
        Where the answers are kept, held by this call. The same call continues there after it was
        stopped or killed, and asks nothing twice.
    route
        (share, confidences): only this share of the rows is asked, the least confident. The others
        come back with the labeler "embedded" and without people, and so do those that the model
        failed on, with an error.

    Raises
    ------
    StopError, RunError, OptionError
        As asking a model does; what was answered before is kept.
    """
    place = Path(folder)
    with Run(place).lock():
        return label_held(rows, asking, place, route=route)


def label_held(
    rows: Sequence[Mapping[str, Any]],
    asking: LabelAsking,
    folder: Path,
    *,
    route: tuple[float, Sequence[float]] | None = None,
) -> LabelResult:
    """`label_people` in a folder that the caller holds already."""
    places: Iterable[int] = range(len(rows))
    if route is not None:
        ids = [str(row.get("text_id", "")) for row in rows]
        places = least_confident(route[1], route[0], ids)
    prompts = {i: prompt for i in places if (prompt := _prompt(rows[i])) is not None}
    report = ask_labels(prompts.values(), asking, folder)
    answers = read_labels(folder, asking, {prompt.prompt_id for prompt in prompts.values()})
    removed: Counter[str] = Counter()
    unusable: Counter[str] = Counter()
    texts = [LabelledText("embedded", None)] * len(rows)
    failed_is = "llm" if route is None else "embedded"
    for i in places:
        prompt = prompts.get(i)
        if prompt is None:
            texts[i] = LabelledText(failed_is, None, "unlabelled: its prompt has no subject_role")
            continue
        kept = answers[prompt.prompt_id]
        found, why = _label(kept, prompt, rows[i]["text"], asking.samples, removed)
        unusable.update(why)
        people = None if found is None else (found[0], found[1] if len(found) > 1 else None)
        labeler = failed_is if people is None else "llm"
        error = None if people is not None else _reason(why, asking.samples)
        texts[i] = LabelledText(labeler, people, error)
    return LabelResult(tuple(texts), dict(removed), dict(unusable), report)


def _prompt(row: Mapping[str, Any]) -> LabelPrompt | None:
    subject, other = row.get("subject_role"), row.get("object_role")
    if not isinstance(subject, str) or not subject.strip():
        return None
    return label_prompt(row["text"], Roles(subject, other if isinstance(other, str) else None))


def _label(
    answers: Sequence[Mapping[str, Any]],
    prompt: LabelPrompt,
    text: str,
    n_asked: int,
    removed: Counter[str],
) -> tuple[tuple[Character, ...] | None, Counter[str]]:
    """The vote of the usable answers, and why the others are not."""
    usable, why = [], Counter[str]()
    for answer in answers:
        said = read_answer(answer["text"] or "", prompt.characters, text, removed)
        if said is None:
            outcome = answer["outcome"]
            why["malformed" if outcome == "ok" else outcome] += 1
        else:
            usable.append(said)
    if n_asked > len(answers):
        why["not asked"] += n_asked - len(answers)
    found = vote(usable, n_asked, text)
    if found is None and usable:
        why["incomplete"] += len(usable)
    return found, why


def _reason(why: Mapping[str, int], n_asked: int) -> str:
    listed = ", ".join(f"{n} {reason}" for reason, n in sorted(why.items()))
    return f"unlabelled: of {n_asked} answers {listed}"
