"""What an agency classifier is, alone or as a set of checkpoints, and the baselines of Table 12.

The paper trains its classifier three times, with the random seeds 0, 1 and 2, and applies all three
to one set of texts: a variance is taken for each checkpoint and averaged. The baselines are words
of two lists, and sentiment, of which positive is read as agentic.
"""

import re
import tomllib
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from portrayal.errors import DataError
from portrayal.types import FloatArray


class AgencyClassifier(Protocol):
    """A function of sentences.

    Attributes
    ----------
    name
        Such as "linear-lac.v1" or "transformer:FOLDER"; reports name it.
    masked
        Whether it is meant for masked sentences. The caller masks them.
    """

    name: str
    masked: bool

    def __call__(self, sentences: Sequence[str]) -> FloatArray:
        """Return P(communal) and P(agentic) of each sentence.

        Shape (n, 2); a row sums to 1, or is NaN where the classifier cannot say.
        """
        ...


def rows(agentic: ArrayLike) -> FloatArray:
    """Return rows of P(communal), P(agentic) from P(agentic), shape (n,) -> (n, 2)."""
    p_agentic = np.asarray(agentic, dtype=np.float64)
    return np.column_stack([1.0 - p_agentic, p_agentic])


_FILES = ("linear.npz", "config.json")


class Checkpoints:
    """A classifier that is a set of classifiers; it says the mean of what they say.

    Attributes
    ----------
    members
        The classifiers, one for each checkpoint.
    """

    def __init__(self, name: str, members: Sequence[AgencyClassifier], masked: bool = True) -> None:
        self.name = name
        self.masked = masked
        self.members = tuple(members)

    def __call__(self, sentences: Sequence[str]) -> FloatArray:
        """Return the mean P(communal) and P(agentic), shape (n, 2)."""
        return rows(mean_of(self.each(sentences)))

    def each(self, sentences: Sequence[str]) -> FloatArray:
        """Return P(agentic) by each checkpoint, shape (n_checkpoints, n)."""
        return np.stack([member(sentences)[:, 1] for member in self.members])


def mean_of(agentic: FloatArray) -> FloatArray:
    """Return the mean over checkpoints, shape (k, n) -> (n,); NaN where none can say."""
    is_told = ~np.isnan(agentic)
    # Not nanmean: it warns where no checkpoint can say
    total = np.where(is_told, agentic, 0.0).sum(axis=0)
    count = is_told.sum(axis=0)
    mean = np.full(total.shape, np.nan)
    np.divide(total, count, out=mean, where=count > 0)
    return mean


def checkpoint_folders(folder: Path) -> tuple[Path, ...]:
    """Return the classifiers that a folder holds in folders of its own; none if it is one itself.

    Names are ordered as numbers where they end in one, so "seed-10" follows "seed-9".
    """
    if not folder.is_dir() or _is_classifier(folder):
        return ()
    inside = [child for child in folder.iterdir() if child.is_dir() and _is_classifier(child)]
    # Shorter names first, as 10 follows 9
    return tuple(sorted(inside, key=lambda child: (len(child.name), child.name)))


def _is_classifier(folder: Path) -> bool:
    return any((folder / name).is_file() for name in _FILES)


_KINDS = ("agentic", "communal")
_LEXICON_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")


@dataclass(frozen=True)
class AgencyLexicon:
    """Agentic and communal words, and whose list it is.

    Attributes
    ----------
    agentic, communal
        Words in lower case; a final * stands for any ending.
    """

    name: str
    agentic: frozenset[str]
    communal: frozenset[str]


class LexiconClassifier:
    """P(agentic) = (a + 1/2) / (a + c + 1) for a agentic and c communal words of a sentence.

    NaN where no word of either list stands in the sentence: the list cannot say.
    """

    def __init__(self, lexicon: AgencyLexicon, masked: bool = True) -> None:
        self.name = lexicon.name
        self.masked = masked
        self._kinds = {"agentic": _matcher(lexicon.agentic), "communal": _matcher(lexicon.communal)}
        self._known: dict[str, tuple[bool, bool]] = {}

    def __call__(self, sentences: Sequence[str]) -> FloatArray:
        """Return P(communal) and P(agentic), shape (n, 2)."""
        shares = np.full(len(sentences), np.nan)
        for number, sentence in enumerate(sentences):
            agentic = communal = 0
            for word in _LEXICON_WORD.findall(sentence.lower()):
                # Words recur, so each is matched once
                kinds_of_word = self._known.get(word)
                if kinds_of_word is None:
                    is_kind = [bool(self._kinds[kind].fullmatch(word)) for kind in _KINDS]
                    kinds_of_word = self._known[word] = (is_kind[0], is_kind[1])
                agentic += kinds_of_word[0]
                communal += kinds_of_word[1]
            if agentic + communal:
                # Half a word of each (Jeffreys): one word alone is not certain
                shares[number] = (agentic + 0.5) / (agentic + communal + 1.0)
        return rows(shares)


def read_lexicon(path: str | Path | None = None) -> AgencyLexicon:
    """Return the project's own word lists, or those of a TOML file.

    Parameters
    ----------
    path
        A TOML file with `agentic` and `communal`, each a list of words or words between blanks.

    Raises
    ------
    DataError
        When the file is missing, no TOML, or lacks one of the two lists.
    """
    if path is None:
        name, source = "lexicon", Path(__file__).with_name("lexicon.toml")
    else:
        name, source = f"lexicon:{Path(path).name}", Path(path)
    try:
        read = tomllib.loads(source.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"{source}: no readable TOML file of word lists ({error}).") from error
    lists: dict[str, frozenset[str]] = {}
    for kind in _KINDS:
        entry = read.get(kind)
        words = entry.split() if isinstance(entry, str) else entry
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
            raise DataError(
                f"{source}: expected the lists {' and '.join(_KINDS)}, each a list of words; "
                f"{kind} is {entry!r:.60}."
            )
        lists[kind] = frozenset(word.casefold() for word in words)
    return AgencyLexicon(name, lists["agentic"], lists["communal"])


def _matcher(words: frozenset[str]) -> re.Pattern[str]:
    """Match a whole word; a final * stands for any ending."""
    return re.compile(
        "|".join(
            re.escape(word.removesuffix("*")) + (r".*" if word.endswith("*") else "")
            for word in sorted(words)
        )
    )


_WORD = re.compile(r"[a-z]+(?:['’][a-z]+)?")
_NEGATIONS = frozenset(("no", "not", "never", "without", "hardly", "neither", "nor"))
_STEEPNESS = 4.0


@cache
def polar_words() -> tuple[frozenset[str], frozenset[str]]:
    """Return the positive and the negative words of sentiment.toml."""
    read = tomllib.loads(Path(__file__).with_name("sentiment.toml").read_text(encoding="utf-8"))
    return frozenset(read["positive"].split()), frozenset(read["negative"].split())


def word_polarity(text: str) -> float:
    """Return (positive − negative) / (positive + negative) words; 0 where there are none.

    "not" and its like turn around the next word that is either.

    Examples
    --------
    >>> word_polarity("A good, not a bad, teacher"), word_polarity("A teacher")
    (1.0, 0.0)
    """
    positive, negative = polar_words()
    score = n_words = 0
    sign = 1
    for word in _WORD.findall(text.lower()):
        sign_of_word = (word in positive) - (word in negative)
        if sign_of_word:
            # A negation holds up to the next polar word and no further
            score, n_words, sign = score + sign * sign_of_word, n_words + 1, 1
        elif word in _NEGATIONS or word.endswith("n't"):
            sign = -1
    return score / n_words if n_words else 0.0


class SentimentClassifier:
    """P(agentic) = logistic(4 × polarity), polarity in −1 to 1.

    The polarity is TextBlob's where that is installed, else that of a small word list of this
    project; `name` says which. The paper's baseline is another, DistilBERT fine-tuned on SST-2:
    "sentiment:MODEL" reads with that. A sentence without polarity reads 0.5, and so as communal.
    """

    def __init__(self, masked: bool = True) -> None:
        self.masked = masked
        self._polarity: Callable[[str], float] = word_polarity
        self.name = "sentiment"
        # TextBlob where it is there; the name of the classifier says which was used
        with suppress(ImportError):
            from textblob import TextBlob

            self._polarity = lambda text: float(TextBlob(text).sentiment.polarity)
            self.name = "sentiment:textblob"

    def __call__(self, sentences: Sequence[str]) -> FloatArray:
        """Return P(communal) and P(agentic), shape (n, 2)."""
        polarity = np.array([self._polarity(sentence) for sentence in sentences])
        return rows(1.0 / (1.0 + np.exp(-_STEEPNESS * polarity)))
