"""What speaks for a run of capitalised words to be the name of a person, and what against it.

The weights were set by hand on development texts and are in no unit.
"""

import re
from collections.abc import Sequence

from portrayal.annotate.people.shared.candidates import FREQUENT, bearers
from portrayal.annotate.people.shared.capitals import Candidate
from portrayal.annotate.people.shared.nominals import KIN, PERSON_NOUNS
from portrayal.annotate.people.shared.scan import QUOTES, Tokens
from portrayal.annotate.people.shared.words import COPULAS, VERBS_AFTER_NAME, word_set

ENOUGH = 1.0
"""Score from which a name is taken for a person's."""

SAYING = word_set(
    """
    said says told tells asked added wrote writes explained replied argued tweeted recalled
    insisted joked warned testified remembered admitted confessed laughed smiled cried whispered
    noted concluded continued commented responded
    """
)
"""Verbs of saying, beside a speaker's name."""

LIVING = word_set(
    """
    died married graduated grew studied resigned wore sang plays played starred lives lived born
    retired arrested pleaded loves enjoys believes hopes thinks thought felt knew remembers recalls
    earned dreams dreamed holds honed
    """
)
"""Verbs whose subject is mostly a person."""

_AGE = re.compile(r"\s*,\s*(?:aged?\s+)?\d{1,3}\s*[,.;)]|\s*\(\s*(?:aged?\s+)?\d{1,2}\s*\)")
_YEARS = re.compile(r"\s+(?:is|was)\s+an?\s+\d{1,3}[\s-]+year")
_TAIL = 24
"""Characters behind a name where an age may stand."""

_AT = word_set("in at near outside inside across around throughout toward towards via into")
_BESIDE = word_set("with by for of from to and")
_NAMING = word_set("named called")
_WHO = word_set("who whose whom")
WORDS_TOO = word_set(
    """
    will may art august angel chance chase christian destiny faith grace guy harmony heaven hope
    hunter joy justice king lane long major mark mercy miracle north pat penny price prince queen
    ray rich rose royal sage sky star sunny trinity young case dean ford bill sandy drew rob summer
    april june autumn melody journey genesis america london paris asia india israel austin jordan
    madison brooklyn dallas phoenix virginia georgia carolina savannah cheyenne sierra aspen memphis
    kenya china baby bang blue boo boy bristol brother chandra christ cloud corona day doctor dream
    fortune girl golden happy key law lady legend little love lucky ma man men moon moses nature
    omega prophet reason red rise river rock roma sable saint santa sister song south story summer
    sun tiger true truth west white winter woman world
    """
)
"""Given names that are words or places as well."""


def base_score(words: list[str]) -> float:
    """What the words of a name say by themselves."""
    count = bearers(words[0])
    if len(words) > 1:
        return 1.1 if count else 0.2
    if not count:
        return -0.2
    if words[0] in WORDS_TOO:
        return 0.2
    return ENOUGH if _frequent(words[0]) else 0.6


def _frequent(word: str) -> bool:
    """Whether the casefolded word is a frequent first name and little else."""
    return word not in WORDS_TOO and "-" not in word and bearers(word) >= FREQUENT


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
    score = _own(run)
    if introduces(low, first):
        score += 1.5
    if after in SAYING or (before in SAYING and not run.opening):
        score += 0.6
    elif after in LIVING:
        score += 0.5
    elif after in VERBS_AFTER_NAME or after.endswith("ed") or (after == "'s"):
        score += 0.2
    if before in KIN or (before in PERSON_NOUNS and before not in KIN):
        score += 1.2
    elif before in _NAMING and earlier in PERSON_NOUNS:
        score += 1.5
    elif before == "," and earlier in KIN:
        score += 1.0
    if after == "," and second in _WHO:
        score += 1.0
    elif after in _WHO:
        score += 0.7
    elif after in (",", "(", "—", "–") or after in COPULAS:
        score += 1.0 if _describes(tokens, run.end + 1) else 0.0
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
    elif before in _AT:
        owns = after == "'s" and bearers(run.words[0]) > 0
        cost += 0.5 if not single else 0.0 if owns or _frequent(run.words[0]) else 0.8
    if before == "," and after in (",", ".") and run.start > 3 and single:
        back = run.start - 2
        if tokens.words[back][0].isupper() and low[back - 1] in _AT | _BESIDE:
            cost += 1.0
    if run.end < len(low) and tokens.words[run.end - 1] in QUOTES:
        cost += 0.5
    return cost


def _describes(tokens: Tokens, at: int) -> bool:
    """Whether a noun phrase for a person opens at `at`: "a singer", "the mother of two"."""
    low = tokens.low
    for position in range(at, min(at + 8, len(low))):
        word = low[position]
        if word in PERSON_NOUNS:
            return True
        if not word[0].isalpha() and word != "'s":
            return False
        if word in ("of", "in", "to", "and", "that", "which", "who", "with", "for"):
            return False
    return False
