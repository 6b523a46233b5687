"""Gendered words: the word list of Shieh et al. (2025), Table S6a."""

from collections.abc import Mapping
from types import MappingProxyType

from portrayal.reference import gender_words

GENDER_WORDS: Mapping[str, frozenset[str]] = MappingProxyType(dict(gender_words()))
"""Gender → casefolded words that refer to one person of that gender."""

GENDER_OF_WORD: Mapping[str, str] = MappingProxyType(
    {word: gender for gender, words in GENDER_WORDS.items() for word in words}
)
"""Casefolded word → gender; the inverse of `GENDER_WORDS`."""
