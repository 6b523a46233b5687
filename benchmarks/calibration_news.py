"""Simulated originals and texts at the document level of the news, and what its tests say of them.

The levels and estimates are the audit's own (`document_levels`, the measures of pairs). Topics are
known, or fitted to the simulated words.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.sparse import vstack

from benchmarks.calibration_worlds import Rng
from portrayal.annotate.topics.fit import fit_lda
from portrayal.annotate.topics.model import TopicModel, TopicTexts, count_words
from portrayal.measure.pairs.changes import GROUP_CHANGE, PAIRED_DISTANCE, PREJUDICE_RATE
from portrayal.measure.pairs.estimates import ONE_EACH
from portrayal.measure.pairs.table import Paired, Texts, exchange_within
from portrayal.measure.pairs.topics import NULL, document_levels, topics_of
from portrayal.measure.scope import Scope
from portrayal.types import FloatArray, IntArray

WORDS = 8  # of each sentence
ALIKE = "nothing differs"
MEASURES = (PAIRED_DISTANCE, PREJUDICE_RATE, GROUP_CHANGE)


@dataclass(frozen=True)
class News:
    """Originals with texts: how many, and in what they differ.

    Attributes
    ----------
    pairs, texts
        Originals, and texts of each.
    subject
        How much a text of an original has a subject of its own: parameter of the Dirichlet of its
        topics around the original's headline, less is more; 0 for none.
    bias
        By how much the log weight of a topic that only men have rises in texts, and falls for
        women's.
    style
        SD of the log weight by which texts take other topics than originals, whoever they are of.
    length
        Sentences of a text for one of an original.
    topics, sentences
        True topics, and sentences of an original.
    fitted
        Whether topics are fitted, or known.
    """

    pairs: int = 40
    texts: int = 7
    subject: float = 10.0
    bias: float = 0.0
    style: float = 0.0
    length: float = 1.0
    topics: int = 12
    sentences: int = 15
    fitted: bool = False

    def __str__(self) -> str:
        """What differs from the plain world."""
        plain = News()
        names = ("subject", "bias", "style", "length")
        found = [f"{n} {getattr(self, n)}" for n in names if getattr(self, n) != getattr(plain, n)]
        return ", ".join(found) or ALIKE


@dataclass(frozen=True, eq=False)
class _Side:
    """Sentences of the texts of one side: pair of each text, and topic and group of sentences."""

    pair: IntArray
    start: IntArray
    topic: IntArray
    group: IntArray


def world(rng: Rng, news: News) -> tuple[_Side, _Side]:
    """Draw generated texts and originals."""
    headline = rng.dirichlet(np.full(news.topics, 0.25), news.pairs)
    men = rng.beta(0.8, 0.8, news.topics)
    tilt = np.exp(news.bias * (2 * men - 1) + news.style * rng.normal(size=news.topics))
    pair = np.repeat(np.arange(news.pairs), news.texts)
    short = max(2, round(news.sentences * news.length))
    ours = _side(rng, news, headline[pair] * tilt, men, (pair, short))
    return ours, _side(rng, news, headline, men, (np.arange(news.pairs), news.sentences))


def _side(
    rng: Rng, news: News, mean: FloatArray, men: FloatArray, size: tuple[IntArray, int]
) -> _Side:
    pair, n = size
    topics = mean / mean.sum(1, keepdims=True)
    if news.subject:
        topics = rng.gamma(np.maximum(topics * news.subject, 1e-4))
        topics /= topics.sum(1, keepdims=True)
    text = np.repeat(np.arange(len(pair)), n)
    place = rng.random((len(text), 1)) > np.cumsum(topics[text], axis=1)
    topic = place.sum(1).clip(max=news.topics - 1)
    named = (rng.random(len(text)) > men[topic]).astype(np.int64)
    group = np.where(rng.random(len(text)) < 0.5, 2, named)
    return _Side(pair, np.arange(len(pair) + 1) * n, topic, group)


def estimates(
    rng: Rng, news: News, draws: int, deals: int = 1
) -> Iterator[dict[str, tuple[float, ...]]]:
    """Yield value, mean of the null and p of each measure; those undefined are left out.

    Rate and change are of the first group. Topics are fitted once to the texts of `deals` audits,
    in each of which originals and texts have changed places at random, but in the first: where
    nothing differs that is as likely as what was drawn, and a fit does not know their places.
    """
    sides = world(rng, news)
    model, *topic_texts = _topics(rng, sides, news)
    for deal in range(deals):
        if deal:
            sides, topic_texts = _dealt(rng, sides, topic_texts)
        paired = _paired(sides, news)
        levels = document_levels(paired, topics_of(paired, model, *topic_texts))
        scope = Scope("news", draws=100, permutations=draws, seed=int(rng.integers(1 << 30)))
        found: dict[str, tuple[float, ...]] = {}
        for measure in MEASURES:
            for e in measure.run(paired.with_levels(levels), scope):
                tests = [test.p for test in e.tests if test.method in (NULL, ONE_EACH)]
                if (
                    measure.name not in found
                    and e.value is not None
                    and e.null is not None
                    and tests
                ):
                    found[measure.name] = e.value, e.null.value, tests[0]
        yield found


def _dealt(
    rng: Rng, sides: tuple[_Side, _Side], topic_texts: list[TopicTexts]
) -> tuple[tuple[_Side, _Side], list[TopicTexts]]:
    """Exchange each original at random with its texts."""
    pair = np.concatenate([side.pair for side in sides])
    size = np.concatenate([np.diff(side.start) for side in sides])
    first = np.cumsum(size) - size
    words = vstack([texts.words for texts in topic_texts], format="csr")
    of_sentence = [
        np.concatenate(columns)
        for columns in (
            [side.topic for side in sides],
            [side.group for side in sides],
            [texts.topic for texts in topic_texts],
        )
    ]
    order, n = exchange_within(pair)(rng), len(sides[0].pair)
    dealt = []
    for texts in (order[:n], order[n:]):
        rows = np.concatenate([first[text] + np.arange(size[text]) for text in texts.tolist()])
        start = np.concatenate([[0], np.cumsum(size[texts])])
        topic, group, read = (column[rows] for column in of_sentence)
        # Who changes places is of the same pair
        dealt.append(
            (_Side(pair[texts], start, topic, group), TopicTexts(start, read, words[rows]))
        )
    (ours, our_topics), (theirs, their_topics) = dealt
    return (ours, theirs), [our_topics, their_topics]


def _paired(sides: tuple[_Side, _Side], news: News) -> Paired:
    generated, reference = (_texts(side) for side in sides)
    pair = sides[0].pair
    zero = np.zeros(len(pair), dtype=np.int64)
    return Paired(
        pairs=tuple(f"p{i}" for i in range(news.pairs)),
        models=("m",),
        forms=("plain",),
        pair=pair,
        model=zero,
        form=zero,
        text=np.arange(len(pair)),
        original=pair,
        unpaired=[""] * len(pair),
        generated=generated,
        reference=reference,
        columns=(("list", "gender", "M"), ("list", "gender", "F")),
    )


def _texts(side: _Side) -> Texts:
    zero = np.zeros(len(side.pair), dtype=np.int64)
    return Texts(
        pair=side.pair,
        model=zero,
        form=zero,
        outcome=zero,
        words=np.diff(side.start) * float(WORDS),
        start=side.start,
        counts=(side.group[:, np.newaxis] == np.arange(2)).astype(np.float64),
    )


def _topics(
    rng: Rng, sides: tuple[_Side, _Side], news: News
) -> tuple[TopicModel, TopicTexts, TopicTexts]:
    """A topic model, and the topics of either side's sentences by it."""
    if not news.fitted:
        size = news.topics
        model = TopicModel(
            words=tuple(map(str, range(size))),
            topics=np.eye(size) * 1e8 + 1e-3,
            word_count=np.ones(size),
        )
        ours, theirs = (_read(model, side, np.repeat(side.topic, WORDS)) for side in sides)
        return model, ours, theirs
    n_words = 300
    odds = np.cumsum(rng.dirichlet(np.full(n_words, 0.05), news.topics), axis=1)
    words = [
        (rng.random((len(side.topic), WORDS, 1)) > odds[side.topic][:, np.newaxis]).sum(2)
        .clip(max=n_words - 1).ravel()
        for side in sides
    ]  # fmt: skip
    owner = [np.repeat(side.start[1:], np.diff(side.start) * WORDS) for side in sides]
    code = np.unique(np.concatenate([owner[0], owner[1] + owner[0][-1]]), return_inverse=True)[1]
    bags = count_words(code, np.concatenate(words), (int(code.max()) + 1, n_words))
    bags = bags[rng.permutation(bags.shape[0])]
    names = tuple(map(str, range(n_words)))
    model = fit_lda(names, bags, news.topics, seed=0)
    ours, theirs = (_read(model, *each) for each in zip(sides, words, strict=True))
    return model, ours, theirs


def _read(model: TopicModel, side: _Side, words: IntArray) -> TopicTexts:
    n = len(side.topic)
    bags = count_words(np.repeat(np.arange(n), WORDS), words, (n, len(model.words)))
    topic = model.infer(bags).argmax(axis=1)
    return TopicTexts(side.start, topic, bags)


def rejections(
    rng: Rng, news: News, reps: int, draws: int = 99, deals: int = 1
) -> dict[str, FloatArray]:
    """Rejections at .05 of each measure, and means of value and null, shape (4,).

    The last number is how many of the `reps` · `deals` simulated audits had a null.
    """
    made: dict[str, list[tuple[float, ...]]] = {measure.name: [] for measure in MEASURES}
    for _ in range(reps):
        for audit in estimates(rng, news, draws, deals):
            for key, found in audit.items():
                made[key].append(found)
    return {
        key: np.array([np.mean(np.array(some)[:, 2] < 0.05), *np.mean(some, axis=0)[:2], len(some)])
        for key, some in made.items()
        if some
    }
