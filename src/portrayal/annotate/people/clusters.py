"""Names that belong to one person: "Angela Merkel", "Dr. Merkel", "Merkel" and "Angela"."""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from portrayal.annotate.people.candidates import Candidate, is_given
from portrayal.annotate.people.evidence import ENOUGH, base_score
from portrayal.annotate.people.nominals import GENDER, SURNAME_TITLES
from portrayal.annotate.people.scan import Tokens

_MOST_EVIDENCE = 4.0
_RIVALS = 32
"""Most people with a word or pair of words in common who are compared."""

_LATER_SURNAME, _LATER_OTHER, _OFTEN = 0.6, 0.3, 0.4


@dataclass(slots=True)
class Cluster:
    """The mentions of one named person.

    Attributes
    ----------
    words
        Casefolded words of the longest name, without initials and suffixes.
    longest
        The mention with the longest name.
    mentions
        Every mention by name, in order.
    score
        How much the name behaves like a person's; see `portrayal.annotate.people.evidence`.
    told
        Gender that the first title with a gender tells, or "".
    full
        Token positions of the mentions by several words, in order.
    alone
        Token position of the last mention by one word so far, or -1.
    """

    words: list[str]
    longest: Candidate
    mentions: list[Candidate] = field(default_factory=list)
    score: float = 0.0
    told: str = ""
    full: list[int] = field(default_factory=list)
    alone: int = -1

    def add(self, tokens: Tokens, run: Candidate) -> None:
        """Add a mention."""
        self.mentions.append(run)
        self.told = self.told or _title_gender(tokens, run.titles)
        if len(run.words) > 1:
            self.full.append(run.start)
        else:
            self.alone = run.start

    def recency(self, at: int) -> int:
        """Position of the last mention before `at`; below 0 where there is none."""
        before = bisect_left(self.full, at)
        last = max(self.alone, self.full[before - 1] if before else -1)
        return last if last >= 0 else -self.longest.start - 1

    def first_name(self, tokens: Tokens) -> str | None:
        """First name as written; None where only a title and a surname are given."""
        run = self.longest
        if len(self.words) == 1 and not self._untitled(tokens):
            return None
        return tokens.words[run.parts[0]]

    def _untitled(self, tokens: Tokens) -> bool:
        """Whether the single word of the name is used as a first name."""
        formal = sum(
            any(tokens.low[title] in SURNAME_TITLES for title in mention.titles)
            for mention in self.mentions
        )
        return formal == 0 or (len(self.mentions) - formal > formal and self._known)

    @property
    def _known(self) -> bool:
        return is_given(self.words[0])


def cluster_names(
    tokens: Tokens, runs: Sequence[Candidate], weigh: Callable[[Candidate], float]
) -> list[Cluster]:
    """Named people, in order of first mention.

    Parameters
    ----------
    tokens
        The text.
    runs
        Runs of capitalised words that may be names.
    weigh
        What the words around a run say for a person.
    """
    clusters = _full_names(tokens, [run for run in runs if len(run.words) > 1 and not run.plural])
    holders: dict[str, list[Cluster]] = {}
    for cluster in clusters:
        for word in dict.fromkeys(cluster.words):
            holders.setdefault(word, []).append(cluster)
    single: dict[str, Cluster] = {}
    for run in runs:
        if len(run.words) == 1 and not run.plural:
            (word,) = run.words
            owner = _owner(tokens, holders.get(word, [])[:_RIVALS], run)
            if owner is None:
                owner = single.setdefault(word, Cluster(run.words, run))
            owner.add(tokens, run)
    clusters += single.values()
    found = []
    for cluster in clusters:
        cluster.mentions.sort(key=_start)
        cluster.score = _score(cluster, [weigh(run) for run in cluster.mentions])
        if cluster.score >= ENOUGH:
            found.append(cluster)
    return sorted(found, key=_first)


def _start(run: Candidate) -> int:
    """Token position at which a mention starts."""
    return run.start


def _first(cluster: Cluster) -> int:
    """Token position of the first mention."""
    return cluster.mentions[0].start


def _full_names(tokens: Tokens, runs: Sequence[Candidate]) -> list[Cluster]:
    """People with names of several words; names are compared where they share a pair of words."""
    clusters: list[Cluster] = []
    holders: dict[tuple[str, str], list[int]] = {}
    for run in runs:
        pairs = {*pairwise(run.words), (run.words[0], run.words[-1])}
        near = sorted({i for pair in pairs for i in holders.get(pair, ())[:_RIVALS]})
        index = next((i for i in near if _same(clusters[i].words, run.words)), len(clusters))
        if index == len(clusters):
            clusters.append(Cluster(run.words, run))
        cluster = clusters[index]
        cluster.add(tokens, run)
        if len(run.words) > len(cluster.words):
            cluster.words, cluster.longest = run.words, run
        for pair in pairs:
            if index not in holders.setdefault(pair, [])[:_RIVALS]:
                holders[pair].append(index)
    return clusters


def _same(one: list[str], other: list[str]) -> bool:
    """Whether two names of several words may be one person's."""
    if one[0] == other[0] and one[-1] == other[-1]:
        return True
    short, long = sorted((one, other), key=len)
    if len(short) == len(long):
        return False
    return any(long[at : at + len(short)] == short for at in range(len(long) - len(short) + 1))


def _owner(tokens: Tokens, matching: Sequence[Cluster], run: Candidate) -> Cluster | None:
    """Whose name the single word of `run` is, among people who have it in their full name."""
    (word,) = run.words
    formal = any(tokens.low[title] in SURNAME_TITLES for title in run.titles)
    last = [c for c in matching if c.words[-1] == word]
    pool = last or ([] if formal else matching)
    if len(pool) < 2:
        return pool[0] if pool else None
    gender = _title_gender(tokens, run.titles)
    told = [c for c in pool if c.told in (gender, "")] if gender else pool
    return max(told or pool, key=lambda c: (c.told == gender, c.recency(run.start)))


def _title_gender(tokens: Tokens, titles: Sequence[int]) -> str:
    """Gender that titles tell, or ""."""
    return next((GENDER[tokens.low[at]] for at in titles if tokens.low[at] in GENDER), "")


def _score(cluster: Cluster, weights: Sequence[float]) -> float:
    """How much the name behaves like a person's: its words, its contexts, and how it recurs."""
    score = base_score(cluster.words)
    evidence = sum(weights)
    if len(weights) > 3 and evidence < 0:
        evidence /= len(weights) / 3
    score += min(evidence, _MOST_EVIDENCE)
    if len(cluster.words) == 1 and len(weights) > 2 and is_given(cluster.words[0]):
        score += _OFTEN
    if len(cluster.words) > 1:
        later = {m.words[0] for m in cluster.mentions if len(m.words) == 1}
        if cluster.words[-1] in later:
            score += _LATER_SURNAME
        elif later:
            score += _LATER_OTHER if is_given(cluster.words[0]) else -_LATER_SURNAME
    return score
