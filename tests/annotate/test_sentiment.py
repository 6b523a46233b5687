"""Sentiment: TextBlob's own numbers, sentence by sentence; and other engines."""

import sys

import pytest

from portrayal.annotate.sentiment import (
    SENTIMENT,
    sentiment_of,
    sentiment_settings,
    textblob,
    vader,
)
from portrayal.errors import MissingExtraError, UnknownNameError
from support import needs

needs("textblob")

SENTENCES = (
    "The film was wonderful.",
    "It was not a good day, and not very bad either.",
    "He isn't happy; she's extremely sad!",
    "A remarkably ugly, hardly useful thing...",
    "Great!!! Really great :) and awful :-( too.",
    "Nice try (!) said the U.S. envoy, Mr. Doe, e.g. at 8) and 10:30.",
    "“Best ever,” she said: D is the worst grade. XD o.O <3",
    "To: Obama, so. O Captain! Note: bad; good; s: S",
    "We don't think: I can't: c'est la vie :P",
    "",
    "1,000 people, 50% angry.",
)


@pytest.mark.parametrize("text", SENTENCES)
def test_equal_to_textblob(text: str) -> None:
    from textblob import TextBlob

    assert sentiment_of("textblob")(text) == TextBlob(text).sentiment.polarity


def test_a_row_has_one_score_for_each_sentence() -> None:
    assert SENTIMENT.setup is not None
    row = SENTIMENT.setup(sentiment_settings())({"text": "Good. Bad. It rained."}, {})
    assert row["polarity"] == pytest.approx([0.7, -0.7, 0.0])
    assert row["whole"] == pytest.approx(0.0)


def test_vader_is_another_engine() -> None:
    package = pytest.importorskip(
        "vaderSentiment.vaderSentiment", reason="the engine vader needs vaderSentiment"
    )
    assert SENTIMENT.setup is not None
    text = "A great day. A terrible night!"
    row = SENTIMENT.setup(sentiment_settings("vader"))({"text": text}, {})
    own = package.SentimentIntensityAnalyzer().polarity_scores
    expected = [own("A great day.")["compound"], own("A terrible night!")["compound"]]
    assert row["polarity"] == expected
    assert row["whole"] == own(text)["compound"]
    assert row["polarity"][0] > 0 > row["polarity"][1]


def test_an_unknown_engine_names_those_there_are() -> None:
    with pytest.raises(UnknownNameError, match="Registered: textblob, vader"):
        sentiment_settings("os:system")


def test_without_the_package_an_error_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "textblob.en", None)
    with pytest.raises(MissingExtraError, match=r"portrayal\[news\]"):
        textblob()
    monkeypatch.setitem(sys.modules, "vaderSentiment.vaderSentiment", None)
    with pytest.raises(MissingExtraError, match=r"portrayal\[vader\]"):
        vader()
