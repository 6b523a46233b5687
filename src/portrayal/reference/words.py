"""Word lists that the studies match: gendered references and countries."""

from collections.abc import Mapping
from functools import lru_cache

from portrayal.reference._files import read_toml


@lru_cache(maxsize=1)
def gender_words() -> Mapping[str, frozenset[str]]:
    """Return the gendered references of Shieh et al., Table S6a, by "F", "M" and "NB".

    The words are in lower case without punctuation, and so must be what is matched to them.
    """
    lists = read_toml("gender_words.toml")
    return {gender: frozenset(words) for gender, words in lists.items()}


@lru_cache(maxsize=1)
def countries() -> Mapping[str, tuple[str, ...]]:
    """Return the countries of Shieh et al., Table S6b, by "MENA" and "NH/PI"."""
    lists = read_toml("countries.toml")
    return {race: tuple(names) for race, names in lists.items()}
