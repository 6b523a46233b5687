"""A story's mentions seen from two characters: who is meant by each name and noun."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from portrayal.annotate.people.shared.scan import OTHER, PersonMention, Tokens, noun_rank
from portrayal.annotate.people.shared.words import GENDER_OF_WORD, OTHER_PEOPLE
from portrayal.annotate.people.stories.scene import GENERIC, GROUPS, OBJECT_WORDS, Noun, Scene
from portrayal.reference import NON_BINARY

Slots = Sequence[int | None]
"""Per character the index of the named person it is, or None where it has no name."""

CERTAIN, LIKELY = 5.0, 3.0
"""Weight of a gendered noun or title beside a name, and of one that stands alone."""

SETTLED = 10.0
"""Weight from which the gender that nouns and titles tell is not in question: "Mr. Davis"."""


@dataclass(slots=True)
class Cast:
    """Mentions and what is certain about the characters.

    Attributes
    ----------
    slots
        Who the characters are.
    events
        Mentions of anyone, and pronouns, in order.
    hints
        Per character the genders that nouns and titles tell, with weights.
    references
        Per character the token positions of words that refer to it.
    barred
        Token position of a possessive pronoun → the character it cannot be: in "his friend Ann"
        the pronoun is not Ann.
    apart
        Token position of a noun that works like a pronoun → that of its owner, which is someone
        else, or -1: in "his sister" the noun does not stand for him.
    """

    slots: Slots
    events: list[PersonMention]
    hints: list[dict[str, float]]
    references: list[list[int]]
    barred: dict[int, int]
    apart: dict[int, int]

    def refer(self, slot: int, i: int, gender: str, weight: float) -> None:
        """Note that the gendered word at `i` stands for the character."""
        hint = self.hints[slot]
        hint[gender] = hint.get(gender, 0.0) + weight
        self.references[slot].append(i)


def make_cast(scene: Scene, slots: Slots) -> Cast:
    """Mentions of a story seen from the characters in `slots`."""
    tokens = scene.tokens
    cast = Cast(slots, scene.pronouns.copy(), [{} for _ in slots], [[] for _ in slots], {}, {})
    slot_of = {index: slot for slot, index in enumerate(slots) if index is not None}
    # Named person outside the roles → gender that titles and nouns beside the name tell
    strangers = {
        index: gender
        for index, person in enumerate(scene.people)
        for title in person.titles
        if index not in slot_of and (gender := _of_title(tokens, title)) != NON_BINARY
    }
    strangers |= {
        noun.person: noun.gender
        for noun in scene.nouns
        if noun.person is not None and noun.person not in slot_of and noun.gender
    }
    for i, index in scene.names.items():
        slot = slot_of.get(index, OTHER)
        cast.events.append(_mention(tokens, i, slot, strangers.get(index, "")))
    titles = [(slot, i) for index, slot in slot_of.items() for i in scene.people[index].titles]
    for slot, i in titles:
        if (gender := _of_title(tokens, i)) != NON_BINARY:
            cast.refer(slot, i, gender, CERTAIN)
    free = [noun.value for noun in scene.nouns if noun.person is None]
    has_pronouns = (any(value > 0 for value in free), any(value < 0 for value in free))
    for noun in scene.nouns:
        if noun.person is not None:
            slot = slot_of.get(noun.person, OTHER)
            if slot >= 0 and noun.gender:
                cast.refer(slot, noun.at, noun.gender, CERTAIN)
        else:
            slot = add_nominal(scene, cast, noun, has_pronouns)
        if noun.owner is not None:
            cast.barred[noun.owner] = slot
    for i in scene.others:
        cast.events.append(_mention(tokens, i, OTHER, OTHER_PEOPLE[tokens.low[i]]))
    cast.events.sort()
    # Words for both characters at once: "the girls"
    for i in scene.groups if len(slots) == 2 else ():
        gender = GROUPS[tokens.low[i]]
        for hint, references in zip(cast.hints, cast.references, strict=True):
            if not hint:
                hint[gender] = LIKELY
            references.append(i)
    return cast


def _of_title(tokens: Tokens, i: int) -> str:
    """Gender that a title tells; non-binary, which is no evidence, where it tells none."""
    word = tokens.low[i]
    return tokens.local.genders.get(word) or GENDER_OF_WORD.get(word, NON_BINARY)


def _mention(tokens: Tokens, i: int, entity: int, gender: str) -> PersonMention:
    """The name or noun at `i` as a mention."""
    rank = noun_rank(tokens, i)
    return PersonMention(i, tokens.sentence[i], entity, rank, gender, "", tokens.quoted[i])


def add_nominal(scene: Scene, cast: Cast, noun: Noun, has_pronouns: tuple[bool, bool]) -> int:
    """Add a noun that stands beside no name; returns its character or `OTHER`.

    `has_pronouns` says whether the subject and the object have a noun of their role beside no name.
    """
    slots, tokens, i = cast.slots, scene.tokens, noun.at
    low, generic = tokens.low, tokens.low[i] in GENERIC
    nameless = [slot for slot, index in enumerate(slots) if index is None]
    if not nameless and len(slots) == 2 and not noun.value:
        # A definite noun works like a pronoun: "the girl", "the young man", "her brother"
        kin = scene.roles.paired and noun.role and noun.gender and noun.owner is not None
        if kin or (generic and "the" in low[max(0, i - 2) : i]):
            owner = noun.owner
            # The possessive stands for a pronoun, or for the name before "'s"
            cast.apart[i] = -1 if owner is None else owner - (low[owner] == "'s")
            place = i, tokens.sentence[i], OTHER, 0.0
            cast.events.append(PersonMention(*place, noun.gender, "p", tokens.quoted[i]))
            return OTHER
    slot, equals = OTHER, scene.words.object_nouns <= OBJECT_WORDS
    if len(nameless) == 2 and noun.gender and noun.role and equals:
        slot = _slot_by_gender(cast.hints, (False, False), noun.gender)
    elif noun.value and (noun.role or len(nameless) == 2):
        slot = 0 if noun.value > 0 else 1
    elif len(nameless) == 2 and generic:
        slot = _slot_by_gender(cast.hints, has_pronouns, noun.gender)
    elif len(nameless) == 1 and (noun.role or generic):
        slot = nameless[0]
    if slot == 0 and len(nameless) == 2 and noun.gender:
        # A second gender for the first character would be the other one's
        slot = int(bool(cast.hints[0]) and noun.gender not in cast.hints[0])
    if slot >= len(slots):
        return OTHER
    cast.events.append(_mention(tokens, i, slot, noun.gender))
    if slot >= 0 and noun.gender and slots[slot] is None:
        cast.refer(slot, i, noun.gender, LIKELY)
    return slot


def _slot_by_gender(
    hints: Sequence[Mapping[str, float]], has_pronouns: tuple[bool, bool], gender: str
) -> int:
    """Of two nameless characters the one that a "man" or "sister" stands for."""
    for slot, hint in enumerate(hints):
        if gender in hint:
            return slot
    if any(has_pronouns):
        return int(has_pronouns[0])
    for slot, hint in enumerate(hints):
        if not hint:
            return slot
    return OTHER
