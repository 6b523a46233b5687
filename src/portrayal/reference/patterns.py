"""Patterns: what stands beside a word, as data files write it.

A pattern is the words of a passage with `*` in place of the word that it is about: "pray to *",
"* temple". Between two bars stand alternatives, "pray|prays to *"; `{list}` is any word or phrase
of a list, `-ed` any word that ends so, `_` any but a function word; what ends in `?` may be
missing: "temple of the? *".
"""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, product
from typing import NamedTuple

from portrayal.reference.datafile import DataFile, Keys, Term, Word
from portrayal.reference.shipped import plural, read_toml

_WORDS, _ORDINALS = (read_toml("numbers.toml")[kind].split() for kind in ("words", "ordinals"))
_MOST = 130
"""The greatest number; from 100 on they stand in figures alone."""
_PARTS = {"early": 1, "mid": 5, "late": 8}
"""Years of a decade that its parts stand for."""
_ALTERNATIVE = re.compile(r"_|\{(?P<list>[a-z0-9_-]+)\}|[^\s*{}|?_]+")

PEOPLE_LISTS = ("person", "name", "subject", "be", "end")
"""Lists that patterns may name beside their own: nouns for people, first names, both of them and
pronouns, forms of "be", and the end of a clause."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WordContext:
    """Words, or numbers, that count only beside certain other words.

    Attributes
    ----------
    words
        Group → words and phrases.
    numbers
        Group → least and greatest number of it, for numbers in figures and in words.
    written
        How numbers stand, with `#` for the number: "# years old", "#th birthday"; "#s" is a decade.
    compounds
        Compounds of the words, with `*` for the word, that count wherever they stand: "*-born".
    where
        Patterns of which one must fit, with `*` for the word: "pray|prays to *", "* {person}".
    unless
        Patterns of which none may fit.
    """

    words: Mapping[str, tuple[Term, ...]] = field(default_factory=dict)
    numbers: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    written: tuple[Word, ...] = ()
    compounds: tuple[Word, ...] = ()
    where: tuple[Word, ...] = ()
    unless: tuple[Word, ...] = ()

    @property
    def phrases(self) -> dict[str, tuple[str, ...]]:
        """Group → its words, and all ways of writing its numbers.

        Examples
        --------
        >>> WordContext(numbers={"old": (81, 82)}, written=("age|aged #",)).phrases["old"][2:]
        ('age 82', 'age eighty-two', 'aged 81', 'aged eighty-one', 'aged 82', 'aged eighty-two')
        """
        phrases = {group: [*words] for group, words in self.words.items()}
        for text in self.written:
            # Every way of writing the passage, so that matching is a look-up of phrases
            choices = ((*e.alternatives, *[""] * e.optional) for e in parse_elements(text, ()))
            passages = (" ".join(filter(None, words)) for words in product(*choices))
            for number, phrase in chain.from_iterable(map(_with_numbers, passages)):
                for group, (least, most) in self.numbers.items():
                    if least <= number <= most:
                        phrases.setdefault(group, []).append(phrase)
        return {group: tuple(words) for group, words in phrases.items()}

    @property
    def compounded(self) -> dict[str, tuple[str, ...]]:
        """Group → the compounds of its words."""
        return {
            group: tuple(form.replace("*", word) for form in self.compounds for word in words)
            for group, words in self.words.items()
        }


def _with_numbers(passage: str) -> Iterator[tuple[int, str]]:
    """Yield each number with the passage that has it for `#`; of a decade its middle."""
    if "#s" in passage:
        # "early eighties" is 81, "late eighties" 88, plain "eighties" their middle
        year = next((year for part, year in _PARTS.items() if part in passage.split()), 5)
        for ten, word in enumerate(_WORDS[20::10], 2):
            for written in (f"{ten}0s", f"{ten}0's", plural(word)):
                yield 10 * ten + year, passage.replace("#s", written)
        return
    for number in range(_MOST + 1):
        yield number, passage.replace("#th", f"{number}{_ending(number)}").replace("#", str(number))
        # "one" and its like seldom count anything where nothing else is said
        if number < len(_WORDS) and (passage != "#" or number > 9):
            word = passage.replace("#th", _ORDINALS[number]).replace("#", _WORDS[number])
            yield number, word


def _ending(number: int) -> str:
    """What stands behind the figures of an ordinal."""
    # 11th, 12th and 13th, unlike 21st.
    return "th" if number // 10 == 1 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")


class Element(NamedTuple):
    """One place of a pattern: its alternatives, and whether it may be missing."""

    alternatives: tuple[str, ...]
    optional: bool

    @property
    def lists(self) -> tuple[str, ...]:
        """Names of the lists among its alternatives."""
        return tuple(alt[1:-1] for alt in self.alternatives if alt[0] == "{")


class Pattern(NamedTuple):
    """What stands before the word, and what behind it."""

    before: tuple[Element, ...]
    after: tuple[Element, ...]


def parse_elements(text: str, lists: Collection[str]) -> tuple[Element, ...]:
    """Return the places of a part of a pattern; `lists` are the names of lists that it may use.

    Raises
    ------
    ValueError
        Saying what is wrong with it.

    Examples
    --------
    >>> parse_elements("pray|prays to", ())[0].alternatives
    ('pray', 'prays')
    """
    elements = []
    for part in text.split():
        alternatives = tuple(part.removesuffix("?").split("|"))
        for alternative in alternatives:
            fitting = _ALTERNATIVE.fullmatch(alternative)
            if fitting is None:
                raise ValueError(f"{part!r} is no word, {{list}} or _, nor several with | between")
            if fitting["list"] is not None and fitting["list"] not in lists:
                raise ValueError(f"no list is called {fitting['list']!r}: {', '.join(lists)}")
        elements.append(Element(alternatives, part.endswith("?")))
    return tuple(elements)


def parse_pattern(text: str, lists: Collection[str]) -> Pattern:
    """Return what a pattern says; as `parse_elements`.

    Examples
    --------
    >>> parse_pattern("temple of the? *", ()).before[2]
    Element(alternatives=('the',), optional=True)
    """
    parts = f" {text} ".split(" * ")
    if len(parts) != 2 or not text.strip("* "):  # exactly one *, and something beside it
        raise ValueError("expected words with one * in place of the word, between blanks")
    before, after = (parse_elements(part, lists) for part in parts)
    return Pattern(before, after)


def check_context(
    file: DataFile, place: Keys, context: WordContext, lists: tuple[str, ...]
) -> None:
    """Refuse a context that says nothing, and patterns that cannot be read.

    Parameters
    ----------
    file, place
        The file, and the way to the context in it.
    context
        What it says.
    lists
        Names of the lists that its patterns may use.

    Raises
    ------
    DataError
        With file, line and key.
    """
    if bool(context.numbers) != bool(context.written):
        raise file.wrong(place, "'numbers' says what 'written' counts: give both or neither.")
    if not context.where and not context.unless and not context.numbers:
        raise file.wrong(place, "expected 'where' or 'unless': patterns of what stands beside.")
    for key in ("written", "where", "unless"):
        for i, text in enumerate(getattr(context, key)):
            try:
                if key != "written":
                    parse_pattern(text, lists)
                elif "#" not in text:
                    raise ValueError("expected # in place of the number")
                else:
                    parse_elements(text, ())
            except ValueError as error:
                raise file.wrong((*place, key, i), f"{text!r}: {error}.") from None
