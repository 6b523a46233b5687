"""Nouns that stand for a role in a story: "patient" may be told as "the child" or "the client"."""

FAMILIES: tuple[frozenset[str], ...] = tuple(
    frozenset(family.split())
    for family in (
        "partner girlfriend boyfriend wife husband spouse fiancé fiancée fiance fiancee lover love "
        "sweetheart beloved",
        "sibling brother sister twin",
        "friend buddy pal roommate companion bestie",
        "student pupil classmate schoolmate peer mentee scholar learner freshman sophomore underclassman",
        "culinary student apprentice trainee protégé protégée intern",
        "patient victim",
        "doctor physician surgeon medic resident dr",
        "surgeon doctor dr",
        "nurse caregiver",
        "dentist doctor orthodontist dr",
        "hygienist assistant",
        "customer client buyer shopper patron",
        "fan admirer supporter follower groupie",
        "employee worker subordinate associate hire staffer recruit intern newcomer member analyst",
        "manager boss supervisor executive leader",
        "ceo executive boss founder leader entrepreneur",
        "cook chef",
        "actor actress star celebrity performer",
        "athlete player champion star veteran runner quarterback pitcher swimmer",
        "rookie newcomer player teammate recruit",
        "musician singer artist songwriter singer-songwriter guitarist rocker performer star pianist "
        "violinist saxophonist drummer",
        "lawyer attorney advocate counselor litigator",
        "defendant client accused",
        "agent salesman salesperson saleswoman broker representative rep seller",
        "specialist expert professional strategist consultant guru",
        "developer programmer engineer coder",
        "cashier clerk",
        "thief robber shoplifter suspect culprit criminal burglar",
        "teacher professor instructor educator mentor tutor",
        "mentor tutor coach",
        "mentee protégé protégée protege",
        "worker caseworker",
    )
)

SUBJECT_WORDS = frozenset(["mentor", "tutor"])
"""Nouns for the one who gives, whatever the roles are called."""

OBJECT_WORDS = frozenset(["mentee", "protégé", "protégée", "protege", "tutee", "apprentice", "underling"])
"""Nouns for the one who receives, whatever the roles are called."""

GENERIC = frozenset(["person", "someone", "individual"])

STAR = frozenset(
    ["star", "stellar", "bright", "brilliant", "top", "exemplary", "gifted", "talented", "straight-a", "honor", "outstanding", "exceptional", "model", "high-achieving", "accomplished", "valedictorian", "smart", "ace", "prodigy", "whiz"]
)
STRUGGLING = frozenset(["struggling", "failing", "floundering", "shy", "confused", "disheartened", "timid"])
MODIFIER_FAMILIES = (STAR, STRUGGLING)

OCCUPATIONS = frozenset().union(*FAMILIES) - {"dr"}
"""Every noun of every family; capitalised before a name they act as a title."""
