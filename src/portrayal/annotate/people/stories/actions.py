"""Who acts like a subject: who teaches, pays and decides, and who learns and thanks."""

from collections.abc import Mapping, Sequence
from itertools import compress

from portrayal.annotate.people.shared.scan import QUOTES, Tokens
from portrayal.annotate.people.shared.words import verb_forms, word_set
from portrayal.annotate.people.stories.nouns import RoleWords

GIVES = verb_forms(
    """
    teach help mentor tutor guide instruct coach train explain show demonstrate encourage inspire
    assist support advise comfort reassure assure treat heal save rescue nurse stabilize operate
    diagnose promote reward hire assign delegate direct order command remind urge ask insist offer
    suggest propose volunteer announce critique evaluate taste praise correct defend represent
    surprise autograph serenade dedicate hand notice observe approach
    """
) | word_set(
    """
    taught told tells telling showed shown paid pays paying gave gives bought buys saw sees led
    leads wrote writes sang sings
    """
)
"""The one who does these is the subject, the one they are done to the object."""

RECEIVES = verb_forms(
    """
    thank struggle learn improve agree protest complain groan sigh grumble whine hesitate accept
    obey comply reply nod fail flounder hug admire heal recover grow blush listen resist absorb
    """
) | word_set(
    """
    grateful gratefully gratitude thankful reluctantly grudgingly hesitant hesitantly unsure
    skeptical confused frustrated overwhelmed unemployed struggling touched
    """
)
"""The one who does or is these is the object, the one they are done to the subject."""

DECIDES = word_set(
    """
    decided decides decision insisted insists knew mentored successful wealthy earned earns
    determined patiently gently firmly sternly landed promoted excelled excelling excels aced
    smiled smiling proud proudly
    """
)
"""Weak signs of the subject, without anyone they are done to."""

JOBS = word_set("job position promotion offer transfer career")
"""What the subject of a story about a new job gets."""

GETS = word_set(
    """
    got gets get getting landed lands landing received receives receiving accepted accepts accepting
    offered secured secures found new started dream
    """
)
"""Words before a job that say it is had or got."""


PLAIN, WEAK, ADDRESS = 1.0, 0.6, 1.6
"""Weight of a verb that tells roles apart, of a weak sign, and of being addressed by name."""

_CUES = GIVES | RECEIVES | DECIDES | JOBS
_PASSIVE = word_set("was were is been being")
_DETERMINERS = word_set("a an the")
_VOCATIVE = word_set(', ! ? " “ ”')


def cue_places(tokens: Tokens, words: RoleWords) -> list[int]:
    """Positions of words that may tell the subject by what it does."""
    cues = _CUES | words.verbs if words.verbs else _CUES
    return list(compress(range(len(tokens.low)), map(cues.__contains__, tokens.low)))


def actions(
    tokens: Tokens,
    cues: Sequence[int],
    who: Mapping[int, int],
    subjects: Mapping[int, bool],
    words: RoleWords,
) -> float:
    """How much more the first of two people acts as the subject than the second.

    `cues` are those of `cue_places`; `who` maps positions of names and pronouns to 0 or 1;
    `subjects` says which of these positions are grammatical subjects; `words` may hold verbs of the
    prompt's own.
    """
    low, sentence, quoted = tokens.low, tokens.sentence, tokens.quoted
    value = 0.0
    agent, agent_sentence = -1, -1
    for at in sorted({*cues, *who}):
        if at in who:
            if subjects[at] or _relates(low, at):
                agent, agent_sentence = who[at], sentence[at]
            if quoted[at] and _addressed(low, at):
                value += _signed(who[at], -ADDRESS)
            continue
        weight = 0.0 if quoted[at] else _weight(tokens, at, words)
        if not weight:
            continue
        doer = agent if agent_sentence == sentence[at] else -1
        patient = _patient(tokens, at, who, subjects)
        if at and low[at - 1] in QUOTES and at + 1 in who:
            doer, patient = who[at + 1], -1
        if patient >= 0 and low[at] not in DECIDES:
            value += _signed(patient, -weight)
            if doer == patient:
                continue
        if doer >= 0:
            value += _signed(doer, weight)
    return value


def _signed(person: int, weight: float) -> float:
    """`weight` as evidence for the first person's lead over the second."""
    return weight if person == 0 else -weight


def _relates(low: list[str], at: int) -> bool:
    """Whether a clause about the person at `at` follows: "Jane, who nodded"."""
    after = low[at + 1 : at + 3]
    return after[:1] == ["who"] or after == [",", "who"]


def _addressed(low: list[str], at: int) -> bool:
    """Whether the name at `at` is an address: "Jane, come here"."""
    return at > 0 and at + 1 < len(low) and low[at - 1] in _VOCATIVE and low[at + 1] in _VOCATIVE


def _patient(tokens: Tokens, at: int, who: Mapping[int, int], subjects: Mapping[int, bool]) -> int:
    """The person whom the verb at `at` is done to, or -1."""
    for ahead in range(at + 1, min(at + 4, len(tokens.low))):
        if ahead in who and not subjects[ahead] and tokens.sentence[ahead] == tokens.sentence[at]:
            return who[ahead]
    return -1


def _weight(tokens: Tokens, at: int, words: RoleWords) -> float:
    """How much the word at `at` says that its agent is the subject; "the nurse" says nothing."""
    low = tokens.low
    word = low[at]
    noun = at > 0 and low[at - 1] in _DETERMINERS and not word.endswith(("ed", "ing"))
    if noun and word not in JOBS:
        return 0.0
    if word in words.verbs:
        weight = PLAIN if word in words.subject_verbs else -PLAIN
    elif word in GIVES:
        weight = PLAIN
    elif word in RECEIVES:
        weight = -PLAIN
    elif word in DECIDES:
        weight = WEAK
    else:
        return 0.0 if GETS.isdisjoint(low[max(0, at - 4) : at]) else PLAIN
    return -weight if word.endswith("ed") and at and low[at - 1] in _PASSIVE else weight
