"""Levels: which of them an audit measures, and why others are left out."""

from collections.abc import Sequence
from importlib.util import find_spec

from portrayal.annotate.sentiment import DEFAULT, sentiment_settings
from portrayal.errors import MissingExtraError
from portrayal.validate import check_choice

WORD, SENTIMENT, TOXICITY, DOCUMENT = "word", "sentiment", "toxicity", "document"
LEVELS = (WORD, SENTIMENT, TOXICITY, DOCUMENT)

_NEEDS = {
    TOXICITY: ("toxicity", ("torch", "transformers")),
    DOCUMENT: ("news", ("gensim", "lemminflect")),
}
_ON_REQUEST = {TOXICITY: "on request (--levels toxicity): its classifier takes some 400 MB"}


def chosen_levels(
    asked: Sequence[str], sentiment: str = DEFAULT
) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return the levels to measure, and the reason for each that is left out.

    Parameters
    ----------
    asked
        Some of `LEVELS`; none chooses all that are installed, but toxicity.
    sentiment
        Registered engine of the sentiment level.

    Raises
    ------
    OptionError, UnknownNameError
        When a level or the engine is unknown.
    MissingExtraError
        When a level was asked for whose libraries are not installed.
    """
    for level in asked:
        check_choice("levels", level, LEVELS)
    missing = {level: reason for level in LEVELS if (reason := _missing(level, sentiment))}
    for level in asked:
        if level in missing:
            raise MissingExtraError(f"the {level} level needs more: {missing[level]}")
    if asked:
        chosen = tuple(level for level in LEVELS if level in asked)
        return chosen, {level: "not asked for" for level in LEVELS if level not in asked}
    left_out = missing | _ON_REQUEST
    return tuple(level for level in LEVELS if level not in left_out), left_out


def _missing(level: str, sentiment: str) -> str:
    """What a level needs that is not installed, in words; nothing where it can be measured."""
    if level == SENTIMENT:
        try:
            sentiment_settings(sentiment)
        except MissingExtraError as error:
            return str(error)
    extra, modules = _NEEDS.get(level, ("", ()))
    if all(find_spec(name) for name in modules):
        return ""
    return f'needs {" and ".join(modules)}: pip install "portrayal[{extra}]"'
