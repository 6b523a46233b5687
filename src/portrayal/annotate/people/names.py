"""Named people of a text."""

from dataclasses import dataclass, field

from portrayal.annotate.people.judge import Run
from portrayal.annotate.people.runs import find_runs
from portrayal.annotate.people.scan import Tokens

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
