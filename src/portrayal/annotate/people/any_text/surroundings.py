"""What the sentences around a name say for a person: a pronoun that follows, an origin, company.

Names that no list knows have little else to be told by. The weights were set by hand on development
texts and are in no unit.
"""

from collections.abc import Collection, Sequence

from portrayal.annotate.people.shared.candidates import is_given
from portrayal.annotate.people.shared.capitals import Candidate
from portrayal.annotate.people.shared.evidence import ENOUGH, WORDS_TOO, base_score
from portrayal.annotate.people.shared.mentions import PRONOUNS
from portrayal.annotate.people.shared.nominals import PERSON_NOUNS
from portrayal.annotate.people.shared.scan import Tokens
from portrayal.annotate.people.shared.words import COPULAS, VERBS_AFTER_NAME, word_set

HUMAN = word_set(
    """
    blushed cooks cried cries divorced dreamed dreams frowned frowns graduated grinned grins hugged
    kissed knelt laughed laughs married nodded nods pleaded prayed prays retired shrugged sighed
    sighs sings sang smiled smiles sobbed sows studied studies taught teaches thanked waved waves
    wept weeps whispered whispers winked wore yawned
    """
)
"""Verbs whose subject is hardly ever anything but a person."""

POSTURE = word_set(
    "sat sits stood stands walked walks waited waits leaned hurried listened listens"
)
"""Verbs whose subject is mostly a person, where it is one word."""

_ORIGIN = frozenset(
    [(verb, "from") for verb in ("is", "was", "are", "were", "come", "comes", "came", "hails")]
    + [("was", "born"), ("were", "born"), ("grew", "up"), ("was", "raised")]
    + [("works", "as"), ("worked", "as")]
)
_THINGS = word_set("it its itself which")
_NO_SUBJECT = word_set(
    "in at near outside inside across around throughout toward towards via into of the"
)
_DONE = word_set(
    """
    acquired built closed established founded launched located merged opened published released
    renamed renovated sold
    """
)
"""Participles behind "was" that are said of places, companies and works."""

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
        value = _acts(tokens, run, several=several)
        if _is_subject(tokens, run, several=several) and not _has_rival(tokens, runs, number):
            behind = runs[number + 1].start if number + 1 < len(runs) else len(tokens.low)
            back = _followed(tokens, run, behind)
            if back >= 0:
                close = several or (back == 0 and not is_given(run.words[0]))
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


def _acts(tokens: Tokens, run: Candidate, *, several: bool) -> float:
    """What the verb behind the run says, which only people are the subject of."""
    low, end = tokens.low, run.end
    after, second = (*low[end : end + 2], ".", ".")[:2]
    if after in HUMAN and several:
        return _HUMANS
    if not several:
        before = low[run.start - 1] if run.start else "."
        inside = run.words[0] in WORDS_TOO and not run.opening and before[0].islower()
        return 0.3 * inside + _verb(after) * is_given(run.words[0])
    if (after, second) in _ORIGIN:
        place = tokens.words[end + 2 : end + 3]
        named = second != "from" or (place != [] and place[0][0].isupper())
        return _ORIGINS if named else 0.0
    return 0.0


def _verb(word: str) -> float:
    """What a verb behind a single word says."""
    return _ALONE if word in HUMAN else 0.3 if word in POSTURE else 0.0


def _is_subject(tokens: Tokens, run: Candidate, *, several: bool) -> bool:
    """Whether a verb stands behind the run, and no preposition of place before it."""
    low, end = tokens.low, run.end
    if end >= len(low) or (run.start and low[run.start - 1] in _NO_SUBJECT):
        return False
    after = low[end]
    if after in COPULAS:
        return several and after != "'s" and not set(low[end + 1 : end + 2]) & _DONE
    return after in VERBS_AFTER_NAME or after.endswith("ed") or _third_person(after)


def _third_person(word: str) -> bool:
    """Whether a word may be the third person of a verb: "runs"."""
    return len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "'s"))


def _has_rival(tokens: Tokens, runs: Sequence[Candidate], number: int) -> bool:
    """Whether somebody else, in this sentence or the one before, may be the next pronoun's."""
    run, low, sentence = runs[number], tokens.low, tokens.sentence
    least = sentence[run.start] - 1
    if number:
        other = runs[number - 1]
        if sentence[other.start] >= least and other.words[-1] != run.words[-1]:
            return True
    for at in range(run.start - 1, max(-1, run.start - 1 - _FURTHEST), -1):
        if sentence[at] < least:
            return False
        if low[at] in PRONOUNS:
            return True
    return False


def _followed(tokens: Tokens, run: Candidate, behind: int) -> int:
    """Sentences from the run to the pronoun that follows before anybody else: 0, 1, or -1."""
    low, sentence = tokens.low, tokens.sentence
    here = sentence[run.start]
    for at in range(run.end, min(behind, run.end + _FURTHEST)):
        if sentence[at] > here + 1 or low[at] in _THINGS:
            return -1
        if low[at] in PRONOUNS:
            return sentence[at] - here
        if low[at] in PERSON_NOUNS and low[at - 1] in ("a", "an", "the"):
            return -1
    return -1
