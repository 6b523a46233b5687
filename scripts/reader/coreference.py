"""Passages whose pronouns people labelled, to train the reader: GAP, WinoBias and LitBank.

Each gives the same `Passage`: a text, the people in it, and whom its pronouns mean. Of GAP the
people are those that `find_everyone` looks at, with both names known; of the others the labelled
ones. A passage of GAP labels one pronoun, and is worth two of the others.
"""

import gzip
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from examples import other_gender
from known import known_names
from pronouns import read_passages

from portrayal.annotate.people.any_text.everyone import find_everyone
from portrayal.annotate.people.any_text.pronouns import Mark
from portrayal.annotate.people.reader.network import PRONOUNS

_PRONOUN_WORDS = {word for words in PRONOUNS.values() for word in words}
_WORD = re.compile(r"[A-Za-z]+")


@dataclass(frozen=True)
class Passage:
    """One passage with labelled pronouns.

    Attributes
    ----------
    text, marks, n_people
        As `portrayal.annotate.people.reader.referents.mark` takes them.
    referents
        Number of a pronoun → the people it may mean by its label, `n_people` for nobody of them.
    group
        What is left out together: a file of GAP, a book, two occupations.
    weight
        Of its pronouns in the loss.
    """

    text: str
    marks: tuple[Mark, ...]
    n_people: int
    referents: dict[int, frozenset[int]]
    group: str
    weight: float = 1.0


def coreference(folder: Path) -> Iterator[Passage]:
    """Yield the passages of a folder with gap/*.tsv.gz, winobias/*.gz and litbank/*.ann.gz."""
    for path in sorted(folder.glob("gap/*.tsv.gz")):
        yield from gap(path)
    yield from winobias(sorted(folder.glob("winobias/*.gz")))
    for path in sorted(folder.glob("litbank/*.ann.gz")):
        yield from litbank(path)


def _lines(path: Path) -> list[str]:
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as file:
        return file.read().split("\n")


def gap(path: Path) -> Iterator[Passage]:
    """Yield the passages of a file of GAP (Webster et al. 2018)."""
    for passage in read_passages(path):
        seen: list[tuple[Sequence[Mark], int, int]] = []

        def look(_: str, marks: Sequence[Mark], n: int, m: int, seen: list = seen) -> np.ndarray:
            seen.append((marks, n, m))
            return np.full((m, n + 1), np.nan)

        with known_names(passage.names, by_rules=False):
            find_everyone(passage.text, refer=look)
        for marks, n_people, _ in seen:
            pronoun = next(
                (m.person for m in marks if m.kind == "pronoun" and m.start == passage.pronoun),
                None,
            )
            names = [
                m.person
                for start, end in passage.names
                for m in marks
                if m.kind == "name" and m.start < end and start < m.end
            ]
            right = {who for who, meant in zip(names, passage.labels, strict=False) if meant}
            allowed = frozenset(right or set(range(n_people + 1)) - set(names))
            if pronoun is not None and len(names) == 2:
                referents = {pronoun: allowed}
                yield Passage(passage.text, tuple(marks), n_people, referents, path.name, 2.0)


def winobias(paths: Sequence[Path]) -> Iterator[Passage]:
    """Yield the sentences of WinoBias (Zhao et al. 2018): two occupations and one pronoun."""
    lines = [re.sub(r"^\d+\s+", "", line.strip()) for path in paths for line in _lines(path)]
    bracketed = {found[1].lower() for line in lines for found in re.finditer(r"\[([^\]]+)\]", line)}
    jobs = {re.sub(r"^(?:the|an?) ", "", each) for each in bracketed - _PRONOUN_WORDS}
    job = re.compile(
        rf"\b(?:{'|'.join(map(re.escape, sorted(jobs, key=lambda job: (-len(job), job))))})\b", re.I
    )
    for line in lines:
        text, spoken, meant, at = "", [], range(0), 0
        for found in re.finditer(r"\[([^\]]+)\]", line):
            text += line[at : found.start()]
            if found[1].lower() in _PRONOUN_WORDS:
                spoken.append((len(text), len(text) + len(found[1])))
            else:
                meant = range(len(text), len(text) + len(found[1]))
            text += found[1]
            at = found.end()
        text += line[at:]
        people: dict[str, int] = {}
        marks, right = [], set()
        for found in job.finditer(text):
            who = people.setdefault(found[0].lower(), len(people))
            marks.append(Mark(found.start() + found[0].rfind(" ") + 1, found.end(), "noun", who))
            if found.start() in meant:
                right.add(who)
        marks += [Mark(*span, "pronoun", number) for number, span in enumerate(spoken)]
        if right and len(people) > 1 and spoken:
            referents = dict.fromkeys(range(len(spoken)), frozenset(right))
            yield Passage(text, tuple(marks), len(people), referents, " ".join(sorted(people)))


_AT_ONCE, _STEP, _LONGEST = 10, 5, 1_100
"""Lines of a book that are a passage, lines to the next, and characters of one at most."""

_TITLE = re.compile(
    r"(?:(?:mr|mrs|miss|ms|dr|sir|lady|lord|captain|colonel|madame|uncle|aunt|the|old|poor|little"
    r"|dear)\b\.?\s*)+",
    re.IGNORECASE,
)
_BEHIND_HEAD = re.compile(
    r"\s(?:of|in|on|at|with|who|whom|which|that|from|to|for|by|whose|under|over|as|upon|between|,"
    r"|--)\s"
)
_SPACED = (
    (re.compile(r" ([.,;:!?)])"), r"\1"),
    (re.compile(r" ('s|n't|'ll|'re|'d|'ve|'m)\b"), r"\1"),
    (re.compile(r"`` ?| ?''"), '"'),
    (re.compile("_"), ""),
)
"""What is spaced or quoted otherwise in tokenised books."""


def litbank(path: Path) -> Iterator[Passage]:
    """Yield passages of a book of LitBank (Bamman et al. 2020), in brat's form."""
    book = "\n".join(_lines(path.with_name(path.name.replace(".ann.gz", ".txt.gz"))))
    kinds: dict[tuple[int, int], str] = {}
    people: dict[tuple[int, int], str] = {}
    for line in _lines(path):
        if line.startswith("T"):
            what, *span = line.split("\t")[1].split()
            known = kinds if re.fullmatch(r"(?:PROP|NOM|PRON)_[A-Z]+", what) else people
            known[int(span[0]), int(span[1])] = what
    lines, at = [], 0
    for line in book.split("\n"):
        if line:
            lines.append((at, at + len(line)))
        at += len(line) + 1
    first = 0
    while first < len(lines):
        last = first + 1
        while (
            last < min(len(lines), first + _AT_ONCE) and lines[last][1] - lines[first][0] < _LONGEST
        ):
            last += 1
        start, end = lines[first][0], lines[last - 1][1]
        spans = {
            (s - start, e - start): (kind, people[s, e])
            for (s, e), kind in sorted(kinds.items())
            if start <= s and e <= end and kind.endswith("_PER") and (s, e) in people
        }
        if made := _of_book(book[start:end], spans, path.name):
            yield made
        first = first + _STEP if last < len(lines) else len(lines)


def _of_book(text: str, spans: dict[tuple[int, int], tuple[str, str]], book: str) -> Passage | None:
    """A passage of a book; None where nobody, or no pronoun, stands in it."""
    people: dict[str, int] = {}
    marks, spoken = [], []
    for (start, end), (kind, who) in spans.items():
        written = text[start:end]
        if kind == "PROP_PER":
            title = _TITLE.match(written)
            opens = start + (title.end() if title and title.end() < len(written) else 0)
            marks.append(Mark(opens, end, "name", people.setdefault(who, len(people))))
        elif kind == "NOM_PER":
            cut = _BEHIND_HEAD.search(written)
            head = (written[: cut.start()] if cut else written).rstrip(" ,.;'\"")
            opens = start + head.rfind(" ") + 1
            person = people.setdefault(who, len(people))
            marks.append(Mark(opens, start + len(head), "noun", person))
        elif written.lower() in _PRONOUN_WORDS:
            spoken.append((start, end, who))
    if not people or not spoken:
        return None
    referents = {
        number: frozenset([people.get(who, len(people))]) for number, (*_, who) in enumerate(spoken)
    }
    marks += [Mark(s, e, "pronoun", number) for number, (s, e, _) in enumerate(spoken)]
    return _rewritten(
        Passage(text, tuple(marks), len(people), referents, book), lambda part, _: _unspaced(part)
    )


def _unspaced(text: str) -> str:
    for pattern, new in _SPACED:
        text = pattern.sub(new, text)
    return text


def vary(passage: Passage, rng: random.Random) -> Passage:
    """Return a variation, in half of the cases with genders exchanged."""
    return _rewritten(passage, other_gender) if rng.random() < 0.5 else passage


def _rewritten(passage: Passage, change) -> Passage:
    """The passage with `change(part, what is behind it)` of the parts between and in its marks."""
    text, marks, at = "", [], 0
    whole = passage.text
    for each in sorted(passage.marks, key=lambda one: (one.start, -one.end)):
        if each.start < at:
            continue
        text += change(whole[at : each.start], " X")
        own = whole[each.start : each.end]
        if each.kind != "name":
            own = change(own, whole[each.end : each.end + 40])
        marks.append(Mark(len(text), len(text) + len(own), each.kind, each.person))
        text += own
        at = each.end
    return replace(passage, text=text + change(whole[at:], ""), marks=tuple(marks))
