"""Named people of a story: those whom the finder of names takes for people, and how surely."""

from dataclasses import dataclass, field

from portrayal.annotate.people.names.candidates import (
    PLACES_AND_BODIES,
    Candidate,
    find_candidates,
    is_plain_name,
)
from portrayal.annotate.people.names.clusters import NameCluster, name_clusters
from portrayal.annotate.people.names.evidence import name_score
from portrayal.annotate.people.shared import words as en
from portrayal.annotate.people.shared.scan import ENGLISH, Tokens

LEAST, SURE, MOST = -1.25, 3.0, 6.0
"""Log odds from which a name is a person's, as a story names hardly anything else, and those of a
name beyond doubt; the highest score, of one that stands in the story often."""

DESCRIBED = 1.0
"""Log odds that a description behind a name adds, where the name is in doubt."""

IN_QUOTES, TITLED_IN_QUOTES, ASIDE = 0.4, 0.2, 0.4
"""What a name counts that stands in quotations alone; "Mr. Pitt!" there is often someone named
otherwise, and "Uncle Joe" and who owns "Mr. Lee's class" are seldom in a prompt's roles."""

_NO_NAMES = ("ed", "ing", "ly")
_DESCRIBES = en.APPOSITION | {"the"}


@dataclass(slots=True)
class NamedPerson:
    """A named person: every place where the name stands.

    Attributes
    ----------
    first, surname
        As written; `first` is None where only a formal title and a surname are given.
    at
        Token positions of the name proper, in order.
    titles
        Token positions of titles before the name.
    score
        How much the name behaves like that of a person whom the story is about.
    """

    first: str | None
    surname: str | None
    at: list[int] = field(default_factory=list)
    titles: list[int] = field(default_factory=list)
    score: float = 0.0


def find_people(text: str, tokens: Tokens) -> list[NamedPerson]:
    """People named in the text, in order of first mention, as a story names hardly anything else.

    `text` is what the tokens were scanned from.
    """
    words, local = tokens.words, tokens.local
    named_people = []
    for cluster in name_clusters(tokens, find_candidates(text, tokens)):
        mentions, several = cluster.mentions, len(cluster.words) > 1
        # "Golden Temple", say: no person's as a whole
        if several and " ".join(cluster.words) in local.whole:
            continue
        odds = _odds(text, tokens, cluster)
        if odds < LEAST:
            continue
        i, surname = cluster.first_name(tokens), words[cluster.longest.parts[-1]]
        first = None if i is None else words[i]
        if first is not None and local.endings:
            first = first[: len(local.bare(first.lower()))]
        titles = [title for run in mentions for title in run.titles]
        # Bounded, so that a name said often does not decide alone
        score = min(MOST, max(odds, 0.0) + sum([_weight(tokens, run) for run in mentions]))
        named_people.append(
            NamedPerson(first, surname, [run.start for run in mentions], titles, score)
        )
    return sorted(named_people, key=lambda person: person.at[0])


def _odds(text: str, tokens: Tokens, cluster: NameCluster) -> float:
    """Log odds that a name is a person's, read from its evidence where they are in question."""
    word, mentions, sole = cluster.words[0], cluster.mentions, len(cluster.words) == 1
    if word.upper() == word:
        return SURE  # 健太: a word without case, see `mark_uncased`
    if tokens.local is ENGLISH and word not in ENGLISH.gods:
        after, behind = (*tokens.low[mentions[0].end : mentions[0].end + 2], "", "")[:2]
        acts = after in en.VERBS_AFTER_NAME or after.endswith("ed")
        described = after == "," and behind in en.APPOSITION
        person = (acts or described or len(mentions) > 1) and is_plain_name(word)
        if person or not en.FORMAL_TITLES.isdisjoint(cluster.titles):
            return SURE
        if sole and mentions[0].opening and word.endswith(_NO_NAMES) and not en.bearers(word):
            return -SURE
    odds = name_score(text, tokens, cluster.words, mentions)
    # "Saskia, the falconer" is somebody, however rare the name
    ends = [tokens.low[run.end : run.end + 2] for run in mentions]
    described = any(end[:1] == [","] and end[-1] in _DESCRIBES for end in ends)
    described = described and word not in PLACES_AND_BODIES
    return min(SURE, odds + DESCRIBED if described and odds > -DESCRIBED else odds)


def _weight(tokens: Tokens, run: Candidate) -> float:
    """How much a mention counts for a person of the story."""
    quoted = tokens.quoted[run.start]
    if not run.titles:
        return IN_QUOTES if quoted else 1.0
    title, behind = tokens.low[run.titles[0]], tokens.low[run.end : run.end + 2]
    aside = behind[:1] == ["'s"] and not en.PLACE_TAILS.isdisjoint(behind)
    weight = ASIDE if title in en.RELATIVES or aside else 1.0
    if not quoted:
        return weight
    return TITLED_IN_QUOTES if title in en.FORMAL_TITLES else weight * IN_QUOTES
