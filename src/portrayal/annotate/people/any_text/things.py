"""Names of places, gods, rites, plants and dishes, told from names of people by the text.

What stands around every mention of a name is weighed: "the streets of Salem", "prayed to Vishnu",
"served crispy Vada" against "Vishnu smiled", "her son Salem". A name is a thing's where more speaks
for a thing than for a person; a name of which the text says neither is a person's.
"""

from collections.abc import Sequence

from portrayal.annotate.people.any_text.candidates import LISTS, THINGS, Candidate, gap
from portrayal.annotate.people.shared.scan import QUOTES, Tokens
from portrayal.annotate.people.shared.words import (
    COPULAS,
    FREQUENT,
    KIN,
    LIVING,
    NAMING,
    PERSON_NOUNS,
    PLURAL_PEOPLE,
    SAYING,
    VERBS_AFTER_NAME,
    bearers,
    word_set,
)

_GODS, _DEITIES, _WORSHIP = THINGS["gods"], THINGS["deities"], THINGS["worship"]
_BEHIND = THINGS["nouns_behind"]
_OF_PLACES, _OF_THINGS = THINGS["nouns_of_places"], THINGS["nouns_of_things"]
_WHERE, _ARRIVAL = THINGS["where"], THINGS["arrival"]
_QUALITIES, _HANDLED, _HAPPENING = THINGS["qualities"], THINGS["handled"], THINGS["happening"]
_OWNED = THINGS["owned"]
_PARTS, _OPENERS = THINGS["doubtful_parts"], THINGS["doubtful_openers"]
_ACTS = SAYING | LIVING | LISTS["human"] | LISTS["posture"] | (VERBS_AFTER_NAME - COPULAS)
_PEOPLE = PERSON_NOUNS - _DEITIES
_DETERMINERS = word_set("a an the his her their our my its")
_WHO = word_set("who whose whom")
_PREPOSITIONS = _WHERE | word_set("of from to with by for on as like")
_MARKS = QUOTES | {","}
_BETWEEN_ITEMS = _MARKS | word_set("and or the")
_NAMES = word_set("name names")
_LIKE = word_set("like including as")
_NEAR_WORSHIP, _FURTHEST_ITEM, _FURTHEST_NAME = 8, 24, 6
"""Tokens in which a word of worship, the opening of an enumeration, and "name" are looked for."""


def is_thing(text: str, tokens: Tokens, words: Sequence[str], mentions: Sequence[Candidate]) -> bool:
    """Whether the mentions of one name speak rather for a thing than for a person.

    `words` are those of the longest form of the name in lower case.
    """
    things = float(sum(_for_thing(text, tokens, run) for run in mentions))
    things += _by_words(words, tokens)
    if not things and len(words) == 1:
        return False
    people = sum(_for_person(tokens, run) for run in mentions)
    if len(words) > 1 and not things and not people:
        return _odd(text, tokens, words, mentions)
    return things > people


def _by_words(words: Sequence[str], tokens: Tokens) -> int:
    """What the words of the name say for a thing."""
    if len(words) == 1:
        return words[0] in tokens.low and _lower(words[0], tokens)
    return words[-1] in _PARTS or words[0] in _OPENERS or _GODS.issuperset(words)


def _lower(word: str, tokens: Tokens) -> bool:
    """Whether the word of the name stands in lower case elsewhere: "fresh jasmine"."""
    return word in tokens.words


def _odd(
    text: str, tokens: Tokens, words: Sequence[str], mentions: Sequence[Candidate]
) -> bool:
    """Whether a rare name of several words, of which nothing says that it is a person's, is none."""
    if bearers(words[0]) >= FREQUENT:
        return False
    if len(words) > 2:
        return not bearers(words[-1])
    return any(_set_apart(text, tokens, run) for run in mentions)


def _set_apart(text: str, tokens: Tokens, run: Candidate) -> bool:
    """Whether a mention stands as terms do: in quotation marks, before a gloss, behind "the"."""
    low, start, end = tokens.low, run.start, run.end
    before = low[start - 1] if start else "."
    if before in ("the", "a", "an", "of", "called") or low[end : end + 1] == ["("]:
        return True
    return start > 0 and gap(text, tokens, start - 1).strip() in ("'", "‘", "’") or before in QUOTES


def _for_thing(text: str, tokens: Tokens, run: Candidate) -> int:
    """Whether what stands around a mention speaks for a thing."""
    low, words = tokens.low, tokens.words
    first = run.titles[0] if run.titles else run.start
    if run.titles and low[first] not in _DEITIES:
        return 0
    before, earlier = _token(low, first - 1), _token(low, first - 2)
    after = _token(low, run.end)
    if after in QUOTES:
        after = _token(low, run.end + 1)
    rare = bearers(run.words[0]) < FREQUENT
    if after in _BEHIND and gap(text, tokens, run.end - 1).strip(" ’'\"”") == "":
        return 1
    if after in _HAPPENING or before in _QUALITIES or before in _HANDLED:
        return 1
    if before == "of" and (earlier in _OF_PLACES or earlier in _OF_THINGS):
        return 1
    if before in _WHERE and after != "'s":
        return int(rare)
    if before == "from" and earlier in _ARRIVAL:
        return int(rare)
    if before in NAMING and earlier not in _PEOPLE and words[run.start - 2].islower() and rare:
        return int(not _named(tokens, first))
    return int(_worshipped(tokens, run, before) or _is_item(tokens, run))


def _token(low: Sequence[str], at: int) -> str:
    """The token at a position, or a full stop beyond the text."""
    return low[at] if 0 <= at < len(low) else "."


def _worshipped(tokens: Tokens, run: Candidate, before: str) -> bool:
    """Whether a mention is a god's to whom somebody prays."""
    low, start = tokens.low, run.start
    god = _GODS.issuperset(run.words)
    if before in _DEITIES:
        return True
    near = low[max(0, start - _NEAR_WORSHIP) : start]
    if god:
        return not _WORSHIP.isdisjoint(near) or before in ("river", "mount")
    return before in ("to", "of", "for") and not _WORSHIP.isdisjoint(near[-3:-1]) and (
        near[-2:-1] != ["blessings"] and near[-2:-1] != ["blessing"]
    ) and bearers(run.words[0]) < FREQUENT


def _is_item(tokens: Tokens, run: Candidate) -> bool:
    """Whether a mention is one of the things that "dishes such as" enumerates."""
    low, words = tokens.low, tokens.words
    at = run.start - 1
    least = max(1, at - _FURTHEST_ITEM)
    while at > least and (low[at] in _BETWEEN_ITEMS or words[at][0].isupper()):
        at -= 1
    if low[at] not in _LIKE:
        return False
    at -= 1 + (low[at] == "as" and low[at - 1] == "such")
    at -= low[at] in _MARKS
    noun = _token(low, at)
    plural = noun.endswith("s") and not noun.endswith("ss") and len(noun) > 3
    return plural and noun not in PLURAL_PEOPLE and noun[:-1] not in PERSON_NOUNS


def _named(tokens: Tokens, at: int) -> bool:
    """Whether "name" stands before: "they chose the name Salem"."""
    return not _NAMES.isdisjoint(tokens.low[max(0, at - _FURTHEST_NAME) : at])


def _for_person(tokens: Tokens, run: Candidate) -> float:
    """What stands around a mention and speaks for a person."""
    low = tokens.low
    first = run.titles[0] if run.titles else run.start
    if run.titles and low[first] not in _DEITIES:
        return 2.0
    before, earlier = _token(low, first - 1), _token(low, first - 2)
    after, second = _token(low, run.end), _token(low, run.end + 1)
    found = 0.0
    if before in _PEOPLE or (before in _MARKS and earlier in KIN) or _named(tokens, first):
        found += 1
    if before not in _PREPOSITIONS and before not in _DEITIES:
        found += after in _ACTS or (after.endswith("ed") and after not in _HAPPENING)
    if after == "'s" and (second in _PEOPLE or second in _OWNED):
        found += 1
    if after in _WHO or (after == "," and second in _WHO):
        found += 1
    if after in (",", "(", "—", "–") or after in COPULAS:
        found += second in _DETERMINERS and _is_person(tokens, run.end + 2)
    return found


def _is_person(tokens: Tokens, at: int) -> bool:
    """Whether the noun phrase whose second word stands at `at` is a person's."""
    for word in tokens.low[at : at + 5]:
        if word in _PEOPLE or word in PLURAL_PEOPLE:
            return True
        if not word[0].isalpha() or word in _PREPOSITIONS or word in _DEITIES:
            return False
    return False
