"""Sentiment: TextBlob's own numbers, sentence by sentence; and other engines."""

import csv
import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from portrayal.annotate.sentences import sentences
from portrayal.annotate.sentiment import SENTIMENT, Polarity, sentiment_of, sentiment_settings
from portrayal.annotate.sentiment import textblob as engine
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


def theirs(text: str) -> tuple[float, float]:
    from textblob.en import sentiment

    return sentiment(text)


@pytest.fixture(scope="module")
def polarity() -> Polarity:
    return engine()


@pytest.mark.parametrize("text", SENTENCES)
def test_equal_to_textblob(polarity: Polarity, text: str) -> None:
    from textblob import TextBlob

    assert polarity(text) == theirs(text)[0] == TextBlob(text).sentiment.polarity


MARKS = "D P o O s S c b 3 8 x X : ; - ( ) ! . , ... ' \" “ ’ = * > < [ ] ^ / _ ° ♥"
WORDS = (
    "good bad very not n't never really hardly ly isn't she's :) :-( (!) 10:30 U.S. e.g. to: so."
)
PIECES = st.sampled_from([*MARKS.split(" "), *WORDS.split(" "), "\n", "\n\n"])


@settings(deadline=None)
@given(st.lists(st.tuples(PIECES, st.sampled_from(["", " ", "  "])), max_size=14))
def test_equal_to_textblob_on_any_text(pieces: list[tuple[str, str]]) -> None:
    text = "".join(piece + gap for piece, gap in pieces)
    assert engine()(text) == theirs(text)[0], text


@settings(deadline=None)
@given(st.lists(st.sampled_from(SENTENCES), max_size=6), st.sampled_from([" ", "\n\n", ""]))
def test_sentences_and_whole_text_at_once(chosen: list[str], gap: str) -> None:
    text = gap.join(chosen)
    spans = sentences(text)
    each, whole = engine().by_sentence(text, spans)
    assert each == [theirs(text[start:end])[0] for start, end in spans]
    assert whole == theirs(text)[0]


def test_equal_to_textblob_on_news(shared_data: Callable[[str], Path], polarity: Polarity) -> None:
    lines = shared_data("news/human_dev.jsonl").read_text(encoding="utf-8").splitlines()
    for text in (json.loads(line)["text"] for line in lines):
        spans = sentences(text)
        each, whole = polarity.by_sentence(text, spans)
        assert each == [theirs(text[start:end])[0] for start, end in spans]
        assert whole == theirs(text)[0]


def test_a_row_has_one_score_for_each_sentence() -> None:
    assert SENTIMENT.setup is not None
    row = SENTIMENT.setup(sentiment_settings())({"text": "Good. Bad. It rained."}, {})
    assert row["polarity"] == pytest.approx([0.7, -0.7, 0.0])
    assert row["whole"] == pytest.approx(0.0)


def test_vader_is_another_engine() -> None:
    vader = pytest.importorskip(
        "vaderSentiment.vaderSentiment", reason="the engine vader needs vaderSentiment"
    )
    assert SENTIMENT.setup is not None
    text = "A great day. A terrible night!"
    row = SENTIMENT.setup(sentiment_settings("vader"))({"text": text}, {})
    own = vader.SentimentIntensityAnalyzer().polarity_scores
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
    import portrayal.annotate.sentiment as sentiment

    def missing() -> None:
        raise ImportError

    monkeypatch.setattr(sentiment, "_rules", missing)
    with pytest.raises(MissingExtraError, match=r"portrayal\[news\]"):
        sentiment.textblob()
    monkeypatch.setitem(__import__("sys").modules, "vaderSentiment.vaderSentiment", None)
    with pytest.raises(MissingExtraError, match=r"portrayal\[vader\]"):
        sentiment.vader()


@pytest.fixture(scope="module")
def theirs_vader():
    package = pytest.importorskip("vaderSentiment.vaderSentiment", reason="needs vaderSentiment")
    analyser = package.SentimentIntensityAnalyzer()
    return lambda text: analyser.polarity_scores(text)["compound"]


VADER_WORDS = """no or nor least at very so this never without doubt kind of but not isn't the
    shit bus stop good GOOD bad sort somewhat VERY hardly house I :) d: 😁 ❤ ' yeah right kiss
    death hope"""
VADER_PIECES = st.tuples(
    st.sampled_from(VADER_WORDS.split()), st.sampled_from(["", ".", ",", "!", "?!", "'"])
)


@settings(deadline=None)
@given(pieces=st.lists(VADER_PIECES, max_size=9))
def test_equal_to_vader_on_any_text(theirs_vader, pieces) -> None:
    text = " ".join(piece + mark for piece, mark in pieces)
    assert sentiment_of("vader")(text) == theirs_vader(text), text


def test_equal_to_vader_on_summaries(shared_data: Callable[[str], Path], theirs_vader) -> None:
    with gzip.open(shared_data("care/summaries.csv.gz"), "rt", newline="") as file:
        texts = [row["text"] for row in csv.DictReader(file)][::10]
    for text in texts:
        for piece in (text, *(text[start:end] for start, end in sentences(text))):
            assert sentiment_of("vader")(piece) == theirs_vader(piece), piece
