"""Who of a story's people is its subject and who its object: a conditional logit over all ways.

A *way* gives each role to one of the likeliest named people or to nobody who is named. Signs speak
for each: how much a word behaves like a name, who is named first, the nouns beside the names, and
what the people do.
"""

from collections.abc import Mapping
from itertools import product

from portrayal.annotate.people.shared.scan import QUOTES
from portrayal.annotate.people.stories.genders import Cast, Slots
from portrayal.annotate.people.stories.scene import GIVES, LISTS, RECEIVES, Scene

SIGNS = (
    *("score", "first", "spare", "nameless", "one nameless"),
    *("object alone", "object alone, noun", "object alone, narrated", "object alone, free noun"),
    *("noun", "in order", "equals in order", "nouns", "nouns alike", "acts"),
)
"""What may speak for a way; see `ways_of`. The last is read only where it may decide."""

MOST_PEOPLE = 3
"""How many people may have a role."""

MOST_NOUNS, MOST_ACTIONS = 3.0, 4.0
"""Bounds on what role nouns and what actions together may say."""


def ways_of(scene: Scene, first: int | None = None) -> tuple[list[Slots], list[list[float]]]:
    """All ways to give the roles, and the values of `SIGNS` for each but for what the people do.

    A way holds for each role the index of a person, or None for nobody who is named. With `first`
    all likely people among the first so many may have a role, without it the likeliest.
    """
    people, roles, paired = scene.people, scene.roles, scene.roles.paired
    values = _nouns_beside(scene)
    scores = [person.score for person in people]
    ranked = list(range(len(people))[:first])
    if first is None and len(people) > MOST_PEOPLE:
        ranked = sorted(ranked, key=lambda i: (-scores[i], i))[:MOST_PEOPLE]
    n_roles = 2 if roles.has_object else 1
    free = [noun.value for noun in scene.nouns if noun.person is None]
    # Only the subject's noun stands beside no name: "The manager promoted Jo"
    led = bool(free) and max(free) > 0 and min(free) >= 0
    alike = scene.words.subject_nouns <= LISTS.givers
    ways: list[Slots] = []
    signs: list[list[float]] = []
    for way in product((*ranked, None), repeat=n_roles):
        persons = [i for i in way if i is not None]
        # Nobody has both roles; of two alike the first is the one named
        if len(set(persons)) < len(persons) or (paired and way[0] is None and persons):
            continue
        signed = [-values[i] if slot else values[i] for slot, i in enumerate(way) if i is not None]
        noun = max(-MOST_NOUNS, min(MOST_NOUNS, sum(signed)))
        features = {
            "score": sum([scores[i] for i in persons]),
            "first": float(not people or 0 in persons),
            "spare": float(min(len(people) - len(persons), 3)),
            "nameless": float(not persons),
        }
        if len(persons) == 2:
            in_order = 1.0 if persons[0] < persons[1] else -1.0
            features["equals in order" if paired else "in order"] = in_order
            features["nouns alike" if alike else "nouns"] = noun
        elif persons and n_roles == 1:
            features["noun"] = noun
        elif persons:
            features["one nameless"] = 1.0
            of_object = {"": 1.0, ", noun": -noun, ", narrated": scene.narrated, ", free noun": led}
            for sign, value in of_object.items() if way[0] is None else ():
                features[f"object alone{sign}"] = float(value)
        ways.append(way)
        signs.append([features.get(sign, 0.0) for sign in SIGNS])
    return ways, signs


def _nouns_beside(scene: Scene) -> list[float]:
    """For each person, how much role nouns beside the name say "subject" rather than "object"."""
    values, sentence = [0.0] * len(scene.people), scene.tokens.sentence
    for noun in [noun for noun in scene.nouns if noun.role]:
        if noun.person is not None:
            values[noun.person] += noun.value
        if noun.owner is not None:
            # The person named last before the possessive, in its sentence
            owner, number = noun.owner, sentence[noun.owner]
            last = max((i for i in scene.names if i < owner and sentence[i] == number), default=-1)
            if last >= 0 and scene.names[last] != noun.person:
                values[scene.names[last]] -= noun.value
    return values


PLAIN, WEAK, ADDRESS = 1.0, 0.6, 1.6
"""Weight of a verb that tells roles apart, of a weak sign, and of being addressed by name."""


def actions(scene: Scene, cast: Cast, person_of: Mapping[int, int]) -> float:
    """How much more the subject of a cast acts as one than the object, within `MOST_ACTIONS`.

    `person_of` resolves pronouns.
    """
    low, sentence, quoted = scene.tokens.low, scene.tokens.sentence, scene.tokens.quoted
    # Who stands where, and whether as the subject of a clause
    person_at: dict[int, int] = {}
    subjects: dict[int, bool] = {}
    for event in cast.events:
        entity = person_of.get(event.token, event.entity)
        # A noun stands for whom the order makes it, and says nothing of the order
        is_clear = event.case in ("s", "o") or event.token in scene.names
        if entity >= 0 and is_clear:
            person_at[event.token] = entity
            subjects[event.token] = event.case == "s" or (not event.case and event.opens)
    value = 0.0
    agent, agent_sentence = -1, -1
    for i in sorted({*scene.cues, *person_at}):
        word = low[i]
        if i in person_at:
            # A clause about the person may follow: "Jane, who nodded"
            after = low[i + 1 : i + 3]
            if subjects[i] or after[:1] == ["who"] or after == [",", "who"]:
                agent, agent_sentence = person_at[i], sentence[i]
            # The name is an address: "Jane, come here"
            around = low[i - 1 : i + 2 : 2] if quoted[i] and i else ()
            if len(around) == 2 and LISTS.vocative.issuperset(around):
                value += ADDRESS if person_at[i] else -ADDRESS
            continue
        # "The nurse" is no act
        noun = low[i - 1] in LISTS.articles and not word.endswith(("ed", "ing"))
        if quoted[i] or noun:
            continue
        weight = PLAIN if word in GIVES else -PLAIN if word in RECEIVES else WEAK
        doer = agent if agent_sentence == sentence[i] else -1
        objects = [k for k in range(i + 1, i + 4) if not subjects.get(k, True)]
        patients = [person_at[k] for k in objects if sentence[k] == sentence[i]]
        if low[i - 1] in QUOTES and i + 1 in person_at:
            doer, patients = person_at[i + 1], []
        if patients and word not in LISTS.decides:
            value += weight if patients[0] else -weight
            if doer == patients[0]:
                continue
        if doer >= 0:
            value += -weight if doer else weight
    return max(-MOST_ACTIONS, min(MOST_ACTIONS, value))
