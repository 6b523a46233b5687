"""Named people of a text."""

from dataclasses import dataclass, field
from itertools import compress
from operator import ne

from portrayal.annotate.people.shared.judge import NEVER, Run, judge
from portrayal.annotate.people.shared.notnames import PLACE_TAILS
from portrayal.annotate.people.shared.scan import QUOTES, Tokens
from portrayal.annotate.people.shared.words import FORMAL_TITLES, TITLES

LONGEST = 6
"""Words of a run beyond which a new run starts."""

IN_QUOTES, TITLED_IN_QUOTES = 0.4, 0.2
"""Weight of a name inside a quotation; "Mr. Pitt!" there is often someone named otherwise."""


@dataclass(slots=True)
class Runs:
    """The runs of a text, and nicknames given in quotation marks ('William "Blitz" Bradford')."""

    runs: list[Run]
    nicknames: dict[str, str]


def find_runs(tokens: Tokens) -> Runs:
    """Runs of capitalised words that are not ruled out, in order."""
    words, low, quoted = tokens.words, tokens.low, tokens.quoted
    found = Runs([], {})
    forms = set(words)
    organisations: set[str] = set()
    behind, last = 0, len(words) - 3
    for position in compress(range(len(words)), map(ne, words, low)):
        if position < behind or low[position] in NEVER or not words[position][0].isupper():
            continue
        run = _take(tokens, position)
        behind = run.end
        if not run.parts:
            continue
        if behind < last and words[behind] in QUOTES:
            _take_nickname(tokens, run, found.nicknames)
            behind = run.end
        if judge(tokens, run, forms):
            if quoted[run.opens]:
                run.score *= TITLED_IN_QUOTES if run.formal else IN_QUOTES
            found.runs.append(run)
        elif len(run.parts) > 1 and run.parts[-1].lower() in PLACE_TAILS:
            organisations.update(run.parts[:-1])
    if organisations:
        found.runs = [run for run in found.runs if run.titles or run.parts[0] not in organisations]
    return found


def _take(tokens: Tokens, position: int) -> Run:
    """The run of capitalised words that opens at `position`, with the titles before it."""
    words, low = tokens.words, tokens.low
    n = len(words)
    end = position
    titles: list[int] = []
    if end + 1 < n and not words[end + 1][0].isupper() and low[end] not in TITLES:
        return Run(
            position, end, end + 1, [words[end]] if len(words[end]) > 1 else [], titles, False
        )
    while end < n and low[end] in TITLES and words[end][0].isupper():
        titles.append(end)
        end += 1
        if end < n and low[end] == ".":
            end += 1
    start = end
    limit = min(n, start + LONGEST)
    while end < limit and words[end][0].isupper() and low[end] not in NEVER:
        end += 1
    parts = [part for part in words[start:end] if len(part) > 1]
    formal = bool(titles) and any(low[title] in FORMAL_TITLES for title in titles)
    return Run(position, start, end, parts, titles, formal)


def _take_nickname(tokens: Tokens, run: Run, nicknames: dict[str, str]) -> None:
    """Take a nickname in quotation marks and the surname behind it into the run."""
    words, end = tokens.words, run.end
    if words[end + 2] in QUOTES:
        nickname, surname = words[end + 1], words[end + 3]
        if nickname[0].isupper() and surname[0].isupper():
            nicknames[nickname.lower()] = run.parts[0].lower()
            run.parts.append(surname)
            run.end = end + 4


SOME = 0.45
"""Score up to which a name is no person's."""

_ADJECTIVE = (
    *("ant", "ent", "ous", "ful", "ed", "ing", "al", "ive", "ic", "less", "able", "ible"),
    *("bright", "star", "brave", "smart", "kind", "sweet"),
)


@dataclass(slots=True)
class Person:
    """A named person: every place where the name stands.

    Attributes
    ----------
    first, surname
        As written; `first` is None where only a formal title and a surname are given.
    at
        Token positions of the name proper, in order.
    titles
        Token positions of titles before the name.
    score
        How much the name behaves like a person's, summed over its mentions.
    """

    first: str | None
    surname: str | None
    at: list[int] = field(default_factory=list)
    titles: list[int] = field(default_factory=list)
    score: float = 0.0


def find_people(tokens: Tokens) -> list[Person]:
    """People named in the text, in order of first mention."""
    found = find_runs(tokens)
    _drop_adjectives(tokens, found.runs)
    people: dict[str, Person] = {}
    by_surname: dict[str, Person] = {}
    for run in found.runs:
        if len(run.parts) > 1 and (first := run.parts[0].lower()) not in people:
            people[first] = Person(run.parts[0], run.parts[-1])
            by_surname.setdefault(run.parts[-1].lower(), people[first])
    for run in found.runs:
        key = run.parts[0].lower()
        key = found.nicknames.get(key, key)
        person = people.get(key)
        if person is None or (run.formal and len(run.parts) == 1 and key in by_surname):
            person = by_surname.get(key)
        if person is None:
            person = Person(None if run.formal else run.parts[0], run.parts[0])
            people[key] = person
            if run.formal:
                by_surname[key] = person
        person.at.append(run.start)
        person.titles.extend(run.titles)
        person.score += run.score
    for person in people.values():
        _take_bare_name(person)
    likely = [person for person in people.values() if person.score > SOME]
    return sorted(likely, key=_first_mention)


def _first_mention(person: Person) -> int:
    """Token position of the first mention."""
    return person.at[0]


def _drop_adjectives(tokens: Tokens, runs: list[Run]) -> None:
    """Drop "Vibrant" from "Vibrant Megan" where "Megan" also stands alone."""
    alone = {run.parts[0] for run in runs if len(run.parts) == 1}
    for run in runs:
        if (
            len(run.parts) > 1
            and not run.titles
            and run.parts[1] in alone
            and run.parts[0] not in alone
            and (run.parts[0].lower().endswith(_ADJECTIVE) or tokens.quoted[run.start])
        ):
            run.drop_first()


def _take_bare_name(person: Person) -> None:
    """Take "Sarah" of "Dr. Sarah" for a first name where it mostly stands without the title."""
    if person.first is None and 2 <= len(person.at) - len(person.titles) >= len(person.titles):
        person.first = person.surname
