"""Nouns that stand for a role in a story: "patient" may be told as "the child" or "the client"."""

from portrayal.annotate.people.shared.words import word_set

FAMILIES: tuple[frozenset[str], ...] = (
    word_set(
        "beloved boyfriend fiance fiancee fiancé fiancée girlfriend husband love lover "
        "partner spouse sweetheart wife"
    ),
    word_set("brother sibling sister twin"),
    word_set("bestie buddy companion friend pal roommate"),
    word_set(
        "classmate freshman learner mentee peer pupil scholar schoolmate sophomore "
        "student underclassman"
    ),
    word_set("apprentice culinary intern protégé protégée student trainee"),
    word_set("patient victim"),
    word_set("doctor dr medic physician resident surgeon"),
    word_set("doctor dr surgeon"),
    word_set("caregiver nurse"),
    word_set("dentist doctor dr orthodontist"),
    word_set("assistant hygienist"),
    word_set("buyer client customer patron shopper"),
    word_set("admirer fan follower groupie supporter"),
    word_set(
        "analyst associate employee hire intern member newcomer recruit staffer subordinate worker"
    ),
    word_set("boss executive leader manager supervisor"),
    word_set("boss ceo entrepreneur executive founder leader"),
    word_set("chef cook"),
    word_set("actor actress celebrity performer star"),
    word_set("athlete champion pitcher player quarterback runner star swimmer veteran"),
    word_set("newcomer player recruit rookie teammate"),
    word_set(
        "artist drummer guitarist musician performer pianist rocker saxophonist singer "
        "singer-songwriter songwriter star violinist"
    ),
    word_set("advocate attorney counselor lawyer litigator"),
    word_set("accused client defendant"),
    word_set("agent broker rep representative salesman salesperson saleswoman seller"),
    word_set("consultant expert guru professional specialist strategist"),
    word_set("coder developer engineer programmer"),
    word_set("cashier clerk"),
    word_set("burglar criminal culprit robber shoplifter suspect thief"),
    word_set("educator instructor mentor professor teacher tutor"),
    word_set("coach mentor tutor"),
    word_set("mentee protege protégé protégée"),
    word_set("caseworker worker"),
)
"""Nouns of one family may stand for each other."""

OCCUPATIONS = frozenset[str]().union(*FAMILIES) - {"dr"}
"""Every noun of every family; capitalised before a name they act as a title."""

SUBJECT_WORDS = word_set("mentor tutor")
"""Nouns for the one who gives, whatever the roles are called."""

OBJECT_WORDS = word_set("apprentice mentee protege protégé protégée tutee underling")
"""Nouns for the one who receives, whatever the roles are called."""

GENERIC_ROLES = word_set("individual person someone")
"""Role nouns that say nothing about the role."""

MODIFIER_FAMILIES = (
    word_set(
        "accomplished ace bright brilliant exceptional exemplary gifted high-achieving "
        "honor model outstanding prodigy smart star stellar straight-a talented top "
        "valedictorian whiz"
    ),
    word_set("confused disheartened failing floundering shy struggling timid"),
)
"""Adjectives and nouns that may stand for each other before a role noun."""
