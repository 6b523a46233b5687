"""Names that belong to one person ("Angela Merkel", "Dr. Merkel", "Angela"), and whether they do.

The words around a name speak for a person or against one, and so do the sentences around it: a
pronoun that follows, an origin, company. The weights were set by hand on development texts and are
in no unit.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from portrayal.annotate.people.any_text.candidates import LISTS, Candidate, honorifics
from portrayal.annotate.people.any_text.things import is_thing
from portrayal.annotate.people.shared import words as en
from portrayal.annotate.people.shared.scan import QUOTES, Tokens

ENOUGH, DOUBTED = 1.0, -0.5
"""Scores from which a name is a person's, and from which it is where a pronoun means it."""


_AGE = re.compile(r"\s*,\s*(?:aged?\s+)?\d{1,3}\s*[,.;)]|\s*\(\s*(?:aged?\s+)?\d{1,2}\s*\)")
_YEARS = re.compile(r"\s+(?:is|was)\s+an?\s+\d{1,3}[\s-]+year")
_TAIL = 24
"""Characters behind a name where an age may stand."""


def base_score(words: list[str]) -> float:
    """What the words of a name say by themselves."""
    count = en.bearers(words[0])
    if len(words) > 1:
        return 1.1 if count else 0.2
    if not count:
        return -0.2
    if words[0] in en.NAMES_AND_WORDS:
        return 0.2
    return ENOUGH if _frequent(words[0]) else 0.6


def _frequent(word: str) -> bool:
    """Whether the casefolded word is a frequent first name and little else."""
    return word not in en.NAMES_AND_WORDS and "-" not in word and en.bearers(word) >= en.FREQUENT


def introduces(low: Sequence[str], start: int) -> bool:
    """Whether the name at `start` is that of the one who says "My name is …" or "I'm …"."""
    if low[max(0, start - 3) : start] in (["my", "name", "is"], ["my", "name", "'s"]):
        return True
    return low[max(0, start - 2) : start] in (["i", "am"], ["i", "'m"])


def _own(run: Candidate) -> float:
    """What the titles, initials and description of a mention say."""
    score = run.score + (1.5 if run.titles else 0.0)
    if run.initials:
        score += 1.2 if len(run.initials) > 1 else 0.6
    return score


def weigh(text: str, tokens: Tokens, run: Candidate) -> float:
    """What the words around a mention say."""
    words, low = tokens.words, tokens.low
    n = len(words)
    first = run.titles[0] if run.titles else run.start
    before = low[first - 1] if first else "."
    earlier = low[first - 2] if first > 1 else "."
    after = low[run.end] if run.end < n else "."
    second = low[run.end + 1] if run.end + 1 < n else "."
    single = len(run.parts) == 1
    score = _own(run) + 1.5 * bool(honorifics(tokens, run))
    if introduces(low, first):
        score += 1.5
    if after in en.SAYING or (before in en.SAYING and not run.opening):
        score += 0.6
    elif after in en.LIVING:
        score += 0.5
    elif after in en.VERBS_AFTER_NAME or after.endswith("ed") or (after == "'s"):
        score += 0.2
    if before in en.KIN or (before in en.PERSON_NOUNS and before not in en.KIN):
        score += 1.2
    elif before in en.NAMING and earlier in en.PERSON_NOUNS:
        score += 1.5
    elif before == "," and earlier in en.KIN:
        score += 1.0
    if after == "," and second in LISTS.who:
        score += 1.0
    elif after in LISTS.who:
        score += 0.7
    elif after in (",", "(", "—", "–") or after in en.COPULAS:
        score += 1.0 if describes(tokens, run.end + 1) else 0.0
    behind = tokens.starts[run.end - 1] + len(words[run.end - 1])
    tail = text[behind : behind + _TAIL]
    if _AGE.match(tail):
        score += 1.0
    elif _YEARS.match(tail):
        score += 1.5
    return score - _against(tokens, run, before, after, single=single)


def _against(tokens: Tokens, run: Candidate, before: str, after: str, *, single: bool) -> float:
    """What the words around a mention say against a person."""
    low = tokens.low
    cost = 0.0
    if before == "the" and not run.titles and not run.score:
        cost += 2.0
    elif before in ("a", "an"):
        cost += 1.0
    elif before in LISTS.at:
        owns = after == "'s" and en.bearers(run.words[0]) > 0
        cost += 0.5 if not single else 0.0 if owns or _frequent(run.words[0]) else 0.8
    if before == "," and after in (",", ".") and run.start > 3 and single:
        back = run.start - 2
        if tokens.words[back][0].isupper() and low[back - 1] in LISTS.at | LISTS.beside:
            cost += 1.0
    if run.end < len(low) and tokens.words[run.end - 1] in QUOTES:
        cost += 0.5
    return cost


def describes(tokens: Tokens, at: int) -> bool:
    """Whether a noun phrase for a person opens at `at`: "a singer", "the mother of two"."""
    for word in tokens.low[at : at + 8]:
        if word in en.PERSON_NOUNS:
            return True
        if word in _ENDS_PHRASE or (not word[0].isalpha() and word != "'s"):
            break
    return False


HUMAN = LISTS.human
_ENDS_PHRASE = frozenset(("of", "in", "to", "and", "that", "which", "who", "with", "for"))


_ORIGIN = frozenset(
    [(verb, "from") for verb in ("is", "was", "are", "were", "come", "comes", "came", "hails")]
    + [("was", "born"), ("were", "born"), ("grew", "up"), ("was", "raised")]
    + [("works", "as"), ("worked", "as")]
)


_FURTHEST = 40
"""Tokens before and behind a name where a pronoun is looked for."""

_PRONOUN, _ALONE, _ORIGINS, _HUMANS, _COMPANY = 0.8, 0.5, 0.7, 0.8, 0.8


def support(tokens: Tokens, runs: Sequence[Candidate]) -> dict[int, float]:
    """Start of each run → what its surroundings say for a person, for runs that need it."""
    found: dict[int, float] = {}
    for number, run in enumerate(runs):
        if run.titles or base_score(run.words) >= ENOUGH:
            continue
        several = len(run.words) > 1
        value = acts_human(tokens, run, several=several)
        if is_subject(tokens, run, several=several):
            back = pronoun_behind(tokens, runs, number)
            if back >= 0:
                close = several or (back == 0 and not en.is_given(run.words[0]))
                value += _PRONOUN if close else _ALONE
        if value:
            found[run.start] = value
    return found


def keeps_company(tokens: Tokens, run: Candidate, people: Collection[int]) -> float:
    """What "and" between the run and a person says; `people` holds the tokens of people's names."""
    low, first = tokens.low, (run.titles or [run.start])[0]
    beside = first > 1 and low[first - 1] == "and" and first - 2 in people
    beside |= low[run.end : run.end + 1] == ["and"] and run.end + 1 in people
    return _COMPANY * beside


def acts_human(tokens: Tokens, run: Candidate, *, several: bool) -> float:
    """What the verb behind the run says, which only people are the subject of."""
    low, end = tokens.low, run.end
    after, second = (*low[end : end + 2], ".", ".")[:2]
    if not several:
        before = low[run.start - 1] if run.start else "."
        inside = run.words[0] in en.NAMES_AND_WORDS and not run.opening and before[0].islower()
        verb = _ALONE if after in HUMAN else 0.3 if after in LISTS.posture else 0.0
        return 0.3 * inside + verb * en.is_given(run.words[0])
    if after in HUMAN:
        return _HUMANS
    # "Ann Lee comes from" a place, which has a capital
    place = tokens.words[end + 2 : end + 3]
    named = second != "from" or (place != [] and place[0][0].isupper())
    return _ORIGINS if named and (after, second) in _ORIGIN else 0.0


def is_subject(tokens: Tokens, run: Candidate, *, several: bool) -> bool:
    """Whether a verb stands behind the run, and no preposition of place before it."""
    low, end = tokens.low, run.end
    if end >= len(low) or (run.start and low[run.start - 1] in LISTS.no_subject):
        return False
    after = low[end]
    if after in en.COPULAS:
        return several and after != "'s" and not set(low[end + 1 : end + 2]) & LISTS.done
    third_person = len(after) > 3 and after.endswith("s") and not after.endswith(("ss", "'s"))
    return after in en.VERBS_AFTER_NAME or after.endswith("ed") or third_person


def pronoun_behind(tokens: Tokens, runs: Sequence[Candidate], number: int) -> int:
    """Sentences from a run to the pronoun that follows before anyone else, 0 or 1; else -1.

    -1 too where someone else, in this sentence or the one before, may be the pronoun's.
    """
    run, low, sentence = runs[number], tokens.low, tokens.sentence
    here = sentence[run.start]
    if number:
        other = runs[number - 1]
        if sentence[other.start] >= here - 1 and other.words[-1] != run.words[-1]:
            return -1
    before = range(max(0, run.start - _FURTHEST), run.start)
    if any(low[at] in en.PRONOUNS and sentence[at] >= here - 1 for at in before):
        return -1
    behind = runs[number + 1].start if number + 1 < len(runs) else len(low)
    for at in range(run.end, min(behind, run.end + _FURTHEST)):
        noun = low[at] in en.PERSON_NOUNS and low[at - 1] in ("a", "an", "the")
        if low[at] in en.PRONOUNS and low[at] not in LISTS.things and sentence[at] <= here + 1:
            return sentence[at] - here
        if sentence[at] > here + 1 or low[at] in LISTS.things or noun:
            break
    return -1


_MOST_EVIDENCE = 4.0
_RIVALS = 32
"""Most people with a word or pair of words in common who are compared."""

_LATER_SURNAME, _LATER_OTHER, _OFTEN = 0.6, 0.3, 0.4


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
        How much the name behaves like a person's; see `weigh` and `support`.
    gender
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
    gender: str = ""
    nicknames: set[str] = field(default_factory=set)
    titles: set[str] = field(default_factory=set)
    initials: str = ""
    full: list[int] = field(default_factory=list)
    alone: int = -1

    def add(self, tokens: Tokens, run: Candidate) -> None:
        """Add a mention."""
        self.mentions.append(run)
        self.gender = self.gender or run.gender
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

    def name_score(self, weights: Sequence[float]) -> float:
        """How much the name behaves like a person's: its words, its contexts, how it recurs.

        `weights` are what the words around each mention say for a person.
        """
        evidence = sum(weights)
        if len(weights) > 3 and evidence < 0:
            evidence /= len(weights) / 3
        score = base_score(self.words) + min(evidence, _MOST_EVIDENCE)
        later = {mention.words[0] for mention in self.mentions if len(mention.words) == 1}
        given = en.is_given(self.words[0])
        if len(self.words) == 1:
            score += _OFTEN if given and len(weights) > 2 else 0.0
        elif self.words[-1] in later:
            score += _LATER_SURNAME
        elif later:
            score += _LATER_OTHER if given else -_LATER_SURNAME
        return score

    def first_name(self, tokens: Tokens) -> str | None:
        """First name as written; None where only a title and a surname are given."""
        if len(self.words) == 1:
            formal = sum(
                any(_before_surname(tokens, tokens.low[title]) for title in mention.titles)
                for mention in self.mentions
            )
            # A known first name may stand with a title here and there
            seldom = len(self.mentions) - formal > formal and en.is_given(self.words[0])
            if self.initials or (formal and not seldom):
                return None
        return tokens.words[self.longest.parts[0]]


def cluster_names(
    text: str,
    tokens: Tokens,
    runs: Sequence[Candidate],
    weigh: Callable[[Candidate], float],
    *,
    doubted: bool = False,
) -> list[NameCluster]:
    """Named people, in order of first mention.

    Parameters
    ----------
    text, tokens
        The text.
    runs
        Runs of capitalised words that may be names.
    weigh
        What the words around a run say for a person.
    doubted
        Whether to return names too that behave less like a person's than `ENOUGH`.
    """
    full = [run for run in runs if len(run.words) > 1 and not run.plural]
    clusters, holders = full_names(tokens, full)
    single: dict[str, list[NameCluster]] = {}
    for run in runs:
        if len(run.words) == 1 and not run.plural:
            (word,) = run.words
            alone = single.get(word, [])
            owner = owner_of_word(tokens, holders.get(word, ()), alone, run)
            if owner is None and not run.bound:
                owner = NameCluster(run.words, run)
                single.setdefault(word, []).append(owner)
            if owner is not None:
                owner.add(tokens, run)
    clusters += [cluster for alone in single.values() for cluster in alone]
    around = support(tokens, runs)
    doubtful: list[NameCluster] = []
    found: list[NameCluster] = []
    for cluster in clusters:
        cluster.mentions.sort(key=lambda run: run.start)
        if is_thing(text, tokens, cluster.words, cluster.mentions):
            continue
        weights = [weigh(run) + around.get(run.start, 0.0) for run in cluster.mentions]
        cluster.score = cluster.name_score(weights)
        (found if cluster.score >= ENOUGH else doubtful).append(cluster)
    # Doubtful people who stand beside others are people: "Ann Lee and Xola Mda"
    people = {
        at
        for cluster in found
        for run in cluster.mentions
        for at in range((run.titles or [run.start])[0], run.end)
    }
    for cluster in doubtful:
        company = max(keeps_company(tokens, run, people) for run in cluster.mentions)
        if len(cluster.words) > 1 and cluster.score + company >= ENOUGH:
            cluster.score += company
        perhaps = doubted and cluster.score >= DOUBTED and not _common(tokens, cluster)
        if cluster.score >= ENOUGH or perhaps:
            found.append(cluster)
    return sorted(found, key=lambda cluster: cluster.mentions[0].start)


def full_names(
    tokens: Tokens, runs: Sequence[Candidate]
) -> tuple[list[NameCluster], dict[str, list[NameCluster]]]:
    """People with names of several words, and word or nickname → whose names it stands in.

    Names are compared where they share a pair of words; at most `_RIVALS` share a word.
    """
    clusters: list[NameCluster] = []
    holders: dict[tuple[str, str], list[int]] = {}
    for run in runs:
        pairs = {*pairwise(run.words), (run.words[0], run.words[-1])}
        if run.nickname:
            pairs.add((run.nickname, run.words[-1]))
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
    pet: dict[str, list[NameCluster]] = {}
    for cluster in clusters:
        nicknames = sorted(cluster.nicknames)
        for word in dict.fromkeys((*cluster.words, *nicknames)):
            people = by_word.setdefault(word, [])
            if len(people) < _RIVALS:
                people.append(cluster)
        for name in nicknames:
            for ending in ("y", "ie", name[-1] + "y", name[-1] + "ie"):
                pet.setdefault(name + ending, [cluster])
    return clusters, pet | by_word


def _same(cluster: NameCluster, run: Candidate) -> bool:
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


def _before_surname(tokens: Tokens, title: str) -> bool:
    """Whether a title stands before surnames."""
    return title in en.SURNAME_TITLES or title in tokens.local.formal


def owner_of_word(
    tokens: Tokens, matching: Sequence[NameCluster], alone: Sequence[NameCluster], run: Candidate
) -> NameCluster | None:
    """Whose name the single word of `run` is, or None.

    `matching` have the word in their full name, `alone` are named by this word only. A person whose
    titles tell another gender, or whose initials differ, is none of them.
    """
    (word,) = run.words
    titles = {tokens.low[title] for title in run.titles}
    last = [c for c in matching if c.words[-1] == word]
    formal = any(_before_surname(tokens, title) for title in titles)
    pool = last or ([] if formal else list(matching))
    if last or not pool:
        pool = [*pool, *alone]
    agree = []
    for one in pool:
        own = one.initials or (one.words[0] if len(one.words) > 1 else "")
        genders = run.gender and one.gender not in ("", run.gender)
        initials = run.initials and own and own[0] != run.initials[0]
        # One word may belong to two people: "Mr. and Mrs. Patel"
        shared = one.mentions and one.mentions[-1].parts[-1] == run.parts[-1]
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


_WORDS, _LONG, _SHARE = 5, 4, 0.75
"""Words that a headline has at least, letters of those that count, and share in capitals."""


def find_headlines(tokens: Tokens, opens: Sequence[int]) -> frozenset[int]:
    """Positions of the tokens of sentences in Title Case, and of lines that open with "Title:".

    `opens` are the positions of first tokens of sentences.
    """
    found: set[int] = set()
    for number, first in enumerate(opens):
        behind = opens[number + 1] if number + 1 < len(opens) else len(tokens.words)
        words = tokens.words[first:behind]
        if tokens.low[first : first + 2] == ["title", ":"]:
            found.update(range(first, behind))
            continue
        if len(words) < _WORDS or words[-1] == ".":
            continue
        long = [word for word in words if len(word) >= _LONG and word[0].isalpha()]
        capital = sum(word[0].isupper() for word in long)
        if len(long) >= _WORDS and capital >= _SHARE * len(long):
            found.update(range(first, behind))
    return frozenset(found)


def mentions_in(
    headlines: frozenset[int], tokens: Tokens, clusters: Sequence[NameCluster]
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


def _common(tokens: Tokens, cluster: NameCluster) -> bool:
    """Whether a name is a word that stands first in sentences alone: "Concerned, she left"."""
    (word, *more) = cluster.words
    opens = all(run.opening for run in cluster.mentions)
    return not more and opens and (word.endswith(("ing", "ed", "ly")) or word in tokens.words)


def with_known(
    tokens: Tokens, clusters: Sequence[NameCluster], known: Sequence[tuple[int, int]]
) -> list[NameCluster]:
    """Clusters with the people added whose names stand at the offsets `known`.

    A name that a cluster has is that person's, unless another known name is; one that no cluster
    has is a person's wherever it stands.
    """
    found = list(clusters)
    taken: list[NameCluster] = []
    for start, end in known:
        inside = [
            at
            for at, word in enumerate(tokens.words)
            if tokens.starts[at] < end and start < tokens.starts[at] + len(word)
        ]
        if not inside:
            continue
        first, last = inside[0], inside[-1] + 1
        owner, here = next(
            (
                (cluster, run)
                for cluster in found
                for run in cluster.mentions
                if run.start < last and first < run.end
            ),
            (None, None),
        )
        if owner is not None and owner not in taken:
            taken.append(owner)
            continue
        if owner is not None and here is not None:
            owner.mentions.remove(here)
        words = tokens.low[first:last]
        own = {
            at for cluster in found for run in cluster.mentions for at in range(run.start, run.end)
        }
        places = [
            at
            for at in range(len(tokens.low) - len(words) + 1)
            if tokens.low[at : at + len(words)] == words
            and tokens.words[at][:1].isupper() == tokens.words[first][:1].isupper()
            and (at == first or own.isdisjoint(range(at, at + len(words))))
        ]
        runs = [
            Candidate(
                at,
                at + len(words),
                list(range(at, at + len(words))),
                [],
                words=words,
                named=at + len(words),
            )
            for at in places
        ]
        cluster = NameCluster(words, runs[0], score=ENOUGH)
        for run in runs:
            cluster.add(tokens, run)
        found.append(cluster)
        taken.append(cluster)
    return found
