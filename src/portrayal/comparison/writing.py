"""Whether the texts of rounds are written alike: one question about all of a text, not its people.

A writer is known by how often common words occur (Burrows 2002), how long words and texts are.
These need no reader of names and no list of words: the words are the most frequent of the first
round, in any language. Each of them is a number that is looked at after every round as the watched
estimates are, and the question is answered by the mean of their e-values, which is an e-value
whatever their dependence (Vovk & Wang 2021).

Sources: Burrows (2002), 'Delta': a measure of stylistic difference, Literary and Linguistic
Computing 17; Vovk & Wang (2021), E-values: calibration, combination and applications, Annals of
Statistics 49.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from portrayal.run import Run, read_shards
from portrayal.stats import latest_change
from portrayal.types import FloatArray

WORDS = 40
"""Common words whose shares are watched."""
MOST = 4000
"""Texts of a round that are read, of every prompt as many."""
FEWEST = 5
"""Prompts that all rounds must have."""
_WORD = re.compile(r"\w+")
LENGTH, LETTERS = "words per text", "letters per word"


@dataclass(frozen=True)
class Writing:
    """Whether the texts of all rounds are written alike.

    Attributes
    ----------
    e
        e-value of no change at each round; 1 at the first.
    alarm
        Number of the first round at which it was 1 / (1 − level) or more; None where it never was.
    start
        Number of the first round of the change of that which changed most.
    moved
        What changed: its name, and its mean before and since; at most three, lengths first.
    undefined
        Why there is no test; None where there is one.
    """

    e: tuple[float, ...] = ()
    alarm: int | None = None
    start: int | None = None
    moved: tuple[tuple[str, float, float], ...] = ()
    undefined: str | None = None

    @property
    def p(self) -> float | None:
        """p-value of no change in any round so far, valid however often one looks."""
        return 1.0 / max(1.0, *self.e) if self.e else None


def writing_of(runs: Sequence[Run], prompts: Sequence[str], alpha: float) -> Writing:
    """Look after each round whether its texts are written as those before.

    Parameters
    ----------
    runs
        The rounds, by date.
    prompts
        Prompts that count.
    alpha
        Probability of ever calling texts written otherwise that are not, over all looks.
    """
    if len(runs) < 2:
        return Writing(undefined="a change takes two rounds")
    words = [_words_of(run, prompts) for run in runs]
    # A prompt that one round lacks would bring its own words into the others.
    shared = [prompt for prompt in prompts if all(prompt in texts for texts in words)]
    if len(shared) < FEWEST:
        return Writing(undefined=f"{len(shared)} prompts have texts in every round")
    counts: Counter[str] = Counter()
    for prompt in shared:
        for text in words[0][prompt]:
            counts.update(text)
    # Ties go by the alphabet, so that the words do not hang on the order of texts.
    common = [word for word, _ in sorted(counts.items(), key=lambda x: (-x[1], x[0]))[:WORDS]]
    # Means of each prompt, so that prompts with many answers do not count for more.
    parts = np.array(
        [
            [
                np.mean([_features(text, common) for text in texts[prompt]], axis=0)
                for prompt in shared
            ]
            for texts in words
        ]
    )
    size = np.array([sum(len(texts[prompt]) for prompt in shared) for texts in words], dtype=float)
    e, best = [1.0], None
    for n in range(2, len(runs) + 1):
        best = latest_change(parts[:n], size[:n])
        e.append(float(best.e.mean()))
    assert best is not None
    # Without a change an e-value reaches 1 / alpha with probability alpha at most, over all looks.
    alarm = next((t + 1 for t, value in enumerate(e) if value >= 1.0 / alpha), None)
    if alarm is None:
        return Writing(tuple(e))
    # Since when, by what changed most, and what else did: lengths first, as they are easily seen.
    start = int(best.start[np.argmax(best.e)])
    order = np.lexsort((-best.e, np.arange(len(best.e)) > 1))
    level = np.array([part.mean(0) for part in parts])
    # Lengths are tested as logarithms, since a few long texts would carry their mean.
    level[:, 0] = np.exp(level[:, 0])
    level[:, 2:] *= 100.0
    names = (LENGTH, LETTERS, *(f"“{word}” in 100 words" for word in common))
    before = np.average(level[:start], axis=0, weights=size[:start])
    since = np.average(level[start:], axis=0, weights=size[start:])
    changed = [k for k in order if best.e[k] >= 1.0 / alpha][:3]
    shifts = tuple((names[k], float(before[k]), float(since[k])) for k in changed)
    return Writing(tuple(e), alarm, start + 1, shifts)


def _words_of(run: Run, prompts: Sequence[str]) -> dict[str, list[list[str]]]:
    """Words of the first texts of each of these prompts, in small letters."""
    lists: dict[str, list[list[str]]] = defaultdict(list)
    names, limit = set(prompts), max(1, MOST // max(len(prompts), 1))
    for (table,) in read_shards(run.texts, ["prompt_id", "text"]):
        columns = (table[name].to_pylist() for name in ("prompt_id", "text"))
        for prompt, text in zip(*columns, strict=True):
            if prompt in names and len(lists[prompt]) < limit:
                # An empty text is an outcome, which the audit counts, and no way of writing.
                lists[prompt] += [words] if (words := _WORD.findall((text or "").lower())) else []
    return {prompt: texts for prompt, texts in lists.items() if texts}


def _features(words: Sequence[str], common: Sequence[str]) -> FloatArray:
    """How a text is written: the logarithm of its length, letters per word, share of each word."""
    n, counts = len(words), Counter(words)
    letters = sum(map(len, words)) / n
    return np.array([np.log(n), letters, *(counts[word] / n for word in common)])
