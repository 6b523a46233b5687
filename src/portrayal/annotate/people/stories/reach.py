"""How far back the subject stands that a pronoun cannot be: "she took his hand" is two people."""

from collections.abc import Sequence

from portrayal.annotate.people.shared.words import (
    CLAUSE_OPENERS,
    ENDS_OBJECT,
    VERBS_AFTER_NAME,
    word_set,
)

FURTHEST = 14
"""Tokens over which a verb's subject and what the verb is done to may stand apart."""

_JOINS = word_set("and but then ,")
_BOUNDS = CLAUSE_OPENERS | {"it"}
_BODY = word_set(
    """
    hand hands arm arms cheek cheeks forehead shoulder shoulders lips eye eyes gaze head hair
    fingers side waist back nose knee ear palm neck
    """
)
_TOUCHES = word_set(
    """
    kissed kisses kissing squeezed squeezes squeezing took takes taking take held holds holding
    grabbed grabs grabbing patted pats patting touched touches touching caught catches catching met
    meets meeting ruffled ruffling stroked stroking clasped clasping grasped shook shaking checked
    catch kiss squeeze hold tousled brushed brushing nudged
    """
)
_TOUCHED = _TOUCHES | word_set("on into at by to around beside against")
_OWN_AFTER = word_set("nose breath ground head")
_WHERE = word_set(
    "over around before behind beside within inside through beneath above below under near"
)
_LETS = word_set(
    """
    help helps helped helping let lets letting make makes made making saw see seeing watch watched
    watches watching hear heard hearing feel
    """
)
_LET = word_set(
    """
    achieve adjust become believe break build carry catch choose clean come complete cook cross cry
    do draw dream enter excel face feel figure find finish fit fly fulfill gain get give go grasp
    grow have heal improve laugh learn leave live look lose make manage master meet move navigate
    overcome pack paint pass pay perform pick plan play practice prepare pull put raise reach read
    realize recover rise run see set settle shine sing sit smile solve speak stand stay study
    succeed take talk think thrive train try turn understand unpack use walk win work write
    """
)


def object_reach(low: Sequence[str], at: int) -> int:
    """Tokens from the pronoun at `at` back to the start of the clause whose verb governs it.

    A verb joined by "and" or a comma to the one before keeps its subject: "she rose and hugged
    him".
    """
    for back in range(at - 1, max(-1, at - FURTHEST), -1):
        word = low[back]
        if word in _JOINS:
            if not _is_verb(low, back + 1):
                return at - back
            continue
        if word in _BOUNDS:
            return at - back
        if word.endswith("ing") and back < at - 1 and low[back - 1] not in _JOINS:
            return at - back
    return FURTHEST


def _is_verb(low: Sequence[str], at: int) -> bool:
    """Whether a verb form stands at `at`, after an adverb if need be."""
    word = low[at]
    if word.endswith("ly") and at + 1 < len(low):
        word = low[at + 1]
    return word.endswith(("ed", "ing")) or word in VERBS_AFTER_NAME or word in _TOUCHES


def is_object(low: Sequence[str], at: int) -> bool:
    """Whether the "her" at `at` is an object ("thanked her for") and no possessive ("her book")."""
    if at + 1 == len(low) or low[at + 1] in ENDS_OBJECT:
        return True
    return low[at + 1] in _LET and at > 0 and low[at - 1] in _LETS


def is_beside(low: Sequence[str], at: int) -> bool:
    """Whether the object at `at` says where: "the dish before him" may be one person's own."""
    return at > 0 and low[at - 1] in _WHERE


def is_touched(low: Sequence[str], at: int) -> bool:
    """Whether the possessive at `at` owns what someone else touches or looks at."""
    if at == 0 or low[at - 1] not in _TOUCHED:
        return False
    after = low[at + 1 : at + 3]
    if _BODY.isdisjoint(after):
        return False
    return not (after[0] in _OWN_AFTER and low[at - 1] in ("to", "at", "by"))
