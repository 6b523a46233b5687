"""What grammar says of whom "he" and "she" mean, where two people of a text may be meant.

The walk of `pronouns` weighs where people were mentioned; here is what it cannot see: what the verb
before "because" or "but" says of its subject and its object, who does what an infinitive says, and
a noun whose gender is told beside a name whose gender is not.
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


class Preference(NamedTuple):
    """That a pronoun means one person rather than another.

    Attributes
    ----------
    token
        Token position of the pronoun.
    person, rival
        Index of who is meant, and of who is not.
    """

    token: int
    person: int
    rival: int


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
    preferred: list[Preference] = []
    # Who opens sentence after sentence as "she" is one: "She loves Jake. She hates Alex."
    opening = [one for one in events if one.case == "s" and opens_sentence(tokens, one.token)]
    chained = {
        one.token: barred[behind.token]
        for one, behind in pairwise(opening)
        if (behind.sentence, behind.gender) == (one.sentence + 1, one.gender)
        and behind.token in barred
    }
    mentions = [event for event in events if not event.case and event.entity >= 0]
    for event in events:
        if not event.case or event.quoted:
            continue
        # Mentions before, in this sentence and the last one, of those who can be meant. They are in
        # order, so a long text is not gone through again for every pronoun.
        first = bisect_left(mentions, event.sentence - 1, key=attrgetter("sentence"))
        last = bisect_left(mentions, event.token, key=attrgetter("token"))
        near = [one for one in mentions[first:last] if genders[one.entity] in ("", event.gender)]
        # "Kim asked Mr. Pratt for his report": who is told to be a man, not who may be one
        sure = list(dict.fromkeys(one.entity for one in near if genders[one.entity]))
        open_ = list(dict.fromkeys(one.entity for one in near if not genders[one.entity]))
        rival = chained.get(event.token, OTHER)
        remaining = {one.entity for one in near} - {rival, barred.get(event.token, OTHER)}
        if event.token in chained and len(remaining) == 1:
            preferred.append(Preference(event.token, min(remaining), rival))
        elif len(sure) == 1 and len(open_) == 1:
            preferred.append(Preference(event.token, sure[0], open_[0]))
        elif preference := _by_verb(tokens.low, event, near):
            preferred.append(preference)
    return preferred


def _by_verb(  # noqa: PLR0911 (a return for each form of sentence)
    low: Sequence[str], event: PersonMention, near: Sequence[PersonMention]
) -> Preference | None:
    """What the verb before a pronoun, whose subject and object may be meant, says of them."""
    i, joined = event.token, low[event.token - 1] if event.token else "."
    scope = [one for one in near if one.sentence == event.sentence]
    if not scope and event.case == "s" and joined in en.CLAUSE_MARKS:
        scope, joined = list(near), "."
    # With a third person about, the verb says nothing of who is meant
    if len({one.entity for one in scope}) != 2 or (joined == "." and len(scope) != 2):
        return None
    first = scope[0]
    other = next(one for one in scope if one.entity != first.entity)
    verbs = [one for one in low[first.token + 1 : other.token] if one[0].isalpha() or one == "'s"]
    between = [*(word for word in low[other.token + 1 : i] if word != ","), joined]
    subject = Preference(i, first.entity, other.entity)
    object_ = Preference(i, other.entity, first.entity)
    if between[0] in ("who", "whose"):
        return object_
    # "Ann's friend" and "Ann and Eva" are no subject and object
    possessive = "'s" in (*verbs, between[0])
    if possessive or not verbs or verbs[0] in ("and", "or") or not first.opens:
        return None
    acts = set(verbs)
    if between[0] == "to" and len(between) > 2 and between[1] not in LISTS.before_nouns:
        # The object of "ask", the subject of "promise", does what the infinitive says
        return subject if acts & LISTS.pledging else object_ if acts & LISTS.controlled else None
    if event.case != "s":
        lets = acts & LISTS.letting and between[0] not in en.FUNCTION_WORDS
        reason = event.case == "p" and between[0] in ("for", "on", "about", "of")
        return object_ if lets or (reason and acts & (LISTS.blamed | LISTS.controlled)) else None
    if joined in ("that", "how") or other.token == i - 1:
        return subject if acts & LISTS.pledging else object_ if acts & LISTS.minding else None
    # Implicit causality (Garvey and Caramazza 1974): the verb says whose doing the reason is
    if joined in LISTS.causes:
        return object_ if acts & LISTS.blamed else subject if acts & LISTS.blaming else None
    handed = joined in (".", ";", "!", "?") and acts & LISTS.handing
    return object_ if joined in LISTS.turns or handed else None
