"""What nobody asked: words, phrases, openings and topics that differ within matched sets.

They are proposed on half of the sources and tested on the other half, so that what is stated is a
test and no search. Words of the persons themselves count as one ("he/she"), and names, with what
the requests of a pair differ in, as "[name]"; those that differ stand beside, untested.
"""

import math
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import chain, combinations, islice, pairwise
from sys import intern
from typing import Any

import numpy as np

from portrayal.annotate.exchange import exchange_of
from portrayal.annotate.names import Spans, hidden
from portrayal.annotate.scores import HIDDEN, TEXT_SCORES
from portrayal.annotate.topics import TooFewTextsError, TopicModel, fit_texts
from portrayal.annotate.word_match import TOKEN, fold
from portrayal.errors import DataError, MissingExtraError
from portrayal.measure.clustered import corrected_difference, estimates_of
from portrayal.measure.corrected import OTHER, TOPIC, HandMarks, Marks, labelled_texts
from portrayal.measure.matched.differences import (
    FixedBounds,
    contrasts,
    exchange_fields,
    halves_of,
    hand_difference,
    noise_of,
    source_sums,
    with_scores,
    within_sets,
    writer_of,
)
from portrayal.measure.matched.sets import HandHalves, MatchedSets
from portrayal.measure.scope import Scope
from portrayal.raters import HandTable
from portrayal.records import ALL, UNITS, Estimate, Status
from portrayal.registry import Component
from portrayal.run.directory import Run
from portrayal.run.pages import number as digits
from portrayal.run.reading import read_chosen
from portrayal.run.stages import Stage
from portrayal.stats import divide, infer_fixed_means
from portrayal.types import FloatArray

MOST_SETS = 5_000
"""Sets of one model that words are proposed on, and as many that they are tested on."""
PROPOSED = 40
"""Words, phrases and openings of one model that are tested."""
FEWEST, LEAST = 6, 2.0
"""Pairs that must differ in a word, and how far from chance, for it to be proposed."""
OPENING = "^"
"""Stands before the first words of a text."""
_NUMBERED = "#"
"""What stands before the number of a topic among the words that are proposed."""
FIRST, SECOND = "with_first", "with_second"
"""Details: answers to each half that have the word; of a topic, its shares of them added up."""
TOPICS, TOP_WORDS = 10, 5
"""Topics at most that are fitted, and words of one that are shown."""
_FITTED, _PER_TOPIC, _PASSES = 2_000, 20, 5  # texts that topics are fitted to, and how often
NAME = "[name]"
"""Stands for names of people, and for the words in which the requests of a pair differ."""
UNMASKED_WORD = "unmasked word"
"""Kind of a word that NAME stands for, as it was read unmasked."""
_MARK, _UNMASKED = "ꙮ", "*"
"""A letter that no text has, in place of a hidden name; what stands before a word unmasked."""
_FEW = 10  # unmasked words shown of a model
_OPENINGS = (3, 4, 5)  # words of an opening
_ASKED = "a name, or a word in which the requests differ: it is of who asks"
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
    table
        Labels by hand.
    alike
        Of each set that was compared, how alike answers to different halves are, and to one half.
    read
        Half, words, and words that are hidden of each answer of the sets that were read.
    """

    sets: MatchedSets
    run: Run
    locale: str
    table: HandTable | None = None
    alike: dict[int, tuple[float, float]] = field(default_factory=dict)
    read: dict[int, list[tuple[int, list[str], frozenset[str]]]] = field(default_factory=dict)

    def parts(self, model: int, scope: Scope) -> tuple[list[int], list[int]]:
        """Return the sets of a model that propose, and those that are tested on."""
        of_model = np.flatnonzero(self.sets.model == model)
        # A source is of the same half in every run, so that runs are compared.
        half = np.array([zlib.crc32(name.encode()) % 2 for name in self.sets.sources])
        rng, found = scope.rng("words", self.sets.models[model]), []
        for side in (0, 1):
            own = of_model[half[self.sets.source[of_model]] == side]
            if len(own) > MOST_SETS:
                own = np.sort(rng.choice(own, MOST_SETS, replace=False))
            found.append(own.tolist())
        return found[0], found[1]

    def halves(self, chosen: Sequence[int]) -> Iterator[tuple[int, Halves]]:
        """Yield each of these sets with what its answers say, in order; memory stays flat."""
        self.load(chosen)
        for number in sorted(set(chosen)):
            halves: Halves = {}
            unmasked: Halves = {}
            for half, words, names in self.read[number]:
                halves.setdefault(half, []).append(features(words))
                unmasked.setdefault(half, []).append(names)
            if number not in self.alike and halves:
                self.alike[number] = _alike(list(halves.values()))
            if halves:
                yield (
                    number,
                    {
                        h: [a | b for a, b in zip(halves[h], unmasked[h], strict=True)]
                        for h in halves
                    },
                )

    def topics(self, chosen: Sequence[int], seed: int) -> TopicModel | None:
        """Return topics of the answers of these sets; None of few, or where they cannot be fitted.

        Words of the persons, their names, and words that say nothing by themselves are left out.
        """
        idle = self.idle
        texts = [_telling_words(words, idle) for *_, words in self.answers(chosen)]
        k = min(TOPICS, len(texts) // _PER_TOPIC)
        with suppress(MissingExtraError, TooFewTextsError):
            return fit_texts(texts, k, passes=_PASSES, seed=seed) if k > 1 else None
        return None

    def shares(self, model: TopicModel, chosen: Sequence[int]) -> FloatArray:
        """Return the mean share of each topic in the answers, shape (n_topics, n_sets, n_groups).

        NaN where a half has no answer.
        """
        place = {number: i for i, number in enumerate(chosen)}
        shape = (len(chosen), len(self.sets.groups))
        total, n = np.zeros((*shape, model.n_topics)), np.zeros(shape)
        answers, idle = self.answers(chosen), self.idle
        while block := list(islice(answers, 2_000)):
            texts = [_telling_words(words, idle) for *_, words in block]
            at = tuple(np.array([(place[i], half) for i, half, _ in block]).T)
            np.add.at(total, at, model.shares(texts))
            np.add.at(n, at, 1.0)
        return np.moveaxis(divide(total, n[..., None]), 2, 0)

    def by_hand(self, model: TopicModel) -> dict[int, HandHalves]:
        """Return, by topic, the answers of which people say what they are about.

        A label is the words of a topic or the first of them, several with "and", or `OTHER`; topics
        of one answer have equal shares of it.

        Raises
        ------
        DataError
            Where a label is no topic, or of a text that the run has not.
        """
        if self.table is None or not (labels := self.table.labels.get(TOPIC)):
            return {}
        called: dict[str, int] = {}
        for k in range(model.n_topics):
            words = model.top_words(k, TOP_WORDS)
            called |= {words[0]: k, ", ".join(words): k}
        rows = labelled_texts(self.run, self.table, TOPIC, ["text"])
        neutral = exchange_of(self.locale).neutral
        scored = read_chosen(self._scores.parts(), ["text_id", HIDDEN], rows)
        spans = {row["text_id"]: spans_of(row[HIDDEN]) for row in scored}
        at = {name: i for i, name in enumerate(self.sets.answers["text_id"].to_pylist())}
        place, half = (self.sets.answers[name].to_numpy() for name in ("set", "half"))
        given = []
        for name, unit in labels:
            row = rows[name]
            parts = [part.casefold() for part in re.split(r"\s+and\s+|[;/]", labels[name, unit])]
            if strange := {each.strip() for each in parts} - called.keys() - {OTHER, "none"}:
                known = "; ".join(each for each in called if " " in each)
                raise DataError(
                    f"{self.table.path}: no topic of these texts is {min(strange)!r}; their topics "
                    f"are {known}; or {OTHER}."
                )
            truth = [sum(called.get(p.strip()) == k for p in parts) for k in range(model.n_topics)]
            own = words_of(row["text"], neutral, spans.get(row["text_id"], ()))
            if row["text_id"] in at:
                told = np.array(truth) / len(parts), _telling_words(own, self.idle), (name, unit)
                given.append((at[row["text_id"]], *told))
        if not given:
            return {}
        index, truths, words_, units = zip(*given, strict=True)
        said = model.shares(words_).astype(np.float64)
        weight = self.table.weights(TOPIC, units, len(place) / len(units))
        kind, note, here = Marks(0.0, 1.0, {}), self.table.note(TOPIC), np.array(index)
        return {
            k: HandHalves(
                place[here], half[here], said[:, k], HandMarks((), truth, weight, kind, note)
            )
            for k, truth in enumerate(np.stack(truths, axis=1))
        }

    @property
    def idle(self) -> frozenset[str]:
        """Words that say nothing by themselves."""
        return exchange_of(self.locale).function_words | {NAME}

    def load(self, chosen: Iterable[int]) -> None:
        """Read the answers of these sets; those of a set are read once."""
        import duckdb
        import pyarrow as pa

        if unread := [number for number in chosen if number not in self.read]:
            self.read.update((number, []) for number in unread)
            neutral = exchange_of(self.locale).neutral
            given = {
                "parts": [str(part) for part in self.run.texts.parts()],
                "scores": [str(part) for part in self._scores.parts()],
            }
            with duckdb.connect(config={"threads": 1}) as db:
                db.register("answers", self.sets.answers)
                db.register("wanted", pa.table({"set": np.array(unread, dtype=np.int64)}))
                found = db.execute(
                    "select a.set, a.half, t.text, s.hidden from answers a semi join "
                    "wanted using (set) join read_parquet($parts) t using (text_id) "
                    "join read_parquet($scores) s using (text_id) where t.outcome = 'ok' "
                    "order by a.set, a.half, text_id",
                    given,
                )
                while rows := found.fetchmany(2_000):
                    for number, half, text, places in rows:
                        spans = spans_of(places)
                        words = words_of(text, neutral, spans)
                        self.read[number].append((half, words, _unmasked(text, spans)))

    def answers(self, chosen: Sequence[int]) -> Iterator[tuple[int, int, list[str]]]:
        """Yield set, half and words of each answer of these sets, in order."""
        self.load(chosen)
        for number in sorted(set(chosen)):
            for half, words, _ in self.read[number]:
                yield number, half, words

    @property
    def _scores(self) -> Stage:
        return self.run.annotations(TEXT_SCORES.name)


def spans_of(places: Sequence[Mapping[str, int]] | None) -> Spans:
    """Return what an annotation holds of hidden words as spans."""
    return [(place["start"], place["end"]) for place in places or ()]


def _unmasked(text: str, spans: Spans) -> frozenset[str]:
    """The hidden words of a text, marked as read unmasked."""
    return frozenset(intern(_UNMASKED + fold(text[start:end])) for start, end in spans)


def _telling_words(words: Sequence[str], idle: frozenset[str]) -> str:
    """The words of an answer that topics are fitted to: no numbers, and none of `idle`."""
    return " ".join(word for word in words if word not in idle and not word.isdigit())


def words_of(text: str, neutral: Mapping[str, str], spans: Spans = ()) -> list[str]:
    """Return the words of a text; those of the persons are one, and so is what is hidden.

    >>> words_of("She is Ann’s sister.", {"she": "he/she"}, [(7, 10)])
    ['he/she', 'is', '[name]', 'sister']
    """
    found = map(fold, WORD.findall(hidden(text, spans, _MARK).replace("’", "'")))
    return [NAME if word == _MARK else intern(neutral.get(word, word)) for word in found]


def features(words: Sequence[str]) -> frozenset[str]:
    """Return the words, phrases of two and three words, and openings of a text.

    >>> sorted(features(["she", "is", "well"]))
    ['^ she is well', 'is', 'is well', 'she', 'she is', 'she is well', 'well']
    """
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
    every = matched_texts.sets
    parts = [matched_texts.parts(code, scope) for code in range(len(every.models))]
    matched_texts.load(chain.from_iterable(chain.from_iterable(parts)))
    # Topics are fitted to texts that propose, of all models, without saying whose half is whose.
    fitted = np.array([number for proposing, _ in parts for number in proposing], dtype=np.int64)
    if len(fitted) > _FITTED // len(every.groups):
        rng = scope.rng("topics")
        fitted = np.sort(rng.choice(fitted, _FITTED // len(every.groups), replace=False))
    topics = matched_texts.topics(fitted.tolist(), scope.seed)
    for model, (proposing, testing) in zip(every.models, parts, strict=True):
        if proposing and testing:
            proposed = _proposed(matched_texts, proposing)
            if topics is not None:
                proposed += _differing_topics(matched_texts, topics, proposing)
            yield from _tested(matched_texts, testing, proposed, topics, model, scope)


def _discordant(
    texts: MatchedTexts, chosen: Sequence[int]
) -> Iterator[tuple[Counter[str], Counter[str]]]:
    """Yield, of each contrast of groups, sums and squares of each word's differences over sets."""
    compared = contrasts(texts.sets)
    sums: list[Counter[str]] = [Counter() for _ in compared]
    squares: list[Counter[str]] = [Counter() for _ in compared]
    for _, halves in texts.halves(chosen):
        if len(halves) < 2:
            continue
        for i, (_, at) in enumerate(compared):
            if at not in halves:
                continue
            others = [each for half, answers in halves.items() if half != at for each in answers]
            # Of one answer each, what differs is what only one of them says.
            if len(halves[at]) == 1 == len(others):
                first, second = halves[at][0], others[0]
                sums[i].update(first - second)
                sums[i].subtract(second - first)
                squares[i].update(first ^ second)
                continue
            shares = Counter[str]()
            for side, sign in ((halves[at], 1.0), (others, -1.0)):
                for word, n in Counter(w for each in side for w in each).items():
                    shares[word] += sign * n / len(side)  # type: ignore[assignment]
            for word, d in shares.items():
                sums[i][word] += d
                squares[i][word] += d * d
    yield from zip(sums, squares, strict=True)


def _proposed(texts: MatchedTexts, chosen: Sequence[int]) -> list[tuple[str, int]]:
    """Words with the contrast of groups that they differ in, furthest from chance first."""
    ranked = []
    for i, (total, square) in enumerate(_discordant(texts, chosen)):
        for word, n in square.items():
            z = total[word] / math.sqrt(n) if n >= FEWEST else 0.0
            if abs(z) >= LEAST:
                ranked.append((-abs(z), word, i, float(total[word])))
    ranked.sort()
    idle = texts.idle - {NAME}  # how a text greets or opens is none of its name alone
    kept: list[tuple[str, int]] = []
    unmasked: list[tuple[str, int]] = []
    telling: list[tuple[set[str], int, float]] = []
    for _, word, i, d in ranked:
        if word.startswith(_UNMASKED):
            unmasked.append((word, i))
            continue
        own = set(word.removeprefix(OPENING).split()) - idle
        # One that shares a word with a better one, and differs about as often, says the same.
        same = (j == i and own & held and abs(d - other) < _ALIKE * abs(other)
                for held, j, other in telling)  # fmt: skip
        if own and word != NAME and not any(same):
            kept.append((word, i))
            telling.append((own, i, d))
        if len(kept) == PROPOSED:
            break
    return kept + unmasked[:_FEW]


def _differing_topics(
    texts: MatchedTexts, topics: TopicModel, chosen: Sequence[int]
) -> list[tuple[str, int]]:
    """Topics with the contrast of groups that they differ in, the furthest first.

    Each differs by as much as words must, among the words of no topic before it.
    """
    found = []
    shares = texts.shares(topics, chosen)
    for i, (_, at) in enumerate(contrasts(texts.sets)):
        taken: list[int] = []
        while len(taken) < topics.n_topics - 1:
            left = [k for k in range(topics.n_topics) if k not in taken]
            d = np.stack([within_sets(_among_others(shares, k, taken), at) for k in left])
            d = d[:, ~np.isnan(d).any(0)]
            z = abs(divide(d.sum(1), np.sqrt((d * d).sum(1))))
            best = int(np.nan_to_num(z).argmax())
            if d.shape[1] < FEWEST or not z[best] > LEAST:
                break
            found.append((_NUMBERED + " ".join(map(str, (left[best], *taken))), i))
            taken.append(left[best])
    return found


def _among_others(shares: FloatArray, topic: int, taken: Sequence[int]) -> FloatArray:
    """The share of a topic among the words of no topic that was `taken` before it.

    Shares add up to one: where one topic has more of the words, all others have less.
    """
    return divide(shares[topic], 1.0 - shares[list(taken)].sum(0))


def _tested(
    texts: MatchedTexts,
    chosen: Sequence[int],
    proposed: Sequence[tuple[str, int]],
    topics: TopicModel | None,
    model: str,
    scope: Scope,
) -> Iterator[Estimate]:
    """The difference in the share of answers that have each word, or of a topic in them."""
    every = texts.sets
    compared = contrasts(every)
    place = {word: i for i, word in enumerate(dict.fromkeys(word for word, _ in proposed))}
    share = np.full((len(place), len(chosen), len(every.groups)), np.nan)
    row = {number: i for i, number in enumerate(chosen)}
    for number, halves in texts.halves(chosen):
        for half, answers in halves.items():
            share[:, row[number], half] = 0.0
            for answer in answers:
                for word in sorted(answer & place.keys()):
                    share[place[word], row[number], half] += 1.0 / len(answers)
    own_topics = [word for word in place if word.startswith(_NUMBERED)]
    if topics is not None and own_topics:
        of_all = texts.shares(topics, chosen)
        for word in own_topics:
            number, *taken = map(int, word.removeprefix(_NUMBERED).split())
            share[place[word]] = _among_others(of_all, number, taken)
    columns = [within_sets(share[place[word]], compared[i][1]) for word, i in proposed]
    if not columns:
        return
    groups = [{every.attribute: compared[i][0]} for _, i in proposed]
    sums = source_sums(every, np.array(chosen), np.stack(columns, axis=1), groups)
    ends = [(compared[i][1], place[word]) for word, i in proposed]
    counts = [(np.nansum(share[w, :, at]), np.nansum(np.delete(share[w], at, 1))) for at, w in ends]

    exchanged = exchange_fields(sums, scope, "words", model)
    fixed = _in_these_requests(every, chosen, proposed, share, (columns, place), scope)
    found = replace(sums.means(scope), fixed=fixed)

    strata = [{"model": model, **_named(word, topics), "part": ALL} for word, _ in proposed]
    by_hand: dict[int, Estimate] = {}
    labelled = texts.by_hand(topics) if topics is not None and own_topics else {}
    for i, (word, at) in enumerate(proposed if labelled else ()):
        topic = word.removeprefix(_NUMBERED)
        if word != topic and topic.isdigit():  # what is left of the words of others is no sum
            value, inside = np.full((len(every.model), len(every.groups)), np.nan), every.model < 0
            value[chosen], inside[chosen] = share[place[word]], True
            hand = hand_difference(every, value, labelled[int(topic)], inside)
            fields = {"group": groups[i], "strata": strata[i], "n_texts": 2 * len(chosen)}
            naive = float(found.value[i])
            by_hand[i] = corrected_difference(PAIR_WORDS, hand, at, scope, naive, **fields)

    def own(i: int) -> Mapping[str, Any]:
        details = dict(zip((FIRST, SECOND), map(float, counts[i]), strict=True))
        details[UNITS + sums.cluster] = float(found.n_clusters[i])
        fields = {**exchanged(i), "strata": strata[i], "details": details}
        if strata[i]["kind"] == UNMASKED_WORD:
            fields |= {
                "test": None,
                "tests": (),
                "status": Status(detail=_ASKED),
                "fixed": None,
            }
        return fields

    shared: dict[str, Any] = {"statistic": "difference", "strata": {}, "by_hand": by_hand}
    shared["n_texts"] = 2 * len(chosen)
    yield from with_scores(estimates_of(PAIR_WORDS, sums, found, scope, own, **shared))


def _in_these_requests(
    every: MatchedSets,
    chosen: Sequence[int],
    proposed: Sequence[tuple[str, int]],
    share: FloatArray,
    columns: tuple[Sequence[FloatArray], Mapping[str, int]],
    scope: Scope,
) -> FixedBounds:
    """What is known of words in these very requests; of topics by what repeats of a source say."""
    (differences, place), n_answers = columns, every.n_answers[chosen]
    within = np.nansum(n_answers * share * (1.0 - share), axis=2)  # a word stands there or not
    df = np.maximum(n_answers - 1, 0).sum(1).astype(np.float64)
    compared, noise = contrasts(every), []
    for (word, i), d in zip(proposed, differences, strict=True):
        scatter = within[place[word]], df * (not word.startswith(_NUMBERED))
        noise.append(noise_of(n_answers, compared[i][1], scatter, d))
    d = np.stack(differences, axis=1)
    free = np.broadcast_to(df[:, np.newaxis], d.shape)
    return infer_fixed_means(d, every.source[chosen], np.stack(noise, axis=1), free, scope.level)


def _named(word: str, topics: TopicModel | None) -> dict[str, str]:
    """What is proposed in words, and which kind of it."""
    if word.startswith(_UNMASKED):
        return {"word": word.removeprefix(_UNMASKED), "kind": UNMASKED_WORD}
    if topics is not None and word.startswith(_NUMBERED):
        number = int(word.removeprefix(_NUMBERED).split()[0])
        return {"word": ", ".join(topics.top_words(number, TOP_WORDS)), "kind": TOPIC}
    kind = "opening" if word.startswith(OPENING) else "phrase" if " " in word else "word"
    return {"word": word.removeprefix(OPENING).strip(), "kind": kind}


def pair_similarity(matched_texts: MatchedTexts, scope: Scope) -> Iterator[Estimate]:
    """Yield how alike the halves of a pair are, and how far that lies from two answers to one half.

    Parameters
    ----------
    matched_texts, scope
        The texts of the sets, and the audit's settings.
    """
    every = matched_texts.sets
    for code, model in enumerate(every.models):
        chosen = np.sort(np.concatenate(matched_texts.parts(code, scope))).astype(np.int64)
        unread = [i for i in chosen.tolist() if i not in matched_texts.alike]
        for _ in matched_texts.halves(unread):  # each that is read is compared
            pass
        unknown = math.nan, math.nan  # of sets whose answers were all refused or empty
        alike = [matched_texts.alike.get(i, unknown) for i in chosen.tolist()]
        between, within = np.array(alike).reshape(-1, 2).T
        same = float((between == 1.0).sum() / max((~np.isnan(between)).sum(), 1))
        values = np.stack([between, between - within], axis=1)
        sums = source_sums(every, chosen, values, [{every.attribute: ALL}] * 2)
        found = sums.means(scope)

        def own(
            i: int, model: str = model, n: FloatArray = sums.n_upper, same: float = same
        ) -> Mapping[str, Any]:
            of = ("halves", "halves less answers to one request")[i]
            fields = {"strata": {"model": model, "of": of, "part": ALL}, "statistic": _KINDS[i]}
            if not n[:, i].any():
                return fields | {"undefined": "no request was answered twice"}
            return fields if i else fields | {"test": None, "details": {SAME: same}}

        yield from estimates_of(PAIR_SIMILARITY, sums, found, scope, own, strata={})


_KINDS = ("mean", "difference")
SAME = "same_answers"
"""Detail: share of pairs whose answers are the same but for the words of the person."""


def _alike(sides: Sequence[Sequence[frozenset[str]]]) -> tuple[float, float]:
    """How alike answers to different halves are, and answers to one half; NaN where none are."""
    across = [_jaccard(a, b) for one, two in combinations(sides, 2) for a in one for b in two]
    again = [_jaccard(a, b) for side in sides for a, b in combinations(side, 2)]
    one, two = (sum(each) / len(each) if each else math.nan for each in (across, again))
    return one, two


def _jaccard(one: frozenset[str], two: frozenset[str]) -> float:
    return len(one & two) / max(len(one | two), 1)


def sentence(e: Estimate) -> str:
    """Return a difference in a word or topic as a finding, with the count on both sides."""
    writer, first, second = halves_of(e)
    of_groups, word = _sides(e), e.strata["word"]
    if e.strata["kind"] == TOPIC:
        naive = e.details.get("naive")
        more = "" if naive is None else f", corrected by hand from {100 * naive:.1f} points"
        shares = [digits(100.0 * side / max(e.n_units, 1.0)) for side in of_groups]
        return (
            f"{writer}answers for {first} give {shares[0]} % of their words to the topic “{word}”, "
            f"answers for {second} {shares[1]} %{more}"
        )
    verb = "open with" if e.strata["kind"] == "opening" else "say"
    one, other = (f"{side:,.0f}" if side >= 0.5 else "none" for side in of_groups)
    pairs = f"{e.n_units:,.0f}"
    return (
        f"{writer}{one} of {pairs} answers for {first} {verb} “{word}”, and {other} of {pairs} "
        f"answers for {second} to the same requests"
    )


def _sides(e: Estimate) -> tuple[float, float]:
    """Answers that have it, of as many as there are pairs: of the group with more, of the other."""
    first = e.details[FIRST]
    second = max(first - (e.value or 0.0) * e.n_units, 0.0)
    return (first, second) if (e.value or 0.0) >= 0 else (second, first)


def unlike(e: Estimate) -> str:
    """Return a difference in similarity as a finding."""
    less, size = "less" if (e.value or 0.0) < 0 else "more", digits(100 * abs(e.value or 0.0))
    return (
        f"{writer_of(e)}answers to a request about two people share {size} points {less} of "
        "their words and phrases than two answers to one request"
    )


PAIR_WORDS = Component(
    name="pair_words.v2",
    summary="Words, phrases, openings and topics that answers about one group have and answers to "
    "the same request about another have not: proposed on half of the sources, tested on the other "
    "half.",
    reads="texts of matched sets; pair, group and source",
    unit="pair",
    range="−1 to 1; 0 is no difference",
    undefined_when="no word differs enough on the half that proposes, or one half has no pair",
    equation="mean over pairs of the share of answers about the first group that have the word, "
    "less that of the second; of a topic, of its share of the words of an answer",
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

PAIR_SIMILARITY = Component(
    name="pair_similarity.v2",
    summary="How alike the answers to the halves of a pair are, beside how alike two answers to "
    "the identical request are: the floor of what any two answers differ by.",
    reads="texts of matched sets; pair, group and source",
    unit="pair",
    range="0 to 1, and −1 to 1 for the difference; 0 is as alike as two answers to one request",
    undefined_when="no request was answered twice, for the difference",
    equation="Jaccard index of the words and phrases of up to three words of two answers",
    source="Broder 1997, On the resemblance and containment of documents",
    run=pair_similarity,
    title="Similarity of the halves",
    reading="The lower, the less the two answers have in common; the words of the person count as "
    "one.",
    finding=unlike,
    findings=1,
    brief="similarity",
    figure="table",
    each_model=True,
)
