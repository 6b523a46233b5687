"""From a story and the roles of its prompt to its two characters."""

from collections.abc import Mapping, Sequence

from portrayal.annotate.people.clean import story_start
from portrayal.annotate.people.coref import choose
from portrayal.annotate.people.labels import gender_of_references
from portrayal.annotate.people.lexicon import GENDER_OF_WORD
from portrayal.annotate.people.mentions import (
    GENERIC,
    GROUPS,
    OTHER,
    SINGULAR,
    Mention,
    Scene,
    look,
    subjecthood,
)
from portrayal.annotate.people.model import Character, Roles, Span
from portrayal.annotate.people.names import find_people
from portrayal.annotate.people.pair import actions, candidates, evidence
from portrayal.annotate.people.rolewords import role_words
from portrayal.annotate.people.scan import scan
from portrayal.annotate.people.singular import singular_they
from portrayal.annotate.people.thesaurus import OBJECT_WORDS
from portrayal.annotate.people.words import OTHER_PEOPLE

Slots = list[int | None]
HINT, WEAK_HINT = 5.0, 3.0
SWAP = -1.0
ROLE_NOUN = 1.5


def extract_people(text: str, roles: Roles) -> tuple[Character, Character | None]:
    """Find the subject and the object of a story.

    Parameters
    ----------
    text
        The story as the model wrote it; any string.
    roles
        The roles of its prompt.

    Returns
    -------
    tuple of Character and (Character or None)
        Subject and object; the object is None where the prompt asks for none. A character that the
        text does not name or refer to has no name and gender "Unspecified".
    """
    tokens = scan(text, story_start(text))
    scene = look(text, tokens, find_people(tokens), role_words(roles))
    values = evidence(scene)
    chosen = candidates(scene, values)
    if not roles.has_object:
        return _characters(scene, chosen[:1] or [None])[0], None
    slots = _slots(scene, roles, sorted(chosen[:2]), values)
    subject, other = _characters(scene, slots, paired=roles.paired)
    return subject, other


def _slots(scene: Scene, roles: Roles, chosen: list[int], values: Sequence[float]) -> Slots:
    """The people in the subject's and the object's place."""
    if not chosen:
        return [None, None]
    if len(chosen) == 1:
        only = chosen[0]
        return [only, None] if roles.paired or _leads(scene, values[only]) else [None, only]
    a, b = chosen
    if roles.paired:
        return [a, b]
    events, hints, _ = _events(scene, [a, b], nominals=False)
    _, found, _ = choose(events, 2, hints)
    who = {event.at: event.entity for event in events if not event.case and event.entity >= 0}
    subjects = {event.at: event.subject == 1.0 for event in events}
    for pronoun, entity in zip((e for e in events if e.case), found, strict=True):
        if entity >= 0 and pronoun.case in "so":
            who[pronoun.at] = entity
            subjects[pronoun.at] = pronoun.case == "s"
    margin = ROLE_NOUN * (values[a] - values[b]) + actions(scene.tokens, who, subjects)
    return [b, a] if margin < SWAP else [a, b]


def _leads(scene: Scene, value: float) -> bool:
    """Whether the only named person is the subject, given what role nouns beside the name say."""
    if value:
        return value > 0
    if scene.narrated:
        return False
    subjects = sum(noun.person is None and noun.value > 0 for noun in scene.nouns)
    objects = sum(noun.person is None and noun.value < 0 for noun in scene.nouns)
    if subjects and not objects:
        return False
    return True


def _events(
    scene: Scene, slots: Slots, *, nominals: bool = True
) -> tuple[list[Mention], list[dict[str, float]], list[list[int]]]:
    """Mentions in order, and per slot the genders and reference words that are certain."""
    tokens = scene.tokens
    slot_of = {index: slot for slot, index in enumerate(slots) if index is not None}
    hints: list[dict[str, float]] = [{} for _ in slots]
    references: list[list[int]] = [[] for _ in slots]
    events = list(scene.pronouns)

    def add(at: int, entity: int, gender: str = "") -> None:
        events.append(
            Mention(at, tokens.sentence[at], entity, subjecthood(tokens, at), gender, "",
                    tokens.quoted[at])
        )

    def refer(slot: int, at: int, gender: str, weight: float) -> None:
        hints[slot][gender] = hints[slot].get(gender, 0.0) + weight
        references[slot].append(at)

    for at, index in scene.names.items():
        add(at, slot_of.get(index, OTHER))
    for index, slot in slot_of.items():
        for title in scene.people[index].titles:
            gender = GENDER_OF_WORD.get(tokens.low[title])
            if gender in ("F", "M"):
                refer(slot, title, gender, HINT)
    unnamed = [slot for slot, index in enumerate(slots) if index is None]
    free = unnamed[0] if len(unnamed) == 1 else None
    roles_alike = scene.words.object_nouns <= OBJECT_WORDS
    told = [
        any(noun.person is None and noun.value * sign > 0 for noun in scene.nouns)
        for sign in (1, -1)
    ]
    for noun in scene.nouns:
        if noun.person is not None:
            slot = slot_of.get(noun.person, OTHER)
            if slot >= 0 and noun.gender:
                refer(slot, noun.at, noun.gender, HINT)
            continue
        if not nominals:
            continue
        slot = OTHER
        if len(unnamed) == 2 and noun.gender and noun.role and roles_alike:
            slot = _slot_by_gender(hints, (False, False), noun.gender)
        elif noun.value and (noun.role or len(unnamed) == 2):
            slot = 0 if noun.value > 0 else 1
        elif len(unnamed) == 2 and tokens.low[noun.at] in GENERIC:
            slot = _slot_by_gender(hints, told, noun.gender)
        elif free is not None and (noun.role or tokens.low[noun.at] in GENERIC):
            slot = free
        if slot < len(slots):
            add(noun.at, slot, noun.gender)
            if slot >= 0 and noun.gender and slots[slot] is None:
                refer(slot, noun.at, noun.gender, WEAK_HINT)
    for at in scene.others:
        add(at, OTHER, OTHER_PEOPLE[tokens.low[at]])
    events.sort()
    return events, hints, references


def _slot_by_gender(
    hints: Sequence[Mapping[str, float]], told: Sequence[bool], gender: str
) -> int:
    """Of two nameless characters the one a "man" or "woman" stands for."""
    for slot, hint in enumerate(hints):
        if gender in hint:
            return slot
    if told[0] or told[1]:
        return int(told[0])
    for slot, hint in enumerate(hints):
        if not hint:
            return slot
    return OTHER


def _characters(scene: Scene, slots: Slots, *, paired: bool = False) -> list[Character]:
    """The characters in `slots` with the words that refer to them."""
    events, hints, references = _events(scene, slots)
    if len(slots) == 2:
        for at in scene.groups:
            for slot in (0, 1):
                if not hints[slot]:
                    hints[slot][GROUPS[scene.tokens.low[at]]] = WEAK_HINT
                references[slot].append(at)
    _, found, margin = choose(
        events, len(slots), hints, narrated=scene.narrated, nameless=None in slots
    )
    for pronoun, entity in zip((event for event in events if event.case), found, strict=True):
        if entity >= 0:
            references[entity].append(pronoun.at)
    if scene.they and not paired:
        _add_they(scene, slots, events, found, references)
    return [
        _character(scene, index, references[slot], margin) for slot, index in enumerate(slots)
    ]


def _add_they(
    scene: Scene, slots: Slots, events: Sequence[Mention], found: Sequence[int], references: list[list[int]]
) -> None:
    """Add singular "they" to the references of characters that have no others."""
    resolved = iter(found)
    who = {event.at: next(resolved) if event.case else event.entity for event in events}
    who.update(dict.fromkeys(scene.plurals, OTHER))
    nameless = frozenset(slot for slot, index in enumerate(slots) if index is None)
    open_slots = frozenset(slot for slot, at in enumerate(references) if not at)
    for at, slot in singular_they(scene.tokens, scene.they, who, open_slots, nameless):
        references[slot].append(at)


def _character(scene: Scene, index: int | None, at: list[int], margin: float) -> Character:
    """One character with its spans."""
    tokens = scene.tokens
    at = sorted(set(at))
    spans = [
        Span(tokens.starts[i], tokens.starts[i] + len(tokens.words[i]), "reference") for i in at
    ]
    name = scene.people[index].first if index is not None else None
    if index is not None and name is not None:
        spans += [
            Span(tokens.starts[i], tokens.starts[i] + len(name), "name")
            for i in scene.people[index].at
            if tokens.words[i] == name
        ]
    spans.sort(key=lambda span: span.start)
    references = tuple(dict.fromkeys(SINGULAR.get(tokens.low[i], tokens.low[i]) for i in at))
    confidence = min(1.0, 0.5 + margin / 10)
    return Character(name, gender_of_references(references), references, tuple(spans), confidence)
