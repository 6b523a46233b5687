"""Topics: fitting a model, and the topics of documents by it, in CPU seconds.

    python -m benchmarks.topics --documents 20000 --topics 50

Synthetic documents of 200 words from 100 topics.
"""

import argparse
import json
import resource
import time

import numpy as np

from portrayal.annotate.topics.fit import TopicSettings, fit_corpus
from portrayal.annotate.topics.model import TopicCorpus, count_words

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
    bags = count_words(owner, words.ravel(), (n, VOCABULARY))
    names = tuple(f"word{i:05}" for i in range(VOCABULARY))
    return TopicCorpus(names, bags, np.zeros(n, dtype=bool))


def main() -> None:
    """Print one JSON object."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--documents", type=int, default=20_000)
    parser.add_argument("--topics", type=int, default=50)
    asked = parser.parse_args()
    corpus = synthetic(asked.documents)
    start = time.process_time()
    model = fit_corpus(corpus, TopicSettings(topics=(asked.topics,)), lambda _: None)
    fitted = time.process_time()
    model.infer(corpus.bags[: min(2_000, asked.documents)])
    inferred = time.process_time()
    figures = {
        "documents": asked.documents,
        "topics": asked.topics,
        "fit_cpu_s": round(fitted - start, 2),
        "infer_2000_cpu_s": round(inferred - fitted, 2),
        "peak_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
