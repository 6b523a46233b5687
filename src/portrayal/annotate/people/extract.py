"""From a story and the roles of its prompt to its two characters."""

from collections.abc import Sequence

from portrayal.annotate.people.cast import LIKELY, Cast, make_cast
from portrayal.annotate.people.clean import story_start
from portrayal.annotate.people.coref import choose
from portrayal.annotate.people.labels import gender_of_references
from portrayal.annotate.people.mentions import OTHER
from portrayal.annotate.people.model import Character, Roles, Span
from portrayal.annotate.people.names import find_people
from portrayal.annotate.people.pair import find_pair
from portrayal.annotate.people.rolewords import role_words
from portrayal.annotate.people.scan import scan
from portrayal.annotate.people.scene import GROUPS, SINGULAR, Scene, look
from portrayal.annotate.people.singular import singular_they


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
    cast = make_cast(scene, find_pair(scene, roles))
    if len(cast.slots) == 2:
        _add_groups(scene, cast)
    found, margin = choose(
        cast.events,
        cast.hints,
        cast.barred,
        narrated=scene.narrated,
        nameless=None in cast.slots,
    )
    pronouns = [event for event in cast.events if event.case]
    for pronoun, entity in zip(pronouns, found, strict=True):
        if entity >= 0:
            cast.references[entity].append(pronoun.at)
    if scene.they and not roles.paired and (len(cast.slots) == 1 or None in cast.slots):
        _add_they(scene, cast, found)
    made = [_character(scene, cast, slot, margin) for slot in range(len(cast.slots))]
    return made[0], made[1] if len(made) == 2 else None


def _add_groups(scene: Scene, cast: Cast) -> None:
    """Add words for both characters at once: "the girls"."""
    for at in scene.groups:
        gender = GROUPS[scene.tokens.low[at]]
        for hint, references in zip(cast.hints, cast.references, strict=True):
            if not hint:
                hint[gender] = LIKELY
            references.append(at)


def _add_they(scene: Scene, cast: Cast, found: Sequence[int]) -> None:
    """Add singular "they" to the references of characters that have no others."""
    resolved = iter(found)
    who = {event.at: next(resolved) if event.case else event.entity for event in cast.events}
    who.update(dict.fromkeys(scene.plurals, OTHER))
    nameless = frozenset(slot for slot, index in enumerate(cast.slots) if index is None)
    untold = frozenset(slot for slot, at in enumerate(cast.references) if not at)
    for at, slot in singular_they(scene.tokens, scene.they, who, untold, nameless):
        cast.references[slot].append(at)


def _character(scene: Scene, cast: Cast, slot: int, margin: float) -> Character:
    """The character in `slot`; `margin` is how clear the genders were."""
    tokens, index = scene.tokens, cast.slots[slot]
    at = sorted(set(cast.references[slot]))
    spans = [
        Span(tokens.starts[i], tokens.starts[i] + len(tokens.words[i]), "reference") for i in at
    ]
    name = None
    confidence = 0.5 + min(margin, 5.0) / 10
    if index is not None:
        person = scene.people[index]
        name = person.first
        confidence *= min(1.0, 0.7 + person.score / 10)
        if name is not None:
            spans += [
                Span(tokens.starts[i], tokens.starts[i] + len(name), "name")
                for i in person.at
                if tokens.words[i] == name
            ]
    spans.sort(key=_start)
    references = tuple(dict.fromkeys(SINGULAR.get(tokens.low[i], tokens.low[i]) for i in at))
    return Character(name, gender_of_references(references), references, tuple(spans), confidence)


def _start(span: Span) -> int:
    """Offset at which a span starts."""
    return span.start
