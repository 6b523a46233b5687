"""Exchange: the same text with the other person in it, by words that come in pairs.

A scorer that is given a text and its exchanged twin shows how far it reacts to the words alone.
"""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import zip_longest

from portrayal.annotate.word_match import TOKEN, any_of
from portrayal.reference.groups import FEMININE, MASCULINE
from portrayal.reference.locales import Locale, load_locale

Names = tuple[tuple[str, str], ...]
"""Names of the person of a text, each with the other person's in its place."""


class Exchange:
    """Replaces the words of a woman by those of a man, and back; names likewise.

    Attributes
    ----------
    telling
        Of the words of either side, those that name whom a text is about, and seldom others.

    >>> exchange = Exchange(load_locale())
    >>> exchange("Mrs. Smith told her son that she likes her.")
    'Mr. Smith told his daughter that he likes him.'
    """

    def __init__(self, locale: Locale) -> None:
        lists = locale.exchange
        self._other: dict[str, list[str]] = {}
        sides = [lists.get(side, ()) for side in (FEMININE, MASCULINE)]
        for one, two in zip(*sides, strict=True):
            for word, twin in ((one, two), (two, one)):
                twins = self._other.setdefault(word, [])
                if twin not in twins:
                    twins.append(twin)
        # Of words with several twins only those of "her" and "his" depend on what follows.
        naming = frozenset(lists.get("naming", ()))
        self.telling = tuple(naming.intersection(side) for side in sides)
        self._no_noun = frozenset(lists.get("no_noun", ()))
        self._pattern = re.compile(rf"\b{any_of(self._other) or '(?!)'}\b")
        self._twins = _Twins(self)

    @property
    def function_words(self) -> frozenset[str]:
        """Words that say nothing by themselves: those that open no noun, and those exchanged."""
        return self._no_noun | {*self.neutral.values()}

    @property
    def neutral(self) -> dict[str, str]:
        """Each word, in small letters, to what stands for it and its twins ("he/she")."""
        joined: dict[str, str] = {}
        for word in self._other:
            if word not in joined:
                twins, more = {word}, {word}
                while more := {twin for each in more for twin in self._other[each]} - twins:
                    twins |= more
                joined |= dict.fromkeys(twins, f"{self._other[word][0]}/{word}")
        return joined

    def __call__(self, text: str, names: Names = ()) -> str:
        """Return the text about the other person; the same text where it has none of the words."""
        # A pattern of small letters is searched several times faster than one that takes both.
        small = text.lower()
        if len(small) != len(text):
            small = "".join(c.lower() if len(c.lower()) == 1 else c for c in text)
        made: list[str] = []
        end = 0
        for match in self._pattern.finditer(small):
            twin, *others = self._other[match[0]]
            if others and match[0] in _BY_NEXT:
                follows = _NEXT.match(text, match.end())
                noun = follows is not None and follows[1].lower() not in self._no_noun
                twin = twin if noun else others[0]
            made += text[end : match.start()], _as_written(text[slice(*match.span())], twin)
            end = match.end()
        other = "".join((*made, text[end:])) if made else text
        return _names(names)(other) if names else other

    def runs(self, text: str, names: Names = ()) -> list[str]:
        """Return the runs without white space of the text about the other person.

        What becomes of a run is looked up once, unless it depends on what stands beside it.
        """
        if names or "\n" in text:
            return self(text, names).split()
        if len(self._twins) > _REMEMBERED:
            self._twins.clear()
        runs = text.split()
        found = [*map(self._twins.__getitem__, runs)]
        return [
            twin or self._twins[f"{run} {behind}"]
            for run, behind, twin in zip(runs, [*runs[1:], ""], found, strict=True)
        ]


class _Twins(dict[str, str]):
    """What becomes of each run, found when asked for; "" where the run behind it decides.

    That of two runs with a blank between them is what becomes of the first.
    """

    def __init__(self, exchange: Exchange) -> None:
        super().__init__()
        self._exchange = exchange

    def __missing__(self, run: str) -> str:
        alone = " " not in run and not _BY_NEXT.isdisjoint(TOKEN.findall(run.lower()))
        self[run] = "" if alone else self._exchange(run).partition(" ")[0]
        return self[run]


_REMEMBERED = 200_000
_BY_NEXT = frozenset(("her", "his"))
_NEXT = re.compile(r"[^\S\n]+([^\W_][\w'’-]*)")


def _as_written(written: str, twin: str) -> str:
    if written.isupper() and len(written) > 1:
        return twin.upper()
    return twin.capitalize() if written[0].isupper() else twin


@lru_cache(maxsize=4096)
def _names(names: Names) -> Callable[[str], str]:
    """The exchange of names: whole ones first, then their parts in order."""
    to: dict[str, str] = {}
    for own, other in names:
        to.setdefault(own, other)
        for part, twin in zip_longest(own.split(), other.split()):
            if part and twin and len(part) > 1:
                to.setdefault(part, twin)
    pattern = re.compile(rf"\b(?:{'|'.join(re.escape(n) for n in sorted(to, key=len)[::-1])})\b")
    return lambda text: pattern.sub(lambda match: to[match[0]], text)


@lru_cache(maxsize=4)
def exchange_of(spec: str) -> Exchange:
    """Return the exchange of a locale's words (`portrayal.reference.load_locale`)."""
    return Exchange(load_locale(spec))


def partners(own: Sequence[str], other: Sequence[str]) -> Names:
    """Return the names of one text beside those of its partner, blank ones left out."""
    return tuple((a, b) for a, b in zip(own, other, strict=True) if a and b and a != b)
