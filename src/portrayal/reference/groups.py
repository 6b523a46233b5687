"""The group labels that every part of the package uses, in the order it uses them."""

from collections.abc import Mapping
from functools import lru_cache

from portrayal.reference.factor import ReferenceSource
from portrayal.reference.factors import load_factor
from portrayal.reference.shipped import read_toml

RACES = load_factor("race").keys
"""The seven categories of the 2023 OMB proposal, as Shieh et al. label them (Section 4.4)."""

GENDERS = load_factor("gender").keys
"""Feminized, masculinized and non-binary references (Shieh et al., Table S6a)."""

FEMININE, MASCULINE, NON_BINARY = GENDERS
"""Those that English pronouns tell apart, by name, for rules of reading."""

PAIRS = load_factor("pair").keys
"""Gender pairs of romantic relationships (Shieh et al., Table S9c)."""


@lru_cache(maxsize=1)
def gender_words() -> Mapping[str, frozenset[str]]:
    """Return the gendered references of Shieh et al., Table S6a, by "F", "M" and "NB".

    The words are in lower case without punctuation, and so must be what is matched to them.
    """
    (source,) = load_factor("gender").sources
    assert isinstance(source, ReferenceSource)
    return source.words


@lru_cache(maxsize=1)
def countries() -> Mapping[str, tuple[str, ...]]:
    """Return the countries of Shieh et al., Table S6b, by "MENA" and "NH/PI".

    Examples
    --------
    >>> countries()["MENA"][:2]
    ('Algeria', 'Bahrain')
    """
    lists = read_toml("countries.toml")
    return {race: tuple(names) for race, names in lists.items()}
