"""Topics: fitting a model, and the topics of documents by it, in CPU seconds.

    python -m benchmarks.topics [--documents 69032] [--topics 250] [--words 386]

Synthetic documents from 100 topics; by default as many, and as long, as the 8,629 originals of Fang
et al. (2024) with the texts of seven models, and as many topics (their Table 3 has the lengths).
"""

import argparse
import json
import resource
import time

import numpy as np

from portrayal.annotate.topics.fit import TopicSettings, fit_corpus
from portrayal.annotate.topics.model import TopicCorpus, count_words

VOCABULARY = 20_000
TRUE_TOPICS = 100


def synthetic(n: int, length: int, seed: int = 0) -> TopicCorpus:
    """Documents of so many Zipf-like words, half of each from one of two topics."""
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(VOCABULARY, 0.02), TRUE_TOPICS) + 1e-9
    zipf = 1.0 / np.arange(1, VOCABULARY + 1)
    topics = np.cumsum(0.5 * topics / topics.sum(1, keepdims=True) + 0.5 * zipf / zipf.sum(), 1)
    of = rng.integers(0, TRUE_TOPICS, (n, 2))
    words = np.empty((n, 2, length // 2), dtype=np.int64)
    for topic in range(TRUE_TOPICS):
        for half in (0, 1):
            rows = np.flatnonzero(of[:, half] == topic)
            drawn = np.searchsorted(topics[topic], rng.random((len(rows), length // 2)))
            words[rows, half] = np.minimum(drawn, VOCABULARY - 1)
    owner = np.repeat(np.arange(n), words[0].size)
    bags = count_words(owner, words.ravel(), (n, VOCABULARY))
    names = tuple(f"word{i:05}" for i in range(VOCABULARY))
    return TopicCorpus(names, bags, np.zeros(n, dtype=bool))


def _peak_mb() -> int:
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def main() -> None:
    """Print one JSON object."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--documents", type=int, default=69_032)
    parser.add_argument("--topics", type=int, default=250)
    parser.add_argument("--words", type=int, default=386)
    asked = parser.parse_args()
    corpus = synthetic(asked.documents, asked.words)
    corpus_mb = _peak_mb()
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
        "words": asked.words,
        "corpus_peak_mb": corpus_mb,
        "peak_mb": _peak_mb(),
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
