"""Pairs to read: both texts side by side, the words that differ marked, furthest apart first.

Of each leading difference the pairs with the largest differences are taken, and others at even
steps of rank, so that what is shown is no choice of the worst.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import NamedTuple

import numpy as np

import portrayal.report.formats as fmt
from portrayal.annotate.exchange import exchange_of, gender_sides
from portrayal.annotate.names import Spans
from portrayal.annotate.scores import HIDDEN, TEXT_SCORES
from portrayal.collect.tables import UNNAMED
from portrayal.measure.matched import MatchedSets, MatchedTexts
from portrayal.measure.matched.differences import contrasts
from portrayal.measure.matched.words import NAME, OPENING, WORD, spans_of
from portrayal.records import Estimate
from portrayal.reference.locales import HOME
from portrayal.report.formats import short
from portrayal.report.passages import Piece, Span, marked, texts_by_id
from portrayal.report.view import View
from portrayal.studies.pairs.report.figures import spread_of
from portrayal.studies.pairs.report.series import called, leading, sets_of, unasked, unit_of

MOST_SERIES, LARGEST, EVEN = 8, 3, 4
"""Differences whose pairs are shown; of each, pairs that lie furthest apart, and at even ranks."""
MOST_WORDS, LOOKED = 5, 500
"""Words, phrases and openings whose pairs are shown, and sets among which they are."""
LONGEST = 4000
"""Characters shown of one text."""
DIFFERS, SWAPPED = "differs", "swapped"
"""Marks: of a word that only one text has, and of one that is merely exchanged with the person."""


@dataclass(frozen=True)
class PairSide:
    """One text of a pair: whom it is about, its score, how many answers, and its pieces."""

    group: str
    score: str
    answers: str
    pieces: tuple[Piece, ...]
    cut: str


@dataclass(frozen=True)
class ShownPair:
    """A pair: its name and source, the code of its series, the difference and both sides."""

    title: str
    series: int
    model: str
    difference: str
    sides: tuple[PairSide, PairSide]


@dataclass(frozen=True)
class PairsReading:
    """Pairs of each series, with the names of the series and how they were chosen."""

    pairs: tuple[ShownPair, ...]
    series: tuple[str, ...]
    how: str


def pairs_reading(view: View) -> PairsReading | None:
    """Return pairs to read; None where the run has no texts."""
    sets = sets_of(view)
    if sets is None:
        return None
    # Of several answers of one half, the first is shown: no choice by its score.
    answers = (sets.answers[name].to_pylist() for name in ("set", "half", "text_id"))
    text_of: dict[tuple[int, int], str] = {}
    for number, half, text_id in zip(*answers, strict=True):
        text_of.setdefault((number, half), text_id)
    locale = view.options.get("locale") or HOME
    read = MatchedTexts(sets, view.run, locale)
    # Words with a person's words left in would show "she" beside "he".
    kinds = [e for e in unasked(view) if e.strata.get("kind") is not None]
    words_of = kinds[:MOST_WORDS]
    first = [*leading(view, MOST_SERIES), *words_of]
    picked = [
        (code, i, d)
        for code, e in enumerate(first)
        for i, d in (_with_word(read, e) if "word" in e.strata else _chosen(sets, e))
    ]
    # All texts are read in one pass, as files hold many texts each.
    halves = {(code, i): _halves(sets, first[code], i) for code, i, _ in picked}
    ids = [text_of[i, group] for (_, i), sides in halves.items() for group in sides]
    texts = texts_by_id(view.run.texts, ids, "text")
    scores = texts_by_id(view.run.annotations(TEXT_SCORES.name), ids, f"scores, {HIDDEN}")
    place = {score.name: column for column, score in enumerate(sets.scores)}
    # Words that merely follow from the person are no difference worth a mark.
    words = exchange_of(locale).neutral if gender_sides(sets.groups) else {}
    pairs = []
    for code, i, d in picked:
        e, sides = first[code], []
        half_ids = [text_of[i, group] for group in halves[code, i]]
        two = [texts[text_id] for text_id in half_ids]
        hidden = [spans_of(scores.get(text_id, {}).get(HIDDEN)) for text_id in half_ids]
        one, other = (
            PairText(text["text"], hidden_spans)
            for text, hidden_spans in zip(two, hidden, strict=True)
        )
        spans = differing(one, other, words)
        score = e.strata.get("score")
        column, unit = place[score] if score else 0, unit_of(e) if score else "words of it"
        for group, text, text_spans in zip(halves[code, i], two, spans, strict=True):
            value = (scores.get(text_of[i, group], {}).get("scores") or [])[column : column + 1]
            value_words = f"{fmt.difference(value[0], '')} {unit}" if score and value else ""
            sides.append(_side(sets, i, group, value_words, text["text"], text_spans))
        # The difference is of the whole set, all answers of it, not of the two that are shown.
        value_words = f"{fmt.difference(d)} {unit}"
        model = "" if e.strata["model"] == UNNAMED else short(e.strata["model"], 60)
        name, source = sets.names[i], sets.sources[sets.source[i]]
        title = name if source == name else f"{name} · {sets.cluster} {source}"
        pairs.append(ShownPair(short(title, 160), code, model, value_words, (sides[0], sides[1])))
    if not pairs:
        return None
    selection = (
        f"{len(pairs)} pairs of {fmt.count(len(sets.model))}: for each difference that leads this "
        f"report the {LARGEST} that lie furthest apart, and {EVEN} at even steps of rank, from the "
        "furthest in the direction of the whole to the furthest in the other. Scores are those of "
        "the texts as they stand; differences are without instrument bias. Of words, phrases "
        f"and openings, up to {LARGEST} of the pairs in which they differ."
    )
    return PairsReading(tuple(pairs), tuple(called(e) for e in first), selection)


def _side(
    sets: MatchedSets, i: int, group: int, score: str, body: str, spans: list[Span]
) -> PairSide:
    """One text of a set, with its score in words and what is marked in it."""
    n, end = int(sets.n_answers[i, group]), min(len(body), LONGEST)
    return PairSide(
        short(sets.groups[group], 60),
        score,
        f"one of {n} answers" if n > 1 else "",
        tuple(marked(body, spans, 0, end)),
        f"Shortened: {end:,} of {len(body):,} characters." if end < len(body) else "",
    )


def _chosen(sets: MatchedSets, e: Estimate) -> list[tuple[int, float]]:
    """Sets and their differences: the largest, and those at even steps of rank, in that order."""
    d, inside = spread_of(sets, e)
    sign = -1.0 if (e.value or 0.0) < 0 else 1.0
    # Ranked in the direction of the whole, ties by number, so that pages do not change.
    ranked = sorted(np.flatnonzero(inside).tolist(), key=lambda i: (-sign * d[i], i))
    largest = sorted(ranked, key=lambda i: (-abs(d[i]), i))[:LARGEST]
    # Even steps show what is usual, which the largest never are.
    steps = np.unique(np.linspace(0, len(ranked) - 1, min(EVEN, len(ranked))).astype(int))
    picked = {*largest, *(ranked[step] for step in steps.tolist())}
    return [(i, float(d[i])) for i in ranked if i in picked]


def _with_word(texts: MatchedTexts, e: Estimate) -> list[tuple[int, float]]:
    """Of the first sets of its model, those whose halves differ most in a word."""
    sets, kind, word = texts.sets, e.strata["kind"], e.strata["word"]
    # Openings are kept apart from the same words elsewhere.
    features = {f"{OPENING} {word}"} if kind == "opening" else {word}
    sign = -1.0 if (e.value or 0.0) < 0 else 1.0
    # A few hundred sets: words are counted anew, and a report should not take minutes.
    inside = np.flatnonzero(sets.model == sets.models.index(e.strata["model"]))[:LOOKED]
    differences = []
    for i, halves in texts.halves(inside.tolist()):
        one, two = (len(features & halves[group][0]) for group in _halves(sets, e, i))
        differences.append((i, float(one - two)))
    # Only pairs that go the way of the finding, which they are to illustrate.
    differences = [(i, d) for i, d in differences if sign * d > 0.0]
    return sorted(differences, key=lambda difference: -abs(difference[1]))[:LARGEST]


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
