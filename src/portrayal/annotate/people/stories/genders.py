"""A story seen from two characters: which genders its words give them, over all choices.

Every choice of genders is followed through the story (`shared.links`); its probability is
proportional to exp of the sum of the weights of its codes.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import compress, product

from portrayal.annotate.people.shared import links
from portrayal.annotate.people.shared.links import OTHER
from portrayal.annotate.people.shared.scan import QUOTES
from portrayal.annotate.people.shared.words import GENDER_OF_WORD, OTHER_PEOPLE, SAYING
from portrayal.annotate.people.stories.scene import GROUPS, LISTS, Noun, Scene
from portrayal.reference.groups import FEMININE, MASCULINE, NON_BINARY

LEFT = 4
"""Pronouns outside quotations that a choice may leave to nobody beyond those that any must."""

SETTLED = 10
"""Weight from which the gender that nouns and titles tell is not in question: "Mr. Davis"."""

Slots = Sequence[int | None]
"""Per character the index of the named person it is, or None where it has no name."""

CERTAIN, LIKELY = 5, 3
"""Weight of a gendered noun or title beside a name, and of one that stands alone."""

TheyUse = tuple[int, int, int, int]
"""Position and sentence of a use of "they", and the part of its code that the words around it tell;
or of a mention, then -1 and its character or `OTHER`."""


@dataclass(slots=True)
class Cast(links.Mentions):
    """Mentions and what is certain about the characters.

    Attributes
    ----------
    slots
        Who the characters are.
    hints
        Per character the genders that nouns and titles tell, with weights.
    references
        Per character the token positions of these words, with the gender of each.
    """

    slots: Slots = ()
    hints: list[Counter[str]] = field(default_factory=list)
    references: list[dict[int, str]] = field(default_factory=list)


def make_cast(scene: Scene, slots: Slots) -> Cast:
    """Mentions of a story seen from the characters in `slots`."""
    tokens, low = scene.tokens, scene.tokens.low
    cast = Cast(scene.pronouns.copy(), narrated=scene.narrated, slots=slots)
    cast.hints, cast.references = [Counter() for _ in slots], [{} for _ in slots]
    slot_of = {index: slot for slot, index in enumerate(slots) if index is not None}
    # Named person outside the roles → gender that titles and nouns beside the name tell
    strangers: dict[int, str] = {}

    def tell(index: int, i: int, gender: str) -> None:
        if index in slot_of:
            cast.hints[slot_of[index]][gender] += CERTAIN
            cast.references[slot_of[index]][i] = gender
        else:
            strangers[index] = gender

    for index, person in enumerate(scene.people):
        for i in [title for run in person.mentions for title in run.titles]:
            gender = tokens.local.genders.get(low[i]) or GENDER_OF_WORD.get(low[i])
            # A title without a gender counts as non-binary in the words, and is no evidence
            if gender in (FEMININE, MASCULINE):
                tell(index, i, gender)
    free = [noun.value for noun in scene.nouns if noun.person is None]
    has_nouns = any(value > 0 for value in free), any(value < 0 for value in free)
    for noun in scene.nouns:
        if noun.person is None:
            slot = add_nominal(scene, cast, noun, has_nouns)
        else:
            slot = slot_of.get(noun.person, OTHER)
            if noun.gender:
                tell(noun.person, noun.position, noun.gender)
        if noun.owner is not None:
            cast.barred[noun.owner] = slot
    mentions = [(i, slot_of.get(k, OTHER), strangers.get(k, "")) for i, k in scene.names.items()]
    mentions += [(i, OTHER, OTHER_PEOPLE[low[i]]) for i in scene.outsiders]
    cast.events += [links.mention_at(tokens, *mention) for mention in mentions]
    cast.events.sort()
    # Words for both characters at once: "the girls"
    for i in scene.groups if len(slots) == 2 else ():
        for hint, references in zip(cast.hints, cast.references, strict=True):
            references[i] = GROUPS[low[i]]
            if not hint:
                hint[GROUPS[low[i]]] = LIKELY
    return cast


def add_nominal(scene: Scene, cast: Cast, noun: Noun, has_nouns: tuple[bool, bool]) -> int:
    """Add a noun that stands beside no name; returns its character or `OTHER`.

    `has_nouns` says whether the subject and the object have a noun of their role beside no name.
    """
    slots, tokens, i = cast.slots, scene.tokens, noun.position
    low, generic = tokens.low, tokens.low[i] in LISTS.generic
    nameless = [slot for slot, index in enumerate(slots) if index is None]
    if not nameless and len(slots) == 2 and not noun.value:
        # A definite noun works like a pronoun: "the girl", "the young man", "her brother"
        kin = scene.roles.paired and noun.role and noun.gender and noun.owner is not None
        if kin or (generic and "the" in low[max(0, i - 2) : i]):
            if noun.owner is not None:
                cast.owners[i] = noun.owner
            mention = links.mention_at(tokens, i, OTHER, noun.gender)
            cast.events.append(mention._replace(rank=links.POSSESSOR, case="noun", opens=False))
            return OTHER
    slot, equals = OTHER, scene.words.object_nouns <= LISTS.receivers
    if len(nameless) == 2 and noun.gender and noun.role and equals:
        slot = _slot_by_gender(cast, (False, False), noun.gender)
    elif noun.value and (noun.role or len(nameless) == 2):
        slot = 0 if noun.value > 0 else 1
    elif len(nameless) == 2 and generic:
        slot = _slot_by_gender(cast, has_nouns, noun.gender)
    elif len(nameless) == 1 and (noun.role or generic):
        slot = nameless[0]
    if slot == 0 and len(nameless) == 2 and noun.gender:
        # A second gender for the first character would be the other one's
        slot = int(bool(cast.hints[0]) and noun.gender not in cast.hints[0])
    if slot >= len(slots):
        return OTHER
    cast.events.append(links.mention_at(tokens, i, slot, noun.gender))
    if slot >= 0 and noun.gender and slots[slot] is None:
        cast.hints[slot][noun.gender] += LIKELY
        cast.references[slot][i] = noun.gender
    return slot


def _slot_by_gender(cast: Cast, has_nouns: tuple[bool, bool], gender: str) -> int:
    """Of two nameless characters the one that a "man" or "sister" stands for."""
    of_gender = [slot for slot, hint in enumerate(cast.hints) if gender in hint]
    unhinted = [slot for slot, hint in enumerate(cast.hints) if not hint]
    if any(has_nouns) and not of_gender:
        return int(has_nouns[0])
    return next(iter(of_gender or unhinted), OTHER)


def choices(
    scene: Scene, cast: Cast, weights: Sequence[int], *, both_singly: bool = False
) -> list[links.GenderChoice]:
    """All choices of genders that the words of the story leave open; weights are those of codes.

    Singular "they" is tried for one of two characters, and for both where `both_singly` says so.
    """
    they, two = _they_uses(scene, cast), len(cast.slots) == 2
    tones = scene.tones(cast.events) if two and not scene.roles.paired else {}
    # Any gender that a pronoun or a hint tells, or none
    heard = Counter[str]()
    for event in cast.events:
        if event.case:
            heard[event.gender] += not event.quoted and event.case != "noun"
    slots: list[list[str | None]] = []
    for hint in cast.hints:
        # A title or nouns that agree leave but theirs for one of two
        sure = two and len(hint) == 1 and max(hint.values()) >= SETTLED
        slots.append([*(hint if sure else sorted({*heard, *hint})), None])
    options: list[links.Genders] = list(product(*slots))
    for singly in range(len(slots)) if they else ():
        options += product(*slots[:singly], [NON_BINARY], *slots[singly + 1 :])
    if they and both_singly:
        options.append((NON_BINARY, NON_BINARY))
    # Choices that leave many more pronouns to nobody are not likely
    unheard = [sum(n for g, n in heard.items() if g not in genders) for genders in options]
    most, walked = min(unheard) + LEFT, []
    for genders, n in zip(options, unheard, strict=True):
        if n > most and any(genders):
            continue
        choice = links.walk(cast, genders, weights)
        meant = [(choice.entity_at[i], tone) for i, tone in tones.items()]
        role_code = links.FIRST_CODE["role"]
        choice.codes += [role_code + (entity != tone) for entity, tone in meant if entity >= 0]
        # A gender without any word for it is none
        if all(_add_codes(scene, cast, choice, slot, they) for slot in range(len(slots))):
            if two and genders[0] == genders[1] and genders[0] is not None:
                kind = 2 if None in cast.slots else int(scene.roles.paired)
                choice.codes.append(links.FIRST_CODE["alike"] + kind)
            walked.append(choice)
    # Singular "they" says whose a quotation is: '"Hi," they said.'
    low, quoted = scene.tokens.low, scene.tokens.quoted
    one_says = any(
        low[i - 1] in QUOTES
        and not quoted[i]
        and not SAYING.isdisjoint(low[i + 1 : i + 2])
        and LISTS.at_once.isdisjoint(low[i + 2 : i + 6])
        for i in scene.they
    )
    return [c for c in walked if one_says and NON_BINARY in c.genders] or walked


def _add_codes(
    scene: Scene, cast: Cast, choice: links.GenderChoice, slot: int, they: Sequence[TheyUse]
) -> bool:
    """Add the codes of a character; False where it has a gender without any word for it."""
    gender, hint, codes = choice.genders[slot], cast.hints[slot], choice.codes
    is_named, sole = cast.slots[slot] is not None, len(cast.slots) == 1
    state = 1 + (max(hint.values()) >= CERTAIN) if hint else 0
    if gender == NON_BINARY:
        uses = _uses_for(slot, choice, they)
        codes += [
            *(links.FIRST_CODE["they"] + code for code in uses.values()),
            links.FIRST_CODE["singly"] + is_named * 2 + sole,
            links.FIRST_CODE["singly uses"] + min(len(uses), 3) - 1,
            *[links.FIRST_CODE["singly also"]] * bool(hint),
            *[links.FIRST_CODE["singly also"] + 1] * scene.roles.paired,
        ]
        choice.entity_at |= dict.fromkeys(uses, slot)
        return bool(uses)
    count = list(choice.entity_at.values()).count(slot)
    if gender is not None and gender not in hint:
        state = links.HINTS.index("against") if hint else state
        if not count:
            return False
    codes.append(links.code_of_gender(gender, count, state, is_named=is_named, sole=sole))
    return True


def _they_uses(scene: Scene, cast: Cast) -> list[TheyUse]:
    """Uses of "they" outside quotations, among the mentions before the last use, in order."""
    tokens, low, sentence = scene.tokens, scene.tokens.low, scene.tokens.sentence
    uses = [i for i in scene.they if not tokens.quoted[i]]
    if not uses:
        return []
    entity_at = {event.token: event.entity for event in cast.events}
    entity_at |= dict.fromkeys(scene.plurals, OTHER)
    shared = set(compress(sentence, map(LISTS.together.__contains__, low)))
    order = [(i, sentence[i], -1, entity) for i, entity in entity_at.items() if i < uses[-1]]
    for i in uses:
        word, after = low[i], low[i + 1 : i + 4]
        if word != "their":
            use = 0 if word == "they" else 4 if word.startswith("them") else 1
        elif after and after[0] in LISTS.they_kin:
            use = 3
        else:
            use = 1 if LISTS.one_of.isdisjoint(after[:2]) else 2
        code = use * 4 + (sentence[i] in shared) * 2 + (len(cast.slots) == 1)
        order.append((i, sentence[i], code, OTHER))
    return sorted(order)


def _uses_for(slot: int, choice: links.GenderChoice, they: Sequence[TheyUse]) -> dict[int, int]:
    """Position of each use of "they" that may refer to the character `slot` → its code.

    It may when the character was the last to be mentioned in the sentence, or in the sentence
    before where nobody was in this one; the other may stand between where "he" or "she" is for
    that one.
    """
    genders = choice.genders
    other_told = len(genders) == 2 and genders[1 - slot] in (FEMININE, MASCULINE)
    in_sentence, before, mentioned = set[int](), set[int](), set[int]()
    current, latest = -1, -9
    code_at: dict[int, int] = {}
    for i, sentence, code, entity in they:
        if sentence != current:
            before = in_sentence if sentence == current + 1 else set()
            in_sentence, current = set(), sentence
        if code < 0:
            latest = choice.entity_at.get(i, entity)
            in_sentence.add(latest)
            mentioned.add(latest)
            continue
        # The other is "he" or "she", so "they" may pass over that one
        between = other_told and latest == 1 - slot and OTHER not in in_sentence
        around = in_sentence or before
        if slot not in around or not (latest == slot or between):
            continue
        if between:
            rival = 4
        elif len(around) > 1:
            rival = 3
        else:
            rival = 0 if mentioned <= {slot} else 2 if len(before) > (slot in before) else 1
        code_at[i] = (not in_sentence) * 100 + rival * 20 + code
        # A use is a mention itself, which the next use may follow
        in_sentence.add(slot)
        latest = slot
    return code_at
