"""The annotator `sentiment.v1`: the polarity of each sentence and of the whole text."""

from collections.abc import Callable, Mapping
from functools import lru_cache
from importlib.metadata import entry_points
from typing import Any

import pyarrow as pa

from portrayal.annotate.annotator import Annotator
from portrayal.annotate.sentences import sentences
from portrayal.errors import MissingExtraError, UnknownNameError

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
    _engine(engine)
    return {"engine": engine}


@lru_cache(maxsize=4)
def _engine(name: str) -> Engine:
    points = {point.name: point for point in entry_points(group="portrayal.sentiment")}
    if name not in points:
        raise UnknownNameError(
            f"no sentiment engine is called {name!r}. Registered: {', '.join(sorted(points))}."
        )
    engine: Engine = points[name].load()()
    return engine


def vader() -> Callable[[str], float]:
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


def _setup(settings: Mapping[str, Any]) -> Callable[..., dict[str, Any]]:
    polarity = _engine(settings.get("engine", DEFAULT))
    at_once = getattr(polarity, "by_sentence", None)

    def annotate(row: Mapping[str, Any], _: Mapping[str, str]) -> dict[str, Any]:
        text = row["text"]
        spans = sentences(text)
        if at_once is not None:
            each, whole = at_once(text, spans)
        else:
            each, whole = [polarity(text[start:end]) for start, end in spans], polarity(text)
        return {"polarity": each, "whole": whole}

    return annotate


def _run(row: Mapping[str, Any], strata: Mapping[str, str]) -> dict[str, Any]:
    return _setup({})(row, strata)


SENTIMENT = Annotator(
    name="sentiment.v1",
    summary="How positive or negative each sentence of a text sounds, and the text as a whole.",
    reads="texts",
    unit="sentence",
    range="-1 (most negative) to 1 (most positive); 0 is neutral",
    undefined_when="a text that was refused, empty or failed has no sentences",
    equation="TextBlob polarity: mean of the polarities of the words it knows, after negation "
    "and intensifiers; other engines by name",
    source="Fang et al. 2024, Methods (sentence level); TextBlob",
    run=_run,
    schema=pa.schema(
        [pa.field("polarity", pa.list_(pa.float32())), pa.field("whole", pa.float32())]
    ),
    accuracy="that of the engine; TextBlob's word list was made from product reviews, so words of "
    "news reports may count otherwise than readers take them",
    setup=_setup,
    title="Sentiment of sentences",
)
