"""Vote: several answers about one text become one label, field by field."""

from collections import Counter
from collections.abc import Sequence
from typing import TypeVar

from portrayal.annotate.label.answer import Said
from portrayal.annotate.label.spans import locate
from portrayal.annotate.people import UNSURE, Character, gender_of_references

T = TypeVar("T")


def vote(
    answers: Sequence[tuple[Said, ...]], n_asked: int, text: str
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
        named = [None if said.name is None else said.name for said in of_slot if said.named]
        genders = [said.gender for said in of_slot if said.gender is not None]
        if not named or not genders:
            return None
        key, name_votes = _most([None if name is None else name.casefold() for name in named])
        gender, gender_votes = _most(genders)
        gender = UNSURE if gender is None else gender
        name = next((n for n in named if n is not None and n.casefold() == key), None)
        slots.append((name, gender, _shared(of_slot, gender), min(name_votes, gender_votes)))
    spans = locate(text, [(name, references) for name, _, references, _ in slots])
    return tuple(
        Character(name, gender, references, found, votes / n_asked)
        for (name, gender, references, votes), found in zip(slots, spans, strict=True)
    )


def _most(values: Sequence[T | None]) -> tuple[T | None, int]:
    """The value that occurs most often, and how often; None where two do."""
    (first, n), *others = Counter(values).most_common()
    return (None if others and others[0][1] == n else first), n


def _shared(of_slot: Sequence[Said], gender: str) -> tuple[str, ...]:
    """References of the answers for `gender` (of all where it is a tie), in order of first mention.

    The words that at least half of them give; all of them where these tell another gender.
    """
    agreeing = [said for said in of_slot if said.gender == gender]
    lists = [said.references or () for said in agreeing or of_slot]
    counts = Counter(word for words in lists for word in words)
    shared = tuple(word for word, n in counts.items() if 2 * n >= len(lists))
    return shared if gender_of_references(shared) == gender else tuple(counts)
