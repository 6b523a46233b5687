"""Named people of a text: capitalised words that behave like the name of a person."""

from dataclasses import dataclass, field

from portrayal.annotate.people.scan import Tokens
from portrayal.annotate.people.thesaurus import OCCUPATIONS
from portrayal.annotate.people.words import (
    APPOSITION,
    CALENDAR,
    FORMAL_TITLES,
    FUNCTION_WORDS,
    KIN,
    NATIONALITIES,
    NICKNAMES,
    NOT_PEOPLE,
    PLACE_HEADS,
    PLACE_TAILS,
    PLACES,
    PREPOSITIONS_OF_PLACE,
    RELATIVES,
    SENTENCE_STARTERS,
    TITLES,
    VERBS_AFTER_NAME,
)

_NEVER = FUNCTION_WORDS | NICKNAMES | CALENDAR | NATIONALITIES | PLACES
_PLACE_PARTS = PLACE_HEADS | PLACE_TAILS
_BREAKS = frozenset('.!?…"“”,;:()—–\n')
_NOT_INITIAL = ("ing", "ence", "ance", "ity", "ism", "ship", "hood", "tion", "ness", "ment", "ings", "ers", "ors", "ents", "ies", "ates")
_ADJECTIVE = tuple(
    ["ant", "ent", "ous", "ful", "ed", "ing", "al", "ive", "ic", "less", "able", "ible", "bright", "star", "brave", "smart", "kind", "sweet"]
)
_QUOTED = 0.4
_HYPHENATED = ("ing", "ed", "based", "old", "year", "born", "er", "like")


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
        How much the name behaves like a person's.
    """

    first: str | None
    surname: str | None
    at: list[int] = field(default_factory=list)
    titles: list[int] = field(default_factory=list)
    score: float = 0.0


@dataclass(slots=True)
class _Run:
    """Consecutive capitalised words that may be one name."""

    start: int
    parts: list[str]
    titles: list[int]
    formal: bool
    score: float


def find_people(tokens: Tokens) -> list[Person]:
    """People named in the text, in order of first mention."""
    runs = _runs(tokens)
    alone = {run.parts[0] for run in runs if len(run.parts) == 1}
    for run in runs:
        if (
            len(run.parts) > 1
            and not run.titles
            and (run.parts[0].lower().endswith(_ADJECTIVE) or tokens.quoted[run.start])
            and run.parts[1] in alone
            and run.parts[0] not in alone
        ):
            run.parts.pop(0)
            run.start += 1
    people: dict[str, Person] = {}
    by_surname: dict[str, Person] = {}
    for run in runs:
        if len(run.parts) > 1 and (first := run.parts[0].lower()) not in people:
            people[first] = Person(run.parts[0], run.parts[-1])
            by_surname.setdefault(run.parts[-1].lower(), people[first])
    for run in runs:
        key = run.parts[0].lower()
        person = people.get(key)
        if person is None or (run.formal and len(run.parts) == 1 and key in by_surname):
            person = by_surname.get(key)
        if person is None:
            person = Person(run.parts[0], None)
            if run.formal:
                person = Person(None, run.parts[0])
                by_surname[key] = person
            people[key] = person
        _add(person, run)
    for person in people.values():
        if person.first is None and 2 <= len(person.at) - len(person.titles) >= len(person.titles):
            person.first = person.surname
    found = {id(person): person for person in people.values() if person.at}
    return sorted(found.values(), key=lambda person: person.at[0])


def _add(person: Person, run: _Run) -> None:
    """Count `run` as a mention of `person`."""
    person.at.append(run.start)
    person.titles.extend(run.titles)
    person.score += run.score


def _runs(tokens: Tokens) -> list[_Run]:
    """Runs of capitalised words that are not ruled out."""
    words, low = tokens.words, tokens.low
    runs: list[_Run] = []
    lower_forms = set(words)
    banned: set[str] = set()
    position, n = 0, len(words)
    while position < n:
        word = words[position]
        if not word[0].isupper() or low[position] in _NEVER:
            position += 1
            continue
        end = position
        titles: list[int] = []
        while end < n and low[end] in TITLES and words[end][0].isupper():
            titles.append(end)
            end += 1
            if end < n and low[end] == ".":
                end += 1
        first = end
        while end < n and words[end][0].isupper() and low[end] not in _NEVER:
            end += 1
        if end < n and end > first and low[end] == "." and end - first > 0 and len(words[end - 1]) == 1:
            end += 1
        parts = [part for part in words[first:end] if len(part) > 1]
        if parts:
            run = _judge(tokens, position, first, end, parts, titles, lower_forms)
            if run is None and len(parts) > 1 and parts[-1].lower() in PLACE_TAILS:
                banned.update(parts[:-1])
            if run is not None:
                if tokens.quoted[position]:
                    run.score *= _QUOTED
                runs.append(run)
        position = max(end, position + 1)
    if banned:
        return [run for run in runs if run.titles or run.parts[0] not in banned]
    return runs


def _judge(
    tokens: Tokens,
    position: int,
    first: int,
    end: int,
    parts: list[str],
    titles: list[int],
    forms: set[str],
) -> _Run | None:
    """The run as a mention with its score, or None where it cannot be a person."""
    low, words = tokens.low, tokens.words
    before = low[position - 1] if position else "."
    after = low[end] if end < len(low) else "."
    key = parts[0].lower()
    formal = any(low[title] in FORMAL_TITLES for title in titles)
    if after == "'s" and end + 1 < len(low) and (
        low[end + 1] in PLACE_TAILS and words[end + 1][0].isupper()
    ):
        return None
    if any(part.lower() in _PLACE_PARTS for part in parts) or after in PLACE_TAILS or after == ":":
        return None
    if position and before == "and" and words[position - 2][0].isupper() and (
        low[position - 2] not in _NEVER
    ):
        return _Run(first, parts, titles, formal, 1.2)
    while len(parts) > 1 and (key in OCCUPATIONS or key in SENTENCE_STARTERS):
        parts, first = parts[1:], first + 1
        key = parts[0].lower()
    if parts[0][1:2].isupper() or key in OCCUPATIONS or (key in forms and not titles):
        return None
    while "-" in key and (key.split("-")[0] in _NEVER or key.endswith(_HYPHENATED)):
        if len(parts) == 1:
            return None
        parts, first, before = parts[1:], first + 1, key
        key = parts[0].lower()
    initial = before[0] in _BREAKS and before != ","
    if not initial and not titles and words[position - 1][0].isupper() and (
        before in PLACE_HEADS
        or (before in FUNCTION_WORDS and position > 1 and low[position - 2][0] not in _BREAKS)
    ):
        return None
    if titles:
        aside = low[titles[0]] in RELATIVES or (after == "'s" and low[end + 1] in PLACE_TAILS)
        return _Run(first, parts, titles, formal, 0.5 if aside else 1.5)
    verb = after == "'s" or after in VERBS_AFTER_NAME or after.endswith("ed")
    if initial:
        return _Run(first, parts, titles, formal, _initial_score(tokens, end, parts, verb=verb))
    score = 1.0
    pair = after == "and" and end + 1 < len(low) and words[end + 1][0].isupper()
    named = low[position - 2] if before in ("named", "called") and position > 1 else before
    if pair:
        score = 1.2
    elif named in NOT_PEOPLE:
        score = -1.0
    elif (
        before == ","
        and after in (",", ".")
        and position > 2
        and words[position - 2][0].isupper()
        and low[position - 3] in PREPOSITIONS_OF_PLACE
    ):
        score = -0.7
    elif not verb and after[0].isalpha() and after not in FUNCTION_WORDS and (
        not after.endswith(("s", "ly", "ing"))
    ):
        score = 0.3
    elif before in PREPOSITIONS_OF_PLACE:
        score = 0.6 if before != "in" or after == "'s" else -0.7
    elif position > 1 and low[position - 2] in PREPOSITIONS_OF_PLACE and before not in FUNCTION_WORDS:
        score = 0.4
    elif before in ("the", "this", "an", "a"):
        score = 0.0
    elif before in KIN or before == "named":
        score = 2.0
    if after == "," and end + 1 < len(low) and low[end + 1] in APPOSITION:
        score += 0.6
    return _Run(first, parts, titles, formal, score + (0.5 if verb else 0.0))


def _initial_score(tokens: Tokens, end: int, parts: list[str], *, verb: bool) -> float:
    """How much the first word of a sentence, up to `end`, behaves like a name."""
    low, key = tokens.low, parts[0].lower()
    if key.endswith(_NOT_INITIAL) or end + 1 >= len(low) or key in SENTENCE_STARTERS:
        return 0.0
    if key.endswith("ly") and len(key) > 6:
        return 0.2
    if len(parts) > 1:
        return 1.2 if verb or not low[end][0].isalpha() or low[end] in FUNCTION_WORDS else 0.3
    after, second = low[end], low[end + 1]
    if after == "and":
        return 1.2 if tokens.words[end + 1][0].isupper() or second in APPOSITION else 0.2
    if after == ",":
        participle = len(key) > 6 and key.endswith(("ed", "ful", "ous", "ent", "less", "ive"))
        return 1.2 if second in APPOSITION and not participle else 0.3
    if not verb:
        return 0.5 if after.endswith("s") else 0.3
    return 0.5 if key.endswith("s") and after != "'s" else 1.0
