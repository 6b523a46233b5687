"""VADER's compound score, another word list to compare with."""

from collections.abc import Callable

from portrayal.errors import MissingExtraError


def engine() -> Callable[[str], float]:
    """Return VADER's compound score as a function of a string.

    Raises
    ------
    MissingExtraError
        When vaderSentiment is not installed.
    """
    try:
        from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer
    except ImportError as error:
        raise MissingExtraError(
            "sentiment by VADER needs the package vaderSentiment: pip install 'portrayal[vader]'."
        ) from error
    analyser = SentimentIntensityAnalyzer()

    def polarity(text: str) -> float:
        return float(analyser.polarity_scores(text)["compound"])

    return polarity
