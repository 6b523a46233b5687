"""Headlines in Title Case, where a capital says nothing: they name only people named elsewhere."""

from collections.abc import Iterator, Sequence

from portrayal.annotate.people.capitals import Candidate
from portrayal.annotate.people.clusters import Cluster
from portrayal.annotate.people.scan import Tokens

_WORDS, _LONG, _SHARE = 5, 4, 0.75
"""Words that a headline has at least, letters of those that count, and share in capitals."""


def find_headlines(tokens: Tokens, opens: Sequence[int]) -> frozenset[int]:
    """Positions of the tokens of sentences in Title Case; `opens` are those of first tokens."""
    found: set[int] = set()
    for number, first in enumerate(opens):
        behind = opens[number + 1] if number + 1 < len(opens) else len(tokens.words)
        words = tokens.words[first:behind]
        if len(words) < _WORDS or words[-1] == ".":
            continue
        long = [word for word in words if len(word) >= _LONG and word[0].isalpha()]
        capital = sum(word[0].isupper() for word in long)
        if len(long) >= _WORDS and capital >= _SHARE * len(long):
            found.update(range(first, behind))
    return frozenset(found)


def mentions_in(
    headlines: frozenset[int], tokens: Tokens, clusters: Sequence[Cluster]
) -> Iterator[tuple[int, Candidate]]:
    """Mentions of people in headlines by the last word of their names: (index, mention)."""
    if not headlines:
        return
    last = {cluster.words[-1]: index for index, cluster in reversed(list(enumerate(clusters)))}
    for at in sorted(headlines):
        index = last.get(tokens.low[at])
        if index is None or not tokens.words[at][0].isupper():
            continue
        start = at
        words = clusters[index].words
        for word in reversed(words[:-1]):
            if start - 1 in headlines and tokens.low[start - 1] == word:
                start -= 1
        yield index, Candidate(start, at + 1, list(range(start, at + 1)), [], named=at + 1)
