"""Names that belong to one person: "Angela Merkel", "Dr. Merkel", "Angela"."""

import re
from bisect import bisect_left, insort
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from portrayal.annotate.people.names.candidates import Candidate, find_candidates
from portrayal.annotate.people.names.evidence import name_score
from portrayal.annotate.people.shared import words as en
from portrayal.annotate.people.shared.scan import LocalWords, Tokens, scan

SURE, ENOUGH, DOUBTED = 3.0, 0.5, -1.5
"""Log odds of a name beyond doubt, those from which a name is a person's, and those from which it
is where a pronoun means it."""


_RIVALS = 32
"""Most people with a word or pair of words in common who are compared."""


@dataclass(slots=True)
class NameCluster:
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
        Log odds that the name is a person's; see `name_score`.
    gender
        Gender that the first title with a gender tells, or "".
    nicknames
        Nicknames that stand in the full name.
    titles
        Its titles in lower case.
    initials
        Initials before a name without a first name; "" where there are none.
    places
        Token positions of the mentions so far, in order.
    first
        The first name as written, or None; see `scan_people`.
    """

    words: list[str]
    longest: Candidate
    mentions: list[Candidate] = field(default_factory=list)
    score: float = 0.0
    gender: str = ""
    nicknames: set[str] = field(default_factory=set)
    titles: set[str] = field(default_factory=set)
    initials: str = ""
    places: list[int] = field(default_factory=list)
    first: str | None = None

    def add(self, tokens: Tokens, run: Candidate) -> None:
        """Add a mention."""
        self.mentions.append(run)
        self.gender = self.gender or run.gender
        self.titles.update(tokens.low[i] for i in run.titles)
        self.nicknames |= {run.nickname} - {""}
        if len(self.words) == 1 and len(run.initials) > len(self.initials):
            self.initials, self.longest = run.initials, run
        insort(self.places, run.start)

    def recency(self, i: int) -> int:
        """Position of the last mention before `i`; below 0 where there is none."""
        before = bisect_left(self.places, i)
        return self.places[before - 1] if before else -self.longest.start - 1

    def first_name(self, tokens: Tokens) -> int | None:
        """Token position of the first name; None where only a title and a surname are given."""
        if len(self.words) == 1:
            of_surnames = en.SURNAME_TITLES | tokens.local.formal
            titles = [{tokens.low[i] for i in mention.titles} for mention in self.mentions]
            formal = len(titles) - sum(map(of_surnames.isdisjoint, titles))
            # A known first name may stand with a title here and there
            seldom = len(self.mentions) - formal > formal and en.is_given(self.words[0])
            if self.initials or (formal and not seldom):
                return None
        return self.longest.parts[0]


def name_clusters(tokens: Tokens, runs: Sequence[Candidate]) -> list[NameCluster]:
    """The mentions of each name, whosever it is."""
    names = {run.words[0] for run in runs if len(run.words) == 1}
    for run in runs:
        # "Sally" is called in "Morning Sally!" where she is Sally elsewhere
        if len(run.words) == 2 and tokens.quoted[run.start] and not run.titles:
            first, second = run.words
            if second in names and first not in names and en.bearers(first) < en.bearers(second):
                run.start, run.parts, run.words = run.parts[1], run.parts[1:], [second]
    # Full names first, so that "Merkel" finds Angela Merkel wherever she stands
    full = [run for run in runs if len(run.words) > 1]
    clusters, holders = full_names(tokens, full)
    single: dict[str, list[NameCluster]] = {}
    for run in runs:
        if len(run.words) == 1:
            (word,) = run.words
            full_owners = holders.get(word, ())[:_RIVALS]
            owner = owner_of_word(tokens, full_owners, single.get(word, ()), run)
            if owner is None and not run.bound:
                owner = NameCluster(run.words, run)
                single.setdefault(word, []).append(owner)
            if owner is not None:
                owner.add(tokens, run)
    clusters += [cluster for of_word in single.values() for cluster in of_word]
    for cluster in clusters:
        cluster.mentions.sort(key=lambda run: run.start)
    return clusters


_LABEL = re.compile(
    r"^(?P<before>[ \t>*\-\[\](){}\d:.,–—]*)(?P<name>[^\W\d_][^\W\d_.'’ \-]{0,30}?)"
    r"(?=[ \t]*(?:\([^()\n]*\))?[ \t]*(?P<mark>:|\n[ \t]*[^\s]))",
    re.MULTILINE,
)
_SPEAK = 2
"""Lines that words in capitals, or small names, open at least where they are those of speakers."""


def capital_speakers(text: str) -> str:
    """The text, as long, with names in place of "JULES:", of "JULES" on a line, and of "jules:"."""
    labels = [
        match
        for match in _LABEL.finditer(text)
        if (match["name"].isupper() and len(match["name"]) > 1)
        or (match["name"].islower() and match["mark"] == ":")
    ]
    # One known name among the labels says that they are speakers, not headings
    has_name = any(en.bearers(match["name"].lower().split()[0]) for match in labels)
    letters = list(text)
    for match in labels if has_name and len(labels) >= _SPEAK else ():
        # Capitals of "ß" are two letters: such names stay, as offsets must not move
        title_case = match["name"].title()
        if len(title_case) == len(match["name"]):
            letters[match.start("name") : match.end("name")] = title_case
    return "".join(letters)


def scan_people(
    written: str, local: LocalWords, start: int = 0
) -> tuple[str, Tokens, list[NameCluster]]:
    """Read a text once: its words, and whom it names, in order of first mention.

    A name whose log odds of being a person's are below `DOUBTED` is left out.

    Parameters
    ----------
    written
        Any string.
    local
        Words of a locale.
    start
        Offset from which on it is read.

    Returns
    -------
    tuple
        The text, as long, with capitals where names are; its words; and the names.
    """
    text = capital_speakers(written)
    tokens = scan(text, start, local)
    people = []
    for cluster in name_clusters(tokens, find_candidates(tokens)):
        cluster.score = name_score(tokens, cluster.words, cluster.mentions)
        if cluster.score < DOUBTED:
            continue
        people.append(cluster)
        if (first := cluster.first_name(tokens)) is not None:
            # Without an honorific that is written together with it
            place, length = tokens.starts[first], len(local.bare(tokens.words[first].lower()))
            cluster.first = written[place : place + length]
    return text, tokens, sorted(people, key=lambda cluster: cluster.places[0])


def full_names(
    tokens: Tokens, runs: Sequence[Candidate]
) -> tuple[list[NameCluster], dict[str, list[NameCluster]]]:
    """People with names of several words, and word or nickname → whose names it stands in.

    Names are compared where they share a pair of words; at most `_RIVALS` share a word.
    """
    clusters: list[NameCluster] = []
    holders: dict[tuple[str, str], list[int]] = {}
    for run in runs:
        ends = ((first, run.words[-1]) for first in (run.words[0], run.nickname) if first)
        pairs = tuple(dict.fromkeys((*pairwise(run.words), *ends)))
        # By pairs of words, as comparing all names takes time with their square
        near = sorted({i for pair in pairs for i in holders.get(pair, ())[:_RIVALS]})
        index = next((i for i in near if _same(clusters[i], run)), len(clusters))
        if index == len(clusters):
            clusters.append(NameCluster(run.words, run))
        cluster = clusters[index]
        cluster.add(tokens, run)
        if len(run.words) > len(cluster.words):
            cluster.words, cluster.longest = run.words, run
        for pair in pairs:
            if index not in holders.setdefault(pair, [])[:_RIVALS]:
                holders[pair].append(index)
    by_word: dict[str, list[NameCluster]] = {}
    for cluster in clusters:
        for word in dict.fromkeys((*cluster.words, *sorted(cluster.nicknames))):
            by_word.setdefault(word, []).append(cluster)
    return clusters, by_word


def _same(cluster: NameCluster, run: Candidate) -> bool:
    """Whether the name of several words may be this person's."""
    one, other = cluster.words, run.words
    firsts = {one[0], *cluster.nicknames} & {other[0], run.nickname}
    if one[-1] == other[-1] and firsts:
        return True
    short, long = sorted((one, other), key=len)
    starts = range(len(long) - len(short) + 1) if len(short) < len(long) else ()
    return any(long[i : i + len(short)] == short for i in starts)


def owner_of_word(
    tokens: Tokens,
    matching: Sequence[NameCluster],
    same_word: Sequence[NameCluster],
    run: Candidate,
) -> NameCluster | None:
    """Whose name the single word of `run` is, or None.

    `matching` have the word in their full name, `same_word` are named by this word only. A person
    whose titles tell another gender, or whose initials differ, is none of them.
    """
    (word,) = run.words
    titles = {tokens.low[title] for title in run.titles}
    pool = [c for c in matching if c.words[-1] == word]
    if not pool and titles & (en.SURNAME_TITLES | tokens.local.formal):
        # "Dr. Harold" may be Dr. Harold Hawkins
        matching = [c for c in matching if titles & c.titles]
    pool = [*pool, *same_word] if pool or not matching else [*matching]
    agree = []
    for one in pool:
        genders = run.gender and one.gender not in ("", run.gender)
        # One word may belong to two people: "Mr. and Mrs. Patel"
        shared = one.mentions and one.mentions[-1].parts[-1] == run.parts[-1]
        # "J. Hale" is not Ruth Hale
        initials_of = one.initials or (one.words[0] if len(one.words) > 1 else "")
        initials = run.initials and initials_of and initials_of[0] != run.initials[0]
        if not (genders or initials or shared):
            agree.append(one)
    return max(
        agree,
        default=None,
        key=lambda c: (
            run.gender != "" and c.gender == run.gender,
            bool(titles & c.titles),
            c.recency(run.start),
        ),
    )
