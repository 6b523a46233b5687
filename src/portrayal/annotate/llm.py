"""One way to ask a language model about texts: what is asked, and how answers are read and kept.

A *question* is a prompt about one text, sentence or person, made from a template. Its answers lie
in a folder of the run and are found by the words of the prompt, so that nothing is asked twice. An
answer that was refused, is empty, failed or cannot be read says nothing and is counted by its
reason; several answers to one question are put to a vote.

A caller declares a `ModelReader`: what its answers are about, how long they are, and whose
annotations rest on them. It makes the prompts, and gives a function that reads one answer.
"""

import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Self, TypeVar

from portrayal.annotate.annotator import Annotation
from portrayal.collect.ask.asking import Asking
from portrayal.collect.ask.replies import Replies, Reply, ask_replies
from portrayal.errors import OptionError
from portrayal.records import Prompt
from portrayal.run.directory import Run
from portrayal.run.files import fingerprint
from portrayal.types import Say

Value = TypeVar("Value")

MALFORMED, NOT_ASKED = "malformed", "not asked"
"""Why an answer says nothing, beside "refused", "empty" and "failed": it cannot be read; or there
is none, as the budget did not reach it."""


@cache
def templates(package: str, file: str) -> Mapping[str, str]:
    """Return the texts of a TOML file in a package, such as prompts; `str.format` fills them."""
    text = files(package).joinpath(file).read_text(encoding="utf-8")
    return {name: words.strip("\n") for name, words in tomllib.loads(text).items()}


def read_replies(
    replies: Sequence[Reply], samples: int, read: Callable[[str], Value | None]
) -> tuple[list[Value], Counter[str]]:
    """Return what the answers to one question say, and why the others say nothing.

    Parameters
    ----------
    replies
        The answers that there are.
    samples
        How many were asked for; the others are `NOT_ASKED`.
    read
        Returns what the words of an answer say; None where they cannot be read.

    Examples
    --------
    >>> replies = [Reply("yes", "ok"), Reply("hm", "ok"), Reply("", "refused")]
    >>> read_replies(replies, 4, {"yes": True, "no": False}.get)
    ([True], Counter({'malformed': 1, 'refused': 1, 'not asked': 1}))
    """
    values, reasons = [], Counter[str]()
    for reply in replies:
        value = read(reply.text) if reply.outcome == "ok" else None
        if value is None:
            reasons[MALFORMED if reply.outcome == "ok" else reply.outcome] += 1
        else:
            values.append(value)
    reasons[NOT_ASKED] += samples - len(replies)
    return values, +reasons


def plurality(values: Iterable[Value]) -> tuple[Value | None, int]:
    """Return the value that occurs most often, and how often; None where two do, or none is there.

    >>> plurality(["F", "M", "F"]), plurality(["F", "M"])
    (('F', 2), (None, 1))
    """
    ranked: list[tuple[Value | None, int]] = [*Counter(values).most_common(2)]
    (first, n), *runners_up = ranked or [(None, 0)]
    return (None if runners_up and runners_up[0][1] == n else first), n


def counted_words(counts: Mapping[str, int]) -> str:
    """Return counts as words.

    >>> counted_words({"refused": 1, "agentic": 1200})
    '1,200 agentic, 1 refused'
    """
    return ", ".join(f"{n:,} {word}" for word, n in sorted(counts.items())) or "none"


@dataclass(frozen=True)
class ModelReader:
    """A language model that reads texts.

    Attributes
    ----------
    asking
        Whom, how often, within which limits.
    purpose
        What its answers are about; the folder `answers/PURPOSE` holds them.
    answer_tokens
        Tokens of an answer, about; for the cost that is shown beforehand. None where unknown.
    cold
        Whether the temperature is 0 where none is given and the model takes one.
    """

    asking: Asking
    purpose: str
    answer_tokens: int | None = None
    cold: bool = False

    @property
    def annotators(self) -> tuple[str, ...]:
        """Annotators whose rows rest on its answers."""
        return ()

    @property
    def kept_in(self) -> str:
        """Where answers lie in a run or folder: the model, and a digest of its parameters."""
        return f"answers/{self.purpose}/{self.asking.folder_name}"

    @property
    def marks(self) -> dict[str, Any]:
        """What distinguishes its answers from those of another reader."""
        return {"answers": self.kept_in, "model": self.asking.model}

    def check(self) -> Self:
        """Make the provider, so that a missing key, client or address is an error at once."""
        asking = self.asking
        if asking.model.startswith("server:") and not (asking.base_url or asking.provider):
            raise OptionError(
                f"{asking.model} needs the address of its server: give "
                "--set llm_settings.base_url=…, such as http://localhost:8000/v1."
            )
        (asking.cold() if self.cold else asking).make_provider()
        return self

    def ready(self, run: Run) -> Self:
        """`check`, unless the run holds the annotations by these answers already."""
        for name in self.annotators:
            note = run.annotations(name).note()
            recorded_marks = (note.get("settings") or {}).get("asked", {})
            if not note.get("complete") or recorded_marks != recorded_marks | self.marks:
                return self.check()
        return self

    def ask(self, place: Path, prompts: Iterable[Prompt], tell: Say = lambda _: None) -> Replies:
        """Return the answers to prompts, asking for those that are not in `place` yet.

        Raises
        ------
        StopError, RunError, OptionError
            Saying what to do; what was answered before is kept.
        """
        asking = self.asking.cold() if self.cold else self.asking
        return ask_replies(
            asking,
            prompts,
            place / self.kept_in,
            self.answer_tokens,
            lambda line: tell(f"{self.purpose}: {line}"),
        )

    def answered(self, run: Run, annotation: Annotation, tell: Say) -> Annotation:
        """Ask what the rows of an annotation rest on, and return it with what came of that.

        Parameters
        ----------
        run
            A run with texts, which the caller holds.
        annotation
            An annotation by one of `annotators`.
        tell
            Told what is asked, and what came of it.
        """
        raise NotImplementedError

    def noted(self, annotation: Annotation, answers: Any, **facts: Any) -> Annotation:
        """Return an annotation that says among its settings what its rows rest on.

        `answers` is what the answers were read as: others make another annotation.
        """
        question = {**self.marks, "digest": fingerprint(answers=answers), **facts}
        return replace(annotation, settings={**annotation.settings, "asked": question})


def asked_of(run: Run, annotator: str) -> dict[str, Any]:
    """Return what a run notes of the model whose answers the rows of an annotator rest on."""
    settings = run.annotations(annotator).note().get("settings") or {}
    question: dict[str, Any] = settings.get("asked", {})
    return question
