"""Contexts: whether what stands beside a word says that it speaks of somebody.

The patterns of a factor (`portrayal.reference.patterns`) are tried at words that were found
already, never over a whole text. Words before the found one fit in any case, words behind it as
they are written: "Christian miller" is a Christian, "Christian Miller" has the name.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import NamedTuple

from portrayal.annotate.people.shared.words import (
    FUNCTION_WORDS,
    OTHER_PEOPLE,
    PERSON_NOUNS,
    PLURAL_PEOPLE,
    PLURALS,
    bearers,
    word_set,
)
from portrayal.reference.patterns import PEOPLE_LISTS, Element, WordContext, parse_pattern
from portrayal.reference.shipped import occupations, plural, toml_beside

LEAST_BEARERS = 300
"""Bearers of a first name, at least, that is one wherever it is written with a capital."""

_WINDOW = 50
"""Characters on either side of a word in which patterns are looked for."""
_LONGEST_NAME = 3
"""Words of a name at most."""
_TOKEN = re.compile(r"[^\W_]+(?:[-‐‑][^\W_]+)*|'[^\W\d_]+\b|\n|[^\w\s]")
_NOTHING = ""
"""What stands beside the first word of a text, and the last."""
_ENDS = frozenset('.,;:!?()[]"”“’‘—–\n…')


@cache
def people_lists() -> Mapping[str, frozenset[str]]:
    """The words of the lists that any factor's patterns may name, but for names and ends."""
    read = toml_beside(__file__, "contexts.toml")
    lists = {name: word_set(words) for name, words in read.items()}
    singular = PERSON_NOUNS | OTHER_PEOPLE.keys() | lists["people"]
    # Of "registered nurse" the last word is the noun
    singular |= {title.split()[-1] for title in occupations()}
    people = singular | {plural(noun) for noun in singular} | PLURAL_PEOPLE | PLURALS.keys()
    # Words that name things as often, or people only beside others
    people -= lists["no_people"]
    return {"person": people, "subject": people | lists["pronouns"], "be": lists["be"]}


class _PatternPlace(NamedTuple):
    """What may stand at one place of a pattern, in the order in which it is read."""

    words: frozenset[str]
    phrases: tuple[tuple[str, ...], ...]
    endings: tuple[str, ...]
    any_word: bool
    name: bool
    end: bool
    optional: bool


class _Beside(NamedTuple):
    """The words beside one, the nearest first, as written and as they are compared."""

    words: Sequence[str]
    keys: Sequence[str]


def _name_lengths(tokens: Sequence[str], position: int) -> Iterator[int]:
    """Yield the lengths of runs of capitalised words with a first name among them."""
    is_name = False
    # Every length is tried, as what follows the name may fit only one of them
    for length, token in enumerate(tokens[position : position + _LONGEST_NAME], 1):
        if not token[0].isupper():
            return
        is_name = is_name or is_first_name(token)
        if is_name:
            yield length


@lru_cache(maxsize=65_536)
def is_first_name(word: str) -> bool:
    """Whether a word is a first name wherever it is written with a capital."""
    return bearers(word.casefold()) >= LEAST_BEARERS


_Pattern = tuple[tuple[_PatternPlace, ...], tuple[_PatternPlace, ...]]
"""Places before a word, the nearest first, and behind it."""


@dataclass(frozen=True, slots=True)
class Context:
    """What one of must stand beside a word, where there is any, and what none of may."""

    required: tuple[_Pattern, ...]
    excluded: tuple[_Pattern, ...]

    def holds(self, text: str, start: int, end: int) -> bool:
        """Whether the word from `start` to `end` counts there.

        Examples
        --------
        >>> prayer = read_context(WordContext(where=("{pray} to *",)), {"pray": ("prayed",)})
        >>> [prayer.holds(text, at, at + 7)
        ...  for text, at in (("He prayed to Krishna", 13), ("They knew Krishna", 10))]
        [True, False]
        """
        words = _TOKEN.findall(text[max(0, start - _WINDOW) : start].replace("’", "'"))[::-1]
        # Backwards, the nearest first; in small letters, as a sentence may open there
        before = _Beside(words, [*map(str.lower, words)])
        words = _TOKEN.findall(text[end : end + _WINDOW].replace("’", "'"))
        after = _Beside(words, words)
        # Whether one of the patterns fits the words before and behind
        matches_where, matches_unless = (
            any(_stand(p[0], before) and _stand(p[1], after) for p in patterns)
            for patterns in (self.required, self.excluded)
        )
        return (matches_where or not self.required) and not matches_unless


def _stand(
    places: Sequence[_PatternPlace], words_beside: _Beside, number: int = 0, position: int = 0
) -> bool:
    """Whether the words from `position` on fill all places from `number` on."""
    if number == len(places):
        return True
    place, keys = places[number], words_beside.keys
    key = keys[position] if position < len(keys) else _NOTHING
    # Words first, then phrases and names, then nothing, as a pattern allows
    any_word = place.any_word and key[:1].isalnum() and key.lower() not in FUNCTION_WORDS
    if key in place.words or any_word:
        if _stand(places, words_beside, number + 1, position + 1):
            return True
    elif place.endings and key.endswith(place.endings):
        return _stand(places, words_beside, number + 1, position + 1)
    if key and (place.phrases or place.name):
        lengths = [len(p) for p in place.phrases if p == tuple(keys[position : position + len(p)])]
        if place.name:
            lengths += _name_lengths(words_beside.words, position)
        for length in lengths:
            if _stand(places, words_beside, number + 1, position + length):
                return True
    may_be_missing = place.optional or (place.end and (not key or key in _ENDS))
    return may_be_missing and _stand(places, words_beside, number + 1, position)


def read_context(context: WordContext, lists: Mapping[str, Sequence[str]]) -> Context:
    """Return a context ready to be tried; `lists` are those of its source."""
    all_lists = {**people_lists(), **{name: frozenset(words) for name, words in lists.items()}}
    patterns_with, unless = (
        tuple(_read_pattern(text, all_lists) for text in patterns)
        for patterns in (context.where, context.unless)
    )
    return Context(patterns_with, unless)


def _read_pattern(text: str, lists: Mapping[str, frozenset[str]]) -> _Pattern:
    pattern = parse_pattern(text, (*PEOPLE_LISTS, *lists))
    before = tuple(_place(element, lists, backwards=True) for element in pattern.before[::-1])
    return before, tuple(_place(element, lists) for element in pattern.after)


def _place(
    element: Element, lists: Mapping[str, frozenset[str]], *, backwards: bool = False
) -> _PatternPlace:
    written = {alt for alt in element.alternatives if alt[0] not in "_{"}
    written |= {word for name in element.lists for word in lists.get(name, ())}
    if backwards:
        written = {word.lower() for word in written}
    endings = {word for word in written if word[0] == "-" and len(word) > 1}
    passages = written - endings
    # Phrases before the word are read backwards too
    split = {tuple(_TOKEN.findall(word)[:: -1 if backwards else 1]) for word in passages}
    return _PatternPlace(
        words=frozenset(words[0] for words in split if len(words) == 1),
        phrases=tuple(sorted(words for words in split if len(words) > 1)),
        endings=tuple(ending[1:] for ending in sorted(endings)),
        any_word="_" in element.alternatives,
        name=not {"name", "subject"}.isdisjoint(element.lists),
        end="end" in element.lists,
        optional=element.optional,
    )
