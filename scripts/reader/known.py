"""Names that a set of passages gives, in place of those that rules find, to measure pronouns alone.

Where A and B of GAP stand is known: whom "she" means is then read among them, whatever the rules
for names make of the passage.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from portrayal.annotate.people.names import clusters
from portrayal.annotate.people.names.candidates import Candidate
from portrayal.annotate.people.names.clusters import DOUBTED, ENOUGH, NameCluster
from portrayal.annotate.people.shared.scan import LocalWords, Tokens


@contextmanager
def known_names(spans: Sequence[tuple[int, int]], *, by_rules: bool) -> Iterator[None]:
    """Read the names at the offsets `spans` as people's; two of them are two people.

    `by_rules` says that rules alone read the pronouns, for which only sure names count.
    """
    scan_people, least = clusters.scan_people, ENOUGH if by_rules else DOUBTED

    def with_spans(
        written: str, local: LocalWords, start: int = 0
    ) -> tuple[str, Tokens, list[NameCluster]]:
        text, tokens, names = scan_people(written, local, start)
        sure = [cluster for cluster in names if cluster.score >= least]
        return text, tokens, with_known(tokens, sure, spans) if spans else names

    clusters.scan_people = with_spans
    try:
        yield
    finally:
        clusters.scan_people = scan_people


def with_known(
    tokens: Tokens, found: Sequence[NameCluster], spans: Sequence[tuple[int, int]]
) -> list[NameCluster]:
    """Clusters with the people added whose names stand at the offsets `spans`.

    A name that a cluster has is that person's, unless another known name is; any other is a
    person's there.
    """
    people, used = list(found), list[NameCluster]()
    ends = [start + len(word) for start, word in zip(tokens.starts, tokens.words, strict=False)]
    for start, end in spans:
        # The words from `first` to `last` reach into the span
        first, last = bisect_right(ends, start), bisect_left(tokens.starts, end, hi=len(ends))
        inside = list(range(first, last))
        owned = [c for c in people for run in c.mentions if run.start < last and first < run.end]
        if not inside or (owned and owned[0] not in used):
            used += owned[:1]
            continue
        for cluster in owned[:1]:
            cluster.mentions = [r for r in cluster.mentions if r.start not in inside]
        words = tokens.low[first:last]
        run = Candidate(first, last, inside, [], words=words)
        used.append(NameCluster(words, run, [run], ENOUGH, first=tokens.words[first]))
        people.append(used[-1])
    return people
