"""What an agency classifier is, alone or as a set of checkpoints, and the baseline of Table 12.

The paper trains its classifier three times, with the random seeds 0, 1 and 2, and applies all three
to one set of texts: a variance is taken for each checkpoint and averaged. The baseline is words of
two lists; the other, sentiment, is a transformer (`loading.TransformerClassifier`).
"""

import re
import tomllib
from collections.abc import Sequence
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


class LexiconClassifier:
    """P(agentic) = (a + 1/2) / (a + c + 1) for a agentic and c communal words of a sentence.

    NaN where no word of either list stands in the sentence: the list cannot say.

    Parameters
    ----------
    path
        A TOML file with `agentic` and `communal`, each a list of words or words between blanks; a
        final * stands for any ending. The project's own lists where None.

    Raises
    ------
    DataError
        When the file is missing, no TOML, or lacks one of the two lists.
    """

    def __init__(self, path: str | Path | None = None, masked: bool = True) -> None:
        self.name = "lexicon" if path is None else f"lexicon:{Path(path).name}"
        self.masked = masked
        lists = _word_lists(Path(path or Path(__file__).with_name("lexicon.toml")))
        self._patterns = {
            kind: re.compile("|".join(re.escape(word).replace(r"\*", ".*") for word in words))
            for kind, words in lists.items()
        }

    def __call__(self, sentences: Sequence[str]) -> FloatArray:
        """Return P(communal) and P(agentic), shape (n, 2)."""
        shares = np.full(len(sentences), np.nan)
        for number, sentence in enumerate(sentences):
            words = _LEXICON_WORD.findall(sentence.lower())
            agentic, communal = (
                sum(self._patterns[kind].fullmatch(word) is not None for word in words)
                for kind in _KINDS
            )
            if agentic + communal:
                # Half a word of each (Jeffreys): one word alone is not certain
                shares[number] = (agentic + 0.5) / (agentic + communal + 1.0)
        return rows(shares)


def _word_lists(source: Path) -> dict[str, list[str]]:
    try:
        read = tomllib.loads(source.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"{source}: no readable TOML file of word lists ({error}).") from error
    lists: dict[str, list[str]] = {}
    for kind in _KINDS:
        entry = read.get(kind)
        words = entry.split() if isinstance(entry, str) else entry
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
            raise DataError(
                f"{source}: expected the lists {' and '.join(_KINDS)}, each a list of words; "
                f"{kind} is {entry!r:.60}."
            )
        lists[kind] = sorted({word.casefold() for word in words})
    return lists
