"""What grammar says of whom "he" and "she" mean, where two people of a text may be meant.

The walk of `pronouns` weighs where people were mentioned; here is what it cannot see: what the verb
before "because" or "but" says of its subject and its object, a noun whose gender is told beside a
name whose gender is not, reflexives, and phrases that open a sentence before its subject.
"""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from itertools import pairwise
from operator import attrgetter
from typing import NamedTuple

from portrayal.annotate.people.names.candidates import LISTS, opens_sentence
from portrayal.annotate.people.shared import words as en
from portrayal.annotate.people.shared.links import OTHER, PersonMention
from portrayal.annotate.people.shared.scan import Tokens

_position, _sentence = attrgetter("at"), attrgetter("sentence")
SURE, TOLD, LIKELY = 6_000, 4_000, 2_500
"""What a preference outweighs, in thousandths of a natural logarithm of odds."""

_BLAMED = LISTS.verbs("blamed") | LISTS.blamed_forms
_BLAMING = LISTS.verbs("blaming") | LISTS.blaming_forms
_HANDED = LISTS.verbs("handing") | LISTS.handed
_PLEDGED = LISTS.verbs("pledging") | LISTS.pledged
_MINDED = LISTS.verbs("minding") | LISTS.minded
_CONTROLLED = LISTS.verbs("controlled") | LISTS.controlled_forms


class Preference(NamedTuple):
    """That a pronoun means one person rather than another.

    Attributes
    ----------
    at
        Token position of the pronoun.
    person, rival
        Index of who is meant, and of who is not.
    worth
        How much worse, in thousandths of log odds, the rest of the text may be for it.
    """

    at: int
    person: int
    rival: int
    worth: int


def preferences(
    tokens: Tokens,
    events: Sequence[PersonMention],
    genders: Sequence[str],
    barred: Mapping[int, int],
) -> list[Preference]:
    """What grammar prefers, at most once for each pronoun.

    Parameters
    ----------
    tokens, events
        The text; its mentions and pronouns in order.
    genders
        Per person the gender that titles and nouns tell, or "".
    barred
        Position of a pronoun → a person whom it cannot mean.
    """
    # Who opens sentence after sentence as "she" is one: "She loves Jake. She hates Alex."
    opening = [one for one in events if one.case == "s" and opens_sentence(tokens, one.at)]
    chained = {
        one.at: barred[behind.at]
        for one, behind in pairwise(opening)
        if behind.sentence == one.sentence + 1
        and behind.gender == one.gender
        and behind.at in barred
    }
    preferred: list[Preference] = []
    low = tokens.low
    mentions = [event for event in events if not event.case and event.entity >= 0]
    for event in events:
        if not event.case or event.quoted:
            continue
        i = event.at
        # Mentions before, in this sentence and the last one, of those who can be meant. They are in
        # order, so a long text is not gone through again for every pronoun.
        first = bisect_left(mentions, event.sentence - 1, key=_sentence)
        last = bisect_left(mentions, i, key=_position)
        near = [one for one in mentions[first:last] if genders[one.entity] in ("", event.gender)]
        same_sentence = [one for one in near if one.sentence == event.sentence]
        preference = None
        if event.case == "r":
            # The surest rules first: each pronoun gets one preference at most
            preference = _reflexive(low, event, same_sentence)
        elif event.case == "o" and event.rank < 0:
            preference = _controlled(low, event, same_sentence) or _object(event, near)
        # Neither the object of its own verb nor that of the next sentence: one may remain
        elif event.at in chained:
            not_meant = {chained[event.at], barred.get(event.at, OTHER)}
            remaining = {one.entity for one in near} - not_meant
            if len(remaining) == 1:
                preference = Preference(event.at, min(remaining), chained[event.at], SURE)
        preference = (
            preference
            or _fronted(low, event, mentions, same_sentence)
            # Whoever a title tells to be of that gender goes before who may be
            or _told(event, near, genders)
            or _controlled(low, event, same_sentence)
            or (_clauses(low, event, same_sentence, near) if event.case == "s" else None)
        )
        if preference is not None and preference.person != preference.rival:
            preferred.append(preference)
    return preferred


def _reflexive(
    low: Sequence[str], event: PersonMention, in_clause: Sequence[PersonMention]
) -> Preference | None:
    """As in "Ann hurt herself", "Ann taught Eva to defend herself", "… more than herself"."""
    # A reflexive means someone of its own clause (Principle A)
    start = next((i + 1 for i in range(event.at - 1, -1, -1) if low[i] in en.CLAUSE_OPENERS), 0)
    in_clause = [one for one in in_clause if one.at >= start]
    if len({one.entity for one in in_clause}) != 2:
        return None
    last = in_clause[-1].entity
    other = next(one.entity for one in reversed(in_clause) if one.entity != last)
    between = low[in_clause[-1].at + 1 : event.at]
    is_own = len(between) > 0 and between[-1] not in LISTS.beside | {"than", "as"}
    person, rival = (last, other) if is_own else (other, last)
    return Preference(event.at, person, rival, SURE)


def _object(event: PersonMention, near: Sequence[PersonMention]) -> Preference | None:
    """As in "Before Gus left, Eva kissed him": not the subject of the verb."""
    # The subject of its own verb is barred (Principle B), so the other is meant
    inside = [one for one in near if one.at >= event.at + event.rank and one.rank == 1.0]
    outside = {one.entity for one in near} - {one.entity for one in inside}
    if len(inside) != 1 or len(outside) != 1:
        return None
    return Preference(event.at, min(outside), inside[0].entity, SURE)


def _fronted(
    low: Sequence[str],
    event: PersonMention,
    mentions: Sequence[PersonMention],
    same_sentence: Sequence[PersonMention],
) -> Preference | None:
    """As in "With Eva beside her, Ann felt safe": the subject behind the comma."""
    if event.case == "s" or not same_sentence:
        return None
    start = same_sentence[0].at
    # The phrase must open its sentence, else it belongs to the verb before
    opened = next(
        (i for i in range(start - 1, max(-1, start - 4), -1) if low[i] in LISTS.front), -1
    )
    if opened < 0 or (opened and low[opened - 1] not in en.CLAUSE_MARKS):
        return None
    if not (en.CLAUSE_MARKS | en.COPULAS).isdisjoint(low[opened : event.at]):
        return None
    behind = low.index(",", event.at) if "," in low[event.at : event.at + 6] else -3
    subject = next((one for one in mentions if one.at - behind in (1, 2)), None)
    if subject is None or subject.sentence != event.sentence:
        return None
    return Preference(event.at, subject.entity, same_sentence[-1].entity, SURE)


def _controlled(
    low: Sequence[str], event: PersonMention, same_sentence: Sequence[PersonMention]
) -> Preference | None:
    """As in "asked Eva to open her bag", "thanked Eva for her help", "Eva, who sold her car"."""
    people = list(dict.fromkeys(mention.entity for mention in same_sentence))
    if len(people) != 2 or same_sentence[-1].entity == people[0]:
        return None
    subject, last = same_sentence[0], same_sentence[-1]
    between = [word for word in low[last.at + 1 : event.at] if word != ","]
    object_ = Preference(event.at, last.entity, subject.entity, LIKELY)
    if between[:1] in (["who"], ["whose"]):
        return object_
    acts = set(low[subject.at + 1 : last.at])
    if subject.rank < 1.0 or not between or "'s" in acts | set(between):
        return None
    infinitive = between[0] == "to" and len(between) > 1 and between[1] not in LISTS.before_nouns
    does = (infinitive and acts & _CONTROLLED) or (
        event.case != "s" and acts & LISTS.letting and between[0] not in en.FUNCTION_WORDS
    )
    promises = infinitive and acts & _PLEDGED
    # The object of "ask", the subject of "promise", does what the infinitive says
    if (does and event.case == "o") or (promises and event.case != "o"):
        return Preference(event.at, subject.entity, last.entity, SURE)
    reason = event.case == "p" and between[0] in ("for", "on", "about", "of")
    return object_ if does or promises or (reason and acts & (_BLAMED | _CONTROLLED)) else None


def _told(
    event: PersonMention, near: Sequence[PersonMention], genders: Sequence[str]
) -> Preference | None:
    """As in "Kim asked Mr. Pratt for his report": who is told to be a man, not who may be one."""
    sure = list(dict.fromkeys(one.entity for one in near if genders[one.entity] == event.gender))
    open_ = list(dict.fromkeys(one.entity for one in near if not genders[one.entity]))
    if len(sure) == 1 and len(open_) == 1:
        return Preference(event.at, sure[0], open_[0], TOLD)
    return None


def _clauses(  # noqa: PLR0911 (a return for each form of sentence)
    low: Sequence[str],
    event: PersonMention,
    same_sentence: Sequence[PersonMention],
    near: Sequence[PersonMention],
) -> Preference | None:
    """What the verb of the clause before says of its subject and its object."""
    i = event.at
    joined = low[i - 1] if i else ""
    scope = same_sentence
    if not same_sentence and near and (not i or joined in en.CLAUSE_MARKS):
        scope = [one for one in near if one.sentence == event.sentence - 1]
        joined = "."
    people = list(dict.fromkeys(one.entity for one in scope))
    # With a third person about, the verb says nothing of who is meant
    if len(people) != 2 or (joined == "." and len(scope) != 2):
        return None
    first = scope[0]
    other = next(one for one in scope if one.entity != first.entity)
    behind = low[other.at + 1 : other.at + 2]
    verbs = [word for word in low[first.at + 1 : other.at] if word[0].isalpha()]
    owned = low[first.at + 1 : first.at + 2] == ["'s"] or behind == ["'s"]
    # "Ann's friend" and "Ann and Eva" are no subject and object
    if owned or not verbs or verbs[0] in ("and", "or") or first.rank < 1.0:
        return None
    subject = Preference(i, first.entity, other.entity, LIKELY)
    object_ = Preference(i, other.entity, first.entity, LIKELY)
    acts = set(verbs)
    if joined in ("why", "whether", "if"):
        return object_ if acts & {"asked", "asks", "ask"} else None
    if joined in ("that", "how") or other.at == i - 1:
        if acts & _PLEDGED:
            return subject
        return object_ if acts & _MINDED else None
    # Implicit causality (Garvey and Caramazza 1974): the verb says whose doing the reason is
    if joined in LISTS.causes:
        if acts & _BLAMED:
            return object_
        return subject if acts & _BLAMING else None
    if joined in LISTS.turns:
        return object_
    return object_ if joined in (".", ";", "!", "?") and acts & _HANDED else None
