"""Replies: what a model answers to prompts that are made as one goes, and the JSON in them.

The answers of a folder are a little collection of their own, with a journal. A prompt is named by
the digest of its words, so that whatever is asked later (another round, further sentences), nothing
is asked twice, and a killed run continues where it was.

Read are code fences, prose around, trailing or missing commas, single and curly quotes, Python's
literals, objects inside objects, several objects, and answers cut off in the middle. Of a string or
a word that was cut off nothing is kept, as half a name is another name. Nothing is executed.
"""

import json
import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from portrayal.collect.ask.asking import Asking
from portrayal.collect.ask.loop import collect
from portrayal.collect.tables import whole
from portrayal.errors import OptionError
from portrayal.records import Prompt
from portrayal.run.directory import Run, read_shards
from portrayal.run.files import fingerprint
from portrayal.shown import counted
from portrayal.types import Say

LONGEST = 100_000
"""Characters of an answer that are read."""

_DEEPEST = 20
_TRIES = 1_000
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_NOTHING = ("none", "null", "nan", "undefined")
_SPACE = re.compile(r"(?:\s|//[^\n]*(?:\n|$)|/\*.*?\*/)*", re.S)
_BARE = re.compile(r"[^\s,:\[\]{}()][^,:\[\]{}()\n]*")
# A quote ends a string only where something may follow one
_ENDS = r"(?=\s*(?:[,:\]})]|$|//|/\*)|\s*\n\s*[\"'“‘`]|\s+[\"“‘`])"
_STRINGS = {
    opening: re.compile(rf"((?:\\.|[^\\])*?){closing}{_ENDS}", re.S)
    for opening, closing in ('""', "''", "“”", "‘’", "``")
}
_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})|\\(.)", re.S)
_STRICT = json.JSONDecoder()


def read_objects(reply: str) -> list[dict[str, Any]]:
    """Return the outermost objects of `reply` that hold anything, in their order."""
    text = reply[:LONGEST]
    objects: list[dict[str, Any]] = []
    start = text.find("{")
    for _ in range(_TRIES):
        if start < 0:
            break
        try:
            # JSON as it should be first; the lenient reader may take odd text for something
            value, end = _STRICT.raw_decode(text, start)
        except (ValueError, RecursionError):
            value, end = _lenient(text, start)
        if isinstance(value, dict) and value:
            objects.append(value)
        # Past this brace in any case, so that the search ends.
        start = text.find("{", max(end, start + 1))
    return objects


def read_fields(reply: str) -> dict[str, Any]:
    """Return the fields of every object in `reply`, the later one where a key comes twice.

    Keys are casefolded words parted by single spaces; the keys of an object inside another follow
    its own ("doctor" → "name" is "doctor name"). Empty where no object was found.
    """
    text, fields = reply[:LONGEST], dict[str, Any]()

    def flatten(nested: dict[str, Any], before: str, deep: int) -> None:
        for key, value in nested.items():
            name = f"{before} {plain_key(str(key))}".strip()
            if isinstance(value, dict) and deep < _DEEPEST:
                flatten(value, name, deep + 1)
            else:
                fields[name] = value

    for read in read_objects(text):
        flatten(read, "", 0)
    # A model may forget the braces
    if not fields and ":" in text and "{" not in text:
        flatten(_lenient("{" + text[max(text.find('"'), 0) :], 0)[0], "", 0)
    return fields


def plain_key(key: str) -> str:
    """Return a key as `read_fields` gives it."""
    return " ".join(re.findall(r"[^\W_]+", key.casefold()))


def _lenient(text: str, start: int) -> tuple[dict[str, Any], int]:
    reader = _LenientReader(text, start)
    return reader.container(0), reader.at


def _unescaped(match: re.Match[str]) -> str:
    code, mark = match.groups()
    return chr(int(code, 16)) if code else _ESCAPES.get(mark, mark)


class _CutOffError(Exception):
    """The answer ends inside a value."""


class _LenientReader:
    """Reads values from `text`, beginning at `at`; always moves on, so it always ends."""

    def __init__(self, text: str, start: int) -> None:
        self.text, self.at = text, start

    def _next(self) -> str:
        """Skip blanks and comments; return the character that follows, "" at the end."""
        match = _SPACE.match(self.text, self.at)
        assert match is not None  # it matches nothing as well
        self.at = match.end()
        return self.text[self.at : self.at + 1]

    def value(self, deep: int) -> Any:
        """Read one value; raise where the text ends inside it."""
        mark = self._next()
        if not mark or deep > _DEEPEST:
            raise _CutOffError
        if mark in "{[(":
            return self.container(deep + 1)
        if mark in _STRINGS:
            return self._string(mark)
        return self._bare()

    def container(self, deep: int) -> Any:
        """Read an object or a list, or what there is of one that was cut off."""
        is_object = self.text[self.at] == "{"
        ends, blanks = (("}", ""), tuple(",:])")) if is_object else (tuple("])}"), (",", ":"))
        members, items = dict[str, Any](), list[Any]()
        self.at += 1
        try:
            while (mark := self._next()) not in ends:
                if mark in blanks:
                    self.at += 1
                    continue
                value = self.value(deep)
                if not is_object:
                    items.append(value)
                elif self._next() == ":":
                    self.at += 1
                    if self._next() in (",", "}"):
                        continue
                    member = self.value(deep)
                    if isinstance(value, str):
                        members[value] = member
            self.at += is_object or mark != "}"  # which ends what the list is in
        except _CutOffError:
            if not (is_object or items):
                raise
            self.at = len(self.text)
        return members if is_object else items

    def _string(self, opening: str) -> str:
        """Read a string; a quote inside one does not end it, as in 'O'Brien'."""
        match = _STRINGS[opening].match(self.text, self.at + 1)
        if match is None:
            raise _CutOffError
        self.at = match.end()
        # A character beyond 16 bits is written as two escapes.
        return whole(_ESCAPE.sub(_unescaped, match[1]))

    def _bare(self) -> str | bool | None:
        """Read a word without quotes; one at the very end may be cut off."""
        match = _BARE.match(self.text, self.at)
        if match is None:
            self.at += 1
            return None
        self.at = match.end()
        # "Joh" at the end of an answer that was cut off is no name
        if self.at == len(self.text):
            raise _CutOffError
        word = match.group().strip()
        plain = word.casefold()
        if plain in _NOTHING:
            return None
        return plain == "true" if plain in ("true", "false") else word


_COLUMNS = ["prompt_id", "sample", "text", "outcome", "reason"]


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer.

    Attributes
    ----------
    text
        What the model wrote.
    outcome
        "ok", "refused", "empty" or "failed".
    reason
        Why it failed; "" where it did not.
    """

    text: str
    outcome: str
    reason: str = ""


Replies = Mapping[str, Sequence[Reply]]
"""Answers by `prompt_id`, in their order; a prompt that the budget did not reach has none."""
Ask = Callable[[Iterable[Prompt]], Replies]
"""Answers prompts."""


def prompt_of(text: str, attempt: int = 0) -> Prompt:
    """Return a prompt named by its words, and by which attempt at them it is."""
    name = fingerprint(text=text)
    return Prompt(f"{name}-{attempt}" if attempt else name, text)


def ask_replies(
    asking: Asking,
    prompts: Iterable[Prompt],
    folder: Path,
    answer_tokens: int | None = None,
    tell: Say = lambda _: None,
) -> Replies:
    """Return the answers to prompts, asking only where one is missing in `folder` or failed.

    Parameters
    ----------
    asking
        Whom, how often, within which limits; its `prompts` say nothing here.
    prompts
        Equal ones are asked once.
    folder
        Where the answers are kept; held while something is asked.
    answer_tokens
        Tokens of an answer, about, for the cost to confirm.
    tell
        Called with a line before something is asked, and with one on what came of it.

    Raises
    ------
    StopError, RunError, OptionError, KeyboardInterrupt
        What was answered before is kept.
    """
    by_id = {prompt.prompt_id: prompt for prompt in prompts}
    replies = kept_replies(folder, asking.samples, by_id)
    answered = ([reply.outcome != "failed" for reply in replies.get(name, ())] for name in by_id)
    if all(len(of_prompt) == asking.samples and all(of_prompt) for of_prompt in answered):
        return replies
    n = counted(len(by_id), "different question")
    tell(f"{asking.model} is asked what is not answered yet of {n}")
    # Not of the prompts: further ones may come to the same folder
    mark = fingerprint(replies="v1", model=asking.model, parameters=dict(asking.parameters))
    run, unique = Run(folder), list(by_id.values())
    # Locked, as two askings into one folder would pay for each answer twice
    with run.lock():
        report = collect(run, unique, asking, mark=mark, answer_tokens=answer_tokens)
    if report.stopped == "interrupted":
        raise KeyboardInterrupt
    if report.stopped == "declined":
        raise OptionError("nothing was asked: it was declined. Confirm, or give --yes.")
    tell(report.summary)
    return kept_replies(folder, asking.samples, by_id)


def kept_replies(
    folder: Path, samples: int = 1, prompt_ids: Container[str] | None = None
) -> Replies:
    """Return the first `samples` answers in `folder` to each of these prompts or of all.

    What a killed collection left in its journal is not among them yet.
    """
    by_prompt: dict[str, dict[int, Reply]] = {}
    for (table,) in read_shards(Run(folder).texts, _COLUMNS):
        for row in table.to_pylist():
            if row["sample"] < samples and (prompt_ids is None or row["prompt_id"] in prompt_ids):
                reply = Reply(row["text"] or "", row["outcome"], row["reason"] or "")
                by_prompt.setdefault(row["prompt_id"], {})[row["sample"]] = reply
    return {name: [replies[i] for i in sorted(replies)] for name, replies in by_prompt.items()}


def objects_in(reply: str) -> list[dict[str, Any]]:
    """Return the innermost JSON objects of a reply in their order, however they are wrapped.

    See `portrayal.collect.ask.replies` for what is read.
    """
    return _innermost(read_objects(reply))


def _innermost(value: Any, deep: int = 0) -> list[dict[str, Any]]:
    """The objects of a value that hold no further object."""
    if deep > 20 or not isinstance(value, (dict, list)):
        return []
    inside = value.values() if isinstance(value, dict) else value
    below = [record for item in inside for record in _innermost(item, deep + 1)]
    return below or ([value] if isinstance(value, dict) and value else [])
