"""Pairs to read: both texts side by side, the words that differ marked, by the leading differences.

Of each leading difference pairs are taken at even steps of rank, from the furthest in its direction
to the furthest in the other, so that what is shown is no choice of the worst.
"""

import re
from collections.abc import Mapping
from difflib import SequenceMatcher
from typing import NamedTuple

import numpy as np

import portrayal.report.formats as fmt
from portrayal.annotate.exchange import exchange_of, gender_sides
from portrayal.annotate.names import Spans
from portrayal.annotate.scores import HIDDEN, TEXT_SCORES, score_of
from portrayal.measure.matched import MatchedSets, matched_sets
from portrayal.measure.matched.differences import contrasts, within_sets
from portrayal.measure.matched.sets import REFUSED
from portrayal.measure.matched.units import SOURCE
from portrayal.measure.matched.words import NAME, WORD, spans_of
from portrayal.records import ALL, Estimate
from portrayal.reference.locales import HOME
from portrayal.report.findings import distance, findings
from portrayal.report.formats import short
from portrayal.report.headline import label_of
from portrayal.report.passages import (
    Reading,
    Readings,
    Span,
    at_even_steps,
    shown_text,
    texts_by_id,
)
from portrayal.report.view import View
from portrayal.report.words import stem

MOST_SERIES, PER_SERIES = 6, 4
"""Differences whose pairs are shown, and pairs of each."""
DIFFERS, SWAPPED = "differs", "swapped"
"""Marks: of a word that only one text has, and of one that is merely exchanged with the person."""


def pairs_of(view: View) -> Readings | None:
    """Return pairs to read; None where the run has no texts."""
    differences = [
        e
        for name, rows in view.by_measure.items()
        if stem(name) == "pair_difference"
        for e in rows
        if e.value is not None and e.strata["part"] == ALL and e.strata["score"] != REFUSED
    ]
    sets = _sets_of(view, differences)
    if sets is None:
        return None
    leading_stated = [f.first for f in findings(view) if f.first.id in {e.id for e in differences}]
    # Where nothing is stated, what lies furthest apart is shown.
    leading = (leading_stated or sorted(differences, key=distance, reverse=True))[:MOST_SERIES]
    picked = [(e, i, d) for e in leading for i, d in _picked(sets, e)]
    answers = (sets.answers[name].to_pylist() for name in ("set", "half", "text_id"))
    text_of: dict[tuple[int, int], str] = {}
    for number, half, text_id in zip(*answers, strict=True):
        # Of several answers of one half, the first is shown: no choice by its score.
        text_of.setdefault((number, half), text_id)
    halves = [[text_of[i, group] for group in _halves(sets, e, i)] for e, i, _ in picked]
    ids = [text_id for two in halves for text_id in two]
    texts = texts_by_id(view.run.texts, ids, "text")
    hidden = texts_by_id(view.run.annotations(TEXT_SCORES.name), ids, HIDDEN)
    # Words that merely follow from the person are no difference worth a mark.
    neutral = exchange_of(view.options.get("locale") or HOME).neutral
    words = neutral if gender_sides(sets.groups) else {}
    readings = []
    for (e, i, d), two in zip(picked, halves, strict=True):
        pair = [
            PairText(texts[text_id]["text"], spans_of(hidden.get(text_id, {}).get(HIDDEN)))
            for text_id in two
        ]
        passages = tuple(
            shown_text(short(sets.groups[group], 60), text.text, spans)
            for group, text, spans in zip(
                _halves(sets, e, i), pair, differing(pair[0], pair[1], words), strict=True
            )
        )
        name, source = sets.names[i], sets.sources[sets.source[i]]
        title = name if source == name else f"{name} · {sets.cluster} {source}"
        unit = score_of(e.strata["score"]).unit
        heading = f"{e.strata['score']}: {fmt.difference(d)} {unit} · {short(title, 120)}"
        readings.append(Reading(heading, label_of(view, e), passages))
    selection = (
        f"{len(readings)} pairs of {fmt.count(len(sets.model))}: of each difference that leads "
        "this report some at even steps of rank, from the furthest in its direction to the "
        "furthest in the other. Differences are without instrument bias. "
        + " ".join(f"{line.rstrip('.')}." for line in sets.recognised)
    )
    key = ((DIFFERS, "words that only this text has"), (SWAPPED, "words exchanged with the person"))
    return Readings(selection.strip(), tuple(readings), key) if readings else None


def _sets_of(view: View, differences: list[Estimate]) -> MatchedSets | None:
    """The pairs that the differences rest on, read again; None where the texts are gone."""
    stage = view.run.annotations(TEXT_SCORES.name)
    if not (differences and view.run.texts.parts() and stage.parts()):
        return None
    return matched_sets(
        view.run,
        stage,
        [score_of(name) for name in dict.fromkeys(e.strata["score"] for e in differences)],
        group=next(iter(differences[0].group)),
        source=view.options.get("source") or SOURCE,
        locale=view.options.get("locale") or HOME,
    )


def _picked(sets: MatchedSets, e: Estimate) -> list[tuple[int, float]]:
    """Sets with their differences, at even steps of rank in the direction of the whole."""
    column = [score.name for score in sets.scores].index(e.strata["score"])
    # Some scores cannot be made on exchanged texts; those stay as they are.
    exchanged = sets.exchanged and sets.scores[column].exchanged
    value = (sets.neutral if exchanged else sets.value)[column]
    # Sets that lack a half have no difference, and drop out as NaN.
    d = within_sets(value, dict(contrasts(sets))[next(iter(e.group.values()))])
    inside = (sets.model == sets.models.index(e.strata["model"])) & ~np.isnan(d)
    sign = -1.0 if (e.value or 0.0) < 0 else 1.0
    # Ties by number, so that pages do not change.
    ranked = sorted(np.flatnonzero(inside).tolist(), key=lambda i: (-sign * d[i], i))
    return [(i, float(d[i])) for i in at_even_steps(ranked, PER_SERIES)]


def _halves(sets: MatchedSets, e: Estimate, i: int) -> tuple[int, int]:
    """The two groups of a set that stand side by side; of several others the first there is."""
    one = dict(contrasts(sets))[next(iter(e.group.values()))]
    further = [g for g in range(len(sets.groups)) if g != one and sets.n_answers[i, g]]
    return one, further[0]


class PairText(NamedTuple):
    """A text, and where it has names and words in which requests differ."""

    text: str
    hidden: Spans = ()

    def keys(self, words: Mapping[str, str]) -> tuple[list[re.Match[str]], list[str]]:
        """Return its words, and what each counts as: its twin's, NAME, or itself in lower case."""
        matches = list(WORD.finditer(self.text))
        keys = [words.get(word[0].lower(), word[0].lower()) for word in matches]
        # Any overlap hides a word: "Maria's" holds the name and more.
        for index, word in enumerate(matches):
            if any(start < word.end() and word.start() < end for start, end in self.hidden):
                keys[index] = NAME
        return matches, keys


def differing(
    one: PairText, two: PairText, words: Mapping[str, str]
) -> tuple[list[Span], list[Span]]:
    """Return the words that differ between two texts, as spans of each.

    Parameters
    ----------
    one, two
        The texts. A word that counts as the other text's, though it is another one, is `SWAPPED`.
    words
        What stands for each exchanged word (`Exchange.neutral`).

    Examples
    --------
    >>> same = {"she": "he/she", "he": "he/she"}
    >>> differing(PairText("She is frail."), PairText("He is well."), same)
    ([(0, 3, 'swapped'), (7, 12, 'differs')], [(0, 2, 'swapped'), (6, 10, 'differs')])
    """
    (first_words, first), (second_words, second) = one.keys(words), two.keys(words)
    matches = first_words, second_words
    marks = [[DIFFERS] * len(side) for side in matches]
    # Without autojunk, which takes frequent words of long texts for noise.
    for a, b, n in SequenceMatcher(None, first, second, autojunk=False).get_matching_blocks():
        for i in range(n):
            # Matched only by what they count as: exchanged with the person.
            alike = matches[0][a + i][0].lower() == matches[1][b + i][0].lower()
            marks[0][a + i] = marks[1][b + i] = "" if alike else SWAPPED
    return _spans(first_words, marks[0]), _spans(second_words, marks[1])


def _spans(words: list[re.Match[str]], marks: list[str]) -> list[Span]:
    """Neighbours with the same mark as one span."""
    spans: list[Span] = []
    last = ""
    # A mark runs over the space between words alike, or it would flicker.
    for word, mark in zip(words, marks, strict=True):
        if mark and mark == last:
            spans[-1] = (spans[-1][0], word.end(), mark)
        elif mark:
            spans.append((word.start(), word.end(), mark))
        last = mark
    return spans
