"""What nobody asked: words, phrases and openings that differ within matched sets.

They are proposed on half of the sources and tested on the other half, so that what is stated is a
test and no search. Words of the persons themselves count as one ("he/she"), and names, with what
the requests of a pair differ in, as "[name]".
"""

import math
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise
from sys import intern
from typing import Any

import numpy as np

from portrayal.annotate.exchange import exchange_of
from portrayal.annotate.names import Spans, hidden
from portrayal.annotate.scores import TEXT_SCORES
from portrayal.annotate.word_match import TOKEN, fold
from portrayal.measure.clustered import estimates_of
from portrayal.measure.matched.differences import Within, contrasts, halves_of
from portrayal.measure.matched.sets import MatchedSets
from portrayal.measure.scope import Scope
from portrayal.records import ALL, UNITS, Estimate
from portrayal.registry import Component
from portrayal.run.directory import Run
from portrayal.run.stages import Stage

MOST_SETS = 5_000
"""Sets of one model that words are proposed on, and as many that they are tested on."""
PROPOSED = 40
"""Words, phrases and openings of one model that are tested."""
FEWEST, LEAST = 6, 2.0
"""Pairs that must differ in a word, and how far from chance, for it to be proposed."""
OPENING = "^"
"""Stands before the first words of a text."""
FIRST = "with_first"
"""Detail: answers to the first half that have the word."""
NAME = "[name]"
"""Stands for names of people, and for the words in which the requests of a pair differ."""
_MARK = "ꙮ"
"""A letter that no text has, in place of a hidden name."""
_OPENINGS = (3, 4, 5)  # words of an opening
_ALIKE = 0.25  # part by which sums of one and the same thing said differ

Halves = dict[int, list[frozenset[str]]]
"""The words and phrases of each answer, by half."""
WORD = re.compile(rf"(?<!\w[’'])\b{TOKEN.pattern}(?:[’'](?!s\b){TOKEN.pattern})?", re.IGNORECASE)
"""A word, without the ending of its genitive."""


@dataclass(frozen=True, eq=False)
class MatchedTexts:
    """The texts of matched sets, read set by set.

    Attributes
    ----------
    sets, run
        The sets, and where their texts lie.
    locale
        Whose words of a person count as one.
    read
        Half and words of each answer of the sets that were read.
    """

    sets: MatchedSets
    run: Run
    locale: str
    read: dict[int, list[tuple[int, list[str]]]] = field(default_factory=dict)

    def parts(self, model: int, scope: Scope) -> tuple[list[int], list[int]]:
        """Return the sets of a model that propose, and those that are tested on."""
        of_model = np.flatnonzero(self.sets.model == model)
        # A source is of the same half in every run, so that runs are compared.
        half = np.array([zlib.crc32(name.encode()) % 2 for name in self.sets.sources])
        rng, halves = scope.rng("words", self.sets.models[model]), []
        for side in (0, 1):
            # Halves of sources, not of sets: texts of one source would be on both sides
            numbers = of_model[half[self.sets.source[of_model]] == side]
            if len(numbers) > MOST_SETS:
                numbers = np.sort(rng.choice(numbers, MOST_SETS, replace=False))
            halves.append(numbers.tolist())
        return halves[0], halves[1]

    def halves(self, numbers: Sequence[int]) -> Iterator[tuple[int, Halves]]:
        """Yield each of these sets with what its answers say, in order; memory stays flat."""
        self.load(numbers)
        for number in sorted(set(numbers)):
            halves: Halves = {}
            for half, words in self.read[number]:
                halves.setdefault(half, []).append(features(words))
            if halves:
                yield number, halves

    @property
    def idle(self) -> frozenset[str]:
        """Words that say nothing by themselves."""
        return exchange_of(self.locale).function_words | {NAME}

    def load(self, numbers: Iterable[int]) -> None:
        """Read the answers of these sets; those of a set are read once."""
        import duckdb
        import pyarrow as pa

        if unread := [number for number in numbers if number not in self.read]:
            self.read.update((number, []) for number in unread)
            neutral = exchange_of(self.locale).neutral
            files = {
                "parts": [str(part) for part in self.run.texts.parts()],
                "scores": [str(part) for part in self._scores.parts()],
            }
            with duckdb.connect(config={"threads": 1}) as db:
                db.register("answers", self.sets.answers)
                db.register("wanted", pa.table({"set": np.array(unread, dtype=np.int64)}))
                cursor = db.execute(
                    "select a.set, a.half, t.text, s.hidden from answers a semi join "
                    "wanted using (set) join read_parquet($parts) t using (text_id) "
                    "join read_parquet($scores) s using (text_id) where t.outcome = 'ok' "
                    "order by a.set, a.half, text_id",
                    files,
                )
                while rows := cursor.fetchmany(2_000):
                    for number, half, text, places in rows:
                        words = words_of(text, neutral, spans_of(places))
                        self.read[number].append((half, words))

    @property
    def _scores(self) -> Stage:
        return self.run.annotations(TEXT_SCORES.name)


def spans_of(places: Sequence[Mapping[str, int]] | None) -> Spans:
    """Return what an annotation holds of hidden words as spans."""
    return [(place["start"], place["end"]) for place in places or ()]


def words_of(text: str, neutral: Mapping[str, str], spans: Spans = ()) -> list[str]:
    """Return the words of a text; those of the persons are one, and so is what is hidden.

    >>> words_of("She is Ann’s sister.", {"she": "he/she"}, [(7, 10)])
    ['he/she', 'is', '[name]', 'sister']
    """
    words = map(fold, WORD.findall(hidden(text, spans, _MARK).replace("’", "'")))
    return [NAME if word == _MARK else intern(neutral.get(word, word)) for word in words]


def features(words: Sequence[str]) -> frozenset[str]:
    """Return the words, phrases of two and three words, and openings of a text.

    >>> sorted(features(["she", "is", "well"]))
    ['^ she is well', 'is', 'is well', 'she', 'she is', 'she is well', 'well']
    """
    # A set of them: how often a text says a word does not count, as texts differ in length
    two = [f"{a} {b}" for a, b in pairwise(words)]
    three = [f"{a} {b}" for a, b in zip(two, words[2:], strict=False)]
    opened = (f"{OPENING} {' '.join(words[:n])}" for n in _OPENINGS if len(words) >= n)
    return frozenset((*words, *two, *three, *opened))


def pair_words(matched_texts: MatchedTexts, scope: Scope) -> Iterator[Estimate]:
    """Yield the difference within pairs in the share of answers with each word that is proposed.

    Parameters
    ----------
    matched_texts, scope
        The texts of the sets, and the audit's settings.
    """
    sets = matched_texts.sets
    parts = [matched_texts.parts(code, scope) for code in range(len(sets.models))]
    matched_texts.load(chain.from_iterable(chain.from_iterable(parts)))
    for model, (proposing, testing) in zip(sets.models, parts, strict=True):
        if proposing and testing:
            proposed = _proposed(matched_texts, proposing)
            yield from _tested(matched_texts, testing, proposed, model, scope)


def _discordant(
    texts: MatchedTexts, numbers: Sequence[int]
) -> Iterator[tuple[Counter[str], Counter[str]]]:
    """Yield, of each contrast of groups, sums and squares of each word's differences over sets."""
    compared = contrasts(texts.sets)
    sums: list[Counter[str]] = [Counter() for _ in compared]
    squares: list[Counter[str]] = [Counter() for _ in compared]
    for _, halves in texts.halves(numbers):
        if len(halves) < 2:
            continue
        for i, (_, code) in enumerate(compared):
            if code not in halves:
                continue
            other = [bag for half, answers in halves.items() if half != code for bag in answers]
            shares = Counter[str]()
            for side, sign in ((halves[code], 1.0), (other, -1.0)):
                for word, n in Counter(w for bag in side for w in bag).items():
                    shares[word] += sign * n / len(side)  # type: ignore[assignment]
            for word, d in shares.items():
                sums[i][word] += d
                squares[i][word] += d * d
    yield from zip(sums, squares, strict=True)


def _proposed(texts: MatchedTexts, numbers: Sequence[int]) -> list[tuple[str, int]]:
    """Words with the contrast of groups that they differ in, furthest from chance first."""
    ranked = []
    for i, (total, square) in enumerate(_discordant(texts, numbers)):
        for word, n in square.items():
            # If only chance gave differences their sign, their sum would have the sum of squares as
            # variance.
            z = total[word] / math.sqrt(n) if n >= FEWEST else 0.0
            if abs(z) >= LEAST:
                ranked.append((-abs(z), word, i, float(total[word])))
    ranked.sort()  # by |z|, then by the word, so that ties do not hang on order
    idle = texts.idle - {NAME}  # how a text greets or opens is none of its name alone
    proposals: list[tuple[str, int]] = []
    telling: list[tuple[set[str], int, float]] = []
    for _, word, i, d in ranked:
        tokens = set(word.removeprefix(OPENING).split()) - idle
        # One that shares a word with a better one, and differs about as often, says the same.
        same = (j == i and tokens & earlier and abs(d - other) < _ALIKE * abs(other)
                for earlier, j, other in telling)  # fmt: skip
        if tokens and word != NAME and not any(same):
            proposals.append((word, i))
            telling.append((tokens, i, d))
        if len(proposals) == PROPOSED:
            break
    return proposals


def _tested(
    texts: MatchedTexts,
    numbers: Sequence[int],
    proposed: Sequence[tuple[str, int]],
    model: str,
    scope: Scope,
) -> Iterator[Estimate]:
    """The difference in the share of answers that have each word."""
    sets = texts.sets
    compared = contrasts(sets)
    place = {word: i for i, word in enumerate(dict.fromkeys(word for word, _ in proposed))}
    # NaN stays where a set has no answer of a group; answers without the word are 0.
    share = np.full((len(place), len(numbers), len(sets.groups)), np.nan)
    row = {number: i for i, number in enumerate(numbers)}
    for number, halves in texts.halves(numbers):
        for half, answers in halves.items():
            share[:, row[number], half] = 0.0
            for answer in answers:
                for word in sorted(answer & place.keys()):
                    share[place[word], row[number], half] += 1.0 / len(answers)
    if not proposed:
        return
    columns = [(place[word], *compared[i]) for word, i in proposed]
    # In these very requests: a word stands in an answer or not
    n_answers = sets.n_answers[numbers]
    squares = np.nansum(n_answers * share * (1.0 - share), axis=2)
    df = np.maximum(n_answers - 1, 0).sum(1).astype(np.float64)
    scatter = squares, np.broadcast_to(df, squares.shape)
    within = Within.of(sets, np.array(numbers), share, columns, scatter, scope)
    exchanged, sums = within.fields(scope, "words", model), within.sums

    def fields_of(i: int) -> dict[str, Any]:
        word, (k, _, first) = proposed[i][0], columns[i]
        kind = "opening" if word.startswith(OPENING) else "phrase" if " " in word else "word"
        strata = {"model": model, "word": word.removeprefix(OPENING).strip(), "kind": kind}
        details = {
            FIRST: float(np.nansum(share[k, :, first])),
            UNITS + sums.cluster: float(within.means.n_clusters[i]),
        }
        return {**exchanged(i), "strata": {**strata, "part": ALL}, "details": details}

    shared: dict[str, Any] = {"statistic": "difference", "strata": {}, "n_texts": 2 * len(numbers)}
    yield from estimates_of(PAIR_WORDS, sums, within.means, scope, fields_of, **shared)


def sentence(e: Estimate) -> str:
    """Return a difference in a word as a finding, with the count on both sides."""
    writer, first, second = halves_of(e)
    verb = "open with" if e.strata["kind"] == "opening" else "say"
    # The second from the mean, as halves may have other numbers of answers; more stand first
    with_first = e.details[FIRST]
    both = with_first, max(with_first - (e.value or 0.0) * e.n_units, 0.0)
    more, fewer = both if (e.value or 0.0) >= 0 else both[::-1]
    one, other = (f"{side:,.0f}" if side >= 0.5 else "none" for side in (more, fewer))
    pairs = f"{e.n_units:,.0f}"
    return (
        f"{writer}{one} of {pairs} answers for {first} {verb} “{e.strata['word']}”, and {other} of "
        f"{pairs} answers for {second} to the same requests"
    )


PAIR_WORDS = Component(
    name="pair_words.v2",
    summary="Words, phrases and openings that answers about one group have and answers to "
    "the same request about another have not: proposed on half of the sources, tested on the other "
    "half.",
    reads="texts of matched sets; pair, group and source",
    unit="pair",
    range="−1 to 1; 0 is no difference",
    undefined_when="no word differs enough on the half that proposes, or one half has no pair",
    equation="mean over pairs of the share of answers about the first group that have the word, "
    "less that of the second",
    source="this project; sample splitting as in Cox 1975, A note on data-splitting",
    run=pair_words,
    title="Words that differ within pairs",
    reading="Above 0: answers about the first group have it more often.",
    finding=sentence,
    findings=3,
    brief="words within pairs",
    figure="table",
    each_model=True,
    form="points",
)
