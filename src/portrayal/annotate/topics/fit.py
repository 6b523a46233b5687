"""Fitting the topic model of a run, once."""

from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import numpy as np

from portrayal.annotate.topics import store
from portrayal.annotate.topics.corpus import (
    MAX_WORDS,
    MIN_DOCUMENTS,
    Corpus,
    TooFewTextsError,
    read_corpus,
)
from portrayal.annotate.topics.engine import CHUNK, fit_lda
from portrayal.annotate.topics.grid import choose_grid, passes_for, perplexity
from portrayal.annotate.topics.lemmas import LEMMATISER, lemmas
from portrayal.annotate.topics.model import TopicModel
from portrayal.annotate.topics.settings import TopicSettings
from portrayal.errors import RunError
from portrayal.run.directory import Run
from portrayal.run.stages import Stage, fingerprint

Say = Callable[[str], None]
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
        When gensim or the lemmatiser is not installed.
    """
    stage = topics_stage(run)
    given = store.load_topics(settings.topic_model) if settings.topic_model else None
    mark = _mark(run, settings, given)
    if stage.is_complete(mark):
        return saved_topics(run)[0]
    lemmas()
    model, undefined = given, None
    if model is None:
        try:
            model = fit_corpus(read_corpus(run, settings.seed), settings, say)
        except TooFewTextsError as error:
            undefined = str(error)
    for name in (store.MODEL, store.WORDS, store.ARRAYS, TABLES):
        (stage.folder / name).unlink(missing_ok=True)
    stage.begin(mark)
    if model is None:
        stage.finish(mark, {"undefined": undefined})
        say(f"warning: no topics: {undefined}")
        return None
    store.save_topics(model, stage.folder)
    stage.finish(mark, {"n_topics": model.n_topics, "identity": store.identity(model)})
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
    return store.load_topics(stage.folder), None


def fit_corpus(corpus: Corpus, settings: TopicSettings, say: Say) -> TopicModel:
    """Fit one model for each K of the grid; return the one of least held-out perplexity.

    With a single K nothing is held out.
    """
    n = len(corpus.bags)
    grid, warning = choose_grid(n, settings.topics)
    if warning:
        say(f"warning: {warning}")
    held = corpus.held_out if len(grid) > 1 else np.zeros(n, dtype=bool)
    if held.all():
        held = np.zeros(n, dtype=bool)
        held[-1] = True
    fitted = corpus.bags.take(np.flatnonzero(~held))
    kept = corpus.bags.take(np.flatnonzero(held))
    passes = passes_for(len(fitted))
    tried: list[dict[str, float]] = []
    best: Any = None
    for k in grid:
        lda = fit_lda(fitted, corpus.words, k, passes=passes, seed=settings.seed)
        score = perplexity(lda, kept) if len(kept) else float("nan")
        tried.append({"k": k, "perplexity": score} if len(kept) else {"k": k})
        if len(grid) > 1:
            say(f"topics: K = {k}, held-out perplexity {score:,.1f}")
        if best is None or score < best[0]:
            best = (score, lda)
    facts = {
        "engine": f"gensim {version('gensim')}",
        "lemmatiser": f"{LEMMATISER} {version(LEMMATISER)}",
        "seed": settings.seed,
        "documents": len(fitted),
        "held_out_documents": len(kept),
        "passes": passes,
        "chunk": CHUNK,
        "min_documents": MIN_DOCUMENTS,
        "tried": tried,
        "warning": warning,
    }
    lda = best[1]
    return TopicModel(
        corpus.words, lda.state.get_lambda(), lda.alpha, lda.eta, corpus.word_count, facts
    )


def _mark(run: Run, settings: TopicSettings, given: TopicModel | None) -> str:
    """What the saved model was made from; texts alone, so that shards of another size change
    nothing.
    """
    if given is not None:
        return fingerprint(model=store.identity(given))
    return fingerprint(
        texts=_texts_mark(run.texts),
        reference=_texts_mark(run.reference),
        grid=list(settings.topics),
        seed=settings.seed,
        vocabulary=[MIN_DOCUMENTS, MAX_WORDS],
        lemmatiser=version(LEMMATISER),
        fit="gensim.v1",
    )


def _texts_mark(stage: Stage) -> list[Any]:
    note = stage.note()
    return [note.get("fingerprint"), note.get("n_texts")]
