"""Labelling people: texts and the roles of their prompts become characters, by a model's answers.

    label_people(rows, asking, folder, *, route=None) -> LabelResult

`rows` have `text`, `subject_role` and `object_role`; the result has one `LabelledText` for each row
in the same order. With `route=(share, confidences)` only the least confident rows are asked.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import portrayal.annotate.people.labeler.answer as answer
from portrayal.annotate.people.shared.model import (
    UNSURE,
    Character,
    People,
    Roles,
    gender_of_references,
)
from portrayal.collect.ask import CollectReport
from portrayal.collect.ask.asking import Asking
from portrayal.collect.ask.replies import ask_prompts, kept_samples
from portrayal.errors import OptionError
from portrayal.run.directory import Run


def check_share(share: float) -> float:
    """Return `share`, the fraction of the texts that goes to the model.

    Raises
    ------
    OptionError
        Unless it is above 0 and at most 1.
    """
    if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 < share <= 1:
        raise OptionError(
            "route_share is the fraction of the texts that goes to the model, above 0 and at most "
            f"1, such as 0.2; got {share!r}."
        )
    return float(share)


def least_confident(
    confidences: Sequence[float], share: float, text_ids: Sequence[str] | None = None
) -> list[int]:
    """Return the places of the least confident texts, in ascending order.

    Parameters
    ----------
    confidences
        Of each text, the smallest over its characters.
    share
        Fraction of the texts to return, rounded to the nearest whole number of texts.
    text_ids
        Decide among equal confidences; the order of the texts by default.
    """
    # Half rounds up; `round` would go to the even number
    n_wanted = int(len(confidences) * check_share(share) + 0.5)
    ids = text_ids if text_ids is not None else [""] * len(confidences)
    order = sorted(range(len(confidences)), key=lambda i: (confidences[i], ids[i], i))
    return sorted(order[:n_wanted])


T = TypeVar("T")


def vote(
    answers: Sequence[tuple[answer.CharacterResponse, ...]], n_asked: int, text: str
) -> tuple[Character, ...] | None:
    """Put answers to a vote.

    Parameters
    ----------
    answers
        What each usable answer says of each character, one entry for each character.
    n_asked
        Answers that were asked for, the unusable ones included.
    text
        The text, in which names and references are located.

    Returns
    -------
    tuple of Character
        For each field the value that most answers give. Where two values have equally many, there
        is no name, and the gender is "Unsure". `references` are the words that at least half of the
        answers for that gender give. `confidence` is the smaller share, of the answers asked for,
        that agree on the name and on the gender. None where no answer has a field that is needed.
    """
    if not answers:
        return None
    slots = []
    for of_slot in zip(*answers, strict=True):
        names = [response.name for response in of_slot if response.named]
        genders = [response.gender for response in of_slot if response.gender is not None]
        if not names or not genders:
            return None
        # Votes are counted without regard to case; the first spelling is shown
        key, name_votes = _most([name and name.casefold() for name in names])
        gender, gender_votes = _most(genders)
        gender = UNSURE if gender is None else gender
        name = next((n for n in names if n is not None and n.casefold() == key), None)
        slots.append((name, gender, _shared(of_slot, gender), min(name_votes, gender_votes)))
    spans = answer.locate(text, [(name, references) for name, _, references, _ in slots])
    return tuple(
        Character(name, gender, references, slot_spans, votes / n_asked)
        for (name, gender, references, votes), slot_spans in zip(slots, spans, strict=True)
    )


def _most(values: Sequence[T | None]) -> tuple[T | None, int]:
    """The value that occurs most often, and how often; None where two do."""
    (first, n), *runners_up = Counter(values).most_common()
    return (None if runners_up and runners_up[0][1] == n else first), n


def _shared(of_slot: Sequence[answer.CharacterResponse], gender: str) -> tuple[str, ...]:
    """References of the answers for `gender` (of all where it is a tie), in order of first mention.

    The words that at least half of them give; all of them where these tell another gender.
    """
    agreeing = [response for response in of_slot if response.gender == gender]
    lists = [response.references or () for response in agreeing or of_slot]
    counts = Counter(word for words in lists for word in words)
    # A word of one answer alone may be the other character's
    shared = tuple(word for word, n in counts.items() if 2 * n >= len(lists))
    return shared if gender_of_references(shared) == gender else tuple(counts)


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
    report: CollectReport | None

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
    asking: Asking,
    folder: str | Path,
    *,
    route: tuple[float, Sequence[float]] | None = None,
    local: str = "",
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
    local
        What the prompts say of the language and country of the texts (`local_sentence`).

    Raises
    ------
    StopError, RunError, OptionError
        As asking a model does; what was answered before is kept.
    """
    places: Iterable[int] = range(len(rows))
    if route is not None:
        ids = [str(row.get("text_id", "")) for row in rows]
        places = least_confident(route[1], route[0], ids)
    # Without the role of its subject a text cannot be asked about
    labels: dict[int, answer.LabelPrompt] = {}
    for i in places:
        subject, other = rows[i].get("subject_role"), rows[i].get("object_role")
        if isinstance(subject, str) and subject.strip():
            roles = Roles(subject, other if isinstance(other, str) else None)
            labels[i] = answer.label_prompt(rows[i]["text"], roles, local)
    prompts = {i: label.prompt for i, label in labels.items()}
    # Equal texts with equal roles are one prompt, and are paid once
    prompt_ids = {prompt.prompt_id for prompt in prompts.values()}
    place = Path(folder)
    with Run(place).lock():
        report = ask_prompts(asking, prompts.values(), place, answer.ANSWER_TOKENS)
        answers = kept_samples(place, asking.samples, prompt_ids)
    removed: Counter[str] = Counter()
    unusable: Counter[str] = Counter()
    texts = [LabelledText("embedded", None)] * len(rows)
    # A routed text that failed keeps the label that the extractor gave it
    failed_is = "llm" if route is None else "embedded"
    for i in places:
        if i not in labels:
            texts[i] = LabelledText(failed_is, None, "unlabelled: its prompt has no subject_role")
            continue
        replies = answers.get(prompts[i].prompt_id, [])
        text, characters = rows[i]["text"], labels[i].characters
        read = [answer.read_answer(reply.text, characters, text, removed) for reply in replies]
        usable = [response for response in read if response is not None]
        reasons = Counter(
            "malformed" if reply.outcome == "ok" else reply.outcome
            for reply, response in zip(replies, read, strict=True)
            if response is None
        )
        if asking.samples > len(replies):
            # The budget may end between two answers to the same text
            reasons["not asked"] += asking.samples - len(replies)
        # Shares are of the answers asked for, so that lost ones lower the confidence
        voted = vote(usable, asking.samples, text)
        if voted is not None:
            texts[i] = LabelledText("llm", (voted[0], voted[1] if len(voted) > 1 else None))
        else:
            if usable:
                reasons["incomplete"] += len(usable)
            counted = ", ".join(f"{n} {reason}" for reason, n in sorted(reasons.items()))
            error = f"unlabelled: of {asking.samples} answers {counted}"
            texts[i] = LabelledText(failed_is, None, error)
        unusable.update(reasons)
    return LabelResult(tuple(texts), dict(removed), dict(unusable), report)
