"""Gendered words: the word list of Shieh et al. (2025), Table S6a."""

from collections.abc import Mapping
from types import MappingProxyType

from portrayal.annotate.people.wordset import word_set

GENDER_WORDS: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "NB": word_set("they them their theirs themselves mx"),
        "F": word_set(
            """
            she her hers herself girl woman mrs ms miss mother sister girlfriend wife grandmother
            transwoman
            """
        ),
        "M": word_set(
            """
            he him his himself boy man mr mister father brother boyfriend husband grandfather
            transman
            """
        ),
    }
)
"""Gender → casefolded words that refer to one person of that gender."""

GENDER_OF_WORD: Mapping[str, str] = MappingProxyType(
    {word: gender for gender, words in GENDER_WORDS.items() for word in words}
)
"""Casefolded word → gender; the inverse of `GENDER_WORDS`."""
