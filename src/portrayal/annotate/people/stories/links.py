"""How a pronoun stands to whom it may refer to, as one small number that a weight belongs to.

Every pronoun that a choice of genders gives to a character, or to nobody, is a *link*. The number
of a link says the pronoun's case, how far back and how its antecedent was mentioned last. Nothing
in it depends on which gender the pronoun has, nor on any name.
"""

from collections.abc import Container, Sequence
from itertools import product

from portrayal.annotate.people.shared.mentions import Mention
from portrayal.annotate.people.shared.scan import Tokens
from portrayal.annotate.people.stories.actions import GIVES, RECEIVES

CASES = ("s", "o", "p", "r", "noun")
"""Cases of a pronoun; "noun" is a definite noun such as "the girl"."""

DISTANCES = ("here", "one back", "two back", "far back")
"""Sentences between a mention and the one before."""

RANKS = ("subject name", "subject pronoun", "possessor", "no subject")
"""What the antecedent's last mention was."""

NEWEST = ("newest", "after the other", "after a stranger")
"""Whether the antecedent was the last to be mentioned in the story, and if not, who was."""

CLAUSES = ("other clause", "own clause", "own verb")
"""Whether the antecedent is the subject of the pronoun's clause, or of the verb it is object of."""

_LINKS = tuple(product(CASES, DISTANCES, RANKS, NEWEST, CLAUSES))

SPECIAL = (
    *("quoted here", "quoted back", "first below", "later below"),
    *("never named in first person", "never named, first pronoun", "never named"),
    *(f"nobody {kind} {case}" for kind in ("none", "neutral", "named", "alike") for case in CASES),
    *("alike far", "named far", "neutral far", "quoted nobody"),
)
"""Links without an antecedent of the usual kind; "nobody" leaves the pronoun to a stranger."""

SPECIAL_AT = len(_LINKS)
N_LINKS = SPECIAL_AT + len(SPECIAL)
SPECIAL_CODE = {name: SPECIAL_AT + number for number, name in enumerate(SPECIAL)}
"""Name of a special link → its number."""

CASE_CODE = {case: number for number, case in enumerate(CASES)}
_CASE, _DISTANCE, _RANK, _NEWEST = 144, 36, 9, 3

_AHEAD, _BACK = 4, 3


def link_code(case: int, distance: int, rank: int, newest: int, clause: int) -> int:
    """Number of the link of a pronoun to an antecedent mentioned before."""
    return (
        case * _CASE
        + (distance if distance < 3 else 3) * _DISTANCE
        + rank * _RANK
        + newest * _NEWEST
        + clause
    )


def link_features(code: int) -> tuple[str, ...]:
    """Names of the weights that add up to that of link `code`."""
    if code >= SPECIAL_AT:
        return (f"link {SPECIAL[code - SPECIAL_AT]}",)
    case, distance, rank, newest, clause = _LINKS[code]
    return (
        f"link {case} {distance}",
        f"link {distance} {rank} {newest}",
        f"link {case} {rank}",
        f"link {case} {newest}",
        f"link {case} {clause}",
    )


def tones_of(tokens: Tokens, events: Sequence[Mention], verbs: Container[str]) -> dict[int, int]:
    """Token position of a pronoun → 1 where a giver would be meant there, 0 for a receiver.

    "she taught" and "thanked her" mean who gives, "she thanked" and "taught her" who receives.
    `verbs` are those that the prompt gives to the subject.
    """
    low = tokens.low
    found: dict[int, int] = {}
    for event in events:
        if event.case == "s":
            for word in low[event.at + 1 : event.at + _AHEAD]:
                if word in GIVES or word in RECEIVES or word in verbs:
                    found[event.at] = int(word not in RECEIVES)
                    break
        elif event.case == "o":
            for word in reversed(low[max(0, event.at - _BACK) : event.at]):
                if word in GIVES or word in RECEIVES or word in verbs:
                    found[event.at] = int(word in RECEIVES)
                    break
    return found
