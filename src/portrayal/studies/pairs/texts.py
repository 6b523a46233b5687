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
from portrayal.measure.matched.differences import COLUMN, contrasts, within_sets
from portrayal.measure.matched.sets import REFUSED
from portrayal.measure.matched.units import SOURCE
from portrayal.measure.matched.words import NAME, WORD, spans_of
from portrayal.records import ALL, Estimate
from portrayal.reference.locales import HOME
from portrayal.report.findings import distance, findings, label_of
from portrayal.report.formats import short
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
from portrayal.run.pages import number as digits
from portrayal.types import BoolArray

MOST_SERIES, PER_SERIES = 6, 4
"""Differences whose pairs are shown, and pairs of each."""
DIFFERS, SWAPPED = "differs", "swapped"
"""Marks: of a word that only one text has, and of one that is merely exchanged with the person."""


def texts_to_read(view: View) -> Readings | None:
    """Return pairs to read; None where the run has no texts."""
    measured = [
        e
        for name, rows in view.by_measure.items()
        if stem(name) == "pair_difference"
        for e in rows
        if e.strata["part"] == ALL
    ]
    differences = [e for e in measured if e.value is not None and e.strata["score"] != REFUSED]
    by_column = _sets_of(view, measured) if differences else {}
    if not by_column:
        return None
    leading_stated = [f.first for f in findings(view) if f.first.id in {e.id for e in differences}]
    # Where nothing is stated, what lies furthest apart is shown.
    leading = (leading_stated or sorted(differences, key=distance, reverse=True))[:MOST_SERIES]
    text_of: dict[tuple[str, int, int], str] = {}
    for column, sets in by_column.items():
        answers = (sets.answers[name].to_pylist() for name in ("set", "half", "text_id"))
        for number, half, text_id in zip(*answers, strict=True):
            # Of several answers of one half, the first is shown: no choice by its score.
            text_of.setdefault((column, number, half), text_id)
    picked = [(e, two) for e in leading for two in _picked(by_column[_column(e)], e)]
    ids = [[text_of[_column(e), i, group] for i, group, _ in two] for e, two in picked]
    text_ids = [text_id for two in ids for text_id in two]
    texts = texts_by_id(view.run.texts, text_ids, "text")
    hidden = texts_by_id(view.run.annotations(TEXT_SCORES.name), text_ids, HIDDEN)
    # Words that merely follow from the person are no difference worth a mark.
    neutral = exchange_of(view.options.get("locale") or HOME).neutral
    readings = []
    for (e, two), ids_of_two in zip(picked, ids, strict=True):
        sets = by_column[_column(e)]
        words = neutral if gender_sides(sets.groups) else {}
        pair = [
            PairText(texts[text_id]["text"], spans_of(hidden.get(text_id, {}).get(HIDDEN)))
            for text_id in ids_of_two
        ]
        # Two texts that nothing pairs differ in nearly all of their words.
        marks = ([], []) if sets.apart else differing(pair[0], pair[1], words)
        passages = tuple(
            shown_text(short(sets.groups[group], 60), text.text, spans)
            for (_, group, _), text, spans in zip(two, pair, marks, strict=True)
        )
        readings.append(Reading(_heading(sets, e, two), label_of(view, e), passages))
    first = next(iter(by_column.values()))
    samples = f"pairs of {fmt.count(len(first.model))}"
    if first.cluster == "prompt" or len(first.groups) > 2:
        samples = f"pairs of answers to {fmt.plural(len(first.model), 'prompt')}"
    ends = "from the furthest in its direction to the furthest in the other"
    if first.apart:
        samples, ends = "texts of each group", "from the highest score of either to the lowest"
    selection = (
        f"{len(readings)} {samples}: of each difference that leads this report some at even steps "
        f"of rank, {ends}. Differences are without instrument bias. "
        + " ".join(f"{line.rstrip('.')}." for line in first.recognised)
    )
    key = ((DIFFERS, "words that only this text has"), (SWAPPED, "words exchanged with the person"))
    return Readings(selection.strip(), tuple(readings), key) if readings else None


Shown = tuple[int, int, float]
"""A text that is shown: its set and group, and what is ranked, its score or its pair's."""


def _column(e: Estimate) -> str:
    """The column of groups that an estimate is of."""
    return next(iter(e.group))


def _heading(sets: MatchedSets, e: Estimate, two: tuple[Shown, Shown]) -> str:
    """What is read: score and difference with the name of the pair, or the scores of two texts."""
    (i, _, first), (_, _, second) = two
    score = next(score for score in sets.scores if score.name == e.strata["score"])
    if sets.apart:
        return f"{score.name}: {digits(first)} and {digits(second)} {score.unit}".strip()
    name, source = sets.names[i], sets.sources[sets.source[i]]
    title = name if source == name else f"{name} · {sets.cluster} {source}"
    return f"{score.name}: {fmt.difference(first)} {score.unit} · {short(title, 120)}"


def _sets_of(view: View, measured: list[Estimate]) -> dict[str, MatchedSets]:
    """The sets that differences rest on, read again, by column; none where the texts are gone."""
    stage, options = view.run.annotations(TEXT_SCORES.name), view.options
    if not (view.run.texts.parts() and stage.parts()):
        return {}
    columns = list(dict.fromkeys(map(_column, measured)))
    made_elsewhere = {e.strata["score"] for e in measured if COLUMN in e.details} | {REFUSED}
    names = dict.fromkeys(e.strata["score"] for e in measured)
    return {
        column: matched_sets(
            view.run,
            stage,
            [score_of(name) for name in names if name not in made_elsewhere],
            group=column,
            alike=[name for name in columns if name != column],
            source=options.get("source") or SOURCE,
            locale=options.get("locale") or HOME,
            measured=options.get("score") or (),
            apart=bool(options.get("apart")),
        )
        for column in columns
    }


def _picked(sets: MatchedSets, e: Estimate) -> list[tuple[Shown, Shown]]:
    """Two halves of sets at even steps of rank in the direction of the difference.

    Apart, texts of the first group stand beside those of the others at the same steps, from the
    highest score to the lowest.
    """
    column = [score.name for score in sets.scores].index(e.strata["score"])
    # Some scores cannot be made on exchanged texts; those stay as they are.
    exchanged = sets.exchanged and sets.scores[column].exchanged
    value = (sets.neutral if exchanged else sets.value)[column]
    code = dict(contrasts(sets))[e.group[_column(e)]]
    # Sets that lack a half have no difference, and drop out as NaN.
    d = within_sets(value, code, unpaired=sets.apart)
    inside = (sets.model == sets.models.index(e.strata["model"])) & ~np.isnan(d)
    sign = -1.0 if (e.value or 0.0) < 0 and not sets.apart else 1.0

    def steps(rows: BoolArray) -> list[int]:
        # Ties by number, so that pages do not change.
        ranked = sorted(np.flatnonzero(rows).tolist(), key=lambda i: (-sign * d[i], i))
        return list(at_even_steps(ranked, PER_SERIES))

    if sets.apart:
        first, other_rows = steps(inside & (sets.half == code)), steps(inside & (sets.half != code))
        return [
            ((i, code, float(d[i])), (j, int(sets.half[j]), float(d[j])))
            for i, j in zip(first, other_rows, strict=False)
        ]
    two = []
    for i in steps(inside):
        # Of several others the first there is.
        other = next(g for g in range(len(sets.groups)) if g != code and sets.n_answers[i, g])
        two.append(((i, code, float(d[i])), (i, other, float(d[i]))))
    return two


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
