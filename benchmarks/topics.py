"""Topics: fitting a model beside bare gensim, and the document level, in CPU seconds.

    python -m benchmarks.topics --documents 20000 --topics 50

Synthetic documents of 200 words from 100 topics. Bare gensim is `LdaModel` with the same settings
and bags, held in memory as lists of pairs; both fits are timed in turns in one process.
"""

import argparse
import json
import resource
import time
from collections.abc import Callable

import numpy as np
from gensim.models import LdaModel

from portrayal.annotate.topics.corpus import Bags, TopicCorpus, count_words
from portrayal.annotate.topics.fit import TopicSettings, chunk_for, fit_corpus, passes_for
from portrayal.annotate.topics.model import TopicModel

VOCABULARY = 20_000
LENGTH = 200
TRUE_TOPICS = 100


def synthetic(n: int, seed: int = 0) -> TopicCorpus:
    """Documents with two topics each, of Zipf-like words."""
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(VOCABULARY, 0.02), TRUE_TOPICS) + 1e-9
    zipf = 1.0 / np.arange(1, VOCABULARY + 1)
    topics = np.cumsum(0.5 * topics / topics.sum(1, keepdims=True) + 0.5 * zipf / zipf.sum(), 1)
    of = rng.integers(0, TRUE_TOPICS, (n, 2))
    words = np.empty((n, LENGTH), dtype=np.int64)
    for topic in range(TRUE_TOPICS):
        for half in (0, 1):
            rows = np.flatnonzero(of[:, half] == topic)
            drawn = np.searchsorted(topics[topic], rng.random((len(rows), LENGTH // 2)))
            place = slice(half * LENGTH // 2, (half + 1) * LENGTH // 2)
            words[rows, place] = np.minimum(drawn, VOCABULARY - 1)
    owner = np.repeat(np.arange(n), LENGTH)
    bags = count_words(owner, words.ravel(), n)
    names = tuple(f"word{i:05}" for i in range(VOCABULARY))
    return TopicCorpus(names, bags, np.zeros(n, dtype=bool))


def seconds(work: Callable[[], object]) -> tuple[float, object]:
    """CPU seconds of this process, all threads."""
    before = time.process_time()
    made = work()
    return time.process_time() - before, made


def bare(bags: Bags, words: tuple[str, ...], k: int) -> Callable[[], LdaModel]:
    """A fit by gensim alone, its corpus ready in memory."""
    documents = list(bags.pairs())
    return lambda: LdaModel(
        documents,
        num_topics=k,
        id2word=dict(enumerate(words)),
        chunksize=chunk_for(len(documents)),
        passes=passes_for(len(documents)),
        eval_every=None,
        random_state=0,
    )


def main() -> None:
    """Print one JSON object."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--documents", type=int, default=20_000)
    parser.add_argument("--topics", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=1)
    asked = parser.parse_args()
    corpus = synthetic(asked.documents)
    settings = TopicSettings(topics=(asked.topics,))
    theirs = bare(corpus.bags, corpus.words, asked.topics)
    times: dict[str, list[float]] = {"ours": [], "bare": []}
    for _ in range(asked.rounds):
        spent, alone = seconds(theirs)
        times["bare"].append(spent)
        spent, fitted = seconds(lambda: fit_corpus(corpus, settings, lambda _: None))
        times["ours"].append(spent)
    assert isinstance(fitted, TopicModel)
    assert isinstance(alone, LdaModel)
    assert np.array_equal(fitted.topics, alone.state.get_lambda())
    some = corpus.bags.take(np.arange(min(2_000, asked.documents)))
    inferring, _ = seconds(lambda: fitted.infer(some))
    gensims, _ = seconds(lambda: alone.inference(list(some.pairs())))
    print(
        json.dumps(
            {
                "documents": asked.documents,
                "topics": asked.topics,
                "ours_cpu_s": round(min(times["ours"]), 2),
                "bare_gensim_cpu_s": round(min(times["bare"]), 2),
                "ratio": round(min(times["ours"]) / min(times["bare"]), 3),
                "infer_2000_cpu_s": round(inferring, 2),
                "gensim_infer_2000_cpu_s": round(gensims, 2),
                "peak_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
            }
        )
    )


if __name__ == "__main__":
    main()
