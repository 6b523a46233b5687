"""Fitting the topic model of a run, once, with as many topics as foretell best.

The variational bound that gensim, and so the paper, calls perplexity weighs words by exp(E[log
beta]). Those weights sum to less than 1, and to the less the more topics share a small corpus, so
that the bound favours the fewest topics tried. *Document completion* asks instead how well one half
of a held-out document foretells the other, with the topics' mean word shares: it gets worse again
where topics are too many.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from portrayal.annotate.topics.model import (
    LEMMATISER,
    MAX_WORDS,
    MIN_DOCUMENTS,
    MODEL,
    Bags,
    Floats,
    TooFewTextsError,
    TopicCorpus,
    TopicModel,
    allocation,
    lemmatiser,
    load_topics,
    read_corpus,
    save_topics,
)
from portrayal.errors import RunError
from portrayal.run.directory import Run
from portrayal.run.files import Stage, fingerprint
from portrayal.run.manifest import TOPICS
from portrayal.types import Say
from portrayal.validate import check_count, check_seed

ENGINE = "online variational Bayes v2"
"""What fits the topics; another name where their numbers change."""
LIBRARY = "scikit-learn"
PAPER_K = 250
"""Fang et al. (2024) kept 250 of 200, 250 and 300 topics, by perplexity."""
PER_TOPIC = 10
"""Documents that a topic needs at least."""
_STEP = 1.5
_HALVES = 0x4A


def topic_grid(n_documents: int) -> tuple[int, ...]:
    """Return the numbers of topics to try, a factor of 1.5 apart, up to a tenth of the documents.

    The paper's 250 alone where 2,500 documents allow it.

    >>> topic_grid(255), topic_grid(2_500)
    ((2, 3, 5, 7, 11, 17, 25), (250,))
    """
    most = max(2, n_documents // PER_TOPIC)
    if most >= PAPER_K:
        return (PAPER_K,)
    # From the most topics down, so that the most the corpus allows is always tried
    steps = [most]
    while steps[-1] > 2:
        steps.append(max(2, int(steps[-1] / _STEP + 0.5)))
    return tuple(steps[::-1])


def split_words(bags: Bags, seed: int) -> tuple[Bags, Bags]:
    """Split the words of each document at random into one half that is seen and one that is hidden.

    Either half holds every second word of the document in random order; the first half has the odd
    word.
    """
    # A stream of its own: the split stays the same whatever else is drawn
    rng = np.random.default_rng([seed, _HALVES])
    times = bags.data.astype(np.int64)
    # Each occurrence for itself, as halves split repetitions too
    entry = np.repeat(np.arange(len(times)), times)
    owner = np.repeat(np.arange(bags.shape[0]), np.diff(bags.indptr))[entry]
    order = np.lexsort((rng.random(len(entry)), owner))
    rank = np.arange(len(order)) - np.searchsorted(owner[order], owner[order])
    half = np.bincount(entry[order[rank % 2 == 0]], minlength=len(times))
    halves = [bags.copy(), bags.copy()]
    for of_half, count in zip(halves, (half, times - half), strict=True):
        of_half.data = count.astype(np.float32)
        of_half.eliminate_zeros()
    return halves[0], halves[1]


def completion_loss(model: TopicModel, visible: Bags, hidden: Bags) -> Floats:
    """Return the surprise at the hidden half of each document: -log p of its words, in nats.

    Parameters
    ----------
    model
        A fitted model.
    visible, hidden
        Both halves of n documents.

    Returns
    -------
    array
        Shape (n,). Perplexity is exp(sum of losses / hidden words).

    References
    ----------
    Wallach, Murray, Salakhutdinov and Mimno (2009), Evaluation methods for topic models, Section 5.
    """
    # Topics of a document from its visible half alone
    shares = model.infer(visible).astype(np.float64)
    # Mean shares, not exp(E[log]): these sum to 1 however many topics there are
    words = (model.topics / model.topics.sum(axis=1, keepdims=True)).T
    owner = np.repeat(np.arange(hidden.shape[0]), np.diff(hidden.indptr))
    p = np.einsum("ek,ek->e", shares[owner], words[hidden.indices])
    surprise = -hidden.data * np.log(np.maximum(p, np.finfo(np.float64).tiny))
    return np.asarray(np.bincount(owner, surprise, hidden.shape[0]))


def choose_topics(tried: Sequence[int], loss: Floats, size: Floats) -> tuple[int, str, int]:
    """Choose the fewest topics that are not surely worse than the best.

    Parameters
    ----------
    tried
        Numbers of topics, rising.
    loss
        `completion_loss` of each held-out document, shape (n_tried, n_documents).
    size
        Hidden words of each document, shape (n_documents,).

    Returns
    -------
    k, reason, worse
        The smallest K whose loss exceeds the least by no more than one standard error of the
        difference over documents (Breiman et al. 1984, Section 3.4.3); why, in a sentence; and how
        many of the last tried are surely worse than the best, one after another.

    Examples
    --------
    >>> loss = np.array([[9.0, 8.0, 9.5], [5.0, 6.0, 5.5], [7.0, 6.5, 7.5]])
    >>> choose_topics([2, 10, 50], loss, np.array([2, 2, 2]))[0]
    10
    """
    best, words = int(loss.sum(axis=1).argmin()), float(size.sum())
    # Losses of the same documents are paired: only their differences vary
    more = (loss - loss[best]) / words
    mean = more.sum(axis=1)
    error = np.sqrt(np.maximum((more**2).sum(axis=1) - mean**2 / len(size), 0.0))
    # The one-standard-error rule; the best itself is always near
    near = mean <= error
    fewest = int(np.flatnonzero(near)[0])
    perplexity = float(np.exp(loss[best].sum() / words))
    ends = "" if 0 < best < len(tried) - 1 else ", which is at the end of those tried"
    reason = (
        f"document completion is best at {tried[best]} topics{ends} (perplexity "
        f"{perplexity:,.1f}), and {tried[fewest]} are the fewest within one standard error of it"
    )
    return int(tried[fewest]), reason, len(tried) - 1 - int(np.flatnonzero(near)[-1])


@dataclass(frozen=True, slots=True)
class TopicSettings:
    """Settings of the document level.

    Attributes
    ----------
    topic_model
        Folder of a saved topic model to use in place of fitting one.
    topics
        Numbers of topics to try; by default the paper's 250, or a grid for a small corpus.
    seed
        Start of the fit's random stream.
    """

    topic_model: str | None = None
    topics: Sequence[int] = field(default=())
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse settings that cannot be used."""
        for k in self.topics:
            check_count("topics", k, minimum=2)
        check_seed(self.seed)


SEEN = 20_000
"""Documents a fit reads at least, repetitions counted, within `MAX_PASSES`."""
MAX_PASSES = 20


def passes_for(n_documents: int) -> int:
    """Return how often a fit reads all documents: until it has read 20,000, at most 20 times."""
    return max(1, min(MAX_PASSES, -(-SEEN // max(1, n_documents))))


CHUNK = 2_000
"""Documents between two updates of the topics at most, gensim's default."""
UPDATES = 4
"""Updates in a pass over all documents, at least. Of corpora of 500 documents made from 10 and from
30 topics, completion chose 22 and 33."""


def chunk_for(n_documents: int) -> int:
    """Return the documents between two updates: a quarter of all, 2,000 at most."""
    return max(1, min(CHUNK, n_documents // UPDATES))


def fit_lda(words: Sequence[str], bags: Bags, k: int, seed: int) -> TopicModel:
    """Fit `k` topics to bags, in the order they come: online variational Bayes.

    Hoffman, Blei and Bach (2010), Algorithm 2, by scikit-learn, with the defaults of gensim's
    `LdaModel`: kappa .5, tau 1. The topics are those of 32 bits.

    Parameters
    ----------
    words
        The vocabulary, V words.
    bags
        n documents of these.
    k
        Number of topics.
    seed
        Start of the random stream.
    """
    n = bags.shape[0]
    lda = allocation(
        k,
        learning_decay=0.5,
        learning_offset=1.0,
        batch_size=chunk_for(n),
        total_samples=n,
        random_state=seed,
    )
    # Its `fit` would end with the bound of all documents, which takes as long as a pass
    for _ in range(passes_for(n)):
        lda.partial_fit(bags)
    return TopicModel(tuple(words), lda.components_, bags.sum(axis=0, dtype=np.float64))


TABLES = "topics.json"
"""The topic tables that the document level writes beside the model."""


def topics_stage(run: Run) -> Stage:
    """Return the folder of the run's topic model."""
    return Stage(run.path / "topics")


def fit_topics(run: Run, settings: TopicSettings, say: Say) -> TopicModel | None:
    """Return the run's topic model: the saved one, the one asked for, or a new fit.

    Parameters
    ----------
    run
        A run with texts and a reference.
    settings
        A model to reuse, or the numbers of topics to try, and the seed.
    say
        Called with a line about what is done, and a warning where the corpus is small.

    Returns
    -------
    TopicModel or None
        As saved in `topics/` of the run; None where the texts share too few words for one, with
        the reason in the stage's note (`undefined`).

    Raises
    ------
    DataError
        When a model to reuse cannot be read.
    MissingExtraError
        When the lemmatiser or scikit-learn is not installed.
    """
    stage = topics_stage(run)
    model_given = load_topics(settings.topic_model) if settings.topic_model else None
    mark = _mark(run, settings)
    if stage.is_complete(mark):
        return saved_topics(run)[0]
    # A missing package is told before the corpus is read
    lemmatiser(), allocation(2)
    model, undefined = model_given, None
    if model is None:
        try:
            model = fit_corpus(read_corpus(run, settings.seed), settings, say)
        except TooFewTextsError as error:
            undefined = str(error)
    with run.manifest.step(TOPICS):
        # Nothing of an earlier model may stay beside a new one
        for name in (MODEL, TABLES):
            (stage.folder / name).unlink(missing_ok=True)
        stage.begin(mark)
        if model is not None:
            save_topics(model, stage.folder)
        stage.finish(mark, {"undefined": undefined} if model is None else {})
    if model is None:
        say(f"warning: no topics: {undefined}")
        return None
    say(f"topics: K = {model.n_topics}, {len(model.words):,} words")
    return model


def saved_topics(run: Run) -> tuple[TopicModel | None, str | None]:
    """Return the topic model that `fit_topics` kept in the run, or None and why there is none.

    Raises
    ------
    RunError
        When `fit_topics` was not called, or did not end.
    """
    stage = topics_stage(run)
    note = stage.note()
    if not note.get("complete"):
        raise RunError(f"{stage.folder} is not complete: run the audit again to fit its topics.")
    if "undefined" in note:
        return None, str(note["undefined"])
    return load_topics(stage.folder), None


def fit_corpus(corpus: TopicCorpus, settings: TopicSettings, say: Say) -> TopicModel:
    """Fit a model to all documents, with the number of topics asked for or chosen by completion.

    Where several numbers can be chosen from, each is fitted without the held-out documents first,
    fewer topics before more; no more are tried when two one after another are surely worse than the
    best. With a single number nothing is held out.
    """
    n = corpus.bags.shape[0]
    # Ascending, as the search stops where more topics are worse
    grid = tuple(sorted(set(settings.topics))) or topic_grid(n)
    k, tried = grid[0], list[dict[str, Any]]()
    if len(grid) > 1:
        held_out = corpus.held_out.copy()
        # A tiny corpus may hold out all: one text is left to be fitted
        if held_out.all():
            held_out[:-1] = False
        fitted = corpus.bags[~held_out]
        visible, hidden = split_words(corpus.bags[held_out], settings.seed)
        losses, hidden_words = list[Floats](), hidden.sum(axis=1, dtype=np.float64)
        for n_topics in grid:
            model = fit_lda(corpus.words, fitted, n_topics, settings.seed)
            losses.append(completion_loss(model, visible, hidden))
            perplexity = float(np.exp(losses[-1].sum() / hidden_words.sum()))
            tried.append({"k": n_topics, "perplexity": perplexity})
            say(f"topics: K = {n_topics}, perplexity of held-out halves {perplexity:,.1f}")
            k, reason, worse = choose_topics(grid[: len(losses)], np.stack(losses), hidden_words)
            if worse > 1:
                break
    elif settings.topics:
        reason = "as asked"
    elif n >= PER_TOPIC * PAPER_K:
        reason = "the paper's; --topics 200,250,300 chooses among those that the paper tried"
    else:
        reason = f"{n:,} documents allow no more at {PER_TOPIC} documents a topic"
    say(f"topics: K = {k}: {reason}")
    # The fit that counts reads all documents, those that were held out too
    model = fit_lda(corpus.words, corpus.bags, k, settings.seed)
    facts = {
        "engine": f"{ENGINE}, {LIBRARY} {version(LIBRARY)}",
        "lemmatiser": f"{LEMMATISER} {version(LEMMATISER)}",
        "seed": settings.seed,
        "documents": n,
        "passes": passes_for(n),
        "chunk": chunk_for(n),
        "tried": tried,
        "reason": reason,
    }
    return replace(model, facts=facts)


def _mark(run: Run, settings: TopicSettings) -> str:
    """What the saved model was made from; texts alone, so that shards of another size change
    nothing.
    """
    if settings.topic_model:
        content = (Path(settings.topic_model) / MODEL).read_bytes()
        return fingerprint(model=hashlib.blake2b(content).hexdigest())
    notes = run.texts.note(), run.reference.note()
    return fingerprint(
        texts=[[note.get("fingerprint"), note.get("n_texts")] for note in notes],
        grid=list(settings.topics),
        seed=settings.seed,
        vocabulary=[MIN_DOCUMENTS, MAX_WORDS],
        lemmatiser=version(LEMMATISER),
        fit=[ENGINE, version(LIBRARY)],
    )
