"""Names that belong to one person: "Angela Merkel", "Dr. Merkel", "Merkel" and "Angela"."""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from portrayal.annotate.people.any_text.surroundings import keeps_company, support
from portrayal.annotate.people.shared.candidates import is_given
from portrayal.annotate.people.shared.capitals import Candidate
from portrayal.annotate.people.shared.evidence import ENOUGH, base_score
from portrayal.annotate.people.shared.nominals import SURNAME_TITLES
from portrayal.annotate.people.shared.scan import Tokens

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
        How much the name behaves like a person's; see `portrayal.annotate.people.shared.evidence`.
    told
        Gender that the first title with a gender tells, or "".
    nicknames
        Nicknames that stand in the full name.
    titles
        Its titles in lower case.
    initials
        Initials before a name without a first name; "" where there are none.
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
    nicknames: set[str] = field(default_factory=set)
    titles: set[str] = field(default_factory=set)
    initials: str = ""
    full: list[int] = field(default_factory=list)
    alone: int = -1

    def add(self, tokens: Tokens, run: Candidate) -> None:
        """Add a mention."""
        self.mentions.append(run)
        self.told = self.told or run.told
        self.titles.update(tokens.low[at] for at in run.titles)
        if run.nickname:
            self.nicknames.add(run.nickname)
        if len(self.words) == 1 and len(run.initials) > len(self.initials):
            self.initials, self.longest = run.initials, run
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
        if len(self.words) == 1 and (self.initials or not self._untitled(tokens)):
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
    holders = _holders(clusters)
    single: dict[str, list[Cluster]] = {}
    for run in runs:
        if len(run.words) == 1 and not run.plural:
            (word,) = run.words
            alone = single.get(word, [])
            owner = _owner(tokens, holders.get(word, ()), alone, run)
            if owner is None and not run.bound:
                owner = Cluster(run.words, run)
                single.setdefault(word, []).append(owner)
            if owner is not None:
                owner.add(tokens, run)
    clusters += [cluster for alone in single.values() for cluster in alone]
    around = support(tokens, runs)
    doubtful: list[Cluster] = []
    found: list[Cluster] = []
    for cluster in clusters:
        cluster.mentions.sort(key=_start)
        weights = [weigh(run) + around.get(run.start, 0.0) for run in cluster.mentions]
        cluster.score = _score(cluster, weights)
        (found if cluster.score >= ENOUGH else doubtful).append(cluster)
    return sorted(found + _companions(tokens, found, doubtful), key=_first)


def _companions(
    tokens: Tokens, found: Sequence[Cluster], doubtful: Sequence[Cluster]
) -> list[Cluster]:
    """Those of the doubtful people who stand beside others: "Ann Lee and Xola Mda"."""
    people = {at for c in found for run in c.mentions for at in range(_opens(run), run.end)}
    companions = []
    for cluster in doubtful:
        company = max(keeps_company(tokens, run, people) for run in cluster.mentions)
        if company and len(cluster.words) > 1 and cluster.score + company >= ENOUGH:
            cluster.score += company
            companions.append(cluster)
    return companions


def _opens(run: Candidate) -> int:
    """Token position of the first title or word of a mention."""
    return run.titles[0] if run.titles else run.start


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
        if run.nickname:
            pairs.add((run.nickname, run.words[-1]))
        near = sorted({i for pair in pairs for i in holders.get(pair, ())[:_RIVALS]})
        index = next((i for i in near if _same(clusters[i], run)), len(clusters))
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


def _holders(clusters: Sequence[Cluster]) -> dict[str, list[Cluster]]:
    """Word or nickname → people in whose full names it stands, up to `_RIVALS`."""
    holders: dict[str, list[Cluster]] = {}
    pet: dict[str, list[Cluster]] = {}
    for cluster in clusters:
        for word in dict.fromkeys((*cluster.words, *sorted(cluster.nicknames))):
            near = holders.setdefault(word, [])
            if len(near) < _RIVALS:
                near.append(cluster)
        for name in sorted(cluster.nicknames):
            for ending in ("y", "ie", name[-1] + "y", name[-1] + "ie"):
                pet.setdefault(name + ending, [cluster])
    return pet | holders


def _same(cluster: Cluster, run: Candidate) -> bool:
    """Whether the name of several words may be this person's."""
    one, other = cluster.words, run.words
    if one[-1] == other[-1]:
        firsts = {one[0], *cluster.nicknames} & {other[0], run.nickname}
        if firsts:
            return True
    short, long = sorted((one, other), key=len)
    if len(short) == len(long):
        return False
    return any(long[at : at + len(short)] == short for at in range(len(long) - len(short) + 1))


def _owner(
    tokens: Tokens, matching: Sequence[Cluster], alone: Sequence[Cluster], run: Candidate
) -> Cluster | None:
    """Whose name the single word of `run` is, or None.

    `matching` have the word in their full name, `alone` are named by this word only. A person whose
    titles tell another gender, or whose initials differ, is none of them.
    """
    (word,) = run.words
    titles = {tokens.low[title] for title in run.titles}
    last = [c for c in matching if c.words[-1] == word]
    pool = last or ([] if titles & SURNAME_TITLES else list(matching))
    if last or not pool:
        pool = [*pool, *alone]
    pool = [c for c in pool if _agrees(c, run)]
    if not pool:
        return None
    return max(
        pool,
        key=lambda c: (
            run.told != "" and c.told == run.told,
            bool(titles & c.titles),
            c.recency(run.start),
        ),
    )


def _agrees(cluster: Cluster, run: Candidate) -> bool:
    """Whether neither gender nor initials nor a place beside it ("Mr. and Mrs.") set them apart."""
    if run.told and cluster.told not in ("", run.told):
        return False
    if run.initials:
        own = cluster.initials or (cluster.words[0] if len(cluster.words) > 1 else "")
        if own and own[0] != run.initials[0]:
            return False
    return not cluster.mentions or cluster.mentions[-1].parts[-1] != run.parts[-1]


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
