"""Sentiment: how positive or negative a sentence sounds.

An *engine* is a function without arguments that returns a function of a string to its polarity, a
number in -1 to 1; one with a method `by_sentence(text, spans)` returns the polarities of all
sentences and of the whole text at once, and `same(runs, others)` says that another wording is
not heard. Engines are registered as entry points of the group
`portrayal.sentiment`.

TextBlob's polarity is equal to TextBlob and several times faster. `textblob.en.sentiment` splits a
sentence into words by a dozen passes over it and looks each word up in dictionaries that reload
themselves. Here each written word is split once and remembered, and the arithmetic runs on plain
tuples. Word list, rules for emoticons and the splitting of sentences that may hold one are
TextBlob's own; a test compares both on many sentences.
"""

import re
import string
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, lru_cache
from importlib.metadata import entry_points
from itertools import chain
from types import SimpleNamespace
from typing import Any, NamedTuple

import pyarrow as pa

from portrayal.annotate.annotator import Annotator
from portrayal.annotate.sentences import sentences
from portrayal.errors import MissingExtraError, UnknownNameError

__all__ = ["DEFAULT", "sentiment_of", "sentiment_settings", "textblob", "vader"]

_MAY_HOLD_EMOTICON = re.compile(
    r"[<>=*♥°_{}]|[:;](?!\s*[^\W_](?!n't)[^\W_])|8\s*-?\s*[)D]|[xX]\s*-?\s*D|o\s*\.\s*O|\(\s*!"
    r"|END-OF-SENTENCE"
)
"""Texts without a match hold no emoticon: after a colon there is a word of two letters or more."""
_REMEMBERED = 200_000
"""Distinct written words that are kept; memory stays bounded on any corpus."""


class _Word(NamedTuple):
    polarity: float
    intensity: float
    modifies: bool


class _Rules(NamedTuple):
    """What is TextBlob's: its word list, tokens, punctuation and emoticons."""

    known: Mapping[str, _Word]
    negations: tuple[str, ...]
    contractions: Mapping[str, str]
    punctuation: str
    emoticons: Mapping[str, float]
    is_abbreviation: Callable[[str], bool]
    tokens: Callable[[str], list[str]]


def textblob() -> "Polarity":
    """Return TextBlob's polarity as a function of a string.

    Raises
    ------
    MissingExtraError
        When TextBlob is not installed.
    """
    try:
        rules = _rules()
    except ImportError as error:
        raise MissingExtraError(
            "sentiment by TextBlob needs the package textblob: pip install 'portrayal[news]'."
        ) from error
    return Polarity(rules)


class Polarity:
    """TextBlob's polarity of a string, or of a text and its sentences at once."""

    def __init__(self, rules: _Rules) -> None:
        self._rules = rules
        self._split: dict[str, list[str]] = {}

    def __call__(self, text: str) -> float:
        """Return the polarity of a string, -1 to 1."""
        return _polarity(self._words(text), self._rules)

    def by_sentence(self, text: str, spans: Sequence[tuple[int, int]]) -> tuple[list[float], float]:
        """Return the polarity of each sentence, given as (start, end), and of the whole text."""
        words = [self._words(text[start:end]) for start, end in spans]
        # Sentences without a blank between are one word for TextBlob: read the whole text
        joined = any(text[end : end + 1].strip() for _, end in spans)
        if joined or _MAY_HOLD_EMOTICON.search(text):
            overall = self(text)
        else:
            overall = _polarity(chain.from_iterable(words), self._rules)
        return [_polarity(sentence_words, self._rules) for sentence_words in words], overall

    def _words(self, text: str) -> list[str]:
        if _MAY_HOLD_EMOTICON.search(text):
            return " ".join(self._rules.tokens(text)).lower().split()
        words: list[str] = []
        # Set contractions and quotation marks apart, as `textblob._text.find_tokens` does first
        if "'" in text:
            for contraction, spaced in self._rules.contractions.items():
                text = text.replace(contraction, spaced)
            text = text.replace("'", " ' ")
        for mark in '“”‘’"':
            if mark in text:
                text = text.replace(mark, f" {mark} ")
        for written in text.split():
            piece = self._split.get(written)
            if piece is None:
                if len(self._split) >= _REMEMBERED:
                    self._split.clear()
                piece = self._split[written] = _pieces(written, self._rules)
            words += piece
        return words


@cache
def _rules() -> _Rules:
    from textblob import _text as shared
    from textblob.en import parser, sentiment

    len(sentiment)  # loads the word list
    entries = {
        word: _Word(senses[None][0], senses[None][2], any("RB" in tag for tag in senses if tag))
        for word, senses in dict.items(sentiment)
        if isinstance(senses, dict)
    }
    emoticons: dict[str, float] = {}
    # The first of several scores counts, as in TextBlob
    for (_, score), written in shared.EMOTICONS.items():
        for emoticon in written:
            emoticons.setdefault(emoticon.lower(), score)
    patterns = (shared.RE_ABBR1, shared.RE_ABBR2, shared.RE_ABBR3)
    return _Rules(
        known=entries,
        negations=tuple(sentiment.negations),
        contractions=dict(shared.replacements),
        punctuation=shared.PUNCTUATION,
        emoticons=emoticons,
        is_abbreviation=lambda word: (
            word in shared.ABBREVIATIONS or any(pattern.match(word) for pattern in patterns)
        ),
        tokens=parser.find_tokens,
    )


def _pieces(written: str, rules: _Rules) -> list[str]:
    """Split punctuation from a written word, in lower case; `find_tokens` for one word."""
    marks = tuple(rules.punctuation.replace(".", ""))
    head, tail, word = [], [], written
    while word.startswith(marks) and word not in rules.contractions:
        head.append(word[0])
        word = word[1:]
    while word.endswith((*marks, ".")) and word not in rules.contractions:
        if word.endswith(marks):
            tail.append(word[-1])
            word = word[:-1]
        if word.endswith("..."):
            tail.append("...")
            word = word[:-3].rstrip(".")
        if word.endswith("."):
            if rules.is_abbreviation(word):
                break
            tail.append(word[-1])
            word = word[:-1]
    split = [*head, *([word] if word else []), *reversed(tail)]
    return [piece.lower() for piece in split]


def _polarity(words: Iterable[str], rules: _Rules) -> float:
    """Mean polarity of the known words: `textblob._text.Sentiment.assessments` and its mean."""
    assessments: list[list[float]] = []  # polarity, intensity, sign
    modifier = negation = None
    entries, negations = rules.known, rules.negations
    for word in words:
        entry = entries.get(word)
        # The branches and their order are TextBlob's, odd ones too: numbers must be equal
        if entry is not None:
            if modifier is None:
                assessments.append([entry.polarity, entry.intensity, 1])
            else:
                last = assessments[-1]
                last[0] = max(-1.0, min(entry.polarity * last[1], 1.0))
                last[1] = entry.intensity
            if negation is not None:
                assessments[-1][1] = 1.0 / assessments[-1][1]
                assessments[-1][2] = -1
            modifier = word if entry.modifies else None
            negation = word if word in negations else None
            continue
        if word in negations:
            negation = word
        elif negation and len(word.strip("'")) > 1:
            negation = None
        if negation is not None and modifier is not None and modifier.endswith("ly"):
            assessments[-1][2] = -1
            negation = None
        elif modifier and len(word) > 2:
            modifier = None
        if not word.isalpha():
            _mark(word, assessments, rules)
    # TextBlob weakens what it negates: "not good" is less bad than "bad"
    total = sum((p * -0.5 if sign < 0 else p for p, _, sign in assessments), 0)
    return total / float(len(assessments) or 1)


def _mark(word: str, assessments: list[list[float]], rules: _Rules) -> None:
    """Exclamation marks strengthen the word before; "(!)" and emoticons count themselves."""
    if word == "!" and assessments:
        assessments[-1][0] = max(-1.0, min(assessments[-1][0] * 1.25, 1.0))
    if word == "(!)":
        assessments.append([0.0, 1.0, 1])
    if len(word) <= 5 and word not in rules.punctuation and word in rules.emoticons:
        assessments.append([rules.emoticons[word], 1.0, 1])


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


def vader() -> Callable[[str], float]:
    """Return VADER's compound score as a function of a string.

    Raises
    ------
    MissingExtraError
        When vaderSentiment is not installed.
    """
    try:
        import vaderSentiment.vaderSentiment
    except ImportError as error:
        raise MissingExtraError(
            "sentiment by VADER needs the package vaderSentiment: pip install 'portrayal[vader]'."
        ) from error
    return Vader(vaderSentiment.vaderSentiment)


_VADER_RULES = "no or nor least at very so this never without doubt kind of but"
"""Words that VADER's rules name in passing, beside those of its lists."""


class VaderWords(dict[str, str]):
    """What VADER makes of a written word; "_" of all those that it passes over.

    Attributes
    ----------
    heard, loud
        Words met so far that are worth something, and those of weight in capitals.
    """

    def __init__(self, theirs: Any, analyser: Any) -> None:
        super().__init__()
        phrases = " ".join((*theirs.BOOSTER_DICT, *theirs.SPECIAL_CASES, _VADER_RULES))
        self._heed = {*phrases.split(), *theirs.NEGATE}
        self._weighs = analyser.lexicon.keys() | theirs.BOOSTER_DICT.keys()
        self._scored = analyser.lexicon.keys() - theirs.BOOSTER_DICT.keys()
        self.heard, self.loud = set[str](), set[str]()

    def __missing__(self, written: str) -> str:
        # As VADER does: marks are taken off unless too little is left
        word = written.strip(string.punctuation)
        word = word if len(word) > 2 else written  # an emoticon
        small = word.lower()
        weighs = small in self._weighs
        part = small if weighs or small in self._heed or "n't" in small else "_"
        # Capitals count only for words that have a weight
        if weighs and word.isupper():
            part = word
            self.loud.add(part)
        if small in self._scored:
            self.heard.add(part)
        self[written] = part
        return part


class VaderValences(dict[tuple[tuple[str, ...], int, bool], float]):
    """What the word at a place of a window of six is worth: the others are never asked for."""

    def __init__(self, analyser: Any) -> None:
        super().__init__()
        self._analyser = analyser

    def __missing__(self, key: tuple[tuple[str, ...], int, bool]) -> float:
        window, position, capitals = key
        self[key] = 0.0
        # "kind of" is a booster and no praise
        if [word.lower() for word in window[position : position + 2]] != ["kind", "of"]:
            words_of_window = SimpleNamespace(words_and_emoticons=window, is_cap_diff=capitals)
            self[key] = self._analyser.sentiment_valence(
                0, words_of_window, window[position], position, []
            )[0]
        return self[key]


class Vader:
    """VADER's compound score of a string; each written word and each window is looked at once."""

    def __init__(self, theirs: Any) -> None:
        self._theirs, self._analyser = theirs, theirs.SentimentIntensityAnalyzer()
        self._words = VaderWords(theirs, self._analyser)
        self._valences = VaderValences(self._analyser)

    def __call__(self, text: str) -> float:
        """Return the compound score of a string, -1 to 1."""
        words_table, valences, analyser = self._words, self._valences, self._analyser
        if not (text.isascii() or analyser.emojis.keys().isdisjoint(text)):
            return float(analyser.polarity_scores(text)["compound"])
        if len(words_table) > _REMEMBERED or len(valences) > _REMEMBERED:
            words_table.clear()
            valences.clear()
        words = [words_table[written] for written in text.split()]
        # Most sentences end here: no word of the list, no score
        if words_table.heard.isdisjoint(words):
            return 0.0
        # "but" weighs all words before and behind it, so no window will do
        if "but" in words:
            return float(analyser.polarity_scores(text)["compound"])
        capitals = (
            not words_table.loud.isdisjoint(words) and self._theirs.SentiText(text).is_cap_diff
        )
        # Words that are worth nothing add nothing to the sum.
        sentence_valences = [
            valences[tuple(words[max(position - 3, 0) : position + 3]), min(position, 3), capitals]
            for position, word in enumerate(words)
            if word in words_table.heard
        ]
        # Marks strengthen the sum, which VADER works out itself
        if "!" in text or "?" in text:
            return float(analyser.score_valence(sentence_valences, text)["compound"])
        return round(float(self._theirs.normalize(float(sum(sentence_valences)))), 4)

    def same(self, runs: Sequence[str], other_runs: Sequence[str]) -> bool:
        """Whether strings of these runs, alike in their marks, surely have one score."""
        words = [*map(self._words.__getitem__, runs)]
        alike = words == [*map(self._words.__getitem__, other_runs)]
        return alike and self._words.loud.isdisjoint(words)


def _setup(settings: Mapping[str, Any]) -> Callable[..., dict[str, Any]]:
    polarity = sentiment_of(settings.get("engine", DEFAULT))
    at_once = getattr(polarity, "by_sentence", None)

    def annotate(row: Mapping[str, Any], _: Mapping[str, str]) -> dict[str, Any]:
        text = row["text"]
        spans = sentences(text)
        if at_once is not None:
            polarities, overall = at_once(text, spans)
        else:
            polarities, overall = (
                [polarity(text[start:end]) for start, end in spans],
                polarity(text),
            )
        return {"polarity": polarities, "whole": overall}

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
