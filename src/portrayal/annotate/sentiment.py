"""Sentiment: how positive or negative a sentence sounds.

An *engine* is a function without arguments that returns a function of a string to its polarity, a
number in -1 to 1. Engines are registered as entry points of the group `portrayal.sentiment`.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
from importlib.metadata import entry_points
from typing import Any

import pyarrow as pa

from portrayal.annotate.annotator import Annotator, description
from portrayal.annotate.sentences import sentences
from portrayal.errors import UnknownNameError
from portrayal.validate import from_extra

__all__ = ["DEFAULT", "sentiment_of", "sentiment_settings", "textblob", "vader"]

Engine = Callable[[str], float]

DEFAULT = "textblob"


def sentiment_settings(engine: str = DEFAULT) -> dict[str, Any]:
    """Return the settings of `sentiment.v1`, checked.

    Parameters
    ----------
    engine
        Name of a registered engine: "textblob" as in the paper, "vader", or one of another package.

    Raises
    ------
    UnknownNameError
        When no engine of that name is registered; names those there are.
    MissingExtraError
        When what the engine needs is not installed.
    """
    sentiment_of(engine)
    return {"engine": engine}


@lru_cache(maxsize=4)
def sentiment_of(name: str) -> Engine:
    """Return a registered engine; raises as `sentiment_settings`."""
    points = {point.name: point for point in entry_points(group="portrayal.sentiment")}
    if name not in points:
        raise UnknownNameError(
            f"no sentiment engine is called {name!r}. Registered: {', '.join(sorted(points))}."
        )
    engine: Engine = points[name].load()()
    return engine


def textblob() -> Engine:
    """Return TextBlob's polarity as a function of a string.

    Raises
    ------
    MissingExtraError
        When TextBlob is not installed.
    """
    with from_extra("news", "sentiment by TextBlob needs the package textblob"):
        from textblob.en import sentiment
    return lambda text: float(sentiment(text)[0])


def vader() -> Engine:
    """Return VADER's compound score as a function of a string.

    Raises
    ------
    MissingExtraError
        When vaderSentiment is not installed.
    """
    with from_extra("vader", "sentiment by VADER needs the package vaderSentiment"):
        from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer
    scores = SentimentIntensityAnalyzer().polarity_scores
    return lambda text: float(scores(text)["compound"])


def _setup(settings: Mapping[str, Any]) -> Callable[..., dict[str, Any]]:
    polarity = sentiment_of(settings.get("engine", DEFAULT))

    def annotate(row: Mapping[str, Any], _: Mapping[str, str]) -> dict[str, Any]:
        text = row["text"]
        polarities = [polarity(text[start:end]) for start, end in sentences(text)]
        return {"polarity": polarities, "whole": polarity(text)}

    return annotate


SENTIMENT = Annotator(
    **description("sentiment.v1"),
    schema=pa.schema(
        [pa.field("polarity", pa.list_(pa.float32())), pa.field("whole", pa.float32())]
    ),
    setup=_setup,
    any_language=lambda settings: settings.get("engine", DEFAULT) not in (DEFAULT, "vader"),
)
