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

from portrayal.annotate.exchange import exchange_of, group_words
from portrayal.annotate.names import Spans, hidden
from portrayal.annotate.scores import TEXT_SCORES
from portrayal.annotate.word_match import TOKEN, fold
from portrayal.measure.clustered import estimates_of
from portrayal.measure.matched.differences import (
    FIRST,
    N_FIRST,
    N_SECOND,
    SECOND,
    Within,
    contrasts,
    counted_halves,
    halves_of,
    of_these_prompts,
    same_requests,
)
from portrayal.measure.matched.sets import MANY_ANSWERS, MatchedSets
from portrayal.measure.scope import Scope
from portrayal.records import ALL, FEW_PROMPTS, THESE, UNITS, Estimate
from portrayal.registry import Component
from portrayal.run.directory import Run
from portrayal.run.files import Stage
from portrayal.stats import divide
from portrayal.types import IntArray

MOST_SETS = 5_000
"""Sets of one model that words are proposed on, and as many that they are tested on."""
PROPOSED = 40
"""Words, phrases and openings of one model that are tested."""
COMPARED = 200
"""Words that lie furthest from chance, of which those that are one thing said are told apart."""
ALSO, MOST_ALSO = "also_", 2
"""Start of details: what else the answers with a word say, by rank, and how much is named."""
FEWEST, LEAST = 6, 2.0
"""Pairs that must differ in a word, and how far from chance, for it to be proposed."""
OPENING = "^"
"""Stands before the first words of a text."""
NAME = "[name]"
"""Stands for names of people, and for the words in which the requests of a pair differ."""
_MARK = "ꙮ"
"""A letter that no text has, in place of a hidden name."""
_OPENINGS = (3, 4, 5)  # words of an opening

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

    @property
    def all(self) -> tuple["MatchedTexts", ...]:
        """Return these texts, and the same in the sets by the other columns of groups."""
        return (self, *(MatchedTexts(sets, self.run, self.locale) for sets in self.sets.siblings))

    @property
    def side_of_source(self) -> IntArray:
        """Whether each source proposes (0) or tests (1): the same in every run, to compare runs."""
        return np.array([zlib.crc32(name.encode()) % 2 for name in self.sets.sources])

    def splits_answers(self, model: int) -> bool:
        """Whether halves of the answers to each request propose and test, not halves of sources.

        That is where a half of the sources is too few, and each request has several answers.
        """
        of_model = self.sets.model == model
        n_answers = self.sets.n_answers[of_model]
        on_side = self.side_of_source[np.unique(self.sets.source[of_model])]
        few = np.bincount(on_side, minlength=2).min() < FEW_PROMPTS
        return bool(few and not self.sets.apart and (n_answers.sum() >= 4 * (n_answers > 0).sum()))

    def parts(self, model: int, scope: Scope) -> tuple[list[int], list[int]]:
        """Return the sets of a model that propose, and those that are tested on."""
        of_model = np.flatnonzero(self.sets.model == model)
        if self.splits_answers(model):
            return of_model.tolist(), of_model.tolist()
        half = self.side_of_source
        rng, halves = scope.rng("words", self.sets.models[model]), []
        for side in (0, 1):
            # Halves of sources, not of sets: texts of one source would be on both sides
            numbers = of_model[half[self.sets.source[of_model]] == side]
            if len(numbers) > MOST_SETS:
                numbers = np.sort(rng.choice(numbers, MOST_SETS, replace=False))
            halves.append(numbers.tolist())
        return halves[0], halves[1]

    def halves(
        self, numbers: Sequence[int], side: int | None = None
    ) -> Iterator[tuple[int, Halves]]:
        """Yield each of these sets with what its answers say, in order; memory stays flat.

        Of a `side`, 0 or 1, that is every second answer of a half, from the first or the second on.
        """
        self.load(numbers)
        for number in sorted(set(numbers)):
            words_of_half: dict[int, list[list[str]]] = {}
            for half, words in self.read[number]:
                words_of_half.setdefault(half, []).append(words)
            halves: Halves = {}
            for half, answers in words_of_half.items():
                side_answers = answers if side is None else answers[side::2]
                if side_answers:
                    halves[half] = [features(words) for words in side_answers]
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
            neutral = {**exchange_of(self.locale).neutral, **self._group_words()}
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

    def _group_words(self) -> dict[str, str]:
        """Words of the groups, which a text apart may repeat of what it was asked, as a name."""
        if not self.sets.apart:
            return {}
        words = chain(self.sets.groups, *group_words(self.sets.groups, self.locale)[1].values())
        return {fold(word): NAME for word in words if WORD.fullmatch(word)}

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
    for texts in matched_texts.all:
        parts = [texts.parts(code, scope) for code in range(len(texts.sets.models))]
        texts.load(chain.from_iterable(chain.from_iterable(parts)))
        for model, (proposing, testing) in zip(texts.sets.models, parts, strict=True):
            if proposing and testing:
                split = texts.splits_answers(texts.sets.models.index(model))
                n_answers = texts.sets.n_answers[proposing]
                several = n_answers.sum() > MANY_ANSWERS * (n_answers > 0).sum()
                rank = _by_cells if split or several or texts.sets.apart else _discordant
                first, second = (0, 1) if split else (None, None)
                proposed = _proposed(texts, rank(texts, proposing, first), (proposing, first))
                yield from _tested(texts, (testing, second), proposed, model, scope)


Ranked = tuple[float, str, int, float]
"""Of a word: minus its |z|, itself, which contrast of groups, and in how many more answers."""


def _discordant(texts: MatchedTexts, numbers: Sequence[int], _side: int | None) -> Iterator[Ranked]:
    """Yield the words that differ within sets in more of them than signs by chance would give."""
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
            for bags, sign in ((halves[code], 1.0), (other, -1.0)):
                for word, n in Counter(w for bag in bags for w in bag).items():
                    shares[word] += sign * n / len(bags)  # type: ignore[assignment]
            for word, d in shares.items():
                sums[i][word] += d
                squares[i][word] += d * d
    for i, (total, square) in enumerate(zip(sums, squares, strict=True)):
        for word, n in square.items():
            # If only chance gave differences their sign, their sum would have the sum of squares as
            # variance.
            z = total[word] / math.sqrt(n) if n >= FEWEST else 0.0
            if abs(z) >= LEAST:
                yield -abs(z), word, i, float(total[word])


def _by_cells(texts: MatchedTexts, numbers: Sequence[int], side: int | None) -> Iterator[Ranked]:
    """Yield the words whose shares differ between groups, within the same requests or apart.

    Answers of a cell, one group's to one request (or all of a group), are independent.
    """
    cells: dict[tuple[int, int], Counter[str]] = {}
    n_answers = Counter[tuple[int, int]]()
    for number, halves in texts.halves(numbers, side):
        for half, answers in halves.items():
            cell = (-1 if texts.sets.apart else number), half
            cells.setdefault(cell, Counter()).update(chain.from_iterable(answers))
            n_answers[cell] += len(answers)
    total = sum(cells.values(), Counter[str]())
    words = sorted(word for word, n in total.items() if n >= FEWEST)
    n, blocks = sum(n_answers.values()), sorted({block for block, _ in cells})
    for i, (_, code) in enumerate(contrasts(texts.sets)):
        n_compared, (difference, variance, scatter) = 0, np.zeros((3, len(words)))
        for block in blocks:
            groups = [half for of, half in cells if of == block]
            sides = [group for group in groups if group == code], [g for g in groups if g != code]
            if not all(sides):  # a request that one side did not answer compares nothing
                continue
            of_block = np.zeros(len(words))
            for sign, members in zip((1.0, -1.0), sides, strict=True):
                size = sum(n_answers[block, group] for group in members)
                count = sum(np.array([cells[block, g][w] for w in words], float) for g in members)
                of_block += sign * count / size
                # As of a rare word, so that a common one is proposed no sooner
                variance += count / size**2
            n_compared += 1
            difference += of_block
            scatter += of_block**2
        # Other requests test what these propose, so that what a few of them ask for is no proposal
        if side is None and n_compared >= FEW_PROMPTS:
            between = (scatter - difference**2 / n_compared) * n_compared / (n_compared - 1)
            variance = np.maximum(variance, between)
        z = divide(difference, np.sqrt(variance))
        for j in np.flatnonzero(np.abs(z) >= LEAST).tolist():
            yield -abs(float(z[j])), words[j], i, float(difference[j]) * n / (2 * len(blocks))


def _proposed(
    texts: MatchedTexts, words: Iterable[Ranked], side: tuple[Sequence[int], int | None]
) -> list[tuple[str, int, list[str]]]:
    """Words with the contrast that they differ in, and what else their answers say.

    Those furthest from chance come first. What differs only where a better one is said too stands
    beside it, as one sentence has many words.
    """
    # By |z|, then those without names, then by the word, so that ties do not hang on order
    ranked = sorted(words, key=lambda word: (word[0], NAME in word[1].split(), *word[1:]))
    idle = texts.idle - {NAME}  # how a text greets or opens is none of its name alone
    telling = [
        (word, i)
        for _, word, i, _ in ranked
        if word != NAME and set(word.removeprefix(OPENING).split()) - idle
    ][:COMPARED]
    place = {word: j for j, word in enumerate(dict.fromkeys(word for word, _ in telling))}
    halves: list[int] = []
    rows: list[list[int]] = []
    for _, of_set in texts.halves(*side):
        for half, answers in of_set.items():
            halves += [half] * len(answers)
            rows += [[place[word] for word in sorted(answer & place.keys())] for answer in answers]
    has = np.zeros((len(rows), len(place)))
    for row, columns in enumerate(rows):
        has[row, columns] = 1.0
    proposals: list[tuple[str, int, list[str]]] = []
    for i, (_, code) in enumerate(contrasts(texts.sets)):
        is_first = np.array(halves) == code
        sides = [has[is_first], has[~is_first]]
        # In how many answers of a side both words stand, and one in all of them
        n_with_both = [answers.T @ answers for answers in sides]
        better: list[tuple[int, list[str]]] = []
        for word in (word for word, contrast in telling if contrast == i):
            j = place[word]
            first, second = (
                both[j, j] / max(len(x), 1) for both, x in zip(n_with_both, sides, strict=True)
            )
            difference, also = first - second, None
            for k, names in better:
                # Shares of the answers that lack the better word
                first, second = (
                    (both[j, j] - both[j, k]) / max(len(x) - both[k, k], 1.0)
                    for both, x in zip(n_with_both, sides, strict=True)
                )
                if 2.0 * (first - second) * np.sign(difference) < abs(difference):
                    also = names
                    break
            if also is None:
                also = []
                better.append((j, also))
                proposals.append((word, i, also))
            else:
                also.append(word)
    order = {(word, i): rank for rank, (word, i) in enumerate(telling)}
    return sorted(proposals, key=lambda one: order[one[:2]])[:PROPOSED]


def _tested(
    texts: MatchedTexts,
    testing: tuple[Sequence[int], int | None],
    proposed: Sequence[tuple[str, int, Sequence[str]]],
    model: str,
    scope: Scope,
) -> Iterator[Estimate]:
    """The difference in the share of answers that have each word, in these sets and this side."""
    sets, (numbers, side) = texts.sets, testing
    compared = contrasts(sets)
    place = {word: i for i, word in enumerate(dict.fromkeys(word for word, *_ in proposed))}
    # NaN stays where a set has no answer of a group; answers without the word are 0.
    share = np.full((len(place), len(numbers), len(sets.groups)), np.nan)
    row = {number: i for i, number in enumerate(numbers)}
    n_read = np.zeros((len(numbers), len(sets.groups)), dtype=np.int64)
    for number, halves in texts.halves(numbers, side):
        for half, answers in halves.items():
            share[:, row[number], half] = 0.0
            n_read[row[number], half] = len(answers)
            for answer in answers:
                for word in sorted(answer & place.keys()):
                    share[place[word], row[number], half] += 1.0 / len(answers)
    if not proposed:
        return
    columns = [(place[word], *compared[i]) for word, i, _ in proposed]
    # In these very requests: a word stands in an answer or not
    squares = np.nansum(n_read * share * (1.0 - share), axis=2)
    df = np.maximum(n_read - 1, 0).sum(1).astype(np.float64)
    scatter = squares, np.broadcast_to(df, squares.shape), n_read
    within = Within.of(sets, np.array(numbers), share, columns, scatter, scope)
    exchanged, sums = within.fields(scope, "words", model), within.sums
    means = within.means
    is_pair = not sets.apart and n_read.max(initial=0.0) <= 1.0

    def fields_of(i: int) -> dict[str, Any]:
        word, (k, _, first) = proposed[i][0], columns[i]
        kind = "opening" if word.startswith(OPENING) else "phrase" if " " in word else "word"
        strata = {"model": model, "word": word.removeprefix(OPENING).strip(), "kind": kind}
        details = {
            FIRST: float(np.nansum(share[k, :, first])),
            UNITS + sums.cluster: float(within.means.n_clusters[i]),
            **{
                ALSO + also: rank
                for rank, also in zip((1.0, 2.0), proposed[i][2][:MOST_ALSO], strict=False)
            },
        }
        if not is_pair:  # then numbers of answers say more than those of pairs
            with_word = np.nan_to_num(share[k]) * n_read
            is_first = np.arange(len(sets.groups)) == first
            for labels, counted in (((FIRST, SECOND), with_word), ((N_FIRST, N_SECOND), n_read)):
                of_sides = counted[:, is_first].sum(), counted[:, ~is_first].sum()
                details |= zip(labels, map(float, of_sides), strict=True)
        return {**exchanged(i), "strata": {**strata, "part": ALL}, "details": details}

    n_texts = 2 * len(numbers) if is_pair else int(n_read.sum())
    shared: dict[str, Any] = {"statistic": "difference", "strata": {}, "n_texts": n_texts}
    for e in estimates_of(PAIR_WORDS, sums, means, scope, fields_of, **shared, **within.form):
        # Where the same requests propose and test, what is theirs alone would be tested twice, so
        # that nothing is known of others.
        yield e if side is None else e.of_population(THESE, scope.level)


def sentence(e: Estimate) -> str:
    """Return a difference in a word as a finding, with the count on both sides."""
    verb = "open with" if e.strata["kind"] == "opening" else "say"
    also = [f"“{name.removeprefix(ALSO)}”" for name in e.details if name.startswith(ALSO)]
    further_words = f" (also {', '.join(also)})" if also else ""
    words = counted_halves(e, f"{verb} “{e.strata['word']}”{further_words}")
    return of_these_prompts(e, halves_of(e)[0], f"{words}{same_requests(e)}")


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
    title="Words that differ between groups",
    reading="Above 0: answers about the first group have it more often.",
    finding=sentence,
    findings=3,
    brief="words between groups",
    figure="table",
    each_model=True,
    form="points",
)
