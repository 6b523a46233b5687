"""Exchange: the same text with the other person in it, by words that come in pairs.

Words are those of a woman and a man, or those of the groups of a factor; beside them what the
requests themselves put in one another's place ("25" and "75").
A scorer that is given a text and its exchanged twin shows how far it reacts to the words alone.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from portrayal.annotate.word_match import any_of
from portrayal.reference.factors import ColumnSource, WordSource, factors, load_factor, spelling_key
from portrayal.reference.groups import FEMININE, MASCULINE
from portrayal.reference.locales import Locale, load_locale

Pairs = tuple[tuple[str, str], ...]
"""Words that stand in one another's place; "" where the other person has none."""
NOTHING = frozenset(("", "none", "no", "without", "control", "baseline", "neutral", "unmarked"))
"""Values of a column that say that nothing is said there."""


class Exchange:
    """Replaces the words of a woman by those of a man, and back.

    Attributes
    ----------
    signs
        Of the words of either side, those that name whom a text is about, and seldom others.

    >>> exchange = Exchange(load_locale())
    >>> exchange("Mrs. Smith told her son that she likes her.")
    'Mr. Smith told his daughter that he likes him.'
    """

    def __init__(self, locale: Locale, pairs: Pairs | None = None) -> None:
        lists = locale.exchange
        self._other: dict[str, list[str]] = {}
        sides = [lists.get(side, ()) for side in (FEMININE, MASCULINE)]
        for one, two in zip(*sides, strict=True) if pairs is None else pairs:
            # Both ways, as one exchange serves texts of either side
            for word, twin in ((one, two), (two, one)):
                twins = self._other.setdefault(word.lower(), []) if word else []
                if twin not in twins:
                    twins.append(twin)
        # Of words with several twins only those of "her" and "his" depend on what follows.
        naming = frozenset(lists.get("naming", ()))
        self.signs = tuple(tuple(sorted(naming.intersection(side))) for side in sides)
        self._no_noun = frozenset(lists.get("no_noun", ()))
        self._pattern = re.compile(rf"\b{any_of(self._other) or '(?!)'}\b")

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
                # Twins of twins: "her" is both "him" and "his"
                while (
                    more := {twin for twin_word in more for twin in self._other[twin_word]} - twins
                ):
                    twins |= more
                joined |= dict.fromkeys(sorted(twins), f"{self._other[word][0]}/{word}")
        return joined

    def __call__(self, text: str) -> str:
        """Return the text about the other person; the same text where it has none of the words."""
        # A pattern of small letters is searched several times faster than one that takes both.
        small = text.lower()
        # Some capitals have longer small letters; offsets must not move
        if len(small) != len(text):
            small = "".join(c.lower() if len(c.lower()) == 1 else c for c in text)
        parts: list[str] = []
        end = 0
        for match in self._pattern.finditer(small):
            twin, *plurals = self._other[match[0]]
            # "her book" becomes "his book", "saw her" becomes "saw him"
            if plurals and match[0] in _BY_NEXT:
                follows = _NEXT.match(text, match.end())
                noun = follows is not None and follows[1].lower() not in self._no_noun
                twin = twin if noun else plurals[0]
            parts += text[end : match.start()], _as_written(text[slice(*match.span())], twin)
            end = match.end()
        return "".join((*parts, text[end:])) if parts else text


_BY_NEXT = frozenset(("her", "his"))
_NEXT = re.compile(r"[^\S\n]+([^\W_][\w'’-]*)")


def _as_written(written: str, twin: str) -> str:
    if written.isupper() and len(written) > 1:
        return twin.upper()
    return twin[:1].upper() + twin[1:] if written[0].isupper() else twin


@lru_cache(maxsize=4)
def exchange_of(spec: str) -> Exchange:
    """Return the exchange of a locale's words (`portrayal.reference.load_locale`)."""
    return Exchange(load_locale(spec))


@lru_cache(maxsize=4096)
def exchange_between(spec: str, pairs: Pairs) -> Exchange:
    """Return the exchange of these words; the locale says what follows what."""
    return Exchange(load_locale(spec), pairs)


def group_words(values: Sequence[str], locale: str) -> tuple[str, dict[str, list[str]]]:
    """Return where the words of groups are from, and those of each: those of one place are a pair.

    Parameters
    ----------
    values
        Values of the column of groups.
    locale
        Whose words of a woman and a man stand for two genders.

    >>> name, words = group_words(["young", "elderly"], "en-US")
    >>> name, words["young"][0], words["elderly"][0]
    ('words of the factor age', 'young man', 'old man')
    """
    if sides := gender_sides(values):
        lists = load_locale(locale).exchange
        return f"gendered words of {load_locale(locale).name}", {
            values[i]: [*lists.get((FEMININE, MASCULINE)[side], ())] for i, side in sides.items()
        }
    for factor in map(load_factor, factors()):
        bare = [value for value in values if value.strip().lower() in NOTHING]
        key_of = {value: factor.find(value) for value in values if value not in bare}
        paired = {
            v: [*factor.exchange[key]]
            for v, key in key_of.items()
            if key and key in factor.exchange
        }
        # Words that the factor pairs by hand go before its lists
        if len({key_of[value] for value in paired}) > 1:
            return f"words of the factor {factor.name}", paired
        listed_words = [
            source.listed for source in factor.sources if isinstance(source, WordSource)
        ]
        none = {
            w for source in factor.sources if isinstance(source, ColumnSource) for w in source.none
        }
        bare += [value for value, key in key_of.items() if not key and spelling_key(value) in none]
        words_of_groups = {
            value: sorted(listed_words[0][key])
            for value, key in key_of.items()
            if key and listed_words and key in listed_words[0]
        }
        # One group against none: its words can only be left out
        if len(words_of_groups) == 1 and bare:
            blank = [""] * sum(map(len, words_of_groups.values()))
            return f"words of the factor {factor.name}, left out", {
                **words_of_groups,
                **dict.fromkeys(bare, blank),
            }
    return "", {}


def gender_sides(values: Sequence[str]) -> dict[int, int]:
    """Which side of the exchanged words each group is of, feminine 0, masculine 1, by code.

    >>> gender_sides(["female", "male"]), gender_sides(["young", "old"])
    ({0: 0, 1: 1}, {})
    """
    keys = map(load_factor("gender").find, values)
    order = (FEMININE, MASCULINE)
    sides = {i: order.index(key) for i, key in enumerate(keys) if key in order}
    return sides if {*sides.values()} == {0, 1} else {}
